/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl export: a trace in formats that other tools read. The formats are tools/export's; here are the options, where it
 * goes, and what has to be said of it.
 */
#include "replay/report/names/resolve.h"
#include "replay/report/stacks/codeplace.h"
#include "tools/export/names.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/outfile.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/* What was asked for cannot be, and that was said. Not an errno, nor the reader's. */
#define EXPORT_E_USAGE INT_MIN

typedef int export_fn(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		      FILE *file, struct ts_export_report *ret_report);

static const struct {
	const char *name;
	export_fn *run;
	bool is_text;
	bool is_sum; /* of stacks: else it is all that happened, one after the other */
} formats[] = {
	{"folded", ts_export_folded, true, true},	{"pprof", ts_export_pprof, false, true},
	{"perfetto", ts_export_perfetto, false, false}, {"json", ts_export_kineto, true, false},
	{"chrome", ts_export_kineto, true, false}, /* as some call it */
};

#define FORMATS "`perfetto`, `json`, `folded` or `pprof`"

static const struct {
	const char *name;
	enum ts_export_weight weight;
} weights[] = {
	{"gpu-time", TS_EXPORT_GPU_TIME}, {"launches", TS_EXPORT_LAUNCHES},
	{"bytes", TS_EXPORT_BYTES},	  {"cpu", TS_EXPORT_CPU},
	{"off-cpu", TS_EXPORT_OFF_CPU},	  {"host", TS_EXPORT_HOST},
};

struct export
{
	/* asked for */
	const char *session, *output;
	size_t format;
	bool has_format, mangled;
	const char *of_sums; /* an option that only sums have */
	struct ts_time from, to;
	bool has_from, has_to;
	struct ts_export_options options;

	/* at work */
	struct ts_source source;
	struct ts_resolver *resolver;
	struct ts_progress progress;
	struct ts_outfile out;
	char place[TS_CODEPLACE_BYTES];
};

static void export_deinit(struct export *export)
{
	ts_progress_deinit(&export->progress);
	ts_outfile_deinit(&export->out);
	ts_resolver_free(export->resolver);
	ts_source_deinit(&export->source);
}

/* ---- options ------------------------------------------------------------------------------------ */

static int parse_format(struct export *export, const char *text)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(formats); i++) {
		if (strcmp(text, formats[i].name))
			continue;
		export->format = i;
		export->has_format = true;
		return 0;
	}
	ts_complain("--format %s: it is " FORMATS, text);
	return -EINVAL;
}

static int parse_weight(struct export *export, const char *text)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(weights); i++) {
		if (!strcmp(text, weights[i].name)) {
			export->options.weight = weights[i].weight;
			return 0;
		}
	}
	ts_complain("--weight %s: it is `gpu-time`, `launches` or `bytes` of the GPU's work, or of "
		    "threads' time `cpu`, `off-cpu` or `host`",
		    text);
	return -EINVAL;
}

static int parse_time(const char *option, const char *text, struct ts_time *ret_time)
{
	if (!ts_time_parse_moment(text, ret_time))
		return 0;
	ts_complain(
		"%s %s: it is a time from the trace's start: nanoseconds, or with a unit, like 12.5ms; "
		"or @ and a time of the clock, as JSON gives it",
		option, text);
	return -EINVAL;
}

static int parse_types(struct export *export, const char *text)
{
	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");
		char name[32];
		unsigned int type;

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		type = n < sizeof(name) ? ts_row_type_by_name(name) : 0;
		if (type != TS_ROW_KERNEL && type != TS_ROW_MEMCPY && type != TS_ROW_MEMSET) {
			ts_complain(
				"--type %s: what a GPU does is `kernel`, `memcpy` and `memset`; "
				"one of them, or several with commas between",
				text);
			return -EINVAL;
		}
		export->options.types |= TS_ROW_BIT(type);
		at += n;
		if (!*at)
			return 0;
	}
}

enum {
	OPT_FROM = 256,
	OPT_FORMAT,
	OPT_TO,
	OPT_TYPE,
	OPT_NO_LEAF,
	OPT_PROCESS,
	OPT_THREAD,
	OPT_LINES,
	OPT_MANGLED
};

static const char *name_of_sums(int option)
{
	return option == 'w'	       ? "--weight"
	       : option == OPT_NO_LEAF ? "--no-leaf"
	       : option == OPT_PROCESS ? "--process"
	       : option == OPT_THREAD  ? "--thread"
	       : option == OPT_LINES   ? "--lines"
				       : NULL;
}

static int apply_option(struct export *export, int option)
{
	if (name_of_sums(option))
		export->of_sums = name_of_sums(option);
	switch (option) {
	case OPT_FORMAT:
		return parse_format(export, optarg);
	case 'w':
		return parse_weight(export, optarg);
	case 'o':
		export->output = optarg;
		return 0;
	case 's':
		export->session = optarg;
		return 0;
	case OPT_FROM:
		export->has_from = true;
		return parse_time("--from", optarg, &export->from);
	case OPT_TO:
		export->has_to = true;
		return parse_time("--to", optarg, &export->to);
	case OPT_TYPE:
		return parse_types(export, optarg);
	case OPT_NO_LEAF:
		export->options.no_leaf = true;
		return 0;
	case OPT_PROCESS:
		export->options.processes = true;
		return 0;
	case OPT_THREAD:
		export->options.threads = true;
		return 0;
	case OPT_LINES:
		export->options.lines = true;
		return 0;
	case OPT_MANGLED:
		export->mangled = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int parse(struct export *export, int argc, char **argv)
{
	static const struct option longs[] = {
		{"format", required_argument, NULL, OPT_FORMAT},
		{"output", required_argument, NULL, 'o'},
		{"weight", required_argument, NULL, 'w'},
		{"from", required_argument, NULL, OPT_FROM},
		{"to", required_argument, NULL, OPT_TO},
		{"type", required_argument, NULL, OPT_TYPE},
		{"no-leaf", no_argument, NULL, OPT_NO_LEAF},
		{"process", no_argument, NULL, OPT_PROCESS},
		{"thread", no_argument, NULL, OPT_THREAD},
		{"lines", no_argument, NULL, OPT_LINES},
		{"mangled", no_argument, NULL, OPT_MANGLED},
		{"session", required_argument, NULL, 's'},
		{0},
	};
	int option;

	while ((option = ts_option_next(argc, argv, ":o:w:s:", longs)) != -1)
		if (apply_option(export, option))
			return -EINVAL;
	if (ts_one_trace(argc, export->session, "export --format folded", ""))
		return -EINVAL;
	if (!export->has_format) {
		ts_complain("--format is missing: it is " FORMATS);
		return -EINVAL;
	}
	if (export->of_sums && !formats[export->format].is_sum) {
		ts_complain(
			"%s is of sums, which `folded` and `pprof` are; `%s` holds all that happened",
			export->of_sums, formats[export->format].name);
		return -EINVAL;
	}
	if (export->options.types && export->options.weight >= TS_EXPORT_FIRST_OF_HOST) {
		ts_complain("--type is of the GPU's work; `--weight %s` is the time of threads",
			    weights[export->options.weight].name);
		return -EINVAL;
	}
	if ((!export->output || !strcmp(export->output, "-")) && isatty(STDOUT_FILENO) &&
	    !formats[export->format].is_text) {
		ts_complain("%s is not for a terminal; name a file with -o",
			    formats[export->format].name);
		return -EINVAL;
	}
	return 0;
}

/* ---- at work ------------------------------------------------------------------------------------ */

static const char *kernel_name(void *user, uint32_t name)
{
	struct export *export = user;

	return ts_resolver_kernel_name(export->resolver, name);
}

static const char *thread_name(void *user, uint32_t session, const struct ts_row_thread *thread)
{
	struct export *export = user;

	return ts_resolver_thread_name(export->resolver, session, thread);
}

static const char *stream_name(void *user, const struct ts_sbt_row *row)
{
	struct export *export = user;

	return ts_resolver_stream_name(export->resolver, row);
}

static const char *place_name(void *user, uint32_t session, uint32_t stack, uint64_t time_ns)
{
	struct export *export = user;
	struct ts_codeplace place;

	if (!ts_codeplace_of(export->resolver, session, stack, time_ns, NULL, &place))
		return NULL;
	ts_codeplace_text(&place, export->place);
	return export->place;
}

static const struct ts_export_names names = {
	TS_EXPORT_NAMES_OF_NUMBERS, .kernel = kernel_name, .thread = thread_name,
	.stream = stream_name,	    .place = place_name,
};

static void step(void *user, uint64_t n_rows)
{
	struct export *export = user;

	/* Not between the lines that it prints. */
	if (export->out.file != stdout || !isatty(STDOUT_FILENO))
		ts_progress_step(&export->progress, n_rows);
}

/* Times of the trace and of the clock can only be compared once the trace is open. */
static int set_window(struct export *export)
{
	struct ts_export_options *options = &export->options;
	uint64_t origin_ns = ts_sbt_reader_origin_ns(export->source.reader);

	if (export->has_from)
		options->from_ns = ts_time_absolute(&export->from, origin_ns);
	if (!export->has_to)
		return 0;
	/* 0 would be no limit; nothing ends before the clock's first nanosecond. */
	options->to_ns = ts_time_absolute(&export->to, origin_ns);
	options->to_ns = options->to_ns ? options->to_ns : 1;
	if (options->to_ns >= options->from_ns)
		return 0;
	ts_complain("--to lies before --from");
	return EXPORT_E_USAGE;
}

static int run(struct export *export, struct ts_export_report *ret_report)
{
	struct ts_resolver_options resolved = {.mangled = export->mangled};
	int r = set_window(export);

	if (r)
		return r;
	r = ts_resolver_new(export->source.reader, &resolved, &export->resolver);
	if (r)
		return r;
	export->options.session = export->source.session;
	export->options.names = &names;
	export->options.step = step;
	export->options.user = export;
	export->options.generator = "TraceSmith " TSCTL_VERSION;
	ts_progress_init(&export->progress, "reading rows:", 0);
	r = formats[export->format].run(export->source.reader, &export->options, export->out.file,
					ret_report);
	ts_progress_deinit(&export->progress);
	return r;
}

static void complain_nothing(const struct export *export, const struct ts_export_report *report)
{
	const char *window = export->has_from || export->has_to ? " in that window" : "";

	if (!report->n_rows && export->options.weight == TS_EXPORT_CPU)
		ts_complain("%s: no samples of threads%s; `tsctl record --kernel-events` takes "
			    "them",
			    export->source.path, window);
	else if (!report->n_rows && export->options.weight >= TS_EXPORT_FIRST_OF_HOST)
		ts_complain("%s: no times of threads%s; `tsctl record --kernel-events` takes "
			    "them",
			    export->source.path, window);
	else if (!report->n_rows)
		ts_complain("%s: no operation of a GPU%s; `tsctl info` tells what is there",
			    export->source.path,
			    *window		    ? window
			    : export->options.types ? " of that type"
						    : "");
	else if (!report->totals[export->options.weight])
		ts_complain("%s: all weights are 0; another --weight may say more",
			    export->source.path);
}

/* The sums are of what is in the trace: what is not, and what has no names, is worth a line. */
static void complain_missing(const struct export *export, const struct ts_export_report *report)
{
	const struct ts_sbt_reader *reader = export->source.reader;
	char count[TS_OUT_FIGURE_BYTES];

	if (formats[export->format].is_sum)
		complain_nothing(export, report);
	if (report->n_without_call)
		ts_complain("%s operations are under [unknown]: the calls that asked for them are "
			    "not in the trace",
			    ts_out_count(count, report->n_without_call));
	if (report->n_left_out)
		ts_complain("%s slices overlap too many others and are left out",
			    ts_out_count(count, report->n_left_out));
	if (!report->has_names)
		ts_complain("no frame has a name; `tsctl symbolize %s` looks for them",
			    export->source.path);
	if (ts_sbt_reader_state(reader) == TS_SBT_TRUNCATED && !report->damaged)
		ts_complain("%s is cut off: what lay in the lost part is not counted",
			    export->source.path);
}

static int run_export(int argc, char **argv)
{
	ts_cleanup(export_deinit) struct export export = {.options.weight = TS_EXPORT_GPU_TIME};
	struct ts_export_report report;
	int r, status;

	if (parse(&export, argc, argv) ||
	    ts_source_open(&export.source, argv[optind], export.session) ||
	    ts_outfile_open(&export.out, export.output))
		return TS_EXIT_BAD;
	r = run(&export, &report);
	if (r == EXPORT_E_USAGE)
		return TS_EXIT_BAD;
	if (r) {
		ts_source_complain(export.source.path, r,
				   ts_sbt_reader_error(export.source.reader));
		return TS_EXIT_BAD;
	}
	status = ts_outfile_finish(&export.out);
	if (status)
		return status;
	complain_missing(&export, &report);
	if (report.damaged) {
		ts_source_complain(export.source.path, TS_SBT_E_CORRUPT, &report.damage);
		return TS_EXIT_BAD;
	}
	return TS_EXIT_OK;
}

const struct ts_command ts_command_export = {
	.name = "export",
	.summary = "write a trace in a format that other tools read",
	.help = "usage: tsctl export --format FORMAT [OPTION ...] FILE | --session N\n"
		"\n"
		"FORMAT is perfetto (ui.perfetto.dev, trace_processor): all that happened, on a\n"
		"timeline; json (chrome://tracing, HTA, TensorBoard): less of it, as the PyTorch\n"
		"profiler writes it; or sums by host stack: folded (flamegraph.pl, inferno,\n"
		"speedscope), pprof (pprof, Parca).\n"
		"\n"
		"  -o, --output FILE    write to FILE (default: standard output)\n"
		"  -w, --weight WEIGHT  sum GPU work by the stack that launched it: gpu-time (ns,\n"
		"                       default), launches, bytes (copied); or threads: cpu,\n"
		"                       off-cpu (ns), host (both). pprof has all three of a\n"
		"                       kind, this one first\n"
		"      --type T[,T...]  sum only these of the GPU: kernel, memcpy, memset\n"
		"      --from TIME, --to TIME\n"
		"                       read this part, as with `tsctl view`\n"
		"      --process        sums: make the process the outermost frame\n"
		"      --thread         sums: make the thread a frame, too\n"
		"      --no-leaf        sums: leave out the kernel or copy as innermost frame\n"
		"      --lines          folded: add file and line to native functions\n"
		"      --mangled        leave the names of kernels as the compiler made them\n"
		"  -s, --session N      read a session of the daemon: its number or pid\n"
		"\n"
		"example: tsctl export --format folded run.sbt | flamegraph.pl > run.svg\n",
	.run = run_export,
};
