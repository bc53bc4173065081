// SPDX-License-Identifier: Apache-2.0
/* HIP's calls for graphs: each kind of node, in the graph and in the executable graph. */
#include "test/unit/vgpu/hip/hip-test.h"

static const char table_ptx[] = ".version 7.0\n"
				".target sm_75\n"
				".address_size 64\n"
				".visible .global .align 4 .b8 table[64];\n"
				".visible .entry put(.param .u64 at, .param .u32 value)\n"
				"{\n"
				"	.reg .b64 %rd<2>;\n"
				"	.reg .b32 %r<2>;\n"
				"	ld.param.u64 %rd1, [at];\n"
				"	ld.param.u32 %r1, [value];\n"
				"	st.global.u32 [%rd1], %r1;\n"
				"	ret;\n"
				"}\n";

static char table_stub;
static const char put_stub;
static uint32_t host[16], got[16];

static void begin(void **ret_graph, uint32_t **ret_memory)
{
	void **handle =
		register_kernel(hip_bundle_new(HIP_BUNDLE_PTX, table_ptx), &put_stub, "put");

	register_variable(handle, &table_stub, "table", 64);
	for (uint32_t i = 0; i < 16; i++)
		host[i] = i + 100;
	ok(hipMalloc((void **)ret_memory, 256));
	ok(hipMemset(*ret_memory, 0, 256));
	ok(hipGraphCreate(ret_graph, 0));
}

static void run(void *exec)
{
	ok(hipGraphLaunch(exec, NULL));
	ok(hipStreamSynchronize(NULL));
}

static uint32_t word(const uint32_t *memory)
{
	uint32_t value;

	ok(hipMemcpyDtoH(&value, (void *)(uintptr_t)memory, 4));
	return value;
}

TS_TEST(kernel_nodes)
{
	uint32_t *memory, value = 7, other = 8;
	void *arguments[] = {&memory, &value}, *changed[] = {&memory, &other};
	struct ts_hip_kernel_node_params p = {
		.block_dim = {1, 1, 1},
		.func = (void *)(uintptr_t)&put_stub,
		.grid_dim = {1, 1, 1},
		.kernel_params = arguments,
	};
	struct {
		uint32_t *at;
		uint32_t value;
	} packed;
	size_t n_packed = 12;
	void *extra[] = {TS_HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed,
			 TS_HIP_LAUNCH_PARAM_BUFFER_SIZE, &n_packed, TS_HIP_LAUNCH_PARAM_END};
	void *graph, *exec, *first, *second;

	begin(&graph, &memory);
	ok(hipGraphAddKernelNode(&first, graph, NULL, 0, &p));
	p.kernel_params = NULL;
	p.extra = extra;
	packed.at = memory + 1;
	packed.value = 9;
	ok(hipGraphAddKernelNode(&second, graph, &first, 1, &p));
	p.extra = NULL;
	p.kernel_params = changed;
	ok(hipGraphKernelNodeCopyAttributes(first, second));
	ok(hipGraphInstantiateWithFlags(&exec, graph, 0));
	ok(hipGraphUpload(exec, NULL));
	run(exec);
	ts_check(word(memory) == 7 && word(memory + 1) == 9);
	ok(hipGraphExecKernelNodeSetParams(exec, first, &p));
	run(exec);
	ts_check_int(word(memory), 8);
	other = 10;
	ok(hipGraphKernelNodeSetParams(first, &p));
	ok(hipGraphInstantiateWithFlags(&exec, graph, 0));
	run(exec);
	ts_check_int(word(memory), 10);
}

TS_TEST(copy_and_set_nodes)
{
	struct ts_hip_memcpy3d_parms p = {0}, asked;
	struct ts_hip_memset_params set = {.element_size = 4, .height = 1, .width = 2, .value = 5};
	void *graph, *exec, *copy, *line, *to, *from, *fill;
	uint32_t *memory;

	begin(&graph, &memory);
	p.src_ptr = (struct ts_hip_pitched_ptr){host, 16, 16, 1};
	p.dst_ptr = (struct ts_hip_pitched_ptr){memory, 16, 16, 1};
	p.extent = (struct ts_hip_extent){16, 1, 1};
	p.kind = TS_HIP_MEMCPY_HOST_TO_DEVICE;
	ok(hipGraphAddMemcpyNode(&copy, graph, NULL, 0, &p));
	ok(hipGraphMemcpyNodeGetParams(copy, &asked));
	ts_check(asked.src_ptr.ptr == host && asked.extent.width == 16);
	ok(hipGraphAddMemcpyNodeToSymbol(&to, graph, &copy, 1, &table_stub, host, 16, 0,
					 TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, memory + 4, &table_stub, 16, 0,
					   TS_HIP_MEMCPY_DEVICE_TO_DEVICE));
	set.dst = memory + 8;
	ok(hipGraphAddMemsetNode(&fill, graph, &from, 1, &set));
	ok(hipGraphAddMemcpyNode1D(&line, graph, &fill, 1, got, memory, 48,
				   TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ok(hipGraphInstantiateWithFlags(&exec, graph, 0));
	run(exec);
	ts_check(!memcmp(got, host, 16) && !memcmp(got + 4, host, 16) && got[8] == 5 &&
		 got[9] == 5);

	/* Other sources, in the executable graph. */
	p.src_ptr.ptr = host + 1;
	set.value = 6;
	ok(hipGraphExecMemcpyNodeSetParams(exec, copy, &p));
	ok(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, &table_stub, host + 2, 16, 0,
						   TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, memory + 4, &table_stub, 8, 4,
						     TS_HIP_MEMCPY_DEVICE_TO_DEVICE));
	ok(hipGraphExecMemsetNodeSetParams(exec, fill, &set));
	ok(hipGraphExecMemcpyNodeSetParams1D(exec, line, got, memory, 40,
					     TS_HIP_MEMCPY_DEVICE_TO_HOST));
	run(exec);
	ts_check(!memcmp(got, host + 1, 16) && !memcmp(got + 4, host + 3, 8) && got[8] == 6);

	/* And in the graph. */
	p.src_ptr.ptr = host + 4;
	set.value = 7;
	ok(hipGraphMemcpyNodeSetParams(copy, &p));
	ok(hipGraphMemcpyNodeSetParamsToSymbol(to, &table_stub, host + 5, 16, 0,
					       TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipGraphMemcpyNodeSetParamsFromSymbol(from, memory + 4, &table_stub, 8, 4,
						 TS_HIP_MEMCPY_DEVICE_TO_DEVICE));
	ok(hipGraphMemsetNodeSetParams(fill, &set));
	ok(hipGraphMemcpyNodeSetParams1D(line, got, memory, 40, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ok(hipGraphInstantiateWithFlags(&exec, graph, 0));
	run(exec);
	ts_check(!memcmp(got, host + 4, 16) && !memcmp(got + 4, host + 6, 8) && got[8] == 7);
}

static void on_host(void *data)
{
	++*(int *)data;
}

TS_TEST(host_and_event_nodes)
{
	int n = 0, other = 0;
	struct ts_hip_host_node_params p = {(void *)(uintptr_t)on_host, &n}, asked;
	void *graph, *exec, *call, *record, *wait, *empty, *event, *second, *was;
	uint32_t *memory;

	begin(&graph, &memory);
	ok(hipEventCreate(&event));
	ok(hipEventCreate(&second));
	ok(hipGraphAddHostNode(&call, graph, NULL, 0, &p));
	ok(hipGraphHostNodeGetParams(call, &asked));
	ts_check(asked.fn == p.fn && asked.user_data == &n);
	ok(hipGraphAddEventRecordNode(&record, graph, &call, 1, event));
	ok(hipGraphAddEventWaitNode(&wait, graph, &record, 1, event));
	ok(hipGraphAddEmptyNode(&empty, graph, &wait, 1));
	ok(hipGraphInstantiateWithFlags(&exec, graph, 0));
	run(exec);
	ts_check_int(n, 1);
	ok(hipEventQuery(event));
	p.user_data = &other;
	ok(hipGraphExecHostNodeSetParams(exec, call, &p));
	ok(hipGraphExecEventRecordNodeSetEvent(exec, record, second));
	ok(hipGraphExecEventWaitNodeSetEvent(exec, wait, second));
	run(exec);
	ts_check(n == 1 && other == 1);
	ok(hipGraphHostNodeSetParams(call, &p));
	ok(hipGraphEventRecordNodeSetEvent(record, second));
	ok(hipGraphEventRecordNodeGetEvent(record, &was));
	ts_check(was == second);
	ok(hipGraphEventWaitNodeSetEvent(wait, second));
	ok(hipGraphEventWaitNodeGetEvent(wait, &was));
	ts_check(was == second);
}

TS_TEST(structure)
{
	void *graph, *child, *clone, *exec, *nodes[3], *found, *from[2], *to[2], *inner, *error;
	struct ts_hip_memset_params set = {.element_size = 4, .height = 1, .width = 1, .value = 5};
	uint32_t *memory, enabled = 9;
	int32_t result = 99;
	size_t n = 2;

	begin(&graph, &memory);
	set.dst = memory;
	ok(hipGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
	ok(hipGraphAddMemsetNode(&nodes[1], graph, NULL, 0, &set));
	ok(hipGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
	ok(hipGraphGetEdges(graph, from, to, &n));
	ts_check(n == 1 && from[0] == nodes[0] && to[0] == nodes[1]);
	n = 2;
	ok(hipGraphNodeGetDependencies(nodes[1], from, &n));
	ts_check(n == 1 && from[0] == nodes[0]);
	n = 2;
	ok(hipGraphNodeGetDependentNodes(nodes[0], to, &n));
	ts_check(n == 1 && to[0] == nodes[1]);
	n = 2;
	ok(hipGraphGetRootNodes(graph, from, &n));
	ts_check(n == 1 && from[0] == nodes[0]);
	ok(hipGraphClone(&clone, graph));
	ok(hipGraphNodeFindInClone(&found, nodes[1], clone));
	ts_check(found && found != nodes[1]);
	ok(hipGraphInstantiateWithFlags(&exec, graph, 0));
	ok(hipGraphNodeSetEnabled(exec, nodes[1], 0));
	ok(hipGraphNodeGetEnabled(exec, nodes[1], &enabled));
	ts_check_int(enabled, 0);
	run(exec);
	ts_check_int(word(memory), 0);
	ok(hipGraphExecUpdate(exec, clone, &error, &result));
	ts_check_int(result, 0);
	ok(hipGraphRemoveDependencies(graph, &nodes[0], &nodes[1], 1));
	ok(hipGraphDestroyNode(nodes[0]));
	ok(hipGraphCreate(&child, 0));
	ok(hipGraphAddChildGraphNode(&nodes[2], child, NULL, 0, graph));
	ok(hipGraphChildGraphNodeGetGraph(nodes[2], &inner));
	ts_check(inner && inner != graph);
	ok(hipGraphInstantiateWithFlags(&exec, child, 0));
	run(exec);
	ts_check_int(word(memory), 5);
	ok(hipGraphMemsetNodeSetParams(nodes[1], &(struct ts_hip_memset_params){
							 .dst = memory,
							 .element_size = 4,
							 .height = 1,
							 .width = 1,
							 .value = 6,
						 }));
	ok(hipGraphExecChildGraphNodeSetParams(exec, nodes[2], graph));
	run(exec);
	ts_check_int(word(memory), 6);
}
