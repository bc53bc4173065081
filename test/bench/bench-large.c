/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-large write FILE LAUNCHES, then bench-large read FILE: the cost of opening a long trace,
 * reading windows and totals. Reading is a separate process, so that its peak memory is the
 * reader's. bench-large index FILE adds checkpoints; then bench-large state FILE computes the state
 * at many instants. Uses sbt/reader.h and replay/state.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include "replay/state/checkpoint/checkpoint.h"
#include "sbt/reader.h"
#include "test/bench/bench.h"
#include "test/bench/trainfile.h"

#define PASSES	  7
#define WINDOWS	  64
#define WINDOW_NS UINT64_C(1000000)
#define INSTANTS  256

/* Processor time suffices, because the file is in the page cache. */
static double now_ms(void)
{
	return ts_bench_cpu_s() * 1e3;
}

static int write_file(const char *path, uint64_t n_launches)
{
	double start_ms = now_ms();
	uint64_t n, n_bytes;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	ts_bench_check(fd < 0 ? -errno : 0, path);
	ts_bench_check(ts_training_file(fd, n_launches, &n, &n_bytes), "write");
	printf("{\"n\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"seconds\": %.1f}\n", n, n_bytes,
	       (now_ms() - start_ms) / 1e3);
	return 0;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double time_open(int fd)
{
	double start_ms = now_ms(), ms;
	struct ts_sbt_reader *reader;

	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	ms = now_ms() - start_ms;
	ts_sbt_reader_free(reader);
	return ms;
}

/*
 * Reads all rows of a millisecond, at WINDOWS places evenly over the trace; returns the worst time.
 */
static void time_windows(struct ts_sbt_reader *reader, double *ret_worst_ms, uint64_t *ret_rows,
			 uint64_t *ret_blocks)
{
	struct ts_sbt_cursor_options options = {0};
	struct ts_sbt_summary summary;
	struct ts_sbt_row row;

	ts_bench_check(ts_sbt_reader_summary(reader, 0, &summary), "summary");
	*ret_worst_ms = 0;
	*ret_rows = *ret_blocks = 0;
	for (unsigned i = 0; i < WINDOWS; i++) {
		double ms = 1e9;

		options.from_ns = summary.earliest_ns +
				  (summary.latest_ns - summary.earliest_ns) / WINDOWS * i;
		options.to_ns = options.from_ns + WINDOW_NS;
		for (int pass = 0; pass < 3; pass++) {
			double start_ms = now_ms();
			struct ts_sbt_cursor *cursor;

			ts_bench_check(ts_sbt_cursor_new(reader, &options, &cursor), "cursor");
			while (!ts_sbt_cursor_next(cursor, &row))
				*ret_rows += !pass;
			*ret_blocks += pass ? 0 : ts_sbt_cursor_decoded(cursor);
			ts_sbt_cursor_free(cursor);
			ms = least(ms, now_ms() - start_ms);
		}
		*ret_worst_ms = ms > *ret_worst_ms ? ms : *ret_worst_ms;
	}
}

/* Sums kernels by name; *ret_n is their number of launches. */
static double time_totals(struct ts_sbt_reader *reader, uint64_t *ret_n, uint64_t *ret_decoded)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_KERNEL)};
	double start_ms = now_ms(), ms;
	struct ts_sbt_totals *totals;

	ts_bench_check(ts_sbt_totals_new(reader, &options, &totals), "totals");
	ms = now_ms() - start_ms;
	*ret_n = 0;
	for (size_t i = 0; i < ts_sbt_totals_count(totals); i++)
		*ret_n += ts_sbt_totals_at(totals, i)->count;
	*ret_decoded = ts_sbt_totals_decoded(totals);
	ts_sbt_totals_free(totals);
	return ms;
}

static int read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	double open_ms = 1e9, window_ms, totals_ms = 1e9;
	uint64_t n, decoded, n_rows, n_blocks;
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	struct rusage usage;

	ts_bench_check(fd < 0 ? -errno : 0, path);
	for (int pass = 0; pass < PASSES; pass++)
		open_ms = least(open_ms, time_open(fd));
	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	time_windows(reader, &window_ms, &n_rows, &n_blocks);
	for (int pass = 0; pass < PASSES; pass++)
		totals_ms = least(totals_ms, time_totals(reader, &n, &decoded));
	ts_bench_check(ts_sbt_reader_summary(reader, 0, &summary), "summary");
	ts_bench_check(n == summary.counts[TS_ROW_KERNEL] ? 0 : 1,
		       "kernels are missing from the totals");
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"blocks\": %zu, \"open_ms\": %.2f, \"window_ms\": %.2f, \"window_rows\": %.0f, "
	       "\"window_blocks\": %.1f, \"totals_ms\": %.2f, \"totals_decoded\": %" PRIu64
	       ", \"kernels\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 "}\n",
	       ts_sbt_reader_n_blocks(reader), open_ms, window_ms, (double)n_rows / WINDOWS,
	       (double)n_blocks / WINDOWS, totals_ms, decoded, n, (uint64_t)usage.ru_maxrss * 1024);
	ts_sbt_reader_free(reader);
	close(fd);
	return 0;
}

static int make_checkpoints(const char *path)
{
	double start_ms = now_ms();
	struct ts_state_checkpoints made;
	struct ts_sbt_append *append;
	uint64_t before;
	off_t after;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	ts_bench_check(fd < 0 ? -errno : 0, path);
	ts_bench_check(ts_sbt_append_new(fd, &append, NULL), "open");
	before = ts_sbt_reader_file_bytes(ts_sbt_append_reader(append));
	ts_bench_check(ts_state_checkpoints_add(append, 0, &made), "checkpoints");
	ts_bench_check(ts_sbt_append_commit(append, NULL), "write");
	ts_sbt_append_free(append);
	after = lseek(fd, 0, SEEK_END);
	printf("{\"n\": %" PRIu64 ", \"raw_bytes\": %" PRIu64 ", \"bytes\": %" PRIu64
	       ", \"of_bytes\": %" PRIu64 ", \"rows\": %" PRIu64 ", \"seconds\": %.1f}\n",
	       made.n, made.bytes, (uint64_t)after - before, before, made.n_rows,
	       (now_ms() - start_ms) / 1e3);
	close(fd);
	return 0;
}

static double state_ms(struct ts_sbt_reader *reader, uint64_t at_ns, size_t *ret_n_ops)
{
	double start_ms = now_ms();
	struct ts_state *state;

	ts_bench_check(ts_state_at(reader, 0, at_ns, &state), "state");
	*ret_n_ops = state->n_ops;
	ts_state_free(state);
	return now_ms() - start_ms;
}

/*
 * Computes the state at INSTANTS instants, evenly over the trace. The best of three passes counts
 * for each instant. Prints the worst and the mean of all instants.
 */
static int read_states(const char *path)
{
	double worst_ms = 0, sum_ms = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct ts_state_checkpoints found = {0};
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	size_t n_ops, sum_ops = 0;

	ts_bench_check(fd < 0 ? -errno : 0, path);
	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	ts_bench_check(ts_state_checkpoints_find(reader, &found), "checkpoints");
	ts_bench_check(ts_sbt_reader_summary(reader, 0, &summary), "summary");
	for (unsigned i = 0; i < INSTANTS; i++) {
		uint64_t at_ns = summary.earliest_ns +
				 (summary.latest_ns - summary.earliest_ns) / INSTANTS * i;
		double ms = 1e9;

		for (int pass = 0; pass < 3; pass++)
			ms = least(ms, state_ms(reader, at_ns, &n_ops));
		worst_ms = ms > worst_ms ? ms : worst_ms;
		sum_ms += ms;
		sum_ops += n_ops;
	}
	printf("{\"checkpoints\": %" PRIu64
	       ", \"worst_ms\": %.2f, \"mean_ms\": %.2f, \"ops\": %.1f}\n",
	       found.n, worst_ms, sum_ms / INSTANTS, (double)sum_ops / INSTANTS);
	ts_sbt_reader_free(reader);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "write"))
		return write_file(argv[2], strtoull(argv[3], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "read"))
		return read_file(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "index"))
		return make_checkpoints(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "state"))
		return read_states(argv[2]);
	fprintf(stderr,
		"usage: bench-large write FILE LAUNCHES | read FILE | index FILE | state FILE\n");
	return 2;
}
