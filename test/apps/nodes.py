#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nodes.py: graphs made node by node, changed, updated, and launched after each change. Through libcuda by ctypes.

Checks what each launch computed. Prints how many kernels and copies to the host its launches were. Ends with 1 where a result is
wrong, with 9 where a call fails, with 77 where there is no GPU.
"""
import ctypes
import sys

from driver import call, made, size_t, u32, u64, void

N = 256
HOST, DEVICE = 1, 2

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
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


class Kernel(ctypes.Structure):
    _fields_ = [('func', void), ('grid', u32 * 3), ('block', u32 * 3), ('shared', u32),
                ('params', void), ('extra', void), ('kern', void), ('ctx', void)]


class Copy(ctypes.Structure):
    _fields_ = [('src_x', size_t), ('src_y', size_t), ('src_z', size_t), ('src_lod', size_t),
                ('src_type', u32), ('src_host', void), ('src_device', u64), ('src_array', void),
                ('reserved0', void), ('src_pitch', size_t), ('src_height', size_t),
                ('dst_x', size_t), ('dst_y', size_t), ('dst_z', size_t), ('dst_lod', size_t),
                ('dst_type', u32), ('dst_host', void), ('dst_device', u64), ('dst_array', void),
                ('reserved1', void), ('dst_pitch', size_t), ('dst_height', size_t),
                ('width', size_t), ('height', size_t), ('depth', size_t)]


class Fill(ctypes.Structure):
    _fields_ = [('dst', u64), ('pitch', size_t), ('value', u32), ('element', u32),
                ('width', size_t), ('height', size_t)]


class Params(ctypes.Structure):
    """Of a node of any kind, here a kernel."""
    _fields_ = [('type', u32), ('reserved', u32 * 3), ('kernel', Kernel), ('rest', u64 * 21)]


def handles(some):
    return (void * len(some))(*some)


def copy_of(src, dst, n_bytes=4 * N):
    copy = Copy(width=n_bytes, height=1, depth=1, src_pitch=n_bytes, dst_pitch=n_bytes)
    for end, of in (('src', src), ('dst', dst)):
        is_host = isinstance(of, ctypes.Array)
        setattr(copy, end + '_type', HOST if is_host else DEVICE)
        setattr(copy, end + ('_host' if is_host else '_device'), ctypes.addressof(of) if is_host else of)
    return copy


class Arguments:
    """Of add(p, x). They outlive the call that they are given to."""
    kept = []

    def __init__(self, function, p, x):
        self.kept.append(self)
        self.p, self.x = u64(p), u32(x)
        self.all = (void * 2)(ctypes.addressof(self.p), ctypes.addressof(self.x))
        self.node = Kernel(func=function, grid=(u32 * 3)(1, 1, 1), block=(u32 * 3)(N, 1, 1),
                           params=ctypes.addressof(self.all))


class Program:
    def __init__(self):
        self.kernels = self.reads = 0
        call('cuInit', 0)
        self.context = made('cuDevicePrimaryCtxRetain', 0)
        call('cuCtxSetCurrent', self.context)
        self.stream = made('cuStreamCreate', 0)
        self.event = made('cuEventCreate', 0)
        module = made('cuModuleLoadData', PTX)
        self.add = made('cuModuleGetFunction', module, b'add')
        self.x, self.y, self.z = (self.allocate() for _ in range(3))
        self.given, self.got_x, self.got_y = (self.host() for _ in range(3))

    @staticmethod
    def allocate():
        address = u64()
        call('cuMemAlloc_v2', ctypes.byref(address), size_t(4 * N))
        return address.value

    @staticmethod
    def host():
        return (u32 * N).from_address(made('cuMemHostAlloc', size_t(4 * N), 0).value)

    def kernel_node(self, graph, after, p, x):
        return made('cuGraphAddKernelNode_v2', graph, handles(after), size_t(len(after)),
                    ctypes.byref(Arguments(self.add, p, x).node))

    def copy_node(self, graph, after, src, dst):
        return made('cuGraphAddMemcpyNode', graph, handles(after), size_t(len(after)),
                    ctypes.byref(copy_of(src, dst)), self.context)

    def fill_node(self, graph, after, dst, value):
        fill = Fill(dst=dst, value=value, element=4, width=N, height=1)
        return made('cuGraphAddMemsetNode', graph, handles(after), size_t(len(after)),
                    ctypes.byref(fill), self.context)

    def child(self, x):
        graph = made('cuGraphCreate', 0)
        first = self.kernel_node(graph, [], self.y, x)
        self.kernel_node(graph, [first], self.y, 2 * x)
        return graph

    def graph(self, x, value, inside):
        """x += given; y = value + 3 * inside. The copies out are made before what they wait for."""
        graph = made('cuGraphCreate', 0)
        nodes = {'out_x': self.copy_node(graph, [], self.x, self.got_x),
                 'out_y': self.copy_node(graph, [], self.y, self.got_y),
                 'in': self.copy_node(graph, [], self.given, self.x),
                 'fill': self.fill_node(graph, [], self.y, value)}
        nodes['add'] = self.kernel_node(graph, [nodes['in']], self.x, x)
        nodes['child'] = made('cuGraphAddChildGraphNode', graph, handles([nodes['fill']]), size_t(1),
                              self.child(inside))
        nodes['join'] = made('cuGraphAddEmptyNode', graph, handles([nodes['add'], nodes['child']]), size_t(2))
        nodes['record'] = made('cuGraphAddEventRecordNode', graph, handles([nodes['join']]), size_t(1), self.event)
        for out in ('out_x', 'out_y'):
            call('cuGraphAddDependencies', graph, handles([nodes['join']]), handles([nodes[out]]), size_t(1))
        return graph, nodes

    def launch(self, graph, given, x, y, kernels=3):
        for i in range(N):
            self.given[i] = given + i
            self.got_x[i] = self.got_y[i] = 0
        call('cuGraphLaunch', graph, self.stream)
        call('cuStreamSynchronize', self.stream)
        self.kernels += kernels
        self.reads += 2
        for i in range(N):
            if (self.got_x[i], self.got_y[i]) != (given + i + x, y):
                print('nodes: element %d is %d and %d, not %d and %d' % (
                    i, self.got_x[i], self.got_y[i], given + i + x, y), file=sys.stderr)
                sys.exit(1)

    def changes(self):
        graph, nodes = self.graph(1, 100, 7)
        run = made('cuGraphInstantiateWithFlags', graph, u64(0))
        self.launch(run, 1000, 1, 121)
        self.launch(run, 2000, 1, 121)
        call('cuGraphExecKernelNodeSetParams_v2', run, nodes['add'], ctypes.byref(Arguments(self.add, self.x, 5).node))
        self.launch(run, 2000, 5, 121)
        any_kind = Params(type=0, kernel=Arguments(self.add, self.x, 6).node)
        call('cuGraphExecNodeSetParams', run, nodes['add'], ctypes.byref(any_kind))
        self.launch(run, 2000, 6, 121)
        call('cuGraphExecKernelNodeSetParams', run, nodes['add'], ctypes.byref(Arguments(self.add, self.x, 5).node))
        fill = Fill(dst=self.y, value=200, element=4, width=N, height=1)
        call('cuGraphExecMemsetNodeSetParams', run, nodes['fill'], ctypes.byref(fill), self.context)
        self.launch(run, 2000, 5, 221)
        call('cuGraphExecChildGraphNodeSetParams', run, nodes['child'], self.child(8))
        self.launch(run, 2000, 5, 224)
        other = self.host()
        for i in range(N):
            other[i] = 77 + i
        call('cuGraphExecMemcpyNodeSetParams', run, nodes['in'], ctypes.byref(copy_of(other, self.x)), self.context)
        self.launch(run, 77, 5, 224)
        call('cuGraphNodeSetEnabled', run, nodes['add'], u32(0))
        self.launch(run, 77, 0, 224, kernels=2)
        call('cuGraphNodeSetEnabled', run, nodes['add'], u32(1))
        self.launch(run, 77, 5, 224)
        call('cuGraphExecDestroy', run)

    def updates(self):
        graph, _ = self.graph(1, 100, 7)
        run = made('cuGraphInstantiateWithFlags', graph, u64(0))
        call('cuGraphDestroy', graph)
        self.launch(run, 5, 1, 121)
        graph, _ = self.graph(3, 30, 9)
        info = (ctypes.c_uint8 * 64)()
        call('cuGraphExecUpdate_v2', run, graph, info)
        self.launch(run, 6, 3, 57)
        call('cuGraphExecDestroy', run)


def main():
    program = Program()
    program.changes()
    program.updates()
    print('nodes: %d kernels, %d reads' % (program.kernels, program.reads))
    return 0


sys.exit(main())
