#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""changes.py [KEY=VALUE ...]: kernels in one stream and copies in another, with one thing changed. Through libcuda by ctypes.

rounds=N: number of rounds. A round launches `gate`, four times `first` and `second`, and `last`; behind `gate` it copies and sets in the
other stream, beside the other kernels. At its end it waits for the device.
gate=N, first=N, second=N, last=N: loops of that kernel. firsts=N: launches of `first`. third=N: launches of a kernel more.
grid=N, block=N, shared=N: how `second` is launched; config=GRID,BLOCK,SHARED,KERNEL: the same of another kernel.
copies=N, sets=N: of these a round, bytes=N: of each. back=1, inside=1: a copy to the host, within the device, more a round; once=1: one
copy of 2 KiB at the end; small=1: one of 2 KiB a round.
streams=1: all in one stream. order=wait: kernels wait for the copies; order=sync: the host waits for the copies before it launches the
kernels; order=legacy: the copies are in the legacy default stream, for which the others wait.
Ends with 77 where there is no GPU.
"""
import ctypes
import sys

from driver import call, made, size_t, u64, void

KERNELS = ('gate', 'first', 'second', 'third', 'last')
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
""" % name.encode() for name in KERNELS)

how = {'rounds': 20, 'gate': 20000, 'first': 400, 'second': 400, 'last': 2000, 'firsts': 4, 'third': 0, 'grid': 4, 'block': 64, 'shared': 0,
       'config': '', 'copies': 4, 'sets': 1, 'bytes': 1 << 20, 'back': 0, 'inside': 0, 'once': 0, 'small': 0, 'streams': 2, 'order': ''}
for argument in sys.argv[1:]:
    key, value = argument.split('=')
    how[key] = type(how[key])(value)
configs = {name: (4, 64, 0) for name in KERNELS}
configs['second'] = how['grid'], how['block'], how['shared']
if how['config']:
    *config, kernel_name = how['config'].split(',')
    configs[kernel_name] = tuple(int(number) for number in config)

call('cuInit', 0)
context = made('cuCtxCreate_v2', 0, 0)
module = made('cuModuleLoadData', PTX)
kernels = {name: made('cuModuleGetFunction', module, name.encode()) for name in KERNELS}
streams = [made('cuStreamCreate', 0 if how['order'] == 'legacy' else 1) for _ in range(how['streams'])]
of_copies = None if how['order'] == 'legacy' else streams[-1]
begun, copied = made('cuEventCreate', 2), made('cuEventCreate', 2)
memory, other = u64(), u64()
call('cuMemAlloc_v2', ctypes.byref(memory), size_t(1 << 20))
call('cuMemAlloc_v2', ctypes.byref(other), size_t(1 << 21))
host = made('cuMemHostAlloc', size_t(1 << 20), 0)


def launch(name, loops):
    grid, block, shared = configs[name]
    to, n = u64(memory.value), ctypes.c_uint32(loops)
    arguments = (void * 2)(ctypes.addressof(to), ctypes.addressof(n))
    call('cuLaunchKernel', kernels[name], grid, 1, 1, block, 1, 1, shared, streams[0], arguments, None)


def copy_and_set():
    for _ in range(how['copies']):
        call('cuMemcpyHtoDAsync_v2', other, host, size_t(how['bytes']), of_copies)
    for _ in range(how['small']):
        call('cuMemcpyHtoDAsync_v2', other, host, size_t(2048), of_copies)
    for _ in range(how['back']):
        call('cuMemcpyDtoHAsync_v2', host, other, size_t(1 << 16), of_copies)
    for _ in range(how['inside']):
        call('cuMemcpyDtoDAsync_v2', u64(other.value + (1 << 20)), other, size_t(1 << 16), of_copies)
    for _ in range(how['sets']):
        call('cuMemsetD8Async', other, 0, size_t(how['bytes']), of_copies)


for _ in range(how['rounds']):
    launch('gate', how['gate'])
    call('cuEventRecord', begun, streams[0])
    call('cuStreamWaitEvent', of_copies, begun, 0)
    copy_and_set()
    if how['order'] == 'wait':
        call('cuEventRecord', copied, of_copies)
        call('cuStreamWaitEvent', streams[0], copied, 0)
    elif how['order'] == 'sync':
        call('cuStreamSynchronize', of_copies)
    for _ in range(how['firsts']):
        launch('first', how['first'])
    for _ in range(4):
        launch('second', how['second'])
    for _ in range(how['third']):
        launch('third', 50)
    launch('last', how['last'])
    call('cuCtxSynchronize')
if how['once']:
    call('cuMemcpyHtoDAsync_v2', other, host, size_t(2048), streams[-1])
    call('cuCtxSynchronize')
