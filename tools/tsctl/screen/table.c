/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints tables: see table.h. The commands fill them. If the terminal is too narrow, a table first
 * omits optional columns, then shortens names with shorten.c. Pipes and --wide get the full table.
 */
#include "tools/tsctl/screen/table.h"

#include "proto/abi/base.h"
#include "proto/abi/grow.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/shorten.h"
#include "tools/tsctl/screen/term.h"

#include <ctype.h>
#include <stdarg.h>

#define TABLE_MAX_COLUMNS 16u
#define GAP_COLUMNS	  2u /* between two columns */
#define NOTE_COLUMNS	  4u /* before a note */
#define NOTE_BREAK	  " < "
#define LAST_COLUMNS	  32u /* minimum width of the last column before others are omitted */
#define MIN_COLUMNS	  12u /* minimum width of shortened cells */

struct note {
	size_t row;
	char *text;
};

struct ts_table {
	char columns[TABLE_MAX_COLUMNS + 1];
	size_t n_columns;
	size_t widths[TABLE_MAX_COLUMNS];
	char **cells;
	size_t n_cells, n_allocated;
	struct note *notes;
	size_t n_notes, n_notes_allocated;
};

/* Printed width of each column; 0: omitted. */
struct layout {
	size_t widths[TABLE_MAX_COLUMNS];
	size_t total; /* 0: no cuts */
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
	for (size_t i = 0; i < table->n_notes; i++)
		free(table->notes[i].text);
	free(table->cells);
	free(table->notes);
	free(table);
}

void ts_table_freep(struct ts_table **table)
{
	ts_table_free(*table);
}

int ts_table_add(struct ts_table *table, const char *text)
{
	size_t column = table->n_cells % table->n_columns, width = ts_out_width(text);

	if (TS_GROW(table->cells, table->n_allocated, table->n_cells + 1))
		return -ENOMEM;
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

int ts_table_note(struct ts_table *table, const char *text)
{
	struct note *note;

	if (TS_GROW(table->notes, table->n_notes_allocated, table->n_notes + 1))
		return -ENOMEM;
	note = &table->notes[table->n_notes];
	note->row = (table->n_cells - 1) / table->n_columns;
	note->text = strdup(text);
	if (!note->text)
		return -ENOMEM;
	table->n_notes++;
	return 0;
}

/* Returns the width of a line without its last column. */
static size_t columns_before(const struct ts_table *table, const struct layout *layout)
{
	size_t n = 0;

	for (size_t i = 0; i + 1 < table->n_columns; i++)
		n += layout->widths[i] ? layout->widths[i] + GAP_COLUMNS : 0;
	return n;
}

/* Divides the remaining width between the last column and a column of kind `s`. */
static void share_columns(const struct ts_table *table, size_t width, struct layout *layout)
{
	size_t last = table->n_columns - 1, cut = last, columns_left;

	for (size_t i = 0; i < last; i++)
		cut = table->columns[i] == 's' ? i : cut;
	if (cut != last) {
		size_t wanted = layout->widths[cut];

		layout->widths[cut] = 0;
		columns_left = columns_before(table, layout) + GAP_COLUMNS;
		columns_left = width > columns_left ? width - columns_left : 0;
		if (layout->widths[last] < columns_left / 2)
			columns_left -= layout->widths[last];
		else
			columns_left -= columns_left / 2;
		layout->widths[cut] = wanted < columns_left	   ? wanted
				      : columns_left > MIN_COLUMNS ? columns_left
								   : MIN_COLUMNS;
	}
	columns_left = columns_before(table, layout);
	layout->widths[last] =
		width > columns_left + MIN_COLUMNS ? width - columns_left : MIN_COLUMNS;
}

static void fit(const struct ts_table *table, size_t width, struct layout *layout)
{
	size_t last = table->n_columns - 1;
	size_t wanted = table->widths[last] < LAST_COLUMNS ? table->widths[last] : LAST_COLUMNS;

	for (size_t i = 0; i < table->n_columns; i++)
		layout->widths[i] = table->widths[i];
	layout->total = width;
	if (!width)
		return;
	for (size_t i = last; i-- > 0 && columns_before(table, layout) + wanted > width;)
		if (isupper((unsigned char)table->columns[i]))
			layout->widths[i] = 0;
	if (columns_before(table, layout) + table->widths[last] > width)
		share_columns(table, width, layout);
}

/* Replaces the cells of a column, except the heading, by shortened text. */
static void shorten_column(const struct ts_table *table, const struct layout *layout, size_t column,
			   char **cells)
{
	size_t n_rows = table->n_cells / table->n_columns, n = 0;
	ts_cleanup(ts_freep) char **texts = NULL;

	if (!layout->total || layout->widths[column] >= table->widths[column] || n_rows < 2)
		return;
	texts = calloc(n_rows, sizeof(*texts));
	if (!texts)
		return;
	for (size_t row = 1; row < n_rows; row++)
		texts[n++] = cells[row * table->n_columns + column];
	if (ts_shorten((const char *const *)texts, n, layout->widths[column], texts))
		return;
	for (size_t row = 1; row < n_rows; row++)
		cells[row * table->n_columns + column] = texts[row - 1];
}

static void print_blanks(FILE *file, size_t n)
{
	if (n)
		fprintf(file, "%*s", (int)n, "");
}

/* Prints a row. Writes blanks only before further text, so no line ends with blanks. */
static void print_row(const struct ts_table *table, const struct layout *layout, char *const *cells,
		      FILE *file, unsigned int indent)
{
	size_t owed = indent;

	for (size_t i = 0; i < table->n_columns; i++) {
		size_t width = ts_out_width(cells[i]);
		size_t blanks = layout->widths[i] > width ? layout->widths[i] - width : 0;
		bool is_right = tolower((unsigned char)table->columns[i]) == 'r';

		if (!layout->widths[i])
			continue;
		owed += is_right ? blanks : 0;
		if (width) {
			print_blanks(file, owed);
			ts_out_text(file, cells[i]);
			owed = 0;
		}
		owed += (is_right ? 0 : blanks) + GAP_COLUMNS;
	}
	fputc('\n', file);
}

/* Prints a note; a long chain of callers continues on the next line. */
static void print_note(const struct layout *layout, const char *text, FILE *file,
		       unsigned int indent)
{
	size_t columns_left = layout->total > NOTE_COLUMNS + MIN_COLUMNS
				      ? layout->total - NOTE_COLUMNS
				      : layout->total;

	for (;;) {
		ts_cleanup(ts_freep) char *line = NULL;
		const char *end = NULL;

		for (const char *at = text; columns_left && (at = strstr(at, NOTE_BREAK)); at++)
			if (!end || (size_t)(at - text) <= columns_left)
				end = at;
		if (!columns_left || !end || ts_out_width(text) <= columns_left)
			end = text + strlen(text);
		line = strndup(text, (size_t)(end - text));
		print_blanks(file, indent + NOTE_COLUMNS);
		ts_out_text_cut(file, line, columns_left);
		fputc('\n', file);
		if (!*end)
			return;
		text = end + 1;
	}
}

static void print_rows(const struct ts_table *table, const struct layout *layout,
		       char *const *cells, FILE *file, unsigned int indent)
{
	size_t note = 0, n_rows = table->n_cells / table->n_columns;

	for (size_t row = 0; row < n_rows; row++) {
		if (!row)
			fputs(ts_term_style(file, TS_STYLE_BOLD), file);
		print_row(table, layout, cells + row * table->n_columns, file, indent);
		if (!row)
			fputs(ts_term_style(file, TS_STYLE_PLAIN), file);
		for (; note < table->n_notes && table->notes[note].row == row; note++) {
			print_note(layout, table->notes[note].text, file, indent);
		}
	}
}

void ts_table_print(const struct ts_table *table, FILE *file, unsigned int indent, bool wide)
{
	size_t width = wide ? 0 : ts_term_width(file);
	ts_cleanup(ts_freep) char **cells = NULL;
	struct layout layout = {0};

	if (!table->n_cells)
		return;
	cells = calloc(table->n_cells, sizeof(*cells));
	if (!cells)
		return;
	memcpy(cells, table->cells, table->n_cells * sizeof(*cells));
	fit(table, width > indent ? width - indent : width, &layout);
	for (size_t i = 0; i < table->n_columns; i++)
		shorten_column(table, &layout, i, cells);
	print_rows(table, &layout, cells, file, indent);
	for (size_t i = 0; i < table->n_cells; i++)
		if (cells[i] != table->cells[i])
			free(cells[i]);
}
