/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Within replay/emulate: one run of a program, and what is left of it.
 */
#pragma once

#include "replay/emulate/emulate-program.h"

enum ts_emulate_by {
	TS_EMULATE_BY_NOTHING = 0,
	TS_EMULATE_BY_CALL,   /* when it was called for */
	TS_EMULATE_BY_ITEM,   /* `by` was over */
	TS_EMULATE_BY_ENGINE, /* `by` left the engine */
};

struct ts_emulate_run_item {
	uint64_t over_ns; /* the latest end of what it stands behind, so far */
	uint64_t start_ns, end_ns;
	uint32_t n_pending; /* items that it stands behind and that are not over */
	uint32_t behind;    /* what stands behind it: edges; 0: nothing */
	uint32_t by;	    /* item; NONE; set when it is issued, as n_pending is */
	uint8_t by_kind;    /* enum ts_emulate_by */
	bool is_issued, is_let_go, is_over;
	int32_t priority; /* of kernels; others have none: 0 */
};

struct ts_emulate_run_call {
	uint64_t start_ns, end_ns;
	uint32_t behind;     /* what comes after it: edges; 0: nothing */
	uint32_t waited_for; /* the item that made it return late; NONE */
	uint32_t before;     /* the call of its thread before it; NONE */
	bool is_over, by_after;
};

/* The time in which at least one of them ran, of operations that are told in the order of their start. */
struct ts_emulate_busy {
	uint64_t n_ops, busy_ns, used_ns, until_ns;
};

/* What was over last, and of that what began last. */
struct ts_emulate_last {
	uint64_t end_ns, start_ns;
	uint32_t item, call; /* one of them, or neither: NONE */
};

struct ts_emulate_run {
	const struct ts_emulate_program *program;
	struct ts_emulate_run_item *items;
	struct ts_emulate_run_call *calls;
	struct ts_emulate_busy *queues, *engines;
	uint64_t n_ops, n_calls, n_broken;
	uint64_t from_ns; /* when the first thing began */
	struct ts_emulate_last last;
};

/* -ENOMEM. */
int ts_emulate_run_init(struct ts_emulate_run *run, const struct ts_emulate_program *program);
void ts_emulate_run_deinit(struct ts_emulate_run *run);
/* Fills in all of `run`. -ENOMEM. */
int ts_emulate_simulate(const struct ts_emulate_program *program, struct ts_emulate_run *run);
/* Makes figures of it, without a path. -ENOMEM. */
int ts_emulate_finish(const struct ts_emulate_run *run, struct ts_emulate_result *result);
int ts_emulate_find_path(const struct ts_emulate_run *run, struct ts_emulate_result *result);

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

static inline void ts_emulate_span(struct ts_emulate_run *run, uint64_t start_ns, uint64_t end_ns,
				   uint32_t item, uint32_t call)
{
	struct ts_emulate_last *last = &run->last;

	run->from_ns = ts_emulate_less(run->from_ns, start_ns);
	if (end_ns > last->end_ns || (end_ns == last->end_ns && start_ns >= last->start_ns))
		*last = (struct ts_emulate_last){end_ns, start_ns, item, call};
}

/* A call whose start and end are known, and that is the program's own. */
static inline void ts_emulate_sum_call(struct ts_emulate_run *run, uint32_t call)
{
	run->n_calls++;
	ts_emulate_span(run, run->calls[call].start_ns, run->calls[call].end_ns, TS_EMULATE_NONE,
			call);
}

/* An operation whose start and end are known. */
static inline void ts_emulate_sum_op(struct ts_emulate_run *run, uint32_t at)
{
	const struct ts_emulate_item *item = &run->program->items[at];
	const struct ts_emulate_run_item *its = &run->items[at];

	run->n_ops++;
	ts_emulate_span(run, its->start_ns, its->end_ns, at, TS_EMULATE_NONE);
	ts_emulate_sum(&run->queues[item->stream], its->start_ns, its->end_ns, 1);
	ts_emulate_sum(&run->engines[item->engine], its->start_ns, its->end_ns, item->demand);
}
