/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the runs of one side: see diff-collect.h. diff.c calls this file, for both sides at once
 * if threads are permitted. This file uses doubter.c for doubts. It reads each trace once and
 * collects durations by name and device operations by stream.
 */
#include "replay/state/compare/diff-collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "proto/abi/grow.h"
#include "replay/state/compare/doubter.h"
#include "replay/state/state-clocks.h"

#define NONE TS_STATE_MAP_NONE
#define TYPES_OF_DEVICES \
	(TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET))

void ts_diff_collection_deinit(struct ts_diff_collection *collection)
{
	for (size_t i = 0; i < collection->n_names; i++) {
		struct ts_diff_collected *name = &collection->names[i];

		free(name->text);
		free(name->samples.at);
		free(name->run.at);
		free(name->configs);
	}
	for (size_t i = 0; i < collection->n_streams; i++)
		free(collection->streams[i].ops);
	free(collection->names);
	free(collection->streams);
	ts_intern_deinit(&collection->texts);
	ts_state_map_deinit(&collection->by_key);
	ts_state_map_deinit(&collection->kernels);
	ts_state_map_deinit(&collection->by_stream);
	ts_state_map_deinit(&collection->by_session);
}

/* ---- names ----------------------------------------------------------------------------------- */

static int add_name(struct ts_diff_collection *collection, const struct ts_diff_collected *what,
		    uint32_t *ret_name)
{
	if (collection->n_names == TS_DIFF_MAX_NAMES)
		return TS_E_DIFF_NAMES;
	if (TS_GROW(collection->names, collection->n_names_allocated, collection->n_names + 1))
		return -ENOMEM;
	collection->names[collection->n_names] = *what;
	*ret_name = (uint32_t)collection->n_names++;
	return 0;
}

static int find_key(struct ts_diff_collection *collection, uint32_t type, uint32_t kind,
		    uint32_t size_class, uint32_t *ret_name)
{
	const struct ts_diff_collected what = {.type = type,
					       .kind = kind,
					       .size_class = size_class};
	uint64_t key = (uint64_t)size_class << 32 | kind;
	int r;

	*ret_name = ts_state_map_find(&collection->by_key, type, key);
	if (*ret_name != NONE)
		return 0;
	r = add_name(collection, &what, ret_name);
	return r ? r : ts_state_map_set(&collection->by_key, type, key, *ret_name);
}

static char *copy_text(const char *text, size_t n_bytes)
{
	char *copy = malloc(n_bytes + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, n_bytes);
	copy[n_bytes] = 0;
	return copy;
}

static int find_kernel(struct ts_diff_collection *collection, struct ts_sbt_reader *reader,
		       uint32_t string, uint32_t *ret_name)
{
	struct ts_diff_collected what = {.type = TS_ROW_KERNEL};
	size_t n_bytes = 0;
	const char *text;
	uint32_t id;
	bool is_new;
	int r;

	*ret_name = ts_state_map_find(&collection->kernels, 0, string);
	if (*ret_name != NONE)
		return 0;
	text = ts_sbt_reader_string(reader, string, &n_bytes);
	what.text_bytes = text ? (uint32_t)n_bytes : 0;
	r = ts_intern(&collection->texts, text ? text : "", what.text_bytes, &id, &is_new);
	if (r)
		return r == -EOVERFLOW ? TS_E_DIFF_NAMES : r;
	*ret_name = ts_state_map_find(&collection->by_key, TS_ROW_KERNEL, id);
	if (*ret_name == NONE) {
		what.text = copy_text(text ? text : "", what.text_bytes);
		if (!what.text)
			return -ENOMEM;
		r = add_name(collection, &what, ret_name);
		if (r) {
			free(what.text);
			return r;
		}
		r = ts_state_map_set(&collection->by_key, TS_ROW_KERNEL, id, *ret_name);
	}
	return r ? r : ts_state_map_set(&collection->kernels, 0, string, *ret_name);
}

static uint32_t size_class_of(uint64_t bytes)
{
	return bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0;
}

static int find_name(struct ts_diff_collection *collection, struct ts_sbt_reader *reader,
		     const struct ts_sbt_row *row, uint32_t *ret_name)
{
	switch (row->type) {
	case TS_ROW_KERNEL:
		return find_kernel(collection, reader, row->kernel->name, ret_name);
	case TS_ROW_MEMCPY:
		return find_key(collection, row->type, row->memcpy_->copy_kind,
				size_class_of(row->memcpy_->bytes), ret_name);
	case TS_ROW_MEMSET:
		return find_key(collection, row->type, 0, size_class_of(row->memset_->bytes),
				ret_name);
	default:
		return find_key(collection, row->type,
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

static int add_sample(struct ts_diff_samples *samples, uint64_t n_before, uint64_t value)
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

static int add_duration(struct ts_diff_collected *name, uint64_t ns)
{
	struct ts_diff_side *sums = &name->sums;
	int r = add_sample(&name->run, name->n_in_run, ns);

	if (r)
		return r;
	name->n_in_run++;
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

static void sort_samples(struct ts_diff_samples *samples)
{
	if (samples->n)
		qsort(samples->at, samples->n, sizeof(*samples->at), compare_values);
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

static int add_config(struct ts_diff_collected *name, size_t run,
		      const struct ts_row_kernel *kernel)
{
	const struct ts_diff_config config = {
		.grid = {kernel->grid_x, kernel->grid_y, kernel->grid_z},
		.block = {kernel->block_x, kernel->block_y, kernel->block_z},
		.cluster = {kernel->cluster_x, kernel->cluster_y, kernel->cluster_z},
		.dynamic_shared_bytes = kernel->dynamic_shared_bytes,
	};
	struct ts_diff_configs *configs = name->configs;

	if (!configs)
		configs = name->configs = calloc(1, sizeof(*configs));
	if (!configs)
		return -ENOMEM;
	for (unsigned i = 0; i < configs->n; i++) {
		if (memcmp(&configs->at[i], &config, sizeof(config)))
			continue;
		configs->counts[i]++;
		configs->n_runs[i] += configs->last_run[i] != run;
		configs->last_run[i] = run;
		return 0;
	}
	if (configs->n == TS_DIFF_MAX_CONFIGS) {
		configs->is_full = true;
		return 0;
	}
	configs->at[configs->n] = config;
	configs->n_runs[configs->n] = 1;
	configs->last_run[configs->n] = run;
	configs->counts[configs->n++] = 1;
	return 0;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int find_session(struct ts_diff_collection *collection, uint32_t session, uint32_t *ret_at)
{
	*ret_at = ts_state_map_find(&collection->by_session, session, 0);
	if (*ret_at != NONE)
		return 0;
	*ret_at = collection->n_sessions++;
	return ts_state_map_set(&collection->by_session, session, 0, *ret_at);
}

static int find_stream(struct ts_diff_collection *collection, uint32_t session, uint32_t context,
		       uint32_t stream, uint32_t *ret_stream)
{
	uint64_t key = (uint64_t)context << 32 | stream;
	struct ts_diff_stream made = {.session = session,
				      .stream = stream,
				      .first_op_id = UINT64_MAX};
	int r;

	*ret_stream = ts_state_map_find(&collection->by_stream, session, key);
	if (*ret_stream != NONE)
		return 0;
	if (collection->n_streams == TS_MAX_STREAMS)
		return TS_E_STREAMS;
	r = find_session(collection, session, &made.session_at);
	r = r ? r
	      : TS_GROW(collection->streams, collection->n_streams_allocated,
			collection->n_streams + 1);
	if (r)
		return r;
	collection->streams[collection->n_streams] = made;
	*ret_stream = (uint32_t)collection->n_streams++;
	return ts_state_map_set(&collection->by_stream, session, key, *ret_stream);
}

static unsigned kind_of(uint32_t type)
{
	return type == TS_ROW_KERNEL ? 0 : type == TS_ROW_MEMCPY ? 1 : 2;
}

/*
 * Adds the time of an operation that no earlier operation of its device covers. Rows come ordered
 * by start, so the latest end so far of each device is enough.
 */
static void add_busy(struct ts_diff_run *run, uint32_t session, uint32_t device, uint64_t start_ns,
		     uint64_t end_ns)
{
	uint64_t *until_ns = NULL;

	for (unsigned i = 0; !until_ns && i < run->n_devices; i++)
		if (run->devices[i].session == session && run->devices[i].device == device)
			until_ns = &run->devices[i].busy_until_ns;
	if (!until_ns && run->n_devices < TS_DIFF_MAX_DEVICES) {
		run->devices[run->n_devices].session = session;
		run->devices[run->n_devices].device = device;
		until_ns = &run->devices[run->n_devices++].busy_until_ns;
	}
	if (!until_ns) {
		run->busy_ns += end_ns - start_ns;
	} else if (end_ns > *until_ns) {
		run->busy_ns += end_ns - (start_ns > *until_ns ? start_ns : *until_ns);
		*until_ns = end_ns;
	}
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
	struct ts_diff_stream *stream;
	uint32_t number;
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
	collection->first_ns = run->first_ns;
	if (collection->n_ops == TS_DIFF_MAX_OPS) {
		total->n_not_aligned++;
		return 0;
	}
	r = find_stream(collection, row->session, common->context, common->stream, &number);
	if (r)
		return r;
	stream = &collection->streams[number];
	if (TS_GROW(stream->ops, stream->n_allocated, stream->n + 1))
		return -ENOMEM;
	stream->ops[stream->n++] = op;
	collection->n_ops++;
	if (op.op_id < stream->first_op_id)
		stream->first_op_id = op.op_id;
	return 0;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int take_row(struct ts_diff_collection *collection, struct ts_sbt_reader *reader,
		    const struct ts_sbt_row *row)
{
	uint64_t start_ns = ts_row_start_ns(row->any);
	uint64_t end_ns = ts_row_end_ns(row->schema, row->any);
	uint64_t ns = end_ns > start_ns ? end_ns - start_ns : 0;
	uint32_t name;
	int r = find_name(collection, reader, row, &name);

	r = r ? r : add_duration(&collection->names[name], ns);
	if (!r && row->type == TS_ROW_KERNEL)
		r = add_config(&collection->names[name], collection->run.at, row->kernel);
	if (!r && (TS_ROW_BIT(row->type) & TYPES_OF_DEVICES))
		r = add_op(collection, row, name, ns);
	return r;
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

static int read_run(struct ts_diff_collection *collection, size_t i_run,
		    struct ts_sbt_reader *reader)
{
	const struct ts_sbt_cursor_options options = {.types = TYPES_OF_DEVICES |
							       TS_ROW_BIT(TS_ROW_API)};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	ts_cleanup(ts_doubter_freep) struct ts_doubter *doubter = NULL;
	struct ts_diff_total *total = &collection->total;
	struct ts_sbt_row row;
	int r = ts_doubter_new(reader, &total->doubts, &doubter);

	open_run(collection, i_run);
	collection->has_host_clock |= ts_clocks_are_hosts(reader);
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
	if (r != TS_SBT_E_END)
		return r;
	r = ts_doubter_finish(doubter);
	return r ? r : close_run(collection, i_run);
}

int ts_diff_collect(const struct ts_diff_runs *runs, struct ts_diff_collection *collection,
		    size_t *ret_run)
{
	uint64_t seed = 0;
	int r = 0;

	(void)getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
	ts_intern_init(&collection->texts, seed);
	*ret_run = 0;
	for (size_t i = 0; !r && i < runs->n; i++) {
		*ret_run = i;
		r = read_run(collection, i, runs->readers[i]);
	}
	/* The samples of one run are in order. */
	for (size_t i = 0; !r && runs->n > 1 && i < collection->n_names; i++)
		sort_samples(&collection->names[i].samples);
	return r;
}
