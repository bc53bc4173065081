/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the trace itself for the page: its name, sessions, devices, losses, and the calls that
 * failed. report-page.c calls this file with the answer of the query.
 */
#include "proto/abi/base.h"
#include "replay/report/pictures/figures.h"
#include "tools/export/page/report-page.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define MAX_ERRORS   20u
#define MAX_SESSIONS 200u
#define DATE_BYTES   64u
#define NS_PER_S     UINT64_C(1000000000)

/* ---- failed calls ---------------------------------------------------------------------------- */

static void put_error(struct ts_page *page, struct ts_svg *html, const Ts__Rpc__CallError *error)
{
	uint64_t at_ns = ts_page_ns(page, error->start_ns);
	char figure[TS_FIGURE_BYTES];

	ts_svg_raw(html, "<article>\n<h3>");
	ts_html_text(html, error->name);
	ts_svg_raw(html, " = ");
	ts_html_text(html, error->error);
	ts_svg_rawf(html, "</h3>\n<p>At %s, operation %" PRIu64 ", session %" PRIu32,
		    ts_figure_exact(figure, at_ns, at_ns), error->op_id, error->session);
	if (error->has_tid)
		ts_svg_rawf(html, ", thread %" PRIu32, error->tid);
	if (error->has_bytes)
		ts_svg_rawf(html, ", %s requested", ts_figure_bytes(figure, error->bytes));
	if (error->count > 1)
		ts_svg_rawf(html, ", %s times", ts_figure_count(figure, error->count));
	ts_svg_raw(html, ".</p>\n");
	ts_html_stack(html, error->stack);
	if (error->n_suspects)
		ts_svg_raw(html,
			   "<p>Kernels launched since the last wait, the last one first:</p>\n"
			   "<ul>\n");
	for (size_t i = 0; i < error->n_suspects; i++) {
		const Ts__Rpc__ErrorSuspect *suspect = error->suspects[i];

		ts_svg_rawf(html, "<li>operation %" PRIu64 " ", suspect->op_id);
		ts_html_code(html, suspect->kernel ? suspect->kernel : "a kernel that did not end");
		ts_html_stack(html, suspect->stack);
		ts_svg_raw(html, "</li>\n");
	}
	ts_svg_raw(html, error->n_suspects ? "</ul>\n" : "");
	if (error->has_held_bytes)
		ts_svg_rawf(html, "<p>Held on devices at that time: %s</p>\n",
			    ts_figure_bytes(figure, error->held_bytes));
	for (size_t i = 0; i < error->n_held_sites; i++) {
		ts_svg_rawf(html, "<p>%s by ",
			    ts_figure_bytes(figure, error->held_sites[i]->total_bytes));
		ts_html_code(html, error->held_sites[i]->frame);
		ts_svg_raw(html, "</p>\n");
	}
	ts_svg_raw(html, "</article>\n");
}

static void put_errors(struct ts_page *page, const Ts__Rpc__TraceInfo *info)
{
	struct ts_svg *html = &page->parts[TS_PAGE_ERRORS];
	char count[TS_FIGURE_BYTES];

	if (!info->n_errors)
		return;
	ts_html_section(html, "errors", "Calls that failed");
	ts_svg_rawf(html, "<p>%s call%s failed.</p>\n", ts_figure_count(count, info->failed_calls),
		    info->failed_calls == 1 ? "" : "s");
	for (size_t i = 0; i < info->n_errors && i < MAX_ERRORS; i++)
		put_error(page, html, info->errors[i]);
	if (info->n_errors > MAX_ERRORS)
		ts_svg_rawf(html, "<p class=\"dim\">and %zu more</p>\n",
			    info->n_errors - MAX_ERRORS);
	ts_html_section_end(html);
}

/* ---- the trace ------------------------------------------------------------------------------- */

static void put_sessions(struct ts_page *page, struct ts_svg *html, const Ts__Rpc__TraceInfo *info)
{
	static const struct ts_html_column columns[] = {{"Session", true},  {"Process", true},
							{"Program", false}, {"From", true},
							{"To", true},	    {"Threads", true},
							{"End", false}};
	char figure[TS_FIGURE_BYTES];

	ts_html_table(html, "Sessions", columns, TS_ARRAY_LEN(columns));
	for (size_t i = 0; i < info->n_sessions && i < MAX_SESSIONS; i++) {
		const Ts__Rpc__SessionInfo *session = info->sessions[i];

		ts_html_row(html);
		ts_html_figure(html, "%" PRIu32, session->session);
		ts_html_figure(html, "%" PRIu32, session->pid);
		ts_html_cell(html, session->program);
		ts_html_figure(html, "%s",
			       ts_figure_duration(figure, ts_page_ns(page, session->start_ns)));
		ts_html_figure(html, "%s",
			       ts_figure_duration(figure, ts_page_ns(page, session->end_ns)));
		ts_html_figure(html, "%" PRIu32, session->threads);
		ts_html_cell(html, session->end_reason);
		ts_html_row_end(html);
	}
	ts_html_table_end(html);
	if (info->n_sessions > MAX_SESSIONS)
		ts_svg_rawf(html, "<p class=\"dim\">and %zu more session%s</p>\n",
			    info->n_sessions - MAX_SESSIONS,
			    info->n_sessions > MAX_SESSIONS + 1 ? "s" : "");
}

static void put_devices(struct ts_svg *html, const Ts__Rpc__TraceInfo *info)
{
	static const struct ts_html_column columns[] = {
		{"GPU", true},	  {"Session", true},	     {"Model", false},
		{"Memory", true}, {"Multiprocessors", true}, {"Compute capability", true}};
	char figure[TS_FIGURE_BYTES];

	if (!info->n_devices)
		return;
	ts_html_table(html, "GPUs", columns, TS_ARRAY_LEN(columns));
	for (size_t i = 0; i < info->n_devices && i < MAX_SESSIONS; i++) {
		const Ts__Rpc__DeviceInfo *device = info->devices[i];

		ts_html_row(html);
		ts_html_figure(html, "%" PRIu32, device->device);
		ts_html_figure(html, "%" PRIu32, device->session);
		ts_svg_raw(html, "<td>");
		ts_html_text(html, device->name);
		ts_svg_raw(html, device->virtual_ ? " (virtual)</td>" : "</td>");
		ts_html_figure(html, "%s", ts_figure_bytes(figure, device->memory_bytes));
		ts_html_figure(html, "%" PRIu32, device->multiprocessors);
		ts_html_figure(html, "%.16s",
			       device->compute_capability ? device->compute_capability : "");
		ts_html_row_end(html);
	}
	ts_html_table_end(html);
}

static void put_losses(struct ts_svg *html, const Ts__Rpc__TraceInfo *info)
{
	static const struct ts_html_column columns[] = {{"Records", true}, {"Reason", false}};
	char count[TS_FIGURE_BYTES];

	if (!info->n_lost) {
		ts_svg_raw(html, "<p>Nothing was lost.</p>\n");
		return;
	}
	ts_html_table(html, "Lost records", columns, TS_ARRAY_LEN(columns));
	for (size_t i = 0; i < info->n_lost; i++) {
		ts_html_row(html);
		ts_html_figure(html, "%s", ts_figure_count(count, info->lost[i]->value));
		ts_html_cell(html, info->lost[i]->key);
		ts_html_row_end(html);
	}
	ts_html_table_end(html);
}

static uint64_t sum_of_losses(const Ts__Rpc__TraceInfo *info)
{
	uint64_t n = 0;

	for (size_t i = 0; i < info->n_lost; i++)
		n = __builtin_add_overflow(n, info->lost[i]->value, &n) ? UINT64_MAX : n;
	return n;
}

static void put_header(struct ts_page *page, const Ts__Rpc__TraceInfo *info)
{
	struct ts_svg *html = &page->parts[TS_PAGE_HEADER];
	char date[DATE_BYTES], figure[TS_FIGURE_BYTES];
	time_t seconds = (time_t)(info->start_realtime_ns / NS_PER_S);
	struct tm utc;

	ts_svg_raw(html, "<h1>");
	ts_html_text(html, page->options->title);
	ts_svg_raw(html, "</h1>\n<p class=\"dim\">");
	if (info->n_sessions) {
		ts_html_text(html, info->sessions[0]->program);
		if (info->n_sessions > 1)
			ts_svg_rawf(html, " and %zu more session%s", info->n_sessions - 1,
				    info->n_sessions > 2 ? "s" : "");
		ts_svg_raw(html, ", ");
	}
	if (info->n_devices) {
		ts_html_text(html, info->devices[0]->name);
		if (info->n_devices > 1)
			ts_svg_rawf(html, " and %zu more GPU%s", info->n_devices - 1,
				    info->n_devices > 2 ? "s" : "");
		ts_svg_raw(html, ", ");
	}
	ts_svg_rawf(html, "%s of trace", ts_figure_duration(figure, info->duration_ns));
	if (info->start_realtime_ns && gmtime_r(&seconds, &utc) &&
	    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &utc))
		ts_svg_rawf(html, ", recorded on %s", date);
	ts_svg_raw(html, "</p>\n");
	if (info->empty_reason) {
		ts_svg_raw(html, "<p class=\"warning\">");
		ts_html_text(html, info->empty_reason);
		ts_svg_raw(html, "</p>\n");
	}
	if (info->truncated)
		ts_svg_raw(html, "<p class=\"warning\">The file is cut off: rows in the lost part "
				 "are not on this page.</p>\n");
	if (info->n_lost)
		ts_svg_rawf(html,
			    "<p class=\"warning\">%s records were lost: <a href=\"#trace\">"
			    "reasons</a>.</p>\n",
			    ts_figure_count(figure, sum_of_losses(info)));
	if (info->n_errors)
		ts_svg_rawf(html,
			    "<p class=\"warning\">%s calls failed: <a href=\"#errors\">list</a>."
			    "</p>\n",
			    ts_figure_count(figure, info->failed_calls));
}

void ts_page_info(struct ts_page *page, const Ts__Rpc__TraceInfo *info)
{
	struct ts_svg *html = &page->parts[TS_PAGE_SOURCE];

	put_header(page, info);
	put_errors(page, info);
	ts_html_section(html, "trace", "The trace");
	put_sessions(page, html, info);
	put_devices(html, info);
	put_losses(html, info);
}
