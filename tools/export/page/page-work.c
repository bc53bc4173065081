/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the analysis of a trace for the page: the verdict, possible changes, GPUs, kernels.
 * report-page.c calls this file with the answer of the query; the words are those of `tsctl
 * analyze`.
 */
#include "proto/abi/base.h"
#include "replay/report/answers/words.h"
#include "replay/report/pictures/figures.h"
#include "replay/report/stacks/codes.h"
#include "tools/export/page/report-page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_CODE    3u /* functions of the host in a sentence */
#define LEAST_SHARE 0.001
/* A finding with less possible gain, as a share of all time, is folded. */
#define LEAST_GAIN 0.01

static void put_causes(struct ts_svg *html, const Ts__Rpc__TimelineDevice *device, uint64_t all_ns)
{
	char figure[TS_FIGURE_BYTES];

	for (size_t i = 0; i < device->n_idle; i++) {
		ts_svg_raw(html, i ? ", " : "");
		ts_html_text(html, device->idle[i]->cause);
		ts_svg_rawf(html, " %s", ts_figure_percent(figure, device->idle[i]->ns, all_ns));
	}
}

static void put_devices(struct ts_page *page, const Ts__Rpc__AnalysisReport *report)
{
	static const struct ts_html_column columns[] = {
		{"GPU", false},	  {"Operations", true},
		{"Busy", true},	  {"Compute", true},
		{"Copies", true}, {"Both at once", true},
		{"Idle", true},	  {"Causes of idle time", false},
	};
	struct ts_svg *html = &page->parts[TS_PAGE_TIMELINE];
	uint64_t all_ns = report->end_ns - report->start_ns;
	char figure[TS_FIGURE_BYTES];
	bool is_one = true;

	for (size_t i = 1; i < report->n_devices; i++)
		is_one &= report->devices[i]->session == report->devices[0]->session;
	ts_html_table(html, "Time of the GPUs", columns, TS_ARRAY_LEN(columns));
	for (size_t i = 0; i < report->n_devices; i++) {
		const Ts__Rpc__TimelineDevice *device = report->devices[i];
		const uint64_t parts_ns[] = {device->busy_ns, device->compute_ns, device->copy_ns,
					     device->overlap_ns, device->idle_ns};

		ts_html_row(html);
		ts_svg_raw(html, "<td class=\"gpu\">");
		if (device->has_device && is_one)
			ts_svg_rawf(html, "GPU %" PRIu32, device->device);
		else if (device->has_device)
			ts_svg_rawf(html, "GPU %" PRIu32 " of session %" PRIu32, device->device,
				    device->session);
		else
			ts_svg_raw(html, "unknown GPU");
		ts_svg_raw(html, "</td>");
		ts_html_figure(html, "%s", ts_figure_count(figure, device->operations));
		for (size_t j = 0; j < TS_ARRAY_LEN(parts_ns); j++)
			ts_html_figure(html, "%s", ts_figure_percent(figure, parts_ns[j], all_ns));
		ts_svg_raw(html, "<td>");
		put_causes(html, device, all_ns);
		ts_svg_raw(html, "</td>");
		ts_html_row_end(html);
	}
	ts_html_table_end(html);
	if (report->syncs)
		ts_svg_rawf(html, "<p>The host waited %s time%s for a GPU,",
			    ts_figure_count(figure, report->syncs), report->syncs == 1 ? "" : "s");
	if (report->syncs)
		ts_svg_rawf(html, " %s in all.</p>\n",
			    ts_figure_duration(figure, report->syncs_ns));
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void put_occupancy(struct ts_svg *html, const Ts__Rpc__Occupancy *occupancy)
{
	if (!occupancy) {
		for (int cell = 0; cell < 3; cell++)
			ts_html_cell(html, NULL);
		return;
	}
	if (occupancy->share < LEAST_SHARE)
		ts_html_figure(html, "< 0.1 %%");
	else
		ts_html_figure(html, "<= %.1f %%", 100 * occupancy->share);
	ts_html_cell(html, occupancy->limit);
	ts_html_figure(html, "%.3g", occupancy->waves);
}

static void put_launchers(struct ts_page *page, struct ts_svg *html,
			  const Ts__Rpc__AnalysisKernel *kernel)
{
	const char *launchers = ts_words_launchers(&page->pool, kernel->n_launched_by,
						   kernel->launched_by, kernel->launch_sites);

	if (*launchers)
		ts_html_text(html, launchers);
	else
		ts_svg_raw(html, "a call that was not recorded with its stack");
}

/* The launch sites of a kernel beyond the first one, in one list. */
static void put_sites(struct ts_svg *html, const Ts__Rpc__AnalysisKernel *kernel)
{
	char count[TS_FIGURE_BYTES];

	if (kernel->n_launched_by < 2)
		return;
	ts_svg_raw(html, "<ul class=\"sites\">\n");
	for (size_t i = 0; i < kernel->n_launched_by; i++) {
		const Ts__Rpc__LaunchSite *site = kernel->launched_by[i];

		ts_svg_rawf(html, "<li>%s times by ", ts_figure_count(count, site->count));
		ts_html_code(html, site->frame);
		for (size_t j = 0; j < site->n_callers; j++) {
			ts_svg_raw(html, " &lt; ");
			ts_html_code(html, site->callers[j]);
		}
		ts_svg_raw(html, "</li>\n");
	}
	if (kernel->launch_sites > kernel->n_launched_by)
		ts_svg_rawf(html, "<li class=\"dim\">and %s more places</li>\n",
			    ts_figure_count(count, kernel->launch_sites - kernel->n_launched_by));
	ts_svg_raw(html, "</ul>\n");
}

static void put_kernels(struct ts_page *page, const Ts__Rpc__AnalysisReport *report)
{
	static const struct ts_html_column columns[] = {
		{"Kernel", false},     {"Share", true}, {"Total", true},
		{"Count", true},       {"Mean", true},	{"Occupancy", true},
		{"Limited by", false}, {"Waves", true}, {"Launched by", false},
	};
	struct ts_svg *html = &page->parts[TS_PAGE_KERNELS];
	char figure[TS_FIGURE_BYTES];

	if (!report->n_kernels)
		return;
	ts_html_section(html, "kernels", "Kernels that took the most time");
	ts_html_table(html, "Kernels and their launching stacks", columns, TS_ARRAY_LEN(columns));
	for (size_t i = 0; i < report->n_kernels; i++) {
		const Ts__Rpc__AnalysisKernel *kernel = report->kernels[i];
		uint64_t mean_ns = kernel->count ? kernel->ns / kernel->count : 0;

		ts_html_row(html);
		ts_svg_raw(html, "<td class=\"kernel\">");
		ts_html_code(html, kernel->name);
		ts_svg_raw(html, "</td>");
		ts_html_figure(html, "%s",
			       ts_figure_percent(figure, kernel->ns, report->kernels_ns));
		ts_html_figure(html, "%s", ts_figure_duration(figure, kernel->ns));
		ts_html_figure(html, "%s", ts_figure_count(figure, kernel->count));
		ts_html_figure(html, "%s", ts_figure_duration(figure, mean_ns));
		put_occupancy(html, kernel->occupancy);
		ts_svg_raw(html, "<td class=\"long\">");
		put_launchers(page, html, kernel);
		put_sites(html, kernel);
		ts_svg_raw(html, "</td>");
		ts_html_row_end(html);
	}
	ts_html_table_end(html);
	ts_html_section_end(html);
}

static void answer_slowest(struct ts_page *page, const Ts__Rpc__AnalysisReport *report)
{
	struct ts_svg *html = &page->parts[TS_PAGE_ANSWERS];
	const Ts__Rpc__AnalysisKernel *kernel = report->n_kernels ? report->kernels[0] : NULL;
	char figure[TS_FIGURE_BYTES], share[TS_FIGURE_BYTES], count[TS_FIGURE_BYTES];

	ts_html_answer(html, "Which kernel took the most time, and who launched it?");
	if (!kernel) {
		ts_svg_raw(html, "No kernel ran.");
		ts_html_answer_end(html, NULL, NULL);
		return;
	}
	ts_html_code(html, kernel->name);
	ts_svg_rawf(html, ": %s, %s of all kernels' time, in %s launch%s. Launched by ",
		    ts_figure_duration(figure, kernel->ns),
		    ts_figure_percent(share, kernel->ns, report->kernels_ns),
		    ts_figure_count(count, kernel->count), kernel->count == 1 ? "" : "es");
	put_launchers(page, html, kernel);
	ts_svg_raw(html, ".");
	ts_html_answer_end(html, "kernels", "All kernels");
}

/* ---- findings -------------------------------------------------------------------------------- */

static bool is_small(const Ts__Rpc__AnalysisFinding *finding, uint64_t all_ns)
{
	return (double)finding->gain_ns < LEAST_GAIN * (double)all_ns;
}

static void put_finding(struct ts_svg *html, const Ts__Rpc__AnalysisFinding *finding,
			uint64_t all_ns)
{
	char share[TS_FIGURE_BYTES], count[TS_FIGURE_BYTES], figure[TS_FIGURE_BYTES];

	ts_svg_rawf(html, "<article>\n<h3>Up to %s of the time: %s ",
		    is_small(finding, all_ns) ? "1 %"
					      : ts_figure_percent(share, finding->gain_ns, all_ns),
		    ts_figure_count(count, finding->count));
	ts_svg_rawf(html, "%s</h3>\n", ts_words_finding(finding->finding));
	ts_svg_rawf(html, "<p>They took %s", ts_figure_duration(figure, finding->ns));
	if (finding->bytes)
		ts_svg_rawf(html, " for %s", ts_figure_bytes(figure, finding->bytes));
	ts_svg_raw(html, ". <strong>Remedy</strong>: ");
	ts_html_text(html, finding->advice);
	ts_svg_raw(html, ".</p>\n");
	for (size_t i = 0; i < finding->n_examples; i++) {
		const Ts__Rpc__AnalysisExample *example = finding->examples[i];

		ts_svg_rawf(html, "<p>%s time%s, %s%s</p>\n",
			    ts_figure_count(count, example->count), example->count == 1 ? "" : "s",
			    ts_figure_duration(figure, example->ns),
			    example->stack ? ", from" : ", stack not recorded");
		ts_html_stack(html, example->stack);
	}
	ts_svg_raw(html, "</article>\n");
}

static void put_findings(struct ts_page *page, const Ts__Rpc__AnalysisReport *report)
{
	struct ts_svg *html = &page->parts[TS_PAGE_FINDINGS];
	uint64_t all_ns = report->end_ns - report->start_ns;
	size_t n_small = 0;

	ts_html_section(html, "findings", "Findings, the largest gain first");
	if (!report->n_findings)
		ts_svg_raw(html, "<p>None: no redundant waits, no tiny or pageable copies, no "
				 "streams that block each other.</p>\n");
	for (size_t i = 0; i < report->n_findings; i++) {
		n_small += is_small(report->findings[i], all_ns);
		if (!is_small(report->findings[i], all_ns))
			put_finding(html, report->findings[i], all_ns);
	}
	if (n_small)
		ts_svg_rawf(html,
			    "<details><summary>%zu finding%s of less than 1 %% of the time"
			    "</summary>\n",
			    n_small, n_small == 1 ? "" : "s");
	for (size_t i = 0; i < report->n_findings; i++)
		if (is_small(report->findings[i], all_ns))
			put_finding(html, report->findings[i], all_ns);
	ts_svg_raw(html, n_small ? "</details>\n" : "");
	ts_html_section_end(html);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Names the functions that the host ran while the GPU was idle. */
static void put_host_code(struct ts_svg *html, const Ts__Rpc__AnalysisReport *report)
{
	char text[TS_WORDS_PART_BYTES], share[TS_FIGURE_BYTES];
	size_t i;

	for (i = 0; i < report->n_host_code && i < MAX_CODE; i++) {
		const Ts__Rpc__AnalysisCode *code = report->host_code[i];

		if (code->ns * 100.0 < (double)report->host_ns)
			break;
		ts_code_text(code->function, code->file, code->line, text, sizeof(text));
		ts_svg_raw(html, i ? ", " : " During idle time, the host ran ");
		ts_html_code(html, text);
		ts_svg_rawf(html, " %s", ts_figure_percent(share, code->ns, report->host_ns));
	}
	ts_svg_raw(html, i ? "." : "");
}

void ts_page_analysis(struct ts_page *page, const Ts__Rpc__AnalysisReport *report)
{
	struct ts_svg *header = &page->parts[TS_PAGE_HEADER];
	char figure[TS_FIGURE_BYTES];

	if (!report->n_devices) {
		ts_svg_raw(header, "<p class=\"verdict\">No GPU operation was recorded.</p>\n");
		return;
	}
	ts_svg_rawf(header,
		    "<p class=\"verdict\">%s from the first operation of a GPU to the last. ",
		    ts_figure_duration(figure, report->end_ns - report->start_ns));
	ts_svg_raw(header, ts_words_verdict(report->verdict));
	put_host_code(header, report);
	ts_svg_raw(header, "</p>\n");
	if (report->verdict && !strcmp(report->verdict, "model_clock"))
		ts_svg_rawf(header, "<p class=\"warning\">%s</p>\n", ts_words_model_clock());
	if (report->timed_kernels)
		ts_svg_rawf(header, "<p class=\"warning\">%s</p>\n", ts_words_timed_kernels());
	answer_slowest(page, report);
	put_findings(page, report);
	put_kernels(page, report);
	put_devices(page, report);
	if (report->doubts) {
		ts_svg_raw(&page->parts[TS_PAGE_SOURCE], "<p>");
		ts_html_text(&page->parts[TS_PAGE_SOURCE],
			     ts_words_doubts(&page->pool, "", report->doubts));
		ts_svg_raw(&page->parts[TS_PAGE_SOURCE], "</p>\n");
	}
}
