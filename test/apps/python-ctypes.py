#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python-ctypes.py [ROUNDS]: Python that drives libcudart through ctypes, as many a notebook does.

Memory, copies, streams and events are the runtime's; kernels are PTX that the driver loads into the
same primary context, as Triton and Numba have it. Two Python threads. Ends with 77 where there is no GPU.
"""
import ctypes
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import truth as truth_module  # noqa: E402  (it lies beside this file, wherever that is)

PTX = b'''.version 7.0
.target sm_75
.address_size 64
.visible .entry nothing()
{
    ret;
}
'''
N = 1 << 16
H2D, D2H, D2D = 1, 2, 3
CALLS = ('cudaMalloc', 'cudaFree', 'cudaMemcpy', 'cudaMemcpyAsync', 'cudaMemset', 'cudaStreamCreate',
         'cudaStreamSynchronize', 'cudaStreamDestroy', 'cudaEventRecord', 'cudaEventSynchronize',
         'cudaDeviceSynchronize', 'cuLaunchKernel')


def load(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reason = error
    print('skipped: %s' % reason, file=sys.stderr)
    sys.exit(77)


cuda = load('libcuda.so.1')
cudart = load('libcudart.so.13', 'libcudart.so.12', 'libcudart.so')
cudart.cudaGetErrorName.restype = ctypes.c_char_p
truth = truth_module.open_for_writing()
truth_lock = threading.Lock()
threads_seen = set()
for index, call_name in enumerate(CALLS):
    truth.call_names[index].value = call_name.encode()
truth.kernel_names[0].value = b'nothing'


def check(result, name):
    if result:
        detail = cudart.cudaGetErrorName(result).decode() if name.startswith('cuda') else result
        print('%s: %s' % (name, detail), file=sys.stderr)
        sys.exit(9)


def call(name, *arguments):
    """Calls the vendor's function of that name; counts it where the truth does."""
    library = cudart if name.startswith('cuda') else cuda
    check(getattr(library, name)(*arguments), name)
    if name in CALLS:
        with truth_lock:
            truth.calls[CALLS.index(name)] += 1
            truth.devices |= 1
            # A thread that begins after another has ended may have the same get_ident().
            threads_seen.add(threading.get_native_id())
            truth.threads = len(threads_seen)


def malloc(size):
    pointer = ctypes.c_void_p()
    call('cudaMalloc', ctypes.byref(pointer), ctypes.c_size_t(size))
    with truth_lock:
        truth.allocs[truth_module.DEVICE] += 1
        truth.alloc_bytes[truth_module.DEVICE] += size
    return pointer


def free(pointer):
    call('cudaFree', pointer)
    with truth_lock:
        truth.frees[truth_module.DEVICE] += 1


def copy(dst, src, size, kind, stream=None):
    if stream is None:
        call('cudaMemcpy', dst, src, ctypes.c_size_t(size), kind)
    else:
        call('cudaMemcpyAsync', dst, src, ctypes.c_size_t(size), kind, stream)
    direction = {H2D: truth_module.H2D, D2H: truth_module.D2H, D2D: truth_module.D2D}[kind]
    with truth_lock:
        truth.copies[direction] += 1
        truth.copy_bytes[direction] += size


def memset(pointer, value, size):
    call('cudaMemset', pointer, value, ctypes.c_size_t(size))
    with truth_lock:
        truth.sets += 1
        truth.set_bytes += size


def launch(function, stream, stream_index):
    call('cuLaunchKernel', function, 4, 1, 1, 64, 1, 1, 0, stream, None, None)
    with truth_lock:
        truth.launches[0][stream_index] += 1


def work(rounds, function, stream_index):
    call('cudaSetDevice', 0)
    stream, event = ctypes.c_void_p(), ctypes.c_void_p()
    call('cudaStreamCreate', ctypes.byref(stream))
    call('cudaEventCreate', ctypes.byref(event))
    source = (ctypes.c_ubyte * N)(*(value % 251 for value in range(N)))
    target = (ctypes.c_ubyte * N)()
    first, second = malloc(N), malloc(N)
    memset(second, 0, N)
    for _ in range(rounds):
        copy(first, source, N, H2D, stream)
        launch(function, stream, stream_index)
        copy(second, first, N, D2D, stream)
        call('cudaEventRecord', event, stream)
        call('cudaEventSynchronize', event)
    call('cudaStreamSynchronize', stream)
    copy(target, second, N, D2H)
    if bytes(target) != bytes(source):
        print('python-ctypes: a buffer did not come back as it went')
        os._exit(1)
    free(first)
    free(second)
    call('cudaEventDestroy', event)
    call('cudaStreamDestroy', stream)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    count = ctypes.c_int()
    if cudart.cudaGetDeviceCount(ctypes.byref(count)) or not count.value:
        print('skipped: no CUDA device', file=sys.stderr)
        return 77
    call('cudaSetDevice', 0)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call('cuModuleLoadData', ctypes.byref(module), PTX)
    call('cuModuleGetFunction', ctypes.byref(function), module, b'nothing')
    threads = [threading.Thread(target=work, args=(
        rounds, function, truth_module.FIRST_CREATED_STREAM + number)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    call('cudaDeviceSynchronize')
    print('python-ctypes: %d rounds' % rounds)
    truth.finished = 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
