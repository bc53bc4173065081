/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches a trace for few rows: see slices.h. replay/state calls this module; this module uses
 * slices.c. Threads copy the rows that they keep. The caller gets the copies after all slices have
 * been searched, so that it gets nothing twice if it has to search by itself.
 */

#include "sbt/arrays.h"
#include "sbt/buffer.h"
#include "sbt/read/filter.h"
#include "sbt/read/reader-internal.h"
#include "sbt/reader-threads.h"
#include "sbt/slices.h"

/* Limits of the copies, of one slice and of all. */
#define MAX_PART_BYTES (1024u * 1024)
#define MAX_BYTES      (16u * 1024 * 1024)

/* Stands before each copied row. */
struct kept {
	uint32_t type;
	uint32_t session;
};

struct searching {
	const struct ts_sbt_cursor_options *options;
	const struct ts_row_search *search;
	const uint8_t *among;  /* by block: 0 if it is left out; NULL: none is */
	struct ts_buffer rows; /* of the merged slices */
};

static int keep(struct ts_buffer *rows, const struct ts_sbt_row *row)
{
	const struct kept kept = {row->type, row->session};
	int r;

	if (rows->n > MAX_PART_BYTES)
		return TS_SBT_E_LIMIT;
	r = ts_buffer_append(rows, &kept, sizeof(kept));
	return r ?: ts_buffer_append(rows, row->any, row->schema->row_bytes);
}

static int search_slice(void *part, const struct ts_slice *slice, void *data)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	const struct searching *searching = data;
	const struct ts_row_search *search = searching->search;
	struct ts_sbt_row row;
	int r = ts_slice_cursor(slice, searching->options, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (!r && search->keeps(&row, search->data))
			r = keep(part, &row);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int merge_slice(void *part, void *data)
{
	struct searching *searching = data;
	const struct ts_buffer *rows = part;

	if (searching->rows.n + rows->n > MAX_BYTES)
		return TS_SBT_E_LIMIT;
	return ts_buffer_append(&searching->rows, rows->bytes, rows->n);
}

static void deinit_slice(void *part)
{
	ts_buffer_deinit(part);
}

static int take_kept(const struct searching *searching)
{
	const struct ts_row_search *search = searching->search;
	const uint8_t *at = searching->rows.bytes, *end = at + searching->rows.n;
	int r = 0;

	while (!r && at < end) {
		struct ts_sbt_row row = {0};
		struct kept kept;

		memcpy(&kept, at, sizeof(kept));
		row.type = kept.type;
		row.session = kept.session;
		row.schema = ts_row_schema(kept.type);
		row.any = at + sizeof(kept);
		r = search->take(&row, search->data);
		at += sizeof(kept) + row.schema->row_bytes;
	}
	return r;
}

static int search_alone(struct ts_sbt_reader *reader, const struct searching *searching,
			bool *is_damaged)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	const struct ts_row_search *search = searching->search;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new_among(reader, searching->options, searching->among, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT || (r == TS_SBT_E_VERSION && search->skips_versions)) {
			*is_damaged = true;
			r = 0;
		} else if (!r && (!search->keeps || search->keeps(&row, search->data))) {
			r = search->take(&row, search->data);
		}
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/* Leaves out blocks by search->nonzero_column. The caller frees *ret_among. */
static int drop_zero(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		     const struct ts_row_search *search, uint8_t **ret_among)
{
	const struct ts_row_schema *schema = ts_row_schema(search->nonzero_type);
	struct ts_sbt_cursor_options asked = *options;
	uint16_t column;
	int r;

	column = schema->columns[ts_row_column(schema, search->nonzero_column)].id;
	asked.types = asked.types ? asked.types : TS_ROW_EVENTS;
	asked.to_ns = asked.to_ns ? asked.to_ns : UINT64_MAX;
	r = ts_sbt_reader_choose(reader, &asked, ret_among);
	for (size_t i = 0; !r && i < reader->n_blocks && !ts_sbt_reader_is_cancelled(reader); i++)
		if ((*ret_among)[i] && reader->blocks[i].type == search->nonzero_type)
			(*ret_among)[i] = ts_sbt_reader_may_have(reader, i, column);
	return r;
}

int ts_rows_search(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		   const struct ts_row_search *search, bool *is_damaged)
{
	ts_cleanup(ts_slices_freep) struct ts_slices *slices = NULL;
	ts_cleanup(ts_freep) uint8_t *among = NULL;
	struct searching searching = {.options = options, .search = search};
	const struct ts_slices_work work = {.part_bytes = sizeof(struct ts_buffer),
					    .run = search_slice,
					    .merge = merge_slice,
					    .part_deinit = deinit_slice,
					    .data = &searching};
	int r = search->nonzero_column ? drop_zero(reader, options, search, &among) : 0;

	searching.among = among;
	if (!r && search->keeps)
		r = ts_slices_new_among(reader, options, among, &slices);
	if (!r && slices) {
		r = ts_slices_run(slices, &work);
		if (!r)
			r = take_kept(&searching);
		else if (r > 0 || r == -EAGAIN)
			r = search_alone(reader, &searching, is_damaged);
	} else if (!r) {
		r = search_alone(reader, &searching, is_damaged);
	}
	ts_buffer_deinit(&searching.rows);
	return r;
}
