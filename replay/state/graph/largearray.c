/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates arrays in huge pages: see largearray.h. state-graph.c, graphpath.c, replay/emulate and
 * tools/export call this file.
 */
#include "replay/state/graph/largearray.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE  ((size_t)2 << 20)
#define FIRST_ITEMS 64u

void *ts_largearray_alloc(size_t n, size_t bytes)
{
	size_t n_bytes, whole;
	void *at;

	if (__builtin_mul_overflow(n, bytes, &n_bytes) || n_bytes > SIZE_MAX / 2)
		return NULL;
	if (n_bytes < 2 * LARGE_PAGE)
		return malloc(n_bytes);
	whole = (n_bytes + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	at = aligned_alloc(LARGE_PAGE, whole);
	if (at)
		(void)madvise(at, whole, MADV_HUGEPAGE);
	return at;
}

/* The kernel clears a fresh mapping; clearing it again would cost as much as filling it. */
void *ts_largearray_alloc_zeroed(size_t n, size_t bytes)
{
	void *at = calloc(n, bytes);
	uintptr_t from, to;

	if (!at || n * bytes < 2 * LARGE_PAGE)
		return at;
	from = ((uintptr_t)at + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	to = ((uintptr_t)at + n * bytes) & ~(LARGE_PAGE - 1);
	(void)madvise((void *)from, to - from, MADV_HUGEPAGE);
	return at;
}

int ts_largearray_resize(void *items, size_t n_wanted, size_t *n_allocated, size_t bytes)
{
	void *old, *grown = ts_largearray_alloc(n_wanted, bytes);

	if (!grown)
		return -ENOMEM;
	memcpy(&old, items, sizeof(old));
	if (old)
		memcpy(grown, old, *n_allocated * bytes);
	free(old);
	memcpy(items, &grown, sizeof(grown));
	*n_allocated = n_wanted;
	return 0;
}

int ts_largearray_double(void *items, size_t *n_allocated, size_t bytes)
{
	return ts_largearray_resize(items, *n_allocated ? 2 * *n_allocated : FIRST_ITEMS,
				    n_allocated, bytes);
}
