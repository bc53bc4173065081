#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""names.py: kernels with long C++ names that differ in their middle alone, launched so many times each, by libcuda through ctypes."""
import ctypes

FUNCTOR = b'_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIfffNS0_10%sFunctorIfEEEESt5arrayIPcLm3EEEEviT0_T1_'
NAMES = [FUNCTOR % b'Add', FUNCTOR % b'Mul', FUNCTOR % b'Div', b'_ZN2at6native13reduce_kernelILi512EfLi1EEEvT0_', b'_ZN2at6native13reduce_kernelILi128EfLi4EEEvT0_']
PTX = b'.version 7.0\n.target sm_70\n.address_size 64\n' + b''.join(b'.visible .entry %s() { ret; }\n' % name for name in NAMES)
cuda = ctypes.CDLL('libcuda.so.1')


def start():
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    assert not cuda.cuInit(0)
    assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    assert not cuda.cuCtxSetCurrent(context)
    assert not cuda.cuModuleLoadData(ctypes.byref(module), PTX)
    return module


def main():
    module = start()
    for count, name in enumerate(NAMES, 1):
        function = ctypes.c_void_p()
        assert not cuda.cuModuleGetFunction(ctypes.byref(function), module, name)
        for _ in range(count):
            assert not cuda.cuLaunchKernel(function, 8 * count, 1, 1, 128, 1, 1, 0, None, None, None)
    assert not cuda.cuCtxSynchronize()


main()
