/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of blocks that a writer keeps for the index of its file. TS_INDEX_FOLD_BLOCKS entries at a time become the index
 * block that they are in the file, which has a fifth of their bytes or less. Private to sbt/write. Not thread-safe.
 */
#pragma once

#include "sbt/format/block.h"

/* Entries of one index block; at most TS_SBT_MAX_ROWS. */
#define TS_INDEX_FOLD_BLOCKS 8192u

/* An encoded index block. */
struct ts_index_fold {
	uint8_t *bytes;
	size_t n_bytes;
};

/* Zero-initialised is empty. */
struct ts_index {
	struct ts_buffer open;	/* of struct ts_sbt_block: the last entries */
	struct ts_buffer folds; /* of struct ts_index_fold: the entries before them */
	uint64_t fold_bytes;	/* of all folds */
	uint64_t n_blocks;	/* entries in all */
};

void ts_index_deinit(struct ts_index *index);

/* Adds an entry. 0 or -ENOMEM. */
int ts_index_add(struct ts_index *index, const struct ts_sbt_block *block);

/* Removes the entries that were added after there were n_blocks; none of them is in a fold. */
void ts_index_rewind(struct ts_index *index, uint64_t n_blocks);

/* Folds the entries that fill an index block. Without memory they stay as they are. */
void ts_index_fold(struct ts_index *index, struct ts_encoder *encoder);

/* Calls look() with all entries in order, until it returns another value than 0, which is returned; or -ENOMEM. */
int ts_index_each(const struct ts_index *index,
		  int (*look)(void *data, const struct ts_sbt_block *block), void *data);

/* Appends the index block of the open entries and the end marker to `out`, and numbers all index blocks. 0 or -ENOMEM. */
int ts_index_end(struct ts_index *index, struct ts_encoder *encoder, uint64_t index_off,
		 struct ts_buffer *out);

/* Bytes of memory. */
uint64_t ts_index_memory(const struct ts_index *index);

/* The most that the index, without its end marker, takes in the file. */
static inline uint64_t ts_index_most_bytes(const struct ts_index *index)
{
	return index->fold_bytes + 2 * index->open.n;
}
