/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a trace as they are told: in the order of time, without the beginnings of ranges that have a row of their own,
 * and without what lies in a damaged block, which is remembered.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>

struct ts_row_walk {
	struct ts_sbt_reader *reader;
	struct ts_sbt_cursor *cursor;
	struct ts_open_ranges *open_ranges; /* NULL: every row of a range that began is asked for */
	bool is_damaged;
	struct ts_sbt_error damage; /* the first */
};

/* Embed it, zeroed. `all_begins`: who asks for them by name wants them all. Errors of sbt/reader.h. */
int ts_row_walk_init(struct ts_row_walk *walk, struct ts_sbt_reader *reader,
		     const struct ts_sbt_cursor_options *options, bool all_begins);
void ts_row_walk_deinit(struct ts_row_walk *walk);

/* 0, TS_SBT_E_END, or what cannot be gone on from. The row is valid until the next call. */
int ts_row_walk_next(struct ts_row_walk *walk, struct ts_sbt_row *ret_row);
