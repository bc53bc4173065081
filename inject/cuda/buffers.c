/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of activity buffers for CUPTI. recorder.c calls this file. This module zeroes each
 * returned buffer, so that CUPTI need not zero it on the application's thread
 * (TS_CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER).
 */
#include <sys/mman.h>

#include "inject/cuda/buffers.h"
#include "inject/ring/unlocked.h"

/*
 * Takes a discard buffer. If all are taken, two threads write to the same one; there is no better
 * choice.
 */
static uint8_t *take_discard(struct ts_buffers *buffers)
{
	uint32_t taken = __atomic_load_n(&buffers->discards_taken, __ATOMIC_RELAXED), i;

	do {
		if (taken == UINT32_MAX)
			return buffers->discards[0];
		i = (uint32_t)__builtin_ctz(~taken);
		/* Acquire pairs with the release in ts_buffers_give(): the buffer is zeroed. */
	} while (!__atomic_compare_exchange_n(&buffers->discards_taken, &taken, taken | 1u << i,
					      false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	return buffers->discards[i];
}

/*
 * Replaces `from` by `to` in the table. A place always exists: the table has as many places as
 * buffers can be mapped.
 */
static void exchange(struct ts_buffers *buffers, uint8_t *from, uint8_t *to)
{
	uint8_t *expected;
	uint32_t i;

	for (i = 0; i < TS_BUFFERS_MAX; i++) {
		expected = from;
		if (__atomic_load_n(&buffers->mapped[i], __ATOMIC_RELAXED) == from &&
		    __atomic_compare_exchange_n(&buffers->mapped[i], &expected, to, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
}

bool ts_buffers_is_ours(const struct ts_buffers *buffers, const uint8_t *buffer)
{
	uint32_t i;

	if (ts_buffers_is_discard(buffers, buffer))
		return true;
	for (i = 0; i < TS_BUFFERS_MAX; i++)
		if (__atomic_load_n(&buffers->mapped[i], __ATOMIC_RELAXED) == buffer)
			return true;
	return false;
}

uint8_t *ts_buffers_take(struct ts_buffers *buffers)
{
	uint8_t *buffer;
	void *pages;
	uint32_t i;

	for (i = 0; i < TS_BUFFERS_KEPT; i++) {
		if (!__atomic_load_n(&buffers->kept[i], __ATOMIC_RELAXED))
			continue;
		/* Acquire pairs with the release in ts_buffers_give(): the buffer is zeroed. */
		buffer = __atomic_exchange_n(&buffers->kept[i], NULL, __ATOMIC_ACQUIRE);
		if (buffer)
			return buffer;
	}
	if (__atomic_add_fetch(&buffers->n_mapped, 1, __ATOMIC_RELAXED) <= TS_BUFFERS_MAX) {
		/* mmap(), not malloc(): the application's allocator may have made the CUDA call. */
		pages = ts_unlocked_map(TS_BUFFER_BYTES);
		if (pages) {
			exchange(buffers, NULL, pages);
			return pages;
		}
	}
	__atomic_sub_fetch(&buffers->n_mapped, 1, __ATOMIC_RELAXED);
	return take_discard(buffers);
}

void ts_buffers_give(struct ts_buffers *buffers, uint8_t *buffer, size_t n_written)
{
	const bool is_discard = ts_buffers_is_discard(buffers, buffer);
	const size_t n_bytes = is_discard ? TS_DISCARD_BYTES : TS_BUFFER_BYTES;
	uint32_t i;

	memset(buffer, 0, n_written < n_bytes ? n_written : n_bytes);
	if (is_discard) {
		i = (uint32_t)((size_t)(buffer - buffers->discards[0]) / TS_DISCARD_BYTES);
		__atomic_fetch_and(&buffers->discards_taken, ~(1u << i), __ATOMIC_RELEASE);
		return;
	}
	for (i = 0; i < TS_BUFFERS_KEPT; i++) {
		uint8_t *none = NULL;

		if (!__atomic_load_n(&buffers->kept[i], __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&buffers->kept[i], &none, buffer, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
	/*
	 * The buffer leaves the table first: after munmap(), another mapping may get its address.
	 */
	exchange(buffers, buffer, NULL);
	munmap(buffer, TS_BUFFER_BYTES);
	__atomic_sub_fetch(&buffers->n_mapped, 1, __ATOMIC_RELAXED);
}
