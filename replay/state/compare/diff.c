/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the runs of two builds, called the two sides: see diff.h. `tsctl diff` calls this file.
 * This file uses diff-collect.c to read the sides, the second one in a thread, and align.c,
 * counterparts.c, ranks.c and spread.c to compare them.
 */
#include "replay/state/compare/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "proto/abi/grow.h"
#include "replay/state/compare/align.h"
#include "replay/state/compare/counterparts.h"
#include "replay/state/compare/diff-collect.h"
#include "replay/state/compare/ranks.h"
#include "replay/state/compare/spread.h"
#include "replay/state/state-map.h"
#include "sbt/intern.h"
#include "sbt/reader-threads.h"

#define NONE	     TS_STATE_MAP_NONE
#define ALIGN_BUDGET (UINT64_C(1) << 28)

/* A side: its runs, and what was collected of them. */
struct side {
	const struct ts_diff_runs *runs;
	struct ts_diff_collection collection;
	uint32_t *joint_of; /* by the side's name: number in diff->names */
	int result;
	size_t run; /* the run that failed */
};

/* A name of both sides; the number of the name in each side, or NONE. */
struct name {
	uint32_t of[2];
};

struct diffing {
	struct ts_diff *diff;
	const struct ts_diff_options *options;
	struct name *names; /* parallel to diff->names */
	size_t n_names_allocated[2];
	struct ts_intern texts;
	/* index of a name by key; the row type serves as the map's session */
	struct ts_state_map by_key;
	struct side sides[2];
	/* Valid while two streams are aligned. */
	const struct ts_diff_stream *pair[2];
	uint64_t budget;
	uint64_t first_ns; /* of diff->first */
};

const char *ts_diff_verdict_name(unsigned verdict)
{
	static const char *const names[TS_DIFF_VERDICTS] = {
		[TS_DIFF_SAME] = "same", [TS_DIFF_SLOWER] = "slower", [TS_DIFF_FASTER] = "faster",
		[TS_DIFF_GONE] = "gone", [TS_DIFF_NEW] = "new",	      [TS_DIFF_FEW] = "few",
		[TS_DIFF_MORE] = "more", [TS_DIFF_FEWER] = "fewer",   [TS_DIFF_CONFIG] = "config",
	};

	return verdict < TS_DIFF_VERDICTS ? names[verdict] : NULL;
}

void ts_diff_free(struct ts_diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->n_names; i++)
		free((char *)(uintptr_t)diff->names[i].name);
	free(diff->names);
	free(diff->slower);
	free(diff);
}

static void diffing_deinit(struct diffing *diffing)
{
	free(diffing->names);
	ts_intern_deinit(&diffing->texts);
	ts_state_map_deinit(&diffing->by_key);
	for (unsigned i = 0; i < 2; i++) {
		ts_diff_collection_deinit(&diffing->sides[i].collection);
		free(diffing->sides[i].joint_of);
	}
}

/* ---- names of both sides --------------------------------------------------------------------- */

/* Returns the key of a side's name, in by_key. */
static int key_of(struct diffing *diffing, const struct ts_diff_collected *name, uint64_t *ret_key)
{
	uint32_t id;
	bool is_new;
	int r;

	*ret_key = (uint64_t)name->size_class << 32 | name->kind;
	if (name->type != TS_ROW_KERNEL)
		return 0;
	r = ts_intern(&diffing->texts, name->text, name->text_bytes, &id, &is_new);
	*ret_key = r ? 0 : id;
	return r == -EOVERFLOW ? TS_E_DIFF_NAMES : r;
}

/* Adds a name; its text passes to diff->names. */
static int add_name(struct diffing *diffing, struct ts_diff_collected *from, uint64_t key)
{
	struct ts_diff *diff = diffing->diff;
	int r;

	if (diff->n_names == TS_DIFF_MAX_NAMES)
		return TS_E_DIFF_NAMES;
	r = TS_GROW(diff->names, diffing->n_names_allocated[0], diff->n_names + 1);
	r = r ? r : TS_GROW(diffing->names, diffing->n_names_allocated[1], diff->n_names + 1);
	r = r ? r : ts_state_map_set(&diffing->by_key, from->type, key, (uint32_t)diff->n_names);
	if (r)
		return r;
	diffing->names[diff->n_names] = (struct name){{NONE, NONE}};
	diff->names[diff->n_names++] = (struct ts_diff_name){.type = from->type,
							     .kind = from->kind,
							     .size_class = from->size_class,
							     .name = ts_take_ptr(from->text)};
	return 0;
}

/* Joins the names of the sides, in the order in which they would be found one after the other. */
static int join_names(struct diffing *diffing, unsigned side)
{
	struct ts_diff_collection *collection = &diffing->sides[side].collection;
	uint32_t *joint_of = calloc(collection->n_names + 1, sizeof(*joint_of));
	uint64_t key;
	int r = 0;

	diffing->sides[side].joint_of = joint_of;
	if (!joint_of)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < collection->n_names; i++) {
		struct ts_diff_collected *name = &collection->names[i];

		r = key_of(diffing, name, &key);
		if (r)
			break;
		joint_of[i] = ts_state_map_find(&diffing->by_key, name->type, key);
		if (joint_of[i] == NONE) {
			joint_of[i] = (uint32_t)diffing->diff->n_names;
			r = add_name(diffing, name, key);
		}
		if (!r) {
			diffing->names[joint_of[i]].of[side] = i;
			diffing->diff->names[joint_of[i]].sides[side] = name->sums;
		}
	}
	return r;
}

/* Returns what one side has of a name; a side without the name has nothing of it. */
static const struct ts_diff_collected *of_side(const struct diffing *diffing, size_t name,
					       unsigned side)
{
	static const struct ts_diff_collected none;
	uint32_t i = diffing->names[name].of[side];

	return i == NONE ? &none : &diffing->sides[side].collection.names[i];
}

/* ---- what changed, by name ------------------------------------------------------------------- */

static double change_of(const struct ts_diff_name *name)
{
	double before = (double)name->sides[0].median_ns, after = (double)name->sides[1].median_ns;

	return before > 0 ? after / before - 1 : after > 0 ? 1 : 0;
}

static bool can_be_tested(const struct ts_diff_collected *const of[2])
{
	return of[0]->samples.n >= TS_DIFF_MIN_SAMPLES && of[1]->samples.n >= TS_DIFF_MIN_SAMPLES;
}

static bool has_config(const struct ts_diff_configs *configs, const struct ts_diff_config *config)
{
	for (unsigned i = 0; i < configs->n; i++)
		if (!memcmp(&configs->at[i], config, sizeof(*config)))
			return true;
	return false;
}

/*
 * For each side, finds the most frequent launch configuration that all runs of the side have and no
 * run of the other side has.
 */
static void judge_configs(const struct ts_diff *diff, const struct ts_diff_collected *const of[2],
			  struct ts_diff_name *ret_name)
{
	for (unsigned side = 0; side < 2; side++) {
		const struct ts_diff_configs *own = of[side]->configs, *other = of[!side]->configs;
		uint64_t most = 0;

		if (!own || !other || own->is_full || other->is_full)
			return;
		for (unsigned i = 0; i < own->n; i++) {
			if (own->counts[i] <= most || own->n_runs[i] < diff->totals[side].n_runs ||
			    has_config(other, &own->at[i]))
				continue;
			most = own->counts[i];
			ret_name->configs[side] = own->at[i];
			ret_name->has_config[side] = true;
		}
	}
}

/* Returns 1: slower, -1: faster, 0: no change is significant. */
static int judge_time(const struct diffing *diffing, const struct ts_diff_collected *const of[2],
		      const struct ts_diff_name *name)
{
	const struct ts_spread *before = &of[0]->extremes.medians,
			       *after = &of[1]->extremes.medians;
	bool is_of_host = name->type == TS_ROW_API || diffing->diff->has_host_clock;
	double change = change_of(name);
	int moved;

	if (name->p >= diffing->options->alpha)
		return 0;
	moved = is_of_host ? ts_spread_host_moved(before, after) : ts_spread_moved(before, after);
	return moved * change >= diffing->options->least ? moved : 0;
}

static void judge(const struct diffing *diffing, const struct ts_diff_collected *const of[2],
		  struct ts_diff_name *name, bool tested)
{
	const struct ts_diff_extremes *before = &of[0]->extremes, *after = &of[1]->extremes;
	int moved = tested ? judge_time(diffing, of, name) : 0;

	judge_configs(diffing->diff, of, name);
	if (!after->most_count && before->least_count)
		name->verdict = TS_DIFF_GONE;
	else if (!before->most_count && after->least_count)
		name->verdict = TS_DIFF_NEW;
	else if (moved)
		name->verdict = moved > 0 ? TS_DIFF_SLOWER : TS_DIFF_FASTER;
	else if (after->least_count > before->most_count)
		name->verdict = TS_DIFF_MORE;
	else if (after->most_count < before->least_count)
		name->verdict = TS_DIFF_FEWER;
	else if (name->has_config[0] || name->has_config[1])
		name->verdict = TS_DIFF_CONFIG;
	else
		name->verdict = tested ? TS_DIFF_SAME : TS_DIFF_FEW;
}

static void judge_overlap(struct ts_diff *diff)
{
	const struct ts_diff_total *before = &diff->totals[0], *after = &diff->totals[1];

	bool few = before->n_runs < TS_SPREAD_MIN_RUNS || after->n_runs < TS_SPREAD_MIN_RUNS;
	/*
	 * Compares overlap like a host time, because it depends on the times of the host's
	 * launches.
	 */
	int moved = ts_spread_host_moved(&before->overlap, &after->overlap);

	/*
	 * With clock=host, the overlap also depends on how the CPU schedules the virtual GPU's
	 * threads.
	 */
	if (diff->has_host_clock && few)
		return;
	diff->lost_overlap =
		moved < 0 && before->overlap.least - after->overlap.most >= TS_DIFF_OVERLAP;
	diff->gained_overlap =
		moved > 0 && after->overlap.least - before->overlap.most >= TS_DIFF_OVERLAP;
}

/* Sorts the samples of a name, and tests them if there are enough. */
static double test_name(struct ts_diff_name *name, const struct ts_diff_collected *const of[2],
			bool *ret_tested)
{
	for (unsigned side = 0; side < 2; side++)
		if (of[side]->samples.n)
			name->sides[side].median_ns = of[side]->samples.at[of[side]->samples.n / 2];
	name->p = 1;
	name->slower_share = 0.5;
	*ret_tested = can_be_tested(of);
	return *ret_tested ? ts_ranks_test(of[0]->samples.at, of[0]->samples.n, of[1]->samples.at,
					   of[1]->samples.n, &name->slower_share)
			   : 1;
}

static int judge_names(struct diffing *diffing)
{
	struct ts_diff *diff = diffing->diff;
	double *p = calloc(diff->n_names + 1, sizeof(*p));
	size_t n = 0;
	int r;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < diff->n_names; i++) {
		const struct ts_diff_collected *const of[2] = {of_side(diffing, i, 0),
							       of_side(diffing, i, 1)};
		bool tested;

		p[n] = test_name(&diff->names[i], of, &tested);
		n += tested;
	}
	r = ts_ranks_correct(p, n);
	n = 0;
	for (size_t i = 0; !r && i < diff->n_names; i++) {
		const struct ts_diff_collected *const of[2] = {of_side(diffing, i, 0),
							       of_side(diffing, i, 1)};
		bool tested = can_be_tested(of);

		if (tested)
			diff->names[i].p = p[n++];
		judge(diffing, of, &diff->names[i], tested);
	}
	free(p);
	return r;
}

/* ---- operation by operation ------------------------------------------------------------------ */

static const struct ts_diff_issued *op_of(const struct diffing *diffing, unsigned side, size_t i)
{
	const struct ts_diff_stream *stream = diffing->pair[side];

	return stream && i < stream->n ? &stream->ops[i] : NULL;
}

static uint64_t wait_before(const struct diffing *diffing, unsigned side, size_t i)
{
	const struct ts_diff_issued *op = op_of(diffing, side, i);
	const struct ts_diff_issued *before = i ? op_of(diffing, side, i - 1) : NULL;
	uint64_t end_ns = before ? before->start_ns + before->duration_ns : 0;

	return before && op->start_ns > end_ns ? op->start_ns - end_ns : 0;
}

static void describe(const struct diffing *diffing, size_t i, size_t j, struct ts_diff_op *ret_op)
{
	const size_t at[2] = {i, j};

	*ret_op = (struct ts_diff_op){0};
	for (unsigned side = 2; side-- > 0;) {
		const struct ts_diff_issued *op = op_of(diffing, side, at[side]);

		if (!op)
			continue;
		ret_op->name = diffing->sides[side].joint_of[op->name];
		ret_op->stream = diffing->pair[side]->stream;
		ret_op->session = diffing->pair[side]->session;
		ret_op->op_id[side] = op->op_id;
		ret_op->duration_ns[side] = op->duration_ns;
		ret_op->wait_ns[side] = wait_before(diffing, side, at[side]);
	}
}

/* As longer_by(), of two operations that are not described yet. */
static int64_t took_longer_by(const struct diffing *diffing, size_t i, size_t j)
{
	return (int64_t)(op_of(diffing, 1, j)->duration_ns + wait_before(diffing, 1, j)) -
	       (int64_t)(op_of(diffing, 0, i)->duration_ns + wait_before(diffing, 0, i));
}

static int64_t longer_by(const struct ts_diff_op *op)
{
	return (int64_t)(op->duration_ns[1] + op->wait_ns[1]) -
	       (int64_t)(op->duration_ns[0] + op->wait_ns[0]);
}

static void keep_slower(struct diffing *diffing, size_t i, size_t j)
{
	struct ts_diff *diff = diffing->diff;
	size_t at = diff->n_slower;
	struct ts_diff_op op;

	/* Most pairs are not described, because they are many. */
	if (took_longer_by(diffing, i, j) <= 0 || !diffing->options->max_slower)
		return;
	describe(diffing, i, j, &op);
	if (at == diffing->options->max_slower) {
		if (longer_by(&op) <= longer_by(&diff->slower[at - 1]))
			return;
		at--;
	} else {
		diff->n_slower++;
	}
	for (; at && longer_by(&op) > longer_by(&diff->slower[at - 1]); at--)
		diff->slower[at] = diff->slower[at - 1];
	diff->slower[at] = op;
}

/*
 * Keeps the earliest difference of all streams, by its operation's time in the first trace. If the
 * first trace has no such operation, uses the time in the second trace.
 */
static void keep_first(struct diffing *diffing, size_t i, size_t j)
{
	const struct ts_diff_issued *a = op_of(diffing, 0, i), *b = op_of(diffing, 1, j);
	uint64_t ns = a ? a->start_ns - diffing->sides[0].collection.first_ns
			: b->start_ns - diffing->sides[1].collection.first_ns;

	if (diffing->diff->has_first && ns >= diffing->first_ns)
		return;
	describe(diffing, i, j, &diffing->diff->first);
	diffing->diff->has_first = true;
	diffing->first_ns = ns;
}

static void on_step(void *data, enum ts_align_step step, size_t i, size_t n_a, size_t j, size_t n_b)
{
	struct diffing *diffing = data;
	struct ts_diff *diff = diffing->diff;

	if (step == TS_ALIGN_PAIR) {
		diff->n_aligned++;
		keep_slower(diffing, i, j);
		return;
	}
	keep_first(diffing, i, j);
	if (step == TS_ALIGN_ALONE) {
		diff->totals[0].n_alone += n_a;
		diff->totals[1].n_alone += n_b;
	} else {
		diff->totals[0].n_not_aligned += n_a;
		diff->totals[1].n_not_aligned += n_b;
	}
}

/* Writes the names of all operations, and for each stream its slice of them. */
static int describe_streams(const struct side *side, uint32_t **ret_names,
			    struct ts_counterparts_stream **ret_streams)
{
	const struct ts_diff_collection *collection = &side->collection;
	uint32_t *names = calloc(collection->n_ops + 1, sizeof(*names));

	*ret_names = names;
	*ret_streams = calloc(collection->n_streams + 1, sizeof(**ret_streams));
	if (!names || !*ret_streams)
		return -ENOMEM;
	for (size_t i = 0; i < collection->n_streams; i++) {
		const struct ts_diff_stream *stream = &collection->streams[i];

		for (size_t j = 0; j < stream->n; j++)
			names[j] = side->joint_of[stream->ops[j].name];
		(*ret_streams)[i] =
			(struct ts_counterparts_stream){stream->session_at, stream->first_op_id,
							names, stream->n};
		names += stream->n;
	}
	return 0;
}

static void align_pair(struct diffing *diffing, const struct ts_counterparts_stream *const of[2],
		       size_t a, size_t b)
{
	static const struct ts_counterparts_stream none;
	const struct ts_counterparts_stream *x = a != NONE ? &of[0][a] : &none;
	const struct ts_counterparts_stream *y = b != NONE ? &of[1][b] : &none;

	diffing->pair[0] = a != NONE ? &diffing->sides[0].collection.streams[a] : NULL;
	diffing->pair[1] = b != NONE ? &diffing->sides[1].collection.streams[b] : NULL;
	ts_align(x->names, x->n, y->names, y->n, &diffing->budget, on_step, diffing);
}

static int align_streams(struct diffing *diffing)
{
	size_t n_a = diffing->sides[0].collection.n_streams;
	size_t n_b = diffing->sides[1].collection.n_streams;
	ts_cleanup(ts_freep) uint32_t *of_a = calloc(n_a + 1, sizeof(*of_a));
	ts_cleanup(ts_freep) bool *has_counterpart = calloc(n_b + 1, sizeof(*has_counterpart));
	struct ts_counterparts_stream *streams[2] = {NULL, NULL};
	uint32_t *names[2] = {NULL, NULL};
	int r = of_a && has_counterpart ? 0 : -ENOMEM;

	for (unsigned side = 0; !r && side < 2; side++)
		r = describe_streams(&diffing->sides[side], &names[side], &streams[side]);
	r = r ? r : ts_counterparts(streams[0], n_a, streams[1], n_b, of_a);
	if (!r) {
		const struct ts_counterparts_stream *const of[2] = {streams[0], streams[1]};

		diffing->budget = ALIGN_BUDGET;
		for (size_t i = 0; i < n_a; i++) {
			align_pair(diffing, of, i, of_a[i]);
			if (of_a[i] != NONE)
				has_counterpart[of_a[i]] = true;
		}
		for (size_t i = 0; i < n_b; i++)
			if (!has_counterpart[i])
				align_pair(diffing, of, NONE, i);
	}
	for (unsigned side = 0; side < 2; side++) {
		free(streams[side]);
		free(names[side]);
	}
	return r;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static uint64_t total_change(const struct ts_diff *diff, const struct ts_diff_name *name)
{
	uint64_t a = ts_diff_of_run(name->sides[0].total_ns, diff->totals[0].n_runs);
	uint64_t b = ts_diff_of_run(name->sides[1].total_ns, diff->totals[1].n_runs);

	return a < b ? b - a : a - b;
}

/* Returns 0 for a changed name of device work, 1 for a changed call, 2 for an unchanged name. */
static unsigned group_of(const struct ts_diff_name *name)
{
	if (name->verdict == TS_DIFF_SAME || name->verdict == TS_DIFF_FEW)
		return 2;
	return name->type == TS_ROW_API;
}

struct sorted {
	struct ts_diff_name name;
	unsigned group;
	uint64_t change_ns;
	uint32_t before;
};

static int compare_names(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->change_ns != y->change_ns)
		return x->change_ns > y->change_ns ? -1 : 1;
	return x->before < y->before ? -1 : x->before > y->before;
}

/* Sorts the names, and updates the operations, which refer to names by index. */
static int sort_names(struct ts_diff *diff)
{
	struct sorted *sorted = calloc(diff->n_names + 1, sizeof(*sorted));
	uint32_t *after = calloc(diff->n_names + 1, sizeof(*after));

	if (!sorted || !after) {
		free(sorted);
		free(after);
		return -ENOMEM;
	}
	for (size_t i = 0; i < diff->n_names; i++)
		sorted[i] = (struct sorted){diff->names[i], group_of(&diff->names[i]),
					    total_change(diff, &diff->names[i]), (uint32_t)i};
	qsort(sorted, diff->n_names, sizeof(*sorted), compare_names);
	for (size_t i = 0; i < diff->n_names; i++) {
		diff->names[i] = sorted[i].name;
		after[sorted[i].before] = (uint32_t)i;
	}
	for (size_t i = 0; i < diff->n_slower; i++)
		diff->slower[i].name = after[diff->slower[i].name];
	if (diff->has_first)
		diff->first.name = after[diff->first.name];
	free(sorted);
	free(after);
	return 0;
}

/* True if no reader is of both sides, and enough rows pay for a second thread. */
static bool may_read_both(const struct ts_diff_runs runs[2])
{
	uint64_t n_rows = 0;

	for (size_t i = 0; i < runs[1].n; i++) {
		struct ts_sbt_reader *reader = runs[1].readers[i];

		for (size_t j = 0; j < runs[0].n; j++)
			if (runs[0].readers[j] == reader)
				return false;
		for (size_t j = 0; j < ts_sbt_reader_n_blocks(reader); j++)
			n_rows += ts_sbt_reader_block(reader, j)->n_rows;
	}
	return n_rows >= TS_SBT_THREADS_ROWS && ts_sbt_max_threads() > 1;
}

static void *collect(void *data)
{
	struct side *side = data;

	side->result = ts_diff_collect(side->runs, NULL, &side->collection, &side->run);
	return NULL;
}

/*
 * Each side has half of the threads. Only the caller's thread reports progress: that of the first
 * side as it reads it, and that of the second one at the end.
 */
static void lend(const struct ts_diff_runs runs[2])
{
	const unsigned n_threads = ts_sbt_max_threads() / 2;

	for (size_t i = 0; i < runs[0].n; i++)
		ts_sbt_reader_limit_threads(runs[0].readers[i], n_threads);
	for (size_t i = 0; i < runs[1].n; i++)
		ts_sbt_reader_lend(runs[1].readers[i], n_threads);
}

static void lend_end(const struct ts_diff_runs runs[2])
{
	for (size_t i = 0; i < runs[0].n; i++)
		ts_sbt_reader_limit_threads(runs[0].readers[i], 0);
	for (size_t i = 0; i < runs[1].n; i++)
		ts_sbt_reader_lend_end(runs[1].readers[i]);
}

/* Reads the sides, both at once if that pays. */
static int read_sides(struct diffing *diffing, const struct ts_diff_runs runs[2],
		      unsigned *ret_side, size_t *ret_run)
{
	struct side *sides = diffing->sides;
	bool is_thread = may_read_both(runs);
	pthread_t thread;

	if (is_thread) {
		lend(runs);
		is_thread = !ts_sbt_thread_start(&thread, collect, &sides[1]);
		if (!is_thread)
			lend_end(runs);
	}
	collect(&sides[0]);
	if (is_thread) {
		pthread_join(thread, NULL);
		lend_end(runs);
	} else if (!sides[0].result) {
		collect(&sides[1]);
	}
	*ret_side = !sides[0].result;
	*ret_run = sides[*ret_side].run;
	return sides[*ret_side].result;
}

static int join_sides(struct diffing *diffing)
{
	int r = 0;

	for (unsigned side = 0; !r && side < 2; side++) {
		diffing->diff->totals[side] = diffing->sides[side].collection.total;
		diffing->diff->has_host_clock |= diffing->sides[side].collection.has_host_clock;
		r = join_names(diffing, side);
	}
	return r;
}

int ts_diff_read(const struct ts_diff_runs runs[2], const struct ts_diff_options *options,
		 struct ts_diff **ret_diff, unsigned *ret_side, size_t *ret_run)
{
	ts_cleanup(ts_diff_freep) struct ts_diff *diff = calloc(1, sizeof(*diff));
	struct diffing diffing = {.diff = diff,
				  .options = options,
				  .sides = {{.runs = &runs[0]}, {.runs = &runs[1]}}};
	uint64_t seed = 0;
	int r = 0;

	*ret_side = 0;
	*ret_run = 0;
	if (!diff)
		return -ENOMEM;
	(void)getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
	ts_intern_init(&diffing.texts, seed);
	diff->slower = calloc(options->max_slower + 1, sizeof(*diff->slower));
	if (!diff->slower)
		r = -ENOMEM;
	r = r ? r : read_sides(&diffing, runs, ret_side, ret_run);
	r = r ? r : join_sides(&diffing);
	r = r ? r : align_streams(&diffing);
	r = r ? r : judge_names(&diffing);
	if (!r)
		judge_overlap(diff);
	/* Names are sorted last, because the arrays parallel to them are then gone. */
	diffing_deinit(&diffing);
	r = r ? r : sort_names(diff);
	if (!r)
		*ret_diff = ts_take_ptr(diff);
	return r;
}
