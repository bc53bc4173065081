// SPDX-License-Identifier: Apache-2.0
/*
 * Control flow: divergence and reconvergence, calls and returns, exits, and instructions for which
 * lanes of a warp wait for each other. The lane loop (lanes/exec-loop.c) calls ts_ptx_control()
 * when control flow is not straight; blocks.c starts and drops warps. ptx-exec.h explains splits
 * and joins.
 */
#include <stdlib.h>

#include "replay/vgpu/ptx/run/ptx-exec.h"

#define GO_ON	  0
#define STOP(s)	  ((s) + 1)
#define CHOOSE(w) (ts_ptx_warp_choose(w, false) ? GO_ON : STOP(STOP_SPLIT))

void ts_ptx_split_load(struct ts_ptx_warp *w, uint32_t i)
{
	struct ts_ptx_split *s = &w->splits[i];

	w->current = i;
	w->pc = s->pc;
	w->act = s->mask;
	w->bank[0] = s->frame->regs;
}

void ts_ptx_split_store(struct ts_ptx_warp *w)
{
	struct ts_ptx_split *s = &w->splits[w->current];

	s->pc = w->pc;
	s->mask = w->act;
}

bool ts_ptx_warp_choose(struct ts_ptx_warp *w, bool rotate)
{
	if (w->n_splits == 1) {
		if (w->splits[0].state != SPLIT_READY)
			return false;
		ts_ptx_split_load(w, 0);
		return true;
	}
	for (uint32_t k = 0; k < w->n_splits; k++) {
		uint32_t i = rotate ? (w->current + 1 + k) % w->n_splits : w->n_splits - 1 - k;

		if (w->splits[i].state == SPLIT_READY) {
			ts_ptx_split_load(w, i);
			return true;
		}
	}
	return false;
}

static void split_remove(struct ts_ptx_warp *w, uint32_t i)
{
	w->splits[i] = w->splits[--w->n_splits];
}

static void split_add(struct ts_ptx_warp *w, const struct ts_ptx_insn *pc, uint32_t mask,
		      struct ts_ptx_frame *frame, struct ts_ptx_join *join)
{
	w->splits[w->n_splits++] = (struct ts_ptx_split){
		.pc = pc, .frame = frame, .join = join, .mask = mask, .state = SPLIT_READY};
}

static struct ts_ptx_join *join_new(struct ts_ptx_warp *w, const struct ts_ptx_insn *pc,
				    uint32_t expected)
{
	const struct ts_ptx_split *s = &w->splits[w->current];
	struct ts_ptx_join *j = w->worker->free_joins;

	if (j)
		w->worker->free_joins = j->parent;
	else
		j = malloc(sizeof(*j));
	if (j)
		*j = (struct ts_ptx_join){.parent = s->join,
					  .pc = pc,
					  .frame = s->frame,
					  .expected = expected};
	return j;
}

static void join_free(struct ts_ptx_worker *worker, struct ts_ptx_join *j)
{
	ts_ptx_frame_free(worker, j->callee);
	j->parent = worker->free_joins;
	worker->free_joins = j;
}

struct ts_ptx_frame *ts_ptx_frame_new(struct ts_ptx_worker *worker, const struct ts_ptx_code *code,
				      uint32_t local_base, uint32_t depth)
{
	size_t bytes = sizeof(struct ts_ptx_frame) + code->frame_bytes;
	uint32_t class = 64 - (uint32_t)__builtin_clzll(bytes | 1023);
	struct ts_ptx_frame *f = worker->free_frames[class];

	if (f) {
		worker->free_frames[class] = f->next_free;
	} else {
		f = aligned_alloc(64, (size_t)1 << class);
		if (!f)
			return NULL;
		memset(f, 0, (size_t)1 << class);
	}
	f->code = code;
	f->local_base = local_base;
	f->depth = depth;
	f->size_class = class;
	*(uint32_t *)(void *)(f->regs + TS_PTX_FRAME_TRUE) = UINT32_MAX;
	*(uint32_t *)(void *)(f->regs + TS_PTX_FRAME_CC) = 0;
	return f;
}

void ts_ptx_frame_free(struct ts_ptx_worker *worker, struct ts_ptx_frame *f)
{
	if (!f)
		return;
	f->next_free = worker->free_frames[f->size_class];
	worker->free_frames[f->size_class] = f;
}

int ts_ptx_warp_start(struct ts_ptx_warp *w, const struct ts_ptx_code *code, uint32_t lanes)
{
	struct ts_ptx_frame *f = ts_ptx_frame_new(w->worker, code, 0, 0);

	if (!f)
		return -1;
	w->live = lanes;
	w->first_live = lanes;
	w->n_splits = 0;
	w->current = 0;
	w->base = f;
	split_add(w, code->insns, lanes, f, NULL);
	return 0;
}

/* Frees the splits, joins and frames of a warp that is stopped before its end. */
void ts_ptx_warp_drop(struct ts_ptx_warp *w)
{
	while (w->n_splits) {
		struct ts_ptx_split *s = &w->splits[w->n_splits - 1];
		struct ts_ptx_join *j = s->join;
		uint32_t gone = s->mask;

		/*
		 * Splits share joins: the last split under a join frees the join and releases its
		 * arrived lanes.
		 */
		while (j) {
			struct ts_ptx_join *parent = j->parent;

			j->expected &= ~gone;
			if (!(j->expected & ~j->arrived)) {
				gone |= j->arrived;
				join_free(w->worker, j);
			}
			j = parent;
		}
		w->n_splits--;
	}
	ts_ptx_frame_free(w->worker, w->base);
	w->base = NULL;
}

/* A value of each lane: lane i's bytes are at start + i * stride. */
struct values {
	uint8_t *start;
	size_t stride;
};

static struct values local_values(const struct ts_ptx_warp *w, uint32_t offset)
{
	const struct ts_ptx_block *b = w->block;

	return (struct values){b->local + (size_t)w->index * TS_PTX_LANES * b->local_stride +
				       offset,
			       b->local_stride};
}

/* Returns the values of a call's operand in the caller. */
static struct values outer_values(const struct ts_ptx_warp *w, const struct ts_ptx_frame *caller,
				  const uint32_t *place)
{
	uint8_t *bank[2] = {(uint8_t *)(uintptr_t)caller->regs, w->bank[1]};

	if (place[0] == TS_PTX_PLACE_LOCAL)
		return local_values(w, caller->local_base + place[1]);
	return (struct values){bank[place[1] & 1] + (place[1] & ~1u),
			       place[0] == TS_PTX_PLACE_REG64 ? 8 : 4};
}

/* Returns the values of a parameter in the callee. */
static struct values inner_values(const struct ts_ptx_warp *w, const struct ts_ptx_frame *callee,
				  const struct ts_ptx_code_param *p)
{
	if (p->reg == TS_PTX_NONE)
		return local_values(w, callee->local_base + p->offset);
	return (struct values){(uint8_t *)(uintptr_t)callee->regs + p->reg, p->is_64 ? 8 : 4};
}

/* Copies values of lanes. The common sizes are constants, so that a copy is one move. */
static void copy_lanes(struct values to, struct values from, uint32_t lanes, uint32_t bytes)
{
	for (; lanes; lanes &= lanes - 1) {
		size_t i = (size_t)__builtin_ctz(lanes);
		uint8_t *d = to.start + i * to.stride;
		const uint8_t *s = from.start + i * from.stride;

		if (bytes == 4)
			memcpy(d, s, 4);
		else if (bytes == 8)
			memcpy(d, s, 8);
		else
			memcpy(d, s, bytes);
	}
}

/*
 * Copies values between a call's operands in the caller and the callee's parameters. In both lists,
 * the return values come before the parameters.
 */
static void copy_values(struct ts_ptx_warp *w, const struct ts_ptx_insn *call,
			const struct ts_ptx_frame *caller, const struct ts_ptx_frame *callee,
			uint32_t lanes, bool back)
{
	const struct ts_ptx_code *code = callee->code;
	const uint32_t *places = caller->code->operands + call->aux;
	uint32_t first = back ? 0 : code->n_returns;
	uint32_t last = back ? code->n_returns : code->n_params;

	for (uint32_t k = first; k < last; k++) {
		const struct ts_ptx_code_param *p = &code->params[k];
		struct values outer = outer_values(w, caller, places + 3 * k);
		struct values inner = inner_values(w, callee, p);
		uint32_t bytes = p->bytes < places[3 * k + 2] ? p->bytes : places[3 * k + 2];

		if (back)
			copy_lanes(outer, inner, lanes, bytes);
		else
			copy_lanes(inner, outer, lanes, bytes);
	}
}

/* Walks up the chain and finishes each join whose expected lanes have all arrived. */
static void settle(struct ts_ptx_warp *w, struct ts_ptx_join *j, const struct ts_ptx_join *last)
{
	bool more = true;

	while (j && more) {
		struct ts_ptx_join *parent = j->parent;

		more = j != last;
		if (j->arrived == j->expected) {
			if (j->expected) {
				if (j->callee)
					copy_values(w, j->call, j->frame, j->callee, j->arrived,
						    true);
				split_add(w, j->pc, j->arrived, j->frame, parent);
			}
			join_free(w->worker, j);
		}
		j = parent;
	}
}

bool ts_ptx_warp_break(struct ts_ptx_warp *w)
{
	uint32_t n = w->n_splits;
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		for (struct ts_ptx_join *j = w->splits[i].join; j; j = j->parent) {
			uint32_t lanes = j->arrived;

			if (!lanes)
				continue;
			if (j->callee)
				copy_values(w, j->call, j->frame, j->callee, lanes, true);
			j->expected &= ~lanes;
			j->arrived = 0;
			split_add(w, j->pc, lanes, j->frame, j->parent);
			any = true;
		}
	}
	return any;
}

/* Releases waiting splits when all live lanes of their member mask have arrived. */
static int sync_check(struct ts_ptx_warp *w)
{
	for (uint32_t i = 0; i < w->n_splits; i++) {
		struct ts_ptx_split *s = &w->splits[i];
		const struct ts_ptx_insn *in = s->pc;
		bool data = in->kind == KIND_COLLECTIVE;
		uint32_t members = s->members, here = 0;

		if (s->state != SPLIT_WARP_SYNC)
			continue;
		for (uint32_t k = 0; k < w->n_splits; k++) {
			struct ts_ptx_split *o = &w->splits[k];

			if (o->state == SPLIT_WARP_SYNC && o->members == members &&
			    (data ? o->pc == in && o->frame == s->frame
				  : o->pc->kind == KIND_WARP_BARRIER))
				here |= o->mask;
		}
		if (members & w->live & ~here)
			continue;
		if (data || in->inner) {
			uint8_t *bank = w->bank[0];
			uint32_t current = w->current;
			int r;

			w->bank[0] = s->frame->regs;
			w->current = i;
			r = in->fn(w, in, here);
			w->bank[0] = bank;
			w->current = current;
			if (r)
				return STOP(STOP_FAULT);
		}
		for (uint32_t k = 0; k < w->n_splits; k++) {
			struct ts_ptx_split *o = &w->splits[k];

			if (o->state == SPLIT_WARP_SYNC && o->members == members &&
			    (o->mask & here) == o->mask &&
			    (data ? o->pc == in && o->frame == s->frame
				  : o->pc->kind == KIND_WARP_BARRIER)) {
				o->state = SPLIT_READY;
				if (o != s)
					o->pc++;
			}
		}
		s->pc++;
	}
	return GO_ON;
}

static int exit_op(struct ts_ptx_warp *w, uint32_t m)
{
	struct ts_ptx_join *join = w->splits[w->current].join;
	int r;

	w->live &= ~m;
	w->block->n_live -= (uint32_t)__builtin_popcount(m);
	for (struct ts_ptx_join *j = join; j; j = j->parent)
		j->expected &= ~m;
	w->act &= ~m;
	if (w->act) {
		w->pc++;
		ts_ptx_split_store(w);
	} else {
		split_remove(w, w->current);
	}
	settle(w, join, NULL);
	if (!w->live) {
		ts_ptx_frame_free(w->worker, w->base);
		w->base = NULL;
	}
	r = sync_check(w);
	if (r)
		return r;
	ts_ptx_barrier_exit(w->block);
	return CHOOSE(w);
}

static int return_op(struct ts_ptx_warp *w, uint32_t m)
{
	struct ts_ptx_join *inner = w->splits[w->current].join, *call = inner;

	while (call && !call->callee)
		call = call->parent;
	if (!call)
		return exit_op(w, m);
	for (struct ts_ptx_join *j = inner; j != call; j = j->parent)
		j->expected &= ~m;
	call->arrived |= m;
	w->act &= ~m;
	if (w->act) {
		w->pc++;
		ts_ptx_split_store(w);
	} else {
		split_remove(w, w->current);
	}
	settle(w, inner, call);
	return CHOOSE(w);
}

static int no_memory(struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	return STOP(ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(w->act), TS_PTX_FAULT_NO_MEMORY,
				 "the host has no memory left"));
}

static bool is_join_at(const struct ts_ptx_join *j, const struct ts_ptx_insn *pc,
		       const struct ts_ptx_frame *frame)
{
	return j && j->pc == pc && j->frame == frame && !j->callee;
}

/*
 * Returns the join for lanes that diverge at the current instruction. If the paths do not
 * reconverge, returns the split's join, which may be NULL. If memory is short, sets *ret_failed.
 */
static struct ts_ptx_join *diverge(struct ts_ptx_warp *w, uint32_t reconverge, bool *ret_failed)
{
	struct ts_ptx_split *s = &w->splits[w->current];
	const struct ts_ptx_insn *pc;
	struct ts_ptx_join *j;

	w->worker->stats.divergent_branches++;
	*ret_failed = false;
	if (reconverge == TS_PTX_NONE)
		return s->join;
	pc = s->frame->code->insns + reconverge;
	if (is_join_at(s->join, pc, s->frame))
		return s->join;
	j = join_new(w, pc, w->act);
	*ret_failed = !j;
	return j;
}

/* Sends lanes to a pc. If it is the join's pc, the lanes arrive there; else they become a split. */
static void send_lanes(struct ts_ptx_warp *w, const struct ts_ptx_insn *pc, uint32_t mask,
		       struct ts_ptx_frame *frame, struct ts_ptx_join *j)
{
	if (is_join_at(j, pc, frame))
		j->arrived |= mask;
	else
		split_add(w, pc, mask, frame, j);
}

/* Sends the running split, which is the last one, to a pc under a join. */
static int go_on_as(struct ts_ptx_warp *w, const struct ts_ptx_insn *pc, uint32_t mask,
		    struct ts_ptx_join *j)
{
	struct ts_ptx_split *s = &w->splits[w->n_splits - 1];

	s->pc = pc;
	s->mask = mask;
	s->join = j;
	w->current = w->n_splits - 1;
	w->pc = pc;
	w->act = mask;
	return GO_ON;
}

static int branch(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t taken)
{
	struct ts_ptx_frame *frame = w->splits[w->current].frame;
	const struct ts_ptx_insn *target = frame->code->insns + in->target;
	uint32_t rest = w->act & ~taken;
	bool failed, is_last = w->current == w->n_splits - 1;
	struct ts_ptx_join *j;

	j = diverge(w, in->reconverge, &failed);
	if (failed)
		return no_memory(w, in);
	/*
	 * The running split is nearly always the last one. It becomes one of the two that the
	 * general case below adds in its place, so that it need not be copied.
	 */
	if (is_last && !is_join_at(j, in + 1, frame)) {
		if (is_join_at(j, target, frame)) {
			j->arrived |= taken;
			return go_on_as(w, in + 1, rest, j);
		}
		(void)go_on_as(w, target, taken, j);
		split_add(w, in + 1, rest, frame, j);
		ts_ptx_split_load(w, w->n_splits - 1);
		return GO_ON;
	}
	split_remove(w, w->current);
	send_lanes(w, target, taken, frame, j);
	send_lanes(w, in + 1, rest, frame, j);
	if (j && !j->callee && j->arrived == j->expected)
		settle(w, j, j);
	return CHOOSE(w);
}

static int branch_table(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	struct ts_ptx_frame *frame = w->splits[w->current].frame;
	const uint32_t *index = ts_ptx_slot(w, in->a), *table = ts_ptx_operands(w, in);
	uint32_t n = in->target, left = m, rest = w->act & ~m;
	struct ts_ptx_join *j;
	bool failed;

	if (!m) {
		w->pc++;
		return GO_ON;
	}
	for (uint32_t l = m; l; l &= l - 1)
		if (index[__builtin_ctz(l)] >= n)
			return STOP(ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(l), TS_PTX_FAULT_PC,
						 "brx.idx with index %u of a table of %u",
						 index[__builtin_ctz(l)], n));
	j = diverge(w, in->reconverge, &failed);
	if (failed)
		return no_memory(w, in);
	split_remove(w, w->current);
	while (left) {
		uint32_t target = table[index[__builtin_ctz(left)]], same = 0;

		for (uint32_t l = left; l; l &= l - 1)
			if (table[index[__builtin_ctz(l)]] == target)
				same |= l & (0 - l);
		left &= ~same;
		send_lanes(w, frame->code->insns + target, same, frame, j);
	}
	if (rest)
		send_lanes(w, in + 1, rest, frame, j);
	/* If all expected lanes are already at the join's pc, the join is complete. */
	if (j && !j->callee && j->arrived == j->expected)
		settle(w, j, j);
	return CHOOSE(w);
}

static int arrive(struct ts_ptx_warp *w)
{
	struct ts_ptx_split *s = &w->splits[w->current];
	struct ts_ptx_join *j = s->join;

	if (!is_join_at(j, w->pc, s->frame)) {
		w->pc++;
		return GO_ON;
	}
	j->arrived |= w->act;
	/* As below, without a copy of the split. */
	if (j->arrived == j->expected && w->current == w->n_splits - 1) {
		struct ts_ptx_join *parent = j->parent;
		uint32_t lanes = j->arrived;

		join_free(w->worker, j);
		return go_on_as(w, w->pc, lanes, parent);
	}
	split_remove(w, w->current);
	settle(w, j, j);
	return CHOOSE(w);
}

static int call_op(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
		   const struct ts_ptx_code *code)
{
	struct ts_ptx_split *s = &w->splits[w->current];
	struct ts_ptx_frame *caller = s->frame, *callee;
	uint32_t lane = (uint32_t)__builtin_ctz(w->act);
	uint64_t local = (uint64_t)caller->local_base + caller->code->local_bytes;
	struct ts_ptx_join *j;

	/* The callee's frame starts above the alloca memory of all lanes. */
	for (uint32_t left = in->b == TS_PTX_NONE ? 0 : w->act; left; left &= left - 1) {
		uint32_t top = ((const uint32_t *)ts_ptx_slot(w, in->b))[__builtin_ctz(left)];

		local = top > local ? (top + 15u) & ~15u : local;
	}
	if (code->builtin) {
		int r = ts_ptx_builtin_call(w, in, w->act, code);

		w->pc++;
		return r ? STOP(STOP_FAULT) : GO_ON;
	}
	if (!code->insns)
		return STOP(
			ts_ptx_fault(w, in, lane, TS_PTX_FAULT_ILLEGAL,
				     "call of %s, which no module defines%s", code->name,
				     strncmp(code->name, "__cudaCDP", 9)
					     ? ""
					     : ": kernels that launch kernels are not supported"));
	if (code->n_params != in->n)
		return STOP(ts_ptx_fault(
			w, in, lane, TS_PTX_FAULT_ILLEGAL,
			"call of %s with the wrong number of parameters or return values",
			code->name));
	if (local + code->local_bytes > w->block->local_stride ||
	    caller->depth + 1 > TS_PTX_MAX_CALL_DEPTH)
		return STOP(
			ts_ptx_fault(w, in, lane, TS_PTX_FAULT_STACK,
				     "stack overflow: call of %s, %u deep, with %u bytes of stack",
				     code->name, caller->depth + 1, w->block->local_stride));
	callee = ts_ptx_frame_new(w->worker, code, (uint32_t)local, caller->depth + 1);
	j = callee ? join_new(w, in + 1, w->act) : NULL;
	if (!j) {
		ts_ptx_frame_free(w->worker, callee);
		return no_memory(w, in);
	}
	j->callee = callee;
	j->call = in;
	copy_values(w, in, caller, callee, w->act, false);
	s->frame = callee;
	s->join = j;
	w->bank[0] = callee->regs;
	w->pc = code->insns;
	return GO_ON;
}

/* Runs an indirect call: lanes with the same target call together. */
static int call_indirect(struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	struct ts_ptx_frame *frame = w->splits[w->current].frame;
	const struct ts_ptx_image *image = w->worker->image;
	const uint64_t *address = ts_ptx_slot(w, in->a);
	uint64_t first = address[__builtin_ctz(w->act)];
	uint64_t index = (first - TS_PTX_WINDOW_FUNCTION) / TS_PTX_FUNCTION_STRIDE;
	uint32_t left = 0;
	struct ts_ptx_join *j;
	bool failed;

	for (uint32_t l = w->act; l; l &= l - 1)
		if (address[__builtin_ctz(l)] != first)
			left |= l & (0 - l);
	if (!left) {
		if (first < TS_PTX_WINDOW_FUNCTION || index >= image->n_codes ||
		    first % TS_PTX_FUNCTION_STRIDE)
			return STOP(ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(w->act),
						 TS_PTX_FAULT_PC,
						 "call of 0x%llx, which is not the address of a "
						 "function",
						 (unsigned long long)first));
		return call_op(w, in, &image->codes[index]);
	}
	/* The decoder has inserted a join after the call. */
	j = diverge(w, (uint32_t)(in + 1 - frame->code->insns), &failed);
	if (failed)
		return no_memory(w, in);
	left = w->act;
	split_remove(w, w->current);
	while (left) {
		uint64_t target = address[__builtin_ctz(left)];
		uint32_t same = 0;

		for (uint32_t l = left; l; l &= l - 1)
			if (address[__builtin_ctz(l)] == target)
				same |= l & (0 - l);
		left &= ~same;
		split_add(w, in, same, frame, j);
	}
	return CHOOSE(w);
}

/*
 * True if all lanes of act have lane `lane`'s mask and belong to it. A constant is equal in all
 * lanes.
 */
static bool one_group(const struct ts_ptx_insn *in, const uint32_t *masks, uint32_t act,
		      uint32_t lane)
{
	uint32_t members = masks[lane], differs = 0;

	if (!ts_ptx_is_constant(in->c)) {
		for (uint32_t i = 0; i < TS_PTX_LANES; i++)
			differs |= (masks[i] ^ members) & -(act >> i & 1);
	}
	return !differs && !(act & ~members);
}

static int collective(struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	struct ts_ptx_split *s = &w->splits[w->current];
	uint32_t lane = (uint32_t)__builtin_ctz(w->act), members = w->act;
	uint32_t missing = 0, others = 0;
	const uint32_t *masks;
	int r;

	if (in->c != TS_PTX_NONE) {
		masks = ts_ptx_slot(w, in->c);
		members = masks[lane];
		missing = members & w->live & ~w->act;
		for (uint32_t left = one_group(in, masks, w->act, lane) ? 0 : w->act; left;
		     left &= left - 1) {
			uint32_t i = (uint32_t)__builtin_ctz(left);

			if (!(masks[i] >> i & 1))
				return STOP(ts_ptx_fault(w, in, i, TS_PTX_FAULT_ILLEGAL,
							 "a lane outside its member mask 0x%08x",
							 masks[i]));
			missing |= masks[i] & w->live & ~w->act;
			others |= masks[i] != members ? 1u << i : 0;
		}
	}
	if (!missing) {
		w->pc++;
		if ((in->kind == KIND_COLLECTIVE || in->inner) && in->fn(w, in, w->act))
			return STOP(STOP_FAULT);
		atomic_thread_fence(memory_order_acq_rel);
		return GO_ON;
	}
	if (others) { /* several groups: each waits separately */
		w->act &= ~others;
		ts_ptx_split_store(w);
		split_add(w, in, others, s->frame, s->join);
	}
	ts_ptx_split_store(w);
	s->state = SPLIT_WARP_SYNC;
	s->members = members;
	r = sync_check(w);
	return r ? r : CHOOSE(w);
}

static int barrier_op(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	int r;

	if (!m) {
		w->pc++;
		return GO_ON;
	}
	if (m != w->act) { /* a guard excludes some lanes: they continue */
		struct ts_ptx_split *s = &w->splits[w->current];

		split_add(w, in + 1, w->act & ~m, s->frame, s->join);
		w->act = m;
	}
	w->pc = in;
	ts_ptx_split_store(w);
	r = ts_ptx_barrier_insn(w, in, m);
	if (r)
		return STOP(STOP_FAULT);
	return CHOOSE(w);
}

int ts_ptx_control(struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	uint32_t m = ts_ptx_guarded(w, in);

	switch ((enum ts_ptx_insn_kind)in->kind) {
	case KIND_JOIN:
		return arrive(w);
	case KIND_BRA:
		return branch(w, in, m);
	case KIND_BRX:
		return branch_table(w, in, m);
	case KIND_CALL:
		return call_op(w, in, &w->worker->image->codes[in->target]);
	case KIND_CALLI:
		return call_indirect(w, in);
	case KIND_COLLECTIVE:
	case KIND_WARP_BARRIER:
		return collective(w, in);
	case KIND_BARRIER:
		return barrier_op(w, in, m);
	default:
		break;
	}
	if (!m) {
		w->pc++;
		return GO_ON;
	}
	switch ((enum ts_ptx_insn_kind)in->kind) {
	case KIND_RET:
		return return_op(w, m);
	case KIND_EXIT:
		return exit_op(w, m);
	case KIND_YIELD:
		w->slice = 0;
		w->n_watched = TS_PTX_SPINNING;
		w->pc++;
		return GO_ON;
	case KIND_TRAP:
		return STOP(ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(m), TS_PTX_FAULT_TRAP,
					 in->imm ? "breakpoint" : "trap instruction"));
	default:
		return STOP(ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(m), TS_PTX_FAULT_ILLEGAL,
					 "an unknown kind of instruction"));
	}
}
