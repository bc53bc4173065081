// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes video instructions: scalar instructions on whole registers, SIMD instructions on all
 * parts of a register. Compilers emit only vabsdiff2 and vabsdiff4 of the SIMD instructions; inline
 * assembly uses the others. The parser does not accept selectors (%r1.b0, %r1.h10) and masks.
 * decode.c calls this file through ts_ptx_mnemonics_video.
 */
#include "replay/vgpu/ptx/decode/decode.h"

#define O (d->stmt->operands)

static int video_emit(struct ts_ptx_decoder *d, uint32_t aux, uint32_t n_sources)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_VIDEO, TY_NONE);
	uint32_t *fields[] = {&in.a, &in.b, &in.c};
	int r = ts_ptx_done(d, n_sources + 1);

	for (uint32_t i = 0; i < n_sources && !r; i++)
		r = ts_ptx_src(d, &O[i + 1], TY_U32, fields[i]);
	if (!r && n_sources < 3)
		r = ts_ptx_pool_value(d->image, 0, CLASS_32, &in.c);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_32, &in.dst);
	in.aux = aux;
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static uint32_t mod_signs(struct ts_ptx_decoder *d, uint32_t n, bool *ret_known)
{
	static const uint32_t flags[] = {TS_PTX_VIDEO_SIGNED_D, TS_PTX_VIDEO_SIGNED_A,
					 TS_PTX_VIDEO_SIGNED_B};
	uint32_t aux = 0;

	*ret_known = true;
	for (uint32_t i = 3 - n; i < 3; i++) {
		enum ts_ptx_type type = ts_ptx_mod_type(d);

		*ret_known &= type == TY_U32 || type == TY_S32;
		aux |= type == TY_S32 ? flags[i] : 0;
	}
	return aux;
}

static uint32_t mod_video_cmp(struct ts_ptx_decoder *d)
{
	static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
	uint32_t i = 0;

	while (i < 6 && !ts_ptx_mod(d, names[i]))
		i++;
	return i;
}

/* Consumes the second operation, which uses c. True: there is one. */
static bool mod_second(struct ts_ptx_decoder *d, uint32_t *aux)
{
	static const char *const names[] = {"add", "min", "max"};

	for (uint32_t i = 0; i < 3; i++) {
		if (!ts_ptx_mod(d, names[i]))
			continue;
		*aux |= (i + 1) << TS_PTX_VIDEO_SECOND_SHIFT;
		return true;
	}
	return false;
}

static int decode_video(struct ts_ptx_decoder *d)
{
	static const struct {
		const char *name;
		enum ts_ptx_video op;
		uint32_t parts;
	} names[] = {
		{"vadd", VIDEO_ADD, 1},		 {"vsub", VIDEO_SUB, 1},
		{"vabsdiff", VIDEO_ABSDIFF, 1},	 {"vmin", VIDEO_MIN, 1},
		{"vmax", VIDEO_MAX, 1},		 {"vshl", VIDEO_SHL, 1},
		{"vshr", VIDEO_SHR, 1},		 {"vset", VIDEO_SET, 1},
		{"vadd2", VIDEO_ADD, 2},	 {"vsub2", VIDEO_SUB, 2},
		{"vavrg2", VIDEO_AVRG, 2},	 {"vabsdiff2", VIDEO_ABSDIFF, 2},
		{"vmin2", VIDEO_MIN, 2},	 {"vmax2", VIDEO_MAX, 2},
		{"vset2", VIDEO_SET, 2},	 {"vadd4", VIDEO_ADD, 4},
		{"vsub4", VIDEO_SUB, 4},	 {"vavrg4", VIDEO_AVRG, 4},
		{"vabsdiff4", VIDEO_ABSDIFF, 4}, {"vmin4", VIDEO_MIN, 4},
		{"vmax4", VIDEO_MAX, 4},	 {"vset4", VIDEO_SET, 4},
	};
	uint32_t i = 0, aux, n = 2, cmp;
	bool known, second;

	while (strlen(names[i].name) != d->mods[0].n ||
	       memcmp(names[i].name, d->mods[0].text, d->mods[0].n))
		i++;
	aux = mod_signs(d, names[i].op == VIDEO_SET ? 2 : 3, &known);
	aux |= (uint32_t)names[i].op | names[i].parts << TS_PTX_VIDEO_PARTS_SHIFT;
	if (names[i].op == VIDEO_SET) {
		cmp = mod_video_cmp(d);
		known &= cmp < 6;
		aux |= cmp << TS_PTX_VIDEO_CMP_SHIFT;
	} else if (ts_ptx_mod(d, "sat")) {
		aux |= TS_PTX_VIDEO_SAT;
	}
	if (names[i].op == VIDEO_SHL || names[i].op == VIDEO_SHR) {
		bool wrap = ts_ptx_mod(d, "wrap");

		known &= wrap || ts_ptx_mod(d, "clamp");
		known &= !(aux & TS_PTX_VIDEO_SIGNED_B);
		aux |= wrap ? TS_PTX_VIDEO_WRAP : 0;
	}
	second = mod_second(d, &aux);
	/*
	 * SIMD instructions have only add as second operation. Without add, c is a merge operand
	 * that has no effect.
	 */
	if (names[i].parts > 1) {
		known &= !second || aux >> TS_PTX_VIDEO_SECOND_SHIFT == 1;
		n = 3;
	} else if (second) {
		n = 3;
	}
	return known ? video_emit(d, aux, n) : ts_ptx_unsupported(d);
}

/*
 * Decodes vmad: a * b + c, shifted. The sum has more than 64 bits; the result is the low word, or
 * saturated.
 */
static int decode_vmad(struct ts_ptx_decoder *d)
{
	bool known;
	uint32_t aux = mod_signs(d, 3, &known) | VIDEO_MAD | 1u << TS_PTX_VIDEO_PARTS_SHIFT;

	if (ts_ptx_mod(d, "sat"))
		aux |= TS_PTX_VIDEO_SAT;
	if (ts_ptx_mod(d, "shr7"))
		aux |= 7u << TS_PTX_VIDEO_SCALE_SHIFT;
	else if (ts_ptx_mod(d, "shr15"))
		aux |= 15u << TS_PTX_VIDEO_SCALE_SHIFT;
	return known ? video_emit(d, aux, 3) : ts_ptx_unsupported(d);
}

const struct ts_ptx_mnemonic ts_ptx_mnemonics_video[] = {
	{"vadd", decode_video},	     {"vsub", decode_video},	  {"vabsdiff", decode_video},
	{"vmin", decode_video},	     {"vmax", decode_video},	  {"vshl", decode_video},
	{"vshr", decode_video},	     {"vset", decode_video},	  {"vmad", decode_vmad},
	{"vadd2", decode_video},     {"vsub2", decode_video},	  {"vavrg2", decode_video},
	{"vabsdiff2", decode_video}, {"vmin2", decode_video},	  {"vmax2", decode_video},
	{"vset2", decode_video},     {"vadd4", decode_video},	  {"vsub4", decode_video},
	{"vavrg4", decode_video},    {"vabsdiff4", decode_video}, {"vmin4", decode_video},
	{"vmax4", decode_video},     {"vset4", decode_video},	  {NULL, NULL},
};
