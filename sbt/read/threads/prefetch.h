/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the next blocks of a cursor into rows, in threads. The cursor adds blocks in the order in
 * which it opens them, and takes their rows in the same order. A block that a thread could not
 * decode has no rows here: the cursor decodes it again, and reports the error. Private to sbt/.
 *
 * All functions are called by the thread that merges.
 */
#pragma once

#include "sbt/read/threads/ahead.h"

struct ts_prefetch;

/*
 * Starts up to n_threads threads. `reader` is copied; its descriptors, its list of blocks and its
 * cancellation must outlive the threads. Decoded rows and spare memory take at most max_bytes.
 * Returns 0, -ENOMEM or -EAGAIN.
 */
int ts_prefetch_new(const struct ts_sbt_reader *reader, unsigned n_threads, uint64_t max_bytes,
		    struct ts_prefetch **ret_prefetch);

/* Ends the threads and drops the rows that were not taken. Accepts NULL. */
void ts_prefetch_free(struct ts_prefetch *prefetch);

/* Adds a block of events. Returns false if the queue is full. */
bool ts_prefetch_add(struct ts_prefetch *prefetch, uint64_t block);

/*
 * Waits for the rows of the block, and returns them and the block's header. The caller owns the
 * rows. Returns NULL if `block` is not the oldest block that was added, or was not decoded.
 */
struct ts_row_batch *ts_prefetch_take(struct ts_prefetch *prefetch, uint64_t block,
				      struct ts_sbt_block_header *ret_header);

/* Takes ownership of memory for the rows of later blocks. */
void ts_prefetch_give(struct ts_prefetch *prefetch, struct ts_row_batch *batch);
