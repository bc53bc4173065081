/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the records of a returning outermost call, of any vendor: the API row, the memory that the
 * call named, and the operation that it put into a stream. Also follows stream captures. For the
 * calling thread only, inside the call; no lock and no allocation, a system call only for a new
 * stack or thread.
 */
#pragma once

#include "inject/calls/call-table.h"
#include "inject/context.h"

/* A call at its return. */
struct ts_call_end {
	uint32_t domain; /* enum ts_api_domain; CUPTI's domain ids are the same numbers */
	uint32_t cbid;
	unsigned kind; /* enum ts_cupti_class */
	/* Domain of the row: `domain`, or the domain of a vendor that copied that interface. */
	uint32_t as_domain;
	const void *params; /* the call's structure of arguments; NULL: none */
	int32_t result;	    /* the vendor's; 0 is success */
	uint32_t context;   /* current context's id; 0: none */
	uint64_t time;	    /* of the return, in ticks; 0: now */
	bool is_untimed;    /* the call's work will have no row */
};

/*
 * Records the call that ts_tls.call describes: API row with stack, then the access. Returns the
 * time of the return in ticks of the producer's clock.
 */
uint64_t ts_call_record(struct ts_shim *shim, struct ts_thread *thread,
			const struct ts_call_end *end);

/*
 * Records a context or a stream, now. `type`: TS_RECORD_CONTEXT or TS_RECORD_STREAM. `object`: its
 * place, flags and action.
 */
void ts_call_record_object(struct ts_shim *shim, enum ts_record_type type,
			   const struct ts_record_object *object);

/* The place of an operation in a stream: the vendor's ids; `graph` is 0 without a graph. */
struct ts_call_place {
	uint32_t context, stream, graph;
};

/*
 * Records an event, a wait or a graph launch that the call put into a stream. `time`: of the
 * record.
 */
void ts_call_record_stream_op(struct ts_shim *shim, struct ts_thread *thread,
			      const struct ts_stream_op *op, const struct ts_call_place *place,
			      uint64_t time);

/*
 * Returns the key of a stream for stream captures, unique in the process. A per-thread stream has
 * the address of ts_tls. The legacy stream cannot be captured.
 */
uint64_t ts_call_stream_key(const void *stream, bool per_thread);

/*
 * True if the operation goes into a graph, because its stream is being captured. The device does
 * nothing then.
 */
bool ts_call_is_stream_captured(struct ts_shim *shim, const struct ts_stream_op *op);

/* Follows a call that begins (change 1) or ends (-1) a stream capture. `stream`: its key. */
void ts_call_count_stream_capture(struct ts_shim *shim, int change, bool failed, uint64_t stream);
