/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the comparison of two traces. The rank test is compared with one that tries all orders.
 * Alignments are compared with the edits that made the sequences differ, and whole traces have
 * known contents.
 */
#include "test/unit/harness.h"

#include <math.h>
#include <sys/mman.h>

#include "replay/state/compare/align.h"
#include "replay/state/compare/counterparts.h"
#include "replay/state/compare/diff.h"
#include "replay/state/compare/ranks.h"
#include "replay/state/compare/spread.h"
#include "sbt/writer.h"

static uint64_t seed = 1;

static uint32_t chance(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(seed >> 33) % below;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static double greater_of(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
	double greater = 0;

	for (size_t i = 0; i < n_a; i++)
		for (size_t j = 0; j < n_b; j++)
			greater += b[j] > a[i] ? 1 : b[j] == a[i] ? 0.5 : 0;
	return greater;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Returns the share of assignments, among all assignments of the values to the two sides, that are
 * at least as uneven as the given one.
 */
static double exact(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
	uint64_t all[16], x[16], y[16];
	double mean = (double)(n_a * n_b) / 2, distance = fabs(greater_of(a, n_a, b, n_b) - mean);
	unsigned n_extreme = 0, n_ways = 0;

	memcpy(all, a, n_a * sizeof(*a));
	memcpy(all + n_a, b, n_b * sizeof(*b));
	for (uint32_t mask = 0; mask < 1u << (n_a + n_b); mask++) {
		size_t of_x = 0, of_y = 0;

		if ((size_t)__builtin_popcount(mask) != n_a)
			continue;
		for (size_t i = 0; i < n_a + n_b; i++)
			if (mask >> i & 1)
				x[of_x++] = all[i];
			else
				y[of_y++] = all[i];
		n_ways++;
		n_extreme += fabs(greater_of(x, n_a, y, n_b) - mean) >= distance - 1e-9;
	}
	return (double)n_extreme / n_ways;
}

TS_TEST(ranks_are_as_likely_as_they_are)
{
	for (int round = 0; round < 60; round++) {
		uint32_t below = round % 3 ? 1000 : 6; /* with ties, too */
		uint64_t a[7], b[7];
		size_t n_a = 5 + chance(3), n_b = 5 + chance(3);
		double p, share;

		for (size_t i = 0; i < n_a; i++)
			a[i] = chance(below);
		for (size_t i = 0; i < n_b; i++)
			b[i] = chance(below) + (round % 2 ? below / 2 : 0);
		qsort(a, n_a, sizeof(*a), compare);
		qsort(b, n_b, sizeof(*b), compare);
		p = ts_ranks_test(a, n_a, b, n_b, &share);
		ts_check(fabs(share - greater_of(a, n_a, b, n_b) / (double)(n_a * n_b)) < 1e-9);
		/* If p is above 0.5, the test need not be exact. */
		ts_check(fabs(p - exact(a, n_a, b, n_b)) <= 0.06 ||
			 (p > 0.5 && exact(a, n_a, b, n_b) > 0.5));
	}
}

TS_TEST(what_is_equal_proves_nothing)
{
	const uint64_t same[] = {7, 7, 7, 7, 7, 7};
	double share;

	ts_check(ts_ranks_test(same, 6, same, 5, &share) == 1);
	ts_check(share == 0.5);
}

TS_TEST(many_names_need_more_proof)
{
	double p[] = {0.04, 0.001, 0.03, 0.9};
	const double corrected[] = {0.09, 0.004, 0.09, 0.9};

	ts_check_int(ts_ranks_correct(p, 4), 0);
	for (int i = 0; i < 4; i++)
		ts_check(fabs(p[i] - corrected[i]) < 1e-9);
}

static int moved(int (*rule)(const struct ts_spread *, const struct ts_spread *),
		 const double *before, size_t n_before, const double *after, size_t n_after)
{
	struct ts_spread sides[2] = {0};

	for (size_t i = 0; i < n_before; i++)
		ts_spread_add(&sides[0], before[i]);
	for (size_t i = 0; i < n_after; i++)
		ts_spread_add(&sides[1], after[i]);
	return rule(&sides[0], &sides[1]);
}

TS_TEST(sides_lie_apart)
{
	const double a[] = {3, 5, 4}, far[] = {8, 10, 9}, near[] = {6, 8, 7}, one[] = {5.1};

	ts_check_int(moved(ts_spread_moved, a, 3, far, 3), 1);
	ts_check_int(moved(ts_spread_moved, far, 3, a, 3), -1);
	ts_check_int(moved(ts_spread_moved, a, 3, near, 3), 0);
	ts_check_int(moved(ts_spread_moved, near, 3, a, 3), 0);
	ts_check_int(moved(ts_spread_moved, a, 3, a, 3), 0);
	ts_check_int(moved(ts_spread_moved, a, 1, one, 1), 1);
	ts_check_int(moved(ts_spread_moved, a, 3, one, 1), 0);
	ts_check_int(moved(ts_spread_moved, a, 3, one, 0), 0);
	ts_check_int(moved(ts_spread_moved, a, 0, one, 1), 0);
}

TS_TEST(few_runs_prove_little_of_the_host)
{
	const double a[] = {10, 10.1, 10.2, 10.1, 10}, more[] = {90, 90, 91, 92, 90};
	const double ten_times[] = {103, 102, 104}, none[] = {0};

	ts_check_int(moved(ts_spread_host_moved, a, 5, more, 5), 1);
	ts_check_int(moved(ts_spread_host_moved, a, 4, more, 5), 0);
	ts_check_int(moved(ts_spread_host_moved, a, 5, more, 4), 0);
	ts_check_int(moved(ts_spread_host_moved, a, 3, ten_times, 3), 1);
	ts_check_int(moved(ts_spread_host_moved, ten_times, 3, a, 3), -1);
	ts_check_int(moved(ts_spread_host_moved, more, 4, a, 5), 0);
	ts_check_int(moved(ts_spread_host_moved, a, 1, none, 1), -1);
}

/* ---- side by side ---------------------------------------------------------------------------- */

struct aligned {
	const uint32_t *a, *b;
	size_t i, j; /* reported up to here */
	size_t n_pairs, alone_a, alone_b, given_up;
};

static void on_step(void *data, enum ts_align_step step, size_t i, size_t n_a, size_t j, size_t n_b)
{
	struct aligned *aligned = data;

	ts_check_int(i, aligned->i);
	ts_check_int(j, aligned->j);
	aligned->i += n_a;
	aligned->j += n_b;
	if (step == TS_ALIGN_PAIR) {
		ts_check_int(aligned->a[i], aligned->b[j]);
		aligned->n_pairs++;
	} else if (step == TS_ALIGN_ALONE) {
		ts_check(n_a + n_b > 0);
		aligned->alone_a += n_a;
		aligned->alone_b += n_b;
	} else {
		aligned->given_up += n_a + n_b;
	}
}

static struct aligned align(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b,
			    uint64_t budget)
{
	struct aligned aligned = {.a = a, .b = b};

	ts_align(a, n_a, b, n_b, &budget, on_step, &aligned);
	ts_check_int(aligned.i, n_a);
	ts_check_int(aligned.j, n_b);
	return aligned;
}

/*
 * Rare edits of a sequence without repeats are found exactly. With repeats, at least no reported
 * pair is wrong.
 */
TS_TEST(edits_are_found)
{
	enum {
		N = 2000
	};
	static uint32_t a[N], b[2 * N];

	for (int round = 0; round < 200; round++) {
		size_t n_a = 1 + chance(N), n_b = 0, removed = 0, added = 0, quiet = 0;
		bool repeats = round % 2;
		struct aligned aligned;

		for (size_t i = 0; i < n_a; i++)
			a[i] = repeats ? chance(5) : (uint32_t)i;
		for (size_t i = 0; i < n_a; i++) {
			uint32_t edit = quiet++ < 8 || n_a - i < 8 ? 100 : chance(100);

			if (edit < 2) {
				removed++;
				quiet = 0;
				continue;
			}
			if (edit < 4) {
				b[n_b++] = 1000000 + (uint32_t)i;
				added++;
				quiet = 0;
			}
			b[n_b++] = a[i];
		}
		aligned = align(a, n_a, b, n_b, UINT64_C(1) << 28);
		ts_check_int(aligned.given_up, 0);
		ts_check_int(aligned.n_pairs + aligned.alone_a, n_a);
		ts_check_int(aligned.n_pairs + aligned.alone_b, n_b);
		if (!repeats) {
			ts_check_int(aligned.alone_a, removed);
			ts_check_int(aligned.alone_b, added);
		}
	}
}

TS_TEST(the_ends_and_the_bounds)
{
	enum {
		MANY = 3 * TS_ALIGN_REACH
	};
	static uint32_t a[MANY], b[MANY];
	struct aligned aligned;

	aligned = align(a, 0, b, 0, 1000);
	ts_check_int(aligned.n_pairs, 0);
	aligned = align(a, 3, b, 0, 1000);
	ts_check_int(aligned.alone_a, 3);
	for (uint32_t i = 0; i < MANY; i++) {
		a[i] = i;
		b[i] = MANY + i;
	}
	/*
	 * Without any agreement, items of short sequences are reported as alone, and items of long
	 * ones as not compared.
	 */
	aligned = align(a, 5, b, 7, 1000);
	ts_check_int(aligned.alone_a, 5);
	ts_check_int(aligned.alone_b, 7);
	aligned = align(a, MANY, b, MANY, UINT64_C(1) << 40);
	ts_check_int(aligned.given_up, 2 * MANY);
	aligned = align(a, 100, b, 100, 10);
	ts_check_int(aligned.given_up, 200);
}

/* ---- counterparts ---------------------------------------------------------------------------- */

/*
 * Streams are paired by their operations, whichever got work first; equal streams are paired in the
 * order of their work.
 */
TS_TEST(streams_are_known_by_what_they_did)
{
	static const uint32_t copies[] = {1, 1, 1, 1}, kernels[] = {2, 3, 2, 3, 2}, sets[] = {4};
	const struct ts_counterparts_stream a[] = {
		{0, 10, copies, 4}, {0, 11, kernels, 4}, {0, 12, kernels, 4},
		{1, 13, sets, 1},   {1, 14, copies, 2},	 {2, 15, copies, 4},
	};
	const struct ts_counterparts_stream b[] = {
		{0, 25, kernels, 5}, {0, 21, kernels, 5}, {0, 22, copies, 3},
		{0, 20, sets, 1},    {1, 23, sets, 1},	  {3, 24, copies, 4},
	};
	const uint32_t of_a[] = {2, 1, 0, 4, TS_COUNTERPARTS_NONE, TS_COUNTERPARTS_NONE};
	const uint32_t of_b[] = {2, 1, 0, TS_COUNTERPARTS_NONE, 3, TS_COUNTERPARTS_NONE};
	uint32_t got[6];

	ts_check_int(ts_counterparts(a, 6, b, 6, got), 0);
	for (size_t i = 0; i < 6; i++)
		ts_check_int(got[i], of_a[i]);
	ts_check_int(ts_counterparts(b, 6, a, 6, got), 0);
	for (size_t i = 0; i < 6; i++)
		ts_check_int(got[i], of_b[i]);
	ts_check_int(ts_counterparts(a, 6, NULL, 0, got), 0);
	for (size_t i = 0; i < 6; i++)
		ts_check_int(got[i], TS_COUNTERPARTS_NONE);
	ts_check_int(ts_counterparts(NULL, 0, b, 6, got), 0);
}

/* Streams with nothing in common, and too many streams to compare, are paired in order. */
TS_TEST(streams_that_tell_nothing_are_taken_in_order)
{
	enum {
		MANY = 9000
	};
	static struct ts_counterparts_stream streams[MANY];
	static uint32_t names[MANY], got[MANY];

	for (uint32_t i = 0; i < MANY; i++) {
		names[i] = i;
		streams[i] = (struct ts_counterparts_stream){0, MANY - i, &names[i], 1};
	}
	ts_check_int(ts_counterparts(streams, 3, streams + 6, 3, got), 0);
	for (uint32_t i = 0; i < 3; i++)
		ts_check_int(got[i], i);
	ts_check_int(ts_counterparts(streams, MANY - 1, streams + 1, MANY - 1, got), 0);
	for (uint32_t i = 0; i < MANY - 1; i++)
		ts_check_int(got[i], i);
}

/* ---- traces ---------------------------------------------------------------------------------- */

struct making {
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
	int fd;
	uint64_t now_ns, op_id;
	uint32_t grid; /* of later kernels */
};

static struct making begin(void)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 1};
	struct making making = {.fd = memfd_create("trace", MFD_CLOEXEC), .now_ns = 1000};

	ts_check_int(ts_sbt_writer_new(dup(making.fd), &making.writer), 0);
	ts_check_int(ts_sbt_session_writer_new(making.writer, &row, &making.session), 0);
	return making;
}

static void kernel(struct making *making, const char *name, uint32_t stream, uint64_t ns)
{
	struct ts_row_kernel row = {.start_ns = making->now_ns + 100,
				    .end_ns = making->now_ns + 100 + ns,
				    .op_id = ++making->op_id,
				    .context = 1,
				    .stream = stream,
				    .grid_x = making->grid};

	ts_check_int(ts_sbt_writer_string(making->writer, name, strlen(name), &row.name), 0);
	ts_check_int(ts_sbt_session_writer_add_row(making->session, TS_ROW_KERNEL, &row), 0);
	making->now_ns = row.end_ns;
}

static struct ts_sbt_reader *end(struct making *making)
{
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_session_writer_seal(making->session, NULL, 0), 0);
	ts_sbt_session_writer_free(making->session);
	ts_check_int(ts_sbt_writer_finish(making->writer), 0);
	ts_sbt_writer_free(making->writer);
	ts_check_int(ts_sbt_reader_open(making->fd, &reader, NULL), 0);
	close(making->fd);
	return reader;
}

static struct ts_diff *compare_runs(struct making *a, size_t n_a, struct making *b, size_t n_b,
				    size_t max_slower)
{
	const struct ts_diff_options options = {.alpha = 0.01,
						.least = 0.01,
						.max_slower = max_slower};
	struct ts_sbt_reader *readers[2][8];
	const struct ts_diff_runs runs[2] = {{readers[0], n_a}, {readers[1], n_b}};
	struct ts_diff *diff;
	unsigned side;
	size_t run;

	for (size_t i = 0; i < n_a; i++)
		readers[0][i] = end(&a[i]);
	for (size_t i = 0; i < n_b; i++)
		readers[1][i] = end(&b[i]);
	ts_check_int(ts_diff_read(runs, &options, &diff, &side, &run), 0);
	for (side = 0; side < 2; side++)
		for (size_t i = 0; i < runs[side].n; i++)
			ts_sbt_reader_free(readers[side][i]);
	return diff;
}

static struct ts_diff *compare_traces(struct making *a, struct making *b, size_t max_slower)
{
	return compare_runs(a, 1, b, 1, max_slower);
}

static const struct ts_diff_name *name_of(const struct ts_diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->n_names; i++)
		if (diff->names[i].name && !strcmp(diff->names[i].name, name))
			return &diff->names[i];
	ts_check(!"there is such a name");
	return NULL;
}

TS_TEST(what_changed_is_told)
{
	struct making traces[2] = {begin(), begin()};
	const struct ts_diff_name *name;
	struct ts_diff *diff;

	for (uint64_t after = 0; after < 2; after++)
		for (int i = 0; i < 200; i++) {
			struct making *making = &traces[after];

			kernel(making, "slower", 7, 1000 + chance(200) + 100 * after);
			kernel(making, "faster", 7, 1000 + chance(200) - 100 * after);
			kernel(making, "same", 7, 1000 + chance(200));
			/* Significant, but by less than a percent. */
			kernel(making, "hardly", 7, 100000 + chance(10) + 20 * after);
			if (i < 4)
				kernel(making, "few", 8, 1000 + 1000 * after);
			kernel(making, after ? "new" : "gone", 8, 500);
		}
	diff = compare_traces(&traces[0], &traces[1], 3);
	ts_check_int(diff->n_names, 7);
	ts_check_int(name_of(diff, "slower")->verdict, TS_DIFF_SLOWER);
	ts_check_int(name_of(diff, "faster")->verdict, TS_DIFF_FASTER);
	ts_check_int(name_of(diff, "same")->verdict, TS_DIFF_SAME);
	ts_check_int(name_of(diff, "hardly")->verdict, TS_DIFF_SAME);
	ts_check(name_of(diff, "hardly")->p < 1e-6);
	ts_check_int(name_of(diff, "few")->verdict, TS_DIFF_FEW);
	ts_check_int(name_of(diff, "gone")->verdict, TS_DIFF_GONE);
	name = name_of(diff, "new");
	ts_check_int(name->verdict, TS_DIFF_NEW);
	ts_check_int(name->sides[1].count, 200);
	ts_check_int(name->sides[1].total_ns, 200 * 500);
	ts_check_int(name->sides[1].median_ns, 500);
	/*
	 * The name whose total changed most comes first: `new` or `gone`, with 200 kernels of 500
	 * ns on one side.
	 */
	ts_check_int(diff->names[0].sides[0].count + diff->names[0].sides[1].count, 200);
	ts_check_int(diff->n_aligned, 200 * 4 + 4);
	ts_check_int(diff->totals[0].n_alone, 200);
	ts_check_int(diff->totals[1].n_alone, 200);
	ts_check(diff->has_first);
	ts_check_int(diff->first.stream, 8);
	ts_check_int(diff->first.op_id[0], 6);
	ts_check_int(diff->first.op_id[1], 6);
	ts_check(!strcmp(diff->names[diff->first.name].name, "gone"));
	ts_check_int(diff->n_slower, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct ts_diff_op *op = &diff->slower[i];

		ts_check_int(op->op_id[0], op->op_id[1]);
		ts_check(op->duration_ns[1] + op->wait_ns[1] > op->duration_ns[0] + op->wait_ns[0]);
	}
	ts_diff_free(diff);
}

static void make_runs(struct making traces[3], bool is_after)
{
	for (unsigned run = 0; run < 3; run++) {
		traces[run] = begin();
		for (int i = 0; i < 20; i++) {
			traces[run].grid = 4 + (is_after && run == 1 && i < 9);
			kernel(&traces[run], "tuned", 1, 1000);
			traces[run].grid = 4 + is_after;
			kernel(&traces[run], "config", 1, 1000);
			traces[run].grid = 4;
			kernel(&traces[run], "slower", 1, 2000 + 10 * run + 100 * is_after);
			/*
			 * The sides differ no more than the runs of one side, so the change can be
			 * chance.
			 */
			kernel(&traces[run], "drifts", 1, 3000 + 100 * run + 290 * is_after);
			if (i < 10 + (is_after && run == 2))
				kernel(&traces[run], "sometimes", 1, 1000);
		}
	}
}

/* A difference between two groups of runs counts only if all runs of a group show it. */
TS_TEST(runs_are_compared_with_runs)
{
	struct making before[3], after[3];
	struct ts_diff *diff;

	make_runs(before, false);
	make_runs(after, true);
	diff = compare_runs(before, 3, after, 3, 0);
	ts_check_int(name_of(diff, "tuned")->verdict, TS_DIFF_SAME);
	ts_check(!name_of(diff, "tuned")->has_config[1]);
	ts_check_int(name_of(diff, "config")->verdict, TS_DIFF_CONFIG);
	ts_check_int(name_of(diff, "config")->configs[1].grid[0], 5);
	ts_check_int(name_of(diff, "slower")->verdict, TS_DIFF_SLOWER);
	ts_check_int(name_of(diff, "drifts")->verdict, TS_DIFF_SAME);
	ts_check(name_of(diff, "drifts")->p < 1e-6);
	ts_check_int(name_of(diff, "sometimes")->verdict, TS_DIFF_SAME);
	/* The name with the largest total did not change, so it comes after the changed ones. */
	ts_check(!strcmp(diff->names[0].name, "slower"));
	ts_check(!strcmp(diff->names[1].name, "config"));
	ts_check(!strcmp(diff->names[2].name, "drifts"));
	ts_diff_free(diff);
}

/*
 * The n-th stream is paired with the other trace's n-th stream, whatever their ids are; a surplus
 * stream stays alone.
 */
TS_TEST(streams_are_paired)
{
	struct making traces[2] = {begin(), begin()};
	struct ts_diff *diff;

	for (uint32_t after = 0; after < 2; after++)
		for (int i = 0; i < 10; i++)
			for (uint32_t stream = 0; stream < 2 + after; stream++)
				kernel(&traces[after], stream ? "b" : "a",
				       10 * (after + 1) + stream, 100);
	diff = compare_traces(&traces[0], &traces[1], 5);
	ts_check_int(diff->n_aligned, 20);
	ts_check_int(diff->totals[0].n_alone, 0);
	ts_check_int(diff->totals[1].n_alone, 10);
	ts_check_int(diff->first.op_id[0], 0);
	ts_check_int(diff->first.op_id[1], 3);
	ts_check_int(diff->first.stream, 22);
	ts_diff_free(diff);
}

/*
 * If there are more durations than the diff can keep, it keeps a sample of them. This sample is
 * fair: the verdict of `late`, which changed, is SLOWER, and the verdict of `same` is SAME.
 */
TS_TEST(samples_are_fair)
{
	struct making traces[2] = {begin(), begin()};
	const uint32_t n = TS_DIFF_MAX_SAMPLES + 40000;
	struct ts_diff *diff;

	for (uint32_t after = 0; after < 2; after++)
		for (uint32_t i = 0; i < n; i++)
			kernel(&traces[after], i % 2 ? "late" : "same", 1,
			       1000 + chance(100) + (i % 2 && after && i > n / 2 ? 30 : 0));
	diff = compare_traces(&traces[0], &traces[1], 0);
	ts_check_int(name_of(diff, "late")->verdict, TS_DIFF_SLOWER);
	ts_check_int(name_of(diff, "same")->verdict, TS_DIFF_SAME);
	ts_check_int(name_of(diff, "late")->sides[0].count, n / 2);
	ts_check_int(diff->n_aligned, n);
	ts_check_int(diff->n_slower, 0);
	ts_diff_free(diff);
}

TS_TEST(empty_traces)
{
	struct making traces[2] = {begin(), begin()};
	struct ts_diff *diff = compare_traces(&traces[0], &traces[1], 5);

	ts_check_int(diff->n_names, 0);
	ts_check_int(diff->n_aligned, 0);
	ts_check(!diff->has_first);
	ts_diff_free(diff);
}

/* ---- progress -------------------------------------------------------------------------------- */

struct progress {
	uint64_t n_calls, n_rows, most;
};

static void on_rows(uint32_t n_rows, void *data)
{
	struct progress *progress = data;

	/* Only the caller's thread calls. */
	ts_check_int(gettid(), getpid());
	progress->n_calls++;
	progress->n_rows += n_rows;
	progress->most = n_rows > progress->most ? n_rows : progress->most;
}

/* Two threads read the sides, and the caller learns of the rows. */
TS_TEST(progress_of_two_threads)
{
	enum {
		N = 600000
	};
	const struct ts_diff_options options = {.alpha = 0.01, .least = 0.01};
	struct progress progress[2] = {{0}};
	struct ts_sbt_reader *readers[2];
	const struct ts_diff_runs runs[2] = {{&readers[0], 1}, {&readers[1], 1}};
	struct ts_diff *diff;
	unsigned at;
	size_t run;

	ts_check_int(setenv("TRACESMITH_THREADS", "2", 1), 0);
	for (unsigned side = 0; side < 2; side++) {
		struct making making = begin();

		for (unsigned i = 0; i < N; i++)
			kernel(&making, "k", 1, 100);
		readers[side] = end(&making);
		ts_sbt_reader_watch(readers[side], on_rows, &progress[side]);
	}
	ts_check_int(ts_diff_read(runs, &options, &diff, &at, &run), 0);
	for (unsigned side = 0; side < 2; side++) {
		ts_check_int(diff->totals[side].n_ops, N);
		/* The string is a row, too. */
		ts_check(progress[side].n_rows >= N && progress[side].n_rows < N + 9);
		ts_sbt_reader_free(readers[side]);
	}
	/* The first side's rows are reported as they are read. */
	ts_check(progress[0].n_calls > 5 && progress[0].most < N / 5);
	ts_diff_free(diff);
}
