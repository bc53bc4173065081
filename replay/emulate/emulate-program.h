/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program in memory. Private to replay/emulate. Calls are ordered by start, and items by their
 * calls, which is issue order. Times are relative to the program's start.
 *
 * A run reads all items and calls, so these structs hold only what a run needs: an item is one line
 * of the cache. The arrays `recorded_items` and `recorded_calls`, with the same indices, hold the
 * facts of the trace. No edit changes them, so an edited copy of a program shares them.
 */
#pragma once

#include "proto/abi/vendor/cupti_activity.h"
#include "replay/emulate/emulate.h"
#include "replay/state/graph/largearray.h"
#include "replay/state/state-map.h"
#include "replay/streams/stream-kind.h"

#define TS_EMULATE_NONE UINT32_MAX
/* Upper bound of all times: a sum of two does not overflow. */
#define TS_EMULATE_MAX_NS (UINT64_C(1) << 59)

enum ts_emulate_item_kind {
	TS_EMULATE_OP = 1,
	/* an event record. RECORD, WAIT, OPEN and CLOSE are points: they take no time */
	TS_EMULATE_RECORD,
	TS_EMULATE_WAIT,  /* a stream's wait for an event */
	TS_EMULATE_OPEN,  /* in the launch's stream, before the nodes of a graph */
	TS_EMULATE_CLOSE, /* in the launch's stream, after the nodes of a graph */
	/*
	 * An item of an earlier window: see emulate-carry.c. It starts `launch_ns` after the
	 * program's start, waits for nothing, and occupies `demand` units of its engine.
	 */
	TS_EMULATE_SEED,
};

#define TS_EMULATE_ITEM_PAGEABLE (1u << 0)
/* graph node: its only predecessors are `other` and `inner` */
#define TS_EMULATE_ITEM_NODE   (1u << 1)
#define TS_EMULATE_ITEM_ORPHAN (1u << 2) /* call unknown */
#define TS_EMULATE_ITEM_ASYNC  (1u << 3)
#define TS_EMULATE_ITEM_BOUND  (1u << 4) /* another operation delayed it in the trace */
#define TS_EMULATE_ITEM_LOOSE \
	(1u << 5) /* in the trace, the item began before all its predecessors had ended */

/*
 * A kernel whose resident blocks keep a multiprocessor busy: twice the blocks take twice the time.
 */
#define TS_EMULATE_ITEM_DENSE (1u << 7)

/* An entry of a stream. */
struct ts_emulate_item {
	uint64_t duration_ns;
	uint64_t launch_ns; /* minimum time from its call's start to the item's start */
	uint64_t lag_ns;    /* time from the end of the item's predecessors to its start */
	uint64_t engine_ns; /* time from the engine's release to the item's start */
	uint32_t call;
	uint32_t stream; /* `stream` and `engine` are indices */
	uint32_t engine;
	uint32_t demand; /* units of the engine that the item occupies */
	/*
	 * WAIT: the item of the event record. CLOSE: the OPEN of the same launch. Nodes: a
	 * predecessor, OPEN or a node of the same launch.
	 */
	uint32_t other;
	uint32_t inner; /* nodes: a second predecessor */
	uint32_t name;
	uint8_t kind, type, copy_kind, flags;
};

_Static_assert(sizeof(struct ts_emulate_item) == 64, "an item is one line of the cache");

struct ts_emulate_recorded_item {
	/* A trace has no times of points: calibrate.c uses the end of all their predecessors. */
	uint64_t start_ns, end_ns;
	uint64_t op_id;
	union {
		uint64_t bytes; /* copies and memory sets; points: the event handle */
		/* kernels: blocks of the grid, and how many fit on a multiprocessor; 0: unknown */
		struct {
			uint32_t blocks, blocks_each;
		};
	};
};

enum ts_emulate_wait_kind {
	TS_EMULATE_WAIT_NONE = 0,
	TS_EMULATE_WAIT_OWN,	 /* for its own operations */
	TS_EMULATE_WAIT_STREAM,	 /* for the items in stream `wait_of` */
	TS_EMULATE_WAIT_CONTEXT, /* for the items in all streams of context `wait_of` */
	TS_EMULATE_WAIT_ITEM,	 /* for item `wait_of` */
};

#define TS_EMULATE_CALL_AWAITED (1u << 0) /* starts device work */
#define TS_EMULATE_CALL_SYNC	(1u << 1) /* only waits */
#define TS_EMULATE_CALL_PSEUDO	(1u << 2) /* issues items without a call; takes no time */
/* in the trace, items that the call waits for had not ended at the call's start */
#define TS_EMULATE_CALL_WAITED	(1u << 3)
#define TS_EMULATE_CALL_SKIPPED (1u << 4) /* removed by an edit */
#define TS_EMULATE_CALL_GUESSED (1u << 5) /* the wait is assumed, not recorded */
#define TS_EMULATE_CALL_LOOSE \
	(1u << 6) /* in the trace, the call returned before all that it waits for had ended */

struct ts_emulate_call {
	/*
	 * Time from the end of the thread's previous call to this call's start. For the first call:
	 * from the program's start.
	 */
	uint64_t gap_ns;
	uint64_t cost_ns; /* minimum duration */
	/* time from the end of the last item that the call waited for to the call's return */
	uint64_t wake_ns;
	uint32_t thread; /* index */
	uint32_t next;	 /* next call of the same thread */
	uint32_t first_item, n_items;
	uint32_t join; /* index; NONE: the call waits only for the previous call of its thread */
	uint32_t wait_of;
	uint32_t name; /* domain << 16 | cbid */
	uint8_t wait, flags;
};

struct ts_emulate_recorded_call {
	uint64_t start_ns, end_ns;
	uint64_t op_id;
};

/* Lets a call start after a call of another thread. */
struct ts_emulate_join {
	uint64_t gap_ns; /* time from the end of `after` to the call's start */
	uint32_t after;	 /* the call of the other thread */
};

struct ts_emulate_queue {
	uint32_t session, device, context_id, stream;
	uint32_t context; /* index */
	/* If an edit split the stream: the next part. Otherwise NONE. */
	uint32_t next_part;
	int32_t priority; /* on a full device, the queue with the lower number goes first */
	struct ts_stream_kind kind;
};

struct ts_emulate_context {
	uint32_t session;
	uint32_t legacy;   /* stream index */
	uint32_t *streams; /* stream indices, including the legacy one */
	uint32_t n_streams, n_allocated;
};

struct ts_emulate_thread {
	uint32_t session, thread;
	uint32_t first_call, last_call;
	/*
	 * The end of the thread's last call in earlier windows, in the trace and as emulated. A
	 * thread that begins in this window has those of its session's main thread. 0: none.
	 */
	uint64_t recorded_ns, start_ns;
	bool is_old;  /* the thread has calls in earlier windows */
	bool goes_on; /* the thread has calls in later windows */
};

/*
 * The large arrays of a program that an edit changes. Durations have an array of their own, and
 * changes of gaps a list, because most edits change only these.
 */
enum ts_emulate_changes {
	TS_EMULATE_CHANGES_CALLS = 1u << 0,
	TS_EMULATE_CHANGES_ITEMS = 1u << 1,
};

/*
 * Memory of the last run of a program, for its next run: the kernel would clear new memory, which
 * costs more than the simulation's own clearing. NULL: none.
 */
struct ts_emulate_spare {
	void *items, *calls;
};

struct ts_emulate_program {
	uint64_t base_ns; /* absolute */
	uint64_t end_ns;  /* recorded */
	struct ts_emulate_call *calls;
	struct ts_emulate_recorded_call *recorded_calls;
	size_t n_calls, n_pseudo;
	struct ts_emulate_item *items;
	struct ts_emulate_recorded_item *recorded_items;
	size_t n_items;
	/*
	 * A copy of a program for edits: the recorded arrays are the other program's, and so are
	 * the arrays `calls` and `items` that no edit changes (enum ts_emulate_changes).
	 */
	bool is_copy;
	unsigned changes;
	struct ts_emulate_spare *spare; /* of a copy: the other program's */
	/*
	 * The durations of items of a copy whose edits changed them. NULL: those of `items`. See
	 * ts_emulate_duration_ns().
	 */
	uint64_t *durations_ns;
	/*
	 * A copy that shares its calls has here the edits of all gaps, in order. The run applies
	 * them when it reads a gap: see ts_emulate_gap_ns(). The edits are the caller's.
	 */
	const struct ts_emulate_edit **gap_edits;
	size_t n_gap_edits, n_gap_edits_allocated;
	struct ts_emulate_join *joins;
	size_t n_joins, n_joins_allocated;
	struct ts_emulate_queue *queues;
	size_t n_queues, n_queues_allocated;
	struct ts_emulate_context *contexts;
	size_t n_contexts, n_contexts_allocated;
	struct ts_emulate_thread *threads;
	size_t n_threads, n_threads_allocated;
	struct ts_emulate_engine *engines;
	size_t n_engines, n_engines_allocated;
	uint32_t *by_start; /* operations by recorded start */
	size_t n_ops;
	/* cost of the call of a graph launch, and of the call of any other launch */
	uint64_t graph_cost_ns, launch_cost_ns;
	struct ts_emulate_doubts doubts;
	int (*step)(void *data, uint64_t done, uint64_t all); /* from the options */
	void *step_data;
};

#define TS_EMULATE_STEP 65536u

/* True for an event record, also for one of an earlier window. */
static inline bool ts_emulate_is_record(const struct ts_emulate_item *item)
{
	return item->kind == TS_EMULATE_RECORD ||
	       (item->kind == TS_EMULATE_SEED && item->type == TS_ROW_EVENT);
}

static inline uint64_t ts_emulate_duration_ns(const struct ts_emulate_program *program,
					      uint32_t item)
{
	return program->durations_ns ? program->durations_ns[item]
				     : program->items[item].duration_ns;
}

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

/* Rounds as llround(), which costs a call for each item. 0 <= value < TS_EMULATE_MAX_NS. */
static inline uint64_t ts_emulate_rounded(double value)
{
	int64_t whole = (int64_t)value;

	return (uint64_t)(whole + (value - (double)whole >= 0.5));
}

/* Returns the time that an edit of times makes of `ns`. */
static inline uint64_t ts_emulate_changed(const struct ts_emulate_edit *edit, uint64_t ns)
{
	double value = edit->is_time ? (double)edit->time_ns : (double)ns * edit->factor;

	return value < (double)TS_EMULATE_MAX_NS ? ts_emulate_rounded(value) : TS_EMULATE_MAX_NS;
}

static inline uint64_t ts_emulate_gap_ns(const struct ts_emulate_program *program,
					 const struct ts_emulate_call *call)
{
	uint64_t ns = call->gap_ns;

	if (call->flags & TS_EMULATE_CALL_PSEUDO)
		return ns;
	for (size_t i = 0; i < program->n_gap_edits; i++)
		ns = ts_emulate_changed(program->gap_edits[i], ns);
	return ns;
}

/* Returns enum ts_emulate_engine_kind. */
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

/* Resolution of device clocks: two consecutive operations may overlap by this much. */
#define TS_EMULATE_TICK_NS UINT64_C(1000)

/*
 * True if `item` waits for `before`. If several threads make calls at once, the trace does not
 * record the order of their items in a stream. So the emulation does not wait for an item that
 * started later in the trace.
 */
static inline bool ts_emulate_is_behind(const struct ts_emulate_program *program, uint32_t item,
					uint32_t before)
{
	return program->items[item].kind != TS_EMULATE_OP ||
	       program->recorded_items[before].end_ns <=
		       program->recorded_items[item].start_ns + TS_EMULATE_TICK_NS;
}

/*
 * Computes the values that depend on the whole program, which read.c made of rows. The caller
 * passes all calls in order to _call(), then makes the rest of the program, then calls _finish().
 * _call() leaves the end of each operation's predecessors in `lag_ns`. _new() returns NULL if
 * memory is short; the others return 0 or -ENOMEM.
 */
struct ts_emulate_calibration;

struct ts_emulate_calibration *ts_emulate_calibration_new(struct ts_emulate_program *program);
void ts_emulate_calibration_free(struct ts_emulate_calibration *calibration); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_emulate_calibration *, ts_emulate_calibration_freep,
		  ts_emulate_calibration_free)
int ts_emulate_calibrate_call(struct ts_emulate_calibration *calibration, uint32_t call);
int ts_emulate_calibrate_finish(struct ts_emulate_calibration *calibration);
/*
 * Resolves calls that wait for an item: replaces the vendor's event number in `wait_of` by the
 * record's item. `calls` lists, in order, the calls that record an event or wait for one. Returns 0
 * or -ENOMEM.
 */
int ts_emulate_find_events(struct ts_emulate_program *program, const uint32_t *calls,
			   size_t n_calls);

/* Returns the set of arrays (enum ts_emulate_changes) that the edit changes. */
unsigned ts_emulate_edit_changes(const struct ts_emulate_edit *edit);
/*
 * Copies the parts that these edits change. The copy shares the rest: free it before the program.
 * Returns 0 or -ENOMEM.
 */
int ts_emulate_copy(const struct ts_emulate_program *program, const struct ts_emulate_edit *edits,
		    size_t n_edits, struct ts_emulate_program **ret_copy);
/* Applies an edit to a copy that was made for it. Errors as in ts_emulate_run(). */
int ts_emulate_edit(struct ts_emulate_program *program, const struct ts_emulate_edit *edit,
		    const struct ts_emulate_names *names, uint64_t *n_edited, char *ret_message);

/*
 * Visits the predecessors of `item`: the items that must end before it starts. `tails` holds the
 * last issued item of each stream; the caller issues the calls in order.
 */
static inline __attribute__((always_inline)) void ts_emulate_visit(
	const struct ts_emulate_program *program, const uint32_t *tails, uint32_t item,
	void (*visit)(void *user, uint32_t before), void *user)
{
	const struct ts_emulate_item *its = &program->items[item];
	const struct ts_emulate_queue *queue;
	const struct ts_emulate_context *context;

	if (its->kind == TS_EMULATE_SEED)
		return;
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

/* Visits the items that a call waits for, after its own items are issued. */
static inline __attribute__((always_inline)) void ts_emulate_visit_waited(
	const struct ts_emulate_program *program, const uint32_t *tails,
	const struct ts_emulate_call *call, void (*visit)(void *user, uint32_t before), void *user)
{
	const struct ts_emulate_queue *queue = NULL; /* NULL: all streams of the context */
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
