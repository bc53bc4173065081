/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's cache of its stacks: it recognises an earlier stack without another unwind. Each
 * thread has its own cache and uses it alone. Nothing here locks, except that learning a rule
 * (stack-cfi.h) takes the loader's lock.
 */
#pragma once

#include "inject/stacks/stack-cfi.h"
#include "inject/stacks/unwind.h"

#define TS_STACK_SLOTS_MAX (3u * TS_STACK_DEPTH_MAX + 1u)

/* A word that the unwind read, and its value. */
struct ts_stack_slot {
	const uintptr_t *address;
	uintptr_t value;
};

/*
 * The start of a stack: an instruction of the capturing function and the registers there. The
 * struct lies in that function's own frame.
 */
struct ts_stack_start {
	uintptr_t pc;
	uintptr_t sp;
	uintptr_t bp;
};

#if defined(__x86_64__)
/*
 * Stores the caller's current position. The pc is the address after the instruction, because rules
 * are looked up by return addresses, and a return address lies after its call.
 */
#define TS_STACK_HERE(start)                                                          \
	__asm__ volatile("leaq 1f(%%rip), %0\n1:\tmovq %%rsp, %1\n\tmovq %%rbp, %2"   \
			 : "=&r"((start)->pc), "=&r"((start)->sp), "=&r"((start)->bp) \
			 :                                                            \
			 : "memory")
#define TS_STACK_WALKS true
#elif defined(__aarch64__)
/* x30 is clobbered, so the function saves it before: a walk reads return addresses in memory. */
#define TS_STACK_HERE(start)                                                          \
	__asm__ volatile("adr %0, 1f\n1:\tmov %1, sp\n\tmov %2, x29"                  \
			 : "=&r"((start)->pc), "=&r"((start)->sp), "=&r"((start)->bp) \
			 :                                                            \
			 : "memory", "x30")
#define TS_STACK_WALKS true
#else
#define TS_STACK_HERE(start) ((void)((start)->pc = (start)->sp = (start)->bp = 0))
#define TS_STACK_WALKS	     false
#endif

/* A stack found by a walk: callers of the capturing function, innermost first. */
struct ts_stack_walk {
	uint32_t n_frames;
	uint32_t n_slots;
	bool complete;	/* false: only the innermost frames; the next frame has no rule */
	bool truncated; /* the stack has more frames than this */
	bool learned;	/* the walk used new rules */
	/*
	 * A function signs its return address (pointer authentication). libunwind before 1.8 finds
	 * only the first n_unsigned frames.
	 */
	bool is_signed;
	uint32_t n_unsigned;
	uint64_t frames[TS_STACK_DEPTH_MAX];
	/*
	 * Addresses of the last words of the callees' frames. On x86-64 these words hold frames[].
	 */
	uintptr_t at[TS_STACK_DEPTH_MAX];
	struct ts_stack_slot slots[TS_STACK_SLOTS_MAX];
};

/* Consecutive slots, and the stack that is recognised if all of them hold their values. */
struct ts_stack_run {
	const struct ts_stack_slot *slots;
	const struct ts_stack_slot *end; /* padded with slots that always hold; never empty */
	uint32_t id;			 /* the stack's id, of TS_DEF_STACK */
	bool truncated;
};

/* Count of stacks per method. Only the cache's thread writes the counts. */
struct ts_stack_counts {
	uint64_t n_cached;  /* recognised in the cache */
	uint64_t n_walked;  /* by cached rules */
	uint64_t n_unwound; /* by libunwind */
	uint64_t n_python;  /* subset of all above: with Python functions */
	/*
	 * Recognised or walked stacks that differ from libunwind's result: a bug in the shim.
	 * Counted in check mode.
	 */
	uint64_t n_differ;
};

static inline void ts_stack_count(uint64_t *counter)
{
	/* Only the cache's thread writes the count; the flush thread reads it relaxed. */
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

struct ts_stack_cache;
struct ts_python_codes;

/*
 * Returns a new cache, or NULL: no memory. A cache is never freed: a later thread that reuses the
 * struct ts_thread also reuses its cache.
 */
struct ts_stack_cache *ts_stack_cache_new(void);
struct ts_stack_counts *ts_stack_cache_counts(struct ts_stack_cache *cache);
/* Returns the pointer to the thread's cache of code objects (stack-python.h). */
struct ts_python_codes **ts_stack_cache_python(struct ts_stack_cache *cache);
/* Returns the link for a list of all caches. */
struct ts_stack_cache **ts_stack_cache_next(struct ts_stack_cache *cache);

/*
 * Drops all entries if the generation (loader.h) differs from the generation of the last call.
 * Returns whether it dropped them.
 */
bool ts_stack_cache_renew(struct ts_stack_cache *cache, uint64_t generation);

/*
 * Returns the known stack that begins at `sp`, and counts it; or NULL, also if the generation
 * differs from that of the last ts_stack_cache_renew(). `sp` must come from the same function as
 * the `sp` of earlier walks.
 */
const struct ts_stack_run *ts_stack_cache_find(struct ts_stack_cache *cache, uint64_t generation,
					       uintptr_t sp);

/* Unwinds by cached rules. The result stays valid until the next call. */
const struct ts_stack_walk *ts_stack_cache_walk(struct ts_stack_cache *cache,
						const struct ts_stack_start *start);

/* Marks a rule as unusable: libunwind found another frame `i` than the last walk. */
void ts_stack_cache_distrust(struct ts_stack_cache *cache, const struct ts_stack_start *start,
			     uint32_t i);

/*
 * Adds the stack of the last walk, which must be complete, as `id`. The first call for an id adds
 * nothing, because a stack that occurs only once is not worth its room. If the cache is full, it
 * forgets all stacks first and keeps the rules.
 */
void ts_stack_cache_add(struct ts_stack_cache *cache, const struct ts_stack_start *start,
			uint32_t id);
