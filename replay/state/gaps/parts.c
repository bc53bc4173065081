/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums time by key: see parts.h. blame.c and gaps.c call this file. Keys have no padding, so they
 * compare as bytes. Parts are never removed, so their indices stay valid.
 */
#include "replay/state/gaps/parts.h"

#include "proto/abi/grow.h"

TS_STATIC_ASSERT(sizeof(struct ts_gap_key) == 2 * 8 + 17 * 4 + 2 * 2, "a key has no padding");

void ts_parts_deinit(struct ts_parts *parts)
{
	free(parts->entries);
	ts_hashindex_deinit(&parts->index);
	*parts = (struct ts_parts){.max = parts->max};
}

static uint64_t hash_of(struct ts_parts *parts, const struct ts_gap_key *key)
{
	return ts_hash_seeded_bytes(ts_hashindex_seed(&parts->index), key, sizeof(*key));
}

/* Returns the index of the part with this key, or TS_PARTS_NONE. */
static uint32_t find(const struct ts_parts *parts, const struct ts_gap_key *key, uint64_t hash)
{
	TS_HASHINDEX_EACH (&parts->index, hash, at)
		if (!memcmp(&parts->entries[at.number].part.key, key, sizeof(*key)))
			return at.number;
	return TS_PARTS_NONE;
}

int ts_parts_find(struct ts_parts *parts, const struct ts_gap_key *key, uint32_t *ret_index)
{
	struct ts_gap_key coarse = {.cause = key->cause, .parent = key->parent};
	uint64_t hash = hash_of(parts, key);
	uint32_t i = find(parts, key, hash);

	if (i == TS_PARTS_NONE && parts->n >= parts->max) {
		parts->is_cut = true;
		/*
		 * The table is full: use the part with this cause and parent and no other fields of
		 * the key.
		 */
		key = &coarse;
		hash = hash_of(parts, key);
		i = find(parts, key, hash);
	}
	if (i == TS_PARTS_NONE) {
		i = (uint32_t)parts->n;
		if (TS_GROW(parts->entries, parts->n_allocated, parts->n + 1) ||
		    ts_hashindex_add(&parts->index, hash, i))
			return -ENOMEM;
		parts->entries[parts->n++] = (struct ts_parts_entry){.part.key = *key};
	}
	*ret_index = i;
	return 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The samples of one part's time. */
struct samples {
	uint64_t n, sampled_ns; /* the time that the samples stand for */
	uint64_t whole_ns, named_ns, given_ns, given_sampled_ns;
};

/*
 * Returns the index of the part with the same key but without code: the samples divide its time.
 * TS_PARTS_NONE if the entry has no samples, or if there is no such part.
 */
static uint32_t whole_of(struct ts_parts *parts, const struct ts_parts_entry *entry)
{
	struct ts_gap_key key = entry->part.key;

	if (!entry->part.samples)
		return TS_PARTS_NONE;
	key.code = 0;
	return find(parts, &key, hash_of(parts, &key));
}

/*
 * Returns the time to divide by samples: the whole time, unless it is too long for the number of
 * samples (gaps.h).
 */
static uint64_t time_of(const struct samples *samples)
{
	double period_ns = (double)samples->sampled_ns / (double)samples->n;
	double missing_ns = (double)samples->whole_ns - (double)samples->sampled_ns;

	if (missing_ns <= 0 ||
	    missing_ns * missing_ns <= 9 * (double)samples->n * period_ns * period_ns)
		return samples->whole_ns;
	return samples->sampled_ns;
}

/*
 * Returns the part's share of `named_ns`. The shares add up exactly, because each share is the
 * difference of two rounded running sums.
 */
static uint64_t share_of(struct samples *samples, const struct ts_parts_entry *entry)
{
	uint64_t before_ns = samples->given_ns;

	if (!samples->named_ns)
		samples->named_ns = time_of(samples);
	ts_parts_add_sampled(&samples->given_sampled_ns, entry->sampled_ns);
	if (samples->sampled_ns)
		samples->given_ns = (uint64_t)((unsigned __int128)samples->named_ns *
					       samples->given_sampled_ns / samples->sampled_ns);
	return samples->given_ns - before_ns;
}

int ts_parts_split(struct ts_parts *parts)
{
	struct samples *all = calloc(parts->n + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < parts->n; i++) {
		uint32_t whole = whole_of(parts, &parts->entries[i]);

		if (whole == TS_PARTS_NONE)
			continue;
		all[whole].n += parts->entries[i].part.samples;
		ts_parts_add_sampled(&all[whole].sampled_ns, parts->entries[i].sampled_ns);
		all[whole].whole_ns = parts->entries[whole].part.ns;
	}
	for (size_t i = 0; i < parts->n; i++) {
		struct ts_gap_part *part = &parts->entries[i].part;
		uint32_t whole = whole_of(parts, &parts->entries[i]);
		uint64_t ns =
			whole == TS_PARTS_NONE ? 0 : share_of(&all[whole], &parts->entries[i]);

		if (whole == TS_PARTS_NONE || whole == i)
			continue;
		part->ns = ns;
		parts->entries[whole].part.ns -= ns;
	}
	free(all);
	return 0;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* True for a part without code whose time was all moved to parts with a code. */
static bool is_empty(const struct ts_gap_part *part)
{
	return (part->key.cause == TS_GAP_RUNNING || part->key.cause == TS_GAP_HOST) && !part->ns;
}

/* Orders parts by parent, then longest first, then by index. */
static int compare(const void *a, const void *b)
{
	const struct ts_parts_entry *x = *(const struct ts_parts_entry *const *)a;
	const struct ts_parts_entry *y = *(const struct ts_parts_entry *const *)b;

	if (x->part.key.parent != y->part.key.parent)
		return x->part.key.parent < y->part.key.parent ? -1 : 1;
	if (x->part.ns != y->part.ns)
		return x->part.ns > y->part.ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Returns the first part that explains `parent`, or n. */
static size_t first_below(struct ts_parts_entry *const *sorted, size_t n, uint32_t parent)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle]->part.key.parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && sorted[low]->part.key.parent == parent ? low : n;
}

int ts_parts_take(struct ts_parts *parts, struct ts_gap_parts *ret_parts)
{
	struct ts_parts_entry **sorted = malloc((parts->n + 1) * sizeof(*sorted));
	size_t *stack = malloc((parts->n + 1) * sizeof(*stack)), depth = 0, i;
	struct ts_gap_part *at = malloc((parts->n + 1) * sizeof(*at));
	size_t n = 0, n_sorted = 0;

	if (!sorted || !stack || !at) {
		free(sorted);
		free(stack);
		free(at);
		return -ENOMEM;
	}
	for (i = 0; i < parts->n; i++)
		if (!is_empty(&parts->entries[i].part))
			sorted[n_sorted++] = &parts->entries[i];
	qsort(sorted, n_sorted, sizeof(struct ts_parts_entry *), compare);
	i = first_below(sorted, n_sorted, TS_PARTS_NONE);
	/* Visits the parts depth first. The stack holds the next part of each depth. */
	while (true) {
		const struct ts_parts_entry *entry = i < n_sorted ? sorted[i] : NULL;
		size_t below;

		if (!entry) {
			if (!depth)
				break;
			i = stack[--depth];
			continue;
		}
		at[n] = entry->part;
		at[n].depth = (uint32_t)depth;
		at[n++].key.parent = 0;
		below = first_below(sorted, n_sorted, (uint32_t)(entry - parts->entries));
		i = i + 1 < n_sorted && sorted[i + 1]->part.key.parent == entry->part.key.parent
			    ? i + 1
			    : n_sorted;
		if (below < n_sorted) {
			stack[depth++] = i;
			i = below;
		}
	}
	*ret_parts = (struct ts_gap_parts){.at = at, .n = n, .is_cut = parts->is_cut};
	free(sorted);
	free(stack);
	ts_parts_deinit(parts);
	return 0;
}
