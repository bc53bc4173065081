/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the use of memory for the page: the picture over time, the holders at the peak, and
 * memory that was never freed or used after a free. report-page.c calls this file with the answer
 * of the query.
 */
#include "proto/abi/base.h"
#include "replay/report/pictures/figures.h"
#include "replay/report/stacks/short-function.h"
#include "tools/export/page/report-page.h"

#include <inttypes.h>
#include <string.h>

#define MAX_SITES   10u
#define MAX_MISUSES 20u

static void put_site_name(struct ts_svg *html, const Ts__Rpc__MemorySite *site)
{
	char name[TS_SHORT_FUNCTION_BYTES];

	ts_html_code(html, ts_short_function(site->frame ? site->frame : "unknown stack", name,
					     sizeof(name)));
	for (size_t i = 0; i < site->n_callers; i++) {
		ts_svg_raw(html, " &lt; ");
		ts_html_code(html, ts_short_function(site->callers[i], name, sizeof(name)));
	}
}

static void put_sites(struct ts_svg *html, const char *caption, uint64_t n_allocations,
		      Ts__Rpc__MemorySite *const *sites, size_t n)
{
	static const struct ts_html_column columns[] = {{"Bytes", true},
							{"Times", true},
							{"Kind", false},
							{"Allocated by", false}};
	char bytes[TS_FIGURE_BYTES], count[TS_FIGURE_BYTES];

	if (!n)
		return;
	ts_html_table(html, caption, columns, TS_ARRAY_LEN(columns));
	for (size_t i = 0; i < n && i < MAX_SITES; i++) {
		const Ts__Rpc__MemorySite *site = sites[i];

		ts_html_row(html);
		ts_html_figure(html, "%s", ts_figure_bytes(bytes, site->total_bytes));
		ts_html_figure(html, "%s x %s", ts_figure_count(count, site->count),
			       ts_figure_bytes(bytes, site->bytes));
		ts_svg_raw(html, "<td>");
		ts_html_text(html, site->kind);
		if (site->has_device)
			ts_svg_rawf(html, " %" PRIu32, site->device);
		ts_svg_raw(html, "</td><td class=\"long\">");
		put_site_name(html, site);
		ts_svg_raw(html, "</td>");
		ts_html_row_end(html);
	}
	ts_html_table_end(html);
	ts_svg_rawf(html, "<p class=\"dim\">%s allocation%s", ts_figure_count(count, n_allocations),
		    n_allocations == 1 ? "" : "s");
	if (n > MAX_SITES)
		ts_svg_rawf(html, "; %zu more places", n - MAX_SITES);
	ts_svg_raw(html, "</p>\n");
}

static void put_call(struct ts_page *page, struct ts_svg *html, const char *what,
		     const Ts__Rpc__MisuseCall *call)
{
	char time[TS_FIGURE_BYTES];
	uint64_t at_ns;

	if (!call)
		return;
	at_ns = ts_page_ns(page, call->start_ns);
	ts_svg_rawf(html, "<p>%s by ", what);
	ts_html_code(html, call->name ? call->name : "a call that was not recorded");
	ts_svg_rawf(html, ", operation %" PRIu64 ", at %s", call->op_id,
		    ts_figure_exact(time, at_ns, at_ns));
	if (call->error) {
		ts_svg_raw(html, ": ");
		ts_html_text(html, call->error);
	}
	ts_svg_raw(html, "</p>\n");
	ts_html_stack(html, call->stack);
}

static void put_misuses(struct ts_page *page, struct ts_svg *html,
			const Ts__Rpc__MemoryReport *report)
{
	char count[TS_FIGURE_BYTES];

	if (!report->misuse_count)
		return;
	ts_svg_rawf(html, "<h3>Use after free: %s</h3>\n",
		    ts_figure_count(count, report->misuse_count));
	for (size_t i = 0; i < report->n_misuses && i < MAX_MISUSES; i++) {
		const Ts__Rpc__MemoryMisuse *misuse = report->misuses[i];

		ts_svg_raw(html, "<article>\n<h4>");
		ts_html_text(html, misuse->kind);
		ts_svg_rawf(html, " of 0x%" PRIx64 "</h4>\n", misuse->address);
		put_call(page, html, "Used", misuse->use);
		put_call(page, html, "Freed", misuse->freed);
		put_call(page, html, "Allocated", misuse->allocated);
		ts_svg_raw(html, "</article>\n");
	}
}

static void answer_holder(struct ts_page *page, const Ts__Rpc__MemoryReport *report)
{
	struct ts_svg *html = &page->parts[TS_PAGE_ANSWERS];
	const Ts__Rpc__MemorySite *site = report->n_peak_sites ? report->peak_sites[0] : NULL;
	char bytes[TS_FIGURE_BYTES], time[TS_FIGURE_BYTES], all[TS_FIGURE_BYTES];
	char each[TS_FIGURE_BYTES], count[TS_FIGURE_BYTES];

	ts_html_answer(html, "Who held the most memory at the peak?");
	if (!site) {
		ts_svg_raw(html, "No device memory was allocated.");
		ts_html_answer_end(html, NULL, NULL);
		return;
	}
	put_site_name(html, site);
	ts_svg_rawf(html, ": %s of %s", ts_figure_bytes(bytes, site->total_bytes),
		    ts_figure_bytes(all, report->peak_bytes));
	if (site->count > 1)
		ts_svg_rawf(html, ", %s allocations of %s", ts_figure_count(count, site->count),
			    ts_figure_bytes(each, site->bytes));
	if (report->has_peak_ns)
		ts_svg_rawf(html, ", at %s",
			    ts_figure_duration(time, ts_page_ns(page, report->peak_ns)));
	ts_svg_raw(html, ".");
	ts_html_answer_end(html, "memory", "All holders, and memory over time");
}

void ts_page_memory(struct ts_page *page, const Ts__Rpc__MemoryReport *report, const char *svg)
{
	struct ts_svg *html = &page->parts[TS_PAGE_MEMORY];
	char count[TS_FIGURE_BYTES];

	answer_holder(page, report);
	if (!report->n_groups && !report->unknown_frees && !report->misuse_count)
		return;
	ts_html_section(html, "memory", "Memory of GPUs");
	ts_html_picture(html, "Live memory of GPUs over time", svg);
	put_sites(html, "Memory at the peak", report->peak_allocations, report->peak_sites,
		  report->n_peak_sites);
	put_sites(html, "Never freed in this trace", report->never_freed_allocations,
		  report->never_freed_sites, report->n_never_freed_sites);
	if (report->unknown_frees)
		ts_svg_rawf(html, "<p>%s frees: the allocation is not in the trace.</p>\n",
			    ts_figure_count(count, report->unknown_frees));
	if (report->lost_frees)
		ts_svg_rawf(html,
			    "<p>%s allocations at a live address: the earlier free is not in the "
			    "trace.</p>\n",
			    ts_figure_count(count, report->lost_frees));
	put_misuses(page, html, report);
	ts_html_section_end(html);
}
