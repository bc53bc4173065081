#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""failing.py: an allocation that fails because others hold the memory, then a kernel that writes to an address that nobody allocated."""
import ctypes

PTX = b'''.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 at)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    st.global.u32 [%rd1], 1;
    ret;
}
'''
cuda = ctypes.CDLL('libcuda.so.1')


def start():
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert not cuda.cuInit(0)
    assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    assert not cuda.cuCtxSetCurrent(context)
    assert not cuda.cuModuleLoadData(ctypes.byref(module), PTX)
    assert not cuda.cuModuleGetFunction(ctypes.byref(function), module, b'fill')
    return function


def allocate(n_bytes):
    memory = ctypes.c_uint64()
    return cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(n_bytes)), memory


def build_cache():
    return [allocate(30 << 30) for _ in range(4)]


def build_model():
    return allocate(60 << 30)


def launch(function, address):
    argument = ctypes.c_uint64(address)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    return cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)


def main():
    function = start()
    cache = build_cache()
    assert build_model()[0] == 2 and build_model()[0] == 2
    assert not launch(function, cache[0][1].value)
    assert not cuda.cuCtxSynchronize()
    assert not launch(function, 0x10)
    assert cuda.cuCtxSynchronize() == 700


main()
