/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda for the tests of the CUPTI facade. It uses the real dispatcher (tools/vgpu/hooks.c),
 * with queries that know two devices, two contexts and three streams. Its functions report the
 * events that a program would cause.
 */
#pragma once

#include <string.h>
#include <time.h>

#include "tools/vgpu/cupti/api.h"
#include "tools/vgpu/cupti/cupti-internal.h"
#include "tools/vgpu/hooks.h"

#define FAKE_CONTEXT ((void *)0x1000)
#define FAKE_STREAM  ((void *)0x2000)

static int fake_drains;

static inline uint64_t fake_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void fake_current_context(void **ret_context, uint32_t *ret_id)
{
	*ret_context = FAKE_CONTEXT;
	*ret_id = 1;
}

static uint32_t fake_n_devices(void)
{
	return 2;
}

static int fake_device(uint32_t id, struct ts_vgpu_device_info *ret_info)
{
	if (id >= 2)
		return -ENOENT;
	*ret_info = (struct ts_vgpu_device_info){.id = id,
						 .n_multiprocessors = 132,
						 .compute_major = 9,
						 .memory_bytes = 1 << 30};
	snprintf(ret_info->name, sizeof(ret_info->name), "Fake %u", id);
	return 0;
}

static int fake_context(void *context, struct ts_vgpu_context_info *ret_info)
{
	if (context && context != FAKE_CONTEXT)
		return -ENOENT;
	*ret_info = (struct ts_vgpu_context_info){.context = FAKE_CONTEXT,
						  .context_id = 1,
						  .device_id = 0,
						  .null_stream_id = 7};
	return 0;
}

static int fake_stream(void *context, void *stream, bool per_thread,
		       struct ts_vgpu_stream_info *ret_info)
{
	if (stream && stream != FAKE_STREAM)
		return -ENOENT;
	*ret_info = (struct ts_vgpu_stream_info){
		.context = FAKE_CONTEXT,
		.stream = stream,
		.context_id = 1,
		.stream_id = stream ? 13 : (per_thread ? 14 : 7),
		.flag = stream ? TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT
			       : TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL,
	};
	return 0;
}

static int fake_graph_id(void *graph, uint32_t *ret_id)
{
	*ret_id = 5;
	return 0;
}

static int fake_graph_node_id(void *node, uint64_t *ret_id)
{
	*ret_id = (uint64_t)5 << 32 | 1;
	return 0;
}

static int fake_each_context(int (*fn)(const struct ts_vgpu_context_info *, void *), void *arg)
{
	struct ts_vgpu_context_info info;

	fake_context(NULL, &info);
	return fn(&info, arg);
}

static int fake_each_stream(int (*fn)(const struct ts_vgpu_stream_info *, void *), void *arg)
{
	struct ts_vgpu_stream_info info;

	fake_stream(NULL, NULL, false, &info);
	fn(&info, arg);
	fake_stream(NULL, FAKE_STREAM, false, &info);
	return fn(&info, arg);
}

static void fake_drain(void)
{
	fake_drains++;
}

static const struct ts_vgpu_queries fake_queries = {
	.now_ns = fake_now_ns,
	.current_context = fake_current_context,
	.n_devices = fake_n_devices,
	.device = fake_device,
	.context = fake_context,
	.stream = fake_stream,
	.graph_id = fake_graph_id,
	.graph_exec_id = fake_graph_id,
	.graph_node_id = fake_graph_node_id,
	.each_context = fake_each_context,
	.each_stream = fake_each_stream,
	.drain = fake_drain,
};

/* Replaces find-libcuda.c. */
const struct ts_vgpu_hooks *ts_cupti_find_hooks(void)
{
	return ts_vgpu_hooks_init(&fake_queries);
}

static inline void fake_kernel(struct ts_vgpu_operation *op, uint32_t grid)
{
	*op = (struct ts_vgpu_operation){
		.kind = TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.context_id = 1,
		.stream_id = 7,
		.correlation_id = ts_vgpu_correlation_id(),
		.async = true,
		.queued_ns = fake_now_ns(),
		.kernel = {.name = "_Z5saxpyv", .grid = {grid, 2, 3}, .block = {32, 4, 5}},
	};
}

static inline bool fake_enter(struct ts_vgpu_api *call)
{
	struct ts_vgpu_section section;

	if (!ts_vgpu_armed() || !ts_vgpu_api_enter(call, &section))
		return false;
	TS_VGPU_REPORT_API(&section, TS_CUPTI_API_ENTER, call, ts_vgpu_section_leave);
	return true;
}

static inline void fake_exit(struct ts_vgpu_api *call)
{
	struct ts_vgpu_section section;

	if (ts_vgpu_api_exit(call, &section))
		TS_VGPU_REPORT_API(&section, TS_CUPTI_API_EXIT, call, ts_vgpu_section_leave);
}

/*
 * Reports a cudaLaunchKernel with its nested cuLaunchKernel. Returns the correlation id; 0: no
 * client traces the call.
 */
static inline uint32_t fake_launch(struct ts_vgpu_operation *op, uint32_t grid)
{
	struct ts_vgpu_api outer = {.domain = TS_CUPTI_CB_DOMAIN_RUNTIME_API,
				    .cbid = TS_CUPTI_RUNTIME_CBID_cudaLaunchKernel_v7000,
				    .function_name = "cudaLaunchKernel"};
	struct ts_vgpu_api inner = {.domain = TS_CUPTI_CB_DOMAIN_DRIVER_API,
				    .cbid = TS_CUPTI_DRIVER_CBID_cuLaunchKernel,
				    .function_name = "cuLaunchKernel"};
	bool outer_traced = fake_enter(&outer);
	bool inner_traced = fake_enter(&inner);

	fake_kernel(op, grid);
	ts_vgpu_report_submitted(op);
	if (inner_traced)
		fake_exit(&inner);
	if (outer_traced)
		fake_exit(&outer);
	return outer_traced ? outer.correlation_id : 0;
}

static inline void fake_complete(struct ts_vgpu_operation *op)
{
	op->start_ns = fake_now_ns();
	ts_vgpu_report_started(op);
	op->end_ns = op->start_ns + 1000;
	ts_vgpu_report_completed(op);
}
