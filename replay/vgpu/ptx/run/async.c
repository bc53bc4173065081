// SPDX-License-Identifier: Apache-2.0
/*
 * Asynchronous copies and mbarriers, which the lane loop runs through the optable. A copy runs
 * completely when it is issued, which the ISA allows, so commits and waits do nothing. An mbarrier
 * is one word in shared memory with a layout that PTX leaves open. Here it is:
 *
 *     bits  0..19  arrivals that a phase expects
 *     bits 20..39  pending arrivals
 *     bits 40..60  pending bytes, in two's complement
 *     bit  63      phase
 */
#include "replay/vgpu/ptx/lanes/mem.h"

#define COUNT_MASK 0xfffffu
#define TX_MASK	   0x1fffffu

struct mbarrier {
	uint32_t expected, pending, tx;
	bool phase;
};

static struct mbarrier mbarrier_unpack(uint64_t v)
{
	return (struct mbarrier){v & COUNT_MASK, v >> 20 & COUNT_MASK, v >> 40 & TX_MASK, v >> 63};
}

static uint64_t mbarrier_pack(struct mbarrier b)
{
	return (uint64_t)(b.expected & COUNT_MASK) | (uint64_t)(b.pending & COUNT_MASK) << 20 |
	       (uint64_t)(b.tx & TX_MASK) << 40 | (uint64_t)b.phase << 63;
}

static void mbarrier_settle(struct mbarrier *b)
{
	if (b->pending || (b->tx & TX_MASK))
		return;
	b->phase = !b->phase;
	b->pending = b->expected;
}

/* Returns the value of an optional 32-bit operand. */
static uint32_t optional(const struct ts_ptx_warp *w, uint32_t ref, uint32_t lane,
			 uint32_t otherwise)
{
	return ref == TS_PTX_NONE ? otherwise : ((const uint32_t *)ts_ptx_slot(w, ref))[lane];
}

static int mbarrier_one(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t lane,
			uint64_t *word, uint32_t *pred)
{
	struct mbarrier b;
	uint64_t old;
	uint32_t n;

	memcpy(&old, word, sizeof(old));
	b = mbarrier_unpack(old);
	switch (in->aux) {
	case TS_PTX_MBARRIER_INIT:
		n = optional(w, in->b, lane, 1);
		if (!n || n > COUNT_MASK)
			return ts_ptx_fault(w, in, lane, TS_PTX_FAULT_ILLEGAL,
					    "mbarrier.init with a count of %u", n);
		b = (struct mbarrier){n, n, 0, false};
		break;
	case TS_PTX_MBARRIER_INVAL:
		break;
	case TS_PTX_MBARRIER_EXPECT_TX:
		b.tx += optional(w, in->b, lane, 0);
		break;
	case TS_PTX_MBARRIER_COMPLETE_TX:
		b.tx -= optional(w, in->b, lane, 0);
		mbarrier_settle(&b);
		break;
	case TS_PTX_MBARRIER_ARRIVE:
	case TS_PTX_MBARRIER_ARRIVE_EXPECT_TX:
	case TS_PTX_MBARRIER_ARRIVE_DROP:
		n = in->aux == TS_PTX_MBARRIER_ARRIVE_EXPECT_TX ? 1 : optional(w, in->b, lane, 1);
		if (n > b.pending)
			return ts_ptx_fault(
				w, in, lane, TS_PTX_FAULT_ILLEGAL,
				"%u arrivals at an mbarrier whose phase expects only %u more", n,
				b.pending);
		if (in->aux == TS_PTX_MBARRIER_ARRIVE_EXPECT_TX)
			b.tx += optional(w, in->b, lane, 0);
		if (in->aux == TS_PTX_MBARRIER_ARRIVE_DROP)
			b.expected -= n;
		b.pending -= n;
		mbarrier_settle(&b);
		if (in->dst != TS_PTX_NONE)
			((uint64_t *)ts_ptx_result(w, in))[lane] = old;
		break;
	case TS_PTX_MBARRIER_WAIT:
		n = (uint32_t)(((const uint64_t *)ts_ptx_slot(w, in->b))[lane] >> 63);
		*pred |= (uint32_t)(b.phase != n) << lane;
		break;
	default: /* by parity */
		n = optional(w, in->b, lane, 0) & 1;
		*pred |= (uint32_t)(b.phase != n) << lane;
		break;
	}
	old = mbarrier_pack(b);
	memcpy(word, &old, sizeof(old));
	return 0;
}

static int mbarrier(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint8_t *p[TS_PTX_LANES];
	uint32_t pred = 0, *d;

	ts_ptx_watch(w);
	if (ts_ptx_addresses(w, in, m, 8, true, p))
		return STOP_FAULT;
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);

		if (mbarrier_one(w, in, lane, (uint64_t *)(void *)p[lane], &pred))
			return STOP_FAULT;
	}
	if (in->aux == TS_PTX_MBARRIER_WAIT || in->aux == TS_PTX_MBARRIER_WAIT_PARITY) {
		d = ts_ptx_result(w, in);
		*d = (*d & ~m) | (pred & m);
	}
	return 0;
}

/* Copies 4, 8 or 16 aligned bytes of one lane. Reads them in one access, as hardware does. */
static void copy_whole(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	if (bytes == 4)
		TS_PTX_MOVE(uint32_t, to, from);
	else if (bytes == 8)
		TS_PTX_MOVE(uint64_t, to, from);
	else
		TS_PTX_MOVE_16(to, from);
}

/*
 * Runs cp.async. `a` is the shared target, with its offset in the low half of imm. `b` is the
 * global source, with its offset in the high half. `aux` is the number of bytes to write, `c` the
 * number of bytes to read; the others are written as zero.
 */
static int cp_async(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t bytes = in->aux;
	uint8_t *to[TS_PTX_LANES], *from[TS_PTX_LANES];
	struct ts_ptx_insn source = *in, target = *in;
	uint32_t reading = m;

	target.space = SP_SHARED;
	target.imm = (uint64_t)(int64_t)(int32_t)in->imm;
	source.a = in->b;
	source.flags = INSN_A64;
	source.imm = (uint64_t)((int64_t)in->imm >> 32);
	source.space = SP_GLOBAL;
	if (ts_ptx_addresses(w, &target, m, bytes, true, to))
		return STOP_FAULT;
	for (uint32_t left = m; left; left &= left - 1)
		if (!optional(w, in->c, (uint32_t)__builtin_ctz(left), bytes))
			reading &= ~(left & (0 - left));
	if (reading && ts_ptx_addresses(w, &source, reading, bytes, false, from))
		return STOP_FAULT;
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint32_t n = optional(w, in->c, lane, bytes);

		if (n >= bytes) {
			copy_whole(to[lane], from[lane], bytes);
			continue;
		}
		if (n)
			memcpy(to[lane], from[lane], n);
		memset(to[lane] + n, 0, bytes - n);
	}
	return 0;
}

/*
 * Returns the host address of a bulk copy's source or target for one lane. NULL: the function has
 * recorded a fault.
 */
static uint8_t *bulk_end(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t lane,
			 uint32_t end, enum ts_ptx_space space, uint32_t bytes, bool write)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	struct ts_ptx_insn place = *in;
	uint8_t *host[TS_PTX_LANES];

	place.a = list[end];
	place.imm = (uint64_t)(int64_t)(int32_t)list[4 + end];
	place.flags = list[7] >> end & 1 ? INSN_A64 : 0;
	place.space = (uint8_t)space;
	return ts_ptx_addresses(w, &place, 1u << lane, bytes, write, host) ? NULL : host[lane];
}

/*
 * Completes a bulk copy. Reports a separate access to the observer, which publishes the bytes that
 * the copy wrote.
 */
static int bulk_done(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t observing = w->worker->observing;
	int r;

	if (observing)
		w->worker->observing |= TS_PTX_ACCESS_STRONG | TS_PTX_ACCESS_RELEASE;
	w->worker->observed_atomic = observing;
	r = mbarrier(w, in, m);
	w->worker->observed_atomic = false;
	w->worker->observing = observing;
	return r;
}

/* Runs a bulk copy completely when it is issued. Then the mbarrier counts its bytes as complete. */
static int cp_bulk(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	enum ts_ptx_space to = list[7] & 8 ? SP_GLOBAL : SP_SHARED,
			  from = list[7] & 16 ? SP_GLOBAL : SP_SHARED;
	struct ts_ptx_insn done = *in;

	done.aux = TS_PTX_MBARRIER_COMPLETE_TX;
	done.a = list[3];
	done.b = list[2];
	done.imm = (uint64_t)(int64_t)(int32_t)list[6];
	done.flags = list[7] & 4 ? INSN_A64 : 0;
	done.space = SP_SHARED;
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint32_t bytes = ((const uint32_t *)ts_ptx_slot(w, list[2]))[lane];
		uint8_t *d, *s;

		if (bytes % 16)
			return ts_ptx_fault(w, in, lane, TS_PTX_FAULT_ILLEGAL,
					    "a bulk copy of %u bytes: not a multiple of 16", bytes);
		if (bytes) {
			d = bulk_end(w, in, lane, 0, to, bytes, true);
			s = d ? bulk_end(w, in, lane, 1, from, bytes, false) : NULL;
			if (!s)
				return STOP_FAULT;
			memmove(d, s, bytes);
		}
		if (list[3] != TS_PTX_NONE && bulk_done(w, &done, 1u << lane))
			return STOP_FAULT;
	}
	return 0;
}

void ts_ptx_fill_async(struct ts_ptx_optable *t)
{
	t->fn[F_MBARRIER][TY_NONE] = mbarrier;
	t->fn[F_CP_ASYNC][TY_NONE] = cp_async;
	t->fn[F_CP_BULK][TY_NONE] = cp_bulk;
}
