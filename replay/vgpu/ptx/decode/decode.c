// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes a function: looks up each statement's mnemonic (decode-*.c), converts operands to
 * registers or constants, then calls cfg.c and alloc.c. If a statement or one of its modifiers is
 * unknown, decoding fails and names it; it never guesses. ptx-link.c calls ts_ptx_decode().
 */
#include <stdlib.h>

#include "replay/vgpu/ptx/decode/decode.h"

static int split(struct ts_ptx_decoder *d, const char *opcode)
{
	d->n_mods = 0;
	for (const char *p = opcode;; p++) {
		const char *end = strchr(p, '.');
		size_t n = end ? (size_t)(end - p) : strlen(p);

		if (d->n_mods == sizeof(d->mods) / sizeof(d->mods[0]))
			return ts_ptx_unsupported(d);
		d->mods[d->n_mods].text = p;
		d->mods[d->n_mods].n = (uint32_t)n;
		d->mods[d->n_mods++].used = false;
		if (!end)
			break;
		p = end;
	}
	d->mods[0].used = true;
	return 0;
}

static int find_label(struct ts_ptx_decoder *d, const char *name, uint32_t scope,
		      struct ts_ptx_label **ret_label)
{
	for (;; scope = d->func->scopes[scope].parent) {
		*ret_label = ts_ptx_map_get(&d->func->labels, name, strlen(name), scope);
		if (*ret_label || !scope)
			return *ret_label ? 0 : -ENOENT;
	}
}

const struct ts_ptx_mnemonic *const ts_ptx_mnemonic_tables[] = {
	ts_ptx_mnemonics_arith,	  ts_ptx_mnemonics_move,
	ts_ptx_mnemonics_memory,  ts_ptx_mnemonics_bits,
	ts_ptx_mnemonics_control, ts_ptx_mnemonics_tensor,
	ts_ptx_mnemonics_matrix,  ts_ptx_mnemonics_video,
	ts_ptx_mnemonics_atom,	  NULL,
};

static int statement(struct ts_ptx_decoder *d)
{
	int r = split(d, d->stmt->opcode);

	if (r)
		return r;
	for (size_t t = 0; ts_ptx_mnemonic_tables[t]; t++)
		for (const struct ts_ptx_mnemonic *m = ts_ptx_mnemonic_tables[t]; m->name; m++)
			if (m->name[0] == d->mods[0].text[0] && strlen(m->name) == d->mods[0].n &&
			    !memcmp(m->name, d->mods[0].text, d->mods[0].n))
				return m->decode(d);
	return ts_ptx_unsupported(d);
}

/*
 * Lays out local memory: the function's variables, its formal parameters and the arguments of its
 * calls.
 */
static int layout(struct ts_ptx_decoder *d)
{
	struct ts_ptx_func *f = d->func;
	struct ts_ptx_var *lists[] = {f->returns, f->params, f->vars};
	uint64_t at = 0;

	for (int i = 0; i < 3; i++) {
		for (struct ts_ptx_var *v = lists[i]; v; v = v->next) {
			if (i < 2)
				v->image = f;
			if (v->space != SP_LOCAL && v->space != SP_PARAM)
				continue;
			if (f->entry && i < 2)
				continue; /* a kernel's parameters lie in the launch's buffer */
			at = (at + v->align - 1) & ~(uint64_t)(v->align - 1);
			v->offset = at;
			at += v->bytes;
			if (at > TS_PTX_MAX_LOCAL_BYTES)
				return ts_ptx_fail(
					d->error, TS_PTX_E_LIMIT, v->line,
					"line %u: function %s needs more than %u bytes of "
					"local memory",
					v->line, f->name, TS_PTX_MAX_LOCAL_BYTES);
		}
	}
	d->code->local_bytes = (uint32_t)(at + 15) & ~15u;
	return 0;
}

static int copy_regs(struct ts_ptx_decoder *d)
{
	struct ts_ptx_func *f = d->func;
	uint32_t unused;
	bool any = false;
	int r = 0;

	for (uint32_t i = 0; i < f->n_regs && !r; i++) {
		bool wide = f->regs[i].type == TY_B128;

		r = ts_ptx_temp(d, wide ? CLASS_128 : ts_ptx_class_of(f->regs[i].type), &unused);
		any |= wide;
	}
	if (!r && any) {
		d->halves = calloc(f->n_regs, sizeof(*d->halves));
		r = d->halves ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; any && i < f->n_regs && !r; i++) {
		if (d->classes[i] != CLASS_128)
			continue;
		d->halves[i] = d->n_vregs;
		r = ts_ptx_temp(d, CLASS_64, &unused);
		if (!r)
			r = ts_ptx_temp(d, CLASS_64, &unused);
	}
	return r;
}

/*
 * Creates alloca's stack pointer: a separate register that starts above the frame's local memory.
 */
static int stack_pointer(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_LOCAL_ADDRESS, TY_NONE);
	uint32_t i = 0;
	int r;

	while (i < d->func->n_stmts && strncmp(d->func->stmts[i].opcode, "alloca.", 7))
		i++;
	if (i == d->func->n_stmts)
		return 0;
	r = ts_ptx_temp(d, CLASS_32, &in.dst);
	in.imm = d->code->local_bytes;
	in.guard = TS_PTX_NONE;
	d->stack_pointer = in.dst;
	d->code->open_stack = true;
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static int body(struct ts_ptx_decoder *d, uint32_t *starts)
{
	struct ts_ptx_func *f = d->func;
	struct ts_ptx_insn end = ts_ptx_insn_of(d, F_NOP, TY_NONE), join = end;
	uint8_t *labelled = calloc(1, f->n_stmts + 1u);
	int r = labelled ? 0 : -ENOMEM;

	join.kind = KIND_JOIN;
	join.guard = TS_PTX_NONE;
	for (size_t i = 0; !r && i < f->labels.n_entries; i++) {
		const struct ts_ptx_label *label = f->labels.entries[i].value;

		if (!label->is_table)
			labelled[label->stmt] = 1;
	}
	if (!r)
		r = stack_pointer(d);
	for (uint32_t i = 0; i < f->n_stmts && !r; i++) {
		starts[i] = d->n_insns;
		d->stmt = &f->stmts[i];
		if (labelled[i])
			r = ts_ptx_emit(d, &join, (struct ts_ptx_note){0});
		if (!r)
			r = statement(d);
	}
	if (!r) {
		struct ts_ptx_stmt last = {.opcode = "ret", .line = f->line, .guard = UINT32_MAX};

		starts[f->n_stmts] = d->n_insns;
		d->stmt = &last;
		if (labelled[f->n_stmts])
			r = ts_ptx_emit(d, &join, (struct ts_ptx_note){0});
		end.kind = f->entry ? KIND_EXIT : KIND_RET;
		if (!r)
			r = ts_ptx_emit(d, &end, (struct ts_ptx_note){0});
		d->stmt = NULL;
	}
	free(labelled);
	return r;
}

static int fix_labels(struct ts_ptx_decoder *d, const uint32_t *starts)
{
	for (uint32_t i = 0; i < d->n_fixups; i++) {
		struct ts_ptx_fixup *x = &d->fixups[i];
		struct ts_ptx_label *label;

		if (find_label(d, x->label, x->scope, &label) || label->is_table)
			return ts_ptx_fail(d->error, TS_PTX_E_SYNTAX, x->line,
					   "line %u: no label %.100s in function %.80s", x->line,
					   x->label, d->func->name);
		if (x->insn != TS_PTX_NONE)
			d->insns[x->insn].target = starts[label->stmt];
		else
			d->operands[x->operand] = starts[label->stmt];
	}
	return 0;
}

static int code_params(struct ts_ptx_decoder *d)
{
	struct ts_ptx_func *f = d->func;
	struct ts_ptx_code *c = d->code;
	struct ts_ptx_var *lists[] = {f->returns, f->params};
	uint32_t n = 0;

	c->n_returns = f->n_returns;
	c->n_params = f->n_returns + f->n_params;
	c->params = ts_ptx_arena_get(&d->image->arena, (c->n_params + 1u) * sizeof(*c->params));
	if (!c->params)
		return -ENOMEM;
	for (int i = 0; i < 2; i++) {
		for (struct ts_ptx_var *v = lists[i]; v; v = v->next) {
			struct ts_ptx_code_param *p = &c->params[n++];

			p->bytes = (uint32_t)v->bytes;
			p->align = v->align;
			p->offset = (uint32_t)v->offset;
			p->reg = TS_PTX_NONE;
			if (v->reg >= 0) {
				p->reg = TS_PTX_VREG_OF((uint32_t)v->reg);
				p->is_64 = d->classes[v->reg] == CLASS_64;
				if (d->classes[v->reg] != CLASS_32 &&
				    d->classes[v->reg] != CLASS_64)
					return ts_ptx_fail(
						d->error, TS_PTX_E_UNSUPPORTED, v->line,
						"line %u: parameters in registers of type %s are "
						"not supported",
						v->line,
						ts_ptx_types[d->func->regs[v->reg].type].name);
			}
		}
	}
	return 0;
}

static void *keep(struct ts_ptx_image *image, const void *from, size_t n)
{
	void *p = ts_ptx_arena_get(&image->arena, n ? n : 1);

	if (p && n)
		memcpy(p, from, n);
	return p;
}

/* Prepares an instruction at its final place for the lane loop. */
static void place(struct ts_ptx_insn *in, uint32_t i)
{
	in->index = i;
	if (in->kind == KIND_OP && in->guard == TS_PTX_FRAME_TRUE && !in->guard_xor)
		in->kind = KIND_ALWAYS;
	if (in->kind == KIND_BRA)
		in->aux = in->target - i;
}

static int finish(struct ts_ptx_decoder *d)
{
	struct ts_ptx_code *c = d->code;

	for (uint32_t i = 0; i < d->n_insns; i++)
		place(&d->insns[i], i);
	c->insns = keep(d->image, d->insns, d->n_insns * sizeof(*d->insns));
	c->origins = keep(d->image, d->origins, d->n_insns * sizeof(*d->origins));
	c->operands = keep(d->image, d->operands, d->n_operands * sizeof(*d->operands));
	c->callees = keep(d->image, d->callees, d->n_callees * sizeof(*d->callees));
	c->n_insns = d->n_insns;
	c->n_operands = d->n_operands;
	c->n_callees = d->n_callees;
	return c->insns && c->origins && c->operands && c->callees ? 0 : -ENOMEM;
}

int ts_ptx_decode(struct ts_ptx_image *image, struct ts_ptx_module *module,
		  struct ts_ptx_code *code, struct ts_ptx_error *error)
{
	struct ts_ptx_decoder d = {.image = image,
				   .module = module,
				   .func = code->func,
				   .code = code,
				   .error = error,
				   .ops = image->ops,
				   .stack_pointer = TS_PTX_NONE};
	uint32_t *starts = calloc(d.func->n_stmts + 1u, sizeof(*starts));
	int r = starts ? 0 : -ENOMEM;

	if (!r)
		r = layout(&d);
	if (!r)
		r = copy_regs(&d);
	if (!r)
		r = code_params(&d);
	if (!r)
		r = body(&d, starts);
	if (!r)
		r = fix_labels(&d, starts);
	if (!r)
		r = ts_ptx_cfg(&d);
	if (!r)
		r = ts_ptx_alloc(&d);
	if (!r)
		r = finish(&d);
	free(starts);
	free(d.insns);
	free(d.notes);
	free(d.origins);
	free(d.operands);
	free(d.classes);
	free(d.halves);
	free(d.fixups);
	free(d.callees);
	return r;
}
