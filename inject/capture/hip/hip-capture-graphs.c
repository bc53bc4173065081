/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of HIP for graphs.c: asks the runtime for nodes in the words of CUDA's driver, and
 * converts the arguments of calls that change a node. hip-capture.c takes the functions that ask;
 * hip-capture-calls.c calls the rest. This file calls hip-capture-code.c: a node may have a kernel
 * that no launch named before.
 */
#include "inject/capture/hip/hip-capture.h"

#include "inject/context.h"
#include "inject/hip/hip-slots.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"

#define DRIVER(name) TS_CUPTI_DRIVER_CBID_##name
#define NOT_FOUND    500
/* The first runtime with CUDA's numbers of node types; before, they are one higher. */
#define SAME_TYPES 50300000u

void **ts_hip_capture_extra(void **extra, void **words)
{
	size_t n = 0;

	if (!extra)
		return NULL;
	/* Both vendors have the same words but for the end. */
	while (n < 4 && extra[n] != TS_HIP_LAUNCH_PARAM_END) {
		words[n] = extra[n];
		words[n + 1] = extra[n + 1];
		n += 2;
	}
	words[n] = TS_CU_LAUNCH_PARAM_END;
	return words;
}

void ts_hip_capture_3d(const struct ts_hip_memcpy3d_parms *from, struct ts_cu_memcpy_3d *ret)
{
	const bool is_array = from->src_array || from->dst_array;
	const int32_t type = is_array ? TS_CU_MEMORYTYPE_ARRAY : TS_CU_MEMORYTYPE_UNIFIED;

	*ret = (struct ts_cu_memcpy_3d){
		.src_x_in_bytes = from->src_pos.x,
		.src_y = from->src_pos.y,
		.src_z = from->src_pos.z,
		.src_memory_type = type,
		.src_device = (uint64_t)(uintptr_t)from->src_ptr.ptr,
		.src_pitch = from->src_ptr.pitch,
		.src_height = from->src_ptr.ysize,
		.dst_x_in_bytes = from->dst_pos.x,
		.dst_y = from->dst_pos.y,
		.dst_z = from->dst_pos.z,
		.dst_memory_type = type,
		.dst_device = (uint64_t)(uintptr_t)from->dst_ptr.ptr,
		.dst_pitch = from->dst_ptr.pitch,
		.dst_height = from->dst_ptr.ysize,
		.width_in_bytes = from->extent.width,
		.height = from->extent.height,
		.depth = from->extent.depth,
	};
}

static void convert_kernel(const struct ts_hip_kernel_node_params *from, void **words,
			   struct ts_cu_kernel_node_params *ret)
{
	struct ts_capture *capture = &ts_capture_shim()->capture;

	if (capture->hip.model)
		ts_hip_capture_registered(capture, capture->hip.model, from->func);
	*ret = (struct ts_cu_kernel_node_params){
		.func = from->func,
		.grid_dim_x = from->grid_dim.x,
		.grid_dim_y = from->grid_dim.y,
		.grid_dim_z = from->grid_dim.z,
		.block_dim_x = from->block_dim.x,
		.block_dim_y = from->block_dim.y,
		.block_dim_z = from->block_dim.z,
		.shared_mem_bytes = from->shared_mem_bytes,
		.kernel_params = from->kernel_params,
		.extra = ts_hip_capture_extra(from->extra, words),
	};
}

static struct ts_cu_memset_node_params converted_fill(const struct ts_hip_memset_params *from)
{
	return (struct ts_cu_memset_node_params){
		.dst = (uint64_t)(uintptr_t)from->dst,
		.pitch = from->pitch,
		.value = from->value,
		.element_size = from->element_size,
		.width = from->width,
		.height = from->height,
	};
}

/* ---- questions ---- */

static int ask_nodes(void *graph, void **nodes, size_t *n)
{
	hipGraphGetNodes_fn *ask = ts_hip_next(hipGraphGetNodes);

	return ask ? ask(graph, nodes, n) : NOT_FOUND;
}

static int ask_edges(void *graph, void **from, void **to, size_t *n)
{
	hipGraphGetEdges_fn *ask = ts_hip_next(hipGraphGetEdges);

	return ask ? ask(graph, from, to, n) : NOT_FOUND;
}

static int ask_type(void *node, int32_t *type)
{
	hipGraphNodeGetType_fn *ask = ts_hip_next(hipGraphNodeGetType);
	const uint32_t version =
		__atomic_load_n(&ts_capture_shim()->control->hip_version, __ATOMIC_RELAXED);
	int r = ask ? ask(node, type) : NOT_FOUND;

	/* 0: the runtime was not asked yet. */
	if (!r && version && version < SAME_TYPES)
		--*type;
	return r;
}

static int ask_kernel(void *node, struct ts_cu_kernel_node_params *params)
{
	hipGraphKernelNodeGetParams_fn *ask = ts_hip_next(hipGraphKernelNodeGetParams);
	static __thread void *words[5] __attribute__((tls_model("initial-exec")));
	struct ts_hip_kernel_node_params from = {0};
	int r = ask ? ask(node, &from) : NOT_FOUND;

	if (!r)
		convert_kernel(&from, words, params);
	return r;
}

static int ask_copy(void *node, struct ts_cu_memcpy_3d *params)
{
	hipGraphMemcpyNodeGetParams_fn *ask = ts_hip_next(hipGraphMemcpyNodeGetParams);
	struct ts_hip_memcpy3d_parms from = {0};
	int r = ask ? ask(node, &from) : NOT_FOUND;

	if (!r)
		ts_hip_capture_3d(&from, params);
	return r;
}

static int ask_fill(void *node, struct ts_cu_memset_node_params *params)
{
	hipGraphMemsetNodeGetParams_fn *ask = ts_hip_next(hipGraphMemsetNodeGetParams);
	struct ts_hip_memset_params from = {0};
	int r = ask ? ask(node, &from) : NOT_FOUND;

	if (!r)
		*params = converted_fill(&from);
	return r;
}

static int ask_child(void *node, void **graph)
{
	hipGraphChildGraphNodeGetGraph_fn *ask = ts_hip_next(hipGraphChildGraphNodeGetGraph);

	return ask ? ask(node, graph) : NOT_FOUND;
}

static int ask_record(void *node, void **event)
{
	hipGraphEventRecordNodeGetEvent_fn *ask = ts_hip_next(hipGraphEventRecordNodeGetEvent);

	return ask ? ask(node, event) : NOT_FOUND;
}

static int ask_wait(void *node, void **event)
{
	hipGraphEventWaitNodeGetEvent_fn *ask = ts_hip_next(hipGraphEventWaitNodeGetEvent);

	return ask ? ask(node, event) : NOT_FOUND;
}

void ts_hip_capture_graph_driver(struct ts_capture_graph_driver *driver)
{
	*driver = (struct ts_capture_graph_driver){
		.nodes = ask_nodes,
		.old_edges = ask_edges,
		.type = ask_type,
		.kernel = ask_kernel,
		.copy = ask_copy,
		.fill = ask_fill,
		.child = ask_child,
		.record = ask_record,
		.wait = ask_wait,
	};
}

/* ---- changes ---- */

static void change_copy(struct ts_capture *capture, void *exec, void *node,
			const struct ts_hip_memcpy3d_parms *from,
			const struct ts_record_operation *model)
{
	struct ts_cu_memcpy_3d copy;
	const struct ts_cu_graph_exec_set_params_params as = {exec, node, &copy};

	ts_hip_capture_3d(from, &copy);
	ts_capture_call(capture, DRIVER(cuGraphExecMemcpyNodeSetParams), &as, model);
}

bool ts_hip_capture_graph_call(struct ts_capture *capture, uint32_t id, const void *params,
			       const struct ts_record_operation *model)
{
	switch (id) {
	case TS_HIP_CALL_hipGraphExecKernelNodeSetParams: {
		const struct hipGraphExecKernelNodeSetParams_params *p = params;
		struct ts_cu_kernel_node_params kernel;
		const struct ts_cu_graph_exec_set_params_params as = {p->graph_exec, p->node,
								      &kernel};
		void *words[5];

		convert_kernel(p->node_params, words, &kernel);
		ts_capture_call(capture, DRIVER(cuGraphExecKernelNodeSetParams_v2), &as, model);
		return true;
	}
	case TS_HIP_CALL_hipGraphExecMemsetNodeSetParams: {
		const struct hipGraphExecMemsetNodeSetParams_params *p = params;
		const struct ts_cu_memset_node_params fill = converted_fill(p->node_params);
		const struct ts_cu_graph_exec_set_params_params as = {p->graph_exec, p->node,
								      &fill};

		ts_capture_call(capture, DRIVER(cuGraphExecMemsetNodeSetParams), &as, model);
		return true;
	}
	case TS_HIP_CALL_hipGraphExecMemcpyNodeSetParams: {
		const struct hipGraphExecMemcpyNodeSetParams_params *p = params;

		change_copy(capture, p->graph_exec, p->node, p->node_params, model);
		return true;
	}
	case TS_HIP_CALL_hipGraphExecMemcpyNodeSetParams1D: {
		const struct hipGraphExecMemcpyNodeSetParams1D_params *p = params;
		const struct ts_hip_memcpy3d_parms copy = {
			.src_ptr = {(void *)(uintptr_t)p->src, p->count, p->count, 1},
			.dst_ptr = {p->dst, p->count, p->count, 1},
			.extent = {p->count, 1, 1},
		};

		change_copy(capture, p->graph_exec, p->node, &copy, model);
		return true;
	}
	default:
		return false;
	}
}
