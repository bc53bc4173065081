#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fills.py WHAT: a fill, then a kernel in a stream that does not wait for the default one reads what was filled. Through libcuda by ctypes.

managed: cuMemsetD8 of managed memory, and pinned: of pinned memory, which return when they are over. device: cuMemsetD8 of device memory,
which returns before. async: cuMemsetD8Async of managed memory. The kernel is ordered after the first two alone. Ends with 9 where a
call fails, with 77 where there is no GPU.
"""
import ctypes
import sys

from driver import call, made, size_t, u64, void

NON_BLOCKING, ATTACH_GLOBAL = 1, 1
N_BYTES = 4096

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry reads(.param .u64 from, .param .u64 to)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [from];
	ld.param.u64 %rd2, [to];
	ld.global.u32 %r1, [%rd1];
	st.global.u32 [%rd2], %r1;
	ret;
}
"""

what = sys.argv[1]
call('cuInit', 0)
context = made('cuCtxCreate_v2', 0, 0)
module = made('cuModuleLoadData', PTX)
reads = made('cuModuleGetFunction', module, b'reads')
stream, filling = (made('cuStreamCreate', NON_BLOCKING) for _ in range(2))
memory, copied, out = u64(), u64(), ctypes.c_uint32()
if what == 'pinned':
    memory.value = made('cuMemHostAlloc', size_t(N_BYTES), 0).value
elif what == 'device':
    call('cuMemAlloc_v2', ctypes.byref(memory), size_t(N_BYTES))
else:
    call('cuMemAllocManaged', ctypes.byref(memory), size_t(N_BYTES), ATTACH_GLOBAL)
call('cuMemAlloc_v2', ctypes.byref(copied), size_t(4))
call('cuMemsetD8_v2', memory, 0, size_t(N_BYTES))
call('cuCtxSynchronize')
if what == 'async':
    call('cuMemsetD8Async', memory, 1, size_t(N_BYTES), filling)
else:
    call('cuMemsetD8_v2', memory, 1, size_t(N_BYTES))
arguments = (void * 2)(ctypes.addressof(memory), ctypes.addressof(copied))
call('cuLaunchKernel', reads, 1, 1, 1, 1, 1, 1, 0, stream, arguments, None)
call('cuCtxSynchronize')
call('cuMemcpyDtoH_v2', ctypes.byref(out), copied, size_t(4))
sys.exit(0 if out.value in (0, 0x01010101) else 1)
