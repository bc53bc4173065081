/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing over numbers of entries; the entries lie in a row and move only as a whole.
 */
#include "tools/export/keyed.h"

#include <assert.h>
#include <sys/random.h>

#define MIN_SLOTS   64u
#define MAX_ENTRIES (UINT32_C(1) << 31)

void ts_keyed_init(struct ts_keyed *keyed, size_t entry_bytes, size_t key_bytes)
{
	assert(key_bytes && key_bytes % 8 == 0 && entry_bytes % 8 == 0 && entry_bytes >= key_bytes);
	*keyed = (struct ts_keyed){.entry_bytes = entry_bytes, .key_bytes = key_bytes};
	/* Where there is no randomness yet the order of probing is guessable, and nothing else is lost. */
	if (getrandom(&keyed->seed, sizeof(keyed->seed), GRND_NONBLOCK) != sizeof(keyed->seed))
		keyed->seed = UINT64_C(0x9e3779b97f4a7c15);
}

void ts_keyed_deinit(struct ts_keyed *keyed)
{
	free(keyed->entries);
	free(keyed->slots);
	keyed->entries = NULL;
	keyed->slots = NULL;
	keyed->n = keyed->capacity = 0;
	keyed->n_slots = 0;
}

void ts_keyed_clear(struct ts_keyed *keyed)
{
	keyed->n = 0;
	if (keyed->n_slots)
		memset(keyed->slots, 0, keyed->n_slots * sizeof(*keyed->slots));
}

static size_t hash(const struct ts_keyed *keyed, const void *key)
{
	uint64_t value = keyed->seed, word;

	for (size_t at = 0; at < keyed->key_bytes; at += sizeof(word)) {
		memcpy(&word, (const uint8_t *)key + at, sizeof(word));
		value = (value ^ word) * UINT64_C(0xff51afd7ed558ccd);
		value ^= value >> 32;
	}
	return value;
}

static bool is_same(const struct ts_keyed *keyed, const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;

	/* memcmp() would be called for a few words. */
	for (size_t at = 0; at < keyed->key_bytes; at += sizeof(x)) {
		memcpy(&x, a + at, sizeof(x));
		memcpy(&y, b + at, sizeof(y));
		if (x != y)
			return false;
	}
	return true;
}

/* Where the entry with this key is noted, or would be. There is a free slot. */
static uint32_t *slot_of(const struct ts_keyed *keyed, const void *key)
{
	for (size_t at = hash(keyed, key);; at++) {
		uint32_t *slot = &keyed->slots[at & (keyed->n_slots - 1)];

		if (!*slot || is_same(keyed, ts_keyed_at(keyed, *slot - 1), key))
			return slot;
	}
}

static int grow_slots(struct ts_keyed *keyed)
{
	size_t n_slots = keyed->n_slots ? 2 * keyed->n_slots : MIN_SLOTS;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(keyed->slots);
	keyed->slots = slots;
	keyed->n_slots = n_slots;
	for (uint32_t i = 0; i < keyed->n; i++)
		*slot_of(keyed, ts_keyed_at(keyed, i)) = i + 1;
	return 0;
}

static int grow_entries(struct ts_keyed *keyed)
{
	uint32_t capacity = keyed->capacity ? 2 * keyed->capacity : MIN_SLOTS / 2;
	uint8_t *entries;

	if (keyed->n == MAX_ENTRIES)
		return -EOVERFLOW;
	entries = reallocarray(keyed->entries, capacity, keyed->entry_bytes);
	if (!entries)
		return -ENOMEM;
	keyed->entries = entries;
	keyed->capacity = capacity;
	return 0;
}

int ts_keyed_get(struct ts_keyed *keyed, const void *key, uint32_t *ret_i, bool *ret_is_new)
{
	uint32_t *slot;
	int r = 0;

	if (2 * (size_t)keyed->n >= keyed->n_slots)
		r = grow_slots(keyed);
	if (!r && keyed->n == keyed->capacity)
		r = grow_entries(keyed);
	if (r)
		return r;
	slot = slot_of(keyed, key);
	if (ret_is_new)
		*ret_is_new = !*slot;
	if (!*slot) {
		memset(ts_keyed_at(keyed, keyed->n), 0, keyed->entry_bytes);
		memcpy(ts_keyed_at(keyed, keyed->n), key, keyed->key_bytes);
		*slot = ++keyed->n;
	}
	*ret_i = *slot - 1;
	keyed->recent[ts_keyed_recent_of(key, keyed->key_bytes)] = *ret_i;
	return 0;
}

bool ts_keyed_find(const struct ts_keyed *keyed, const void *key, uint32_t *ret_i)
{
	const uint32_t *slot = keyed->n_slots ? slot_of(keyed, key) : NULL;

	if (!slot || !*slot)
		return false;
	*ret_i = *slot - 1;
	return true;
}
