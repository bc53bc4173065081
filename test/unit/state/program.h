/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small programs for a GPU, and a reference that runs them instant by instant by the rules alone: no graph, no
 * dependency, no join; it looks at every item at every nanosecond. What it says is compared with what the state machine makes
 * of the rows that such a run would have left in a trace.
 */
#pragma once

#include "replay/state/state.h"

#include <stdlib.h>

#define PROGRAM_MAX_ITEMS 24
#define PROGRAM_MAX_ROWS  (3 * PROGRAM_MAX_ITEMS + 8)
#define PROGRAM_STREAMS	  4 /* 0: legacy default; 1, 2: blocking; 3: non-blocking */
#define PROGRAM_EVENTS	  3
#define PROGRAM_BLOCKS	  3
#define PROGRAM_CONTEXT	  1
#define PROGRAM_SESSION	  1

enum item_kind {
	ITEM_OP,
	ITEM_RECORD,
	ITEM_WAIT,
	ITEM_ALLOC,
	ITEM_FREE,
};

/* Item i has operation id i + 1. Its call ends before the next one's begins. */
struct item {
	enum item_kind kind;
	unsigned int stream, object; /* object: the event, or the block of memory */
	uint64_t call_ns, call_end_ns;
	uint64_t latency_ns, duration_ns; /* operations: at least a nanosecond each */
	uint64_t start_ns, done_ns;	  /* what the reference found */
};

struct program {
	struct item items[PROGRAM_MAX_ITEMS];
	unsigned int n_items;
	struct ts_sbt_row rows[PROGRAM_MAX_ROWS];
	unsigned int n_rows;
	union {
		struct ts_row_api api;
		struct ts_row_kernel kernel;
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

/* Runs it: fills start_ns and done_ns. */
static inline bool program_is_over(const struct item *item, uint64_t t)
{
	return item->done_ns <= t;
}

/* Whether stream `a` waits for what was issued to `b` before. */
static inline bool program_follows(unsigned int a, unsigned int b)
{
	return a == b || (a == 0 && b != 3) || (b == 0 && a != 3);
}

/* What an item stands behind was not over at t, whatever its own call and latency. */
static inline bool program_is_held(const struct program *program, unsigned int i, uint64_t t)
{
	const struct item *item = &program->items[i];
	int record = -1;

	for (unsigned int j = 0; j < i; j++) {
		const struct item *other = &program->items[j];

		if (other->kind <= ITEM_WAIT && program_follows(item->stream, other->stream) &&
		    !program_is_over(other, t))
			return true;
		if (other->kind == ITEM_RECORD && other->object == item->object)
			record = (int)j;
	}
	return item->kind == ITEM_WAIT && record >= 0 &&
	       !program_is_over(&program->items[record], t);
}

static inline void program_run(struct program *program)
{
	unsigned int n_left = 0;

	for (unsigned int i = 0; i < program->n_items; i++) {
		struct item *item = &program->items[i];

		item->start_ns = item->done_ns = NOT_YET;
		if (item->kind > ITEM_WAIT)
			item->start_ns = item->done_ns = item->call_end_ns;
		n_left += item->kind <= ITEM_WAIT;
	}
	for (uint64_t t = 0; n_left; t++)
		for (unsigned int i = 0; i < program->n_items; i++) {
			struct item *item = &program->items[i];
			uint64_t ready_ns =
				item->call_end_ns + (item->kind == ITEM_OP ? item->latency_ns : 0);

			if (item->start_ns != NOT_YET || t < ready_ns ||
			    program_is_held(program, i, t))
				continue;
			item->start_ns = t;
			item->done_ns = t + (item->kind == ITEM_OP ? item->duration_ns : 0);
			n_left--;
		}
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

static inline void program_add_item(struct program *program, unsigned int i)
{
	const struct item *item = &program->items[i];

	program->storage[program->n_rows].api =
		(struct ts_row_api){.start_ns = item->call_ns,
				    .end_ns = item->call_end_ns,
				    .op_id = i + 1,
				    .thread = 1,
				    .context = PROGRAM_CONTEXT,
				    .flags = item->kind == ITEM_OP ? TS_API_EXPECTS_DEVICE : 0};
	program_add_row(program, TS_ROW_API);
	switch (item->kind) {
	case ITEM_OP:
		/* Each on a device of its own: no engine is ever taken. */
		program->storage[program->n_rows].kernel =
			(struct ts_row_kernel){.start_ns = item->start_ns,
					       .end_ns = item->done_ns,
					       .op_id = i + 1,
					       .device = i,
					       .context = PROGRAM_CONTEXT,
					       .stream = item->stream};
		program_add_row(program, TS_ROW_KERNEL);
		break;
	case ITEM_RECORD:
	case ITEM_WAIT:
		program->storage[program->n_rows].event =
			(struct ts_row_event){.start_ns = item->call_end_ns,
					      .op_id = i + 1,
					      .event = PROGRAM_HANDLE(item->object),
					      .context = PROGRAM_CONTEXT,
					      .stream = item->stream};
		program_add_row(program,
				item->kind == ITEM_RECORD ? TS_ROW_EVENT : TS_ROW_STREAM_WAIT);
		break;
	default:
		program->storage[program->n_rows].memory =
			(struct ts_row_memory){.start_ns = item->call_end_ns,
					       .op_id = i + 1,
					       .address = PROGRAM_ADDRESS(item->object),
					       .bytes = 256,
					       .context = PROGRAM_CONTEXT,
					       .stream = TS_NO_DEVICE};
		program_add_row(program, item->kind == ITEM_ALLOC ? TS_ROW_ALLOC : TS_ROW_FREE);
		break;
	}
}

/* The rows of a trace of that run, in order. The streams' kinds are told at its very end, as vendors do. */
static inline void program_trace(struct program *program)
{
	static const uint32_t flags[PROGRAM_STREAMS] = {3, 1, 1, 2};

	program->n_rows = 0;
	for (unsigned int i = 0; i < program->n_items; i++)
		program_add_item(program, i);
	for (unsigned int i = 0; i < PROGRAM_STREAMS; i++) {
		program->storage[program->n_rows].stream =
			(struct ts_row_stream){.start_ns = UINT64_MAX - 1,
					       .context = PROGRAM_CONTEXT,
					       .stream = i,
					       .stream_flags = flags[i]};
		program_add_row(program, TS_ROW_STREAM);
	}
	qsort(program->rows, program->n_rows, sizeof(program->rows[0]), program_compare_rows);
}

/* The state at t, from the rows. NULL: it failed. */
static inline struct ts_state *program_state(const struct program *program, uint64_t t)
{
	ts_cleanup(ts_state_builder_freep) struct ts_state_builder *builder = NULL;
	struct ts_state *state = NULL;
	struct ts_state_op op;
	int r = ts_state_builder_new(t, &builder);

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
