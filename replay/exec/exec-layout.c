/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorted arrays of address intervals and allocations. vgpu/ calls the layout; vgpu/ and cuda/ call
 * the allocations.
 */
#include "replay/exec/exec-layout.h"

#include "proto/abi/grow.h"

/*
 * First address that ts_exec_layout_pick() tries: far from the usual addresses of processes and of
 * device memory.
 */
#define PICK_FIRST (UINT64_C(1) << 40)
#define PICK_END   (UINT64_C(1) << 46)
#define PICK_ALIGN UINT64_C(4096)

static int compare(const void *a, const void *b)
{
	const struct ts_exec_interval *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int ts_exec_layout_init(struct ts_exec_layout *layout, const struct ts_exec_program *program)
{
	size_t n = 0, n_apart = 0;

	*layout = (struct ts_exec_layout){.next = PICK_FIRST};
	layout->intervals = malloc((program->n + 1) * sizeof(*layout->intervals));
	if (!layout->intervals)
		return -ENOMEM;
	for (size_t i = 0; i < program->n; i++) {
		const struct ts_row_operation *operation = &program->operations[i];
		uint64_t bytes = operation->bytes ? operation->bytes : 1;

		if (operation->kind != TS_OPERATION_ALLOC &&
		    operation->kind != TS_OPERATION_VARIABLE)
			continue;
		if (operation->dst > UINT64_MAX - bytes)
			bytes = UINT64_MAX - operation->dst;
		layout->intervals[n++] =
			(struct ts_exec_interval){operation->dst, operation->dst + bytes};
	}
	qsort(layout->intervals, n, sizeof(*layout->intervals), compare);
	for (size_t i = 0; i < n; i++) {
		struct ts_exec_interval *last = n_apart ? &layout->intervals[n_apart - 1] : NULL;

		if (last && layout->intervals[i].start <= last->end) {
			if (layout->intervals[i].end > last->end)
				last->end = layout->intervals[i].end;
		} else {
			layout->intervals[n_apart++] = layout->intervals[i];
		}
	}
	layout->n = n_apart;
	return 0;
}

void ts_exec_layout_deinit(struct ts_exec_layout *layout)
{
	free(layout->intervals);
	*layout = (struct ts_exec_layout){0};
}

/*
 * Returns the index of the first interval that ends after the address, or the number of intervals.
 */
static size_t first_past(const struct ts_exec_layout *layout, uint64_t address)
{
	size_t low = 0, high = layout->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (layout->intervals[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool ts_exec_layout_is_clear(const struct ts_exec_layout *layout, uint64_t start, uint64_t bytes)
{
	size_t i = first_past(layout, start);

	return i == layout->n ||
	       (layout->intervals[i].start >= start && layout->intervals[i].start - start >= bytes);
}

uint64_t ts_exec_layout_pick(struct ts_exec_layout *layout, uint64_t bytes)
{
	while (bytes < PICK_END && layout->next < PICK_END - bytes) {
		uint64_t start = layout->next;
		size_t i = first_past(layout, start);

		if (ts_exec_layout_is_clear(layout, start, bytes)) {
			layout->next = ts_align_up(start + bytes, PICK_ALIGN);
			return start;
		}
		if (layout->intervals[i].end > PICK_END)
			break;
		layout->next = ts_align_up(layout->intervals[i].end, PICK_ALIGN);
	}
	return 0;
}

/* Returns the number of allocations that start at or before the address. */
static size_t count_to(const struct ts_exec_allocations *allocations, uint64_t address)
{
	size_t low = 0, high = allocations->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (allocations->all[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int ts_exec_allocations_add(struct ts_exec_allocations *allocations,
			    const struct ts_exec_allocation *one)
{
	size_t i = count_to(allocations, one->start);

	if (TS_GROW(allocations->all, allocations->capacity, allocations->n + 1))
		return -ENOMEM;
	memmove(&allocations->all[i + 1], &allocations->all[i],
		(allocations->n - i) * sizeof(*one));
	allocations->all[i] = *one;
	allocations->n++;
	return 0;
}

void ts_exec_allocations_remove(struct ts_exec_allocations *allocations, size_t i)
{
	memmove(&allocations->all[i], &allocations->all[i + 1],
		(allocations->n - i - 1) * sizeof(*allocations->all));
	allocations->n--;
}

size_t ts_exec_allocations_find(const struct ts_exec_allocations *allocations, uint64_t address,
				uint64_t bytes)
{
	size_t i = count_to(allocations, address);
	const struct ts_exec_allocation *one = i ? &allocations->all[i - 1] : NULL;

	if (!one || address - one->start > one->bytes ||
	    bytes > one->bytes - (address - one->start))
		return SIZE_MAX;
	return i - 1;
}

bool ts_exec_allocations_overlap(const struct ts_exec_allocations *allocations, uint64_t address,
				 uint64_t bytes)
{
	size_t i = count_to(allocations, address);

	if (i && address - allocations->all[i - 1].start < allocations->all[i - 1].bytes)
		return true;
	return i < allocations->n && allocations->all[i].start - address < bytes;
}
