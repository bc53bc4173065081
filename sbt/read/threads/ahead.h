/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rows ahead of their consumer, in a thread. The thread calls a source for one row after
 * another and lists the rows in a bounded queue; the consumer gets the same rows and the same
 * errors in the same order. Private to sbt/.
 *
 * All functions are called by the consumer's thread. The source belongs to the thread from
 * ts_row_ahead_new() to ts_row_ahead_free().
 */
#pragma once

#include "sbt/read/reader-internal.h"

/* Memory of rows. The source allocates it with malloc(). */
struct ts_row_batch {
	struct ts_row_batch *next; /* in a list of retired batches */
	size_t n_bytes;		   /* of `rows` */
	uint8_t rows[] __attribute__((aligned(16)));
};

struct ts_row_source {
	/*
	 * As ts_sbt_cursor_next(), with the number of the row's block. The row lies in a batch. The
	 * source does not free or change a batch whose rows were returned: it adds the batch to
	 * the list of retired batches.
	 */
	int (*next)(void *data, struct ts_sbt_row *ret_row, uint64_t *ret_block);
	/* As ts_sbt_cursor_decoded(). */
	uint64_t (*decoded)(const void *data);
	/* Takes ownership of a retired batch whose rows nobody reads any more. */
	void (*recycle)(void *data, struct ts_row_batch *batch);
	/* The thread's last call: no other call follows. */
	void (*finish)(void *data);
	void *data;
};

struct ts_row_ahead;

/*
 * Starts the thread. `reader` is the consumer's reader: its errors, its progress and its
 * cancellation are the consumer's. *ret_reader is the reader that the source uses from now on; it
 * has its own state, shares the descriptors, and belongs to *ret_ahead. *ret_retired is the list to
 * which the source adds retired batches. -EAGAIN or -ENOMEM: no thread was started, and the source
 * can be used without one.
 */
int ts_row_ahead_new(struct ts_sbt_reader *reader, const struct ts_row_source *source,
		     struct ts_sbt_reader **ret_reader, struct ts_row_batch ***ret_retired,
		     struct ts_row_ahead **ret_ahead);

/* Ends the thread, waits for it, and frees the queue. Accepts NULL. */
void ts_row_ahead_free(struct ts_row_ahead *ahead);

/* As ts_sbt_cursor_next(). -ECHILD: the thread stayed in the parent process of a fork. */
int ts_row_ahead_next(struct ts_row_ahead *ahead, struct ts_sbt_row *ret_row);

/* As ts_sbt_cursor_block() and ts_sbt_cursor_decoded(), for the last returned row. */
size_t ts_row_ahead_block(const struct ts_row_ahead *ahead);
uint64_t ts_row_ahead_decoded(const struct ts_row_ahead *ahead);
