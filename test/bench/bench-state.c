/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-state [OPERATIONS [PASS]]: operations of a training job per second, on one core, by
 * processor time, for each pass of replay/state. PASS: measures only that pass. The passes are:
 *
 * - walk: reads the rows in order of time;
 * - machine: joins operations and finds their dependencies (the state machine);
 * - timeline, gaps: builds a timeline, finds gaps;
 * - graph: builds a graph with its critical path;
 * - diff: compares the trace with itself.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "replay/state/compare/diff.h"
#include "replay/state/gaps/gaps.h"
#include "replay/state/graph/state-graph.h"
#include "replay/state/overview/timeline.h"
#include "replay/state/state.h"
#include "sbt/reader.h"
#include "test/bench/bench.h"
#include "test/bench/trainfile.h"

#define PASSES 3
/* The graph has a node for each operation and each call, so its pass uses a smaller trace. */
#define GRAPH_SHARE 4u

static struct ts_sbt_reader *make(uint64_t n_wanted, uint64_t *ret_n)
{
	struct ts_sbt_reader *reader;
	uint64_t n_bytes;
	int fd = memfd_create("bench", MFD_CLOEXEC);

	ts_bench_check(ts_training_file(dup(fd), n_wanted, ret_n, &n_bytes), "write");
	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	close(fd);
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

static const char *only;

/* Prints the best of PASSES passes, in operations a second. */
static void time_pass(const char *name, pass_fn *pass, struct ts_sbt_reader *reader,
		      uint64_t n_want)
{
	double best_s = 0;

	if (only && strcmp(only, name))
		return;
	for (int i = 0; i < PASSES; i++) {
		double start_s = ts_bench_cpu_s(), s;

		ts_bench_check(pass(reader) == n_want ? 0 : 1, name);
		s = ts_bench_cpu_s() - start_s;
		best_s = !i || s < best_s ? s : best_s;
	}
	printf(", \"%s_per_s\": %.0f", name, (double)n_want / best_s);
}

int main(int argc, char **argv)
{
	uint64_t n_wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, n, n_graph;
	struct ts_sbt_reader *reader = make(n_wanted, &n);
	struct ts_sbt_reader *part = make(n_wanted / GRAPH_SHARE, &n_graph);

	only = argc > 2 ? argv[2] : NULL;
	printf("{\"n\": %" PRIu64 ", \"graph_n\": %" PRIu64, n, n_graph);
	time_pass("walk", walk, reader, n);
	time_pass("machine", run_machine, reader, n);
	time_pass("timeline", make_timeline, reader, n);
	time_pass("gaps", find_gaps, reader, n);
	time_pass("graph", make_graph, part, n_graph);
	time_pass("diff", make_diff, reader, 2 * n);
	puts("}");
	ts_sbt_reader_free(reader);
	ts_sbt_reader_free(part);
	return 0;
}
