/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rows ahead of their consumer: see ahead.h. cursor.c calls this module; this module calls
 * back its source, which is a cursor.
 *
 *     thread: source->next() --> chunk --exchange()--> ready chunks --take()--> consumer
 *                                  ^                                      |
 *                                  +------------ empty chunks <-----------+
 *
 * A chunk lists about a thousand rows, so a lock for each chunk and a wake-up for some chunks cost
 * little. The rows stay in the source's batches. A batch that the source retires goes with the
 * chunk that is being filled, because no later chunk lists its rows; the thread frees it when the
 * chunk comes back.
 */

#include <pthread.h>
#include <unistd.h>

#include "proto/abi/grow.h"
#include "sbt/read/threads/ahead.h"
#include "sbt/read/threads/jobs.h"
#include "sbt/read/threads/twin.h"

#define N_CHUNKS   8u
#define CHUNK_ROWS 1024u
/* A side is woken when so many chunks are ready or empty: a switch costs as much as many rows. */
#define WAKE_CHUNKS (N_CHUNKS / 2)

struct entry {
	const void *row;
	const struct ts_row_schema *schema;
	uint32_t session;
	uint32_t block;
};

struct chunk {
	uint32_t n;
	int end; /* result after the last row; 0: the next chunk continues */
	uint64_t n_decoded;
	struct ts_sbt_error error; /* if `end` is an error */
	/* Rows of each block that was read for the chunk. */
	uint32_t *loads;
	size_t n_loads, n_loads_allocated;
	struct ts_row_batch *retired;
	struct entry entries[CHUNK_ROWS];
};

/* A ring of chunks; it never holds more than all of them. */
struct queue {
	struct chunk *chunks[N_CHUNKS];
	unsigned first, n;
};

struct ts_row_ahead {
	struct ts_sbt_reader *reader; /* of the consumer */
	struct ts_sbt_reader own;     /* of the thread */
	struct ts_row_source source;
	struct chunk *chunks[N_CHUNKS];
	pid_t pid;
	pthread_t thread;
	volatile int stop; /* also cancels the thread's reads */

	pthread_mutex_t lock; /* guards the queues */
	pthread_cond_t changed;
	struct queue ready, empty;

	/* of the consumer */
	struct chunk *present;
	uint32_t at; /* next row */
	size_t block;
	int end; /* END or LIMIT: the result of all further calls */

	/* of the thread */
	struct chunk *filling;
	struct ts_row_batch *retired;
};

static void put(struct queue *queue, struct chunk *chunk)
{
	queue->chunks[(queue->first + queue->n++) % N_CHUNKS] = chunk;
}

static struct chunk *get(struct queue *queue)
{
	struct chunk *chunk = queue->chunks[queue->first];

	queue->first = (queue->first + 1) % N_CHUNKS;
	queue->n--;
	return chunk;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static bool is_stopped(const struct ts_row_ahead *ahead)
{
	return __atomic_load_n(&ahead->stop, __ATOMIC_RELAXED);
}

static void free_batches(struct ts_row_batch *batch)
{
	while (batch) {
		struct ts_row_batch *next = batch->next;

		free(batch);
		batch = next;
	}
}

/* Completes the chunk; the thread does not change it after it was put into `ready`. */
static void complete(struct ts_row_ahead *ahead, bool is_last)
{
	struct chunk *chunk = ts_take_ptr(ahead->filling);

	chunk->n_decoded = ahead->source.decoded(ahead->source.data);
	chunk->retired = ts_take_ptr(ahead->retired);
	put(&ahead->ready, chunk);
	if (ahead->ready.n >= WAKE_CHUNKS || is_last)
		pthread_cond_signal(&ahead->changed);
}

static void recycle_batches(const struct ts_row_source *source, struct ts_row_batch *batch)
{
	while (batch) {
		struct ts_row_batch *next = batch->next;

		source->recycle(source->data, batch);
		batch = next;
	}
}

/* Hands the filled chunk over and waits for an empty one. False: the thread has to end. */
static bool exchange(struct ts_row_ahead *ahead, bool is_last)
{
	pthread_mutex_lock(&ahead->lock);
	complete(ahead, is_last);
	while (!ahead->empty.n && !is_last && !is_stopped(ahead))
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	if (ahead->empty.n && !is_last && !is_stopped(ahead))
		ahead->filling = get(&ahead->empty);
	pthread_mutex_unlock(&ahead->lock);
	if (!ahead->filling)
		return false;
	recycle_batches(&ahead->source, ts_take_ptr(ahead->filling->retired));
	ahead->filling->n = 0;
	ahead->filling->n_loads = 0;
	ahead->filling->end = 0;
	return true;
}

/* Notes a block that was read; the consumer reports it. Without memory, it is left out. */
static void on_rows(uint32_t n_rows, void *data)
{
	struct chunk *chunk = ((struct ts_row_ahead *)data)->filling;

	if (!TS_GROW(chunk->loads, chunk->n_loads_allocated, chunk->n_loads + 1))
		chunk->loads[chunk->n_loads++] = n_rows;
}

static void *run(void *data)
{
	struct ts_row_ahead *ahead = data;
	struct ts_sbt_row row;
	bool is_last = false;
	uint64_t block;
	int r;

	do {
		struct chunk *chunk = ahead->filling;

		while (chunk->n < CHUNK_ROWS) {
			r = ahead->source.next(ahead->source.data, &row, &block);
			if (r) {
				chunk->end = r;
				chunk->error = ahead->own.error;
				is_last = r == TS_SBT_E_END || r == TS_SBT_E_LIMIT;
				break;
			}
			chunk->entries[chunk->n++] =
				(struct entry){row.any, row.schema, row.session, (uint32_t)block};
		}
	} while (exchange(ahead, is_last));
	ahead->source.finish(ahead->source.data);
	return NULL;
}

/* ---- the consumer ---------------------------------------------------------------------------- */

static void deinit(struct ts_row_ahead *ahead)
{
	for (unsigned i = 0; i < N_CHUNKS; i++) {
		if (!ahead->chunks[i])
			continue;
		free_batches(ahead->chunks[i]->retired);
		free(ahead->chunks[i]->loads);
		free(ahead->chunks[i]);
	}
	free_batches(ahead->retired);
	ts_reader_twin_deinit(&ahead->own);
	free(ahead);
}

int ts_row_ahead_new(struct ts_sbt_reader *reader, const struct ts_row_source *source,
		     struct ts_sbt_reader **ret_reader, struct ts_row_batch ***ret_retired,
		     struct ts_row_ahead **ret_ahead)
{
	struct ts_row_ahead *ahead = calloc(1, sizeof(*ahead));
	int r;

	if (!ahead)
		return -ENOMEM;
	ahead->source = *source;
	ahead->pid = getpid();
	ahead->reader = reader;
	r = ts_reader_twin_init(&ahead->own, reader);
	ahead->own.on_rows = on_rows;
	ahead->own.on_rows_data = ahead;
	ahead->own.cancel = &ahead->stop;
	for (unsigned i = 0; !r && i < N_CHUNKS; i++) {
		ahead->chunks[i] = calloc(1, sizeof(struct chunk));
		if (!ahead->chunks[i])
			r = -ENOMEM;
		else if (i)
			put(&ahead->empty, ahead->chunks[i]);
	}
	ahead->filling = ahead->chunks[0];
	if (r) {
		deinit(ahead);
		return r;
	}
	/* These functions of glibc do not fail with default attributes. */
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	*ret_reader = &ahead->own;
	*ret_retired = &ahead->retired;
	r = ts_sbt_thread_start(&ahead->thread, run, ahead);
	if (r) {
		*ret_reader = reader;
		*ret_retired = NULL;
		deinit(ahead);
		return r;
	}
	*ret_ahead = ahead;
	return 0;
}

void ts_row_ahead_free(struct ts_row_ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->pid == getpid()) {
		pthread_mutex_lock(&ahead->lock);
		__atomic_store_n(&ahead->stop, 1, __ATOMIC_RELAXED);
		pthread_cond_signal(&ahead->changed);
		pthread_mutex_unlock(&ahead->lock);
		pthread_join(ahead->thread, NULL);
		pthread_cond_destroy(&ahead->changed);
		pthread_mutex_destroy(&ahead->lock);
	}
	deinit(ahead);
}

/* Returns the present chunk to the thread, and waits for the next one. */
static int take(struct ts_row_ahead *ahead)
{
	struct ts_sbt_reader *reader = ahead->reader;

	if (ahead->pid != getpid())
		return ts_sbt_reader_fail(reader, -ECHILD, 0,
					  "a fork does not copy the thread that reads ahead");
	if (ts_sbt_reader_is_cancelled(reader))
		return ts_sbt_reader_fail(reader, -ECANCELED, 0, "cancelled");
	pthread_mutex_lock(&ahead->lock);
	if (ahead->present) {
		put(&ahead->empty, ahead->present);
		if (ahead->empty.n >= WAKE_CHUNKS)
			pthread_cond_signal(&ahead->changed);
	}
	while (!ahead->ready.n)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	ahead->present = get(&ahead->ready);
	pthread_mutex_unlock(&ahead->lock);
	ahead->at = 0;
	for (size_t i = 0; reader->on_rows && i < ahead->present->n_loads; i++)
		reader->on_rows(ahead->present->loads[i], reader->on_rows_data);
	return 0;
}

/* Returns the result after the last row of the present chunk, once; 0: go on. */
static int take_end(struct ts_row_ahead *ahead)
{
	int r = ahead->present->end;

	ahead->present->end = 0;
	if (r && r != TS_SBT_E_END)
		ahead->reader->error = ahead->present->error;
	if (r == TS_SBT_E_END || r == TS_SBT_E_LIMIT)
		ahead->end = r;
	return r;
}

int ts_row_ahead_next(struct ts_row_ahead *ahead, struct ts_sbt_row *ret_row)
{
	const struct entry *entry;
	int r;

	while (!ahead->present || ahead->at == ahead->present->n) {
		if (ahead->end)
			return ahead->end;
		r = ahead->present ? take_end(ahead) : 0;
		r = r ? r : take(ahead);
		if (r)
			return r;
	}
	entry = &ahead->present->entries[ahead->at++];
	ahead->block = entry->block;
	ret_row->type = entry->schema->type;
	ret_row->session = entry->session;
	ret_row->schema = entry->schema;
	ret_row->any = entry->row;
	return 0;
}

size_t ts_row_ahead_block(const struct ts_row_ahead *ahead)
{
	return ahead->block;
}

uint64_t ts_row_ahead_decoded(const struct ts_row_ahead *ahead)
{
	return ahead->present ? ahead->present->n_decoded : 0;
}
