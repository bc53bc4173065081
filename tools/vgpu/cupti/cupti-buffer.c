// SPDX-License-Identifier: Apache-2.0
/*
 * The client's buffers. cupti-record.c reserves and completes records; clients register, flush and
 * read through api.h. The thread that makes a call reserves its record, and requests a buffer from
 * the client if it needs one. The device completes a record of an operation later.
 *
 *     requested --> filled --> full, all records complete --> delivered (by the worker)
 *                      |------> all records complete --------> delivered (by a flush)
 *                      '-------------------------------------> delivered (by a forced flush)
 *
 * After a forced flush the records of running operations stay without an end. These records are
 * never delivered again.
 *
 * A buffer has three kinds of references: the list of undelivered buffers, the thread that fills
 * it, and each pending operation. After `delivered` is set, under the buffer's lock, the client's
 * memory is not accessed.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/vgpu/cupti/api.h"
#include "tools/vgpu/cupti/cupti-internal.h"

#define RECORD_ALIGNMENT 8
/* Longest record of any kind. */
#define LONGEST 256

struct ts_cupti_buffer {
	pthread_mutex_t lock;
	_Atomic uint32_t n_refs;
	struct ts_cupti_buffer *next; /* in the list, oldest first */

	uint8_t *data;
	size_t size;
	size_t used;
	size_t max_records; /* 0: as many as fit */
	size_t n_records;
	uint32_t n_pending;
	bool full;
	bool delivered;
	/* For a record of a face whose records are shorter; used between reserve and commit. */
	uint8_t space[LONGEST] __attribute__((aligned(RECORD_ALIGNMENT)));
};

enum which {
	FULL_AND_COMPLETE,
	COMPLETE,
	ALL
};

static struct {
	/*
	 * Held while buffers are delivered to the client, so only one thread at a time delivers
	 * buffers.
	 */
	pthread_mutex_t delivery_lock;
	pthread_mutex_t list_lock;
	struct ts_cupti_buffer *first;
	struct ts_cupti_buffer *orphans; /* delivered by force, with operations still to complete */
	struct ts_cupti_buffer *shared;	 /* filled by all threads, if not per thread */

	_Atomic(ts_cupti_buffer_requested_fn) requested;
	_Atomic(ts_cupti_buffer_completed_fn) completed;
	_Atomic uint64_t n_dropped;

	pthread_mutex_t worker_lock;
	pthread_cond_t worker_wake;
	pthread_t worker;
	bool worker_runs;
	bool worker_stop;
	bool worker_wanted;
	uint32_t period_ms; /* 0: woken when a buffer is ready */
} state = {
	.delivery_lock = PTHREAD_MUTEX_INITIALIZER,
	.list_lock = PTHREAD_MUTEX_INITIALIZER,
	.worker_lock = PTHREAD_MUTEX_INITIALIZER,
	.worker_wake = PTHREAD_COND_INITIALIZER,
};

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* the thread's own buffer, for its destructor */
static __thread struct ts_cupti_buffer *own;
static __thread bool delivering;

static void unref(struct ts_cupti_buffer *buffer)
{
	/*
	 * Acquire and release, paired with the same operation of other threads: the thread that
	 * frees the buffer sees their writes.
	 */
	if (!buffer || atomic_fetch_sub_explicit(&buffer->n_refs, 1, memory_order_acq_rel) != 1)
		return;
	pthread_mutex_destroy(&buffer->lock);
	free(buffer);
}

static void wake_worker(void)
{
	pthread_mutex_lock(&state.worker_lock);
	state.worker_wanted = true;
	if (state.period_ms == 0)
		pthread_cond_signal(&state.worker_wake);
	pthread_mutex_unlock(&state.worker_lock);
}

/* Marks the buffer: no thread fills it any more. Consumes the caller's reference. */
static void retire(struct ts_cupti_buffer *buffer)
{
	bool ready;

	pthread_mutex_lock(&buffer->lock);
	buffer->full = true;
	ready = !buffer->delivered && buffer->n_pending == 0;
	pthread_mutex_unlock(&buffer->lock);
	if (ready)
		wake_worker();
	unref(buffer);
}

static void thread_ends(void *buffer)
{
	own = NULL;
	retire(buffer);
}

static void make_key(void)
{
	pthread_key_create(&key, thread_ends);
}

/* Returns the buffer that this thread fills, with a reference for the caller, or NULL. */
static struct ts_cupti_buffer *current(void)
{
	struct ts_cupti_buffer *buffer;

	if (ts_cupti_buffer_per_thread()) {
		buffer = own;
		if (buffer)
			atomic_fetch_add_explicit(&buffer->n_refs, 1, memory_order_relaxed);
		return buffer;
	}
	pthread_mutex_lock(&state.list_lock);
	buffer = state.shared;
	if (buffer)
		atomic_fetch_add_explicit(&buffer->n_refs, 1, memory_order_relaxed);
	pthread_mutex_unlock(&state.list_lock);
	return buffer;
}

/* Stops filling the buffer. If another thread was faster, does nothing. */
static void let_go(struct ts_cupti_buffer *buffer)
{
	bool was_shared = false;

	if (own == buffer) {
		own = NULL;
		pthread_setspecific(key, NULL);
		retire(buffer);
		return;
	}
	pthread_mutex_lock(&state.list_lock);
	if (state.shared == buffer) {
		state.shared = NULL;
		was_shared = true;
	}
	pthread_mutex_unlock(&state.list_lock);
	if (was_shared)
		retire(buffer);
}

static void adopt(struct ts_cupti_buffer *buffer)
{
	struct ts_cupti_buffer *other = NULL, **last;

	pthread_mutex_lock(&state.list_lock);
	for (last = &state.first; *last; last = &(*last)->next)
		;
	*last = buffer;
	if (!ts_cupti_buffer_per_thread()) {
		other = state.shared;
		state.shared = buffer;
	}
	pthread_mutex_unlock(&state.list_lock);
	if (ts_cupti_buffer_per_thread()) {
		pthread_once(&key_once, make_key);
		other = own;
		own = buffer;
		pthread_setspecific(key, buffer);
	}
	if (other)
		retire(other);
}

/* Records the cost of the client's callback, as the first record in the new buffer. */
static void note_request(struct ts_cupti_buffer *buffer, uint64_t start, uint64_t end)
{
	struct ts_cupti_activity_overhead *record = (void *)buffer->data;

	if (buffer->size < sizeof(*record) ||
	    !ts_cupti_kind_enabled(TS_CUPTI_ACTIVITY_KIND_OVERHEAD, 0))
		return;
	*record = (struct ts_cupti_activity_overhead){
		.kind = TS_CUPTI_ACTIVITY_KIND_OVERHEAD,
		.overhead_kind = TS_CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST,
		.object_kind = TS_CUPTI_ACTIVITY_OBJECT_THREAD,
		.object_id.pt = {.process_id = ts_cupti_process_id(),
				 .thread_id = ts_cupti_thread_id()},
		.start = start,
		.end = end,
	};
	/* A shorter record of another face leaves zeros behind it. */
	buffer->used = ts_cupti_face_bytes(TS_CUPTI_ACTIVITY_KIND_OVERHEAD);
	buffer->n_records = 1;
}

/* Gets a new buffer from the client. False: the client returned none that can hold a record. */
static bool request(size_t n_bytes)
{
	ts_cupti_buffer_requested_fn requested = atomic_load(&state.requested);
	ts_cupti_buffer_completed_fn completed = atomic_load(&state.completed);
	struct ts_cupti_buffer *buffer;
	size_t size = 0, max_records = 0;
	uint8_t *data = NULL;
	uint64_t start;

	if (!requested || !completed)
		return false;
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		return false;
	start = ts_cupti_clock_now();
	requested(&data, &size, &max_records);
	if (!data || size < n_bytes || (uintptr_t)data % RECORD_ALIGNMENT) {
		free(buffer);
		if (data)
			completed(NULL, 0, data, size, 0); /* the client frees it */
		return false;
	}
	if (!ts_cupti_buffers_come_zeroed())
		memset(data, 0, size);
	pthread_mutex_init(&buffer->lock, NULL);
	atomic_init(&buffer->n_refs, 2); /* the list's and the filling thread's */
	buffer->data = data;
	buffer->size = size;
	buffer->max_records = max_records;
	if (size >= n_bytes + sizeof(struct ts_cupti_activity_overhead) && max_records != 1)
		note_request(buffer, start, ts_cupti_clock_now());
	adopt(buffer);
	return true;
}

/* Gives the buffer's room if this face's record is shorter than the newest CUPTI's. */
static void place_record(uint32_t kind, size_t n_bytes, struct ts_cupti_slot *slot)
{
	const size_t n_full = ts_cupti_record_bytes(kind, TS_CUPTI_API_VERSION);

	slot->record = slot->buffer->data + slot->offset;
	if (n_bytes >= n_full)
		return;
	memset(slot->buffer->space, 0, n_full);
	slot->record = slot->buffer->space;
}

bool ts_cupti_buffer_reserve(uint32_t kind, struct ts_cupti_slot *ret_slot)
{
	const size_t n_bytes = ts_cupti_face_bytes(kind);

	/* Other threads may fill or deliver a new buffer before this thread uses it. */
	for (unsigned int attempt = 0; attempt < 8; attempt++) {
		struct ts_cupti_buffer *buffer = current();

		if (!buffer) {
			if (request(n_bytes))
				continue;
			break;
		}
		pthread_mutex_lock(&buffer->lock);
		if (!buffer->delivered && !buffer->full && buffer->size - buffer->used >= n_bytes &&
		    (!buffer->max_records || buffer->n_records < buffer->max_records)) {
			ret_slot->buffer = buffer;
			ret_slot->offset = (uint32_t)buffer->used;
			place_record(kind, n_bytes, ret_slot);
			return true;
		}
		pthread_mutex_unlock(&buffer->lock);
		let_go(buffer);
		unref(buffer);
	}
	atomic_fetch_add_explicit(&state.n_dropped, 1, memory_order_relaxed);
	return false;
}

void ts_cupti_buffer_commit(const struct ts_cupti_slot *slot, bool pending)
{
	struct ts_cupti_buffer *buffer = slot->buffer;
	const struct ts_cupti_activity *record = slot->record;
	const size_t n_bytes = ts_cupti_face_bytes(record->kind);

	if (slot->record == buffer->space)
		memcpy(buffer->data + slot->offset, buffer->space, n_bytes);
	buffer->used += n_bytes;
	buffer->n_records++;
	if (pending)
		buffer->n_pending++;
	pthread_mutex_unlock(&buffer->lock);
	if (!pending)
		unref(buffer);
}

void *ts_cupti_buffer_open(struct ts_cupti_buffer *buffer, uint32_t offset)
{
	pthread_mutex_lock(&buffer->lock);
	return buffer->delivered ? NULL : buffer->data + offset;
}

void ts_cupti_buffer_close(struct ts_cupti_buffer *buffer)
{
	pthread_mutex_unlock(&buffer->lock);
}

void ts_cupti_buffer_finish(struct ts_cupti_buffer *buffer)
{
	bool ready;

	buffer->n_pending--;
	ready = buffer->n_pending == 0 && buffer->full && !buffer->delivered;
	pthread_mutex_unlock(&buffer->lock);
	if (ready)
		wake_worker();
	unref(buffer);
}

static bool has_pending(struct ts_cupti_buffer *buffer)
{
	bool pending;

	pthread_mutex_lock(&buffer->lock);
	pending = buffer->n_pending > 0;
	pthread_mutex_unlock(&buffer->lock);
	return pending;
}

bool ts_cupti_buffers_pending(void)
{
	struct ts_cupti_buffer **link;
	bool pending = false;

	pthread_mutex_lock(&state.list_lock);
	for (struct ts_cupti_buffer *buffer = state.first; buffer && !pending;
	     buffer = buffer->next)
		pending = has_pending(buffer);
	for (link = &state.orphans; *link;) {
		struct ts_cupti_buffer *buffer = *link;

		if (has_pending(buffer)) {
			pending = true;
			link = &buffer->next;
		} else {
			*link = buffer->next;
			unref(buffer);
		}
	}
	pthread_mutex_unlock(&state.list_lock);
	return pending;
}

/*
 * Called after the client has the buffer back. Frees the list's reference or moves it to the
 * orphans.
 */
static void forget(struct ts_cupti_buffer *buffer)
{
	if (!has_pending(buffer)) {
		unref(buffer);
		return;
	}
	pthread_mutex_lock(&state.list_lock);
	buffer->next = state.orphans;
	state.orphans = buffer;
	pthread_mutex_unlock(&state.list_lock);
}

/* Removes deliverable buffers from the list and marks them as delivered. */
static struct ts_cupti_buffer *claim(enum which which)
{
	struct ts_cupti_buffer **link, *claimed = NULL, **last = &claimed;

	pthread_mutex_lock(&state.list_lock);
	for (link = &state.first; *link;) {
		struct ts_cupti_buffer *buffer = *link;
		bool go;

		pthread_mutex_lock(&buffer->lock);
		go = which == ALL || (buffer->n_pending == 0 &&
				      (buffer->full || (which == COMPLETE && buffer->n_records)));
		if (go)
			buffer->delivered = true;
		pthread_mutex_unlock(&buffer->lock);
		if (!go) {
			link = &buffer->next;
			continue;
		}
		*link = buffer->next;
		buffer->next = NULL;
		*last = buffer;
		last = &buffer->next;
	}
	pthread_mutex_unlock(&state.list_lock);
	return claimed;
}

static void deliver(enum which which)
{
	ts_cupti_buffer_completed_fn completed = atomic_load(&state.completed);
	struct ts_cupti_buffer *buffer;

	/*
	 * One thread delivers at a time. So, when a flush returns, the worker's deliveries are also
	 * complete.
	 */
	pthread_mutex_lock(&state.delivery_lock);
	delivering = true;
	buffer = claim(which);
	while (buffer) {
		struct ts_cupti_buffer *next = buffer->next;

		buffer->next = NULL;
		if (completed)
			completed(NULL, 0, buffer->data, buffer->size, buffer->used);
		forget(buffer);
		buffer = next;
	}
	delivering = false;
	pthread_mutex_unlock(&state.delivery_lock);
}

static void *work(void *unused)
{
	pthread_setname_np(pthread_self(), "vgpu-cupti");
	pthread_mutex_lock(&state.worker_lock);
	while (!state.worker_stop) {
		if (state.period_ms) {
			struct timespec until;

			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_sec += state.period_ms / 1000;
			until.tv_nsec += (long)(state.period_ms % 1000) * 1000000;
			if (until.tv_nsec >= 1000000000) {
				until.tv_sec++;
				until.tv_nsec -= 1000000000;
			}
			pthread_cond_timedwait(&state.worker_wake, &state.worker_lock, &until);
		} else if (!state.worker_wanted) {
			pthread_cond_wait(&state.worker_wake, &state.worker_lock);
		}
		if (!state.worker_wanted || state.worker_stop)
			continue;
		state.worker_wanted = false;
		pthread_mutex_unlock(&state.worker_lock);
		deliver(FULL_AND_COMPLETE);
		pthread_mutex_lock(&state.worker_lock);
	}
	pthread_mutex_unlock(&state.worker_lock);
	return NULL;
}

/* Starts the worker. It blocks all signals, because the application's threads handle them. */
static int start_worker(void)
{
	sigset_t all, old;
	int r = 0;

	pthread_mutex_lock(&state.worker_lock);
	if (!state.worker_runs) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		state.worker_stop = false;
		r = pthread_create(&state.worker, NULL, work, NULL);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		state.worker_runs = r == 0;
	}
	pthread_mutex_unlock(&state.worker_lock);
	return r;
}

static void stop_worker(void)
{
	bool runs;

	pthread_mutex_lock(&state.worker_lock);
	runs = state.worker_runs;
	state.worker_runs = false;
	state.worker_stop = true;
	pthread_cond_signal(&state.worker_wake);
	pthread_mutex_unlock(&state.worker_lock);
	if (runs)
		pthread_join(state.worker, NULL);
}

bool ts_cupti_buffers_registered(void)
{
	return atomic_load_explicit(&state.completed, memory_order_relaxed) != NULL;
}

bool ts_cupti_buffers_delivering(void)
{
	return delivering;
}

uint32_t ts_cupti_buffers_flush(bool forced)
{
	if (!ts_cupti_buffers_registered())
		return TS_CUPTI_ERROR_INVALID_OPERATION;
	/* In the client's completion callback a flush would wait for itself. */
	if (delivering)
		return TS_CUPTI_ERROR_INVALID_OPERATION;
	deliver(forced ? ALL : COMPLETE);
	return TS_CUPTI_SUCCESS;
}

void ts_cupti_buffers_reset(void)
{
	stop_worker();
	deliver(ALL);
	pthread_mutex_lock(&state.worker_lock);
	state.period_ms = 0;
	pthread_mutex_unlock(&state.worker_lock);
	atomic_store(&state.requested, NULL);
	atomic_store(&state.completed, NULL);
	atomic_store(&state.n_dropped, 0);
}

uint32_t cuptiActivityRegisterCallbacks(ts_cupti_buffer_requested_fn requested,
					ts_cupti_buffer_completed_fn completed)
{
	if (!requested || !completed)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	if (start_worker())
		return ts_cupti_result(TS_CUPTI_ERROR_OUT_OF_MEMORY);
	atomic_store(&state.completed, completed);
	atomic_store(&state.requested, requested);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivityFlushPeriod(uint32_t period_ms)
{
	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	pthread_mutex_lock(&state.worker_lock);
	state.period_ms = period_ms;
	pthread_cond_signal(&state.worker_wake);
	pthread_mutex_unlock(&state.worker_lock);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream_id, size_t *ret_dropped)
{
	if (!ret_dropped)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	*ret_dropped = atomic_exchange_explicit(&state.n_dropped, 0, memory_order_relaxed);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_size,
				    struct ts_cupti_activity **record)
{
	uint8_t *next = buffer;
	size_t left, n_bytes;

	if (!buffer || !record)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (*record) {
		size_t previous = ts_cupti_face_bytes((*record)->kind);

		if ((uint8_t *)*record < buffer || (uint8_t *)*record >= buffer + valid_size)
			return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
		if (!previous)
			return ts_cupti_result(TS_CUPTI_ERROR_INVALID_KIND);
		next = (uint8_t *)*record + previous;
	}
	if (next >= buffer + valid_size)
		return ts_cupti_result(TS_CUPTI_ERROR_MAX_LIMIT_REACHED);
	left = (size_t)(buffer + valid_size - next);
	if (left < sizeof(struct ts_cupti_activity))
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_KIND);
	n_bytes = ts_cupti_face_bytes(((struct ts_cupti_activity *)(void *)next)->kind);
	if (n_bytes == 0 || n_bytes > left)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_KIND);
	*record = (void *)next;
	return TS_CUPTI_SUCCESS;
}
