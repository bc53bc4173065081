/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block's columns as arrays, for those who would rather go over a few numbers of each row than over rows: 65,536 at a
 * time at most, in the types that the row structs have. What a column is (id, width, sign, role) is in its
 * schema, sbt/schema.h.
 *
 *	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
 *		if (ts_sbt_reader_block(reader, i)->type != TS_ROW_KERNEL || ts_sbt_arrays_new(reader, i, 0, &arrays))
 *			continue;
 *		start_ns = (const uint64_t *)ts_sbt_arrays_column(arrays, ts_row_column(schema, "start_ns"));
 *		...
 *		ts_sbt_arrays_free(arrays);
 *	}
 *
 * Arrays are made by the thread that uses the reader. Once made they change no more and need no reader: any threads may read
 * them, until one frees them.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_sbt_arrays;

/* The index of the column of that name in a schema, or -1. */
int ts_row_column(const struct ts_row_schema *schema, const char *name);

/* For the columns of ts_sbt_arrays_new(), ORed. */
#define TS_SBT_COLUMN(index) (UINT64_C(1) << (index))

/*
 * Decodes block i, which is one of events or of definitions that have a row struct (TS_SBT_E_NOT_FOUND: it is not).
 * `columns`: bits of those that are asked for, by their index in the schema, the others cost less; 0: all.
 * TS_SBT_E_CORRUPT: the block is damaged.
 */
int ts_sbt_arrays_new(struct ts_sbt_reader *reader, size_t i, uint64_t columns,
		      struct ts_sbt_arrays **ret_arrays);

/* NULL is fine. The arrays go with it. */
void ts_sbt_arrays_free(struct ts_sbt_arrays *arrays);
TS_DEFINE_CLEANUP(struct ts_sbt_arrays *, ts_sbt_arrays_freep, ts_sbt_arrays_free)

/* Values of each column. */
uint32_t ts_sbt_arrays_rows(const struct ts_sbt_arrays *arrays);
const struct ts_row_schema *ts_sbt_arrays_schema(const struct ts_sbt_arrays *arrays);

/*
 * A column's values, one after the other, row by row; events' in order of start_ns. Each has the schema's width and sign, in
 * the machine's order, and the array is aligned for it: uint32_t where width is 4, int32_t where it is signed too, double where
 * the role says so. NULL: no such column, or it was not asked for. The memory is the arrays'.
 */
const void *ts_sbt_arrays_column(const struct ts_sbt_arrays *arrays, int column);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
