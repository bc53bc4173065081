// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the runtime's functions for graphs: nodes of every kind, their dependencies, executable
 * graphs and changes to them.
 */
#include "test/unit/vgpu/conform-program.h"

#define H2D TS_CUDA_MEMCPY_HOST_TO_DEVICE
#define D2H TS_CUDA_MEMCPY_DEVICE_TO_HOST

static void *graph, *out;
static uint32_t value = 7;
static void *args[2] = {&out, &value};

static void begin(void)
{
	program_begin();
	ok(cudaMalloc(&out, 4096));
	ok(cudaMemset(out, 0, 4096));
	ok(cudaGraphCreate(&graph, 0));
	want(ERROR_INVALID_VALUE, cudaGraphCreate(NULL, 0));
}

static uint32_t word(size_t i)
{
	uint32_t got = 0;

	ok(cudaMemcpy(&got, (uint32_t *)out + i, 4, D2H));
	return got;
}

static void *executable(void)
{
	void *exec = NULL;

	ok(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static void launched(void *exec)
{
	ok(cudaGraphLaunch(exec, NULL));
	ok(cudaStreamSynchronize(NULL));
}

/* cudaKernelNodeParams and cudaMemsetParams. */
struct kernel {
	const void *func;
	struct ts_cuda_dim3 grid, block;
	uint32_t shared;
	void **params, **extra;
};

struct set {
	void *dst;
	size_t pitch;
	uint32_t value, element_bytes;
	size_t width, height;
};

CONFORM(kernel_nodes)
{
	struct kernel p = {FILL, {1, 1, 1}, {32, 1, 1}, 0, args, NULL}, told;
	union ts_cu_launch_attribute_value attribute = {.priority = 0};
	void *node, *other, *exec;

	begin();
	ok(cudaGraphAddKernelNode(&node, graph, NULL, 0, (void *)&p));
	want(ERROR_INVALID_VALUE, cudaGraphAddKernelNode(&other, graph, NULL, 0, NULL));
	ok(cudaGraphKernelNodeGetParams(node, (void *)&told));
	ts_check_int(told.block.x, 32);
	want(ERROR_INVALID_VALUE, cudaGraphKernelNodeGetParams(node, NULL));
	p.block.x = 64;
	ok(cudaGraphKernelNodeSetParams(node, (void *)&p));
	want(ERROR_INVALID_VALUE, cudaGraphKernelNodeSetParams(node, NULL));
	ok(cudaGraphKernelNodeSetAttribute(node, TS_CUDA_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	refuses(ERROR_INVALID_VALUE, cudaGraphKernelNodeSetAttribute(node, 8, NULL));
	ok(cudaGraphKernelNodeGetAttribute(node, TS_CUDA_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	refuses(ERROR_INVALID_VALUE, cudaGraphKernelNodeGetAttribute(node, 8, NULL));
	ok(cudaGraphKernelNodeCopyAttributes(node, node));
	want(ERROR_INVALID_VALUE, cudaGraphKernelNodeCopyAttributes(node, NULL));
	exec = executable();
	value = 9;
	ok(cudaGraphExecKernelNodeSetParams(exec, node, (void *)&p));
	refuses(ERROR_INVALID_VALUE, cudaGraphExecKernelNodeSetParams(exec, node, NULL));
	launched(exec);
	ts_check(word(63) == 9 && word(64) == 0);
}

CONFORM(copy_nodes)
{
	uint32_t from[2] = {5, 6};
	struct ts_cuda_memcpy_3d_parms c =
					       {
						       .src_ptr = {&from[0], 4, 4, 1},
						       .extent = {4, 1, 1},
						       .kind = H2D,
					       },
				       told;
	void *node, *line, *other, *exec;

	begin();
	c.dst_ptr = (struct ts_cuda_pitched_ptr){out, 4, 4, 1};
	ok(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &c));
	want(ERROR_INVALID_VALUE, cudaGraphAddMemcpyNode(&other, graph, NULL, 0, NULL));
	ok(cudaGraphAddMemcpyNode1D(&line, graph, NULL, 0, (char *)out + 4, &from[0], 4, H2D));
	want(ERROR_INVALID_VALUE,
	     cudaGraphAddMemcpyNode1D(NULL, graph, NULL, 0, out, from, 4, H2D));
	ok(cudaGraphMemcpyNodeGetParams(node, &told));
	ts_check(told.src_ptr.ptr == &from[0]);
	want(ERROR_INVALID_VALUE, cudaGraphMemcpyNodeGetParams(node, NULL));
	ok(cudaGraphMemcpyNodeSetParams(node, &c));
	want(ERROR_INVALID_VALUE, cudaGraphMemcpyNodeSetParams(node, NULL));
	ok(cudaGraphMemcpyNodeSetParams1D(line, (char *)out + 4, &from[1], 4, H2D));
	want(ERROR_INVALID_VALUE, cudaGraphMemcpyNodeSetParams1D(NULL, out, from, 4, H2D));
	exec = executable();
	launched(exec);
	ts_check(word(0) == 5 && word(1) == 6);
	c.src_ptr.ptr = &from[1];
	ok(cudaGraphExecMemcpyNodeSetParams(exec, node, &c));
	want(ERROR_INVALID_VALUE, cudaGraphExecMemcpyNodeSetParams(exec, node, NULL));
	ok(cudaGraphExecMemcpyNodeSetParams1D(exec, line, (char *)out + 4, &from[0], 4, H2D));
	want(ERROR_INVALID_VALUE,
	     cudaGraphExecMemcpyNodeSetParams1D(exec, NULL, out, from, 4, H2D));
	launched(exec);
	ts_check(word(0) == 6 && word(1) == 5);
}

CONFORM(symbol_nodes)
{
	uint32_t from[2] = {5, 6}, back = 0, later = 0;
	void *to, *of, *other, *exec;

	begin();
	ok(cudaGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, ANSWER, &from[0], 4, 0, H2D));
	want(ERROR_INVALID_SYMBOL,
	     cudaGraphAddMemcpyNodeToSymbol(&other, graph, NULL, 0, NOBODY, from, 4, 0, H2D));
	ok(cudaGraphAddMemcpyNodeFromSymbol(&of, graph, (const void **)&to, 1, &back, ANSWER, 4, 0,
					    D2H));
	want(ERROR_INVALID_SYMBOL,
	     cudaGraphAddMemcpyNodeFromSymbol(&other, graph, NULL, 0, &back, NOBODY, 4, 0, D2H));
	ok(cudaGraphMemcpyNodeSetParamsToSymbol(to, ANSWER, &from[1], 4, 0, H2D));
	want(ERROR_INVALID_SYMBOL,
	     cudaGraphMemcpyNodeSetParamsToSymbol(to, NOBODY, from, 4, 0, H2D));
	ok(cudaGraphMemcpyNodeSetParamsFromSymbol(of, &back, ANSWER, 4, 0, D2H));
	want(ERROR_INVALID_SYMBOL,
	     cudaGraphMemcpyNodeSetParamsFromSymbol(of, &back, NOBODY, 4, 0, D2H));
	exec = executable();
	launched(exec);
	ts_check_int(back, 6);
	ok(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, ANSWER, &from[0], 4, 0, H2D));
	want(ERROR_INVALID_SYMBOL,
	     cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, NOBODY, from, 4, 0, H2D));
	ok(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, of, &later, ANSWER, 4, 0, D2H));
	want(ERROR_INVALID_SYMBOL,
	     cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, of, &later, NOBODY, 4, 0, D2H));
	launched(exec);
	ts_check_int(later, 5);
}

CONFORM(set_nodes)
{
	struct set p = {NULL, 0, 3, 4, 1, 1}, told;
	void *node, *other, *exec;

	begin();
	p.dst = out;
	ok(cudaGraphAddMemsetNode(&node, graph, NULL, 0, (void *)&p));
	want(ERROR_INVALID_VALUE, cudaGraphAddMemsetNode(&other, graph, NULL, 0, NULL));
	ok(cudaGraphMemsetNodeGetParams(node, (void *)&told));
	ts_check_int(told.value, 3);
	want(ERROR_INVALID_VALUE, cudaGraphMemsetNodeGetParams(node, NULL));
	ok(cudaGraphMemsetNodeSetParams(node, (void *)&p));
	want(ERROR_INVALID_VALUE, cudaGraphMemsetNodeSetParams(node, NULL));
	exec = executable();
	p.value = 4;
	ok(cudaGraphExecMemsetNodeSetParams(exec, node, (void *)&p));
	want(ERROR_INVALID_VALUE, cudaGraphExecMemsetNodeSetParams(exec, node, NULL));
	launched(exec);
	ts_check_int(word(0), 4);
}

static void count(void *counter)
{
	++*(int *)counter;
}

CONFORM(host_and_event_nodes)
{
	int first = 0, second = 0;
	struct ts_cu_host_node_params p = {(void *)count, &first}, told;
	void *host, *record, *wait, *a, *b, *got, *other, *exec;

	begin();
	ok(cudaEventCreate(&a));
	ok(cudaEventCreate(&b));
	ok(cudaGraphAddHostNode(&host, graph, NULL, 0, &p));
	want(ERROR_INVALID_VALUE, cudaGraphAddHostNode(&other, graph, NULL, 0, NULL));
	ok(cudaGraphHostNodeGetParams(host, &told));
	ts_check(told.user_data == &first);
	want(ERROR_INVALID_VALUE, cudaGraphHostNodeGetParams(host, NULL));
	ok(cudaGraphHostNodeSetParams(host, &p));
	want(ERROR_INVALID_VALUE, cudaGraphHostNodeSetParams(host, NULL));
	ok(cudaGraphAddEventRecordNode(&record, graph, NULL, 0, a));
	want(ERROR_INVALID_VALUE, cudaGraphAddEventRecordNode(NULL, graph, NULL, 0, a));
	ok(cudaGraphAddEventWaitNode(&wait, graph, (const void **)&record, 1, a));
	want(ERROR_INVALID_VALUE, cudaGraphAddEventWaitNode(NULL, graph, NULL, 0, a));
	ok(cudaGraphEventRecordNodeGetEvent(record, &got));
	ts_check(got == a);
	want(ERROR_INVALID_VALUE, cudaGraphEventRecordNodeGetEvent(record, NULL));
	ok(cudaGraphEventWaitNodeGetEvent(wait, &got));
	want(ERROR_INVALID_VALUE, cudaGraphEventWaitNodeGetEvent(wait, NULL));
	ok(cudaGraphEventRecordNodeSetEvent(record, b));
	want(ERROR_INVALID_VALUE, cudaGraphEventRecordNodeSetEvent(wait, b));
	ok(cudaGraphEventWaitNodeSetEvent(wait, b));
	want(ERROR_INVALID_VALUE, cudaGraphEventWaitNodeSetEvent(record, b));
	exec = executable();
	p.user_data = &second;
	ok(cudaGraphExecHostNodeSetParams(exec, host, &p));
	want(ERROR_INVALID_VALUE, cudaGraphExecHostNodeSetParams(exec, host, NULL));
	ok(cudaGraphExecEventRecordNodeSetEvent(exec, record, a));
	want(ERROR_INVALID_VALUE, cudaGraphExecEventRecordNodeSetEvent(exec, wait, a));
	ok(cudaGraphExecEventWaitNodeSetEvent(exec, wait, a));
	want(ERROR_INVALID_VALUE, cudaGraphExecEventWaitNodeSetEvent(exec, record, a));
	launched(exec);
	ts_check(first == 0 && second == 1);
}

CONFORM(nodes_of_any_kind)
{
	/* cudaGraphNodeParams: the kind, and at offset 16 the parameters of that kind. */
	struct {
		int32_t type, reserved[3];
		struct set set;
		int64_t rest[25];
	} p = {.type = TS_CU_GRAPH_NODE_TYPE_MEMSET};
	void *a, *b, *exec, *child, *got;
	int32_t type;

	begin();
	_Static_assert(sizeof(p) == 256, "the vendor's");
	p.set = (struct set){out, 0, 1, 4, 1, 1};
	ok(cudaGraphCreate(&child, 0));
	ok(cudaGraphAddNode(&a, child, NULL, NULL, 0, (void *)&p));
	want(ERROR_INVALID_VALUE, cudaGraphAddNode(&b, graph, NULL, NULL, 0, NULL));
	p.set.value = 2;
	ok(cudaGraphNodeSetParams(a, (void *)&p));
	want(ERROR_INVALID_VALUE, cudaGraphNodeSetParams(a, NULL));
	ok(cudaGraphNodeGetType(a, &type));
	ts_check_int(type, TS_CU_GRAPH_NODE_TYPE_MEMSET);
	want(ERROR_INVALID_VALUE, cudaGraphNodeGetType(a, NULL));
	ok(cudaGraphAddChildGraphNode(&b, graph, NULL, 0, child));
	want(ERROR_INVALID_VALUE, cudaGraphAddChildGraphNode(&got, graph, NULL, 0, NULL));
	ok(cudaGraphChildGraphNodeGetGraph(b, &got));
	want(ERROR_INVALID_VALUE, cudaGraphChildGraphNodeGetGraph(b, NULL));
	exec = executable();
	launched(exec);
	ts_check_int(word(0), 2);
	p.set.value = 3;
	ok(cudaGraphNodeSetParams(a, (void *)&p));
	ok(cudaGraphExecChildGraphNodeSetParams(exec, b, child));
	want(ERROR_INVALID_VALUE, cudaGraphExecChildGraphNodeSetParams(exec, b, NULL));
	launched(exec);
	ts_check_int(word(0), 3);
	ok(cudaGraphInstantiate(&exec, child, 0));
	p.set.value = 4;
	ok(cudaGraphExecNodeSetParams(exec, a, (void *)&p));
	want(ERROR_INVALID_VALUE, cudaGraphExecNodeSetParams(exec, a, NULL));
	launched(exec);
	ts_check_int(word(0), 4);
}

CONFORM(how_nodes_hang_together)
{
	void *a, *b, *c, *list[4], *from[4], *to[4], *clone, *twin;
	const void *before, *after;
	size_t n = 4;

	begin();
	ok(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
	want(ERROR_INVALID_VALUE, cudaGraphAddEmptyNode(NULL, graph, NULL, 0));
	ok(cudaGraphAddEmptyNode(&b, graph, (const void **)&a, 1));
	ok(cudaGraphAddEmptyNode(&c, graph, NULL, 0));
	before = b;
	after = c;
	ok(cudaGraphAddDependencies(graph, &before, &after, NULL, 1));
	want(ERROR_INVALID_VALUE, cudaGraphAddDependencies(graph, &before, &after, NULL, 1));
	ok(cudaGraphGetNodes(graph, list, &n));
	ts_check(n == 3 && list[0] == a);
	want(ERROR_INVALID_VALUE, cudaGraphGetNodes(graph, list, NULL));
	n = 4;
	ok(cudaGraphGetRootNodes(graph, list, &n));
	ts_check(n == 1 && list[0] == a);
	want(ERROR_INVALID_VALUE, cudaGraphGetRootNodes(graph, list, NULL));
	n = 4;
	ok(cudaGraphGetEdges(graph, from, to, NULL, &n));
	ts_check_int(n, 2);
	want(ERROR_INVALID_VALUE, cudaGraphGetEdges(graph, from, to, NULL, NULL));
	n = 4;
	ok(cudaGraphNodeGetDependencies(b, list, NULL, &n));
	ts_check(n == 1 && list[0] == a);
	want(ERROR_INVALID_VALUE, cudaGraphNodeGetDependencies(b, list, NULL, NULL));
	n = 4;
	ok(cudaGraphNodeGetDependentNodes(a, list, NULL, &n));
	ts_check(n == 1 && list[0] == b);
	want(ERROR_INVALID_VALUE, cudaGraphNodeGetDependentNodes(a, list, NULL, NULL));
	ok(cudaGraphRemoveDependencies(graph, &before, &after, NULL, 1));
	want(ERROR_INVALID_VALUE, cudaGraphRemoveDependencies(graph, &before, &after, NULL, 1));
	ok(cudaGraphClone(&clone, graph));
	want(ERROR_INVALID_VALUE, cudaGraphClone(NULL, graph));
	ok(cudaGraphNodeFindInClone(&twin, a, clone));
	ts_check(twin && twin != a);
	want(ERROR_INVALID_VALUE, cudaGraphNodeFindInClone(&twin, a, graph));
	ok(cudaGraphDestroyNode(c));
	want(ERROR_INVALID_VALUE, cudaGraphDestroyNode(NULL));
	ok(cudaGraphDestroy(clone));
	want(ERROR_INVALID_VALUE, cudaGraphDestroy(NULL));
}

CONFORM(what_is_executable)
{
	struct {
		uint64_t flags;
		void *stream, *node;
		int32_t result;
	} with = {0, NULL, NULL, 99};
	struct {
		int32_t result;
		void *node, *from;
	} info = {99, NULL, NULL};
	struct set p = {NULL, 0, 3, 4, 1, 1};
	void *set, *exec, *a, *other;
	uint64_t flags = 99;
	uint32_t on = 99;

	begin();
	p.dst = out;
	ok(cudaGraphAddMemsetNode(&set, graph, NULL, 0, (void *)&p));
	ok(cudaGraphInstantiate(&a, graph, 0));
	want(ERROR_INVALID_VALUE, cudaGraphInstantiate(NULL, graph, 0));
	ok(cudaGraphExecDestroy(a));
	want(ERROR_INVALID_VALUE, cudaGraphExecDestroy(NULL));
	ok(cudaGraphInstantiateWithParams(&a, graph, &with));
	ts_check_int(with.result, 0);
	want(ERROR_INVALID_VALUE, cudaGraphInstantiateWithParams(&a, graph, NULL));
	ok(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	want(ERROR_INVALID_VALUE, cudaGraphInstantiateWithFlags(&a, graph, 1 << 12));
	ok(cudaGraphExecGetFlags(exec, &flags));
	ts_check_int(flags, 0);
	want(ERROR_INVALID_VALUE, cudaGraphExecGetFlags(exec, NULL));
	ok(cudaGraphUpload(exec, NULL));
	want(ERROR_INVALID_VALUE, cudaGraphUpload(NULL, NULL));
	ok(cudaGraphNodeSetEnabled(exec, set, 0));
	want(ERROR_INVALID_VALUE, cudaGraphNodeSetEnabled(exec, NULL, 0));
	ok(cudaGraphNodeGetEnabled(exec, set, &on));
	ts_check_int(on, 0);
	want(ERROR_INVALID_VALUE, cudaGraphNodeGetEnabled(exec, set, NULL));
	ok(cudaGraphLaunch(exec, NULL));
	want(ERROR_INVALID_VALUE, cudaGraphLaunch(NULL, NULL));
	ts_check_int(word(0), 0);
	ok(cudaGraphExecUpdate(exec, graph, &info));
	ok(cudaGraphAddEmptyNode(&other, graph, NULL, 0));
	want(ERROR_GRAPH_EXEC_UPDATE_FAILURE, cudaGraphExecUpdate(exec, graph, &info));
	ts_check_int(info.result, TS_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	ok(cudaGraphDestroy(graph));
}

CONFORM(nodes_that_are_refused)
{
	uint64_t handle;
	void *node;

	begin();
	only_virtual("the vendor's driver serves these");
	want(ERROR_NOT_SUPPORTED, cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &handle));
	want(ERROR_NOT_SUPPORTED, cudaGraphAddMemFreeNode(&node, graph, NULL, 0, out));
	want(ERROR_NOT_SUPPORTED, cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
}
