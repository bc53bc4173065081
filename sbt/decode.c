/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks from bytes of a stranger: each header, size, count and number is checked before it is used, and
 * what a block decompresses to is bounded before memory is taken for it.
 */

#include <zstd.h>

#include "sbt/block.h"
#include "sbt/crc32c.h"

const char *ts_block_header_check(const struct ts_sbt_block_header *header)
{
	if (header->magic != TS_SBT_BLOCK_MAGIC)
		return "no block begins here";
	if (header->checksum != ts_crc32c(header, offsetof(struct ts_sbt_block_header, checksum)))
		return "a block header's checksum is wrong";
	if (header->n_rows > TS_SBT_MAX_ROWS)
		return "a block has too many rows";
	if (header->n_columns > TS_SBT_MAX_COLUMNS)
		return "a block has too many columns";
	if (header->raw_bytes > TS_SBT_MAX_RAW_BYTES)
		return "a block is too large";
	if (header->stored_bytes > header->raw_bytes)
		return "a block stores more than it holds";
	if (!(header->flags & TS_SBT_BLOCK_ZSTD) && header->stored_bytes != header->raw_bytes)
		return "an uncompressed block has two sizes";
	if (header->raw_bytes < header->n_columns * sizeof(struct ts_sbt_column_header))
		return "a block is too small for its columns";
	return NULL;
}

bool ts_block_checksum_ok(const struct ts_sbt_block_header *header, const uint8_t *stored)
{
	return header->payload_checksum == ts_crc32c(stored, header->stored_bytes);
}

/*
 * What rows of a type can take at most: their column directory, and of each column the widest encoding. A few
 * bytes of zstd can stand for any number, so this is looked at before. Lists are bounded by the
 * general limit alone; a newer minor version may have columns of any width.
 */
static uint64_t max_raw_bytes(const struct ts_sbt_block_header *header, bool is_newer)
{
	const struct ts_row_schema *schema = ts_sbt_schema(header->type);
	uint64_t row_bytes = is_newer ? header->n_columns * TS_SBT_MAX_WIDTH : 0;

	if (!schema)
		return TS_SBT_MAX_RAW_BYTES;
	for (unsigned c = 0; c < schema->n_columns; c++)
		row_bytes += schema->columns[c].width > TS_VARINT_MAX_BYTES
				     ? schema->columns[c].width
				     : TS_VARINT_MAX_BYTES;
	return header->n_columns * sizeof(struct ts_sbt_column_header) + header->n_rows * row_bytes;
}

int ts_block_payload(struct ZSTD_DCtx_s *zstd, const struct ts_sbt_block_header *header,
		     bool is_newer, const uint8_t *stored, uint8_t **ret_raw, const char **ret_why)
{
	uint8_t *raw;
	size_t n;

	if (header->raw_bytes > max_raw_bytes(header, is_newer)) {
		*ret_why = "a block is larger than its rows can be";
		return TS_SBT_E_CORRUPT;
	}

	if (!ts_block_checksum_ok(header, stored)) {
		*ret_why = "a block's checksum is wrong";
		return TS_SBT_E_CORRUPT;
	}
	raw = malloc(header->raw_bytes ? header->raw_bytes : 1);
	if (!raw)
		return -ENOMEM;
	if (header->flags & TS_SBT_BLOCK_ZSTD) {
		n = ZSTD_decompressDCtx(zstd, raw, header->raw_bytes, stored, header->stored_bytes);
		if (ZSTD_isError(n) || n != header->raw_bytes) {
			free(raw);
			*ret_why = "a block does not decompress to its size";
			return TS_SBT_E_CORRUPT;
		}
	} else if (header->stored_bytes) {
		memcpy(raw, stored, header->stored_bytes);
	}
	*ret_raw = raw;
	return 0;
}

/* Walks the column directory. `*pos` moves past the column's bytes. */
static const char *next_column(const struct ts_sbt_block_header *header, const uint8_t *raw,
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

const char *ts_block_decoder_init(struct ts_block_decoder *decoder,
				  const struct ts_row_schema *schema,
				  const struct ts_sbt_block_header *header, const uint8_t *raw)
{
	uint64_t pos = header->n_columns * sizeof(struct ts_sbt_column_header);
	unsigned c = 0;

	decoder->schema = schema;
	decoder->n_left = decoder->n_rows = header->n_rows;
	decoder->n_columns = decoder->n_unknown = 0;
	decoder->last_start_ns = header->earliest_ns;
	decoder->earliest_ns = header->earliest_ns;
	decoder->latest_ns = header->latest_ns;
	for (unsigned i = 0; i < header->n_columns; i++) {
		uint32_t at = (uint32_t)pos;
		struct ts_sbt_column_header column;
		const char *why = next_column(header, raw, i, &column, &pos);

		if (why)
			return why;
		while (c < schema->n_columns && schema->columns[c].id < column.id)
			c++;
		if (c == schema->n_columns || schema->columns[c].id != column.id) {
			decoder->n_unknown++;
			continue;
		}
		if (column.width != schema->columns[c].width ||
		    !!(column.flags & TS_SBT_COLUMN_SIGNED) != schema->columns[c].is_signed)
			return "a column has the wrong width or sign";
		if (column.n_values != header->n_rows)
			return "a column has the wrong number of values";
		why = ts_column_decoder_init(&decoder->columns[decoder->n_columns], &column, at);
		if (why)
			return why;
		decoder->column_of[decoder->n_columns++] = (uint8_t)c;
	}
	return pos == header->raw_bytes ? NULL : "a block has bytes left over";
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

const char *ts_block_decoder_next(struct ts_block_decoder *decoder, const uint8_t *raw, void *rows,
				  uint32_t n)
{
	const struct ts_row_schema *schema = decoder->schema;
	bool has_start = decoder->n_columns && decoder->column_of[0] == 0;
	const char *why;

	memset(rows, 0, (size_t)n * schema->row_bytes);
	for (unsigned i = 0; i < decoder->n_columns; i++) {
		const struct ts_column *column = &schema->columns[decoder->column_of[i]];

		why = ts_column_decode(&decoder->columns[i], raw, (uint8_t *)rows + column->offset,
				       schema->row_bytes,
				       schema->is_event && has_start && i ? rows : NULL, n);
		if (why)
			return why;
	}
	decoder->n_left -= n;
	if (!decoder->n_left) {
		for (unsigned i = 0; i < decoder->n_columns; i++) {
			why = ts_column_decoder_finish(&decoder->columns[i]);
			if (why)
				return why;
		}
	}
	return schema->is_event ? check_order(decoder, rows, n) : NULL;
}

int ts_block_list(const struct ts_sbt_block_header *header, const uint8_t *raw, uint16_t id,
		  uint16_t width, void **ret_values, uint32_t *ret_n_values, const char **ret_why)
{
	uint64_t pos = header->n_columns * sizeof(struct ts_sbt_column_header);
	ts_cleanup(ts_freep) uint8_t *values = NULL;
	struct ts_sbt_column_header column = {0};
	struct ts_column_decoder decoder;
	bool found = false;
	uint32_t at = 0;
	const char *why = NULL;

	for (unsigned i = 0; !why && i < header->n_columns && !found; i++) {
		at = (uint32_t)pos;
		why = next_column(header, raw, i, &column, &pos);
		found = !why && column.id == id;
	}
	if (!why && !found)
		column = (struct ts_sbt_column_header){.width = width};
	if (!why && (column.width != width || column.flags & TS_SBT_COLUMN_SIGNED))
		why = "a column has the wrong width or sign";
	if (!why && (uint64_t)column.n_values * width > TS_SBT_MAX_RAW_BYTES)
		why = "a list is too long";
	if (!why && found)
		why = ts_column_decoder_init(&decoder, &column, at);
	if (!why) {
		values = malloc(column.n_values ? (size_t)column.n_values * width : 1);
		if (!values)
			return -ENOMEM;
	}
	if (!why && found)
		why = ts_column_decode(&decoder, raw, values, width, NULL, column.n_values);
	if (!why && found)
		why = ts_column_decoder_finish(&decoder);
	if (why) {
		*ret_why = why;
		return TS_SBT_E_CORRUPT;
	}
	*ret_values = ts_take_ptr(values);
	*ret_n_values = column.n_values;
	return 0;
}
