/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine, its devices and their contexts: objects with a long life. One lock protects the
 * whole machine, because events and peer copies cross devices. The lock is held for short times
 * only. The context facade and replay/exec/vgpu create a machine; creation starts the workers of
 * worker.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay/vgpu/vgpu-internal.h"

static atomic_bool forked;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
	atomic_store_explicit(&forked, true, memory_order_relaxed);
}

static void watch_fork(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

bool ts_vgpu_forked(void)
{
	return atomic_load_explicit(&forked, memory_order_relaxed);
}

static int device_init(struct ts_vgpu *vgpu, uint32_t index, const struct ts_vgpu_shape *shape)
{
	struct ts_vgpu_device *device = &vgpu->devices[index];
	int r;

	device->vgpu = vgpu;
	device->index = index;
	device->own_shape = *shape;
	device->shape = &device->own_shape;
	device->host_tail = &device->host_head;
	r = ts_vgpu_cond_init(&device->worker_cond);
	if (!r)
		r = ts_vgpu_cond_init(&device->deputy_cond);
	if (!r)
		r = ts_vgpu_cond_init(&device->spare_cond);
	if (!r)
		r = ts_vgpu_cond_init(&device->host_cond);
	if (!r)
		r = ts_vgpu_memory_init(device);
	return r;
}

int ts_vgpu_new(const struct ts_vgpu_spec *spec, struct ts_vgpu **ret_vgpu)
{
	struct ts_vgpu *vgpu = calloc(1, sizeof(*vgpu));
	pthread_mutexattr_t attr;
	int r;

	if (!vgpu)
		return -ENOMEM;
	pthread_once(&fork_once, watch_fork);
	/* The first context's default stream gets the id that NVIDIA's tools show. */
	vgpu->host_clock = spec->host_clock;
	vgpu->without_workers = spec->without_workers;
	vgpu->next_stream_id = TS_VGPU_FIRST_STREAM_ID;
	pthread_mutexattr_init(&attr);
	/*
	 * Launching threads hold the lock for tens of nanoseconds, so spinning is cheaper than
	 * sleeping.
	 */
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	r = -pthread_mutex_init(&vgpu->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	if (!r)
		r = ts_vgpu_cond_init(&vgpu->report_cond);
	for (uint32_t i = 0; !r && i < spec->n_devices; i++) {
		r = device_init(vgpu, i, &spec->shapes[i]);
		vgpu->n_devices = i + 1;
	}
	if (r) {
		ts_vgpu_free(vgpu);
		return r;
	}
	*ret_vgpu = vgpu;
	return 0;
}

static void join_all(struct ts_vgpu_device *device)
{
	for (unsigned i = 0; i < device->n_workers; i++)
		pthread_join(device->workers[i], NULL);
	if (device->host_started)
		pthread_join(device->host_thread, NULL);
	device->n_workers = 0;
	device->n_workers_parked = 0;
	device->host_started = false;
}

void ts_vgpu_stop(struct ts_vgpu *vgpu)
{
	struct timespec deadline;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += 1;
	ts_vgpu_lock(vgpu);
	vgpu->stopping = true;
	atomic_store_explicit(&vgpu->cancel, true, memory_order_relaxed);
	for (uint32_t i = 0; i < vgpu->n_devices; i++) {
		struct ts_vgpu_device *device = &vgpu->devices[i];

		pthread_cond_signal(&device->worker_cond);
		pthread_cond_broadcast(&device->deputy_cond);
		pthread_cond_broadcast(&device->spare_cond);
		pthread_cond_signal(&device->host_cond);
	}
	for (uint32_t i = 0; i < vgpu->n_devices; i++) {
		struct ts_vgpu_device *device = &vgpu->devices[i];

		while (device->n_workers_parked < device->n_workers ||
		       (device->host_started && !device->host_parked))
			if (pthread_cond_timedwait(&vgpu->report_cond, &vgpu->lock, &deadline))
				break;
	}
	ts_vgpu_unlock(vgpu);
	for (uint32_t i = 0; i < vgpu->n_devices; i++) {
		struct ts_vgpu_device *device = &vgpu->devices[i];

		/*
		 * If a thread is still inside the program's function, it is not joined before the
		 * process ends.
		 */
		if (device->n_workers_parked == device->n_workers &&
		    (!device->host_started || device->host_parked))
			join_all(device);
	}
}

void ts_vgpu_interrupt(struct ts_vgpu *vgpu)
{
	atomic_store_explicit(&vgpu->cancel, true, memory_order_relaxed);
}

void ts_vgpu_free(struct ts_vgpu *vgpu)
{
	void *slab;

	if (!vgpu)
		return;
	for (uint32_t i = 0; i < vgpu->n_devices; i++)
		while (vgpu->devices[i].contexts)
			ts_vgpu_context_free(vgpu->devices[i].contexts);
	ts_vgpu_stop(vgpu);
	for (uint32_t i = 0; i < vgpu->n_devices; i++)
		join_all(&vgpu->devices[i]);
	ts_vgpu_ranges_deinit(vgpu);
	ts_vgpu_reservations_deinit(vgpu);
	for (uint32_t i = 0; i < vgpu->n_devices; i++) {
		ts_vgpu_pools_deinit(&vgpu->devices[i]);
		ts_vgpu_memory_deinit(&vgpu->devices[i]);
		free(vgpu->devices[i].heap);
		pthread_cond_destroy(&vgpu->devices[i].worker_cond);
		pthread_cond_destroy(&vgpu->devices[i].deputy_cond);
		pthread_cond_destroy(&vgpu->devices[i].spare_cond);
		pthread_cond_destroy(&vgpu->devices[i].host_cond);
	}
	while ((slab = vgpu->op_slabs)) {
		vgpu->op_slabs = *(void **)slab;
		free(slab);
	}
	while (vgpu->free_marks) {
		struct ts_vgpu_mark *mark = vgpu->free_marks;

		vgpu->free_marks = (struct ts_vgpu_mark *)mark->waiters;
		free(mark);
	}
	pthread_cond_destroy(&vgpu->report_cond);
	pthread_mutex_destroy(&vgpu->lock);
	free(vgpu);
}

void ts_vgpu_set_observer(struct ts_vgpu *vgpu, const struct ts_vgpu_observer *observer)
{
	ts_vgpu_lock(vgpu);
	vgpu->observer = observer ? *observer : (struct ts_vgpu_observer){0};
	for (uint32_t i = 0; i < vgpu->n_devices; i++)
		while (vgpu->devices[i].reporting)
			pthread_cond_wait(&vgpu->report_cond, &vgpu->lock);
	ts_vgpu_unlock(vgpu);
}

void ts_vgpu_set_executor(struct ts_vgpu *vgpu, const struct ts_vgpu_executor *executor)
{
	ts_vgpu_lock(vgpu);
	vgpu->executor = executor ? *executor : (struct ts_vgpu_executor){0};
	ts_vgpu_unlock(vgpu);
}

uint32_t ts_vgpu_n_devices(const struct ts_vgpu *vgpu)
{
	return vgpu->n_devices;
}

struct ts_vgpu_device *ts_vgpu_device_at(struct ts_vgpu *vgpu, uint32_t i)
{
	return i < vgpu->n_devices ? &vgpu->devices[i] : NULL;
}

const struct ts_vgpu_shape *ts_vgpu_device_shape(const struct ts_vgpu_device *device)
{
	return device->shape;
}

uint32_t ts_vgpu_device_index(const struct ts_vgpu_device *device)
{
	return device->index;
}

void ts_vgpu_device_memory(struct ts_vgpu_device *device, uint64_t *ret_free, uint64_t *ret_total)
{
	ts_vgpu_lock(device->vgpu);
	*ret_total = device->space_bytes;
	*ret_free = device->space_bytes - device->used_bytes;
	ts_vgpu_unlock(device->vgpu);
}

int ts_vgpu_context_new(struct ts_vgpu_device *device, struct ts_vgpu_context **ret_context)
{
	struct ts_vgpu *vgpu = device->vgpu;
	struct ts_vgpu_context *context = calloc(1, sizeof(*context));
	int r;

	if (!context)
		return -ENOMEM;
	context->device = device;
	context->stack_bytes = TS_VGPU_STACK_BYTES;
	context->heap_limit = TS_VGPU_HEAP_BYTES;
	ts_vgpu_lock(vgpu);
	r = ts_vgpu_worker_start(device);
	context->uid = ++vgpu->next_context_uid;
	context->next = device->contexts;
	context->prev = &device->contexts;
	if (context->next)
		context->next->prev = &context->next;
	device->contexts = context;
	ts_vgpu_unlock(vgpu);
	if (!r)
		r = ts_vgpu_stream_new(context, 0, 0, &context->legacy);
	if (r) {
		ts_vgpu_context_free(context);
		return r;
	}
	context->legacy->kind.is_legacy = true;
	*ret_context = context;
	return 0;
}

void ts_vgpu_context_free(struct ts_vgpu_context *context)
{
	struct ts_vgpu *vgpu;

	if (!context)
		return;
	vgpu = context->device->vgpu;
	ts_vgpu_lock(vgpu);
	ts_vgpu_streams_drain(context);
	ts_vgpu_unlock(vgpu);
	ts_vgpu_flush(vgpu);
	ts_vgpu_lock(vgpu);
	while (context->pins)
		pthread_cond_wait(&vgpu->report_cond, &vgpu->lock);
	while (context->streams) {
		struct ts_vgpu_stream *stream = context->streams;

		/* Events may still refer to the stream: the object stays, but leaves the list. */
		*stream->prev = stream->next;
		if (stream->next)
			stream->next->prev = stream->prev;
		stream->prev = NULL;
		if (stream->owned)
			ts_vgpu_stream_unref(stream);
	}
	ts_vgpu_ranges_free_context(context);
	*context->prev = context->next;
	if (context->next)
		context->next->prev = context->prev;
	ts_vgpu_unlock(vgpu);
	free(context);
}

int ts_vgpu_context_synchronize(struct ts_vgpu_context *context)
{
	ts_vgpu_lock(context->device->vgpu);
	ts_vgpu_streams_drain(context);
	ts_vgpu_pools_settle(context->device);
	ts_vgpu_unlock(context->device->vgpu);
	ts_vgpu_flush(context->device->vgpu);
	return ts_vgpu_context_fault(context);
}

int ts_vgpu_device_synchronize(struct ts_vgpu_device *device)
{
	ts_vgpu_lock(device->vgpu);
	ts_vgpu_device_drain(device);
	ts_vgpu_pools_settle(device);
	ts_vgpu_unlock(device->vgpu);
	ts_vgpu_flush(device->vgpu);
	return 0;
}
