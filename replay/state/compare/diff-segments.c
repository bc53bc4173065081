/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a run in segments: see diff-segments.h. diff-collect.c calls this file; this file uses
 * segments/, and adds to a collection.
 *
 * Each segment has a part: its names in order of their first rows, all durations of each name, and
 * its operations in order of time. The caller's thread adds the parts to the collection in order.
 * Kernels of a part are known by the string of their name, because only the caller's thread reads
 * strings. Two strings of one text would mix their durations, so they end the reading in segments.
 */
#include "replay/state/compare/diff-segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"

#define NONE TS_STATE_MAP_NONE
/* Parts that are not joined need memory, so segments are short. */
#define MAX_ROWS (256u * 1024)
/* Busy intervals of a device that may overlap with operations of the segments before. */
#define N_FIRST 256u

struct name {
	struct ts_diff_key key;
	struct ts_diff_side sums;
	struct ts_diff_samples values; /* all */
	struct ts_diff_configs *configs;
};

struct stream {
	uint32_t session, context, stream;
	uint32_t to; /* number in the collection, once known */
};

struct op {
	uint64_t start_ns, duration_ns, op_id;
	uint32_t name, stream;
};

/* Times at which a device is busy. The intervals after the first ones are only summed up. */
struct device {
	uint32_t session, device;
	uint32_t n_first;
	bool has_rest;
	uint64_t rest_ns, until_ns;
	struct {
		uint64_t start_ns, end_ns;
	} first[N_FIRST];
};

struct part {
	const struct reading *reading;
	bool has_started;
	bool has_ops; /* operations are needed, not only their number */
	struct name *names;
	size_t n_names, n_names_allocated;
	struct ts_state_map by_key;
	struct stream *streams;
	size_t n_streams, n_streams_allocated;
	struct ts_state_map by_stream;
	struct op *ops;
	size_t n_ops, n_ops_allocated;
	struct device *devices;
	size_t n_devices, n_devices_allocated;
	struct ts_diff_run run;	    /* but for busy_ns */
	struct ts_diff_total total; /* n_of, ns_of and doubts */
};

struct reading {
	struct ts_diff_collection *collection;
	struct ts_sbt_reader *reader;
	bool is_changed;
	bool is_full; /* the collection needs no more operations */
};

/* ---- a segment ------------------------------------------------------------------------------- */

static int create_part(void *data, bool is_first, const struct ts_state_machine *machine,
		       void **ret_part)
{
	const struct reading *reading = data;
	struct part *part = calloc(1, sizeof(*part));

	if (!part)
		return -ENOMEM;
	part->reading = reading;
	part->has_started = is_first;
	part->has_ops = !__atomic_load_n(&reading->is_full, __ATOMIC_RELAXED);
	*ret_part = part;
	return 0;
}

static void free_part(void *data)
{
	struct part *part = data;

	for (size_t i = 0; i < part->n_names; i++) {
		free(part->names[i].values.at);
		free(part->names[i].configs);
	}
	free(part->names);
	free(part->streams);
	free(part->ops);
	free(part->devices);
	ts_state_map_deinit(&part->by_key);
	ts_state_map_deinit(&part->by_stream);
	free(part);
}

static void start_part(void *part, const struct ts_segments_counts *counts)
{
	((struct part *)part)->has_started = true;
}

static int find_name(struct part *part, const struct ts_diff_key *key, uint32_t *ret_name)
{
	const uint64_t number = (uint64_t)key->size_class << 32 | key->kind;
	uint32_t at = ts_state_map_find(&part->by_key, key->type, number);
	int r = 0;

	if (at == NONE) {
		at = (uint32_t)part->n_names;
		if (at == TS_DIFF_MAX_NAMES)
			return TS_E_DIFF_NAMES;
		if (TS_GROW(part->names, part->n_names_allocated, part->n_names + 1))
			return -ENOMEM;
		part->names[part->n_names++] = (struct name){.key = *key};
		r = ts_state_map_set(&part->by_key, key->type, number, at);
	}
	*ret_name = at;
	return r;
}

static int find_stream(struct part *part, uint32_t session, const struct ts_row_kernel *row,
		       uint32_t *ret_stream)
{
	const uint64_t key = (uint64_t)row->context << 32 | row->stream;
	uint32_t at = ts_state_map_find(&part->by_stream, session, key);
	int r = 0;

	if (at == NONE) {
		at = (uint32_t)part->n_streams;
		if (TS_GROW(part->streams, part->n_streams_allocated, part->n_streams + 1))
			return -ENOMEM;
		part->streams[part->n_streams++] =
			(struct stream){session, row->context, row->stream, NONE};
		r = ts_state_map_set(&part->by_stream, session, key, at);
	}
	*ret_stream = at;
	return r;
}

static int find_device(struct part *part, uint32_t session, uint32_t device,
		       struct device **ret_device)
{
	for (size_t i = 0; i < part->n_devices; i++) {
		*ret_device = &part->devices[i];
		if ((*ret_device)->session == session && (*ret_device)->device == device)
			return 0;
	}
	/* The collection does not know each one of so many devices. */
	if (part->n_devices == TS_DIFF_MAX_DEVICES)
		return TS_SEGMENTS_NONE;
	if (TS_GROW(part->devices, part->n_devices_allocated, part->n_devices + 1))
		return -ENOMEM;
	*ret_device = &part->devices[part->n_devices++];
	**ret_device = (struct device){.session = session, .device = device};
	return 0;
}

/* Adds an operation, which does not start before those that were added. */
static void add_busy(struct device *device, uint64_t start_ns, uint64_t end_ns)
{
	const bool is_new = !device->n_first || start_ns > device->until_ns;

	if (!is_new && end_ns <= device->until_ns)
		return;
	if (is_new && device->n_first < N_FIRST) {
		device->first[device->n_first].start_ns = start_ns;
		device->first[device->n_first++].end_ns = end_ns;
	} else if (is_new || device->has_rest) {
		device->has_rest = true;
		device->rest_ns += end_ns - (is_new ? start_ns : device->until_ns);
	} else {
		device->first[device->n_first - 1].end_ns = end_ns;
	}
	device->until_ns = end_ns;
}

static int add_op(struct part *part, const struct ts_sbt_row *row, uint32_t name, uint64_t ns)
{
	const struct ts_row_kernel *common = row->kernel; /* as in diff-collect.c */
	struct op op = {common->start_ns, ns, common->op_id, name, 0};
	struct device *device;
	int r = find_device(part, row->session, common->device, &device);

	if (r)
		return r;
	add_busy(device, op.start_ns, op.start_ns + ns);
	ts_diff_sum_op(&part->run, &part->total, row->type, op.start_ns, ns);
	if (!part->has_ops)
		return 0;
	r = find_stream(part, row->session, common, &op.stream);
	if (!r && TS_GROW(part->ops, part->n_ops_allocated, part->n_ops + 1))
		r = -ENOMEM;
	if (!r)
		part->ops[part->n_ops++] = op;
	return r;
}

static int take_row(void *data, const struct ts_sbt_row *row)
{
	struct part *part = data;
	struct ts_diff_config config;
	struct ts_diff_key key;
	struct name *name;
	uint64_t ns;
	uint32_t at;
	int r;

	if (!part->has_started)
		return 0;
	ns = ts_diff_duration(row);
	key = ts_diff_key_of(row);
	r = find_name(part, &key, &at);
	if (r)
		return r;
	name = &part->names[at];
	if (TS_GROW(name->values.at, name->values.n_allocated, name->values.n + 1))
		return -ENOMEM;
	name->values.at[name->values.n++] = ns;
	ts_diff_sum(&name->sums, ns);
	if (row->type == TS_ROW_KERNEL) {
		config = ts_diff_config_of(row->kernel);
		r = ts_diff_add_config(&name->configs, 0, &config, 1);
	}
	return r || row->type == TS_ROW_API ? r : add_op(part, row, at, ns);
}

static int take_op(void *data, const struct ts_state_op *op)
{
	struct part *part = data;

	if (part->has_started)
		ts_doubts_add(&part->total.doubts, op);
	return 0;
}

/* ---- joining --------------------------------------------------------------------------------- */

static int join_name(struct reading *reading, const struct name *name, uint32_t *ret_at)
{
	struct ts_diff_collection *collection = reading->collection;
	struct ts_diff_collected *to;
	int r = ts_diff_find_name(collection, reading->reader, &name->key, ret_at);

	if (r)
		return r;
	to = &collection->names[*ret_at];
	if (to->segment == collection->n_segments)
		return TS_SEGMENTS_NONE;
	to->segment = collection->n_segments;
	ts_diff_join_sums(&to->sums, &name->sums);
	r = ts_diff_add_values(to, name->values.at, name->values.n);
	for (unsigned i = 0; !r && name->configs && i < name->configs->n; i++)
		r = ts_diff_add_config(&to->configs, collection->run.at, &name->configs->at[i],
				       name->configs->counts[i]);
	if (!r && name->configs && name->configs->is_full)
		to->configs->is_full = true;
	return r;
}

/* Joins the names. *ret_joint_of maps their numbers to those of the collection. */
static int join_names(struct reading *reading, const struct part *part, uint32_t **ret_joint_of)
{
	uint32_t *joint_of = calloc(part->n_names + 1, sizeof(*joint_of));
	int r = joint_of ? 0 : -ENOMEM;

	reading->collection->n_segments++;
	for (size_t i = 0; !r && i < part->n_names; i++)
		r = join_name(reading, &part->names[i], &joint_of[i]);
	*ret_joint_of = joint_of;
	return r;
}

static int join_device(struct ts_diff_run *run, const struct device *device)
{
	uint64_t *until_ns = ts_diff_busy_until(run, device->session, device->device);

	if (!until_ns)
		return TS_SEGMENTS_NONE;
	if (device->has_rest && *until_ns > device->first[N_FIRST - 1].end_ns)
		return TS_SEGMENTS_NONE;
	for (uint32_t i = 0; i < device->n_first; i++)
		ts_diff_add_busy(run, until_ns, device->first[i].start_ns, device->first[i].end_ns);
	run->busy_ns += device->rest_ns;
	if (device->until_ns > *until_ns)
		*until_ns = device->until_ns;
	return 0;
}

static int join_ops(struct ts_diff_collection *collection, struct part *part,
		    const uint32_t *joint_of)
{
	int r = 0;
	size_t i;

	for (i = 0; !r && i < part->n_ops && collection->n_ops < TS_DIFF_MAX_OPS; i++) {
		const struct op *op = &part->ops[i];
		struct stream *stream = &part->streams[op->stream];
		const struct ts_diff_issued issued = {op->start_ns, op->duration_ns, op->op_id,
						      joint_of[op->name]};

		if (stream->to == NONE)
			r = ts_diff_find_stream(collection, stream->session, stream->context,
						stream->stream, &stream->to);
		r = r ? r : ts_diff_add_op(collection, stream->to, &issued);
	}
	collection->total.n_not_aligned += part->run.n_ops - i;
	return r;
}

static void join_totals(struct ts_diff_collection *collection, const struct part *part,
			const struct ts_segments_counts *counts)
{
	struct ts_diff_total *total = &collection->total;
	struct ts_diff_run *run = &collection->run;

	if (!run->n_ops)
		run->first_ns = part->run.first_ns;
	run->n_ops += part->run.n_ops;
	if (part->run.last_ns > run->last_ns)
		run->last_ns = part->run.last_ns;
	run->ops_ns += part->run.ops_ns;
	total->n_ops += part->run.n_ops;
	for (unsigned kind = 0; kind < TS_ARRAY_LEN(total->n_of); kind++) {
		total->n_of[kind] += part->total.n_of[kind];
		total->ns_of[kind] += part->total.ns_of[kind];
	}
	ts_doubts_join(&total->doubts, &part->total.doubts);
	total->doubts.n_unanswered += (uint64_t)counts->n_unanswered;
	total->doubts.n_twice += counts->n_twice;
}

static int join_part(void *data, void *consumer, const struct ts_segments_counts *counts)
{
	struct reading *reading = data;
	struct ts_diff_collection *collection = reading->collection;
	ts_cleanup(ts_freep) uint32_t *joint_of = NULL;
	struct part *part = consumer;
	int r;

	reading->is_changed = true;
	r = join_names(reading, part, &joint_of);
	for (size_t i = 0; !r && i < part->n_devices; i++)
		r = join_device(&collection->run, &part->devices[i]);
	if (r)
		return r;
	join_totals(collection, part, counts);
	if (collection->run.at)
		return 0;
	collection->first_ns = collection->run.first_ns;
	r = join_ops(collection, part, joint_of);
	if (collection->n_ops == TS_DIFF_MAX_OPS)
		__atomic_store_n(&reading->is_full, true, __ATOMIC_RELAXED);
	return r;
}

int ts_diff_collect_segments(struct ts_diff_collection *collection, struct ts_sbt_reader *reader,
			     const struct ts_segments_options *sizes, bool *ret_is_changed)
{
	static const struct ts_segments_consumer consumer = {
		.create = create_part,
		.row = take_row,
		.take = take_op,
		.start = start_part,
		.join = join_part,
		.free = free_part,
	};
	const struct ts_segments_options options = {.rows = TS_DIFF_ROWS,
						    .max_rows = MAX_ROWS,
						    .n_rows = sizes ? sizes->n_rows : 0,
						    .n_warm_rows = sizes ? sizes->n_warm_rows : 0};
	struct reading reading = {.collection = collection,
				  .reader = reader,
				  .is_full = collection->run.at != 0};
	int r = ts_segments_read(reader, &options, &consumer, &reading);

	*ret_is_changed = r && reading.is_changed;
	return r;
}
