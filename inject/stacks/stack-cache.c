/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding an ordinary stack is a chain of decisions, each made from what the one before it read: the rule at a return
 * address (stack-cfi.h) says where that frame's CFA lies, from the stack pointer, from the frame pointer or from a word
 * in the frame; the word below the CFA is the next return address; the frame pointer is as it was, or a word of
 * the frame. So, from the same instruction and the same stack pointer, and as long as the rules stand, the same words
 * at the same places lead to the same frames, by induction from the innermost. A walk notes each word that it depended
 * on, in its order: every return address, the words that hold a frame pointer that a CFA was computed from (the
 * capturing function keeps its own in its frame, where it is a word like any other), and the CFAs kept by functions that
 * align their stack. A stack is known when all of them hold what they held. That is why a hit is exactly what unwinding
 * would give. They are looked at in that order and no further than the first that differs, so nothing is
 * read that unwinding would not have read: below it the stack may be another, or none.
 *
 * Rules come from the unwinding information of libraries, which are known to have come or gone by the loader's
 * generation (loader.h): everything is forgotten then. Frames for which there is none, or none that is this plain (signal
 * frames, generated code, hand-written expressions), have no rule; stacks with such a frame are unwound by libunwind
 * each time. What a new rule leads to is compared with libunwind once (stack.c).
 *
 * Known stacks are a tree by what was read: a run of slots, and, where a stack differed from one that is known,
 * a branch by the other value into a run of its own. The branches are found by one hash table, by the place of the slot
 * and the value, both compared; stack pointers are branches of the root.
 */
#include <sys/mman.h>

#include "inject/ring/unlocked.h"
#include "inject/stacks/stack-cache.h"
#include "inject/stacks/unwinder.h"
#include "proto/abi/tablehash.h"

#define N_RULES	   8192u /* powers of two */
#define N_BRANCHES 16384u
#define N_RUNS	   8192u
#define N_SLOTS	   (128u * 1024)
#define N_SEEN	   4096u
#define ROOT	   UINT32_MAX
/* Slots that are looked at without a look at the end of the run: runs are filled up to a multiple of it. */
#define STEP 4u

struct rule {
	uintptr_t pc; /* a return address; 0: free */
	struct ts_cfi_rule rule;
};
TS_STATIC_ASSERT(sizeof(struct rule) == 16, "four to a cache line");

struct branch {
	uintptr_t value;
	uint32_t
		slot; /* that holds another value on the run that is left here; ROOT: `value` is a stack pointer */
	uint32_t run; /* + 1; 0: free */
};

struct ts_stack_cache {
	uint64_t generation;
	uint32_t n_rules, n_runs, n_slots;
	struct ts_stack_counts counts;
	struct ts_stack_cache *next;
	struct ts_python_codes *python;
	struct ts_stack_walk walk;
	uint32_t seen[N_SEEN]; /* stacks that were added in vain, by their id */
	struct rule rules[N_RULES];
	struct branch branches[N_BRANCHES];
	struct ts_stack_run runs[N_RUNS];
	struct ts_stack_slot slots[N_SLOTS];
};

/* Memory of other functions' frames is read here, which is not this function's business in a sanitizer's eyes. */
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

		/* Never more than half full. */
		if (!branch->run || (branch->value == value && branch->slot == slot))
			return (struct branch *)(uintptr_t)branch;
	}
}

/* The first slot of a run that does not hold, or NULL. */
TS_READS_STACKS
static const struct ts_stack_slot *first_other(const struct ts_stack_slot *slot, uint32_t n_slots)
{
	const struct ts_stack_slot *end = slot + n_slots;

	TS_STATIC_ASSERT(STEP == 4, "as many as are looked at here");
	for (; slot < end; slot += STEP) {
		if (ts_unlikely(*slot[0].address != slot[0].value))
			return slot;
		if (ts_unlikely(*slot[1].address != slot[1].value))
			return slot + 1;
		if (ts_unlikely(*slot[2].address != slot[2].value))
			return slot + 2;
		if (ts_unlikely(*slot[3].address != slot[3].value))
			return slot + 3;
	}
	return NULL;
}

TS_READS_STACKS
const struct ts_stack_run *ts_stack_cache_find(const struct ts_stack_cache *cache, uintptr_t sp)
{
	const struct branch *branch = branch_of(cache, ROOT, sp);

	while (branch->run) {
		const struct ts_stack_run *run = &cache->runs[branch->run - 1];
		const struct ts_stack_slot *other =
			first_other(&cache->slots[run->first_slot], run->n_slots);

		if (ts_likely(!other))
			return run;
		branch = branch_of(cache, (uint32_t)(other - cache->slots), *other->address);
	}
	return NULL;
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
	const uintptr_t *bp_at; /* the word that holds bp */
	bool bp_noted;		/* that word is among the slots */
};

/*
 * From a frame to its caller. A rule that was never used before could be wrong: what it says to read is looked for first.
 * False: not by rules.
 */
TS_READS_STACKS
static bool step(struct ts_stack_walk *walk, const struct ts_cfi_rule *rule, bool is_new,
		 struct registers *registers)
{
	uintptr_t cfa;

	if (rule->kind == TS_CFI_BY_SP) {
		cfa = registers->sp + (uintptr_t)(intptr_t)rule->cfa_off;
	} else {
		if (!registers->bp_noted)
			add_slot(walk, registers->bp_at, registers->bp);
		registers->bp_noted = true;
		cfa = registers->bp + (uintptr_t)(intptr_t)rule->cfa_off;
		if (rule->kind == TS_CFI_REALIGNED) {
			const uintptr_t *at = (const uintptr_t *)cfa;

			if (cfa % 8 || (is_new && !ts_unwinder_can_read(at)))
				return false;
			cfa = *at;
			add_slot(walk, at, cfa);
		}
	}
	/* A stack grows down: callers are above. */
	if (cfa % 8 || cfa <= registers->sp ||
	    (is_new && !ts_unwinder_can_read((const void *)(cfa - 8))))
		return false;
	registers->pc = *(const uintptr_t *)(cfa - 8);
	add_slot(walk, (const uintptr_t *)(cfa - 8), registers->pc);
	if (rule->bp_off) {
		registers->bp_at = (const uintptr_t *)(cfa + (uintptr_t)(intptr_t)rule->bp_off);
		if (is_new && !ts_unwinder_can_read(registers->bp_at))
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
	walk->complete = walk->truncated = walk->learned = false;
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

/* Whether the walk says of these places what the run says of them. */
static bool same_places(const struct ts_stack_slot *a, const struct ts_stack_slot *b, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (a[i].address != b[i].address)
			return false;
	return true;
}

/* Where the walk leaves what is known: the branch to be made, and how many slots lie before it. NULL: it is known. */
static struct branch *find_place(struct ts_stack_cache *cache, uintptr_t sp, uint32_t id,
				 struct branch *ret_key, uint32_t *ret_n_before)
{
	const struct ts_stack_walk *walk = &cache->walk;
	struct branch *branch = branch_of(cache, ROOT, sp);
	uint32_t n = 0;

	*ret_key = (struct branch){sp, ROOT, 0};
	while (branch->run) {
		struct ts_stack_run *run = &cache->runs[branch->run - 1];
		const struct ts_stack_slot *slots = &cache->slots[run->first_slot];
		uint32_t i = 0;

		while (i < run->n_slots && n + i < walk->n_slots &&
		       same_places(&slots[i], &walk->slots[n + i], 1) &&
		       slots[i].value == walk->slots[n + i].value)
			i++;
		if (n + i == walk->n_slots) {
			run->id = id;
			return NULL;
		}
		/* By induction the places are the same; were they not, nothing could be added. */
		if (i == run->n_slots || !same_places(&slots[i], &walk->slots[n + i], 1))
			return NULL;
		n += i;
		*ret_key = (struct branch){walk->slots[n].value, run->first_slot + i, 0};
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
	uint32_t n_before, n, i;

	if (cache->seen[id & (N_SEEN - 1)] != id) {
		cache->seen[id & (N_SEEN - 1)] = id;
		return;
	}
	if (cache->n_runs == N_RUNS || cache->n_slots > N_SLOTS - TS_STACK_SLOTS_MAX - STEP)
		forget_stacks(cache);
	place = find_place(cache, start->sp, id, &key, &n_before);
	if (!place)
		return;
	run = &cache->runs[cache->n_runs++];
	n = walk->n_slots - n_before;
	*run = (struct ts_stack_run){cache->n_slots, (uint32_t)ts_align_up(n, STEP), id,
				     walk->truncated};
	slot = &cache->slots[run->first_slot];
	memcpy(slot, &walk->slots[n_before], n * sizeof(*slot));
	/* What fills it up holds itself. */
	for (i = n; i < run->n_slots; i++)
		slot[i] = (struct ts_stack_slot){&slot[i].value, 0};
	cache->n_slots += run->n_slots;
	key.run = cache->n_runs;
	*place = key;
}
