/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of the rows of a part of a trace, by numbers instead of names (rowkey.h), so that a thread
 * can make them. rowsums.c gives the names. Functions return 0, -ENOMEM, or TS_SBT_E_LIMIT if the
 * part is full.
 */
#pragma once

#include "proto/abi/map.h"
#include "replay/report/names/launchers.h"
#include "replay/report/rows/aggregate.h"

/* Limits of a part: a thread's memory is bounded by them. */
#define TS_SUM_PART_NAMES (1u << 16)
#define TS_SUM_PART_SITES (1u << 16)
#define TS_SUM_PART_LATER (1u << 16)
#define TS_SUM_PART_BYTES (24u << 20) /* of durations */

struct ts_sum_name {
	uint32_t type;
	uint32_t last_site; /* number of the name's last found site */
	uint64_t key;	    /* samples: session << 32 | stack */
	struct ts_row_sum sum;
};

/* Rows of a name that were launched from a stack. */
struct ts_sum_site {
	uint32_t name; /* number in `names` */
	uint32_t session, stack;
	uint64_t count;
	uint64_t first, first_ns; /* the first of the rows: its number in the part, and its start */
};

/* Rows whose call is in an earlier part. */
struct ts_sum_later {
	uint32_t name;
	uint32_t session;
	uint64_t op_id;
	uint64_t count;
	uint64_t first, first_ns;
};

/* Embed it, zeroed. */
struct ts_sum_part {
	struct ts_sum_name *names;
	size_t n_names, n_names_allocated;
	struct ts_hashindex by_key;
	uint32_t last[TS_ROW_EVENT_END]; /* number of the last found name of a type */
	struct ts_sum_site *sites;
	size_t n_sites, n_sites_allocated;
	struct ts_hashindex by_stack;
	struct ts_sum_later *later;
	size_t n_later, n_later_allocated;
	bool has_launchers; /* `launchers` is used */
	bool is_first;	    /* no call is in an earlier part */
	struct ts_launchers launchers;
	uint64_t n_rows;
	uint64_t n_bytes; /* memory of the durations */
};

/* `launches`: rows get the stacks of their calls. */
int ts_sum_part_init(struct ts_sum_part *part, bool launches, bool is_first);
void ts_sum_part_deinit(struct ts_sum_part *part);
/* Returns true if the caller should use the sums and clear the part, which bounds its memory. */
bool ts_sum_part_is_large(const struct ts_sum_part *part);
/* Removes the sums, and keeps the calls for the rows that follow. */
void ts_sum_part_clear(struct ts_sum_part *part);

/* Adds a call that may have launched a later row. Its own time is not summed. */
void ts_sum_part_call(struct ts_sum_part *part, const struct ts_sbt_row *row);
/* Sums a row. The calls up to its start have been added. */
int ts_sum_part_add(struct ts_sum_part *part, const struct ts_sbt_row *row);
/* Counts `count` rows from a stack. */
int ts_sum_part_add_site(struct ts_sum_part *part, const struct ts_sum_site *more);
