// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes atomics and reductions: of one value, of vectors, of 128 bits. decode.c calls this file
 * through ts_ptx_mnemonics_atom; this file calls emit.c.
 */
#include "replay/vgpu/ptx/decode/decode.h"

#define O (d->stmt->operands)

static const struct ts_ptx_note ts_ptx_plain;

static bool atom_valid(enum ts_ptx_atom op, enum ts_ptx_type type)
{
	char klass = ts_ptx_types[type].klass;

	switch (op) {
	case ATOM_ADD:
		return type == TY_U32 || type == TY_S32 || type == TY_U64 || type == TY_S64 ||
		       type == TY_F32 || type == TY_F64 || type == TY_F16 || type == TY_F16X2 ||
		       type == TY_BF16 || type == TY_BF16X2;
	case ATOM_MIN:
	case ATOM_MAX:
		return (klass == 'u' || klass == 's') && ts_ptx_types[type].bytes >= 4;
	case ATOM_INC:
	case ATOM_DEC:
		return type == TY_U32;
	default:
		return klass == 'b' && ts_ptx_types[type].bytes >= 4 && type != TY_B128;
	}
}

/* Decodes an atomic on a vector as a separate atomic operation for each element, as in the ISA. */
static int atomic_vector(struct ts_ptx_decoder *d, enum ts_ptx_space space, uint32_t op,
			 enum ts_ptx_type type, uint32_t n, bool red, bool hint)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_ATOM_VECTOR, TY_NONE);
	bool half = type == TY_F16 || type == TY_BF16, pair = type == TY_F16X2 || type == TY_BF16X2;
	uint32_t first = red ? 0 : 1, refs[8];
	int r;

	if (!(type == TY_F32 && op == ATOM_ADD) &&
	    !((half || pair) && (op == ATOM_ADD || op == ATOM_MIN || op == ATOM_MAX)))
		return ts_ptx_unsupported(d);
	if (n * ts_ptx_types[type].bytes > 16 || (space != SP_GENERIC && space != SP_GLOBAL))
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, first + 2 + hint);
	if (!r)
		r = ts_ptx_address(d, &O[first], space, &in);
	if (!r && (O[first + 1].kind != OPERAND_LIST || O[first + 1].n_list != n ||
		   (!red && O[0].kind != OPERAND_SINK &&
		    (O[0].kind != OPERAND_LIST || O[0].n_list != n))))
		return ts_ptx_bad(d, "the vector has the wrong length");
	for (uint32_t i = 0; i < n && !r; i++) {
		refs[i] = TS_PTX_NONE;
		if (!red && O[0].kind == OPERAND_LIST)
			r = ts_ptx_dst(d, &O[0].list[i], CLASS_32, &refs[i]);
	}
	in.aux = d->n_operands;
	in.n = (uint8_t)n;
	for (uint32_t i = 0; i < n && !r; i++)
		r = ts_ptx_list_add(d, refs[i]);
	for (uint32_t i = 0; i < n && !r; i++)
		r = ts_ptx_src(d, &O[first + 1].list[i], type, &refs[i]);
	for (uint32_t i = 0; i < n && !r; i++)
		r = ts_ptx_list_add(d, refs[i]);
	if (!r)
		r = ts_ptx_list_add(d, op | (uint32_t)type << 4);
	return r ? r
		 : ts_ptx_emit(d, &in,
			       (struct ts_ptx_note){.roles = ROLE_LIST_READ | ROLE_LIST_WRITE,
						    .n_list = (uint8_t)(2 * n),
						    .n_list_write = (uint8_t)n});
}

static int atomic_wide(struct ts_ptx_decoder *d, enum ts_ptx_space space, bool cas, uint32_t op,
		       bool red, bool hint)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_ATOM128, TY_NONE);
	uint32_t n = 2u + cas;
	int r;

	if (red || (!cas && op != ATOM_EXCH))
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, n + 1 + hint);
	if (!r)
		r = ts_ptx_address(d, &O[1], space, &in);
	in.aux = d->n_operands;
	in.n = (uint8_t)(2 * n);
	for (uint32_t i = 0; i < n && !r; i++) {
		struct ts_ptx_operand halves[2];

		r = ts_ptx_pair_of(d, &O[i ? i + 1 : 0], halves);
		for (uint32_t k = 0; k < 2 && !r; k++) {
			uint32_t ref;

			r = i ? ts_ptx_src(d, &halves[k], TY_B64, &ref)
			      : ts_ptx_dst(d, &halves[k], CLASS_64, &ref);
			if (!r)
				r = ts_ptx_list_add(d, ref);
		}
	}
	if (!r)
		r = ts_ptx_list_add(d, cas ? TS_PTX_ATOM128_CAS : TS_PTX_ATOM128_EXCH);
	return r ? r
		 : ts_ptx_emit(d, &in,
			       (struct ts_ptx_note){.roles = ROLE_LIST_READ | ROLE_LIST_WRITE,
						    .n_list = in.n,
						    .n_list_write = 2});
}

static int atomic(struct ts_ptx_decoder *d, bool red)
{
	static const char *const names[] = {"add", "and", "or",	 "xor", "exch",
					    "min", "max", "inc", "dec"};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_ATOM, TY_NONE);
	enum ts_ptx_space space;
	enum ts_ptx_type type;
	uint32_t op = 0, first = red ? 0 : 1, n;
	bool cas, hint;
	int r;

	(void)ts_ptx_mod_sync(d);
	space = ts_ptx_mod_space(d);
	cas = !red && ts_ptx_mod(d, "cas");
	while (!cas && op < 9 && !ts_ptx_mod(d, names[op]))
		op++;
	(void)ts_ptx_mod(d, "noftz");
	hint = ts_ptx_mod(d, "L2::cache_hint");
	n = ts_ptx_mod_vector(d);
	type = ts_ptx_mod_type(d);
	if (type == TY_B128 && n == 1)
		return atomic_wide(d, space, cas, op, red, hint);
	if (n > 1)
		return cas ? ts_ptx_unsupported(d)
			   : atomic_vector(d, space, op, type, n, red, hint);
	if (cas ? type != TY_B16 && type != TY_B32 && type != TY_B64
		: op == 9 || !atom_valid((enum ts_ptx_atom)op, type))
		return ts_ptx_unsupported(d);
	if (cas)
		in = ts_ptx_insn_of(d, F_ATOM_CAS, TY_NONE);
	r = ts_ptx_done(d, first + 2 + cas + hint);
	if (!r)
		r = ts_ptx_address(d, &O[first], space, &in);
	if (!r)
		r = ts_ptx_src(d, &O[first + 1], type, &in.b);
	if (!r && cas)
		r = ts_ptx_src(d, &O[first + 2], type, &in.c);
	if (!r && !red && O[0].kind != OPERAND_SINK)
		r = ts_ptx_dst(d, &O[0], ts_ptx_class_of(type), &in.dst);
	in.aux = (cas ? 0 : op) | (uint32_t)type << 4;
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_atom(struct ts_ptx_decoder *d)
{
	return atomic(d, false);
}

static int decode_red(struct ts_ptx_decoder *d)
{
	return ts_ptx_mod(d, "async") ? ts_ptx_unsupported(d) : atomic(d, true);
}

const struct ts_ptx_mnemonic ts_ptx_mnemonics_atom[] = {
	{"atom", decode_atom},
	{"red", decode_red},
	{NULL, NULL},
};
