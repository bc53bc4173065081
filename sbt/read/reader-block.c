/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one block of an open trace: header, payload, columns, rows, items. The other modules of the
 * reader, repair.c and writer-part.c call this module; decode-block.c and decode-columns.c decode
 * the bytes.
 *
 * The module uses pread() and not mmap(). If a file is cut while it is read, pread() returns fewer
 * bytes; an access to a mapping would kill the process.
 */

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "sbt/format/calls.h"
#include "sbt/format/short.h"
#include "sbt/format/summary.h"
#include "sbt/read/reader-internal.h"
#include "sbt/reader-threads.h"

/* rows that are decoded at a time: their columns fit into the CPU's cache */
#define DECODE_ROWS 512u

int ts_sbt_reader_fail(struct ts_sbt_reader *reader, int code, uint64_t off, const char *format,
		       ...)
{
	va_list args;

	reader->error.code = code;
	reader->error.off = TS_SBT_OFF(off);
	va_start(args, format);
	vsnprintf(reader->error.text, sizeof(reader->error.text), format, args);
	va_end(args);
	return code;
}

int ts_sbt_pread(int fd, void *to, size_t n, uint64_t off)
{
	uint8_t *p = to;

	if (off > INT64_MAX - n)
		return -EOVERFLOW;
	while (n) {
		ssize_t got = pread(fd, p, n, (off_t)off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return TS_SBT_E_CORRUPT;
		p += got;
		off += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

int ts_sbt_read_header(int fd, uint64_t off, uint64_t end, struct ts_sbt_block_header *ret_header,
		       const char **ret_why)
{
	uint8_t bytes[sizeof(*ret_header)];
	size_t n = sizeof(bytes);
	int r;

	TS_STATIC_ASSERT(sizeof(bytes) >= TS_SHORT_MAX_HEADER, "one read gets any header");
	if (off >= end)
		return TS_SBT_E_END;
	if (end - off < n)
		n = (size_t)(end - off);
	r = ts_sbt_pread(fd, bytes, n, off);
	if (r)
		return r < 0 ? r : TS_SBT_E_END;
	return ts_block_header_parse(bytes, n, ret_header, ret_why);
}

/*
 * Loads the calls that the times of block `i` are relative to. *ret_calls stays NULL if there are
 * none. The block of the calls is decoded again for each block that needs it: such blocks are small
 * and few. A block of calls is never relative to another one (decode-columns.c), so the recursion
 * ends.
 */
static int load_calls(struct ts_sbt_reader *reader, size_t i,
		      const struct ts_sbt_block_header *header, struct ts_calls **ret_calls)
{
	size_t distance = TS_CALLS_DISTANCE(header->calls);
	const struct ts_sbt_block *block = &reader->blocks[i], *its;
	ts_cleanup(ts_freep) struct ts_row_api *rows = NULL;
	ts_sbt_rows_fn on_rows = reader->on_rows;
	uint32_t n_rows;
	int r;

	if (!header->calls || header->type == TS_ROW_API)
		return 0;
	its = distance && distance <= i ? block - distance : NULL;
	if (!its || its->type != TS_ROW_API || its->session != block->session ||
	    its->n_rows > TS_CALLS_MAX)
		return ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, block->off,
					  "the block of a block's calls is missing");
	reader->on_rows = NULL; /* the rows of the calls are counted with their own block */
	r = ts_sbt_reader_decode_as(reader, i - distance, ts_row_schema(TS_ROW_API),
				    (void **)(void *)&rows, &n_rows);
	reader->on_rows = on_rows;
	r = r ?: ts_calls_of_rows(rows, n_rows, ret_calls);
	return r == -ENOMEM ? ts_sbt_reader_fail(reader, r, block->off, "no memory for calls") : r;
}

int ts_sbt_reader_columns(struct ts_sbt_reader *reader, size_t i,
			  const struct ts_row_schema *schema,
			  const struct ts_sbt_block_header *header, const uint8_t *raw,
			  struct ts_block_columns **ret_columns)
{
	ts_cleanup(ts_freep) struct ts_calls *calls = NULL;
	struct ts_block_why why;
	int r = load_calls(reader, i, header, &calls);

	if (r)
		return r;
	r = ts_block_columns_new_in(&reader->spares, calls, schema, header, raw, ret_columns, &why);
	if (r == -ENOMEM)
		return ts_sbt_reader_fail(reader, r, reader->blocks[i].off,
					  "no memory for a block's columns");
	return r ? ts_sbt_reader_fail(reader, r, reader->blocks[i].off, "%s", why.text) : 0;
}

int ts_sbt_reader_decode_as(struct ts_sbt_reader *reader, size_t i,
			    const struct ts_row_schema *schema, void **ret_rows,
			    uint32_t *ret_n_rows)
{
	ts_cleanup(ts_freep) uint8_t *raw = NULL;
	ts_cleanup(ts_freep) struct ts_block_columns *columns = NULL;
	ts_cleanup(ts_freep) uint8_t *rows = NULL;
	struct ts_block_decoder decoder;
	struct ts_sbt_block_header header;
	const char *why = NULL;
	int r;

	r = ts_sbt_reader_load(reader, i, &header, &raw);
	r = r ?: ts_sbt_reader_columns(reader, i, schema, &header, raw, &columns);
	if (r)
		return r;
	ts_block_decoder_init(&decoder, schema, &header);
	rows = malloc(header.n_rows ? (size_t)header.n_rows * schema->row_bytes : 1);
	if (!rows)
		return ts_sbt_reader_fail(reader, -ENOMEM, reader->blocks[i].off,
					  "no memory for a block's rows");
	for (uint32_t row = 0; !why && row < header.n_rows; row += DECODE_ROWS)
		why = ts_block_decoder_next(&decoder, columns,
					    rows + (size_t)row * schema->row_bytes,
					    decoder.n_left < DECODE_ROWS ? decoder.n_left
									 : DECODE_ROWS);
	if (why)
		return ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, reader->blocks[i].off, "%s",
					  why);
	*ret_rows = ts_take_ptr(rows);
	*ret_n_rows = header.n_rows;
	return 0;
}

int ts_sbt_reader_groups(struct ts_sbt_reader *reader, size_t i, int kind, ts_sbt_group_fn *take,
			 void *data)
{
	const struct ts_row_schema *schema = ts_summary_schema(kind);
	ts_cleanup(ts_freep) uint8_t *rows = NULL;
	uint32_t n_rows;
	int r = ts_sbt_reader_decode_as(reader, i, schema, (void **)(void *)&rows, &n_rows);

	if (r)
		return r < 0 ? r : 0;
	for (uint32_t at = 0, n; !r && at < n_rows; at += n) {
		const uint8_t *group = rows + (size_t)at * schema->row_bytes;
		uint64_t block = ts_sbt_reader_numbered(reader, i, ts_summary_block_of(group));

		n = ts_summary_group(kind, rows, n_rows, at);
		if (block != UINT64_MAX)
			r = take(data, block, group, n);
	}
	return r;
}

/* Reads the header and the stored payload, which the caller puts to the spares. */
static int read_stored(struct ts_sbt_reader *reader, size_t i,
		       struct ts_sbt_block_header *ret_header, uint8_t **ret_bytes)
{
	const struct ts_sbt_block *block = &reader->blocks[i];
	struct ts_sbt_block_header header;
	struct ts_sbt_block described;
	uint8_t *bytes;
	int fd = ts_sbt_reader_fd(reader, block->off), r;
	const char *why;

	if (reader->rest)
		reader->rest(reader->rest_data);
	if (ts_sbt_reader_is_cancelled(reader))
		return ts_sbt_reader_fail(reader, -ECANCELED, block->off, "cancelled");
	/*
	 * The size of the read is bounded by header.stored_bytes. The header is checked, and must
	 * equal the block's entry.
	 */
	why = NULL;
	r = ts_sbt_read_header(fd, TS_SBT_OFF(block->off), TS_SBT_OFF(block->off) + block->bytes,
			       &header, &why);
	if (r && !why)
		return ts_sbt_reader_fail(reader, r < 0 ? r : TS_SBT_E_CORRUPT, block->off, "%s",
					  r < 0 ? strerror(-r) : "the file ends inside a block");
	if (!why) {
		ts_block_describe(&header, block->off, &described);
		if (memcmp(&described, block, sizeof(described)))
			why = "a block differs from its entry in the index";
	}
	if (why)
		return ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, block->off, "%s", why);
	if (header.version != TS_SBT_BLOCK_VERSION)
		return ts_sbt_reader_fail(
			reader, TS_SBT_E_VERSION, block->off + 6,
			"a block has a layout (%u) that this version does not know",
			header.version);
	bytes = ts_spares_take(&reader->spares, header.stored_bytes);
	if (!bytes)
		return ts_sbt_reader_fail(reader, -ENOMEM, block->off, "no memory for a block");
	r = ts_sbt_pread(fd, bytes, header.stored_bytes,
			 TS_SBT_OFF(block->off) + ts_block_head_bytes(&header));
	if (r) {
		free(bytes);
		return ts_sbt_reader_fail(reader, r, block->off, "%s",
					  r < 0 ? strerror(-r) : "the file ends inside a block");
	}
	*ret_header = header;
	*ret_bytes = bytes;
	return 0;
}

int ts_sbt_reader_load(struct ts_sbt_reader *reader, size_t i,
		       struct ts_sbt_block_header *ret_header, uint8_t **ret_raw)
{
	struct ts_sbt_block_header header;
	uint8_t *bytes;
	int r = read_stored(reader, i, &header, &bytes);
	const char *why;

	if (r)
		return r;
	r = ts_block_payload_in(&reader->spares, reader->zstd, &header, reader->is_newer, bytes,
				ret_raw, &why);
	ts_spares_put(&reader->spares, bytes);
	if (r)
		return ts_sbt_reader_fail(reader, r,
					  reader->blocks[i].off + ts_block_head_bytes(&header),
					  "%s", r < 0 ? strerror(-r) : why);
	*ret_header = header;
	if (reader->on_rows)
		reader->on_rows(header.n_rows, reader->on_rows_data);
	return 0;
}

bool ts_sbt_reader_may_have(struct ts_sbt_reader *reader, size_t i, uint16_t column)
{
	struct ts_sbt_block_header header;
	uint8_t *bytes;
	bool may_have;

	if (read_stored(reader, i, &header, &bytes))
		return true;
	may_have = ts_block_may_have(reader->zstd, &header, bytes, column);
	ts_spares_put(&reader->spares, bytes);
	if (!may_have && reader->on_rows)
		reader->on_rows(header.n_rows, reader->on_rows_data);
	return may_have;
}

int ts_sbt_reader_decode(struct ts_sbt_reader *reader, size_t i, void **ret_rows,
			 uint32_t *ret_n_rows)
{
	const struct ts_row_schema *schema;

	if (i >= reader->n_blocks)
		return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, 0,
					  "the trace has no block of this number");
	schema = ts_row_schema(reader->blocks[i].type);
	if (!schema)
		return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, reader->blocks[i].off,
					  "a block of type %u has no rows to decode",
					  reader->blocks[i].type);
	return ts_sbt_reader_decode_as(reader, i, schema, ret_rows, ret_n_rows);
}

int ts_sbt_reader_items(struct ts_sbt_reader *reader, size_t i, void **ret_bytes,
			uint32_t **ret_lengths, uint32_t *ret_n)
{
	ts_cleanup(ts_freep) void *lengths = NULL, *bytes = NULL;
	ts_cleanup(ts_freep) uint8_t *raw = NULL;
	struct ts_sbt_block_header header;
	uint32_t n, n_bytes;
	uint64_t sum = 0;
	const char *why;
	int r;

	if (i >= reader->n_blocks ||
	    (reader->blocks[i].type != TS_ROW_STATE && reader->blocks[i].type != TS_ROW_STATE_HEAD))
		return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, 0,
					  "the trace has no block of this number");
	r = ts_sbt_reader_load(reader, i, &header, &raw);
	if (r)
		return r;
	r = ts_block_list(&header, raw, TS_SBT_ITEM_LENGTH, 4, &lengths, &n, &why);
	r = r ?: ts_block_list(&header, raw, TS_SBT_ITEM_BYTES, 1, &bytes, &n_bytes, &why);
	if (r)
		return ts_sbt_reader_fail(reader, r, reader->blocks[i].off, "%s",
					  r < 0 ? strerror(-r) : why);
	for (uint32_t k = 0; k < n; k++)
		sum += ((const uint32_t *)lengths)[k];
	if (n != header.n_rows || sum != n_bytes)
		return ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, reader->blocks[i].off,
					  "the lengths of the items do not match their bytes");
	*ret_bytes = ts_take_ptr(bytes);
	*ret_lengths = ts_take_ptr(lengths);
	*ret_n = n;
	return 0;
}

int ts_sbt_reader_checkpoint(struct ts_sbt_reader *reader, uint32_t session, void **ret_bytes,
			     size_t *ret_n_bytes)
{
	for (size_t i = reader->n_blocks; i-- > 0;) {
		ts_cleanup(ts_freep) uint8_t *raw = NULL;
		struct ts_sbt_block_header header;
		const char *why;
		uint32_t n;
		int r;

		if (reader->blocks[i].type != TS_ROW_CHECKPOINT ||
		    reader->blocks[i].session != session)
			continue;
		r = ts_sbt_reader_load(reader, i, &header, &raw);
		if (r)
			return r;
		r = ts_block_list(&header, raw, TS_SBT_CHECKPOINT_BYTES, 1, ret_bytes, &n, &why);
		if (r)
			return ts_sbt_reader_fail(reader, r, reader->blocks[i].off, "%s",
						  r < 0 ? strerror(-r) : why);
		*ret_n_bytes = n;
		return 0;
	}
	return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, 0, "session %u has no checkpoint",
				  session);
}

const char *ts_sbt_list_offsets(const uint32_t *lengths, uint32_t n_rows, uint32_t n_values,
				uint32_t gap, uint32_t *offsets)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < n_rows; i++) {
		offsets[i] = (uint32_t)at;
		at += (uint64_t)lengths[i] + gap;
		if (at > (uint64_t)n_values + (uint64_t)gap * n_rows)
			return "the sum of the lengths does not match the list";
	}
	offsets[n_rows] = (uint32_t)at;
	return at == (uint64_t)n_values + (uint64_t)gap * n_rows
		       ? NULL
		       : "the sum of the lengths does not match the list";
}
