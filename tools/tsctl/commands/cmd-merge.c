/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl merge: several traces as one.
 */
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

static int parse(struct merge *merge, int argc, char **argv)
{
	static const struct option longs[] = {{"output", required_argument, NULL, 'o'}, {0}};
	int option;

	while ((option = ts_option_next(argc, argv, ":o:", longs)) != -1) {
		if (option != 'o')
			return -EINVAL;
		merge->output = optarg;
	}
	if (argc - optind < 2) {
		ts_complain("takes two trace files or more: `tsctl merge -o all.sbt a.sbt b.sbt`");
		return -EINVAL;
	}
	if (argc - optind > (int)TS_SBT_COPY_MAX_SOURCES) {
		ts_complain("takes %u files at most; merge some first", TS_SBT_COPY_MAX_SOURCES);
		return -EINVAL;
	}
	if (!merge->output) {
		ts_complain("where to? name the new trace with -o, like -o all.sbt");
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
		printf(" is of another machine or boot: its times are shifted by %s s, true to %s and to "
		       "what the machines' clocks were apart\n",
		       ts_out_seconds(shift, source->shift_ns),
		       ts_out_duration(error, source->shift_error_ns));
	}
	if (report->n_repeated)
		printf("  %s rows were in several files, and are there once\n",
		       ts_out_count(count, report->n_repeated));
}

static int run_merge(int argc, char **argv)
{
	ts_cleanup(merge_deinit) struct merge merge = {0};
	struct ts_sbt_copy_options options = {0};
	struct ts_sbt_copy_report report = {0};
	int status;

	if (parse(&merge, argc, argv) || open_files(&merge, argv + optind, (size_t)(argc - optind)))
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
	.summary = "write several traces as one",
	.help = "usage: tsctl merge -o OUT FILE FILE ...\n"
		"\n"
		"Writes all rows of the FILEs to OUT: of several processes, daemons or machines.\n"
		"Sessions are numbered in the order of their start. Parts of one session (of\n"
		"`tsctl cut`, of a daemon that took over) become one session, and a row that\n"
		"several parts have is there once.\n"
		"\n"
		"Files of one machine since one boot share its clock. Times of others are shifted\n"
		"to the clock of the machine that was up longest, by what both knew of\n"
		"CLOCK_REALTIME; OUT's metadata (`tsctl info --json OUT`) has the shift and its\n"
		"error. Exits 0, 1 if a FILE is damaged (OUT has what could be read), or 2.\n"
		"\n"
		"  -o, --output OUT  the new trace; an existing file is refused\n"
		"\n"
		"example: tsctl merge -o job.sbt rank0.sbt rank1.sbt\n",
	.run = run_merge,
};
