/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements a profiler's queries: see tools/vgpu/hooks.h. driver-context.c creates the hooks when
 * the driver starts, driver-entry.c returns them, and libcupti calls the functions in them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cuda/graph/graph.h"
#include "tools/vgpu/cuda/work.h"

static const struct ts_vgpu_hooks *hooks;

static void query_current_context(void **ret_context, uint32_t *ret_context_id)
{
	struct context *context = context_current_alive();

	*ret_context = context;
	*ret_context_id = context ? context->uid : 0;
}

static uint32_t query_n_devices(void)
{
	return check_ready() ? 0 : ts_vgpu_n_devices(driver.vgpu);
}

static int query_device(uint32_t device_id, struct ts_vgpu_device_info *ret_info)
{
	const struct ts_vgpu_shape *shape;
	struct ts_vgpu_device *device;

	device = check_ready() ? NULL : ts_vgpu_device_at(driver.vgpu, device_id);
	if (!device)
		return -ENOENT;
	shape = ts_vgpu_device_shape(device);
	*ret_info = (struct ts_vgpu_device_info){
		.id = device_id,
		.memory_bytes = shape->memory_bytes,
		.memory_bandwidth_kbps = shape->memory_bytes_per_s / 1000,
		.constant_memory_bytes = 65536,
		.l2_cache_bytes = shape->l2_bytes,
		.warp_threads = shape->warp_size,
		.core_clock_khz = shape->clock_khz,
		.n_copy_engines = shape->n_h2d_engines + shape->n_d2h_engines,
		.n_multiprocessors = shape->n_sm,
		.max_ipc = 4,
		.max_warps_per_multiprocessor = shape->max_threads_per_sm / shape->warp_size,
		.max_blocks_per_multiprocessor = shape->max_blocks_per_sm,
		.max_shared_bytes_per_multiprocessor = shape->shared_bytes_per_sm,
		.max_registers_per_multiprocessor = shape->regs_per_sm,
		.max_registers_per_block = shape->regs_per_sm,
		.max_shared_bytes_per_block = shape->shared_bytes_per_block,
		.max_threads_per_block = shape->max_threads_per_block,
		.max_block_dim = {shape->max_threads_per_block, shape->max_threads_per_block, 64},
		.max_grid_dim = {INT32_MAX, 65535, 65535},
		.compute_major = shape->cc_major,
		.compute_minor = shape->cc_minor,
	};
	strncpy(ret_info->name, shape->name, sizeof(ret_info->name) - 1);
	device_uuid((int32_t)device_id, &ret_info->uuid);
	return 0;
}

static int query_context(void *context, struct ts_vgpu_context_info *ret_info)
{
	struct context *c = context ? context : context_current_alive();

	if (!c || !handle_is(c, HANDLE_CONTEXT))
		return -ENOENT;
	*ret_info = report_context_info(c);
	return 0;
}

static int query_stream(void *context, void *stream, bool own, struct ts_vgpu_stream_info *ret_info)
{
	struct context *c = context ? context : context_current_alive();
	struct stream *s = NULL;

	if (own && !stream)
		stream = TS_CU_STREAM_PER_THREAD;
	if (handle_is(stream, HANDLE_STREAM)) {
		s = stream;
		c = s->context;
	} else if (!c || !handle_is(c, HANDLE_CONTEXT)) {
		return -ENOENT;
	} else if (stream == TS_CU_STREAM_PER_THREAD) {
		if (stream_own(c, &s))
			return -ENOENT;
	} else if (stream && stream != TS_CU_STREAM_LEGACY) {
		return -ENOENT;
	}
	*ret_info = report_stream_info(c, s);
	return 0;
}

static int query_graph_id(void *graph, uint32_t *ret_id)
{
	if (!handle_is(graph, HANDLE_GRAPH))
		return -ENOENT;
	*ret_id = ((const struct graph *)graph)->id;
	return 0;
}

static int query_graph_exec_id(void *graph_exec, uint32_t *ret_id)
{
	if (!handle_is(graph_exec, HANDLE_GRAPH_EXEC))
		return -ENOENT;
	*ret_id = ((const struct graph_exec *)graph_exec)->id;
	return 0;
}

static int query_graph_node_id(void *node, uint64_t *ret_id)
{
	if (!handle_is(node, HANDLE_GRAPH_NODE))
		return -ENOENT;
	*ret_id = ((const struct graph_node *)node)->id;
	return 0;
}

/*
 * Limit of a listing, enough for a process. Further objects are omitted, so that a listing does not
 * grow its array.
 */
#define MAX_LISTED 1024

static int query_each_context(int (*fn)(const struct ts_vgpu_context_info *info, void *arg),
			      void *arg)
{
	struct ts_vgpu_context_info *infos = calloc(MAX_LISTED, sizeof(*infos));
	size_t n = 0;
	int r = 0;

	if (!infos)
		return -ENOMEM;
	pthread_mutex_lock(&driver.lock);
	for (struct context *c = driver.contexts; c && n < MAX_LISTED; c = c->next)
		infos[n++] = report_context_info(c);
	pthread_mutex_unlock(&driver.lock);
	for (size_t i = 0; !r && i < n; i++)
		r = fn(&infos[i], arg);
	free(infos);
	return r;
}

static int by_stream_id(const void *a, const void *b)
{
	const struct ts_vgpu_stream_info *x = a, *y = b;

	return x->stream_id < y->stream_id ? -1 : x->stream_id > y->stream_id;
}

static int query_each_stream(int (*fn)(const struct ts_vgpu_stream_info *info, void *arg),
			     void *arg)
{
	struct ts_vgpu_stream_info *infos = calloc(MAX_LISTED, sizeof(*infos));
	size_t n = 0;
	int r = 0;

	if (!infos)
		return -ENOMEM;
	pthread_mutex_lock(&driver.lock);
	for (struct context *c = driver.contexts; c; c = c->next) {
		if (n < MAX_LISTED)
			infos[n++] = report_stream_info(c, NULL);
		for (struct stream *s = c->streams; s && n < MAX_LISTED; s = s->next)
			infos[n++] = report_stream_info(c, s);
	}
	pthread_mutex_unlock(&driver.lock);
	qsort(infos, n, sizeof(*infos), by_stream_id);
	for (size_t i = 0; !r && i < n; i++)
		r = fn(&infos[i], arg);
	free(infos);
	return r;
}

static void query_drain(void)
{
	if (check_ready())
		return;
	for (uint32_t i = 0; i < ts_vgpu_n_devices(driver.vgpu); i++)
		ts_vgpu_device_synchronize(ts_vgpu_device_at(driver.vgpu, i));
}

static const struct ts_vgpu_queries queries = {
	.now_ns = ts_vgpu_now_ns,
	.current_context = query_current_context,
	.n_devices = query_n_devices,
	.device = query_device,
	.context = query_context,
	.stream = query_stream,
	.graph_id = query_graph_id,
	.graph_exec_id = query_graph_exec_id,
	.graph_node_id = query_graph_node_id,
	.each_context = query_each_context,
	.each_stream = query_each_stream,
	.drain = query_drain,
};

static void make_hooks(void)
{
	hooks = ts_vgpu_hooks_init(&queries);
}

/*
 * Makes the hooks at the first call. That may be a profiler's request before cuInit, or a reported
 * call before such a request.
 */
const struct ts_vgpu_hooks *report_hooks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_hooks);
	return hooks;
}
