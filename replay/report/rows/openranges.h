/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifies the ranges that began and never ended: output shows only their `range_begin` rows. One
 * object for each pass over the rows in order of time. Not thread-safe.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>

struct ts_open_ranges;

/*
 * Finds the ranges that never ended. `session` and `from_ns` are those of the caller's pass over
 * the rows; session 0 means all. Returns 0, a negative errno or TS_SBT_E_*.
 */
int ts_open_ranges_new(struct ts_sbt_reader *reader, uint32_t session, uint64_t from_ns,
		       struct ts_open_ranges **ret_ranges);
void ts_open_ranges_free(struct ts_open_ranges *ranges);

/*
 * `row` is a TS_ROW_RANGE_BEGIN that starts no earlier than the row of the last call. Returns true
 * if `ranges` is NULL.
 */
bool ts_open_ranges_is_open(struct ts_open_ranges *ranges, const struct ts_sbt_row *row);
