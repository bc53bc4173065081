/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the heaps of heap.h: compares random operations with a list that is searched from end to
 * end.
 */
#include "test/unit/harness.h"

#include "proto/abi/grow.h"
#include "proto/abi/heap.h"

#define N_MAX 300u

struct element {
	uint32_t key, number;
};

static inline bool is_before(const struct element *a, const struct element *b)
{
	return a->key < b->key;
}

TS_HEAP_DEFINE(elements, struct element, is_before)

static inline bool points_before(struct element *const *a, struct element *const *b)
{
	return (*a)->key != (*b)->key ? (*a)->key < (*b)->key : (*a)->number < (*b)->number;
}

TS_HEAP_DEFINE(pointers, struct element *, points_before)

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void check_order(const struct element *heap, size_t n)
{
	for (size_t i = 1; i < n; i++)
		ts_check(!is_before(&heap[i], &heap[(i - 1) / 2]));
}

/* The heap returns elements as a sorted list does. Few keys are different, so many are equal. */
TS_TEST(heap_is_as_a_list)
{
	struct element *heap = NULL, list[N_MAX];
	size_t n = 0, n_list = 0, n_allocated = 0;

	for (unsigned step = 0; step < 40000; step++) {
		bool grows = step / 1000 % 2 ? draw() % 3 == 0 : draw() % 3 != 0;

		if (grows && n < N_MAX) {
			struct element element = {(uint32_t)(draw() % 50), step};

			ts_check_int(TS_GROW(heap, n_allocated, n + 1), 0);
			elements_push(heap, &n, element);
			list[n_list++] = element;
		} else if (n && step % 7 == 0) {
			/* The first one comes later. */
			size_t i = 0;

			while (list[i].number != heap[0].number)
				i++;
			list[i].key = heap[0].key += (uint32_t)(draw() % 20);
			elements_sink(heap, n, 0);
		} else if (n) {
			struct element first = elements_pop(heap, &n);
			size_t i = 0;

			while (i < n_list && list[i].number != first.number)
				i++;
			ts_check(i < n_list);
			for (size_t k = 0; k < n_list; k++)
				ts_check(!is_before(&list[k], &first));
			list[i] = list[--n_list];
		}
		ts_check_int(n, n_list);
		check_order(heap, n);
	}
	free(heap);
}

TS_TEST(pointers_come_in_order)
{
	struct element elements[N_MAX], *heap[N_MAX], *last = NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < N_MAX; i++) {
		elements[i] = (struct element){(uint32_t)(draw() % 30), i};
		pointers_push(heap, &n, &elements[i]);
	}
	while (n) {
		struct element *next = pointers_pop(heap, &n);

		ts_check(!last || points_before(&last, &next));
		last = next;
	}
	pointers_sink(heap, n, 0);
}

TS_TEST(sinking_from_the_middle_builds_a_heap)
{
	struct element heap[N_MAX];

	for (size_t n_all = 0; n_all < N_MAX; n_all++) {
		size_t n = n_all;
		uint64_t sum = 0;
		uint32_t last = 0;

		for (uint32_t i = 0; i < n; i++) {
			heap[i] = (struct element){(uint32_t)(draw() % 50), i};
			sum += heap[i].key;
		}
		for (size_t i = n / 2 + 1; i-- > 0;)
			elements_sink(heap, n, i);
		check_order(heap, n);
		while (n) {
			struct element first = elements_pop(heap, &n);

			ts_check(first.key >= last);
			last = first.key;
			sum -= last;
		}
		ts_check_int(sum, 0);
	}
}
