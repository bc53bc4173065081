// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes control flow, calls, barriers, and collective instructions of a warp. decode.c calls this
 * file through ts_ptx_mnemonics_control; this file calls emit.c.
 */
#include "replay/vgpu/ptx/decode/decode.h"

#define O (d->stmt->operands)

static const struct ts_ptx_note ts_ptx_plain;

static int fix_later(struct ts_ptx_decoder *d, const char *label, uint32_t insn, uint32_t operand,
		     uint32_t scope)
{
	int r = ts_ptx_reserve(&d->fixups, d->n_fixups, &d->fixups_capacity, sizeof(*d->fixups));

	if (!r)
		d->fixups[d->n_fixups++] =
			(struct ts_ptx_fixup){label, d->stmt->line, scope, insn, operand};
	return r;
}

static int decode_bra(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE), join = in;
	int r;

	(void)ts_ptx_mod(d, "uni");
	r = ts_ptx_done(d, 1);
	if (!r && O[0].kind != OPERAND_NAME)
		r = ts_ptx_bad(d, "the operand must be a label");
	in.kind = KIND_BRA;
	in.flags = d->stmt->guard != UINT32_MAX ? INSN_CONDITIONAL : 0;
	if (!r)
		r = fix_later(d, O[0].name, d->n_insns, 0, d->stmt->scope);
	if (!r)
		r = ts_ptx_emit(d, &in, ts_ptx_plain);
	/* Lanes reconverge behind a loop's branch, even if no label stands there. */
	join.kind = KIND_JOIN;
	join.guard = TS_PTX_NONE;
	return r || !(in.flags & INSN_CONDITIONAL) ? r : ts_ptx_emit(d, &join, ts_ptx_plain);
}

static struct ts_ptx_label *table_of(struct ts_ptx_decoder *d, const char *name)
{
	for (uint32_t scope = d->stmt->scope;; scope = d->func->scopes[scope].parent) {
		struct ts_ptx_label *l =
			ts_ptx_map_get(&d->func->labels, name, strlen(name), scope);

		if (l || !scope)
			return l && l->is_table ? l : NULL;
	}
}

static int decode_brx(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);
	const struct ts_ptx_label *table = NULL;
	int r = ts_ptx_mod(d, "idx") ? 0 : ts_ptx_unsupported(d);

	(void)ts_ptx_mod(d, "uni");
	if (!r)
		r = ts_ptx_done(d, 2);
	if (!r && O[1].kind == OPERAND_NAME)
		table = table_of(d, O[1].name);
	if (!r && !table)
		r = ts_ptx_bad(d, "the operand must be a table of branch targets");
	if (!r)
		r = ts_ptx_src(d, &O[0], TY_U32, &in.a);
	in.kind = KIND_BRX;
	in.aux = d->n_operands;
	for (uint32_t i = 0; !r && i < table->n_targets; i++) {
		r = fix_later(d, table->targets[i], TS_PTX_NONE, d->n_operands, table->scope);
		if (!r)
			r = ts_ptx_list_add(d, 0);
	}
	if (r)
		return r;
	in.target = table->n_targets;
	return ts_ptx_emit(d, &in, (struct ts_ptx_note){.roles = ROLE_LIST_TABLE});
}

static int ending(struct ts_ptx_decoder *d, enum ts_ptx_insn_kind kind, uint64_t imm)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);
	int r;

	(void)ts_ptx_mod(d, "uni");
	r = ts_ptx_done(d, 0);
	in.kind = (uint8_t)kind;
	in.imm = imm;
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_ret(struct ts_ptx_decoder *d)
{
	return ending(d, d->func->entry ? KIND_EXIT : KIND_RET, 0);
}

static int decode_exit(struct ts_ptx_decoder *d)
{
	return ending(d, KIND_EXIT, 0);
}

static int decode_trap(struct ts_ptx_decoder *d)
{
	return ending(d, KIND_TRAP, 0);
}

static int decode_brkpt(struct ts_ptx_decoder *d)
{
	return ending(d, KIND_TRAP, 1);
}

static int decode_nanosleep(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);
	int r = ts_ptx_mod_type(d) == TY_U32 ? ts_ptx_done(d, 1) : ts_ptx_unsupported(d);

	in.kind = KIND_YIELD;
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_nop(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);

	/*
	 * griddepcontrol has no effect: it lets dependent grids overlap, but this engine runs them
	 * one after the other.
	 */
	(void)ts_ptx_mod(d, "wait");
	(void)ts_ptx_mod(d, "launch_dependents");
	(void)ts_ptx_mod(d, "mask");
	/*
	 * setmaxnreg lets warps exchange registers. It has no effect, because in this engine every
	 * warp has its own registers.
	 */
	if (ts_ptx_mod(d, "inc") || ts_ptx_mod(d, "dec")) {
		(void)ts_ptx_mod(d, "sync");
		(void)ts_ptx_mod(d, "aligned");
		(void)ts_ptx_mod_type(d);
	}
	return ts_ptx_done(d, d->stmt->n_operands) ? ts_ptx_unsupported(d)
						   : ts_ptx_emit(d, &in, ts_ptx_plain);
}

/* Calls. */

static int call_place(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, bool result,
		      uint32_t place[3])
{
	uint32_t ref;
	int r;

	if (o->kind == OPERAND_VAR && o->var->space == SP_PARAM &&
	    !(d->func->entry && o->var->image == d->func)) {
		place[0] = TS_PTX_PLACE_LOCAL;
		place[1] = (uint32_t)(o->var->offset + (uint64_t)o->off);
		place[2] = (uint32_t)o->var->bytes;
		return o->off ? ts_ptx_bad(d, "an operand has the wrong kind") : 0;
	}
	if (o->kind == OPERAND_REG &&
	    (d->classes[o->reg] == CLASS_32 || d->classes[o->reg] == CLASS_64)) {
		place[0] = d->classes[o->reg] == CLASS_64 ? TS_PTX_PLACE_REG64 : TS_PTX_PLACE_REG32;
		place[1] = TS_PTX_VREG_OF(o->reg);
	} else if (o->kind == OPERAND_SINK && result) {
		place[0] = TS_PTX_PLACE_REG64;
		r = ts_ptx_temp(d, CLASS_64, &place[1]);
		if (r)
			return r;
	} else if (!result && (o->kind == OPERAND_IMM || o->kind == OPERAND_FIMM)) {
		/*
		 * The parameter's size is unknown here, so the call copies as many of the 64 bits
		 * as the parameter has.
		 */
		r = ts_ptx_src(d, o, o->single ? TY_F32 : TY_B64, &ref);
		if (r)
			return r;
		place[0] = o->single ? TS_PTX_PLACE_REG32 : TS_PTX_PLACE_REG64;
		place[1] = ref;
	} else {
		return ts_ptx_bad(d, "an operand has the wrong kind");
	}
	place[2] = place[0] == TS_PTX_PLACE_REG64 ? 8 : 4;
	return 0;
}

static int call_list(struct ts_ptx_decoder *d, const struct ts_ptx_operand *list, bool result,
		     uint32_t *n)
{
	int r = 0;

	for (uint32_t i = 0; list && i < list->n_list && !r; i++, ++*n) {
		uint32_t place[3];

		r = call_place(d, &list->list[i], result, place);
		for (int k = 0; k < 3 && !r; k++)
			r = ts_ptx_list_add(d, place[k]);
	}
	return r;
}

static int call_target(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o,
		       struct ts_ptx_insn *in)
{
	const struct ts_ptx_symbol *s;
	struct ts_ptx_code *code;
	int r;

	if (o->kind == OPERAND_REG) {
		in->kind = KIND_CALLI;
		d->code->open_stack = true;
		return ts_ptx_src(d, o, TY_U64, &in->a);
	}
	s = o->kind == OPERAND_NAME ? ts_ptx_resolve_name(d->image, d->module, o->name) : NULL;
	if (!s || !s->func || !s->func->image)
		return ts_ptx_bad(d, "no module has this function");
	code = s->func->image;
	if (code->func->entry)
		return ts_ptx_bad(d, "a function cannot call a kernel");
	in->kind = KIND_CALL;
	in->target = (uint32_t)(code - d->image->codes);
	r = ts_ptx_reserve(&d->callees, d->n_callees, &d->callees_capacity, sizeof(*d->callees));
	if (!r)
		d->callees[d->n_callees++] = in->target;
	return r;
}

static int decode_call(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE), join = in;
	const struct ts_ptx_operand *o = O, *end = O + d->stmt->n_operands, *rets = NULL,
				    *args = NULL;
	const struct ts_ptx_operand *target;
	uint32_t n = 0, n_rets, bra;
	int r;

	(void)ts_ptx_mod(d, "uni");
	r = ts_ptx_done(d, d->stmt->n_operands);
	if (r)
		return r;
	if (o < end && o->kind == OPERAND_LIST)
		rets = o++;
	if (o == end)
		return ts_ptx_bad(d, "the operand with the function is missing");
	target = o++;
	if (o < end && o->kind == OPERAND_LIST)
		args = o++;
	if (end - o > 1 || (rets ? rets->n_list : 0) + (args ? args->n_list : 0) > UINT8_MAX)
		return ts_ptx_bad(d, "the number of operands is wrong");
	r = ts_ptx_guard_open(d, &bra);
	if (!r)
		r = call_target(d, target, &in);
	in.guard = TS_PTX_NONE;
	in.b = d->stack_pointer;
	in.aux = d->n_operands;
	if (!r)
		r = call_list(d, rets, true, &n);
	n_rets = n;
	if (!r)
		r = call_list(d, args, false, &n);
	in.n = (uint8_t)n;
	if (!r)
		r = ts_ptx_emit(d, &in,
				(struct ts_ptx_note){.roles = ROLE_LIST_CALL,
						     .n_list = in.n,
						     .n_list_write = (uint8_t)n_rets});
	join.kind = KIND_JOIN;
	join.guard = TS_PTX_NONE;
	if (!r && in.kind == KIND_CALLI)
		r = ts_ptx_emit(d, &join, (struct ts_ptx_note){.keep = true});
	return r ? r : ts_ptx_guard_close(d, bra);
}

/* Barriers. */

static int warp_barrier(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);
	uint32_t bra;
	int r = ts_ptx_done(d, 1);

	if (!r)
		r = ts_ptx_guard_open(d, &bra);
	if (!r)
		r = ts_ptx_src(d, &O[0], TY_B32, &in.c);
	in.kind = KIND_WARP_BARRIER;
	in.guard = TS_PTX_NONE;
	if (!r)
		r = ts_ptx_emit(d, &in, ts_ptx_plain);
	return r ? r : ts_ptx_guard_close(d, bra);
}

static int barrier_red(struct ts_ptx_decoder *d, struct ts_ptx_insn *in, uint32_t n)
{
	bool negated = false;
	int r;

	if (ts_ptx_mod(d, "popc") && ts_ptx_mod_type(d) == TY_U32)
		in->aux = TS_PTX_BAR_POPC;
	else if (ts_ptx_mod(d, "and") && ts_ptx_mod_type(d) == TY_PRED)
		in->aux = TS_PTX_BAR_AND;
	else if (ts_ptx_mod(d, "or") && ts_ptx_mod_type(d) == TY_PRED)
		in->aux = TS_PTX_BAR_OR;
	else
		return ts_ptx_unsupported(d);
	if (n != 3 && n != 4)
		return ts_ptx_bad(d, "the number of operands is wrong");
	r = ts_ptx_done(d, n);
	if (!r)
		r = ts_ptx_dst(d, &O[0], in->aux == TS_PTX_BAR_POPC ? CLASS_32 : CLASS_PRED,
			       &in->dst);
	if (!r)
		r = ts_ptx_src(d, &O[1], TY_U32, &in->a);
	if (!r && n == 4)
		r = ts_ptx_src(d, &O[2], TY_U32, &in->b);
	if (!r)
		r = ts_ptx_src_pred(d, &O[n - 1], &in->c, &negated);
	in->imm = negated;
	return r;
}

static int cluster_barrier(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);
	bool arrive = ts_ptx_mod(d, "arrive");
	int r;

	if (!arrive && !ts_ptx_mod(d, "wait"))
		return ts_ptx_unsupported(d);
	if (!arrive || !ts_ptx_mod(d, "relaxed"))
		(void)ts_ptx_mod(d, arrive ? "release" : "acquire");
	(void)ts_ptx_mod(d, "aligned");
	r = ts_ptx_done(d, 0);
	in.kind = KIND_BARRIER;
	in.aux = arrive ? TS_PTX_BAR_CLUSTER_ARRIVE : TS_PTX_BAR_CLUSTER_WAIT;
	in.imm = 0;
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_bar(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);
	uint32_t n = d->stmt->n_operands;
	int r;

	(void)ts_ptx_mod(d, "cta");
	if (ts_ptx_mod(d, "cluster"))
		return cluster_barrier(d);
	if (ts_ptx_mod(d, "warp"))
		return ts_ptx_mod(d, "sync") ? warp_barrier(d) : ts_ptx_unsupported(d);
	in.kind = KIND_BARRIER;
	in.imm = 0;
	(void)ts_ptx_mod(d, "aligned");
	if (ts_ptx_mod(d, "red")) {
		r = barrier_red(d, &in, n);
	} else {
		bool arrive = ts_ptx_mod(d, "arrive");

		if (!arrive && !ts_ptx_mod(d, "sync"))
			return ts_ptx_unsupported(d);
		in.aux = arrive ? TS_PTX_BAR_ARRIVE : TS_PTX_BAR_SYNC;
		r = ts_ptx_done(d, n);
		if (!r && (n < 1 || n > 2 || (arrive && n != 2)))
			r = ts_ptx_bad(d, "the number of operands is wrong");
		if (!r)
			r = ts_ptx_src(d, &O[0], TY_U32, &in.a);
		if (!r && n == 2)
			r = ts_ptx_src(d, &O[1], TY_U32, &in.b);
	}
	/* The result is written when other threads arrive, so the old value must keep its slot. */
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){.roles = ROLE_DST_READ});
}

/*
 * Emits a collective instruction. If it has a guard, emits a branch around the unguarded
 * instruction, so that all lanes that reach the instruction take part.
 */
static int emit_collective(struct ts_ptx_decoder *d, struct ts_ptx_insn *in, uint32_t bra,
			   struct ts_ptx_note note)
{
	int r;

	in->kind = KIND_COLLECTIVE;
	in->guard = TS_PTX_NONE;
	r = ts_ptx_emit(d, in, note);
	return r ? r : ts_ptx_guard_close(d, bra);
}

/* Decodes the operand d|p: the instruction's `target` receives the second result. */
static int pair_result(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o,
		       struct ts_ptx_insn *in)
{
	if (o->reg2 != UINT32_MAX) {
		if (d->classes[o->reg2] != CLASS_PRED)
			return ts_ptx_bad(d, "the second result must be a predicate");
		in->target = TS_PTX_VREG_OF(o->reg2);
	}
	return o->kind == OPERAND_SINK ? 0 : ts_ptx_dst(d, o, CLASS_32, &in->dst);
}

static int decode_shfl(struct ts_ptx_decoder *d)
{
	static const char *const modes[] = {"up", "down", "bfly", "idx"};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_SHFL, TY_NONE);
	bool sync = ts_ptx_mod(d, "sync");
	uint32_t bra;
	int r = 0;

	while (in.aux < 4 && !ts_ptx_mod(d, modes[in.aux]))
		in.aux++;
	if (in.aux == 4 || ts_ptx_class_of(ts_ptx_mod_type(d)) != CLASS_32)
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, sync ? 5 : 4);
	if (!r)
		r = ts_ptx_guard_open(d, &bra);
	if (!r)
		r = ts_ptx_src(d, &O[1], TY_B32, &in.a);
	if (!r)
		r = ts_ptx_src(d, &O[2], TY_B32, &in.b);
	if (!r)
		r = ts_ptx_src(d, &O[3], TY_B32, &in.reconverge);
	if (!r && sync)
		r = ts_ptx_src(d, &O[4], TY_B32, &in.c);
	if (!r)
		r = pair_result(d, &O[0], &in);
	return r ? r
		 : emit_collective(d, &in, bra,
				   (struct ts_ptx_note){.roles = ROLE_RECONVERGE_READ |
								 ROLE_TARGET_WRITE});
}

static int decode_vote(struct ts_ptx_decoder *d)
{
	static const char *const modes[] = {"all", "any", "uni", "ballot"};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_VOTE, TY_NONE);
	bool sync = ts_ptx_mod(d, "sync"), negated = false;
	enum ts_ptx_type type;
	uint32_t bra;
	int r;

	while (in.aux < 4 && !ts_ptx_mod(d, modes[in.aux]))
		in.aux++;
	type = ts_ptx_mod_type(d);
	if (in.aux == 4 || type != (in.aux == TS_PTX_VOTE_BALLOT ? TY_B32 : TY_PRED))
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, sync ? 3 : 2);
	if (!r)
		r = ts_ptx_guard_open(d, &bra);
	if (!r)
		r = ts_ptx_src_pred(d, &O[1], &in.a, &negated);
	if (!r && sync)
		r = ts_ptx_src(d, &O[2], TY_B32, &in.c);
	if (!r)
		r = ts_ptx_dst(d, &O[0], ts_ptx_class_of(type), &in.dst);
	in.imm = negated;
	return r ? r : emit_collective(d, &in, bra, ts_ptx_plain);
}

static int decode_match(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_MATCH, TY_NONE);
	bool all = ts_ptx_mod(d, "all"), any = ts_ptx_mod(d, "any"), sync = ts_ptx_mod(d, "sync");
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	uint32_t bra;
	int r;

	if (all == any || !sync || (type != TY_B32 && type != TY_B64))
		return ts_ptx_unsupported(d);
	in.aux = all;
	in.flags = type == TY_B64 ? INSN_SRC64 : 0;
	r = ts_ptx_done(d, 3);
	if (!r)
		r = ts_ptx_guard_open(d, &bra);
	if (!r)
		r = ts_ptx_src(d, &O[1], type, &in.a);
	if (!r)
		r = ts_ptx_src(d, &O[2], TY_B32, &in.c);
	if (!r)
		r = pair_result(d, &O[0], &in);
	return r ? r
		 : emit_collective(d, &in, bra, (struct ts_ptx_note){.roles = ROLE_TARGET_WRITE});
}

static int decode_redux(struct ts_ptx_decoder *d)
{
	static const char *const names[] = {"add", "and", "or", "xor", "min", "max"};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_REDUX, TY_NONE);
	bool sync = ts_ptx_mod(d, "sync");
	enum ts_ptx_type type;
	uint32_t bra;
	int r;

	while (in.aux < 6 && !ts_ptx_mod(d, names[in.aux]))
		in.aux++;
	type = ts_ptx_mod_type(d);
	if (!sync || in.aux == 6 || (type != TY_U32 && type != TY_S32 && type != TY_B32))
		return ts_ptx_unsupported(d);
	if (in.aux >= TS_PTX_REDUX_MIN_U && type == TY_S32)
		in.aux += 2;
	r = ts_ptx_done(d, 3);
	if (!r)
		r = ts_ptx_guard_open(d, &bra);
	if (!r)
		r = ts_ptx_src(d, &O[1], type, &in.a);
	if (!r)
		r = ts_ptx_src(d, &O[2], TY_B32, &in.c);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_32, &in.dst);
	return r ? r : emit_collective(d, &in, bra, ts_ptx_plain);
}

static int decode_elect(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_ELECT, TY_NONE);
	uint32_t bra;
	int r = ts_ptx_mod(d, "sync") ? ts_ptx_done(d, 2) : ts_ptx_unsupported(d);

	if (!r)
		r = ts_ptx_guard_open(d, &bra);
	if (!r)
		r = ts_ptx_src(d, &O[1], TY_B32, &in.c);
	if (!r)
		r = pair_result(d, &O[0], &in);
	return r ? r
		 : emit_collective(d, &in, bra, (struct ts_ptx_note){.roles = ROLE_TARGET_WRITE});
}

static int decode_activemask(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_ACTIVEMASK, TY_NONE);
	int r = ts_ptx_mod_type(d) == TY_B32 ? ts_ptx_done(d, 1) : ts_ptx_unsupported(d);

	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_32, &in.dst);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

const struct ts_ptx_mnemonic ts_ptx_mnemonics_control[] = {
	{"bra", decode_bra},
	{"brx", decode_brx},
	{"call", decode_call},
	{"ret", decode_ret},
	{"exit", decode_exit},
	{"trap", decode_trap},
	{"brkpt", decode_brkpt},
	{"nanosleep", decode_nanosleep},
	{"griddepcontrol", decode_nop},
	{"pmevent", decode_nop},
	{"setmaxnreg", decode_nop},
	{"bar", decode_bar},
	{"barrier", decode_bar},
	{"shfl", decode_shfl},
	{"vote", decode_vote},
	{"match", decode_match},
	{"redux", decode_redux},
	{"elect", decode_elect},
	{"activemask", decode_activemask},
	{NULL, NULL},
};
