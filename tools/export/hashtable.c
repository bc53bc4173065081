/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries lie in one array, which moves only as a whole. An index of proto/abi/map.h finds them by
 * the hash of their key. The exporters call this file.
 */
#include "tools/export/hashtable.h"

#include <assert.h>

#include "proto/abi/grow.h"

#define MAX_ENTRIES (UINT32_C(1) << 31)

void ts_hashtable_init(struct ts_hashtable *table, size_t entry_bytes, size_t key_bytes)
{
	assert(key_bytes && key_bytes % 8 == 0 && entry_bytes % 8 == 0 && entry_bytes >= key_bytes);
	*table = (struct ts_hashtable){.entry_bytes = entry_bytes, .key_bytes = key_bytes};
}

void ts_hashtable_deinit(struct ts_hashtable *table)
{
	free(table->entries);
	ts_hashindex_deinit(&table->index);
	table->entries = NULL;
	table->n = table->capacity = 0;
}

void ts_hashtable_clear(struct ts_hashtable *table)
{
	table->n = 0;
	ts_hashindex_clear(&table->index);
}

static bool is_same(const struct ts_hashtable *table, const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;

	/* For a few words, memcmp() would cost a call. */
	for (size_t at = 0; at < table->key_bytes; at += sizeof(x)) {
		memcpy(&x, a + at, sizeof(x));
		memcpy(&y, b + at, sizeof(y));
		if (x != y)
			return false;
	}
	return true;
}

/* Returns false if the key is not in the table. */
static bool find(const struct ts_hashtable *table, const void *key, uint64_t hash, uint32_t *ret_i)
{
	TS_HASHINDEX_EACH (&table->index, hash, at)
		if (is_same(table, ts_hashtable_at(table, at.number), key)) {
			*ret_i = at.number;
			return true;
		}
	return false;
}

int ts_hashtable_get(struct ts_hashtable *table, const void *key, uint32_t *ret_i, bool *ret_is_new)
{
	uint64_t hash =
		ts_hash_seeded_bytes(ts_hashindex_seed(&table->index), key, table->key_bytes);
	bool is_new = !find(table, key, hash, ret_i);
	int r;

	if (is_new) {
		if (table->n == MAX_ENTRIES)
			return -EOVERFLOW;
		r = ts_grow(&table->entries, &table->capacity, (size_t)table->n + 1,
			    table->entry_bytes);
		r = r ?: ts_hashindex_add(&table->index, hash, table->n);
		if (r)
			return r;
		memset(ts_hashtable_at(table, table->n), 0, table->entry_bytes);
		memcpy(ts_hashtable_at(table, table->n), key, table->key_bytes);
		*ret_i = table->n++;
	}
	if (ret_is_new)
		*ret_is_new = is_new;
	table->recent[ts_hashtable_recent_of(key, table->key_bytes)] = *ret_i;
	return 0;
}

bool ts_hashtable_find(const struct ts_hashtable *table, const void *key, uint32_t *ret_i)
{
	uint64_t hash;

	if (!table->n)
		return false;
	hash = ts_hash_seeded_bytes(ts_hashindex_seed_of(&table->index), key, table->key_bytes);
	return find(table, key, hash, ret_i);
}
