/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for arrays of all that a window has: in large pages where it is much, as faults for many small ones cost more than
 * what is put there. free() gives it back. One thread.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for n items; NULL: there is none. */
void *ts_largearray_alloc(size_t n, size_t bytes);
void *ts_largearray_alloc_zeroed(size_t n, size_t bytes);
/*
 * `items`: a pointer to the pointer of an array. It is to hold so many, no fewer than before; twice as many; one more than n.
 * -ENOMEM: it is as it was.
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
