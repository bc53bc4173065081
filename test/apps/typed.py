#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""typed.py SECONDS KIND ...: kernels with names of C++, whose arrays have types. Through libcuda by ctypes; each kind in a child of its own.

A kind of TYPES: 256 elements get the value `was`, and the 18th one `is` instead if so many seconds are over, counted from this program's
beginning: done again later it differs from the capture. `streams`: two kernels write one array in two streams, and nothing orders
them. `clock`: the 18th element is the time. Nothing is read back of these two. Prints the time at which the seconds are over; ends with 77 if there is no GPU, or if they were over already.
"""
import ctypes
import os
import struct
import sys
import time

N, SLOT = 256, 17
# Kind: the kernel's name, the store, the value that it stores, and the one that it stores later.
TYPES = {
    'float': ('_Z4latePfffm', 'f32', struct.pack('<f', 2), struct.pack('<f', 1)),
    'double': ('_Z4latePdddm', 'f64', struct.pack('<d', 2), struct.pack('<d', 1)),
    'half': ('_Z4lateP6__halfttm', 'b16', struct.pack('<e', 2), struct.pack('<e', 1)),
    'int': ('_Z4latePiiim', 'b32', struct.pack('<i', 2), struct.pack('<i', -1)),
    'uchar': ('_Z4latePhhhm', 'b8', b'\xc8', b'\x01'),
    'bool': ('_Z4latePbhhm', 'b8', b'\x00', b'\x01'),
    'long': ('_Z4latePlllm', 'b64', struct.pack('<q', 2), struct.pack('<q', 1 << 40)),
    'template': ('_Z4lateIfEvPT_S0_S0_m', 'f32', struct.pack('<f', 2), struct.pack('<f', 1)),
    'float4': ('_Z4lateP6float4ffm', 'f32', struct.pack('<f', 2), struct.pack('<f', 1)),
    # No type is known: the program's own struct, a name without a signature.
    'struct': ('_Z4lateP5thingffm', 'f32', struct.pack('<f', 2), struct.pack('<f', 1)),
    'plain': ('late', 'f32', struct.pack('<f', 2), struct.pack('<f', 1)),
    # Likewise, and floats lie in front of it in one allocation, as in a pool.
    'behind': ('_Z4lateP5thingffm', 'f32', struct.pack('<f', 2), struct.pack('<f', 1)),
}
HEAD = '.version 7.0\n.target sm_70\n.address_size 64\n'
LATE = HEAD + '''.visible .entry NAME(.param .u64 out, .param .BITS was, .param .BITS is, .param .u64 limit)
{
	.reg .pred %p<4>;
	.reg .b32 %r<2>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [out];
	ld.param.BITS %rd2, [was];
	ld.param.BITS %rd3, [is];
	ld.param.u64 %rd4, [limit];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd5, %r1, WIDTH;
	add.s64 %rd5, %rd5, %rd1;
	mov.u64 %rd6, %globaltimer;
	setp.gt.u64 %p1, %rd6, %rd4;
	setp.eq.u32 %p2, %r1, SLOT;
	and.pred %p3, %p1, %p2;
	selp.b64 %rd7, %rd3, %rd2, %p3;
	st.global.BITS [%rd5], %rd7;
	ret;
}
'''
# Twice in one module: each stores its thread's number, plus one in the second.
STORES = HEAD + ''.join('''.visible .entry %s(.param .u64 out)
{
	.reg .b32 %%r<3>;
	.reg .b64 %%rd<3>;
	ld.param.u64 %%rd1, [out];
	mov.u32 %%r1, %%tid.x;
	mul.wide.u32 %%rd2, %%r1, 4;
	add.s64 %%rd2, %%rd2, %%rd1;
	add.u32 %%r2, %%r1, %d;
	st.global.u32 [%%rd2], %%r2;
	ret;
}
''' % (name, plus) for name, plus in (('_Z5firstIiEvPT_', 0), ('_Z6secondIiEvPT_', 1)))

CLOCK = HEAD + '''.visible .entry _Z5clockPm(.param .u64 out)
{
	.reg .b64 %%rd<3>;
	ld.param.u64 %%rd1, [out];
	mov.u64 %%rd2, %%globaltimer;
	st.global.u64 [%%rd1+%d], %%rd2;
	ret;
}
''' % (8 * SLOT)


def launch(call, kernel, stream, *arguments):
    pointers = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
    call('cuLaunchKernel', kernel, 1, 1, 1, N, 1, 1, 0, stream, pointers, None)


def late(kind, limit, call, made, size_t, u64):
    name, store, was, later = TYPES[kind]
    width, out, host = len(was), u64(), ctypes.create_string_buffer(N * len(was))
    n_bytes = N * width
    bits = 'b' + store[1:]
    # A register has 32 bits at least; cuModuleLoadData reads up to a NUL.
    text = LATE.replace('NAME', name).replace('BITS', bits.replace('b8', 'u8')).replace('WIDTH', str(width)).replace('SLOT', str(SLOT))
    module = made('cuModuleLoadData', text.encode() + b'\0')
    kernel = made('cuModuleGetFunction', module, name.encode())
    call('cuMemAlloc_v2', ctypes.byref(out), size_t(2 * n_bytes if kind == 'behind' else n_bytes))
    values = [ctypes.create_string_buffer(value, 8) for value in (was, later)]
    if kind == 'behind':
        floats = made('cuModuleLoadData', text.replace(name, TYPES['float'][0]).encode() + b'\0')
        launch(call, made('cuModuleGetFunction', floats, TYPES['float'][0].encode()), None, out, *values, u64(2 ** 64 - 1))
        out = u64(out.value + n_bytes)
    launch(call, kernel, None, out, *values, u64(limit))
    call('cuMemcpyDtoH_v2', host, out, size_t(n_bytes))
    return 0 if host.raw == was * N else 77


def streams(call, made, size_t, u64):
    out = u64()
    module = made('cuModuleLoadData', STORES.encode() + b'\0')
    kernels = [made('cuModuleGetFunction', module, name) for name in (b'_Z5firstIiEvPT_', b'_Z6secondIiEvPT_')]
    handles = [made('cuStreamCreate', 1) for _ in kernels]
    call('cuMemAlloc_v2', ctypes.byref(out), size_t(N * 4))
    for kernel, handle in zip(kernels, handles):
        launch(call, kernel, handle, out)
    call('cuCtxSynchronize')
    return 0


def clock(call, made, size_t, u64):
    out, module = u64(), made('cuModuleLoadData', CLOCK.encode() + b'\0')
    kernel = made('cuModuleGetFunction', module, b'_Z5clockPm')
    call('cuMemAlloc_v2', ctypes.byref(out), size_t(N * 8))
    call('cuMemsetD8_v2', out, 0, size_t(N * 8))
    launch(call, kernel, None, out)
    call('cuCtxSynchronize')
    return 0


def child(kind, limit):
    from driver import call, made, size_t, u64
    call('cuInit', 0)
    made('cuCtxCreate_v2', 0, 0)
    if kind in ('streams', 'clock'):
        return (streams if kind == 'streams' else clock)(call, made, size_t, u64)
    return late(kind, limit, call, made, size_t, u64)


def main():
    limit = time.monotonic_ns() + int(float(sys.argv[1]) * 1e9)
    print(limit, flush=True)
    for kind in sys.argv[2:]:
        pid = os.fork()
        if not pid:
            # Ends as programs do: what is recorded is handed over.
            sys.exit(child(kind, limit))
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status:
            return status
    return 0


if __name__ == '__main__':
    sys.exit(main())
