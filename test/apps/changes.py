#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""changes.py [KEY=VALUE ...]: kernels in one stream and copies in another, with one thing changed. Through libcuda by ctypes.

rounds=N: how often; loops=N: how long kernel `first` runs; grid=N, block=N, shared=N: how `second` is launched; copies=N, sets=N: of
these after each round, bytes=N: of each; third=1: a third kernel; streams=1: all in one stream. What a round does waits for a long kernel,
so that both streams have work at the same time. Ends with 77 where there is no GPU.
"""
import ctypes
import sys

from driver import call, made, size_t, u64, void

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
""" + b"".join(b"""
.visible .entry %s(.param .u64 to, .param .u32 loops)
{
	.reg .b32 %%r<3>;
	.reg .b64 %%rd<2>;
	.reg .pred %%p<2>;
	ld.param.u64 %%rd1, [to];
	ld.param.u32 %%r1, [loops];
	mov.u32 %%r2, 0;
again:
	add.u32 %%r2, %%r2, %%r1;
	sub.u32 %%r1, %%r1, 1;
	setp.ne.u32 %%p1, %%r1, 0;
	@%%p1 bra again;
	st.global.u32 [%%rd1], %%r2;
	ret;
}
""" % name for name in (b'gate', b'first', b'second', b'third'))

how = {'rounds': 20, 'loops': 400, 'grid': 4, 'block': 64, 'shared': 0, 'copies': 4, 'sets': 1, 'bytes': 1 << 20, 'third': 0, 'streams': 2}
for argument in sys.argv[1:]:
    key, value = argument.split('=')
    how[key] = {**how, key: int(value)}[key]

call('cuInit', 0)
context = made('cuCtxCreate_v2', 0, 0)
module = made('cuModuleLoadData', PTX)
kernel = {name: made('cuModuleGetFunction', module, name.encode()) for name in ('gate', 'first', 'second', 'third')}
streams = [made('cuStreamCreate', 1) for _ in range(how['streams'])]
event = made('cuEventCreate', 2)
memory, other = u64(), u64()
call('cuMemAlloc_v2', ctypes.byref(memory), size_t(1 << 20))
call('cuMemAlloc_v2', ctypes.byref(other), size_t(1 << 20))
host = made('cuMemHostAlloc', size_t(1 << 20), 0)


def launch(name, loops, stream, grid=4, block=64, shared=0):
    to, n = u64(memory.value), ctypes.c_uint32(loops)
    arguments = (void * 2)(ctypes.addressof(to), ctypes.addressof(n))
    call('cuLaunchKernel', kernel[name], grid, 1, 1, block, 1, 1, shared, stream, arguments, None)


for _ in range(how['rounds']):
    launch('gate', 20000, streams[0])
    call('cuEventRecord', event, streams[0])
    call('cuStreamWaitEvent', streams[-1], event, 0)
    for _ in range(how['copies']):
        call('cuMemcpyHtoDAsync_v2', other, host, size_t(how['bytes']), streams[-1])
    for _ in range(4):
        launch('first', how['loops'], streams[0])
        launch('second', 400, streams[0], how['grid'], how['block'], how['shared'])
    if how['third']:
        launch('third', 50, streams[0])
    for _ in range(how['sets']):
        call('cuMemsetD8Async', other, 0, size_t(how['bytes']), streams[-1])
    call('cuCtxSynchronize')
