/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow by doubling. The owner has the pointer, the count of allocated elements and its
 * own count of used elements. The owner frees the array.
 */
#pragma once

#include <errno.h>
#include <stdlib.h>

#include "proto/abi/base.h"

#define TS_GROW_FIRST 16u

/*
 * Grows the array; `array` points to its pointer. Returns 0 or -ENOMEM; on failure the array is
 * unchanged.
 */
static inline int ts_grow(void *array, size_t *n_allocated, size_t n_wanted, size_t element_bytes)
{
	size_t n = *n_allocated ? *n_allocated : TS_GROW_FIRST / 2, n_bytes;
	void *grown;

	if (n_wanted <= *n_allocated)
		return 0;
	do
		if (__builtin_mul_overflow(n, 2, &n))
			return -ENOMEM;
	while (n < n_wanted);
	if (__builtin_mul_overflow(n, element_bytes, &n_bytes))
		return -ENOMEM;
	memcpy(&grown, array, sizeof(grown));
	grown = realloc(grown, n_bytes);
	if (!grown)
		return -ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	*n_allocated = n;
	return 0;
}

/*
 * Makes room for n_wanted elements in `array`; n_allocated is a variable of 32 bits or more.
 * Returns 0 or -ENOMEM.
 */
#define TS_GROW(array, n_allocated, n_wanted)                                                    \
	({                                                                                       \
		_Static_assert(sizeof(n_allocated) >= 4, "a narrow counter would wrap");         \
		size_t ts_allocated_ = (n_allocated);                                            \
		int ts_grown_ = ts_grow(&(array), &ts_allocated_, (n_wanted), sizeof(*(array))); \
                                                                                                 \
		(n_allocated) = (__typeof__(n_allocated))ts_allocated_;                          \
		ts_grown_;                                                                       \
	})
