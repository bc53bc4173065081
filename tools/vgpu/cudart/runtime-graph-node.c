/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph nodes whose parameters differ from the driver's: kernels are named by host functions,
 * copies use pitched pointers. Programs call this file through the functions of
 * generated-cudart-graph-node.h; this file calls the driver's functions for nodes.
 */
#include <string.h>

#include "tools/vgpu/cudart/runtime.h"

struct kernel_node_params {
	void *func;
	struct ts_cuda_dim3 grid_dim, block_dim;
	uint32_t shared_mem_bytes;
	void **kernel_params;
	void **extra;
};

/* The driver's struct has the same layout. */
struct memset_node_params {
	void *dst;
	size_t pitch;
	uint32_t value, element_size;
	size_t width, height;
};

_Static_assert(sizeof(struct memset_node_params) == sizeof(struct ts_cu_memset_node_params),
	       "one layout");

static const struct ts_cu_memset_node_params *driver_set(const struct memset_node_params *params)
{
	return (const struct ts_cu_memset_node_params *)params;
}

static int read_kernel(const struct kernel_node_params *p, struct ts_cu_kernel_node_params *ret)
{
	void *kernel;
	int r = ready();

	if (r)
		return r;
	if (!p)
		return TS_CUDA_ERROR_INVALID_VALUE;
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
		.extra = p->extra,
		.kern = kernel,
	};
	return 0;
}

static int kernel_result(int r)
{
	return r == TS_CU_ERROR_INVALID_HANDLE ? TS_CUDA_ERROR_INVALID_DEVICE_FUNCTION : r;
}

static int add_kernel(void **graph_node, void *graph, const void **dependencies,
		      size_t num_dependencies, const struct kernel_node_params *node_params)
{
	struct ts_cu_kernel_node_params p;
	int r = read_kernel(node_params, &p);

	return r ? r
		 : kernel_result(cuGraphAddKernelNode_v2(graph_node, graph, dependencies,
							 num_dependencies, &p));
}

/* Returns the function as a kernel handle, which each call with a function accepts. */
static int kernel_get(void *node, struct kernel_node_params *node_params)
{
	struct ts_cu_kernel_node_params p;
	int r = READY(cuGraphKernelNodeGetParams_v2(node, &p));

	if (r)
		return r;
	if (!node_params)
		return TS_CUDA_ERROR_INVALID_VALUE;
	*node_params = (struct kernel_node_params){
		.func = p.kern ? p.kern : p.func,
		.grid_dim = {p.grid_dim_x, p.grid_dim_y, p.grid_dim_z},
		.block_dim = {p.block_dim_x, p.block_dim_y, p.block_dim_z},
		.shared_mem_bytes = p.shared_mem_bytes,
		.kernel_params = p.kernel_params,
	};
	return 0;
}

static int kernel_set(void *node, const struct kernel_node_params *node_params)
{
	struct ts_cu_kernel_node_params p;
	int r = read_kernel(node_params, &p);

	return r ? r : kernel_result(cuGraphKernelNodeSetParams_v2(node, &p));
}

static int exec_kernel_set(void *graph_exec, void *node,
			   const struct kernel_node_params *node_params)
{
	struct ts_cu_kernel_node_params p;
	int r = read_kernel(node_params, &p);

	return r ? r : kernel_result(cuGraphExecKernelNodeSetParams_v2(graph_exec, node, &p));
}

static int add_copy(int r, void **graph_node, void *graph, const void **dependencies,
		    size_t num_dependencies, const struct ts_cu_memcpy_3d *copy)
{
	return r ? r
		 : cuGraphAddMemcpyNode(graph_node, graph, dependencies, num_dependencies, copy,
					NULL);
}

static int add_memcpy(void **graph_node, void *graph, const void **dependencies,
		      size_t num_dependencies, const struct ts_cuda_memcpy_3d_parms *copy_params)
{
	struct ts_cu_memcpy_3d c;
	int r = copy_fill_3d(&c, copy_params);

	return add_copy(r, graph_node, graph, dependencies, num_dependencies, &c);
}

static int add_memcpy_1d(void **graph_node, void *graph, const void **dependencies,
			 size_t num_dependencies, void *dst, const void *src, size_t count,
			 int32_t kind)
{
	struct ts_cu_memcpy_3d c;
	int r = copy_fill_1d(&c, dst, src, count, kind);

	return add_copy(r, graph_node, graph, dependencies, num_dependencies, &c);
}

static int fill_to_symbol(struct ts_cu_memcpy_3d *c, const void *symbol, const void *src,
			  size_t count, size_t offset, int32_t kind)
{
	void *dst;
	int r = symbol_part(symbol, count, offset, &dst);

	return r ? r : copy_fill_1d(c, dst, src, count, kind);
}

static int fill_from_symbol(struct ts_cu_memcpy_3d *c, void *dst, const void *symbol, size_t count,
			    size_t offset, int32_t kind)
{
	void *src;
	int r = symbol_part(symbol, count, offset, &src);

	return r ? r : copy_fill_1d(c, dst, src, count, kind);
}

static int add_to_symbol(void **graph_node, void *graph, const void **dependencies,
			 size_t num_dependencies, const void *symbol, const void *src, size_t count,
			 size_t offset, int32_t kind)
{
	struct ts_cu_memcpy_3d c;
	int r = fill_to_symbol(&c, symbol, src, count, offset, kind);

	return add_copy(r, graph_node, graph, dependencies, num_dependencies, &c);
}

static int add_from_symbol(void **graph_node, void *graph, const void **dependencies,
			   size_t num_dependencies, void *dst, const void *symbol, size_t count,
			   size_t offset, int32_t kind)
{
	struct ts_cu_memcpy_3d c;
	int r = fill_from_symbol(&c, dst, symbol, count, offset, kind);

	return add_copy(r, graph_node, graph, dependencies, num_dependencies, &c);
}

static int32_t kind_of(int32_t src, int32_t dst)
{
	if (src == TS_CU_MEMORYTYPE_UNIFIED || dst == TS_CU_MEMORYTYPE_UNIFIED)
		return TS_CUDA_MEMCPY_DEFAULT;
	if (src == TS_CU_MEMORYTYPE_HOST)
		return dst == TS_CU_MEMORYTYPE_HOST ? TS_CUDA_MEMCPY_HOST_TO_HOST
						    : TS_CUDA_MEMCPY_HOST_TO_DEVICE;
	return dst == TS_CU_MEMORYTYPE_HOST ? TS_CUDA_MEMCPY_DEVICE_TO_HOST
					    : TS_CUDA_MEMCPY_DEVICE_TO_DEVICE;
}

static int memcpy_get(void *node, struct ts_cuda_memcpy_3d_parms *node_params)
{
	struct ts_cu_memcpy_3d c;
	int r = READY(cuGraphMemcpyNodeGetParams(node, &c));

	if (r)
		return r;
	if (!node_params)
		return TS_CUDA_ERROR_INVALID_VALUE;
	*node_params = (struct ts_cuda_memcpy_3d_parms){
		.src_pos = {c.src_x_in_bytes, c.src_y, c.src_z},
		.src_ptr = {(void *)(uintptr_t)(c.src_memory_type == TS_CU_MEMORYTYPE_HOST
							? address(c.src_host)
							: c.src_device),
			    c.src_pitch, c.width_in_bytes, c.src_height},
		.dst_pos = {c.dst_x_in_bytes, c.dst_y, c.dst_z},
		.dst_ptr = {(void *)(uintptr_t)(c.dst_memory_type == TS_CU_MEMORYTYPE_HOST
							? address(c.dst_host)
							: c.dst_device),
			    c.dst_pitch, c.width_in_bytes, c.dst_height},
		.extent = {c.width_in_bytes, c.height, c.depth},
		.kind = kind_of(c.src_memory_type, c.dst_memory_type),
	};
	return 0;
}

/*
 * Sets a copy in a node of a graph, or of an executable graph if there is one. r: result of reading
 * the copy.
 */
static int set_copy(int r, void *graph_exec, void *node, const struct ts_cu_memcpy_3d *copy)
{
	if (r)
		return r;
	return graph_exec ? cuGraphExecMemcpyNodeSetParams(graph_exec, node, copy, NULL)
			  : cuGraphMemcpyNodeSetParams(node, copy);
}

static int memcpy_set(void *graph_exec, void *node, const struct ts_cuda_memcpy_3d_parms *p)
{
	struct ts_cu_memcpy_3d c;
	int r = copy_fill_3d(&c, p);

	return set_copy(r, graph_exec, node, &c);
}

static int memcpy_set_1d(void *graph_exec, void *node, void *dst, const void *src, size_t count,
			 int32_t kind)
{
	struct ts_cu_memcpy_3d c;
	int r = copy_fill_1d(&c, dst, src, count, kind);

	return set_copy(r, graph_exec, node, &c);
}

static int set_to_symbol(void *graph_exec, void *node, const void *symbol, const void *src,
			 size_t count, size_t offset, int32_t kind)
{
	struct ts_cu_memcpy_3d c;
	int r = fill_to_symbol(&c, symbol, src, count, offset, kind);

	return set_copy(r, graph_exec, node, &c);
}

static int set_from_symbol(void *graph_exec, void *node, void *dst, const void *symbol,
			   size_t count, size_t offset, int32_t kind)
{
	struct ts_cu_memcpy_3d c;
	int r = fill_from_symbol(&c, dst, symbol, count, offset, kind);

	return set_copy(r, graph_exec, node, &c);
}

/*
 * Parameters of cudaGraphAddNode, by kind. The driver's struct differs in kernels, copies and
 * contexts.
 */
struct any_params {
	int32_t type;
	int32_t reserved0[3];
	union {
		int64_t reserved1[29];
		struct kernel_node_params kernel;
		struct {
			int32_t flags, reserved[3];
			struct ts_cuda_memcpy_3d_parms copy;
		} copy;
		struct memset_node_params set;
		struct ts_cu_host_node_params host;
		struct {
			void *graph;
			int32_t ownership;
		} child;
		void *event;
	};
	int64_t reserved2;
};

struct driver_params {
	int32_t type;
	int32_t reserved0[3];
	union {
		int64_t reserved1[29];
		struct ts_cu_kernel_node_params kernel;
		struct {
			int32_t flags, reserved;
			void *context;
			struct ts_cu_memcpy_3d copy;
		} copy;
		struct {
			struct ts_cu_memset_node_params set;
			void *context;
		} set;
		struct ts_cu_host_node_params host;
	};
	int64_t reserved2;
};

_Static_assert(sizeof(struct any_params) == 256, "the vendor's");
_Static_assert(sizeof(struct driver_params) == 256, "the vendor's");

static int read_any(const struct any_params *p, struct driver_params *ret_params)
{
	struct driver_params out = {.type = 0};
	int r = ready();

	if (r)
		return r;
	if (!p)
		return TS_CUDA_ERROR_INVALID_VALUE;
	out.type = p->type;
	switch (p->type) {
	case TS_CU_GRAPH_NODE_TYPE_KERNEL:
		r = read_kernel(&p->kernel, &out.kernel);
		break;
	case TS_CU_GRAPH_NODE_TYPE_MEMCPY:
		out.copy.flags = p->copy.flags;
		r = copy_fill_3d(&out.copy.copy, &p->copy.copy);
		break;
	case TS_CU_GRAPH_NODE_TYPE_MEMSET:
		out.set.set = *driver_set(&p->set);
		break;
	default:
		memcpy(out.reserved1, p->reserved1, sizeof(out.reserved1));
	}
	if (!r)
		*ret_params = out;
	return r;
}

static int add_any(void **graph_node, void *graph, const void **dependencies,
		   const void *dependency_data, size_t num_dependencies,
		   struct any_params *node_params)
{
	struct driver_params p;
	int r = read_any(node_params, &p);

	if (!r)
		r = cuGraphAddNode_v2(graph_node, graph, dependencies, dependency_data,
				      num_dependencies, &p);
	if (!r && p.type == TS_CU_GRAPH_NODE_TYPE_GRAPH)
		memcpy(&node_params->child.graph, p.reserved1, sizeof(void *));
	return r;
}

static int any_set(void *node, const struct any_params *node_params)
{
	struct driver_params p;
	int r = read_any(node_params, &p);

	return r ? r : cuGraphNodeSetParams(node, &p);
}

static int exec_any_set(void *graph_exec, void *node, const struct any_params *node_params)
{
	struct driver_params p;
	int r = read_any(node_params, &p);

	return r ? r : cuGraphExecNodeSetParams(graph_exec, node, &p);
}

#include "tools/vgpu/generated-cudart-graph-node.h"
