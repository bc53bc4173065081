// SPDX-License-Identifier: Apache-2.0
/*
 * Implements debug.h: reads and writes of registers and memory for a debugger, such as tsctl's.
 * engine.c calls ts_ptx_debug_turn(). Images from ts_ptx_link_named() contain register names; the
 * values are read from the warps' frames.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "replay/vgpu/ptx/debug.h"
#include "replay/vgpu/ptx/run/ptx-exec.h"

static void view_block(const struct ts_ptx_block *b, struct ts_ptx_block_view *ret_view)
{
	*ret_view = (struct ts_ptx_block_view){
		.index = b->index,
		.n_threads = b->n_threads,
		.n_warps = b->n_warps,
		.n_live = b->n_live,
		.shared_bytes = b->shared_bytes,
	};
	memcpy(ret_view->ctaid, b->ctaid, sizeof(b->ctaid));
}

bool ts_ptx_debug_block(const struct ts_ptx_warp *warp, size_t i,
			struct ts_ptx_block_view *ret_view)
{
	const struct ts_ptx_block *b = warp->worker->blocks;

	while (b && i--)
		b = b->next;
	if (b)
		view_block(b, ret_view);
	return b;
}

void ts_ptx_debug_block_of(const struct ts_ptx_warp *warp, struct ts_ptx_block_view *ret_view)
{
	view_block(warp->block, ret_view);
}

struct ts_ptx_warp *ts_ptx_debug_warp(const struct ts_ptx_warp *warp, uint64_t block, uint32_t i)
{
	const struct ts_ptx_block *b = warp->worker->blocks;

	while (b && b->index != block)
		b = b->next;
	return b && i < b->n_warps ? &b->warps[i] : NULL;
}

uint32_t ts_ptx_debug_warp_index(const struct ts_ptx_warp *warp)
{
	return warp->index;
}

uint32_t ts_ptx_debug_active(const struct ts_ptx_warp *warp)
{
	return warp->act;
}

void ts_ptx_debug_thread(const struct ts_ptx_warp *warp, uint32_t lane, uint32_t ret_tid[3])
{
	for (int i = 0; i < 3; i++)
		ret_tid[i] = warp->tid[i][lane % TS_PTX_LANES];
}

static const struct ts_ptx_split *split_of(const struct ts_ptx_warp *w, uint32_t lane)
{
	for (uint32_t i = 0; lane < TS_PTX_LANES && i < w->n_splits; i++)
		if (w->splits[i].mask >> lane & 1)
			return &w->splits[i];
	return NULL;
}

/* Returns the join at which a lane has arrived and waits. */
static const struct ts_ptx_join *join_of(const struct ts_ptx_warp *w, uint32_t lane)
{
	for (uint32_t i = 0; lane < TS_PTX_LANES && i < w->n_splits; i++)
		for (const struct ts_ptx_join *j = w->splits[i].join; j; j = j->parent)
			if (j->arrived >> lane & 1)
				return j;
	return NULL;
}

enum ts_ptx_lane_state ts_ptx_debug_lane(const struct ts_ptx_warp *warp, uint32_t lane)
{
	static const enum ts_ptx_lane_state states[] = {
		[SPLIT_READY] = TS_PTX_LANE_READY,
		[SPLIT_WARP_SYNC] = TS_PTX_LANE_WARP_SYNC,
		[SPLIT_BARRIER] = TS_PTX_LANE_BARRIER,
	};
	const struct ts_ptx_split *s = split_of(warp, lane);

	if (s)
		return states[s->state];
	return join_of(warp, lane) ? TS_PTX_LANE_JOINED : TS_PTX_LANE_EXITED;
}

/*
 * Returns the frame of a lane's call; level 0 is the innermost call. *ret_at receives the lane's
 * instruction in this frame. NULL: the lane has no such call.
 */
static const struct ts_ptx_frame *frame_at(const struct ts_ptx_warp *w, uint32_t lane,
					   uint32_t level, const struct ts_ptx_insn **ret_at)
{
	const struct ts_ptx_split *s = split_of(w, lane);
	const struct ts_ptx_join *j = s ? s->join : join_of(w, lane);
	const struct ts_ptx_frame *frame = s ? s->frame : j ? j->frame : NULL;
	const struct ts_ptx_insn *at = s ? s->pc : j ? j->pc : NULL;

	if (!s && j)
		j = j->parent;
	for (; frame && level; level--) {
		while (j && !j->callee)
			j = j->parent;
		if (!j)
			return NULL;
		frame = j->frame;
		at = j->call;
		j = j->parent;
	}
	/* The pc of a split at a barrier is already behind the barrier. */
	if (s && s->state == SPLIT_BARRIER && at == s->pc && at > frame->code->insns)
		at--;
	*ret_at = at;
	return frame;
}

static const char *file_of(const struct ts_ptx_code *code, const struct ts_ptx_origin *origin)
{
	for (const struct ts_ptx_file *f = code->files; f && origin->source_line; f = f->next)
		if (f->number == origin->source_file)
			return f->path;
	return NULL;
}

static void view_place(const struct ts_ptx_image *image, const struct ts_ptx_code *code,
		       uint32_t insn, struct ts_ptx_place *ret_place)
{
	const struct ts_ptx_origin *origin = &code->origins[insn];

	*ret_place = (struct ts_ptx_place){
		.function = code->name,
		.source_file = file_of(code, origin),
		.text = image->texts ? image->texts[code->module] : NULL,
		.line = origin->line,
		.source_line = origin->source_line,
	};
}

bool ts_ptx_debug_place(const struct ts_ptx_warp *warp, uint32_t lane, uint32_t level,
			struct ts_ptx_place *ret_place)
{
	const struct ts_ptx_insn *at = NULL;
	const struct ts_ptx_frame *frame = frame_at(warp, lane, level, &at);

	if (!frame || !at)
		return false;
	view_place(warp->worker->image, frame->code, at->index, ret_place);
	return true;
}

size_t ts_ptx_debug_n_functions(const struct ts_ptx_warp *warp)
{
	return warp->worker->image->n_codes;
}

bool ts_ptx_debug_instruction(const struct ts_ptx_warp *warp, size_t function, size_t i,
			      struct ts_ptx_place *ret_place)
{
	const struct ts_ptx_image *image = warp->worker->image;

	if (function >= image->n_codes || i >= image->codes[function].n_insns)
		return false;
	view_place(image, &image->codes[function], image->codes[function].insns[i].index,
		   ret_place);
	return true;
}

bool ts_ptx_debug_register(const struct ts_ptx_warp *warp, uint32_t lane, uint32_t level, size_t i,
			   struct ts_ptx_register_view *ret_view)
{
	const struct ts_ptx_insn *at = NULL;
	const struct ts_ptx_frame *frame = frame_at(warp, lane, level, &at);
	const struct ts_ptx_named *named;
	const uint8_t *from;
	uint32_t position;

	if (!frame || !at || i >= frame->code->n_named)
		return false;
	named = &frame->code->named[i];
	from = frame->regs + named->slot;
	position = 2 * at->index;
	*ret_view = (struct ts_ptx_register_view){
		.type = ts_ptx_types[named->type].name,
		.is_live = named->first < position && named->last >= position,
	};
	if (named->is_range)
		snprintf(ret_view->name, sizeof(ret_view->name), "%.48s%u", named->name,
			 named->number);
	else
		snprintf(ret_view->name, sizeof(ret_view->name), "%.60s", named->name);
	if (named->width == 0) {
		uint32_t mask;

		memcpy(&mask, from, sizeof(mask));
		ret_view->value = mask >> lane & 1;
	} else {
		memcpy(&ret_view->value, from + (size_t)lane * named->width, named->width);
	}
	return true;
}

size_t ts_ptx_debug_shared(const struct ts_ptx_warp *warp, uint64_t offset, void *to, size_t n)
{
	const struct ts_ptx_block *b = warp->block;

	if (offset >= b->shared_bytes)
		return 0;
	if (n > b->shared_bytes - offset)
		n = b->shared_bytes - offset;
	memcpy(to, b->shared + offset, n);
	return n;
}

size_t ts_ptx_debug_memory(struct ts_ptx_warp *warp, uint32_t lane, uint64_t address, void *to,
			   size_t n)
{
	uint64_t left = 0;
	bool read_only;
	const uint8_t *from = ts_ptx_locate(warp, lane, address, &left, &read_only);

	if (!from)
		return 0;
	if (n > left)
		n = left;
	memcpy(to, from, n);
	return n;
}

int ts_ptx_debug_set_register(struct ts_ptx_warp *warp, uint32_t lane, uint32_t level, size_t i,
			      uint64_t value)
{
	const struct ts_ptx_insn *at = NULL;
	const struct ts_ptx_frame *frame = frame_at(warp, lane, level, &at);
	const struct ts_ptx_named *named;
	uint8_t *to;

	if (!frame || !at || i >= frame->code->n_named)
		return -ENOENT;
	named = &frame->code->named[i];
	to = (uint8_t *)frame->regs + named->slot;
	if (named->width == 0) {
		uint32_t mask;

		memcpy(&mask, to, sizeof(mask));
		mask = (mask & ~(1u << lane)) | (uint32_t)(value & 1) << lane;
		memcpy(to, &mask, sizeof(mask));
	} else {
		memcpy(to + (size_t)lane * named->width, &value, named->width);
	}
	return 0;
}

int ts_ptx_debug_write_shared(struct ts_ptx_warp *warp, uint64_t offset, const void *from, size_t n)
{
	const struct ts_ptx_block *b = warp->block;

	if (offset >= b->shared_bytes || n > b->shared_bytes - offset)
		return -EFAULT;
	memcpy(b->shared + offset, from, n);
	return 0;
}

int ts_ptx_debug_write(struct ts_ptx_warp *warp, uint32_t lane, uint64_t address, const void *from,
		       size_t n)
{
	uint64_t left = 0;
	bool read_only = false;
	uint8_t *to = ts_ptx_locate(warp, lane, address, &left, &read_only);

	if (!to || n > left)
		return -EFAULT;
	if (read_only)
		return -EROFS;
	memcpy(to, from, n);
	return 0;
}

/*
 * Runs instructions one at a time and calls the debugger before each one, up to the length of a
 * normal turn.
 */
int ts_ptx_debug_turn(struct ts_ptx_warp *w, int (*loop)(struct ts_ptx_warp *))
{
	const struct ts_ptx_debugger *debugger = w->worker->debugger;
	int64_t left = TS_PTX_SLICE;
	int stop = STOP_SLICE;

	while (stop == STOP_SLICE && left > 0) {
		if (w->pc->kind != KIND_JOIN) {
			ts_ptx_split_store(w);
			if (debugger->step(debugger->userdata, w))
				return ts_ptx_fault(w, w->pc,
						    (uint32_t)__builtin_ctz(w->act | 1u << 31),
						    TS_PTX_FAULT_CANCELLED,
						    "the debugger ended the kernel");
		}
		w->slice = 1;
		stop = loop(w);
		left -= w->slice < 0 ? -w->slice : 1;
	}
	return stop;
}
