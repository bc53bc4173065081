/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects rows as columns; dataset.c calls this file for each row, and message.c writes the
 * columns. They follow from the message's descriptor, so a new field of a row needs no change here.
 */
#include "tools/export/arrow/arrow-table.h"

#include "proto/abi/base.h"
#include "proto/abi/utf8.h"

#include <errno.h>
#include <sys/random.h>

#define REPLACEMENT "\xef\xbf\xbd"

static uint32_t bits_of(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		return 1;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_INT32:
		return 32;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 64;
	default:
		return 0;
	}
}

static int start_texts(struct ts_arrow_column *column)
{
	const int32_t begin = 0;
	uint64_t seed = 0;

	ts_intern_deinit(&column->texts);
	/* Without randomness an attacker could make names collide, which costs only time. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = 1;
	ts_intern_init(&column->texts, seed);
	column->text_ends.n = 0;
	column->last = UINT32_MAX;
	return ts_buffer_append(&column->text_ends, &begin, sizeof(begin));
}

int ts_arrow_table_clear(struct ts_arrow_table *table)
{
	int r = 0;

	table->n_rows = 0;
	table->n_text_bytes = 0;
	for (unsigned int i = 0; !r && i < table->n_columns; i++) {
		struct ts_arrow_column *column = &table->columns[i];

		column->values.n = 0;
		column->validity.n = 0;
		if (ts_arrow_column_is_text(column))
			r = start_texts(column);
	}
	return r;
}

int ts_arrow_table_init(struct ts_arrow_table *table, const ProtobufCMessageDescriptor *descriptor)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &descriptor->fields[i];

		if (!bits_of(field) || !strcmp(field->name, "type"))
			continue;
		if (n == TS_ARROW_MAX_COLUMNS)
			return -E2BIG;
		table->columns[n].field = field;
		table->columns[n++].bits = bits_of(field);
	}
	table->n_columns = n;
	table->descriptor = descriptor;
	return ts_arrow_table_clear(table);
}

void ts_arrow_table_deinit(struct ts_arrow_table *table)
{
	for (unsigned int i = 0; i < TS_ARROW_MAX_COLUMNS; i++) {
		struct ts_arrow_column *column = &table->columns[i];

		ts_buffer_deinit(&column->values);
		ts_buffer_deinit(&column->validity);
		ts_buffer_deinit(&column->text_ends);
		ts_intern_deinit(&column->texts);
	}
	ts_buffer_deinit(&table->clean);
	ts_buffer_deinit(&table->numbers);
}

bool ts_arrow_table_is_full(const struct ts_arrow_table *table)
{
	return table->n_rows >= TS_ARROW_FILE_ROWS ||
	       table->n_text_bytes >= TS_ARROW_FILE_TEXT_BYTES;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Appends bit number `i`; bits are appended in order. */
static int add_bit(struct ts_buffer *bits, uint32_t i, bool value)
{
	const uint8_t zero = 0;

	if (i % 8 == 0 && ts_buffer_append(bits, &zero, 1))
		return -ENOMEM;
	bits->bytes[i / 8] |= (uint8_t)(value << i % 8);
	return 0;
}

/* Copies the text as JSON has it: each invalid byte becomes U+FFFD. */
static int clean_text(struct ts_buffer *clean, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	int r = 0;

	clean->n = 0;
	while (!r && *p) {
		size_t length = 0;

		/* Nearly all characters are ASCII. */
		while (p[length] - 1u < 0x7fu)
			length++;
		length = length ? length : ts_utf8_length(p, strnlen((const char *)p, 4));
		r = length ? ts_buffer_append(clean, p, length)
			   : ts_buffer_append(clean, REPLACEMENT, strlen(REPLACEMENT));
		p += length ? length : 1;
	}
	return r;
}

static bool is_last(const struct ts_arrow_column *column, const char *text, size_t n_bytes)
{
	const struct ts_intern_string *string;

	if (column->last == UINT32_MAX)
		return false;
	string = &column->texts.strings[column->last];
	return string->n_bytes == n_bytes &&
	       !memcmp(column->texts.bytes.bytes + string->off, text, n_bytes);
}

int ts_arrow_table_number(struct ts_arrow_table *table, struct ts_arrow_column *column,
			  const void *text, uint32_t n_bytes, uint32_t *ret_number)
{
	int32_t end;
	uint8_t *space;
	uint32_t id;
	bool is_new;
	int r = ts_buffer_reserve(&column->text_ends, sizeof(end), &space);

	r = r ? r : ts_intern(&column->texts, text, n_bytes, &id, &is_new);
	if (r)
		return r == -EOVERFLOW ? -ENOMEM : r;
	if (is_new) {
		end = (int32_t)column->texts.bytes.n;
		ts_buffer_append(&column->text_ends, &end, sizeof(end));
		table->n_text_bytes += n_bytes + sizeof(end);
	}
	*ret_number = id - 1;
	return 0;
}

static int add_text(struct ts_arrow_table *table, struct ts_arrow_column *column, const char *text)
{
	size_t n_bytes = strlen(text);
	int r;

	if (is_last(column, text, n_bytes))
		return ts_buffer_append(&column->values, &column->last, sizeof(column->last));
	r = clean_text(&table->clean, text);
	if (!r && table->clean.n > TS_ARROW_FILE_TEXT_BYTES)
		r = -E2BIG;
	r = r ? r
	      : ts_arrow_table_number(table, column, table->clean.bytes, (uint32_t)table->clean.n,
				      &column->last);
	return r ? r : ts_buffer_append(&column->values, &column->last, sizeof(column->last));
}

static bool is_present(const struct ts_arrow_column *column, const void *row)
{
	const ProtobufCFieldDescriptor *field = column->field;
	protobuf_c_boolean has;
	const char *text;

	if (ts_arrow_column_is_text(column)) {
		memcpy(&text, (const uint8_t *)row + field->offset, sizeof(text));
		return text != NULL;
	}
	memcpy(&has, (const uint8_t *)row + field->quantifier_offset, sizeof(has));
	return has;
}

static int add_value(struct ts_arrow_table *table, struct ts_arrow_column *column, const void *row)
{
	const uint8_t *at = (const uint8_t *)row + column->field->offset;
	const uint64_t zero = 0;
	bool present = is_present(column, row);
	protobuf_c_boolean flag = 0;
	const char *text;
	int r = add_bit(&column->validity, table->n_rows, present);

	if (r)
		return r;
	if (column->bits == 1) {
		if (present)
			memcpy(&flag, at, sizeof(flag));
		return add_bit(&column->values, table->n_rows, flag);
	}
	if (!present)
		return ts_buffer_append(&column->values, &zero, column->bits / 8);
	if (!ts_arrow_column_is_text(column))
		return ts_buffer_append(&column->values, at, column->bits / 8);
	memcpy(&text, at, sizeof(text));
	return add_text(table, column, text);
}

int ts_arrow_table_add(struct ts_arrow_table *table, const ProtobufCMessage *row)
{
	int r = 0;

	for (unsigned int i = 0; !r && i < table->n_columns; i++)
		r = add_value(table, &table->columns[i], row);
	table->n_rows += !r;
	return r;
}

uint32_t ts_arrow_column_nulls(const struct ts_arrow_column *column, uint32_t from, uint32_t n)
{
	uint32_t n_valid = 0;

	/* `from` is the first row of a batch: a multiple of 8. Bits behind the last row are 0. */
	for (uint32_t i = from / 8; i < (from + n + 7) / 8; i++)
		n_valid += (uint32_t)__builtin_popcount(column->validity.bytes[i]);
	return n - n_valid;
}
