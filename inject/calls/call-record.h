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
#include "proto/abi/vendor/cupti_cbid.h"

/* The handles by which CUDA and HIP name the null streams. */
#define TS_CALL_STREAM_LEGACY	  1u
#define TS_CALL_STREAM_PER_THREAD 2u

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

/* Counts a missing or incomplete stack. `flags`: TS_STACK_*. */
void ts_call_count_stack(struct ts_thread *thread, uint32_t flags);

/* Returns the stack of the calling thread, if stacks are recorded. */
static inline uint32_t ts_call_stack(struct ts_shim *shim, struct ts_thread *thread)
{
	uint32_t flags = 0;
	uint32_t stack;

	/* The settings of the process and the daemon's command can each disable stacks. */
	if (!shim->config.stacks ||
	    !(__atomic_load_n(&shim->control->command, __ATOMIC_RELAXED) & TS_COMMAND_STACKS))
		return TS_ID_UNKNOWN;
	stack = ts_stack_capture(&shim->stacks, &shim->definitions, &thread->stacks, &flags);
	if (ts_unlikely(flags))
		ts_call_count_stack(thread, flags);
	return stack;
}

/*
 * Writes the API row of the call that ts_tls.call describes. `flags`: TS_API_*. `clock`: the
 * session's. `time`: of the return. Inlined, so that a caller that knows the kind of call pays only
 * for what this kind needs.
 */
static inline __attribute__((always_inline)) void ts_call_write_row(
	struct ts_shim *shim, struct ts_thread *thread, const struct ts_call_end *end,
	uint16_t flags, enum ts_clock clock, uint64_t time)
{
	const struct ts_call *call = &ts_tls.call;
	/*
	 * The stack is captured at exit, so that unwinding does not delay the launch. Frameworks
	 * set the current device before nearly every call, so calls of class CONTEXT get no stack.
	 */
	const uint32_t stack =
		end->kind == TS_CUPTI_CLASS_CONTEXT ? TS_ID_UNKNOWN : ts_call_stack(shim, thread);
	struct ts_record_api *out;

	out = ts_thread_reserve(thread, TS_RECORD_API, sizeof(*out), clock, call->enter);
	if (ts_unlikely(!out))
		return;
	out->record.flags = flags;
	out->end = time;
	out->op_id = call->op_id;
	out->nested_op_id = call->nested ? ts_widen(&shim->widen, call->nested) : 0;
	out->stack = stack;
	out->domain = (uint16_t)end->as_domain;
	out->cbid = (uint16_t)end->cbid;
	out->result = end->result;
	out->context = end->context;
	ts_thread_commit(thread, sizeof(*out));
}

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
static inline uint64_t ts_call_stream_key(const void *stream, bool per_thread)
{
	const uint64_t handle = (uint64_t)(uintptr_t)stream;

	if (handle == TS_CALL_STREAM_PER_THREAD || (!handle && per_thread))
		return (uint64_t)(uintptr_t)&ts_tls;
	return handle ? handle : TS_CALL_STREAM_LEGACY;
}

/*
 * True if the operation goes into a graph, because its stream is being captured. The device does
 * nothing then.
 */
bool ts_call_is_stream_captured(struct ts_shim *shim, const struct ts_stream_op *op);

/* Follows a call that begins (change 1) or ends (-1) a stream capture. `stream`: its key. */
void ts_call_count_stream_capture(struct ts_shim *shim, int change, bool failed, uint64_t stream);
