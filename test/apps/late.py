#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""late.py SECONDS: a kernel says whether so much time is over, counted from this program's beginning, and the program reads it back.

Done again later it says something else, each time the same: a result that differs from the capture, and not from run to run.
Through libcuda by ctypes. Prints the time at which that is over; ends with 77 where there is no GPU, or where it was over already.
"""
import ctypes
import sys
import time

PTX = b'''.version 7.0
.target sm_70
.address_size 64
.visible .entry late(.param .u64 out, .param .u64 limit)
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [limit];
	mov.u64 %rd3, %globaltimer;
	setp.gt.u64 %p1, %rd3, %rd2;
	selp.u32 %r1, 7, 1, %p1;
	st.global.u32 [%rd1], %r1;
	ret;
}
\0'''

try:
    cuda = ctypes.CDLL('libcuda.so.1')
except OSError as error:
    print('skipped: %s' % error, file=sys.stderr)
    sys.exit(77)


def check(result):
    if result:
        print('error %d' % result, file=sys.stderr)
        sys.exit(77)


def main():
    limit = ctypes.c_uint64(time.monotonic_ns() + int(sys.argv[1]) * 1000000000)
    context, module, kernel, device = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    out, word = ctypes.c_uint64(), ctypes.c_uint32()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b'late'))
    check(cuda.cuMemAlloc_v2(ctypes.byref(out), ctypes.c_size_t(4)))
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(out), ctypes.addressof(limit))
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, arguments, None))
    check(cuda.cuMemcpyDtoH_v2(ctypes.byref(word), out, ctypes.c_size_t(4)))
    check(cuda.cuCtxSynchronize())
    check(cuda.cuMemFree_v2(out))
    check(cuda.cuDevicePrimaryCtxRelease(device))
    print(limit.value)
    return 0 if word.value == 1 else 77


if __name__ == '__main__':
    sys.exit(main())
