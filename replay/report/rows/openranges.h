/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the ranges that began were never over: of those alone is the `range_begin` to be shown. For one pass over the
 * rows in the order of time; one thread.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>

struct ts_open_ranges;

/* As the pass itself is limited: `session` 0 is all. Returns 0, a negative errno or TS_SBT_E_*. */
int ts_open_ranges_new(struct ts_sbt_reader *reader, uint32_t session, uint64_t from_ns,
		       struct ts_open_ranges **ret_ranges);
void ts_open_ranges_free(struct ts_open_ranges *ranges);

/* `row`: a TS_ROW_RANGE_BEGIN, not before that of the last call. NULL `ranges`: it is. */
bool ts_open_ranges_is_open(struct ts_open_ranges *ranges, const struct ts_sbt_row *row);
