/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl analyze: prints one page on where the time went and what to change, each with numbers and
 * stacks. main.c runs it; replay/report answers.
 */
#include "proto/rpc/json.h"
#include "replay/report/answers/words.h"
#include "replay/report/stacks/codes.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/trace/ask.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

#define DEFAULT_LISTED 5u
#define MAX_LISTED     65536
/* Maximum number of functions on a line. */
#define MAX_CODE 3u
/* With fewer samples, the number of samples is printed. */
#define FEW_SAMPLES 3u
/* A finding with less possible gain, as a share of all time, is left out of the text. */
#define LEAST_GAIN 0.01

struct asked {
	const char *session;
	uint64_t limit;
	bool json, no_stacks, all;
};

/* ---- for people ------------------------------------------------------------------------------ */

static double percent(uint64_t ns, uint64_t of_ns)
{
	return of_ns ? 100.0 * (double)ns / (double)of_ns : 0;
}

/* True if another process's GPU has the same number: GPUs of two vendors, or of two hosts. */
static bool is_number_shared(const Ts__Rpc__AnalysisReport *report, size_t of)
{
	for (size_t i = 0; i < report->n_devices; i++)
		if (i != of && report->devices[i]->has_device && report->devices[of]->has_device &&
		    report->devices[i]->device == report->devices[of]->device)
			return true;
	return false;
}

static void print_devices(const Ts__Rpc__AnalysisReport *report)
{
	uint64_t all_ns = report->end_ns - report->start_ns;

	for (size_t i = 0; i < report->n_devices; i++) {
		const Ts__Rpc__TimelineDevice *device = report->devices[i];
		char name[64] = "unknown GPU";

		if (is_number_shared(report, i))
			snprintf(name, sizeof(name), "GPU %" PRIu32 " of session %" PRIu32,
				 device->device, device->session);
		else if (device->has_device)
			snprintf(name, sizeof(name), "GPU %" PRIu32, device->device);
		printf("%s: busy %.1f %% (compute %.1f %%, copies %.1f %%, both at once %.1f %%)\n",
		       name, percent(device->busy_ns, all_ns), percent(device->compute_ns, all_ns),
		       percent(device->copy_ns, all_ns), percent(device->overlap_ns, all_ns));
		printf("%*s  idle %.1f %%", (int)strlen(name), "",
		       percent(device->idle_ns, all_ns));
		for (size_t j = 0; j < device->n_idle; j++)
			printf("%s %s %.1f %%", j ? "," : ":", device->idle[j]->cause,
			       percent(device->idle[j]->ns, all_ns));
		putchar('\n');
	}
}

static void add_occupancy(struct ts_table *table, const Ts__Rpc__Occupancy *occupancy)
{
	if (!occupancy) {
		for (int cell = 0; cell < 3; cell++)
			ts_table_add(table, "");
		return;
	}
	if (occupancy->share < 0.001)
		ts_table_add(table, "< 0.1 %");
	else
		ts_table_addf(table, "<= %.1f %%", 100 * occupancy->share);
	ts_table_add(table, occupancy->limit);
	ts_table_addf(table, "%.3g", occupancy->waves);
}

static void print_kernels(const Ts__Rpc__AnalysisReport *report)
{
	static const char *const headings[] = {"SHARE",	    "TOTAL",	  "COUNT", "MEAN",
					       "OCCUPANCY", "LIMITED BY", "WAVES", "KERNEL"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_kernels || ts_table_new("rrrRrLRl", &table))
		return;
	for (size_t i = 0; i < TS_ARRAY_LEN(headings); i++)
		ts_table_add(table, headings[i]);
	for (size_t i = 0; i < report->n_kernels; i++) {
		const Ts__Rpc__AnalysisKernel *kernel = report->kernels[i];
		const char *launchers =
			ts_words_launchers(&pool, kernel->n_launched_by, kernel->launched_by,
					   kernel->launch_sites);

		ts_table_addf(table, "%.1f %%", percent(kernel->ns, report->kernels_ns));
		ts_table_add(table, ts_out_duration(figure, kernel->ns));
		ts_table_add(table, ts_out_count(figure, kernel->count));
		ts_table_add(table,
			     ts_out_duration(figure,
					     kernel->count ? kernel->ns / kernel->count : 0));
		add_occupancy(table, kernel->occupancy);
		ts_table_add(table, kernel->name);
		if (*launchers)
			ts_table_note(table, ts_pool_printf(&pool, "by %s", launchers));
	}
	printf("\n%sKernels%s that took the most time\n", ts_term_style(stdout, TS_STYLE_BOLD),
	       ts_term_style(stdout, TS_STYLE_PLAIN));
	ts_table_print(table, stdout, 2, false);
}

static void print_finding(const struct asked *asked, const Ts__Rpc__AnalysisFinding *finding,
			  uint64_t all_ns)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	char count[TS_OUT_FIGURE_BYTES], took[TS_OUT_FIGURE_BYTES], bytes[TS_OUT_FIGURE_BYTES];

	printf("\n%sUp to %.0f %% of the time%s: %s ", ts_term_style(stdout, TS_STYLE_BOLD),
	       percent(finding->gain_ns, all_ns), ts_term_style(stdout, TS_STYLE_PLAIN),
	       ts_out_count(count, finding->count));
	fputs(ts_words_finding(finding->finding), stdout);
	printf(": %s", ts_out_duration(took, finding->ns));
	if (finding->bytes)
		printf(", %s", ts_out_bytes(bytes, finding->bytes));
	printf("\n");
	ts_text_paragraph(stdout, ts_pool_printf(&pool, "%s.", finding->advice), 2);
	for (size_t i = 0; i < finding->n_examples; i++) {
		const Ts__Rpc__AnalysisExample *example = finding->examples[i];

		printf("  %s time%s, %s%s\n", ts_out_count(count, example->count),
		       example->count == 1 ? "" : "s", ts_out_duration(took, example->ns),
		       example->stack ? ", from" : ", stack not recorded");
		if (!asked->no_stacks && example->stack)
			ts_text_stack(example->stack, 6);
	}
}

/* Findings with the largest possible gain come first. */
static void print_findings(const struct asked *asked, const Ts__Rpc__AnalysisReport *report)
{
	uint64_t all_ns = report->end_ns - report->start_ns;
	size_t n_small = 0;

	for (size_t i = 0; i < report->n_findings; i++) {
		const Ts__Rpc__AnalysisFinding *finding = report->findings[i];

		if (!asked->all && (double)finding->gain_ns < LEAST_GAIN * (double)all_ns)
			n_small++;
		else
			print_finding(asked, finding, all_ns);
	}
	if (!report->n_findings)
		puts("\nNo findings: no redundant waits, no tiny or pageable copies, no streams that\n"
		     "block each other.");
	else if (n_small)
		printf("\n%zu finding%s of less than 1 %% of the time %s not listed: --all lists %s.\n",
		       n_small, n_small == 1 ? "" : "s", n_small == 1 ? "is" : "are",
		       n_small == 1 ? "it" : "them");
}

/* Prints the host's functions, sorted. Functions below one percent are left out. */
static void print_host_code(const Ts__Rpc__AnalysisReport *report)
{
	size_t i;

	for (i = 0; i < report->n_host_code && i < MAX_CODE; i++) {
		const Ts__Rpc__AnalysisCode *code = report->host_code[i];
		char text[256];

		if (percent(code->ns, report->host_ns) < 1)
			break;
		ts_code_text(code->function, code->file, code->line, text, sizeof(text));
		fputs(i ? ", " : "During idle time, the host ran ", stdout);
		ts_out_text(stdout, text);
		printf(" %.0f %%", percent(code->ns, report->host_ns));
		if (code->samples < FEW_SAMPLES)
			printf(" (from %" PRIu64 " sample%s)", code->samples,
			       code->samples == 1 ? "" : "s");
	}
	if (i)
		puts(".");
}

static void print_report(const struct asked *asked, const struct ts_about *about,
			 const Ts__Rpc__AnalysisReport *report)
{
	uint64_t origin_ns = about->origin_ns;
	char figure[TS_OUT_FIGURE_BYTES], count[TS_OUT_FIGURE_BYTES];

	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, about->path);
	fputs(ts_term_style(stdout, TS_STYLE_PLAIN), stdout);
	if (!report->n_devices) {
		puts(": no GPU operation; `tsctl info` lists the rows of the trace.");
		ts_text_errors(report->n_errors, report->errors, report->failed_calls, origin_ns);
		return;
	}
	printf(": %s from the first operation of a GPU to the last\n",
	       ts_out_duration(figure, report->end_ns - report->start_ns));
	puts(ts_words_verdict(report->verdict));
	print_host_code(report);
	if (!strcmp(report->verdict, "model_clock"))
		ts_text_model_clock(stdout);
	if (report->timed_kernels)
		ts_text_timed_kernels(stdout);
	ts_text_errors(report->n_errors, report->errors, report->failed_calls, origin_ns);
	print_findings(asked, report);
	putchar('\n');
	print_devices(report);
	ts_text_clocks(report->clocks);
	ts_text_doubts(stdout, "", report->doubts);
	if (report->syncs)
		printf("The host waited %s time%s for a GPU, %s in all.\n",
		       ts_out_count(count, report->syncs), report->syncs == 1 ? "" : "s",
		       ts_out_duration(figure, report->syncs_ns));
	print_kernels(report);
}

static void print(const void *data, const struct ts_about *about, const ProtobufCMessage *body)
{
	const Ts__Rpc__AnalysisReport *report = (const Ts__Rpc__AnalysisReport *)body;

	print_report(data, about, report);
	ts_source_print_halves(report->host_half_only);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct ts_option command_options[] = {
	{"limit", 'n', TS_OPTION_NUMBER(struct asked, limit), .max = MAX_LISTED, .metavar = "N",
	 .expects = "expected a number of lines, at most " TS_OPTION_DIGITS(MAX_LISTED),
	 .help = "list at most N kernels and N stacks per finding (default: 5)"},
	{"all", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, all),
	 .help = "print findings of less than 1 % of the time, too"},
	{"no-stacks", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, no_stacks),
	 .help = "print no stacks"},
	{"session", 's', TS_OPTION_SESSION(struct asked, session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{"json", 'j', TS_OPTION_FLAG(struct asked, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_analyze(int argc, char **argv)
{
	struct asked asked = {.limit = DEFAULT_LISTED};
	Ts__Rpc__Query__Analyze body = TS__RPC__QUERY__ANALYZE__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	struct ts_asking asking = {.is_one = true, .print = print, .data = &asked};
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_analyze, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	if (ts_one_trace(&operands, asked.session, "analyze", ""))
		return TS_EXIT_BAD;
	asking.file = operands.words[0];
	asking.session = asked.session;
	asking.json = asked.json;
	TS_RPC_SET(&body, limit, (uint32_t)asked.limit);
	query.body_case = TS__RPC__QUERY__BODY_ANALYZE;
	query.analyze = &body;
	return ts_ask(&asking, &query);
}

const struct ts_command ts_command_analyze = {
	.name = "analyze",
	.summary = "find where the time went and suggest changes",
	.text = "usage: tsctl analyze [OPTION ...] FILE | --session N\n"
		"\n"
		"Print whether kernels, copies, launches or the host took the time. List\n"
		"findings with their stacks, the largest possible gain first: calls that wait\n"
		"although the GPU has no work, tiny copies, copies of pageable memory, streams\n"
		"that block each other. List the kernels that took the most time, with their\n"
		"launchers. If the host took the time and the trace has samples, print the\n"
		"functions that the host ran while the GPU was idle.\n"
		"\n",
	.example = "analyze run.sbt",
	.help_column = 20,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_analyze,
};
