/* SPDX-License-Identifier: Apache-2.0 */
/* tsctl merge: writes several traces into one. main.c runs it; sbt/rewrite copies the rows. */
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/trace/copyout.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

struct merge {
	const char *output;
	struct ts_source *files;
	struct ts_sbt_copy_source *sources;
	size_t n;
};

static void merge_deinit(struct merge *merge)
{
	for (size_t i = 0; merge->files && i < merge->n; i++)
		ts_source_deinit(&merge->files[i]);
	free(merge->files);
	free(merge->sources);
}

static const struct ts_option command_options[] = {
	{"output", 'o', TS_OPTION_FILE(struct merge, output), .metavar = "OUT",
	 .help = "write the new trace to OUT; an existing file is refused"},
	{0},
};

static int parse(struct merge *merge, int argc, char **argv, struct ts_operands *ret_operands)
{
	if (ts_options_parse(&ts_command_merge, argc, argv, merge, ret_operands))
		return -EINVAL;
	if (ret_operands->n < 2) {
		ts_complain("takes two trace files or more: `tsctl merge -o all.sbt a.sbt b.sbt`");
		return -EINVAL;
	}
	if (ret_operands->n > TS_SBT_COPY_MAX_SOURCES) {
		ts_complain("takes %u files at most; merge some first", TS_SBT_COPY_MAX_SOURCES);
		return -EINVAL;
	}
	if (!merge->output) {
		ts_complain("no output file; name the new trace with -o, like -o all.sbt");
		return -EINVAL;
	}
	return 0;
}

static int open_files(struct merge *merge, char **paths, size_t n)
{
	merge->files = calloc(n, sizeof(*merge->files));
	merge->sources = calloc(n, sizeof(*merge->sources));
	if (!merge->files || !merge->sources) {
		ts_complain("out of memory");
		return -ENOMEM;
	}
	for (; merge->n < n; merge->n++) {
		struct ts_source *file = &merge->files[merge->n];

		if (ts_source_open(file, paths[merge->n], NULL))
			return -EINVAL;
		merge->sources[merge->n].reader = file->reader;
		merge->sources[merge->n].name = file->path;
	}
	return 0;
}

static void print_shifts(const struct merge *merge, const struct ts_sbt_copy_report *report)
{
	char shift[TS_OUT_FIGURE_BYTES], error[TS_OUT_FIGURE_BYTES], count[TS_OUT_FIGURE_BYTES];

	for (size_t i = 0; i < merge->n; i++) {
		const struct ts_sbt_copy_source *source = &merge->sources[i];

		if (!source->shift_error_ns)
			continue;
		printf("  ");
		ts_out_text(stdout, source->name);
		printf(" is of another machine or boot: its times are shifted by %s s (error: "
		       "%s, plus the difference of the machines' clocks)\n",
		       ts_out_seconds(shift, source->shift_ns),
		       ts_out_duration(error, source->shift_error_ns));
	}
	if (report->n_repeated)
		printf("  %s rows were in several files and are written once\n",
		       ts_out_count(count, report->n_repeated));
}

static int run_merge(int argc, char **argv)
{
	ts_cleanup(merge_deinit) struct merge merge = {0};
	struct ts_sbt_copy_options options = {0};
	struct ts_sbt_copy_report report = {0};
	struct ts_operands operands;
	int status;

	if (parse(&merge, argc, argv, &operands) || open_files(&merge, operands.words, operands.n))
		return TS_EXIT_BAD;
	status = ts_copy_out(merge.sources, merge.n, &options, merge.output, &report);
	if (status == TS_EXIT_BAD)
		return status;
	if (ts_copy_out_print(merge.output, &report))
		return TS_EXIT_BAD;
	if (strcmp(merge.output, "-"))
		print_shifts(&merge, &report);
	return ts_finish_output(TS_EXIT_OK) ? TS_EXIT_BAD : status;
}

const struct ts_command ts_command_merge = {
	.name = "merge",
	.summary = "write several traces to one new trace",
	.text = "usage: tsctl merge -o OUT FILE FILE ...\n"
		"\n"
		"Write all rows of the FILEs, of several processes, daemons or machines, to OUT.\n"
		"Sessions are numbered in the order of their start. Parts of one session (from\n"
		"`tsctl cut`, or from a daemon that took over) become one session. A row that\n"
		"several parts have is written once.\n"
		"\n"
		"Files of one machine and boot share a clock. Times of other files are shifted to\n"
		"the clock of the machine that was up longest, with CLOCK_REALTIME as reference.\n"
		"The metadata of OUT (`tsctl info --json OUT`) has the shift and its error. Exit\n"
		"with 0; 1 if a FILE is damaged (OUT has all readable rows); or 2 on errors.\n"
		"\n",
	.example = "merge -o job.sbt rank0.sbt rank1.sbt",
	.help_column = 20,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_merge,
};
