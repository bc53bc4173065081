/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates large arrays in huge pages. For an array of all rows of a window, page faults of small
 * pages cost more than filling the array. Free an array with free(). Not thread-safe.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns room for n items, or NULL if memory is short. */
void *ts_largearray_alloc(size_t n, size_t bytes);
void *ts_largearray_alloc_zeroed(size_t n, size_t bytes);
/*
 * `items` points to the pointer of an array. _resize() sets its capacity to n_wanted, at least the
 * old one; _double() doubles it; _grow() makes room for item n. -ENOMEM: the array is unchanged.
 */
int ts_largearray_resize(void *items, size_t n_wanted, size_t *n_allocated, size_t bytes);
int ts_largearray_double(void *items, size_t *n_allocated, size_t bytes);

static inline int ts_largearray_grow(void *items, size_t n, size_t *n_allocated, size_t bytes)
{
	return n < *n_allocated ? 0 : ts_largearray_double(items, n_allocated, bytes);
}

#ifdef __cplusplus
}
#endif
