/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifies the ranges that began and never ended: output shows only their `range_begin` rows.
 * Create one object for each pass over the rows in order of time. Not thread-safe.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>

struct ts_open_ranges;

/*
 * Makes an object for one pass over the rows. `session` and `from_ns` are those of the pass;
 * session 0 means all. Returns 0, a negative errno or TS_SBT_E_*.
 */
int ts_open_ranges_new(struct ts_sbt_reader *reader, uint32_t session, uint64_t from_ns,
		       struct ts_open_ranges **ret_ranges);
void ts_open_ranges_free(struct ts_open_ranges *ranges);

/*
 * True if the range of `row` never ended, or if `ranges` is NULL. `row` is a TS_ROW_RANGE_BEGIN
 * that starts no earlier than the row of the last call.
 */
bool ts_open_ranges_is_open(struct ts_open_ranges *ranges, const struct ts_sbt_row *row);
