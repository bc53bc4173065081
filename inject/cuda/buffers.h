/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that CUPTI writes activity records into: a bounded pool of mapped buffers. An
 * application's thread takes a buffer inside a CUDA call, so the pool has no lock. Thread-safe.
 */
#pragma once

#include "proto/abi/base.h"

/*
 * CUPTI delivers a full buffer, or at a flush a buffer without running work. On a busy GPU only
 * full buffers are delivered. A buffer holds about 1600 kernels.
 */
#define TS_BUFFER_BYTES	 (256u * 1024)
#define TS_BUFFERS_MAX	 1024u /* CUPTI 13 keeps one for each thread */
#define TS_BUFFERS_KEPT	 32u   /* returned buffers that stay mapped; more are unmapped */
#define TS_DISCARD_BYTES 4096u
#define TS_DISCARDS	 32u /* number of discard buffers; each has a bit in discards_taken */

struct ts_buffers {
	uint8_t *kept[TS_BUFFERS_KEPT];
	uint32_t n_mapped;
	/*
	 * All mapped buffers, in the pool or at CUPTI. CUPTI may return a buffer of another tool:
	 * such a buffer is not in this list.
	 */
	uint8_t *mapped[TS_BUFFERS_MAX];
	/*
	 * CUPTI writes to these buffers while the pool is exhausted; their records are never read.
	 * Several exist, because several threads may need one at once. discards_taken has a bit for
	 * each taken one.
	 */
	uint32_t discards_taken;
	uint8_t discards[TS_DISCARDS][TS_DISCARD_BYTES] __attribute__((aligned(64)));
};

/*
 * Takes a zeroed buffer. If there is none, returns a discard buffer; ts_buffers_is_discard()
 * recognises it. Never returns NULL: NULL crashes some versions of CUPTI.
 */
uint8_t *ts_buffers_take(struct ts_buffers *buffers);

/* Returns a buffer to the pool. CUPTI wrote the first n_written bytes. */
void ts_buffers_give(struct ts_buffers *buffers, uint8_t *buffer, size_t n_written);

/* True if the buffer came from ts_buffers_take() and is still mapped. */
bool ts_buffers_is_ours(const struct ts_buffers *buffers, const uint8_t *buffer);

static inline bool ts_buffers_is_discard(const struct ts_buffers *buffers, const uint8_t *buffer)
{
	return buffer >= buffers->discards[0] &&
	       buffer < buffers->discards[0] + sizeof(buffers->discards);
}
