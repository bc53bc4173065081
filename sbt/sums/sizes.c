/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a file by type and column; `tsctl` calls this module. The stored bytes of a block are
 * shared out to its columns in proportion to their encoded bytes before compression. How well each
 * column compresses is not known.
 */

#include "proto/abi/grow.h"
#include "sbt/read/reader-internal.h"

struct ts_sbt_sizes {
	struct ts_sbt_size *all;
	size_t n, capacity;
	uint64_t n_damaged;
};

static const struct {
	uint16_t type, column;
	const char *name;
} list_columns[] = {
	{TS_ROW_STRING, TS_SBT_STRING_LENGTH, "length"},
	{TS_ROW_STRING, TS_SBT_STRING_BYTES, "bytes"},
	{TS_ROW_STACK, TS_SBT_STACK_LENGTH, "length"},
	{TS_ROW_STACK, TS_SBT_STACK_FLAGS, "flags"},
	{TS_ROW_STACK, TS_SBT_STACK_FRAMES, "frames"},
	{TS_ROW_CHECKPOINT, TS_SBT_CHECKPOINT_BYTES, "bytes"},
	{TS_ROW_STATE, TS_SBT_ITEM_LENGTH, "length"},
	{TS_ROW_STATE, TS_SBT_ITEM_BYTES, "bytes"},
	{TS_ROW_STATE_HEAD, TS_SBT_ITEM_LENGTH, "length"},
	{TS_ROW_STATE_HEAD, TS_SBT_ITEM_BYTES, "bytes"},
	{TS_ROW_BLOB, TS_SBT_BLOB_LENGTH, "length"},
	{TS_ROW_BLOB, TS_SBT_BLOB_FLAGS, "flags"},
	{TS_ROW_BLOB, TS_SBT_BLOB_HASH, "hash"},
	{TS_ROW_BLOB, TS_SBT_BLOB_BYTES, "bytes"},
};

static const char *type_name(unsigned type)
{
	const struct ts_row_schema *schema = ts_sbt_schema(type);

	if (schema)
		return schema->name;
	return type == TS_ROW_STRING	   ? "string"
	       : type == TS_ROW_STACK	   ? "stack"
	       : type == TS_ROW_CHECKPOINT ? "checkpoint"
	       : type == TS_ROW_STATE	   ? "state"
	       : type == TS_ROW_STATE_HEAD ? "state_head"
	       : type == TS_ROW_BLOB	   ? "blob"
					   : NULL;
}

static const char *column_name(unsigned type, uint16_t id)
{
	const struct ts_row_schema *schema = ts_sbt_schema(type);

	for (unsigned c = 0; schema && c < schema->n_columns; c++)
		if (schema->columns[c].id == id)
			return schema->columns[c].name;
	for (size_t i = 0; i < TS_ARRAY_LEN(list_columns); i++)
		if (list_columns[i].type == type && list_columns[i].column == id)
			return list_columns[i].name;
	if (schema && schema->is_event && id == TS_SBT_COLUMN_PLACE)
		return "place";
	return schema && schema->is_event && id == TS_SBT_COLUMN_SITE ? "site" : NULL;
}

/*
 * Finds or adds the entry of a column; the entries are sorted by type, then id. Id 0 is the entry
 * for bytes outside columns.
 */
static int find(struct ts_sbt_sizes *sizes, uint16_t type, uint16_t id,
		struct ts_sbt_size **ret_size)
{
	size_t low = 0, high = sizes->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct ts_sbt_size *size = &sizes->all[middle];

		if (size->type < type || (size->type == type && size->column < id))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == sizes->n || sizes->all[low].type != type || sizes->all[low].column != id) {
		if (TS_GROW(sizes->all, sizes->capacity, sizes->n + 1))
			return -ENOMEM;
		memmove(&sizes->all[low + 1], &sizes->all[low],
			(sizes->n++ - low) * sizeof(*sizes->all));
		sizes->all[low] = (struct ts_sbt_size){
			.type = type,
			.column = id,
			.type_name = type_name(type),
			.column_name = id ? column_name(type, id) : NULL,
		};
	}
	*ret_size = &sizes->all[low];
	return 0;
}

static int add(struct ts_sbt_sizes *sizes, uint16_t type, uint16_t id, uint32_t n_rows,
	       uint64_t encoded_bytes, uint64_t stored_bytes)
{
	struct ts_sbt_size *size;
	int r = find(sizes, type, id, &size);

	if (r)
		return r;
	size->n_rows += n_rows;
	size->encoded_bytes += encoded_bytes;
	size->stored_bytes += stored_bytes;
	return 0;
}

static bool is_directory_good(const struct ts_sbt_block_header *header, const uint8_t *raw)
{
	uint64_t pos = header->n_columns * sizeof(struct ts_sbt_column_header);
	struct ts_sbt_column_header column;

	for (unsigned i = 0; i < header->n_columns; i++)
		if (ts_block_next_column(header, raw, i, &column, &pos))
			return false;
	return true;
}

/*
 * Adds the bytes of a block to the entries of its columns. Each stored byte is added exactly once.
 */
static int add_columns(struct ts_sbt_sizes *sizes, const struct ts_sbt_block_header *header,
		       const uint8_t *raw)
{
	uint64_t pos = header->n_columns * sizeof(struct ts_sbt_column_header), before, shared = 0;
	uint64_t directory = pos, stored = 0;

	for (unsigned i = 0; i < header->n_columns; i++) {
		struct ts_sbt_column_header column;
		int r;

		before = pos;
		ts_block_next_column(header, raw, i, &column, &pos);
		/* Both factors are below 72 Mi. */
		stored = (pos - directory) * header->stored_bytes / header->raw_bytes - shared;
		r = add(sizes, header->type, column.id, header->n_rows, pos - before, stored);
		if (r)
			return r;
		shared += stored;
	}
	return add(sizes, header->type, 0, header->n_rows,
		   sizeof(*header) + header->raw_bytes - (pos - directory),
		   ts_block_bytes(header) - shared);
}

static int add_block(struct ts_sbt_reader *reader, size_t i, struct ts_sbt_sizes *sizes)
{
	const struct ts_sbt_block *block = &reader->blocks[i];
	ts_cleanup(ts_freep) uint8_t *raw = NULL;
	struct ts_sbt_block_header header;
	int r = 0;

	/* A block of an unknown type is counted as a whole. */
	if (type_name(block->type)) {
		r = ts_sbt_reader_load(reader, i, &header, &raw);
		if (r < 0)
			return r;
		if (!r && is_directory_good(&header, raw))
			return add_columns(sizes, &header, raw);
		sizes->n_damaged++;
	}
	return add(sizes, block->type, 0, block->n_rows, block->bytes, block->bytes);
}

int ts_sbt_sizes_new(struct ts_sbt_reader *reader, uint32_t session,
		     struct ts_sbt_sizes **ret_sizes)
{
	ts_cleanup(ts_sbt_sizes_freep) struct ts_sbt_sizes *sizes = calloc(1, sizeof(*sizes));
	int r = sizes ? 0 : -ENOMEM;

	if (sizes)
		sizes->n_damaged = ts_sbt_reader_note_lost_block(reader);
	for (size_t i = 0; !r && i < reader->n_blocks; i++)
		if (!session || reader->blocks[i].session == session)
			r = add_block(reader, i, sizes);
	if (r)
		return ts_sbt_reader_fail(reader, r, 0, "%s", strerror(-r));
	*ret_sizes = ts_take_ptr(sizes);
	return 0;
}

void ts_sbt_sizes_free(struct ts_sbt_sizes *sizes)
{
	if (!sizes)
		return;
	free(sizes->all);
	free(sizes);
}

size_t ts_sbt_sizes_count(const struct ts_sbt_sizes *sizes)
{
	return sizes->n;
}

const struct ts_sbt_size *ts_sbt_sizes_at(const struct ts_sbt_sizes *sizes, size_t i)
{
	return i < sizes->n ? &sizes->all[i] : NULL;
}

uint64_t ts_sbt_sizes_damaged(const struct ts_sbt_sizes *sizes)
{
	return sizes->n_damaged;
}
