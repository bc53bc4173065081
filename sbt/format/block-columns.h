/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a block as columns in memory. A value that all rows share is stored once, and a run
 * of fields (plan.h) once per item of its dictionary. ts_block_columns_new() in block.h creates the
 * struct. Private to sbt/.
 */
#pragma once

#include "sbt/format/block.h"

struct ts_block_columns {
	uint64_t n_bytes; /* memory of the whole struct */
	uint32_t n_rows;
	uint32_t n_unknown; /* columns that were skipped */
	uint32_t n_varying;
	struct {
		const uint8_t *values; /* n_rows values */
		uint16_t offset;       /* in the row */
		uint16_t width;
	} varying[TS_ROW_MAX_COLUMNS];
	struct {
		/* item of each row; NULL: the block has no such index column */
		const uint16_t *index;
		const uint8_t *items; /* NULL: no column has one value per item */
		uint16_t offset;      /* offset of the run in the row */
		uint16_t n_bytes;
	} runs[TS_PLAN_RUNS];
	/* A row with the values that all rows share, and zeros elsewhere. */
	uint8_t constants[TS_ROW_MAX_BYTES];
	uint64_t arena[];
};
