/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes CUPTI's activity records into ring records of the calling thread. recorder.c calls this
 * file when CUPTI delivers a buffer. This file calls ts_thread_reserve() and the definitions.
 *
 * Records of a library like CUPTI (family-records.c) are put into CUPTI's layout first.
 *
 * Records come in no order, on any thread, and their layout depends on CUPTI's version. Between
 * CUDA 11.0 and 13, records only grew at the end (proto/abi/vendor/cupti_activity.h). So one view
 * reads all versions if it touches no field beyond the version's own length.
 * cuptiActivityGetNextRecord() finds the next record. The decoder does not add sizes of its own,
 * because records of later versions may be longer.
 */
#include "inject/cuda/activity.h"
#include "inject/cuda/family-records.h"
#include "inject/cuda/pause.h"
#include "inject/cuda/renumber.h"
#include "inject/ring/ring-session.h"
#include "proto/abi/vendor/cupti_activity.h"

/* Maximum error of CUPTI's times on the shim's clock. */
#define TIME_ERROR_NS UINT64_C(1000000000)

/* Longest plausible row of a library like CUPTI. A longer one shows a wrong layout. */
#define LONGEST_NS (UINT64_C(3600) * 1000000000)

/* A buffer being decoded. */
struct decoder {
	struct ts_activity *activity;
	struct ts_thread *thread;
	/*
	 * Bounds of plausible times, on the clock of CUPTI's records. `ahead` is that clock minus
	 * CLOCK_MONOTONIC.
	 */
	uint64_t earliest, latest, ahead;
	uint64_t longest; /* plausible duration of a library like CUPTI */
	/*
	 * A kernel's record can be read as it is: in CUPTI's own layout, with all fields that the
	 * shim reads, and CUDA's devices have the numbers from 0.
	 */
	bool has_all;
	enum ts_clock clock;  /* of the records' times */
	uint64_t kernel_word; /* first word of a kernel's record */
};

/*
 * True if the record has a channel. Before CUDA 11.6, some layouts have padding in its place:
 * within the record's length, but garbage.
 */
static bool has_channel(const struct decoder *d)
{
	return d->activity->cupti->layout_version >= TS_CUPTI_API_VERSION_CUDA_11_6;
}

/*
 * Trap: CUPTI has returned times that are wrong by days, and ends before starts, when its
 * interpolation between the GPU's clock and the host's fails. One such row makes a timeline of a
 * minute unreadable. Times on the shim's clock lie between the session's start and now, within the
 * error of the interpolation.
 */
static void set_bounds(struct decoder *d)
{
	const struct ts_control *control = d->activity->producer->control;
	const struct ts_activity *activity = d->activity;

	d->clock = activity->cupti->clock;
	d->kernel_word =
		ts_record_word(TS_RECORD_KERNEL, sizeof(struct ts_record_kernel), d->clock);
	d->has_all = !activity->cupti->vendor->records && !activity->first_device &&
		     has_channel(d) &&
		     ts_cupti_record_has(ts_cupti_activity_kernel, cluster_z,
					 activity->n_bytes[TS_CUPTI_ACTIVITY_KIND_KERNEL]);
	d->earliest = 1; /* 0 is no time */
	d->latest = UINT64_MAX;
	d->longest = d->activity->cupti->vendor->records ? LONGEST_NS : UINT64_MAX;
	if (d->activity->cupti->clock != TS_CLOCK_MONOTONIC)
		return;
	if (control->start_monotonic_ns > TIME_ERROR_NS)
		d->earliest = control->start_monotonic_ns - TIME_ERROR_NS;
	d->latest = ts_clock_monotonic_ns() + TIME_ERROR_NS;
	d->ahead = d->activity->cupti->clock_ahead;
	d->earliest += d->ahead;
	d->latest += d->ahead;
}

/* Counts a row with unusable times. Returns false. */
static __attribute__((noinline)) bool count_bad_times(const struct decoder *d, uint64_t start,
						      uint64_t end)
{
	enum ts_loss_reason reason;

	/* Trap: if CUPTI's device buffers are full, its records have no times. */
	if (!start)
		reason = TS_LOSS_ZERO_TIMESTAMP;
	/* Trap: a forced flush delivers running work with end 0, and never delivers it again. */
	else if (!end)
		reason = TS_LOSS_UNFINISHED;
	else
		reason = TS_LOSS_BAD_TIME;
	ts_thread_count(d->thread, reason, 1);
	return false;
}

/* Checks the times of a row. If they are unusable, counts a loss and returns false. */
static inline bool times_are_good(const struct decoder *d, uint64_t start, uint64_t end)
{
	return ts_likely(start >= d->earliest && start <= end && end <= d->latest &&
			 (d->has_all || end - start <= d->longest)) ||
	       count_bad_times(d, start, end);
}

/* True if the call that caused the device row was recorded. */
static inline bool is_wanted_op(const struct decoder *d, uint64_t op_id)
{
	return !d->activity->pause || !ts_pause_drops(d->activity->pause, op_id);
}

static inline bool is_wanted(const struct decoder *d, uint32_t correlation_id)
{
	return is_wanted_op(d, ts_widen(d->activity->widen, correlation_id));
}

static inline __attribute__((always_inline)) void *reserve(const struct decoder *d,
							   enum ts_record_type type,
							   uint32_t n_bytes, uint64_t time)
{
	return ts_thread_reserve(d->thread, type, n_bytes, d->clock, time - d->ahead);
}

/*
 * Copies the fields that all versions have. `restrict`, so that the compiler copies neighbouring
 * fields at once.
 */
static inline void copy_kernel(struct ts_record_kernel *restrict out,
			       const struct ts_cupti_activity_kernel *restrict in)
{
	out->place.device = in->device_id;
	out->place.context = in->context_id;
	out->place.stream = in->stream_id;
	out->place.graph_node = in->graph_node_id;
	out->grid[0] = (uint32_t)in->grid_x;
	out->grid[1] = (uint32_t)in->grid_y;
	out->grid[2] = (uint32_t)in->grid_z;
	out->block[0] = (uint32_t)in->block_x;
	out->block[1] = (uint32_t)in->block_y;
	out->block[2] = (uint32_t)in->block_z;
	out->static_shared_bytes = (uint32_t)in->static_shared_memory;
	out->dynamic_shared_bytes = (uint32_t)in->dynamic_shared_memory;
	out->local_bytes_per_thread = in->local_memory_per_thread;
	out->registers_per_thread = in->registers_per_thread;
	out->launch_type = in->launch_type;
}

/* Copies the fields that later versions added. */
static inline void copy_kernel_additions(struct ts_record_kernel *restrict out,
					 const struct ts_cupti_activity_kernel *restrict in)
{
	out->place.graph = in->graph_id;
	out->channel = in->channel_id;
	out->channel_type = (uint8_t)in->channel_type;
	out->cluster[0] = in->cluster_x;
	out->cluster[1] = in->cluster_y;
	out->cluster[2] = in->cluster_z;
}

/* Copies the additions that the record has. */
static __attribute__((noinline)) void copy_kernel_additions_of(
	const struct decoder *d, struct ts_record_kernel *out,
	const struct ts_cupti_activity_kernel *in, size_t n_bytes)
{
	/* Padding before CUDA 11.1. */
	out->place.graph = d->activity->cupti->layout_version >= 14 ? in->graph_id : 0;
	out->channel = 0;
	out->channel_type = 0;
	out->cluster[0] = out->cluster[1] = out->cluster[2] = 0;
	if (has_channel(d)) {
		out->channel = in->channel_id;
		out->channel_type = (uint8_t)in->channel_type;
	}
	if (ts_cupti_record_has(ts_cupti_activity_kernel, cluster_z, n_bytes)) {
		out->cluster[0] = in->cluster_x;
		out->cluster[1] = in->cluster_y;
		out->cluster[2] = in->cluster_z;
	}
}

static inline __attribute__((always_inline)) void decode_kernel(
	const struct decoder *d, const struct ts_cupti_activity_kernel *in, size_t n_bytes)
{
	const uint64_t op_id = ts_widen(d->activity->widen, in->correlation_id);
	struct ts_record_kernel *out;
	uint32_t name;

	if (!is_wanted_op(d, op_id) || !times_are_good(d, in->start, in->end))
		return;
	/*
	 * Comes before the kernel's record, because a definition is published before records that
	 * refer to it.
	 */
	name = ts_definitions_string_in_pass(d->activity->producer->definitions,
					     &d->thread->strings, in->name);
	out = ts_thread_reserve_by_word(d->thread, d->kernel_word, sizeof(*out),
					in->start - d->ahead);
	if (!out)
		return;
	out->end = in->end - d->ahead;
	out->op_id = op_id;
	copy_kernel(out, in);
	if (ts_likely(d->has_all))
		copy_kernel_additions(out, in);
	else
		copy_kernel_additions_of(d, out, in, n_bytes);
	/* 0: CUPTI was not asked for these times. */
	out->queued = ts_unlikely(in->queued) ? in->queued - d->ahead : 0;
	out->submitted = ts_unlikely(in->submitted) ? in->submitted - d->ahead : 0;
	out->name = name;
	out->function = 0;
	ts_thread_commit(d->thread, sizeof(*out));
}

static void decode_memcpy(const struct decoder *d, const struct ts_cupti_activity_memcpy *in,
			  size_t n_bytes)
{
	struct ts_record_memcpy *out;
	bool from_host, to_host;

	if (!is_wanted(d, in->correlation_id) || !times_are_good(d, in->start, in->end))
		return;
	out = reserve(d, TS_RECORD_MEMCPY, sizeof(*out), in->start);
	if (!out)
		return;
	from_host = in->copy_kind == TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ||
		    in->copy_kind == TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOA ||
		    in->copy_kind == TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
	to_host = in->copy_kind == TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ||
		  in->copy_kind == TS_CUPTI_ACTIVITY_MEMCPY_KIND_ATOH ||
		  in->copy_kind == TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
	out->end = in->end - d->ahead;
	out->op_id = ts_widen(d->activity->widen, in->correlation_id);
	out->place = (struct ts_place){in->device_id, in->context_id, in->stream_id, 0,
				       in->graph_node_id};
	if (ts_cupti_record_has(ts_cupti_activity_memcpy, graph_id, n_bytes))
		out->place.graph = in->graph_id;
	out->bytes = in->bytes;
	out->copy_count = 1;
	if (ts_cupti_record_has(ts_cupti_activity_memcpy, copy_count, n_bytes) && in->copy_count)
		out->copy_count = in->copy_count;
	out->src_device = from_host ? TS_NO_DEVICE : in->device_id;
	out->dst_device = to_host ? TS_NO_DEVICE : in->device_id;
	out->copy_kind = in->copy_kind;
	out->src_kind = in->src_kind;
	out->dst_kind = in->dst_kind;
	out->async = in->flags & TS_CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC ? 1 : 0;
	out->channel = 0;
	if (has_channel(d))
		out->channel = in->channel_id;
	ts_thread_commit(d->thread, sizeof(*out));
}

static void decode_memcpy_ptop(const struct decoder *d,
			       const struct ts_cupti_activity_memcpy_ptop *in, size_t n_bytes)
{
	struct ts_record_memcpy *out;

	if (!is_wanted(d, in->correlation_id) || !times_are_good(d, in->start, in->end))
		return;
	out = reserve(d, TS_RECORD_MEMCPY, sizeof(*out), in->start);
	if (!out)
		return;
	out->end = in->end - d->ahead;
	out->op_id = ts_widen(d->activity->widen, in->correlation_id);
	out->place = (struct ts_place){in->device_id, in->context_id, in->stream_id, 0,
				       in->graph_node_id};
	if (ts_cupti_record_has(ts_cupti_activity_memcpy_ptop, graph_id, n_bytes))
		out->place.graph = in->graph_id;
	out->bytes = in->bytes;
	out->copy_count = 1;
	out->src_device = in->src_device_id;
	out->dst_device = in->dst_device_id;
	out->copy_kind = in->copy_kind;
	out->src_kind = in->src_kind;
	out->dst_kind = in->dst_kind;
	out->async = in->flags & TS_CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC ? 1 : 0;
	out->channel = 0;
	if (has_channel(d))
		out->channel = in->channel_id;
	ts_thread_commit(d->thread, sizeof(*out));
}

static void decode_memset(const struct decoder *d, const struct ts_cupti_activity_memset *in,
			  size_t n_bytes)
{
	struct ts_record_memset *out;

	if (!is_wanted(d, in->correlation_id) || !times_are_good(d, in->start, in->end))
		return;
	out = reserve(d, TS_RECORD_MEMSET, sizeof(*out), in->start);
	if (!out)
		return;
	out->end = in->end - d->ahead;
	out->op_id = ts_widen(d->activity->widen, in->correlation_id);
	out->place = (struct ts_place){in->device_id, in->context_id, in->stream_id, 0,
				       in->graph_node_id};
	if (ts_cupti_record_has(ts_cupti_activity_memset, graph_id, n_bytes))
		out->place.graph = in->graph_id;
	out->bytes = in->bytes;
	out->value = in->value;
	out->memory_kind = in->memory_kind;
	out->async = in->flags & TS_CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC ? 1 : 0;
	out->channel = 0;
	if (has_channel(d))
		out->channel = in->channel_id;
	out->reserved = 0;
	ts_thread_commit(d->thread, sizeof(*out));
}

static void decode_sync(const struct decoder *d, const struct ts_cupti_activity_synchronization *in,
			size_t n_bytes)
{
	struct ts_record_sync *out;

	if (!is_wanted(d, in->correlation_id) || !times_are_good(d, in->start, in->end))
		return;
	out = reserve(d, TS_RECORD_SYNC, sizeof(*out), in->start);
	if (!out)
		return;
	out->end = in->end - d->ahead;
	out->op_id = ts_widen(d->activity->widen, in->correlation_id);
	out->sync_type = in->type;
	out->context = in->context_id;
	out->stream = in->stream_id == TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE ? TS_NO_DEVICE
									      : in->stream_id;
	out->event =
		in->cuda_event_id == TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE ? 0 : in->cuda_event_id;
	out->result = 0;
	if (ts_cupti_record_has(ts_cupti_activity_synchronization, return_value, n_bytes))
		out->result = (int32_t)in->return_value;
	out->reserved = 0;
	ts_thread_commit(d->thread, sizeof(*out));
}

static void decode_memory(const struct decoder *d, const struct ts_cupti_activity_memory *in,
			  size_t n_bytes)
{
	bool is_release =
		in->memory_operation_type == TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
	struct ts_record_memory *out;

	if (!is_wanted(d, in->correlation_id) || !times_are_good(d, in->timestamp, in->timestamp))
		return;
	out = reserve(d, is_release ? TS_RECORD_FREE : TS_RECORD_ALLOC, sizeof(*out),
		      in->timestamp);
	if (!out)
		return;
	out->op_id = ts_widen(d->activity->widen, in->correlation_id);
	out->address = in->address;
	out->bytes = in->bytes;
	out->pool = in->memory_pool_config.memory_pool_type !=
				    TS_CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID
			    ? in->memory_pool_config.address
			    : 0;
	out->device = in->device_id;
	out->context = in->context_id;
	out->stream = in->is_async ? in->stream_id : TS_NO_DEVICE;
	out->memory_kind = (uint8_t)in->memory_kind;
	out->async = in->is_async ? 1 : 0;
	out->reserved = 0;
	out->pool_bytes = out->pool_used_bytes = 0;
	if (in->memory_pool_config.memory_pool_type == TS_CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
		out->pool_bytes = in->memory_pool_config.pool.size;
		if (ts_cupti_record_has(ts_cupti_activity_memory, memory_pool_config.utilized_size,
					n_bytes))
			out->pool_used_bytes = in->memory_pool_config.utilized_size;
	}
	ts_thread_commit(d->thread, sizeof(*out));
}

static void decode_overhead(const struct decoder *d, const struct ts_cupti_activity_overhead *in)
{
	struct ts_record_overhead *out;

	/*
	 * An overhead record is no device row. Without times it has no information, and no loss is
	 * counted.
	 */
	if (!in->start || !in->end || !times_are_good(d, in->start, in->end))
		return;
	out = reserve(d, TS_RECORD_OVERHEAD, sizeof(*out), in->start);
	if (!out)
		return;
	out->end = in->end - d->ahead;
	out->overhead_kind = in->overhead_kind;
	out->object_kind = in->object_kind;
	switch (in->object_kind) {
	case TS_CUPTI_ACTIVITY_OBJECT_PROCESS:
		out->object = in->object_id.pt.process_id;
		break;
	case TS_CUPTI_ACTIVITY_OBJECT_THREAD:
		out->object = in->object_id.pt.thread_id;
		break;
	case TS_CUPTI_ACTIVITY_OBJECT_DEVICE:
		out->object = in->object_id.dcs.device_id;
		break;
	case TS_CUPTI_ACTIVITY_OBJECT_CONTEXT:
		out->object = in->object_id.dcs.context_id;
		break;
	case TS_CUPTI_ACTIVITY_OBJECT_STREAM:
		out->object = in->object_id.dcs.stream_id;
		break;
	default:
		out->object = 0;
		break;
	}
	out->reserved = 0;
	ts_thread_commit(d->thread, sizeof(*out));
}

static void decode_device(const struct decoder *d, const struct ts_cupti_activity_device *in)
{
	struct ts_definition_device definition = {.definition.type = TS_DEF_DEVICE};
	const uint64_t bit = UINT64_C(1) << (in->id % 64);
	struct ts_definitions *definitions = d->activity->producer->definitions;

	/*
	 * CUPTI delivers a device record each time the kind is enabled; the definition is made
	 * once.
	 */
	if (in->id >= 64 * TS_ARRAY_LEN(d->activity->devices) ||
	    __atomic_fetch_or(&d->activity->devices[in->id / 64], bit, __ATOMIC_RELAXED) & bit)
		return;
	definition.definition.flags = ts_definitions_device_flags(in->name);
	definition.device = in->id;
	definition.name = ts_definitions_string_cached(definitions, &d->thread->strings, in->name);
	memcpy(definition.uuid, &in->uuid, sizeof(definition.uuid));
	definition.memory_bytes = in->global_memory_size;
	definition.memory_bandwidth_kb_per_s = in->global_memory_bandwidth;
	definition.compute_capability_major = in->compute_capability_major;
	definition.compute_capability_minor = in->compute_capability_minor;
	definition.n_multiprocessors = in->num_multiprocessors;
	definition.core_clock_khz = in->core_clock_rate;
	definition.n_copy_engines = in->num_memcpy_engines;
	definition.threads_per_warp = in->num_threads_per_warp;
	definition.max_warps_per_multiprocessor = in->max_warps_per_multiprocessor;
	definition.max_blocks_per_multiprocessor = in->max_blocks_per_multiprocessor;
	definition.max_shared_bytes_per_multiprocessor = in->max_shared_memory_per_multiprocessor;
	definition.max_registers_per_multiprocessor = in->max_registers_per_multiprocessor;
	definition.l2_cache_bytes = in->l2_cache_size;
	ts_definitions_add(definitions, &definition.definition, sizeof(definition));
}

/* Records a context or stream that no callback reported: it existed before recording began. */
static void decode_object(const struct decoder *d, enum ts_record_type type,
			  const struct ts_record_object *object)
{
	struct ts_record_object *out;

	if (!ts_id_set_add(d->activity->objects,
			   ts_activity_object(object->context, object->stream)))
		return;
	out = ts_thread_reserve(d->thread, type, sizeof(*out), d->activity->producer->clock,
				ts_producer_ticks(d->activity->producer));
	if (!out)
		return;
	memcpy((uint8_t *)out + sizeof(out->record), (const uint8_t *)object + sizeof(out->record),
	       sizeof(*out) - sizeof(out->record));
	ts_thread_commit(d->thread, sizeof(*out));
}

static void decode_context(const struct decoder *d, const struct ts_cupti_activity_context *in)
{
	const struct ts_record_object object = {
		.device = in->device_id,
		.context = in->context_id,
		.stream = TS_NO_DEVICE,
		.action = TS_OBJECT_SEEN,
	};

	decode_object(d, TS_RECORD_CONTEXT, &object);
}

static void decode_stream(const struct decoder *d, const struct ts_cupti_activity_stream *in)
{
	const struct ts_record_object object = {
		.device = TS_NO_DEVICE,
		.context = in->context_id,
		.stream = in->stream_id,
		.priority = (int32_t)in->priority,
		.object_flags = in->flag,
		.action = TS_OBJECT_SEEN,
	};

	decode_object(d, TS_RECORD_STREAM, &object);
}

/* A record in CUPTI's layout. */
struct plain {
	uint32_t kind;
	size_t n_bytes;
	const void *record;
	union {
		struct ts_cupti_activity_kernel kernel;
		struct ts_cupti_activity_memcpy memcpy;
		struct ts_cupti_activity_memset memset;
		struct ts_cupti_activity_memory memory;
	} space; /* for a record of another layout */
};

/* Gets a record in CUPTI's layout. Returns false for a kind that is not decoded. */
static bool get_plain(const struct decoder *d, const void *record, struct plain *ret)
{
	const struct ts_activity *activity = d->activity;

	if (ts_unlikely(activity->cupti->vendor->records != NULL)) {
		ret->record = ts_family_plain(activity->cupti->vendor, record, &ret->space,
					      sizeof(ret->space), &ret->kind, &ret->n_bytes);
		return ret->record != NULL;
	}
	ret->record = record;
	ret->kind = ((const struct ts_cupti_activity *)record)->kind;
	ret->n_bytes = ret->kind < TS_ACTIVITY_KINDS ? activity->n_bytes[ret->kind] : 0;
	return ret->n_bytes;
}

static inline bool is_kernel(uint32_t kind)
{
	return kind == TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	       kind == TS_CUPTI_ACTIVITY_KIND_KERNEL;
}

/* Decodes a record of n_bytes that is no kernel. */
static void decode_other(const struct decoder *d, uint32_t kind, const void *record, size_t n_bytes)
{
	switch (kind) {
	case TS_CUPTI_ACTIVITY_KIND_MEMCPY:
		decode_memcpy(d, record, n_bytes);
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMCPY2:
		decode_memcpy_ptop(d, record, n_bytes);
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMSET:
		decode_memset(d, record, n_bytes);
		break;
	case TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		decode_sync(d, record, n_bytes);
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMORY2:
		decode_memory(d, record, n_bytes);
		break;
	case TS_CUPTI_ACTIVITY_KIND_OVERHEAD:
		decode_overhead(d, record);
		break;
	case TS_CUPTI_ACTIVITY_KIND_DEVICE:
		decode_device(d, record);
		break;
	case TS_CUPTI_ACTIVITY_KIND_CONTEXT:
		decode_context(d, record);
		break;
	case TS_CUPTI_ACTIVITY_KIND_STREAM:
		decode_stream(d, record);
		break;
	default:
		break;
	}
}

void ts_activity_init(struct ts_activity *activity, const struct ts_cupti *cupti,
		      struct ts_producer *producer, struct ts_widen *widen,
		      struct ts_id_set *objects)
{
	uint32_t kind;

	memset(activity, 0, sizeof(*activity));
	activity->cupti = cupti;
	activity->producer = producer;
	activity->widen = widen;
	activity->objects = objects;
	for (kind = 0; kind < TS_ACTIVITY_KINDS; kind++)
		activity->n_bytes[kind] =
			(uint16_t)ts_cupti_record_bytes(kind, cupti->layout_version);
}

/*
 * Returns the next record, or NULL. Trap: after a forced flush, a buffer may hold an incomplete
 * record. CUPTI stops at this record, though more records may follow, and returns another error
 * than at the buffer's end. *ret_torn is true in that case.
 */
static inline __attribute__((always_inline)) void *next_record(const struct ts_activity *activity,
							       uint8_t *buffer, size_t valid_bytes,
							       void *record, bool *ret_torn)
{
	const struct ts_pti_vendor *vendor = activity->cupti->vendor;
	const void *previous = record;
	struct ts_cupti_activity *next = record;
	uint32_t result = activity->cupti->cuptiActivityGetNextRecord(buffer, valid_bytes, &next);

	record = next;
	if (result == TS_CUPTI_SUCCESS && ts_unlikely(vendor->records != NULL) &&
	    !ts_family_is_next(vendor, buffer, valid_bytes, previous, record))
		*ret_torn = true;
	else if (result == TS_CUPTI_SUCCESS)
		return record;
	else
		*ret_torn = result != vendor->limit_reached;
	return NULL;
}

/*
 * Finds the thread's shard. Without a shard, the record is counted as lost; for the next record, a
 * shard may be free again. False: there is none.
 */
static bool has_thread(struct decoder *d)
{
	if (ts_likely(d->thread != NULL))
		return true;
	d->thread = ts_producer_thread(d->activity->producer);
	if (!d->thread)
		return false;
	/* The names in a buffer's records do not change while CUPTI delivers the buffer. */
	ts_definitions_begin_pass(&d->thread->strings);
	return true;
}

/*
 * Decodes a record that is no kernel. Prepares a kernel of another layout, or with other numbers
 * than the trace's, and returns true.
 */
static __attribute__((noinline)) bool decode_unless_kernel(const struct decoder *d, void *record,
							   struct plain *ret_kernel)
{
	if (d->activity->first_device)
		ts_renumber(record, d->activity->first_device);
	if (!get_plain(d, record, ret_kernel)) {
		if (!ret_kernel->record && ret_kernel->kind)
			ts_thread_count(d->thread, TS_LOSS_BAD_RECORD, 1);
		return false;
	}
	if (is_kernel(ret_kernel->kind))
		return true;
	decode_other(d, ret_kernel->kind, ret_kernel->record, ret_kernel->n_bytes);
	return false;
}

void ts_activity_decode(struct ts_activity *activity, uint8_t *buffer, size_t valid_bytes)
{
	struct decoder d = {.activity = activity};
	struct plain plain = {.n_bytes = 0};
	void *record = NULL;
	bool torn = false;

	set_bounds(&d);
	while ((record = next_record(activity, buffer, valid_bytes, record, &torn))) {
		if (!has_thread(&d))
			continue;
		plain.record = record;
		/* Most records are kernels that can be read as they are. */
		if (ts_unlikely(!d.has_all ||
				!is_kernel(((const struct ts_cupti_activity *)record)->kind)) &&
		    !decode_unless_kernel(&d, record, &plain))
			continue;
		decode_kernel(&d, plain.record, plain.n_bytes);
	}
	if (torn)
		ts_session_count(activity->producer->control, TS_LOSS_BAD_RECORD, 1);
}

/*
 * True if the record is work of a recorded call. Records that describe devices, contexts or streams
 * are no loss.
 */
static bool is_wanted_work(const struct decoder *d, const void *record)
{
	struct plain plain;

	if (!get_plain(d, record, &plain))
		return false;
	record = plain.record;
	switch (plain.kind) {
	case TS_CUPTI_ACTIVITY_KIND_KERNEL:
	case TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return is_wanted(d,
				 ((const struct ts_cupti_activity_kernel *)record)->correlation_id);
	case TS_CUPTI_ACTIVITY_KIND_MEMCPY:
		return is_wanted(d,
				 ((const struct ts_cupti_activity_memcpy *)record)->correlation_id);
	case TS_CUPTI_ACTIVITY_KIND_MEMCPY2:
		return is_wanted(
			d, ((const struct ts_cupti_activity_memcpy_ptop *)record)->correlation_id);
	case TS_CUPTI_ACTIVITY_KIND_MEMSET:
		return is_wanted(d,
				 ((const struct ts_cupti_activity_memset *)record)->correlation_id);
	case TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return is_wanted(d, ((const struct ts_cupti_activity_synchronization *)record)
					    ->correlation_id);
	case TS_CUPTI_ACTIVITY_KIND_MEMORY2:
		return is_wanted(d,
				 ((const struct ts_cupti_activity_memory *)record)->correlation_id);
	default:
		return false;
	}
}

uint64_t ts_activity_count(struct ts_activity *activity, uint8_t *buffer, size_t valid_bytes)
{
	const struct decoder d = {.activity = activity};
	void *record = NULL;
	bool torn = false;
	uint64_t n = 0;

	while ((record = next_record(activity, buffer, valid_bytes, record, &torn)))
		n += is_wanted_work(&d, record);
	return n + torn;
}
