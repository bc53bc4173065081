/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes blocks from untrusted bytes. Each header, size, count and number is checked before use,
 * and the decompressed size is bounded before memory is allocated. The modules of the reader,
 * verify.c, find-block.c, index.c and sizes.c call this module; decode-columns.c decodes the
 * columns of rows.
 */

#include <zstd.h>

#include "sbt/crc32c.h"
#include "sbt/format/block-columns.h"
#include "sbt/format/short-dictionary.h"
#include "sbt/format/short.h"

#define CHUNK_ROWS 64u

/* Most bytes of a block of zstd, compressed or not. */
#define MAX_ZSTD_BLOCK (128u * 1024)

/* The largest window of a frame whose front is decompressed: memory of that size is needed. */
#define FRONT_WINDOW_LOG 23

#define WITH_DICTIONARY	 (TS_SBT_BLOCK_DICTIONARY | TS_SBT_BLOCK_TABLES)

bool ts_block_checksum_ok(const struct ts_sbt_block_header *header, const uint8_t *stored)
{
	return header->payload_checksum == ts_crc32c(stored, header->stored_bytes);
}

/*
 * Returns the most bytes that rows of a type can take: the column directory, and for each column
 * the widest encoding. The bound is checked before decompression, because a few bytes of zstd can
 * expand to any size. Lists have only the general limit. A newer minor version may have columns of
 * any width.
 */
static uint64_t max_raw_bytes(const struct ts_sbt_block_header *header, bool is_newer)
{
	const struct ts_row_schema *schema = ts_sbt_schema(header->type);
	uint64_t row_bytes = is_newer ? header->n_columns * TS_SBT_MAX_WIDTH : 0;

	if (!schema)
		return TS_SBT_MAX_RAW_BYTES;
	if (schema->is_event)
		row_bytes += TS_PLAN_RUNS * TS_VARINT_MAX_BYTES; /* the index columns */
	for (unsigned c = 0; c < schema->n_columns; c++)
		row_bytes += schema->columns[c].width > TS_VARINT_MAX_BYTES
				     ? schema->columns[c].width
				     : TS_VARINT_MAX_BYTES;
	return header->n_columns * sizeof(struct ts_sbt_column_header) + header->n_rows * row_bytes;
}

/*
 * Decompresses a payload that was made with the dictionary: a frame without magic number, or the
 * content of a block, before which the headers of frame and block are put (RFC 8878, 3.1.1).
 */
static size_t decompress_short(struct ZSTD_DCtx_s *zstd, const struct ts_sbt_block_header *header,
			       const uint8_t *stored, uint8_t *to)
{
	bool has_tables = header->flags & TS_SBT_BLOCK_TABLES;
	/* No flags, a window of 128 KiB; the last block, which is compressed. */
	uint8_t head[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38, 0, 0, 0};
	uint32_t block = (uint32_t)header->stored_bytes << 3 | 5;
	size_t n_head = has_tables ? sizeof(head) : 4, n = n_head + header->stored_bytes;
	size_t n_dictionary, r;
	const uint8_t *dictionary = has_tables ? ts_short_dictionary(&n_dictionary)
					       : ts_short_dictionary_content(&n_dictionary);
	uint8_t *frame = has_tables && header->stored_bytes > MAX_ZSTD_BLOCK ? NULL : malloc(n);

	if (!frame)
		return (size_t)-1; /* an error of zstd */
	memcpy(head + 6, &block, 3);
	memcpy(frame, head, n_head);
	memcpy(frame + n_head, stored, header->stored_bytes);
	r = ZSTD_decompress_usingDict(zstd, to, header->raw_bytes, frame, n, dictionary,
				      n_dictionary);
	free(frame);
	return r;
}

/* Decompresses the payload, and restores the columns' directory if it is short. */
static const char *unpack(struct ZSTD_DCtx_s *zstd, const struct ts_sbt_block_header *header,
			  const uint8_t *stored, uint8_t *packed, uint8_t *raw)
{
	bool is_compressed = header->flags & TS_SBT_BLOCK_ZSTD;
	uint8_t *to = header->short_bytes ? packed : raw;
	size_t n = header->stored_bytes;

	if (is_compressed) {
		n = header->short_bytes && header->flags & WITH_DICTIONARY
			    ? decompress_short(zstd, header, stored, to)
			    : ZSTD_decompressDCtx(zstd, to, header->raw_bytes, stored, n);
		if (ZSTD_isError(n) || (!header->short_bytes && n != header->raw_bytes))
			return "a block does not decompress to its size";
	}
	if (header->short_bytes)
		return ts_short_payload_expand(header, is_compressed ? packed : stored, n, raw);
	if (!is_compressed && n)
		memcpy(raw, stored, n);
	return NULL;
}

int ts_block_payload_in(struct ts_spares *spares, struct ZSTD_DCtx_s *zstd,
			const struct ts_sbt_block_header *header, bool is_newer,
			const uint8_t *stored, uint8_t **ret_raw, const char **ret_why)
{
	ts_cleanup(ts_freep) uint8_t *packed = NULL;
	const char *why;
	uint8_t *raw;

	if (header->raw_bytes > max_raw_bytes(header, is_newer)) {
		*ret_why = "a block is larger than the largest size of its rows";
		return TS_SBT_E_CORRUPT;
	}

	if (!ts_block_checksum_ok(header, stored)) {
		*ret_why = "a block's checksum is wrong";
		return TS_SBT_E_CORRUPT;
	}
	if (header->short_bytes) {
		packed = malloc(header->raw_bytes + 1);
		if (!packed)
			return -ENOMEM;
	}
	raw = ts_spares_take(spares, header->raw_bytes);
	if (!raw)
		return -ENOMEM;
	why = unpack(zstd, header, stored, packed, raw);
	if (why) {
		free(raw);
		*ret_why = why;
		return TS_SBT_E_CORRUPT;
	}
	*ret_raw = raw;
	return 0;
}

/* Decompresses the first `n` bytes of the payload. Returns false if it does not have as many. */
static bool unpack_front(struct ZSTD_DCtx_s *zstd, const struct ts_sbt_block_header *header,
			 const uint8_t *stored, uint8_t *to, size_t n)
{
	ZSTD_inBuffer in = {stored, header->stored_bytes, 0};
	ZSTD_outBuffer out = {to, n, 0};
	size_t r = 0;

	if (!(header->flags & TS_SBT_BLOCK_ZSTD)) {
		if (header->stored_bytes < n)
			return false;
		memcpy(to, stored, n);
		return true;
	}
	ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, FRONT_WINDOW_LOG);
	while (out.pos < n && in.pos < in.size && !ZSTD_isError(r))
		r = ZSTD_decompressStream(zstd, &out, &in);
	ZSTD_DCtx_reset(zstd, ZSTD_reset_session_and_parameters);
	return out.pos == n;
}

bool ts_block_may_have(struct ZSTD_DCtx_s *zstd, const struct ts_sbt_block_header *header,
		       const uint8_t *stored, uint16_t column)
{
	struct ts_sbt_column_header columns[TS_SBT_MAX_COLUMNS];
	uint16_t previous_id = 0;

	if (header->short_bytes || header->n_columns > TS_SBT_MAX_COLUMNS ||
	    !ts_block_checksum_ok(header, stored) ||
	    !unpack_front(zstd, header, stored, (uint8_t *)columns,
			  header->n_columns * sizeof(*columns)))
		return true;
	for (unsigned c = 0; c < header->n_columns; c++) {
		if (columns[c].id == column || columns[c].id <= previous_id)
			return true;
		previous_id = columns[c].id;
	}
	return false;
}

const char *ts_block_next_column(const struct ts_sbt_block_header *header, const uint8_t *raw,
				 unsigned column, struct ts_sbt_column_header *ret_column,
				 uint64_t *pos)
{
	uint16_t previous_id = 0;

	if (column)
		memcpy(&previous_id, raw + (column - 1) * sizeof(*ret_column), sizeof(previous_id));
	memcpy(ret_column, raw + column * sizeof(*ret_column), sizeof(*ret_column));
	if (ret_column->id <= previous_id)
		return "columns are out of order";
	if (ret_column->n_bytes > header->raw_bytes - *pos)
		return "a column does not fit its block";
	*pos += ret_column->n_bytes;
	return NULL;
}

void ts_block_decoder_init(struct ts_block_decoder *decoder, const struct ts_row_schema *schema,
			   const struct ts_sbt_block_header *header)
{
	*decoder = (struct ts_block_decoder){
		.schema = schema,
		.n_left = header->n_rows,
		.n_rows = header->n_rows,
		.last_start_ns = header->earliest_ns,
		.earliest_ns = header->earliest_ns,
		.latest_ns = header->latest_ns,
	};
}

static const char *check_order(struct ts_block_decoder *decoder, const uint8_t *rows, uint32_t n)
{
	const struct ts_row_schema *schema = decoder->schema;
	uint64_t last_ns = decoder->last_start_ns;
	bool ordered = true, inside = true;

	for (uint32_t i = 0; i < n; i++, rows += schema->row_bytes) {
		uint64_t start_ns = ts_row_start_ns(rows);

		ordered &= start_ns >= last_ns;
		inside &= ts_row_end_ns(schema, rows) <= decoder->latest_ns;
		last_ns = start_ns;
	}
	decoder->last_start_ns = last_ns;
	if (!ordered)
		return "rows are not in order of time";
	return inside ? NULL : "a row ends after its block's latest end";
}

/*
 * Returns the array of a time column. If all rows have the same time, returns NULL and stores this
 * time in *ret_value.
 */
static const uint64_t *times(const struct ts_block_columns *columns, uint16_t offset,
			     uint64_t *ret_value)
{
	memcpy(ret_value, columns->constants + offset, sizeof(*ret_value));
	for (uint32_t v = 0; v < columns->n_varying; v++)
		if (columns->varying[v].offset == offset)
			return (const uint64_t *)(const void *)columns->varying[v].values;
	return NULL;
}

const char *ts_block_decoder_skip(struct ts_block_decoder *decoder,
				  const struct ts_block_columns *columns, uint64_t from_ns,
				  bool by_start)
{
	uint64_t start_ns, end_ns, last_ns = decoder->last_start_ns;
	const uint64_t *starts = times(columns, 0, &start_ns), *ends = NULL;
	uint32_t i = decoder->n_rows - decoder->n_left;
	bool ordered = true;

	if (decoder->schema->has_end && !by_start)
		ends = times(columns, sizeof(uint64_t), &end_ns);
	else
		end_ns = 0;
	for (; i < decoder->n_rows; i++) {
		start_ns = starts ? starts[i] : start_ns;
		end_ns = ends ? ends[i] : end_ns;
		if (start_ns >= from_ns || end_ns >= from_ns)
			break;
		ordered &= start_ns >= last_ns;
		last_ns = start_ns;
	}
	decoder->last_start_ns = last_ns;
	decoder->n_left = decoder->n_rows - i;
	return ordered ? NULL : "rows are not in order of time";
}

#define SPREAD(width_)                                         \
	case width_:                                           \
		for (i = 0; i < n; i++, to += stride)          \
			memcpy(to, from + i * width_, width_); \
		break;

/* Copies the values of one column into as many rows. */
static void spread(uint8_t *to, size_t stride, const uint8_t *from, uint16_t width, uint32_t n)
{
	size_t i;

	switch (width) {
		SPREAD(1ul)
		SPREAD(2ul)
		SPREAD(4ul)
		SPREAD(8ul)
	default:
		for (i = 0; i < n; i++, to += stride)
			memcpy(to, from + i * width, width);
	}
}

/*
 * Copies `n` bytes without calling memcpy(): the last move may overlap the one before. `n` is the
 * same for many rows.
 */
static inline void copy_bytes(uint8_t *restrict to, const uint8_t *restrict from, uint32_t n)
{
	uint32_t i = 0;

	for (; i + 16 <= n; i += 16)
		memcpy(to + i, from + i, 16);
	if (i == n)
		return;
	if (n >= 16) {
		memcpy(to + n - 16, from + n - 16, 16);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else {
		memcpy(to, from, n);
	}
}

/* Assembles rows [from, from + n) of the block. The rows are few enough to stay in the cache. */
static void put_rows(const struct ts_row_schema *schema, const struct ts_block_columns *columns,
		     uint32_t from, uint8_t *rows, uint32_t n)
{
	uint32_t row_bytes = schema->row_bytes;
	uint8_t *row = rows;

	for (uint32_t i = 0; i < n; i++, row += row_bytes)
		copy_bytes(row, columns->constants, row_bytes);
	for (int run = 0; run < TS_PLAN_RUNS; run++) {
		uint16_t n_bytes = columns->runs[run].n_bytes;
		const uint8_t *items = columns->runs[run].items;
		const uint16_t *index;

		if (!items)
			continue;
		index = columns->runs[run].index + from;
		row = rows + columns->runs[run].offset;
		for (uint32_t i = 0; i < n; i++, row += row_bytes)
			copy_bytes(row, items + (size_t)index[i] * n_bytes, n_bytes);
	}
	for (uint32_t v = 0; v < columns->n_varying; v++) {
		uint16_t width = columns->varying[v].width;

		spread(rows + columns->varying[v].offset, row_bytes,
		       columns->varying[v].values + (size_t)from * width, width, n);
	}
}

const char *ts_block_decoder_next(struct ts_block_decoder *decoder,
				  const struct ts_block_columns *columns, void *rows, uint32_t n)
{
	const struct ts_row_schema *schema = decoder->schema;
	uint32_t from = decoder->n_rows - decoder->n_left;
	const char *why = NULL;
	uint8_t *row = rows;

	decoder->n_left -= n;
	for (uint32_t m; !why && n; n -= m, from += m, row += (size_t)m * schema->row_bytes) {
		m = n < CHUNK_ROWS ? n : CHUNK_ROWS;
		put_rows(schema, columns, from, row, m);
		if (schema->is_event)
			why = check_order(decoder, row, m);
	}
	return why;
}

/* Decodes the values of a list: plain values, or residuals of the value before or of 0. */
static const char *decode_list(const struct ts_sbt_column_header *column, const uint8_t *bytes,
			       uint8_t *values)
{
	bool is_last = column->predictor == TS_SBT_LAST;
	uint32_t n = column->n_values, width = column->width;
	struct ts_residuals residuals;
	uint64_t value = 0, number;
	const char *why;

	if (column->encoding == TS_SBT_RAW) {
		memcpy(values, bytes, (size_t)n * width);
		return NULL;
	}
	if (column->encoding == TS_SBT_CONSTANT) {
		for (uint32_t i = 0; i < n; i++)
			memcpy(values + (size_t)i * width, bytes, width);
		return NULL;
	}
	if (column->encoding == TS_SBT_SCALED)
		return "a list has an encoding that lists cannot have";
	if ((column->predictor != TS_SBT_NONE && !is_last) ||
	    (is_last && column->base != column->id) || column->key || column->trend)
		return "a list has a predictor, a key or a trend that lists cannot have";
	ts_residuals_init(&residuals, column, bytes);
	for (uint32_t i = 0; i < n; i++, values += width) {
		why = ts_residuals_next(&residuals, &number, 1);
		if (why)
			return "a list ends inside a number";
		value = number + (is_last ? value : 0);
		if (!ts_column_store(values, &value, 1, (uint16_t)width, false))
			return "a number of a list is wider than the list's type";
	}
	return ts_residuals_finish(&residuals) ? "a list has bytes after its last value" : NULL;
}

int ts_block_list(const struct ts_sbt_block_header *header, const uint8_t *raw, uint16_t id,
		  uint16_t width, void **ret_values, uint32_t *ret_n_values, const char **ret_why)
{
	uint64_t pos = header->n_columns * sizeof(struct ts_sbt_column_header);
	ts_cleanup(ts_freep) uint8_t *values = NULL;
	struct ts_sbt_column_header column = {0};
	const char *why = NULL;
	bool found = false;
	uint64_t at = pos;

	for (unsigned i = 0; !why && i < header->n_columns && !found; i++) {
		at = pos;
		why = ts_block_next_column(header, raw, i, &column, &pos);
		found = !why && column.id == id;
	}
	if (!why && !found)
		column = (struct ts_sbt_column_header){.width = width};
	if (!why && (column.width != width ||
		     column.flags & (TS_SBT_COLUMN_SIGNED | TS_SBT_COLUMN_INDEXED)))
		why = "a list's column has the wrong width or sign";
	if (!why && (uint64_t)column.n_values * width > TS_SBT_MAX_RAW_BYTES)
		why = "a list is too long";
	if (!why && found && ts_column_header_check(&column))
		why = "a list's column has an unknown encoding or a wrong size";
	if (!why) {
		values = malloc(column.n_values ? (size_t)column.n_values * width : 1);
		if (!values)
			return -ENOMEM;
	}
	if (!why && found)
		why = decode_list(&column, raw + at, values);
	if (why) {
		*ret_why = why;
		return TS_SBT_E_CORRUPT;
	}
	*ret_values = ts_take_ptr(values);
	*ret_n_values = column.n_values;
	return 0;
}
