/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Arrow's messages; dataset.c calls this file for each table, and flat.c makes the headers.
 * A message is a mark, the length of its header, the header as a FlatBuffer, and a body of buffers.
 * The order of the fields in a table here is that of Arrow's .fbs files.
 */
#include "tools/export/arrow/message.h"

#include "proto/abi/base.h"
#include "tools/export/arrow/flat.h"

#include <errno.h>

#define MAGIC	      "ARROW1\0\0" /* with its padding */
#define MAGIC_BYTES   8u
#define END_BYTES     6u /* the magic without padding, at the end of the file */
#define CONTINUATION  UINT32_MAX
#define PREFIX_BYTES  8u
#define ALIGN	      64u
#define VERSION_5     4
#define MAX_NODES     TS_ARROW_MAX_COLUMNS
#define MAX_BUFFERS   (2u * TS_ARROW_MAX_COLUMNS)
#define STRUCT_BYTES  16u /* of FieldNode and Buffer: two int64_t */
#define BLOCK_BYTES   24u
#define MAX_BATCHES   (TS_ARROW_FILE_ROWS / TS_ARROW_BATCH_ROWS)
#define MAX_BLOCKS    (TS_ARROW_MAX_COLUMNS + MAX_BATCHES)
#define DOUBLE_FORMAT 2 /* enum Precision: DOUBLE */

enum {
	HEADER_SCHEMA = 1,
	HEADER_DICTIONARY = 2,
	HEADER_BATCH = 3
};
enum {
	TYPE_INT = 2,
	TYPE_FLOAT = 3,
	TYPE_UTF8 = 5,
	TYPE_BOOL = 6
};

/* Position of a message in the file, for the footer. */
struct block {
	uint64_t off;
	uint32_t header_bytes;
	uint64_t body_bytes;
};

/* The buffers of a body, and the length of each array. */
struct body {
	struct {
		const void *bytes;
		uint64_t n_bytes, off;
	} buffers[MAX_BUFFERS];
	struct {
		uint64_t n_rows, n_nulls;
	} nodes[MAX_NODES];
	unsigned int n_buffers, n_nodes;
	uint64_t n_rows, n_bytes;
};

struct output {
	FILE *file;
	struct ts_flat flat;
	uint64_t off;
	struct block blocks[MAX_BLOCKS]; /* dictionaries, then batches */
	unsigned int n_dictionaries, n_blocks;
};

static uint64_t padded(uint64_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static void put(struct output *output, const void *bytes, size_t n)
{
	if (n)
		fwrite(bytes, 1, n, output->file);
	output->off += n;
}

static void pad(struct output *output)
{
	static const uint8_t zeros[ALIGN];

	put(output, zeros, padded(output->off) - output->off);
}

/* ---- schema ---------------------------------------------------------------------------------- */

static void put_type(struct ts_flat *flat, const struct ts_arrow_column *column, uint32_t at)
{
	const ProtobufCType type = column->field->type;
	struct ts_flat_field number[] = {TS_FLAT_I32(column->bits),
					 TS_FLAT_I8(type != PROTOBUF_C_TYPE_UINT32 &&
						    type != PROTOBUF_C_TYPE_UINT64)};
	struct ts_flat_field precision[] = {TS_FLAT_I16(DOUBLE_FORMAT)};

	if (type == PROTOBUF_C_TYPE_DOUBLE)
		ts_flat_refer(flat, at, ts_flat_table(flat, precision, 1));
	else if (type == PROTOBUF_C_TYPE_STRING || type == PROTOBUF_C_TYPE_BOOL)
		ts_flat_refer(flat, at, ts_flat_table(flat, NULL, 0));
	else
		ts_flat_refer(flat, at, ts_flat_table(flat, number, TS_ARRAY_LEN(number)));
}

static uint8_t type_number(const struct ts_arrow_column *column)
{
	switch (column->field->type) {
	case PROTOBUF_C_TYPE_STRING:
		return TYPE_UTF8;
	case PROTOBUF_C_TYPE_BOOL:
		return TYPE_BOOL;
	case PROTOBUF_C_TYPE_DOUBLE:
		return TYPE_FLOAT;
	default:
		return TYPE_INT;
	}
}

static void put_field(struct ts_flat *flat, const struct ts_arrow_column *column, uint32_t number,
		      uint32_t at)
{
	struct ts_flat_field field[] = {TS_FLAT_REFERENCE,
					TS_FLAT_I8(true), /* nullable */
					TS_FLAT_I8(type_number(column)),
					TS_FLAT_REFERENCE,
					TS_FLAT_ABSENT, /* dictionary */
					TS_FLAT_REFERENCE};
	struct ts_flat_field encoding[] = {TS_FLAT_I64(number), TS_FLAT_REFERENCE};
	struct ts_flat_field index[] = {TS_FLAT_I32(32), TS_FLAT_I8(true)};

	if (ts_arrow_column_is_text(column))
		field[4].width = sizeof(uint32_t);
	ts_flat_refer(flat, at, ts_flat_table(flat, field, TS_ARRAY_LEN(field)));
	ts_flat_refer(flat, field[0].at, ts_flat_string(flat, column->field->name));
	put_type(flat, column, field[3].at);
	if (ts_arrow_column_is_text(column)) {
		ts_flat_refer(flat, field[4].at,
			      ts_flat_table(flat, encoding, TS_ARRAY_LEN(encoding)));
		ts_flat_refer(flat, encoding[1].at,
			      ts_flat_table(flat, index, TS_ARRAY_LEN(index)));
	}
	/* Readers require the list of children, although it is empty. */
	ts_flat_refer(flat, field[5].at, ts_flat_vector(flat, 0, sizeof(uint32_t)));
}

static void put_facts(struct ts_flat *flat, const struct ts_arrow_fact *facts, size_t n_facts,
		      uint32_t at)
{
	uint32_t vector = ts_flat_vector(flat, (uint32_t)n_facts, sizeof(uint32_t));

	ts_flat_refer(flat, at, vector);
	for (uint32_t i = 0; i < n_facts; i++) {
		struct ts_flat_field fact[] = {TS_FLAT_REFERENCE, TS_FLAT_REFERENCE};
		uint32_t entry = vector + TS_FLAT_VECTOR_HEADER + i * (uint32_t)sizeof(uint32_t);

		ts_flat_refer(flat, entry, ts_flat_table(flat, fact, TS_ARRAY_LEN(fact)));
		ts_flat_refer(flat, fact[0].at, ts_flat_string(flat, facts[i].key));
		ts_flat_refer(flat, fact[1].at, ts_flat_string(flat, facts[i].value));
	}
}

static void put_schema(struct ts_flat *flat, const struct ts_arrow_table *table,
		       const struct ts_arrow_fact *facts, size_t n_facts, uint32_t at)
{
	struct ts_flat_field schema[] = {TS_FLAT_I16(0), /* little-endian */
					 TS_FLAT_REFERENCE, TS_FLAT_REFERENCE};
	uint32_t vector;

	ts_flat_refer(flat, at, ts_flat_table(flat, schema, TS_ARRAY_LEN(schema)));
	vector = ts_flat_vector(flat, table->n_columns, sizeof(uint32_t));
	ts_flat_refer(flat, schema[1].at, vector);
	for (uint32_t i = 0; i < table->n_columns; i++)
		put_field(flat, &table->columns[i], i,
			  vector + TS_FLAT_VECTOR_HEADER + i * (uint32_t)sizeof(uint32_t));
	put_facts(flat, facts, n_facts, schema[2].at);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Starts the header of a message, and returns the position of the reference to its content. */
static uint32_t begin_message(struct ts_flat *flat, uint8_t header, uint64_t body_bytes)
{
	struct ts_flat_field message[] = {TS_FLAT_I16(VERSION_5), TS_FLAT_I8(header),
					  TS_FLAT_REFERENCE, TS_FLAT_I64(body_bytes)};

	ts_flat_begin(flat);
	ts_flat_refer(flat, 0, ts_flat_table(flat, message, TS_ARRAY_LEN(message)));
	return message[2].at;
}

/* Writes the header; the body begins at a multiple of ALIGN. */
static int end_message(struct output *output, struct block *ret_block)
{
	struct ts_flat *flat = &output->flat;
	uint32_t prefix[2] = {CONTINUATION};
	uint64_t end;

	end = output->off + PREFIX_BYTES + flat->buffer.n;
	ts_flat_pad(flat, (uint32_t)(padded(end) - end));
	if (flat->error)
		return flat->error;
	prefix[1] = (uint32_t)flat->buffer.n;
	*ret_block = (struct block){.off = output->off,
				    .header_bytes = PREFIX_BYTES + (uint32_t)flat->buffer.n};
	put(output, prefix, sizeof(prefix));
	put(output, flat->buffer.bytes, flat->buffer.n);
	return 0;
}

static void add_buffer(struct body *body, const void *bytes, uint64_t n_bytes)
{
	body->buffers[body->n_buffers].bytes = bytes;
	body->buffers[body->n_buffers].n_bytes = n_bytes;
	body->buffers[body->n_buffers++].off = body->n_bytes;
	body->n_bytes += padded(n_bytes);
}

static void add_node(struct body *body, uint64_t n_rows, uint64_t n_nulls)
{
	body->nodes[body->n_nodes].n_rows = n_rows;
	body->nodes[body->n_nodes++].n_nulls = n_nulls;
}

/* Appends a RecordBatch, which describes the body. */
static void put_batch(struct ts_flat *flat, const struct body *body, uint32_t at)
{
	struct ts_flat_field batch[] = {TS_FLAT_I64(body->n_rows), TS_FLAT_REFERENCE,
					TS_FLAT_REFERENCE};
	uint32_t entry;

	ts_flat_refer(flat, at, ts_flat_table(flat, batch, TS_ARRAY_LEN(batch)));
	entry = ts_flat_vector(flat, body->n_nodes, STRUCT_BYTES);
	ts_flat_refer(flat, batch[1].at, entry);
	entry += TS_FLAT_VECTOR_HEADER;
	for (unsigned int i = 0; i < body->n_nodes; i++, entry += STRUCT_BYTES) {
		ts_flat_put(flat, entry, 8, body->nodes[i].n_rows);
		ts_flat_put(flat, entry + 8, 8, body->nodes[i].n_nulls);
	}
	entry = ts_flat_vector(flat, body->n_buffers, STRUCT_BYTES);
	ts_flat_refer(flat, batch[2].at, entry);
	entry += TS_FLAT_VECTOR_HEADER;
	for (unsigned int i = 0; i < body->n_buffers; i++, entry += STRUCT_BYTES) {
		ts_flat_put(flat, entry, 8, body->buffers[i].off);
		ts_flat_put(flat, entry + 8, 8, body->buffers[i].n_bytes);
	}
}

/* Ends the message, writes its body, and notes it for the footer. */
static int put_body(struct output *output, const struct body *body)
{
	struct block block;
	int r = end_message(output, &block);

	if (r)
		return r;
	for (unsigned int i = 0; i < body->n_buffers; i++) {
		put(output, body->buffers[i].bytes, body->buffers[i].n_bytes);
		pad(output);
	}
	block.body_bytes = body->n_bytes;
	output->blocks[output->n_blocks++] = block;
	return 0;
}

static int put_dictionary(struct output *output, const struct ts_arrow_column *column,
			  uint32_t number)
{
	const uint32_t n = column->texts.last_id;
	struct ts_flat_field dictionary[] = {TS_FLAT_I64(number), TS_FLAT_REFERENCE};
	struct body body = {.n_rows = n};
	uint32_t at;

	add_node(&body, n, 0);
	add_buffer(&body, NULL, 0);
	add_buffer(&body, column->text_ends.bytes, column->text_ends.n);
	add_buffer(&body, column->texts.bytes.bytes, column->texts.bytes.n);
	at = begin_message(&output->flat, HEADER_DICTIONARY, body.n_bytes);
	ts_flat_refer(&output->flat, at,
		      ts_flat_table(&output->flat, dictionary, TS_ARRAY_LEN(dictionary)));
	put_batch(&output->flat, &body, dictionary[1].at);
	output->n_dictionaries++;
	return put_body(output, &body);
}

static int put_rows(struct output *output, const struct ts_arrow_table *table, uint32_t from)
{
	const uint32_t left = table->n_rows - from;
	const uint32_t n = left < TS_ARROW_BATCH_ROWS ? left : TS_ARROW_BATCH_ROWS;
	struct body body = {.n_rows = n};
	uint32_t at;

	for (unsigned int i = 0; i < table->n_columns; i++) {
		const struct ts_arrow_column *column = &table->columns[i];
		const uint32_t n_nulls = ts_arrow_column_nulls(column, from, n);

		add_node(&body, n, n_nulls);
		add_buffer(&body, column->validity.bytes + from / 8, n_nulls ? (n + 7) / 8 : 0);
		add_buffer(&body, column->values.bytes + (uint64_t)from * column->bits / 8,
			   ((uint64_t)n * column->bits + 7) / 8);
	}
	at = begin_message(&output->flat, HEADER_BATCH, body.n_bytes);
	put_batch(&output->flat, &body, at);
	return put_body(output, &body);
}

/* ---- file ------------------------------------------------------------------------------------ */

static void put_blocks(struct ts_flat *flat, const struct block *blocks, uint32_t n, uint32_t at)
{
	uint32_t entry = ts_flat_vector(flat, n, BLOCK_BYTES);

	ts_flat_refer(flat, at, entry);
	entry += TS_FLAT_VECTOR_HEADER;
	for (uint32_t i = 0; i < n; i++, entry += BLOCK_BYTES) {
		ts_flat_put(flat, entry, 8, blocks[i].off);
		ts_flat_put(flat, entry + 8, 4, blocks[i].header_bytes);
		ts_flat_put(flat, entry + 16, 8, blocks[i].body_bytes);
	}
}

static int put_footer(struct output *output, const struct ts_arrow_table *table,
		      const struct ts_arrow_fact *facts, size_t n_facts)
{
	struct ts_flat_field footer[] = {TS_FLAT_I16(VERSION_5), TS_FLAT_REFERENCE,
					 TS_FLAT_REFERENCE, TS_FLAT_REFERENCE};
	const uint32_t end_of_stream[2] = {CONTINUATION, 0};
	struct ts_flat *flat = &output->flat;
	uint32_t n_bytes;

	put(output, end_of_stream, sizeof(end_of_stream));
	ts_flat_begin(flat);
	ts_flat_refer(flat, 0, ts_flat_table(flat, footer, TS_ARRAY_LEN(footer)));
	put_schema(flat, table, facts, n_facts, footer[1].at);
	put_blocks(flat, output->blocks, output->n_dictionaries, footer[2].at);
	put_blocks(flat, output->blocks + output->n_dictionaries,
		   output->n_blocks - output->n_dictionaries, footer[3].at);
	ts_flat_pad(flat, (uint32_t)(padded(flat->buffer.n) - flat->buffer.n));
	if (flat->error)
		return flat->error;
	n_bytes = (uint32_t)flat->buffer.n;
	put(output, flat->buffer.bytes, n_bytes);
	put(output, &n_bytes, sizeof(n_bytes));
	put(output, MAGIC, END_BYTES);
	return 0;
}

int ts_arrow_write(const struct ts_arrow_table *table, const struct ts_arrow_fact *facts,
		   size_t n_facts, FILE *file)
{
	struct output output = {.file = file};
	struct block schema;
	uint32_t at;
	int r;

	put(&output, MAGIC, MAGIC_BYTES);
	at = begin_message(&output.flat, HEADER_SCHEMA, 0);
	put_schema(&output.flat, table, facts, n_facts, at);
	r = end_message(&output, &schema);
	for (uint32_t i = 0; !r && i < table->n_columns; i++)
		if (ts_arrow_column_is_text(&table->columns[i]))
			r = put_dictionary(&output, &table->columns[i], i);
	for (uint32_t from = 0; !r && from < table->n_rows; from += TS_ARROW_BATCH_ROWS)
		r = put_rows(&output, table, from);
	r = r ? r : put_footer(&output, table, facts, n_facts);
	ts_flat_deinit(&output.flat);
	return r;
}
