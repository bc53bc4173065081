/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrow files from messages of rows. test/integration/arrow.py reads whole files; here are the
 * limits, texts that are not UTF-8, tables from parts, and the layout of FlatBuffers.
 */
#include "proto/rpc/tracesmith.pb-c.h"
#include "test/unit/harness.h"
#include "tools/export/arrow/arrow-part.h"
#include "tools/export/arrow/flat.h"
#include "tools/export/arrow/message.h"

static uint32_t word(const struct ts_flat *flat, uint32_t at, uint32_t width)
{
	uint32_t value = 0;

	ts_check(at + width <= flat->buffer.n);
	memcpy(&value, flat->buffer.bytes + at, width);
	return value;
}

TS_TEST(tables_are_aligned_and_refer_forward)
{
	struct ts_flat flat = {0};

	/* Whatever is in front of a table, its numbers are aligned. */
	for (uint32_t before = 0; before < 16; before++) {
		struct ts_flat_field fields[] = {TS_FLAT_I8(7), TS_FLAT_I64(1), TS_FLAT_ABSENT,
						 TS_FLAT_REFERENCE, TS_FLAT_I16(9)};
		uint32_t table, vtable, text;

		ts_flat_begin(&flat);
		ts_flat_pad(&flat, before);
		table = ts_flat_table(&flat, fields, TS_ARRAY_LEN(fields));
		text = ts_flat_string(&flat, "name");
		ts_flat_refer(&flat, 0, table);
		ts_flat_refer(&flat, fields[3].at, text);
		ts_check_int(flat.error, 0);
		ts_check_int(word(&flat, 0, 4), table);
		ts_check_int(table % 4, 0);
		ts_check_int(fields[1].at % 8, 0);
		ts_check_int(fields[3].at % 4, 0);
		vtable = table - word(&flat, table, 4);
		ts_check_int(word(&flat, vtable, 2), 2 * (2 + TS_ARRAY_LEN(fields)));
		ts_check_int(table + word(&flat, vtable + 4, 2), fields[0].at);
		ts_check_int(word(&flat, vtable + 4 + 2 * 2, 2), 0);
		ts_check_int(word(&flat, fields[0].at, 1), 7);
		ts_check_int(word(&flat, fields[4].at, 2), 9);
		ts_check_int(fields[3].at + word(&flat, fields[3].at, 4), text);
		ts_check_int(word(&flat, text, 4), 4);
		ts_check(!strcmp((const char *)flat.buffer.bytes + text + 4, "name"));
	}
	ts_flat_deinit(&flat);
}

static struct ts_arrow_column *column(struct ts_arrow_table *table, const char *name)
{
	for (unsigned int i = 0; i < table->n_columns; i++)
		if (!strcmp(table->columns[i].field->name, name))
			return &table->columns[i];
	return NULL;
}

static void add(struct ts_arrow_table *table, const char *name, int want)
{
	Ts__Rpc__KernelRow row = TS__RPC__KERNEL_ROW__INIT;

	row.name = (char *)(uintptr_t)name;
	row.has_start_ns = 1;
	row.start_ns = UINT64_MAX;
	ts_check_int(ts_arrow_table_add(table, &row.base), want);
}

static void check_text(struct ts_arrow_table *table, uint32_t i, const char *want)
{
	const struct ts_arrow_column *names = column(table, "name");
	int32_t ends[2];

	memcpy(ends, names->text_ends.bytes + i * sizeof(ends[0]), sizeof(ends));
	ts_check_int(ends[1] - ends[0], (int)strlen(want));
	ts_check(!memcmp(names->texts.bytes.bytes + ends[0], want, strlen(want)));
}

TS_TEST(texts_are_numbered_and_utf8)
{
	static const char *const texts[] = {"",
					    "gemm",
					    "caf\xc3",
					    "gr\xc3\xb6\xc3\x9f"
					    "e",
					    "gemm",
					    NULL,
					    "\xff\xfe"};
	static const uint32_t numbers[] = {0, 1, 2, 3, 1, 0, 4};
	ts_cleanup(ts_arrow_table_deinit) struct ts_arrow_table table = {0};
	struct ts_arrow_column *names;

	/* The second time, nothing of the first is left. */
	for (int times = 0; times < 2; times++) {
		ts_check_int(ts_arrow_table_init(&table, &ts__rpc__kernel_row__descriptor), 0);
		ts_check(!column(&table, "type") && !column(&table, "stack"));
		names = column(&table, "name");
		for (size_t i = 0; i < TS_ARRAY_LEN(texts); i++)
			add(&table, texts[i], 0);
		ts_check_int(table.n_rows, TS_ARRAY_LEN(texts));
		ts_check_int(names->texts.last_id, 5);
		ts_check(!memcmp(names->values.bytes, numbers, sizeof(numbers)));
		ts_check_int(ts_arrow_column_nulls(names, 0, table.n_rows), 1);
		ts_check_int(names->validity.bytes[0], 0x5f);
		check_text(&table, 0, "");
		check_text(&table, 2, "caf\xef\xbf\xbd");
		check_text(&table, 3, texts[3]);
		check_text(&table, 4, "\xef\xbf\xbd\xef\xbf\xbd");
		ts_check_int(ts_arrow_column_nulls(column(&table, "end_ns"), 0, table.n_rows),
			     TS_ARRAY_LEN(texts));
	}
}

TS_TEST(long_texts_fill_a_table)
{
	ts_cleanup(ts_arrow_table_deinit) struct ts_arrow_table table = {0};
	char *text = malloc(TS_ARROW_FILE_TEXT_BYTES + 2);

	ts_check(text != NULL);
	memset(text, 'x', TS_ARROW_FILE_TEXT_BYTES + 1);
	text[TS_ARROW_FILE_TEXT_BYTES + 1] = '\0';
	ts_check_int(ts_arrow_table_init(&table, &ts__rpc__kernel_row__descriptor), 0);
	add(&table, text, -E2BIG);
	ts_check_int(ts_arrow_table_clear(&table), 0);
	add(&table, text + 1, 0);
	ts_check(ts_arrow_table_is_full(&table));
	ts_check_int(ts_arrow_table_clear(&table), 0);
	ts_check(!ts_arrow_table_is_full(&table));
	free(text);
}

/* ---- parts ----------------------------------------------------------------------------------- */

#define N_ROWS 3001u

/* Adds row `i` of a list in which texts repeat, and any field may be missing. */
static void add_call(struct ts_arrow_table *table, uint32_t i)
{
	Ts__Rpc__ApiRow row = TS__RPC__API_ROW__INIT;
	char name[32], error[32];

	snprintf(name, sizeof(name), "call %u", i * 7 % 97);
	snprintf(error, sizeof(error), "\xff%u", i);
	row.name = i % 5 ? name : NULL;
	row.error = i % 3 ? NULL : error;
	row.has_start_ns = 1;
	row.start_ns = i * UINT64_C(1000003);
	row.has_result = i % 4 != 1;
	row.result = -(int32_t)i;
	row.has_expects_device = i % 7 != 2;
	row.expects_device = i % 2;
	ts_check_int(ts_arrow_table_add(table, &row.base), 0);
}

static void check_buffers(const struct ts_buffer *a, const struct ts_buffer *b)
{
	ts_check_int(a->n, b->n);
	ts_check(!a->n || !memcmp(a->bytes, b->bytes, a->n));
}

static void check_same(const struct ts_arrow_table *a, const struct ts_arrow_table *b)
{
	ts_check_int(a->n_rows, b->n_rows);
	ts_check_int(a->n_columns, b->n_columns);
	ts_check_int(a->n_text_bytes, b->n_text_bytes);
	for (unsigned int i = 0; i < a->n_columns; i++) {
		check_buffers(&a->columns[i].values, &b->columns[i].values);
		check_buffers(&a->columns[i].validity, &b->columns[i].validity);
		check_buffers(&a->columns[i].text_ends, &b->columns[i].text_ends);
		check_buffers(&a->columns[i].texts.bytes, &b->columns[i].texts.bytes);
	}
}

/* Puts the rows into parts, whose lengths are no multiples of 8. */
static void put_parts(struct ts_arrow_table *part, uint32_t n_least, struct ts_json *text)
{
	uint32_t i = 0;

	for (uint32_t n = n_least; i < N_ROWS; n = n * 3 % 29 + n_least) {
		ts_check_int(ts_arrow_table_clear(part), 0);
		for (uint32_t j = 0; j < n && i < N_ROWS; j++)
			add_call(part, i++);
		ts_check_int(ts_arrow_part_put(part, i, text), 0);
	}
}

TS_TEST(parts_make_the_same_table)
{
	ts_cleanup(ts_arrow_table_deinit) struct ts_arrow_table whole = {0};
	ts_cleanup(ts_arrow_table_deinit) struct ts_arrow_table part = {0};

	ts_check_int(ts_arrow_table_init(&whole, &ts__rpc__api_row__descriptor), 0);
	ts_check_int(ts_arrow_table_init(&part, &ts__rpc__api_row__descriptor), 0);
	for (uint32_t i = 0; i < N_ROWS; i++)
		add_call(&whole, i);
	for (uint32_t n_least = 1; n_least < 2000; n_least = n_least * 3 + 2) {
		ts_cleanup(ts_arrow_table_deinit) struct ts_arrow_table joined = {0};
		struct ts_json text = {0};
		uint64_t slice = 0;

		put_parts(&part, n_least, &text);
		for (size_t at = 0; at < text.n_bytes;) {
			const struct ts_arrow_part *it = (const void *)(text.data + at);
			uint32_t from = 0;

			ts_check_int(ts_arrow_part_add(&joined, it, &from), 0);
			ts_check_int(from, it->n_rows);
			ts_check_int(it->slice, slice + from);
			slice = it->slice;
			at += it->n_bytes;
		}
		check_same(&joined, &whole);
		ts_json_deinit(&text);
	}
}

/* Texts fill the first table at a row within a part; the rest of the part goes to the next one. */
TS_TEST(parts_end_where_a_table_is_full)
{
	const uint32_t n_bytes = 1024 * 1024, n_rows = 70;
	ts_cleanup(ts_arrow_table_deinit) struct ts_arrow_table whole = {0};
	ts_cleanup(ts_arrow_table_deinit) struct ts_arrow_table part = {0};
	ts_cleanup(ts_arrow_table_deinit) struct ts_arrow_table joined = {0};
	char *text = malloc(n_bytes + 1);
	struct ts_json parts = {0};
	const struct ts_arrow_part *it;
	uint32_t from = 0, first;

	ts_check(text != NULL);
	memset(text, 'x', n_bytes);
	text[n_bytes] = '\0';
	ts_check_int(ts_arrow_table_init(&whole, &ts__rpc__kernel_row__descriptor), 0);
	ts_check_int(ts_arrow_table_init(&part, &ts__rpc__kernel_row__descriptor), 0);
	for (uint32_t i = 0; i < n_rows; i++) {
		text[0] = (char)i + 1;
		if (!ts_arrow_table_is_full(&whole))
			add(&whole, text, 0);
		add(&part, text, 0);
	}
	first = whole.n_rows;
	ts_check(first > 1 && first < n_rows);
	ts_check_int(ts_arrow_part_put(&part, 0, &parts), 0);
	it = (const void *)parts.data;
	ts_check_int(ts_arrow_part_add(&joined, it, &from), 0);
	ts_check_int(from, first);
	check_same(&joined, &whole);
	ts_check_int(ts_arrow_part_add(&joined, it, &from), 0);
	ts_check_int(from, first);
	ts_check_int(ts_arrow_table_clear(&joined), 0);
	ts_check_int(ts_arrow_part_add(&joined, it, &from), 0);
	ts_check_int(from, n_rows);
	ts_check_int(joined.n_rows, n_rows - first);
	text[0] = (char)first + 1;
	check_text(&joined, 0, text);
	ts_json_deinit(&parts);
	free(text);
}

/* ---- files ----------------------------------------------------------------------------------- */

TS_TEST(file_is_complete)
{
	static const struct ts_arrow_fact facts[] = {{"key", "value"}};
	ts_cleanup(ts_arrow_table_deinit) struct ts_arrow_table table = {0};
	char *bytes = NULL;
	size_t n_bytes;
	uint32_t footer_bytes;
	FILE *file = open_memstream(&bytes, &n_bytes);

	ts_check(file != NULL);
	ts_check_int(ts_arrow_table_init(&table, &ts__rpc__kernel_row__descriptor), 0);
	for (uint32_t i = 0; i < TS_ARROW_FILE_ROWS; i++) {
		ts_check(!ts_arrow_table_is_full(&table));
		add(&table, i % 2 ? "a" : "b", 0);
	}
	ts_check(ts_arrow_table_is_full(&table));
	ts_check_int(ts_arrow_write(&table, facts, TS_ARRAY_LEN(facts), file), 0);
	ts_check_int(fclose(file), 0);
	ts_check(!memcmp(bytes, "ARROW1\0\0\xff\xff\xff\xff", 12));
	ts_check(!memcmp(bytes + n_bytes - 6, "ARROW1", 6));
	memcpy(&footer_bytes, bytes + n_bytes - 10, sizeof(footer_bytes));
	ts_check(footer_bytes < n_bytes - 18);
	free(bytes);
}
