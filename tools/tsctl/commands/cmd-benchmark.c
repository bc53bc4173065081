/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl benchmark: launches kernels with and without TraceSmith in turns, and counts the kernels in
 * the trace. main.c runs it. The traced half runs the ordinary `tsctl record`; the kernels in its
 * trace prove that it recorded.
 */
#include "proto/client/places.h"
#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/names.h"
#include "replay/report/report-pool.h"
#include "tools/tsctl/machine/benchload.h"
#include "tools/tsctl/machine/paths.h"
#include "tools/tsctl/machine/vgpuspec.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/record/environ.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAUNCHES_DEFAULT 10000u
#define LAUNCHES_MAX	 100000000
/* Traced and untraced runs alternate; each half reports its median. */
#define ROUNDS 3u

enum {
	STACKS_NATIVE,
	STACKS_NONE
};

static const char *const stacks_names[] = {
	[STACKS_NATIVE] = "native", [STACKS_NONE] = "none", NULL};

struct benchmark {
	uint64_t n;
	uint64_t launch;  /* 0: measure; else launch this many kernels */
	const char *vgpu; /* NULL: the machine's GPU */
	const char *output;
	unsigned int stacks; /* index in stacks_names */
	bool json, lossless;

	char tsctl[PATH_MAX], directory[PATH_MAX], trace[PATH_MAX];
	struct ts_environ *bare; /* environment of the untraced half */
	double seconds[ROUNDS], seconds_untraced[ROUNDS];
};

struct found {
	uint64_t captured, with_stacks, n_frames;
	uint64_t *ops; /* ids of the captured kernels, ascending */
};

static void benchmark_deinit(struct benchmark *benchmark)
{
	if (benchmark->directory[0]) {
		if (!benchmark->output)
			unlink(benchmark->trace);
		rmdir(benchmark->directory);
	}
	ts_environ_free(benchmark->bare);
}

/*
 * Runs the load and reads its one line of output. Returns 0, or a negative errno after a message,
 * which may be the load's own.
 */
static int run_load(const struct benchmark *benchmark, const char *const *argv,
		    char *const *environment, double *ret_seconds)
{
	posix_spawn_file_actions_t actions;
	unsigned long long launched = 0;
	char line[128] = "";
	size_t at = 0;
	ssize_t n = 0;
	int ends[2], status, r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	r = posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (!r && at < sizeof(line) - 1 &&
	       ((n = read(ends[0], line + at, sizeof(line) - 1 - at)) > 0 || (n && errno == EINTR)))
		at += n > 0 ? (size_t)n : 0;
	close(ends[0]);
	if (r) {
		ts_complain("cannot run %s: %s", argv[0], strerror(r));
		return -r;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return -ECHILD;
	if (sscanf(line, "%llu %lf", &launched, ret_seconds) == 2 && launched == benchmark->n)
		return 0;
	ts_complain("the launching process printed no valid result");
	return -EPROTO;
}

static int run_untraced(struct benchmark *benchmark, unsigned int round)
{
	char n[24];
	const char *argv[] = {benchmark->tsctl, "benchmark", "--launch", n, NULL};

	snprintf(n, sizeof(n), "%" PRIu64, benchmark->n);
	return run_load(benchmark, argv, ts_environ_strings(benchmark->bare),
			&benchmark->seconds_untraced[round]);
}

static int run_traced(struct benchmark *benchmark, unsigned int round)
{
	char n[24], vgpu[280];
	const char *argv[16];
	size_t i = 0;

	snprintf(n, sizeof(n), "%" PRIu64, benchmark->n);
	argv[i++] = benchmark->tsctl;
	argv[i++] = "record";
	argv[i++] = "--quiet";
	argv[i++] = "--force";
	argv[i++] = "--output";
	argv[i++] = benchmark->trace;
	argv[i++] = "--stacks";
	argv[i++] = stacks_names[benchmark->stacks];
	if (benchmark->lossless)
		argv[i++] = "--lossless";
	if (benchmark->vgpu) {
		snprintf(vgpu, sizeof(vgpu), "--vgpu=%s", benchmark->vgpu);
		argv[i++] = vgpu;
	}
	argv[i++] = "--";
	argv[i++] = benchmark->tsctl;
	argv[i++] = "benchmark";
	argv[i++] = "--launch";
	argv[i++] = n;
	argv[i] = NULL;
	return run_load(benchmark, argv, environ, &benchmark->seconds[round]);
}

static int by_id(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/*
 * Reads the next row and skips damaged blocks. Returns 0, or the code with which the cursor ended.
 */
static int next_row(struct ts_sbt_cursor *cursor, struct ts_sbt_row *row)
{
	int r;

	do
		r = ts_sbt_cursor_next(cursor, row);
	while (r == TS_SBT_E_CORRUPT);
	return r;
}

static int count_kernels(const struct benchmark *benchmark, struct ts_sbt_reader *reader,
			 struct found *found)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_KERNEL)};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor);

	while (!r && !(r = next_row(cursor, &row))) {
		const char *name = ts_sbt_reader_string(reader, row.kernel->name, NULL);

		if (!name || strcmp(name, TS_BENCHLOAD_KERNEL))
			continue;
		if (found->captured == benchmark->n)
			return -EOVERFLOW;
		found->ops[found->captured++] = row.kernel->op_id;
	}
	qsort(found->ops, found->captured, sizeof(*found->ops), by_id);
	return r == TS_SBT_E_END ? 0 : r;
}

static int count_stacks(struct ts_sbt_reader *reader, struct found *found)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_API)};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor);

	while (!r && !(r = next_row(cursor, &row))) {
		struct ts_sbt_stack stack;

		if (!bsearch(&row.api->op_id, found->ops, found->captured, sizeof(*found->ops),
			     by_id) ||
		    ts_sbt_reader_stack(reader, row.session, row.api->stack, &stack))
			continue;
		found->with_stacks++;
		found->n_frames += stack.n_frames;
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static void fill_lost(const struct ts_sbt_summary *summary, struct ts_pool *pool,
		      Ts__Rpc__BenchmarkReport *report)
{
	report->lost = ts_pool_alloc(pool, TS_LOSS_COUNT, sizeof(*report->lost));
	for (unsigned int i = 0; i < TS_LOSS_COUNT; i++) {
		Ts__Rpc__BenchmarkReport__LostEntry *entry;

		if (!summary->lost[i])
			continue;
		entry = ts_pool_alloc(pool, 1, sizeof(*entry));
		ts__rpc__benchmark_report__lost_entry__init(entry);
		entry->key = ts_name_loss_reason(i) ? ts_pool_copy(pool, ts_name_loss_reason(i))
						    : ts_pool_printf(pool, "reason_%u", i);
		TS_RPC_SET(entry, value, summary->lost[i]);
		report->lost[report->n_lost++] = entry;
	}
}

static int read_trace(const struct benchmark *benchmark, struct ts_pool *pool,
		      Ts__Rpc__BenchmarkReport *report)
{
	ts_cleanup(ts_source_deinit) struct ts_source source = {NULL};
	struct ts_sbt_summary summary;
	struct found found = {0};
	int r;

	if (ts_source_open(&source, benchmark->trace, NULL))
		return -EIO;
	found.ops = ts_pool_alloc(pool, benchmark->n + 1, sizeof(*found.ops));
	r = ts_sbt_reader_summary(source.reader, 0, &summary);
	if (!r)
		r = count_kernels(benchmark, source.reader, &found);
	if (!r)
		r = count_stacks(source.reader, &found);
	if (r) {
		ts_source_complain(benchmark->trace, r, ts_sbt_reader_error(source.reader));
		return r;
	}
	fill_lost(&summary, pool, report);
	TS_RPC_SET(report, captured, found.captured);
	TS_RPC_SET(report, with_stacks, found.with_stacks);
	TS_RPC_SET(report, mean_frames,
		   found.with_stacks ? (double)found.n_frames / (double)found.with_stacks : 0);
	TS_RPC_SET(report, bytes, ts_sbt_reader_file_bytes(source.reader));
	if (ts_sbt_reader_n_devices(source.reader))
		report->device = ts_pool_copy(
			pool,
			ts_sbt_reader_string(source.reader,
					     ts_sbt_reader_device_at(source.reader, 0)->row.name,
					     NULL));
	return 0;
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double median(double seconds[ROUNDS])
{
	qsort(seconds, ROUNDS, sizeof(*seconds), by_size);
	return seconds[ROUNDS / 2];
}

static void print_report(const Ts__Rpc__BenchmarkReport *report)
{
	const double n = (double)report->launched;
	char count[TS_OUT_FIGURE_BYTES], per_s[TS_OUT_FIGURE_BYTES];

	printf("Device          ");
	ts_out_text(stdout, report->device ? report->device : "unknown");
	printf("\nLaunched        %s kernels, %u times with and without TraceSmith\n",
	       ts_out_count(count, report->launched), ROUNDS);
	printf("Captured        %s (%.2f %%)\n", ts_out_count(count, report->captured),
	       (double)report->captured * 100 / n);
	printf("With stacks     %s (%.2f %%), %.1f frames each\n",
	       ts_out_count(count, report->with_stacks), (double)report->with_stacks * 100 / n,
	       report->mean_frames);
	printf("Traced          %s, %s kernels/s\n",
	       ts_out_duration(count, (uint64_t)(report->seconds * 1e9)),
	       ts_out_count(per_s, (uint64_t)report->kernels_per_s));
	printf("Untraced        %s, %s kernels/s\n",
	       ts_out_duration(count, (uint64_t)(report->seconds_untraced * 1e9)),
	       ts_out_count(per_s, (uint64_t)report->kernels_per_s_untraced));
	if (report->seconds > report->seconds_untraced)
		printf("A launch costs  %.0f ns more traced (%.2f times)\n",
		       (report->seconds - report->seconds_untraced) * 1e9 / n,
		       report->seconds / report->seconds_untraced);
	else
		puts("A launch costs  no measurable extra time traced");
	printf("Trace           %s, %.1f bytes a launch\n", ts_out_bytes(count, report->bytes),
	       (double)report->bytes / n);
	printf("Lost           %s", report->n_lost ? "" : " nothing");
	for (size_t i = 0; i < report->n_lost; i++)
		printf("%s %s %s", i ? "," : "", ts_out_count(count, report->lost[i]->value),
		       report->lost[i]->key);
	putchar('\n');
}

static int report(struct benchmark *benchmark)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	Ts__Rpc__BenchmarkReport message = TS__RPC__BENCHMARK_REPORT__INIT;
	double seconds = median(benchmark->seconds);
	double untraced = median(benchmark->seconds_untraced);

	TS_RPC_SET(&message, launched, benchmark->n);
	if (read_trace(benchmark, &pool, &message))
		return TS_EXIT_BAD;
	TS_RPC_SET(&message, seconds, seconds);
	TS_RPC_SET(&message, seconds_untraced, untraced);
	TS_RPC_SET(&message, kernels_per_s, (double)benchmark->n / seconds);
	TS_RPC_SET(&message, kernels_per_s_untraced, (double)benchmark->n / untraced);
	if (benchmark->json)
		return ts_json_print(&message.base);
	print_report(&message);
	return ts_finish_output(TS_EXIT_OK);
}

#define LAUNCHES_EXPECTED "expected a number from 1 to " TS_OPTION_DIGITS(LAUNCHES_MAX)

static const struct ts_option command_options[] = {
	{NULL, 'n', TS_OPTION_NUMBER(struct benchmark, n), .min = 1, .max = LAUNCHES_MAX,
	 .metavar = "NUMBER", .label = "-n", .expects = LAUNCHES_EXPECTED,
	 .help = "launch NUMBER kernels from 16 stack depths (default: 10000)"},
	{"vgpu", TS_OPTION_LONG, TS_OPTION_PARSED_TO(struct benchmark, vgpu, ts_vgpuspec_parse),
	 .is_for_vgpu = true, .is_optional = true, .word_at = ts_vgpuspec_shape_at,
	 .metavar = "SPEC", .help = "run on the virtual GPU: h200, ideal, ... (`tsctl devices`)",
	 .rank = 1},
	{"stacks", TS_OPTION_LONG, TS_OPTION_CHOICE(struct benchmark, stacks),
	 .words = stacks_names, .metavar = "KIND",
	 .help = "record host stacks: native (default) or none"},
	{"lossless", TS_OPTION_LONG, TS_OPTION_FLAG(struct benchmark, lossless),
	 .help = "if a ring is full, wait for space instead of dropping"},
	{"output", 'o', TS_OPTION_FILE(struct benchmark, output), .metavar = "FILE",
	 .help = "keep the last trace in FILE; an existing FILE is replaced"},
	{"json", 'j', TS_OPTION_FLAG(struct benchmark, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object: launched, captured, with_stacks,\n"
		 "lost, mean_frames, seconds, kernels_per_s, ..."},
	{"launch", TS_OPTION_LONG, TS_OPTION_NUMBER(struct benchmark, launch), .min = 1,
	 .max = LAUNCHES_MAX, .label = "-n", .expects = LAUNCHES_EXPECTED, .is_hidden = true},
	{0},
};

/* Prepares the trace's path and the environment of the untraced half. */
static int prepare(struct benchmark *benchmark)
{
	char vgpu_directory[PATH_MAX];
	int n, r = ts_places_self(benchmark->tsctl);

	r = r ? r : ts_environ_new(environ, &benchmark->bare);
	if (r)
		return r;
	if (benchmark->vgpu) {
		r = ts_path_vgpu(vgpu_directory);
		if (!r)
			r = ts_environ_prepend(benchmark->bare, "LD_LIBRARY_PATH", vgpu_directory,
					       ":");
		if (!r)
			r = ts_environ_set(benchmark->bare, "TRACESMITH_VGPU", benchmark->vgpu);
		if (r)
			return r;
	}
	if (benchmark->output) {
		n = snprintf(benchmark->trace, sizeof(benchmark->trace), "%s", benchmark->output);
		return n < (int)sizeof(benchmark->trace) ? 0 : -ENAMETOOLONG;
	}
	strcpy(benchmark->directory, "/tmp/tracesmith-benchmark-XXXXXX");
	if (!mkdtemp(benchmark->directory)) {
		benchmark->directory[0] = 0;
		return -errno;
	}
	snprintf(benchmark->trace, sizeof(benchmark->trace), "%.64s/benchmark.sbt",
		 benchmark->directory);
	return 0;
}

static int run_benchmark(int argc, char **argv)
{
	ts_cleanup(benchmark_deinit) struct benchmark benchmark = {.n = LAUNCHES_DEFAULT};
	struct ts_operands operands;
	int r;

	if (ts_options_parse(&ts_command_benchmark, argc, argv, &benchmark, &operands) ||
	    ts_no_operands(&operands))
		return TS_EXIT_BAD;
	/* This process launches the kernels. */
	if (benchmark.launch)
		return ts_benchload_run(benchmark.launch);
	r = prepare(&benchmark);
	if (r) {
		ts_complain("could not prepare the benchmark: %s", strerror(-r));
		return TS_EXIT_BAD;
	}
	for (unsigned int i = 0; i < ROUNDS; i++)
		if (run_untraced(&benchmark, i) || run_traced(&benchmark, i))
			return TS_EXIT_BAD;
	return report(&benchmark);
}

const struct ts_command ts_command_benchmark = {
	.name = "benchmark",
	.summary = "measure the cost of recording and the share of recorded launches",
	.is_minor = true,
	.text = "usage: tsctl benchmark [OPTION ...]\n"
		"\n"
		"Launch kernels with and without TraceSmith, three times each in turn, and\n"
		"compare the trace with the launches. Times are medians, from the first launch to\n"
		"the end of the last kernel.\n"
		"\n",
	.example = "benchmark -n 100000 --vgpu",
	.help_column = 21,
	.options = command_options,
	.run = run_benchmark,
};
