// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes mma and wmma: the valid shapes of each type, and the registers of a fragment. decode.c
 * calls this file through ts_ptx_mnemonics_matrix; decode-tensor.c calls ts_ptx_fragment() and
 * ts_ptx_whole_warp().
 */
#include "replay/vgpu/ptx/decode/decode.h"

#define O (d->stmt->operands)

struct ts_ptx_shape {
	const char *name;
	uint16_t m, n, k;
	enum ts_ptx_type a[2];
};

/* Shapes of compute capability 7.5 to 9.0. */
static const struct ts_ptx_shape ts_ptx_mma_shapes[] = {
	{"m16n8k8", 16, 8, 8, {TY_F16, TY_BF16}},
	{"m16n8k16", 16, 8, 16, {TY_F16, TY_BF16}},
	{"m16n8k4", 16, 8, 4, {TY_TF32, TY_F64}},
	{"m16n8k8", 16, 8, 8, {TY_TF32, TY_F64}},
	{"m16n8k16", 16, 8, 16, {TY_F64}},
	{"m8n8k4", 8, 8, 4, {TY_F64}},
	{"m8n8k16", 8, 8, 16, {TY_S8, TY_U8}},
	{"m16n8k16", 16, 8, 16, {TY_S8, TY_U8}},
	{"m16n8k32", 16, 8, 32, {TY_S8, TY_U8}},
	{"m16n8k16", 16, 8, 16, {TY_E4M3, TY_E5M2}},
	{"m16n8k32", 16, 8, 32, {TY_E4M3, TY_E5M2}},
	{"m8n8k32", 8, 8, 32, {TY_S4, TY_U4}},
	{"m16n8k32", 16, 8, 32, {TY_S4, TY_U4}},
	{"m16n8k64", 16, 8, 64, {TY_S4, TY_U4}},
	{"m8n8k128", 8, 8, 128, {TY_B1}},
	{"m16n8k128", 16, 8, 128, {TY_B1}},
	{"m16n8k256", 16, 8, 256, {TY_B1}},
	{NULL},
};

static const struct ts_ptx_shape ts_ptx_wmma_shapes[] = {
	{"m16n16k16", 16, 16, 16, {TY_F16, TY_BF16}},
	{"m16n16k16", 16, 16, 16, {TY_S8, TY_U8}},
	{"m32n8k16", 32, 8, 16, {TY_F16, TY_BF16}},
	{"m32n8k16", 32, 8, 16, {TY_S8, TY_U8}},
	{"m8n32k16", 8, 32, 16, {TY_F16, TY_BF16}},
	{"m8n32k16", 8, 32, 16, {TY_S8, TY_U8}},
	{"m16n16k8", 16, 16, 8, {TY_TF32}},
	{"m8n8k4", 8, 8, 4, {TY_F64}},
	{"m8n8k32", 8, 8, 32, {TY_S4, TY_U4}},
	{"m8n8k128", 8, 8, 128, {TY_B1}},
	{NULL},
};

/*
 * Consumes the shape's name and returns the shape for elements of type a. TY_NONE: the first shape
 * with that name.
 */
static const struct ts_ptx_shape *mod_shape(struct ts_ptx_decoder *d,
					    const struct ts_ptx_shape *shapes, enum ts_ptx_type a)
{
	for (uint32_t i = 1; i < d->n_mods; i++) {
		for (const struct ts_ptx_shape *s = shapes; !d->mods[i].used && s->name; s++) {
			if (strlen(s->name) != d->mods[i].n ||
			    memcmp(s->name, d->mods[i].text, d->mods[i].n) ||
			    (a && s->a[0] != a && s->a[1] != a))
				continue;
			d->mods[i].used = true;
			return s;
		}
	}
	return NULL;
}

static bool mma_types(const enum ts_ptx_type types[4])
{
	enum ts_ptx_type td = types[0], ta = types[1], tb = types[2], tc = types[3];

	switch (ta) {
	case TY_F16:
		return tb == ta && (td == TY_F32 || td == TY_F16) && td == tc;
	case TY_E4M3:
	case TY_E5M2:
		return (tb == TY_E4M3 || tb == TY_E5M2) && (td == TY_F32 || td == TY_F16) &&
		       td == tc;
	case TY_BF16:
	case TY_TF32:
		return tb == ta && td == TY_F32 && tc == TY_F32;
	case TY_F64:
		return tb == ta && td == TY_F64 && tc == TY_F64;
	case TY_S8:
	case TY_U8:
		return (tb == TY_S8 || tb == TY_U8) && td == TY_S32 && tc == TY_S32;
	case TY_S4:
	case TY_U4:
		return (tb == TY_S4 || tb == TY_U4) && td == TY_S32 && tc == TY_S32;
	default:
		return tb == ta && td == TY_S32 && tc == TY_S32;
	}
}

/* Adds the first n_used of a fragment's n registers to the operand list. */
static int fragment_part(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, uint32_t n,
			 uint32_t n_used, enum ts_ptx_type type, bool write)
{
	uint32_t refs[8];
	int r = 0;

	if (n == 1 && o->kind != OPERAND_LIST) {
		r = write ? ts_ptx_dst(d, o, ts_ptx_class_of(type), &refs[0])
			  : ts_ptx_src(d, o, type, &refs[0]);
		return r ? r : ts_ptx_list_add(d, refs[0]);
	}
	if (o->kind != OPERAND_LIST || o->n_list != n || n > 8)
		return ts_ptx_bad(d, "a fragment has the wrong number of registers");
	for (uint32_t i = 0; i < n && !r; i++)
		r = write ? ts_ptx_dst(d, &o->list[i], ts_ptx_class_of(type), &refs[i])
			  : ts_ptx_src(d, &o->list[i], type, &refs[i]);
	for (uint32_t i = 0; i < n_used && !r; i++)
		r = ts_ptx_list_add(d, refs[i]);
	return r;
}

int ts_ptx_fragment(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, uint32_t n,
		    enum ts_ptx_type type, bool write)
{
	return fragment_part(d, o, n, n, type, write);
}

int ts_ptx_whole_warp(struct ts_ptx_decoder *d, struct ts_ptx_insn *in, uint32_t *ret_bra)
{
	int r = ts_ptx_guard_open(d, ret_bra);

	in->kind = KIND_COLLECTIVE;
	in->guard = TS_PTX_NONE;
	return r ? r : ts_ptx_pool_value(d->image, UINT32_MAX, CLASS_32, &in->c);
}

static enum ts_ptx_type register_type(enum ts_ptx_type type)
{
	return type == TY_F64 ? TY_F64 : TY_B32;
}

/*
 * Returns the number of registers of a wmma fragment: eight for halves, and for other types as many
 * as the fragment needs.
 */
static uint32_t wmma_registers(enum ts_ptx_type type, uint32_t n)
{
	return type == TY_F16 ? 8 : n;
}

static int emit_mma(struct ts_ptx_decoder *d, const struct ts_ptx_shape *s,
		    const enum ts_ptx_type types[4], uint64_t flags, bool wmma)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_MMA, TY_NONE);
	uint32_t k = s->k / (4 * ts_ptx_per_register(types[1])), n_a = s->m / 8u * k,
		 n_b = s->n / 8u * k, bra;
	uint32_t n_c = (uint32_t)s->m * s->n / 32, n_d = types[0] == TY_F16 ? n_c / 2 : n_c;
	uint32_t n_c_regs = types[3] == TY_F16 ? n_c / 2 : n_c;
	enum ts_ptx_type word = register_type(types[1]), sum = register_type(types[0]);
	int r = ts_ptx_whole_warp(d, &in, &bra);

	in.aux = d->n_operands;
	if (!r)
		r = ts_ptx_fragment(d, &O[0], n_d, sum, true);
	if (!r)
		r = fragment_part(d, &O[1], wmma ? wmma_registers(types[1], n_a) : n_a, n_a, word,
				  false);
	if (!r)
		r = fragment_part(d, &O[2], wmma ? wmma_registers(types[1], n_b) : n_b, n_b, word,
				  false);
	if (!r)
		r = ts_ptx_fragment(d, &O[3], n_c_regs, sum, false);
	in.n = (uint8_t)s->n;
	in.imm = TS_PTX_MMA(s->m, s->k, types[0], types[1], types[2], types[3]) | flags;
	if (!r)
		r = ts_ptx_emit(d, &in,
				(struct ts_ptx_note){.roles = ROLE_LIST_READ | ROLE_LIST_WRITE,
						     .n_list =
							     (uint8_t)(n_d + n_a + n_b + n_c_regs),
						     .n_list_write = (uint8_t)n_d});
	return r ? r : ts_ptx_guard_close(d, bra);
}

/*
 * Consumes satfinite and, for bit matrices, the operation. False: a modifier is missing or invalid.
 */
static bool mma_flags(struct ts_ptx_decoder *d, enum ts_ptx_type a, enum ts_ptx_type td,
		      uint64_t *ret_flags)
{
	*ret_flags = 0;
	if (a == TY_B1) {
		if (ts_ptx_mod(d, "xor"))
			*ret_flags = TS_PTX_MMA_XOR;
		else if (!ts_ptx_mod(d, "and"))
			return false;
		if (!ts_ptx_mod(d, "popc"))
			return false;
	}
	if (ts_ptx_mod(d, "satfinite")) {
		*ret_flags |= TS_PTX_MMA_SATFINITE;
		return td == TY_S32 && a != TY_B1;
	}
	return true;
}

static int decode_mma(struct ts_ptx_decoder *d)
{
	bool known = ts_ptx_mod(d, "sync");
	const struct ts_ptx_shape *s;
	enum ts_ptx_type types[4];
	uint64_t flags;
	int r;

	known &= ts_ptx_mod(d, "aligned");
	known &= ts_ptx_mod(d, "row");
	known &= ts_ptx_mod(d, "col");
	for (int i = 0; i < 4; i++)
		types[i] = ts_ptx_mod_type(d);
	s = mod_shape(d, ts_ptx_mma_shapes, types[1]);
	known &= mma_flags(d, types[1], types[0], &flags);
	if (!known || !types[1] || !s || !mma_types(types))
		return ts_ptx_unsupported(d);
	if (types[0] == TY_F64)
		(void)ts_ptx_mod(d, "rn");
	r = ts_ptx_done(d, 4);
	return r ? r : emit_mma(d, s, types, flags, false);
}

/*
 * Decodes wmma.mma. For halves, the statement names only the types of the sums, which may differ.
 */
static int wmma_mma(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type types[4] = {TY_NONE}, named[4];
	const struct ts_ptx_shape *s;
	uint64_t flags;
	int r, n = 0;

	for (int i = 0; i < 2; i++)
		if (!ts_ptx_mod(d, "row") && !ts_ptx_mod(d, "col"))
			return ts_ptx_unsupported(d);
	while (n < 4 && (named[n] = ts_ptx_mod_type(d)))
		n++;
	if (n == 2) {
		for (int i = 0; i < 2; i++)
			if (named[i] != TY_F16 && named[i] != TY_F32)
				return ts_ptx_unsupported(d);
		types[0] = named[0];
		types[1] = types[2] = TY_F16;
		types[3] = named[1];
	} else if (n == 4 && named[1] != TY_F16 && mma_types(named)) {
		memcpy(types, named, sizeof(types));
	} else {
		return ts_ptx_unsupported(d);
	}
	s = mod_shape(d, ts_ptx_wmma_shapes, types[1]);
	if (!s || !mma_flags(d, types[1], types[0], &flags))
		return ts_ptx_unsupported(d);
	if (types[0] == TY_F64)
		(void)ts_ptx_mod(d, "rn");
	r = ts_ptx_done(d, 4);
	return r ? r : emit_mma(d, s, types, flags, true);
}

static bool is_sum(const struct ts_ptx_shape *s, enum ts_ptx_type type)
{
	switch (s->a[0]) {
	case TY_F16: /* f16 and bf16 have the same shape; mma checks that bf16 has f32 sums */
		return type == TY_F16 || type == TY_F32 || type == TY_S32;
	case TY_TF32:
		return type == TY_F32;
	case TY_F64:
		return type == TY_F64;
	default:
		return type == TY_S32;
	}
}

/* Decodes wmma.load.{a,b,c} regs, [p] {, stride} and wmma.store.d [p], regs {, stride} */
static int wmma_access(struct ts_ptx_decoder *d, enum ts_ptx_matrix which, bool store)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, store ? F_WMMA_STORE : F_WMMA_LOAD, TY_NONE);
	bool by_column = ts_ptx_mod(d, "col"), is_c = which == TS_PTX_MATRIX_C;
	enum ts_ptx_space space = ts_ptx_mod_space(d);
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	uint32_t n = d->stmt->n_operands, rows, columns, n_regs, bra;
	const struct ts_ptx_shape *s;
	int r;

	if ((!by_column && !ts_ptx_mod(d, "row")) || !type)
		return ts_ptx_unsupported(d);
	s = mod_shape(d, ts_ptx_wmma_shapes, is_c ? TY_NONE : type);
	if (!s || (is_c && !is_sum(s, type)) ||
	    (ts_ptx_per_register(type) > 4 && by_column != (which == TS_PTX_MATRIX_B)) ||
	    (space != SP_GENERIC && space != SP_GLOBAL && space != SP_SHARED) || n < 2 || n > 3)
		return ts_ptx_unsupported(d);
	rows = which == TS_PTX_MATRIX_B ? s->k : s->m;
	columns = which == TS_PTX_MATRIX_A ? s->k : s->n;
	n_regs = rows * columns / 32 / ts_ptx_per_register(type);
	if (!is_c)
		n_regs = wmma_registers(type, n_regs);
	r = ts_ptx_done(d, n);
	if (!r)
		r = ts_ptx_whole_warp(d, &in, &bra);
	if (!r)
		r = ts_ptx_address(d, &O[store ? 0 : 1], space, &in);
	if (!r && n == 3)
		r = ts_ptx_src(d, &O[2], TY_U32, &in.b);
	in.aux = d->n_operands;
	in.n = (uint8_t)n_regs;
	if (!r)
		r = ts_ptx_fragment(d, &O[store ? 1 : 0], n_regs, register_type(type), !store);
	if (!r)
		r = ts_ptx_list_add(d, TS_PTX_WMMA(which, rows, columns, by_column, type));
	if (!r)
		r = ts_ptx_emit(d, &in,
				(struct ts_ptx_note){.roles = store ? ROLE_LIST_READ
								    : ROLE_LIST_WRITE,
						     .n_list = in.n,
						     .n_list_write = store ? 0 : in.n});
	return r ? r : ts_ptx_guard_close(d, bra);
}

static int decode_wmma(struct ts_ptx_decoder *d)
{
	bool load = ts_ptx_mod(d, "load"), store = !load && ts_ptx_mod(d, "store");
	bool mma = !load && !store && ts_ptx_mod(d, "mma"), known = ts_ptx_mod(d, "sync");

	known &= ts_ptx_mod(d, "aligned");
	if (!known)
		return ts_ptx_unsupported(d);
	if (mma)
		return wmma_mma(d);
	if (load && ts_ptx_mod(d, "a"))
		return wmma_access(d, TS_PTX_MATRIX_A, false);
	if (load && ts_ptx_mod(d, "b"))
		return wmma_access(d, TS_PTX_MATRIX_B, false);
	if ((load && ts_ptx_mod(d, "c")) || (store && ts_ptx_mod(d, "d")))
		return wmma_access(d, TS_PTX_MATRIX_C, store);
	return ts_ptx_unsupported(d);
}

const struct ts_ptx_mnemonic ts_ptx_mnemonics_matrix[] = {
	{"mma", decode_mma},
	{"wmma", decode_wmma},
	{NULL, NULL},
};
