/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the headers of all blocks, and encodes and decodes short blocks: header and column
 * directory as varints, for the small blocks of which a short recording consists. layout.c writes
 * short headers, encode.c makes short payloads; all readers of headers and payloads call this
 * module. It calls nothing but the checksum.
 */

#include "sbt/format/short.h"

#include "sbt/crc32c.h"
#include "sbt/format/block.h"

#define MAGIC_0 'T'
#define MAGIC_1 'b'

/* Magic, the header's size, flags, type; and the checksums of payload and header at its end. */
#define FIXED_BYTES    5u
#define CHECKSUM_BYTES 8u

/* The flags of a short header; the others are the block's own. */
#define HAS_FIRST_ID (1u << 2)
#define HAS_TIMES    (1u << 3)
#define HAS_CALLS    (1u << 4)
#define FLAGS_END    (1u << 7) /* TS_SBT_BLOCK_TABLES is the highest */

/* Byte A of an entry: encoding, predictor, width, and whether byte B follows. */
#define PREDICTOR_SHIFT 2
#define WIDTH_SHIFT	4
#define SCALED_WIDTH	6u /* width 8, and the encoding is the one in A + 4 */
#define OTHER_WIDTH	7u
#define HAS_MORE	0x80u

/* Byte B: the column's flags, and which fields follow. */
#define FLAGS_MASK  7u
#define HAS_BASE    (1u << 3)
#define HAS_KEY	    (1u << 4)
#define HAS_CONTEXT (1u << 5)
#define HAS_TREND   (1u << 6)
#define HAS_VALUES  (1u << 7)

/* The longest entry: id, two bytes, width, base, key, context, trend, planes, values, bytes. */
#define MAX_ENTRY_BYTES 32u

static uint8_t *put(uint8_t *p, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*p++ = (uint8_t)(value | 0x80);
	*p++ = (uint8_t)value;
	return p;
}

/* Reads a varint of at most `max`. Returns NULL if there is none before `end`. */
static const uint8_t *get(const uint8_t *p, const uint8_t *end, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; p && p < end && shift < 64; shift += 7) {
		uint64_t bits = *p & 0x7f;

		if (bits << shift >> shift != bits)
			return NULL;
		value |= bits << shift;
		if (*p++ & 0x80)
			continue;
		*ret = value;
		return value <= max ? p : NULL;
	}
	return NULL;
}

const char *ts_block_header_check(const struct ts_sbt_block_header *header)
{
	if (header->magic != TS_SBT_BLOCK_MAGIC)
		return "no block starts at this offset";
	if (header->checksum != ts_crc32c(header, offsetof(struct ts_sbt_block_header, checksum)))
		return "a block header's checksum is wrong";
	return ts_block_header_limits(header);
}

const char *ts_block_header_limits(const struct ts_sbt_block_header *header)
{
	if (header->n_rows > TS_SBT_MAX_ROWS)
		return "a block has too many rows";
	if (header->n_columns > TS_SBT_MAX_COLUMNS)
		return "a block has too many columns";
	if (header->raw_bytes > TS_SBT_MAX_RAW_BYTES)
		return "a block is too large";
	if (header->stored_bytes > header->raw_bytes)
		return "a block stores more than it holds";
	if (!(header->flags & TS_SBT_BLOCK_ZSTD) && !header->short_bytes &&
	    header->stored_bytes != header->raw_bytes)
		return "an uncompressed block has two sizes";
	if (header->raw_bytes < header->n_columns * sizeof(struct ts_sbt_column_header))
		return "a block is too small for its columns";
	return NULL;
}

unsigned ts_short_header_put(struct ts_sbt_block_header *header, uint8_t to[TS_SHORT_MAX_HEADER])
{
	bool has_times = header->earliest_ns | header->latest_ns | header->duration_ns |
			 header->amount_bytes;
	uint8_t *p = to + FIXED_BYTES - 1;

	to[0] = MAGIC_0;
	to[1] = MAGIC_1;
	to[3] = (uint8_t)((header->flags & TS_SBT_SHORT_BLOCK_FLAGS) |
			  (header->first_id ? HAS_FIRST_ID : 0) | (has_times ? HAS_TIMES : 0) |
			  (header->calls ? HAS_CALLS : 0));
	p = put(p, header->type);
	p = put(p, header->n_columns);
	p = put(p, header->session);
	p = put(p, header->n_rows);
	p = put(p, header->sequence);
	p = put(p, header->raw_bytes);
	p = put(p, header->stored_bytes);
	if (header->first_id)
		p = put(p, header->first_id);
	if (has_times) {
		p = put(p, header->earliest_ns);
		p = put(p, header->latest_ns - header->earliest_ns);
		p = put(p, header->duration_ns);
		p = put(p, header->amount_bytes);
	}
	if (header->calls)
		p = put(p, header->calls);
	header->short_bytes = (uint32_t)(p - to) + CHECKSUM_BYTES;
	to[2] = (uint8_t)header->short_bytes;
	memcpy(p, &header->payload_checksum, sizeof(header->payload_checksum));
	p += sizeof(header->payload_checksum);
	header->checksum = ts_crc32c(to, (size_t)(p - to));
	memcpy(p, &header->checksum, sizeof(header->checksum));
	return header->short_bytes;
}

static const uint8_t *get_times(const uint8_t *p, const uint8_t *end,
				struct ts_sbt_block_header *header)
{
	uint64_t span_ns = 0;

	p = get(p, end, UINT64_MAX, &header->earliest_ns);
	p = get(p, end, UINT64_MAX, &span_ns);
	p = get(p, end, UINT64_MAX, &header->duration_ns);
	p = get(p, end, UINT64_MAX, &header->amount_bytes);
	header->latest_ns = header->earliest_ns + span_ns;
	return p;
}

static const char *parse_short(const uint8_t *bytes, struct ts_sbt_block_header *ret_header)
{
	const uint8_t *p = bytes + FIXED_BYTES - 1, *end = bytes + bytes[2] - CHECKSUM_BYTES;
	struct ts_sbt_block_header header = {.magic = TS_SBT_BLOCK_MAGIC,
					     .version = TS_SBT_BLOCK_VERSION,
					     .short_bytes = bytes[2]};
	uint64_t type = 0, n_columns = 0, session = 0, n_rows = 0, first_id = 0, calls = 0;

	memcpy(&header.payload_checksum, end, sizeof(header.payload_checksum));
	memcpy(&header.checksum, end + sizeof(header.payload_checksum), sizeof(header.checksum));
	if (header.checksum != ts_crc32c(bytes, bytes[2] - sizeof(header.checksum)))
		return "a block header's checksum is wrong";
	header.flags = bytes[3] & TS_SBT_SHORT_BLOCK_FLAGS;
	p = get(p, end, UINT16_MAX, &type);
	p = get(p, end, UINT16_MAX, &n_columns);
	p = get(p, end, UINT32_MAX, &session);
	p = get(p, end, UINT32_MAX, &n_rows);
	p = get(p, end, UINT64_MAX, &header.sequence);
	p = get(p, end, UINT64_MAX, &header.raw_bytes);
	p = get(p, end, UINT64_MAX, &header.stored_bytes);
	if (bytes[3] & HAS_FIRST_ID)
		p = get(p, end, UINT32_MAX, &first_id);
	if (bytes[3] & HAS_TIMES)
		p = get_times(p, end, &header);
	if (bytes[3] & HAS_CALLS)
		p = get(p, end, UINT32_MAX, &calls);
	if (p != end || bytes[3] >= FLAGS_END)
		return "a block header has a wrong size";
	if (bytes[3] & HAS_CALLS && !calls)
		return "a block header does not say where its calls are";
	header.type = (uint16_t)type;
	header.n_columns = (uint16_t)n_columns;
	header.session = (uint32_t)session;
	header.n_rows = (uint32_t)n_rows;
	header.first_id = (uint32_t)first_id;
	header.calls = (uint32_t)calls;
	*ret_header = header;
	return NULL;
}

int ts_block_header_parse(const uint8_t *bytes, size_t n, struct ts_sbt_block_header *ret_header,
			  const char **ret_why)
{
	const char *why;

	if (n >= 3 && bytes[0] == MAGIC_0 && bytes[1] == MAGIC_1) {
		if (bytes[2] > n)
			return TS_SBT_E_END;
		why = bytes[2] < FIXED_BYTES + CHECKSUM_BYTES || bytes[2] > TS_SHORT_MAX_HEADER
			      ? "a block header has a wrong size"
			      : parse_short(bytes, ret_header);
		why = why ?: ts_block_header_limits(ret_header);
	} else {
		if (n < sizeof(*ret_header))
			return TS_SBT_E_END;
		memcpy(ret_header, bytes, sizeof(*ret_header));
		why = ts_block_header_check(ret_header);
		ret_header->short_bytes = ret_header->calls = 0; /* reserved in the file */
	}
	*ret_why = why;
	return why ? TS_SBT_E_CORRUPT : 0;
}

bool ts_block_is_magic(const uint8_t bytes[4])
{
	uint32_t magic;

	memcpy(&magic, bytes, sizeof(magic));
	return magic == TS_SBT_BLOCK_MAGIC ||
	       (bytes[0] == MAGIC_0 && bytes[1] == MAGIC_1 && bytes[2] <= TS_SHORT_MAX_HEADER &&
		bytes[3] < FLAGS_END);
}

/* The base that most columns with this predictor have. */
static uint16_t usual_base(const struct ts_sbt_column_header *column)
{
	return column->predictor == TS_SBT_LAST	    ? column->id
	       : column->predictor == TS_SBT_COLUMN ? 1
						    : 0;
}

/* The encoded bytes of a column whose encoding fixes them. */
static uint64_t fixed_bytes(const struct ts_sbt_column_header *column)
{
	return (column->encoding == TS_SBT_RAW ? (uint64_t)column->n_values : 1) * column->width;
}

static unsigned width_code(uint16_t width)
{
	unsigned code = (unsigned)__builtin_ctz(width);

	return width == 1u << code && code < SCALED_WIDTH ? code : OTHER_WIDTH;
}

static uint8_t *put_entry(uint8_t *p, const struct ts_sbt_column_header *column, uint16_t last_id,
			  uint32_t n_rows)
{
	bool is_scaled = column->encoding == TS_SBT_SCALED;
	unsigned code = is_scaled ? SCALED_WIDTH : width_code(column->width);
	unsigned more = column->flags | (column->base != usual_base(column) ? HAS_BASE : 0) |
			(column->key ? HAS_KEY : 0) | (column->context ? HAS_CONTEXT : 0) |
			(column->trend ? HAS_TREND : 0) |
			(column->n_values != n_rows ? HAS_VALUES : 0);

	p = put(p, (uint64_t)(column->id - last_id));
	*p++ = (uint8_t)((column->encoding & 3) | column->predictor << PREDICTOR_SHIFT |
			 code << WIDTH_SHIFT | (more ? HAS_MORE : 0));
	if (code == OTHER_WIDTH)
		p = put(p, column->width);
	if (more)
		*p++ = (uint8_t)more;
	if (more & HAS_BASE)
		p = put(p, column->base);
	if (more & HAS_KEY)
		p = put(p, (uint16_t)(column->key - TS_SBT_COLUMN_PLACE));
	if (more & HAS_CONTEXT)
		p = put(p, (uint16_t)(column->context - TS_SBT_COLUMN_PLACE));
	if (more & HAS_TREND)
		*p++ = column->trend;
	if (more & HAS_VALUES)
		p = put(p, column->n_values);
	if (column->encoding == TS_SBT_PLANES)
		*p++ = column->n_planes;
	if (column->encoding >= TS_SBT_VARINTS)
		p = put(p, column->n_bytes);
	return p;
}

static bool is_shortenable(const struct ts_sbt_column_header *column, uint16_t last_id)
{
	return column->id > last_id && column->width && column->encoding < TS_SBT_ENCODING_COUNT &&
	       column->predictor <= TS_SBT_GROUPED && column->flags <= FLAGS_MASK &&
	       (column->encoding == TS_SBT_PLANES || !column->n_planes) && !column->reserved &&
	       (column->encoding != TS_SBT_SCALED || column->width == 8) &&
	       (column->encoding >= TS_SBT_VARINTS || column->n_bytes == fixed_bytes(column));
}

bool ts_short_payload_put(struct ts_buffer *raw, uint16_t n_columns, uint32_t n_rows,
			  size_t *ret_saved)
{
	size_t directory = n_columns * sizeof(struct ts_sbt_column_header);
	uint8_t entries[TS_SBT_MAX_COLUMNS * MAX_ENTRY_BYTES], *p = entries;
	struct ts_sbt_column_header column = {0};
	size_t n;

	for (uint16_t i = 0; i < n_columns; i++) {
		uint16_t last_id = column.id;

		memcpy(&column, raw->bytes + i * sizeof(column), sizeof(column));
		if (!is_shortenable(&column, last_id))
			return false;
		p = put_entry(p, &column, last_id, n_rows);
	}
	n = (size_t)(p - entries);
	if (n >= directory)
		return false;
	memcpy(raw->bytes, entries, n);
	memmove(raw->bytes + n, raw->bytes + directory, raw->n - directory);
	*ret_saved = directory - n;
	raw->n -= *ret_saved;
	return true;
}

/* Reads a field if `is_there`; else sets *ret to `other`. */
static const uint8_t *get_if(const uint8_t *p, const uint8_t *end, bool is_there, uint64_t max,
			     uint64_t other, uint64_t *ret)
{
	*ret = other;
	return is_there ? get(p, end, max, ret) : p;
}

/* Reads an entry. Returns the end of its bytes, or NULL if it is invalid. */
static const uint8_t *get_entry(const uint8_t *p, const uint8_t *end, uint16_t last_id,
				uint32_t n_rows, struct ts_sbt_column_header *ret_column)
{
	struct ts_sbt_column_header column = {0};
	uint64_t id = 0, a = 0, b, width, base, key, context, trend, n_values, n_planes, n_bytes;

	p = get(p, end, UINT16_MAX - last_id, &id);
	if (!p || p == end)
		return NULL;
	a = *p++;
	column.id = (uint16_t)(last_id + id);
	column.encoding = a & 3;
	column.predictor = a >> PREDICTOR_SHIFT & 3;
	width = a >> WIDTH_SHIFT & 7;
	if (width == SCALED_WIDTH) {
		column.encoding += TS_SBT_SCALED;
		width = 3;
	}
	p = get_if(p, end, width == OTHER_WIDTH, TS_SBT_MAX_WIDTH, UINT64_C(1) << width, &width);
	column.width = (uint16_t)width;
	if (a & HAS_MORE && (!p || p == end))
		return NULL;
	b = a & HAS_MORE ? *p++ : 0;
	column.flags = b & FLAGS_MASK;
	p = get_if(p, end, b & HAS_BASE, UINT16_MAX, usual_base(&column), &base);
	p = get_if(p, end, b & HAS_KEY, UINT16_MAX, (uint16_t)-TS_SBT_COLUMN_PLACE, &key);
	p = get_if(p, end, b & HAS_CONTEXT, UINT16_MAX, (uint16_t)-TS_SBT_COLUMN_PLACE, &context);
	p = get_if(p, end, b & HAS_TREND, UINT8_MAX, 0, &trend);
	p = get_if(p, end, b & HAS_VALUES, UINT32_MAX, n_rows, &n_values);
	p = get_if(p, end, column.encoding == TS_SBT_PLANES, UINT8_MAX, 0, &n_planes);
	column.n_values = (uint32_t)n_values;
	p = get_if(p, end, column.encoding >= TS_SBT_VARINTS, UINT32_MAX, fixed_bytes(&column),
		   &n_bytes);
	if (!p || !id || n_bytes > UINT32_MAX)
		return NULL;
	column.base = (uint16_t)base;
	column.key = (uint16_t)(key + TS_SBT_COLUMN_PLACE);
	column.context = (uint16_t)(context + TS_SBT_COLUMN_PLACE);
	column.trend = (uint8_t)trend;
	column.n_planes = (uint8_t)n_planes;
	column.n_bytes = (uint32_t)n_bytes;
	*ret_column = column;
	return p;
}

const char *ts_short_payload_expand(const struct ts_sbt_block_header *header, const uint8_t *bytes,
				    size_t n, uint8_t *raw)
{
	size_t directory = header->n_columns * sizeof(struct ts_sbt_column_header);
	const uint8_t *p = bytes, *end = bytes + n;
	struct ts_sbt_column_header column = {0};

	for (uint16_t i = 0; i < header->n_columns; i++) {
		p = get_entry(p, end, column.id, header->n_rows, &column);
		if (!p)
			return "a short column directory is invalid";
		memcpy(raw + i * sizeof(column), &column, sizeof(column));
	}
	if ((size_t)(end - p) != header->raw_bytes - directory)
		return "a short block does not have its size";
	memcpy(raw + directory, p, (size_t)(end - p));
	return NULL;
}
