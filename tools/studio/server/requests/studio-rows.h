/* SPDX-License-Identifier: Apache-2.0 */
/* Whole rows, as `tsctl view --json` prints them, and the numbers of rows. */
#pragma once

#include "tools/studio/server/studio-call.h"

/*
 * Sets the first start and the last end of the rows of an operation, as absolute times. Returns 0,
 * or -1 after ts_call_fail(): 404 if there is no such operation.
 */
int ts_studio_rows_span(struct ts_studio_call *call, uint64_t op_id, uint64_t *ret_first_ns,
			uint64_t *ret_last_ns);

/*
 * The number of a row in its file: the number of its block, and in the low 32 bits its index in the
 * block. A page gets it with a match and asks for the row by it.
 */
static inline uint64_t ts_studio_row_number(const struct ts_tile_row *row)
{
	return row->block << 32 | row->index;
}
static inline uint64_t ts_studio_row_block(uint64_t number)
{
	return number >> 32;
}
static inline uint32_t ts_studio_row_index(uint64_t number)
{
	return (uint32_t)number;
}
