// SPDX-License-Identifier: Apache-2.0
/*
 * Graphs. Most calls go to the runtime as they are; the parameters of kernel and set nodes have an
 * order of their own in HIP. Programs call this file through the functions of
 * generated-hip-graph.h.
 */
#include <string.h>

#include "tools/vgpu/hip/hip-face.h"

static int read_kernel(const struct ts_hip_kernel_node_params *p, struct launch_extra *words,
		       struct ts_cu_kernel_node_params *ret)
{
	void *kernel;
	int r = ready();

	if (!r && !p)
		r = TS_HIP_ERROR_INVALID_VALUE;
	if (!r)
		r = kernel_of(p->func, &kernel);
	if (r)
		return r;
	*ret = (struct ts_cu_kernel_node_params){
		.grid_dim_x = p->grid_dim.x,
		.grid_dim_y = p->grid_dim.y,
		.grid_dim_z = p->grid_dim.z,
		.block_dim_x = p->block_dim.x,
		.block_dim_y = p->block_dim.y,
		.block_dim_z = p->block_dim.z,
		.shared_mem_bytes = p->shared_mem_bytes,
		.kernel_params = p->kernel_params,
		.extra = extra_convert(p->extra, words),
		.kern = kernel,
	};
	return 0;
}

static int add_kernel(void **graph_node, void *graph, void *const *dependencies,
		      size_t num_dependencies, const struct ts_hip_kernel_node_params *params)
{
	struct ts_cu_kernel_node_params p;
	struct launch_extra words;
	int r = read_kernel(params, &words, &p);

	return r ? r
		 : cuGraphAddKernelNode_v2(graph_node, graph, (const void **)dependencies,
					   num_dependencies, &p);
}

static int kernel_set(void *node, const struct ts_hip_kernel_node_params *params)
{
	struct ts_cu_kernel_node_params p;
	struct launch_extra words;
	int r = read_kernel(params, &words, &p);

	return r ? r : cuGraphKernelNodeSetParams_v2(node, &p);
}

static int exec_kernel_set(void *graph_exec, void *node,
			   const struct ts_hip_kernel_node_params *params)
{
	struct ts_cu_kernel_node_params p;
	struct launch_extra words;
	int r = read_kernel(params, &words, &p);

	return r ? r : cuGraphExecKernelNodeSetParams_v2(graph_exec, node, &p);
}

/* HIP has CUDA's numbers since 5.3. Those of 5.2 are one higher: 0 was another type. */
static int node_type(void *node, int32_t *type)
{
	int r = cudaGraphNodeGetType(node, type);

	if (!r && release.has_old_tracer)
		++*type;
	return r;
}

/* As AMD's, returns the function that the program passed: a host function, or a module's. */
static int kernel_get(void *node, struct ts_hip_kernel_node_params *params)
{
	struct ts_cu_kernel_node_params p;
	int r = READY(cuGraphKernelNodeGetParams_v2(node, &p));
	void *func;

	if (!r && !params)
		r = TS_HIP_ERROR_INVALID_VALUE;
	if (r)
		return r;
	func = p.kern ? (void *)(uintptr_t)host_function_of(p.kern) : NULL;
	*params = (struct ts_hip_kernel_node_params){
		.func = func	 ? func
			: p.func ? p.func
				 : p.kern,
		.grid_dim = {p.grid_dim_x, p.grid_dim_y, p.grid_dim_z},
		.block_dim = {p.block_dim_x, p.block_dim_y, p.block_dim_z},
		.shared_mem_bytes = p.shared_mem_bytes,
		.kernel_params = p.kernel_params,
	};
	return 0;
}

static int read_set(const struct ts_hip_memset_params *p, struct ts_cu_memset_node_params *ret)
{
	if (!p)
		return TS_HIP_ERROR_INVALID_VALUE;
	*ret = (struct ts_cu_memset_node_params){
		.dst = address(p->dst),
		.pitch = p->pitch,
		.value = p->value,
		.element_size = p->element_size,
		.width = p->width,
		.height = p->height,
	};
	return ready();
}

static int add_set(void **graph_node, void *graph, void *const *dependencies,
		   size_t num_dependencies, const struct ts_hip_memset_params *params)
{
	struct ts_cu_memset_node_params p;
	int r = read_set(params, &p);

	return r ? r
		 : cuGraphAddMemsetNode(graph_node, graph, (const void **)dependencies,
					num_dependencies, &p, NULL);
}

static int set_set(void *node, const struct ts_hip_memset_params *params)
{
	struct ts_cu_memset_node_params p;
	int r = read_set(params, &p);

	return r ? r : cuGraphMemsetNodeSetParams(node, &p);
}

static int exec_set_set(void *graph_exec, void *node, const struct ts_hip_memset_params *params)
{
	struct ts_cu_memset_node_params p;
	int r = read_set(params, &p);

	return r ? r : cuGraphExecMemsetNodeSetParams(graph_exec, node, &p, NULL);
}

static int set_get(void *node, struct ts_hip_memset_params *params)
{
	struct ts_cu_memset_node_params p;
	int r = READY(cuGraphMemsetNodeGetParams(node, &p));

	if (!r && !params)
		r = TS_HIP_ERROR_INVALID_VALUE;
	if (r)
		return r;
	*params = (struct ts_hip_memset_params){
		.dst = (void *)(uintptr_t)p.dst,
		.pitch = p.pitch,
		.value = p.value,
		.element_size = p.element_size,
		.width = p.width,
		.height = p.height,
	};
	return 0;
}

/* On failure the log is empty: the virtual GPU writes none. */
static int instantiate(void **graph_exec, void *graph, void **error_node, char *log, size_t n_log)
{
	int r = cudaGraphInstantiateWithFlags(graph_exec, graph, 0);

	if (error_node)
		*error_node = NULL;
	if (log && n_log)
		*log = '\0';
	return r;
}

/* HIP requires both outputs. */
static int exec_update(void *graph_exec, void *graph, void **error_node, int32_t *result)
{
	return error_node && result
		       ? READY(cuGraphExecUpdate(graph_exec, graph, error_node, result))
		       : TS_HIP_ERROR_INVALID_VALUE;
}

#include "tools/vgpu/generated-hip-graph.h"
