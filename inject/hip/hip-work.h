/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of HIP work between the call that submits it and its device rows. HIP's activity records
 * have an operation id, times and a name; grid, stream and kind of copy are known at the call
 * alone. hip-calls.c stores them at a call's entry; hip-rows.c reads them when the device rows
 * come.
 *
 * One table by op_id, without a lock. A later call takes the place of the call TS_HIP_WORKS before
 * it. Thread-safe; a reader never gets half an entry.
 *
 * Each slot is a sequence lock of one cache line. A bit of its word says that the slot is being
 * filled. Two writers meet in one slot only if a call is TS_HIP_WORKS calls late; the second writer
 * then gives up, and its rows lack these facts.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_HIP_WORKS 65536u

struct ts_hip_work {
	uint64_t op_id;
	union {
		struct { /* launches */
			uint32_t grid[3], block[3];
			uint32_t dynamic_shared_bytes;
			uint32_t code; /* number of the kernel's code (hip-code.h); 0: unknown */
		};
		struct {		/* copies and sets */
			uint64_t bytes; /* as the call has them; 0: not known */
			uint32_t value; /* sets */
		};
		struct {		   /* launches of graphs */
			uint64_t graph;	   /* the kernels in it (hip-graphs.h) */
			uint32_t graph_id; /* in the trace */
		};
	};
	uint32_t name;	 /* launches, if the runtime's records have no names; string id, else 0 */
	uint32_t device; /* HIP's ordinal */
	uint32_t stream; /* id in the trace */
	uint8_t kind;	 /* enum ts_cupti_class of the call: selects the part of the union */
	uint8_t copy_kind;
	uint8_t async;
	uint8_t is_awaited; /* 1: a device row will certainly come */
};

#define TS_HIP_WORK_WORDS (sizeof(struct ts_hip_work) / 8)

/* Bits of a slot's state; the bits above count the writers. */
#define TS_HIP_WORK_BUSY    UINT64_C(1) /* a writer fills the slot */
#define TS_HIP_WORK_PENDING UINT64_C(2) /* awaited, and without a device row */
#define TS_HIP_WORK_STEP    UINT64_C(4)

struct ts_hip_work_slot {
	uint64_t state;
	uint64_t words[TS_HIP_WORK_WORDS];
};

TS_STATIC_ASSERT(sizeof(struct ts_hip_work) % 8 == 0, "stored word by word");
TS_STATIC_ASSERT(sizeof(struct ts_hip_work_slot) == TS_CACHE_LINE, "a call writes one line");
TS_STATIC_ASSERT(offsetof(struct ts_hip_work, op_id) == 0, "the first word of a slot");

struct ts_hip_works {
	struct ts_hip_work_slot *slots; /* NULL: no memory, nothing is kept */
};

/* Maps the table. Returns 0 or -ENOMEM. Lives as long as the session. */
int ts_hip_works_init(struct ts_hip_works *works);

static inline struct ts_hip_work_slot *ts_hip_work_slot(const struct ts_hip_works *works,
							uint64_t op_id)
{
	return &works->slots[op_id % TS_HIP_WORKS];
}

/* Stores the facts of a call that begins: a struct ts_hip_work as words. */
static inline __attribute__((always_inline)) void ts_hip_works_put_words(struct ts_hip_works *works,
									 const uint64_t *words,
									 bool is_awaited)
{
	struct ts_hip_work_slot *slot;
	uint64_t state;

	if (ts_unlikely(!works->slots))
		return;
	slot = ts_hip_work_slot(works, words[0]);
	state = __atomic_load_n(&slot->state, __ATOMIC_RELAXED);
	if (ts_unlikely(state & TS_HIP_WORK_BUSY) ||
	    ts_unlikely(!__atomic_compare_exchange_n(&slot->state, &state, state | TS_HIP_WORK_BUSY,
						     false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
		return;
		/* Release, paired with the acquire of a reader: it then sees the busy state. */
#pragma GCC unroll 8
	for (size_t i = 0; i < TS_HIP_WORK_WORDS; i++)
		__atomic_store_n(&slot->words[i], words[i], __ATOMIC_RELEASE);
	/* The next call's line; the table is larger than the caches near the processor. */
	__builtin_prefetch(ts_hip_work_slot(works, words[0] + 1), 1);
	/* A call that never got its rows gives its place up, and is no longer waited for. */
	state = (state & ~(TS_HIP_WORK_STEP - 1)) + TS_HIP_WORK_STEP;
	/* Pairs with the acquire in ts_hip_works_get(). */
	__atomic_store_n(&slot->state, state | (is_awaited ? TS_HIP_WORK_PENDING : 0),
			 __ATOMIC_RELEASE);
}

static inline void ts_hip_works_put(struct ts_hip_works *works, const struct ts_hip_work *work)
{
	uint64_t words[TS_HIP_WORK_WORDS];

	memcpy(words, work, sizeof(words));
	ts_hip_works_put_words(works, words, work->is_awaited);
}

/* Copies the facts of a call. Returns false if they are not known, or no more. */
static inline bool ts_hip_works_get(const struct ts_hip_works *works, uint64_t op_id,
				    struct ts_hip_work *ret)
{
	const struct ts_hip_work_slot *slot;
	uint64_t words[TS_HIP_WORK_WORDS], before, after;

	if (ts_unlikely(!works->slots))
		return false;
	slot = ts_hip_work_slot(works, op_id);
	before = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
	if (before & TS_HIP_WORK_BUSY)
		return false;
		/* Acquire, paired with the release of a writer. */
#pragma GCC unroll 8
	for (size_t i = 0; i < TS_HIP_WORK_WORDS; i++)
		words[i] = __atomic_load_n(&slot->words[i], __ATOMIC_ACQUIRE);
	after = __atomic_load_n(&slot->state, __ATOMIC_RELAXED);
	/* Another row may have come meanwhile; the facts are the same. */
	if ((before ^ after) & ~TS_HIP_WORK_PENDING || words[0] != op_id)
		return false;
	memcpy(ret, words, sizeof(*ret));
	return true;
}

/*
 * Marks an awaited call as done: its first device row came, or the call failed. Further calls for
 * the same id change nothing.
 */
static inline void ts_hip_works_done(struct ts_hip_works *works, uint64_t op_id)
{
	struct ts_hip_work_slot *slot;
	uint64_t state;

	if (ts_unlikely(!works->slots))
		return;
	slot = ts_hip_work_slot(works, op_id);
	state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
	/* If a writer comes in between, the state differs, and the later call stays pending. */
	if (state & TS_HIP_WORK_PENDING && !(state & TS_HIP_WORK_BUSY) &&
	    __atomic_load_n(&slot->words[0], __ATOMIC_ACQUIRE) == op_id)
		(void)__atomic_compare_exchange_n(&slot->state, &state,
						  state & ~TS_HIP_WORK_PENDING, false,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/*
 * Returns the number of awaited calls without a device row, among the newest n_calls with ids up to
 * newest_op_id. Scans the table, so it is for the end of a process. With `gives_up`, marks them as
 * done.
 */
uint64_t ts_hip_works_pending(struct ts_hip_works *works, uint64_t newest_op_id, uint64_t n_calls,
			      bool gives_up);
