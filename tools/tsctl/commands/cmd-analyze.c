/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl analyze: prints one page on where the time went and what to change, each with numbers and
 * stacks. main.c runs it. It calls replay/state (timeline, analysis, occupancy) and fills the
 * message through replay/report.
 */
#include "proto/rpc/json.h"
#include "replay/report/answers/clockjson.h"
#include "replay/report/answers/doubtsjson.h"
#include "replay/report/answers/errorsjson.h"
#include "replay/report/answers/timelinejson.h"
#include "replay/report/rows/rowsums.h"
#include "replay/report/stacks/codes.h"
#include "replay/report/stacks/hostcode.h"
#include "replay/report/stacks/stackjson.h"
#include "replay/state/overview/analysis.h"
#include "replay/state/state-clocks.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

#define DEFAULT_LISTED 5u
#define MAX_LISTED     65536
/* A GPU that is busy for at least this share counts as busy; idle time is then no explanation. */
#define BUSY_SHARE 0.8
/*
 * Limit of the mean idle time per operation that a late host causes. Below it, the program is
 * launch-bound. Above it, the host does other work, and the program is host-bound.
 */
#define LAUNCH_GAP_NS UINT64_C(50000)
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

struct analyzer {
	const struct asked *asked;
	struct ts_resolver *resolver;
	const struct ts_timeline *timeline;
	const struct ts_analysis *analysis;
	const struct ts_occupancies *occupancies;
	const Ts__Rpc__TraceStats *launched; /* kernels, with launching functions */
	struct ts_pool *pool;
	size_t next;	  /* next occupancy: both lists are ordered by time */
	bool is_modelled; /* as in ts_clocks_are_modelled() */
};

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Returns the device with the longest busy time. */
static const struct ts_timeline_device *busiest(const struct ts_timeline *timeline)
{
	const struct ts_timeline_device *found = NULL;

	for (size_t i = 0; i < timeline->n_devices; i++)
		if (!found || timeline->devices[i].busy_ns > found->busy_ns)
			found = &timeline->devices[i];
	return found;
}

static const char *find_verdict(const struct ts_timeline *timeline, bool is_modelled)
{
	const struct ts_timeline_device *device = busiest(timeline);
	uint64_t all_ns = timeline->to_ns - timeline->from_ns, late_ns;

	if (!device || !all_ns)
		return "unknown";
	if ((double)device->busy_ns >= BUSY_SHARE * (double)all_ns)
		return device->ns[TS_TIMELINE_COPY] > device->ns[TS_TIMELINE_COMPUTE]
			       ? "copy_bound"
			       : "compute_bound";
	late_ns = device->idle_ns[TS_TIMELINE_HOST] + device->idle_ns[TS_TIMELINE_CALL] +
		  device->idle_ns[TS_TIMELINE_DISPATCH];
	if (device->idle_ns[TS_TIMELINE_DEPENDENCY] > late_ns)
		return "waiting";
	if (device->idle_ns[TS_TIMELINE_UNKNOWN] > late_ns)
		return "unknown";
	if (is_modelled)
		return "model_clock";
	return late_ns / device->n_ops < LAUNCH_GAP_NS ? "launch_bound" : "host_bound";
}

static const struct {
	const char *verdict, *text;
} verdicts[] = {
	{"compute_bound", "Compute-bound: kernels keep the GPU busy. Look at the kernels below."},
	{"copy_bound",
	 "Copy-bound: copies keep the GPU busy. Copy less, use pinned memory, and copy in\n"
	 "separate streams beside kernels."},
	{"launch_bound",
	 "Launch-bound: the GPU ends each operation before the next launch. Launch\n"
	 "fewer and larger kernels, or graphs (cudaGraphLaunch)."},
	{"host_bound",
	 "Host-bound: the GPU is idle while the host does other work. `tsctl gaps` lists\n"
	 "that work. Launch the next operations before the host waits."},
	{"waiting", "Waiting: the GPU is idle and waits for operations elsewhere. `tsctl graph\n"
		    "--critical-path` lists them."},
	{"model_clock", "No verdict: idle times and waits come from a model, not from a real GPU."},
	{"unknown", "No verdict: the trace has too little data about the time of the GPU."},
};

/* ---- the message ----------------------------------------------------------------------------- */

static const char *const advices[TS_ANALYSIS_FINDINGS] = {
	[TS_ANALYSIS_TINY_COPY] = "combine the copies, or write the data in a kernel: each copy "
				  "costs a call, however small it is",
	[TS_ANALYSIS_PAGEABLE_COPY] =
		"allocate the host memory with cudaMallocHost, or register it with "
		"cudaHostRegister: pageable memory is copied twice, and the call waits",
	[TS_ANALYSIS_REDUNDANT_SYNC] = "remove the waits: all launched operations had ended",
	[TS_ANALYSIS_LEGACY_STREAM] =
		"use streams made with cudaStreamNonBlocking, or build with --default-stream "
		"per-thread: the default stream and all other streams wait for each other",
	[TS_ANALYSIS_SERIALISED] = "check the causes of waits between the streams: the default "
				   "stream, events, kernels that fill the device",
};

/* `of` NULL: all devices. */
static bool is_example(const struct ts_analysis_group *group, uint32_t finding,
		       const struct ts_timeline_device *of)
{
	return group->finding == finding && (!of || group->device == of->device);
}

static void add_examples(struct analyzer *analyzer, uint32_t finding,
			 const struct ts_timeline_device *of, Ts__Rpc__AnalysisFinding *message)
{
	const struct ts_analysis *analysis = analyzer->analysis;
	size_t max = (size_t)analyzer->asked->limit;

	message->examples = ts_pool_alloc(analyzer->pool, max, sizeof(*message->examples));
	for (size_t i = 0; i < analysis->n_groups && message->n_examples < max; i++) {
		const struct ts_analysis_group *group = &analysis->groups[i];
		Ts__Rpc__AnalysisExample *example;

		if (!is_example(group, finding, of))
			continue;
		example = ts_pool_alloc(analyzer->pool, 1, sizeof(*example));
		ts__rpc__analysis_example__init(example);
		TS_RPC_SET(example, count, group->sum.count);
		TS_RPC_SET(example, ns, group->sum.ns);
		TS_RPC_SET(example, bytes, group->sum.bytes);
		TS_RPC_SET(example, session, group->session);
		example->stack = ts_stackjson_make(analyzer->resolver, analyzer->pool,
						   group->session, group->stack, group->time_ns);
		message->examples[message->n_examples++] = example;
	}
}

static bool has_example(const struct ts_analysis *analysis, uint32_t finding,
			const struct ts_timeline_device *of)
{
	for (size_t i = 0; i < analysis->n_groups; i++)
		if (is_example(&analysis->groups[i], finding, of))
			return true;
	return false;
}

/* Returns an upper bound of the time that a finding can save. */
static uint64_t gain_of(const struct analyzer *analyzer, uint32_t finding,
			const struct ts_analysis_sum *sum)
{
	uint64_t all_ns = analyzer->timeline->to_ns - analyzer->timeline->from_ns, ns = sum->ns;

	if (finding == TS_ANALYSIS_PAGEABLE_COPY)
		ns /= 2;
	else if (finding == TS_ANALYSIS_SERIALISED)
		ns = analyzer->analysis->findings[TS_ANALYSIS_SERIALISED].ns;
	return ns < all_ns ? ns : all_ns;
}

static int compare_findings(const void *a, const void *b)
{
	const Ts__Rpc__AnalysisFinding *x = *(Ts__Rpc__AnalysisFinding *const *)a;
	const Ts__Rpc__AnalysisFinding *y = *(Ts__Rpc__AnalysisFinding *const *)b;

	if (x->gain_ns != y->gain_ns)
		return x->gain_ns < y->gain_ns ? 1 : -1;
	return strcmp(x->finding, y->finding);
}

static Ts__Rpc__AnalysisFinding *add_finding(struct analyzer *analyzer, const char *name,
					     uint32_t finding, const struct ts_timeline_device *of,
					     const struct ts_analysis_sum *sum)
{
	Ts__Rpc__AnalysisFinding *message = ts_pool_alloc(analyzer->pool, 1, sizeof(*message));

	ts__rpc__analysis_finding__init(message);
	message->finding = (char *)name;
	TS_RPC_SET(message, count, sum->count);
	TS_RPC_SET(message, ns, sum->ns);
	TS_RPC_SET(message, bytes, sum->bytes);
	TS_RPC_SET(message, gain_ns, gain_of(analyzer, finding, sum));
	message->advice = (char *)advices[finding];
	add_examples(analyzer, finding, of, message);
	return message;
}

static void add_findings(struct analyzer *analyzer, Ts__Rpc__AnalysisReport *report)
{
	report->findings =
		ts_pool_alloc(analyzer->pool, TS_ANALYSIS_FINDINGS + analyzer->timeline->n_devices,
			      sizeof(*report->findings));
	for (uint32_t i = 0; i < TS_ANALYSIS_FINDINGS; i++)
		if (i != TS_ANALYSIS_SERIALISED && analyzer->analysis->findings[i].count)
			report->findings[report->n_findings++] =
				add_finding(analyzer, ts_analysis_finding_name(i), i, NULL,
					    &analyzer->analysis->findings[i]);
	for (uint32_t in = 0; in < analyzer->timeline->n_devices; in++) {
		const struct ts_timeline_device *device = &analyzer->timeline->devices[in];
		struct ts_analysis_sum sum = {.ns = device->busy_ns};

		for (size_t i = 0; i < analyzer->timeline->n_streams; i++)
			sum.count += analyzer->timeline->streams[i].in == in;
		/* Streams that never had work at the same time do not delay each other. */
		if (sum.count > 1 && device->max_at_once == 1 &&
		    has_example(analyzer->analysis, TS_ANALYSIS_SERIALISED, device))
			report->findings[report->n_findings++] =
				add_finding(analyzer,
					    ts_analysis_finding_name(TS_ANALYSIS_SERIALISED),
					    TS_ANALYSIS_SERIALISED, device, &sum);
	}
	qsort(report->findings, report->n_findings, sizeof(*report->findings), compare_findings);
}

static Ts__Rpc__Occupancy *find_occupancy(struct analyzer *analyzer, uint32_t name)
{
	size_t n = analyzer->occupancies->n_kernels;

	for (size_t tried = 0; tried < n; tried++) {
		size_t i = (analyzer->next + tried) % n;

		if (analyzer->occupancies->kernels[i].name != name)
			continue;
		analyzer->next = i + 1;
		return ts_timelinejson_occupancy(analyzer->pool,
						 &analyzer->occupancies->kernels[i]);
	}
	return NULL;
}

static void add_launchers(const struct analyzer *analyzer, Ts__Rpc__AnalysisKernel *kernel)
{
	const Ts__Rpc__TraceStats *stats = analyzer->launched;

	for (size_t i = 0; i < stats->n_kernels; i++) {
		const Ts__Rpc__Aggregate *sum = stats->kernels[i];

		if (strcmp(sum->name, kernel->name) != 0)
			continue;
		kernel->n_launched_by = sum->n_launched_by;
		kernel->launched_by = sum->launched_by;
		TS_RPC_SET(kernel, launch_sites, sum->launch_sites);
		return;
	}
}

static void add_kernels(struct analyzer *analyzer, Ts__Rpc__AnalysisReport *report)
{
	const struct ts_analysis *analysis = analyzer->analysis;
	size_t max = (size_t)analyzer->asked->limit;

	report->kernels = ts_pool_alloc(analyzer->pool, max, sizeof(*report->kernels));
	for (size_t i = 0; i < analysis->n_groups && report->n_kernels < max; i++) {
		const struct ts_analysis_group *group = &analysis->groups[i];
		Ts__Rpc__AnalysisKernel *kernel;
		const char *name;

		if (group->finding != TS_ANALYSIS_FINDINGS)
			continue;
		kernel = ts_pool_alloc(analyzer->pool, 1, sizeof(*kernel));
		ts__rpc__analysis_kernel__init(kernel);
		name = ts_resolver_kernel_name(analyzer->resolver, group->stack);
		kernel->name = ts_pool_copy(analyzer->pool, name ? name : "unknown kernel");
		TS_RPC_SET(kernel, count, group->sum.count);
		TS_RPC_SET(kernel, ns, group->sum.ns);
		kernel->occupancy = find_occupancy(analyzer, group->stack);
		add_launchers(analyzer, kernel);
		report->kernels[report->n_kernels++] = kernel;
	}
}

static void make_report(struct analyzer *analyzer, Ts__Rpc__AnalysisReport *report)
{
	const struct ts_timeline *timeline = analyzer->timeline;
	Ts__Rpc__TimelineDevice *devices =
		ts_pool_alloc(analyzer->pool, timeline->n_devices, sizeof(*devices));

	ts__rpc__analysis_report__init(report);
	report->verdict = (char *)find_verdict(timeline, analyzer->is_modelled);
	TS_RPC_SET(report, start_ns, timeline->from_ns);
	TS_RPC_SET(report, end_ns, timeline->to_ns);
	report->devices =
		ts_pool_alloc(analyzer->pool, timeline->n_devices, sizeof(*report->devices));
	for (uint32_t i = 0; i < timeline->n_devices; i++) {
		ts_timelinejson_device(analyzer->resolver, analyzer->pool, timeline, i, false,
				       &devices[i]);
		report->devices[report->n_devices++] = &devices[i];
	}
	ts_timelinejson_occupancies(analyzer->pool, analyzer->occupancies, report->devices,
				    report->n_devices);
	add_kernels(analyzer, report);
	TS_RPC_SET(report, kernels_ns, analyzer->analysis->kernels.ns);
	add_findings(analyzer, report);
	TS_RPC_SET(report, syncs, analyzer->analysis->syncs.count);
	TS_RPC_SET(report, syncs_ns, analyzer->analysis->syncs.ns);
	TS_RPC_SET(report, damaged, analyzer->analysis->is_damaged || timeline->is_damaged);
	report->doubts = ts_doubtsjson_make(analyzer->pool, &timeline->doubts);
}

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
			ts_text_launchers(&pool, kernel->n_launched_by, kernel->launched_by,
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
	static const char *const texts[][2] = {
		{"tiny_copy", "copies of less than 4 KiB between host and device"},
		{"pageable_copy", "copies from or to pageable memory"},
		{"redundant_sync", "waits for a GPU without work"},
		{"legacy_stream", "operations that waited by the legacy default stream's rule"},
		{"serialised_streams", "streams that never ran at once"},
	};
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	char count[TS_OUT_FIGURE_BYTES], took[TS_OUT_FIGURE_BYTES], bytes[TS_OUT_FIGURE_BYTES];

	printf("\n%sUp to %.0f %% of the time%s: %s ", ts_term_style(stdout, TS_STYLE_BOLD),
	       percent(finding->gain_ns, all_ns), ts_term_style(stdout, TS_STYLE_PLAIN),
	       ts_out_count(count, finding->count));
	for (size_t i = 0; i < TS_ARRAY_LEN(texts); i++)
		if (!strcmp(texts[i][0], finding->finding))
			fputs(texts[i][1], stdout);
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

static void print_report(const struct asked *asked, const struct ts_source *source,
			 const Ts__Rpc__AnalysisReport *report)
{
	uint64_t origin_ns = ts_sbt_reader_origin_ns(source->reader);
	char figure[TS_OUT_FIGURE_BYTES], count[TS_OUT_FIGURE_BYTES];

	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, source->path);
	fputs(ts_term_style(stdout, TS_STYLE_PLAIN), stdout);
	if (!report->n_devices) {
		puts(": no GPU operation; `tsctl info` lists the rows of the trace.");
		ts_text_errors(report->n_errors, report->errors, report->failed_calls, origin_ns);
		return;
	}
	printf(": %s from the first operation of a GPU to the last\n",
	       ts_out_duration(figure, report->end_ns - report->start_ns));
	for (size_t i = 0; i < TS_ARRAY_LEN(verdicts); i++)
		if (!strcmp(verdicts[i].verdict, report->verdict))
			puts(verdicts[i].text);
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

/* ---- the whole ------------------------------------------------------------------------------- */

static int read_launched(struct ts_resolver *resolver, const struct ts_source *source,
			 struct ts_pool *pool, Ts__Rpc__TraceStats *ret_stats)
{
	ts_cleanup(ts_row_sums_deinit) struct ts_row_sums sums = {0};
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_KERNEL),
						      .session = source->session};
	int r = ts_row_sums_read(&sums, resolver, &options, NULL, ts_no_memory, NULL, NULL);

	if (!r)
		ts_row_sums_message(&sums, pool, 0, ret_stats);
	return r;
}

static int print_analysis(const struct asked *asked, struct ts_source *source)
{
	struct ts_resolver_options names = {.session = source->session, .launchers = true};
	ts_cleanup(ts_resolver_freep) struct ts_resolver *resolver = NULL;
	ts_cleanup(ts_timeline_freep) struct ts_timeline *timeline = NULL;
	ts_cleanup(ts_analysis_freep) struct ts_analysis *analysis = NULL;
	ts_cleanup(ts_occupancies_freep) struct ts_occupancies *occupancies = NULL;
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	struct ts_timeline_options options = {.session = source->session, .n_parts = 1};
	struct analyzer analyzer = {.asked = asked, .pool = &pool};
	Ts__Rpc__ClockBounds *clocks = NULL;
	Ts__Rpc__TraceStats launched;
	Ts__Rpc__AnalysisReport report;
	bool damaged = false;
	int status, r;

	ts_source_watch(source);
	r = ts_resolver_new(source->reader, &names, &resolver);
	if (!r)
		r = ts_timeline_read(source->reader, &options, &timeline);
	if (!r)
		r = ts_analysis_read(source->reader, source->session, &analysis);
	if (!r)
		r = ts_occupancies_read(source->reader, source->session, 0, 0, &occupancies);
	if (!r)
		r = read_launched(resolver, source, &pool, &launched);
	if (!r)
		r = ts_clockjson_make(source->reader, source->session, &pool, &clocks);
	if (r) {
		ts_source_unwatch(source);
		ts_source_complain(source->path, r, ts_sbt_reader_error(source->reader));
		return TS_EXIT_BAD;
	}
	analyzer.resolver = resolver;
	analyzer.timeline = timeline;
	analyzer.is_modelled = ts_clocks_are_modelled(source->reader, source->session);
	analyzer.analysis = analysis;
	analyzer.occupancies = occupancies;
	analyzer.launched = &launched;
	make_report(&analyzer, &report);
	report.clocks = clocks;
	if (!strcmp(report.verdict, "host_bound"))
		r = ts_hostcode_make(resolver, &pool, source->session, (size_t)asked->limit,
				     &report);
	r = r ? r
	      : ts_errorsjson_make(resolver, &pool, source->session, &report.n_errors,
				   &report.errors, &report.failed_calls, &damaged);
	ts_source_unwatch(source);
	if (r) {
		ts_source_complain(source->path, r, ts_sbt_reader_error(source->reader));
		return TS_EXIT_BAD;
	}
	report.has_failed_calls = report.failed_calls != 0;
	if (ts_kernels_are_timed(source->reader, source->session))
		TS_RPC_SET(&report, timed_kernels, true);
	if (ts_source_n_halves(source))
		TS_RPC_SET(&report, host_half_only, ts_source_n_halves(source));
	if (asked->json) {
		status = ts_json_print(&report.base);
	} else {
		print_report(asked, source, &report);
		ts_source_print_halves(source);
		status = ts_finish_output(TS_EXIT_OK);
	}
	if (status || !report.damaged)
		return status;
	ts_source_complain(source->path, TS_SBT_E_CORRUPT, ts_sbt_reader_error(source->reader));
	return TS_EXIT_BAD;
}

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
	ts_cleanup(ts_source_deinit) struct ts_source source = {0};
	struct asked asked = {.limit = DEFAULT_LISTED};
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_analyze, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	if (ts_one_trace(&operands, asked.session, "analyze", ""))
		return TS_EXIT_BAD;
	if (ts_source_open(&source, operands.words[0], asked.session))
		return TS_EXIT_BAD;
	return print_analysis(&asked, &source);
}

const struct ts_command ts_command_analyze = {
	.name = "analyze",
	.summary = "find where the time went and suggest changes",
	.text = "usage: tsctl analyze [OPTION ...] FILE | --session N\n"
		"\n"
		"Print whether kernels, copies, launches or the host took the time. List\n"
		"findings with their stacks, the largest possible gain first: waits for an idle\n"
		"GPU, tiny copies, copies of pageable memory, streams that block each other. List\n"
		"the kernels that took the most time, with their launchers. If the host is late\n"
		"and the trace has samples, print the functions that the host ran.\n"
		"\n",
	.example = "analyze run.sbt",
	.help_column = 20,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_analyze,
};
