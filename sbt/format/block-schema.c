/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas of all block types: of rows (schema.c), of summaries (summary.c) and of the index. Block
 * decoder, verify and the report of sizes call this module.
 */
#include "sbt/format/block.h"
#include "sbt/format/summary.h"

#define U(id_, field_)                                                                           \
	{                                                                                        \
		.name = #field_, .id = id_, .width = sizeof(((struct ts_sbt_block *)0)->field_), \
		.offset = offsetof(struct ts_sbt_block, field_), .is_signed = 0,                 \
	}

static const struct ts_column index_columns[] = {
	U(1, off),	 U(2, bytes),	    U(3, raw_bytes),	U(4, earliest_ns),
	U(5, latest_ns), U(6, duration_ns), U(7, amount_bytes), U(8, n_rows),
	U(9, session),	 U(10, first_id),   U(11, type),	U(12, flags),
};

const struct ts_row_schema ts_sbt_index_schema = {
	.name = "index",
	.type = TS_ROW_INDEX,
	.n_columns = TS_ARRAY_LEN(index_columns),
	.row_bytes = sizeof(struct ts_sbt_block),
	.columns = index_columns,
	.bytes_column = -1,
};

const struct ts_row_schema *ts_sbt_schema(unsigned type)
{
	int kind = ts_summary_kind_of(type);

	if (kind >= 0)
		return ts_summary_schema(kind);
	return type == TS_ROW_INDEX ? &ts_sbt_index_schema : ts_row_schema(type);
}
