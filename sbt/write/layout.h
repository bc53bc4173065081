/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays encoded blocks out as they lie in the file: numbers them, and gives short blocks their short
 * header. The blocks' memory must live as long as the layout. Private to sbt/. Not thread-safe.
 */
#pragma once

#include "sbt/format/block.h"

struct iovec;

/* Writes all bytes. Waits if the descriptor is non-blocking. */
int ts_sbt_write_all(int fd, struct iovec *iov, int n_iov);
/* Writes all bytes at an offset of a regular file. */
int ts_sbt_write_at(int fd, const uint8_t *bytes, size_t n, uint64_t off);

/* Called with the index entry of each block. Returns 0 or a negative errno. */
typedef int (*ts_layout_fn)(void *data, const struct ts_sbt_block *block);

/* A zero-initialised struct is empty. */
struct ts_layout {
	struct ts_buffer bytes;	 /* short blocks */
	struct ts_buffer pieces; /* struct ts_layout_piece */
};

/* Frees all memory. The layout is ready for use again. */
void ts_layout_deinit(struct ts_layout *layout);

/* Drops all blocks and keeps a little memory. */
void ts_layout_clear(struct ts_layout *layout);

/*
 * Adds the blocks in [blocks, blocks + n_bytes), numbered from *sequence; the first one lies at
 * *off in the file. Advances both, and calls `list` (NULL: no call) for each block. Returns 0,
 * -ENOMEM, or the first other value that list() returns.
 */
int ts_layout_add(struct ts_layout *layout, uint8_t *blocks, size_t n_bytes, uint64_t *off,
		  uint64_t *sequence, ts_layout_fn list, void *data);

/* Writes all blocks to the file. Returns 0 or a negative errno. */
int ts_layout_write(const struct ts_layout *layout, int fd);

/* Appends all blocks to `out`. Returns 0 or -ENOMEM. */
int ts_layout_append(const struct ts_layout *layout, struct ts_buffer *out);

/* Returns the bytes of memory. */
uint64_t ts_layout_memory(const struct ts_layout *layout);
