/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things found by what they are: entries of one size whose first bytes are their key, numbered in the order in which they
 * came. Keys are compared, a hash only narrows the search; it is seeded, so that numbers chosen by a stranger
 * cannot be made to collide. One thread.
 */
#pragma once

#include "proto/abi/base.h"

struct ts_keyed {
	uint8_t *entries;
	size_t entry_bytes, key_bytes; /* multiples of 8; padding in a key is zero */
	uint32_t n, capacity;
	uint32_t *slots; /* numbers of entries, counted from 1; 0: free */
	size_t n_slots;	 /* a power of two, or 0 */
	uint64_t seed;
};

void ts_keyed_init(struct ts_keyed *keyed, size_t entry_bytes, size_t key_bytes);
void ts_keyed_deinit(struct ts_keyed *keyed);
/* Forgets all entries and keeps the room. */
void ts_keyed_clear(struct ts_keyed *keyed);

/*
 * The entry with this key, else a new one, all zero but the key. 0, -ENOMEM, or -EOVERFLOW: there are 2^31 of
 * them. *ret_is_new may be NULL.
 */
int ts_keyed_get(struct ts_keyed *keyed, const void *key, uint32_t *ret_i, bool *ret_is_new);
/* False: there is none. */
bool ts_keyed_find(const struct ts_keyed *keyed, const void *key, uint32_t *ret_i);

/* Valid until the next entry comes. */
static inline void *ts_keyed_at(const struct ts_keyed *keyed, uint32_t i)
{
	return keyed->entries + i * keyed->entry_bytes;
}
