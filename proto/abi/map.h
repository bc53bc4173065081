/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables in memory: linear probing over a power of two of slots, at most half of them taken.
 * There are three layers:
 *
 * - ts_map maps 64-bit keys to 64-bit values or to pointers.
 * - ts_hashindex finds entries of the caller's array by their hash. The caller compares.
 * - ts_slots is below both: slots of the caller's own type, compared by the caller.
 *
 *	struct ts_map sizes = {0};
 *	r = ts_map_set(&sizes, address, n_bytes);
 *	n_bytes = ts_map_get(&sizes, address);
 *
 * Keys may come from a stranger's file or socket. Each table draws its own random seeds, and hashes
 * by them, so that no file makes all keys collide. Texts and keys of several words are hashed by
 * ts_hash_seeded_bytes() with ts_hashindex_seed(). The order of the slots differs from run to run:
 * no output may depend on it.
 *
 * A table is all zero when empty, and grows without a limit but memory: the caller bounds the
 * entries. -ENOMEM leaves a table as it was. Not thread-safe.
 *
 * Half full is the limit, because a search for an absent key then looks at 2.5 slots on average; at
 * three quarters it looks at 8.5 (Knuth 6.4). No library's table is used: uthash ends the process
 * without memory by default and adds 56 bytes to each element; Debian has no package of khash as a
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
	void *all;	   /* slots; all bytes of a free slot are zero */
	size_t n_slots, n; /* a power of two or 0; the number of taken slots */
	uint64_t seeds[2]; /* odd; 0: not drawn yet */
};

/* False for a free slot, else true and the hash by which the slot was placed. ret_hash may be NULL. */
#define TS_SLOTS_HASH_OF(name) \
	bool (*name)(const struct ts_slots *slots, const void *slot, uint64_t *ret_hash)

TS_SLOTS_OUTLINE void ts_slots_draw(struct ts_slots *slots)
{
	/* Early in a machine's life there is no randomness: addresses are the next best. */
	if (getrandom(slots->seeds, sizeof(slots->seeds), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(slots->seeds)) {
		slots->seeds[0] = (uintptr_t)slots * UINT64_C(0xd6e8feb86659fd93);
		slots->seeds[1] = (uintptr_t)&slots * UINT64_C(0xd6e8feb86659fd93);
	}
	slots->seeds[0] |= 1;
	slots->seeds[1] |= 1;
}

/*
 * Hashes a key, or an unseeded hash. The first product is different for different keys; the second
 * one spreads keys that are close together, or far apart in even steps. The high bits are the good
 * ones.
 */
TS_SLOTS_INLINE uint64_t ts_slots_hash(const struct ts_slots *slots, uint64_t key)
{
	uint64_t hash = key * slots->seeds[0];

	return ts_hash_add(hash, hash >> 32);
}

/* Index of the slot at which the search for a hash begins. There are slots. */
TS_SLOTS_INLINE size_t ts_slots_home(const struct ts_slots *slots, uint64_t hash)
{
	return (size_t)(hash >> (__builtin_clzll(slots->n_slots) + 1));
}

/* Index of the slot at which the search goes on. */
TS_SLOTS_INLINE size_t ts_slots_next(const struct ts_slots *slots, size_t i)
{
	return (i + 1) & (slots->n_slots - 1);
}

TS_SLOTS_INLINE void *ts_slots_at(const struct ts_slots *slots, size_t slot_bytes, size_t i)
{
	return (uint8_t *)slots->all + i * slot_bytes;
}

/* True if n_more slots more can only be taken after a call of ts_slots_grow(). */
TS_SLOTS_INLINE bool ts_slots_lack(const struct ts_slots *slots, size_t n_more)
{
	return ts_unlikely(n_more > slots->n_slots / 2 - slots->n);
}

/*
 * Makes room for n_more slots more, which the table lacks. 0 or -ENOMEM. Inlined, so that the hash
 * is known: call it in one function that is not.
 */
TS_SLOTS_INLINE int ts_slots_grow(struct ts_slots *slots, size_t slot_bytes,
				  TS_SLOTS_HASH_OF(hash_of), size_t n_more)
{
	struct ts_slots grown = *slots;
	uint64_t hash;

	while (ts_slots_lack(&grown, n_more)) {
		if (grown.n_slots > SIZE_MAX / 2 / slot_bytes)
			return -ENOMEM;
		grown.n_slots = grown.n_slots ? 2 * grown.n_slots : TS_SLOTS_FIRST;
	}
	grown.all = calloc(grown.n_slots, slot_bytes);
	if (!grown.all)
		return -ENOMEM;
	if (!grown.seeds[0])
		ts_slots_draw(&grown);
	for (size_t i = 0; i < slots->n_slots; i++) {
		const void *slot = ts_slots_at(slots, slot_bytes, i);
		size_t to;

		if (!hash_of(&grown, slot, &hash))
			continue;
		to = ts_slots_home(&grown, hash);
		while (hash_of(&grown, ts_slots_at(&grown, slot_bytes, to), NULL))
			to = ts_slots_next(&grown, to);
		memcpy(ts_slots_at(&grown, slot_bytes, to), slot, slot_bytes);
	}
	free(slots->all);
	*slots = grown;
	return 0;
}

/*
 * Frees slot `gap`, which is taken. Later slots of its run move up, so that no search ends too early
 * and no mark is left.
 */
TS_SLOTS_INLINE void ts_slots_remove(struct ts_slots *slots, size_t slot_bytes,
				     TS_SLOTS_HASH_OF(hash_of), size_t gap)
{
	size_t mask = slots->n_slots - 1;
	uint64_t hash;

	for (size_t i = ts_slots_next(slots, gap);
	     hash_of(slots, ts_slots_at(slots, slot_bytes, i), &hash);
	     i = ts_slots_next(slots, i)) {
		/* Not past its own home. */
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

/* The table is empty then, and may be used again. */
TS_SLOTS_INLINE void ts_slots_deinit(struct ts_slots *slots)
{
	free(slots->all);
	memset(slots, 0, sizeof(*slots));
}

struct ts_map_slot {
	uint64_t key;
	uint64_t value; /* 0: a free slot */
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

/* The slot of a key, or the free one where the key would go. There are slots. */
TS_SLOTS_INLINE struct ts_map_slot *ts_map_search(const struct ts_map *map, uint64_t key)
{
	struct ts_map_slot *all = (struct ts_map_slot *)map->slots.all;
	size_t i = ts_slots_home(&map->slots, ts_slots_hash(&map->slots, key));

	while (all[i].value && all[i].key != key)
		i = ts_slots_next(&map->slots, i);
	return &all[i];
}

/* 0: the key is not there. */
static inline uint64_t ts_map_get(const struct ts_map *map, uint64_t key)
{
	return map->slots.n ? ts_map_search(map, key)->value : 0;
}

/* Makes room for n_more keys that are new: adding them does not fail then. 0 or -ENOMEM. */
static inline int ts_map_reserve(struct ts_map *map, size_t n_more)
{
	return ts_slots_lack(&map->slots, n_more) ? ts_map_grow(map, n_more) : 0;
}

/* Returns the value that the key had. 0: the key was not there. */
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

/* ts_map_set() of a table that has no room for one more key. */
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
 * Adds a key or replaces its value; value 0 removes the key. 0 or -ENOMEM. Replacing does not fail,
 * and leaves all keys in their slots.
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

/* NULL removes the key. 0 or -ENOMEM. */
static inline int ts_map_set_pointer(struct ts_map *map, uint64_t key, void *value)
{
	return ts_map_set(map, key, (uintptr_t)value);
}

static inline size_t ts_map_count(const struct ts_map *map)
{
	return map->slots.n;
}

/* Memory that the table takes beside its struct. */
static inline size_t ts_map_bytes(const struct ts_map *map)
{
	return map->slots.n_slots * sizeof(struct ts_map_slot);
}

static inline void ts_map_deinit(struct ts_map *map)
{
	ts_slots_deinit(&map->slots);
}

/* The first taken slot after `slot`, or the first one of all for NULL. NULL: there is none. */
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
 * another value that is not 0, and neither adds nor removes.
 */
#define TS_MAP_EACH(map, slot)                                          \
	for (struct ts_map_slot *slot = ts_map_next((map), NULL); slot; \
	     slot = ts_map_next((map), slot))

struct ts_hashindex_slot {
	uint32_t hash;	 /* the high half */
	uint32_t number; /* of the entry, counted from 1; 0: a free slot */
};

/* Numbers of entries, from 0 to 2^32 - 2, by hashes of tablehash.h. */
struct ts_hashindex {
	struct ts_slots slots;
};

/* One step of a search. */
struct ts_hashindex_at {
	const struct ts_hashindex_slot *all;
	size_t i, mask;
	uint32_t hash;
	uint32_t number; /* of an entry whose hash may be the one that is searched for */
};

/*
 * The seed for ts_hash_seeded_bytes(), by which texts and keys of several words are hashed if these
 * come from a stranger. Draws it, if the index is new.
 */
static inline uint64_t ts_hashindex_seed(struct ts_hashindex *index)
{
	if (ts_unlikely(!index->slots.seeds[0]))
		ts_slots_draw(&index->slots);
	return index->slots.seeds[1];
}

/* The seed of an index that has drawn it. */
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
 * Visits the entries that have the hash; at.number is the number of one. Few others come along,
 * which the caller's comparison rejects:
 *
 *	TS_HASHINDEX_EACH(&index, hash, at)
 *		if (entries[at.number].key == key)
 *			return &entries[at.number];
 */
#define TS_HASHINDEX_EACH(index, hash, at)                                    \
	for (struct ts_hashindex_at at = ts_hashindex_begin((index), (hash)); \
	     ts_hashindex_step(&at);)

/* Makes room for n_more entries: adding them does not fail then. 0 or -ENOMEM. */
static inline int ts_hashindex_reserve(struct ts_hashindex *index, size_t n_more)
{
	return ts_slots_lack(&index->slots, n_more) ? ts_hashindex_grow(index, n_more) : 0;
}

/* Adds an entry that is not there. 0 or -ENOMEM, for number 2^32 - 1 as well. */
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

/* `hash` is the one with which the entry was added. Nothing if the entry is not there. */
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
