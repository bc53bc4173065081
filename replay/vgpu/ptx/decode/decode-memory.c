// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes loads, stores, fences, other instructions with addresses, and cache hints, which have no
 * effect here. decode.c calls this file through ts_ptx_mnemonics_memory; decode-atom.c,
 * decode-tensor.c and decode-wmma.c call ts_ptx_address().
 */
#include "replay/vgpu/ptx/decode/decode.h"

#define O (d->stmt->operands)

static const struct ts_ptx_note ts_ptx_plain;

enum ts_ptx_space ts_ptx_mod_space(struct ts_ptx_decoder *d)
{
	static const struct {
		const char *name;
		enum ts_ptx_space space;
	} spaces[] = {
		{"global", SP_GLOBAL},	    {"shared", SP_SHARED},
		{"shared::cta", SP_SHARED}, {"shared::cluster", SP_SHARED},
		{"local", SP_LOCAL},	    {"const", SP_CONST},
		{"param", SP_PARAM},	    {"param::entry", SP_PARAM},
		{"param::func", SP_PARAM},
	};

	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		if (ts_ptx_mod(d, spaces[i].name))
			return spaces[i].space;
	return SP_GENERIC;
}

static bool mod_any(struct ts_ptx_decoder *d, const char *const *names)
{
	bool any = false;

	for (; *names; names++)
		any |= ts_ptx_mod(d, *names);
	return any;
}

/* Consumes cache operators and eviction priorities. True: the operands include a cache policy. */
static bool mod_hints(struct ts_ptx_decoder *d)
{
	static const char *const names[] = {"nc",
					    "ca",
					    "cg",
					    "cs",
					    "lu",
					    "cv",
					    "wb",
					    "wt",
					    "L1::evict_normal",
					    "L1::evict_unchanged",
					    "L1::evict_first",
					    "L1::evict_last",
					    "L1::no_allocate",
					    "L2::evict_normal",
					    "L2::evict_first",
					    "L2::evict_last",
					    "L2::64B",
					    "L2::128B",
					    "L2::256B",
					    NULL};

	(void)mod_any(d, names);
	return ts_ptx_mod(d, "L2::cache_hint");
}

/* Consumes memory order and scope. The engine's order and fences are at least as strong. */
bool ts_ptx_mod_sync(struct ts_ptx_decoder *d)
{
	static const char *const orders[] = {"volatile", "relaxed", "acquire", "mmio", NULL};
	static const char *const releases[] = {"release", "acq_rel", "sc", NULL};
	static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
	bool releasing = mod_any(d, releases);
	bool sync = mod_any(d, orders) || releasing;

	if (releasing)
		d->releasing = d->stmt;

	(void)ts_ptx_mod(d, "weak");
	(void)mod_any(d, scopes);
	return sync;
}

uint32_t ts_ptx_mod_vector(struct ts_ptx_decoder *d)
{
	return ts_ptx_mod(d, "v2") ? 2 : ts_ptx_mod(d, "v4") ? 4 : ts_ptx_mod(d, "v8") ? 8 : 1;
}

/* Decodes an address whose base is a variable's name. */
static int address_of_var(struct ts_ptx_decoder *d, const struct ts_ptx_operand *base,
			  const struct ts_ptx_var *v, enum ts_ptx_space space,
			  struct ts_ptx_insn *in)
{
	struct ts_ptx_operand copy = *base;

	if (space == SP_GENERIC)
		space = v->space;
	if (space != v->space && !(space == SP_GLOBAL && v->space == SP_CONST))
		return ts_ptx_bad(d, "the variable is in another state space");
	in->space = (uint8_t)space;
	if (v->space == SP_LOCAL ||
	    (v->space == SP_PARAM && !(d->func->entry && v->image == d->func))) {
		in->space = SP_LOCAL;
		in->flags |= INSN_FRAME_LOCAL;
		in->imm = v->offset + (uint64_t)base->off;
		return 0;
	}
	in->imm = 0;
	if (v->space == SP_GLOBAL || v->space == SP_CONST)
		in->flags |= INSN_A64;
	return ts_ptx_src(d, &copy, v->space == SP_GLOBAL || v->space == SP_CONST ? TY_U64 : TY_U32,
			  &in->a);
}

int ts_ptx_address(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o,
		   enum ts_ptx_space space, struct ts_ptx_insn *in)
{
	const struct ts_ptx_operand *base = o->list;
	const struct ts_ptx_symbol *s;

	if (o->kind != OPERAND_ADDR)
		return ts_ptx_bad(d, "the operand must be an address in brackets");
	in->space = (uint8_t)space;
	switch (base->kind) {
	case OPERAND_REG:
		if (d->classes[base->reg] != CLASS_32 && d->classes[base->reg] != CLASS_64)
			return ts_ptx_bad(d, "a register of this type cannot hold an address");
		in->a = TS_PTX_VREG_OF(base->reg);
		in->imm = (uint64_t)base->off;
		if (d->classes[base->reg] == CLASS_64)
			in->flags |= INSN_A64;
		/* A device function's parameters are local memory if it uses their addresses. */
		if (space == SP_PARAM && !d->func->entry)
			in->space = SP_LOCAL;
		return 0;
	case OPERAND_IMM:
		in->imm = 0;
		in->flags |= INSN_A64;
		return ts_ptx_src(d, base, TY_U64, &in->a);
	case OPERAND_VAR:
		return address_of_var(d, base, base->var, space, in);
	case OPERAND_NAME:
		s = ts_ptx_resolve_name(d->image, d->module, base->name);
		if (s && s->var)
			return address_of_var(d, base, s->var, space, in);
		return ts_ptx_fail(d->error, TS_PTX_E_SYNTAX, d->stmt->line,
				   "line %u: %.100s is not a variable, in function %.80s",
				   d->stmt->line, base->name, d->func->name);
	default:
		return ts_ptx_bad(d, "the operand is not an address");
	}
}

/* Decodes the values of a load or store: one field or a list. */
static int values(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, enum ts_ptx_type type,
		  bool write, struct ts_ptx_insn *in, bool *ret_64)
{
	uint32_t refs[8];
	bool is_64 = false, first = true;
	int r = 0;

	if (in->n == 1 && o->kind != OPERAND_LIST)
		return write ? ts_ptx_dst_any(d, o, &in->dst, ret_64)
			     : ts_ptx_src_any(d, o, type, &in->b, ret_64);
	if (o->kind != OPERAND_LIST || o->n_list != in->n)
		return ts_ptx_bad(d, "the vector has the wrong length");
	*ret_64 = false;
	for (uint32_t i = 0; i < in->n && !r; i++) {
		refs[i] = TS_PTX_NONE;
		if (write && o->list[i].kind == OPERAND_SINK)
			continue;
		r = write ? ts_ptx_dst_any(d, &o->list[i], &refs[i], &is_64)
			  : ts_ptx_src_any(d, &o->list[i], type, &refs[i], &is_64);
		if (!r && !first && is_64 != *ret_64)
			return ts_ptx_bad(d, "the vector's elements differ in size");
		*ret_64 = is_64;
		first = false;
	}
	/* No element is used, but the load must still run. */
	if (first && write)
		*ret_64 = ts_ptx_class_of(type) == CLASS_64;
	if (in->n == 1) {
		*(write ? &in->dst : &in->b) = refs[0];
		return r;
	}
	in->aux = d->n_operands;
	for (uint32_t i = 0; i < in->n && !r; i++)
		r = ts_ptx_list_add(d, refs[i]);
	return r;
}

/* True if the address is a kernel parameter at a known offset. */
static bool is_fixed_param(const struct ts_ptx_insn *in)
{
	return in->space == SP_PARAM && in->flags == 0 && (in->a & TS_PTX_POOL) &&
	       in->a != TS_PTX_NONE;
}

/*
 * Decodes an access of 128 bits: as two 64-bit accesses, or as one atomic access if the instruction
 * has a memory order.
 */
static int wide_access(struct ts_ptx_decoder *d, enum ts_ptx_space space, uint32_t n, bool sync,
		       bool store)
{
	struct ts_ptx_insn in = sync ? ts_ptx_insn_of(d, F_ATOM128, TY_NONE)
				     : ts_ptx_insn_of(d, store ? F_ST64 : F_LD64, TY_B64);
	struct ts_ptx_operand halves[2];
	int r = n == 1 ? ts_ptx_pair_of(d, &O[store ? 1 : 0], halves) : ts_ptx_unsupported(d);

	in.n = 2;
	in.aux = d->n_operands;
	for (int i = 0; i < 2 && !r; i++) {
		uint32_t ref;

		r = store ? ts_ptx_src(d, &halves[i], TY_B64, &ref)
			  : ts_ptx_dst(d, &halves[i], CLASS_64, &ref);
		if (!r)
			r = ts_ptx_list_add(d, ref);
	}
	if (!r && sync)
		r = ts_ptx_list_add(d, store ? TS_PTX_ATOM128_STORE : TS_PTX_ATOM128_LOAD);
	if (!r)
		r = ts_ptx_address(d, &O[store ? 0 : 1], space, &in);
	return r ? r
		 : ts_ptx_emit(d, &in,
			       (struct ts_ptx_note){.roles = store ? ROLE_LIST_READ
								   : ROLE_LIST_WRITE,
						    .n_list = 2,
						    .n_list_write = store ? 0 : 2});
}

/*
 * Returns the type of a memory access. ld and st have no types for halves, so halves are moved as
 * bits.
 */
static enum ts_ptx_type memory_type(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);

	return type == TY_F16 || type == TY_F16X2 || type == TY_BF16 || type == TY_BF16X2 ? TY_NONE
											  : type;
}

static int decode_ld(struct ts_ptx_decoder *d)
{
	bool hint = mod_hints(d), sync = ts_ptx_mod_sync(d), is_64 = false, fixed;
	enum ts_ptx_space space = ts_ptx_mod_space(d);
	uint32_t n = ts_ptx_mod_vector(d), offset;
	enum ts_ptx_type type;
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_LD, TY_NONE);
	int r;

	(void)ts_ptx_mod(d, "unified");
	type = memory_type(d);
	in.n = (uint8_t)n;
	r = type ? ts_ptx_done(d, hint ? 3 : 2) : ts_ptx_unsupported(d);
	if (!r && ts_ptx_types[type].bytes * n > 32)
		r = ts_ptx_unsupported(d);
	if (!r && type == TY_B128)
		return wide_access(d, space, n, sync, false);
	if (!r)
		r = values(d, &O[0], type, true, &in, &is_64);
	if (!r)
		r = ts_ptx_address(d, &O[1], space, &in);
	if (r)
		return r;
	if (in.dst == TS_PTX_NONE && n == 1)
		r = ts_ptx_temp(d, is_64 ? CLASS_64 : CLASS_32, &in.dst);
	if (!is_64 && ts_ptx_types[type].bytes == 8)
		return ts_ptx_bad(d, "a register's size differs from the instruction's");
	fixed = is_fixed_param(&in);
	if (fixed) {
		/* The pool's slot contains the offset. */
		memcpy(&offset, d->image->pool + (in.a & ~1u), sizeof(offset));
		if ((uint64_t)offset + ts_ptx_types[type].bytes * n > d->func->params_bytes)
			return ts_ptx_bad(d, "the instruction reads past the parameters");
		in.a = TS_PTX_NONE;
		in.imm = offset;
	}
	in.fn = d->ops->fn[fixed   ? (is_64 ? F_LD_PARAM64 : F_LD_PARAM)
			   : is_64 ? F_LD64
				   : F_LD][type];
	if (sync)
		in.flags |= INSN_SYNC;
	return r ? r
		 : ts_ptx_emit(d, &in,
			       (struct ts_ptx_note){.roles = n > 1 ? ROLE_LIST_WRITE |
									     ROLE_LIST_DROPS
								   : 0,
						    .n_list = (uint8_t)n,
						    .n_list_write = (uint8_t)n});
}

static int decode_st(struct ts_ptx_decoder *d)
{
	bool hint = mod_hints(d), sync = ts_ptx_mod_sync(d), is_64 = false;
	enum ts_ptx_space space = ts_ptx_mod_space(d);
	uint32_t n = ts_ptx_mod_vector(d);
	enum ts_ptx_type type = memory_type(d);
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_ST, TY_NONE);
	int r = type && space != SP_CONST ? ts_ptx_done(d, hint ? 3 : 2) : ts_ptx_unsupported(d);

	in.n = (uint8_t)n;
	if (!r && ts_ptx_types[type].bytes * n > 32)
		r = ts_ptx_unsupported(d);
	if (!r && type == TY_B128)
		return wide_access(d, space, n, sync, true);
	if (!r)
		r = values(d, &O[1], type, false, &in, &is_64);
	if (!r)
		r = ts_ptx_address(d, &O[0], space, &in);
	if (r)
		return r;
	if (!is_64 && ts_ptx_types[type].bytes == 8)
		return ts_ptx_bad(d, "a register's size differs from the instruction's");
	in.fn = d->ops->fn[is_64 ? F_ST64 : F_ST][type];
	if (sync)
		in.flags |= INSN_SYNC;
	return ts_ptx_emit(d, &in,
			   (struct ts_ptx_note){.roles = n > 1 ? ROLE_LIST_READ : 0,
						.n_list = (uint8_t)n});
}

static int decode_fence(struct ts_ptx_decoder *d)
{
	static const char *const names[] = {"gl",
					    "proxy",
					    "alias",
					    "async",
					    "generic",
					    "tensormap::generic",
					    "mbarrier_init",
					    "sync_restrict::shared::cta",
					    "sync_restrict::shared::cluster",
					    NULL};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_FENCE, TY_NONE);
	int r;

	(void)ts_ptx_mod_sync(d);
	(void)mod_any(d, names);
	(void)ts_ptx_mod_space(d); /* for fence.proxy.async.global */
	r = ts_ptx_done(d, 0);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

/*
 * Decodes a cache hint, which has no effect. Its addresses are not checked, because a prefetch
 * never faults.
 */
static int decode_hint(struct ts_ptx_decoder *d)
{
	static const char *const names[] = {"L1", "L2", NULL};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_PREFETCH, TY_NONE);
	int r;

	(void)ts_ptx_mod_space(d);
	(void)mod_any(d, names);
	(void)mod_hints(d);
	if (ts_ptx_mod(d, "tensormap"))
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, d->stmt->n_operands);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

/* Decodes createpolicy. A policy is an opaque value that only hints use. */
static int decode_createpolicy(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_MOV, TY_B64);
	int r;

	if ((!ts_ptx_mod(d, "fractional") && !ts_ptx_mod(d, "range") && !ts_ptx_mod(d, "cvt")) ||
	    ts_ptx_mod_type(d) != TY_B64)
		return ts_ptx_unsupported(d);
	(void)ts_ptx_mod(d, "L2");
	(void)ts_ptx_mod_space(d);
	(void)mod_hints(d);
	(void)mod_hints(d);
	r = ts_ptx_done(d, d->stmt->n_operands);
	if (!r && !d->stmt->n_operands)
		return ts_ptx_bad(d, "the number of operands is wrong");
	if (!r)
		r = ts_ptx_pool_value(d->image, 0, CLASS_64, &in.a);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_64, &in.dst);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

/*
 * Decodes alloca, which reserves local memory above the frame. The memory is freed with the frame,
 * or by stackrestore.
 */
static int decode_alloca(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_ALLOCA, TY_NONE);
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	uint32_t n = d->stmt->n_operands;
	int r = type == TY_U32 || type == TY_U64 ? ts_ptx_done(d, n) : ts_ptx_unsupported(d);

	if (!r && (n < 2 || n > 3))
		return ts_ptx_bad(d, "the number of operands is wrong");
	in.imm = 8;
	if (!r && n == 3) {
		in.imm = O[2].kind == OPERAND_IMM ? O[2].imm : 0;
		if (!in.imm || in.imm > 1u << 16 || (in.imm & (in.imm - 1)))
			return ts_ptx_bad(d, "the alignment must be a power of two");
	}
	in.aux = (uint32_t)in.imm;
	in.target = in.b = d->stack_pointer;
	in.reconverge = TS_PTX_NONE;
	in.flags = type == TY_U64 ? INSN_DST64 : 0;
	if (!r)
		r = ts_ptx_src(d, &O[1], type, &in.a);
	if (!r)
		r = ts_ptx_dst(d, &O[0], ts_ptx_class_of(type), &in.dst);
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){.roles = ROLE_TARGET_WRITE});
}

static int stack_move(struct ts_ptx_decoder *d, bool restore)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	bool wide = type == TY_U64;
	/* Converts between the 32-bit stack pointer and the operand's register. */
	enum ts_ptx_family family = !wide     ? F_MOV
				    : restore ? F_CVT_FAST_U32_U64
					      : F_CVT_FAST_U64_U32;
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, wide ? TY_NONE : TY_B32);
	int r = type == TY_U32 || wide ? ts_ptx_done(d, 1) : ts_ptx_unsupported(d);

	/* Without alloca there is no stack pointer to save or restore. */
	if (!r && d->stack_pointer == TS_PTX_NONE) {
		in = ts_ptx_insn_of(d, restore ? F_NOP : F_MOV,
				    restore ? TY_NONE
				    : wide  ? TY_B64
					    : TY_B32);
		if (!restore)
			r = ts_ptx_pool_value(d->image, 0, ts_ptx_class_of(type), &in.a);
	} else if (restore) {
		in.dst = d->stack_pointer;
	} else {
		in.a = d->stack_pointer;
	}
	if (!r && !restore)
		r = ts_ptx_dst(d, &O[0], ts_ptx_class_of(type), &in.dst);
	if (!r && restore && in.dst != TS_PTX_NONE)
		r = ts_ptx_src(d, &O[0], type, &in.a);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_stacksave(struct ts_ptx_decoder *d)
{
	return stack_move(d, false);
}

static int decode_stackrestore(struct ts_ptx_decoder *d)
{
	return stack_move(d, true);
}

/*
 * Decodes mapa, which computes an address in the shared memory of a block of the cluster. A cluster
 * of one has only its own block.
 */
static int decode_mapa(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_MAPA, TY_NONE);
	enum ts_ptx_type type;
	int r;

	(void)ts_ptx_mod_space(d);
	type = ts_ptx_mod_type(d);
	r = type == TY_U32 || type == TY_U64 ? ts_ptx_done(d, 3) : ts_ptx_unsupported(d);
	in.flags = type == TY_U64 ? INSN_DST64 : 0;
	if (!r)
		r = ts_ptx_src(d, &O[1], type, &in.a);
	if (!r)
		r = ts_ptx_src(d, &O[2], TY_U32, &in.b);
	if (!r)
		r = ts_ptx_dst(d, &O[0], ts_ptx_class_of(type), &in.dst);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_getctarank(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_MOV, TY_B32);
	enum ts_ptx_type type;
	uint32_t unused;
	int r;

	(void)ts_ptx_mod_space(d);
	type = ts_ptx_mod_type(d);
	r = type == TY_U32 || type == TY_U64 ? ts_ptx_done(d, 2) : ts_ptx_unsupported(d);
	if (!r)
		r = ts_ptx_src(d, &O[1], type, &unused);
	if (!r)
		r = ts_ptx_pool_value(d->image, 0, CLASS_32, &in.a);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_32, &in.dst);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

const struct ts_ptx_mnemonic ts_ptx_mnemonics_memory[] = {
	{"alloca", decode_alloca},
	{"stacksave", decode_stacksave},
	{"stackrestore", decode_stackrestore},
	{"mapa", decode_mapa},
	{"getctarank", decode_getctarank},
	{"ld", decode_ld},
	{"ldu", decode_ld},
	{"st", decode_st},
	{"membar", decode_fence},
	{"fence", decode_fence},
	{"prefetch", decode_hint},
	{"prefetchu", decode_hint},
	{"applypriority", decode_hint},
	{"discard", decode_hint},
	{"createpolicy", decode_createpolicy},
	{NULL, NULL},
};
