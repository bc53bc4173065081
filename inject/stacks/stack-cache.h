/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's memory of its stacks: what was unwound before is recognised without unwinding it again. One for each
 * thread, used by that thread alone; nothing here locks, and only the learning of a rule (stack-cfi.h) takes the loader's lock.
 */
#pragma once

#include "inject/stacks/stack-cfi.h"
#include "inject/stacks/unwind.h"

#define TS_STACK_SLOTS_MAX (3u * TS_STACK_DEPTH_MAX + 1u)

/* A word that unwinding read, and what it was. */
struct ts_stack_slot {
	const uintptr_t *address;
	uintptr_t value;
};

/* Where a stack begins: an instruction of the capturing function, and the registers there. In that function's own frame. */
struct ts_stack_start {
	uintptr_t pc;
	uintptr_t sp;
	uintptr_t bp;
};

#if defined(__x86_64__)
/*
 * Where the caller of this is now. The address after the instruction, for rules are looked up by return addresses, which
 * lie after the instruction that counts.
 */
#define TS_STACK_HERE(start)                                                          \
	__asm__ volatile("leaq 1f(%%rip), %0\n1:\tmovq %%rsp, %1\n\tmovq %%rbp, %2"   \
			 : "=&r"((start)->pc), "=&r"((start)->sp), "=&r"((start)->bp) \
			 :                                                            \
			 : "memory")
#define TS_STACK_WALKS true
#else
#define TS_STACK_HERE(start) ((void)((start)->pc = (start)->sp = (start)->bp = 0))
#define TS_STACK_WALKS	     false
#endif

/* A stack as the walk found it: callers of the capturing function, the innermost first. */
struct ts_stack_walk {
	uint32_t n_frames;
	uint32_t n_slots;
	bool complete;	/* false: the innermost frames alone; the next one has no rule */
	bool truncated; /* there were more than are told */
	bool learned;	/* rules were used for the first time */
	uint64_t frames[TS_STACK_DEPTH_MAX];
	uintptr_t at[TS_STACK_DEPTH_MAX]; /* the words that hold the frames' addresses */
	struct ts_stack_slot slots[TS_STACK_SLOTS_MAX];
};

/* Slots one after the other, and the stack that it is when all of them hold. */
struct ts_stack_run {
	uint32_t first_slot;
	uint32_t n_slots; /* filled up with some that always hold */
	uint32_t id;	  /* the stack's; TS_DEF_STACK */
	uint32_t truncated;
};

/* How often each way was gone; written by the thread alone. */
struct ts_stack_counts {
	uint64_t n_cached;  /* recognised */
	uint64_t n_walked;  /* by rules remembered for each return address */
	uint64_t n_unwound; /* by libunwind */
	uint64_t n_python;  /* of all those, with the Python functions in them */
	/* Recognised or walked, and not what libunwind says: a bug of ours. Counted when checking. */
	uint64_t n_differ;
};

struct ts_stack_cache;
struct ts_python_codes;

/* NULL: no memory. There is no end to one: it is handed on with its shard, from thread to thread. */
struct ts_stack_cache *ts_stack_cache_new(void);
struct ts_stack_counts *ts_stack_cache_counts(struct ts_stack_cache *cache);
/* The thread's own memory of code objects (stack-python.h). */
struct ts_python_codes **ts_stack_cache_python(struct ts_stack_cache *cache);
/* For a list of all. */
struct ts_stack_cache **ts_stack_cache_next(struct ts_stack_cache *cache);

/* Forgets everything where the generation (loader.h) is not that of the last call. Returns whether it did. */
bool ts_stack_cache_renew(struct ts_stack_cache *cache, uint64_t generation);

/* The stack that begins at `sp`, if it is known. `sp` must be what it was in earlier walks' starts in the same function. */
const struct ts_stack_run *ts_stack_cache_find(const struct ts_stack_cache *cache, uintptr_t sp);

/* Unwinds by remembered rules. What it found stays valid until the next call. */
const struct ts_stack_walk *ts_stack_cache_walk(struct ts_stack_cache *cache,
						const struct ts_stack_start *start);

/* The last walk's frame `i` is another after all: what led there has no rule from now on. */
void ts_stack_cache_distrust(struct ts_stack_cache *cache, const struct ts_stack_start *start,
			     uint32_t i);

/*
 * Remembers the last walk's stack, a complete one, as `id`, at the second time that it is told of it: a stack that comes but once is not
 * worth its room. Where there is no more room, everything but the rules is forgotten first.
 */
void ts_stack_cache_add(struct ts_stack_cache *cache, const struct ts_stack_start *start,
			uint32_t id);
