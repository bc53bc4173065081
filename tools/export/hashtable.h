/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things found by what they are: entries of one size whose first bytes are their key, numbered in
 * the order in which they came. Keys are compared, a hash only narrows the search; it is seeded, so that numbers chosen by a stranger
 * cannot be made to collide. One thread.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/map.h"

#define TS_HASHTABLE_RECENT 64u /* a place is six bits */

struct ts_hashtable {
	uint8_t *entries;
	size_t entry_bytes, key_bytes; /* multiples of 8; padding in a key is zero */
	uint32_t n;
	size_t capacity;
	struct ts_hashindex index;
	uint32_t recent
		[TS_HASHTABLE_RECENT]; /* entries that were asked for not long ago: looked at before a key is hashed */
};

void ts_hashtable_init(struct ts_hashtable *table, size_t entry_bytes, size_t key_bytes);
void ts_hashtable_deinit(struct ts_hashtable *table);
/* Forgets all entries and keeps the room. */
void ts_hashtable_clear(struct ts_hashtable *table);

/*
 * The entry with this key, else a new one, all zero but the key. 0, -ENOMEM, or -EOVERFLOW: there are 2^31 of
 * them. *ret_is_new may be NULL.
 */
int ts_hashtable_get(struct ts_hashtable *table, const void *key, uint32_t *ret_i,
		     bool *ret_is_new);
/* False: there is none. */
bool ts_hashtable_find(const struct ts_hashtable *table, const void *key, uint32_t *ret_i);

/* Valid until the next entry comes. */
static inline void *ts_hashtable_at(const struct ts_hashtable *table, uint32_t i)
{
	return table->entries + i * table->entry_bytes;
}

/* One place for each key, without the care that a stranger's numbers need: what is there is compared. */
static inline size_t ts_hashtable_recent_of(const void *key, size_t key_bytes)
{
	uint64_t value = 0, word;

	for (size_t at = 0; at < key_bytes; at += sizeof(word)) {
		memcpy(&word, (const uint8_t *)key + at, sizeof(word));
		value = (value << 5 | value >> 59) + word;
	}
	return ts_hash_add(value, value >> 32) >> 58;
}

/* As ts_hashtable_get() for a key that may well be there; of `key_bytes`, known where it is called, so that it takes little. */
static inline int ts_hashtable_recall(struct ts_hashtable *table, const void *key, size_t key_bytes,
				      uint32_t *ret_i, bool *ret_is_new)
{
	uint32_t recent = table->recent[ts_hashtable_recent_of(key, key_bytes)];
	const uint8_t *entry;
	uint64_t a, b, differs = 0;

	if (recent >= table->n)
		return ts_hashtable_get(table, key, ret_i, ret_is_new);
	entry = (const uint8_t *)ts_hashtable_at(table, recent);
	for (size_t at = 0; at < key_bytes; at += sizeof(a)) {
		memcpy(&a, entry + at, sizeof(a));
		memcpy(&b, (const uint8_t *)key + at, sizeof(b));
		differs |= a ^ b;
	}
	if (differs)
		return ts_hashtable_get(table, key, ret_i, ret_is_new);
	*ret_i = recent;
	if (ret_is_new)
		*ret_is_new = false;
	return 0;
}
