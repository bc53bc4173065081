/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl cut: writes a window of a trace as a trace of its own. main.c runs it; it copies rows
 * through sbt/rewrite.
 */
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/copyout.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

struct cut {
	const char *output, *session, *range;
	struct ts_time from, to;
	struct ts_source source;
};

static void cut_deinit(struct cut *cut)
{
	ts_source_deinit(&cut->source);
}

#define TIME_EXPECTED \
	"it is a time from the trace's start, like 1500 (ns) or 12.5ms, or @NS of CLOCK_MONOTONIC"

static const struct ts_option command_options[] = {
	{"from", TS_OPTION_LONG, TS_OPTION_MOMENT(struct cut, from), .metavar = "TIME",
	 .expects = TIME_EXPECTED, .joint = ", "},
	{"to", TS_OPTION_LONG, TS_OPTION_MOMENT(struct cut, to), .metavar = "TIME",
	 .expects = TIME_EXPECTED,
	 .help = "\n"
		 "copy this window: 1500 (ns) or 12.5ms from the trace's\n"
		 "start; @NS is a time of CLOCK_MONOTONIC"},
	{"range", TS_OPTION_LONG, TS_OPTION_TEXT(struct cut, range), .metavar = "NAME",
	 .names = TS_NAMES_RANGES, .help = "copy the first NVTX range with this name"},
	{"output", 'o', TS_OPTION_FILE(struct cut, output), .metavar = "OUT",
	 .help = "write the new trace to OUT; an existing file is refused"},
	{"session", 's', TS_OPTION_SESSION(struct cut, session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{0},
};

static int parse(struct cut *cut, int argc, char **argv, struct ts_operands *ret_operands)
{
	if (ts_options_parse(&ts_command_cut, argc, argv, cut, ret_operands))
		return -EINVAL;
	if (ret_operands->n != (cut->session ? 0 : 1)) {
		ts_complain("takes one trace file or one session: `tsctl cut --from 1s --to 2s -o "
			    "part.sbt run.sbt`");
		return -EINVAL;
	}
	if (!cut->output) {
		ts_complain("no output file; name the new trace with -o, like -o part.sbt");
		return -EINVAL;
	}
	if (cut->range && (cut->from.is_given || cut->to.is_given)) {
		ts_complain("--range cannot be used with --from and --to: it sets the window");
		return -EINVAL;
	}
	if (!cut->range && !cut->from.is_given && !cut->to.is_given) {
		ts_complain("no window; give --from and --to, or --range");
		return -EINVAL;
	}
	return 0;
}

/* Sets the window to the first range with that name. */
static int find_range(struct cut *cut, struct ts_sbt_copy_options *options)
{
	struct ts_sbt_cursor_options types = {.types = TS_ROW_BIT(TS_ROW_RANGE),
					      .session = cut->source.session};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_reader *reader = cut->source.reader;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &types, &cursor);

	while (!r || r == TS_SBT_E_CORRUPT) {
		const char *name;

		r = ts_sbt_cursor_next(cursor, &row);
		name = r ? NULL : ts_sbt_reader_string(reader, row.range->name, NULL);
		if (!name || strcmp(name, cut->range))
			continue;
		options->from_ns = row.range->start_ns;
		options->to_ns = ts_row_end_ns(row.schema, row.any);
		return 0;
	}
	if (r == TS_SBT_E_END)
		ts_complain("%s has no finished range %s; `tsctl view --type range` lists the "
			    "ranges",
			    cut->source.path, cut->range);
	else
		ts_source_complain(cut->source.path, r, ts_sbt_reader_error(reader));
	return -ENOENT;
}

static int set_window(struct cut *cut, struct ts_sbt_copy_options *options)
{
	uint64_t origin_ns = ts_sbt_reader_origin_ns(cut->source.reader);

	if (cut->range)
		return find_range(cut, options);
	if (cut->from.is_given)
		options->from_ns = ts_time_absolute(&cut->from, origin_ns);
	if (!cut->to.is_given)
		return 0;
	/*
	 * The option 0 would mean "no limit", so 1 replaces it; no row ends before the clock's
	 * first nanosecond.
	 */
	options->to_ns = ts_time_absolute(&cut->to, origin_ns);
	options->to_ns = options->to_ns ? options->to_ns : 1;
	if (options->to_ns >= options->from_ns)
		return 0;
	ts_complain("--to is before --from");
	return -EINVAL;
}

/*
 * Fails if the window lies outside of the trace. The copy would be empty, which is probably a
 * mistake of the user.
 */
static int check_window(const struct cut *cut, const struct ts_sbt_copy_options *options)
{
	char duration[TS_OUT_FIGURE_BYTES];
	struct ts_sbt_summary summary;
	uint64_t origin_ns = ts_sbt_reader_origin_ns(cut->source.reader);

	if (ts_sbt_reader_summary(cut->source.reader, cut->source.session, &summary) ||
	    !summary.earliest_ns ||
	    (options->from_ns <= summary.latest_ns &&
	     (!options->to_ns || options->to_ns >= summary.earliest_ns)))
		return 0;
	ts_complain("%s has no rows in this window; the trace lasts %s", cut->source.path,
		    ts_out_duration(duration, summary.latest_ns - origin_ns));
	return -EINVAL;
}

static int run_cut(int argc, char **argv)
{
	ts_cleanup(cut_deinit) struct cut cut = {0};
	struct ts_sbt_copy_options options = {.has_window = true};
	struct ts_sbt_copy_source source = {0};
	struct ts_sbt_copy_report report = {0};
	struct ts_operands operands;
	int status;

	if (parse(&cut, argc, argv, &operands) ||
	    ts_source_open(&cut.source, operands.words[0], cut.session) ||
	    set_window(&cut, &options) || check_window(&cut, &options))
		return TS_EXIT_BAD;
	options.session = cut.source.session;
	source.reader = cut.source.reader;
	source.name = cut.source.path;
	status = ts_copy_out(&source, 1, &options, cut.output, &report);
	if (status == TS_EXIT_BAD)
		return status;
	return ts_copy_out_print(cut.output, &report) ? TS_EXIT_BAD : status;
}

const struct ts_command ts_command_cut = {
	.name = "cut",
	.summary = "write a time window of a trace to a new trace",
	.text = "usage: tsctl cut [--from TIME] [--to TIME] -o OUT FILE | --session N\n"
		"       tsctl cut --range NAME -o OUT FILE\n"
		"\n"
		"Write the rows that touch a window of FILE to OUT, with unchanged times. An\n"
		"operation stays whole: OUT has its call and all its device rows. OUT also has\n"
		"the state at the window's start: contexts, streams, modules, live allocations,\n"
		"open ranges, and the clock snapshots around the window. Stacks, threads, modules\n"
		"and symbols are copied if a row refers to them. Captures for replay are omitted.\n"
		"Exit with 0; 1 if FILE is damaged (OUT has all readable rows); or 2 on errors.\n"
		"\n",
	.example = "cut --from 2s --to 2.5s -o step.sbt run.sbt",
	.help_column = 20,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_cut,
};
