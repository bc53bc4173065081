/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs passes over items in threads: see relay.h. overview/, gaps/ and compare/ call this
 * module.
 *
 * The items lie in a ring of chunks. The caller fills one chunk while the passes read the chunks
 * before it. A chunk is free when all passes have read it, so memory is bounded, and the caller
 * waits for the slowest pass. A thread that waits is woken when half of the ring has changed, and
 * at the end. It cannot wait for ever: the ring is larger, so the thread that it waits for goes on.
 */
#include "replay/state/relay.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "sbt/reader-threads.h"

#define CHUNK_ITEMS 128u
#define N_CHUNKS    16u
/* A thread wakes the others once for so many chunks: a switch costs as much as many items. */
#define WAKE_CHUNKS (N_CHUNKS / 2)
/* Threads start after this many items: a short trace does not pay for them. */
#define FIRST_ITEMS (64u * 1024)
/*
 * Threads that the reader may use besides: the caller's, one that reads ahead, one that decodes.
 * They have less to do than one pass. So two processors pay for one worker, too.
 */
#define OTHER_THREADS 3u

struct worker {
	struct ts_relay *relay;
	pthread_t thread;
	uint64_t n_read; /* chunks that its passes have read */
};

struct ts_relay {
	struct ts_relay_pass passes[TS_RELAY_MAX_PASSES];
	unsigned n_passes, n_workers;
	unsigned max_threads;
	struct worker workers[TS_RELAY_MAX_PASSES];
	size_t item_bytes;
	uint64_t n_items; /* put so far */

	/*
	 * The error of each pass, and the item at which it came. The pass's thread stores them.
	 * Later passes load the item of a pass with is_first, so it is atomic: UINT64_MAX means no
	 * error.
	 */
	int errors[TS_RELAY_MAX_PASSES];
	uint64_t error_items[TS_RELAY_MAX_PASSES];

	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t n_filled; /* chunks */
	bool has_failed, is_ended, has_ended;
	uint64_t begins[N_CHUNKS]; /* number of the chunk's first item */
	uint32_t counts[N_CHUNKS]; /* items in the chunk */

	uint32_t n_filling; /* items in the chunk that the caller fills */
	uint8_t *items;
};

static uint8_t *item_at(const struct ts_relay *relay, uint64_t chunk, uint32_t i)
{
	return relay->items + (chunk % N_CHUNKS * CHUNK_ITEMS + i) * relay->item_bytes;
}

static void take(struct ts_relay *relay, unsigned i, void *item, uint64_t number)
{
	const struct ts_relay_pass *pass = &relay->passes[i];
	int r;

	if (relay->errors[i])
		return;
	r = pass->take(pass->pass, item);
	if (!r)
		return;
	relay->errors[i] = r;
	/* Pairs with the load in first_incomplete(). */
	__atomic_store_n(&relay->error_items[i], number, __ATOMIC_RELAXED);
}

/*
 * Returns the number of the first item that a pass before pass i did not complete; UINT64_MAX: none
 * so far. An item that those passes have read has its final answer: the lock, under which they
 * count their chunks, orders the store before this load.
 */
static uint64_t first_incomplete(const struct ts_relay *relay, unsigned i)
{
	uint64_t first = UINT64_MAX;

	for (unsigned k = 0; k < i; k++) {
		uint64_t item = __atomic_load_n(&relay->error_items[k], __ATOMIC_RELAXED);

		if (relay->passes[k].is_first && item < first)
			first = item;
	}
	return first;
}

/* ---- a thread -------------------------------------------------------------------------------- */

/* Each worker has the pass of its number, and the last one also the passes that are left. */
static bool read_chunk(struct worker *worker, uint64_t chunk)
{
	struct ts_relay *relay = worker->relay;
	const unsigned number = (unsigned)(worker - relay->workers);
	const unsigned end = number + 1 < relay->n_workers ? number + 1 : relay->n_passes;
	const uint64_t begin = relay->begins[chunk % N_CHUNKS];
	bool has_failed = false;

	for (unsigned pass = number; pass < end; pass++) {
		const uint64_t incomplete = first_incomplete(relay, pass);

		for (uint32_t i = 0; i < relay->counts[chunk % N_CHUNKS]; i++)
			if (begin + i < incomplete)
				take(relay, pass, item_at(relay, chunk, i), begin + i);
		has_failed |= relay->errors[pass] != 0;
	}
	return has_failed;
}

/* Returns the number of chunks that are ready for the worker. Holds the lock. */
static uint64_t n_ready(const struct ts_relay *relay, const struct worker *worker)
{
	uint64_t n = relay->n_filled;

	for (unsigned i = 0; &relay->workers[i] < worker; i++)
		if (relay->passes[i].is_first && relay->workers[i].n_read < n)
			n = relay->workers[i].n_read;
	return n;
}

static void *run(void *data)
{
	struct worker *worker = data;
	struct ts_relay *relay = worker->relay;

	pthread_mutex_lock(&relay->lock);
	for (;;) {
		bool has_failed;

		while (worker->n_read == n_ready(relay, worker) &&
		       !(relay->is_ended && worker->n_read == relay->n_filled))
			pthread_cond_wait(&relay->changed, &relay->lock);
		if (worker->n_read == n_ready(relay, worker))
			break;
		pthread_mutex_unlock(&relay->lock);
		has_failed = read_chunk(worker, worker->n_read);
		pthread_mutex_lock(&relay->lock);
		worker->n_read++;
		relay->has_failed |= has_failed;
		if (worker->n_read % WAKE_CHUNKS == 0 || relay->is_ended)
			pthread_cond_broadcast(&relay->changed);
	}
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* ---- the caller ------------------------------------------------------------------------------ */

int ts_relay_new(size_t item_bytes, const struct ts_relay_pass *passes, unsigned n_passes,
		 struct ts_relay **ret_relay)
{
	struct ts_relay *relay = calloc(1, sizeof(*relay));

	if (!relay)
		return -ENOMEM;
	for (unsigned i = 0; i < n_passes; i++) {
		relay->passes[i] = passes[i];
		relay->error_items[i] = UINT64_MAX;
	}
	relay->n_passes = n_passes;
	relay->max_threads = ts_sbt_max_threads();
	relay->item_bytes = ts_align_up(item_bytes, TS_CACHE_LINE);
	relay->items = aligned_alloc(TS_CACHE_LINE, N_CHUNKS * CHUNK_ITEMS * relay->item_bytes);
	if (!relay->items) {
		free(relay);
		return -ENOMEM;
	}
	/* These functions of glibc do not fail with default attributes. */
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->changed, NULL);
	*ret_relay = relay;
	return 0;
}

/* Starts the threads that are permitted, before the first chunk. */
static void start(struct ts_relay *relay)
{
	unsigned n = relay->max_threads > OTHER_THREADS ? relay->max_threads - OTHER_THREADS
							: relay->max_threads > 1;

	if (n > relay->n_passes)
		n = relay->n_passes;
	while (relay->n_workers < n) {
		struct worker *worker = &relay->workers[relay->n_workers];

		worker->relay = relay;
		if (ts_sbt_thread_start(&worker->thread, run, worker))
			break;
		relay->n_workers++;
	}
}

void ts_relay_limit_threads(struct ts_relay *relay, unsigned n_threads)
{
	relay->max_threads = n_threads;
}

bool ts_relay_has_threads(const struct ts_relay *relay)
{
	return relay->n_workers;
}

void *ts_relay_item(struct ts_relay *relay)
{
	return item_at(relay, relay->n_filled, relay->n_filling);
}

/* True if the slowest thread still reads the chunk that is filled next. */
static bool is_full(const struct ts_relay *relay)
{
	uint64_t n_read = UINT64_MAX;

	for (unsigned i = 0; i < relay->n_workers; i++)
		if (relay->workers[i].n_read < n_read)
			n_read = relay->workers[i].n_read;
	return relay->n_filled - n_read == N_CHUNKS;
}

/* Hands over the chunk that was filled, and waits until the next one is free. */
static bool hand_over(struct ts_relay *relay)
{
	bool has_failed;

	pthread_mutex_lock(&relay->lock);
	relay->counts[relay->n_filled % N_CHUNKS] = relay->n_filling;
	relay->begins[relay->n_filled % N_CHUNKS] = relay->n_items - relay->n_filling;
	relay->n_filled++;
	relay->n_filling = 0;
	if (relay->n_filled % WAKE_CHUNKS == 0)
		pthread_cond_broadcast(&relay->changed);
	while (is_full(relay))
		pthread_cond_wait(&relay->changed, &relay->lock);
	has_failed = relay->has_failed;
	pthread_mutex_unlock(&relay->lock);
	return has_failed;
}

/* Returns the error of the earliest item. No thread works. */
static int first_error(const struct ts_relay *relay)
{
	uint64_t item = UINT64_MAX;
	int r = 0;

	for (unsigned i = 0; i < relay->n_passes; i++) {
		if (!relay->errors[i] || relay->error_items[i] >= item)
			continue;
		item = relay->error_items[i];
		r = relay->errors[i];
	}
	return r;
}

int ts_relay_put(struct ts_relay *relay)
{
	uint8_t *item = ts_relay_item(relay);
	const uint64_t number = relay->n_items++;

	if (relay->n_workers) {
		if (++relay->n_filling < CHUNK_ITEMS)
			return 0;
		return hand_over(relay) ? ts_relay_end(relay) : 0;
	}
	for (unsigned i = 0; i < relay->n_passes; i++)
		if (number < first_incomplete(relay, i))
			take(relay, i, item, number);
	if (relay->n_items == FIRST_ITEMS)
		start(relay);
	return first_error(relay);
}

int ts_relay_end(struct ts_relay *relay)
{
	if (relay->has_ended)
		return first_error(relay);
	relay->has_ended = true;
	if (relay->n_workers && relay->n_filling)
		(void)hand_over(relay);
	pthread_mutex_lock(&relay->lock);
	relay->is_ended = true;
	pthread_cond_broadcast(&relay->changed);
	pthread_mutex_unlock(&relay->lock);
	for (unsigned i = 0; i < relay->n_workers; i++)
		pthread_join(relay->workers[i].thread, NULL);
	return first_error(relay);
}

void ts_relay_free(struct ts_relay *relay)
{
	if (!relay)
		return;
	(void)ts_relay_end(relay);
	pthread_cond_destroy(&relay->changed);
	pthread_mutex_destroy(&relay->lock);
	free(relay->items);
	free(relay);
}
