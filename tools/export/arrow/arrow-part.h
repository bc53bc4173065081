/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a table, which threads make: the columns of some consecutive rows as bytes, with
 * dictionaries of their own. Parts that are added to a table in the order of their rows give the
 * table of ts_arrow_table_add(). Parts stay within the process. Not thread-safe.
 */
#pragma once

#include "proto/rpc/json.h"
#include "tools/export/arrow/arrow-table.h"

/* A part. Its columns follow it; the next part follows them. Offsets are multiples of 8. */
struct ts_arrow_part {
	uint64_t n_bytes; /* with all columns */
	uint64_t slice;	  /* for the caller */
	uint64_t n_text_bytes;
	uint32_t n_rows, n_columns;
	const ProtobufCMessageDescriptor *descriptor; /* of the rows */
};

/* Appends the rows of a table to `text`. Returns 0 or -ENOMEM. */
int ts_arrow_part_put(const struct ts_arrow_table *table, uint64_t slice, struct ts_json *text);

/*
 * Adds the rows of a part from row *from on. Ends when the part has no more rows, or when the table
 * is full, and advances *from. If the table is full at the start, nothing is added. The table may
 * have no columns yet. Returns 0, -ENOMEM or -E2BIG, as ts_arrow_table_init().
 */
int ts_arrow_part_add(struct ts_arrow_table *table, const struct ts_arrow_part *part,
		      uint32_t *from);
