/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shards and the threads that own them. All recorders of the shim call this file; this file calls
 * the ring of proto/abi/ring.h. This file has the rare paths: it claims a shard at a thread's first
 * record, abandons the shard at the thread's end, and waits for room in a full ring.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "inject/ring/futex.h"
#include "inject/ring/producer.h"
#include "inject/ring/ring-session.h"
#include "inject/ring/unlocked.h"
#include "proto/abi/vendor/cupti_activity.h"

/* Pause between two checks of a full ring. */
#define WAIT_STEP_MIN_NS 50000
#define WAIT_STEP_MAX_NS 1600000

/*
 * While a ring is fuller than its watermark, its thread rings the doorbell once per 1/BELL_STEPS of
 * the ring.
 */
#define BELL_STEPS 16

/*
 * A search for a free shard visits all shards. If a thread finds none, it searches again only at
 * every CLAIM_RETRY-th record; the records between are lost.
 */
#define CLAIM_RETRY 256

uint32_t ts_producer_stopped;

__thread struct ts_tls ts_tls __attribute__((tls_model("initial-exec")));

/*
 * Abandons the shard of an ending thread. Its records stay in the ring; the shard is free once the
 * daemon has released them. Destructors that run later may still record: they claim a shard again,
 * and this destructor runs again.
 */
static void thread_ended(void *value)
{
	struct ts_thread *thread = value;
	struct ts_producer *producer = thread->producer;

	/* A forked child inherits a thread of its parent's session; the child must not touch it. */
	if (!producer->gate->alive || ts_tls.thread != thread || ts_tls.epoch != producer->epoch)
		return;
	ts_tls.thread = NULL;
	/*
	 * Release pairs with the acquire in take_shard(): the shard's next owner sees all records
	 * of this thread.
	 */
	__atomic_store_n(&thread->ring.shard->state, TS_SHARD_ABANDONED, __ATOMIC_RELEASE);
	pthread_mutex_lock(&producer->lock);
	thread->call = NULL;
	thread->next = producer->idle;
	producer->idle = thread;
	pthread_mutex_unlock(&producer->lock);
}

int ts_producer_init(struct ts_producer *producer, const struct ts_gate *gate,
		     struct ts_control *control, struct ts_definitions *definitions, uint32_t epoch)
{
	memset(producer, 0, sizeof(*producer));
	producer->gate = gate;
	producer->control = control;
	producer->definitions = definitions;
	producer->clock = (enum ts_clock)control->host_clock;
	producer->epoch = epoch;
	producer->lossless_ns = TS_PRODUCER_LOSSLESS_NS;
	pthread_mutex_init(&producer->lock, NULL);
	return -pthread_key_create(&producer->key, thread_ended);
}

void ts_producer_deinit(struct ts_producer *producer)
{
	struct ts_thread *thread;

	if (ts_tls.epoch == producer->epoch && ts_tls.thread)
		thread_ended(ts_tls.thread);
	pthread_key_delete(producer->key);
	while ((thread = producer->idle)) {
		producer->idle = thread->next;
		munmap(thread, sizeof(*thread));
	}
	while (producer->n_mapped)
		ts_unlocked_unmap_behind(producer->shards[--producer->n_mapped],
					 producer->control->shard_stride);
	pthread_mutex_destroy(&producer->lock);
}

/* Claims a shard that is free, or abandoned with all its records released. */
static bool take_shard(struct ts_shard *shard)
{
	uint32_t state = __atomic_load_n(&shard->state, __ATOMIC_ACQUIRE);

	if (state == TS_SHARD_OWNED || (state == TS_SHARD_ABANDONED &&
					__atomic_load_n(&shard->released, __ATOMIC_ACQUIRE) !=
						__atomic_load_n(&shard->head, __ATOMIC_RELAXED)))
		return false;
	/* Acquire pairs with the release in thread_ended(). */
	return __atomic_compare_exchange_n(&shard->state, &state, TS_SHARD_OWNED, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/*
 * Maps the next unused shard, owned by the caller, who holds the lock. NULL: no shard is left, or
 * there is no memory.
 */
static struct ts_shard *map_shard(struct ts_producer *producer)
{
	struct ts_control *control = producer->control;
	const uint32_t i = producer->n_mapped;
	const uint8_t *end = i ? (uint8_t *)producer->shards[i - 1] + control->shard_stride
			       : (uint8_t *)control + control->shards_off;
	struct ts_shard *shard;

	if (i >= control->n_shards)
		return NULL;
	shard = ts_unlocked_map_behind(end, control->shard_stride);
	if (!shard)
		return NULL;
	__atomic_store_n(&shard->state, TS_SHARD_OWNED, __ATOMIC_RELAXED);
	producer->shards[i] = shard;
	/* Release pairs with the acquire in find_shard(). */
	__atomic_store_n(&producer->n_mapped, i + 1, __ATOMIC_RELEASE);
	/* Release pairs with the daemon's acquire. */
	__atomic_store_n(&control->n_claimed, i + 1, __ATOMIC_RELEASE);
	return shard;
}

static struct ts_shard *find_shard(struct ts_producer *producer)
{
	const uint32_t n = __atomic_load_n(&producer->n_mapped, __ATOMIC_ACQUIRE);
	struct ts_shard *shard;

	for (uint32_t i = 0; i < n; i++)
		if (take_shard(producer->shards[i]))
			return producer->shards[i];
	pthread_mutex_lock(&producer->lock);
	shard = map_shard(producer);
	pthread_mutex_unlock(&producer->lock);
	return shard;
}

static struct ts_thread *take_thread(struct ts_producer *producer)
{
	struct ts_thread *thread;

	pthread_mutex_lock(&producer->lock);
	thread = producer->idle;
	if (thread)
		producer->idle = thread->next;
	pthread_mutex_unlock(&producer->lock);
	/* The cached strings of a reused struct stay valid. */
	if (thread)
		return thread;
	/* mmap, not malloc: the application's allocator may be the caller of this function. */
	thread = ts_unlocked_map(sizeof(*thread));
	if (!thread)
		return NULL;
	thread->producer = producer;
	pthread_mutex_lock(&producer->lock);
	thread->next_all = producer->all;
	producer->all = thread;
	pthread_mutex_unlock(&producer->lock);
	return thread;
}

static void show_call(struct ts_thread *thread)
{
	pthread_mutex_lock(&thread->producer->lock);
	thread->call = &ts_tls.call;
	pthread_mutex_unlock(&thread->producer->lock);
}

bool ts_producer_is_any_in_call(struct ts_producer *producer)
{
	bool is_any = false;

	/* The lock keeps each thread in the list, and its `call` valid. */
	pthread_mutex_lock(&producer->lock);
	for (const struct ts_thread *thread = producer->all; thread && !is_any;
	     thread = thread->next_all)
		is_any = thread->call && __atomic_load_n(&thread->call->recorded, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&producer->lock);
	return is_any;
}

static uint32_t define_thread(struct ts_producer *producer)
{
	struct ts_definition_thread definition = {.definition.type = TS_DEF_THREAD};
	char name[17] = "";

	prctl(PR_GET_NAME, name, 0, 0, 0);
	definition.tid = (uint32_t)syscall(SYS_gettid);
	definition.name = ts_definitions_string(producer->definitions, name, strlen(name));
	definition.time = ts_producer_ticks(producer);
	return ts_definitions_add(producer->definitions, &definition.definition,
				  sizeof(definition));
}

struct ts_thread *ts_producer_claim(struct ts_producer *producer)
{
	struct ts_thread *thread = NULL;
	struct ts_shard *shard;

	if (ts_tls.epoch != producer->epoch) {
		ts_tls.epoch = producer->epoch;
		ts_tls.thread = NULL;
		ts_tls.unclaimed = 0;
	}
	if (ts_tls.unclaimed++ % CLAIM_RETRY) {
		ts_session_count(producer->control, TS_LOSS_NO_SHARD, 1);
		return NULL;
	}
	shard = find_shard(producer);
	if (shard)
		thread = take_thread(producer);
	if (!thread || pthread_setspecific(producer->key, thread)) {
		/* Without the key's destructor, the thread's shard would never become free. */
		if (shard)
			__atomic_store_n(&shard->state, TS_SHARD_FREE, __ATOMIC_RELEASE);
		ts_session_count(producer->control, TS_LOSS_NO_SHARD, 1);
		return NULL;
	}
	ts_tls.unclaimed = 0;
	ts_ring_producer_init(&thread->ring, shard, producer->control->ring_bytes);
	thread->bell_at = thread->ring.released + thread->ring.ring_bytes / 2;
	thread->id = define_thread(producer);
	thread->stalled = false;
	thread->patience_ns = 0;
	/* Relaxed: the first commit's release publishes it. */
	__atomic_store_n(&shard->thread, thread->id, __ATOMIC_RELAXED);
	show_call(thread);
	ts_tls.thread = thread;
	return thread;
}

void ts_producer_wake_daemon(struct ts_control *control)
{
	/* The exchange lets only one producer ring the doorbell. */
	if (__atomic_load_n(&control->sleeping, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&control->sleeping, 0, __ATOMIC_ACQ_REL)) {
		__atomic_fetch_add(&control->doorbell, 1, __ATOMIC_RELEASE);
		ts_futex_wake(&control->doorbell, true);
	}
}

void ts_thread_ring_doorbell(struct ts_thread *thread)
{
	struct ts_ring_producer *ring = &thread->ring;

	/* Reload `released`: an old value makes the ring look fuller than it is. (B) of ring.h. */
	ring->released = __atomic_load_n(&ring->shard->released, __ATOMIC_ACQUIRE);
	if (ts_ring_past_watermark(ring)) {
		ts_producer_wake_daemon(thread->producer->control);
		/* Do not ring at each record while the daemon is awake or slow. */
		thread->bell_at = ring->head + ring->ring_bytes / BELL_STEPS;
	} else {
		thread->bell_at = ring->released + ring->ring_bytes / 2;
	}
}

static bool is_lossless(const struct ts_control *control)
{
	return __atomic_load_n(&control->command, __ATOMIC_RELAXED) & TS_COMMAND_LOSSLESS;
}

/*
 * Records in the trace that this thread waited, when and how long. The ring has room for at least
 * one record.
 */
static void record_wait(struct ts_thread *thread, uint64_t since_ticks)
{
	struct ts_record_overhead *out;

	out = (struct ts_record_overhead *)ts_ring_reserve(&thread->ring, sizeof(*out));
	if (!out)
		return;
	out->record = (struct ts_record){
		.n_words = sizeof(*out) / 8,
		.n_fixed_words = sizeof(*out) / 8,
		.clock = (uint8_t)thread->producer->clock,
		.type = TS_RECORD_OVERHEAD,
		.time = since_ticks,
	};
	out->end = ts_producer_ticks(thread->producer);
	out->overhead_kind = TS_OVERHEAD_WAITED;
	out->object_kind = TS_CUPTI_ACTIVITY_OBJECT_THREAD;
	out->object = (uint32_t)syscall(SYS_gettid);
	out->reserved = 0;
	ts_ring_commit(&thread->ring, sizeof(*out));
}

static void *wait_for_space(struct ts_thread *thread, uint32_t n_bytes, uint64_t wait_ns)
{
	const struct ts_producer *producer = thread->producer;
	const uint64_t deadline = ts_clock_monotonic_ns() + wait_ns;
	uint64_t since_ticks = ts_producer_ticks(producer);
	struct timespec step = {0, WAIT_STEP_MIN_NS};
	void *space;

	do {
		nanosleep(&step, NULL);
		if (step.tv_nsec < WAIT_STEP_MAX_NS)
			step.tv_nsec *= 2;
		ts_producer_wake_daemon(producer->control);
		space = ts_ring_reserve(&thread->ring, n_bytes);
		if (space && is_lossless(producer->control)) {
			record_wait(thread, since_ticks);
			since_ticks = ts_producer_ticks(producer);
			space = ts_ring_reserve(&thread->ring, n_bytes);
		}
	} while (!space && __atomic_load_n(&producer->gate->served, __ATOMIC_RELAXED) &&
		 ts_clock_monotonic_ns() < deadline);
	return space;
}

void *ts_thread_full(struct ts_thread *thread, uint32_t n_bytes)
{
	struct ts_producer *producer = thread->producer;
	uint64_t wait_ns = thread->patience_ns;
	int saved_errno = errno;
	void *space = NULL;

	ts_producer_wake_daemon(producer->control);
	if (is_lossless(producer->control))
		wait_ns = producer->lossless_ns;
	/*
	 * If one wait for the daemon was in vain, do not wait again until `released` moves. If the
	 * daemon is gone, do not wait.
	 */
	if (wait_ns && __atomic_load_n(&producer->gate->served, __ATOMIC_RELAXED) &&
	    !(thread->stalled && thread->stalled_at == thread->ring.released)) {
		space = wait_for_space(thread, n_bytes, wait_ns);
		thread->stalled = !space;
		thread->stalled_at = thread->ring.released;
	}
	if (!space)
		ts_thread_count(thread, TS_LOSS_RING_FULL, 1);
	errno = saved_errno;
	return space;
}
