/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of an event type: which columns are stored in dictionaries, and from which columns a
 * writer may predict the others. The runs are part of the format, see the table of index columns in
 * FORMAT.md. The predictions are advice, because each block records its own. Private to sbt/.
 */
#pragma once

#include "sbt/format.h"

/* A run of columns that are adjacent in the schema and, without a gap, in the row. */
struct ts_plan_run {
	uint8_t first; /* indices in the schema */
	uint8_t last;
	uint16_t offset;  /* in the row */
	uint16_t n_bytes; /* 0: no such run */
};

/*
 * Both runs are stored in dictionaries. A place is a thread or a stream, which has a sequence of
 * rows. A site is a group of values that repeats in this sequence: a call from the same stack, or a
 * kernel launched with the same configuration.
 */
enum ts_plan_run_kind {
	TS_PLAN_PLACE = 0,
	TS_PLAN_SITE = 1,
	TS_PLAN_RUNS = 2,
};

struct ts_plan {
	struct ts_plan_run runs[TS_PLAN_RUNS];
	/*
	 * True for host calls: their operation ids ascend over the rows of all places together, so
	 * a writer predicts an id from the last row of any place.
	 */
	bool places_share_ops;
};

/* Fills the plan of an event type. Both runs are empty if the type has none. */
void ts_plan_of(const struct ts_row_schema *schema, struct ts_plan *ret_plan);

/* Returns the run that contains a column, or -1. */
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
