// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes moves and conversions of values: mov with its packing forms, cvt, cvta, isspacep.
 * decode.c calls this file through ts_ptx_mnemonics_move; this file calls emit.c.
 */
#include "replay/vgpu/ptx/decode/decode.h"

#define O (d->stmt->operands)

static const struct ts_ptx_note ts_ptx_plain;

static int pack(struct ts_ptx_decoder *d, enum ts_ptx_type type)
{
	const struct ts_ptx_operand *list = &O[1];
	unsigned bits = list->n_list ? ts_ptx_types[type].bytes * 8u / list->n_list : 0;
	bool quick = type == TY_B64 && list->n_list == 2;
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_PACK, quick ? TY_B64 : TY_NONE);
	uint32_t refs[8];
	int r = 0;

	if ((list->n_list != 2 && list->n_list != 4) || bits < 8 || bits > 32)
		return ts_ptx_unsupported(d);
	for (uint32_t i = 0; i < list->n_list && !r; i++)
		r = ts_ptx_src(d, &list->list[i],
			       bits == 32   ? TY_B32
			       : bits == 16 ? TY_B16
					    : TY_B8,
			       &refs[i]);
	in.aux = d->n_operands;
	for (uint32_t i = 0; i < list->n_list && !r; i++)
		r = ts_ptx_list_add(d, refs[i]);
	if (!r)
		r = ts_ptx_dst(d, &O[0], ts_ptx_class_of(type), &in.dst);
	in.n = list->n_list;
	in.imm = bits;
	in.flags = ts_ptx_class_of(type) == CLASS_64 ? INSN_DST64 : 0;
	return r ? r
		 : ts_ptx_emit(d, &in,
			       (struct ts_ptx_note){.roles = ROLE_LIST_READ, .n_list = in.n});
}

static int unpack(struct ts_ptx_decoder *d, enum ts_ptx_type type)
{
	const struct ts_ptx_operand *list = &O[0];
	unsigned bits = list->n_list ? ts_ptx_types[type].bytes * 8u / list->n_list : 0;
	bool quick = type == TY_B64 && list->n_list == 2;
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_UNPACK, quick ? TY_B64 : TY_NONE);
	int r = 0;

	if ((list->n_list != 2 && list->n_list != 4) || bits < 8 || bits > 32)
		return ts_ptx_unsupported(d);
	r = ts_ptx_src(d, &O[1], type, &in.a);
	in.aux = d->n_operands;
	for (uint32_t i = 0; i < list->n_list && !r; i++) {
		uint32_t ref = TS_PTX_NONE;

		if (list->list[i].kind != OPERAND_SINK)
			r = ts_ptx_dst(d, &list->list[i], CLASS_32, &ref);
		if (!r)
			r = ts_ptx_list_add(d, ref);
	}
	in.n = list->n_list;
	in.imm = bits;
	in.flags = ts_ptx_class_of(type) == CLASS_64 ? INSN_SRC64 : 0;
	return r ? r
		 : ts_ptx_emit(d, &in,
			       (struct ts_ptx_note){.roles = ROLE_LIST_WRITE,
						    .n_list = in.n,
						    .n_list_write = in.n});
}

/*
 * Decodes a mov of two halves. Reads both halves before it writes one, because the operands may
 * swap them.
 */
static int mov_wide(struct ts_ptx_decoder *d)
{
	struct ts_ptx_operand to[2], from[2];
	struct ts_ptx_insn first, second, high;
	int r = ts_ptx_pair_of(d, &O[0], to);

	if (!r)
		r = ts_ptx_pair_of(d, &O[1], from);
	first = second = high = ts_ptx_insn_of(d, F_MOV, TY_B64);
	if (!r)
		r = ts_ptx_src(d, &from[1], TY_B64, &high.a);
	if (!r)
		r = ts_ptx_temp(d, CLASS_64, &high.dst);
	if (!r)
		r = ts_ptx_emit(d, &high, ts_ptx_plain);
	if (!r)
		r = ts_ptx_src(d, &from[0], TY_B64, &first.a);
	if (!r)
		r = ts_ptx_dst(d, &to[0], CLASS_64, &first.dst);
	if (!r)
		r = ts_ptx_emit(d, &first, ts_ptx_plain);
	second.a = high.dst;
	if (!r)
		r = ts_ptx_dst(d, &to[1], CLASS_64, &second.dst);
	return r ? r : ts_ptx_emit(d, &second, ts_ptx_plain);
}

static int decode_mov(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	enum ts_ptx_class class = ts_ptx_class_of(type);
	struct ts_ptx_insn in;
	bool negated = false;
	int r = type ? ts_ptx_done(d, 2) : ts_ptx_unsupported(d);

	if (r)
		return r;
	if (type == TY_B128)
		return mov_wide(d);
	if (O[1].kind == OPERAND_LIST)
		return pack(d, type);
	if (O[0].kind == OPERAND_LIST)
		return unpack(d, type);
	if (O[1].kind == OPERAND_SREG && class != CLASS_PRED) {
		in = ts_ptx_insn_of(d, F_SREG, TY_NONE);
		in.aux = (uint32_t)O[1].imm;
		in.imm = 0;
		d->code->uses_reserved_shared |= in.aux == SREG_RESERVED_SMEM;
		in.flags = class == CLASS_64 ? INSN_DST64 : 0;
	} else if (class == CLASS_PRED) {
		in = ts_ptx_insn_of(d, F_MOV, TY_PRED);
		r = ts_ptx_src_pred(d, &O[1], &in.a, &negated);
		in.b = in.a;
		in.aux = negated;
	} else {
		in = ts_ptx_insn_of(d, F_MOV, class == CLASS_64 ? TY_B64 : TY_B32);
		r = ts_ptx_src(d, &O[1], type, &in.a);
	}
	if (!r)
		r = ts_ptx_dst(d, &O[0], class, &in.dst);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

/* cvt. */

struct ts_ptx_cvt {
	enum ts_ptx_type to, from;
	enum ts_ptx_rounding rounding;
	bool integer, ftz, sat, relu, satfinite;
};

static void take_cvt(struct ts_ptx_decoder *d, struct ts_ptx_cvt *c)
{
	static const char *const names[] = {"rni", "rzi", "rmi", "rpi"};

	*c = (struct ts_ptx_cvt){.rounding = ts_ptx_mod_rounding(d)};
	for (uint32_t i = 0; i < 4; i++)
		if (ts_ptx_mod(d, names[i])) {
			c->rounding = ROUND_RN + i;
			c->integer = true;
		}
	c->ftz = ts_ptx_mod(d, "ftz");
	c->sat = ts_ptx_mod(d, "sat");
	c->relu = ts_ptx_mod(d, "relu");
	c->satfinite = ts_ptx_mod(d, "satfinite");
	c->to = ts_ptx_mod_type(d);
	c->from = ts_ptx_mod_type(d);
}

static uint32_t cvt_aux(const struct ts_ptx_cvt *c)
{
	return (uint32_t)c->to | (uint32_t)c->from << 5 | (uint32_t)c->rounding << 10 |
	       (c->integer ? TS_PTX_CVT_INTEGER : 0) | (c->ftz ? TS_PTX_CVT_FTZ : 0) |
	       (c->sat ? TS_PTX_CVT_SAT : 0) | (c->relu ? TS_PTX_CVT_RELU : 0) |
	       (c->satfinite ? TS_PTX_CVT_SATFINITE : 0);
}

/*
 * True if the modifiers are valid. For example, a rounding mode is required if the conversion
 * rounds, and invalid otherwise.
 */
static bool cvt_valid(const struct ts_ptx_cvt *c)
{
	bool from_float = ts_ptx_types[c->from].klass == 'f',
	     to_float = ts_ptx_types[c->to].klass == 'f';
	bool narrows = ts_ptx_types[c->to].bytes < ts_ptx_types[c->from].bytes;

	if (!c->to || !c->from || !ts_ptx_types[c->from].bytes || !ts_ptx_types[c->to].bytes ||
	    c->to == TY_B128 || c->from == TY_B128 || c->from == TY_TF32 ||
	    ts_ptx_types[c->to].klass == 'x' || ts_ptx_types[c->from].klass == 'x')
		return false;
	if (c->satfinite || (c->relu && c->to != TY_F16 && c->to != TY_BF16 && c->to != TY_TF32))
		return false;
	if (!from_float && !to_float)
		return c->rounding == ROUND_NONE && !c->ftz;
	if (from_float && !to_float)
		return c->integer;
	if (!from_float)
		return c->rounding != ROUND_NONE && !c->integer && c->rounding != ROUND_RNA;
	if (c->rounding == ROUND_RNA)
		return c->to == TY_TF32;
	if (c->to == c->from)
		return !c->rounding || c->integer || c->rounding == ROUND_NONE;
	return !c->integer && (c->rounding != ROUND_NONE) ==
				      (narrows || c->to == TY_TF32 ||
				       ts_ptx_types[c->to].bytes == ts_ptx_types[c->from].bytes);
}

static enum ts_ptx_family cvt_fast(const struct ts_ptx_cvt *c, bool dst64, bool src64)
{
	static const struct {
		enum ts_ptx_type to, from;
		enum ts_ptx_rounding rounding;
		bool dst64, src64;
		enum ts_ptx_family family;
	} fast[] = {
		{TY_F32, TY_S32, ROUND_RN, false, false, F_CVT_FAST_F32_S32},
		{TY_F32, TY_U32, ROUND_RN, false, false, F_CVT_FAST_F32_U32},
		{TY_S32, TY_F32, ROUND_RZ, false, false, F_CVT_FAST_S32_F32},
		{TY_F64, TY_F32, ROUND_NONE, true, false, F_CVT_FAST_F64_F32},
		{TY_F32, TY_F64, ROUND_RN, false, true, F_CVT_FAST_F32_F64},
		{TY_F64, TY_S32, ROUND_RN, true, false, F_CVT_FAST_F64_S32},
		{TY_S64, TY_S32, ROUND_NONE, true, false, F_CVT_FAST_S64_S32},
		{TY_U64, TY_U32, ROUND_NONE, true, false, F_CVT_FAST_U64_U32},
		{TY_U32, TY_U64, ROUND_NONE, false, true, F_CVT_FAST_U32_U64},
		{TY_F32, TY_F16, ROUND_NONE, false, false, F_CVT_FAST_F32_F16},
		{TY_F16, TY_F32, ROUND_RN, false, false, F_CVT_FAST_F16_F32},
		{TY_F32, TY_BF16, ROUND_NONE, false, false, F_CVT_FAST_F32_BF16},
		{TY_BF16, TY_F32, ROUND_RN, false, false, F_CVT_FAST_BF16_F32},
	};

	if (c->ftz || c->sat || c->relu)
		return F_CVT;
	for (size_t i = 0; i < sizeof(fast) / sizeof(fast[0]); i++)
		if (fast[i].to == c->to && fast[i].from == c->from &&
		    fast[i].rounding == c->rounding && fast[i].dst64 == dst64 &&
		    fast[i].src64 == src64)
			return fast[i].family;
	return F_CVT;
}

/* Returns the lane loop of a conversion between a float and an integer. NULL: it has none. */
static ts_ptx_fn cvt_loop(const struct ts_ptx_decoder *d, const struct ts_ptx_cvt *c, bool dst64,
			  bool src64)
{
	const struct ts_ptx_optable *ops = d->ops;

	if (c->ftz || c->relu || dst64 != (ts_ptx_types[c->to].bytes == 8) ||
	    src64 != (ts_ptx_types[c->from].bytes == 8))
		return NULL;
	if (c->sat)
		return c->from == c->to && !c->integer ? ops->fn[F_CVT_SAT][c->to] : NULL;
	if (c->integer)
		return c->from == TY_F32   ? ops->fn[F_CVT_ROUND_F32][c->to]
		       : c->from == TY_F64 ? ops->fn[F_CVT_ROUND_F64][c->to]
					   : NULL;
	if (c->rounding != ROUND_RN)
		return NULL;
	return c->to == TY_F32	 ? ops->fn[F_CVT_TO_F32][c->from]
	       : c->to == TY_F64 ? ops->fn[F_CVT_TO_F64][c->from]
				 : NULL;
}

static void cvt_int(const struct ts_ptx_decoder *d, const struct ts_ptx_cvt *c, bool dst64,
		    bool src64, struct ts_ptx_insn *in)
{
	static const enum ts_ptx_type by_width[2][2] = {{TY_B32, TY_U32}, {TY_B64, TY_U64}};
	unsigned width = dst64 || src64 ? 64 : 32;

	in->fn = d->ops->fn[F_CVT_INT][by_width[dst64][src64]];
	in->aux = TS_PTX_CVT_INT_AUX(width - ts_ptx_types[c->from].bytes * 8,
				     ts_ptx_types[c->from].klass == 's',
				     width - ts_ptx_types[c->to].bytes * 8,
				     ts_ptx_types[c->to].klass == 's');
}

static int cvt_scalar(struct ts_ptx_decoder *d, const struct ts_ptx_cvt *c)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_CVT, TY_NONE);
	enum ts_ptx_family family;
	bool dst64, src64, ints;
	int r = cvt_valid(c) ? ts_ptx_done(d, 2) : ts_ptx_unsupported(d);

	if (!r)
		r = ts_ptx_src_any(d, &O[1], c->from, &in.a, &src64);
	if (!r)
		r = ts_ptx_dst_any(d, &O[0], &in.dst, &dst64);
	if (r)
		return r;
	if ((ts_ptx_types[c->from].bytes == 8 && !src64) ||
	    (ts_ptx_types[c->to].bytes == 8 && !dst64))
		return ts_ptx_bad(d, "a register's size differs from the instruction's");
	in.aux = cvt_aux(c);
	in.flags = (uint8_t)((dst64 ? INSN_DST64 : 0) | (src64 ? INSN_SRC64 : 0));
	ints = ts_ptx_types[c->from].klass != 'f' && ts_ptx_types[c->to].klass != 'f';
	family = cvt_fast(c, dst64, src64);
	if (family != F_CVT)
		in.fn = d->ops->fn[family][TY_NONE];
	else if (ints && !c->sat)
		cvt_int(d, c, dst64, src64, &in);
	else if (cvt_loop(d, c, dst64, src64))
		in.fn = cvt_loop(d, c, dst64, src64);
	return ts_ptx_emit(d, &in, ts_ptx_plain);
}

static bool is_fp8(enum ts_ptx_type t)
{
	return t == TY_E4M3X2 || t == TY_E5M2X2;
}

/*
 * Decodes the conversion of a pair: two floats to a packed register, or one packed register to
 * another.
 */
static int cvt_packed(struct ts_ptx_decoder *d, const struct ts_ptx_cvt *c)
{
	bool halves = c->to == TY_F16X2 || c->to == TY_BF16X2;
	struct ts_ptx_insn in;
	bool valid;
	int r;

	if (c->from == TY_F32)
		valid = halves ? (c->rounding == ROUND_RN || c->rounding == ROUND_RZ) &&
					 !c->satfinite
			       : c->rounding == ROUND_RN && c->satfinite;
	else if (is_fp8(c->to))
		valid = c->from == TY_F16X2 && c->rounding == ROUND_RN && c->satfinite;
	else
		valid = c->to == TY_F16X2 && is_fp8(c->from) && c->rounding == ROUND_RN;
	if (!valid || c->ftz || c->sat)
		return ts_ptx_unsupported(d);
	in = ts_ptx_insn_of(d, is_fp8(c->from) ? F_CVT_UNPACK : F_CVT_PACK, TY_NONE);
	r = ts_ptx_done(d, c->from == TY_F32 ? 3 : 2);
	if (!r)
		r = ts_ptx_src(d, &O[1], c->from, &in.a);
	in.b = in.a;
	if (!r && c->from == TY_F32)
		r = ts_ptx_src(d, &O[2], c->from, &in.b);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_32, &in.dst);
	in.aux = cvt_aux(c);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

/* Decodes cvt.pack.sat.convertType.abType[.cType] */
static int cvt_pack_int(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_CVT_PACK_INT, TY_NONE);
	bool sat = ts_ptx_mod(d, "sat");
	enum ts_ptx_type to = ts_ptx_mod_type(d), from = ts_ptx_mod_type(d),
			 rest = ts_ptx_mod_type(d);
	bool narrow = to == TY_U8 || to == TY_S8;
	int r;

	if (!sat || from != TY_S32 || (to != TY_U16 && to != TY_S16 && !narrow) ||
	    (narrow ? rest != TY_B32 : rest != TY_NONE))
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, narrow ? 4 : 3);
	if (!r)
		r = ts_ptx_src(d, &O[1], TY_S32, &in.a);
	if (!r)
		r = ts_ptx_src(d, &O[2], TY_S32, &in.b);
	if (!r && narrow)
		r = ts_ptx_src(d, &O[3], TY_B32, &in.c);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_32, &in.dst);
	in.imm = narrow ? 8 : 16;
	in.aux = ts_ptx_types[to].klass == 's';
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_cvt(struct ts_ptx_decoder *d)
{
	struct ts_ptx_cvt c;

	if (ts_ptx_mod(d, "pack"))
		return cvt_pack_int(d);
	take_cvt(d, &c);
	if (ts_ptx_types[c.to].klass == 'h' || ts_ptx_types[c.from].klass == 'h')
		return cvt_packed(d, &c);
	return cvt_scalar(d, &c);
}

static int decode_cvta(struct ts_ptx_decoder *d)
{
	bool to = ts_ptx_mod(d, "to");
	enum ts_ptx_space space = ts_ptx_mod_space(d);
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	uint64_t window = space == SP_SHARED  ? TS_PTX_WINDOW_SHARED
			  : space == SP_LOCAL ? TS_PTX_WINDOW_LOCAL
			  : space == SP_PARAM ? TS_PTX_WINDOW_PARAM
					      : 0;
	struct ts_ptx_insn in =
		window ? ts_ptx_insn_of(d, F_CVTA, TY_NONE) : ts_ptx_insn_of(d, F_MOV, TY_B64);
	int r;

	if (space == SP_GENERIC || type != TY_U64)
		return ts_ptx_unsupported(d);
	/* A device function's own parameters lie in local memory. */
	if (space == SP_PARAM && !d->func->entry)
		window = TS_PTX_WINDOW_LOCAL;
	in.imm = to ? 0 - window : window;
	r = ts_ptx_done(d, 2);
	if (!r)
		r = ts_ptx_src(d, &O[1], TY_U64, &in.a);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_64, &in.dst);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

static int decode_isspacep(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_ISSPACEP, TY_NONE);
	enum ts_ptx_space space = ts_ptx_mod_space(d);
	int r = ts_ptx_done(d, 2);

	if (space == SP_GENERIC)
		return ts_ptx_unsupported(d);
	in.space = (uint8_t)space;
	if (!r)
		r = ts_ptx_src(d, &O[1], TY_U64, &in.a);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_PRED, &in.dst);
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

const struct ts_ptx_mnemonic ts_ptx_mnemonics_move[] = {
	{"mov", decode_mov},	       {"cvt", decode_cvt}, {"cvta", decode_cvta},
	{"isspacep", decode_isspacep}, {NULL, NULL},
};
