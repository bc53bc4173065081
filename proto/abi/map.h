/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables in memory: linear probing over a power of two of slots, at most half of them taken.
 * There are three layers:
 *
 * - ts_map maps 64-bit keys to 64-bit values or to pointers.
 * - ts_hashindex finds entries of the caller's array by their hash. The caller compares.
 * - ts_slots is the base of both: slots of the caller's own type, compared by the caller.
 *
 * 	struct ts_map sizes = {0};
 *
 * 	r = ts_map_set(&sizes, address, n_bytes);
 * 	n_bytes = ts_map_get(&sizes, address);
 *
 * Keys may come from an untrusted file or socket. Each table draws its own random seeds and hashes
 * with them, so no file can make all keys collide. Hash texts and keys of several words with
 * ts_hash_seeded_bytes() and ts_hashindex_seed(). The order of the slots differs from run to run,
 * so an output must not depend on it.
 *
 * A table that is all zero is empty. Only memory limits its growth: the caller bounds the entries.
 * On -ENOMEM a table is unchanged. Not thread-safe.
 *
 * Half full is the limit, because a search for an absent key then visits 2.5 slots on average; at
 * three quarters it visits 8.5 (Knuth 6.4). No library's table is used: uthash by default ends the
 * process without memory, and it adds 56 bytes to each element. Debian has no package of khash as a
 * header of its own.
 */
#pragma once

#include <sys/random.h>

#include "proto/abi/base.h"
#include "proto/abi/tablehash.h"

#define TS_SLOTS_FIRST	 64u
#define TS_SLOTS_INLINE	 static inline __attribute__((always_inline, unused))
#define TS_SLOTS_OUTLINE static __attribute__((noinline, unused))

struct ts_slots {
	void *all;	   /* all bytes of a free slot are zero */
	size_t n_slots, n; /* a power of two or 0; count of taken slots */
	uint64_t seeds[2]; /* odd; 0: not drawn yet */
};

/*
 * Returns false for a free slot. For a taken slot, returns true and the hash that determined its
 * place. ret_hash may be NULL.
 */
#define TS_SLOTS_HASH_OF(name) \
	bool (*name)(const struct ts_slots *slots, const void *slot, uint64_t *ret_hash)

TS_SLOTS_OUTLINE void ts_slots_draw(struct ts_slots *slots)
{
	/* Early after boot there is no randomness; use addresses instead. */
	if (getrandom(slots->seeds, sizeof(slots->seeds), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(slots->seeds)) {
		slots->seeds[0] = (uintptr_t)slots * UINT64_C(0xd6e8feb86659fd93);
		slots->seeds[1] = (uintptr_t)&slots * UINT64_C(0xd6e8feb86659fd93);
	}
	slots->seeds[0] |= 1;
	slots->seeds[1] |= 1;
}

/*
 * Hashes a key, or an unseeded hash. The first product differs for different keys. The second
 * product spreads keys that are close together or evenly spaced. The high bits are the good ones.
 */
TS_SLOTS_INLINE uint64_t ts_slots_hash(const struct ts_slots *slots, uint64_t key)
{
	uint64_t hash = key * slots->seeds[0];

	return ts_hash_add(hash, hash >> 32);
}

/* Returns the slot index at which the search for a hash begins. The table has slots. */
TS_SLOTS_INLINE size_t ts_slots_home(const struct ts_slots *slots, uint64_t hash)
{
	return (size_t)(hash >> (__builtin_clzll(slots->n_slots) + 1));
}

/* Returns the slot index at which the search continues. */
TS_SLOTS_INLINE size_t ts_slots_next(const struct ts_slots *slots, size_t i)
{
	return (i + 1) & (slots->n_slots - 1);
}

TS_SLOTS_INLINE void *ts_slots_at(const struct ts_slots *slots, size_t slot_bytes, size_t i)
{
	return (uint8_t *)slots->all + i * slot_bytes;
}

/* Returns true if ts_slots_grow() must be called before n_more slots are taken. */
TS_SLOTS_INLINE bool ts_slots_lack(const struct ts_slots *slots, size_t n_more)
{
	return ts_unlikely(n_more > slots->n_slots / 2 - slots->n);
}

/* Returns the number of slots of the table for n_more slots; 0: more than memory can have. */
TS_SLOTS_INLINE size_t ts_slots_wanted(const struct ts_slots *slots, size_t slot_bytes,
				       size_t n_more)
{
	struct ts_slots grown = *slots;

	while (ts_slots_lack(&grown, n_more)) {
		if (grown.n_slots > SIZE_MAX / 2 / slot_bytes)
			return 0;
		grown.n_slots = grown.n_slots ? 2 * grown.n_slots : TS_SLOTS_FIRST;
	}
	return grown.n_slots;
}

/*
 * Moves the table to the memory `all`, which has n_slots zeroed slots. Returns the former memory,
 * which the caller frees.
 */
TS_SLOTS_INLINE void *ts_slots_move(struct ts_slots *slots, size_t slot_bytes,
				    TS_SLOTS_HASH_OF(hash_of), void *all, size_t n_slots)
{
	struct ts_slots before = *slots;
	uint64_t hash;

	slots->all = all;
	slots->n_slots = n_slots;
	for (size_t i = 0; i < before.n_slots; i++) {
		const void *slot = ts_slots_at(&before, slot_bytes, i);
		size_t to;

		if (!hash_of(slots, slot, &hash))
			continue;
		to = ts_slots_home(slots, hash);
		while (hash_of(slots, ts_slots_at(slots, slot_bytes, to), NULL))
			to = ts_slots_next(slots, to);
		memcpy(ts_slots_at(slots, slot_bytes, to), slot, slot_bytes);
	}
	return before.all;
}

/*
 * Grows the table for n_more slots. Returns 0 or -ENOMEM. The function is inlined, so that the
 * compiler knows `hash_of`. Call it from one function that is not inlined, so that its code exists
 * once.
 */
TS_SLOTS_INLINE int ts_slots_grow(struct ts_slots *slots, size_t slot_bytes,
				  TS_SLOTS_HASH_OF(hash_of), size_t n_more)
{
	size_t n_slots = ts_slots_wanted(slots, slot_bytes, n_more);
	void *all = n_slots ? calloc(n_slots, slot_bytes) : NULL;

	if (!all)
		return -ENOMEM;
	if (!slots->seeds[0])
		ts_slots_draw(slots);
	free(ts_slots_move(slots, slot_bytes, hash_of, all, n_slots));
	return 0;
}

/*
 * Frees the occupied slot `gap`. Entries after it in the same run of occupied slots move back into
 * the gap, so no search ends too early and no tombstone is left.
 */
TS_SLOTS_INLINE void ts_slots_remove(struct ts_slots *slots, size_t slot_bytes,
				     TS_SLOTS_HASH_OF(hash_of), size_t gap)
{
	size_t mask = slots->n_slots - 1;
	uint64_t hash;

	for (size_t i = ts_slots_next(slots, gap);
	     hash_of(slots, ts_slots_at(slots, slot_bytes, i), &hash);
	     i = ts_slots_next(slots, i)) {
		/* Do not move a slot before its home. */
		if (((i - ts_slots_home(slots, hash)) & mask) < ((i - gap) & mask))
			continue;
		memcpy(ts_slots_at(slots, slot_bytes, gap), ts_slots_at(slots, slot_bytes, i),
		       slot_bytes);
		gap = i;
	}
	memset(ts_slots_at(slots, slot_bytes, gap), 0, slot_bytes);
	slots->n--;
}

/* Frees all slots and keeps the memory and the seeds. */
TS_SLOTS_INLINE void ts_slots_clear(struct ts_slots *slots, size_t slot_bytes)
{
	if (slots->n)
		memset(slots->all, 0, slots->n_slots * slot_bytes);
	slots->n = 0;
}

/* Frees the memory. The table is then empty and reusable. */
TS_SLOTS_INLINE void ts_slots_deinit(struct ts_slots *slots)
{
	free(slots->all);
	memset(slots, 0, sizeof(*slots));
}

struct ts_map_slot {
	uint64_t key;
	uint64_t value; /* 0: free slot */
};

struct ts_map {
	struct ts_slots slots;
};

TS_SLOTS_INLINE bool ts_map_hash_of(const struct ts_slots *slots, const void *slot,
				    uint64_t *ret_hash)
{
	const struct ts_map_slot *held = (const struct ts_map_slot *)slot;

	if (ret_hash)
		*ret_hash = ts_slots_hash(slots, held->key);
	return held->value;
}

TS_SLOTS_OUTLINE int ts_map_grow(struct ts_map *map, size_t n_more)
{
	return ts_slots_grow(&map->slots, sizeof(struct ts_map_slot), ts_map_hash_of, n_more);
}

/* Returns the slot of a key, or the free slot for the key. The table has slots. */
TS_SLOTS_INLINE struct ts_map_slot *ts_map_search(const struct ts_map *map, uint64_t key)
{
	struct ts_map_slot *all = (struct ts_map_slot *)map->slots.all;
	size_t i = ts_slots_home(&map->slots, ts_slots_hash(&map->slots, key));

	while (all[i].value && all[i].key != key)
		i = ts_slots_next(&map->slots, i);
	return &all[i];
}

/* Returns the value of a key; 0: the key is absent. */
static inline uint64_t ts_map_get(const struct ts_map *map, uint64_t key)
{
	return map->slots.n ? ts_map_search(map, key)->value : 0;
}

/* Makes room for n_more new keys: adding them then does not fail. Returns 0 or -ENOMEM. */
static inline int ts_map_reserve(struct ts_map *map, size_t n_more)
{
	return ts_slots_lack(&map->slots, n_more) ? ts_map_grow(map, n_more) : 0;
}

/* Removes a key and returns its value; 0: the key was absent. */
static inline uint64_t ts_map_remove(struct ts_map *map, uint64_t key)
{
	struct ts_map_slot *all = (struct ts_map_slot *)map->slots.all;
	struct ts_map_slot *slot;
	uint64_t value;

	if (!map->slots.n)
		return 0;
	slot = ts_map_search(map, key);
	value = slot->value;
	if (value)
		ts_slots_remove(&map->slots, sizeof(*slot), ts_map_hash_of, (size_t)(slot - all));
	return value;
}

/* Implements ts_map_set() for a table without room for one more key. */
TS_SLOTS_OUTLINE int ts_map_set_in_full(struct ts_map *map, uint64_t key, uint64_t value)
{
	struct ts_map_slot *slot = map->slots.n ? ts_map_search(map, key) : NULL;

	if (!slot || !slot->value) {
		if (ts_map_grow(map, 1))
			return -ENOMEM;
		slot = ts_map_search(map, key);
		map->slots.n++;
		slot->key = key;
	}
	slot->value = value;
	return 0;
}

/*
 * Adds a key or replaces its value; value 0 removes the key. Returns 0 or -ENOMEM. Replacing does
 * not fail and leaves all keys in their slots.
 */
static inline int ts_map_set(struct ts_map *map, uint64_t key, uint64_t value)
{
	struct ts_map_slot *slot;

	if (ts_unlikely(!value)) {
		ts_map_remove(map, key);
		return 0;
	}
	if (ts_slots_lack(&map->slots, 1))
		return ts_map_set_in_full(map, key, value);
	slot = ts_map_search(map, key);
	map->slots.n += !slot->value;
	slot->key = key;
	slot->value = value;
	return 0;
}

static inline void *ts_map_get_pointer(const struct ts_map *map, uint64_t key)
{
	return (void *)(uintptr_t)ts_map_get(map, key);
}

/* Sets the value of a key; the value NULL removes the key. Returns 0 or -ENOMEM. */
static inline int ts_map_set_pointer(struct ts_map *map, uint64_t key, void *value)
{
	return ts_map_set(map, key, (uintptr_t)value);
}

static inline size_t ts_map_count(const struct ts_map *map)
{
	return map->slots.n;
}

/* Returns the bytes that the table allocates besides its struct. */
static inline size_t ts_map_bytes(const struct ts_map *map)
{
	return map->slots.n_slots * sizeof(struct ts_map_slot);
}

static inline void ts_map_deinit(struct ts_map *map)
{
	ts_slots_deinit(&map->slots);
}

/*
 * Returns the next taken slot after `slot`, or the first taken slot for NULL. NULL: there is none.
 */
static inline struct ts_map_slot *ts_map_next(const struct ts_map *map, struct ts_map_slot *slot)
{
	struct ts_map_slot *all = (struct ts_map_slot *)map->slots.all;
	size_t i = slot ? (size_t)(slot - all) + 1 : 0;

	for (; i < map->slots.n_slots; i++)
		if (all[i].value)
			return &all[i];
	return NULL;
}

/*
 * Visits each key once, in an order that differs from run to run. The body may set slot->value to
 * another nonzero value. It must not add or remove keys.
 */
#define TS_MAP_EACH(map, slot)                                          \
	for (struct ts_map_slot *slot = ts_map_next((map), NULL); slot; \
	     slot = ts_map_next((map), slot))

struct ts_hashindex_slot {
	uint32_t hash;	 /* the high half */
	uint32_t number; /* number of the entry, from 1; 0: the slot is free */
};

/* Maps hashes of tablehash.h to numbers of entries, from 0 to 2^32 - 2. */
struct ts_hashindex {
	struct ts_slots slots;
};

/* One step of a search. */
struct ts_hashindex_at {
	const struct ts_hashindex_slot *all;
	size_t i, mask;
	uint32_t hash;
	/* number of an entry with the same 32-bit hash; its key may still differ */
	uint32_t number;
};

/*
 * Returns the seed for ts_hash_seeded_bytes(), which hashes texts and keys of several words from
 * untrusted input. Draws the seed if the index is new.
 */
static inline uint64_t ts_hashindex_seed(struct ts_hashindex *index)
{
	if (ts_unlikely(!index->slots.seeds[0]))
		ts_slots_draw(&index->slots);
	return index->slots.seeds[1];
}

/* Returns the seed of an index that is not new: ts_hashindex_seed() has drawn the seed. */
static inline uint64_t ts_hashindex_seed_of(const struct ts_hashindex *index)
{
	return index->slots.seeds[1];
}

TS_SLOTS_INLINE bool ts_hashindex_hash_of(const struct ts_slots *slots, const void *slot,
					  uint64_t *ret_hash)
{
	const struct ts_hashindex_slot *held = (const struct ts_hashindex_slot *)slot;

	(void)slots;
	if (ret_hash)
		*ret_hash = (uint64_t)held->hash << 32;
	return held->number;
}

TS_SLOTS_OUTLINE int ts_hashindex_grow(struct ts_hashindex *index, size_t n_more)
{
	return ts_slots_grow(&index->slots, sizeof(struct ts_hashindex_slot), ts_hashindex_hash_of,
			     n_more);
}

TS_SLOTS_INLINE struct ts_hashindex_at ts_hashindex_begin(const struct ts_hashindex *index,
							  uint64_t hash)
{
	static const struct ts_hashindex_slot none = {0, 0};
	struct ts_hashindex_at at = {&none, 0, 0, 0, 0};

	if (!index->slots.n)
		return at;
	hash = ts_slots_hash(&index->slots, hash);
	at.all = (const struct ts_hashindex_slot *)index->slots.all;
	at.i = ts_slots_home(&index->slots, hash);
	at.mask = index->slots.n_slots - 1;
	at.hash = (uint32_t)(hash >> 32);
	return at;
}

TS_SLOTS_INLINE bool ts_hashindex_step(struct ts_hashindex_at *at)
{
	while (at->all[at->i].number) {
		struct ts_hashindex_slot slot = at->all[at->i];

		at->i = (at->i + 1) & at->mask;
		if (slot.hash == at->hash) {
			at->number = slot.number - 1;
			return true;
		}
	}
	return false;
}

/*
 * Visits the entries with this hash; at.number is an entry's number. A few other entries may
 * appear; the caller's comparison rejects them:
 *
 * 	TS_HASHINDEX_EACH(&index, hash, at)
 * 		if (entries[at.number].key == key)
 * 			return &entries[at.number];
 */
#define TS_HASHINDEX_EACH(index, hash, at)                                    \
	for (struct ts_hashindex_at at = ts_hashindex_begin((index), (hash)); \
	     ts_hashindex_step(&at);)

/* Makes room for n_more entries: adding them then does not fail. Returns 0 or -ENOMEM. */
static inline int ts_hashindex_reserve(struct ts_hashindex *index, size_t n_more)
{
	return ts_slots_lack(&index->slots, n_more) ? ts_hashindex_grow(index, n_more) : 0;
}

/* Adds an entry that is absent. Returns 0 or -ENOMEM, also for number 2^32 - 1. */
static inline int ts_hashindex_add(struct ts_hashindex *index, uint64_t hash, uint32_t number)
{
	struct ts_hashindex_slot *all;
	size_t i;

	if (ts_unlikely(number == UINT32_MAX))
		return -ENOMEM;
	if (ts_slots_lack(&index->slots, 1) && ts_hashindex_grow(index, 1))
		return -ENOMEM;
	all = (struct ts_hashindex_slot *)index->slots.all;
	hash = ts_slots_hash(&index->slots, hash);
	i = ts_slots_home(&index->slots, hash);
	while (all[i].number)
		i = ts_slots_next(&index->slots, i);
	all[i].hash = (uint32_t)(hash >> 32);
	all[i].number = number + 1;
	index->slots.n++;
	return 0;
}

/*
 * Removes an entry; `hash` is the hash with which it was added. Does nothing if the entry is
 * absent.
 */
static inline void ts_hashindex_remove(struct ts_hashindex *index, uint64_t hash, uint32_t number)
{
	struct ts_hashindex_slot *all = (struct ts_hashindex_slot *)index->slots.all;
	size_t i;

	if (!index->slots.n)
		return;
	i = ts_slots_home(&index->slots, ts_slots_hash(&index->slots, hash));
	while (all[i].number && all[i].number != number + 1)
		i = ts_slots_next(&index->slots, i);
	if (all[i].number)
		ts_slots_remove(&index->slots, sizeof(*all), ts_hashindex_hash_of, i);
}

static inline void ts_hashindex_clear(struct ts_hashindex *index)
{
	ts_slots_clear(&index->slots, sizeof(struct ts_hashindex_slot));
}

static inline void ts_hashindex_deinit(struct ts_hashindex *index)
{
	ts_slots_deinit(&index->slots);
}
