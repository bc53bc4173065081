# SPDX-License-Identifier: Apache-2.0
"""No program: libcuda by ctypes, for those here that call it so. Who imports it ends with 77 where there is no libcuda."""
import ctypes
import sys

u32, u64, size_t, void = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE

try:
    cuda = ctypes.CDLL('libcuda.so.1')
except OSError as error:
    print('skipped: %s' % error, file=sys.stderr)
    sys.exit(77)


def call(name, *arguments):
    """Calls the function of that name; one that fails ends the program, with 9, or with 77 where there is no GPU."""
    result = getattr(cuda, name)(*arguments)
    if result:
        print('%s: %d' % (name, result), file=sys.stderr)
        sys.exit(77 if result == NO_DEVICE else 9)


def made(name, *arguments, kind=void):
    """What the call makes, which it answers through its first argument."""
    handle = kind()
    call(name, ctypes.byref(handle), *arguments)
    return handle


def image(ptx):
    """PTX in the form that the driver loads."""
    return ptx
