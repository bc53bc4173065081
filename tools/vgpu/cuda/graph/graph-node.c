/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of graph nodes. A call's parameters are read and checked once. The work runs through the
 * same functions as a direct call's work, and its memory is checked when it runs. graph-api.c and
 * the capture files create work, graph-store.c stores it, graph-exec.c runs it.
 */
#include "tools/vgpu/cuda/graph/graph.h"

/* Returns the context of a node; NULL means the current one. */
static int bound_context(void *handle, struct context **ret_context)
{
	return context_get(handle, ret_context);
}

int work_kernel(const struct ts_cu_kernel_node_params *params, struct node_work *ret_work)
{
	struct node_work work = {.type = TS_CU_GRAPH_NODE_TYPE_KERNEL};
	struct context *context;
	struct function *f;
	int r;

	if (!params || (!params->func && !params->kern))
		return TS_CU_ERROR_INVALID_VALUE;
	r = bound_context(params->func ? NULL : params->ctx, &context);
	if (!r)
		r = function_get(context, params->func ? params->func : params->kern, &f);
	if (r)
		return r;
	work.kernel.function = f;
	work.kernel.launch = (struct launch){
		.grid = {params->grid_dim_x, params->grid_dim_y, params->grid_dim_z},
		.block = {params->block_dim_x, params->block_dim_y, params->block_dim_z},
		.shared_bytes = params->shared_mem_bytes,
	};
	r = launch_check(f, &work.kernel.launch);
	if (!r)
		r = work_params_new(&work, f->decl);
	if (r)
		return r;
	r = launch_gather(f->decl, params->kernel_params, params->extra, work.kernel.params);
	if (r)
		work_deinit_locked(&work);
	else
		*ret_work = work;
	return r;
}

void kernel_params_of(const struct node_work *work, struct ts_cu_kernel_node_params *ret_params)
{
	const struct launch *l = &work->kernel.launch;
	struct function *f = work->kernel.function;

	*ret_params = (struct ts_cu_kernel_node_params){
		/*
		 * A library's kernel is returned with its function: NVIDIA's driver returns both.
		 */
		.func = f,
		.grid_dim_x = l->grid[0],
		.grid_dim_y = l->grid[1],
		.grid_dim_z = l->grid[2],
		.block_dim_x = l->block[0],
		.block_dim_y = l->block[1],
		.block_dim_z = l->block[2],
		.shared_mem_bytes = l->shared_bytes,
		.kernel_params = f->decl->n_params ? work->kernel.pointers : NULL,
		.kern = f->kernel,
		.ctx = f->kernel ? f->module->context : NULL,
	};
}

int work_copy(const struct ts_cu_memcpy_3d *copy, void *context, struct node_work *ret_work)
{
	struct node_work work = {.type = TS_CU_GRAPH_NODE_TYPE_MEMCPY};
	struct said_copy read;
	int r = copy_read(copy, &read);

	if (!r)
		r = bound_context(context, &work.copy.context);
	if (r)
		return r;
	if (!copy->width_in_bytes || !copy->height || !copy->depth)
		return TS_CU_ERROR_INVALID_VALUE;
	work.copy.copy = *copy;
	*ret_work = work;
	return 0;
}

int work_set(const struct ts_cu_memset_node_params *set, void *context, struct node_work *ret_work)
{
	struct node_work work = {.type = TS_CU_GRAPH_NODE_TYPE_MEMSET};
	int r;

	if (!set || !set->width || !set->height ||
	    (set->element_size != 1 && set->element_size != 2 && set->element_size != 4) ||
	    (set->height > 1 && set->pitch < set->width * set->element_size))
		return TS_CU_ERROR_INVALID_VALUE;
	r = bound_context(context, &work.set.context);
	if (r)
		return r;
	work.set.set = *set;
	*ret_work = work;
	return 0;
}

int work_host(const struct ts_cu_host_node_params *host, struct node_work *ret_work)
{
	if (!host || !host->fn)
		return TS_CU_ERROR_INVALID_VALUE;
	*ret_work = (struct node_work){.type = TS_CU_GRAPH_NODE_TYPE_HOST, .host = *host};
	return 0;
}

int work_event(int32_t type, void *event, struct node_work *ret_work)
{
	struct event *e;
	int r = event_get(event, &e);

	if (!r)
		*ret_work = (struct node_work){.type = type, .event = e};
	return r;
}

static int work_child(void *graph, struct node_work *ret_work)
{
	struct graph *child;
	int r = graph_get(graph, &child);

	if (r)
		return r;
	pthread_mutex_lock(&graph_lock);
	r = work_child_locked(child, ret_work);
	pthread_mutex_unlock(&graph_lock);
	return r;
}

int work_any(const struct node_params *params, struct node_work *ret_work)
{
	if (!params)
		return TS_CU_ERROR_INVALID_VALUE;
	switch (params->type) {
	case TS_CU_GRAPH_NODE_TYPE_KERNEL:
		return work_kernel(&params->kernel, ret_work);
	case TS_CU_GRAPH_NODE_TYPE_MEMCPY:
		if (params->copy.flags || params->copy.reserved)
			return TS_CU_ERROR_INVALID_VALUE;
		return work_copy(&params->copy.copy, params->copy.context, ret_work);
	case TS_CU_GRAPH_NODE_TYPE_MEMSET:
		return work_set(&params->set.set, params->set.context, ret_work);
	case TS_CU_GRAPH_NODE_TYPE_HOST:
		return work_host(&params->host, ret_work);
	case TS_CU_GRAPH_NODE_TYPE_GRAPH:
		/* Moving a graph into its node is for kinds of nodes that are unsupported here. */
		if (params->child.ownership)
			return NOT_SERVED("child graphs that are moved into their node",
					  "let the node copy the graph (ownership 0)");
		return work_child(params->child.graph, ret_work);
	case TS_CU_GRAPH_NODE_TYPE_EMPTY:
		*ret_work = (struct node_work){.type = TS_CU_GRAPH_NODE_TYPE_EMPTY};
		return 0;
	case TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return work_event(params->type, params->event, ret_work);
	case TS_CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case TS_CU_GRAPH_NODE_TYPE_MEM_FREE:
		return NOT_SERVED("memory nodes in graphs",
				  "allocate before the graph's launch and free after it");
	case TS_CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return NOT_SERVED("conditional nodes in graphs", "decide on the host");
	case TS_CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
	case TS_CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
	case TS_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return NOT_SERVED("graph nodes for semaphores and batches of memory operations",
				  ON_A_REAL_GPU);
	default:
		return TS_CU_ERROR_INVALID_VALUE;
	}
}

struct context *work_context(const struct node_work *work)
{
	switch (work->type) {
	case TS_CU_GRAPH_NODE_TYPE_KERNEL:
		return work->kernel.function->module->context;
	case TS_CU_GRAPH_NODE_TYPE_MEMCPY:
		return work->copy.context;
	case TS_CU_GRAPH_NODE_TYPE_MEMSET:
		return work->set.context;
	case TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return handle_is(work->event, HANDLE_EVENT) ? work->event->context : NULL;
	default:
		return NULL;
	}
}

static int run_copy(const struct node_work *work, struct context *context,
		    struct ts_vgpu_stream *vstream, const struct work_place *place)
{
	struct said_copy copy;
	int r = copy_read(&work->copy.copy, &copy);

	if (r)
		return r;
	/* Earlier nodes may still write the memory that this copy reads. */
	copy.copy.deferred = true;
	return copy_run(context, vstream, &copy, place);
}

static int run_set(const struct node_work *work, struct context *context,
		   struct ts_vgpu_stream *vstream, const struct work_place *place)
{
	const struct ts_cu_memset_node_params *set = &work->set.set;
	struct ts_vgpu_fill fill = {
		.dst = set->dst,
		.value = set->value,
		.element_bytes = set->element_size,
		.width = set->width,
		.height = set->height,
		.pitch = set->pitch,
		.async = true,
	};

	return set_run(context, vstream, &fill, place);
}

int work_run(const struct node_work *work, struct context *context, struct ts_vgpu_stream *vstream,
	     const struct work_place *place)
{
	void (*function)(void *);

	switch (work->type) {
	case TS_CU_GRAPH_NODE_TYPE_KERNEL:
		return launch_run(work->kernel.function, &work->kernel.launch, work->kernel.params,
				  vstream, place);
	case TS_CU_GRAPH_NODE_TYPE_MEMCPY:
		return run_copy(work, context, vstream, place);
	case TS_CU_GRAPH_NODE_TYPE_MEMSET:
		return run_set(work, context, vstream, place);
	case TS_CU_GRAPH_NODE_TYPE_HOST:
		*(void **)&function = work->host.fn;
		return result_of(ts_vgpu_host_function(vstream, function, work->host.user_data, 0));
	case TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		if (!handle_is(work->event, HANDLE_EVENT))
			return TS_CU_ERROR_INVALID_HANDLE;
		stream_capture_forget_event(work->event);
		return result_of(ts_vgpu_event_record(work->event->vevent, vstream, 0));
	case TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		if (!handle_is(work->event, HANDLE_EVENT))
			return TS_CU_ERROR_INVALID_HANDLE;
		return result_of(ts_vgpu_stream_wait(vstream, work->event->vevent, 0));
	default:
		return 0;
	}
}
