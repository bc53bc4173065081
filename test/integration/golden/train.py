#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train.py [STEPS]: a small training, by libcuda through ctypes. It keeps one buffer a step, waits after each kernel, copies pageable memory."""
import ctypes
import sys
import time

PTX = b'''.version 7.0
.target sm_70
.address_size 64
.visible .entry forward(.param .u64 at, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [n];
$again:
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $again;
    ret;
}
.visible .entry backward(.param .u64 at, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [n];
$again:
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $again;
    ret;
}
'''
BYTES = 1 << 16
cuda = ctypes.CDLL('libcuda.so.1')


def call(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    if result:
        sys.exit('%s: error %d' % (name, result))


def start():
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    call('cuInit', 0)
    call('cuDevicePrimaryCtxRetain', ctypes.byref(context), 0)
    call('cuCtxSetCurrent', context)
    call('cuModuleLoadData', ctypes.byref(module), PTX)
    kernels = []
    for name in (b'forward', b'backward'):
        function = ctypes.c_void_p()
        call('cuModuleGetFunction', ctypes.byref(function), module, name)
        kernels.append(function)
    return kernels


def allocate(n_bytes):
    memory = ctypes.c_uint64()
    call('cuMemAlloc_v2', ctypes.byref(memory), ctypes.c_size_t(n_bytes))
    return memory


def load_batch(memory, host):
    time.sleep(0.002)
    call('cuMemcpyHtoD_v2', memory, host, ctypes.c_size_t(BYTES))


def launch(kernel, memory, loops, blocks):
    loops = ctypes.c_uint32(loops)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(loops))
    call('cuLaunchKernel', kernel, blocks, 1, 1, 32, 1, 1, 0, None, arguments, None)


def train_step(kernels, batch, weights):
    launch(kernels[0], batch, 200, 2)
    call('cuCtxSynchronize')
    launch(kernels[1], weights, 800, 2)
    call('cuCtxSynchronize')
    call('cuCtxSynchronize')


def keep_history(history):
    history.append(allocate(4 << 20))


def main():
    kernels, history = start(), []
    weights, batch = allocate(16 << 20), allocate(BYTES)
    host = (ctypes.c_char * BYTES)()
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 4):
        load_batch(batch, host)
        train_step(kernels, batch, weights)
        keep_history(history)
    call('cuMemFree_v2', batch)
    call('cuMemFree_v2', weights)


main()
