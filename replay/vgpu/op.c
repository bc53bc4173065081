/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates operations and marks, and frees operations, marks and streams. The last reference frees
 * a mark or a stream. vgpu-stream.c and vgpu-event.c queue operations, worker.c runs and frees
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/vgpu-internal.h"

#define OPS_PER_SLAB 64

struct ts_vgpu_op *ts_vgpu_op_get(struct ts_vgpu *vgpu)
{
	struct ts_vgpu_op *op = vgpu->free_ops;

	if (!op) {
		struct {
			void *next;
			struct ts_vgpu_op ops[OPS_PER_SLAB];
		} *slab = malloc(sizeof(*slab));

		if (!slab)
			return NULL;
		slab->next = vgpu->op_slabs;
		vgpu->op_slabs = slab;
		for (size_t i = 0; i < OPS_PER_SLAB; i++) {
			slab->ops[i].next = vgpu->free_ops;
			vgpu->free_ops = &slab->ops[i];
		}
		op = vgpu->free_ops;
	}
	vgpu->free_ops = op->next;
	op->next = NULL;
	return op;
}

void ts_vgpu_op_put(struct ts_vgpu *vgpu, struct ts_vgpu_op *op)
{
	op->next = vgpu->free_ops;
	vgpu->free_ops = op;
}

struct ts_vgpu_mark *ts_vgpu_mark_get(struct ts_vgpu *vgpu)
{
	struct ts_vgpu_mark *mark = vgpu->free_marks;

	if (mark)
		vgpu->free_marks = (struct ts_vgpu_mark *)mark->waiters;
	else
		mark = malloc(sizeof(*mark));
	if (mark) {
		memset(mark, 0, sizeof(*mark));
		mark->refs = 1;
	}
	return mark;
}

void ts_vgpu_mark_unref(struct ts_vgpu *vgpu, struct ts_vgpu_mark *mark)
{
	if (!mark || --mark->refs)
		return;
	/* No stream waits for a mark without references, so `waiters` links the free marks. */
	mark->waiters = (struct ts_vgpu_stream *)vgpu->free_marks;
	vgpu->free_marks = mark;
}

void ts_vgpu_stream_unref(struct ts_vgpu_stream *stream)
{
	if (--stream->refs)
		return;
	if (stream->prev) {
		*stream->prev = stream->next;
		if (stream->next)
			stream->next->prev = stream->prev;
	}
	stream->device->n_streams--;
	pthread_cond_destroy(&stream->cond);
	free(stream);
}
