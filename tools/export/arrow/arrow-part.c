/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a table: see arrow-part.h. dataset.c calls this file. Values are copied as they are.
 * Indexes of texts are translated: the first row with a text adds the text to the table's
 * dictionary, so the texts have the order of ts_arrow_table_add().
 */
#include "tools/export/arrow/arrow-part.h"

#include <errno.h>

#include "proto/abi/base.h"

#define ALIGN	  8u
#define NO_NUMBER UINT32_MAX

/* Sizes of a column's parts, which follow in this order, each padded. */
struct column {
	uint64_t values_bytes, validity_bytes, ends_bytes, texts_bytes;
};

static void put(struct ts_json *text, const void *bytes, size_t n_bytes)
{
	static const uint8_t zeros[ALIGN];

	if (n_bytes)
		ts_json_bytes(text, bytes, n_bytes);
	ts_json_bytes(text, zeros, ts_align_up(n_bytes, ALIGN) - n_bytes);
}

int ts_arrow_part_put(const struct ts_arrow_table *table, uint64_t slice, struct ts_json *text)
{
	const size_t start = text->n_bytes;
	struct ts_arrow_part part = {.slice = slice,
				     .n_text_bytes = table->n_text_bytes,
				     .n_rows = table->n_rows,
				     .n_columns = table->n_columns,
				     .descriptor = table->descriptor};

	put(text, &part, sizeof(part));
	for (unsigned int i = 0; i < table->n_columns; i++) {
		const struct ts_arrow_column *column = &table->columns[i];
		const struct column sizes = {.values_bytes = column->values.n,
					     .validity_bytes = column->validity.n,
					     .ends_bytes = column->text_ends.n,
					     .texts_bytes = column->texts.bytes.n};

		put(text, &sizes, sizeof(sizes));
		put(text, column->values.bytes, column->values.n);
		put(text, column->validity.bytes, column->validity.n);
		put(text, column->text_ends.bytes, column->text_ends.n);
		put(text, column->texts.bytes.bytes, column->texts.bytes.n);
	}
	if (text->error)
		return text->error;
	part.n_bytes = text->n_bytes - start;
	memcpy(text->data + start, &part, sizeof(part));
	return 0;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* The parts of a column, in a part. */
struct source {
	const uint8_t *values, *validity, *texts;
	const uint8_t *ends; /* int32_t */
	size_t n_texts;
};

static const uint8_t *take(const uint8_t **at, uint64_t n_bytes)
{
	const uint8_t *taken = *at;

	*at += ts_align_up(n_bytes, ALIGN);
	return taken;
}

static struct source next_source(const uint8_t **at)
{
	struct column sizes;
	struct source source;

	memcpy(&sizes, take(at, sizeof(sizes)), sizeof(sizes));
	source.values = take(at, sizes.values_bytes);
	source.validity = take(at, sizes.validity_bytes);
	source.ends = take(at, sizes.ends_bytes);
	source.texts = take(at, sizes.texts_bytes);
	source.n_texts = sizes.ends_bytes ? sizes.ends_bytes / sizeof(int32_t) - 1 : 0;
	return source;
}

static bool bit_at(const uint8_t *bits, uint32_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

/* Appends bits [from, from + n) of `source` as bits from number `at` on. */
static int add_bits(struct ts_buffer *bits, uint32_t at, const uint8_t *source, uint32_t from,
		    uint32_t n)
{
	const size_t n_bytes = ((size_t)at + n + 7) / 8, n_more = n_bytes - bits->n;
	uint8_t *space;

	if (ts_buffer_reserve(bits, n_more, &space))
		return -ENOMEM;
	bits->n = n_bytes;
	if (at % 8 == 0 && from % 8 == 0) {
		memcpy(space, source + from / 8, n_more);
		if (n % 8)
			bits->bytes[n_bytes - 1] &= (uint8_t)((1u << n % 8) - 1);
		return 0;
	}
	memset(space, 0, n_more);
	for (uint32_t i = 0; i < n;) {
		const uint32_t n_free = 8 - (at + i) % 8, left = 8 - (from + i) % 8;
		uint32_t k = n - i < n_free ? n - i : n_free;
		uint32_t taken;

		k = k < left ? k : left;
		taken = source[(from + i) / 8] >> (from + i) % 8 & ((1u << k) - 1);
		bits->bytes[(at + i) / 8] |= (uint8_t)(taken << (at + i) % 8);
		i += k;
	}
	return 0;
}

static int add_text(struct ts_arrow_table *table, struct ts_arrow_column *column,
		    const struct source *source, uint32_t number, uint32_t *ret_number)
{
	int32_t ends[2];

	memcpy(ends, source->ends + number * sizeof(ends[0]), sizeof(ends));
	return ts_arrow_table_number(table, column, source->texts + ends[0],
				     (uint32_t)(ends[1] - ends[0]), ret_number);
}

static int add_texts(struct ts_arrow_table *table, struct ts_arrow_column *column,
		     const struct source *source, uint32_t from, uint32_t n)
{
	uint32_t *numbers;
	uint8_t *space;
	int r;

	/* The table's numbers of the part's texts. */
	table->numbers.n = 0;
	r = ts_buffer_reserve(&table->numbers, source->n_texts * sizeof(*numbers), &space);
	if (r)
		return r;
	if (source->n_texts)
		memset(space, 0xff, source->n_texts * sizeof(*numbers));
	numbers = (void *)space;
	r = ts_buffer_reserve(&column->values, n * sizeof(*numbers), &space);
	for (uint32_t i = from; !r && i < from + n; i++) {
		uint32_t number = 0;

		if (bit_at(source->validity, i)) {
			memcpy(&number, source->values + i * sizeof(number), sizeof(number));
			if (numbers[number] == NO_NUMBER)
				r = add_text(table, column, source, number, &numbers[number]);
			number = numbers[number];
		}
		memcpy(space, &number, sizeof(number));
		space += sizeof(number);
	}
	if (!r)
		column->values.n += n * sizeof(*numbers);
	return r;
}

static int add_column(struct ts_arrow_table *table, struct ts_arrow_column *column,
		      const struct source *source, uint32_t from, uint32_t n)
{
	const uint32_t bytes = column->bits / 8;
	int r = add_bits(&column->validity, table->n_rows, source->validity, from, n);

	if (r)
		return r;
	if (column->bits == 1)
		return add_bits(&column->values, table->n_rows, source->values, from, n);
	if (ts_arrow_column_is_text(column))
		return add_texts(table, column, source, from, n);
	return ts_buffer_append(&column->values, source->values + (size_t)from * bytes,
				(size_t)n * bytes);
}

static int add_rows(struct ts_arrow_table *table, const struct ts_arrow_part *part, uint32_t from,
		    uint32_t n)
{
	const uint8_t *at = (const uint8_t *)part + ts_align_up(sizeof(*part), ALIGN);
	int r = 0;

	for (unsigned int i = 0; !r && i < part->n_columns; i++) {
		const struct source source = next_source(&at);

		r = add_column(table, &table->columns[i], &source, from, n);
	}
	table->n_rows += r ? 0 : n;
	return r;
}

int ts_arrow_part_add(struct ts_arrow_table *table, const struct ts_arrow_part *part,
		      uint32_t *from)
{
	int r = table->n_columns ? 0 : ts_arrow_table_init(table, part->descriptor);

	while (!r && *from < part->n_rows && !ts_arrow_table_is_full(table)) {
		const uint32_t n_free = TS_ARROW_FILE_ROWS - table->n_rows;
		uint32_t n = part->n_rows - *from;

		n = n < n_free ? n : n_free;
		/* The texts may fill the table at any row. */
		if (table->n_text_bytes + part->n_text_bytes >= TS_ARROW_FILE_TEXT_BYTES)
			n = 1;
		r = add_rows(table, part, *from, n);
		*from += n;
	}
	return r;
}
