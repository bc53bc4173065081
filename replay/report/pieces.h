/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a long text from many items, in threads. The caller adds items; they are cut into pieces of
 * one size. Each piece is formatted by one thread into a text of its own, and the texts are written
 * in the order of the items. So the output is the same with any number of threads. Threads start
 * when the items are many (sbt/reader-threads.h); without a thread, the caller formats each piece
 * when it is full.
 *
 * Memory is bounded: two pieces and their texts for each thread. Functions are called by one
 * thread, and return 0, -ENOMEM, or the first error of `format` or `write` in the order of the
 * items. After an error, nothing more is formatted or written.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/rpc/json.h"

#define TS_PIECES_BYTES (32u * 1024)

/* Result of `format`: the piece needs format_in_order(). Differs from the codes of sbt/error.h. */
#define TS_PIECES_IN_ORDER 270

/* Limit of a text that waits to be written: names in a hostile trace are as long as it likes. */
#define TS_PIECES_TEXT_BYTES (8u << 20)

/* Receives whole lines, in order. A value other than 0 ends the writing. */
typedef int ts_lines_fn(void *data, const char *lines, size_t n_bytes);

struct ts_pieces_kind {
	/*
	 * Appends the text of the items to `text`; called in any thread. `state` is that thread's
	 * own memory. If the result is an error, the text so far is still written.
	 */
	int (*format)(void *data, void *state, const uint8_t *items, size_t n_bytes,
		      struct ts_json *text);
	/*
	 * NULL, or formats a piece after all pieces before it are written, in the caller's thread.
	 * Other threads may format later pieces meanwhile, but none writes: so this function may
	 * write the begin of a long text itself. Its result is an error or 0.
	 */
	int (*format_in_order)(void *data, void *state, const uint8_t *items, size_t n_bytes,
			       struct ts_json *text);
	ts_lines_fn *write;
	/*
	 * Any thread may write, one at a time. Such a thread gets SIGPIPE and SIGXFSZ as the
	 * caller's. False: only the caller's thread writes.
	 */
	bool writes_anywhere;
	size_t piece_bytes; /* 0: TS_PIECES_BYTES */
	void *data;	    /* for these functions */
	/* Memory of each thread, zeroed. The functions run in the caller's thread, or are NULL. */
	size_t state_bytes;
	int (*state_init)(void *data, void *state);
	void (*state_deinit)(void *state);
};

/*
 * Bounds the text of a piece: `format` and `format_in_order` call it after each item. Returns 0, or
 * a result that they return. In order, it writes a long text and empties it.
 */
static inline int ts_pieces_bound(bool in_order, ts_lines_fn *write, void *data,
				  struct ts_json *text)
{
	int r;

	if (text->n_bytes < TS_PIECES_TEXT_BYTES)
		return 0;
	if (!in_order)
		return TS_PIECES_IN_ORDER;
	r = write(data, text->data, text->n_bytes);
	ts_json_clear(text);
	return r;
}

struct ts_pieces;

int ts_pieces_new(const struct ts_pieces_kind *kind, struct ts_pieces **ret_pieces);

/* Drops the items that are not formatted, and ends the threads. Accepts NULL. */
void ts_pieces_free(struct ts_pieces *pieces);

/*
 * Adds an item of n_bytes, a multiple of 8. The caller fills it before the next call. Items of one
 * piece follow each other without a gap.
 */
int ts_pieces_add(struct ts_pieces *pieces, size_t n_bytes, void **ret_item);

/* Formats and writes all items. */
int ts_pieces_end(struct ts_pieces *pieces);

/*
 * For a thread that writes files: it gets SIGPIPE and SIGXFSZ as the caller's thread, which blocks
 * `signals`. So a write to a closed pipe ends the process, as if the caller's thread wrote.
 */
void ts_pieces_accept_signals(const sigset_t *signals);
