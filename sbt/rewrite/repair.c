/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a file that was cut into a finished file; `tsctl repair` calls this module. The blocks that
 * the reader found become the index, and everything after them is cut off. Summaries are computed
 * again from the blocks, because the lost end may have held them. Repair changes only the end of
 * the file: if whole blocks follow the damage, a cut would lose them, so repair changes nothing and
 * returns the offset of the damage.
 */
#include "sbt/repair.h"

#include "sbt/format/summary.h"
#include "sbt/read/reader-internal.h"
#include "sbt/rewrite/in-place.h"
#include "sbt/write/writer-internal.h"

/*
 * Summaries are encoded each time that SUMMARY_BYTES of rows are pending. After MAX_SUMMARY_BYTES
 * of encoded summaries, the remaining blocks get none.
 */
#define SUMMARY_BYTES	  (128u * 1024)
#define MAX_SUMMARY_BYTES (64u * 1024 * 1024)

/*
 * Returns the number of blocks before the first index block. An index without end marker is written
 * again.
 */
static size_t blocks_to_keep(const struct ts_sbt_reader *reader)
{
	size_t n = 0;

	while (n < reader->n_blocks && reader->blocks[n].type != TS_ROW_INDEX)
		n++;
	return n;
}

/* Finds for each of the first `n` blocks which kinds of summary exist, as bits. */
static int find_summaries(struct ts_sbt_reader *reader, size_t n, uint8_t *ret_kinds)
{
	for (size_t i = 0; i < n; i++) {
		int kind = ts_summary_kind_of(reader->blocks[i].type), r;
		ts_cleanup(ts_freep) uint8_t *rows = NULL;
		uint32_t n_rows;

		if (kind < 0)
			continue;
		r = ts_sbt_reader_decode_as(reader, i, ts_summary_schema(kind),
					    (void **)(void *)&rows, &n_rows);
		if (r < 0)
			return r;
		for (uint32_t row = 0; !r && row < n_rows; row++) {
			uint64_t block = ts_summary_block_of(
				rows + (size_t)row * ts_summary_schema(kind)->row_bytes);

			if (block < n)
				ret_kinds[block] |= (uint8_t)(1u << kind);
		}
	}
	return 0;
}

/*
 * Adds the missing summaries of block `i`. `there` has a bit for each kind that exists. A damaged
 * block gets no summary.
 */
static int summarise_block(struct ts_sbt_reader *reader, size_t i, unsigned there,
			   struct ts_summaries *summaries)
{
	const struct ts_row_schema *schema = ts_row_schema(reader->blocks[i].type);
	ts_cleanup(ts_freep) struct ts_block_columns *columns = NULL;
	ts_cleanup(ts_freep) uint8_t *raw = NULL;
	struct ts_sbt_block_header header;
	struct ts_summary_source source;
	struct ts_summaries_mark mark;
	int r = ts_sbt_reader_load(reader, i, &header, &raw);

	r = r ?: ts_sbt_reader_columns(reader, i, schema, &header, raw, &columns);
	if (r)
		return r < 0 ? r : 0;
	ts_summary_of_columns(schema, columns, &source);
	ts_summaries_mark(summaries, &mark);
	r = ts_summarise(&source, i, summaries);
	for (int kind = 0; !r && kind < TS_SUMMARY_KINDS; kind++)
		if (there & 1u << kind)
			summaries->rows[kind].n = mark.n[kind];
	return r;
}

/* Encodes the missing summaries of the first `n` blocks, which end at `end`. */
static int summarise(struct ts_sbt_reader *reader, size_t n, uint64_t end, struct ts_buffer *out)
{
	ts_cleanup(ts_freep) uint8_t *there = calloc(n + 1, 1);
	ts_cleanup(ts_encoder_deinit) struct ts_encoder encoder = {.is_short = reader->is_short};
	ts_cleanup(ts_summaries_deinit) struct ts_summaries summaries = {0};
	int r = there ? find_summaries(reader, n, there) : -ENOMEM;

	/* A writer gives a file of this size none. */
	if (!r && reader->is_short && end < TS_SBT_SMALL_FILE_BYTES)
		return 0;
	for (size_t i = 0; !r && i < n && out->n < MAX_SUMMARY_BYTES; i++) {
		unsigned kinds = ts_summary_kinds(ts_row_schema(reader->blocks[i].type),
						  reader->blocks[i].n_rows);

		if (kinds & ~(unsigned)there[i])
			r = summarise_block(reader, i, there[i], &summaries);
		if (!r && ts_summaries_bytes(&summaries) >= SUMMARY_BYTES)
			r = ts_summaries_encode(&summaries, &encoder, out);
	}
	return r ?: ts_summaries_encode(&summaries, &encoder, out);
}

static int list_block(void *data, const struct ts_sbt_block *block)
{
	return ts_buffer_append(data, block, sizeof(*block));
}

/*
 * Encodes everything that follows the first `n` blocks, which end at `end`: summaries, index, end
 * marker.
 */
static int make_end(struct ts_sbt_reader *reader, size_t n, uint64_t end, struct ts_buffer *out)
{
	ts_cleanup(ts_buffer_deinit) struct ts_buffer index = {0};
	ts_cleanup(ts_buffer_deinit) struct ts_buffer blocks = {0};
	ts_cleanup(ts_layout_deinit) struct ts_layout layout = {0};
	uint64_t sequence = n, off = end;
	size_t n_entries;
	int r = summarise(reader, n, end, &blocks);

	r = r ?: ts_buffer_append(&index, reader->blocks, n * sizeof(*reader->blocks));
	r = r
		    ?: ts_layout_add(&layout, blocks.bytes, blocks.n, &off, &sequence, list_block,
				     &index);
	r = r ?: ts_layout_append(&layout, out);
	n_entries = index.n / sizeof(*reader->blocks);
	if (!r && n_entries > TS_SBT_MAX_BLOCKS)
		r = -EFBIG;
	return r
		       ?: ts_index_encode((const void *)index.bytes, n_entries, off,
					  reader->is_short, out);
}

static int rebuild(int fd, struct ts_sbt_reader *reader, struct ts_sbt_repair_report *report,
		   struct ts_sbt_error *ret_error)
{
	size_t n = blocks_to_keep(reader);
	const struct ts_sbt_block *last = n ? &reader->blocks[n - 1] : NULL;
	uint64_t end = last ? last->off + last->bytes : TS_SBT_HEADER_BYTES, found;
	struct ts_buffer made = {0};
	struct ts_sbt_search search;
	int r;

	/* Searches for a whole block behind the damage that ended the list. */
	ts_sbt_search_init(&search, fd, reader->is_short, reader->file_bytes);
	r = ts_sbt_search_block(&search, reader->whole_bytes, reader->n_blocks, &found);
	if (!r)
		return ts_in_place_fail(
			ret_error, TS_SBT_E_CORRUPT, reader->whole_bytes,
			"the damage lies before whole blocks, so the file is not cut");
	if (r == TS_SBT_E_LIMIT)
		return ts_in_place_fail(
			ret_error, r, reader->whole_bytes,
			"the damage lies before too many candidates for blocks, so the file is not cut");
	if (r < 0)
		return ts_in_place_fail(ret_error, r, reader->whole_bytes, strerror(-r));
	r = make_end(reader, n, end, &made);
	if (!r && ftruncate(fd, (off_t)end) < 0)
		r = -errno;
	if (!r) {
		r = ts_sbt_write_at(fd, made.bytes, made.n, end);
		if (r && ftruncate(fd, (off_t)end) < 0)
			r = -errno;
	}
	if (!r) {
		report->n_blocks = n;
		for (size_t i = 0; i < n; i++)
			if (ts_row_is_event(reader->blocks[i].type))
				report->n_rows += reader->blocks[i].n_rows;
		report->cut_bytes = reader->file_bytes - end;
		report->file_bytes = end + made.n;
	}
	ts_buffer_deinit(&made);
	return r ? ts_in_place_fail(ret_error, r, end, strerror(-r)) : 0;
}

int ts_sbt_repair(int fd, struct ts_sbt_repair_report *ret_report, struct ts_sbt_error *ret_error)
{
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	struct ts_sbt_repair_report report = {0};
	int r = ts_in_place_lock(fd, ret_error);

	if (r)
		return r;
	r = ts_sbt_reader_open(fd, &reader, ret_error);
	if (!r && reader->state == TS_SBT_FINISHED && reader->has_index) {
		report.was_finished = true;
		report.n_blocks = blocks_to_keep(reader);
		report.file_bytes = reader->file_bytes;
		for (size_t i = 0; i < reader->n_blocks; i++)
			if (ts_row_is_event(reader->blocks[i].type))
				report.n_rows += reader->blocks[i].n_rows;
	} else if (!r) {
		r = rebuild(fd, reader, &report, ret_error);
	}
	ts_in_place_unlock(fd);
	if (!r)
		*ret_report = report;
	return r;
}
