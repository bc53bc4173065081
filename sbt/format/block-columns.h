/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block's rows as columns in memory. What all rows share is kept once, a run of fields (plan.h) once per item of its
 * dictionary. Private to sbt/; block.h says who makes and who frees it.
 */
#pragma once

#include "sbt/format/block.h"

struct ts_block_columns {
	uint64_t n_bytes; /* of all of it */
	uint32_t n_rows;
	uint32_t n_unknown; /* columns that were skipped */
	uint32_t n_varying;
	struct {
		const uint8_t *values; /* n_rows of them */
		uint16_t offset;       /* in the row */
		uint16_t width;
	} varying[TS_ROW_MAX_COLUMNS];
	struct {
		const uint16_t *index; /* of each row; NULL: there is no such column */
		const uint8_t *items;  /* NULL: nothing is indexed by it */
		uint16_t offset;       /* of the run in the row */
		uint16_t n_bytes;
	} runs[TS_PLAN_RUNS];
	uint8_t constants[TS_ROW_MAX_BYTES]; /* a row: what all rows have, zeros elsewhere */
	uint64_t arena[];
};
