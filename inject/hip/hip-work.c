/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the facts of HIP work by op_id. hip-calls.c stores them at a call's entry; hip-rows.c
 * reads them when the device rows come. It calls only unlocked.c, for its memory.
 *
 * Each slot is a sequence lock: `sequence` is odd while a writer fills the slot. Two writers meet
 * in one slot only if a call is TS_HIP_WORKS calls late; the second writer then gives up, and its
 * rows lack these facts.
 */
#include "inject/hip/hip-work.h"

#include <string.h>

#include "inject/ring/unlocked.h"

#define N_WORDS (sizeof(struct ts_hip_work) / 8)

struct ts_hip_work_slot {
	uint32_t sequence;
	uint32_t is_pending; /* 1: awaited, and without a device row */
	uint64_t words[N_WORDS];
};

TS_STATIC_ASSERT(sizeof(struct ts_hip_work) % 8 == 0, "stored word by word");

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
	uint64_t words[N_WORDS];
	uint32_t sequence;

	if (!works->slots)
		return;
	slot = slot_of(works, work->op_id);
	sequence = __atomic_load_n(&slot->sequence, __ATOMIC_RELAXED);
	if (sequence & 1 || !__atomic_compare_exchange_n(&slot->sequence, &sequence, sequence + 1,
							 false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	memcpy(words, work, sizeof(words));
	/* Release, paired with the acquire of a reader: it then sees the odd sequence. */
	for (size_t i = 0; i < N_WORDS; i++)
		__atomic_store_n(&slot->words[i], words[i], __ATOMIC_RELEASE);
	/* A call that never got its rows gives its place up, and is no longer waited for. */
	if (__atomic_exchange_n(&slot->is_pending, work->is_awaited, __ATOMIC_RELAXED))
		__atomic_fetch_add(&works->n_done, 1, __ATOMIC_RELAXED);
	if (work->is_awaited)
		__atomic_fetch_add(&works->n_expected, 1, __ATOMIC_RELAXED);
	/* Pairs with the acquire in ts_hip_works_get(). */
	__atomic_store_n(&slot->sequence, sequence + 2, __ATOMIC_RELEASE);
}

bool ts_hip_works_get(const struct ts_hip_works *works, uint64_t op_id, struct ts_hip_work *ret)
{
	const struct ts_hip_work_slot *slot;
	uint64_t words[N_WORDS];
	struct ts_hip_work work;
	uint32_t sequence;

	if (!works->slots)
		return false;
	slot = slot_of(works, op_id);
	sequence = __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
	if (sequence & 1)
		return false;
	/* Acquire, paired with the release of a writer. */
	for (size_t i = 0; i < N_WORDS; i++)
		words[i] = __atomic_load_n(&slot->words[i], __ATOMIC_ACQUIRE);
	memcpy(&work, words, sizeof(work));
	if (__atomic_load_n(&slot->sequence, __ATOMIC_RELAXED) != sequence || work.op_id != op_id)
		return false;
	*ret = work;
	return true;
}

void ts_hip_works_done(struct ts_hip_works *works, uint64_t op_id)
{
	struct ts_hip_work work;

	if (!ts_hip_works_get(works, op_id, &work) || !work.is_awaited)
		return;
	if (__atomic_exchange_n(&slot_of(works, op_id)->is_pending, 0, __ATOMIC_RELAXED))
		__atomic_fetch_add(&works->n_done, 1, __ATOMIC_RELAXED);
}

uint64_t ts_hip_works_pending(const struct ts_hip_works *works)
{
	uint64_t n_done = __atomic_load_n(&works->n_done, __ATOMIC_RELAXED);
	uint64_t n_expected = __atomic_load_n(&works->n_expected, __ATOMIC_RELAXED);

	return n_expected > n_done ? n_expected - n_done : 0;
}
