/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call has a slot by its operation's number; perfetto.c calls this. A long number is used in
 * two cases: two calls need the same slot, or a kernel comes before its call. If a slot can no
 * longer store that a kernel got a long number before its call, the slot gives out no more short
 * numbers.
 */
#include "tools/export/perfetto/flows.h"

#define N_SLOTS 65536u
/* Short numbers are 1 to this, at most two bytes; long numbers follow. */
#define MAX_SHORT 16383u
#define WORD_BITS 64u
#define N_WORDS	  ((MAX_SHORT + 1) / WORD_BITS)
#define N_SUMMARY (N_WORDS / WORD_BITS)

enum state {
	FREE,
	SHORT, /* the call has a short number, and its kernel has not come yet */
	LONG,  /* the call has a long number */
	EARLY, /* a kernel came before its call, with a long number */
};

struct slot {
	uint64_t id, start_ns;
	uint16_t number;
	uint8_t state;
	bool is_spoilt;
};

struct ts_flows {
	struct slot slots[N_SLOTS];
	/* Bits of free numbers, and of words with free numbers. */
	uint64_t free[N_WORDS], summary[N_SUMMARY];
};

int ts_flows_new(struct ts_flows **ret_flows)
{
	struct ts_flows *flows = calloc(1, sizeof(*flows));

	if (!flows)
		return -ENOMEM;
	memset(flows->free, 0xff, sizeof(flows->free));
	memset(flows->summary, 0xff, sizeof(flows->summary));
	/* Readers read 0 as no flow. */
	flows->free[0] &= ~UINT64_C(1);
	*ret_flows = flows;
	return 0;
}

void ts_flows_free(struct ts_flows *flows)
{
	free(flows);
}

/* Returns the smallest free number; 0: none. */
static uint16_t take(struct ts_flows *flows)
{
	for (unsigned i = 0; i < N_SUMMARY; i++) {
		unsigned word, bit;

		if (!flows->summary[i])
			continue;
		word = i * WORD_BITS + (unsigned)__builtin_ctzll(flows->summary[i]);
		bit = (unsigned)__builtin_ctzll(flows->free[word]);
		flows->free[word] &= flows->free[word] - 1;
		if (!flows->free[word])
			flows->summary[i] &= flows->summary[i] - 1;
		return (uint16_t)(word * WORD_BITS + bit);
	}
	return 0;
}

static void give_back(struct ts_flows *flows, uint16_t number)
{
	unsigned word = number / WORD_BITS;

	flows->free[word] |= UINT64_C(1) << number % WORD_BITS;
	flows->summary[word / WORD_BITS] |= UINT64_C(1) << word % WORD_BITS;
}

uint64_t ts_flows_other(uint64_t id)
{
	return id + MAX_SHORT;
}

uint64_t ts_flows_call(struct ts_flows *flows, uint64_t id, bool is_launch, uint64_t start_ns)
{
	struct slot *slot = &flows->slots[id % N_SLOTS];
	uint16_t number;

	if (slot->state == EARLY && slot->id == id) {
		slot->state = FREE;
		return ts_flows_other(id);
	}
	if (slot->is_spoilt || slot->state == SHORT || slot->state == EARLY)
		return ts_flows_other(id);
	number = is_launch ? take(flows) : 0;
	slot->id = id;
	slot->start_ns = start_ns;
	slot->number = number;
	slot->state = number ? SHORT : LONG;
	return number ? number : ts_flows_other(id);
}

uint64_t ts_flows_kernel(struct ts_flows *flows, uint64_t id, uint64_t start_ns, bool *ret_ends)
{
	struct slot *slot = &flows->slots[id % N_SLOTS];

	*ret_ends = false;
	if (slot->state == SHORT && slot->id == id) {
		/*
		 * Readers sort by time. A kernel that begins together with its call may sort before
		 * the call, so its flow does not end.
		 */
		*ret_ends = start_ns > slot->start_ns;
		slot->state = LONG;
		if (*ret_ends)
			give_back(flows, slot->number);
		return slot->number;
	}
	if (slot->id == id && slot->state != FREE)
		return ts_flows_other(id);
	if (slot->state == FREE || slot->state == LONG) {
		slot->id = id;
		slot->state = EARLY;
	} else {
		slot->is_spoilt = true;
	}
	return ts_flows_other(id);
}
