/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports to a profiler. Every public function runs inside CALL. If no sink (hooks.h) is attached,
 * CALL costs one relaxed load. The functions below report events inside a call (memory, waits,
 * operations). They do nothing without a sink.
 */
#pragma once

#include "replay/vgpu/vgpu.h"
#include "tools/vgpu/hooks.h"

struct context;
struct stream;

extern bool calls_take_time; /* call_ns of the spec is not 0 */

/*
 * name: the exported symbol, which is also the vendor's callback id. params: the vendor's struct,
 * or NULL.
 */
#define CALL(name, params_, work) CALL_NAMED(name, params_, NULL, work)

/* Like CALL, for launches. symbol: the kernel's name. Before cuInit `work` is not evaluated. */
#define CALL_NAMED(name, params_, symbol, work) \
	CALL_REPORTED(name, params_, symbol, __builtin_expect(check_ready(), 0) ?: (work))

/* For functions that may be called before cuInit. */
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

/* Called once, when the machine is created. */
void report_init(void);
/* queries.c: the hooks with the query functions. */
const struct ts_vgpu_hooks *report_hooks(void);
/* report.c */
/*
 * Describes a context or a stream for a profiler. Stream NULL: the context's legacy default stream.
 */
struct ts_vgpu_context_info report_context_info(const struct context *context);
struct ts_vgpu_stream_info report_stream_info(const struct context *context,
					      const struct stream *stream);

/*
 * Returns a new operation record, or NULL without a sink. The record's address is the tag of the
 * operation.
 */
struct ts_vgpu_operation *report_operation(const struct context *context, uint32_t stream_id);
/* Sets the node and graph of the operation; NULL: no graph. */
struct work_place;
void report_place(struct ts_vgpu_operation *op, const struct work_place *place);
/* Reports that the operation is submitted now. */
void report_submit(struct ts_vgpu_operation *op);
/* Reports that the operation was not submitted. */
void report_cancel(struct ts_vgpu_operation *op);

void report_context(uint32_t cbid, const struct context *context);
void report_stream(uint32_t cbid, const struct context *context, const struct stream *stream);
void report_module(uint32_t cbid, const struct context *context, uint32_t module_id,
		   const void *image, size_t image_bytes);
/* Reports a graph; only the members for the cbid are set. */
void report_graph(uint32_t cbid, const struct ts_cupti_graph_data *graph);
/* operation and kind: values of the record. */
void report_memory(uint32_t operation, uint32_t kind, const struct context *context,
		   uint64_t address, uint64_t bytes);
/* State of the pool of a stream-ordered allocation or release. */
struct report_pool {
	uint64_t address, threshold, size, used;
};
void report_pool_memory(uint32_t operation, const struct context *context, uint64_t address,
			uint64_t bytes, uint32_t stream_id, const struct report_pool *pool);
void report_wait(uint32_t type, const struct context *context, uint32_t stream_id, void *stream,
		 uint32_t event_id, uint64_t start_ns, int result);
