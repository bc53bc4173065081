// SPDX-License-Identifier: Apache-2.0
/*
 * Collective instructions of a warp: shuffles, votes, matches, reductions and elections.
 * control-flow.c calls them when all lanes of the member mask have arrived. Lanes of several groups
 * may run one instruction together, each lane with its own member mask.
 */
#include "replay/vgpu/ptx/run/ptx-exec.h"

static uint32_t members_of(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
			   uint32_t lane)
{
	return in->c == TS_PTX_NONE ? m : ((const uint32_t *)ts_ptx_slot(w, in->c))[lane] & m;
}

static void put_pred(const struct ts_ptx_warp *w, uint32_t ref, uint32_t m, uint32_t r)
{
	uint32_t *p;

	if (ref == TS_PTX_NONE)
		return;
	p = ts_ptx_pred(w, ref);
	*p = (*p & ~m) | (r & m);
}

/*
 * Runs a shuffle. b: lane or distance. reconverge: slot of the clamp and segment mask. target:
 * predicate.
 */
static int shfl(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *b = ts_ptx_slot(w, in->b), *c = ts_ptx_slot(w, in->reconverge);
	uint32_t a[TS_PTX_LANES], valid = 0;
	uint32_t *d = in->dst == TS_PTX_NONE ? NULL : ts_ptx_result(w, in);

	memcpy(a, ts_ptx_slot(w, in->a), sizeof(a));
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint32_t segment = c[lane] >> 8 & 31, clamp = c[lane] & 31, by = b[lane] & 31;
		uint32_t last = (lane & segment) | (clamp & ~segment), from;
		bool ok;

		switch (in->aux) {
		case TS_PTX_SHFL_UP:
			from = lane - by;
			ok = (int32_t)from >= (int32_t)last;
			break;
		case TS_PTX_SHFL_DOWN:
			from = lane + by;
			ok = from <= last;
			break;
		case TS_PTX_SHFL_BFLY:
			from = lane ^ by;
			ok = from <= last;
			break;
		default:
			from = (lane & segment) | (by & ~segment);
			ok = from <= last;
			break;
		}
		valid |= (uint32_t)ok << lane;
		if (d)
			d[lane] = a[ok ? from & 31 : lane];
	}
	put_pred(w, in->target, m, valid);
	return 0;
}

/* Runs a vote. imm: non-zero if the predicate is negated. */
static int vote(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t p = *ts_ptx_pred(w, in->a) ^ (in->imm ? UINT32_MAX : 0), r = 0;

	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint32_t members = members_of(w, in, m, lane), yes = p & members;
		bool answer = in->aux == TS_PTX_VOTE_ALL   ? yes == members
			      : in->aux == TS_PTX_VOTE_ANY ? yes != 0
							   : yes == members || !yes;

		if (in->aux == TS_PTX_VOTE_BALLOT)
			((uint32_t *)ts_ptx_result(w, in))[lane] = yes;
		r |= (uint32_t)answer << lane;
	}
	if (in->aux != TS_PTX_VOTE_BALLOT)
		put_pred(w, in->dst, m, r);
	return 0;
}

static int match(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint64_t v[TS_PTX_LANES];
	uint32_t *d = in->dst == TS_PTX_NONE ? NULL : ts_ptx_result(w, in), agreed = 0;

	for (int i = 0; i < TS_PTX_LANES; i++)
		v[i] = in->flags & INSN_SRC64 ? ((const uint64_t *)ts_ptx_slot(w, in->a))[i]
					      : ((const uint32_t *)ts_ptx_slot(w, in->a))[i];
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint32_t members = members_of(w, in, m, lane), same = 0;

		for (uint32_t l = members; l; l &= l - 1)
			if (v[__builtin_ctz(l)] == v[lane])
				same |= l & (0 - l);
		agreed |= (uint32_t)(same == members) << lane;
		if (d)
			d[lane] = in->aux && same != members ? 0 : same;
	}
	put_pred(w, in->target, m, agreed);
	return 0;
}

static uint32_t redux_step(uint32_t x, uint32_t y, uint32_t op)
{
	switch (op) {
	case TS_PTX_REDUX_ADD:
		return x + y;
	case TS_PTX_REDUX_AND:
		return x & y;
	case TS_PTX_REDUX_OR:
		return x | y;
	case TS_PTX_REDUX_XOR:
		return x ^ y;
	case TS_PTX_REDUX_MIN_U:
		return x < y ? x : y;
	case TS_PTX_REDUX_MAX_U:
		return x > y ? x : y;
	case TS_PTX_REDUX_MIN_S:
		return (int32_t)x < (int32_t)y ? x : y;
	default:
		return (int32_t)x > (int32_t)y ? x : y;
	}
}

static int redux(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t a[TS_PTX_LANES], *d = ts_ptx_result(w, in);

	memcpy(a, ts_ptx_slot(w, in->a), sizeof(a));
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint32_t members = members_of(w, in, m, lane);
		uint32_t r = a[__builtin_ctz(members)];

		for (uint32_t l = members & (members - 1); l; l &= l - 1)
			r = redux_step(r, a[__builtin_ctz(l)], in->aux);
		d[lane] = r;
	}
	return 0;
}

/* Elects the lowest lane of the member mask as the leader. */
static int elect(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t leaders = 0;

	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint32_t leader = (uint32_t)__builtin_ctz(members_of(w, in, m, lane));

		if (in->dst != TS_PTX_NONE)
			((uint32_t *)ts_ptx_result(w, in))[lane] = leader;
		leaders |= (uint32_t)(leader == lane) << lane;
	}
	put_pred(w, in->target, m, leaders);
	return 0;
}

static int activemask(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t *d = ts_ptx_result(w, in);

	for (uint32_t left = m; left; left &= left - 1)
		d[__builtin_ctz(left)] = m;
	return 0;
}

void ts_ptx_fill_collective(struct ts_ptx_optable *t)
{
	t->fn[F_SHFL][TY_NONE] = shfl;
	t->fn[F_VOTE][TY_NONE] = vote;
	t->fn[F_MATCH][TY_NONE] = match;
	t->fn[F_REDUX][TY_NONE] = redux;
	t->fn[F_ELECT][TY_NONE] = elect;
	t->fn[F_ACTIVEMASK][TY_NONE] = activemask;
}
