/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names, durations and operations of one side of a comparison: see diff-collection.h.
 * diff-collect.c and diff-segments.c add to a collection; this file reads the texts of names.
 */
#include "replay/state/compare/diff-collection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"

#define NONE TS_STATE_MAP_NONE

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

static int find_key(struct ts_diff_collection *collection, const struct ts_diff_key *key,
		    uint32_t *ret_name)
{
	const struct ts_diff_collected what = {.type = key->type,
					       .kind = key->kind,
					       .size_class = key->size_class};
	uint64_t number = (uint64_t)key->size_class << 32 | key->kind;
	int r;

	*ret_name = ts_state_map_find(&collection->by_key, key->type, number);
	if (*ret_name != NONE)
		return 0;
	r = add_name(collection, &what, ret_name);
	return r ? r : ts_state_map_set(&collection->by_key, key->type, number, *ret_name);
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

struct ts_diff_key ts_diff_key_of(const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_KERNEL:
		return (struct ts_diff_key){row->type, row->kernel->name, 0};
	case TS_ROW_MEMCPY:
		return (struct ts_diff_key){row->type, row->memcpy_->copy_kind,
					    size_class_of(row->memcpy_->bytes)};
	case TS_ROW_MEMSET:
		return (struct ts_diff_key){row->type, 0, size_class_of(row->memset_->bytes)};
	default:
		return (struct ts_diff_key){row->type,
					    (uint32_t)row->api->domain << 16 | row->api->cbid, 0};
	}
}

int ts_diff_find_name(struct ts_diff_collection *collection, struct ts_sbt_reader *reader,
		      const struct ts_diff_key *key, uint32_t *ret_name)
{
	if (key->type == TS_ROW_KERNEL)
		return find_kernel(collection, reader, key->kind, ret_name);
	return find_key(collection, key, ret_name);
}

/* Returns splitmix64(n) as a random number, so that equal traces give equal samples. */
static uint64_t random_of(uint64_t n)
{
	n = (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
	n = (n ^ n >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	n = (n ^ n >> 27) * UINT64_C(0x94D049BB133111EB);
	return n ^ n >> 31;
}

int ts_diff_add_values(struct ts_diff_collected *name, const uint64_t *ns, size_t n)
{
	struct ts_diff_samples *samples = &name->run;
	size_t n_kept = TS_DIFF_MAX_SAMPLES - samples->n;

	if (n < n_kept)
		n_kept = n;
	if (TS_GROW(samples->at, samples->n_allocated, samples->n + n_kept))
		return -ENOMEM;
	for (size_t i = 0; i < n_kept; i++)
		samples->at[samples->n++] = ns[i];
	/* Reservoir sampling: each sample so far is kept with equal probability. */
	for (size_t i = n_kept; i < n; i++) {
		const uint64_t n_before = name->n_in_run + i;
		const uint64_t at = random_of(n_before) % (n_before + 1);

		if (at < TS_DIFF_MAX_SAMPLES)
			samples->at[at] = ns[i];
	}
	name->n_in_run += n;
	return 0;
}

struct ts_diff_config ts_diff_config_of(const struct ts_row_kernel *kernel)
{
	return (struct ts_diff_config){
		.grid = {kernel->grid_x, kernel->grid_y, kernel->grid_z},
		.block = {kernel->block_x, kernel->block_y, kernel->block_z},
		.cluster = {kernel->cluster_x, kernel->cluster_y, kernel->cluster_z},
		.dynamic_shared_bytes = kernel->dynamic_shared_bytes,
	};
}

int ts_diff_add_config(struct ts_diff_configs **of, size_t run, const struct ts_diff_config *config,
		       uint64_t count)
{
	struct ts_diff_configs *configs = *of;

	if (!configs)
		configs = *of = calloc(1, sizeof(*configs));
	if (!configs)
		return -ENOMEM;
	for (unsigned i = 0; i < configs->n; i++) {
		if (memcmp(&configs->at[i], config, sizeof(*config)))
			continue;
		configs->counts[i] += count;
		configs->n_runs[i] += configs->last_run[i] != run;
		configs->last_run[i] = run;
		return 0;
	}
	if (configs->n == TS_DIFF_MAX_CONFIGS) {
		configs->is_full = true;
		return 0;
	}
	configs->at[configs->n] = *config;
	configs->n_runs[configs->n] = 1;
	configs->last_run[configs->n] = run;
	configs->counts[configs->n++] = count;
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

int ts_diff_find_stream(struct ts_diff_collection *collection, uint32_t session, uint32_t context,
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

uint64_t *ts_diff_busy_until(struct ts_diff_run *run, uint32_t session, uint32_t device)
{
	for (unsigned i = 0; i < run->n_devices; i++)
		if (run->devices[i].session == session && run->devices[i].device == device)
			return &run->devices[i].busy_until_ns;
	if (run->n_devices == TS_DIFF_MAX_DEVICES)
		return NULL;
	run->devices[run->n_devices].session = session;
	run->devices[run->n_devices].device = device;
	return &run->devices[run->n_devices++].busy_until_ns;
}

int ts_diff_add_op(struct ts_diff_collection *collection, uint32_t number,
		   const struct ts_diff_issued *op)
{
	struct ts_diff_stream *stream = &collection->streams[number];

	if (TS_GROW(stream->ops, stream->n_allocated, stream->n + 1))
		return -ENOMEM;
	stream->ops[stream->n++] = *op;
	collection->n_ops++;
	if (op->op_id < stream->first_op_id)
		stream->first_op_id = op->op_id;
	return 0;
}
