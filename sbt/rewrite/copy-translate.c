/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates times, strings and rows of a source to the copy, for rows without stacks and threads.
 * copy.c and copy-symbols.c call this module. The module reads strings with the reader and interns
 * strings with the writer.
 */
#include "sbt/rewrite/copy-internal.h"

int ts_copy_damage(struct ts_copy *copy, struct ts_copy_source *source, int r)
{
	if (r != TS_SBT_E_CORRUPT && r != TS_SBT_E_VERSION)
		return r;
	if (!copy->report->n_damaged++) {
		copy->report->damage = *ts_sbt_reader_error(source->reader);
		copy->report->damaged = source->asked->name;
	}
	return 0;
}

uint64_t ts_copy_time(const struct ts_copy_source *source, uint64_t ns)
{
	uint64_t shifted;

	if (!ns)
		return 0;
	return __builtin_add_overflow(ns, source->shift_ns, &shifted) ? UINT64_MAX : shifted;
}

int ts_copy_string(struct ts_copy *copy, struct ts_copy_source *source, uint32_t id,
		   uint32_t *ret_id)
{
	uint64_t known = id ? ts_map_get(&source->strings, id) : 1;
	const char *bytes;
	size_t n_bytes;
	int r;

	*ret_id = (uint32_t)(known - 1);
	if (known)
		return 0;
	*ret_id = 0;
	bytes = ts_sbt_reader_string(source->reader, id, &n_bytes);
	/*
	 * A missing string is not remembered, so that a damaged source with many missing ids costs
	 * no memory.
	 */
	if (!bytes)
		return 0;
	r = ts_sbt_writer_string(copy->writer, bytes, n_bytes, ret_id);
	return r ?: ts_map_set(&source->strings, id, (uint64_t)*ret_id + 1);
}

void ts_copy_put_column(const struct ts_column *column, void *row, uint64_t value)
{
	/* Copies the low bytes: the host is little-endian, like the format. */
	memcpy((uint8_t *)row + column->offset, &value, column->width);
}

/* Returns the copy's number of a source's session. 0: the session is not in the copy. */
static uint32_t copy_session_number(const struct ts_copy *copy, const struct ts_copy_source *source,
				    uint64_t session)
{
	return (uint32_t)ts_map_get(&copy->sessions, (uint64_t)source->number << 32 | session);
}

int ts_copy_translate_definition(struct ts_copy *copy, struct ts_copy_source *source,
				 const struct ts_row_schema *schema, const void *row, void *ret_row)
{
	uint32_t id;
	int r = 0;

	memset(ret_row, 0, schema->row_bytes);
	for (unsigned i = 0; !r && i < schema->n_columns; i++) {
		const struct ts_column *column = &schema->columns[i];
		const uint8_t *at = (const uint8_t *)row + column->offset;

		switch (column->role) {
		case TS_ROLE_STRING:
			r = ts_copy_string(copy, source, (uint32_t)ts_column_get(column, row), &id);
			ts_copy_put_column(column, ret_row, id);
			break;
		case TS_ROLE_TIME_START:
		case TS_ROLE_TIME_END:
		case TS_ROLE_TIME:
			ts_copy_put_column(column, ret_row,
					   ts_copy_time(source, ts_column_get(column, row)));
			break;
		case TS_ROLE_SESSION:
			ts_copy_put_column(column, ret_row,
					   copy_session_number(copy, source,
							       ts_column_get(column, row)));
			break;
		default:
			memcpy((uint8_t *)ret_row + column->offset, at, column->width);
		}
	}
	return r;
}
