/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the causes of idle time for the page. report-page.c calls this file with the answer of
 * the query; the words are those of `tsctl gaps`.
 */
#include "proto/abi/base.h"
#include "replay/report/answers/words.h"
#include "replay/report/pictures/figures.h"
#include "tools/export/page/report-page.h"

#include <inttypes.h>

#define MAX_CAUSES     12u
#define MAX_GAP_CAUSES 5u
#define MAX_DID	       3u

/* Appends the work of the waker during a part, in brackets. */
static void put_waker(struct ts_svg *html, const Ts__Rpc__GapPart *part)
{
	char text[TS_WORDS_PART_BYTES], figure[TS_FIGURE_BYTES];

	if (!part->n_waker_did)
		return;
	ts_svg_raw(html, "<br><span class=\"dim\">during that time: ");
	for (size_t i = 0; i < part->n_waker_did && i < MAX_DID; i++) {
		ts_words_gap_part(part->waker_did, part->n_waker_did, i, 0, text);
		ts_svg_rawf(html, "%s%s ", i ? "; " : "",
			    ts_figure_duration(figure, part->waker_did[i]->ns));
		ts_html_text(html, text);
	}
	ts_svg_raw(html, "</span>");
}

static void put_parts(struct ts_svg *html, const char *caption, Ts__Rpc__GapPart *const *parts,
		      size_t n, uint64_t of_ns, uint32_t of_tid, size_t most)
{
	static const struct ts_html_column columns[] = {{"Time", true},
							{"Share", true},
							{"Times", true},
							{"Cause", false}};
	char text[TS_WORDS_PART_BYTES], figure[TS_FIGURE_BYTES];
	uint64_t more_ns = 0;

	ts_html_table(html, caption, columns, TS_ARRAY_LEN(columns));
	for (size_t i = 0; i < n; i++) {
		if (i >= most) {
			more_ns += parts[i]->ns;
			continue;
		}
		ts_words_gap_part(parts, n, i, of_tid, text);
		ts_html_row(html);
		ts_html_figure(html, "%s", ts_figure_duration(figure, parts[i]->ns));
		ts_html_figure(html, "%s", ts_figure_percent(figure, parts[i]->ns, of_ns));
		ts_html_figure(html, "%s",
			       parts[i]->count ? ts_figure_count(figure, parts[i]->count) : "");
		ts_svg_raw(html, "<td class=\"long\">");
		ts_html_text(html, text);
		put_waker(html, parts[i]);
		ts_svg_raw(html, "</td>");
		ts_html_row_end(html);
	}
	ts_html_table_end(html);
	if (n > most)
		ts_svg_rawf(html, "<p class=\"dim\">%s in %zu more cause%s</p>\n",
			    ts_figure_duration(figure, more_ns), n - most,
			    n - most == 1 ? "" : "s");
}

static void put_gap(struct ts_page *page, struct ts_svg *html, const Ts__Rpc__Gap *gap)
{
	uint64_t ns = gap->end_ns - gap->start_ns, at_ns = ts_page_ns(page, gap->start_ns);
	char figure[TS_FIGURE_BYTES], time[TS_FIGURE_BYTES];

	ts_svg_rawf(html, "<article>\n<h3>%s at %s, stream %" PRIu32 "</h3>\n",
		    ts_figure_duration(figure, ns), ts_figure_exact(time, at_ns, at_ns),
		    gap->stream);
	ts_svg_rawf(html, "<p>Session %" PRIu32 ", before operation %" PRIu64 " ", gap->session,
		    gap->op_id);
	ts_html_code(html, gap->name);
	if (gap->has_tid) {
		ts_svg_raw(html, ", queued by ");
		ts_html_code(html, gap->call);
		ts_svg_raw(html, " in thread ");
		ts_html_text(html, gap->thread_name);
		ts_svg_rawf(html, "/%" PRIu32, gap->tid);
	}
	for (size_t i = 0; i < gap->n_unsure; i++) {
		ts_svg_raw(html, i ? ", " : " (unsure: ");
		ts_html_text(html, gap->unsure[i]);
	}
	ts_svg_raw(html, gap->n_unsure ? ").</p>\n" : ".</p>\n");
	put_parts(html, "Causes of this gap", gap->parts, gap->n_parts, ns, gap->tid,
		  MAX_GAP_CAUSES);
	if (gap->stack)
		ts_svg_raw(html, "<p>Called at</p>\n");
	ts_html_stack(html, gap->stack);
	ts_svg_raw(html, "</article>\n");
}

static void answer_idle(struct ts_page *page, const Ts__Rpc__GapsReport *report)
{
	struct ts_svg *html = &page->parts[TS_PAGE_ANSWERS];
	char text[TS_WORDS_PART_BYTES], figure[TS_FIGURE_BYTES], at[TS_FIGURE_BYTES];
	char least[TS_FIGURE_BYTES];
	uint64_t all_ns = report->gaps_ns - report->not_looked_at_ns;

	ts_html_answer(html, "Why did the GPU stand still?");
	if (!report->gaps || !report->n_parts) {
		ts_svg_rawf(html, "No stream had a gap of %s or more between two operations.",
			    ts_figure_duration(least, report->least_ns));
		ts_html_answer_end(html, NULL, NULL);
		return;
	}
	ts_words_gap_part(report->parts, report->n_parts, 0, 0, text);
	ts_svg_rawf(html, "%s of %s in gaps of streams: ",
		    ts_figure_percent(figure, report->parts[0]->ns, all_ns),
		    ts_figure_duration(at, report->gaps_ns));
	ts_html_text(html, text);
	ts_svg_raw(html, ".");
	if (report->n_longest && report->longest[0]->n_parts) {
		const Ts__Rpc__Gap *gap = report->longest[0];

		ts_words_gap_part(gap->parts, gap->n_parts, 0, 0, text);
		ts_svg_rawf(html, " The longest gap, %s at %s, stream %" PRIu32 ", %s: ",
			    ts_figure_duration(figure, gap->end_ns - gap->start_ns),
			    ts_figure_duration(at, ts_page_ns(page, gap->start_ns)), gap->stream,
			    ts_figure_percent(least, gap->parts[0]->ns,
					      gap->end_ns - gap->start_ns));
		ts_html_text(html, text);
		ts_svg_raw(html, ", before ");
		ts_html_code(html, gap->name);
		ts_svg_raw(html, ".");
	}
	ts_html_answer_end(html, "gaps", "All causes, and the longest gaps");
}

void ts_page_gaps(struct ts_page *page, const Ts__Rpc__GapsReport *report)
{
	struct ts_svg *html = &page->parts[TS_PAGE_GAPS];
	char count[TS_FIGURE_BYTES], least[TS_FIGURE_BYTES], all[TS_FIGURE_BYTES];

	answer_idle(page, report);
	if (!report->gaps || !report->n_parts)
		return;
	ts_html_section(html, "gaps", "Gaps between operations of a stream");
	ts_svg_rawf(html, "<p>%s gap%s of %s or more, %s in all.</p>\n",
		    ts_figure_count(count, report->gaps), report->gaps == 1 ? "" : "s",
		    ts_figure_duration(least, report->least_ns),
		    ts_figure_duration(all, report->gaps_ns));
	put_parts(html, "Causes of all gaps", report->parts, report->n_parts,
		  report->gaps_ns - report->not_looked_at_ns, 0, MAX_CAUSES);
	for (size_t i = 0; i < report->n_longest; i++)
		put_gap(page, html, report->longest[i]);
	if (report->not_looked_at)
		ts_svg_rawf(html,
			    "<p class=\"dim\">%s gaps, the shortest, were not analysed: there are "
			    "too many.</p>\n",
			    ts_figure_count(count, report->not_looked_at));
	ts_html_section_end(html);
}
