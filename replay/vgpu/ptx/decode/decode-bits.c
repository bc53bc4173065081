// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes logic, shifts, bit fields, comparison and selection. decode.c calls this file through
 * ts_ptx_mnemonics_bits; this file calls emit.c.
 */
#include "replay/vgpu/ptx/decode/decode.h"

#define O (d->stmt->operands)

static const struct ts_ptx_note ts_ptx_plain;

static int logic(struct ts_ptx_decoder *d, enum ts_ptx_family family, int n)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, type);
	bool negated[2] = {false, false};
	int r;

	if (type != TY_PRED)
		return ts_ptx_simple(d, family, type, n);
	r = ts_ptx_done(d, (uint32_t)n + 1);
	if (!r)
		r = ts_ptx_src_pred(d, &O[1], &in.a, &negated[0]);
	in.b = in.a;
	if (!r && n > 1)
		r = ts_ptx_src_pred(d, &O[2], &in.b, &negated[1]);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_PRED, &in.dst);
	in.aux = (uint32_t)negated[0] | (uint32_t)negated[1] << 1;
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_and(struct ts_ptx_decoder *d)
{
	return logic(d, F_AND, 2);
}

static int decode_or(struct ts_ptx_decoder *d)
{
	return logic(d, F_OR, 2);
}

static int decode_xor(struct ts_ptx_decoder *d)
{
	return logic(d, F_XOR, 2);
}

static int decode_not(struct ts_ptx_decoder *d)
{
	return logic(d, F_NOT, 1);
}

static int decode_cnot(struct ts_ptx_decoder *d)
{
	return ts_ptx_simple(d, F_CNOT, ts_ptx_mod_type(d), 1);
}

/* Decodes sources of different types and a result of the given class. */
static int mixed(struct ts_ptx_decoder *d, struct ts_ptx_insn *in, enum ts_ptx_class result,
		 const enum ts_ptx_type *types, uint32_t n)
{
	uint32_t *fields[] = {&in->a, &in->b, &in->c, &in->aux};
	int r = types[0] ? ts_ptx_done(d, n + 1) : ts_ptx_unsupported(d);

	for (uint32_t i = 0; i < n && !r; i++)
		r = ts_ptx_src(d, &O[i + 1], types[i], fields[i]);
	if (!r)
		r = ts_ptx_dst(d, &O[0], result, &in->dst);
	return r ? r : ts_ptx_emit(d, in, (struct ts_ptx_note){.roles = n > 3 ? ROLE_AUX_READ : 0});
}

static int shift(struct ts_ptx_decoder *d, enum ts_ptx_family family)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d), types[] = {type, TY_U32};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, type);

	return mixed(d, &in, ts_ptx_class_of(type), types, 2);
}

static int decode_shl(struct ts_ptx_decoder *d)
{
	return shift(d, F_SHL);
}

static int decode_shr(struct ts_ptx_decoder *d)
{
	return shift(d, F_SHR);
}

static int decode_shf(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type types[] = {TY_B32, TY_B32, TY_U32};
	bool left = ts_ptx_mod(d, "l"), clamp;
	struct ts_ptx_insn in;

	if (!left && !ts_ptx_mod(d, "r"))
		return ts_ptx_unsupported(d);
	clamp = ts_ptx_mod(d, "clamp");
	if (!clamp && !ts_ptx_mod(d, "wrap"))
		return ts_ptx_unsupported(d);
	in = ts_ptx_insn_of(d, left ? F_SHF_L : F_SHF_R, ts_ptx_mod_type(d));
	in.aux = clamp;
	return mixed(d, &in, CLASS_32, types, 3);
}

static int decode_prmt(struct ts_ptx_decoder *d)
{
	static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
	enum ts_ptx_type types[] = {TY_B32, TY_B32, TY_B32};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_PRMT, ts_ptx_mod_type(d));

	for (uint32_t i = 0; i < 6; i++)
		if (ts_ptx_mod(d, modes[i]))
			in.aux = i + 1;
	return mixed(d, &in, CLASS_32, types, 3);
}

static int decode_lop3(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_LOP3, ts_ptx_mod_type(d));
	int r = ts_ptx_done(d, 5);

	for (int i = 0; i < 3 && !r; i++)
		r = ts_ptx_src(d, &O[i + 1], TY_B32, i == 0 ? &in.a : i == 1 ? &in.b : &in.c);
	if (!r && O[4].kind != OPERAND_IMM)
		r = ts_ptx_bad(d, "the table must be a constant");
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_32, &in.dst);
	if (r)
		return r;
	in.aux = O[4].imm & 255;
	return ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int count(struct ts_ptx_decoder *d, enum ts_ptx_family family)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, type);

	return mixed(d, &in, CLASS_32, &type, 1);
}

static int decode_popc(struct ts_ptx_decoder *d)
{
	return count(d, F_POPC);
}

static int decode_clz(struct ts_ptx_decoder *d)
{
	return count(d, F_CLZ);
}

static int decode_brev(struct ts_ptx_decoder *d)
{
	return ts_ptx_simple(d, F_BREV, ts_ptx_mod_type(d), 1);
}

static int decode_bfind(struct ts_ptx_decoder *d)
{
	bool shift_amount = ts_ptx_mod(d, "shiftamt");
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_BFIND, type);

	in.aux = shift_amount;
	return mixed(d, &in, CLASS_32, &type, 1);
}

static int decode_bfe(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d), types[] = {type, TY_U32, TY_U32};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_BFE, type);

	return mixed(d, &in, ts_ptx_class_of(type), types, 3);
}

static int decode_bfi(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d), types[] = {type, type, TY_U32, TY_U32};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_BFI, type);

	return mixed(d, &in, ts_ptx_class_of(type), types, 4);
}

static int clamped(struct ts_ptx_decoder *d, enum ts_ptx_family family)
{
	bool wrap = ts_ptx_mod(d, "wrap");
	enum ts_ptx_type type, types[] = {TY_B32, TY_B32};
	struct ts_ptx_insn in;

	if (!wrap && !ts_ptx_mod(d, "clamp"))
		return ts_ptx_unsupported(d);
	type = ts_ptx_mod_type(d);
	in = ts_ptx_insn_of(d, family, type);
	in.aux = wrap;
	return mixed(d, &in, CLASS_32, types, 2);
}

static int decode_bmsk(struct ts_ptx_decoder *d)
{
	return clamped(d, F_BMSK);
}

static int decode_szext(struct ts_ptx_decoder *d)
{
	return clamped(d, F_SZEXT);
}

static int decode_fns(struct ts_ptx_decoder *d)
{
	return ts_ptx_simple(d, F_FNS, ts_ptx_mod_type(d), 3);
}

/* Comparisons. */

static bool mod_cmp(struct ts_ptx_decoder *d, enum ts_ptx_cmp *ret_cmp, bool *ret_unsigned)
{
	static const struct {
		const char *name;
		enum ts_ptx_cmp cmp;
		bool is_unsigned;
	} names[] = {
		{"eq", CMP_EQ, false},	 {"ne", CMP_NE, false},	  {"lt", CMP_LT, false},
		{"le", CMP_LE, false},	 {"gt", CMP_GT, false},	  {"ge", CMP_GE, false},
		{"lo", CMP_LT, true},	 {"ls", CMP_LE, true},	  {"hi", CMP_GT, true},
		{"hs", CMP_GE, true},	 {"equ", CMP_EQU, false}, {"neu", CMP_NEU, false},
		{"ltu", CMP_LTU, false}, {"leu", CMP_LEU, false}, {"gtu", CMP_GTU, false},
		{"geu", CMP_GEU, false}, {"num", CMP_NUM, false}, {"nan", CMP_NAN, false},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!ts_ptx_mod(d, names[i].name))
			continue;
		*ret_cmp = names[i].cmp;
		*ret_unsigned = names[i].is_unsigned;
		return true;
	}
	return false;
}

struct ts_ptx_comparison {
	enum ts_ptx_cmp cmp;
	bool ftz, is_unsigned;
	enum ts_ptx_boolop boolop;
};

static int take_comparison(struct ts_ptx_decoder *d, struct ts_ptx_comparison *c)
{
	*c = (struct ts_ptx_comparison){.ftz = ts_ptx_mod(d, "ftz")};
	if (!mod_cmp(d, &c->cmp, &c->is_unsigned))
		return ts_ptx_unsupported(d);
	c->boolop = ts_ptx_mod(d, "and")   ? BOOL_AND
		    : ts_ptx_mod(d, "or")  ? BOOL_OR
		    : ts_ptx_mod(d, "xor") ? BOOL_XOR
					   : BOOL_NONE;
	return 0;
}

/* Decodes the sources and the predicate to combine. The caller sets dst and target. */
static int comparison_insn(struct ts_ptx_decoder *d, const struct ts_ptx_comparison *c,
			   enum ts_ptx_type type, struct ts_ptx_insn *in)
{
	bool negated = false;
	int r = ts_ptx_done(d, c->boolop ? 4 : 3);

	if (c->is_unsigned && ts_ptx_types[type].klass == 's')
		return ts_ptx_unsupported(d);
	*in = ts_ptx_insn_of(d, F_SETP + (enum ts_ptx_family)c->cmp, type);
	if (!in->fn)
		return ts_ptx_unsupported(d);
	if (!r)
		r = ts_ptx_src(d, &O[1], type, &in->a);
	if (!r)
		r = ts_ptx_src(d, &O[2], type, &in->b);
	if (!r && c->boolop)
		r = ts_ptx_src_pred(d, &O[3], &in->c, &negated);
	in->aux = TS_PTX_SETP_AUX(c->boolop, negated);
	if (c->ftz && type == TY_F32) {
		in->inner = in->fn;
		in->fn = d->ops->fn[F_ROUND][TY_NONE];
		in->space = TS_PTX_MODE_FTZ | ROUND_RN;
	}
	return r;
}

static int decode_setp(struct ts_ptx_decoder *d)
{
	struct ts_ptx_operand first;
	struct ts_ptx_comparison c;
	struct ts_ptx_insn in;
	int r = take_comparison(d, &c);

	if (!r)
		r = comparison_insn(d, &c, ts_ptx_mod_type(d), &in);
	if (r)
		return r;
	first = O[0];
	if (first.reg2 != UINT32_MAX) {
		if (d->classes[first.reg2] != CLASS_PRED)
			return ts_ptx_bad(d, "the results must be predicates");
		in.target = TS_PTX_VREG_OF(first.reg2);
	}
	r = ts_ptx_dst(d, &first, CLASS_PRED, &in.dst);
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){.roles = ROLE_TARGET_WRITE});
}

static int decode_set(struct ts_ptx_decoder *d)
{
	static const uint32_t truth[TY_N] = {
		[TY_U32] = UINT32_MAX,	  [TY_S32] = UINT32_MAX,   [TY_F32] = 0x3f800000,
		[TY_F16] = 0x3c00,	  [TY_F16X2] = 0x3c003c00, [TY_BF16] = 0x3f80,
		[TY_BF16X2] = 0x3f803f80, [TY_U16] = 0xffff,	   [TY_S16] = 0xffff,
	};
	struct ts_ptx_comparison c;
	enum ts_ptx_type to, type;
	struct ts_ptx_insn in, value;
	int r = take_comparison(d, &c);

	if (r)
		return r;
	to = ts_ptx_mod_type(d);
	type = ts_ptx_mod_type(d);
	r = truth[to] ? comparison_insn(d, &c, type, &in) : ts_ptx_unsupported(d);
	if (!r)
		r = ts_ptx_temp(d, CLASS_PRED, &in.dst);
	if (!r)
		r = ts_ptx_temp(d, CLASS_PRED, &in.target);
	if (!r)
		r = ts_ptx_emit(d, &in, (struct ts_ptx_note){.roles = ROLE_TARGET_WRITE});
	value = ts_ptx_insn_of(d, F_SET, ts_ptx_types[type].klass == 'h' ? TY_F16X2 : TY_B32);
	value.a = in.dst;
	value.b = in.target;
	value.aux = truth[to];
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_32, &value.dst);
	return r ? r : ts_ptx_emit(d, &value, ts_ptx_plain);
}

/* Returns the untyped (.b) type as wide as `type`: a move copies only bits. */
static enum ts_ptx_type by_width(enum ts_ptx_type type)
{
	switch (ts_ptx_types[type].bytes) {
	case 2:
		return TY_B16;
	case 4:
		return TY_B32;
	case 8:
		return TY_B64;
	default:
		return TY_NONE;
	}
}

static int decode_selp(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_SELP, by_width(type));
	bool negated = false;
	int r = ts_ptx_done(d, 4);

	if (!r)
		r = ts_ptx_src(d, &O[1], type, &in.a);
	if (!r)
		r = ts_ptx_src(d, &O[2], type, &in.b);
	if (!r)
		r = ts_ptx_src_pred(d, &O[3], &in.c, &negated);
	if (!r)
		r = ts_ptx_dst(d, &O[0], ts_ptx_class_of(type), &in.dst);
	in.aux = negated ? UINT32_MAX : 0;
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_slct(struct ts_ptx_decoder *d)
{
	bool ftz = ts_ptx_mod(d, "ftz");
	enum ts_ptx_type type = ts_ptx_mod_type(d), by = ts_ptx_mod_type(d),
			 types[] = {type, type, by};
	struct ts_ptx_insn in =
		ts_ptx_insn_of(d, by == TY_F32 ? F_SLCT_F32 : F_SLCT, by_width(type));

	if ((by != TY_F32 && by != TY_S32) || (ftz && by != TY_F32))
		return ts_ptx_unsupported(d);
	/*
	 * Flushing turns a denormal into a zero of its sign, and the selection is the same: -0 is
	 * not less than 0.
	 */
	if (ftz) {
		in.inner = in.fn;
		in.fn = in.fn ? d->ops->fn[F_ROUND][TY_NONE] : NULL;
		in.space = TS_PTX_MODE_FTZ | ROUND_RN;
	}
	return mixed(d, &in, ts_ptx_class_of(type), types, 3);
}

const struct ts_ptx_mnemonic ts_ptx_mnemonics_bits[] = {
	{"and", decode_and},   {"or", decode_or},	{"xor", decode_xor},
	{"not", decode_not},   {"cnot", decode_cnot},	{"shl", decode_shl},
	{"shr", decode_shr},   {"shf", decode_shf},	{"prmt", decode_prmt},
	{"lop3", decode_lop3}, {"popc", decode_popc},	{"clz", decode_clz},
	{"brev", decode_brev}, {"bfind", decode_bfind}, {"bfe", decode_bfe},
	{"bfi", decode_bfi},   {"bmsk", decode_bmsk},	{"szext", decode_szext},
	{"fns", decode_fns},   {"setp", decode_setp},	{"set", decode_set},
	{"selp", decode_selp}, {"slct", decode_slct},	{NULL, NULL},
};
