#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""endless.py WHAT ...: what a replay on a device has to bear, by the driver's calls; each WHAT one after the other.

prints: a kernel that prints. many: 1500 launches that nobody waits for. large: 20 MiB are copied to the device behind a kernel, at once.
killed: SIGTERM while a kernel runs that takes minutes. Ends with 9 where a call fails, with 77 where there is no GPU.
"""
import ctypes
import os
import signal
import sys

from driver import call, made, size_t, u64, void

LARGE = 20 << 20

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 1 .b8 text[8] = {80, 82, 73, 78, 84, 27, 10, 0};
.visible .entry prints()
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<2>;
	mov.u64 %rd1, text;
	cvta.global.u64 %rd1, %rd1;
	mov.u64 %rd2, 0;
	{
		.param .b64 p0;
		.param .b64 p1;
		.param .b32 r0;
		st.param.b64 [p0], %rd1;
		st.param.b64 [p1], %rd2;
		call.uni (r0), vprintf, (p0, p1);
		ld.param.b32 %r1, [r0];
	}
	ret;
}
.visible .entry loops(.param .u32 n)
{
	.reg .pred %p1;
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [n];
	mov.u32 %r2, 0;
round:
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p1, %r2, %r1;
	@%p1 bra round;
	ret;
}
"""


def launch(kernel, rounds=None):
    rounds = ctypes.c_uint32(rounds or 0)
    arguments = (void * 1)(ctypes.addressof(rounds))
    call('cuLaunchKernel', kernel, 1, 1, 1, 1, 1, 1, 0, None, arguments, None)


call('cuInit', 0)
context = made('cuCtxCreate_v2', 0, 0)
module = made('cuModuleLoadData', PTX)
prints = made('cuModuleGetFunction', module, b'prints')
loops = made('cuModuleGetFunction', module, b'loops')
memory = u64()
call('cuMemAlloc_v2', ctypes.byref(memory), size_t(LARGE))
content = ctypes.create_string_buffer(b'content', LARGE)
for what in sys.argv[1:]:
    if what == 'prints':
        launch(prints)
    elif what == 'many':
        for _ in range(1500):
            launch(loops, 1)
    elif what == 'killed':
        launch(loops, 0xffffffff)
        os.kill(os.getpid(), signal.SIGTERM)
    else:
        launch(loops, 1)
        call('cuMemcpyHtoDAsync_v2', memory, content, size_t(LARGE), None)
    call('cuCtxSynchronize')
