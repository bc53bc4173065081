#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rules.py STEP ...: does the steps, each a rule's worth of streams. Through libcuda by ctypes. Ends with 77 where there is no GPU.

Kernels, copies' neighbours and functions of the host are held until they are let go, so that what waits for what does not depend on time.
Streams: L, T: legacy and the thread's own default stream; b1, b2: blocking; n1, n2: non-blocking; hi, hi2: non-blocking, of the highest
priority, mid: of one between.
On a second device: L', b1', n1'.
  a:S ... h:S       kernel a to h into stream S; it runs until it is let go
  full:K:S          the same, and it takes all of the device: nothing runs beside it. own:K:S:P: with a priority of its own
  begun:K go:K      waits until kernel K runs; lets it go. later:K: another thread does, 0.2 s after the host began to wait
  record:E:S wait:S:E query:E   event E, 0 to 3
  other:K           kernel K into the own default stream of another thread
  copy:S page:S up:S   a copy to the device, asynchronous and pinned; from it, blocking and pageable; to it, asynchronous and pageable
  function:S        a function of the host, let go by go:f
  alloc:S free:S    memory in the stream's order, one block a stream
  sync:S event:E device   the host waits
  capture:S end:S launch:S   what is put into S (and what joins it) goes into a graph; the last one is launched. ends:S: one whose nodes
                    have the priorities of the streams that they were captured in
  current:N         device N is the current one
  now               says what time it is
"""
import ctypes
import sys
import threading
import time

from driver import call, made, size_t, u32, u64, void

Function = ctypes.CFUNCTYPE(None, void)
NAMES = 'abcdefgh'
MULTIPROCESSORS, SHARED_OF_BLOCK = 16, 97  # CUdevice_attribute: the most shared memory that a block may ask for
SHARED_DYNAMIC, PRIORITY = 8, 8  # CUfunction_attribute, CUlaunchAttributeID
USE_NODE_PRIORITY = 8  # CUgraphInstantiate_flags
SECONDS = 60

PTX = '.version 7.0\n.target sm_70\n.address_size 64\n' + ''.join('''
.visible .entry %s(.param .u64 words)
{
	.reg .pred %%p<2>;
	.reg .b32 %%r<3>;
	.reg .b64 %%rd<2>;
	ld.param.u64 %%rd1, [words];
	mov.u32 %%r1, 1;
	st.volatile.global.u32 [%%rd1], %%r1;
	membar.sys;
$L_held:
	nanosleep.u32 100000;
	ld.volatile.global.u32 %%r2, [%%rd1+4];
	setp.eq.u32 %%p1, %%r2, 0;
	@%%p1 bra $L_held;
	ret;
}
''' % name for name in NAMES)


class Attribute(ctypes.Structure):
    """CUlaunchAttribute with a priority."""
    _fields_ = [('id', ctypes.c_int), ('pad', ctypes.c_int), ('priority', ctypes.c_int), ('rest', ctypes.c_int * 15)]


class Config(ctypes.Structure):
    """CUlaunchConfig."""
    _fields_ = [('grid', ctypes.c_uint * 3), ('block', ctypes.c_uint * 3), ('shared', ctypes.c_uint), ('stream', void),
                ('attributes', ctypes.POINTER(Attribute)), ('count', ctypes.c_uint)]


class Device:
    def __init__(self, number):
        self.context, self.module = void(), void()
        call('cuDevicePrimaryCtxRetain', ctypes.byref(self.context), number)
        call('cuCtxSetCurrent', self.context)
        call('cuModuleLoadData', ctypes.byref(self.module), PTX.encode())
        self.functions = {}
        for name in NAMES:
            self.functions[name] = void()
            call('cuModuleGetFunction', ctypes.byref(self.functions[name]), self.module, name.encode())
        self.memory = u64()
        call('cuMemAlloc_v2', ctypes.byref(self.memory), size_t(65536))
        # A block that takes all of a multiprocessor's shared memory, for each of them: that fills the device.
        self.blocks, self.shared = ctypes.c_int(), ctypes.c_int()
        call('cuDeviceGetAttribute', ctypes.byref(self.blocks), MULTIPROCESSORS, number)
        call('cuDeviceGetAttribute', ctypes.byref(self.shared), SHARED_OF_BLOCK, number)
        for function in self.functions.values():
            call('cuFuncSetAttribute', function, SHARED_DYNAMIC, self.shared)

    def stream(self, flags, priority=0):
        made = void()
        call('cuStreamCreateWithPriority', ctypes.byref(made), flags, priority)
        return made


class Rules:
    def __init__(self):
        count = ctypes.c_int()
        call('cuInit', 0)
        call('cuDeviceGetCount', ctypes.byref(count))
        self.devices = [Device(number) for number in reversed(range(min(count.value, 2)))]
        self.devices.reverse()
        call('cuCtxSetCurrent', self.devices[0].context)
        # Where each stream lives, and its handle: 1 is the legacy default stream, 2 the thread's own.
        self.streams = {'L': (0, void(1)), 'T': (0, void(2)), 'b1': (0, self.devices[0].stream(0)),
                        'b2': (0, self.devices[0].stream(0)), 'n1': (0, self.devices[0].stream(1)),
                        'n2': (0, self.devices[0].stream(1)), 'hi': (0, self.devices[0].stream(1, -5)),
                        'hi2': (0, self.devices[0].stream(1, -5)), 'mid': (0, self.devices[0].stream(1, -2))}
        if len(self.devices) > 1:
            call('cuCtxSetCurrent', self.devices[1].context)
            self.streams.update({"L'": (1, void(1)), "b1'": (1, self.devices[1].stream(0)),
                                 "n1'": (1, self.devices[1].stream(1))})
            call('cuCtxSetCurrent', self.devices[0].context)
        host = void()
        call('cuMemHostAlloc', ctypes.byref(host), size_t(4096), 1)
        self.words = (u32 * 1024).from_address(host.value)
        self.base = host.value
        self.pinned = host.value + 2048
        self.pageable = ctypes.create_string_buffer(65536)
        self.events = [void() for _ in range(4)]
        for event in self.events:
            call('cuEventCreate', ctypes.byref(event), 0)
        self.function, self.gone = Function(self.hold), threading.Event()
        self.blocks, self.graph, self.threads, self.waits = {}, void(), [], threading.Event()
        self.ends_now = threading.Event()

    def hold(self, _):
        self.gone.wait(SECONDS)

    def place(self, name):
        device, stream = self.streams[name]
        return self.devices[device], stream

    def launch(self, kernel, name, blocks=1, shared=0, priority=None):
        device, stream = self.place(name)
        call('cuCtxSetCurrent', device.context)
        address = u64(self.base + 8 * NAMES.index(kernel))
        arguments = (void * 1)(ctypes.cast(ctypes.byref(address), void))
        if priority is None:
            call('cuLaunchKernel', device.functions[kernel], blocks, 1, 1, 1, 1, 1, shared, stream, arguments, None)
        else:
            config = Config((blocks, 1, 1), (1, 1, 1), shared, stream, ctypes.pointer(Attribute(PRIORITY, 0, priority)), 1)
            call('cuLaunchKernelEx', ctypes.byref(config), device.functions[kernel], arguments, None)
        call('cuCtxSetCurrent', self.devices[0].context)

    def full(self, kernel, name, priority=None):
        device, _ = self.place(name)
        self.launch(kernel, name, device.blocks.value, device.shared.value, priority)

    def own(self, kernel, name, priority):
        self.full(kernel, name, int(priority))

    def begun(self, kernel):
        end = time.monotonic() + SECONDS
        while not self.words[2 * NAMES.index(kernel)]:
            if time.monotonic() > end:
                sys.exit('kernel %s never began' % kernel)
            time.sleep(0.001)

    def go(self, kernel):
        if kernel == 'f':
            self.gone.set()
        self.words[2 * NAMES.index(kernel) + 1] = 1

    def later(self, kernel):
        def release():
            self.waits.wait(SECONDS)
            time.sleep(0.2)
            self.go(kernel)
        self.threads.append(threading.Thread(target=release))
        self.threads[-1].start()

    def record(self, event, name):
        device, stream = self.place(name)
        call('cuCtxSetCurrent', device.context)
        call('cuEventRecord', self.events[int(event)], stream)
        call('cuCtxSetCurrent', self.devices[0].context)

    def wait(self, name, event):
        call('cuStreamWaitEvent', self.place(name)[1], self.events[int(event)], 0)

    def copy(self, name):
        device, stream = self.place(name)
        call('cuMemcpyHtoDAsync_v2', device.memory, void(self.pinned), size_t(1024), stream)

    def page(self, name):
        device, stream = self.place(name)
        call('cuMemcpyDtoHAsync_v2', self.pageable, device.memory, size_t(65536), stream)

    def up(self, name):
        device, stream = self.place(name)
        call('cuMemcpyHtoDAsync_v2', device.memory, self.pageable, size_t(1024), stream)

    def other(self, kernel):
        # Its default stream goes with the thread: that stays until the end.
        done = threading.Event()

        def launch():
            self.launch(kernel, 'T')
            done.set()
            self.ends_now.wait(SECONDS)
        self.threads.append(threading.Thread(target=launch))
        self.threads[-1].start()
        done.wait(SECONDS)

    def alloc(self, name):
        self.blocks[name] = u64()
        call('cuMemAllocAsync', ctypes.byref(self.blocks[name]), size_t(4096), self.place(name)[1])

    def free(self, name):
        call('cuMemFreeAsync', self.blocks.pop(name), self.place(name)[1])

    def capture(self, name):
        call('cuStreamBeginCapture_v2', self.place(name)[1], 1)

    def end(self, name, flags=0):
        made = void()
        call('cuStreamEndCapture', self.place(name)[1], ctypes.byref(made))
        call('cuGraphInstantiateWithFlags', ctypes.byref(self.graph), made, u64(flags))

    def ends(self, name):
        self.end(name, USE_NODE_PRIORITY)

    def step(self, what, *of):
        if what in ('sync', 'event', 'device', 'page'):
            self.waits.set()
        if what in NAMES:
            self.launch(what, of[0])
        elif what == 'function':
            call('cuLaunchHostFunc', self.place(of[0])[1], self.function, None)
        elif what == 'sync':
            call('cuStreamSynchronize', self.place(of[0])[1])
        elif what == 'event':
            call('cuEventSynchronize', self.events[int(of[0])])
        elif what == 'device':
            call('cuCtxSynchronize')
        elif what == 'launch':
            call('cuGraphLaunch', self.graph, self.place(of[0])[1])
        elif what == 'current':
            call('cuCtxSetCurrent', self.devices[int(of[0])].context)
        elif what == 'now':
            print('now', time.clock_gettime_ns(time.CLOCK_MONOTONIC), flush=True)
        else:
            getattr(self, what)(*of)


def main():
    rules = Rules()
    for step in sys.argv[1:]:
        rules.step(*step.split(':'))
    for kernel in NAMES:
        rules.go(kernel)
    rules.ends_now.set()
    for thread in rules.threads:
        thread.join()
    for device in rules.devices:
        call('cuCtxSetCurrent', device.context)
        call('cuCtxSynchronize')
    return 0


sys.exit(main())
