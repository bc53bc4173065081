/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the elements of the page (report-page.c): tables, stacks, pictures. Texts of a trace are
 * escaped and cleaned by svg.h: controls and characters that change the direction of text become
 * U+FFFD, and very long names are cut. Private to tools/export/page.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/pictures/svg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends a text of the trace; NULL counts as "unknown". */
void ts_html_text(struct ts_svg *html, const char *text);
/* Appends a text of the trace in <code>. */
void ts_html_code(struct ts_svg *html, const char *text);

/* Begins and ends a section of the page. `id` and `heading` are constants. */
void ts_html_section(struct ts_svg *html, const char *id, const char *heading);
void ts_html_section_end(struct ts_svg *html);

/*
 * Begins and ends a question and its answer; the answer ends with a link to a section, unless it is
 * NULL. All are constants.
 */
void ts_html_answer(struct ts_svg *html, const char *question);
void ts_html_answer_end(struct ts_svg *html, const char *section, const char *link);

struct ts_html_column {
	const char *heading;
	bool is_number; /* aligned to the right */
};

/* Begins a table that scrolls by itself if it is wider than the page. */
void ts_html_table(struct ts_svg *html, const char *caption, const struct ts_html_column *columns,
		   size_t n);
void ts_html_table_end(struct ts_svg *html);
void ts_html_row(struct ts_svg *html);
void ts_html_row_end(struct ts_svg *html);
/* Appends a cell of figures. No argument may be a text of a trace. */
void ts_html_figure(struct ts_svg *html, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends a cell with a text of the trace. */
void ts_html_cell(struct ts_svg *html, const char *text);

/* Appends the frames of a stack, innermost first, as a list; nothing if `stack` is NULL. */
void ts_html_stack(struct ts_svg *html, const Ts__Rpc__Stack *stack);

/* Appends a picture (SVG) that scrolls by itself if it is wider than the page. */
void ts_html_picture(struct ts_svg *html, const char *label, const char *svg);
