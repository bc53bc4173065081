#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""odd.py WHAT ...: what a capture has to see, by the driver's calls, each WHAT one after the other; prints what it read back.

file: a kernel out of a file that goes when it is loaded. library: so it is of a library.
waits: what is copied to the host without waiting, waited for by cuCtxSynchronize_v2(). function: a function of the host, which
changes what is copied next. variable: one of a library, whose address is asked for and whose size is not. graph: a library's
kernel, launched by its own handle while its stream is captured. Ends with 9 where a call fails, with 77 where there is no GPU.
"""
import ctypes
import os
import sys
import tempfile

from driver import call, made, size_t, u32, u64, void

N = 64

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 addend = 1;
.visible .entry add(.param .u64 p, .param .u32 x)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [x];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r3, [%rd3];
	add.u32 %r3, %r3, %r1;
	st.global.u32 [%rd3], %r3;
	ret;
}
"""


def launch(kernel, x, stream=None):
    pointer, x = u64(memory.value), u32(x)
    arguments = (void * 2)(ctypes.addressof(pointer), ctypes.addressof(x))
    call('cuLaunchKernel', kernel, 1, 1, 1, N, 1, 1, 0, stream, arguments, None)


def from_file(load):
    """What load(path) makes of the code; the file is gone by then."""
    with tempfile.NamedTemporaryFile(suffix='.ptx') as file:
        file.write(PTX)
        file.flush()
        return load(os.fsencode(file.name))


call('cuInit', 0)
context = made('cuCtxCreate_v2', 0, 0)
memory = u64()
call('cuMemAlloc_v2', ctypes.byref(memory), size_t(4 * N))
call('cuMemsetD32_v2', memory, 5, size_t(N))
pinned = made('cuMemAllocHost_v2', size_t(4 * N))
host = (u32 * N).from_address(pinned.value)
plain = made('cuModuleLoadData', PTX + b'\0')
function = ctypes.CFUNCTYPE(None, void)(lambda _: host.__setitem__(0, 77))
for x, what in enumerate(sys.argv[1:], 1):
    kernel = made('cuModuleGetFunction', plain, b'add')
    if what == 'file':
        kernel = made('cuModuleGetFunction', from_file(lambda path: made('cuModuleLoad', path)), b'add')
    elif what == 'library':
        library = from_file(lambda path: made('cuLibraryLoadFromFile', path, None, None, 0, None, None, 0))
        kernel = made('cuKernelGetFunction', made('cuLibraryGetKernel', library, b'add'))
    launch(kernel, x)
    if what == 'variable':
        library = made('cuLibraryLoadData', PTX + b'\0', None, None, 0, None, None, 0)
        addend = u64()
        call('cuLibraryGetGlobal', ctypes.byref(addend), None, library, b'addend')
        call('cuMemcpyDtoDAsync_v2', memory, addend, size_t(4), None)
    if what == 'graph':
        library = made('cuLibraryLoadData', PTX + b'\0', None, None, 0, None, None, 0)
        stream = made('cuStreamCreate', 0)
        call('cuStreamBeginCapture_v2', stream, 0)
        launch(made('cuLibraryGetKernel', library, b'add'), x, stream)
        graph = void()
        call('cuStreamEndCapture', stream, ctypes.byref(graph))
        executable = made('cuGraphInstantiateWithFlags', graph, u64(0))
        call('cuGraphLaunch', executable, stream)
    if what == 'function':
        call('cuLaunchHostFunc', None, function, None)
        call('cuMemcpyHtoDAsync_v2', memory, pinned, size_t(4), None)
    call('cuMemcpyDtoHAsync_v2', pinned, memory, size_t(4 * N), None)
    if what == 'waits':
        call('cuCtxSynchronize_v2', context)
    else:
        call('cuCtxSynchronize')
    print(what, host[0], host[N - 1])
