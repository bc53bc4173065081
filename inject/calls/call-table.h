/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of CUDA's calls by callback id: calls to watch, calls that make device rows, and calls
 * that put an event, a wait or a graph into a stream. Parameters are read inside the callback only.
 * No state.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/vendor/cupti.h"

/* Returns the class of a call: enum ts_cupti_class. One table access. */
unsigned ts_call_table_class(uint32_t domain, uint32_t cbid);

/* True if the call needs a callback. domain: enum ts_cupti_domain, driver or runtime. */
bool ts_call_table_watched(uint32_t domain, uint32_t cbid);

/*
 * True if the call needs a callback even while recording is stopped, because it affects later
 * calls.
 */
bool ts_call_table_followed(uint32_t domain, uint32_t cbid);

/* Returns the highest known id of the domain plus 1. */
uint32_t ts_call_table_n(uint32_t domain);

/*
 * True if the call certainly made device rows, provided that it succeeded and no stream capture was
 * active. A call that the host alone may complete (a copy of unknown direction or of 0 bytes) is
 * not certain.
 */
bool ts_call_table_expect_device(uint32_t domain, uint32_t cbid, const void *params);

/*
 * True if the launch's attributes let the kernel begin before the previous kernel in its stream
 * ends.
 */
bool ts_call_table_may_begin_early(uint32_t domain, uint32_t cbid, const void *params);

/* Returns +1 if the call begins a stream capture, -1 if it ends one, 0 otherwise. */
int ts_call_table_stream_capture(uint32_t domain, uint32_t cbid);
/* Returns the stream of such a call. *ret_per_thread: a NULL stream is the per-thread one. */
void *ts_call_table_captured_stream(uint32_t domain, uint32_t cbid, const void *params,
				    bool *ret_per_thread);

enum ts_stream_op_kind {
	TS_STREAM_OP_NONE = 0,
	TS_STREAM_OP_EVENT,
	TS_STREAM_OP_WAIT,
	TS_STREAM_OP_HOST, /* waits for the host: a function, a word in memory */
	TS_STREAM_OP_GRAPH,
};

struct ts_stream_op {
	enum ts_stream_op_kind kind;
	void *stream;	 /* as the application passed it */
	bool per_thread; /* a NULL stream is the per-thread one */
	void *object;	 /* the event or the executable graph of the call; NULL: it has neither */
	uint32_t flags;
};

/* Returns the operation that a call puts into a stream; kind TS_STREAM_OP_NONE if there is none. */
struct ts_stream_op ts_call_table_stream_op(uint32_t domain, uint32_t cbid, const void *params);

/* True if the call creates a stream. Writes the stream's flags (the driver's) and priority. */
bool ts_call_table_stream_create(uint32_t domain, uint32_t cbid, const void *params,
				 uint32_t *ret_flags, int32_t *ret_priority);
