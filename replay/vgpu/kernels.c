/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernel starts next, and when. A kernel that is ready joins those that wait for room; one of them starts as soon as it is the
 * most urgent of those ready by then, and has room: by priority, then in the order in which they became ready. Whoever has begun
 * runs to its end, and a less urgent one does not pass a more urgent one that it would fit in front of. The answer follows from when
 * kernels became ready and when those before them end, not from when it is asked for.
 */
#include "replay/vgpu/internal.h"

static bool goes_before(const struct ts_vgpu_op *a, const struct ts_vgpu_op *b)
{
	if (a->priority != b->priority)
		return a->priority < b->priority;
	if (a->ready_ns != b->ready_ns)
		return a->ready_ns < b->ready_ns;
	return a->done.queued_ns < b->done.queued_ns;
}

void ts_vgpu_kernels_add(struct ts_vgpu_device *device, struct ts_vgpu_stream *stream)
{
	struct ts_vgpu_kernels *kernels = &device->kernels;

	stream->state = TS_VGPU_STREAM_HELD;
	stream->head->u.kernel.n_sm = ts_vgpu_cost_multiprocessors(device, &stream->head->done);
	stream->held_next = kernels->first;
	kernels->first = stream;
	kernels->is_found = false;
}

/* The most urgent one of those ready at an instant; *ret_later_ns: when the next one of the others is. */
static struct ts_vgpu_stream *most_urgent(const struct ts_vgpu_kernels *kernels, uint64_t at_ns,
					  uint64_t *ret_later_ns)
{
	struct ts_vgpu_stream *best = NULL;
	uint64_t later_ns = UINT64_MAX;

	for (struct ts_vgpu_stream *s = kernels->first; s; s = s->held_next) {
		if (s->head->ready_ns <= at_ns) {
			if (!best || goes_before(s->head, best->head))
				best = s;
		} else if (s->head->ready_ns < later_ns) {
			later_ns = s->head->ready_ns;
		}
	}
	*ret_later_ns = later_ns;
	return best;
}

static void find(struct ts_vgpu_device *device, uint32_t n_concurrent)
{
	struct ts_vgpu_kernels *kernels = &device->kernels;
	uint64_t at_ns = device->engines.last_kernel_start_ns, later_ns, end_ns;
	struct ts_vgpu_stream *best;

	for (;; at_ns = later_ns) {
		best = most_urgent(kernels, at_ns, &later_ns);
		if (best &&
		    ts_vgpu_cost_has_room(device, best->head->u.kernel.n_sm, n_concurrent, at_ns))
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

uint64_t ts_vgpu_kernels_next(struct ts_vgpu_device *device, uint32_t n_concurrent)
{
	if (!device->kernels.first)
		return UINT64_MAX;
	if (!device->kernels.is_found)
		find(device, n_concurrent);
	return device->kernels.next_ns;
}

struct ts_vgpu_stream *ts_vgpu_kernels_take(struct ts_vgpu_device *device)
{
	struct ts_vgpu_kernels *kernels = &device->kernels;
	struct ts_vgpu_stream *next = kernels->next, **at = &kernels->first;

	while (*at != next)
		at = &(*at)->held_next;
	*at = next->held_next;
	kernels->is_found = false;
	return next;
}
