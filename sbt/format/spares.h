/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of decoded blocks that is kept for the next blocks. Without it, the C library returns the
 * memory of each block to the kernel, and the kernel clears it again for the next block. A
 * zero-initialised struct is empty. Private to sbt/; one thread at a time.
 */
#pragma once

#include <malloc.h>
#include <stdlib.h>

#define TS_SPARES	   6u
#define TS_SPARE_MAX_BYTES (4ul * 1024 * 1024) /* larger memory is freed */
#define TS_SPARE_FACTOR	   8u /* memory that is more times larger than requested is not used */

struct ts_spares {
	void *at[TS_SPARES]; /* NULL: none */
};

static inline void ts_spares_deinit(struct ts_spares *spares)
{
	for (unsigned i = 0; i < TS_SPARES; i++) {
		free(spares->at[i]);
		spares->at[i] = NULL;
	}
}

/* As malloc(): free() and ts_spares_put() take the memory back. `spares` may be NULL. */
static inline void *ts_spares_take(struct ts_spares *spares, size_t n_bytes)
{
	for (unsigned i = 0; spares && i < TS_SPARES; i++) {
		void *at = spares->at[i];
		size_t has = at ? malloc_usable_size(at) : 0;

		if (!at || has < n_bytes || has / TS_SPARE_FACTOR > n_bytes)
			continue;
		spares->at[i] = NULL;
		return at;
	}
	return malloc(n_bytes ? n_bytes : 1);
}

/* Keeps memory, or frees it. If there is no room, the smallest is freed. NULL is fine. */
static inline void ts_spares_put(struct ts_spares *spares, void *memory)
{
	size_t n_bytes = memory ? malloc_usable_size(memory) : 0, least_bytes = n_bytes;
	unsigned least = TS_SPARES;

	for (unsigned i = 0; i < TS_SPARES && n_bytes <= TS_SPARE_MAX_BYTES; i++) {
		size_t has = spares->at[i] ? malloc_usable_size(spares->at[i]) : 0;

		if (has < least_bytes) {
			least = i;
			least_bytes = has;
		}
	}
	if (least < TS_SPARES) {
		free(spares->at[least]);
		spares->at[least] = memory;
	} else {
		free(memory);
	}
}
