/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of rows and columns. All code that handles rows without knowing their types (encoding,
 * decoding, printing, tests) uses them. The tables are generated from proto/abi/rows/rows.table,
 * where a new column is one line.
 *
 * A column's id is on disk: never renumber it, never reuse it. Start and end are columns 1 and 2 of
 * every event.
 */

#include "sbt/schema.h"

#define COL_(row_, id_, field_, role_, signed_)                                              \
	{                                                                                    \
		.name = #field_, .id = id_, .width = sizeof(((struct row_ *)0)->field_),     \
		.offset = offsetof(struct row_, field_), .role = role_, .is_signed = signed_ \
	}
#define U(row_, id_, field_, role_) COL_(row_, id_, field_, TS_ROLE_##role_, 0)
#define S(row_, id_, field_, role_) COL_(row_, id_, field_, TS_ROLE_##role_, 1)

#include "sbt/generated-columns.h"

TS_STATIC_ASSERT(sizeof(struct ts_row_operation) <= TS_ROW_MAX_BYTES, "the widest row");
TS_STATIC_ASSERT(TS_ARRAY_LEN(operation_columns) <= TS_ROW_MAX_COLUMNS, "the most columns");

const struct ts_row_schema *ts_row_schema(unsigned type)
{
	return type < TS_ROW_COUNT && schemas[type].name ? &schemas[type] : NULL;
}

unsigned ts_row_type_by_name(const char *name)
{
	for (unsigned type = 0; type < TS_ROW_COUNT; type++)
		if (schemas[type].name && !strcmp(schemas[type].name, name))
			return type;
	return 0;
}

const char *ts_loss_reason_name(unsigned reason)
{
	switch (reason) {
#define LOSS_CASE_(name, value, key) \
	case value:                  \
		return key;
		TS_LOSS_REASONS(LOSS_CASE_)
#undef LOSS_CASE_
	default:
		return NULL;
	}
}
