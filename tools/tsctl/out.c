/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output for people. Names in a trace come from whoever made the trace: an escape sequence among them
 * would be obeyed by the terminal, so nothing reaches it but through ts_out_text().
 */
#include "tools/tsctl/out.h"

#include "proto/abi/base.h"
#include "tools/tsctl/term.h"

#include <inttypes.h>
#include <stdarg.h>

/* What starts or ends a line, or turns the direction of what follows: a name could rewrite its whole line. */
static bool moves_text(uint32_t point)
{
	return (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

/* Bytes of the UTF-8 sequence at `text`, which is terminated; 0 where it is malformed or controls the terminal. */
static size_t utf8_length(const unsigned char *text)
{
	uint32_t point;
	size_t n;

	if (text[0] < 0x80)
		return 1;
	n = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	point = text[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3fu);
	}
	if (point < 0xa0 || (n == 3 && point < 0x800) || (n == 4 && point < 0x10000) ||
	    (point >= 0xd800 && point < 0xe000) || point > 0x10ffff || moves_text(point))
		return 0;
	return n;
}

/* The next piece of text: its bytes, and how it is shown. */
static size_t next_piece(const char *text, char shown[8], size_t *ret_columns)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t n = utf8_length(bytes);

	if (n == 0 || bytes[0] < 0x20 || bytes[0] == 0x7f) {
		snprintf(shown, 8, "\\x%02x", bytes[0]);
		*ret_columns = 4;
		return 1;
	}
	memcpy(shown, text, n);
	shown[n] = 0;
	*ret_columns = 1;
	return n;
}

size_t ts_out_width(const char *text)
{
	size_t width = 0, columns;
	char shown[8];

	while (text && *text) {
		text += next_piece(text, shown, &columns);
		width += columns;
	}
	return width;
}

/* Prints what fits into `room` columns; returns what is left of the text. */
static const char *print_pieces(FILE *file, const char *text, size_t room)
{
	char shown[8];
	size_t taken;

	while (text && *text) {
		size_t n = next_piece(text, shown, &taken);

		if (taken > room)
			break;
		room -= taken;
		text += n;
		fputs(shown, file);
	}
	return text;
}

void ts_out_text_cut(FILE *file, const char *text, size_t columns)
{
	size_t width = columns ? ts_out_width(text) : 0, room, taken;
	char shown[8];

	if (width <= columns) {
		print_pieces(file, text, SIZE_MAX);
		return;
	}
	room = columns > 3 ? columns - 3 : 0;
	text = print_pieces(file, text, room - room / 2);
	fputs("...", file);
	for (width = ts_out_width(text); width > room / 2; width -= taken)
		text += next_piece(text, shown, &taken);
	print_pieces(file, text, SIZE_MAX);
}

void ts_out_text(FILE *file, const char *text)
{
	print_pieces(file, text, SIZE_MAX);
}

char *ts_out_thread(char *buffer, const char *name, uint32_t tid)
{
	if (tid)
		snprintf(buffer, TS_OUT_THREAD_BYTES, "%.48s/%" PRIu32, name ? name : "?", tid);
	else
		snprintf(buffer, TS_OUT_THREAD_BYTES, "%.48s", name ? name : "");
	return buffer;
}

char *ts_out_duration(char *buffer, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{UINT64_C(1000000000), "s"}, {1000000, "ms"}, {1000, "us"}};

	for (size_t i = 0; i < TS_ARRAY_LEN(units); i++) {
		double value = (double)ns / (double)units[i].ns;

		if (ns >= units[i].ns) {
			snprintf(buffer, TS_OUT_FIGURE_BYTES, "%.*f %s",
				 value < 9.9995	  ? 3
				 : value < 99.995 ? 2
						  : 1,
				 value, units[i].unit);
			return buffer;
		}
	}
	snprintf(buffer, TS_OUT_FIGURE_BYTES, "%" PRIu64 " ns", ns);
	return buffer;
}

char *ts_out_bytes(char *buffer, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit + 1 < TS_ARRAY_LEN(units)) {
		value /= 1024;
		unit++;
	}
	if (!unit)
		snprintf(buffer, TS_OUT_FIGURE_BYTES, "%" PRIu64 " B", bytes);
	else
		snprintf(buffer, TS_OUT_FIGURE_BYTES, "%.*f %s", value < 99.95 ? 2 : 1, value,
			 units[unit]);
	return buffer;
}

char *ts_out_count(char *buffer, uint64_t count)
{
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buffer[at++] = ',';
		buffer[at++] = digits[i];
	}
	buffer[at] = 0;
	return buffer;
}

char *ts_out_seconds(char *buffer, uint64_t ns)
{
	snprintf(buffer, TS_OUT_FIGURE_BYTES, "%" PRIu64 ".%09" PRIu64, ns / UINT64_C(1000000000),
		 ns % UINT64_C(1000000000));
	return buffer;
}

#define TABLE_MAX_COLUMNS 16u

struct ts_table {
	char columns[TABLE_MAX_COLUMNS + 1];
	size_t n_columns;
	size_t widths[TABLE_MAX_COLUMNS];
	char **cells;
	size_t n_cells, n_room;
};

int ts_table_new(const char *columns, struct ts_table **ret_table)
{
	struct ts_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->n_columns = strnlen(columns, TABLE_MAX_COLUMNS);
	memcpy(table->columns, columns, table->n_columns);
	*ret_table = table;
	return 0;
}

void ts_table_free(struct ts_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

void ts_table_freep(struct ts_table **table)
{
	ts_table_free(*table);
}

int ts_table_add(struct ts_table *table, const char *text)
{
	size_t column = table->n_cells % table->n_columns, width = ts_out_width(text);

	if (table->n_cells == table->n_room) {
		size_t n_room = table->n_room ? 2 * table->n_room : 64;
		char **cells = reallocarray(table->cells, n_room, sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		table->cells = cells;
		table->n_room = n_room;
	}
	table->cells[table->n_cells] = strdup(text ? text : "");
	if (!table->cells[table->n_cells])
		return -ENOMEM;
	table->n_cells++;
	if (width > table->widths[column])
		table->widths[column] = width;
	return 0;
}

int ts_table_addf(struct ts_table *table, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return ts_table_add(table, text);
}

static void print_blanks(FILE *file, size_t n)
{
	if (n)
		fprintf(file, "%*s", (int)n, "");
}

static void print_row(const struct ts_table *table, size_t first, FILE *file, unsigned int indent,
		      size_t last_room)
{
	print_blanks(file, indent);
	for (size_t i = 0; i < table->n_columns && first + i < table->n_cells; i++) {
		const char *cell = table->cells[first + i];
		size_t blanks = table->widths[i] - ts_out_width(cell);
		bool last = i + 1 == table->n_columns;

		if (i)
			print_blanks(file, 2);
		if (table->columns[i] == 'r')
			print_blanks(file, blanks);
		if (last)
			ts_out_text_cut(file, cell, last_room);
		else
			ts_out_text(file, cell);
		if (table->columns[i] != 'r' && !last)
			print_blanks(file, blanks);
	}
	fputc('\n', file);
}

void ts_table_print(const struct ts_table *table, FILE *file, unsigned int indent, bool wide)
{
	size_t width = wide ? 0 : ts_term_width(file), taken = indent, last_room = 0;

	for (size_t i = 0; i + 1 < table->n_columns; i++)
		taken += table->widths[i] + 2;
	if (width)
		last_room = width > taken + 12 ? width - taken : 12;
	for (size_t i = 0; i < table->n_cells; i += table->n_columns) {
		if (!i)
			fputs(ts_term_style(file, TS_STYLE_BOLD), file);
		print_row(table, i, file, indent, last_room);
		if (!i)
			fputs(ts_term_style(file, TS_STYLE_PLAIN), file);
	}
}
