/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-state [OPERATIONS [PASS]]: operations of a training job per second, by one thread, by
 * processor time, for each pass of replay/state. PASS: measures only that pass. threads.py measures
 * the speed-up by threads, except that of verify. The passes are:
 *
 * - walk: reads the rows in order of time;
 * - machine: joins operations and finds their dependencies (the state machine);
 * - timeline, gaps: builds a timeline, finds gaps;
 * - overview: all that `tsctl analyze` computes;
 * - graph: builds a graph with its critical path;
 * - diff: compares the trace with itself;
 * - verify: verifies the file. Its threads have equal shares, so verify_threads16 is the speed-up
 *   by 16 cores: the time of one thread, divided by the mean time of 16 threads.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "replay/state/compare/diff.h"
#include "replay/state/gaps/gaps.h"
#include "replay/state/graph/state-graph.h"
#include "replay/state/overview/overview.h"
#include "replay/state/state.h"
#include "sbt/reader.h"
#include "sbt/verify.h"
#include "test/bench/bench.h"
#include "test/bench/trainfile.h"

#define PASSES 3
/* The graph has a node for each operation and each call, so its pass uses a smaller trace. */
#define GRAPH_SHARE 4u

static int verify_fd; /* of the larger trace */

static struct ts_sbt_reader *make(uint64_t n_wanted, uint64_t *ret_n, int *ret_fd)
{
	struct ts_sbt_reader *reader;
	uint64_t n_bytes;
	int fd = memfd_create("bench", MFD_CLOEXEC);

	ts_bench_check(ts_training_file(dup(fd), n_wanted, ret_n, &n_bytes), "write");
	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	*ret_fd = fd;
	return reader;
}

/* Returns the number of operations it saw. */
typedef uint64_t pass_fn(struct ts_sbt_reader *reader);

/* Reads the rows only: the common cost of all passes. */
static uint64_t walk(struct ts_sbt_reader *reader)
{
	const struct ts_sbt_cursor_options options = {.types = TS_STATE_MACHINE_ROWS};
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	uint64_t n = 0;

	ts_bench_check(ts_sbt_cursor_new(reader, &options, &cursor), "cursor");
	while (!ts_sbt_cursor_next(cursor, &row))
		n += row.type != TS_ROW_API;
	ts_sbt_cursor_free(cursor);
	return n;
}

static uint64_t run_machine(struct ts_sbt_reader *reader)
{
	const struct ts_sbt_cursor_options options = {.types = TS_STATE_MACHINE_ROWS};
	struct ts_state_machine *machine;
	struct ts_sbt_cursor *cursor;
	struct ts_state_op op;
	struct ts_sbt_row row;
	uint64_t n = 0;

	ts_bench_check(ts_state_machine_new(&machine), "machine");
	ts_bench_check(ts_state_machine_prepare(machine, reader, 0), "streams");
	ts_bench_check(ts_sbt_cursor_new(reader, &options, &cursor), "cursor");
	while (!ts_sbt_cursor_next(cursor, &row)) {
		int r = ts_state_machine_feed(machine, &row, &op);

		ts_bench_check(r < 0 ? r : 0, "feed");
		n += r == 1;
	}
	ts_sbt_cursor_free(cursor);
	ts_state_machine_free(machine);
	return n;
}

static uint64_t make_timeline(struct ts_sbt_reader *reader)
{
	const struct ts_timeline_options options = {.n_parts = 100};
	struct ts_timeline *timeline;
	uint64_t n = 0;

	ts_bench_check(ts_timeline_read(reader, &options, &timeline), "timeline");
	for (size_t i = 0; i < timeline->n_devices; i++)
		n += timeline->devices[i].n_ops;
	ts_timeline_free(timeline);
	return n;
}

static uint64_t make_overview(struct ts_sbt_reader *reader)
{
	struct ts_overview overview;
	uint64_t n = 0;

	ts_bench_check(ts_overview_read(reader, 0, &overview), "overview");
	for (size_t i = 0; i < overview.timeline->n_devices; i++)
		n += overview.timeline->devices[i].n_ops;
	ts_overview_deinit(&overview);
	return n;
}

static uint64_t find_gaps(struct ts_sbt_reader *reader)
{
	const struct ts_gaps_options options = {.least_ns = 10000, .max_longest = 10};
	struct ts_gaps *gaps;
	uint64_t n = 0;

	ts_bench_check(ts_gaps_read(reader, &options, &gaps), "gaps");
	for (size_t i = 0; i < gaps->n_streams; i++)
		n += gaps->streams[i].n_ops;
	ts_gaps_free(gaps);
	return n;
}

static uint64_t make_graph(struct ts_sbt_reader *reader)
{
	const struct ts_graph_options options = {0};
	struct ts_graph *graph;
	uint64_t n = 0;

	ts_bench_check(ts_graph_read(reader, &options, &graph), "graph");
	for (size_t i = 0; i < graph->n_nodes; i++)
		n += graph->nodes[i].kind == TS_GRAPH_OP;
	ts_graph_free(graph);
	return n;
}

static uint64_t make_diff(struct ts_sbt_reader *reader)
{
	const struct ts_diff_options options = {.alpha = 0.01, .least = 0.01, .max_slower = 10};
	struct ts_sbt_reader *const readers[2] = {reader, reader};
	const struct ts_diff_runs runs[2] = {{&readers[0], 1}, {&readers[1], 1}};
	struct ts_diff *diff;
	unsigned side;
	size_t run;
	uint64_t n;

	ts_bench_check(ts_diff_read(runs, &options, &diff, &side, &run), "diff");
	n = diff->totals[0].n_ops + diff->totals[1].n_ops;
	ts_diff_free(diff);
	return n;
}

/* Returns the number of operations of the trace if nothing was found. */
static uint64_t verify(struct ts_sbt_reader *reader)
{
	struct ts_sbt_verify_report report;

	(void)reader;
	ts_bench_check(ts_sbt_verify(verify_fd, NULL, &report), "verify");
	ts_bench_check(report.n_findings ? 1 : 0, "findings");
	return report.counts[TS_ROW_KERNEL] + report.counts[TS_ROW_MEMCPY] +
	       report.counts[TS_ROW_MEMSET];
}

static const char *only;

static double time_once(const char *name, pass_fn *pass, struct ts_sbt_reader *reader,
			uint64_t n_want, const char *threads)
{
	double start_s = ts_bench_cpu_s();

	setenv("TRACESMITH_THREADS", threads, 1);
	ts_bench_check(pass(reader) == n_want ? 0 : 1, name);
	return ts_bench_cpu_s() - start_s;
}

static double least(double a, double b)
{
	return a && a < b ? a : b;
}

/* Prints the best of PASSES passes, in operations a second; for verify, the speed-up by threads. */
static void time_pass(const char *name, pass_fn *pass, struct ts_sbt_reader *reader,
		      uint64_t n_want)
{
	double one_s = 0, two_s = 0, many_s = 0;

	if (only && strcmp(only, name))
		return;
	for (int i = 0; i < PASSES; i++) {
		one_s = least(one_s, time_once(name, pass, reader, n_want, "1"));
		if (pass != verify)
			continue;
		two_s = least(two_s, time_once(name, pass, reader, n_want, "2"));
		many_s = least(many_s, time_once(name, pass, reader, n_want, "16"));
	}
	printf(", \"%s_per_s\": %.0f", name, (double)n_want / one_s);
	if (pass == verify)
		printf(", \"%s_threads\": %.2f, \"%s_threads16\": %.1f", name, one_s * 2 / two_s,
		       name, one_s * 16 / many_s);
}

int main(int argc, char **argv)
{
	uint64_t n_wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, n, n_graph;
	int part_fd;
	struct ts_sbt_reader *reader = make(n_wanted, &n, &verify_fd);
	struct ts_sbt_reader *part = make(n_wanted / GRAPH_SHARE, &n_graph, &part_fd);

	only = argc > 2 ? argv[2] : NULL;
	printf("{\"n\": %" PRIu64 ", \"graph_n\": %" PRIu64, n, n_graph);
	time_pass("walk", walk, reader, n);
	time_pass("machine", run_machine, reader, n);
	time_pass("timeline", make_timeline, reader, n);
	time_pass("gaps", find_gaps, reader, n);
	time_pass("overview", make_overview, reader, n);
	time_pass("graph", make_graph, part, n_graph);
	time_pass("diff", make_diff, reader, 2 * n);
	time_pass("verify", verify, reader, n);
	puts("}");
	ts_sbt_reader_free(reader);
	ts_sbt_reader_free(part);
	close(verify_fd);
	close(part_fd);
	return 0;
}
