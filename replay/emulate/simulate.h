/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a program and its results. Private to replay/emulate: simulate.c fills a run, and
 * result.c reads it.
 */
#pragma once

#include "replay/emulate/emulate-program.h"

enum ts_emulate_by {
	TS_EMULATE_BY_NOTHING = 0,
	TS_EMULATE_BY_CALL,   /* its call started */
	TS_EMULATE_BY_ITEM,   /* `by` ended */
	TS_EMULATE_BY_ENGINE, /* `by` left the engine */
};

struct ts_emulate_run_item {
	union {
		uint64_t over_ns;  /* until it is let go: latest end so far of its predecessors */
		uint64_t start_ns; /* since it started */
	};
	union {
		uint64_t end_ns;  /* since it started */
		int32_t priority; /* while it waits for its engine; 0 if it is no kernel */
	};
	union {
		uint32_t n_pending;  /* until it is let go: predecessors that have not ended */
		uint32_t next_ready; /* then: the next item in its engine's queue */
	};
	/* list of edges to the items and calls that wait for this item's end; 0: none */
	uint32_t behind;
	/* The item that by_kind refers to, or NONE. Set when the item is issued, like n_pending. */
	uint32_t by;
	uint8_t by_kind; /* enum ts_emulate_by */
	bool is_issued, is_let_go, is_over;
};

_Static_assert(sizeof(struct ts_emulate_run_item) == 32, "a line of the cache has two");

struct ts_emulate_run_call {
	uint64_t start_ns, end_ns;
	uint32_t behind;     /* list of edges to the calls that join this one; 0: none */
	uint32_t waited_for; /* the item whose end delayed this call's return; NONE: no item did */
	uint32_t before;     /* previous call of the same thread; NONE: this call is the first */
	bool is_over, by_after;
};

/*
 * Sums the time with at least one operation. The operations are added in the order of their start.
 */
struct ts_emulate_busy {
	uint64_t n_ops, busy_ns, used_ns, until_ns;
};

/* The item or call with the latest end; among several, the one with the latest start. */
struct ts_emulate_last {
	uint64_t end_ns, start_ns;
	uint32_t item, call; /* one of them, or both NONE */
};

struct ts_emulate_run {
	const struct ts_emulate_program *program;
	struct ts_emulate_run_item *items;
	struct ts_emulate_run_call *calls;
	struct ts_emulate_busy *queues, *engines;
	uint64_t n_ops, n_calls, n_broken;
	uint64_t from_ns; /* first start */
	struct ts_emulate_last last;
};

/* _init_sums() prepares only the sums, without times of items and calls. Return 0 or -ENOMEM. */
int ts_emulate_run_init(struct ts_emulate_run *run, const struct ts_emulate_program *program);
int ts_emulate_run_init_sums(struct ts_emulate_run *run, const struct ts_emulate_program *program);
/* Keeps memory for the program's next run, so the program must still exist. */
void ts_emulate_run_deinit(struct ts_emulate_run *run);
/* Runs the program and fills in `run`. Returns 0, -ENOMEM or a value of `step`. */
int ts_emulate_simulate(const struct ts_emulate_program *program, struct ts_emulate_run *run);
/*
 * _finish() computes the figures, _find_path() the critical path, whose max_steps longest steps it
 * keeps. Return 0 or -ENOMEM.
 */
int ts_emulate_finish(const struct ts_emulate_run *run, struct ts_emulate_result *result);
int ts_emulate_find_path(const struct ts_emulate_run *run, size_t max_steps,
			 struct ts_emulate_result *result);
/* Passes the times of calls and operations: see ts_emulate_run_times(). */
int ts_emulate_give_times(const struct ts_emulate_run *run,
			  int (*take)(void *data, const struct ts_emulate_time *time), void *data);

static inline void ts_emulate_sum(struct ts_emulate_busy *busy, uint64_t start_ns, uint64_t end_ns,
				  uint32_t demand)
{
	uint64_t from_ns = ts_emulate_more(start_ns, busy->until_ns);

	busy->n_ops++;
	busy->used_ns += (end_ns - start_ns) * demand;
	if (end_ns > from_ns) {
		busy->busy_ns += end_ns - from_ns;
		busy->until_ns = end_ns;
	}
}

/* Counts a call or an operation whose start and end are known. */
static inline void ts_emulate_span(struct ts_emulate_run *run, uint64_t start_ns, uint64_t end_ns,
				   uint32_t item, uint32_t call)
{
	struct ts_emulate_last *last = &run->last;

	run->from_ns = ts_emulate_less(run->from_ns, start_ns);
	if (end_ns > last->end_ns || (end_ns == last->end_ns && start_ns >= last->start_ns))
		*last = (struct ts_emulate_last){end_ns, start_ns, item, call};
}

static inline void ts_emulate_sum_call(struct ts_emulate_run *run, uint32_t call, uint64_t start_ns,
				       uint64_t end_ns)
{
	run->n_calls++;
	ts_emulate_span(run, start_ns, end_ns, TS_EMULATE_NONE, call);
}

static inline void ts_emulate_sum_op(struct ts_emulate_run *run, uint32_t at, uint64_t start_ns,
				     uint64_t end_ns)
{
	const struct ts_emulate_item *item = &run->program->items[at];

	run->n_ops++;
	ts_emulate_span(run, start_ns, end_ns, at, TS_EMULATE_NONE);
	ts_emulate_sum(&run->queues[item->stream], start_ns, end_ns, 1);
	ts_emulate_sum(&run->engines[item->engine], start_ns, end_ns, item->demand);
}
