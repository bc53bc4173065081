// SPDX-License-Identifier: Apache-2.0
/*
 * Collective instructions of a warp: shuffles, votes, matches, reductions and elections.
 * control-flow.c calls them when all lanes of the member mask have arrived. Lanes of several groups
 * may run one instruction together, each lane with its own member mask.
 */
#include "replay/vgpu/ptx/lanes/lanes.h"

static uint32_t members_of(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
			   uint32_t lane)
{
	return in->c == TS_PTX_NONE ? m : ((const uint32_t *)ts_ptx_slot(w, in->c))[lane] & m;
}

/* True if all lanes of m have one member mask, as nearly always. */
static bool one_group(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *masks = in->c == TS_PTX_NONE ? NULL : ts_ptx_slot(w, in->c);
	uint32_t first, differs = 0;

	if (!masks || ts_ptx_is_constant(in->c))
		return true;
	first = masks[__builtin_ctz(m)];
	for (int i = 0; i < TS_PTX_LANES; i++)
		differs |= TS_PTX_HAS(m, i, 4) ? masks[i] ^ first : 0;
	return !differs;
}

static void put_pred(const struct ts_ptx_warp *w, uint32_t ref, uint32_t m, uint32_t r)
{
	uint32_t *p;

	if (ref == TS_PTX_NONE)
		return;
	p = ts_ptx_pred(w, ref);
	*p = (*p & ~m) | (r & m);
}

/* Sets the lanes of m to one value. */
static void put_value(uint32_t *d_, uint32_t m, uint32_t v)
{
	TS_PTX_LOOP(m, uint32_t, uint32_t, , v)
}

/*
 * Computes the source lane `from` of each lane, and whether it is in the segment. last: end of the
 * segment in the direction of the shuffle.
 */
#define SOURCES(lane_expr, ok_expr)                                                       \
	TS_PTX_FOR_LANES                                                                  \
	{                                                                                 \
		uint32_t lane = (uint32_t)i, segment = c[i] >> 8 & 31, clamp = c[i] & 31; \
		uint32_t by = b[i] & 31, last = (lane & segment) | (clamp & ~segment);    \
		uint32_t source = (lane_expr);                                            \
                                                                                          \
		ok[i] = (ok_expr) ? UINT32_MAX : 0;                                       \
		from[i] = ok[i] ? source & 31 : lane;                                     \
		(void)by;                                                                 \
	}

/*
 * Runs a shuffle. b: lane or distance. reconverge: slot of the clamp and segment mask. target:
 * predicate.
 */
static int shfl(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *b = ts_ptx_slot(w, in->b), *c = ts_ptx_slot(w, in->reconverge);
	uint32_t a[TS_PTX_LANES], from[TS_PTX_LANES];
	uint32_t ok[TS_PTX_LANES] __attribute__((aligned(64)));

	memcpy(a, ts_ptx_slot(w, in->a), sizeof(a));
	switch (in->aux) {
	case TS_PTX_SHFL_UP:
		SOURCES(lane - by, (int32_t)source >= (int32_t)last)
		break;
	case TS_PTX_SHFL_DOWN:
		SOURCES(lane + by, source <= last)
		break;
	case TS_PTX_SHFL_BFLY:
		SOURCES(lane ^ by, source <= last)
		break;
	default:
		SOURCES((lane & segment) | (by & ~segment), source <= last)
	}
	if (in->dst != TS_PTX_NONE) {
		uint32_t *d_ = ts_ptx_result(w, in);

		TS_PTX_LOOP(m, uint32_t, uint32_t, , a[from[i]])
	}
	if (in->target != TS_PTX_NONE)
		put_pred(w, in->target, m, ts_ptx_pack(ok));
	return 0;
}

static bool answer_of(uint32_t mode, uint32_t yes, uint32_t members)
{
	return mode == TS_PTX_VOTE_ALL	 ? yes == members
	       : mode == TS_PTX_VOTE_ANY ? yes != 0
					 : yes == members || !yes;
}

/* Runs a vote. imm: non-zero if the predicate is negated. */
static int vote(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t p = *ts_ptx_pred(w, in->a) ^ (in->imm ? UINT32_MAX : 0), r = 0;
	bool ballot = in->aux == TS_PTX_VOTE_BALLOT;

	if (one_group(w, in, m)) {
		uint32_t members = members_of(w, in, m, (uint32_t)__builtin_ctz(m));

		if (ballot)
			put_value(ts_ptx_result(w, in), m, p & members);
		else
			put_pred(w, in->dst, m,
				 answer_of(in->aux, p & members, members) ? UINT32_MAX : 0);
		return 0;
	}
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint32_t members = members_of(w, in, m, lane), yes = p & members;

		if (ballot)
			((uint32_t *)ts_ptx_result(w, in))[lane] = yes;
		r |= (uint32_t)answer_of(in->aux, yes, members) << lane;
	}
	if (!ballot)
		put_pred(w, in->dst, m, r);
	return 0;
}

/* Returns the lanes with the value of one of them. */
static uint32_t same_lanes(const uint64_t v[TS_PTX_LANES], uint64_t value)
{
	uint32_t same[TS_PTX_LANES] __attribute__((aligned(64)));

	for (int i = 0; i < TS_PTX_LANES; i++)
		same[i] = v[i] == value ? UINT32_MAX : 0;
	return ts_ptx_pack(same);
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
		uint32_t members = members_of(w, in, m, lane);
		uint32_t same = same_lanes(v, v[lane]) & members;

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

static uint32_t redux_of(const uint32_t a[TS_PTX_LANES], uint32_t members, uint32_t op)
{
	uint32_t r = a[__builtin_ctz(members)];

	for (uint32_t left = members & (members - 1); left; left &= left - 1)
		r = redux_step(r, a[__builtin_ctz(left)], op);
	return r;
}

static int redux(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t a[TS_PTX_LANES], *d = ts_ptx_result(w, in);

	memcpy(a, ts_ptx_slot(w, in->a), sizeof(a));
	if (one_group(w, in, m)) {
		put_value(d, m,
			  redux_of(a, members_of(w, in, m, (uint32_t)__builtin_ctz(m)), in->aux));
		return 0;
	}
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);

		d[lane] = redux_of(a, members_of(w, in, m, lane), in->aux);
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
	put_value(ts_ptx_result(w, in), m, m);
	return 0;
}

void TS_PTX_FILL(collective)(struct ts_ptx_optable *t)
{
	t->fn[F_SHFL][TY_NONE] = shfl;
	t->fn[F_VOTE][TY_NONE] = vote;
	t->fn[F_MATCH][TY_NONE] = match;
	t->fn[F_REDUX][TY_NONE] = redux;
	t->fn[F_ELECT][TY_NONE] = elect;
	t->fn[F_ACTIVEMASK][TY_NONE] = activemask;
}
