/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference-counted sets of clocks: arrays of (owner, clock), sorted by owner. check-kernel.c calls
 * this file.
 */
#include "replay/check/check-clocks.h"

#include <stdlib.h>

#define WARP_THREADS 32u
/* limit of a set's size, because a join takes time in proportion to it */
#define MAX_ENTRIES 4096u

struct entry {
	uint64_t whose; /* level << 32 | number */
	uint32_t clock;
};

struct ts_check_clocks {
	uint32_t n_refs;
	uint32_t n;
	struct entry entries[];
};

/*
 * The full set: every access of every thread happened before. It is never freed, so its references
 * are not counted.
 */
static struct ts_check_clocks everything;

static uint64_t whose(enum ts_check_level level, uint32_t number)
{
	return (uint64_t)level << 32 | number;
}

struct ts_check_clocks *ts_check_clocks_ref(struct ts_check_clocks *clocks)
{
	if (clocks && clocks != &everything)
		clocks->n_refs++;
	return clocks;
}

void ts_check_clocks_unref(struct ts_check_clocks *clocks)
{
	if (clocks && clocks != &everything && !--clocks->n_refs)
		free(clocks);
}

static struct ts_check_clocks *make(uint32_t n)
{
	struct ts_check_clocks *clocks =
		n > MAX_ENTRIES ? NULL : malloc(sizeof(*clocks) + n * sizeof(clocks->entries[0]));

	if (!clocks)
		return &everything;
	clocks->n_refs = 1;
	clocks->n = 0;
	return clocks;
}

static uint32_t clock_of(const struct ts_check_clocks *clocks, uint64_t of)
{
	uint32_t low = 0, high = clocks->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (clocks->entries[middle].whose < of)
			low = middle + 1;
		else
			high = middle;
	}
	return low < clocks->n && clocks->entries[low].whose == of ? clocks->entries[low].clock : 0;
}

bool ts_check_clocks_know(const struct ts_check_clocks *clocks, uint32_t thread, uint32_t clock,
			  uint32_t block_threads)
{
	if (!clocks)
		return false;
	return clocks == &everything ||
	       clock_of(clocks, whose(TS_CHECK_BLOCK, thread / block_threads)) >= clock ||
	       clock_of(clocks, whose(TS_CHECK_WARP, thread / WARP_THREADS)) >= clock ||
	       clock_of(clocks, whose(TS_CHECK_THREAD, thread)) >= clock;
}

static void replace(struct ts_check_clocks **clocks, struct ts_check_clocks *by)
{
	ts_check_clocks_unref(*clocks);
	*clocks = by;
}

void ts_check_clocks_join(struct ts_check_clocks **clocks, struct ts_check_clocks *other)
{
	struct ts_check_clocks *a = *clocks, *both;
	uint32_t i = 0, k = 0;

	if (!other || a == other || a == &everything)
		return;
	if (!a || other == &everything) {
		replace(clocks, ts_check_clocks_ref(other));
		return;
	}
	both = make(a->n + other->n);
	while (both != &everything && (i < a->n || k < other->n)) {
		struct entry *to = &both->entries[both->n++];

		if (k == other->n || (i < a->n && a->entries[i].whose < other->entries[k].whose)) {
			*to = a->entries[i++];
		} else if (i == a->n || other->entries[k].whose < a->entries[i].whose) {
			*to = other->entries[k++];
		} else {
			*to = a->entries[i].clock > other->entries[k].clock ? a->entries[i]
									    : other->entries[k];
			i++;
			k++;
		}
	}
	replace(clocks, both);
}

static bool is_part(uint64_t of, enum ts_check_level level, uint32_t number, uint32_t block_threads)
{
	uint32_t part = (uint32_t)of;

	switch ((enum ts_check_level)(of >> 32)) {
	case TS_CHECK_THREAD:
		return level == TS_CHECK_BLOCK	? part / block_threads == number
		       : level == TS_CHECK_WARP ? part / WARP_THREADS == number
						: part == number;
	case TS_CHECK_WARP:
		return level == TS_CHECK_BLOCK ? part / (block_threads / WARP_THREADS) == number
					       : level == TS_CHECK_WARP && part == number;
	default:
		return level == TS_CHECK_BLOCK && part == number;
	}
}

void ts_check_clocks_learn(struct ts_check_clocks **clocks, enum ts_check_level level,
			   uint32_t number, uint32_t clock, uint32_t block_threads)
{
	const struct entry one = {whose(level, number), clock};
	struct ts_check_clocks *a = *clocks, *more;
	bool placed = false;

	if (a == &everything)
		return;
	more = make((a ? a->n : 0) + 1);
	for (uint32_t i = 0; more != &everything && a && i < a->n; i++) {
		const struct entry *entry = &a->entries[i];

		if (entry->clock <= clock && is_part(entry->whose, level, number, block_threads))
			continue;
		/* The set already has an entry of the same owner with a later clock. */
		placed |= entry->whose == one.whose;
		if (!placed && entry->whose > one.whose) {
			more->entries[more->n++] = one;
			placed = true;
		}
		more->entries[more->n++] = *entry;
	}
	if (more != &everything && !placed)
		more->entries[more->n++] = one;
	replace(clocks, more);
}
