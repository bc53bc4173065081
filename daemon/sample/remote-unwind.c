/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the native stack of a sample. sampling.c calls this module. This module gets rules from
 * sample-image.c. The rule of an address is looked up once and stored until the process maps or
 * unmaps code. So a known frame costs one look-up and two reads of the copied stack.
 */
#include "daemon/sample/remote-unwind.h"

#include "daemon/util/daemon-error.h"
#include "proto/abi/tablehash.h"

#define RULES	 (64u * 1024)
#define RECENT	 256u
#define RED_ZONE 128u

/*
 * Offsets in ucontext_t (x86-64 psABI). When a signal handler has returned, the stack pointer
 * points to the ucontext_t.
 */
#define UCONTEXT_BP 120u
#define UCONTEXT_SP 160u
#define UCONTEXT_PC 168u

struct known {
	uint64_t address; /* address of the instruction; 0: free */
	struct ts_cfi_rule rule;
};

struct ts_unwinder {
	struct ts_images *images;
	uint64_t generation;
	uint32_t n_known;
	/*
	 * The rules that were used last, by the same hash. They lie close together: samples come in
	 * long intervals, so the processor's caches hold little of `known`.
	 */
	struct known recent[RECENT];
	struct known known[RULES];
};

/* The copied stack. */
struct words {
	uint64_t start;
	const uint8_t *bytes;
	size_t n_bytes;
};

int ts_unwinder_new(struct ts_images *images, struct ts_unwinder **ret_unwinder)
{
	struct ts_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return ts_error_origin(-ENOMEM);
	unwinder->images = images;
	*ret_unwinder = unwinder;
	return 0;
}

void ts_unwinder_free(struct ts_unwinder *unwinder)
{
	free(unwinder);
}

static struct ts_cfi_rule rule_at(struct ts_unwinder *unwinder, uint64_t address, bool is_return)
{
	uint64_t key = address - is_return;
	uint32_t i = (uint32_t)(ts_hash_key(key) >> 40);
	struct known *known, *recent = &unwinder->recent[i & (RECENT - 1)];

	if (ts_images_generation(unwinder->images) != unwinder->generation ||
	    unwinder->n_known > RULES / 4 * 3) {
		memset(unwinder->recent, 0, sizeof(unwinder->recent));
		memset(unwinder->known, 0, sizeof(unwinder->known));
		unwinder->n_known = 0;
		unwinder->generation = ts_images_generation(unwinder->images);
	}
	if (key && recent->address == key)
		return recent->rule;
	for (;; i++) {
		known = &unwinder->known[i & (RULES - 1)];
		if (!known->address || known->address == key)
			break;
	}
	if (!known->address) {
		/*
		 * The look-up may change the generation of the mappings. Then this rule is not
		 * stored.
		 */
		struct ts_cfi_rule rule = ts_images_rule(unwinder->images, address, is_return);

		if (ts_images_generation(unwinder->images) != unwinder->generation)
			return rule;
		*known = (struct known){key, rule};
		unwinder->n_known++;
	}
	*recent = *known;
	return known->rule;
}

static bool word_at(const struct words *words, uint64_t address, uint64_t *ret_word)
{
	if (address < words->start || words->n_bytes < 8 ||
	    address - words->start > words->n_bytes - 8)
		return false;
	memcpy(ret_word, words->bytes + (address - words->start), 8);
	return true;
}

/*
 * Moves from a frame with a rule to its caller. False: the copied stack does not hold the caller,
 * or the values are impossible.
 */
static bool step(const struct words *words, const struct ts_cfi_rule *rule,
		 struct ts_unwind_registers *registers, uint64_t *ret_at)
{
	uint64_t cfa, pc, bp_at, bp = registers->bp;
	bool is_at_bp;

	switch (rule->kind) {
	case TS_CFI_BY_SP:
		cfa = registers->sp + (uint64_t)(int64_t)rule->cfa_off;
		break;
	case TS_CFI_BY_BP:
		cfa = registers->bp + (uint64_t)(int64_t)rule->cfa_off;
		break;
	case TS_CFI_REALIGNED:
	case TS_CFI_REALIGNED_BP:
		if (!word_at(words, registers->bp + (uint64_t)(int64_t)rule->cfa_off, &cfa))
			return false;
		break;
	default:
		return false;
	}
	if (cfa <= registers->sp || !word_at(words, cfa - 8, &pc))
		return false;
	/*
	 * If the saved frame pointer would lie below the stack pointer, it was popped already.
	 * Compilers do not describe that in the rules.
	 */
	is_at_bp = rule->kind == TS_CFI_REALIGNED_BP;
	bp_at = (is_at_bp ? registers->bp : cfa) + (uint64_t)(int64_t)rule->bp_off;
	if ((rule->bp_off || is_at_bp) && bp_at >= registers->sp && !word_at(words, bp_at, &bp))
		return false;
	*registers = (struct ts_unwind_registers){pc, cfa, bp};
	*ret_at = cfa - 8;
	return pc != 0;
}

/*
 * Moves to the caller without a rule: by the frame pointer, if it leads up the stack to a return
 * address in code.
 */
static bool step_by_pointer(const struct ts_unwinder *unwinder, const struct words *words,
			    struct ts_unwind_registers *registers, uint64_t *ret_at)
{
	uint64_t pc, bp;

	if (registers->bp < registers->sp || registers->bp % 8 ||
	    !word_at(words, registers->bp, &bp) || !word_at(words, registers->bp + 8, &pc) ||
	    !ts_images_is_code(unwinder->images, pc - 1))
		return false;
	*ret_at = registers->bp + 8;
	*registers = (struct ts_unwind_registers){pc, registers->bp + 16, bp};
	return true;
}

static bool step_from_signal(const struct words *words, struct ts_unwind_registers *registers)
{
	struct ts_unwind_registers before;

	if (!word_at(words, registers->sp + UCONTEXT_PC, &before.pc) ||
	    !word_at(words, registers->sp + UCONTEXT_SP, &before.sp) ||
	    !word_at(words, registers->sp + UCONTEXT_BP, &before.bp) || before.sp <= registers->sp)
		return false;
	*registers = before;
	return true;
}

void ts_unwinder_walk(struct ts_unwinder *unwinder, const struct ts_unwind_registers *registers,
		      const void *stack, size_t n_bytes, struct ts_unwound_frames *ret_frames)
{
	const struct words words = {registers->sp, stack, n_bytes};
	struct ts_unwind_registers now = *registers;
	bool is_return = false;
	uint64_t at = now.sp - RED_ZONE - 1;

	ret_frames->n = 0;
	ret_frames->is_complete = false;
	while (ret_frames->n < TS_UNWIND_FRAMES_MAX) {
		struct ts_cfi_rule rule = rule_at(unwinder, now.pc, is_return);

		ret_frames->at[ret_frames->n] = at;
		ret_frames->frames[ret_frames->n++] = now.pc + !is_return;
		if (rule.kind == TS_CFI_ROOT) {
			ret_frames->is_complete = true;
			return;
		}
		if (step(&words, &rule, &now, &at)) {
			is_return = true;
		} else if (rule.kind != TS_CFI_UNKNOWN) {
			return;
		} else if (ts_images_is_sigreturn(unwinder->images, now.pc)) {
			if (!step_from_signal(&words, &now))
				return;
			at = now.sp - RED_ZONE - 1;
			is_return = false;
		} else if (step_by_pointer(unwinder, &words, &now, &at)) {
			is_return = true;
		} else {
			return;
		}
	}
}
