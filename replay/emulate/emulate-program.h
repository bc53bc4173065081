/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Within replay/emulate: a program as it is in memory. Calls are in the order in which they began, items in that of their calls: the
 * order in which they are issued. Times are relative to the program's start.
 */
#pragma once

#include "proto/abi/vendor/cupti_activity.h"
#include "replay/emulate/emulate.h"
#include "replay/state/graph/largearray.h"
#include "replay/state/state-map.h"
#include "replay/streams/stream-kind.h"

#define TS_EMULATE_NONE UINT32_MAX
/* No time is longer: sums of two of them do not overflow. */
#define TS_EMULATE_MAX_NS (UINT64_C(1) << 59)

enum ts_emulate_item_kind {
	TS_EMULATE_OP = 1,
	TS_EMULATE_RECORD, /* of an event; like all points it takes no time */
	TS_EMULATE_WAIT,   /* of a stream for an event */
	TS_EMULATE_OPEN,   /* stands in the stream before the nodes of a graph, */
	TS_EMULATE_CLOSE,  /* and behind them */
};

#define TS_EMULATE_ITEM_PAGEABLE (1u << 0)
#define TS_EMULATE_ITEM_NODE	 (1u << 1) /* of a graph: stands behind `other` and `inner` alone */
#define TS_EMULATE_ITEM_ORPHAN	 (1u << 2) /* its call is not known */
#define TS_EMULATE_ITEM_ASYNC	 (1u << 3)
#define TS_EMULATE_ITEM_BOUND	 (1u << 4) /* was held up by another operation, in the trace */
#define TS_EMULATE_ITEM_LOOSE \
	(1u << 5) /* began before some of what it should stand behind was over */

#define TS_EMULATE_ITEM_TIED \
	(1u << 6) /* began when the operation did that came before; while the program is made */

/* A kernel whose blocks, where many are on a multiprocessor, keep it busy: they share its throughput. */
#define TS_EMULATE_ITEM_DENSE (1u << 7)

/* Something that is put into a stream. */
struct ts_emulate_item {
	uint64_t start_ns, end_ns; /* recorded; of points found: when all before them was over */
	uint64_t duration_ns;
	uint64_t launch_ns; /* from its call's beginning to its start, at least */
	uint64_t lag_ns;    /* from the end of what it stood behind to its start */
	uint64_t engine_ns; /* from when its engine was free to its start */
	uint64_t op_id;
	uint64_t bytes; /* points: the event's handle */
	uint32_t call;
	uint32_t stream; /* index, as the next */
	uint32_t engine;
	uint32_t demand; /* what it takes of the engine */
	uint32_t
		other; /* WAIT: the record's item; CLOSE: its OPEN; nodes: an item of the launch, OPEN or node */
	uint32_t inner; /* nodes: another of them */
	uint32_t name;
	uint32_t blocks,
		blocks_each; /* kernels: blocks of the grid; that fit on a multiprocessor; 0: not known */
	uint8_t kind, type, copy_kind, flags;
};

enum ts_emulate_wait_kind {
	TS_EMULATE_WAIT_NONE = 0,
	TS_EMULATE_WAIT_OWN,	 /* for its own operations */
	TS_EMULATE_WAIT_STREAM,	 /* for what is in the stream `wait_of` by then */
	TS_EMULATE_WAIT_CONTEXT, /* for what is in all streams of the context `wait_of` */
	TS_EMULATE_WAIT_ITEM,	 /* for the item `wait_of` */
};

#define TS_EMULATE_CALL_AWAITED (1u << 0) /* it made a device work */
#define TS_EMULATE_CALL_SYNC	(1u << 1) /* does nothing but wait */
#define TS_EMULATE_CALL_PSEUDO	(1u << 2) /* issues what has no call; takes no time */
#define TS_EMULATE_CALL_WAITED	(1u << 3) /* what it waits for was not over when it began */
#define TS_EMULATE_CALL_SKIPPED (1u << 4) /* an edit: it is not made */
#define TS_EMULATE_CALL_GUESSED (1u << 5) /* that it waits is not in the trace */
#define TS_EMULATE_CALL_LOOSE \
	(1u << 6) /* returned before some of what it should wait for was over */

struct ts_emulate_call {
	uint64_t start_ns, end_ns; /* recorded */
	uint64_t
		gap_ns; /* from the end of the thread's call before; the first: from the program's start */
	uint64_t after_gap_ns; /* from the end of the call `after` */
	uint64_t cost_ns;      /* what it takes at least */
	uint64_t wake_ns;      /* from the end of what it waited for to its return */
	uint64_t op_id;
	uint32_t thread; /* index */
	uint32_t next;	 /* of its thread */
	uint32_t first_item, n_items;
	uint32_t after; /* a call of another thread that has to be over */
	uint32_t wait_of;
	uint32_t name; /* domain << 16 | cbid */
	uint8_t wait, flags;
};

struct ts_emulate_queue {
	uint32_t session, device, context_id, stream;
	uint32_t context;   /* index */
	uint32_t next_part; /* of a stream that an edit split: another part; NONE */
	int32_t priority;   /* the lower goes first where a device is full */
	struct ts_stream_kind kind;
};

struct ts_emulate_context {
	uint32_t session;
	uint32_t legacy;   /* the stream's index */
	uint32_t *streams; /* its streams' indices; the legacy one too */
	uint32_t n_streams, n_allocated;
};

struct ts_emulate_thread {
	uint32_t session, thread;
	uint32_t first_call, last_call;
};

struct ts_emulate_program {
	uint64_t base_ns; /* absolute */
	uint64_t end_ns;  /* recorded */
	struct ts_emulate_call *calls;
	size_t n_calls, n_calls_allocated;
	struct ts_emulate_item *items;
	size_t n_items;
	struct ts_emulate_queue *queues;
	size_t n_queues, n_queues_allocated;
	struct ts_emulate_context *contexts;
	size_t n_contexts, n_contexts_allocated;
	struct ts_emulate_thread *threads;
	size_t n_threads, n_threads_allocated;
	struct ts_emulate_engine *engines;
	size_t n_engines, n_engines_allocated;
	uint32_t *by_start; /* operations, in the order of their recorded start */
	size_t n_ops;
	uint64_t graph_cost_ns, launch_cost_ns; /* of calls that launch a graph, anything else */
	struct ts_emulate_doubts doubts;
	int (*step)(void *data, uint64_t done, uint64_t all); /* as the options have it */
	void *step_data;
};

#define TS_EMULATE_STEP 65536u

static inline uint64_t ts_emulate_add(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns + b_ns < TS_EMULATE_MAX_NS ? a_ns + b_ns : TS_EMULATE_MAX_NS;
}

static inline uint64_t ts_emulate_less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t ts_emulate_more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* enum ts_emulate_engine_kind. */
static inline uint32_t ts_emulate_engine_of(uint32_t type, uint32_t copy_kind)
{
	if (type == TS_ROW_KERNEL)
		return TS_EMULATE_COMPUTE;
	if (type == TS_ROW_MEMSET)
		return TS_EMULATE_MEMSET;
	switch (copy_kind) {
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
		return TS_EMULATE_H2D;
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
		return TS_EMULATE_D2H;
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
		return TS_EMULATE_PEER;
	default:
		return TS_EMULATE_D2D;
	}
}

/* Clocks of devices tick: two operations may overlap by so much that were one behind the other. */
#define TS_EMULATE_TICK_NS UINT64_C(1000)

/*
 * Threads that make calls at once put things into streams in an order that is not recorded. What the trace shows to have been the
 * other way round is not waited for.
 */
static inline bool ts_emulate_is_behind(const struct ts_emulate_item *item,
					const struct ts_emulate_item *before)
{
	return item->kind != TS_EMULATE_OP || before->end_ns <= item->start_ns + TS_EMULATE_TICK_NS;
}

/*
 * read.c made the program of rows; this fills in what only follows from all of it. -ENOMEM. Engines are found on the way, once
 * `lag_ns` of each operation says when what it stood behind was over.
 */
int ts_emulate_calibrate(struct ts_emulate_program *program);
int ts_emulate_find_engines(struct ts_emulate_program *program);
/*
 * Of calls that wait for an item: from the vendor's number for the event in `wait_of` to its record. `calls` are those that record an event
 * or wait for one, in order. -ENOMEM.
 */
int ts_emulate_find_events(struct ts_emulate_program *program, const uint32_t *calls,
			   size_t n_calls);

/* Of a copy of the program. As ts_emulate_run(). */
int ts_emulate_edit(struct ts_emulate_program *program, const struct ts_emulate_edit *edit,
		    const struct ts_emulate_names *names, uint64_t *n_edited, char *ret_message);

/*
 * What stands where in the streams while calls are made one after the other: `tails` has the last item of each stream. `visit` is
 * called for each item that the one given stands behind.
 */
static inline __attribute__((always_inline)) void ts_emulate_visit(
	const struct ts_emulate_program *program, const uint32_t *tails, uint32_t item,
	void (*visit)(void *user, uint32_t before), void *user)
{
	const struct ts_emulate_item *its = &program->items[item];
	const struct ts_emulate_queue *queue;
	const struct ts_emulate_context *context;

	if (its->other != TS_EMULATE_NONE && its->kind != TS_EMULATE_CLOSE)
		visit(user, its->other);
	if (its->flags & TS_EMULATE_ITEM_NODE) {
		if (its->inner != TS_EMULATE_NONE)
			visit(user, its->inner);
		return;
	}
	if (its->kind == TS_EMULATE_CLOSE) {
		for (uint32_t i = its->other; i < item; i++)
			visit(user, i);
		return;
	}
	queue = &program->queues[its->stream];
	if (tails[its->stream] != TS_EMULATE_NONE)
		visit(user, tails[its->stream]);
	if (queue->kind.is_non_blocking)
		return;
	context = &program->contexts[queue->context];
	if (ts_stream_is_tied_to_legacy(&queue->kind)) {
		if (context->legacy != TS_EMULATE_NONE && tails[context->legacy] != TS_EMULATE_NONE)
			visit(user, tails[context->legacy]);
		return;
	}
	for (uint32_t i = 0; i < context->n_streams; i++) {
		uint32_t other = context->streams[i];

		if (ts_streams_are_tied(&queue->kind, &program->queues[other].kind) &&
		    tails[other] != TS_EMULATE_NONE)
			visit(user, tails[other]);
	}
}

/* The same for what a call waits for, once its items are issued. */
static inline __attribute__((always_inline)) void ts_emulate_visit_waited(
	const struct ts_emulate_program *program, const uint32_t *tails,
	const struct ts_emulate_call *call, void (*visit)(void *user, uint32_t before), void *user)
{
	const struct ts_emulate_queue *queue = NULL; /* of all of the context */
	const struct ts_emulate_context *context;

	switch (call->wait) {
	case TS_EMULATE_WAIT_OWN:
		for (uint32_t i = 0; i < call->n_items; i++)
			visit(user, call->first_item + i);
		return;
	case TS_EMULATE_WAIT_ITEM:
		visit(user, call->wait_of);
		return;
	case TS_EMULATE_WAIT_STREAM:
		queue = &program->queues[call->wait_of];
		for (uint32_t part = call->wait_of; part != TS_EMULATE_NONE;
		     part = program->queues[part].next_part)
			if (tails[part] != TS_EMULATE_NONE)
				visit(user, tails[part]);
		if (!queue->kind.is_legacy)
			return;
		context = &program->contexts[queue->context];
		break;
	case TS_EMULATE_WAIT_CONTEXT:
		context = &program->contexts[call->wait_of];
		break;
	default:
		return;
	}
	for (uint32_t i = 0; i < context->n_streams; i++) {
		uint32_t other = context->streams[i];

		if (tails[other] != TS_EMULATE_NONE &&
		    (!queue || ts_stream_wait_covers(&queue->kind, &program->queues[other].kind)))
			visit(user, tails[other]);
	}
}
