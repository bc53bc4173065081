/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrow files from messages of rows. test/integration/arrow.py reads whole files; here are the
 * limits, texts that are not UTF-8, and the layout of FlatBuffers.
 */
#include "proto/rpc/tracesmith.pb-c.h"
#include "test/unit/harness.h"
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
