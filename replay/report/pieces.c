/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats pieces of a text in threads: see pieces.h. tools/export and the lists of this folder call
 * this module.
 *
 *     caller: items --> filled --> running, in any thread --> done --> written, one at a time
 *             n_filled           n_started                             n_written
 *
 * The pieces lie in a ring, which bounds the memory. If the ring is full and the threads are few,
 * the caller formats the next piece itself instead of waiting. So two threads share the work of the
 * caller and of the formatting evenly, whatever each of them costs. Writing a large file costs as
 * much as formatting it; so a thread writes, too, if the kind of text permits it.
 */
#include "replay/report/pieces.h"

#include <stdlib.h>

#include "proto/abi/base.h"
#include "proto/abi/grow.h"
#include "sbt/reader-threads.h"

/* Pieces that the caller formats before it starts threads: a short text does not pay for them. */
#define N_ALONE (16u / TS_SBT_THREADS_SHARE)
/* With more threads, the caller's help would be a small part of the work. */
#define MAX_HELPED	  3u
#define PIECES_PER_THREAD 2u
#define MAX_PIECES	  (PIECES_PER_THREAD * TS_SBT_MAX_THREADS)

struct piece {
	uint8_t *items;
	size_t n_bytes, n_allocated;
	struct ts_json text;
	int error;    /* of formatting */
	bool is_done; /* guarded by the lock */
};

struct worker {
	struct ts_pieces *pieces;
	pthread_t thread;
	void *state;
};

struct ts_pieces {
	struct ts_pieces_kind kind;
	void *state; /* of the caller's thread */
	int error;   /* the result of all further calls */
	struct piece *filling;
	struct piece ring[MAX_PIECES];
	unsigned n_ring; /* pieces in use */
	unsigned n_workers;
	struct worker workers[TS_SBT_MAX_THREADS];
	sigset_t signals; /* that the caller's thread blocks */

	pthread_mutex_t lock;
	pthread_cond_t filled; /* or `stop` was set */
	pthread_cond_t done;   /* or written; the caller waits for it */
	/*
	 * Numbers of pieces since the start; piece `i` lies in ring[i % n_ring]. The lock guards
	 * them and the following. Only the caller's thread changes n_filled.
	 */
	uint64_t n_filled, n_started, n_written;
	bool is_writing;
	int write_error; /* the first error of `write` or of a piece, in order */
	bool stop;
};

static struct piece *piece_at(struct ts_pieces *pieces, uint64_t number)
{
	return &pieces->ring[number % pieces->n_ring];
}

static void format_piece(const struct ts_pieces *pieces, struct piece *piece, void *state,
			 bool in_order)
{
	const struct ts_pieces_kind *kind = &pieces->kind;
	/* Each appended text changes this struct. In the ring it would share its cache line. */
	struct ts_json text = piece->text;
	int r;

	ts_json_clear(&text);
	r = in_order ? kind->format_in_order(kind->data, state, piece->items, piece->n_bytes, &text)
		     : kind->format(kind->data, state, piece->items, piece->n_bytes, &text);
	piece->text = text;
	piece->error = r ? r : text.error;
}

/* Formats the next piece. The caller holds the lock, which is free while the piece is formatted. */
static void format_next(struct ts_pieces *pieces, void *state)
{
	const uint64_t number = pieces->n_started++;
	struct piece *piece = piece_at(pieces, number);
	const bool in_order = state == pieces->state && number == pieces->n_written &&
			      pieces->kind.format_in_order;

	pthread_mutex_unlock(&pieces->lock);
	format_piece(pieces, piece, state, in_order);
	pthread_mutex_lock(&pieces->lock);
	piece->is_done = true;
	pthread_cond_signal(&pieces->done);
}

/*
 * Returns whether a thread may write the oldest piece now. The caller's thread also writes pieces
 * that it has to format in order. Holds the lock.
 */
static bool is_ready(const struct ts_pieces *pieces, bool is_caller)
{
	const struct piece *oldest = &pieces->ring[pieces->n_written % pieces->n_ring];

	if (pieces->is_writing || pieces->write_error || pieces->n_written == pieces->n_filled ||
	    !oldest->is_done)
		return false;
	return is_caller || (pieces->kind.writes_anywhere && oldest->error != TS_PIECES_IN_ORDER);
}

/* Writes the oldest piece. The thread holds the lock, which is free while it writes. */
static void write_oldest(struct ts_pieces *pieces)
{
	struct piece *piece = piece_at(pieces, pieces->n_written);
	const struct ts_pieces_kind *kind = &pieces->kind;
	int r = 0;

	pieces->is_writing = true;
	pthread_mutex_unlock(&pieces->lock);
	if (piece->error == TS_PIECES_IN_ORDER)
		format_piece(pieces, piece, pieces->state, true);
	if (piece->text.n_bytes)
		r = kind->write(kind->data, piece->text.data, piece->text.n_bytes);
	pthread_mutex_lock(&pieces->lock);
	pieces->is_writing = false;
	pieces->write_error = r ? r : piece->error;
	piece->n_bytes = 0;
	piece->is_done = false;
	pieces->n_written++;
	pthread_cond_signal(&pieces->done);
}

void ts_pieces_accept_signals(const sigset_t *signals)
{
	static const int numbers[] = {SIGPIPE, SIGXFSZ};
	sigset_t accepted;

	sigemptyset(&accepted);
	for (size_t i = 0; i < TS_ARRAY_LEN(numbers); i++)
		if (!sigismember(signals, numbers[i]))
			sigaddset(&accepted, numbers[i]);
	pthread_sigmask(SIG_UNBLOCK, &accepted, NULL);
}

static void *run(void *data)
{
	const struct worker *worker = data;
	struct ts_pieces *pieces = worker->pieces;

	if (pieces->kind.writes_anywhere)
		ts_pieces_accept_signals(&pieces->signals);
	pthread_mutex_lock(&pieces->lock);
	while (!pieces->stop) {
		if (is_ready(pieces, false))
			write_oldest(pieces);
		else if (pieces->n_started < pieces->n_filled)
			format_next(pieces, worker->state);
		else
			pthread_cond_wait(&pieces->filled, &pieces->lock);
	}
	pthread_mutex_unlock(&pieces->lock);
	return NULL;
}

static void free_state(struct ts_pieces *pieces, void *state)
{
	if (pieces->kind.state_deinit)
		pieces->kind.state_deinit(state);
	free(state);
}

static int new_state(struct ts_pieces *pieces, void **ret_state)
{
	void *state = calloc(1, pieces->kind.state_bytes);
	int r = state ? 0 : -ENOMEM;

	if (!r && pieces->kind.state_init)
		r = pieces->kind.state_init(pieces->kind.data, state);
	if (r) {
		free(state);
		return r;
	}
	*ret_state = state;
	return 0;
}

static bool start_worker(struct ts_pieces *pieces)
{
	struct worker *worker = &pieces->workers[pieces->n_workers];

	worker->pieces = pieces;
	if (new_state(pieces, &worker->state))
		return false;
	if (ts_sbt_thread_start(&worker->thread, run, worker)) {
		free_state(pieces, worker->state);
		return false;
	}
	pieces->n_workers++;
	return true;
}

/*
 * Starts the threads. The ring is empty: so its size may change. The thread that reads ahead has
 * less to do than each of these, and so have the threads that decode: they are not counted.
 */
static void start(struct ts_pieces *pieces)
{
	const unsigned n_threads = ts_sbt_max_threads();

	pthread_mutex_lock(&pieces->lock);
	while (pieces->n_workers + 1 < n_threads && start_worker(pieces))
		;
	if (pieces->n_workers)
		pieces->n_ring = PIECES_PER_THREAD * (pieces->n_workers + 1);
	pthread_mutex_unlock(&pieces->lock);
}

/*
 * Returns whether the caller's thread writes the oldest piece now. If another thread may write it,
 * the caller writes only to make room. Holds the lock.
 */
static bool writes_now(const struct ts_pieces *pieces, bool is_enough)
{
	return is_ready(pieces, true) && (!is_enough || !is_ready(pieces, false));
}

/*
 * Writes texts that are done. If more than n_left pieces are not written then, writes and formats
 * pieces, or waits for them.
 */
static int collect(struct ts_pieces *pieces, uint64_t n_left)
{
	const bool may_help = pieces->n_workers <= MAX_HELPED;
	int r;

	pthread_mutex_lock(&pieces->lock);
	while (!pieces->write_error && pieces->n_written < pieces->n_filled) {
		const bool is_enough = pieces->n_filled - pieces->n_written <= n_left;

		if (writes_now(pieces, is_enough))
			write_oldest(pieces);
		else if (is_enough)
			break;
		else if (may_help && pieces->n_started < pieces->n_filled)
			format_next(pieces, pieces->state);
		else
			pthread_cond_wait(&pieces->done, &pieces->lock);
	}
	r = pieces->write_error;
	pthread_mutex_unlock(&pieces->lock);
	return r;
}

/* Hands over the piece that was filled, and makes room for the next one. */
static int hand_over(struct ts_pieces *pieces)
{
	pthread_mutex_lock(&pieces->lock);
	pieces->n_filled++;
	pthread_cond_signal(&pieces->filled);
	pthread_mutex_unlock(&pieces->lock);
	pieces->error = collect(pieces, pieces->n_ring - 1);
	/* Without threads, all pieces are written now. */
	if (!pieces->error && !pieces->n_workers && pieces->n_written == N_ALONE)
		start(pieces);
	pieces->filling = piece_at(pieces, pieces->n_filled);
	return pieces->error;
}

int ts_pieces_new(const struct ts_pieces_kind *kind, struct ts_pieces **ret_pieces)
{
	struct ts_pieces *pieces = calloc(1, sizeof(*pieces));
	int r;

	if (!pieces)
		return -ENOMEM;
	pieces->kind = *kind;
	if (!kind->piece_bytes)
		pieces->kind.piece_bytes = TS_PIECES_BYTES;
	pieces->n_ring = 1;
	pieces->filling = pieces->ring;
	pthread_sigmask(SIG_SETMASK, NULL, &pieces->signals);
	r = new_state(pieces, &pieces->state);
	if (r) {
		free(pieces);
		return r;
	}
	/* These functions of glibc do not fail with default attributes. */
	pthread_mutex_init(&pieces->lock, NULL);
	pthread_cond_init(&pieces->filled, NULL);
	pthread_cond_init(&pieces->done, NULL);
	*ret_pieces = pieces;
	return 0;
}

void ts_pieces_free(struct ts_pieces *pieces)
{
	if (!pieces)
		return;
	pthread_mutex_lock(&pieces->lock);
	pieces->stop = true;
	pthread_cond_broadcast(&pieces->filled);
	pthread_mutex_unlock(&pieces->lock);
	for (unsigned i = 0; i < pieces->n_workers; i++) {
		pthread_join(pieces->workers[i].thread, NULL);
		free_state(pieces, pieces->workers[i].state);
	}
	free_state(pieces, pieces->state);
	for (unsigned i = 0; i < MAX_PIECES; i++) {
		free(pieces->ring[i].items);
		ts_json_deinit(&pieces->ring[i].text);
	}
	pthread_cond_destroy(&pieces->done);
	pthread_cond_destroy(&pieces->filled);
	pthread_mutex_destroy(&pieces->lock);
	free(pieces);
}

int ts_pieces_add(struct ts_pieces *pieces, size_t n_bytes, void **ret_item)
{
	struct piece *piece = pieces->filling;

	if (!pieces->error && piece->n_bytes &&
	    piece->n_bytes + n_bytes > pieces->kind.piece_bytes && !hand_over(pieces))
		piece = pieces->filling;
	if (!pieces->error && TS_GROW(piece->items, piece->n_allocated, piece->n_bytes + n_bytes))
		pieces->error = -ENOMEM;
	if (pieces->error)
		return pieces->error;
	*ret_item = piece->items + piece->n_bytes;
	piece->n_bytes += n_bytes;
	return 0;
}

int ts_pieces_end(struct ts_pieces *pieces)
{
	if (!pieces->error && pieces->filling->n_bytes)
		hand_over(pieces);
	if (!pieces->error)
		pieces->error = collect(pieces, 0);
	return pieces->error;
}
