/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the columns of each type of event hang together: what a writer predicts them from. It is advice: each block says
 * itself how it was encoded. Private to sbt/.
 */
#pragma once

#include "sbt/format.h"

/* A run of columns that are next to each other in the table and, without a gap, in the row. */
struct ts_plan_run {
	uint8_t first; /* indices in the schema */
	uint8_t last;
	uint16_t offset;  /* in the row */
	uint16_t n_bytes; /* 0: there is no such run */
};

/*
 * Both runs are kept in dictionaries. The place is where rows follow each other: a thread, a stream. The site is
 * what happens there again and again: a call from the same stack, a kernel launched with the same configuration.
 */
enum ts_plan_run_kind {
	TS_PLAN_PLACE = 0,
	TS_PLAN_SITE = 1,
	TS_PLAN_RUNS = 2,
};

struct ts_plan {
	struct ts_plan_run runs[TS_PLAN_RUNS];
	bool places_share_ops; /* operations are numbered across places: rows are host calls */
};

/* Of a type without runs: a plan of empty ones. */
void ts_plan_of(const struct ts_row_schema *schema, struct ts_plan *ret_plan);

/* The run that a column is in, or -1. */
static inline int ts_plan_run_of(const struct ts_plan *plan, unsigned column)
{
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		if (plan->runs[run].n_bytes && column >= plan->runs[run].first &&
		    column <= plan->runs[run].last)
			return run;
	return -1;
}

static inline uint16_t ts_plan_index_id(int run)
{
	return (uint16_t)(TS_SBT_COLUMN_PLACE + run);
}
