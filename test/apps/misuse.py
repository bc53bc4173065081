#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""misuse.py: memory that is used, and freed, after it was freed. Through libcuda by ctypes.

Prints what it did, a line each: the word and the addresses. Ends with 77 where there is no GPU.
"""
import ctypes
import sys

u64, size_t, void = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p



class Rows(ctypes.Structure):
    """CUDA_MEMCPY2D."""
    _fields_ = [('srcXInBytes', size_t), ('srcY', size_t), ('srcMemoryType', ctypes.c_int), ('srcHost', void),
                ('srcDevice', u64), ('srcArray', void), ('srcPitch', size_t),
                ('dstXInBytes', size_t), ('dstY', size_t), ('dstMemoryType', ctypes.c_int), ('dstHost', void),
                ('dstDevice', u64), ('dstArray', void), ('dstPitch', size_t), ('WidthInBytes', size_t), ('Height', size_t)]


try:
    cuda = ctypes.CDLL('libcuda.so.1')
except OSError as error:
    print('skipped: %s' % error, file=sys.stderr)
    sys.exit(77)


def call(name, *arguments, fails=None):
    result = getattr(cuda, name)(*arguments)
    if fails is None and result:
        print('%s: %d' % (name, result), file=sys.stderr)
        sys.exit(9)
    return result


def allocate(n_bytes):
    address = u64()
    call('cuMemAlloc_v2', ctypes.byref(address), size_t(n_bytes))
    return address.value


def allocate_async(n_bytes, stream):
    address = u64()
    call('cuMemAllocAsync', ctypes.byref(address), size_t(n_bytes), stream)
    return address.value


def say(word, *numbers):
    print(word, *numbers, flush=True)


def main():
    context, stream = void(), void()
    call('cuInit', 0)
    call('cuDevicePrimaryCtxRetain', ctypes.byref(context), 0)
    call('cuCtxSetCurrent', context)
    host = ctypes.create_string_buffer(4096)

    # Sound: freed, allocated anew at what may be the same address, used.
    for _ in range(3):
        block = allocate(4096)
        call('cuMemcpyHtoD_v2', u64(block), host, size_t(4096))
        call('cuMemFree_v2', u64(block))

    block, other = allocate(8192), allocate(4096)
    call('cuMemFree_v2', u64(block))
    say('set', block + 256, call('cuMemsetD8_v2', u64(block + 256), ctypes.c_ubyte(1), size_t(64), fails=True))
    say('read', block, call('cuMemcpyDtoH_v2', host, u64(block), size_t(128), fails=True))
    say('copy', block, call('cuMemcpyDtoD_v2', u64(block), u64(other), size_t(32), fails=True))
    say('rows', block, call('cuMemcpy2D_v2', ctypes.byref(Rows(srcMemoryType=2, srcDevice=block, srcPitch=64, dstMemoryType=1,
                                                                dstHost=ctypes.addressof(host), dstPitch=64, WidthInBytes=16,
                                                                Height=2)), fails=True))
    say('free', block, call('cuMemFree_v2', u64(block), fails=True))
    say('unknown', 0x10, call('cuMemFree_v2', u64(0x10), fails=True))

    # Stream-ordered.
    call('cuStreamCreate', ctypes.byref(stream), 0)
    pooled = allocate_async(4096, stream)
    call('cuMemcpyHtoDAsync_v2', u64(pooled), host, size_t(64), stream)
    call('cuMemFreeAsync', u64(pooled), stream)
    say('pooled', pooled, call('cuMemsetD8Async', u64(pooled), ctypes.c_ubyte(1), size_t(16), stream, fails=True))

    call('cuStreamSynchronize', stream)
    call('cuMemFree_v2', u64(other))
    return 0


sys.exit(main())
