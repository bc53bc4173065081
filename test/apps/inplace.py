#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""inplace.py [hip]: graphs whose nodes change the host memory that they read, at once. Each launch depends on all launches before it.

A kernel adds 1 to pinned memory. A copy reads other pinned memory, a kernel adds 1 to the copy, and a copy writes the sum back. The
first of them is so large that a capture after the launch finds the work done. Through libcuda by ctypes; with the argument `hip` through libamdhip64. Ends with 1 if a result is wrong, with 9 if a call fails, with 77 if
there is no GPU.
"""
import ctypes
import sys

if sys.argv[1:] == ['hip']:
    from hipdriver import call, image, made, size_t, u32, u64, void
else:
    from driver import call, image, made, size_t, u32, u64, void

N = 64
LARGE = 4 << 20
LAUNCHES = 4
THREAD_LOCAL = 1

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry bump(.param .u64 p)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r2, [%rd3];
	add.u32 %r2, %r2, 1;
	st.global.u32 [%rd3], %r2;
	ret;
}
"""


def pinned(n_bytes):
    handle = made('cuMemAllocHost_v2', size_t(n_bytes))
    words = (u32 * N).from_address(handle.value)
    words[:] = list(range(N))
    return words


def launch(address):
    address = u64(address)
    call('cuLaunchKernel', bump, 1, 1, 1, N, 1, 1, 0, stream, (void * 1)(ctypes.addressof(address)), None)


call('cuInit', 0)
call('cuCtxSetCurrent', made('cuDevicePrimaryCtxRetain', 0))
bump = made('cuModuleGetFunction', made('cuModuleLoadData', image(PTX)), b'bump')
stream = made('cuStreamCreate', 1)
memory = made('cuMemAlloc_v2', size_t(4 * N), kind=u64)
mapped, copied = pinned(LARGE), pinned(4 * N)
graph = void()
call('cuStreamBeginCapture_v2', stream, THREAD_LOCAL)
launch(ctypes.addressof(mapped))
call('cuMemcpyHtoDAsync_v2', memory, copied, size_t(4 * N), stream)
launch(memory.value)
call('cuMemcpyDtoHAsync_v2', copied, memory, size_t(4 * N), stream)
call('cuStreamEndCapture', stream, ctypes.byref(graph))
ready = made('cuGraphInstantiateWithFlags', graph, ctypes.c_ulonglong(0))
for i in range(1, LAUNCHES + 1):
    call('cuGraphLaunch', ready, stream)
    call('cuStreamSynchronize', stream)
    if list(mapped) != list(copied) or list(copied) != [n + i for n in range(N)]:
        sys.exit(1)
