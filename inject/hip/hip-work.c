/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the facts of HIP work by op_id. hip-calls.c stores them at a call's entry; hip-rows.c
 * reads them when the device rows come. It calls only unlocked.c, for its memory.
 *
 * Each slot is a sequence lock of one cache line. A bit of its word says that the slot is being
 * filled. Two writers meet in one slot only if a call is TS_HIP_WORKS calls late; the second writer
 * then gives up, and its rows lack these facts.
 */
#include "inject/hip/hip-work.h"

#include <string.h>

#include "inject/ring/unlocked.h"

#define N_WORDS (sizeof(struct ts_hip_work) / 8)

/* Bits of a slot's state; the bits above count the writers. */
#define STATE_BUSY    UINT64_C(1) /* a writer fills the slot */
#define STATE_PENDING UINT64_C(2) /* awaited, and without a device row */
#define STATE_STEP    UINT64_C(4)

struct ts_hip_work_slot {
	uint64_t state;
	uint64_t words[N_WORDS];
};

TS_STATIC_ASSERT(sizeof(struct ts_hip_work) % 8 == 0, "stored word by word");
TS_STATIC_ASSERT(sizeof(struct ts_hip_work_slot) == TS_CACHE_LINE, "a call writes one line");
TS_STATIC_ASSERT(offsetof(struct ts_hip_work, op_id) == 0, "the first word of a slot");

int ts_hip_works_init(struct ts_hip_works *works)
{
	if (!works->slots)
		works->slots = ts_unlocked_map(TS_HIP_WORKS * sizeof(*works->slots));
	return works->slots ? 0 : -ENOMEM;
}

static struct ts_hip_work_slot *slot_of(const struct ts_hip_works *works, uint64_t op_id)
{
	return &works->slots[op_id % TS_HIP_WORKS];
}

void ts_hip_works_put(struct ts_hip_works *works, const struct ts_hip_work *work)
{
	struct ts_hip_work_slot *slot;
	uint64_t words[N_WORDS], state;

	if (!works->slots)
		return;
	slot = slot_of(works, work->op_id);
	state = __atomic_load_n(&slot->state, __ATOMIC_RELAXED);
	if (state & STATE_BUSY ||
	    !__atomic_compare_exchange_n(&slot->state, &state, state | STATE_BUSY, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	memcpy(words, work, sizeof(words));
	/* Release, paired with the acquire of a reader: it then sees the busy state. */
	for (size_t i = 0; i < N_WORDS; i++)
		__atomic_store_n(&slot->words[i], words[i], __ATOMIC_RELEASE);
	/* The next call's line; the table is larger than the caches near the processor. */
	__builtin_prefetch(slot_of(works, work->op_id + 1), 1);
	/* A call that never got its rows gives its place up, and is no longer waited for. */
	state = (state & ~(STATE_STEP - 1)) + STATE_STEP;
	/* Pairs with the acquire in ts_hip_works_get(). */
	__atomic_store_n(&slot->state, state | (work->is_awaited ? STATE_PENDING : 0),
			 __ATOMIC_RELEASE);
}

bool ts_hip_works_get(const struct ts_hip_works *works, uint64_t op_id, struct ts_hip_work *ret)
{
	const struct ts_hip_work_slot *slot;
	uint64_t words[N_WORDS], before, after;

	if (!works->slots)
		return false;
	slot = slot_of(works, op_id);
	before = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
	if (before & STATE_BUSY)
		return false;
	/* Acquire, paired with the release of a writer. */
	for (size_t i = 0; i < N_WORDS; i++)
		words[i] = __atomic_load_n(&slot->words[i], __ATOMIC_ACQUIRE);
	after = __atomic_load_n(&slot->state, __ATOMIC_RELAXED);
	/* Another row may have come meanwhile; the facts are the same. */
	if ((before ^ after) & ~STATE_PENDING || words[0] != op_id)
		return false;
	memcpy(ret, words, sizeof(*ret));
	return true;
}

void ts_hip_works_done(struct ts_hip_works *works, uint64_t op_id)
{
	struct ts_hip_work_slot *slot;
	uint64_t state;

	if (!works->slots)
		return;
	slot = slot_of(works, op_id);
	state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
	/* If a writer comes in between, the state differs, and the later call stays pending. */
	if (state & STATE_PENDING && !(state & STATE_BUSY) &&
	    __atomic_load_n(&slot->words[0], __ATOMIC_ACQUIRE) == op_id)
		(void)__atomic_compare_exchange_n(&slot->state, &state, state & ~STATE_PENDING,
						  false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

uint64_t ts_hip_works_pending(struct ts_hip_works *works, uint64_t newest_op_id, uint64_t n_calls,
			      bool gives_up)
{
	uint64_t n_slots = n_calls < TS_HIP_WORKS ? n_calls : TS_HIP_WORKS, n = 0;

	for (uint64_t i = 0; works->slots && i < n_slots; i++) {
		struct ts_hip_work_slot *slot = slot_of(works, newest_op_id - i);

		n += (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) & STATE_PENDING) != 0;
		if (gives_up)
			__atomic_fetch_and(&slot->state, ~STATE_PENDING, __ATOMIC_RELAXED);
	}
	return n;
}
