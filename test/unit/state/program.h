/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small GPU programs, and a reference that runs them nanosecond by nanosecond with the rules alone.
 * The reference has no graph, no dependencies and no joins; it looks at every item at every
 * instant. Tests compare it with the state machine's result for the rows that such a run would
 * leave in a trace.
 */
#pragma once

#include "replay/state/state.h"

#include <stdlib.h>

#define PROGRAM_MAX_ITEMS 24
#define PROGRAM_MAX_ROWS  (4 * PROGRAM_MAX_ITEMS + 8)
#define PROGRAM_STREAMS	  4 /* 0: legacy default; 1, 2: blocking; 3: non-blocking */
#define PROGRAM_ALL \
	7 /* with those of a second context; 4: legacy default; 5: blocking; 6: non-blocking */
#define PROGRAM_EVENTS	3
#define PROGRAM_BLOCKS	3
#define PROGRAM_CONTEXT 1
#define PROGRAM_SESSION 1

enum item_kind {
	ITEM_OP,
	ITEM_COPY,  /* the host waits until the copy is complete */
	ITEM_GRAPH, /* a launch with two nodes, which begin together or later_ns apart */
	ITEM_RECORD,
	ITEM_WAIT,
	ITEM_HOST, /* a host function that the stream waits for; no trace has its time */
	ITEM_ALLOC,
	ITEM_FREE,
	ITEM_SYNC_STREAM,
	ITEM_SYNC_DEVICE, /* waits for the stream's context */
	ITEM_SYNC_EVENT,
};

/*
 * Item i has operation id i + 1. Its call ends before the next call begins: if one call waits, the
 * later calls are delayed.
 */
struct item {
	enum item_kind kind;
	unsigned int stream, object; /* object: the event, or the memory block */
	uint64_t call_ns, call_end_ns;
	uint64_t latency_ns, duration_ns; /* operations, functions: at least a nanosecond each */
	uint64_t start_ns, done_ns;	  /* computed by the reference */
	uint64_t later_ns;		  /* graph launches: delay of the second node */
	uint64_t told_ns;     /* graph launches: time of the launch's row; 0: at its call */
	uint64_t ready_ns;    /* limited devices: when only the device's limit held the item */
	bool may_begin_early; /* before its predecessor in the stream has ended */
};

struct program {
	struct item items[PROGRAM_MAX_ITEMS];
	unsigned int n_items;
	/*
	 * Each context has a device that runs n_at_once operations at a time, the most urgent ready
	 * ones first; 0: each operation has its own device.
	 */
	unsigned int n_at_once;
	bool has_limits; /* the trace has the limits of these devices */
	int priorities[PROGRAM_ALL];
	struct ts_sbt_row rows[PROGRAM_MAX_ROWS];
	unsigned int n_rows;
	union {
		struct ts_row_api api;
		struct ts_row_kernel kernel;
		struct ts_row_memcpy memcpy_;
		struct ts_row_sync sync;
		struct ts_row_event event;
		struct ts_row_stream_wait wait;
		struct ts_row_stream stream;
		struct ts_row_memory memory;
		struct ts_row_graph_launch graph_launch;
	} storage[PROGRAM_MAX_ROWS];
};

#define PROGRAM_HANDLE(event)  (UINT64_C(0xe000) + (event))
#define PROGRAM_ADDRESS(block) (UINT64_C(0x10000) * (1 + (block)))
#define NOT_YET		       UINT64_MAX

static inline bool program_is_over(const struct item *item, uint64_t t)
{
	return item->done_ns <= t;
}

static inline uint32_t program_context(unsigned int stream)
{
	return PROGRAM_CONTEXT + (stream >= PROGRAM_STREAMS);
}

/* True if the item runs on a device. */
static inline bool program_works(const struct item *item)
{
	return item->kind <= ITEM_GRAPH;
}

/* True if the item has a place in a stream. */
static inline bool program_is_queued(const struct item *item)
{
	return item->kind <= ITEM_HOST;
}

static inline bool program_lasts(const struct item *item)
{
	return program_works(item) || item->kind == ITEM_HOST;
}

static inline bool program_waits(const struct item *item)
{
	return item->kind == ITEM_COPY || item->kind >= ITEM_SYNC_STREAM;
}

/* True if stream `a` waits for earlier items of `b`. */
static inline bool program_follows(unsigned int a, unsigned int b)
{
	bool is_legacy = a == 0 || b == 0 || a == 4 || b == 4;
	bool is_non_blocking = a == 3 || b == 3 || a == 6 || b == 6;

	if (program_context(a) != program_context(b))
		return false;
	return a == b || (is_legacy && !is_non_blocking);
}

/* Returns the last record of the item's event before the item; NULL: none. */
static inline const struct item *program_record(const struct program *program, unsigned int i)
{
	unsigned int event = program->items[i].object;

	while (i-- > 0)
		if (program->items[i].kind == ITEM_RECORD && program->items[i].object == event)
			return &program->items[i];
	return NULL;
}

/*
 * True if a predecessor of the item was not over at t, whatever the item's own call and latency
 * are.
 */
static inline bool program_is_held(const struct program *program, unsigned int i, uint64_t t)
{
	const struct item *item = &program->items[i];
	const struct item *record = item->kind == ITEM_WAIT ? program_record(program, i) : NULL;

	for (unsigned int j = 0; j < i; j++) {
		const struct item *other = &program->items[j];

		if (program_is_queued(other) && program_follows(item->stream, other->stream) &&
		    !program_is_over(other, t))
			return true;
	}
	return record && !program_is_over(record, t);
}

/* True if the host, in the call of item i, still waits at t. */
static inline bool program_blocks(const struct program *program, unsigned int i, uint64_t t)
{
	const struct item *item = &program->items[i];
	const struct item *record =
		item->kind == ITEM_SYNC_EVENT ? program_record(program, i) : NULL;

	if (item->kind == ITEM_COPY)
		return !program_is_over(item, t);
	for (unsigned int j = 0; j < i && item->kind < ITEM_SYNC_EVENT; j++) {
		const struct item *other = &program->items[j];

		if (program_is_queued(other) && !program_is_over(other, t) &&
		    program_context(other->stream) == program_context(item->stream) &&
		    (item->kind == ITEM_SYNC_DEVICE || other->stream == item->stream))
			return true;
	}
	return record && !program_is_over(record, t);
}

/*
 * Advances the host at time t: if a call still waits, moves its end and all later calls by a
 * nanosecond.
 */
static inline void program_call(struct program *program, uint64_t t)
{
	uint64_t late_ns = 0;

	for (unsigned int i = 0; i < program->n_items; i++) {
		struct item *item = &program->items[i];

		if (late_ns) {
			item->call_ns += late_ns;
			item->call_end_ns += late_ns;
		} else if (item->call_ns <= t && item->call_end_ns == t && program_waits(item) &&
			   program_blocks(program, i, t)) {
			late_ns = 1;
			item->call_end_ns++;
		}
	}
}

/* Returns the number of operations that run at t on a context's device. */
static inline unsigned int program_n_running(const struct program *program, uint32_t context,
					     uint64_t t)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < program->n_items; i++) {
		const struct item *item = &program->items[i];

		n += item->kind == ITEM_OP && program_context(item->stream) == context &&
		     item->start_ns <= t && item->done_ns > t;
	}
	return n;
}

/* Returns the operation that begins next at t on a limited device. NULL: none can begin. */
static inline struct item *program_next(struct program *program, uint32_t context, uint64_t t)
{
	struct item *best = NULL;

	if (program_n_running(program, context, t) >= program->n_at_once)
		return NULL;
	for (unsigned int i = 0; i < program->n_items; i++) {
		struct item *item = &program->items[i];

		if (item->kind != ITEM_OP || program_context(item->stream) != context ||
		    item->start_ns != NOT_YET || item->ready_ns > t)
			continue;
		if (!best ||
		    program->priorities[item->stream] < program->priorities[best->stream] ||
		    (program->priorities[item->stream] == program->priorities[best->stream] &&
		     item->ready_ns < best->ready_ns))
			best = item;
	}
	return best;
}

static inline void program_start(struct item *item, uint64_t t)
{
	item->start_ns = t;
	item->done_ns = t + (program_lasts(item) ? item->duration_ns : 0);
}

/* Runs the program: fills start_ns and done_ns. */
static inline void program_run(struct program *program)
{
	uint64_t last_ns = 0;

	for (unsigned int i = 0; i < program->n_items; i++)
		program->items[i].start_ns = program->items[i].done_ns =
			program->items[i].ready_ns = NOT_YET;
	for (uint64_t t = 0; t <= last_ns; t++) {
		last_ns = 0;
		for (unsigned int i = 0; i < program->n_items; i++) {
			struct item *item = &program->items[i];
			uint64_t ready_ns =
				item->kind == ITEM_COPY ? item->call_ns : item->call_end_ns;

			ready_ns += program_lasts(item) ? item->latency_ns : 0;
			if (program_is_queued(item) && item->start_ns == NOT_YET && t >= ready_ns &&
			    !program_is_held(program, i, t)) {
				item->ready_ns = item->ready_ns < t ? item->ready_ns : t;
				if (!program->n_at_once || item->kind != ITEM_OP)
					program_start(item, t);
			}
		}
		for (uint32_t k = 0; k < 2; k++) {
			struct item *next;

			while ((next = program_next(program, PROGRAM_CONTEXT + k, t)))
				program_start(next, t);
		}
		program_call(program, t);
		for (unsigned int i = 0; i < program->n_items; i++) {
			const struct item *item = &program->items[i];
			uint64_t end_ns = !program_is_queued(item)   ? item->call_end_ns
					  : item->done_ns == NOT_YET ? t + 1
								     : item->done_ns;

			last_ns = end_ns > last_ns ? end_ns : last_ns;
		}
	}
	for (unsigned int i = 0; i < program->n_items; i++)
		if (!program_is_queued(&program->items[i]))
			program->items[i].start_ns = program->items[i].done_ns =
				program->items[i].call_end_ns;
}

static inline int program_compare_rows(const void *a, const void *b)
{
	const struct ts_sbt_row *x = a, *y = b;
	uint64_t s = ts_row_start_ns(x->any), t = ts_row_start_ns(y->any);

	if (s != t)
		return s < t ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->any < y->any ? -1 : 1;
}

static inline void program_add_row(struct program *program, unsigned int type)
{
	program->rows[program->n_rows] =
		(struct ts_sbt_row){.type = type,
				    .session = PROGRAM_SESSION,
				    .schema = ts_row_schema(type),
				    .any = &program->storage[program->n_rows]};
	program->n_rows++;
}

/* Returns the end of node n of a graph launch; node 0 ends last. For an operation, n is 0. */
static inline uint64_t program_node_end_ns(const struct item *item, unsigned int n)
{
	return item->done_ns - (n ? (item->done_ns - item->start_ns) / 2 : 0);
}

static inline unsigned int program_n_nodes(const struct item *item)
{
	return item->kind == ITEM_GRAPH ? 2 : program_works(item);
}

static inline void program_add_sync(struct program *program, unsigned int i)
{
	static const uint32_t types[] = {3, 4,
					 1}; /* in CUPTI's numbering: stream, context, event */
	const struct item *item = &program->items[i];

	program->storage[program->n_rows].sync =
		(struct ts_row_sync){.start_ns = item->call_ns,
				     .end_ns = item->call_end_ns,
				     .op_id = i + 1,
				     .sync_type = types[item->kind - ITEM_SYNC_STREAM],
				     .context = program_context(item->stream),
				     .stream = item->kind == ITEM_SYNC_STREAM ? item->stream
									      : TS_NO_DEVICE};
	program_add_row(program, TS_ROW_SYNC);
}

/*
 * Adds the rows of an operation. Unless the program limits devices, each operation has its own
 * device, where no engine is ever busy.
 */
static inline void program_add_work(struct program *program, unsigned int i)
{
	const struct item *item = &program->items[i];
	uint32_t context = program_context(item->stream);

	if (item->kind == ITEM_COPY) {
		program->storage[program->n_rows].memcpy_ =
			(struct ts_row_memcpy){.start_ns = item->start_ns,
					       .end_ns = item->done_ns,
					       .op_id = i + 1,
					       .device = i,
					       .context = context,
					       .stream = item->stream};
		program_add_row(program, TS_ROW_MEMCPY);
		return;
	}
	if (item->kind == ITEM_GRAPH) {
		program->storage[program->n_rows].graph_launch =
			(struct ts_row_graph_launch){.start_ns = item->told_ns ? item->told_ns
									       : item->call_ns,
						     .op_id = i + 1,
						     .context = context,
						     .stream = item->stream,
						     .graph = 5};
		program_add_row(program, TS_ROW_GRAPH_LAUNCH);
	}
	for (unsigned int n = 0; n < program_n_nodes(item); n++) {
		bool is_node = item->kind == ITEM_GRAPH;

		program->storage[program->n_rows].kernel =
			(struct ts_row_kernel){.start_ns = item->start_ns + n * item->later_ns,
					       .end_ns = program_node_end_ns(item, n),
					       .op_id = i + 1,
					       .device = program->n_at_once ? context : i,
					       .context = context,
					       .stream = is_node ? 20 + n : item->stream,
					       .graph = is_node ? 5 : 0,
					       .graph_node = is_node ? 1 + n : 0,
					       .grid_x = 1,
					       .grid_y = 1,
					       .grid_z = 1,
					       .block_x = 32,
					       .block_y = 1,
					       .block_z = 1};
		program_add_row(program, TS_ROW_KERNEL);
	}
}

static inline void program_add_item(struct program *program, unsigned int i)
{
	const struct item *item = &program->items[i];
	bool is_answered = item->kind == ITEM_OP || item->kind == ITEM_COPY;

	program->storage[program->n_rows].api =
		(struct ts_row_api){.start_ns = item->call_ns,
				    .end_ns = item->call_end_ns,
				    .op_id = i + 1,
				    .thread = 1,
				    .context = program_context(item->stream),
				    .flags = (is_answered ? TS_API_EXPECTS_DEVICE : 0) |
					     (item->may_begin_early ? TS_API_MAY_BEGIN_EARLY : 0)};
	program_add_row(program, TS_ROW_API);
	switch (item->kind) {
	case ITEM_OP:
	case ITEM_COPY:
	case ITEM_GRAPH:
		program_add_work(program, i);
		break;
	case ITEM_RECORD:
	case ITEM_WAIT:
	case ITEM_HOST:
		program->storage[program->n_rows].event =
			(struct ts_row_event){.start_ns = item->call_end_ns,
					      .op_id = i + 1,
					      .event = item->kind == ITEM_HOST
							       ? 0
							       : PROGRAM_HANDLE(item->object),
					      .context = program_context(item->stream),
					      .stream = item->stream};
		program_add_row(program,
				item->kind == ITEM_RECORD ? TS_ROW_EVENT : TS_ROW_STREAM_WAIT);
		break;
	case ITEM_ALLOC:
	case ITEM_FREE:
		program->storage[program->n_rows].memory =
			(struct ts_row_memory){.start_ns = item->call_end_ns,
					       .op_id = i + 1,
					       .address = PROGRAM_ADDRESS(item->object),
					       .bytes = 256,
					       .context = program_context(item->stream),
					       .stream = TS_NO_DEVICE};
		program_add_row(program, item->kind == ITEM_ALLOC ? TS_ROW_ALLOC : TS_ROW_FREE);
		break;
	default:
		program_add_sync(program, i);
		break;
	}
}

/*
 * Makes the rows of a trace of the program's run, in order. As vendors' tools do, it adds the
 * streams' kinds at the very end.
 */
static inline void program_trace(struct program *program)
{
	static const uint32_t flags[PROGRAM_ALL] = {3, 1, 1, 2, 3, 1, 2};

	program->n_rows = 0;
	for (unsigned int i = 0; i < program->n_items; i++)
		program_add_item(program, i);
	for (unsigned int i = 0; i < PROGRAM_ALL; i++) {
		program->storage[program->n_rows].stream =
			(struct ts_row_stream){.start_ns = UINT64_MAX - 1,
					       .context = program_context(i),
					       .stream = i,
					       .stream_flags = flags[i]};
		program_add_row(program, TS_ROW_STREAM);
	}
	qsort(program->rows, program->n_rows, sizeof(program->rows[0]), program_compare_rows);
}

/* Returns the row of a device that can run n_at_once kernels of one block at once. */
static inline struct ts_row_device program_device(uint32_t device, unsigned int n_at_once)
{
	return (struct ts_row_device){.device = device,
				      .compute_capability_major = 9,
				      .n_multiprocessors = n_at_once,
				      .threads_per_warp = 32,
				      .max_warps_per_multiprocessor = 64,
				      .max_blocks_per_multiprocessor = 1,
				      .max_shared_bytes_per_multiprocessor = 1 << 16,
				      .max_registers_per_multiprocessor = 1 << 16};
}

/* Computes the state at t from the rows. NULL: it failed. */
static inline struct ts_state *program_state(const struct program *program, uint64_t t)
{
	ts_cleanup(ts_state_builder_freep) struct ts_state_builder *builder = NULL;
	struct ts_state *state = NULL;
	struct ts_state_op op;
	int r = ts_state_builder_new(t, &builder);

	for (uint32_t k = 0; !r && program->has_limits && k < 2; k++) {
		struct ts_row_device row = program_device(PROGRAM_CONTEXT + k, program->n_at_once);

		r = ts_state_builder_device(builder, PROGRAM_SESSION, &row);
	}
	for (unsigned int i = 0; !r && i < program->n_rows; i++)
		if (program->rows[i].type == TS_ROW_STREAM)
			r = ts_state_machine_feed(ts_state_builder_machine(builder),
						  &program->rows[i], &op);
	for (unsigned int i = 0; !r && i < program->n_rows; i++)
		r = ts_state_builder_feed(builder, &program->rows[i]);
	if (r && r != TS_SBT_E_END)
		return NULL;
	return ts_state_builder_finish(builder, &state) ? NULL : state;
}
