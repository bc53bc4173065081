// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes arithmetic: integers with and without carries, floats with rounding, flushing and
 * saturation, and approximations. decode.c calls this file through ts_ptx_mnemonics_arith; this
 * file calls emit.c.
 */
#include "replay/vgpu/ptx/decode/decode.h"

#define O (d->stmt->operands)

static bool is_int(enum ts_ptx_type t)
{
	return ts_ptx_types[t].klass == 'u' || ts_ptx_types[t].klass == 's' ||
	       ts_ptx_types[t].klass == 'b';
}

static bool is_half(enum ts_ptx_type t)
{
	return t == TY_F16 || t == TY_F16X2 || t == TY_BF16 || t == TY_BF16X2;
}

static int sources(struct ts_ptx_decoder *d, enum ts_ptx_type type, uint32_t n,
		   struct ts_ptx_insn *in)
{
	uint32_t *fields[] = {&in->a, &in->b, &in->c};
	int r = ts_ptx_done(d, n + 1);

	for (uint32_t i = 0; i < n && !r; i++)
		r = ts_ptx_src(d, &O[i + 1], type, fields[i]);
	if (!r)
		r = ts_ptx_dst(d, &O[0], ts_ptx_class_of(type), &in->dst);
	return r;
}

struct ts_ptx_float_modes {
	enum ts_ptx_rounding rounding;
	bool ftz, sat;
};

static struct ts_ptx_float_modes take_modes(struct ts_ptx_decoder *d)
{
	struct ts_ptx_float_modes m = {.rounding = ts_ptx_mod_rounding(d)};

	m.ftz = ts_ptx_mod(d, "ftz");
	m.sat = ts_ptx_mod(d, "sat");
	return m;
}

/*
 * Emits an instruction with its modes. The function of halves handles the modes itself; wider
 * formats use a wrapper.
 */
static int emit_float(struct ts_ptx_decoder *d, struct ts_ptx_insn *in, enum ts_ptx_type type,
		      struct ts_ptx_float_modes m, uint32_t n)
{
	struct ts_ptx_insn sat;
	int r;

	if (!in->fn || m.rounding == ROUND_RNA || (type == TY_F64 && (m.ftz || m.sat)))
		return ts_ptx_unsupported(d);
	if (m.rounding == ROUND_NONE)
		m.rounding = ROUND_RN;
	in->space = (uint8_t)(m.ftz ? TS_PTX_MODE_FTZ : 0);
	if (is_half(type)) {
		if (m.rounding != ROUND_RN)
			return ts_ptx_unsupported(d);
		in->space |= (uint8_t)(m.sat ? TS_PTX_MODE_SAT : 0);
	} else if (m.rounding != ROUND_RN || m.ftz) {
		in->inner = in->fn;
		in->fn = d->ops->fn[F_ROUND][TY_NONE];
		in->space |= (uint8_t)m.rounding;
	}
	r = sources(d, type, n, in);
	if (!r)
		r = ts_ptx_emit(d, in, (struct ts_ptx_note){0});
	if (r || !m.sat || is_half(type))
		return r;
	sat = ts_ptx_insn_of(d, F_SATURATE, type);
	sat.dst = in->dst;
	return ts_ptx_emit(d, &sat, (struct ts_ptx_note){.roles = ROLE_DST_READ});
}

/*
 * Decodes an operation on two floats in 64 bits: unpacks them, computes each one, and packs the
 * results.
 */
static int float_pair(struct ts_ptx_decoder *d, enum ts_ptx_family family, uint32_t n)
{
	struct ts_ptx_float_modes m = take_modes(d);
	struct ts_ptx_insn whole = {0}, part[2], pack = ts_ptx_insn_of(d, F_PACK, TY_B64);
	const uint32_t *fields[] = {&whole.a, &whole.b, &whole.c};
	int r = sources(d, TY_B64, n, &whole);

	if (m.sat || m.rounding == ROUND_RNA)
		return ts_ptx_unsupported(d);
	part[0] = part[1] = ts_ptx_insn_of(d, family, TY_F32);
	for (uint32_t i = 0; i < n && !r; i++) {
		struct ts_ptx_insn unpack = ts_ptx_insn_of(d, F_UNPACK, TY_B64);

		unpack.a = *fields[i];
		unpack.aux = d->n_operands;
		unpack.n = 2;
		unpack.imm = 32;
		unpack.flags = INSN_SRC64;
		for (int k = 0; k < 2 && !r; k++) {
			uint32_t *to = i == 0 ? &part[k].a : i == 1 ? &part[k].b : &part[k].c;

			r = ts_ptx_temp(d, CLASS_32, to);
			if (!r)
				r = ts_ptx_list_add(d, *to);
		}
		if (!r)
			r = ts_ptx_emit(d, &unpack,
					(struct ts_ptx_note){.roles = ROLE_LIST_WRITE,
							     .n_list = 2,
							     .n_list_write = 2});
	}
	for (int k = 0; k < 2 && !r; k++) {
		r = ts_ptx_temp(d, CLASS_32, &part[k].dst);
		if (m.ftz || (m.rounding != ROUND_NONE && m.rounding != ROUND_RN)) {
			part[k].inner = part[k].fn;
			part[k].fn = d->ops->fn[F_ROUND][TY_NONE];
			part[k].space =
				(uint8_t)((m.ftz ? TS_PTX_MODE_FTZ : 0) |
					  (m.rounding == ROUND_NONE ? ROUND_RN : m.rounding));
		}
		if (!r)
			r = ts_ptx_emit(d, &part[k], (struct ts_ptx_note){0});
	}
	pack.dst = whole.dst;
	pack.aux = d->n_operands;
	pack.n = 2;
	pack.imm = 32;
	pack.flags = INSN_DST64;
	for (int k = 0; k < 2 && !r; k++)
		r = ts_ptx_list_add(d, part[k].dst);
	return r ? r
		 : ts_ptx_emit(d, &pack,
			       (struct ts_ptx_note){.roles = ROLE_LIST_READ, .n_list = 2});
}

static int float_op(struct ts_ptx_decoder *d, enum ts_ptx_family family, enum ts_ptx_type type,
		    uint32_t n)
{
	struct ts_ptx_float_modes m;
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, type);

	if (type == TY_F32X2 &&
	    (family == F_ADD || family == F_SUB || family == F_MUL || family == F_FMA))
		return float_pair(d, family, n);
	m = take_modes(d);

	return emit_float(d, &in, type, m, n);
}

/*
 * Decodes an instruction of the carry family: at most three sources, and a carry if carry_in is
 * set.
 */
static int carry_op(struct ts_ptx_decoder *d, enum ts_ptx_family family, enum ts_ptx_type type,
		    uint32_t n, bool carry_in, bool carry_out)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, type);
	int r = sources(d, type, n, &in);

	in.aux = carry_in;
	in.flags = carry_out ? INSN_CC : 0;
	/* The function always reads c, so c must be valid. */
	if (!r && in.c == TS_PTX_NONE)
		in.c = in.a;
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static int decode_addsub(struct ts_ptx_decoder *d, bool sub)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	enum ts_ptx_family family = sub ? F_SUB : F_ADD;

	if (!is_int(type) && type != TY_U16X2 && type != TY_S16X2)
		return float_op(d, family, type, 2);
	if (ts_ptx_mod(d, "cc"))
		return carry_op(d, sub ? F_SUB_CARRY : F_ADD_CARRY, type, 2, false, true);
	if (ts_ptx_mod(d, "sat"))
		family = sub ? F_SUB_SAT : F_ADD_SAT;
	return ts_ptx_simple(d, family, type, 2);
}

static int decode_add(struct ts_ptx_decoder *d)
{
	return decode_addsub(d, false);
}

static int decode_sub(struct ts_ptx_decoder *d)
{
	return decode_addsub(d, true);
}

static int decode_addc(struct ts_ptx_decoder *d)
{
	bool out = ts_ptx_mod(d, "cc");

	return carry_op(d, F_ADD_CARRY, ts_ptx_mod_type(d), 2, true, out);
}

static int decode_subc(struct ts_ptx_decoder *d)
{
	bool out = ts_ptx_mod(d, "cc");

	return carry_op(d, F_SUB_CARRY, ts_ptx_mod_type(d), 2, true, out);
}

/* Decodes mul.wide and mad.wide, whose result and addend are twice as wide as the factors. */
static int wide(struct ts_ptx_decoder *d, enum ts_ptx_family family, enum ts_ptx_type type,
		bool mad)
{
	static const enum ts_ptx_type wider[TY_N] = {
		[TY_U16] = TY_U32, [TY_S16] = TY_S32, [TY_U32] = TY_U64, [TY_S32] = TY_S64};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, type);
	int r = wider[type] ? ts_ptx_done(d, mad ? 4 : 3) : ts_ptx_unsupported(d);

	if (!r)
		r = ts_ptx_src(d, &O[1], type, &in.a);
	if (!r)
		r = ts_ptx_src(d, &O[2], type, &in.b);
	if (!r && mad)
		r = ts_ptx_src(d, &O[3], wider[type], &in.c);
	if (!r)
		r = ts_ptx_dst(d, &O[0], ts_ptx_class_of(wider[type]), &in.dst);
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static int decode_mul(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);

	if (!is_int(type))
		return float_op(d, F_MUL, type, 2);
	if (ts_ptx_mod(d, "wide"))
		return wide(d, F_MUL_WIDE, type, false);
	if (ts_ptx_mod(d, "hi"))
		return ts_ptx_simple(d, F_MUL_HI, type, 2);
	(void)ts_ptx_mod(d, "lo");
	return ts_ptx_simple(d, F_MUL, type, 2);
}

static int decode_mad_any(struct ts_ptx_decoder *d, bool carry_in)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	bool hi, out;

	if (!is_int(type))
		return carry_in ? ts_ptx_unsupported(d) : float_op(d, F_FMA, type, 3);
	if (!carry_in && ts_ptx_mod(d, "wide"))
		return wide(d, F_MAD_WIDE, type, true);
	hi = ts_ptx_mod(d, "hi");
	(void)ts_ptx_mod(d, "lo");
	out = ts_ptx_mod(d, "cc");
	if (carry_in || out)
		return carry_op(d, hi ? F_MAD_HI_CARRY : F_MAD_CARRY, type, 3, carry_in, out);
	if (hi && ts_ptx_mod(d, "sat"))
		return ts_ptx_simple(d, F_MAD_HI_SAT, type, 3);
	return ts_ptx_simple(d, hi ? F_MAD_HI : F_MAD, type, 3);
}

static int decode_mad(struct ts_ptx_decoder *d)
{
	return decode_mad_any(d, false);
}

static int decode_madc(struct ts_ptx_decoder *d)
{
	return decode_mad_any(d, true);
}

static int decode_mul24(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	bool hi = ts_ptx_mod(d, "hi");

	(void)ts_ptx_mod(d, "lo");
	return ts_ptx_simple(d, hi ? F_MUL24_HI : F_MUL24, type, 2);
}

static int decode_mad24(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	bool hi = ts_ptx_mod(d, "hi");
	struct ts_ptx_insn mul = ts_ptx_insn_of(d, hi ? F_MUL24_HI : F_MUL24, type);
	struct ts_ptx_insn add = ts_ptx_insn_of(d, F_ADD, type);
	uint32_t temp;
	int r;

	(void)ts_ptx_mod(d, "lo");
	if (type != TY_U32 && type != TY_S32)
		return ts_ptx_unsupported(d);
	r = ts_ptx_temp(d, CLASS_32, &temp);
	if (!r)
		r = sources(d, type, 3, &mul);
	add.dst = mul.dst;
	add.a = temp;
	add.b = mul.c;
	mul.dst = temp;
	mul.c = TS_PTX_NONE;
	if (!r)
		r = ts_ptx_emit(d, &mul, (struct ts_ptx_note){0});
	return r ? r : ts_ptx_emit(d, &add, (struct ts_ptx_note){0});
}

static int decode_fma(struct ts_ptx_decoder *d)
{
	bool relu = ts_ptx_mod(d, "relu");
	enum ts_ptx_type type = ts_ptx_mod_type(d);

	return float_op(d, relu ? F_FMA_RELU : F_FMA, type, 3);
}

static int decode_div(struct ts_ptx_decoder *d)
{
	bool approx = ts_ptx_mod(d, "approx"), full = ts_ptx_mod(d, "full");
	enum ts_ptx_type type = ts_ptx_mod_type(d);

	if (approx || full)
		return float_op(d, approx ? F_DIV_APPROX : F_DIV, type == TY_F32 ? type : TY_NONE,
				2);
	return is_int(type) ? ts_ptx_simple(d, F_DIV, type, 2) : float_op(d, F_DIV, type, 2);
}

static int decode_rem(struct ts_ptx_decoder *d)
{
	return ts_ptx_simple(d, F_REM, ts_ptx_mod_type(d), 2);
}

static int decode_sad(struct ts_ptx_decoder *d)
{
	return ts_ptx_simple(d, F_SAD, ts_ptx_mod_type(d), 3);
}

static int sign_op(struct ts_ptx_decoder *d, enum ts_ptx_family family)
{
	bool ftz = ts_ptx_mod(d, "ftz");
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, ftz && type == TY_F32 ? TY_NONE : type);
	int r;

	if (ftz && type != TY_F32 && !is_half(type))
		return ts_ptx_unsupported(d);
	in.space = ftz ? TS_PTX_MODE_FTZ : 0;
	r = sources(d, type, 1, &in);
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static int decode_abs(struct ts_ptx_decoder *d)
{
	return sign_op(d, F_ABS);
}

static int decode_neg(struct ts_ptx_decoder *d)
{
	return sign_op(d, F_NEG);
}

/* Decodes min or max with .relu: a negative result becomes zero. */
static int minmax_relu(struct ts_ptx_decoder *d, enum ts_ptx_family family, enum ts_ptx_type type)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, type),
			   clamp = ts_ptx_insn_of(d, F_MAX, type);
	int r = sources(d, type, 2, &in);

	if (!r)
		r = ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
	clamp.dst = clamp.a = in.dst;
	if (!r)
		r = ts_ptx_pool_value(d->image, 0, CLASS_32, &clamp.b);
	return r ? r : ts_ptx_emit(d, &clamp, (struct ts_ptx_note){0});
}

static int minmax(struct ts_ptx_decoder *d, bool max)
{
	bool ftz = ts_ptx_mod(d, "ftz"), nan = ts_ptx_mod(d, "NaN"),
	     xorsign = ts_ptx_mod(d, "xorsign");
	enum ts_ptx_family family = max ? F_MAX : F_MIN;
	enum ts_ptx_type type;
	struct ts_ptx_insn in;
	int r;

	if (xorsign && !ts_ptx_mod(d, "abs"))
		return ts_ptx_unsupported(d);
	type = ts_ptx_mod_type(d);
	if ((type == TY_S32 || type == TY_S16X2) && ts_ptx_mod(d, "relu"))
		return ftz || nan || xorsign ? ts_ptx_unsupported(d) : minmax_relu(d, family, type);
	if (is_int(type) || type == TY_U16X2 || type == TY_S16X2)
		return ftz || nan || xorsign ? ts_ptx_unsupported(d)
					     : ts_ptx_simple(d, family, type, 2);
	if (xorsign)
		family = max ? F_MAX_XORSIGN : F_MIN_XORSIGN;
	else if (nan)
		family = max ? F_MAX_NAN : F_MIN_NAN;
	if (xorsign && nan && type != TY_F32)
		return ts_ptx_unsupported(d);
	in = ts_ptx_insn_of(d, family, type);
	in.space = ftz ? TS_PTX_MODE_FTZ : 0;
	in.aux = nan;
	r = sources(d, type, 2, &in);
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static int decode_min(struct ts_ptx_decoder *d)
{
	return minmax(d, false);
}

static int decode_max(struct ts_ptx_decoder *d)
{
	return minmax(d, true);
}

static int decode_rcp(struct ts_ptx_decoder *d)
{
	bool approx = ts_ptx_mod(d, "approx");
	enum ts_ptx_type type = ts_ptx_mod_type(d);

	if (approx && type == TY_F64)
		return ts_ptx_mod(d, "ftz") ? ts_ptx_simple(d, F_RCP_APPROX, type, 1)
					    : ts_ptx_unsupported(d);
	return float_op(d, F_RCP, type, 1);
}

static int decode_sqrt(struct ts_ptx_decoder *d)
{
	bool approx = ts_ptx_mod(d, "approx");
	enum ts_ptx_type type = ts_ptx_mod_type(d);

	return approx && type != TY_F32 ? ts_ptx_unsupported(d) : float_op(d, F_SQRT, type, 1);
}

static int decode_rsqrt(struct ts_ptx_decoder *d)
{
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	struct ts_ptx_insn in;
	int r;

	if (!ts_ptx_mod(d, "approx"))
		return ts_ptx_unsupported(d);
	if (type == TY_F64 && ts_ptx_mod(d, "ftz")) {
		in = ts_ptx_insn_of(d, F_RSQRT_APPROX, TY_NONE);
		r = sources(d, type, 1, &in);
		return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
	}
	return float_op(d, F_RSQRT_APPROX, type, 1);
}

/* Decodes an approximation whose function flushes denormals itself. */
static int approximation(struct ts_ptx_decoder *d, enum ts_ptx_family family)
{
	bool approx = ts_ptx_mod(d, "approx"), ftz = ts_ptx_mod(d, "ftz");
	enum ts_ptx_type type = ts_ptx_mod_type(d);
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, type);
	int r;

	in.space = ftz ? TS_PTX_MODE_FTZ : 0;
	if (!approx || !type)
		return ts_ptx_unsupported(d);
	r = sources(d, type, 1, &in);
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static int decode_sin(struct ts_ptx_decoder *d)
{
	return approximation(d, F_SIN);
}

static int decode_cos(struct ts_ptx_decoder *d)
{
	return approximation(d, F_COS);
}

static int decode_lg2(struct ts_ptx_decoder *d)
{
	return approximation(d, F_LG2);
}

static int decode_ex2(struct ts_ptx_decoder *d)
{
	return approximation(d, F_EX2);
}

static int decode_tanh(struct ts_ptx_decoder *d)
{
	return approximation(d, F_TANH);
}

static int decode_copysign(struct ts_ptx_decoder *d)
{
	return ts_ptx_simple(d, F_COPYSIGN, ts_ptx_mod_type(d), 2);
}

static int decode_testp(struct ts_ptx_decoder *d)
{
	static const char *const names[] = {"finite",	  "infinite", "number",
					    "notanumber", "normal",   "subnormal"};
	uint32_t what = 0;
	enum ts_ptx_type type;
	struct ts_ptx_insn in;
	int r;

	while (what < 6 && !ts_ptx_mod(d, names[what]))
		what++;
	type = ts_ptx_mod_type(d);
	in = ts_ptx_insn_of(d, F_TESTP, type);
	in.aux = what;
	r = what == 6 ? ts_ptx_unsupported(d) : ts_ptx_done(d, 2);
	if (!r)
		r = ts_ptx_src(d, &O[1], type, &in.a);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_PRED, &in.dst);
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static int dot(struct ts_ptx_decoder *d, bool two)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, two ? F_DP2A : F_DP4A, TY_B32);
	bool hi = two && ts_ptx_mod(d, "hi");
	enum ts_ptx_type a, b;
	int r;

	if (two && !hi && !ts_ptx_mod(d, "lo"))
		return ts_ptx_unsupported(d);
	a = ts_ptx_mod_type(d);
	b = ts_ptx_mod_type(d);
	if ((a != TY_U32 && a != TY_S32) || (b != TY_U32 && b != TY_S32))
		return ts_ptx_unsupported(d);
	in.aux = (uint32_t)(a == TY_S32) | (uint32_t)(b == TY_S32) << 1 | (uint32_t)hi << 2;
	r = sources(d, TY_B32, 3, &in);
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static int decode_dp4a(struct ts_ptx_decoder *d)
{
	return dot(d, false);
}

static int decode_dp2a(struct ts_ptx_decoder *d)
{
	return dot(d, true);
}

const struct ts_ptx_mnemonic ts_ptx_mnemonics_arith[] = {
	{"add", decode_add},   {"sub", decode_sub},	      {"addc", decode_addc},
	{"subc", decode_subc}, {"mul", decode_mul},	      {"mad", decode_mad},
	{"madc", decode_madc}, {"mul24", decode_mul24},	      {"mad24", decode_mad24},
	{"fma", decode_fma},   {"div", decode_div},	      {"rem", decode_rem},
	{"sad", decode_sad},   {"abs", decode_abs},	      {"neg", decode_neg},
	{"min", decode_min},   {"max", decode_max},	      {"rcp", decode_rcp},
	{"sqrt", decode_sqrt}, {"rsqrt", decode_rsqrt},	      {"sin", decode_sin},
	{"cos", decode_cos},   {"lg2", decode_lg2},	      {"ex2", decode_ex2},
	{"tanh", decode_tanh}, {"copysign", decode_copysign}, {"testp", decode_testp},
	{"dp4a", decode_dp4a}, {"dp2a", decode_dp2a},	      {NULL, NULL},
};
