/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler. vgpu-stream.c queues operations and wakes the worker; this file calls cost.c for
 * times, vgpu-kernels.c for the order of kernels, the executor for kernels and the observer for
 * reports. One worker thread per device leads at a time:
 *
 *     head of a stream --ready--> device heap --dispatch()--> in flight --retire()--> done
 *                                     |                           ^
 *                                     +--kernel waits for room----+ run_kernel()
 *
 * The leader dispatches stream heads in the order in which they become ready and runs each
 * operation. The cost model computes the operation's start and end, and the leader retires it when
 * the clock has passed the end.
 *
 * A second worker, the deputy, follows the leader (follow()). If the leader stays inside one kernel
 * for TAKEOVER_NS and other work exists, the deputy becomes the leader. Then copies and further
 * kernels continue beside the long kernel. Without workers, each waiting thread runs ts_vgpu_work()
 * instead.
 *
 * The thread need not be punctual. An operation's times follow from its queue time, its
 * dependencies and its engine, never from the time at which the thread runs. So the thread naps
 * instead of being woken for each launch. The thread looks ahead a little, so that a result is
 * ready when a thread waits for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "proto/abi/heap.h"
#include "replay/vgpu/vgpu-internal.h"

/* Operations that become ready within this time are dispatched now. */
#define LOOKAHEAD_NS 50000u
/* Length of a nap while work keeps coming, so that no launch has to wake the worker. */
#define NAP_NS 50000u
/* After this many naps without work the worker sleeps until it is woken. */
#define IDLE_NAPS 20
/* If no thread waits for an operation, it retires at most this long after its end. */
#define LAZY_NS 1000000u
/* If a kernel takes longer and other work exists, its worker loses the lead. */
#define TAKEOVER_NS 1000000u
/* Copies up to this size run under the lock. */
#define SMALL_BYTES 2048u
#define BATCH	    64

static inline bool is_ready_before(struct ts_vgpu_stream *const *a, struct ts_vgpu_stream *const *b)
{
	const struct ts_vgpu_op *x = (*a)->head, *y = (*b)->head;

	return x->ready_ns != y->ready_ns ? x->ready_ns < y->ready_ns
					  : x->done.queued_ns < y->done.queued_ns;
}

TS_HEAP_DEFINE(ready, struct ts_vgpu_stream *, is_ready_before)

void ts_vgpu_worker_kick(struct ts_vgpu_device *device)
{
	if (device->sleep_until_ns)
		pthread_cond_signal(&device->worker_cond);
}

/*
 * True if the legacy default stream's rule blocks the stream's head. The rule uses the order in
 * which operations entered the context. An operation of the legacy stream runs after all earlier
 * operations of blocking streams. An operation of a blocking stream runs after all earlier
 * operations of the legacy stream.
 */
static bool legacy_blocked(const struct ts_vgpu_stream *stream)
{
	const struct ts_vgpu_context *context = stream->context;
	const struct ts_vgpu_stream *legacy = context->legacy;

	if (stream->kind.is_non_blocking)
		return false;
	if (ts_stream_is_tied_to_legacy(&stream->kind))
		return legacy && legacy->head && legacy->head->order < stream->head->order;
	if (!context->n_blocking_queued)
		return false;
	for (const struct ts_vgpu_stream *s = context->busy; s; s = s->busy_next)
		if (ts_streams_are_tied(&stream->kind, &s->kind) && s->head &&
		    s->head->order < stream->head->order)
			return true;
	return false;
}

void ts_vgpu_head_update(struct ts_vgpu_stream *stream)
{
	struct ts_vgpu_context *context = stream->context;
	struct ts_vgpu_device *device = stream->device;
	struct ts_vgpu_op *op = stream->head;
	uint64_t ready;

	stream->state = TS_VGPU_STREAM_IDLE;
	if (!op)
		return;
	if (legacy_blocked(stream)) {
		stream->state = TS_VGPU_STREAM_BLOCKED_LEGACY;
		if (!stream->kind.is_legacy)
			context->n_legacy_blocked++;
		return;
	}
	ready = op->done.queued_ns;
	if (op->done.kind == TS_VGPU_OP_KERNEL || op->done.kind == TS_VGPU_OP_COPY ||
	    op->done.kind == TS_VGPU_OP_FILL)
		ready += device->shape->latency_ns;
	ready = ts_vgpu_max(ready, stream->last_end_ns);
	if (stream->kind.is_legacy)
		ready = ts_vgpu_max(ready, context->blocking_end_ns);
	else if (!stream->kind.is_non_blocking && context->legacy)
		ready = ts_vgpu_max(ready, context->legacy->last_end_ns);
	if (op->done.kind == TS_VGPU_OP_WAIT) {
		struct ts_vgpu_mark *mark = op->u.mark;

		if (!mark->scheduled) {
			stream->state = TS_VGPU_STREAM_BLOCKED_MARK;
			stream->next_waiter = mark->waiters;
			mark->waiters = stream;
			return;
		}
		ready = ts_vgpu_max(ready, mark->time_ns);
	}
	op->ready_ns = ready;
	stream->state = TS_VGPU_STREAM_READY;
	/* The heap holds a stream at most once; ts_vgpu_stream_new() reserved the room. */
	ready_push(device->heap, &device->n_heap, stream);
	if (device->sleep_until_ns && device->sleep_until_ns > op->done.queued_ns + 2 * NAP_NS &&
	    device->sleep_until_ns > ready)
		pthread_cond_signal(&device->worker_cond);
}

/*
 * Called when a stream's head has run: moves the head to the operations in flight, and updates the
 * streams that waited for it.
 */
static void finish(struct ts_vgpu_stream *stream, struct ts_vgpu_op *op)
{
	struct ts_vgpu_context *context = stream->context;
	struct ts_vgpu_device *device = stream->device;

	stream->head = op->next;
	if (!stream->head)
		stream->tail = NULL;
	op->next = NULL;
	stream->last_end_ns = ts_vgpu_max(stream->last_end_ns, op->done.end_ns);
	if (stream->flight_tail) {
		stream->flight_tail->next = op;
	} else {
		stream->flight_head = op;
		stream->flight_next = device->flight;
		stream->flight_prev = &device->flight;
		if (stream->flight_next)
			stream->flight_next->flight_prev = &stream->flight_next;
		device->flight = stream;
	}
	stream->flight_tail = op;

	if (stream->kind.is_legacy) {
		for (struct ts_vgpu_stream *s = context->streams; context->n_legacy_blocked && s;
		     s = s->next) {
			if (s->kind.is_legacy || s->state != TS_VGPU_STREAM_BLOCKED_LEGACY)
				continue;
			if (!legacy_blocked(s)) {
				context->n_legacy_blocked--;
				ts_vgpu_head_update(s);
			}
		}
	} else if (!stream->kind.is_non_blocking) {
		context->n_blocking_queued--;
		context->blocking_end_ns =
			ts_vgpu_max(context->blocking_end_ns, stream->last_end_ns);
		if (context->legacy->state == TS_VGPU_STREAM_BLOCKED_LEGACY)
			ts_vgpu_head_update(context->legacy);
	}
	ts_vgpu_head_update(stream);
}

static void do_copy(const struct ts_vgpu_op *op)
{
	for (size_t z = 0; z < op->u.copy.depth; z++) {
		const uint8_t *src = op->u.copy.src + z * op->u.copy.src_slice;
		uint8_t *dst = op->u.copy.dst + z * op->u.copy.dst_slice;

		/* Overlap is the caller's error, but memmove() keeps the behaviour defined. */
		for (size_t y = 0; y < op->u.copy.height; y++)
			memmove(dst + y * op->u.copy.dst_pitch, src + y * op->u.copy.src_pitch,
				op->u.copy.width);
	}
}

static void do_fill(const struct ts_vgpu_op *op)
{
	uint32_t value = op->done.u.fill.value;

	for (size_t y = 0; y < op->u.fill.height; y++) {
		uint8_t *row = op->u.fill.dst + y * op->u.fill.pitch;

		switch (op->u.fill.element_bytes) {
		case 1:
			memset(row, (int)(value & 0xff), op->u.fill.width);
			break;
		case 2:
			for (size_t x = 0; x < op->u.fill.width; x++)
				((uint16_t *)row)[x] = (uint16_t)value;
			break;
		default:
			for (size_t x = 0; x < op->u.fill.width; x++)
				((uint32_t *)row)[x] = value;
		}
	}
}

static void run_data(struct ts_vgpu *vgpu, struct ts_vgpu_op *op, uint64_t bytes,
		     void (*function)(const struct ts_vgpu_op *))
{
	if (ts_vgpu_context_error(op->stream->context))
		return;
	if (bytes <= SMALL_BYTES) {
		function(op);
		return;
	}
	ts_vgpu_unlock(vgpu);
	function(op);
	ts_vgpu_lock(vgpu);
}

/*
 * Runs a kernel in the executor, without the lock. The kernel may take long, or wait for data of a
 * later operation. Then another worker becomes the leader (follow()), and this thread finishes its
 * operation without the lead.
 */
static void execute(struct ts_vgpu_device *device, struct ts_vgpu_op *op,
		    struct ts_vgpu_kernel_work *work)
{
	struct ts_vgpu *vgpu = device->vgpu;
	struct ts_vgpu_context *context = op->stream->context;
	const struct ts_vgpu_executor executor = vgpu->executor;
	const struct ts_vgpu_kernel_run run = {
		.context = context,
		.kernel = op->done.user,
		.grid = op->done.u.kernel.grid,
		.block = op->done.u.kernel.block,
		.shared_bytes = op->done.u.kernel.dynamic_shared_bytes,
		.params = op->u.kernel.large ? op->u.kernel.large : op->u.kernel.params,
		.params_bytes = op->u.kernel.params_bytes,
		.stack_bytes = atomic_load_explicit(&context->stack_bytes, memory_order_relaxed),
		.max_resident = ts_vgpu_cost_resident(device, &op->done),
		.cancel = &vgpu->cancel,
		.cooperative = op->done.u.kernel.cooperative,
	};
	uint64_t lead = device->lead;
	int r;

	if (!executor.run || ts_vgpu_context_error(context))
		return;
	device->kernel_since_ns = ts_vgpu_now_ns();
	if (device->deputy_asleep)
		pthread_cond_signal(&device->deputy_cond);
	ts_vgpu_unlock(vgpu);
	r = executor.run(executor.userdata, &run, work);
	ts_vgpu_lock(vgpu);
	if (device->lead == lead)
		device->kernel_since_ns = 0;
	else
		/*
		 * Meanwhile another worker has become the leader. The caller moves this kernel to
		 * the operations in flight, so wake the leader: it may have to wake up earlier.
		 */
		ts_vgpu_worker_kick(device);
	if (r)
		atomic_store_explicit(&context->error, r, memory_order_relaxed);
}

static uint32_t n_concurrent(const struct ts_vgpu *vgpu)
{
	uint32_t n = vgpu->executor.n_concurrent;

	return n && n < TS_VGPU_MAX_CONCURRENT ? n : TS_VGPU_MAX_CONCURRENT;
}

/* Runs the next kernel, and continues its stream. */
static void run_kernel(struct ts_vgpu_device *device, uint64_t start_ns)
{
	struct ts_vgpu_stream *stream = ts_vgpu_kernels_take(device);
	struct ts_vgpu_op *op = stream->head;
	struct ts_vgpu_kernel_work work = {0};
	struct ts_vgpu_done *done = &op->done;

	stream->state = TS_VGPU_STREAM_RUNNING;
	done->start_ns = start_ns;
	/* With the host's clock, a kernel starts when it has room and a thread runs it. */
	if (device->vgpu->host_clock && op->ready_ns >= start_ns)
		done->start_ns = ts_vgpu_max(start_ns, ts_vgpu_now_ns());
	ts_vgpu_cost_kernel_start(device, op->u.kernel.n_sm, done->start_ns);
	execute(device, op, &work);
	ts_vgpu_cost_kernel_end(device, done, &work, done->start_ns, &done->end_ns);
	finish(stream, op);
}

static void schedule_mark(struct ts_vgpu_mark *mark, uint64_t time_ns)
{
	struct ts_vgpu_stream *stream, *next;

	mark->scheduled = true;
	mark->time_ns = time_ns;
	for (stream = mark->waiters; stream; stream = next) {
		next = stream->next_waiter;
		ts_vgpu_head_update(stream);
		/* Another device's worker may sleep, so it must be woken. */
		ts_vgpu_worker_kick(stream->device);
	}
	mark->waiters = NULL;
}

static void dispatch(struct ts_vgpu_device *device)
{
	struct ts_vgpu *vgpu = device->vgpu;
	struct ts_vgpu_stream *stream = ready_pop(device->heap, &device->n_heap);
	struct ts_vgpu_op *op = stream->head;
	struct ts_vgpu_done *done = &op->done;
	uint64_t ready = op->ready_ns, began = vgpu->host_clock ? ts_vgpu_now_ns() : 0;

	stream->state = TS_VGPU_STREAM_RUNNING;
	done->submitted_ns = done->queued_ns;
	done->start_ns = ready;
	done->end_ns = ready;
	switch (done->kind) {
	case TS_VGPU_OP_KERNEL:
		ts_vgpu_kernels_add(device, stream);
		return;
	case TS_VGPU_OP_COPY:
		run_data(vgpu, op, done->u.copy.bytes, do_copy);
		ts_vgpu_cost_copy(device, done, op->u.copy.height * op->u.copy.depth, began, ready,
				  &done->start_ns, &done->end_ns);
		break;
	case TS_VGPU_OP_FILL:
		run_data(vgpu, op, done->u.fill.bytes, do_fill);
		ts_vgpu_cost_fill(device, done, began, ready, &done->start_ns, &done->end_ns);
		break;
	case TS_VGPU_OP_HOST:
		stream->host_next = NULL;
		*device->host_tail = stream;
		device->host_tail = &stream->host_next;
		pthread_cond_signal(&device->host_cond);
		return;
	case TS_VGPU_OP_RECORD:
		schedule_mark(op->u.mark, ready);
		break;
	case TS_VGPU_OP_WAIT:
	case TS_VGPU_OP_RELEASE:
		break;
	}
	finish(stream, op);
}

/* True if only kernels run on the device. Sets *waits if a thread waits for one of its streams. */
static bool only_kernels_run(struct ts_vgpu_device *device, bool *waits)
{
	if (device->n_heap || device->flight ||
	    ts_vgpu_kernels_next(device, n_concurrent(device->vgpu)) != UINT64_MAX)
		return false;
	for (const struct ts_vgpu_context *c = device->contexts; c; c = c->next)
		for (const struct ts_vgpu_stream *s = c->streams; s; s = s->next) {
			*waits |= s->n_waiters != 0;
			if (s->state == TS_VGPU_STREAM_RUNNING &&
			    s->head->done.kind != TS_VGPU_OP_KERNEL)
				return false;
		}
	return true;
}

bool ts_vgpu_waits_for_kernels(struct ts_vgpu *vgpu)
{
	bool only_kernels = true, waits = false;

	ts_vgpu_lock(vgpu);
	for (uint32_t i = 0; only_kernels && i < vgpu->n_devices; i++)
		only_kernels = only_kernels_run(&vgpu->devices[i], &waits);
	ts_vgpu_unlock(vgpu);
	return only_kernels && waits;
}

static void retire(struct ts_vgpu *vgpu, struct ts_vgpu_op *op)
{
	struct ts_vgpu_stream *stream = op->stream;

	switch (op->done.kind) {
	case TS_VGPU_OP_KERNEL:
		free(op->u.kernel.large);
		break;
	case TS_VGPU_OP_COPY:
		free(op->u.copy.staging);
		break;
	case TS_VGPU_OP_RECORD:
		op->u.mark->done = true;
		op->u.mark->stream = NULL;
		ts_vgpu_mark_unref(vgpu, op->u.mark);
		break;
	case TS_VGPU_OP_WAIT:
		ts_vgpu_mark_unref(vgpu, op->u.mark);
		break;
	case TS_VGPU_OP_RELEASE:
		if (op->u.release.of_pool)
			ts_vgpu_pool_released(op->u.release.of_pool);
		else
			ts_vgpu_range_release(vgpu, op->u.release.address);
		break;
	default:
		break;
	}
	stream->n_retired = op->seq;
	ts_vgpu_op_put(vgpu, op);
	if (stream->n_waiters)
		pthread_cond_broadcast(&stream->cond);
	if (stream->n_retired == stream->n_queued) {
		*stream->busy_prev = stream->busy_next;
		if (stream->busy_next)
			stream->busy_next->busy_prev = stream->busy_prev;
		stream->polled = false;
		ts_vgpu_stream_unref(stream);
	}
}

/*
 * Finds running operations that the observer has not received. Only the flight head of a stream
 * runs, except for the moment between two operations.
 */
static size_t find_started(struct ts_vgpu_device *device, uint64_t now, struct ts_vgpu_op **batch)
{
	size_t n = 0;

	for (struct ts_vgpu_stream *s = device->flight; s && n < BATCH; s = s->flight_next) {
		struct ts_vgpu_op *op = s->flight_head;

		if (op->done.start_ns <= now && op->done.end_ns > now && !op->reported_started) {
			op->reported_started = true;
			batch[n++] = op;
		}
	}
	return n;
}

static size_t find_ended(struct ts_vgpu_device *device, uint64_t now, struct ts_vgpu_op **batch)
{
	struct ts_vgpu_stream *stream, *next;
	size_t n = 0;

	for (stream = device->flight; stream && n < BATCH; stream = next) {
		next = stream->flight_next;
		while (n < BATCH && stream->flight_head &&
		       stream->flight_head->done.end_ns <= now) {
			batch[n] = stream->flight_head;
			stream->flight_head = batch[n++]->next;
		}
		if (!stream->flight_head) {
			stream->flight_tail = NULL;
			*stream->flight_prev = stream->flight_next;
			if (stream->flight_next)
				stream->flight_next->flight_prev = stream->flight_prev;
		}
	}
	return n;
}

/* Retires a batch of ended operations; true if there was one. */
static bool retire_some(struct ts_vgpu_device *device, uint64_t now)
{
	struct ts_vgpu *vgpu = device->vgpu;
	const struct ts_vgpu_observer observer = vgpu->observer;
	struct ts_vgpu_op *ended[BATCH], *started[BATCH];
	size_t n_ended = find_ended(device, now, ended);
	size_t n_started = observer.started ? find_started(device, now, started) : 0;

	if (observer.done && n_ended + n_started) {
		device->reporting = true;
		ts_vgpu_unlock(vgpu);
		for (size_t i = 0; i < n_ended; i++)
			observer.done(observer.userdata, &ended[i]->done);
		for (size_t i = 0; i < n_started; i++)
			observer.started(observer.userdata, &started[i]->done);
		ts_vgpu_lock(vgpu);
		device->reporting = false;
		pthread_cond_broadcast(&vgpu->report_cond);
	}
	for (size_t i = 0; i < n_ended; i++)
		retire(vgpu, ended[i]);
	return n_ended;
}

/*
 * Returns how far before its start an operation may run. If streams have priorities, another kernel
 * may overtake, so a kernel is chosen only at its start.
 */
static uint64_t lookahead_ns(const struct ts_vgpu_device *device, const struct ts_vgpu_op *op)
{
	return op->done.kind == TS_VGPU_OP_KERNEL && device->has_priorities ? 0 : LOOKAHEAD_NS;
}

static bool can_dispatch(const struct ts_vgpu_device *device, uint64_t now)
{
	const struct ts_vgpu_op *op;

	if (!device->n_heap)
		return false;
	op = device->heap[0]->head;
	/*
	 * A host function runs in real time, so it waits until the operations before it have ended.
	 */
	return op->ready_ns <=
	       now + (op->done.kind == TS_VGPU_OP_HOST ? 0 : lookahead_ns(device, op));
}

/*
 * Runs the operation that is first in model time, if its time has come. Returns false if no
 * operation is due. An operation that becomes ready up to a kernel's start may precede that kernel,
 * so it runs first.
 */
static bool step(struct ts_vgpu_device *device, uint64_t now)
{
	uint64_t start_ns = ts_vgpu_kernels_next(device, n_concurrent(device->vgpu));

	if (device->n_heap && device->heap[0]->head->ready_ns <= start_ns) {
		if (!can_dispatch(device, now))
			return false;
		dispatch(device);
		return true;
	}
	if (start_ns == UINT64_MAX ||
	    start_ns > now + lookahead_ns(device, device->kernels.next->head))
		return false;
	run_kernel(device, start_ns);
	return true;
}

static uint64_t wake_time(struct ts_vgpu_device *device, uint64_t now, unsigned n_naps)
{
	uint64_t wake = n_naps < IDLE_NAPS ? now + NAP_NS : UINT64_MAX;
	uint64_t start_ns = ts_vgpu_kernels_next(device, n_concurrent(device->vgpu));

	if (start_ns < wake)
		wake = ts_vgpu_max(start_ns, now + LOOKAHEAD_NS / 2);
	if (device->n_heap) {
		const struct ts_vgpu_op *op = device->heap[0]->head;
		uint64_t at = op->ready_ns;

		/*
		 * Sleep for at least half of LOOKAHEAD_NS, so that a chain of short operations does
		 * not cause one wake-up for each of them.
		 */
		if (op->done.kind != TS_VGPU_OP_HOST)
			at = ts_vgpu_max(at - LOOKAHEAD_NS, now + LOOKAHEAD_NS / 2);
		if (at < wake)
			wake = at;
	}
	for (const struct ts_vgpu_stream *s = device->flight; s; s = s->flight_next) {
		uint64_t at = s->flight_head->done.end_ns;

		if (!s->n_waiters && !s->polled) {
			at = ts_vgpu_max(at, now + LAZY_NS);
		} else if (s->head || s->flight_head != s->flight_tail) {
			uint64_t last = s->flight_tail->done.end_ns;

			at = ts_vgpu_max(at, last < now + NAP_NS ? last : now + NAP_NS);
		}
		if (at < wake)
			wake = at;
	}
	return wake;
}

static void sleep_until(struct ts_vgpu_device *device, uint64_t wake)
{
	device->sleep_until_ns = wake;
	if (wake == UINT64_MAX) {
		pthread_cond_wait(&device->worker_cond, &device->vgpu->lock);
	} else {
		struct timespec ts = {
			.tv_sec = (time_t)(wake / 1000000000u),
			.tv_nsec = (long)(wake % 1000000000u),
		};

		pthread_cond_timedwait(&device->worker_cond, &device->vgpu->lock, &ts);
	}
	device->sleep_until_ns = 0;
}

/* Starts a thread of the device. It blocks all signals: the program's threads handle them. */
static int thread_start(pthread_t *thread, void *(*main)(void *), void *arg)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(thread, NULL, main, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

static void *worker_main(void *arg);

static int worker_add(struct ts_vgpu_device *device)
{
	int r;

	if (device->n_workers == TS_VGPU_MAX_WORKERS)
		return 0;
	r = thread_start(&device->workers[device->n_workers], worker_main, device);
	if (!r)
		device->n_workers++;
	return r;
}

/*
 * Dispatches stream heads and retires ended operations until the machine stops or this worker loses
 * the lead.
 */
static void lead(struct ts_vgpu_device *device)
{
	struct ts_vgpu *vgpu = device->vgpu;
	uint64_t mine = ++device->lead;
	unsigned n_naps = 0;

	device->led = true;
	while (!vgpu->stopping) {
		uint64_t now = ts_vgpu_now_ns();
		bool did = false;

		for (unsigned i = 0; i < BATCH && step(device, now); i++) {
			if (device->lead != mine)
				return;
			did = true;
		}
		if (did)
			now = ts_vgpu_now_ns();
		if (retire_some(device, now) || did) {
			n_naps = 0;
			/* Lets launching threads get the lock. */
			ts_vgpu_unlock(vgpu);
			ts_vgpu_lock(vgpu);
			continue;
		}
		sleep_until(device, wake_time(device, now, n_naps));
		if (n_naps < IDLE_NAPS)
			n_naps++;
	}
	device->led = false;
}

void ts_vgpu_work(struct ts_vgpu_device *device)
{
	struct ts_vgpu *vgpu = device->vgpu;
	bool did = false;

	/* A device may wait for records and copies of another device, so run them all. */
	for (uint32_t i = 0; i < vgpu->n_devices; i++) {
		struct ts_vgpu_device *each = &vgpu->devices[i];

		for (unsigned k = 0; k < BATCH && step(each, ts_vgpu_now_ns()); k++)
			did = true;
		did |= retire_some(each, ts_vgpu_now_ns());
	}
	if (!did)
		sleep_until(device, wake_time(device, ts_vgpu_now_ns(), 0));
}

static void deputy_sleep(struct ts_vgpu_device *device, uint64_t until)
{
	struct timespec ts = {
		.tv_sec = (time_t)(until / 1000000000u),
		.tv_nsec = (long)(until % 1000000000u),
	};

	pthread_cond_timedwait(&device->deputy_cond, &device->vgpu->lock, &ts);
}

/*
 * Runs the deputy. If the leader has been inside one kernel for TAKEOVER_NS and there is other
 * work, the deputy ends the lead and then leads itself. While kernels come, it polls, so that a
 * launch needs no wake-up. Other workers wait as spares.
 */
static void follow(struct ts_vgpu_device *device)
{
	struct ts_vgpu *vgpu = device->vgpu;
	unsigned n_naps = 0;

	if (device->has_deputy) {
		device->n_spare++;
		pthread_cond_wait(&device->spare_cond, &vgpu->lock);
		device->n_spare--;
		return;
	}
	device->has_deputy = true;
	while (!vgpu->stopping && device->led) {
		uint64_t now = ts_vgpu_now_ns(), since = device->kernel_since_ns;

		if (since && now - since >= TAKEOVER_NS &&
		    (device->n_heap || device->flight ||
		     ts_vgpu_kernels_next(device, n_concurrent(vgpu)) != UINT64_MAX)) {
			device->led = false;
			device->kernel_since_ns = 0;
		} else if (since || n_naps++ < IDLE_NAPS) {
			deputy_sleep(device, now + TAKEOVER_NS);
		} else {
			device->deputy_asleep = true;
			pthread_cond_wait(&device->deputy_cond, &vgpu->lock);
			device->deputy_asleep = false;
			n_naps = 0;
		}
	}
	device->has_deputy = false;
	if (device->n_spare)
		pthread_cond_signal(&device->spare_cond);
	else if (!vgpu->stopping)
		/*
		 * If no worker can be added, the next long kernel delays other work; results stay
		 * correct.
		 */
		worker_add(device);
}

static void *worker_main(void *arg)
{
	struct ts_vgpu_device *device = arg;
	struct ts_vgpu *vgpu = device->vgpu;

	prctl(PR_SET_NAME, "ts-vgpu");
	/* The default slack of 50 us would double every short wait. */
	prctl(PR_SET_TIMERSLACK, 1000);
	ts_vgpu_lock(vgpu);
	while (!vgpu->stopping) {
		if (device->led)
			follow(device);
		else
			lead(device);
	}
	device->n_workers_parked++;
	for (struct ts_vgpu_context *c = device->contexts; c; c = c->next)
		for (struct ts_vgpu_stream *s = c->streams; s; s = s->next)
			pthread_cond_broadcast(&s->cond);
	pthread_cond_broadcast(&vgpu->report_cond);
	ts_vgpu_unlock(vgpu);
	return NULL;
}

static void *host_main(void *arg)
{
	struct ts_vgpu_device *device = arg;
	struct ts_vgpu *vgpu = device->vgpu;

	prctl(PR_SET_NAME, "ts-vgpu-host");
	ts_vgpu_lock(vgpu);
	while (!vgpu->stopping) {
		struct ts_vgpu_stream *stream = device->host_head;
		struct ts_vgpu_op *op;

		if (!stream) {
			pthread_cond_wait(&device->host_cond, &vgpu->lock);
			continue;
		}
		device->host_head = stream->host_next;
		if (!device->host_head)
			device->host_tail = &device->host_head;
		op = stream->head;
		ts_vgpu_unlock(vgpu);
		ts_vgpu_flush(vgpu);
		op->done.start_ns = ts_vgpu_now_ns();
		op->u.host.function(op->u.host.userdata);
		op->done.end_ns = ts_vgpu_now_ns();
		ts_vgpu_lock(vgpu);
		finish(stream, op);
		ts_vgpu_worker_kick(device);
	}
	device->host_parked = true;
	pthread_cond_broadcast(&vgpu->report_cond);
	ts_vgpu_unlock(vgpu);
	return NULL;
}

int ts_vgpu_worker_start(struct ts_vgpu_device *device)
{
	int r = device->n_workers || device->vgpu->without_workers ? 0 : worker_add(device);

	/*
	 * A second worker is needed only if kernels have an executor. Start it now, because the
	 * first kernel needs it at once.
	 */
	return r || device->n_workers != 1 ? r : worker_add(device);
}

int ts_vgpu_host_start(struct ts_vgpu_device *device)
{
	int r;

	if (device->host_started)
		return 0;
	r = thread_start(&device->host_thread, host_main, device);
	device->host_started = !r;
	return r;
}
