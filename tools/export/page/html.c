/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes elements of HTML: see html.h. The sections of the page call this file; it calls svg.c for
 * escaped text.
 */
#include "tools/export/page/html.h"

#include "replay/report/stacks/frames.h"
#include "replay/report/stacks/short-function.h"
#include "replay/report/stacks/stackjson.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Frames of a stack that are shown; the rest can be unfolded. */
#define FEW_FRAMES   6u
#define MAX_FRAMES   64u
#define FIGURE_BYTES 256u

void ts_html_text(struct ts_svg *html, const char *text)
{
	text = text && *text ? text : "unknown";
	ts_svg_name(html, text, strlen(text));
}

void ts_html_code(struct ts_svg *html, const char *text)
{
	ts_svg_raw(html, "<code>");
	ts_html_text(html, text);
	ts_svg_raw(html, "</code>");
}

void ts_html_section(struct ts_svg *html, const char *id, const char *heading)
{
	ts_svg_rawf(html, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", id, id,
		    heading);
}

void ts_html_section_end(struct ts_svg *html)
{
	ts_svg_raw(html, "</section>\n");
}

void ts_html_answer(struct ts_svg *html, const char *question)
{
	ts_svg_rawf(html, "<div><dt>%s</dt>\n<dd>", question);
}

void ts_html_answer_end(struct ts_svg *html, const char *section, const char *link)
{
	if (section)
		ts_svg_rawf(html, " <a href=\"#%s\">%s</a>", section, link);
	ts_svg_raw(html, "</dd></div>\n");
}

void ts_html_table(struct ts_svg *html, const char *caption, const struct ts_html_column *columns,
		   size_t n)
{
	ts_svg_rawf(html,
		    "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n"
		    "<table>\n<caption>%s</caption>\n<thead><tr>",
		    caption, caption);
	for (size_t i = 0; i < n; i++)
		ts_svg_rawf(html, "<th scope=\"col\"%s>%s</th>",
			    columns[i].is_number ? " class=\"n\"" : "", columns[i].heading);
	ts_svg_raw(html, "</tr></thead>\n<tbody>\n");
}

void ts_html_table_end(struct ts_svg *html)
{
	ts_svg_raw(html, "</tbody>\n</table>\n</div>\n");
}

void ts_html_row(struct ts_svg *html)
{
	ts_svg_raw(html, "<tr>");
}

void ts_html_row_end(struct ts_svg *html)
{
	ts_svg_raw(html, "</tr>\n");
}

void ts_html_figure(struct ts_svg *html, const char *format, ...)
{
	char text[FIGURE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	ts_svg_raw(html, "<td class=\"n\">");
	ts_svg_escaped(html, text, strlen(text));
	ts_svg_raw(html, "</td>");
}

void ts_html_cell(struct ts_svg *html, const char *text)
{
	ts_svg_raw(html, "<td>");
	if (text && *text)
		ts_svg_name(html, text, strlen(text));
	ts_svg_raw(html, "</td>");
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void put_symbol(struct ts_svg *html, const Ts__Rpc__StackSymbol *symbol)
{
	char function[TS_SHORT_FUNCTION_BYTES];

	ts_svg_raw(html, "<li>");
	ts_html_code(html, ts_short_function(symbol->function, function, sizeof(function)));
	if (symbol->file) {
		ts_svg_raw(html, " <span class=\"dim\">");
		ts_html_text(html, symbol->file);
		ts_svg_rawf(html, ":%" PRIu32 "</span>", symbol->line);
	} else if (symbol->module) {
		ts_svg_raw(html, " <span class=\"dim\">in ");
		ts_html_text(html, symbol->module);
		ts_svg_raw(html, "</span>");
	}
	ts_svg_raw(html, symbol->inlined ? " (inlined)</li>\n" : "</li>\n");
}

/* Appends the functions of a frame, or its address. Returns the number of lines. */
static size_t put_frame(struct ts_svg *html, const Ts__Rpc__Stack *stack, size_t frame)
{
	size_t n = 0;

	for (size_t i = 0; i < stack->n_symbols; i++) {
		const Ts__Rpc__StackSymbol *symbol = stack->symbols[i];

		if (symbol->frame != frame || !symbol->function || symbol->hidden ||
		    ts_frame_is_hidden(NULL, symbol->function, false))
			continue;
		put_symbol(html, symbol);
		n++;
	}
	if (n)
		return n;
	ts_svg_raw(html, "<li>");
	ts_html_code(html, stack->frames[frame]);
	for (size_t i = 0; i < stack->n_modules; i++) {
		if (stack->modules[i]->frame != frame)
			continue;
		ts_svg_raw(html, " <span class=\"dim\">in ");
		ts_html_text(html, stack->modules[i]->path);
		ts_svg_rawf(html, "+0x%" PRIx64 "</span>", stack->modules[i]->offset);
	}
	ts_svg_raw(html, "</li>\n");
	return 1;
}

/* Returns the number of shown frames from `first` on. */
static size_t count_frames(const Ts__Rpc__Stack *stack, size_t first)
{
	size_t n = 0;

	for (size_t i = first; i < stack->n_frames; i++)
		n += !ts_stackjson_is_hidden(stack, i);
	return n;
}

/* Appends at most `most` lines. Returns the first frame that is left. */
static size_t put_frames(struct ts_svg *html, const Ts__Rpc__Stack *stack, size_t first,
			 size_t most)
{
	size_t n = 0, i = first;

	for (; i < stack->n_frames && n < most; i++)
		if (!ts_stackjson_is_hidden(stack, i))
			n += put_frame(html, stack, i);
	return i;
}

void ts_html_stack(struct ts_svg *html, const Ts__Rpc__Stack *stack)
{
	size_t next, n;

	if (!stack || !count_frames(stack, 0))
		return;
	ts_svg_raw(html, "<ol class=\"stack\">\n");
	next = put_frames(html, stack, 0, FEW_FRAMES);
	ts_svg_raw(html, "</ol>\n");
	n = count_frames(stack, next);
	if (n) {
		ts_svg_rawf(html, "<details><summary>%zu more frame%s</summary>\n", n,
			    n == 1 ? "" : "s");
		ts_svg_raw(html, "<ol class=\"stack\">\n");
		next = put_frames(html, stack, next, MAX_FRAMES);
		ts_svg_raw(html, "</ol>\n");
		n = count_frames(stack, next);
		if (n)
			ts_svg_rawf(html, "<p class=\"dim\">and %zu more</p>\n", n);
		ts_svg_raw(html, "</details>\n");
	}
	if (stack->truncated)
		ts_svg_raw(html, "<p class=\"dim\">Deeper frames were not recorded.</p>\n");
}

void ts_html_picture(struct ts_svg *html, const char *label, const char *svg)
{
	ts_svg_rawf(html,
		    "<div class=\"wide picture\" role=\"region\" tabindex=\"0\" "
		    "aria-label=\"%s\">\n",
		    label);
	ts_svg_raw(html, svg);
	ts_svg_raw(html, "</div>\n");
}
