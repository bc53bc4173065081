// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the driver's functions for graphs: nodes of every kind, their dependencies, executable
 * graphs and changes to them.
 */
#include "test/unit/vgpu/generated-driver.h"

static void *context, *graph, *f;
static uint64_t out;
static uint32_t value = 7;
static void *args[2] = {&out, &value};
static void *const bad = (void *)8;

static void begin(void)
{
	void *module;

	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&context, 0));
	ok(cuCtxSetCurrent(context));
	ok(cuModuleLoadData(&module, conform_ptx));
	ok(cuModuleGetFunction(&f, module, "fill"));
	ok(cuMemAlloc_v2(&out, 4096));
	ok(cuMemsetD8_v2(out, 0, 4096));
	ok(cuGraphCreate(&graph, 0));
	want(ERROR_INVALID_VALUE, cuGraphCreate(&f, 1));
}

static struct ts_cu_kernel_node_params kernel(void)
{
	return (struct ts_cu_kernel_node_params){
		.func = f,
		.grid_dim_x = 1,
		.grid_dim_y = 1,
		.grid_dim_z = 1,
		.block_dim_x = 32,
		.block_dim_y = 1,
		.block_dim_z = 1,
		.kernel_params = args,
	};
}

static uint32_t value_at(uint64_t address)
{
	uint32_t got = 0;

	ok(cuMemcpyDtoH_v2(&got, address, sizeof(got)));
	return got;
}

static void *executable(void)
{
	void *exec = NULL;

	ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

static void launched(void *exec)
{
	ok(cuGraphLaunch(exec, NULL));
	ok(cuStreamSynchronize(NULL));
}

CONFORM(kernel_nodes)
{
	union ts_cu_launch_attribute_value set = {.priority = 0}, got;
	struct ts_cu_kernel_node_params p, told;
	void *node, *other, *exec;

	begin();
	p = kernel();
	ok(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
	want(ERROR_INVALID_VALUE, cuGraphAddKernelNode_v2(&other, graph, NULL, 0, NULL));
	want(ERROR_INVALID_VALUE, cuGraphAddKernelNode_v2(NULL, graph, NULL, 0, &p));
	want(ERROR_INVALID_VALUE, cuGraphAddKernelNode_v2(&other, NULL, NULL, 0, &p));
	/* The older structure is the beginning of the newer one. */
	ok(cuGraphAddKernelNode(&other, graph, NULL, 0, (void *)&p));
	want(ERROR_INVALID_VALUE, cuGraphAddKernelNode(&other, graph, NULL, 0, NULL));
	ok(cuGraphDestroyNode(other));
	ok(cuGraphKernelNodeGetParams_v2(node, &told));
	ts_check(told.func == f && told.block_dim_x == 32);
	want(ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams_v2(node, NULL));
	ok(cuGraphKernelNodeGetParams(node, (void *)&told));
	want(ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams(node, NULL));
	p.block_dim_x = 64;
	ok(cuGraphKernelNodeSetParams_v2(node, &p));
	want(ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams_v2(node, NULL));
	ok(cuGraphKernelNodeSetParams(node, (void *)&p));
	want(ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams(node, NULL));
	ok(cuGraphKernelNodeSetAttribute(node, TS_CU_LAUNCH_ATTRIBUTE_PRIORITY, &set));
	refuses(ERROR_INVALID_VALUE,
		cuGraphKernelNodeSetAttribute(node, TS_CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
	ok(cuGraphKernelNodeGetAttribute(node, TS_CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
	refuses(ERROR_INVALID_VALUE,
		cuGraphKernelNodeGetAttribute(node, TS_CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
	got.cluster_dim.x = 7;
	ok(cuGraphKernelNodeGetAttribute(node, TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &got));
	ts_check_int(got.cluster_dim.x, 0);
	ok(cuGraphKernelNodeCopyAttributes(node, node));
	want(ERROR_INVALID_VALUE, cuGraphKernelNodeCopyAttributes(node, NULL));
	exec = executable();
	value = 9;
	ok(cuGraphExecKernelNodeSetParams_v2(exec, node, &p));
	want(ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams_v2(exec, node, NULL));
	ok(cuGraphExecKernelNodeSetParams(exec, node, (void *)&p));
	want(ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams(exec, NULL, (void *)&p));
	launched(exec);
	ts_check_int(value_at(out + 63 * 4), 9);
	ts_check_int(value_at(out + 64 * 4), 0);
}

CONFORM(copy_nodes)
{
	uint32_t from = 5, later = 6;
	struct ts_cu_memcpy_3d c =
				       {
					       .src_memory_type = TS_CU_MEMORYTYPE_HOST,
					       .src_host = &from,
					       .dst_memory_type = TS_CU_MEMORYTYPE_DEVICE,
					       .width_in_bytes = 4,
					       .height = 1,
					       .depth = 1,
				       },
			       told;
	void *node, *other, *exec;

	begin();
	c.dst_device = out;
	ok(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &c, context));
	want(ERROR_INVALID_VALUE, cuGraphAddMemcpyNode(&other, graph, NULL, 0, NULL, context));
	ok(cuGraphMemcpyNodeGetParams(node, &told));
	ts_check(told.src_host == &from && told.dst_device == out);
	want(ERROR_INVALID_VALUE, cuGraphMemcpyNodeGetParams(node, NULL));
	ok(cuGraphMemcpyNodeSetParams(node, &c));
	want(ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams(node, NULL));
	exec = executable();
	launched(exec);
	ts_check_int(value_at(out), 5);
	c.src_host = &later;
	ok(cuGraphExecMemcpyNodeSetParams(exec, node, &c, context));
	want(ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(exec, node, NULL, context));
	launched(exec);
	ts_check_int(value_at(out), 6);
}

CONFORM(set_nodes)
{
	struct ts_cu_memset_node_params p = {0, 0, 3, 4, 1, 1}, told;
	void *node, *other, *exec;

	begin();
	p.dst = out;
	ok(cuGraphAddMemsetNode(&node, graph, NULL, 0, &p, context));
	want(ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&other, graph, NULL, 0, NULL, context));
	ok(cuGraphMemsetNodeGetParams(node, &told));
	ts_check(told.dst == out && told.value == 3);
	want(ERROR_INVALID_VALUE, cuGraphMemsetNodeGetParams(node, NULL));
	ok(cuGraphMemsetNodeSetParams(node, &p));
	want(ERROR_INVALID_VALUE, cuGraphMemsetNodeSetParams(node, NULL));
	exec = executable();
	launched(exec);
	ts_check_int(value_at(out), 3);
	p.value = 4;
	ok(cuGraphExecMemsetNodeSetParams(exec, node, &p, context));
	want(ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams(exec, node, NULL, context));
	launched(exec);
	ts_check_int(value_at(out), 4);
}

static void count(void *counter)
{
	++*(int *)counter;
}

CONFORM(host_nodes)
{
	int first = 0, second = 0;
	struct ts_cu_host_node_params p = {(void *)count, &first}, told;
	void *node, *other, *exec;

	begin();
	ok(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
	want(ERROR_INVALID_VALUE, cuGraphAddHostNode(&other, graph, NULL, 0, NULL));
	ok(cuGraphHostNodeGetParams(node, &told));
	ts_check(told.user_data == &first);
	want(ERROR_INVALID_VALUE, cuGraphHostNodeGetParams(node, NULL));
	ok(cuGraphHostNodeSetParams(node, &p));
	want(ERROR_INVALID_VALUE, cuGraphHostNodeSetParams(node, NULL));
	exec = executable();
	launched(exec);
	p.user_data = &second;
	ok(cuGraphExecHostNodeSetParams(exec, node, &p));
	want(ERROR_INVALID_VALUE, cuGraphExecHostNodeSetParams(exec, node, NULL));
	launched(exec);
	ts_check(first == 1 && second == 1);
}

CONFORM(event_nodes)
{
	void *record, *wait, *a, *b, *got, *exec, *other;

	begin();
	ok(cuEventCreate(&a, 0));
	ok(cuEventCreate(&b, 0));
	ok(cuGraphAddEventRecordNode(&record, graph, NULL, 0, a));
	want(ERROR_INVALID_VALUE, cuGraphAddEventRecordNode(NULL, graph, NULL, 0, a));
	ok(cuGraphAddEventWaitNode(&wait, graph, (const void **)&record, 1, a));
	want(ERROR_INVALID_VALUE, cuGraphAddEventWaitNode(&other, NULL, NULL, 0, a));
	ok(cuGraphEventRecordNodeGetEvent(record, &got));
	ts_check(got == a);
	want(ERROR_INVALID_VALUE, cuGraphEventRecordNodeGetEvent(record, NULL));
	ok(cuGraphEventWaitNodeGetEvent(wait, &got));
	ts_check(got == a);
	want(ERROR_INVALID_VALUE, cuGraphEventWaitNodeGetEvent(wait, NULL));
	ok(cuGraphEventRecordNodeSetEvent(record, b));
	want(ERROR_INVALID_VALUE, cuGraphEventRecordNodeSetEvent(wait, b));
	ok(cuGraphEventWaitNodeSetEvent(wait, b));
	want(ERROR_INVALID_VALUE, cuGraphEventWaitNodeSetEvent(record, b));
	exec = executable();
	ok(cuGraphExecEventRecordNodeSetEvent(exec, record, a));
	want(ERROR_INVALID_VALUE, cuGraphExecEventRecordNodeSetEvent(exec, wait, a));
	ok(cuGraphExecEventWaitNodeSetEvent(exec, wait, a));
	want(ERROR_INVALID_VALUE, cuGraphExecEventWaitNodeSetEvent(exec, record, a));
	launched(exec);
	ok(cuEventQuery(a));
}

CONFORM(graphs_within_graphs)
{
	struct ts_cu_memset_node_params p = {0, 0, 3, 4, 1, 1};
	void *child, *node, *got, *exec, *other;

	begin();
	p.dst = out;
	ok(cuGraphCreate(&child, 0));
	ok(cuGraphAddMemsetNode(&other, child, NULL, 0, &p, context));
	ok(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	want(ERROR_INVALID_VALUE, cuGraphAddChildGraphNode(&other, graph, NULL, 0, NULL));
	ok(cuGraphChildGraphNodeGetGraph(node, &got));
	ts_check(got && got != child);
	want(ERROR_INVALID_VALUE, cuGraphChildGraphNodeGetGraph(node, NULL));
	exec = executable();
	p.value = 8;
	ok(cuGraphMemsetNodeSetParams(other, &p));
	ok(cuGraphExecChildGraphNodeSetParams(exec, node, child));
	want(ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, node, NULL));
	launched(exec);
	ts_check_int(value_at(out), 8);
	ok(cuGraphDestroy(child));
}

CONFORM(nodes_of_any_kind)
{
	/* CUgraphNodeParams: the kind, and at offset 16 the parameters of that kind. */
	struct {
		int32_t type, reserved[3];
		struct ts_cu_memset_node_params set;
		void *context;
		int64_t rest[24];
	} p = {.type = TS_CU_GRAPH_NODE_TYPE_MEMSET};
	void *a, *b, *exec;
	int32_t type;

	begin();
	_Static_assert(sizeof(p) == 256, "the vendor's");
	p.set = (struct ts_cu_memset_node_params){out, 0, 1, 4, 1, 1};
	p.context = context;
	ok(cuGraphAddNode_v2(&a, graph, NULL, NULL, 0, (void *)&p));
	want(ERROR_INVALID_VALUE, cuGraphAddNode_v2(&b, graph, NULL, NULL, 0, NULL));
	p.set.dst = out + 4;
	ok(cuGraphAddNode(&b, graph, NULL, 0, (void *)&p));
	want(ERROR_INVALID_VALUE, cuGraphAddNode(&b, graph, NULL, 0, NULL));
	ok(cuGraphNodeGetType(a, &type));
	ts_check_int(type, TS_CU_GRAPH_NODE_TYPE_MEMSET);
	want(ERROR_INVALID_VALUE, cuGraphNodeGetType(a, NULL));
	p.set.value = 5;
	ok(cuGraphNodeSetParams(b, (void *)&p));
	want(ERROR_INVALID_VALUE, cuGraphNodeSetParams(b, NULL));
	exec = executable();
	launched(exec);
	ts_check(value_at(out) == 1 && value_at(out + 4) == 5);
	p.set.value = 6;
	ok(cuGraphExecNodeSetParams(exec, b, (void *)&p));
	want(ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(exec, b, NULL));
	launched(exec);
	ts_check_int(value_at(out + 4), 6);
}

CONFORM(how_nodes_hang_together)
{
	void *a, *b, *c, *list[4], *from[4], *to[4], *clone, *twin;
	const void *before, *after;
	size_t n;

	begin();
	ok(cuGraphAddEmptyNode(&a, graph, NULL, 0));
	want(ERROR_INVALID_VALUE, cuGraphAddEmptyNode(NULL, graph, NULL, 0));
	ok(cuGraphAddEmptyNode(&b, graph, (const void **)&a, 1));
	ok(cuGraphAddEmptyNode(&c, graph, NULL, 0));
	before = b;
	after = c;
	ok(cuGraphAddDependencies(graph, &before, &after, 1));
	want(ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &before, &after, 1));
	ok(cuGraphRemoveDependencies(graph, &before, &after, 1));
	want(ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph, &before, &after, 1));
	ok(cuGraphAddDependencies_v2(graph, &before, &after, NULL, 1));
	want(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2(graph, &before, NULL, NULL, 1));
	n = 4;
	ok(cuGraphGetNodes(graph, list, &n));
	ts_check(n == 3 && list[0] == a);
	want(ERROR_INVALID_VALUE, cuGraphGetNodes(graph, list, NULL));
	n = 4;
	ok(cuGraphGetRootNodes(graph, list, &n));
	ts_check(n == 1 && list[0] == a);
	want(ERROR_INVALID_VALUE, cuGraphGetRootNodes(NULL, list, &n));
	n = 4;
	ok(cuGraphGetEdges(graph, from, to, &n));
	ts_check_int(n, 2);
	want(ERROR_INVALID_VALUE, cuGraphGetEdges(graph, from, to, NULL));
	ok(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &n));
	ts_check_int(n, 2);
	want(ERROR_INVALID_VALUE, cuGraphGetEdges_v2(graph, from, NULL, NULL, &n));
	n = 4;
	ok(cuGraphNodeGetDependencies(b, list, &n));
	ts_check(n == 1 && list[0] == a);
	want(ERROR_INVALID_VALUE, cuGraphNodeGetDependencies(b, list, NULL));
	n = 4;
	ok(cuGraphNodeGetDependencies_v2(c, list, NULL, &n));
	ts_check(n == 1 && list[0] == b);
	want(ERROR_INVALID_VALUE, cuGraphNodeGetDependencies_v2(NULL, list, NULL, &n));
	n = 4;
	ok(cuGraphNodeGetDependentNodes(a, list, &n));
	ts_check(n == 1 && list[0] == b);
	want(ERROR_INVALID_VALUE, cuGraphNodeGetDependentNodes(a, list, NULL));
	n = 4;
	ok(cuGraphNodeGetDependentNodes_v2(c, list, NULL, &n));
	ts_check_int(n, 0);
	want(ERROR_INVALID_VALUE, cuGraphNodeGetDependentNodes_v2(NULL, list, NULL, &n));
	ok(cuGraphRemoveDependencies_v2(graph, &before, &after, NULL, 1));
	want(ERROR_INVALID_VALUE, cuGraphRemoveDependencies_v2(graph, &before, &after, NULL, 1));
	ok(cuGraphClone(&clone, graph));
	want(ERROR_INVALID_VALUE, cuGraphClone(NULL, graph));
	ok(cuGraphNodeFindInClone(&twin, a, clone));
	ts_check(twin && twin != a);
	want(ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&twin, a, graph));
	ok(cuGraphDestroyNode(c));
	want(ERROR_INVALID_VALUE, cuGraphDestroyNode(NULL));
	ok(cuGraphDestroy(clone));
	want(ERROR_INVALID_VALUE, cuGraphDestroy(NULL));
}

CONFORM(what_is_executable)
{
	struct {
		uint64_t flags;
		void *stream, *node;
		int32_t result;
	} with = {0, NULL, bad, 99};
	struct {
		int32_t result;
		void *node, *from;
	} info = {99, NULL, NULL};
	void *a, *b, *exec, *other, *none, *set;
	struct ts_cu_memset_node_params p = {0, 0, 3, 4, 1, 1};
	uint64_t flags = 99;
	uint32_t on = 99;
	int32_t result = 99;

	begin();
	p.dst = out;
	ok(cuGraphAddMemsetNode(&set, graph, NULL, 0, &p, context));
	ok(cuGraphInstantiate(&a, graph, NULL, NULL, 0));
	want(ERROR_INVALID_VALUE, cuGraphInstantiate(&b, NULL, NULL, NULL, 0));
	ok(cuGraphInstantiate_v2(&b, graph, NULL, NULL, 0));
	want(ERROR_INVALID_VALUE, cuGraphInstantiate_v2(NULL, graph, NULL, NULL, 0));
	ok(cuGraphExecDestroy(a));
	ok(cuGraphExecDestroy(b));
	want(ERROR_INVALID_VALUE, cuGraphExecDestroy(NULL));
	ok(cuGraphInstantiateWithParams(&a, graph, &with));
	ts_check_int(with.result, 0);
	want(ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&b, graph, NULL));
	ok(cuGraphInstantiateWithFlags(&exec, graph,
				       TS_CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
	want(ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&b, graph, 1 << 12));
	ok(cuGraphExecGetFlags(exec, &flags));
	ts_check_int(flags, 0);
	want(ERROR_INVALID_VALUE, cuGraphExecGetFlags(exec, NULL));
	ok(cuGraphUpload(exec, NULL));
	want(ERROR_INVALID_VALUE, cuGraphUpload(NULL, NULL));
	ok(cuGraphNodeSetEnabled(exec, set, 0));
	want(ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(exec, NULL, 0));
	ok(cuGraphNodeGetEnabled(exec, set, &on));
	ts_check_int(on, 0);
	want(ERROR_INVALID_VALUE, cuGraphNodeGetEnabled(exec, set, NULL));
	launched(exec);
	ts_check_int(value_at(out), 0);
	ok(cuGraphNodeSetEnabled(exec, set, 1));
	ok(cuGraphLaunch(exec, NULL));
	want(ERROR_INVALID_VALUE, cuGraphLaunch(NULL, NULL));
	refuses(ERROR_INVALID_HANDLE, cuGraphLaunch(exec, bad));
	ts_check_int(value_at(out), 3);
	ok(cuGraphExecUpdate(exec, graph, &none, &result));
	ts_check_int(result, TS_CU_GRAPH_EXEC_UPDATE_SUCCESS);
	ok(cuGraphExecUpdate_v2(exec, graph, &info));
	ts_check_int(info.result, TS_CU_GRAPH_EXEC_UPDATE_SUCCESS);
	ok(cuGraphAddEmptyNode(&other, graph, NULL, 0));
	want(ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, graph, &none, &result));
	ts_check_int(result, TS_CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
	want(ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, graph, &info));
	ts_check_int(info.result, TS_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	ok(cuGraphDestroy(graph));
}

CONFORM(nodes_that_are_refused)
{
	uint64_t handle;
	void *node;

	begin();
	only_virtual("the vendor's driver serves these");
	want(ERROR_NOT_SUPPORTED, cuGraphAddMemAllocNode(&node, graph, NULL, 0, &handle));
	want(ERROR_NOT_SUPPORTED, cuGraphAddMemFreeNode(&node, graph, NULL, 0, out));
	want(ERROR_NOT_SUPPORTED, cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
}
