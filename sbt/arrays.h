/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a block as arrays, for code that reads a few fields of many rows. A block has up
 * to 65,536 rows. Values have the types of the row structs; sbt/schema.h describes a column (id,
 * width, sign, role).
 *
 *     for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
 *             if (ts_sbt_reader_block(reader, i)->type != TS_ROW_KERNEL ||
 *                 ts_sbt_arrays_new(reader, i, 0, &arrays))
 *                     continue;
 *             start_ns = ts_sbt_arrays_column(arrays, ts_row_column(schema, "start_ns"));
 *             ...
 *             ts_sbt_arrays_free(arrays);
 *     }
 *
 * Arrays are created in the thread that uses the reader. Afterwards they are constant and
 * independent of the reader: any thread may read them until they are freed.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_sbt_arrays;

/* Returns the index of the column with this name in the schema, or -1. */
int ts_row_column(const struct ts_row_schema *schema, const char *name);

/* Returns the bit of a column. The caller ORs the bits for ts_sbt_arrays_new(). */
#define TS_SBT_COLUMN(index) (UINT64_C(1) << (index))

/*
 * Decodes block `i`, a block of events or of definitions with a row struct. `columns` selects
 * columns by their index in the schema, the others cost less; 0: all. The caller frees *ret_arrays.
 * TS_SBT_E_NOT_FOUND: no such block, or no row struct. TS_SBT_E_CORRUPT: the block is damaged.
 * -ENOMEM: no memory.
 */
int ts_sbt_arrays_new(struct ts_sbt_reader *reader, size_t i, uint64_t columns,
		      struct ts_sbt_arrays **ret_arrays);

/* Frees the arrays. Accepts NULL. */
void ts_sbt_arrays_free(struct ts_sbt_arrays *arrays);
TS_DEFINE_CLEANUP(struct ts_sbt_arrays *, ts_sbt_arrays_freep, ts_sbt_arrays_free)

/* Returns the number of values in each array. */
uint32_t ts_sbt_arrays_rows(const struct ts_sbt_arrays *arrays);
const struct ts_row_schema *ts_sbt_arrays_schema(const struct ts_sbt_arrays *arrays);

/*
 * Returns the values of a column in row order; events are in order of start_ns. Each value has the
 * width and sign of the schema, in the machine's byte order, and the array is aligned for it. So
 * width 4 is uint32_t, or int32_t if signed; a column of role TS_ROLE_DOUBLE is double. Returns
 * NULL if there is no such column, or if it was not selected. The memory belongs to the arrays.
 */
const void *ts_sbt_arrays_column(const struct ts_sbt_arrays *arrays, int column);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
