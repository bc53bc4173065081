/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs rows for checkpoint.c, column by column in the order of the schema. Times are relative to
 * the checkpoint's time.
 */
#include "replay/state/checkpoint/pack.h"

static bool is_time(const struct ts_column *column)
{
	return column->role == TS_ROLE_TIME_START || column->role == TS_ROLE_TIME_END;
}

void ts_pack_row(struct ts_pack *pack, const struct ts_row_schema *schema, const void *row)
{
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];
		uint64_t value = 0;

		memcpy(&value, (const uint8_t *)row + column->offset, column->width);
		if (is_time(column))
			ts_pack_ns(pack, value);
		else
			ts_pack_u(pack, value);
	}
}

void ts_unpack_row(struct ts_unpack *unpack, const struct ts_row_schema *schema, void *row)
{
	memset(row, 0, schema->row_bytes);
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];
		uint64_t value = is_time(column) ? ts_unpack_ns(unpack) : ts_unpack_u(unpack);

		unpack->bad |= column->width < 8 && value >> (8 * column->width);
		memcpy((uint8_t *)row + column->offset, &value, column->width);
	}
}
