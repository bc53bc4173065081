/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing over numbers of entries; the entries lie in a row and move only as a whole.
 */
#include "tools/export/hashtable.h"

#include <assert.h>
#include <sys/random.h>

#include "proto/abi/tablehash.h"

#define MIN_SLOTS   64u
#define MAX_ENTRIES (UINT32_C(1) << 31)

void ts_hashtable_init(struct ts_hashtable *table, size_t entry_bytes, size_t key_bytes)
{
	assert(key_bytes && key_bytes % 8 == 0 && entry_bytes % 8 == 0 && entry_bytes >= key_bytes);
	*table = (struct ts_hashtable){.entry_bytes = entry_bytes, .key_bytes = key_bytes};
	/* Where there is no randomness yet the order of probing is guessable, and nothing else is lost. */
	if (getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) != sizeof(table->seed))
		table->seed = TS_HASH_GOLDEN;
}

void ts_hashtable_deinit(struct ts_hashtable *table)
{
	free(table->entries);
	free(table->slots);
	table->entries = NULL;
	table->slots = NULL;
	table->n = table->capacity = 0;
	table->n_slots = 0;
}

void ts_hashtable_clear(struct ts_hashtable *table)
{
	table->n = 0;
	if (table->n_slots)
		memset(table->slots, 0, table->n_slots * sizeof(*table->slots));
}

static size_t hash(const struct ts_hashtable *table, const void *key)
{
	uint64_t value = table->seed, word;

	for (size_t at = 0; at < table->key_bytes; at += sizeof(word)) {
		memcpy(&word, (const uint8_t *)key + at, sizeof(word));
		value = (value ^ word) * UINT64_C(0xff51afd7ed558ccd);
		value ^= value >> 32;
	}
	return value;
}

static bool is_same(const struct ts_hashtable *table, const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;

	/* memcmp() would be called for a few words. */
	for (size_t at = 0; at < table->key_bytes; at += sizeof(x)) {
		memcpy(&x, a + at, sizeof(x));
		memcpy(&y, b + at, sizeof(y));
		if (x != y)
			return false;
	}
	return true;
}

/* Where the entry with this key is noted, or would be. There is a free slot. */
static uint32_t *slot_of(const struct ts_hashtable *table, const void *key)
{
	for (size_t at = hash(table, key);; at++) {
		uint32_t *slot = &table->slots[at & (table->n_slots - 1)];

		if (!*slot || is_same(table, ts_hashtable_at(table, *slot - 1), key))
			return slot;
	}
}

static int grow_slots(struct ts_hashtable *table)
{
	size_t n_slots = table->n_slots ? 2 * table->n_slots : MIN_SLOTS;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->n_slots = n_slots;
	for (uint32_t i = 0; i < table->n; i++)
		*slot_of(table, ts_hashtable_at(table, i)) = i + 1;
	return 0;
}

static int grow_entries(struct ts_hashtable *table)
{
	uint32_t capacity = table->capacity ? 2 * table->capacity : MIN_SLOTS / 2;
	uint8_t *entries;

	if (table->n == MAX_ENTRIES)
		return -EOVERFLOW;
	entries = reallocarray(table->entries, capacity, table->entry_bytes);
	if (!entries)
		return -ENOMEM;
	table->entries = entries;
	table->capacity = capacity;
	return 0;
}

int ts_hashtable_get(struct ts_hashtable *table, const void *key, uint32_t *ret_i, bool *ret_is_new)
{
	uint32_t *slot;
	int r = 0;

	if (2 * (size_t)table->n >= table->n_slots)
		r = grow_slots(table);
	if (!r && table->n == table->capacity)
		r = grow_entries(table);
	if (r)
		return r;
	slot = slot_of(table, key);
	if (ret_is_new)
		*ret_is_new = !*slot;
	if (!*slot) {
		memset(ts_hashtable_at(table, table->n), 0, table->entry_bytes);
		memcpy(ts_hashtable_at(table, table->n), key, table->key_bytes);
		*slot = ++table->n;
	}
	*ret_i = *slot - 1;
	table->recent[ts_hashtable_recent_of(key, table->key_bytes)] = *ret_i;
	return 0;
}

bool ts_hashtable_find(const struct ts_hashtable *table, const void *key, uint32_t *ret_i)
{
	const uint32_t *slot = table->n_slots ? slot_of(table, key) : NULL;

	if (!slot || !*slot)
		return false;
	*ret_i = *slot - 1;
	return true;
}
