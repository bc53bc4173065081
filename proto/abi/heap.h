/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binary heaps over the caller's array. No other element comes before the first one.
 *
 * 	static inline bool is_sooner(const struct timer *a, const struct timer *b)
 * 	{
 * 		return a->at_ns < b->at_ns;
 * 	}
 * 	TS_HEAP_DEFINE(timers, struct timer, is_sooner)
 *
 * 	r = TS_GROW(all, n_allocated, n + 1);
 * 	if (!r)
 * 		timers_push(all, &n, timer);
 * 	while (n && all[0].at_ns <= now_ns)
 * 		fire(timers_pop(all, &n));
 *
 * The caller makes room before it pushes, so push does not fail. If the caller must not fail when
 * it pushes, it makes room earlier, for example when it creates the object that it pushes later.
 * Elements that compare equal come in any order, but the same operations always give the same
 * order.
 */
#pragma once

#include "proto/abi/base.h"

/*
 * Defines functions for elements of `type`; `is_before` compares two elements by pointer:
 *
 * - name_push() adds an element.
 * - name_pop() removes the first element and returns it. The heap is not empty.
 * - name_sink() restores the order after the caller made element i come later.
 */
#define TS_HEAP_DEFINE(name, type, is_before)                                                  \
	static inline                                                                          \
		__attribute__((unused)) void name##_push(type *heap, size_t *n, type element)  \
	{                                                                                      \
		size_t ts_i_ = (*n)++;                                                         \
                                                                                               \
		for (; ts_i_ && is_before(&element, &heap[(ts_i_ - 1) / 2]);                   \
		     ts_i_ = (ts_i_ - 1) / 2)                                                  \
			heap[ts_i_] = heap[(ts_i_ - 1) / 2];                                   \
		heap[ts_i_] = element;                                                         \
	}                                                                                      \
                                                                                               \
	/* Puts an element into the gap at index i, or below it. */                            \
	static inline __attribute__((unused)) void name##_fill(type *heap, size_t n, size_t i, \
							       type element)                   \
	{                                                                                      \
		for (size_t ts_child_; (ts_child_ = 2 * i + 1) < n; i = ts_child_) {           \
			if (ts_child_ + 1 < n &&                                               \
			    is_before(&heap[ts_child_ + 1], &heap[ts_child_]))                 \
				ts_child_++;                                                   \
			if (!is_before(&heap[ts_child_], &element))                            \
				break;                                                         \
			heap[i] = heap[ts_child_];                                             \
		}                                                                              \
		heap[i] = element;                                                             \
	}                                                                                      \
                                                                                               \
	static inline __attribute__((unused)) void name##_sink(type *heap, size_t n, size_t i) \
	{                                                                                      \
		if (i < n)                                                                     \
			name##_fill(heap, n, i, heap[i]);                                      \
	}                                                                                      \
                                                                                               \
	static inline __attribute__((unused)) type name##_pop(type *heap, size_t *n)           \
	{                                                                                      \
		type ts_first_ = heap[0];                                                      \
                                                                                               \
		--*n;                                                                          \
		name##_fill(heap, *n, 0, heap[*n]);                                            \
		return ts_first_;                                                              \
	}
