/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of entries. All entries have one size, begin with their key, and are numbered in
 * insertion order. A hash only narrows the search; keys are compared. The hash is seeded, so
 * untrusted numbers cannot be made to collide. Not thread-safe.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/map.h"

#define TS_HASHTABLE_RECENT 64u /* a slot number has six bits */

struct ts_hashtable {
	uint8_t *entries;
	size_t entry_bytes, key_bytes; /* multiples of 8; padding in a key is zero */
	uint32_t n;
	size_t capacity;
	struct ts_hashindex index;
	/* Recently used entries; checked before a key is hashed. */
	uint32_t recent[TS_HASHTABLE_RECENT];
};

void ts_hashtable_init(struct ts_hashtable *table, size_t entry_bytes, size_t key_bytes);
void ts_hashtable_deinit(struct ts_hashtable *table);
/* Removes all entries and keeps the memory. */
void ts_hashtable_clear(struct ts_hashtable *table);

/*
 * Finds the entry with this key, or adds one that is zero except for the key. Returns 0, -ENOMEM,
 * or -EOVERFLOW: 2^31 entries. *ret_is_new may be NULL.
 */
int ts_hashtable_get(struct ts_hashtable *table, const void *key, uint32_t *ret_i,
		     bool *ret_is_new);
/* Finds the entry with this key. False: absent. */
bool ts_hashtable_find(const struct ts_hashtable *table, const void *key, uint32_t *ret_i);

/* Returns an entry; valid until the next entry is added. */
static inline void *ts_hashtable_at(const struct ts_hashtable *table, uint32_t i)
{
	return table->entries + i * table->entry_bytes;
}

/*
 * Returns the slot of a key in `recent`. An unseeded hash suffices, because the slot's entry is
 * compared.
 */
static inline size_t ts_hashtable_recent_of(const void *key, size_t key_bytes)
{
	uint64_t value = 0, word;

	for (size_t at = 0; at < key_bytes; at += sizeof(word)) {
		memcpy(&word, (const uint8_t *)key + at, sizeof(word));
		value = (value << 5 | value >> 59) + word;
	}
	return ts_hash_add(value, value >> 32) >> 58;
}

/*
 * Like ts_hashtable_get(), for a key that is probably present. `key_bytes` is constant at the call,
 * so the inlined code is short. The key is read in words. If the caller has just written a word in
 * two halves, the processor waits for both stores: so use words for the parts of such keys.
 */
static inline int ts_hashtable_recall(struct ts_hashtable *table, const void *key, size_t key_bytes,
				      uint32_t *ret_i, bool *ret_is_new)
{
	uint32_t recent = table->recent[ts_hashtable_recent_of(key, key_bytes)];
	const uint8_t *entry;
	uint64_t a, b;

	if (recent >= table->n)
		return ts_hashtable_get(table, key, ret_i, ret_is_new);
	entry = (const uint8_t *)ts_hashtable_at(table, recent);
	for (size_t at = 0; at < key_bytes; at += sizeof(a)) {
		memcpy(&a, entry + at, sizeof(a));
		memcpy(&b, (const uint8_t *)key + at, sizeof(b));
		if (a != b)
			return ts_hashtable_get(table, key, ret_i, ret_is_new);
	}
	*ret_i = recent;
	if (ret_is_new)
		*ret_is_new = false;
	return 0;
}
