/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as lines of JSON: see rowlines.h. The caller's thread reads the rows in order, and the
 * strings that name them. It copies each row into a piece (replay/report/pieces.h). Any thread
 * makes the lines of a piece, with a resolver of its own. A row whose name needs more than strings
 * becomes text in the caller's thread. query.c calls this file.
 */
#include "replay/report/rows/rowlines.h"

struct line {
	uint32_t n_bytes; /* of the item, a multiple of 8 */
	uint32_t type;	  /* of the row; 0: a finished text */
	uint32_t session;
	uint32_t n_text;
	uint8_t bytes[]; /* the row, or the text */
};

struct ts_row_lines {
	struct ts_resolver *resolver;
	struct ts_rowjson *rowjson;
	bool is_shared;
	ts_lines_fn *write;
	void *data;
	struct ts_pieces *pieces;
	struct ts_json text; /* of a row that the caller's thread prints */
};

/* ---- a thread -------------------------------------------------------------------------------- */

struct namer {
	struct ts_resolver *resolver;
	struct ts_rowjson *rowjson;
};

static void namer_deinit(void *state)
{
	struct namer *namer = state;

	ts_rowjson_free(namer->rowjson);
	ts_resolver_free(namer->resolver);
}

static int namer_init(void *data, void *state)
{
	const struct ts_row_lines *lines = data;
	struct namer *namer = state;
	int r = ts_resolver_share(lines->resolver, &namer->resolver);

	if (r)
		return r;
	r = ts_rowjson_new(namer->resolver, NULL, &namer->rowjson);
	if (r)
		namer_deinit(namer);
	return r;
}

static int put_row(struct ts_rowjson *rowjson, const struct ts_sbt_row *row, struct ts_json *text)
{
	const size_t before = text->n_bytes;
	int r = ts_rowjson_append(rowjson, row, text);

	if (!r)
		ts_json_bytes(text, "\n", 1);
	r = r ? r : text->error;
	/* Only whole lines are written. */
	if (r)
		text->n_bytes = before;
	return r;
}

static int write_text(void *data, const char *text, size_t n_bytes)
{
	const struct ts_row_lines *lines = data;

	return lines->write(lines->data, text, n_bytes);
}

static int put_lines(void *data, void *state, bool in_order, const uint8_t *items, size_t n_bytes,
		     struct ts_json *text)
{
	struct namer *namer = state;
	int r = 0;

	for (size_t at = 0; !r && at < n_bytes;) {
		const struct line *line = (const void *)(items + at);
		const struct ts_sbt_row row = {.type = line->type,
					       .session = line->session,
					       .schema = ts_row_schema(line->type),
					       .any = line->bytes};

		if (line->type)
			r = put_row(namer->rowjson, &row, text);
		else
			ts_json_bytes(text, line->bytes, line->n_text);
		at += line->n_bytes;
		r = r ? r : ts_pieces_bound(in_order, write_text, data, text);
	}
	return r;
}

static int format(void *data, void *state, const uint8_t *items, size_t n_bytes,
		  struct ts_json *text)
{
	return put_lines(data, state, false, items, n_bytes, text);
}

static int format_in_order(void *data, void *state, const uint8_t *items, size_t n_bytes,
			   struct ts_json *text)
{
	return put_lines(data, state, true, items, n_bytes, text);
}

/* ---- the caller's thread --------------------------------------------------------------------- */

int ts_row_lines_new(struct ts_resolver *resolver, struct ts_rowjson *rowjson, bool is_shared,
		     ts_lines_fn *write, void *data, struct ts_row_lines **ret_lines)
{
	ts_cleanup(ts_row_lines_freep) struct ts_row_lines *lines = calloc(1, sizeof(*lines));
	const struct ts_pieces_kind kind = {.format = format,
					    .format_in_order = format_in_order,
					    .write = write_text,
					    .writes_anywhere = true,
					    .data = lines,
					    .state_bytes = sizeof(struct namer),
					    .state_init = namer_init,
					    .state_deinit = namer_deinit};
	int r;

	if (!lines)
		return -ENOMEM;
	lines->resolver = resolver;
	lines->rowjson = rowjson;
	lines->is_shared = is_shared;
	lines->write = write;
	lines->data = data;
	r = ts_pieces_new(&kind, &lines->pieces);
	if (r)
		return r;
	*ret_lines = ts_take_ptr(lines);
	return 0;
}

void ts_row_lines_free(struct ts_row_lines *lines)
{
	if (!lines)
		return;
	ts_pieces_free(lines->pieces);
	ts_json_deinit(&lines->text);
	free(lines);
}

void ts_row_lines_freep(struct ts_row_lines **lines)
{
	ts_row_lines_free(*lines);
}

static int add(struct ts_row_lines *lines, uint32_t type, uint32_t session, const void *bytes,
	       size_t n)
{
	const size_t n_bytes = ts_align_up(sizeof(struct line) + n, 8);
	struct line *line;
	void *item;
	int r = n > UINT32_MAX / 2 ? -EOVERFLOW : ts_pieces_add(lines->pieces, n_bytes, &item);

	if (r)
		return r;
	line = item;
	*line = (struct line){.n_bytes = (uint32_t)n_bytes,
			      .type = type,
			      .session = session,
			      .n_text = (uint32_t)n};
	memcpy(line->bytes, bytes, n);
	return 0;
}

int ts_row_lines_add(struct ts_row_lines *lines, const struct ts_sbt_row *row)
{
	int r;

	/* The name of a sample is a place in the code: it needs a stack and modules. */
	if (lines->is_shared && row->type != TS_ROW_SAMPLE) {
		ts_resolver_prepare(lines->resolver, row);
		return add(lines, row->type, row->session, row->any, row->schema->row_bytes);
	}
	ts_json_clear(&lines->text);
	r = put_row(lines->rowjson, row, &lines->text);
	return r ? r : add(lines, 0, 0, lines->text.data, lines->text.n_bytes);
}

int ts_row_lines_end(struct ts_row_lines *lines)
{
	return ts_pieces_end(lines->pieces);
}
