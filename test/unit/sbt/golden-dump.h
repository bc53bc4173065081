/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The complete contents of a trace as text, as a reader returns them, id by id and row by row; for
 * the golden files. A column is printed only if it is not 0, so the text of older traces does not
 * change with a new column.
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>

#include "sbt/reader.h"

static inline void golden_bytes(FILE *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] >= ' ' && bytes[i] < 0x7f && bytes[i] != '\\')
			fputc(bytes[i], out);
		else
			fprintf(out, "\\x%02x", bytes[i]);
}

static inline void golden_row(FILE *out, const struct ts_row_schema *schema, uint32_t session,
			      const void *row)
{
	fprintf(out, "%s %" PRIu32, schema->name, session);
	for (unsigned i = 0; i < schema->n_columns; i++) {
		const struct ts_column *column = &schema->columns[i];
		const uint8_t *at = (const uint8_t *)row + column->offset;
		uint64_t value;

		if (column->role == TS_ROLE_OCTETS) {
			fprintf(out, " %s=", column->name);
			for (unsigned j = 0; j < column->width; j++)
				fprintf(out, "%02x", at[j]);
			continue;
		}
		value = ts_column_get(column, row);
		if (value && column->is_signed)
			fprintf(out, " %s=%" PRId64, column->name, (int64_t)value);
		else if (value)
			fprintf(out, " %s=%" PRIu64, column->name, value);
	}
	fputc('\n', out);
}

static inline void golden_strings(FILE *out, struct ts_sbt_reader *reader)
{
	const char *bytes;
	size_t n;

	for (uint32_t id = 1; (bytes = ts_sbt_reader_string(reader, id, &n)); id++) {
		fprintf(out, "string %" PRIu32 " %zu ", id, n);
		/* The end of a long string represents the whole. */
		if (n > 200)
			golden_bytes(out, (const uint8_t *)bytes + n - 200, 200);
		else
			golden_bytes(out, (const uint8_t *)bytes, n);
		fputc('\n', out);
	}
}

static inline void golden_stacks(FILE *out, struct ts_sbt_reader *reader, uint32_t session)
{
	struct ts_sbt_stack stack;

	for (uint32_t id = 1; !ts_sbt_reader_stack(reader, session, id, &stack); id++) {
		fprintf(out, "stack %" PRIu32 " %" PRIu32 " flags=%" PRIu32, session, id,
			stack.flags);
		for (uint32_t i = 0; i < stack.n_frames; i++)
			fprintf(out, " %" PRIx64, stack.frames[i]);
		fputc('\n', out);
	}
}

static inline void golden_definitions(FILE *out, struct ts_sbt_reader *reader)
{
	for (size_t i = 0; i < ts_sbt_reader_n_sessions(reader); i++) {
		const struct ts_row_session *row = ts_sbt_reader_session_at(reader, i);

		golden_row(out, ts_row_schema(TS_ROW_SESSION), row->session, row);
		golden_stacks(out, reader, row->session);
	}
	for (size_t i = 0; i < ts_sbt_reader_n_threads(reader); i++)
		golden_row(out, ts_row_schema(TS_ROW_THREAD),
			   ts_sbt_reader_thread_at(reader, i)->session,
			   &ts_sbt_reader_thread_at(reader, i)->row);
	for (size_t i = 0; i < ts_sbt_reader_n_devices(reader); i++)
		golden_row(out, ts_row_schema(TS_ROW_DEVICE),
			   ts_sbt_reader_device_at(reader, i)->session,
			   &ts_sbt_reader_device_at(reader, i)->row);
	for (size_t i = 0; i < ts_sbt_reader_n_modules(reader); i++)
		golden_row(out, ts_row_schema(TS_ROW_MODULE),
			   ts_sbt_reader_module_at(reader, i)->session,
			   &ts_sbt_reader_module_at(reader, i)->row);
	for (size_t i = 0; i < ts_sbt_reader_n_names(reader); i++)
		golden_row(out, ts_row_schema(TS_ROW_NAME),
			   ts_sbt_reader_name_at(reader, i)->session,
			   &ts_sbt_reader_name_at(reader, i)->row);
	for (size_t i = 0; i < ts_sbt_reader_n_metadata(reader); i++) {
		const char *key, *value;

		ts_sbt_reader_metadata_at(reader, i, &key, &value);
		fprintf(out, "metadata %s=%s\n", key ? key : "?", value ? value : "?");
	}
}

/* Prints images, symbols and other rows without a table of their own. */
static inline int golden_blocks(FILE *out, struct ts_sbt_reader *reader)
{
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);
		uint8_t *rows;
		uint32_t n;
		int r;

		if (block->type != TS_ROW_IMAGE && block->type != TS_ROW_SYMBOL &&
		    block->type != TS_ROW_PART)
			continue;
		r = ts_sbt_reader_decode(reader, i, (void **)(void *)&rows, &n);
		if (r)
			return r;
		for (uint32_t j = 0; j < n; j++)
			golden_row(out, ts_row_schema(block->type), 0,
				   rows + (size_t)j * ts_row_schema(block->type)->row_bytes);
		free(rows);
	}
	return 0;
}

static inline int golden_rows(FILE *out, struct ts_sbt_reader *reader)
{
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, NULL, &cursor);

	if (r)
		return r;
	while (!(r = ts_sbt_cursor_next(cursor, &row)))
		golden_row(out, row.schema, row.session, row.any);
	ts_sbt_cursor_free(cursor);
	return r == TS_SBT_E_END ? 0 : r;
}

/* Returns 0, or the error of a reader function. */
static inline int golden_dump(FILE *out, struct ts_sbt_reader *reader)
{
	static const char *const states[] = {"?", "finished", "growing", "truncated"};
	size_t n_checkpoint;
	void *checkpoint;
	int r;

	fprintf(out, "%s %s\n", ts_sbt_reader_format(reader), states[ts_sbt_reader_state(reader)]);
	golden_strings(out, reader);
	golden_definitions(out, reader);
	for (size_t i = 0; i < ts_sbt_reader_n_sessions(reader); i++) {
		uint32_t session = ts_sbt_reader_session_at(reader, i)->session;

		if (ts_sbt_reader_checkpoint(reader, session, &checkpoint, &n_checkpoint))
			continue;
		fprintf(out, "checkpoint %" PRIu32 " ", session);
		golden_bytes(out, checkpoint, n_checkpoint);
		fputc('\n', out);
		free(checkpoint);
	}
	r = golden_blocks(out, reader);
	return r ? r : golden_rows(out, reader);
}
