// SPDX-License-Identifier: Apache-2.0
/*
 * The control flow graph of a function, and the points where diverged lanes reconverge: a branch's
 * immediate post-dominator. decode.c and alloc.c call this file. A path that only ends (return,
 * trap) does not count, because no lane waits for lanes on that path. Otherwise one early return
 * would keep a warp diverged to the end. For the same reason a branch to a bare return becomes a
 * return.
 */
#include <stdlib.h>

#include "replay/vgpu/ptx/decode/cfg.h"

bool ts_ptx_is_end(const struct ts_ptx_insn *in)
{
	if (in->kind == KIND_BRA)
		return !(in->flags & INSN_CONDITIONAL);
	if (in->kind == KIND_BRX || in->kind == KIND_RET || in->kind == KIND_EXIT ||
	    in->kind == KIND_TRAP)
		return in->guard == TS_PTX_FRAME_TRUE && !in->guard_xor;
	return false;
}

static bool ends_block(const struct ts_ptx_insn *in)
{
	return in->kind == KIND_BRA || in->kind == KIND_BRX || ts_ptx_is_end(in);
}

static void mark_leaders(const struct ts_ptx_decoder *d, uint8_t *leader)
{
	leader[0] = 1;
	for (uint32_t i = 0; i < d->n_insns; i++) {
		const struct ts_ptx_insn *in = &d->insns[i];

		if (in->kind == KIND_BRA)
			leader[in->target] = 1;
		for (uint32_t k = 0; in->kind == KIND_BRX && k < in->target; k++)
			leader[d->operands[in->aux + k]] = 1;
		/*
		 * Every join starts a block, so a block's start shows whether lanes can reconverge
		 * there.
		 */
		if (in->kind == KIND_JOIN)
			leader[i] = 1;
		if (ends_block(in) && i + 1 < d->n_insns)
			leader[i + 1] = 1;
	}
}

static uint32_t count_succ(const struct ts_ptx_insn *last)
{
	uint32_t n = ts_ptx_is_end(last) ? 0 : 1;

	return n + (last->kind == KIND_BRA ? 1 : last->kind == KIND_BRX ? last->target : 0);
}

int ts_ptx_blocks_init(const struct ts_ptx_decoder *d, struct ts_ptx_blocks *b)
{
	uint8_t *leader = calloc(d->n_insns + 1u, 1);
	uint32_t n_succ = 0;

	*b = (struct ts_ptx_blocks){0};
	b->start = calloc(d->n_insns + 2u, sizeof(*b->start));
	b->block_of = calloc(d->n_insns + 1u, sizeof(*b->block_of));
	if (!leader || !b->start || !b->block_of)
		goto no_memory;
	mark_leaders(d, leader);
	for (uint32_t i = 0; i < d->n_insns; i++) {
		if (leader[i])
			b->start[b->n++] = i;
		b->block_of[i] = b->n - 1;
	}
	b->start[b->n] = d->n_insns;
	for (uint32_t k = 0; k < b->n; k++)
		n_succ += count_succ(&d->insns[b->start[k + 1] - 1]);
	b->succ_at = calloc(b->n + 1u, sizeof(*b->succ_at));
	b->succ = calloc(n_succ + 1u, sizeof(*b->succ));
	if (!b->succ_at || !b->succ)
		goto no_memory;
	n_succ = 0;
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t last = b->start[k + 1] - 1;
		const struct ts_ptx_insn *in = &d->insns[last];

		b->succ_at[k] = n_succ;
		if (!ts_ptx_is_end(in) && k + 1 < b->n)
			b->succ[n_succ++] = k + 1;
		if (in->kind == KIND_BRA)
			b->succ[n_succ++] = b->block_of[in->target];
		for (uint32_t t = 0; in->kind == KIND_BRX && t < in->target; t++)
			b->succ[n_succ++] = b->block_of[d->operands[in->aux + t]];
	}
	b->succ_at[b->n] = n_succ;
	free(leader);
	return 0;
no_memory:
	free(leader);
	ts_ptx_blocks_deinit(b);
	return -ENOMEM;
}

void ts_ptx_blocks_deinit(struct ts_ptx_blocks *b)
{
	free(b->start);
	free(b->block_of);
	free(b->succ_at);
	free(b->succ);
	*b = (struct ts_ptx_blocks){0};
}

/* Replaces a branch to a bare return by a return with the branch's guard. */
static void inline_returns(struct ts_ptx_decoder *d)
{
	for (uint32_t i = 0; i < d->n_insns; i++) {
		struct ts_ptx_insn *in = &d->insns[i];
		uint32_t t = in->target;

		if (in->kind != KIND_BRA)
			continue;
		while (t < d->n_insns && d->insns[t].kind == KIND_JOIN)
			t++;
		if (t >= d->n_insns || !ts_ptx_is_end(&d->insns[t]) ||
		    (d->insns[t].kind != KIND_RET && d->insns[t].kind != KIND_EXIT))
			continue;
		in->kind = d->insns[t].kind;
		in->flags &= (uint8_t)~INSN_CONDITIONAL;
	}
}

/* Post-dominators of the blocks that reach one exit. */
struct ts_ptx_postdom {
	const struct ts_ptx_blocks *b;
	uint32_t *pred_at, *pred;
	uint32_t *order;  /* blocks in postorder of the reversed graph */
	uint32_t *number; /* postorder number within the current region */
	/*
	 * for each block, number of the exit whose region contains the block, from 1; 0: none yet
	 */
	uint32_t *region;
	uint32_t *ipdom;
	uint32_t *stack, *next;
};

static int postdom_init(struct ts_ptx_postdom *p, const struct ts_ptx_blocks *b)
{
	uint32_t n = b->n, n_edges = b->succ_at[n];

	*p = (struct ts_ptx_postdom){.b = b};
	p->pred_at = calloc(n + 2u, sizeof(uint32_t));
	p->pred = calloc(n_edges + 1u, sizeof(uint32_t));
	p->order = calloc(n + 1u, sizeof(uint32_t));
	p->number = calloc(n + 1u, sizeof(uint32_t));
	p->region = calloc(n + 1u, sizeof(uint32_t));
	p->ipdom = calloc(n + 1u, sizeof(uint32_t));
	p->stack = calloc(n + 1u, sizeof(uint32_t));
	p->next = calloc(n + 1u, sizeof(uint32_t));
	if (!p->pred_at || !p->pred || !p->order || !p->number || !p->region || !p->ipdom ||
	    !p->stack || !p->next)
		return -ENOMEM;
	for (uint32_t e = 0; e < n_edges; e++)
		p->pred_at[b->succ[e] + 2]++;
	for (uint32_t k = 2; k < n + 2; k++)
		p->pred_at[k] += p->pred_at[k - 1];
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t e = b->succ_at[k]; e < b->succ_at[k + 1]; e++)
			p->pred[p->pred_at[b->succ[e] + 1]++] = k;
	for (uint32_t k = 0; k < n; k++)
		p->ipdom[k] = TS_PTX_NONE;
	return 0;
}

static void postdom_deinit(struct ts_ptx_postdom *p)
{
	free(p->pred_at);
	free(p->pred);
	free(p->order);
	free(p->number);
	free(p->region);
	free(p->ipdom);
	free(p->stack);
	free(p->next);
}

/* Walks predecessors from the exit, depth first, and numbers its region in postorder. */
static uint32_t postdom_walk(struct ts_ptx_postdom *p, uint32_t exit, uint32_t region)
{
	uint32_t depth = 0, n = 0;

	p->stack[depth++] = exit;
	p->region[exit] = region;
	p->next[exit] = p->pred_at[exit];
	while (depth) {
		uint32_t k = p->stack[depth - 1];

		if (p->next[k] < p->pred_at[k + 1]) {
			uint32_t q = p->pred[p->next[k]++];

			if (p->region[q])
				continue;
			p->region[q] = region;
			p->next[q] = p->pred_at[q];
			p->stack[depth++] = q;
		} else {
			p->number[k] = n;
			p->order[n++] = k;
			depth--;
		}
	}
	return n;
}

static uint32_t postdom_meet(const struct ts_ptx_postdom *p, uint32_t x, uint32_t y)
{
	while (x != y) {
		while (p->number[x] < p->number[y])
			x = p->ipdom[x];
		while (p->number[y] < p->number[x])
			y = p->ipdom[y];
	}
	return x;
}

/*
 * Finds the immediate post-dominators of a region: Cooper, Harvey and Kennedy, "A Simple, Fast
 * Dominance Algorithm", on the reversed graph.
 */
static void postdom_region(struct ts_ptx_postdom *p, uint32_t exit, uint32_t region)
{
	const struct ts_ptx_blocks *b = p->b;
	uint32_t n = postdom_walk(p, exit, region);
	bool changed = true;

	p->ipdom[exit] = exit;
	while (changed) {
		changed = false;
		for (uint32_t i = n - 1; i-- > 0;) {
			uint32_t k = p->order[i], meet = TS_PTX_NONE;

			for (uint32_t e = b->succ_at[k]; e < b->succ_at[k + 1]; e++) {
				uint32_t s = b->succ[e];

				if (p->region[s] != region || p->ipdom[s] == TS_PTX_NONE)
					continue;
				meet = meet == TS_PTX_NONE ? s : postdom_meet(p, meet, s);
			}
			if (meet != p->ipdom[k]) {
				p->ipdom[k] = meet;
				changed = true;
			}
		}
	}
}

static void postdom_all(const struct ts_ptx_decoder *d, struct ts_ptx_postdom *p)
{
	const struct ts_ptx_blocks *b = p->b;
	uint32_t region = 0;

	/*
	 * Visit the return instructions from last to first, then the traps: in nearly all code the
	 * last return is the main exit.
	 */
	for (int traps = 0; traps < 2; traps++) {
		for (uint32_t k = b->n; k-- > 0;) {
			const struct ts_ptx_insn *last = &d->insns[b->start[k + 1] - 1];

			if (p->region[k] || b->succ_at[k] != b->succ_at[k + 1] ||
			    (last->kind == KIND_TRAP) != traps)
				continue;
			postdom_region(p, k, ++region);
			p->ipdom[k] = TS_PTX_NONE;
		}
	}
}

/*
 * True if all successors except at most one lead only to an end, so their lanes do not come back,
 * and no lane waits for them.
 */
static bool has_dead_way(const struct ts_ptx_postdom *p, uint32_t k)
{
	const struct ts_ptx_blocks *b = p->b;
	uint32_t n_live = 0;

	for (uint32_t e = b->succ_at[k]; e < b->succ_at[k + 1]; e++)
		n_live += p->region[b->succ[e]] == p->region[k];
	return n_live < 2;
}

static void set_reconvergence(struct ts_ptx_decoder *d, const struct ts_ptx_postdom *p)
{
	const struct ts_ptx_blocks *b = p->b;

	for (uint32_t k = 0; k < b->n; k++) {
		struct ts_ptx_insn *in = &d->insns[b->start[k + 1] - 1];
		uint32_t at;

		if (in->kind != KIND_BRX &&
		    !(in->kind == KIND_BRA && (in->flags & INSN_CONDITIONAL)))
			continue;
		in->reconverge = TS_PTX_NONE;
		if (p->ipdom[k] == TS_PTX_NONE || has_dead_way(p, k))
			continue;
		at = b->start[p->ipdom[k]];
		if (d->insns[at].kind == KIND_JOIN) {
			in->reconverge = at;
			d->notes[at].keep = true;
		}
	}
}

/* Removes the joins at which no branch reconverges, and renumbers the instructions. */
static int compact(struct ts_ptx_decoder *d)
{
	uint32_t *moved = calloc(d->n_insns + 1u, sizeof(*moved)), n = 0;

	if (!moved)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->n_insns; i++) {
		moved[i] = n;
		n += d->insns[i].kind != KIND_JOIN || d->notes[i].keep;
	}
	for (uint32_t i = 0; i < d->n_insns; i++) {
		struct ts_ptx_insn *in = &d->insns[i];

		if (in->kind == KIND_JOIN && !d->notes[i].keep)
			continue;
		if (in->kind == KIND_BRA)
			in->target = moved[in->target];
		for (uint32_t k = 0; in->kind == KIND_BRX && k < in->target; k++)
			d->operands[in->aux + k] = moved[d->operands[in->aux + k]];
		if ((in->kind == KIND_BRA || in->kind == KIND_BRX) && in->reconverge != TS_PTX_NONE)
			in->reconverge = moved[in->reconverge];
		d->insns[moved[i]] = *in;
		d->notes[moved[i]] = d->notes[i];
		d->origins[moved[i]] = d->origins[i];
	}
	d->n_insns = n;
	free(moved);
	return 0;
}

int ts_ptx_cfg(struct ts_ptx_decoder *d)
{
	struct ts_ptx_blocks b;
	struct ts_ptx_postdom p;
	int r;

	inline_returns(d);
	r = ts_ptx_blocks_init(d, &b);
	if (r)
		return r;
	r = postdom_init(&p, &b);
	if (!r) {
		postdom_all(d, &p);
		set_reconvergence(d, &p);
		r = compact(d);
	}
	postdom_deinit(&p);
	ts_ptx_blocks_deinit(&b);
	return r;
}
