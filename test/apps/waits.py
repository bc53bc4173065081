#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""waits.py: a kernel that waits for a word which a copy in another stream writes. Through libcuda by ctypes.

Ends with 9 where a call fails, with 77 where there is no GPU.
"""
import ctypes
import sys

u64, size_t, void = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p
NON_BLOCKING = 1

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry waits(.param .u64 p)
{
	.reg .pred %p1;
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
again:
	ld.volatile.global.u32 %r1, [%rd1];
	setp.ne.u32 %p1, %r1, 7;
	@%p1 bra again;
	st.global.u32 [%rd1+4], %r1;
	ret;
}
"""

try:
    cuda = ctypes.CDLL('libcuda.so.1')
except OSError as error:
    print('skipped: %s' % error, file=sys.stderr)
    sys.exit(77)


def call(name, *arguments):
    r = getattr(cuda, name)(*arguments)
    if r:
        print('%s: %d' % (name, r), file=sys.stderr)
        sys.exit(77 if r == 100 else 9)


def made(name, *arguments):
    it = void()
    call(name, ctypes.byref(it), *arguments)
    return it


call('cuInit', 0)
context = made('cuCtxCreate_v2', 0, 0)
module = made('cuModuleLoadData', PTX)
waits = made('cuModuleGetFunction', module, b'waits')
streams = [made('cuStreamCreate', NON_BLOCKING) for _ in range(2)]
memory, seven, out = u64(), ctypes.c_uint32(7), ctypes.c_uint32()
call('cuMemAlloc_v2', ctypes.byref(memory), size_t(8))
call('cuMemsetD8_v2', memory, 0, size_t(8))
call('cuCtxSynchronize')
arguments = (void * 1)(ctypes.addressof(memory))
call('cuLaunchKernel', waits, 1, 1, 1, 1, 1, 1, 0, streams[0], arguments, None)
call('cuMemcpyHtoDAsync_v2', memory, ctypes.byref(seven), size_t(4), streams[1])
call('cuCtxSynchronize')
call('cuMemcpyDtoH_v2', ctypes.byref(out), u64(memory.value + 4), size_t(4))
sys.exit(0 if out.value == 7 else 1)
