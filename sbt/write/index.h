/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of blocks that a writer keeps for the index of its file. Every TS_INDEX_FOLD_BLOCKS
 * entries are encoded as their index block, which takes a fifth of their bytes or less. Private to
 * sbt/write. Not thread-safe.
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

/* A zero-initialised struct is empty. ts_index_deinit() frees it. */
struct ts_index {
	struct ts_buffer open;	/* struct ts_sbt_block: the last entries */
	struct ts_buffer folds; /* struct ts_index_fold: the entries before them */
	uint64_t fold_bytes;	/* of all folds */
	uint64_t n_blocks;	/* all entries */
};

void ts_index_deinit(struct ts_index *index);

/* Adds an entry. Returns 0 or -ENOMEM. */
int ts_index_add(struct ts_index *index, const struct ts_sbt_block *block);

/*
 * Removes the newest entries until n_blocks are left. The caller ensures that no removed entry is
 * in a fold.
 */
void ts_index_rewind(struct ts_index *index, uint64_t n_blocks);

/*
 * Encodes ("folds") the oldest open entries while there are enough for an index block. If memory is
 * short, the entries stay open.
 */
void ts_index_fold(struct ts_index *index, struct ts_encoder *encoder);

/*
 * Calls look() for all entries in order. If look() returns another value than 0, the walk ends and
 * returns this value. Returns 0 or -ENOMEM otherwise.
 */
int ts_index_each(const struct ts_index *index,
		  int (*look)(void *data, const struct ts_sbt_block *block), void *data);

/*
 * Appends the index block of the open entries and the end marker to `out`, and numbers all index
 * blocks. `index_off` is the offset of the first index block. Returns 0 or -ENOMEM.
 */
int ts_index_end(struct ts_index *index, struct ts_encoder *encoder, uint64_t index_off,
		 struct ts_buffer *out);

/* Returns the bytes of memory. */
uint64_t ts_index_memory(const struct ts_index *index);

/* Returns an upper bound of the index's bytes in the file, without the end marker. */
static inline uint64_t ts_index_most_bytes(const struct ts_index *index)
{
	return index->fold_bytes + 2 * index->open.n;
}
