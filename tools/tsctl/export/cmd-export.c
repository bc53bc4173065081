/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl export: writes a trace in formats of other tools. main.c runs it; tools/export implements
 * the formats. This file has the options, the output file and the warnings.
 */
#include "replay/report/pictures/picture.h"
#include "tools/export/arrow/dataset.h"
#include "tools/export/export-memory.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/outfile.h"
#include "tools/tsctl/trace/outfolder.h"
#include "tools/tsctl/trace/picturefile.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/*
 * The request is impossible, and the message is printed. Differs from each errno and each error of
 * the reader.
 */
#define EXPORT_E_USAGE INT_MIN

enum {
	FORMAT_CHROME = TS_EXPORT_N_FORMATS, /* alias of the format `json` */
	FORMAT_PNG,			     /* the format `svg`, as pixels */
	FORMAT_ARROW,			     /* the output is a folder */
	FORMAT_UNSET
};

static const struct {
	enum ts_export_format format;
	bool is_text;
	bool is_sum; /* sums of stacks; else all events in order */
} formats[] = {
	[TS_EXPORT_FORMAT_PERFETTO] = {TS_EXPORT_FORMAT_PERFETTO, false, false},
	[TS_EXPORT_FORMAT_JSON] = {TS_EXPORT_FORMAT_JSON, true, false},
	[TS_EXPORT_FORMAT_FOLDED] = {TS_EXPORT_FORMAT_FOLDED, true, true},
	[TS_EXPORT_FORMAT_PPROF] = {TS_EXPORT_FORMAT_PPROF, false, true},
	[TS_EXPORT_FORMAT_SVG] = {TS_EXPORT_FORMAT_SVG, true, true},
	[TS_EXPORT_FORMAT_HTML] = {TS_EXPORT_FORMAT_HTML, true, false},
	[FORMAT_CHROME] = {TS_EXPORT_FORMAT_JSON, true, false},
	[FORMAT_PNG] = {TS_EXPORT_FORMAT_SVG, false, true},
	[FORMAT_ARROW] = {TS_EXPORT_N_FORMATS, false, false},
};

static const char *const format_names[] = {
	[TS_EXPORT_FORMAT_PERFETTO] = "perfetto",
	[TS_EXPORT_FORMAT_JSON] = "json",
	[TS_EXPORT_FORMAT_FOLDED] = "folded",
	[TS_EXPORT_FORMAT_PPROF] = "pprof",
	[TS_EXPORT_FORMAT_SVG] = "svg",
	[TS_EXPORT_FORMAT_HTML] = "html",
	[FORMAT_CHROME] = "chrome",
	[FORMAT_PNG] = "png",
	[FORMAT_ARROW] = "arrow",
	NULL,
};

#define FORMATS "`perfetto`, `json`, `folded`, `pprof`, `svg`, `png`, `html` or `arrow`"

static const char *const weight_names[] = {
	[TS_EXPORT_GPU_TIME] = "gpu-time",
	[TS_EXPORT_LAUNCHES] = "launches",
	[TS_EXPORT_BYTES] = "bytes",
	[TS_EXPORT_CPU] = "cpu",
	[TS_EXPORT_OFF_CPU] = "off-cpu",
	[TS_EXPORT_HOST] = "host",
	NULL,
};

static const char *const type_names[] = {"kernel", "memcpy", "memset", NULL};

struct export
{
	/* Options. */
	const char *file, *session, *output;
	unsigned int format;
	uint64_t width;
	/* last given option that only exports of sums accept; NULL: none */
	const struct ts_option *of_sums;
	const struct ts_option *of_arrow; /* the same, for the export of a data set */
	struct ts_time from, to;
	struct ts_export_options options;
	struct ts_export_arrow_options arrow;

	/* State. */
	struct ts_source source;
	struct ts_progress progress;
	struct ts_outfile out;
	struct ts_outfolder folder;
};

static void export_deinit(struct export *export)
{
	ts_progress_deinit(&export->progress);
	ts_outfile_deinit(&export->out);
	ts_outfolder_deinit(&export->folder);
	ts_source_deinit(&export->source);
}

/* ---- options --------------------------------------------------------------------------------- */

static int parse_weight(void *to, const struct ts_option *option, const char *text)
{
	struct export *export = to;

	export->of_sums = option;
	for (unsigned int i = 0; weight_names[i]; i++) {
		if (!strcmp(text, weight_names[i])) {
			export->options.weight = i;
			return 0;
		}
	}
	return ts_option_complain(option, text);
}

static int parse_types(void *to, const struct ts_option *option, const char *text)
{
	struct export *export = to;

	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");
		char name[32];
		unsigned int type;

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		type = n < sizeof(name) ? ts_row_type_by_name(name) : 0;
		if (!ts_row_is_event(type))
			return ts_option_complain(option, text);
		export->options.types |= TS_ROW_BIT(type);
		at += n;
		if (!*at)
			return 0;
	}
}

static int set_process(void *to, const struct ts_option *option, const char *text)
{
	struct export *export = to;

	export->of_sums = option;
	export->options.processes = true;
	return 0;
}

static int set_thread(void *to, const struct ts_option *option, const char *text)
{
	struct export *export = to;

	export->of_sums = option;
	export->options.threads = true;
	return 0;
}

static int set_no_leaf(void *to, const struct ts_option *option, const char *text)
{
	struct export *export = to;

	export->of_sums = option;
	export->options.no_leaf = true;
	return 0;
}

static int set_lines(void *to, const struct ts_option *option, const char *text)
{
	struct export *export = to;

	export->of_sums = option;
	export->options.lines = true;
	return 0;
}

static int parse_job(void *to, const struct ts_option *option, const char *text)
{
	struct export *export = to;

	export->of_arrow = option;
	export->arrow.job = text;
	return 0;
}

static int parse_rank(void *to, const struct ts_option *option, const char *text)
{
	struct export *export = to;

	export->of_arrow = option;
	export->arrow.rank = text;
	return 0;
}

static int parse_slice(void *to, const struct ts_option *option, const char *text)
{
	struct export *export = to;
	uint64_t slice_ns;

	export->of_arrow = option;
	if (ts_time_parse(text, &slice_ns) || !slice_ns || slice_ns % TS_ARROW_SLICE_UNIT_NS)
		return ts_option_complain(option, text);
	export->arrow.slice_ns = slice_ns;
	return 0;
}

static const struct ts_option command_options[] = {
	{"format", TS_OPTION_LONG, TS_OPTION_CHOICE(struct export, format), .words = format_names,
	 .metavar = "FORMAT", .expects = "expected " FORMATS},
	{"output", 'o', TS_OPTION_FILE(struct export, output), .metavar = "FILE",
	 .help = "write to FILE (default: stdout); arrow: a folder"},
	{"weight", 'w', TS_OPTION_PARSED(parse_weight), .words = weight_names, .metavar = "WEIGHT",
	 .expects =
		 "expected `gpu-time`, `launches` or `bytes` for GPU work, or `cpu`, `off-cpu` or "
		 "`host` for the time of threads",
	 .help = "sum gpu-time (default), launches or bytes by\n"
		 "launching stack; or threads' cpu, off-cpu or host"},
	{"type", TS_OPTION_LONG, TS_OPTION_PARSED(parse_types), .words = type_names,
	 .is_list = true, .metavar = "T[,T...]",
	 .expects = "expected `kernel`, `memcpy` or `memset`, or several, separated by commas",
	 .help = "only these: kernel, memcpy, memset; arrow: any type", .rank = 1},
	{"from", TS_OPTION_LONG, TS_OPTION_MOMENT(struct export, from), .metavar = "TIME",
	 .joint = ", "},
	{"to", TS_OPTION_LONG, TS_OPTION_MOMENT(struct export, to), .metavar = "TIME",
	 .help = "read this window, as with `tsctl view`"},
	{"process", TS_OPTION_LONG, TS_OPTION_PARSED_FLAG(set_process), .joint = ", "},
	{"thread", TS_OPTION_LONG, TS_OPTION_PARSED_FLAG(set_thread), .joint = ", ", .rank = 1},
	{"no-leaf", TS_OPTION_LONG, TS_OPTION_PARSED_FLAG(set_no_leaf),
	 .help = "\n"
		 "sums: add outer frames; omit the kernel's frame"},
	{"lines", TS_OPTION_LONG, TS_OPTION_PARSED_FLAG(set_lines),
	 .help = "folded, svg: add file and line to functions", .rank = 1},
	{"width", TS_OPTION_LONG, TS_OPTION_NUMBER(struct export, width),
	 .min = TS_PICTURE_MIN_WIDTH, .max = TS_PICTURE_MAX_WIDTH, .metavar = "N",
	 .expects = "expected a number of pixels, from 320 to 8192",
	 .help = "svg, png, html: draw N pixels wide (default: 1200)", .rank = 1},
	{"job", TS_OPTION_LONG, TS_OPTION_PARSED(parse_job), .metavar = "JOB", .joint = ", "},
	{"rank", TS_OPTION_LONG, TS_OPTION_PARSED(parse_rank), .metavar = "RANK",
	 .help = "arrow: name job and rank (default: the trace's)", .rank = 1},
	{"slice", TS_OPTION_LONG, TS_OPTION_PARSED(parse_slice), .metavar = "TIME",
	 .expects = "expected whole seconds, like 10s or 1m",
	 .help = "arrow: a folder for each time slice (default: 60s)", .rank = 1},
	{"mangled", TS_OPTION_LONG, TS_OPTION_FLAG(struct export, options.mangled),
	 .help = "write mangled kernel names"},
	{"session", 's', TS_OPTION_SESSION(struct export, session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{0},
};

/* Checks options that only some formats accept. */
static int check_formats(const struct export *export)
{
	const uint64_t summed =
		TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET);

	if (export->of_sums && !formats[export->format].is_sum) {
		ts_complain(
			"--%s requires `--format folded`, `pprof`, `svg` or `png`; `%s` has no sums",
			export->of_sums->name, format_names[export->format]);
		return -EINVAL;
	}
	if (export->width && export->format != TS_EXPORT_FORMAT_SVG &&
	    export->format != TS_EXPORT_FORMAT_HTML && export->format != FORMAT_PNG) {
		ts_complain("--width requires `--format svg`, `png` or `html`");
		return -EINVAL;
	}
	if (export->format == TS_EXPORT_FORMAT_HTML &&
	    (export->from.is_given || export->to.is_given || export->options.types)) {
		ts_complain("html is a page about the whole trace; it accepts no --from, --to and "
			    "--type");
		return -EINVAL;
	}
	if (export->of_arrow && export->format != FORMAT_ARROW) {
		ts_complain("--%s requires `--format arrow`", export->of_arrow->name);
		return -EINVAL;
	}
	if (export->options.types & ~summed && export->format != FORMAT_ARROW) {
		ts_complain("--type selects `kernel`, `memcpy` or `memset`; other types require "
			    "`--format arrow`");
		return -EINVAL;
	}
	if (export->format == FORMAT_ARROW && !export->output) {
		ts_complain("arrow is a folder of files; name the folder with -o");
		return -EINVAL;
	}
	return 0;
}

static int parse(struct export *export, int argc, char **argv)
{
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_export, argc, argv, export, &operands))
		return -EINVAL;
	export->file = operands.words[0];
	if (ts_one_trace(&operands, export->session, "export --format folded", ""))
		return -EINVAL;
	if (export->format == FORMAT_UNSET) {
		ts_complain("no --format; expected " FORMATS);
		return -EINVAL;
	}
	if (check_formats(export))
		return -EINVAL;
	if (export->options.types && export->options.weight >= TS_EXPORT_FIRST_OF_HOST) {
		ts_complain("--type selects GPU work; `--weight %s` sums the time of threads",
			    weight_names[export->options.weight]);
		return -EINVAL;
	}
	if ((!export->output || !strcmp(export->output, "-")) && isatty(STDOUT_FILENO) &&
	    !formats[export->format].is_text) {
		ts_complain("%s cannot be written to a terminal; name a file with -o",
			    format_names[export->format]);
		return -EINVAL;
	}
	return 0;
}

/* ---- at work --------------------------------------------------------------------------------- */

static void step(void *user, uint64_t n_rows)
{
	struct export *export = user;

	/* Draw no progress between lines of output. */
	if (export->out.file != stdout || !isatty(STDOUT_FILENO))
		ts_progress_step(&export->progress, n_rows);
}

/*
 * Sets the window. The trace is open: before, times from the trace's start and times of the clock
 * cannot be compared.
 */
static int set_window(struct export *export)
{
	struct ts_export_options *options = &export->options;
	uint64_t origin_ns = ts_sbt_reader_origin_ns(export->source.reader);

	if (export->from.is_given)
		options->from_ns = ts_time_absolute(&export->from, origin_ns);
	if (!export->to.is_given)
		return 0;
	/*
	 * The option 0 would mean "no limit", so 1 replaces it; no row ends before the clock's
	 * first nanosecond.
	 */
	options->to_ns = ts_time_absolute(&export->to, origin_ns);
	options->to_ns = options->to_ns ? options->to_ns : 1;
	if (options->to_ns >= options->from_ns)
		return 0;
	ts_complain("--to is before --from");
	return EXPORT_E_USAGE;
}

static int open_file(void *user, const char *path, FILE **ret_file)
{
	struct export *export = user;

	return ts_outfolder_begin(&export->folder, path, ret_file) ? EXPORT_E_USAGE : 0;
}

static int finish_file(void *user)
{
	struct export *export = user;

	return ts_outfolder_finish(&export->folder) ? EXPORT_E_USAGE : 0;
}

static int run_arrow(struct export *export, struct ts_export_report *ret_report)
{
	ts_cleanup(ts_freep) char *whole = realpath(export->source.path, NULL);

	export->arrow.path = whole ? whole : export->source.path;
	export->arrow.open = open_file;
	export->arrow.finish = finish_file;
	export->arrow.user = export;
	return ts_export_arrow(export->source.reader, &export->options, &export->arrow,
			       export->options.mangled, ret_report);
}

static int run_png(struct export *export, struct ts_export_report *ret_report)
{
	ts_cleanup(ts_freep) char *svg = NULL;
	size_t n_bytes = 0;
	int r = ts_export_into(ts_export_svg, export->source.reader, &export->options, &svg,
			       &n_bytes, ret_report);

	if (r)
		return r;
	ts_progress_deinit(&export->progress);
	return ts_picture_file_put(export->out.file, TS_PICTURE_FILE_PNG, svg, n_bytes)
		       ? EXPORT_E_USAGE
		       : 0;
}

static int open_output(struct export *export)
{
	return export->format == FORMAT_ARROW ? ts_outfolder_open(&export->folder, export->output)
					      : ts_outfile_open(&export->out, export->output);
}

static int run(struct export *export, struct ts_export_report *ret_report)
{
	const char *name;
	int r = set_window(export);

	if (r)
		return r;
	export->options.session = export->source.session;
	export->options.step = step;
	export->options.user = export;
	name = strrchr(export->source.path, '/');
	export->options.title = name && name[1] ? name + 1 : export->source.path;
	export->options.width = (uint32_t) export->width;
	export->options.generator = "TraceSmith " TSCTL_VERSION;
	ts_progress_init(&export->progress, "reading rows:", 0);
	export->options.no_memory = ts_no_memory;
	r = export->format == FORMAT_ARROW ? run_arrow(export, ret_report)
	    : export->format == FORMAT_PNG
		    ? run_png(export, ret_report)
		    : ts_export(export->source.reader, formats[export->format].format,
				&export->options, export->out.file, ret_report);
	ts_progress_deinit(&export->progress);
	return r;
}

static void complain_nothing(const struct export *export, const struct ts_export_report *report)
{
	const char *window = export->from.is_given || export->to.is_given ? " in this window" : "";

	if (!report->n_rows && export->options.weight == TS_EXPORT_CPU)
		ts_complain("%s: no samples of threads%s; `tsctl record --kernel-events` records "
			    "them",
			    export->source.path, window);
	else if (!report->n_rows && export->options.weight >= TS_EXPORT_FIRST_OF_HOST)
		ts_complain("%s: no times of threads%s; `tsctl record --kernel-events` records "
			    "them",
			    export->source.path, window);
	else if (!report->n_rows)
		ts_complain("%s: no GPU operation%s; `tsctl info` lists the rows of the trace",
			    export->source.path,
			    *window		    ? window
			    : export->options.types ? " of this type"
						    : "");
	else if (!report->totals[export->options.weight])
		ts_complain("%s: all weights are 0; choose another --weight", export->source.path);
}

/* Reports missing calls and missing names, because sums do not show them. */
static void complain_missing(const struct export *export, const struct ts_export_report *report)
{
	const struct ts_sbt_reader *reader = export->source.reader;
	char count[TS_OUT_FIGURE_BYTES];

	if (formats[export->format].is_sum)
		complain_nothing(export, report);
	else if (export->format == FORMAT_ARROW && !report->n_rows)
		ts_complain("%s: no rows to export; `tsctl info` lists the rows of the trace",
			    export->source.path);
	if (report->n_without_call)
		ts_complain("%s operations are under [unknown]: their calls are not in the trace",
			    ts_out_count(count, report->n_without_call));
	if (report->n_left_out)
		ts_complain("%s slices are omitted: they overlap too many others",
			    ts_out_count(count, report->n_left_out));
	if (!report->has_names)
		ts_complain("no frame has a name; `tsctl symbolize %s` looks the names up",
			    export->source.path);
	if (ts_sbt_reader_state(reader) == TS_SBT_TRUNCATED && !report->damaged)
		ts_complain("%s is cut off: rows in the lost part are not counted",
			    export->source.path);
}

static int run_export(int argc, char **argv)
{
	ts_cleanup(export_deinit) struct export export = {.format = FORMAT_UNSET,
							  .options.weight = TS_EXPORT_GPU_TIME,
							  .arrow.slice_ns = TS_ARROW_SLICE_NS};
	struct ts_export_report report;
	int r, status;

	if (parse(&export, argc, argv) ||
	    ts_source_open(&export.source, export.file, export.session) || open_output(&export))
		return TS_EXIT_BAD;
	r = run(&export, &report);
	if (r == EXPORT_E_USAGE)
		return TS_EXIT_BAD;
	if (r) {
		ts_source_complain(export.source.path, r,
				   ts_sbt_reader_error(export.source.reader));
		return TS_EXIT_BAD;
	}
	status = export.out.file ? ts_outfile_finish(&export.out) : TS_EXIT_OK;
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
	.text = "usage: tsctl export --format FORMAT [OPTION ...] FILE | --session N\n"
		"\n"
		"Write the trace in the format of another tool. FORMAT is one of:\n"
		"  perfetto       all rows on a timeline (ui.perfetto.dev, trace_processor)\n"
		"  json           the PyTorch profiler's rows (Chrome, HTA, TensorBoard)\n"
		"  folded, pprof  sums by host stack (flamegraph.pl, speedscope; pprof, Parca)\n"
		"  svg, png       the same sums as a picture; html: the page of `tsctl report`\n"
		"  arrow          all rows, as a folder of Arrow files (DuckDB, Dask, Spark)\n"
		"\n",
	.example = "export --format folded run.sbt | flamegraph.pl > run.svg",
	.help_column = 29,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_export,
};
