/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of stacks per thread. stack.c calls this file; this file calls stack-cfi.c for rules.
 *
 * The unwind of an ordinary stack is a chain of steps, and each step depends on words that earlier
 * steps read. The rule at a return address (stack-cfi.h) computes the frame's CFA from the stack
 * pointer, the frame pointer or a word in the frame. The word below the CFA is the next return
 * address. The frame pointer is unchanged or is a word of the frame. So the same instruction, stack
 * pointer, rules and words at the same places lead to the same frames, by induction from the
 * innermost frame. aarch64 keeps the return address at another distance from the CFA, and possibly
 * with a signature: slots hold the signed word, frames the address.
 *
 * A walk notes each word that it depended on, in its order:
 * - every return address;
 * - the word of each frame pointer that a CFA was computed from;
 * - the CFA that a function with an aligned stack keeps.
 *
 * The capturing function saves its own frame pointer in its frame, as a word like any other.
 *
 * A stack is recognised if all these words hold their values, so a hit equals the result of an
 * unwind. The check reads the words in the walk's order and stops at the first difference. So it
 * reads nothing that the unwind would not read: behind a difference the stack may be another one,
 * or unmapped.
 *
 * Rules come from the unwind information of libraries. If the loader's generation (loader.h)
 * changes, a library was loaded or unloaded, and the cache drops all its entries. Some frames have
 * no rule: there is no unwind information, or it does not have this simple form (signal frames,
 * generated code, hand-written expressions). libunwind unwinds each stack with such a frame, each
 * time. The result of a new rule is compared with libunwind once (stack.c).
 *
 * Known stacks form a tree over the values that the walks read. A run is a list of slots. At the
 * first slot where a new stack differs from a known one, a branch leads by the new value to a run
 * of its own. One hash table finds the branches by slot and value, and compares both. Stack
 * pointers are branches of the root.
 */
#include <sys/mman.h>

#include "inject/ring/unlocked.h"
#include "inject/stacks/stack-cache.h"
#include "inject/stacks/unwinder.h"
#include "proto/abi/tablehash.h"

#define N_RULES	   8192u /* sizes are powers of two */
#define N_BRANCHES 16384u
#define N_RUNS	   8192u
#define N_SLOTS	   (128u * 1024)
#define N_SEEN	   4096u
#define ROOT	   UINT32_MAX
/*
 * The check tests this many slots before it tests for the end of the run. Runs are padded to a
 * multiple of STEP.
 */
#define STEP 4u

struct rule {
	uintptr_t pc; /* a return address; 0: free */
	struct ts_cfi_rule rule;
};
TS_STATIC_ASSERT(sizeof(struct rule) == 16, "four to a cache line");

struct branch {
	uintptr_t value;
	/*
	 * The slot whose value differs, on the run that this branch leaves; ROOT: `value`
	 * is a stack pointer.
	 */
	uint32_t slot;
	uint32_t run; /* index + 1; 0: free */
};

struct ts_stack_cache {
	uint64_t generation;
	/*
	 * The stack pointer of the last search and its run, because launches in a loop have the
	 * same one. NULL: none.
	 */
	uintptr_t last_sp;
	const struct ts_stack_run *last_run;
	uint32_t n_rules, n_runs, n_slots;
	struct ts_stack_counts counts;
	struct ts_stack_cache *next;
	struct ts_python_codes *python;
	struct ts_stack_walk walk;
	uint32_t seen[N_SEEN]; /* ids of stacks that were offered once */
	struct rule rules[N_RULES];
	struct branch branches[N_BRANCHES];
	struct ts_stack_run runs[N_RUNS];
	struct ts_stack_slot slots[N_SLOTS];
};

/* These functions read the frames of other functions, which a sanitizer would report. */
#define TS_READS_STACKS __attribute__((no_sanitize("address", "thread")))

struct ts_stack_cache *ts_stack_cache_new(void)
{
	return ts_unlocked_map(sizeof(struct ts_stack_cache));
}

struct ts_stack_counts *ts_stack_cache_counts(struct ts_stack_cache *cache)
{
	return &cache->counts;
}

struct ts_python_codes **ts_stack_cache_python(struct ts_stack_cache *cache)
{
	return &cache->python;
}

struct ts_stack_cache **ts_stack_cache_next(struct ts_stack_cache *cache)
{
	return &cache->next;
}

static void forget_stacks(struct ts_stack_cache *cache)
{
	if (cache->n_runs)
		memset(cache->branches, 0, sizeof(cache->branches));
	cache->n_runs = cache->n_slots = 0;
	cache->last_run = NULL;
}

static void forget_rules(struct ts_stack_cache *cache)
{
	if (cache->n_rules)
		memset(cache->rules, 0, sizeof(cache->rules));
	cache->n_rules = 0;
}

bool ts_stack_cache_renew(struct ts_stack_cache *cache, uint64_t generation)
{
	if (ts_likely(cache->generation == generation))
		return false;
	cache->generation = generation;
	forget_stacks(cache);
	forget_rules(cache);
	return true;
}

static struct branch *branch_of(const struct ts_stack_cache *cache, uint32_t slot, uintptr_t value)
{
	uint64_t hash = ts_hash_add(value, (uint64_t)slot << 40);
	uint32_t i = (uint32_t)(hash >> 40);

	for (;; i++) {
		const struct branch *branch = &cache->branches[i & (N_BRANCHES - 1)];

		/* The loop ends, because the table is never more than half full. */
		if (!branch->run || (branch->value == value && branch->slot == slot))
			return (struct branch *)(uintptr_t)branch;
	}
}

/* Returns the run behind a branch; NULL: there is no such branch. */
static const struct ts_stack_run *run_of(const struct ts_stack_cache *cache, uint32_t slot,
					 uintptr_t value)
{
	const struct branch *branch = branch_of(cache, slot, value);

	return branch->run ? &cache->runs[branch->run - 1] : NULL;
}

/* Returns the first slot of a run whose word no longer has the recorded value, or NULL. */
TS_READS_STACKS
static inline const struct ts_stack_slot *first_other(const struct ts_stack_run *run)
{
	const struct ts_stack_slot *slot = run->slots;

	TS_STATIC_ASSERT(STEP == 4, "as many as are looked at here");
	do {
		if (ts_unlikely(*slot[0].address != slot[0].value))
			return slot;
		if (ts_unlikely(*slot[1].address != slot[1].value))
			return slot + 1;
		if (ts_unlikely(*slot[2].address != slot[2].value))
			return slot + 2;
		if (ts_unlikely(*slot[3].address != slot[3].value))
			return slot + 3;
		slot += STEP;
	} while (slot < run->end);
	return NULL;
}

TS_READS_STACKS
const struct ts_stack_run *ts_stack_cache_find(struct ts_stack_cache *cache, uint64_t generation,
					       uintptr_t sp)
{
	const struct ts_stack_run *run = cache->last_run;
	const struct ts_stack_slot *other;

	if (ts_unlikely(cache->generation != generation))
		return NULL;
	if (ts_unlikely(!run || cache->last_sp != sp)) {
		run = run_of(cache, ROOT, sp);
		if (!run)
			return NULL;
		cache->last_sp = sp;
		cache->last_run = run;
	}
	while (ts_unlikely((other = first_other(run)))) {
		run = run_of(cache, (uint32_t)(other - cache->slots), *other->address);
		if (!run)
			return NULL;
	}
	ts_stack_count(&cache->counts.n_cached);
	return run;
}

static struct rule *rule_of(struct ts_stack_cache *cache, uintptr_t pc)
{
	uint32_t i = (uint32_t)(ts_hash_key(pc) >> 40);

	for (;; i++) {
		struct rule *rule = &cache->rules[i & (N_RULES - 1)];

		if (ts_likely(rule->pc == pc) || !rule->pc)
			return rule;
	}
}

static struct rule *learn(struct ts_stack_cache *cache, uintptr_t pc)
{
	struct ts_cfi_rule rule = ts_cfi_find(pc);
	struct rule *place;

	if (cache->n_rules == N_RULES / 4 * 3)
		forget_rules(cache);
	cache->n_rules++;
	place = rule_of(cache, pc);
	*place = (struct rule){pc, rule};
	return place;
}

static inline void add_slot(struct ts_stack_walk *walk, const uintptr_t *address, uintptr_t value)
{
	walk->slots[walk->n_slots++] = (struct ts_stack_slot){address, value};
}

struct registers {
	uintptr_t pc, sp, bp;
	const uintptr_t *bp_at; /* address of the word that holds bp */
	bool bp_noted;		/* the word that holds the saved frame pointer is among the slots */
};

static inline const uintptr_t *return_address_at(struct ts_stack_walk *walk,
						 const struct ts_cfi_rule *rule, uintptr_t cfa)
{
#if defined(__x86_64__)
	(void)walk;
	(void)rule;
	return (const uintptr_t *)(cfa - 8);
#else
	if (ts_unlikely(rule->ra_words & TS_CFI_SIGNED) && !walk->is_signed) {
		walk->is_signed = true;
		walk->n_unsigned = walk->n_frames;
	}
	return (const uintptr_t *)(cfa + (uintptr_t)(intptr_t)ts_cfi_ra_off(rule));
#endif
}

/*
 * Steps from a frame to its caller. A new rule may be wrong, so check that its words are readable
 * first. Returns false if the rule does not work for this frame.
 */
TS_READS_STACKS
static bool step(struct ts_stack_walk *walk, const struct ts_cfi_rule *rule, bool is_new,
		 struct registers *registers)
{
	const uintptr_t *ra_at;
	uintptr_t cfa;

	if (rule->kind == TS_CFI_BY_SP) {
		cfa = registers->sp + (uintptr_t)(intptr_t)rule->cfa_off;
	} else {
		if (!registers->bp_noted)
			add_slot(walk, registers->bp_at, registers->bp);
		registers->bp_noted = true;
		cfa = registers->bp + (uintptr_t)(intptr_t)rule->cfa_off;
		if (rule->kind != TS_CFI_BY_BP) {
			const uintptr_t *at = (const uintptr_t *)cfa;

			if (cfa % 8 || (is_new && !ts_unwinder_can_read(at)))
				return false;
			cfa = *at;
			add_slot(walk, at, cfa);
		}
	}
	/* The stack grows down, so callers lie above. */
	if (cfa % 8 || cfa <= registers->sp)
		return false;
	ra_at = return_address_at(walk, rule, cfa);
	if ((uintptr_t)ra_at < registers->sp || (is_new && !ts_unwinder_can_read(ra_at)))
		return false;
	registers->pc = ts_unwind_strip(*ra_at);
	add_slot(walk, ra_at, *ra_at);
	if (rule->bp_off || rule->kind == TS_CFI_REALIGNED_BP) {
		const uintptr_t base = rule->kind == TS_CFI_REALIGNED_BP ? registers->bp : cfa;

		registers->bp_at = (const uintptr_t *)(base + (uintptr_t)(intptr_t)rule->bp_off);
		if ((uintptr_t)registers->bp_at % 8 ||
		    (is_new && !ts_unwinder_can_read(registers->bp_at)))
			return false;
		registers->bp = *registers->bp_at;
		registers->bp_noted = false;
	}
	registers->sp = cfa;
	return true;
}

const struct ts_stack_walk *ts_stack_cache_walk(struct ts_stack_cache *cache,
						const struct ts_stack_start *start)
{
	struct registers registers = {start->pc, start->sp, start->bp, &start->bp, false};
	struct ts_stack_walk *walk = &cache->walk;

	walk->n_frames = walk->n_slots = 0;
	walk->complete = walk->truncated = walk->learned = walk->is_signed = false;
	for (;;) {
		struct rule *rule = rule_of(cache, registers.pc);
		bool is_new = !rule->pc;

		if (ts_unlikely(is_new)) {
			rule = learn(cache, registers.pc);
			walk->learned = true;
		}
		if (rule->rule.kind == TS_CFI_ROOT)
			break;
		if (ts_unlikely(rule->rule.kind == TS_CFI_UNKNOWN))
			return walk;
		if (ts_unlikely(!step(walk, &rule->rule, is_new, &registers))) {
			rule->rule.kind = TS_CFI_UNKNOWN;
			return walk;
		}
		if (!registers.pc)
			break;
		walk->at[walk->n_frames] = registers.sp - sizeof(uintptr_t);
		walk->frames[walk->n_frames++] = registers.pc;
		if (walk->n_frames == TS_STACK_DEPTH_MAX) {
			walk->truncated = true;
			break;
		}
	}
	walk->complete = true;
	return walk;
}

void ts_stack_cache_distrust(struct ts_stack_cache *cache, const struct ts_stack_start *start,
			     uint32_t i)
{
	struct rule *rule = rule_of(cache, i ? cache->walk.frames[i - 1] : start->pc);

	if (rule->pc)
		rule->rule.kind = TS_CFI_UNKNOWN;
	forget_stacks(cache);
}

/* Returns whether both lists of slots have the same addresses. */
static bool same_places(const struct ts_stack_slot *a, const struct ts_stack_slot *b, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (a[i].address != b[i].address)
			return false;
	return true;
}

/*
 * Finds the place where the walk leaves the known stacks: the branch to make, and how many slots
 * lie before it. NULL: the stack is known.
 */
static struct branch *find_place(struct ts_stack_cache *cache, uintptr_t sp, uint32_t id,
				 struct branch *ret_key, uint32_t *ret_n_before)
{
	const struct ts_stack_walk *walk = &cache->walk;
	struct branch *branch = branch_of(cache, ROOT, sp);
	uint32_t n = 0;

	*ret_key = (struct branch){sp, ROOT, 0};
	while (branch->run) {
		struct ts_stack_run *run = &cache->runs[branch->run - 1];
		const struct ts_stack_slot *slots = run->slots;
		const uint32_t n_slots = (uint32_t)(run->end - slots);
		uint32_t i = 0;

		while (i < n_slots && n + i < walk->n_slots &&
		       same_places(&slots[i], &walk->slots[n + i], 1) &&
		       slots[i].value == walk->slots[n + i].value)
			i++;
		if (n + i == walk->n_slots) {
			run->id = id;
			return NULL;
		}
		/*
		 * All values so far are equal, so by induction the places are the same. If they
		 * were not, the stack could not be added.
		 */
		if (i == n_slots || !same_places(&slots[i], &walk->slots[n + i], 1))
			return NULL;
		n += i;
		*ret_key = (struct branch){walk->slots[n].value,
					   (uint32_t)(slots - cache->slots) + i, 0};
		branch = branch_of(cache, ret_key->slot, ret_key->value);
	}
	*ret_n_before = n;
	return branch;
}

void ts_stack_cache_add(struct ts_stack_cache *cache, const struct ts_stack_start *start,
			uint32_t id)
{
	const struct ts_stack_walk *walk = &cache->walk;
	struct ts_stack_run *run;
	struct ts_stack_slot *slot;
	struct branch *place, key;
	uint32_t n_before, n, n_padded, i;

	if (cache->seen[id & (N_SEEN - 1)] != id) {
		cache->seen[id & (N_SEEN - 1)] = id;
		return;
	}
	if (cache->n_runs == N_RUNS || cache->n_slots > N_SLOTS - TS_STACK_SLOTS_MAX - STEP)
		forget_stacks(cache);
	place = find_place(cache, start->sp, id, &key, &n_before);
	/* A walk without a slot has nothing to recognise it by. */
	if (!place || !walk->n_slots)
		return;
	run = &cache->runs[cache->n_runs++];
	n = walk->n_slots - n_before;
	slot = &cache->slots[cache->n_slots];
	n_padded = (uint32_t)ts_align_up(n, STEP);
	*run = (struct ts_stack_run){slot, slot + n_padded, id, walk->truncated};
	memcpy(slot, &walk->slots[n_before], n * sizeof(*slot));
	/* Each padding slot points to its own value, so the check never fails at it. */
	for (i = n; i < n_padded; i++)
		slot[i] = (struct ts_stack_slot){&slot[i].value, 0};
	cache->n_slots += n_padded;
	key.run = cache->n_runs;
	*place = key;
}
