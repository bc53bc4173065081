/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling a profiler. Every public function passes through CALL; with nobody listening that costs one relaxed load.
 * What happens inside a call (memory, waits, operations) is told through the functions below, which do nothing with
 * nobody listening either.
 */
#pragma once

#include "replay/vgpu/vgpu.h"
#include "tools/vgpu/hooks.h"

struct context;
struct stream;

extern bool calls_take_time; /* the spec says how long, of those that queue something */

/* name: the exported symbol, which is the vendor's callback id too. params: the vendor's structure, or NULL. */
#define CALL(name, params_, work) CALL_NAMED(name, params_, NULL, work)

/* For launches: the kernel's name besides. Before cuInit, what is asked for is not even looked at. */
#define CALL_NAMED(name, params_, symbol, work) \
	CALL_REPORTED(name, params_, symbol, __builtin_expect(check_ready(), 0) ?: (work))

/* What may be called before cuInit. */
#define CALL_ANYTIME(name, params_, work) CALL_REPORTED(name, params_, NULL, work)

#define CALL_REPORTED(name, params_, symbol, work)                                                 \
	TS_VGPU_CALL(int, ts_vgpu_armed(), ts_vgpu_api_enter, ts_vgpu_api_exit,                    \
		     ts_vgpu_section_leave, ({                                                     \
			     int status_ = (work);                                                 \
			     if (__builtin_expect(calls_take_time, 0))                             \
				     ts_vgpu_call_over();                                          \
			     status_;                                                              \
		     }),                                                                           \
		     .domain = TS_CUPTI_CB_DOMAIN_DRIVER_API, .cbid = TS_CUPTI_DRIVER_CBID_##name, \
		     .function_name = #name, .params = (params_), .symbol_name = (symbol))

/* Made once, when the machine is. */
void report_init(void);
/* queries.c: what answers a profiler. */
const struct ts_vgpu_hooks *report_hooks(void);
/* report.c */
/* A context as a profiler is told of it, and a stream; NULL: the context's legacy default stream. */
struct ts_vgpu_context_info report_context_info(const struct context *context);
struct ts_vgpu_stream_info report_stream_info(const struct context *context,
					      const struct stream *stream);

/* A new operation record for what is about to be submitted, or NULL with nobody listening; its address is the tag. */
struct ts_vgpu_operation *report_operation(const struct context *context, uint32_t stream_id);
/* It is a node's of an executable graph, or with NULL no graph's. */
struct work_place;
void report_place(struct ts_vgpu_operation *op, const struct work_place *place);
/* It is submitted now, or was not to be. */
void report_submit(struct ts_vgpu_operation *op);
void report_cancel(struct ts_vgpu_operation *op);

void report_context(uint32_t cbid, const struct context *context);
void report_stream(uint32_t cbid, const struct context *context, const struct stream *stream);
void report_module(uint32_t cbid, const struct context *context, uint32_t module_id,
		   const void *image, size_t image_bytes);
/* Of a graph; the members that the cbid is about. */
void report_graph(uint32_t cbid, const struct ts_cupti_graph_data *graph);
/* operation, kind: the record's. */
void report_memory(uint32_t operation, uint32_t kind, const struct context *context,
		   uint64_t address, uint64_t bytes);
/* Memory of a pool, had or given up in stream order. */
struct report_pool {
	uint64_t address, threshold, size, used;
};
void report_pool_memory(uint32_t operation, const struct context *context, uint64_t address,
			uint64_t bytes, uint32_t stream_id, const struct report_pool *pool);
void report_wait(uint32_t type, const struct context *context, uint32_t stream_id, void *stream,
		 uint32_t event_id, uint64_t start_ns, int result);
