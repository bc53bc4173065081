/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the runs of one side: see diff-collect.h. diff.c calls this file, for both sides at once
 * if threads are permitted. This file reads each trace once. diff-segments.c reads long runs in
 * segments; doubter.c finds the doubts of the others.
 */
#include "replay/state/compare/diff-collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "proto/abi/grow.h"
#include "replay/state/compare/diff-segments.h"
#include "replay/state/compare/doubter.h"
#include "replay/state/state-clocks.h"

/* Many samples are sorted by digits, in a quarter of the time of qsort(). */
#define MIN_DIGITS 2048u
#define DIGIT_BITS 8u
#define DIGIT_MASK ((1u << DIGIT_BITS) - 1)

/* ---- the end of a run ------------------------------------------------------------------------ */

static int compare_values(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorts by one digit after the other, from the lowest one. Skips digits that all values share. */
static void sort_by_digits(uint64_t *values, uint64_t *buffer, size_t n)
{
	uint64_t *from = values, *to = buffer, *all;
	uint64_t differ = 0;

	for (size_t i = 0; i < n; i++)
		differ |= values[i] ^ values[0];
	for (unsigned shift = 0; shift < 64 && differ >> shift; shift += DIGIT_BITS) {
		size_t ends[1u << DIGIT_BITS] = {0}, sum = 0;

		if (!(differ >> shift & DIGIT_MASK))
			continue;
		for (size_t i = 0; i < n; i++)
			ends[from[i] >> shift & DIGIT_MASK]++;
		for (size_t i = 0; i <= DIGIT_MASK; i++) {
			const size_t count = ends[i];

			ends[i] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[ends[from[i] >> shift & DIGIT_MASK]++] = from[i];
		all = from;
		from = to;
		to = all;
	}
	if (from != values)
		memcpy(values, from, n * sizeof(*values));
}

static void sort_samples(struct ts_diff_samples *samples)
{
	const size_t n = samples->n;
	uint64_t *buffer = n < MIN_DIGITS ? NULL : malloc(n * sizeof(*buffer));

	if (buffer)
		sort_by_digits(samples->at, buffer, n);
	else if (n)
		qsort(samples->at, n, sizeof(*samples->at), compare_values);
	free(buffer);
}

/*
 * Ends a run for one name: adds the run's count to the side's extremes, and its samples to those of
 * the side's earlier runs.
 */
static int close_run_of(struct ts_diff_collected *name, size_t run)
{
	struct ts_diff_extremes *extremes = &name->extremes;
	struct ts_diff_samples *all = &name->samples;
	uint64_t *more;

	extremes->least_count = !run || name->n_in_run < extremes->least_count
					? name->n_in_run
					: extremes->least_count;
	if (name->n_in_run > extremes->most_count)
		extremes->most_count = name->n_in_run;
	if (name->run.n) {
		sort_samples(&name->run);
		ts_spread_add(&extremes->medians, (double)name->run.at[name->run.n / 2]);
	}
	if (!all->n) {
		struct ts_diff_samples none = *all;

		*all = name->run;
		name->run = none;
	} else if (name->run.n) {
		more = reallocarray(all->at, (size_t)all->n + name->run.n, sizeof(*more));
		if (!more)
			return -ENOMEM;
		memcpy(more + all->n, name->run.at, name->run.n * sizeof(*more));
		all->at = more;
		all->n += name->run.n;
		all->n_allocated = all->n;
	}
	name->run.n = 0;
	name->n_in_run = 0;
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_busy(struct ts_diff_run *run, uint32_t session, uint32_t device, uint64_t start_ns,
		     uint64_t end_ns)
{
	uint64_t *until_ns = ts_diff_busy_until(run, session, device);

	if (until_ns)
		ts_diff_add_busy(run, until_ns, start_ns, end_ns);
	else
		run->busy_ns += end_ns - start_ns;
}

static int add_op(struct ts_diff_collection *collection, const struct ts_sbt_row *row,
		  uint32_t name, uint64_t ns)
{
	/* The three row types share their first fields (sbt/schema.h). */
	const struct ts_row_kernel *common = row->kernel;
	struct ts_diff_total *total = &collection->total;
	struct ts_diff_run *run = &collection->run;
	struct ts_diff_issued op = {.start_ns = common->start_ns,
				    .duration_ns = ns,
				    .op_id = common->op_id,
				    .name = name};
	uint32_t number;
	int r;

	ts_diff_sum_op(run, total, row->type, op.start_ns, ns);
	add_busy(run, row->session, common->device, op.start_ns, op.start_ns + ns);
	total->n_ops++;
	if (run->at)
		return 0;
	collection->first_ns = run->first_ns;
	if (collection->n_ops == TS_DIFF_MAX_OPS) {
		total->n_not_aligned++;
		return 0;
	}
	r = ts_diff_find_stream(collection, row->session, common->context, common->stream, &number);
	return r ? r : ts_diff_add_op(collection, number, &op);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int take_row(struct ts_diff_collection *collection, struct ts_sbt_reader *reader,
		    const struct ts_sbt_row *row)
{
	const struct ts_diff_key key = ts_diff_key_of(row);
	const uint64_t ns = ts_diff_duration(row);
	struct ts_diff_collected *name;
	struct ts_diff_config config;
	uint32_t at;
	int r = ts_diff_find_name(collection, reader, &key, &at);

	if (r)
		return r;
	name = &collection->names[at];
	r = ts_diff_add_values(name, &ns, 1);
	if (!r)
		ts_diff_sum(&name->sums, ns);
	if (!r && row->type == TS_ROW_KERNEL) {
		config = ts_diff_config_of(row->kernel);
		r = ts_diff_add_config(&name->configs, collection->run.at, &config, 1);
	}
	return r || row->type == TS_ROW_API ? r : add_op(collection, row, at, ns);
}

static int close_run(struct ts_diff_collection *collection, size_t i_run)
{
	struct ts_diff_total *total = &collection->total;
	const struct ts_diff_run *run = &collection->run;
	double overlap = run->ops_ns ? 1 - (double)run->busy_ns / (double)run->ops_ns : 0;
	int r = 0;

	if (__builtin_add_overflow(total->ops_ns, run->ops_ns, &total->ops_ns))
		total->ops_ns = UINT64_MAX;
	total->busy_ns += run->busy_ns;
	total->span_ns += run->last_ns - run->first_ns;
	ts_spread_add(&total->overlap, overlap);
	total->n_runs++;
	for (size_t i = 0; !r && i < collection->n_names; i++)
		r = close_run_of(&collection->names[i], i_run);
	return r;
}

/* Begins a run. String ids are per file, so the map by string id starts empty for each run. */
static void open_run(struct ts_diff_collection *collection, size_t i_run)
{
	collection->run = (struct ts_diff_run){.at = i_run};
	if (!i_run)
		return;
	ts_state_map_deinit(&collection->kernels);
	collection->kernels = (struct ts_state_map){0};
}

/* Reads a run with one machine. */
static int read_rows(struct ts_diff_collection *collection, struct ts_sbt_reader *reader)
{
	const struct ts_sbt_cursor_options options = {.types = TS_DIFF_ROWS};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	ts_cleanup(ts_doubter_freep) struct ts_doubter *doubter = NULL;
	struct ts_diff_total *total = &collection->total;
	struct ts_sbt_row row;
	int r = ts_doubter_new(reader, &total->doubts, &doubter);

	r = r ? r : ts_sbt_cursor_new(reader, &options, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT || r == TS_SBT_E_VERSION) {
			total->is_damaged = true;
			r = 0;
			continue;
		}
		r = r ? r : take_row(collection, reader, &row);
		r = r ? r : ts_doubter_feed(doubter, &row);
	}
	return r != TS_SBT_E_END ? r : ts_doubter_finish(doubter);
}

/* Returns TS_SEGMENTS_NONE if the collection is not valid any more. */
static int read_run(struct ts_diff_collection *collection, size_t i_run,
		    struct ts_sbt_reader *reader, const struct ts_segments_options *sizes,
		    bool may_segment)
{
	bool is_changed = false;
	int r = TS_SEGMENTS_NONE;

	open_run(collection, i_run);
	collection->has_host_clock |= ts_clocks_are_hosts(reader);
	if (may_segment)
		r = ts_diff_collect_segments(collection, reader, sizes, &is_changed);
	if (r == TS_SEGMENTS_NONE && !is_changed)
		r = read_rows(collection, reader);
	return r ? r : close_run(collection, i_run);
}

static int read_runs(const struct ts_diff_runs *runs, const struct ts_segments_options *sizes,
		     bool may_segment, struct ts_diff_collection *collection, size_t *ret_run)
{
	uint64_t seed = 0;
	int r = 0;

	(void)getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
	ts_intern_init(&collection->texts, seed);
	*ret_run = 0;
	for (size_t i = 0; !r && i < runs->n; i++) {
		*ret_run = i;
		r = read_run(collection, i, runs->readers[i], sizes, may_segment);
	}
	/* The samples of one run are in order. */
	for (size_t i = 0; !r && runs->n > 1 && i < collection->n_names; i++)
		sort_samples(&collection->names[i].samples);
	return r;
}

int ts_diff_collect(const struct ts_diff_runs *runs, const struct ts_segments_options *sizes,
		    struct ts_diff_collection *collection, size_t *ret_run)
{
	int r = read_runs(runs, sizes, true, collection, ret_run);

	if (r != TS_SEGMENTS_NONE)
		return r;
	ts_diff_collection_deinit(collection);
	*collection = (struct ts_diff_collection){0};
	return read_runs(runs, NULL, false, collection, ret_run);
}
