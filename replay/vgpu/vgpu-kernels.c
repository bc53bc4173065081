/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses which kernel starts next, and when. worker.c calls this file; cost.c reports the room on
 * the device.
 *
 * A ready kernel joins the waiting kernels. The most urgent kernel is the one of the highest
 * priority, then the one that became ready first. The most urgent kernel starts as soon as it has
 * room. A running kernel is not interrupted. A less urgent kernel does not overtake a more urgent
 * one, even if only the less urgent one has room. The result depends on when kernels become ready
 * and end, not on when worker.c requests it.
 */
#include "replay/vgpu/vgpu-internal.h"

#include "proto/abi/base.h"

#define N_PRIORITIES TS_ARRAY_LEN(((struct ts_vgpu_kernels *)NULL)->first)

/* ---- pairing heaps of streams, one heap for each priority ------------------------------------ */

/*
 * A heap has the streams whose first queued operations have the heap's priority. The links are
 * fields of struct ts_vgpu_stream, so melding two heaps takes one step and allocates nothing. The
 * heap of heap.h would need one array per heap.
 */

static bool goes_before(const struct ts_vgpu_op *a, const struct ts_vgpu_op *b)
{
	if (a->ready_ns != b->ready_ns)
		return a->ready_ns < b->ready_ns;
	return a->done.queued_ns < b->done.queued_ns;
}

/* Merges two heaps. Neither heap has siblings. */
static struct ts_vgpu_stream *meld(struct ts_vgpu_stream *a, struct ts_vgpu_stream *b)
{
	if (!a || !b)
		return a ? a : b;
	if (goes_before(b->head, a->head)) {
		struct ts_vgpu_stream *swap = a;

		a = b;
		b = swap;
	}
	b->held_next = a->held_child;
	a->held_child = b;
	return a;
}

/*
 * Removes the first stream of a heap: melds its children in pairs from first to last, then all
 * pairs from last to first.
 */
static struct ts_vgpu_stream *without_first(struct ts_vgpu_stream *heap)
{
	struct ts_vgpu_stream *child = heap->held_child, *pairs = NULL;

	while (child) {
		struct ts_vgpu_stream *a = child, *b = child->held_next;

		child = b ? b->held_next : NULL;
		a->held_next = NULL;
		if (b)
			b->held_next = NULL;
		a = meld(a, b);
		a->held_next = pairs;
		pairs = a;
	}
	heap = NULL;
	while (pairs) {
		struct ts_vgpu_stream *next = pairs->held_next;

		pairs->held_next = NULL;
		heap = meld(heap, pairs);
		pairs = next;
	}
	return heap;
}

/* ---- */

void ts_vgpu_kernels_add(struct ts_vgpu_device *device, struct ts_vgpu_stream *stream)
{
	struct ts_vgpu_kernels *kernels = &device->kernels;
	size_t priority = (size_t)(stream->head->priority - TS_VGPU_PRIORITY_GREATEST);

	stream->state = TS_VGPU_STREAM_HELD;
	stream->head->u.kernel.n_sm = ts_vgpu_cost_multiprocessors(device, &stream->head->done);
	stream->held_child = stream->held_next = NULL;
	kernels->first[priority] = meld(kernels->first[priority], stream);
	kernels->is_found = false;
}

/*
 * Returns the most urgent kernel among those ready at an instant. *ret_later_ns: when a more urgent
 * kernel becomes ready.
 */
static struct ts_vgpu_stream *most_urgent(const struct ts_vgpu_kernels *kernels, uint64_t at_ns,
					  uint64_t *ret_later_ns)
{
	*ret_later_ns = UINT64_MAX;
	for (size_t i = 0; i < N_PRIORITIES; i++) {
		struct ts_vgpu_stream *first = kernels->first[i];

		if (first && first->head->ready_ns <= at_ns)
			return first;
		if (first && first->head->ready_ns < *ret_later_ns)
			*ret_later_ns = first->head->ready_ns;
	}
	return NULL;
}

/*
 * Finds the kernel that starts next, and its start. The answer changes only when a more urgent
 * kernel becomes ready or a running kernel ends, so the search visits these instants.
 */
static void find(struct ts_vgpu_device *device, uint32_t n_concurrent)
{
	struct ts_vgpu_kernels *kernels = &device->kernels;
	uint64_t at_ns = device->engines.last_kernel_start_ns, later_ns, end_ns;
	struct ts_vgpu_stream *best;

	for (;; at_ns = later_ns) {
		best = most_urgent(kernels, at_ns, &later_ns);
		if (best && ts_vgpu_cost_has_capacity(device, best->head->u.kernel.n_sm,
						      n_concurrent, at_ns))
			break;
		end_ns = best ? ts_vgpu_cost_next_end(device, at_ns) : UINT64_MAX;
		if (end_ns < later_ns)
			later_ns = end_ns;
		if (later_ns == UINT64_MAX) {
			best = NULL;
			at_ns = UINT64_MAX;
			break;
		}
	}
	kernels->next = best;
	kernels->next_ns = at_ns;
	kernels->is_found = true;
}

static bool is_empty(const struct ts_vgpu_kernels *kernels)
{
	for (size_t i = 0; i < N_PRIORITIES; i++)
		if (kernels->first[i])
			return false;
	return true;
}

uint64_t ts_vgpu_kernels_next(struct ts_vgpu_device *device, uint32_t n_concurrent)
{
	if (is_empty(&device->kernels))
		return UINT64_MAX;
	if (!device->kernels.is_found)
		find(device, n_concurrent);
	return device->kernels.next_ns;
}

struct ts_vgpu_stream *ts_vgpu_kernels_take(struct ts_vgpu_device *device)
{
	struct ts_vgpu_kernels *kernels = &device->kernels;
	struct ts_vgpu_stream *next = kernels->next;
	size_t priority = (size_t)(next->head->priority - TS_VGPU_PRIORITY_GREATEST);

	/* The next kernel is always the first of its priority's heap. */
	kernels->first[priority] = without_first(next);
	kernels->is_found = false;
	return next;
}
