// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes matrix loads, stores and moves, asynchronous copies and mbarriers. decode.c calls this
 * file through ts_ptx_mnemonics_tensor; this file calls emit.c, decode-memory.c and decode-wmma.c.
 */
#include "replay/vgpu/ptx/decode/decode.h"

#define O (d->stmt->operands)

static const struct ts_ptx_note ts_ptx_plain;

static int matrix_access(struct ts_ptx_decoder *d, bool store)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, store ? F_STMATRIX : F_LDMATRIX, TY_NONE);
	bool known = ts_ptx_mod(d, "sync"), trans;
	enum ts_ptx_space space;
	uint32_t bra;
	int r;

	known &= ts_ptx_mod(d, "aligned");
	known &= ts_ptx_mod(d, "m8n8");
	trans = ts_ptx_mod(d, "trans");
	in.n = ts_ptx_mod(d, "x1") ? 1 : ts_ptx_mod(d, "x2") ? 2 : ts_ptx_mod(d, "x4") ? 4 : 0;
	space = ts_ptx_mod_space(d);
	if (!known || !in.n || ts_ptx_mod_type(d) != TY_B16 ||
	    (space != SP_SHARED && space != SP_GENERIC))
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, 2);
	if (!r)
		r = ts_ptx_whole_warp(d, &in, &bra);
	if (!r)
		r = ts_ptx_address(d, &O[store ? 0 : 1], space, &in);
	in.aux = d->n_operands;
	if (!r)
		r = ts_ptx_fragment(d, &O[store ? 1 : 0], in.n, TY_B32, !store);
	if (trans)
		in.flags |= TS_PTX_MATRIX_TRANS;
	if (!r)
		r = ts_ptx_emit(d, &in,
				(struct ts_ptx_note){.roles = store ? ROLE_LIST_READ
								    : ROLE_LIST_WRITE,
						     .n_list = in.n,
						     .n_list_write = store ? 0 : in.n});
	return r ? r : ts_ptx_guard_close(d, bra);
}

static int decode_ldmatrix(struct ts_ptx_decoder *d)
{
	return matrix_access(d, false);
}

static int decode_stmatrix(struct ts_ptx_decoder *d)
{
	return matrix_access(d, true);
}

static int decode_movmatrix(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_MOVMATRIX, TY_NONE);
	bool known = ts_ptx_mod(d, "sync");
	uint32_t bra;
	int r;

	known &= ts_ptx_mod(d, "aligned");
	known &= ts_ptx_mod(d, "m8n8");
	known &= ts_ptx_mod(d, "trans");
	if (!known || ts_ptx_mod_type(d) != TY_B16)
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, 2);
	if (!r)
		r = ts_ptx_whole_warp(d, &in, &bra);
	if (!r)
		r = ts_ptx_src(d, &O[1], TY_B32, &in.a);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_32, &in.dst);
	if (!r)
		r = ts_ptx_emit(d, &in, ts_ptx_plain);
	return r ? r : ts_ptx_guard_close(d, bra);
}

/* Decodes cp.async.ca.shared.global [to], [from], bytes {, bytes to read} {, policy} */
static int cp_async(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_CP_ASYNC, TY_NONE), from = in;
	bool known = ts_ptx_mod(d, "ca"), hint;
	uint32_t n = d->stmt->n_operands;
	int r;

	known |= ts_ptx_mod(d, "cg");
	known &= ts_ptx_mod(d, "shared") || ts_ptx_mod(d, "shared::cta");
	known &= ts_ptx_mod(d, "global");
	(void)ts_ptx_mod(d, "L2::64B");
	(void)ts_ptx_mod(d, "L2::128B");
	(void)ts_ptx_mod(d, "L2::256B");
	hint = ts_ptx_mod(d, "L2::cache_hint");
	if (!known || n < 3u + hint || n > 4u + hint)
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, n);
	if (!r && (O[2].kind != OPERAND_IMM || (O[2].imm != 4 && O[2].imm != 8 && O[2].imm != 16)))
		r = ts_ptx_bad(d, "the size must be 4, 8 or 16");
	if (!r && n == 4u + hint) /* a predicate here would mean: ignore the source */
		r = ts_ptx_src(d, &O[3], TY_U32, &in.c);
	if (!r)
		r = ts_ptx_address(d, &O[0], SP_SHARED, &in);
	if (!r)
		r = ts_ptx_address(d, &O[1], SP_GLOBAL, &from);
	if (!r && (!(from.flags & INSN_A64) || (int64_t)from.imm != (int32_t)from.imm ||
		   (int64_t)in.imm != (int32_t)in.imm))
		r = ts_ptx_bad(d, "the instruction does not support this kind of address");
	in.b = from.a;
	in.imm = (uint32_t)in.imm | from.imm << 32;
	in.aux = r ? 0 : (uint32_t)O[2].imm;
	return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
}

/* Emits an mbarrier operation. value: the second input, or NULL. */
static int emit_mbarrier(struct ts_ptx_decoder *d, uint32_t op,
			 const struct ts_ptx_operand *address, const struct ts_ptx_operand *value,
			 enum ts_ptx_type type, enum ts_ptx_space space, struct ts_ptx_insn *in)
{
	int r = ts_ptx_address(d, address, space, in);

	in->fn = d->ops->fn[F_MBARRIER][TY_NONE];
	in->aux = op;
	if (!r && value)
		r = ts_ptx_src(d, value, type, &in->b);
	return r ? r : ts_ptx_emit(d, in, ts_ptx_plain);
}

static int mbarrier_arrive(struct ts_ptx_decoder *d, bool drop)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_MBARRIER, TY_NONE);
	bool expect = ts_ptx_mod(d, "expect_tx");
	enum ts_ptx_space space = ts_ptx_mod_space(d);
	uint32_t n = d->stmt->n_operands;
	bool sink = n && O[0].kind == OPERAND_SINK;
	int r;

	(void)ts_ptx_mod(d, "noComplete");
	if (ts_ptx_mod_type(d) != TY_B64 || n < 2 || n > 3 || (expect && (n != 3 || drop)))
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, n);
	if (!r && !sink)
		r = ts_ptx_dst(d, &O[0], CLASS_64, &in.dst);
	return r ? r
		 : emit_mbarrier(d,
				 expect ? TS_PTX_MBARRIER_ARRIVE_EXPECT_TX
				 : drop ? TS_PTX_MBARRIER_ARRIVE_DROP
					: TS_PTX_MBARRIER_ARRIVE,
				 &O[1], n == 3 ? &O[2] : NULL, TY_U32, space, &in);
}

static int mbarrier_wait(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_MBARRIER, TY_NONE);
	bool parity = ts_ptx_mod(d, "parity");
	enum ts_ptx_space space = ts_ptx_mod_space(d);
	/* The fourth operand, try_wait's time limit, has no effect. */
	uint32_t n = d->stmt->n_operands;
	int r;

	if (ts_ptx_mod_type(d) != TY_B64 || n < 3 || n > 4)
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, n);
	if (!r)
		r = ts_ptx_dst(d, &O[0], CLASS_PRED, &in.dst);
	return r ? r
		 : emit_mbarrier(d, parity ? TS_PTX_MBARRIER_WAIT_PARITY : TS_PTX_MBARRIER_WAIT,
				 &O[1], &O[2], parity ? TY_U32 : TY_B64, space, &in);
}

static int decode_mbarrier(struct ts_ptx_decoder *d)
{
	static const struct {
		const char *name;
		uint32_t op, n;
	} simple[] = {
		{"init", TS_PTX_MBARRIER_INIT, 2},
		{"inval", TS_PTX_MBARRIER_INVAL, 1},
		{"expect_tx", TS_PTX_MBARRIER_EXPECT_TX, 2},
		{"complete_tx", TS_PTX_MBARRIER_COMPLETE_TX, 2},
	};
	static const char *const orders[] = {"release", "acquire", "relaxed", "cta", "cluster"};
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_MBARRIER, TY_NONE);
	int r;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		(void)ts_ptx_mod(d, orders[i]);
	if (ts_ptx_mod(d, "arrive"))
		return mbarrier_arrive(d, false);
	if (ts_ptx_mod(d, "arrive_drop"))
		return mbarrier_arrive(d, true);
	if (ts_ptx_mod(d, "test_wait") || ts_ptx_mod(d, "try_wait"))
		return mbarrier_wait(d);
	for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++) {
		enum ts_ptx_space space;

		if (!ts_ptx_mod(d, simple[i].name))
			continue;
		space = ts_ptx_mod_space(d);
		(void)ts_ptx_mod_type(d);
		r = ts_ptx_done(d, simple[i].n);
		return r ? r
			 : emit_mbarrier(d, simple[i].op, &O[0], simple[i].n == 2 ? &O[1] : NULL,
					 TY_U32, space, &in);
	}
	return ts_ptx_unsupported(d);
}

/*
 * Decodes cp.async.bulk.to.from.how [to], [from], bytes {, [mbarrier]} {, policy}. The operand list
 * has to, from, bytes and mbarrier, then the three offsets, then flags for 64-bit addresses and
 * global memory.
 */
static int cp_bulk(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_CP_BULK, TY_NONE), places[3] = {in, in, in};
	bool group = ts_ptx_mod(d, "bulk_group"), global = ts_ptx_mod(d, "global"), hint;
	bool barrier = ts_ptx_mod(d, "mbarrier::complete_tx::bytes");
	bool cta = ts_ptx_mod(d, "shared::cta"), cluster = ts_ptx_mod(d, "shared::cluster");
	enum ts_ptx_space from = global && !group ? SP_GLOBAL : SP_SHARED;
	uint32_t n = 3u + barrier, refs[4], wide = 0;
	int r;

	hint = ts_ptx_mod(d, "L2::cache_hint");
	if (group == barrier || (group ? !global || !cta || cluster : global == (cta && cluster)) ||
	    !(cta || cluster))
		return ts_ptx_unsupported(d);
	r = ts_ptx_done(d, n + hint);
	if (!r)
		r = ts_ptx_address(d, &O[0], group ? SP_GLOBAL : SP_SHARED, &places[0]);
	if (!r)
		r = ts_ptx_address(d, &O[1], from, &places[1]);
	if (!r)
		r = ts_ptx_src(d, &O[2], TY_U32, &refs[2]);
	if (!r && barrier)
		r = ts_ptx_address(d, &O[3], SP_SHARED, &places[2]);
	refs[0] = places[0].a;
	refs[1] = places[1].a;
	refs[3] = barrier ? places[2].a : TS_PTX_NONE;
	in.aux = d->n_operands;
	for (int i = 0; i < 4 && !r; i++)
		r = ts_ptx_list_add(d, refs[i]);
	for (int i = 0; i < 3 && !r; i++) {
		int64_t offset = i < 2 || barrier ? (int64_t)places[i].imm : 0;

		if (offset != (int32_t)offset || places[i].flags & INSN_FRAME_LOCAL)
			return ts_ptx_bad(d, "the instruction does not support this kind of "
					     "address");
		wide |= places[i].flags & INSN_A64 ? 1u << i : 0;
		r = ts_ptx_list_add(d, (uint32_t)offset);
	}
	wide |= group ? 8 : from == SP_GLOBAL ? 16 : 0;
	if (!r)
		r = ts_ptx_list_add(d, wide);
	return r ? r
		 : ts_ptx_emit(d, &in, (struct ts_ptx_note){.roles = ROLE_LIST_READ, .n_list = 4});
}

static int decode_cp(struct ts_ptx_decoder *d)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);
	enum ts_ptx_space space;
	bool bulk, hint;
	int r;

	if (!ts_ptx_mod(d, "async"))
		return ts_ptx_unsupported(d);
	bulk = ts_ptx_mod(d, "bulk");
	if (ts_ptx_mod(d, "commit_group") || ts_ptx_mod(d, "wait_all")) {
		r = ts_ptx_done(d, 0);
		return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
	}
	if (ts_ptx_mod(d, "wait_group")) {
		if (bulk)
			(void)ts_ptx_mod(d, "read");
		r = ts_ptx_done(d, 1);
		return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
	}
	if (bulk && ts_ptx_mod(d, "prefetch")) {
		(void)ts_ptx_mod(d, "L2");
		(void)ts_ptx_mod(d, "global");
		hint = ts_ptx_mod(d, "L2::cache_hint");
		r = ts_ptx_done(d, 2u + hint);
		return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
	}
	if (bulk)
		return cp_bulk(d);
	if (ts_ptx_mod(d, "mbarrier")) {
		bool noinc, arrive = ts_ptx_mod(d, "arrive");

		noinc = ts_ptx_mod(d, "noinc");
		space = ts_ptx_mod_space(d);
		if (!arrive || ts_ptx_mod_type(d) != TY_B64)
			return ts_ptx_unsupported(d);
		r = ts_ptx_done(d, 1);
		/*
		 * Without noinc one expected arrival is added and made at once, so nothing changes.
		 */
		if (r || !noinc)
			return r ? r : ts_ptx_emit(d, &in, ts_ptx_plain);
		return emit_mbarrier(d, TS_PTX_MBARRIER_ARRIVE, &O[0], NULL, TY_U32, space, &in);
	}
	return cp_async(d);
}

const struct ts_ptx_mnemonic ts_ptx_mnemonics_tensor[] = {
	{"ldmatrix", decode_ldmatrix},	 {"stmatrix", decode_stmatrix},
	{"movmatrix", decode_movmatrix}, {"cp", decode_cp},
	{"mbarrier", decode_mbarrier},	 {NULL, NULL},
};
