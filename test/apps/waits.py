#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""waits.py [host]: a kernel that waits for a word which a copy in another stream writes. Through libcuda by ctypes.

host: the word lies in the host's pinned memory, and this thread stores it while the kernel runs. Ends with 9 where a call fails, with 77 where there is no GPU.
"""
import ctypes
import sys

from driver import call, made, size_t, u64, void

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


call('cuInit', 0)
context = made('cuCtxCreate_v2', 0, 0)
module = made('cuModuleLoadData', PTX)
waits = made('cuModuleGetFunction', module, b'waits')
streams = [made('cuStreamCreate', NON_BLOCKING) for _ in range(2)]
memory, seven, out = u64(), ctypes.c_uint32(7), ctypes.c_uint32()
if sys.argv[1:] == ['host']:
    pinned = made('cuMemHostAlloc', size_t(8), 0)
    word = ctypes.c_uint32.from_address(pinned.value)
    word.value = 0
    memory.value = pinned.value
else:
    word = None
    call('cuMemAlloc_v2', ctypes.byref(memory), size_t(8))
    call('cuMemsetD8_v2', memory, 0, size_t(8))
call('cuCtxSynchronize')
arguments = (void * 1)(ctypes.addressof(memory))
call('cuLaunchKernel', waits, 1, 1, 1, 1, 1, 1, 0, streams[0], arguments, None)
if word is not None:
    word.value = 7
else:
    call('cuMemcpyHtoDAsync_v2', memory, ctypes.byref(seven), size_t(4), streams[1])
call('cuCtxSynchronize')
call('cuMemcpyDtoH_v2', ctypes.byref(out), u64(memory.value + 4), size_t(4))
sys.exit(0 if out.value == 7 else 1)
