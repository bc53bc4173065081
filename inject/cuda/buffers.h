/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that CUPTI writes activity records into: a bounded pool of mapped buffers. Taking one is done on an
 * application's thread inside a CUDA call, so it takes no lock; thread-safe.
 */
#pragma once

#include "proto/abi/base.h"

/*
 * CUPTI delivers a buffer when it is full, or flushed while nothing in it is under way: on a busy GPU that is when it
 * is full. This much holds some 1600 kernels.
 */
#define TS_BUFFER_BYTES	 (256u * 1024)
#define TS_BUFFERS_MAX	 1024u /* CUPTI 13 keeps one for each thread */
#define TS_BUFFERS_KEPT	 32u   /* of those given back; more are unmapped */
#define TS_DISCARD_BYTES 4096u
#define TS_DISCARDS	 32u /* as many as a word has bits */

struct ts_buffers {
	uint8_t *kept[TS_BUFFERS_KEPT];
	uint32_t n_mapped;
	/* Every one that is mapped, wherever it is now: what CUPTI gives back may be another tool's. */
	uint8_t *mapped[TS_BUFFERS_MAX];
	/*
	 * What CUPTI writes to while the pool is exhausted; looked at by nobody. Several, for several threads may
	 * want one at once: a bit for each that is taken.
	 */
	uint32_t discards_taken;
	uint8_t discards[TS_DISCARDS][TS_DISCARD_BYTES] __attribute__((aligned(64)));
};

/*
 * A zeroed buffer; where there is none, a discard buffer, and never NULL: NULL crashes some versions of CUPTI.
 * ts_buffers_is_discard() tells it apart.
 */
uint8_t *ts_buffers_take(struct ts_buffers *buffers);

/* Takes it back, of which CUPTI wrote the first so many bytes. */
void ts_buffers_give(struct ts_buffers *buffers, uint8_t *buffer, size_t n_written);

/* Whether it came from ts_buffers_take(), and was not unmapped. */
bool ts_buffers_is_ours(const struct ts_buffers *buffers, const uint8_t *buffer);

static inline bool ts_buffers_is_discard(const struct ts_buffers *buffers, const uint8_t *buffer)
{
	return buffer >= buffers->discards[0] &&
	       buffer < buffers->discards[0] + sizeof(buffers->discards);
}
