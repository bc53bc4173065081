/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that CUPTI writes activity records into: a bounded pool of mapped buffers. Taking one is done on an
 * application's thread inside a CUDA call, so it takes no lock; thread-safe.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_BUFFER_BYTES	 (1024u * 1024)
#define TS_BUFFERS_MAX	 256u /* CUPTI 13 keeps one for each thread */
#define TS_BUFFERS_KEPT	 32u  /* of those given back; more are unmapped */
#define TS_DISCARD_BYTES 4096u

struct ts_buffers {
	uint8_t *kept[TS_BUFFERS_KEPT];
	uint32_t n_mapped;
	/* What CUPTI writes while the pool is exhausted; looked at by nobody. */
	uint8_t discard[TS_DISCARD_BYTES] __attribute__((aligned(64)));
};

/*
 * A zeroed buffer; where there is none, the discard buffer, which is never NULL: NULL crashes some versions of CUPTI.
 * ts_buffers_is_discard() tells it apart.
 */
uint8_t *ts_buffers_take(struct ts_buffers *buffers);

/* Takes it back. */
void ts_buffers_give(struct ts_buffers *buffers, uint8_t *buffer);

static inline bool ts_buffers_is_discard(const struct ts_buffers *buffers, const uint8_t *buffer)
{
	return buffer == buffers->discard;
}
