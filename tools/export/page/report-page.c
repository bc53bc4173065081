/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace as one page of HTML: answers, tables and pictures, without scripts and other
 * files. ts_export() calls ts_export_page(). It asks replay/report/query.h five questions, and
 * draws a flame graph with profile/flame.c; the other files of this folder write the sections.
 *
 * The page is safe with names of any kind. Texts are escaped, and a content security policy in the
 * page forbids scripts and requests in addition.
 */
#include "tools/export/page/report-page.h"

#include "proto/abi/base.h"
#include "proto/rpc/json.h"
#include "replay/report/pictures/picture.h"
#include "replay/report/query.h"
#include "tools/export/export-memory.h"
#include "tools/export/page/page-style.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED_KERNELS 10u
#define LISTED_GAPS    5u

static void page_deinit(struct ts_page *page)
{
	for (unsigned int i = 0; i < TS_PAGE_N_PARTS; i++)
		ts_svg_deinit(&page->parts[i]);
	ts_pool_deinit(&page->pool);
}

/* ---- questions ------------------------------------------------------------------------------- */

static struct ts_picture_options picture_options(const struct ts_page *page)
{
	return (struct ts_picture_options){.width = page->options->width,
					   .title = page->options->title,
					   .origin_ns = page->origin_ns};
}

static int put_timeline(struct ts_page *page, const Ts__Rpc__TimelineReport *report)
{
	const struct ts_picture_options options = picture_options(page);
	struct ts_svg *html = &page->parts[TS_PAGE_TIMELINE];
	ts_cleanup(ts_freep) char *svg = NULL;
	size_t n_bytes;
	int r = ts_picture_timeline(report, &options, &svg, &n_bytes);

	if (r)
		return r;
	ts_html_section(html, "timeline", "Timeline");
	ts_html_picture(html, "Timeline of GPUs and streams", svg);
	return 0;
}

static int put_memory(struct ts_page *page, const Ts__Rpc__MemoryReport *report)
{
	const struct ts_picture_options options = picture_options(page);
	ts_cleanup(ts_freep) char *svg = NULL;
	size_t n_bytes;
	int r = ts_picture_memory(report, &options, &svg, &n_bytes);

	if (!r)
		ts_page_memory(page, report, svg);
	return r;
}

static int give(void *data, unsigned int number, const ProtobufCMessage *body)
{
	struct ts_page *page = data;

	switch (number) {
	case TS__RPC__ANSWER__BODY_INFO:
		ts_page_info(page, (const Ts__Rpc__TraceInfo *)body);
		return 0;
	case TS__RPC__ANSWER__BODY_TIMELINE:
		return put_timeline(page, (const Ts__Rpc__TimelineReport *)body);
	case TS__RPC__ANSWER__BODY_ANALYZE:
		ts_page_analysis(page, (const Ts__Rpc__AnalysisReport *)body);
		return 0;
	case TS__RPC__ANSWER__BODY_GAPS:
		ts_page_gaps(page, (const Ts__Rpc__GapsReport *)body);
		return 0;
	case TS__RPC__ANSWER__BODY_MEMORY:
		return put_memory(page, (const Ts__Rpc__MemoryReport *)body);
	default:
		return 0;
	}
}

static bool is_failure(int r)
{
	return r < 0 || (r && r < TS_QUERY_E_WINDOW);
}

/* Asks a question. If the trace is too large for it, the page states that the answer is missing. */
static int ask(struct ts_page *page, Ts__Rpc__Query *query, struct ts_export_report *report)
{
	const struct ts_query_options options = {
		.give = give,
		.data = page,
		.no_memory = page->options->no_memory,
		.cancel = page->options->cancel,
	};
	struct ts_svg *header = &page->parts[TS_PAGE_HEADER];
	char why[TS_QUERY_WHY_BYTES];
	struct ts_query_end end;
	int r;

	query->path = (char *)(uintptr_t)page->options->title;
	r = ts_query_run(page->reader, page->options->session, query, &options, &end);
	if (is_failure(r))
		return r;
	if (r) {
		ts_query_why(page->options->title, r, ts_sbt_reader_error(page->reader), why);
		ts_svg_raw(header, "<p class=\"warning\">A part of the page is missing: ");
		ts_html_text(header, why);
		ts_svg_raw(header, "</p>\n");
	} else if (end.is_damaged && !report->damaged) {
		report->damaged = true;
		report->damage = end.damage;
		ts_svg_raw(header, "<p class=\"warning\">The trace is damaged: rows are missing on "
				   "this page.</p>\n");
	}
	return 0;
}

static int ask_all(struct ts_page *page, struct ts_export_report *report)
{
	Ts__Rpc__Query__Info info = TS__RPC__QUERY__INFO__INIT;
	Ts__Rpc__Query__Timeline timeline = TS__RPC__QUERY__TIMELINE__INIT;
	Ts__Rpc__Query__Analyze analyze = TS__RPC__QUERY__ANALYZE__INIT;
	Ts__Rpc__Query__Gaps gaps = TS__RPC__QUERY__GAPS__INIT;
	Ts__Rpc__Query__Memory memory = TS__RPC__QUERY__MEMORY__INIT;
	const struct {
		Ts__Rpc__Query__BodyCase kind;
		void *body;
	} questions[] = {
		{TS__RPC__QUERY__BODY_INFO, &info},
		{TS__RPC__QUERY__BODY_TIMELINE, &timeline},
		{TS__RPC__QUERY__BODY_ANALYZE, &analyze},
		{TS__RPC__QUERY__BODY_GAPS, &gaps},
		{TS__RPC__QUERY__BODY_MEMORY, &memory},
	};
	int r = 0;

	TS_RPC_SET(&timeline, parts, ts_picture_parts(page->options->width));
	TS_RPC_SET(&timeline, device_parts, true);
	TS_RPC_SET(&analyze, limit, LISTED_KERNELS);
	TS_RPC_SET(&gaps, limit, LISTED_GAPS);
	TS_RPC_SET(&gaps, stacks, true);
	TS_RPC_SET(&gaps, mangled, page->options->mangled);
	TS_RPC_SET(&memory, points, ts_picture_parts(page->options->width));
	TS_RPC_SET(&memory, stacks, true);
	for (size_t i = 0; !r && i < TS_ARRAY_LEN(questions); i++) {
		Ts__Rpc__Query query = TS__RPC__QUERY__INIT;

		query.body_case = questions[i].kind;
		query.state = questions[i].body;
		r = ask(page, &query, report);
	}
	return r;
}

/* Draws the flame graph into its section. */
static int put_flame(struct ts_page *page, struct ts_export_report *report)
{
	struct ts_svg *html = &page->parts[TS_PAGE_FLAME];
	struct ts_export_report drawn;
	ts_cleanup(ts_freep) char *svg = NULL;
	size_t n_bytes = 0;
	int r = ts_export_into(ts_export_flame, page->reader, page->options, &svg, &n_bytes,
			       &drawn);

	if (r)
		return r;
	drawn.damaged = drawn.damaged || report->damaged;
	if (report->damaged)
		drawn.damage = report->damage;
	*report = drawn;
	if (!drawn.n_rows)
		return 0;
	ts_html_section(html, "flame", "GPU time by launching stack");
	ts_html_picture(html, "Flame graph: GPU time by launching stack", svg);
	ts_html_section_end(html);
	return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct {
	const char *id, *text;
} links[TS_PAGE_N_PARTS] = {
	[TS_PAGE_ERRORS] = {"errors", "Errors"},
	[TS_PAGE_FINDINGS] = {"findings", "Findings"},
	[TS_PAGE_TIMELINE] = {"timeline", "Timeline"},
	[TS_PAGE_KERNELS] = {"kernels", "Kernels"},
	[TS_PAGE_GAPS] = {"gaps", "Gaps"},
	[TS_PAGE_MEMORY] = {"memory", "Memory"},
	[TS_PAGE_FLAME] = {"flame", "Flame graph"},
	[TS_PAGE_SOURCE] = {"trace", "The trace"},
};

static void put_head(const struct ts_page *page, struct ts_svg *html)
{
	ts_svg_raw(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			 "'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
			 "form-action 'none'\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width, "
			 "initial-scale=1\">\n"
			 "<meta name=\"color-scheme\" content=\"light dark\">\n"
			 "<meta name=\"referrer\" content=\"no-referrer\">\n"
			 "<link rel=\"icon\" href=\"data:,\">\n<title>");
	ts_html_text(html, page->options->title);
	ts_svg_raw(html, " - TraceSmith</title>\n<style>\n");
	ts_svg_raw(html, ts_page_style);
	ts_svg_raw(html, "</style>\n</head>\n<body>\n");
}

static void put_links(const struct ts_page *page, struct ts_svg *html)
{
	ts_svg_raw(html, "<nav aria-label=\"Sections\">\n<ul>\n");
	for (unsigned int i = 0; i < TS_PAGE_N_PARTS; i++)
		if (links[i].id && page->parts[i].text.n)
			ts_svg_rawf(html, "<li><a href=\"#%s\">%s</a></li>\n", links[i].id,
				    links[i].text);
	ts_svg_raw(html, "</ul>\n</nav>\n");
}

static int put(FILE *file, struct ts_svg *html)
{
	if (!html->error && html->text.n)
		fwrite(html->text.bytes, 1, html->text.n, file);
	return html->error;
}

/* Writes the parts in their order. */
static int put_page(struct ts_page *page, FILE *file)
{
	struct ts_svg frame = {0};
	int r;

	put_head(page, &frame);
	ts_svg_raw(&frame, "<header>\n");
	r = put(file, &frame);
	ts_svg_deinit(&frame);
	r = r ? r : put(file, &page->parts[TS_PAGE_HEADER]);
	frame = (struct ts_svg){0};
	put_links(page, &frame);
	ts_svg_raw(&frame, "</header>\n<main>\n");
	r = r ? r : put(file, &frame);
	ts_svg_deinit(&frame);
	for (unsigned int i = TS_PAGE_ANSWERS; !r && i < TS_PAGE_N_PARTS; i++)
		r = put(file, &page->parts[i]);
	fprintf(file,
		"</main>\n<footer><p>Made by %s. Times are relative to the start of the "
		"trace.</p></footer>\n</body>\n</html>\n",
		page->options->generator ? page->options->generator : "TraceSmith");
	return r;
}

int ts_export_page(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		   FILE *file, struct ts_export_report *ret_report)
{
	struct ts_export_options own = *options;
	ts_cleanup(page_deinit) struct ts_page page = {.reader = reader,
						       .options = &own,
						       .origin_ns = ts_sbt_reader_origin_ns(reader),
						       .pool.no_memory = options->no_memory};
	struct ts_export_report report = {0};
	int r;

	if (!options->no_memory || options->types || options->from_ns || options->to_ns)
		return -EINVAL;
	own.title = own.title ? own.title : "trace";
	ts_svg_raw(
		&page.parts[TS_PAGE_ANSWERS],
		"<section aria-labelledby=\"answers\">\n<h2 id=\"answers\">In short</h2>\n<dl>\n");
	r = ask_all(&page, &report);
	if (!r)
		r = put_flame(&page, &report);
	if (r)
		return r;
	ts_svg_raw(&page.parts[TS_PAGE_ANSWERS], "</dl>\n");
	ts_html_section_end(&page.parts[TS_PAGE_ANSWERS]);
	if (page.parts[TS_PAGE_TIMELINE].text.n)
		ts_html_section_end(&page.parts[TS_PAGE_TIMELINE]);
	if (page.parts[TS_PAGE_SOURCE].text.n)
		ts_html_section_end(&page.parts[TS_PAGE_SOURCE]);
	r = put_page(&page, file);
	if (!r)
		*ret_report = report;
	return r;
}
