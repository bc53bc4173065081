// SPDX-License-Identifier: Apache-2.0
/*
 * Tests graphs through libcuda: capture with forks, joins and refusals; graphs built by calls; the
 * effect of a launch on memory, and its order; updates; reports to a profiler.
 */
#include <pthread.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "test/unit/harness.h"
#include "tools/vgpu/cudart/driver_api.h"
#include "tools/vgpu/hooks.h"

static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
			  ".visible .entry work(.param .u64 a, .param .u32 b) { ret; }\n";

#define ok(call) ts_check_int(call, TS_CU_SUCCESS)

static void *context, *work;
static void *s1, *s2;

static void begin(const char *spec)
{
	void *module;

	setenv("TRACESMITH_VGPU", spec, 1);
	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&context, 0));
	ok(cuCtxSetCurrent(context));
	ok(cuModuleLoadData(&module, ptx));
	ok(cuModuleGetFunction(&work, module, "work"));
	ok(cuStreamCreate(&s1, TS_CU_STREAM_NON_BLOCKING));
	ok(cuStreamCreate(&s2, TS_CU_STREAM_NON_BLOCKING));
}

static size_t n_nodes(void *graph)
{
	size_t n;

	ok(cuGraphGetNodes(graph, NULL, &n));
	return n;
}

static size_t n_edges(void *graph)
{
	size_t n;

	ok(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &n));
	return n;
}

static void append(void *arg)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char *text = arg;

	pthread_mutex_lock(&lock);
	text[strlen(text)] = 'h';
	pthread_mutex_unlock(&lock);
}

TS_TEST(what_is_captured_runs_when_it_is_launched_and_not_before)
{
	uint32_t in[64], out[64] = {0}, b = 7;
	void *graph, *exec, *params[2];
	uint64_t device, id;
	int32_t status;
	size_t n;

	begin("ideal");
	for (uint32_t i = 0; i < 64; i++)
		in[i] = i;
	ok(cuMemAlloc_v2(&device, sizeof(in)));
	params[0] = &device;
	params[1] = &b;
	ok(cuStreamIsCapturing(s1, &status));
	ts_check_int(status, TS_CU_STREAM_CAPTURE_STATUS_NONE);
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuMemcpyHtoDAsync_v2(device, in, sizeof(in), s1));
	ok(cuLaunchKernel(work, 1, 1, 1, 32, 1, 1, 0, s1, params, NULL));
	ok(cuMemsetD32Async(device, 99, 2, s1));
	ok(cuMemcpyDtoHAsync_v2(out, device, sizeof(out), s1));
	ok(cuStreamGetCaptureInfo_v3(s1, &status, &id, &graph, NULL, NULL, &n));
	ts_check(status == TS_CU_STREAM_CAPTURE_STATUS_ACTIVE && id && n == 1);
	ok(cuStreamEndCapture(s1, &graph));
	ok(cuStreamSynchronize(s1));
	ts_check_int(out[63], 0);
	ts_check(n_nodes(graph) == 4 && n_edges(graph) == 3);
	ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
	ok(cuGraphDestroy(graph));
	/* Host memory is read when the copy runs. */
	in[63] = 4711;
	ok(cuGraphLaunch(exec, s1));
	ok(cuStreamSynchronize(s1));
	ts_check(out[0] == 99 && out[1] == 99 && out[2] == 2 && out[63] == 4711);
	memset(out, 0, sizeof(out));
	ok(cuGraphLaunch(exec, s2));
	ok(cuGraphLaunch(exec, s1));
	ok(cuGraphExecDestroy(exec));
	ts_check_int(cuGraphLaunch(exec, s1), TS_CU_ERROR_INVALID_VALUE);
	ok(cuCtxSynchronize());
	ts_check_int(out[63], 4711);
}

TS_TEST(events_fork_and_join_a_capture)
{
	void *graph, *exec, *fork, *join, *nodes[4], *deps[4];
	uint64_t device;
	int32_t status;
	size_t n = 4;

	begin("ideal");
	ok(cuMemAlloc_v2(&device, 4096));
	ok(cuEventCreate(&fork, TS_CU_EVENT_DISABLE_TIMING));
	ok(cuEventCreate(&join, TS_CU_EVENT_DISABLE_TIMING));
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	ok(cuMemsetD32Async(device, 1, 8, s1));
	ok(cuEventRecord(fork, s1));
	ok(cuStreamWaitEvent(s2, fork, 0));
	ok(cuStreamIsCapturing(s2, &status));
	ts_check_int(status, TS_CU_STREAM_CAPTURE_STATUS_ACTIVE);
	ok(cuMemsetD32Async(device + 64, 2, 8, s2));
	ok(cuMemsetD32Async(device + 128, 3, 8, s1));
	ok(cuEventRecord(join, s2));
	ok(cuStreamWaitEvent(s1, join, 0));
	ok(cuMemcpyDtoDAsync_v2(device + 256, device, 256, s1));
	ok(cuStreamEndCapture(s1, &graph));
	ok(cuStreamIsCapturing(s2, &status));
	ts_check_int(status, TS_CU_STREAM_CAPTURE_STATUS_NONE);
	ts_check(n_nodes(graph) == 4 && n_edges(graph) == 4);
	ok(cuGraphGetNodes(graph, nodes, &n));
	n = 4;
	ok(cuGraphNodeGetDependencies_v2(nodes[3], deps, NULL, &n));
	ts_check(n == 2 && !deps[2]);
	/* The event stands for a point in the capture, so it cannot be waited for any more. */
	ts_check_int(cuEventQuery(join), TS_CU_ERROR_CAPTURED_EVENT);
	ok(cuEventRecord(join, s2));
	ok(cuEventSynchronize(join));
	ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < 50; i++) {
		uint32_t out[48];

		ok(cuMemsetD8_v2(device, 0, 512));
		ok(cuGraphLaunch(exec, i % 2 ? s1 : NULL));
		ok(cuMemcpyDtoHAsync_v2(out, device + 256, sizeof(out), i % 2 ? s1 : NULL));
		ok(cuStreamSynchronize(i % 2 ? s1 : NULL));
		ts_check(out[0] == 1 && out[16] == 2 && out[32] == 3);
	}
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
	ok(cuEventDestroy_v2(fork));
	ok(cuEventDestroy_v2(join));
}

static void *ends_it(void *arg)
{
	void *graph;

	ok(cuCtxSetCurrent(context));
	ts_check_int(cuStreamEndCapture(arg, &graph), TS_CU_ERROR_STREAM_CAPTURE_WRONG_THREAD);
	return NULL;
}

TS_TEST(a_capture_says_what_it_cannot_hold)
{
	void *graph, *blocking, *event;
	uint64_t device;
	int32_t status, mode = TS_CU_STREAM_CAPTURE_MODE_RELAXED;
	pthread_t thread;

	begin("ideal");
	ok(cuMemAlloc_v2(&device, 4096));
	ok(cuEventCreate(&event, 0));
	ok(cuStreamCreate(&blocking, TS_CU_STREAM_DEFAULT));
	ts_check_int(cuStreamBeginCapture_v2(NULL, 0), TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	ts_check_int(cuStreamBeginCapture_v2(s1, 3), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuStreamEndCapture(s1, &graph), TS_CU_ERROR_ILLEGAL_STATE);

	/* A wait for a stream in capture invalidates the capture. */
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ts_check_int(cuStreamBeginCapture_v2(s1, 0), TS_CU_ERROR_ILLEGAL_STATE);
	ts_check_int(cuStreamSynchronize(s1), TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	ok(cuStreamIsCapturing(s1, &status));
	ts_check_int(status, TS_CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	ts_check_int(cuMemsetD32Async(device, 1, 1, s1), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED);
	ts_check_int(cuStreamEndCapture(s1, &graph), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED);
	ts_check(!graph);

	/* So does a wait for the whole context. */
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_RELAXED));
	ts_check_int(cuCtxSynchronize(), TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	ts_check_int(cuStreamEndCapture(s1, &graph), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED);

	/* A use of the legacy default stream invalidates the capture of a blocking stream. */
	ok(cuStreamBeginCapture_v2(blocking, TS_CU_STREAM_CAPTURE_MODE_RELAXED));
	ts_check_int(cuMemsetD8_v2(device, 0, 16), TS_CU_ERROR_STREAM_CAPTURE_IMPLICIT);
	ts_check_int(cuStreamEndCapture(blocking, &graph), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED);
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_RELAXED));
	ok(cuMemsetD8_v2(device, 0, 16));
	ok(cuStreamEndCapture(s1, &graph));
	ok(cuGraphDestroy(graph));

	/* Calls that act at once are refused, unless the thread allows them by its capture mode. */
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuThreadExchangeStreamCaptureMode(&mode));
	ts_check_int(mode, TS_CU_STREAM_CAPTURE_MODE_GLOBAL);
	ok(cuMemAlloc_v2(&device, 16));
	ok(cuThreadExchangeStreamCaptureMode(&mode));
	ts_check_int(mode, TS_CU_STREAM_CAPTURE_MODE_RELAXED);
	ts_check_int(cuMemAlloc_v2(&device, 16), TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	ts_check_int(cuStreamEndCapture(s1, &graph), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED);

	/*
	 * Errors in a capture: an event from outside, another capture, a stream that does not join
	 * again, another thread.
	 */
	ok(cuEventRecord(event, s2));
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ts_check_int(cuStreamWaitEvent(s1, event, 0), TS_CU_ERROR_STREAM_CAPTURE_ISOLATION);
	ts_check_int(cuStreamEndCapture(s1, &graph), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED);
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuStreamBeginCapture_v2(s2, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuEventRecord(event, s1));
	ts_check_int(cuStreamWaitEvent(s2, event, 0), TS_CU_ERROR_STREAM_CAPTURE_MERGE);
	ts_check_int(cuStreamEndCapture(s1, &graph), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED);
	ts_check_int(cuStreamEndCapture(s2, &graph), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED);
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuEventRecord(event, s1));
	ok(cuStreamWaitEvent(s2, event, 0));
	ok(cuMemsetD32Async(device, 1, 1, s2));
	ts_check_int(cuStreamEndCapture(s2, &graph), TS_CU_ERROR_STREAM_CAPTURE_UNMATCHED);
	ts_check_int(cuStreamEndCapture(s1, &graph), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED);
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuEventRecord(event, s1));
	ok(cuStreamWaitEvent(s2, event, 0));
	ok(cuMemsetD32Async(device, 1, 1, s2));
	ts_check_int(pthread_create(&thread, NULL, ends_it, s1), 0);
	ts_check_int(pthread_join(thread, NULL), 0);
	ts_check_int(cuStreamEndCapture(s1, &graph), TS_CU_ERROR_STREAM_CAPTURE_UNJOINED);

	/* External events become nodes. */
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuEventRecordWithFlags(event, s1, TS_CU_EVENT_RECORD_EXTERNAL));
	ok(cuStreamWaitEvent(s1, event, TS_CU_EVENT_WAIT_EXTERNAL));
	ok(cuStreamEndCapture(s1, &graph));
	ts_check_int(n_nodes(graph), 2);
	ok(cuGraphDestroy(graph));

	/* A destroyed stream ends its capture. */
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuStreamDestroy_v2(s1));
	ok(cuCtxSynchronize());
	ok(cuEventDestroy_v2(event));
}

TS_TEST(graphs_by_hand_run_in_the_order_of_their_edges)
{
	struct ts_cu_host_node_params host = {.user_data = (char[64]){0}};
	struct ts_cu_memset_node_params set = {.element_size = 4, .width = 16, .height = 1};
	struct ts_cu_memcpy_3d copy = {.width_in_bytes = 64, .height = 1, .depth = 1};
	void *graph, *child, *exec, *node[8], *found, *clone;
	const void *deps[2], *from[1], *to[1];
	uint32_t out[16] = {0};
	int32_t type;

	begin("ideal");
	*(void (**)(void *)) & host.fn = append;
	ok(cuMemAlloc_v2(&set.dst, 64));
	copy.src_memory_type = TS_CU_MEMORYTYPE_DEVICE;
	copy.src_device = set.dst;
	copy.dst_memory_type = TS_CU_MEMORYTYPE_HOST;
	copy.dst_host = out;
	ok(cuGraphCreate(&child, 0));
	ok(cuGraphAddHostNode(&node[0], child, NULL, 0, &host));
	ok(cuGraphAddHostNode(&node[1], child, NULL, 0, &host));
	ok(cuGraphCreate(&graph, 0));
	set.value = 5;
	ok(cuGraphAddMemsetNode(&node[2], graph, NULL, 0, &set, context));
	deps[0] = node[2];
	ok(cuGraphAddChildGraphNode(&node[3], graph, deps, 1, child));
	deps[0] = node[3];
	ok(cuGraphAddEmptyNode(&node[4], graph, deps, 1));
	ok(cuGraphAddMemcpyNode(&node[5], graph, NULL, 0, &copy, context));
	from[0] = node[4];
	to[0] = node[5];
	ok(cuGraphAddDependencies_v2(graph, from, to, NULL, 1));
	ts_check_int(cuGraphAddDependencies_v2(graph, from, to, NULL, 1),
		     TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuGraphAddEmptyNode(&node[6], child, deps, 1), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuGraphAddMemAllocNode(&node[6], graph, NULL, 0, NULL),
		     TS_CU_ERROR_NOT_SUPPORTED);
	ok(cuGraphNodeGetType(node[3], &type));
	ts_check_int(type, TS_CU_GRAPH_NODE_TYPE_GRAPH);
	ts_check(n_nodes(graph) == 4 && n_edges(graph) == 3);

	ok(cuGraphClone(&clone, graph));
	ok(cuGraphNodeFindInClone(&found, node[5], clone));
	ts_check(found && found != node[5]);
	ts_check_int(cuGraphNodeFindInClone(&found, node[0], clone), TS_CU_ERROR_INVALID_VALUE);
	ok(cuGraphDestroy(graph));
	ok(cuGraphDestroy(child));
	ts_check_int(cuGraphLaunch(graph, s1), TS_CU_ERROR_INVALID_VALUE);
	ok(cuGraphInstantiateWithFlags(&exec, clone, 0));
	ok(cuGraphUpload(exec, s1));
	ok(cuGraphLaunch(exec, s1));
	ok(cuStreamSynchronize(s1));
	ts_check_str(host.user_data, "hh");
	ts_check(out[0] == 5 && out[15] == 5);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(clone));

	/* A cycle is detected, and can be removed. */
	ok(cuGraphCreate(&graph, 0));
	ok(cuGraphAddEmptyNode(&node[0], graph, NULL, 0));
	deps[0] = node[0];
	ok(cuGraphAddEmptyNode(&node[1], graph, deps, 1));
	from[0] = node[1];
	to[0] = node[0];
	ok(cuGraphAddDependencies_v2(graph, from, to, NULL, 1));
	ts_check_int(cuGraphInstantiateWithFlags(&exec, graph, 0), TS_CU_ERROR_INVALID_VALUE);
	ok(cuGraphRemoveDependencies_v2(graph, from, to, NULL, 1));
	ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
	ok(cuGraphDestroyNode(node[0]));
	ts_check(n_nodes(graph) == 1 && n_edges(graph) == 0);
	ts_check_int(cuGraphDestroyNode(node[0]), TS_CU_ERROR_INVALID_VALUE);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

TS_TEST(executable_graphs_are_updated)
{
	struct {
		int32_t result;
		void *node, *from;
	} info;
	struct ts_cu_memset_node_params set = {.element_size = 4, .width = 4, .height = 1};
	struct ts_cu_kernel_node_params kernel = {.grid_dim_x = 2,
						  .grid_dim_y = 1,
						  .grid_dim_z = 1,
						  .block_dim_x = 32,
						  .block_dim_y = 1,
						  .block_dim_z = 1},
					got;
	void *graph, *other, *exec, *node[4], *params[2];
	uint64_t pointer = 1;
	uint32_t out[4], b = 2;

	begin("ideal");
	kernel.func = work;
	params[0] = &pointer;
	params[1] = &b;
	ok(cuMemAlloc_v2(&set.dst, 64));
	ok(cuGraphCreate(&graph, 0));
	ok(cuGraphAddMemsetNode(&node[0], graph, NULL, 0, &set, context));
	ts_check_int(cuGraphAddKernelNode_v2(&node[1], graph, NULL, 0, &kernel),
		     TS_CU_ERROR_INVALID_VALUE);
	kernel.kernel_params = params;
	ok(cuGraphAddKernelNode_v2(&node[1], graph, NULL, 0, &kernel));
	b = 3;
	ok(cuGraphKernelNodeGetParams_v2(node[1], &got));
	ts_check(got.func == work && got.grid_dim_x == 2 && *(uint32_t *)got.kernel_params[1] == 2);
	ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
	set.value = 8;
	ok(cuGraphExecMemsetNodeSetParams(exec, node[0], &set, context));
	kernel.grid_dim_x = 5;
	ok(cuGraphExecKernelNodeSetParams_v2(exec, node[1], &kernel));
	ts_check_int(cuGraphExecKernelNodeSetParams_v2(exec, node[0], &kernel),
		     TS_CU_ERROR_INVALID_VALUE);
	ok(cuGraphLaunch(exec, s1));
	ok(cuMemcpyDtoHAsync_v2(out, set.dst, sizeof(out), s1));
	ts_check_int(out[3], 8);
	ok(cuGraphNodeSetEnabled(exec, node[0], 0));
	ok(cuMemsetD32Async(set.dst, 1, 4, s1));
	ok(cuGraphLaunch(exec, s1));
	ok(cuMemcpyDtoHAsync_v2(out, set.dst, sizeof(out), s1));
	ts_check_int(out[3], 1);
	ok(cuGraphNodeSetEnabled(exec, node[0], 1));

	ok(cuGraphCreate(&other, 0));
	set.value = 9;
	ok(cuGraphAddMemsetNode(&node[2], other, NULL, 0, &set, context));
	ts_check_int(cuGraphExecUpdate_v2(exec, other, &info),
		     TS_CU_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	ts_check_int(info.result, TS_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	ok(cuGraphAddEmptyNode(&node[3], other, NULL, 0));
	ts_check_int(cuGraphExecUpdate_v2(exec, other, &info),
		     TS_CU_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	ts_check(info.result == TS_CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED &&
		 info.node == node[3]);
	ok(cuGraphDestroyNode(node[3]));
	ok(cuGraphAddKernelNode_v2(&node[3], other, NULL, 0, &kernel));
	ok(cuGraphExecUpdate_v2(exec, other, &info));
	ts_check_int(info.result, TS_CU_GRAPH_EXEC_UPDATE_SUCCESS);
	ok(cuGraphLaunch(exec, s1));
	ok(cuMemcpyDtoHAsync_v2(out, set.dst, sizeof(out), s1));
	ts_check_int(out[3], 9);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
	ok(cuGraphDestroy(other));
}

TS_TEST(a_wide_graph_over_two_devices)
{
	enum {
		N = 100
	};
	void *graph, *exec, *node[N], *last, *contexts[2];
	struct ts_cu_memset_node_params set = {.element_size = 4, .width = 1, .height = 1};
	uint64_t memory[2];
	uint32_t out[N];

	begin("ideal:2");
	contexts[0] = context;
	ok(cuMemAlloc_v2(&memory[0], sizeof(out)));
	ok(cuDevicePrimaryCtxRetain(&contexts[1], 1));
	ok(cuCtxSetCurrent(contexts[1]));
	ok(cuMemAlloc_v2(&memory[1], sizeof(out)));
	ok(cuGraphCreate(&graph, 0));
	for (uint32_t i = 0; i < N; i++) {
		set.dst = memory[i % 2] + 4 * i;
		set.value = i;
		ok(cuGraphAddMemsetNode(&node[i], graph, NULL, 0, &set, contexts[i % 2]));
	}
	ok(cuGraphAddEmptyNode(&last, graph, (const void **)node, N));
	ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (int round = 0; round < 20; round++) {
		ok(cuMemsetD8_v2(memory[0], 0xff, sizeof(out)));
		ok(cuMemsetD8_v2(memory[1], 0xff, sizeof(out)));
		ok(cuCtxSynchronize());
		ok(cuGraphLaunch(exec, s1));
		for (uint32_t d = 0; d < 2; d++) {
			ok(cuMemcpyDtoHAsync_v2(out, memory[d], sizeof(out), s1));
			for (uint32_t i = d; i < N; i += 2)
				ts_check_int(out[i], i);
		}
	}
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

/* Reports to a profiler. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ts_vgpu_operation ops[64];
static size_t n_ops;
static uint32_t resources[64];
static struct ts_cupti_graph_data graphs[64];
static size_t n_resources;
static uint32_t launch_correlation;

static void on_api(uint32_t site, struct ts_vgpu_api *call)
{
	if (call->cbid == TS_CUPTI_DRIVER_CBID_cuGraphLaunch)
		launch_correlation = call->correlation_id;
}

static void on_resource(const struct ts_vgpu_resource_event *event)
{
	if (event->cbid < TS_CUPTI_CBID_RESOURCE_GRAPH_CREATED)
		return;
	graphs[n_resources % 64] = event->graph;
	resources[n_resources++ % 64] = event->cbid;
}

static void on_memory(const struct ts_vgpu_memory_event *event, uint32_t correlation_id)
{
}

static void on_wait(const struct ts_vgpu_wait_event *event, uint32_t correlation_id)
{
}

static void on_submitted(struct ts_vgpu_operation *op)
{
	op->sink_buffer = ops;
}

static void on_started(struct ts_vgpu_operation *op)
{
}

static void on_completed(struct ts_vgpu_operation *op)
{
	pthread_mutex_lock(&lock);
	ops[n_ops++ % 64] = *op;
	pthread_mutex_unlock(&lock);
}

static size_t told(uint32_t cbid)
{
	size_t n = 0;

	for (size_t i = 0; i < n_resources; i++)
		n += resources[i] == cbid;
	return n;
}

TS_TEST(a_profiler_is_told_of_graphs_and_their_nodes)
{
	static const struct ts_vgpu_sink sink = {
		.size = sizeof(sink),
		.version = TS_VGPU_HOOKS_VERSION,
		.api = on_api,
		.resource = on_resource,
		.memory = on_memory,
		.wait = on_wait,
		.operation_submitted = on_submitted,
		.operation_started = on_started,
		.operation_completed = on_completed,
	};
	const struct ts_vgpu_hooks *hooks;
	const void *table;
	void *graph, *exec, *params[2];
	uint64_t device, id;
	uint32_t b = 1, exec_id, graph_id;

	begin("small");
	ok(cuGetExportTable(&table, &ts_vgpu_hooks_uuid));
	hooks = table;
	ts_check_int(hooks->set_sink(&sink), 0);
	ok(cuMemAlloc_v2(&device, 4096));
	params[0] = &device;
	params[1] = &b;
	ok(cuStreamBeginCapture_v2(s1, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuMemsetD32Async(device, 1, 8, s1));
	ok(cuLaunchKernel(work, 1, 1, 1, 32, 1, 1, 0, s1, params, NULL));
	ok(cuStreamEndCapture(s1, &graph));
	ts_check_int(n_ops, 0);
	ts_check_int(told(TS_CUPTI_CBID_RESOURCE_GRAPH_CREATED), 1);
	ts_check_int(told(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING), 2);
	ts_check_int(told(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED), 2);
	ts_check_int(told(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED), 1);
	ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
	ts_check_int(told(TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING), 1);
	ts_check_int(told(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED), 2);
	ts_check_int(resources[n_resources - 1], TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
	ts_check(graphs[n_resources - 1].graph == graph &&
		 graphs[n_resources - 1].graph_exec == exec);
	ts_check_int(hooks->queries->graph_id(graph, &graph_id), 0);
	ts_check_int(hooks->queries->graph_exec_id(exec, &exec_id), 0);
	ts_check(graph_id && exec_id && graph_id != exec_id);
	ts_check_int(hooks->queries->graph_exec_id(graph, &exec_id), -ENOENT);

	ok(cuGraphLaunch(exec, s1));
	ok(cuStreamSynchronize(s1));
	ts_check_int(n_ops, 2);
	for (size_t i = 0; i < 2; i++) {
		ts_check_int(ops[i].graph_id, exec_id);
		ts_check_int(ops[i].correlation_id, launch_correlation);
		ts_check(ops[i].end_ns > ops[i].start_ns);
		/* The node was reported as a clone when the graph was instantiated. */
		for (size_t k = 0;; k++) {
			ts_check(k < n_resources);
			if (resources[k] != TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED ||
			    hooks->queries->graph_node_id(graphs[k].node, &id) ||
			    id != ops[i].graph_node_id)
				continue;
			ts_check_int(graphs[k].node_type,
				     ops[i].kind == TS_CUPTI_ACTIVITY_KIND_MEMSET
					     ? TS_CU_GRAPH_NODE_TYPE_MEMSET
					     : TS_CU_GRAPH_NODE_TYPE_KERNEL);
			break;
		}
	}
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
	ts_check_int(resources[n_resources - 2], TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
	ts_check_int(resources[n_resources - 1], TS_CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
	ts_check_int(hooks->set_sink(NULL), 0);
}
