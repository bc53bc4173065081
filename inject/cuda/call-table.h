/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shim knows of CUDA's calls by their callback ids: which to watch, which make device rows, and which put
 * an event, a wait or a graph into a stream. Looks at arguments, inside the callback only. No state.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/vendor/cupti.h"

/* enum ts_cupti_class: what kind of call it is. One look at a table. */
unsigned ts_call_table_class(uint32_t domain, uint32_t cbid);

/* Whether the call is worth a callback at all. domain: enum ts_cupti_domain, driver or runtime. */
bool ts_call_table_watched(uint32_t domain, uint32_t cbid);

/* Whether it has to be seen even while nothing is recorded: it changes what calls mean that come later. */
bool ts_call_table_followed(uint32_t domain, uint32_t cbid);

/* One past the highest id of the domain that is known. */
uint32_t ts_call_table_n(uint32_t domain);

/*
 * Whether the call, having succeeded outside of a capture, is certain to have made device rows. What can also be
 * done by the host alone (a copy of unknown direction, or of nothing) is not certain.
 */
bool ts_call_table_expect_device(uint32_t domain, uint32_t cbid, const void *params);

/* Whether the kernel that is launched may begin before the one in front of it in its stream is over, by the launch's attributes. */
bool ts_call_table_may_begin_early(uint32_t domain, uint32_t cbid, const void *params);

/* +1: begins to capture a stream, -1: ends it, 0: neither. */
int ts_call_table_stream_capture(uint32_t domain, uint32_t cbid);
/* Of such a call: which one, and whether a null stream means the thread's own. */
void *ts_call_table_captured_stream(uint32_t domain, uint32_t cbid, const void *params,
				    bool *ret_per_thread);

enum ts_stream_op_kind {
	TS_STREAM_OP_NONE = 0,
	TS_STREAM_OP_EVENT,
	TS_STREAM_OP_WAIT,
	TS_STREAM_OP_HOST, /* waits for what the host does: a function, a word in memory */
	TS_STREAM_OP_GRAPH,
};

struct ts_stream_op {
	enum ts_stream_op_kind kind;
	void *stream;	 /* as the application passed it */
	bool per_thread; /* a null stream means the thread's own */
	void *object;	 /* event, or executable graph; NULL: none */
	uint32_t flags;
};

struct ts_stream_op ts_call_table_stream_op(uint32_t domain, uint32_t cbid, const void *params);

/* Whether it creates a stream, and with which flags (the driver's) and priority. */
bool ts_call_table_stream_create(uint32_t domain, uint32_t cbid, const void *params,
				 uint32_t *ret_flags, int32_t *ret_priority);
