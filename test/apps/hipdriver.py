# SPDX-License-Identifier: Apache-2.0
"""No program: libamdhip64 by ctypes, with the names and the arguments of driver.py. Ends with 77 if there is no libamdhip64 or no GPU."""
import ctypes
import sys

import hipcode

u32, u64, size_t, void = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p
NO_DEVICE = 100  # hipErrorNoDevice

# Functions of CUDA's driver, and those of HIP with the same arguments. Other names differ in the first letters alone.
NAMES = {
    'cuStreamCreate': 'hipStreamCreateWithFlags',
    'cuEventCreate': 'hipEventCreateWithFlags',
    'cuMemAlloc_v2': 'hipMalloc',
    'cuMemAllocAsync': 'hipMallocAsync',
    'cuMemAllocHost_v2': 'hipMemAllocHost',
    'cuMemFree_v2': 'hipFree',
    'cuMemFreeHost': 'hipHostFree',
    'cuMemsetD32_v2': 'hipMemsetD32',
    'cuLaunchKernel': 'hipModuleLaunchKernel',
}


class Functions:
    """The functions of libamdhip64, by their names in CUDA's driver."""

    def __init__(self):
        for major in (6, 7):
            try:
                self.hip = ctypes.CDLL('libamdhip64.so.%d' % major)
                return
            except OSError as error:
                reason = error
        print('skipped: %s' % reason, file=sys.stderr)
        sys.exit(77)

    def __getattr__(self, name):
        return getattr(self.hip, NAMES.get(name, 'hip' + name[2:].removesuffix('_v2')))


cuda = Functions()


def call(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    if result:
        print('%s: %d' % (name, result), file=sys.stderr)
        sys.exit(77 if result == NO_DEVICE else 9)


def made(name, *arguments, kind=void):
    handle = kind()
    call(name, ctypes.byref(handle), *arguments)
    return handle


def image(ptx):
    """PTX as a bundle."""
    return hipcode.bundle([(hipcode.HOST, b''), (hipcode.PTX, ptx)])
