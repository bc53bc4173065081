#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pools.py: stream-ordered memory from two pools, some of it freed in between, so that what is free lies in pieces; then all is given back, of the
one pool by its threshold, of the other by trimming. Through libcuda by ctypes.

Prints, a line each, what the pools say of themselves after every call: the pool's handle, its bytes held and used, and the most of
both so far. Ends with 77 where there is no GPU.
"""
import ctypes

from driver import call, size_t, u64, void

THRESHOLD, HELD, MOST_HELD, USED, MOST_USED = 4, 5, 6, 7, 8  # CUmemPool_attribute
MIB = 1 << 20


class Location(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int), ('id', ctypes.c_int)]


class Properties(ctypes.Structure):
    """CUmemPoolProps: pinned memory of device 0, without handles."""
    _fields_ = [('allocType', ctypes.c_int), ('handleTypes', ctypes.c_int), ('location', Location), ('security', void),
                ('maxSize', size_t), ('usage', ctypes.c_ushort), ('reserved', ctypes.c_ubyte * 54)]


def say(pool):
    values = []
    for attribute in (HELD, USED, MOST_HELD, MOST_USED):
        value = u64()
        call('cuMemPoolGetAttribute', pool, attribute, ctypes.byref(value))
        values.append(value.value)
    print(pool.value, *values, flush=True)


def allocate(pool, n_bytes, stream):
    address = u64()
    call('cuMemAllocFromPoolAsync', ctypes.byref(address), size_t(n_bytes), pool, stream)
    say(pool)
    return address


def free(pool, address, stream):
    call('cuMemFreeAsync', address, stream)
    call('cuStreamSynchronize', stream)
    say(pool)


def main():
    context, stream, default, own = void(), void(), void(), void()
    properties = Properties(allocType=1, location=Location(1, 0))
    call('cuInit', 0)
    call('cuDevicePrimaryCtxRetain', ctypes.byref(context), 0)
    call('cuCtxSetCurrent', context)
    call('cuStreamCreate', ctypes.byref(stream), 1)
    call('cuDeviceGetDefaultMemPool', ctypes.byref(default), 0)
    call('cuMemPoolCreate', ctypes.byref(own), ctypes.byref(properties))
    for pool, n_bytes in ((default, MIB), (own, 3 * MIB)):
        # What is freed stays the pool's.
        call('cuMemPoolSetAttribute', pool, THRESHOLD, ctypes.byref(u64(2 ** 64 - 1)))
        blocks = [allocate(pool, n_bytes, stream) for _ in range(8)]
        for block in blocks[::2]:
            free(pool, block, stream)
        # In one piece.
        blocks = blocks[1::2] + [allocate(pool, 3 * n_bytes, stream), allocate(pool, n_bytes // 2, stream)]
        for block in blocks:
            free(pool, block, stream)
    call('cuMemPoolSetAttribute', default, THRESHOLD, ctypes.byref(u64(0)))
    call('cuStreamSynchronize', stream)
    say(default)
    for keep in (4 * MIB, 0):
        call('cuMemPoolTrimTo', own, size_t(keep))
        say(own)


main()
