#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""counters.py: does what it is told, a line at a time on stdin, and says so on stdout. What a launch computes depends on all launches
before it, by memory and by a variable of the module that the host never asks for. Through libcuda by ctypes; with the argument
`hip` through libamdhip64.

	step N    N launches in turn in two streams, and a copy to the host after the last
	push NAME, pop    a range around what follows (tracesmith/annotate.h, where the library is preloaded)
	thread NAME    a thread that pushes NAME and ends
	host      a host function in a stream, which nobody can do again
	graphs NAME    ranges, the first begun while a stream waits for the host; another thread captures streams meanwhile, all of it well
	new       more memory, by a stream's pool and pinned, used from then on; the old goes

Checks what it reads. Ends with 1 where a result is wrong, with 9 where a call fails, with 77 where there is no GPU.
"""
import ctypes
import sys
import threading
import time

if sys.argv[1:] == ['hip']:
    from hipdriver import call, cuda, image, made, u32, u64, void
else:
    from driver import call, cuda, image, made, u32, u64, void

N = 64
THREAD_LOCAL = 1

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 hidden = 5;
.visible .entry bump(.param .u64 p, .param .u64 q)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [p];
	ld.param.u64 %rd2, [q];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.u32 %r2, [hidden];
	bar.sync 0;
	ld.global.u32 %r3, [%rd4];
	ld.global.u32 %r4, [%rd5];
	add.u32 %r3, %r3, %r2;
	add.u32 %r3, %r3, %r4;
	st.global.u32 [%rd4], %r3;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra done;
	add.u32 %r2, %r2, 3;
	st.global.u32 [hidden], %r2;
done:
	ret;
}
"""


class Annotate(ctypes.Structure):
    """struct tracesmith_functions, as far as it is used."""
    _fields_ = [('n_bytes', ctypes.c_size_t), ('domain', void), ('mark', void),
                ('push', ctypes.CFUNCTYPE(None, void, ctypes.c_char_p)), ('pop', ctypes.CFUNCTYPE(None, void))]


class Program:
    def __init__(self):
        call('cuInit', 0)
        call('cuCtxSetCurrent', made('cuDevicePrimaryCtxRetain', 0))
        self.streams = [made('cuStreamCreate', flags) for flags in (0, 1)]
        self.event = made('cuEventCreate', 0)
        self.bump = made('cuModuleGetFunction', made('cuModuleLoadData', image(PTX)), b'bump')
        self.memory = made('cuMemAlloc_v2', ctypes.c_size_t(4 * N), kind=u64)
        call('cuMemsetD32_v2', self.memory, 1, ctypes.c_size_t(N))
        self.pinned = self.new_pinned()
        self.got = (u32 * N)()
        self.hidden, self.value = 5, [1] * N
        self.kept = ctypes.CFUNCTYPE(None, void)(lambda data: None)

    @staticmethod
    def new_pinned():
        pinned = made('cuMemAllocHost_v2', ctypes.c_size_t(4 * N))
        ctypes.cast(pinned, ctypes.POINTER(u32 * N)).contents[:] = list(range(N))
        return pinned

    def launch(self, stream):
        p, q = u64(self.memory.value), u64(self.pinned.value)
        arguments = (void * 2)(ctypes.addressof(p), ctypes.addressof(q))
        return cuda.cuLaunchKernel(self.bump, 1, 1, 1, N, 1, 1, 0, stream, arguments, None)

    def step(self, n):
        for i in range(n):
            stream = self.streams[i % 2]
            call('cuStreamWaitEvent', stream, self.event, 0)
            if self.launch(stream):
                sys.exit(9)
            call('cuEventRecord', self.event, stream)
            self.value = [(v + self.hidden + i) % 2 ** 32 for i, v in enumerate(self.value)]
            self.hidden += 3
        call('cuStreamWaitEvent', self.streams[0], self.event, 0)
        call('cuMemcpyDtoHAsync_v2', self.got, self.memory, ctypes.c_size_t(4 * N), self.streams[0])
        call('cuStreamSynchronize', self.streams[0])
        if list(self.got) != self.value:
            sys.exit(1)

    def new(self):
        memory = u64()
        call('cuMemAllocAsync', ctypes.byref(memory), ctypes.c_size_t(4 * N), self.streams[0])
        call('cuMemcpyDtoDAsync_v2', memory, self.memory, ctypes.c_size_t(4 * N), self.streams[0])
        call('cuStreamSynchronize', self.streams[0])
        call('cuMemFree_v2', self.memory)
        call('cuMemFreeHost', self.pinned)
        self.memory = memory
        self.pinned = self.new_pinned()

    def capture(self, context, stream, ended, results):
        """Into graphs that nobody launches. The first may begin while the range's first call waits, and ends after that."""
        call('cuCtxSetCurrent', context)
        time.sleep(0.3)
        for i in range(200):
            graph = void()
            results.append(cuda.cuStreamBeginCapture_v2(stream, THREAD_LOCAL))
            results.append(self.launch(stream))
            if not i:
                ended.wait()
            results.append(cuda.cuStreamEndCapture(stream, ctypes.byref(graph)))
            cuda.cuGraphDestroy(graph)

    def graphs(self, name):
        context, goes_on, ended, results = void(), threading.Event(), threading.Event(), []
        call('cuCtxGetCurrent', ctypes.byref(context))
        stream = made('cuStreamCreate', 0)
        held = ctypes.CFUNCTYPE(None, void)(lambda data: goes_on.wait(5) and None)
        call('cuLaunchHostFunc', self.streams[1], held, None)
        other = threading.Thread(target=self.capture, args=(context, stream, ended, results))
        other.start()
        threading.Timer(1, goes_on.set).start()
        for _ in range(20):
            self.do('push', name)
            self.step(1)
            ended.set()
            self.do('pop')
            self.step(1)
        other.join()
        call('cuStreamSynchronize', self.streams[1])
        if any(results):
            print('captures: %r' % [result for result in results if result], file=sys.stderr)
            sys.exit(1)

    def do(self, word, *rest):
        if word == 'step':
            self.step(int(rest[0]))
        elif word == 'new':
            self.new()
        elif word == 'thread':
            other = threading.Thread(target=self.do, args=('push', rest[0]))
            other.start()
            other.join()
        elif word == 'graphs':
            self.graphs(rest[0])
        elif word == 'host':
            call('cuLaunchHostFunc', self.streams[0], self.kept, None)
            call('cuStreamSynchronize', self.streams[0])
        elif word == 'push':
            Annotate.in_dll(ctypes.CDLL(None), 'tracesmith_annotate_1').push(None, rest[0].encode())
        elif word == 'pop':
            Annotate.in_dll(ctypes.CDLL(None), 'tracesmith_annotate_1').pop(None)


program = Program()
print('ready', flush=True)
for line in sys.stdin:
    program.do(*line.rstrip('\n').split(' ', 1))
    print('done', flush=True)
