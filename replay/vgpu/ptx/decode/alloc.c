// SPDX-License-Identifier: Apache-2.0
/*
 * Register allocation: gives virtual registers their slots in the frame. decode.c calls this file
 * after cfg.c. PTX uses a new register for every value, thousands in one kernel, and 32 lanes of
 * each would not fit a cache. So values with disjoint lifetimes share a slot, by liveness analysis
 * and a linear scan.
 *
 * A slot has private data of each lane. So only liveness along one lane's path matters, however
 * lanes diverge. Slots of 32 and 64 bits never mix, because the lanes' positions differ in them.
 */
#include <stdlib.h>

#include "replay/vgpu/ptx/decode/cfg.h"

#define MAX_FRAME_BYTES (16u << 20)
/*
 * Limit of the bits in each of the four liveness tables. Beyond this limit every register gets its
 * own slot.
 */
#define MAX_LIVENESS_BITS (UINT64_C(1) << 31)

/* Called for each operand field that holds a virtual register. */
typedef void (*ts_ptx_visit)(void *ctx, uint32_t *field, bool read, bool written);

static void visit_one(uint32_t *field, bool read, bool written, ts_ptx_visit visit, void *ctx)
{
	if (TS_PTX_IS_VREG(*field))
		visit(ctx, field, read, written);
}

static void visit_insn(struct ts_ptx_decoder *d, uint32_t i, ts_ptx_visit visit, void *ctx)
{
	struct ts_ptx_insn *in = &d->insns[i];
	const struct ts_ptx_note *note = &d->notes[i];
	/* Under a guard the old value may survive. */
	bool partial = TS_PTX_IS_VREG(in->guard);

	visit_one(&in->guard, true, false, visit, ctx);
	visit_one(&in->a, true, false, visit, ctx);
	visit_one(&in->b, true, false, visit, ctx);
	visit_one(&in->c, true, false, visit, ctx);
	if (note->roles & ROLE_RECONVERGE_READ)
		visit_one(&in->reconverge, true, false, visit, ctx);
	if (note->roles & ROLE_AUX_READ)
		visit_one(&in->aux, true, false, visit, ctx);
	if (note->roles & ROLE_LIST_READ)
		for (uint32_t k = note->n_list_write; k < note->n_list; k++)
			visit_one(&d->operands[in->aux + k], true, false, visit, ctx);
	if (note->roles & ROLE_LIST_CALL)
		for (uint32_t k = note->n_list_write; k < note->n_list; k++)
			if (d->operands[in->aux + 3 * k] != TS_PTX_PLACE_LOCAL)
				visit_one(&d->operands[in->aux + 3 * k + 1], true, false, visit,
					  ctx);
	visit_one(&in->dst, partial || (note->roles & ROLE_DST_READ), true, visit, ctx);
	if (note->roles & ROLE_TARGET_WRITE)
		visit_one(&in->target, partial, true, visit, ctx);
	if (note->roles & ROLE_LIST_WRITE)
		for (uint32_t k = 0; k < note->n_list_write; k++)
			visit_one(&d->operands[in->aux + k], partial, true, visit, ctx);
	if (note->roles & ROLE_LIST_CALL)
		for (uint32_t k = 0; k < note->n_list_write; k++)
			if (d->operands[in->aux + 3 * k] != TS_PTX_PLACE_LOCAL)
				visit_one(&d->operands[in->aux + 3 * k + 1], partial, true, visit,
					  ctx);
}

struct ts_ptx_allocator {
	struct ts_ptx_decoder *d;
	uint32_t *n_reads; /* per register */
	struct ts_ptx_blocks blocks;
	size_t words;
	uint64_t *use, *def, *in, *out; /* per block */
	uint32_t *first,
		*last; /* Per register: positions, 2 * instruction for a read, + 1 for a write. */
	uint32_t *slot;
	uint32_t at; /* current instruction or block of a visitor */
	uint32_t n_slots[N_CLASSES];
};

static void visit_liveness(void *ctx, uint32_t *field, bool read, bool written)
{
	struct ts_ptx_allocator *a = ctx;
	uint32_t id = TS_PTX_VREG_ID(*field);
	uint64_t bit = UINT64_C(1) << (id & 63);
	size_t word = a->at * a->words + id / 64;

	if (read && !(a->def[word] & bit))
		a->use[word] |= bit;
	if (written)
		a->def[word] |= bit;
}

static void liveness(struct ts_ptx_allocator *a)
{
	const struct ts_ptx_blocks *b = &a->blocks;
	bool changed = true;

	for (uint32_t k = 0; k < b->n; k++) {
		a->at = k;
		for (uint32_t i = b->start[k]; i < b->start[k + 1]; i++)
			visit_insn(a->d, i, visit_liveness, a);
	}
	while (changed) {
		changed = false;
		for (uint32_t k = b->n; k-- > 0;) {
			uint64_t *out = a->out + k * a->words, *in = a->in + k * a->words;

			for (uint32_t e = b->succ_at[k]; e < b->succ_at[k + 1]; e++)
				for (size_t word = 0; word < a->words; word++)
					out[word] |= a->in[b->succ[e] * a->words + word];
			for (size_t word = 0; word < a->words; word++) {
				size_t at = k * a->words + word;
				uint64_t live = a->use[at] | (out[word] & ~a->def[at]);

				changed |= live != in[word];
				in[word] = live;
			}
		}
	}
}

static void extend_to(struct ts_ptx_allocator *a, uint32_t id, uint32_t position)
{
	if (position < a->first[id])
		a->first[id] = position;
	if (position > a->last[id] || a->last[id] == TS_PTX_NONE)
		a->last[id] = position;
}

static void visit_interval(void *ctx, uint32_t *field, bool read, bool written)
{
	struct ts_ptx_allocator *a = ctx;
	uint32_t id = TS_PTX_VREG_ID(*field);

	if (read)
		extend_to(a, id, 2 * a->at);
	if (written)
		extend_to(a, id, 2 * a->at + 1);
}

static void intervals(struct ts_ptx_allocator *a)
{
	const struct ts_ptx_blocks *b = &a->blocks;

	for (uint32_t i = 0; i < a->d->n_insns; i++) {
		a->at = i;
		visit_insn(a->d, i, visit_interval, a);
	}
	for (uint32_t k = 0; k < b->n; k++) {
		for (uint32_t id = 0; id < a->d->n_vregs; id++) {
			size_t word = k * a->words + id / 64;

			if (!(id & 63) && !a->in[word] && !a->out[word]) {
				id += 63;
				continue;
			}
			if (a->in[word] >> (id & 63) & 1)
				extend_to(a, id, 2 * b->start[k]);
			if (a->out[word] >> (id & 63) & 1)
				extend_to(a, id, 2 * b->start[k + 1] - 1);
		}
	}
	/*
	 * Callers write parameters in registers before the function begins, and read results in
	 * registers after it has ended. So these registers are live in the whole function.
	 */
	for (uint32_t k = 0; k < a->d->code->n_params; k++)
		if (a->d->code->params[k].reg != TS_PTX_NONE) {
			uint32_t id = TS_PTX_VREG_ID(a->d->code->params[k].reg);

			extend_to(a, id, 0);
			extend_to(a, id, 2 * a->d->n_insns);
		}
}

static void visit_reads(void *ctx, uint32_t *field, bool read, bool written)
{
	struct ts_ptx_allocator *a = ctx;
	bool keeps = written && TS_PTX_IS_VREG(a->d->insns[a->at].guard);

	a->n_reads[TS_PTX_VREG_ID(*field)] += read && !keeps;
}

/*
 * Removes elements of vector loads that no instruction reads. Compilers load such elements if the
 * load is cheaper with them. The bytes of such an element may lie outside any variable.
 */
static int drop_unread(struct ts_ptx_allocator *a)
{
	struct ts_ptx_decoder *d = a->d;

	a->n_reads = calloc(d->n_vregs + 1u, sizeof(*a->n_reads));
	if (!a->n_reads)
		return -ENOMEM;
	for (a->at = 0; a->at < d->n_insns; a->at++)
		visit_insn(d, a->at, visit_reads, a);
	/* Calls read the results. */
	for (uint32_t k = 0; k < d->code->n_params; k++)
		if (d->code->params[k].reg != TS_PTX_NONE)
			a->n_reads[TS_PTX_VREG_ID(d->code->params[k].reg)]++;
	for (uint32_t i = 0; i < d->n_insns; i++) {
		const struct ts_ptx_note *note = &d->notes[i];

		for (uint32_t k = 0; note->roles & ROLE_LIST_DROPS && k < note->n_list_write; k++) {
			uint32_t *field = &d->operands[d->insns[i].aux + k];

			if (TS_PTX_IS_VREG(*field) && !a->n_reads[TS_PTX_VREG_ID(*field)])
				*field = TS_PTX_NONE;
		}
	}
	return 0;
}

/* Sorts registers by a position, with a counting sort. */
static uint32_t *sort_by(const struct ts_ptx_allocator *a, const uint32_t *key, uint32_t *ret_n)
{
	uint32_t n_keys = 2 * a->d->n_insns + 2, n = 0;
	uint32_t *count = calloc(n_keys + 1u, sizeof(*count));
	uint32_t *sorted = calloc(a->d->n_vregs + 1u, sizeof(*sorted));

	if (!count || !sorted) {
		free(count);
		free(sorted);
		return NULL;
	}
	for (uint32_t id = 0; id < a->d->n_vregs; id++)
		if (a->first[id] != TS_PTX_NONE) {
			count[key[id] + 1]++;
			n++;
		}
	for (uint32_t k = 1; k <= n_keys; k++)
		count[k] += count[k - 1];
	for (uint32_t id = 0; id < a->d->n_vregs; id++)
		if (a->first[id] != TS_PTX_NONE)
			sorted[count[key[id]]++] = id;
	free(count);
	*ret_n = n;
	return sorted;
}

static int scan(struct ts_ptx_allocator *a)
{
	struct ts_ptx_decoder *d = a->d;
	uint32_t n = 0, n_freed = 0, n_free[N_CLASSES] = {0};
	uint32_t *by_first = sort_by(a, a->first, &n), *by_last = sort_by(a, a->last, &n);
	uint32_t *spare[N_CLASSES] = {0};
	int r = by_first && by_last ? 0 : -ENOMEM;

	for (int c = 0; c < N_CLASSES && !r; c++) {
		spare[c] = calloc(d->n_vregs + 1u, sizeof(uint32_t));
		r = spare[c] ? 0 : -ENOMEM;
	}
	for (uint32_t k = 0; k < n && !r; k++) {
		uint32_t id = by_first[k], class = d->classes[id];

		for (; n_freed < n && a->last[by_last[n_freed]] < a->first[id]; n_freed++) {
			uint32_t gone = by_last[n_freed], c = d->classes[gone];

			spare[c][n_free[c]++] = a->slot[gone];
		}
		a->slot[id] = n_free[class] ? spare[class][--n_free[class]] : a->n_slots[class]++;
	}
	for (int c = 0; c < N_CLASSES; c++)
		free(spare[c]);
	free(by_first);
	free(by_last);
	return r;
}

struct ts_ptx_frame_layout {
	const struct ts_ptx_allocator *a;
	uint32_t base[N_CLASSES];
};

static uint32_t place_of(const struct ts_ptx_frame_layout *l, uint32_t ref)
{
	static const uint32_t bytes[N_CLASSES] = {4, 128, 256};
	uint32_t id = TS_PTX_VREG_ID(ref), class = l->a->d->classes[id];

	return l->base[class] + l->a->slot[id] * bytes[class];
}

static void visit_place(void *ctx, uint32_t *field, bool read, bool written)
{
	*field = place_of(ctx, *field);
}

static int layout_frame(struct ts_ptx_allocator *a)
{
	struct ts_ptx_decoder *d = a->d;
	struct ts_ptx_code *c = d->code;
	struct ts_ptx_frame_layout l = {.a = a};
	uint64_t end;

	l.base[CLASS_PRED] = TS_PTX_FRAME_FIRST;
	l.base[CLASS_32] = (TS_PTX_FRAME_FIRST + 4 * a->n_slots[CLASS_PRED] + 63) & ~63u;
	end = (uint64_t)l.base[CLASS_32] + UINT64_C(128) * a->n_slots[CLASS_32];
	l.base[CLASS_64] = (uint32_t)end;
	end += UINT64_C(256) * a->n_slots[CLASS_64];
	if (end > MAX_FRAME_BYTES)
		return ts_ptx_fail(
			d->error, TS_PTX_E_LIMIT, d->func->line,
			"line %u: function %s needs more registers than fit a frame of %u bytes",
			d->func->line, d->func->name, MAX_FRAME_BYTES);
	c->frame_bytes = (uint32_t)end;
	c->n_registers = a->n_slots[CLASS_32] + 2 * a->n_slots[CLASS_64];
	for (uint32_t i = 0; i < d->n_insns; i++)
		visit_insn(d, i, visit_place, &l);
	for (uint32_t k = 0; k < c->n_params; k++)
		if (c->params[k].reg != TS_PTX_NONE)
			c->params[k].reg = place_of(&l, c->params[k].reg);
	for (uint32_t k = 0; k < c->n_named; k++)
		c->named[k].slot = place_of(&l, TS_PTX_VREG_OF(c->named[k].slot));
	return 0;
}

/*
 * Keeps register names for a debugger. Each register gets its own slot, so that its last value
 * remains visible.
 */
static int alloc_named(struct ts_ptx_allocator *a)
{
	struct ts_ptx_decoder *d = a->d;
	struct ts_ptx_code *c = d->code;
	uint32_t n = 0;

	c->named = ts_ptx_arena_get(&d->image->arena, (d->func->n_regs + 1u) * sizeof(*c->named));
	if (!c->named)
		return -ENOMEM;
	memset(a->n_slots, 0, sizeof(a->n_slots));
	for (uint32_t id = 0; id < d->n_vregs; id++)
		a->slot[id] = a->n_slots[d->classes[id]]++;
	for (uint32_t id = 0; id < d->func->n_regs; id++) {
		const struct ts_ptx_reg *reg = &d->func->regs[id];
		char *name;

		if (!reg->name || d->classes[id] == CLASS_128)
			continue;
		/* One copy for a range. */
		if (n && id && d->func->regs[id - 1].name == reg->name) {
			name = (char *)(uintptr_t)c->named[n - 1].name;
		} else {
			name = ts_ptx_arena_get(&d->image->arena, strlen(reg->name) + 1);
			if (!name)
				return -ENOMEM;
			memcpy(name, reg->name, strlen(reg->name) + 1);
		}
		c->named[n++] = (struct ts_ptx_named){
			.name = name,
			.number = reg->number,
			.is_range = reg->is_range,
			.width = d->classes[id] == CLASS_PRED ? 0
				 : d->classes[id] == CLASS_64 ? 8
							      : 4,
			.type = reg->type,
			.slot = id,
			.first = a->first[id],
			.last = a->last[id],
		};
	}
	c->n_named = n;
	return 0;
}

static int alloc_shared(struct ts_ptx_allocator *a)
{
	size_t words = a->words * a->blocks.n;

	a->use = calloc(words * 4 + 1, sizeof(uint64_t));
	if (!a->use)
		return -ENOMEM;
	a->def = a->use + words;
	a->in = a->def + words;
	a->out = a->in + words;
	liveness(a);
	intervals(a);
	return scan(a);
}

int ts_ptx_alloc(struct ts_ptx_decoder *d)
{
	struct ts_ptx_allocator a = {.d = d, .words = (d->n_vregs + 63) / 64};
	int r = ts_ptx_blocks_init(d, &a.blocks);

	if (r)
		return r;
	/* A debugger shows all registers. */
	if (!d->image->texts)
		r = drop_unread(&a);
	a.first = malloc((d->n_vregs + 1u) * sizeof(uint32_t));
	a.last = malloc((d->n_vregs + 1u) * sizeof(uint32_t));
	a.slot = calloc(d->n_vregs + 1u, sizeof(uint32_t));
	if (!a.first || !a.last || !a.slot) {
		r = -ENOMEM;
	} else if (!r) {
		memset(a.first, 0xff, d->n_vregs * sizeof(uint32_t));
		memset(a.last, 0xff, d->n_vregs * sizeof(uint32_t));
		if ((uint64_t)a.words * 64 * a.blocks.n <= MAX_LIVENESS_BITS)
			r = alloc_shared(&a);
		else
			for (uint32_t id = 0; id < d->n_vregs; id++)
				a.slot[id] = a.n_slots[d->classes[id]]++;
	}
	if (!r && d->image->texts)
		r = alloc_named(&a);
	if (!r)
		r = layout_frame(&a);
	free(a.n_reads);
	free(a.first);
	free(a.last);
	free(a.slot);
	free(a.use);
	ts_ptx_blocks_deinit(&a.blocks);
	return r;
}
