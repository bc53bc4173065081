/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool. Buffers come back zeroed, so that CUPTI can be told not to do it on the application's thread
 * (TS_CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER).
 */
#include <sys/mman.h>

#include "inject/cuda/buffers.h"

uint8_t *ts_buffers_take(struct ts_buffers *buffers)
{
	uint8_t *buffer;
	void *pages;
	uint32_t i;

	for (i = 0; i < TS_BUFFERS_KEPT; i++) {
		if (!__atomic_load_n(&buffers->kept[i], __ATOMIC_RELAXED))
			continue;
		/* Acquire pairs with the release in ts_buffers_give(): zeroed. */
		buffer = __atomic_exchange_n(&buffers->kept[i], NULL, __ATOMIC_ACQUIRE);
		if (buffer)
			return buffer;
	}
	if (__atomic_add_fetch(&buffers->n_mapped, 1, __ATOMIC_RELAXED) <= TS_BUFFERS_MAX) {
		/* Not malloc: the application's allocator may be what made the CUDA call. */
		pages = mmap(NULL, TS_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages != MAP_FAILED)
			return pages;
	}
	__atomic_sub_fetch(&buffers->n_mapped, 1, __ATOMIC_RELAXED);
	return buffers->discard;
}

void ts_buffers_give(struct ts_buffers *buffers, uint8_t *buffer)
{
	uint32_t i;

	if (ts_buffers_is_discard(buffers, buffer))
		return;
	memset(buffer, 0, TS_BUFFER_BYTES);
	for (i = 0; i < TS_BUFFERS_KEPT; i++) {
		uint8_t *none = NULL;

		if (!__atomic_load_n(&buffers->kept[i], __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&buffers->kept[i], &none, buffer, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
	munmap(buffer, TS_BUFFER_BYTES);
	__atomic_sub_fetch(&buffers->n_mapped, 1, __ATOMIC_RELAXED);
}
