/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the runs of two builds, called the two sides: see diff.h. `tsctl diff` calls this file.
 * This file uses doubter.c for doubts, and align.c, counterparts.c, ranks.c and spread.c for the
 * comparison. It reads each trace once and collects durations by name and device operations by
 * stream. The comparison follows at the end.
 */
#include "replay/state/compare/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "proto/abi/grow.h"
#include "replay/state/compare/align.h"
#include "replay/state/compare/counterparts.h"
#include "replay/state/compare/doubter.h"
#include "replay/state/compare/ranks.h"
#include "replay/state/compare/spread.h"
#include "replay/state/state-clocks.h"
#include "replay/state/state-map.h"
#include "sbt/intern.h"

#define NONE	     TS_STATE_MAP_NONE
#define ALIGN_BUDGET (UINT64_C(1) << 28)
#define TYPES_OF_DEVICES \
	(TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET))

struct samples {
	uint64_t *at;
	uint32_t n, n_allocated;
};

#define MAX_CONFIGS 8u /* distinct configurations per kernel */

struct configs {
	struct ts_diff_config at[MAX_CONFIGS];
	uint64_t counts[MAX_CONFIGS];
	size_t n_runs[MAX_CONFIGS];   /* runs with this configuration */
	size_t last_run[MAX_CONFIGS]; /* the last of the runs with this configuration */
	unsigned n;
	bool is_full; /* there were more than MAX_CONFIGS configurations: no verdict possible */
};

/* The smallest and the largest count over the runs of a side. */
struct extremes {
	uint64_t least_count, most_count;
	struct ts_spread medians; /* spread of the medians of the runs that have the name */
};

struct name {
	struct samples samples[2]; /* of all finished runs */
	struct samples run;	   /* of the current run */
	uint64_t n_in_run;
	struct extremes extremes[2];
	struct configs *configs[2]; /* NULL: none */
};

#define MAX_DEVICES 64u

struct device {
	uint32_t session, device;
	uint64_t busy_until_ns;
};

struct op {
	uint64_t start_ns, duration_ns, op_id;
	uint32_t name;
	uint32_t stream; /* index */
};

struct stream {
	uint32_t session, stream; /* as in the trace */
	uint32_t session_at;	  /* number among sessions with operations */
	uint64_t first_op_id;	  /* smallest */
	size_t first, n;	  /* operations, after sorting by stream */
};

struct side {
	struct ts_state_map kernels; /* by string id */
	struct ts_state_map by_stream;
	struct ts_state_map by_session; /* number among sessions with operations */
	uint32_t n_sessions;
	struct stream *streams;
	size_t n_streams, n_streams_allocated;
	struct op *ops;
	size_t n_ops, n_ops_allocated;
	uint64_t first_ns; /* of the first run */
};

/* The current run while it is read. */
struct run {
	size_t at; /* number of the run in its side */
	uint64_t n_ops, first_ns, last_ns, ops_ns, busy_ns;
	struct device devices[MAX_DEVICES];
	unsigned n_devices;
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
	struct run run;
	/* Valid while two streams are aligned. */
	const struct stream *pair[2];
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
	for (size_t i = 0; diffing->names && i < diffing->diff->n_names; i++) {
		for (unsigned side = 0; side < 2; side++) {
			free(diffing->names[i].samples[side].at);
			free(diffing->names[i].configs[side]);
		}
		free(diffing->names[i].run.at);
	}
	free(diffing->names);
	ts_intern_deinit(&diffing->texts);
	ts_state_map_deinit(&diffing->by_key);
	for (unsigned i = 0; i < 2; i++) {
		struct side *side = &diffing->sides[i];

		ts_state_map_deinit(&side->kernels);
		ts_state_map_deinit(&side->by_stream);
		ts_state_map_deinit(&side->by_session);
		free(side->streams);
		free(side->ops);
	}
}

/* ---- names ----------------------------------------------------------------------------------- */

static int add_name(struct diffing *diffing, const struct ts_diff_name *what, uint32_t *ret_name)
{
	struct ts_diff *diff = diffing->diff;
	int r;

	if (diff->n_names == TS_DIFF_MAX_NAMES)
		return TS_E_DIFF_NAMES;
	r = TS_GROW(diff->names, diffing->n_names_allocated[0], diff->n_names + 1);
	r = r ? r : TS_GROW(diffing->names, diffing->n_names_allocated[1], diff->n_names + 1);
	if (r)
		return r;
	diffing->names[diff->n_names] = (struct name){0};
	diff->names[diff->n_names] = *what;
	*ret_name = (uint32_t)diff->n_names++;
	return 0;
}

static int find_key(struct diffing *diffing, uint32_t type, uint32_t kind, uint32_t size_class,
		    uint32_t *ret_name)
{
	const struct ts_diff_name what = {.type = type, .kind = kind, .size_class = size_class};
	uint64_t key = (uint64_t)size_class << 32 | kind;
	int r;

	*ret_name = ts_state_map_find(&diffing->by_key, type, key);
	if (*ret_name != NONE)
		return 0;
	r = add_name(diffing, &what, ret_name);
	return r ? r : ts_state_map_set(&diffing->by_key, type, key, *ret_name);
}

static int find_kernel(struct diffing *diffing, struct side *side, struct ts_sbt_reader *reader,
		       uint32_t string, uint32_t *ret_name)
{
	struct ts_diff_name what = {.type = TS_ROW_KERNEL};
	const char *text;
	size_t n_bytes = 0;
	uint32_t id;
	bool is_new;
	int r;

	*ret_name = ts_state_map_find(&side->kernels, 0, string);
	if (*ret_name != NONE)
		return 0;
	text = ts_sbt_reader_string(reader, string, &n_bytes);
	r = ts_intern(&diffing->texts, text ? text : "", text ? (uint32_t)n_bytes : 0, &id,
		      &is_new);
	if (r)
		return r == -EOVERFLOW ? TS_E_DIFF_NAMES : r;
	*ret_name = ts_state_map_find(&diffing->by_key, TS_ROW_KERNEL, id);
	if (*ret_name == NONE) {
		what.name = strdup(text ? text : "");
		if (!what.name)
			return -ENOMEM;
		r = add_name(diffing, &what, ret_name);
		if (r) {
			free((char *)(uintptr_t)what.name);
			return r;
		}
		r = ts_state_map_set(&diffing->by_key, TS_ROW_KERNEL, id, *ret_name);
	}
	return r ? r : ts_state_map_set(&side->kernels, 0, string, *ret_name);
}

static uint32_t size_class_of(uint64_t bytes)
{
	return bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0;
}

static int find_name(struct diffing *diffing, struct side *side, struct ts_sbt_reader *reader,
		     const struct ts_sbt_row *row, uint32_t *ret_name)
{
	switch (row->type) {
	case TS_ROW_KERNEL:
		return find_kernel(diffing, side, reader, row->kernel->name, ret_name);
	case TS_ROW_MEMCPY:
		return find_key(diffing, row->type, row->memcpy_->copy_kind,
				size_class_of(row->memcpy_->bytes), ret_name);
	case TS_ROW_MEMSET:
		return find_key(diffing, row->type, 0, size_class_of(row->memset_->bytes),
				ret_name);
	default:
		return find_key(diffing, row->type,
				(uint32_t)row->api->domain << 16 | row->api->cbid, 0, ret_name);
	}
}

/* Returns splitmix64(n) as a random number, so that equal traces give equal samples. */
static uint64_t random_of(uint64_t n)
{
	n = (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
	n = (n ^ n >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	n = (n ^ n >> 27) * UINT64_C(0x94D049BB133111EB);
	return n ^ n >> 31;
}

static int add_sample(struct samples *samples, uint64_t n_before, uint64_t value)
{
	uint64_t at = samples->n;

	if (samples->n == TS_DIFF_MAX_SAMPLES) {
		/* Reservoir sampling: each sample so far is kept with equal probability. */
		at = random_of(n_before) % (n_before + 1);
		if (at < TS_DIFF_MAX_SAMPLES)
			samples->at[at] = value;
		return 0;
	}
	if (TS_GROW(samples->at, samples->n_allocated, samples->n + 1))
		return -ENOMEM;
	samples->at[samples->n++] = value;
	return 0;
}

static int add_duration(struct diffing *diffing, unsigned side, uint32_t name, uint64_t ns)
{
	struct ts_diff_side *sums = &diffing->diff->names[name].sides[side];
	struct name *of = &diffing->names[name];
	int r = add_sample(&of->run, of->n_in_run, ns);

	if (r)
		return r;
	of->n_in_run++;
	sums->min_ns = !sums->count || ns < sums->min_ns ? ns : sums->min_ns;
	sums->max_ns = ns > sums->max_ns ? ns : sums->max_ns;
	sums->count++;
	if (__builtin_add_overflow(sums->total_ns, ns, &sums->total_ns))
		sums->total_ns = UINT64_MAX;
	return 0;
}

static int compare_values(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Ends a run for one name: adds the run's count to the side's extremes, and its samples to those of
 * the side's earlier runs.
 */
static int close_run_of(struct name *name, unsigned side, size_t run)
{
	struct extremes *extremes = &name->extremes[side];
	struct samples *all = &name->samples[side];
	uint64_t *more;

	extremes->least_count = !run || name->n_in_run < extremes->least_count
					? name->n_in_run
					: extremes->least_count;
	if (name->n_in_run > extremes->most_count)
		extremes->most_count = name->n_in_run;
	if (name->run.n) {
		qsort(name->run.at, name->run.n, sizeof(uint64_t), compare_values);
		ts_spread_add(&extremes->medians, (double)name->run.at[name->run.n / 2]);
	}
	if (!all->n) {
		struct samples none = *all;

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

static int add_config(struct diffing *diffing, unsigned side, uint32_t name,
		      const struct ts_row_kernel *kernel)
{
	const struct ts_diff_config config = {
		.grid = {kernel->grid_x, kernel->grid_y, kernel->grid_z},
		.block = {kernel->block_x, kernel->block_y, kernel->block_z},
		.cluster = {kernel->cluster_x, kernel->cluster_y, kernel->cluster_z},
		.dynamic_shared_bytes = kernel->dynamic_shared_bytes,
	};
	struct configs **configs = &diffing->names[name].configs[side];

	if (!*configs)
		*configs = calloc(1, sizeof(**configs));
	if (!*configs)
		return -ENOMEM;
	for (unsigned i = 0; i < (*configs)->n; i++) {
		if (memcmp(&(*configs)->at[i], &config, sizeof(config)))
			continue;
		(*configs)->counts[i]++;
		(*configs)->n_runs[i] += (*configs)->last_run[i] != diffing->run.at;
		(*configs)->last_run[i] = diffing->run.at;
		return 0;
	}
	if ((*configs)->n == MAX_CONFIGS) {
		(*configs)->is_full = true;
		return 0;
	}
	(*configs)->at[(*configs)->n] = config;
	(*configs)->n_runs[(*configs)->n] = 1;
	(*configs)->last_run[(*configs)->n] = diffing->run.at;
	(*configs)->counts[(*configs)->n++] = 1;
	return 0;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int find_session(struct side *side, uint32_t session, uint32_t *ret_at)
{
	*ret_at = ts_state_map_find(&side->by_session, session, 0);
	if (*ret_at != NONE)
		return 0;
	*ret_at = side->n_sessions++;
	return ts_state_map_set(&side->by_session, session, 0, *ret_at);
}

static int find_stream(struct side *side, uint32_t session, uint32_t context, uint32_t stream,
		       uint32_t *ret_stream)
{
	uint64_t key = (uint64_t)context << 32 | stream;
	struct stream made = {.session = session, .stream = stream, .first_op_id = UINT64_MAX};
	int r;

	*ret_stream = ts_state_map_find(&side->by_stream, session, key);
	if (*ret_stream != NONE)
		return 0;
	if (side->n_streams == TS_MAX_STREAMS)
		return TS_E_STREAMS;
	r = find_session(side, session, &made.session_at);
	r = r ? r : TS_GROW(side->streams, side->n_streams_allocated, side->n_streams + 1);
	if (r)
		return r;
	side->streams[side->n_streams] = made;
	*ret_stream = (uint32_t)side->n_streams++;
	return ts_state_map_set(&side->by_stream, session, key, *ret_stream);
}

static unsigned kind_of(uint32_t type)
{
	return type == TS_ROW_KERNEL ? 0 : type == TS_ROW_MEMCPY ? 1 : 2;
}

/*
 * Adds the time of an operation that no earlier operation of its device covers. Rows come ordered
 * by start, so the latest end so far of each device is enough.
 */
static void add_busy(struct run *run, uint32_t session, uint32_t device, uint64_t start_ns,
		     uint64_t end_ns)
{
	struct device *found = NULL;

	for (unsigned i = 0; !found && i < run->n_devices; i++)
		if (run->devices[i].session == session && run->devices[i].device == device)
			found = &run->devices[i];
	if (!found && run->n_devices < MAX_DEVICES) {
		found = &run->devices[run->n_devices++];
		*found = (struct device){session, device, 0};
	}
	if (!found) {
		run->busy_ns += end_ns - start_ns;
	} else if (end_ns > found->busy_until_ns) {
		run->busy_ns += end_ns -
				(start_ns > found->busy_until_ns ? start_ns : found->busy_until_ns);
		found->busy_until_ns = end_ns;
	}
}

static int add_op(struct diffing *diffing, unsigned at, const struct ts_sbt_row *row, uint32_t name,
		  uint64_t ns)
{
	/* The three row types share their first fields (sbt/schema.h). */
	const struct ts_row_kernel *common = row->kernel;
	struct ts_diff_total *total = &diffing->diff->totals[at];
	struct side *side = &diffing->sides[at];
	struct run *run = &diffing->run;
	struct op op = {.start_ns = common->start_ns,
			.duration_ns = ns,
			.op_id = common->op_id,
			.name = name};
	struct stream *stream;
	int r;

	run->first_ns = !run->n_ops++ ? op.start_ns : run->first_ns;
	if (op.start_ns + ns > run->last_ns)
		run->last_ns = op.start_ns + ns;
	run->ops_ns += ns;
	add_busy(run, row->session, common->device, op.start_ns, op.start_ns + ns);
	total->n_ops++;
	total->n_of[kind_of(row->type)]++;
	total->ns_of[kind_of(row->type)] += ns;
	if (run->at)
		return 0;
	side->first_ns = run->first_ns;
	if (side->n_ops == TS_DIFF_MAX_OPS) {
		total->n_not_aligned++;
		return 0;
	}
	r = find_stream(side, row->session, common->context, common->stream, &op.stream);
	r = r ? r : TS_GROW(side->ops, side->n_ops_allocated, side->n_ops + 1);
	if (r)
		return r;
	side->ops[side->n_ops++] = op;
	stream = &side->streams[op.stream];
	stream->n++;
	if (op.op_id < stream->first_op_id)
		stream->first_op_id = op.op_id;
	return 0;
}

static int take_row(struct diffing *diffing, unsigned at, struct ts_sbt_reader *reader,
		    const struct ts_sbt_row *row)
{
	uint64_t start_ns = ts_row_start_ns(row->any);
	uint64_t end_ns = ts_row_end_ns(row->schema, row->any);
	uint64_t ns = end_ns > start_ns ? end_ns - start_ns : 0;
	uint32_t name;
	int r = find_name(diffing, &diffing->sides[at], reader, row, &name);

	r = r ? r : add_duration(diffing, at, name, ns);
	if (!r && row->type == TS_ROW_KERNEL)
		r = add_config(diffing, at, name, row->kernel);
	if (!r && (TS_ROW_BIT(row->type) & TYPES_OF_DEVICES))
		r = add_op(diffing, at, row, name, ns);
	return r;
}

static int close_run(struct diffing *diffing, unsigned at, size_t i_run)
{
	struct ts_diff_total *total = &diffing->diff->totals[at];
	const struct run *run = &diffing->run;
	double overlap = run->ops_ns ? 1 - (double)run->busy_ns / (double)run->ops_ns : 0;
	int r = 0;

	if (__builtin_add_overflow(total->ops_ns, run->ops_ns, &total->ops_ns))
		total->ops_ns = UINT64_MAX;
	total->busy_ns += run->busy_ns;
	total->span_ns += run->last_ns - run->first_ns;
	ts_spread_add(&total->overlap, overlap);
	total->n_runs++;
	for (size_t i = 0; !r && i < diffing->diff->n_names; i++)
		r = close_run_of(&diffing->names[i], at, i_run);
	return r;
}

/* Begins a run. String ids are per file, so the map by string id starts empty for each run. */
static void open_run(struct diffing *diffing, unsigned at, size_t i_run)
{
	diffing->run = (struct run){.at = i_run};
	if (!i_run)
		return;
	ts_state_map_deinit(&diffing->sides[at].kernels);
	diffing->sides[at].kernels = (struct ts_state_map){0};
}

static int read_run(struct diffing *diffing, unsigned at, size_t i_run,
		    struct ts_sbt_reader *reader)
{
	const struct ts_sbt_cursor_options options = {.types = TYPES_OF_DEVICES |
							       TS_ROW_BIT(TS_ROW_API)};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	ts_cleanup(ts_doubter_freep) struct ts_doubter *doubter = NULL;
	struct ts_diff_total *total = &diffing->diff->totals[at];
	struct ts_sbt_row row;
	int r = ts_doubter_new(reader, &total->doubts, &doubter);

	open_run(diffing, at, i_run);
	diffing->diff->has_host_clock |= ts_clocks_are_hosts(reader);
	r = r ? r : ts_sbt_cursor_new(reader, &options, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT || r == TS_SBT_E_VERSION) {
			total->is_damaged = true;
			r = 0;
			continue;
		}
		r = r ? r : take_row(diffing, at, reader, &row);
		r = r ? r : ts_doubter_feed(doubter, &row);
	}
	if (r != TS_SBT_E_END)
		return r;
	r = ts_doubter_finish(doubter);
	return r ? r : close_run(diffing, at, i_run);
}

/* ---- what changed, by name ------------------------------------------------------------------- */

static double change_of(const struct ts_diff_name *name)
{
	double before = (double)name->sides[0].median_ns, after = (double)name->sides[1].median_ns;

	return before > 0 ? after / before - 1 : after > 0 ? 1 : 0;
}

static bool can_be_tested(const struct name *name)
{
	return name->samples[0].n >= TS_DIFF_MIN_SAMPLES &&
	       name->samples[1].n >= TS_DIFF_MIN_SAMPLES;
}

static bool has_config(const struct configs *configs, const struct ts_diff_config *config)
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
static void judge_configs(const struct ts_diff *diff, const struct name *name,
			  struct ts_diff_name *ret_name)
{
	for (unsigned side = 0; side < 2; side++) {
		const struct configs *own = name->configs[side], *other = name->configs[!side];
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
static int judge_time(const struct diffing *diffing, const struct name *of,
		      const struct ts_diff_name *name)
{
	const struct ts_spread *before = &of->extremes[0].medians,
			       *after = &of->extremes[1].medians;
	bool is_of_host = name->type == TS_ROW_API || diffing->diff->has_host_clock;
	double change = change_of(name);
	int moved;

	if (name->p >= diffing->options->alpha)
		return 0;
	moved = is_of_host ? ts_spread_host_moved(before, after) : ts_spread_moved(before, after);
	return moved * change >= diffing->options->least ? moved : 0;
}

static void judge(const struct diffing *diffing, const struct name *of, struct ts_diff_name *name,
		  bool tested)
{
	const struct extremes *before = &of->extremes[0], *after = &of->extremes[1];
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

static int judge_names(struct diffing *diffing)
{
	struct ts_diff *diff = diffing->diff;
	double *p = calloc(diff->n_names + 1, sizeof(*p));
	size_t n = 0;
	int r;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < diff->n_names; i++) {
		struct ts_diff_name *name = &diff->names[i];
		struct samples *samples = diffing->names[i].samples;

		for (unsigned side = 0; side < 2; side++) {
			if (!samples[side].n)
				continue;
			qsort(samples[side].at, samples[side].n, sizeof(uint64_t), compare_values);
			name->sides[side].median_ns = samples[side].at[samples[side].n / 2];
		}
		name->p = 1;
		name->slower_share = 0.5;
		if (can_be_tested(&diffing->names[i]))
			p[n++] = ts_ranks_test(samples[0].at, samples[0].n, samples[1].at,
					       samples[1].n, &name->slower_share);
	}
	r = ts_ranks_correct(p, n);
	n = 0;
	for (size_t i = 0; !r && i < diff->n_names; i++) {
		bool tested = can_be_tested(&diffing->names[i]);

		if (tested)
			diff->names[i].p = p[n++];
		judge(diffing, &diffing->names[i], &diff->names[i], tested);
	}
	free(p);
	return r;
}

/* ---- operation by operation ------------------------------------------------------------------ */

/* Sorts the operations by stream. Operations of one stream are in time order already. */
static int sort_ops(struct side *side)
{
	struct op *sorted = calloc(side->n_ops + 1, sizeof(*sorted));
	size_t first = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < side->n_streams; i++) {
		side->streams[i].first = first;
		first += side->streams[i].n;
		side->streams[i].n = 0;
	}
	for (size_t i = 0; i < side->n_ops; i++) {
		struct stream *stream = &side->streams[side->ops[i].stream];

		sorted[stream->first + stream->n++] = side->ops[i];
	}
	free(side->ops);
	side->ops = sorted;
	return 0;
}

static const struct op *op_of(const struct diffing *diffing, unsigned side, size_t i)
{
	const struct stream *stream = diffing->pair[side];

	return stream && i < stream->n ? &diffing->sides[side].ops[stream->first + i] : NULL;
}

static uint64_t wait_before(const struct diffing *diffing, unsigned side, size_t i)
{
	const struct op *op = op_of(diffing, side, i);
	const struct op *before = i ? op_of(diffing, side, i - 1) : NULL;
	uint64_t end_ns = before ? before->start_ns + before->duration_ns : 0;

	return before && op->start_ns > end_ns ? op->start_ns - end_ns : 0;
}

static void describe(const struct diffing *diffing, size_t i, size_t j, struct ts_diff_op *ret_op)
{
	const size_t at[2] = {i, j};

	*ret_op = (struct ts_diff_op){0};
	for (unsigned side = 2; side-- > 0;) {
		const struct op *op = op_of(diffing, side, at[side]);

		if (!op)
			continue;
		ret_op->name = op->name;
		ret_op->stream = diffing->pair[side]->stream;
		ret_op->session = diffing->pair[side]->session;
		ret_op->op_id[side] = op->op_id;
		ret_op->duration_ns[side] = op->duration_ns;
		ret_op->wait_ns[side] = wait_before(diffing, side, at[side]);
	}
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

	describe(diffing, i, j, &op);
	if (longer_by(&op) <= 0 || !diffing->options->max_slower)
		return;
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
	const struct op *a = op_of(diffing, 0, i), *b = op_of(diffing, 1, j);
	uint64_t ns = a ? a->start_ns - diffing->sides[0].first_ns
			: b->start_ns - diffing->sides[1].first_ns;

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
	*ret_names = calloc(side->n_ops + 1, sizeof(**ret_names));
	*ret_streams = calloc(side->n_streams + 1, sizeof(**ret_streams));
	if (!*ret_names || !*ret_streams)
		return -ENOMEM;
	for (size_t i = 0; i < side->n_ops; i++)
		(*ret_names)[i] = side->ops[i].name;
	for (size_t i = 0; i < side->n_streams; i++) {
		const struct stream *stream = &side->streams[i];

		(*ret_streams)[i] =
			(struct ts_counterparts_stream){stream->session_at, stream->first_op_id,
							*ret_names + stream->first, stream->n};
	}
	return 0;
}

static void align_pair(struct diffing *diffing, const struct ts_counterparts_stream *const of[2],
		       size_t a, size_t b)
{
	static const struct ts_counterparts_stream none;
	const struct ts_counterparts_stream *x = a != NONE ? &of[0][a] : &none;
	const struct ts_counterparts_stream *y = b != NONE ? &of[1][b] : &none;

	diffing->pair[0] = a != NONE ? &diffing->sides[0].streams[a] : NULL;
	diffing->pair[1] = b != NONE ? &diffing->sides[1].streams[b] : NULL;
	ts_align(x->names, x->n, y->names, y->n, &diffing->budget, on_step, diffing);
}

static int align_streams(struct diffing *diffing)
{
	size_t n_a = diffing->sides[0].n_streams, n_b = diffing->sides[1].n_streams;
	ts_cleanup(ts_freep) uint32_t *of_a = calloc(n_a + 1, sizeof(*of_a));
	ts_cleanup(ts_freep) bool *has_counterpart = calloc(n_b + 1, sizeof(*has_counterpart));
	struct ts_counterparts_stream *streams[2] = {NULL, NULL};
	uint32_t *names[2] = {NULL, NULL};
	int r = of_a && has_counterpart ? 0 : -ENOMEM;

	for (unsigned side = 0; !r && side < 2; side++) {
		r = sort_ops(&diffing->sides[side]);
		r = r ? r : describe_streams(&diffing->sides[side], &names[side], &streams[side]);
	}
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

int ts_diff_read(const struct ts_diff_runs runs[2], const struct ts_diff_options *options,
		 struct ts_diff **ret_diff, unsigned *ret_side, size_t *ret_run)
{
	ts_cleanup(ts_diff_freep) struct ts_diff *diff = calloc(1, sizeof(*diff));
	struct diffing diffing = {.diff = diff, .options = options};
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
	for (unsigned side = 0; !r && side < 2; side++) {
		*ret_side = side;
		for (size_t i = 0; !r && i < runs[side].n; i++) {
			*ret_run = i;
			r = read_run(&diffing, side, i, runs[side].readers[i]);
		}
	}
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
