/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for the names of rows, for sums that are made without the trace's strings, for example in
 * threads.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>

/*
 * Returns a number of the row's name: rows of one type with equal numbers have equal names
 * (ts_resolver_name()). All memsets have one number. Returns false for types whose rows have no
 * such number.
 */
bool ts_row_key(const struct ts_sbt_row *row, uint64_t *ret_key);

/*
 * Fills `bytes` with a row of this type and this number, and *ret_row, which points to it. All
 * other fields of the row are 0.
 */
void ts_row_of_key(uint32_t type, uint64_t key, uint8_t bytes[TS_ROW_MAX_BYTES],
		   struct ts_sbt_row *ret_row);
