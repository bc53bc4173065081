/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: creation, queued work and waits. The stream facade, graph launches and replay/exec/vgpu
 * call this file; worker.c runs the operations.
 *
 * A stream is a queue of operations. The worker dispatches the head when the times of its
 * dependencies are known. An operation passes three states:
 *
 *     queued --dispatched--> in flight --the clock passes its end--> retired
 *
 * In flight means that the operation has run and its end is known. The observer receives an
 * operation before the operation retires. The host sees completion at retirement, so after a wait
 * everything is reported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/abi/grow.h"
#include "replay/vgpu/vgpu-internal.h"

/* The last part of a call's time is a busy wait, not a sleep. */
#define SPIN_NS 100000u
/*
 * A thread that waits for a full stream continues when this many operations fit, not after each
 * one.
 */
#define PENDING_SPARE 64
/*
 * Pageable memory up to this size is copied to staging memory. For a larger copy, the caller waits.
 */
#define STAGING_BYTES (64u << 10)

/* Clamps a priority and sets has_priorities if it is above the least. */
static int take_priority(struct ts_vgpu_device *device, int priority)
{
	if (priority > TS_VGPU_PRIORITY_LEAST)
		priority = TS_VGPU_PRIORITY_LEAST;
	if (priority < TS_VGPU_PRIORITY_GREATEST)
		priority = TS_VGPU_PRIORITY_GREATEST;
	if (priority != TS_VGPU_PRIORITY_LEAST)
		device->has_priorities = true;
	return priority;
}

int ts_vgpu_stream_new(struct ts_vgpu_context *context, uint32_t flags, int priority,
		       struct ts_vgpu_stream **ret_stream)
{
	struct ts_vgpu *vgpu = context->device->vgpu;
	struct ts_vgpu_stream *stream = calloc(1, sizeof(*stream));
	int r;

	if (!stream)
		return -ENOMEM;
	r = ts_vgpu_cond_init(&stream->cond);
	if (r) {
		free(stream);
		return r;
	}
	stream->context = context;
	stream->device = context->device;
	stream->flags = flags;
	stream->kind = ts_stream_created(flags);
	stream->refs = 1;
	stream->owned = true;
	ts_vgpu_lock(vgpu);
	r = TS_GROW(stream->device->heap, stream->device->heap_capacity,
		    stream->device->n_streams + 1);
	if (r) {
		ts_vgpu_unlock(vgpu);
		pthread_cond_destroy(&stream->cond);
		free(stream);
		return r;
	}
	stream->device->n_streams++;
	stream->priority = take_priority(stream->device, priority);
	stream->id = vgpu->next_stream_id++;
	if (stream->id == TS_VGPU_FIRST_STREAM_ID)
		vgpu->next_stream_id = TS_VGPU_SECOND_STREAM_ID;
	stream->next = context->streams;
	stream->prev = &context->streams;
	if (stream->next)
		stream->next->prev = &stream->next;
	context->streams = stream;
	ts_vgpu_unlock(vgpu);
	*ret_stream = stream;
	return 0;
}

void ts_vgpu_stream_free(struct ts_vgpu_stream *stream)
{
	struct ts_vgpu *vgpu;

	if (!stream)
		return;
	vgpu = stream->device->vgpu;
	ts_vgpu_lock(vgpu);
	stream->owned = false;
	ts_vgpu_stream_unref(stream);
	ts_vgpu_unlock(vgpu);
}

uint32_t ts_vgpu_stream_id(const struct ts_vgpu_stream *stream)
{
	return stream->id;
}

uint32_t ts_vgpu_stream_flags(const struct ts_vgpu_stream *stream)
{
	return stream->flags;
}

int ts_vgpu_stream_priority(const struct ts_vgpu_stream *stream)
{
	return stream->priority;
}

struct ts_vgpu_context *ts_vgpu_stream_context(const struct ts_vgpu_stream *stream)
{
	return stream->context;
}

int ts_vgpu_stream_wait_seq(struct ts_vgpu_stream *stream, uint64_t seq)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	int r = 0;

	if (stream->n_retired >= seq)
		return 0;
	stream->refs++;
	stream->n_waiters++;
	ts_vgpu_worker_kick(stream->device);
	while (stream->n_retired < seq && !vgpu->stopping)
		if (vgpu->without_workers)
			ts_vgpu_work(stream->device);
		else
			pthread_cond_wait(&stream->cond, &vgpu->lock);
	if (stream->n_retired < seq)
		r = -ESHUTDOWN;
	stream->n_waiters--;
	ts_vgpu_stream_unref(stream);
	return r;
}

/*
 * Returns the number of the operation after whose end all work up to `order` is done; 0: this work
 * is done already.
 */
static uint64_t drain_target(const struct ts_vgpu_stream *stream, uint64_t order)
{
	const struct ts_vgpu_op *oldest = stream->flight_head ? stream->flight_head : stream->head;

	if (stream->n_retired == stream->n_queued)
		return 0;
	if (!oldest || oldest->order <= order)
		return stream->n_queued;
	/* The stream holds only later work, or earlier work whose report is in progress. */
	return oldest->seq - 1 > stream->n_retired ? oldest->seq - 1 : 0;
}

void ts_vgpu_streams_drain(struct ts_vgpu_context *context)
{
	uint64_t order = context->order;
	struct ts_vgpu_stream *stream = context->busy;

	while (stream) {
		uint64_t seq = drain_target(stream, order);

		if (!seq) {
			stream = stream->busy_next;
			continue;
		}
		if (ts_vgpu_stream_wait_seq(stream, seq))
			return;
		/* The wait released the lock: the list may have changed. */
		stream = context->busy;
	}
}

void ts_vgpu_device_drain(struct ts_vgpu_device *device)
{
	struct ts_vgpu_context *next;

	for (struct ts_vgpu_context *c = device->contexts; c; c = next) {
		/*
		 * The wait releases the lock; the pin keeps the context and its place in the list.
		 */
		c->pins++;
		ts_vgpu_streams_drain(c);
		next = c->next;
		if (!--c->pins)
			pthread_cond_broadcast(&device->vgpu->report_cond);
	}
}

int ts_vgpu_stream_query(struct ts_vgpu_stream *stream)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	int r = 0;

	ts_vgpu_lock(vgpu);
	if (vgpu->without_workers && stream->n_retired != stream->n_queued)
		ts_vgpu_work(stream->device);
	if (stream->n_retired != stream->n_queued) {
		stream->polled = true;
		ts_vgpu_worker_kick(stream->device);
		r = TS_VGPU_E_NOT_READY;
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

int ts_vgpu_stream_synchronize(struct ts_vgpu_stream *stream)
{
	struct ts_vgpu_context *context = stream->context;
	struct ts_vgpu *vgpu = stream->device->vgpu;
	int r = 0;

	ts_vgpu_lock(vgpu);
	if (stream->kind.is_legacy) {
		uint64_t order = context->order;

		for (struct ts_vgpu_stream *s = context->busy; !r && s;) {
			bool is_covered =
				s == stream || ts_stream_wait_covers(&stream->kind, &s->kind);
			uint64_t seq = is_covered ? drain_target(s, order) : 0;

			if (!seq) {
				s = s->busy_next;
				continue;
			}
			r = ts_vgpu_stream_wait_seq(s, seq);
			s = context->busy;
		}
	} else {
		r = ts_vgpu_stream_wait_seq(stream, stream->n_queued);
	}
	ts_vgpu_pools_settle(stream->device);
	ts_vgpu_unlock(vgpu);
	ts_vgpu_flush(vgpu);
	return r ? r : ts_vgpu_context_fault(context);
}

int ts_vgpu_stream_begin(struct ts_vgpu_stream *stream, struct ts_vgpu_op **ret_op)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	struct ts_vgpu_op *op;
	int r;

	if (ts_vgpu_context_error(stream->context))
		return ts_vgpu_context_fault(stream->context);
	while (stream->n_queued - stream->n_retired >= TS_VGPU_MAX_PENDING) {
		r = ts_vgpu_stream_wait_seq(stream,
					    stream->n_queued - TS_VGPU_MAX_PENDING + PENDING_SPARE);
		if (r)
			return r;
	}
	op = ts_vgpu_op_get(vgpu);
	if (!op)
		return -ENOMEM;
	op->stream = stream;
	op->reported_started = false;
	op->done.user = NULL;
	op->done.tag = 0;
	*ret_op = op;
	return 0;
}

/* End of the current call's modelled time, for a thread whose last call queued an operation. */
static __thread uint64_t call_until_ns;

void ts_vgpu_call_over(void)
{
	uint64_t now_ns;

	while (call_until_ns && (now_ns = ts_vgpu_now_ns()) < call_until_ns) {
		uint64_t left_ns = call_until_ns - now_ns;
		struct timespec nap = {(time_t)((left_ns - SPIN_NS) / 1000000000),
				       (long)((left_ns - SPIN_NS) % 1000000000)};

		/* nanosleep() is not exact, so the last SPIN_NS are a busy wait. */
		if (left_ns > SPIN_NS)
			nanosleep(&nap, NULL);
	}
	call_until_ns = 0;
}

void ts_vgpu_stream_push(struct ts_vgpu_stream *stream, struct ts_vgpu_op *op)
{
	struct ts_vgpu_context *context = stream->context;
	struct ts_vgpu_device *device = stream->device;

	op->seq = ++stream->n_queued;
	op->order = ++context->order;
	op->done.device = device->index;
	op->done.context_uid = context->uid;
	op->done.stream_id = stream->id;
	op->done.queued_ns = ts_vgpu_now_ns();
	if (device->shape->call_ns)
		call_until_ns = op->done.queued_ns + device->shape->call_ns;
	if (stream->n_retired + 1 == op->seq) {
		stream->refs++;
		stream->busy_next = context->busy;
		stream->busy_prev = &context->busy;
		if (stream->busy_next)
			stream->busy_next->busy_prev = &stream->busy_next;
		context->busy = stream;
	}
	if (ts_stream_is_tied_to_legacy(&stream->kind))
		context->n_blocking_queued++;
	if (stream->tail) {
		stream->tail->next = op;
		stream->tail = op;
		return;
	}
	stream->head = op;
	stream->tail = op;
	ts_vgpu_head_update(stream);
}

int ts_vgpu_launch(struct ts_vgpu_stream *stream, const struct ts_vgpu_launch *launch)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	struct ts_vgpu_op *op;
	void *large = NULL;
	int r;

	ts_vgpu_flush(vgpu);
	if (launch->params_bytes > TS_VGPU_INLINE_PARAMS) {
		large = malloc(launch->params_bytes);
		if (!large)
			return -ENOMEM;
		memcpy(large, launch->params, launch->params_bytes);
	}
	ts_vgpu_lock(vgpu);
	r = ts_vgpu_stream_begin(stream, &op);
	if (r) {
		ts_vgpu_unlock(vgpu);
		free(large);
		return r;
	}
	op->done.kind = TS_VGPU_OP_KERNEL;
	op->done.user = launch->kernel;
	op->done.tag = launch->tag;
	op->done.u.kernel.grid = launch->grid;
	op->done.u.kernel.block = launch->block;
	op->done.u.kernel.dynamic_shared_bytes = launch->dynamic_shared_bytes;
	op->done.u.kernel.static_shared_bytes = launch->static_shared_bytes;
	op->done.u.kernel.regs = launch->regs;
	op->done.u.kernel.local_bytes = launch->local_bytes;
	op->done.u.kernel.cooperative = launch->cooperative;
	op->priority = launch->has_priority ? take_priority(stream->device, launch->priority)
					    : stream->priority;
	op->u.kernel.large = large;
	op->u.kernel.params_bytes = launch->params_bytes;
	if (!large && launch->params_bytes)
		memcpy(op->u.kernel.params, launch->params, launch->params_bytes);
	ts_vgpu_stream_push(stream, op);
	ts_vgpu_unlock(vgpu);
	return 0;
}

/* One side of a copy: the location of its bytes. The lock protects it. */
struct side {
	uint8_t *bytes;
	enum ts_vgpu_memory_kind kind;
	struct ts_vgpu_device *device;
	uint32_t context_uid;
};

static int side_find(struct ts_vgpu_stream *stream, uint64_t address, uint64_t extent,
		     uint32_t access, struct side *ret_side)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	struct ts_vgpu_range *range = ts_vgpu_range_find(vgpu, address);

	if (range) {
		if (extent > ts_vgpu_range_reach(vgpu, range, address, access))
			return TS_VGPU_E_ADDRESS;
		*ret_side = (struct side){
			.bytes = range->backing + (address - range->start),
			.kind = range->kind,
			.device = &vgpu->devices[range->device],
			.context_uid = range->context ? range->context->uid : 0,
		};
		return 0;
	}
	if (!address || ts_vgpu_is_reserved(vgpu, address, extent))
		return TS_VGPU_E_ADDRESS;
	for (uint32_t i = 0; i < vgpu->n_devices; i++) {
		uint64_t space = (uint64_t)(uintptr_t)vgpu->devices[i].space;

		if (address - space < vgpu->devices[i].space_bytes || space - address < extent)
			return TS_VGPU_E_ADDRESS;
	}
	*ret_side = (struct side){
		.bytes = (uint8_t *)(uintptr_t)address,
		.kind = TS_VGPU_MEMORY_PAGEABLE,
		.device = stream->device,
		.context_uid = stream->context->uid,
	};
	return 0;
}

/* Computes the bytes from the first to the last one of a side; false if the number overflows. */
static bool extent_of(const struct ts_vgpu_copy *copy, size_t pitch, size_t slice, uint64_t *ret)
{
	uint64_t rows, slices;

	if (copy->height > 1 && pitch < copy->width)
		return false;
	if (__builtin_mul_overflow(copy->height - 1, pitch, &rows) ||
	    __builtin_mul_overflow(copy->depth - 1, slice, &slices) ||
	    __builtin_add_overflow(rows, slices, ret) ||
	    __builtin_add_overflow(*ret, copy->width, ret))
		return false;
	return true;
}

static enum ts_vgpu_copy_kind copy_kind(const struct side *src, const struct side *dst)
{
	bool from_device = src->kind >= TS_VGPU_MEMORY_DEVICE;
	bool to_device = dst->kind >= TS_VGPU_MEMORY_DEVICE;

	if (from_device && to_device)
		return src->device == dst->device ? TS_VGPU_COPY_D2D : TS_VGPU_COPY_PEER;
	if (to_device)
		return TS_VGPU_COPY_H2D;
	return from_device ? TS_VGPU_COPY_D2H : TS_VGPU_COPY_H2H;
}

/* Copies pageable memory to staging memory, so that its owner may change it after the call. */
static int stage(struct ts_vgpu_op *op, uint64_t extent)
{
	op->u.copy.staging = malloc(extent);
	if (!op->u.copy.staging)
		return -ENOMEM;
	memcpy(op->u.copy.staging, op->u.copy.src, extent);
	op->u.copy.src = op->u.copy.staging;
	return 0;
}

static int copy_locked(struct ts_vgpu_stream *stream, const struct ts_vgpu_copy *copy,
		       uint64_t src_extent, uint64_t dst_extent)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	struct side src, dst;
	struct ts_vgpu_op *op;
	bool wait;
	int r;

	/* begin() comes first: it may wait and release the lock. */
	r = ts_vgpu_stream_begin(stream, &op);
	if (r)
		return r;
	r = side_find(stream, copy->src, src_extent, TS_VGPU_ACCESS_READ, &src);
	if (!r)
		r = side_find(stream, copy->dst, dst_extent, TS_VGPU_ACCESS_WRITE, &dst);
	if (r) {
		ts_vgpu_op_put(vgpu, op);
		return r;
	}
	op->done.kind = TS_VGPU_OP_COPY;
	op->done.tag = copy->tag;
	op->done.u.copy.kind = copy_kind(&src, &dst);
	op->done.u.copy.src_kind = src.kind;
	op->done.u.copy.dst_kind = dst.kind;
	op->done.u.copy.src_device = src.device->index;
	op->done.u.copy.dst_device = dst.device->index;
	op->done.u.copy.src_context_uid = src.context_uid;
	op->done.u.copy.dst_context_uid = dst.context_uid;
	op->done.u.copy.bytes = (uint64_t)copy->width * copy->height * copy->depth;
	op->done.u.copy.async = copy->async;
	op->u.copy.src = src.bytes;
	op->u.copy.dst = dst.bytes;
	op->u.copy.staging = NULL;
	op->u.copy.width = copy->width;
	op->u.copy.height = copy->height;
	op->u.copy.depth = copy->depth;
	op->u.copy.src_pitch = copy->src_pitch;
	op->u.copy.dst_pitch = copy->dst_pitch;
	op->u.copy.src_slice = copy->src_slice;
	op->u.copy.dst_slice = copy->dst_slice;

	wait = dst.kind == TS_VGPU_MEMORY_PAGEABLE ||
	       (!copy->async && op->done.u.copy.kind != TS_VGPU_COPY_D2D &&
		op->done.u.copy.kind != TS_VGPU_COPY_PEER);
	if (copy->deferred)
		wait = false;
	else if (src.kind == TS_VGPU_MEMORY_PAGEABLE && !wait) {
		if (src_extent > STAGING_BYTES) {
			wait = true;
		} else {
			r = stage(op, src_extent);
			if (r) {
				ts_vgpu_op_put(vgpu, op);
				return r;
			}
		}
	}
	ts_vgpu_stream_push(stream, op);
	if (wait)
		r = ts_vgpu_stream_wait_seq(stream, op->seq);
	return wait && !r ? ts_vgpu_context_fault(stream->context) : r;
}

int ts_vgpu_copy(struct ts_vgpu_stream *stream, const struct ts_vgpu_copy *copy)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	uint64_t src_extent, dst_extent;
	int r;

	if (!copy->width || !copy->height || !copy->depth)
		return 0;
	if (!extent_of(copy, copy->src_pitch, copy->src_slice, &src_extent) ||
	    !extent_of(copy, copy->dst_pitch, copy->dst_slice, &dst_extent))
		return -EINVAL;
	ts_vgpu_lock(vgpu);
	r = copy_locked(stream, copy, src_extent, dst_extent);
	ts_vgpu_unlock(vgpu);
	if (!copy->async)
		ts_vgpu_flush(vgpu);
	return r;
}

int ts_vgpu_fill(struct ts_vgpu_stream *stream, const struct ts_vgpu_fill *fill)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	struct ts_vgpu_copy shape = {.height = fill->height, .depth = 1};
	struct side dst;
	struct ts_vgpu_op *op;
	uint64_t extent;
	int r;

	if (fill->element_bytes != 1 && fill->element_bytes != 2 && fill->element_bytes != 4)
		return -EINVAL;
	if (fill->dst % fill->element_bytes ||
	    (fill->height > 1 && fill->pitch % fill->element_bytes))
		return -EINVAL;
	if (!fill->width || !fill->height)
		return 0;
	if (__builtin_mul_overflow(fill->width, (size_t)fill->element_bytes, &shape.width) ||
	    !extent_of(&shape, fill->pitch, 0, &extent))
		return -EINVAL;
	ts_vgpu_lock(vgpu);
	r = ts_vgpu_stream_begin(stream, &op);
	if (r) {
		ts_vgpu_unlock(vgpu);
		return r;
	}
	r = side_find(stream, fill->dst, extent, TS_VGPU_ACCESS_WRITE, &dst);
	if (!r && dst.kind == TS_VGPU_MEMORY_PAGEABLE)
		r = TS_VGPU_E_ADDRESS;
	if (r) {
		ts_vgpu_op_put(vgpu, op);
	} else {
		op->done.kind = TS_VGPU_OP_FILL;
		op->done.tag = fill->tag;
		op->done.u.fill.memory_kind = dst.kind;
		op->done.u.fill.value = fill->value;
		op->done.u.fill.bytes = (uint64_t)shape.width * fill->height;
		op->done.u.fill.async = fill->async;
		op->u.fill.dst = dst.bytes;
		op->u.fill.width = fill->width;
		op->u.fill.height = fill->height;
		op->u.fill.pitch = fill->pitch;
		op->u.fill.element_bytes = fill->element_bytes;
		ts_vgpu_stream_push(stream, op);
		/* If the call is not async, host memory must hold the value when it returns. */
		if (!fill->async && dst.kind != TS_VGPU_MEMORY_DEVICE)
			r = ts_vgpu_stream_wait_seq(stream, op->seq);
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

int ts_vgpu_host_function(struct ts_vgpu_stream *stream, void (*function)(void *), void *userdata,
			  uint64_t tag)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	struct ts_vgpu_op *op;
	int r;

	ts_vgpu_lock(vgpu);
	r = ts_vgpu_host_start(stream->device);
	if (!r)
		r = ts_vgpu_stream_begin(stream, &op);
	if (!r) {
		op->done.kind = TS_VGPU_OP_HOST;
		op->done.tag = tag;
		op->u.host.function = function;
		op->u.host.userdata = userdata;
		ts_vgpu_stream_push(stream, op);
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

int ts_vgpu_free_async(struct ts_vgpu_stream *stream, uint64_t address, uint64_t tag)
{
	struct ts_vgpu *vgpu = stream->device->vgpu;
	struct ts_vgpu_release *release = NULL;
	struct ts_vgpu_range *range;
	struct ts_vgpu_op *op;
	int r;

	ts_vgpu_lock(vgpu);
	r = ts_vgpu_stream_begin(stream, &op);
	if (r) {
		ts_vgpu_unlock(vgpu);
		return r;
	}
	range = ts_vgpu_range_find(vgpu, address);
	if (!range || range->start != address || range->kind != TS_VGPU_MEMORY_DEVICE ||
	    range->releasing || range->physical)
		r = TS_VGPU_E_NOT_OWNER;
	else if (range->block && !(release = ts_vgpu_pool_free_async(range->block, stream->id,
								     stream->n_queued + 1)))
		r = -ENOMEM;
	if (r) {
		ts_vgpu_op_put(vgpu, op);
	} else {
		range->releasing = true;
		op->done.kind = TS_VGPU_OP_RELEASE;
		op->done.tag = tag;
		op->u.release.address = address;
		op->u.release.of_pool = release;
		ts_vgpu_stream_push(stream, op);
	}
	ts_vgpu_unlock(vgpu);
	return r;
}
