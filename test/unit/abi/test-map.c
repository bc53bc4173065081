/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the hash tables of map.h: random operations against lists that are searched from end to
 * end, lack of memory, and keys made to collide.
 */
#include <stdint.h>
#include <stdlib.h>

static size_t n_until_failure = SIZE_MAX;

static void *failing_calloc(size_t n, size_t n_bytes)
{
	return n_until_failure && n_until_failure-- ? calloc(n, n_bytes) : NULL;
}

#define calloc failing_calloc
#include "proto/abi/map.h"
#undef calloc

#include "test/unit/harness.h"

#define N_KEYS 300u

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct model {
	uint64_t keys[N_KEYS], values[N_KEYS]; /* value 0: not there */
};

/* Fills a model with keys: 0, neighbours, multiples of large powers of two, and any others. */
static void fill_keys(struct model *model)
{
	memset(model, 0, sizeof(*model));
	for (size_t i = 0; i < N_KEYS; i++)
		model->keys[i] = i % 3 == 0   ? i
				 : i % 3 == 1 ? (uint64_t)i << 48
					      : draw() | UINT64_C(1) << 63 | 1;
}

static size_t n_in(const struct model *model)
{
	size_t n = 0;

	for (size_t i = 0; i < N_KEYS; i++)
		n += model->values[i] != 0;
	return n;
}

static void check_map(const struct ts_map *map, const struct model *model)
{
	size_t n = 0;

	ts_check_int(ts_map_count(map), n_in(model));
	for (size_t i = 0; i < N_KEYS; i++)
		ts_check_int(ts_map_get(map, model->keys[i]), model->values[i]);
	TS_MAP_EACH (map, slot) {
		size_t i = 0;

		while (i < N_KEYS && model->keys[i] != slot->key)
			i++;
		ts_check(i < N_KEYS && model->values[i] == slot->value);
		n++;
	}
	ts_check_int(n, n_in(model));
}

TS_TEST(map_is_as_a_list)
{
	struct ts_map map = {0};
	struct model model;

	fill_keys(&model);
	check_map(&map, &model);
	ts_check_int(ts_map_remove(&map, 3), 0);
	for (unsigned step = 0; step < 40000; step++) {
		size_t i = draw() % N_KEYS;
		uint64_t value = draw() | 1;

		/* Mostly additions, then mostly removals, in turn. */
		switch (draw() % (step / 2000 % 2 ? 8 : 3)) {
		case 0:
		case 1:
			ts_check_int(ts_map_set(&map, model.keys[i], value), 0);
			model.values[i] = value;
			break;
		case 2:
			ts_check_int(ts_map_set(&map, model.keys[i], 0), 0);
			model.values[i] = 0;
			break;
		default:
			ts_check_int(ts_map_remove(&map, model.keys[i]), model.values[i]);
			model.values[i] = 0;
		}
		if (step % 97 == 0)
			check_map(&map, &model);
	}
	ts_map_deinit(&map);
	memset(model.values, 0, sizeof(model.values));
	check_map(&map, &model);
	ts_check_int(ts_map_set_pointer(&map, 7, &model), 0);
	ts_check(ts_map_get_pointer(&map, 7) == &model);
	ts_check_int(ts_map_set_pointer(&map, 7, NULL), 0);
	ts_check(!ts_map_get_pointer(&map, 7));
	ts_map_deinit(&map);
	ts_map_deinit(&map);
	ts_check_int(ts_map_get(&map, 7), 0);
}

TS_TEST(map_without_memory_is_as_it_was)
{
	struct ts_map map = {0};
	struct model model;
	bool has_failed = false;

	fill_keys(&model);
	n_until_failure = 0;
	ts_check_int(ts_map_set(&map, 1, 1), -ENOMEM);
	ts_check_int(ts_map_reserve(&map, 1), -ENOMEM);
	check_map(&map, &model);
	n_until_failure = 2;
	for (size_t i = 0; i < N_KEYS; i++) {
		int r = ts_map_set(&map, model.keys[i], i + 1);

		ts_check(r == 0 || r == -ENOMEM);
		has_failed |= r != 0;
		model.values[i] = r ? 0 : i + 1;
	}
	ts_check(has_failed && n_in(&model));
	check_map(&map, &model);
	/* Replacing needs no memory. */
	n_until_failure = 0;
	for (size_t i = 0; i < N_KEYS; i++)
		if (model.values[i]) {
			model.values[i] += N_KEYS;
			ts_check_int(ts_map_set(&map, model.keys[i], model.values[i]), 0);
		}
	check_map(&map, &model);
	n_until_failure = SIZE_MAX;
	ts_check_int(ts_map_reserve(&map, N_KEYS), 0);
	n_until_failure = 0;
	for (size_t i = 0; i < N_KEYS; i++)
		if (!model.values[i]) {
			model.values[i] = i + 1;
			ts_check_int(ts_map_set(&map, model.keys[i], i + 1), 0);
		}
	check_map(&map, &model);
	ts_map_deinit(&map);
}

TS_TEST(replacing_a_value_in_a_full_map_moves_nothing)
{
	struct ts_map map = {0};
	const void *all;
	uint64_t n = 0;

	ts_check_int(ts_map_reserve(&map, 1), 0);
	for (; !ts_slots_lack(&map.slots, 1); n++)
		ts_check_int(ts_map_set(&map, n, n + 1), 0);
	all = map.slots.all;
	for (uint64_t i = 0; i < n; i++)
		ts_check_int(ts_map_set(&map, i, i + 2), 0);
	TS_MAP_EACH (&map, slot)
		ts_check_int(ts_map_set(&map, slot->key, slot->value + 1), 0);
	ts_check(map.slots.all == all);
	for (uint64_t i = 0; i < n; i++)
		ts_check_int(ts_map_get(&map, i), i + 3);
	ts_check_int(ts_map_set(&map, n, 1), 0);
	ts_check(map.slots.all != all);
	ts_map_deinit(&map);
}

TS_TEST(room_for_too_many_is_refused)
{
	struct ts_hashindex index = {0};
	struct ts_map map = {0};

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 3; i++) {
			ts_check_int(ts_map_reserve(&map, SIZE_MAX - i), -ENOMEM);
			ts_check_int(ts_map_reserve(&map, SIZE_MAX / 2 - i + 1), -ENOMEM);
			ts_check_int(ts_hashindex_reserve(&index, SIZE_MAX - i), -ENOMEM);
			ts_check_int(ts_hashindex_reserve(&index, SIZE_MAX / 2 - i + 1), -ENOMEM);
		}
		ts_check_int(ts_map_count(&map), round);
		ts_check_int(ts_map_get(&map, 1), round);
		ts_check_int(ts_map_set(&map, 1, 1), 0);
		ts_check_int(ts_hashindex_add(&index, 1, round), 0);
	}
	ts_map_deinit(&map);
	ts_hashindex_deinit(&index);
}

/*
 * Uses the same seeds in each run, because a few random seeds make long runs for keys in even
 * steps.
 */
static struct ts_slots seeded_slots(void)
{
	struct ts_slots slots = {0};

	slots.seeds[0] = draw() | 1;
	slots.seeds[1] = draw() | 1;
	return slots;
}

static size_t longest_run(const struct ts_map *map)
{
	const struct ts_map_slot *all = map->slots.all;
	size_t longest = 0, run = 0;

	for (size_t i = 0; i < 2 * map->slots.n_slots; i++) {
		run = all[i & (map->slots.n_slots - 1)].value ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/*
 * Runs of occupied slots stay short for keys that an unseeded multiplication would map to one slot,
 * and for keys in steps of a power of two.
 */
TS_TEST(map_stays_quick_under_hostile_keys)
{
	uint64_t inverse = 1;

	for (unsigned i = 0; i < 6; i++)
		inverse *= 2 - TS_HASH_GOLDEN * inverse;
	ts_check(inverse * TS_HASH_GOLDEN == 1);
	for (unsigned shift = 0; shift < 65; shift++) {
		struct ts_map map = {seeded_slots()};

		for (uint64_t i = 0; i < 4096; i++)
			ts_check_int(ts_map_set(&map, shift == 64 ? i * inverse : (i + 1) << shift,
						i + 1),
				     0);
		ts_check(longest_run(&map) < 400);
		ts_map_deinit(&map);
	}
}

TS_TEST(maps_are_seeded_apart)
{
	struct ts_map maps[2] = {{{0}}, {{0}}};

	for (unsigned i = 0; i < 2; i++)
		ts_check_int(ts_map_set(&maps[i], 1, 1), 0);
	ts_check(memcmp(maps[0].slots.seeds, maps[1].slots.seeds, sizeof(maps[0].slots.seeds)));
	for (unsigned i = 0; i < 2; i++) {
		ts_check(maps[i].slots.seeds[0] & maps[i].slots.seeds[1] & 1);
		ts_map_deinit(&maps[i]);
	}
}

/* Gives four entries each the same hash, so that the comparison decides. */
static uint64_t hash_of_entry(struct ts_hashindex *index, size_t i)
{
	return ts_hash_add(ts_hashindex_seed(index), i / 4);
}

static void check_index(struct ts_hashindex *index, const bool *there)
{
	size_t n = 0;

	for (size_t i = 0; i < N_KEYS; i++) {
		bool is_found = false;

		n += there[i];
		TS_HASHINDEX_EACH (index, hash_of_entry(index, i), at) {
			ts_check(at.number < N_KEYS && there[at.number]);
			ts_check(!is_found || at.number != i);
			is_found |= at.number == i;
		}
		ts_check_int(is_found, there[i]);
	}
	ts_check_int(index->slots.n, n);
}

TS_TEST(hashindex_is_as_a_list)
{
	struct ts_hashindex index = {0};
	bool there[N_KEYS] = {false};

	TS_HASHINDEX_EACH (&index, 1, at)
		ts_check(at.number == UINT32_MAX);
	ts_hashindex_remove(&index, 1, 1);
	for (unsigned step = 0; step < 20000; step++) {
		size_t i = draw() % N_KEYS;

		if (draw() % (step / 2000 % 2 ? 4 : 2)) {
			ts_hashindex_remove(&index, hash_of_entry(&index, i), (uint32_t)i);
			there[i] = false;
		} else if (!there[i]) {
			ts_check_int(ts_hashindex_add(&index, hash_of_entry(&index, i),
						      (uint32_t)i),
				     0);
			there[i] = true;
		}
		if (step % 97 == 0)
			check_index(&index, there);
	}
	ts_hashindex_clear(&index);
	memset(there, 0, sizeof(there));
	check_index(&index, there);
	ts_hashindex_deinit(&index);
}

TS_TEST(hashindex_without_memory_is_as_it_was)
{
	struct ts_hashindex index = {0};
	bool there[N_KEYS] = {false}, has_failed = false;

	n_until_failure = 1;
	for (size_t i = 0; i < N_KEYS; i++) {
		int r = ts_hashindex_add(&index, hash_of_entry(&index, i), (uint32_t)i);

		ts_check(r == 0 || r == -ENOMEM);
		has_failed |= r != 0;
		there[i] = !r;
	}
	ts_check(has_failed);
	check_index(&index, there);
	ts_check_int(ts_hashindex_reserve(&index, N_KEYS), -ENOMEM);
	n_until_failure = SIZE_MAX;
	ts_check_int(ts_hashindex_reserve(&index, N_KEYS), 0);
	n_until_failure = 0;
	for (size_t i = 0; i < N_KEYS; i++)
		if (!there[i]) {
			ts_check_int(ts_hashindex_add(&index, hash_of_entry(&index, i),
						      (uint32_t)i),
				     0);
			there[i] = true;
		}
	check_index(&index, there);
	ts_hashindex_deinit(&index);
}

TS_TEST(the_last_number_is_refused)
{
	struct ts_hashindex index = {0};
	unsigned n = 0;

	ts_check_int(ts_hashindex_add(&index, 5, UINT32_MAX), -ENOMEM);
	ts_check_int(ts_hashindex_add(&index, 5, UINT32_MAX - 1), 0);
	ts_check_int(ts_hashindex_add(&index, 5, UINT32_MAX), -ENOMEM);
	ts_hashindex_remove(&index, 5, UINT32_MAX);
	ts_check_int(index.slots.n, 1);
	TS_HASHINDEX_EACH (&index, 5, at) {
		ts_check_int(at.number, UINT32_MAX - 1);
		n++;
	}
	ts_check_int(n, 1);
	ts_hashindex_remove(&index, 5, UINT32_MAX - 1);
	ts_check_int(index.slots.n, 0);
	ts_hashindex_deinit(&index);
}

/*
 * Searches stay short for hashes whose high halves an unseeded multiplication makes equal, and for
 * hashes in even steps.
 */
TS_TEST(hashindex_stays_quick_under_hostile_hashes)
{
	uint64_t inverse = 1;

	for (unsigned i = 0; i < 6; i++)
		inverse *= 2 - TS_HASH_GOLDEN * inverse;
	for (unsigned shift = 0; shift < 53; shift++) {
		struct ts_hashindex index = {seeded_slots()};
		size_t n_visited = 0;

		for (uint32_t i = 0; i < 4096; i++)
			ts_check_int(ts_hashindex_add(&index,
						      shift == 52 ? i * inverse
								  : (uint64_t)i << shift,
						      i),
				     0);
		for (uint32_t i = 0; i < 4096; i++)
			TS_HASHINDEX_EACH (&index, shift == 52 ? i * inverse : (uint64_t)i << shift,
					   at)
				n_visited++;
		ts_check(n_visited >= 4096 && n_visited < 4096 + 40);
		ts_hashindex_deinit(&index);
	}
}

TS_TEST(a_seed_survives_growth)
{
	struct ts_hashindex index = {0};
	uint64_t seed = ts_hashindex_seed(&index);

	ts_check(seed && !index.slots.n_slots);
	for (uint32_t i = 0; i < 1000; i++)
		ts_check_int(ts_hashindex_add(&index, ts_hash_add(seed, i), i), 0);
	ts_check(ts_hashindex_seed(&index) == seed);
	ts_hashindex_clear(&index);
	ts_check(ts_hashindex_seed(&index) == seed);
	ts_hashindex_deinit(&index);
}

/*
 * Makes a key of 24 words. Flips of bit 63 of a word and of bits 63 and 63 - shift of the next word
 * cancel out for any seed, if words are mixed in by an odd product and a shift.
 */
static void make_hostile(unsigned shift, uint32_t number, uint64_t *ret_words)
{
	memset(ret_words, 0, 24 * sizeof(*ret_words));
	for (unsigned i = 0; i < 12; i++)
		if (number >> i & 1) {
			ret_words[2 * i] = UINT64_C(1) << 63;
			ret_words[2 * i + 1] = UINT64_C(1) << 63 | UINT64_C(1) << (63 - shift);
		}
}

TS_TEST(hashindex_stays_quick_under_hostile_words)
{
	for (unsigned shift = 29; shift <= 32; shift += 3) {
		struct ts_hashindex index = {seeded_slots()};
		uint64_t seed = ts_hashindex_seed(&index), words[24];
		size_t n_visited = 0;

		for (uint32_t i = 0; i < 4096; i++) {
			make_hostile(shift, i, words);
			ts_check_int(ts_hashindex_add(&index,
						      ts_hash_seeded_bytes(seed, words,
									   sizeof(words)),
						      i),
				     0);
		}
		for (uint32_t i = 0; i < 4096; i++) {
			make_hostile(shift, i, words);
			TS_HASHINDEX_EACH (&index, ts_hash_seeded_bytes(seed, words, sizeof(words)),
					   at)
				n_visited++;
		}
		ts_check(n_visited >= 4096 && n_visited < 4096 + 40);
		ts_hashindex_deinit(&index);
	}
}

/*
 * With FNV-1a, the difference of two hashes depends only on the low byte of the start value. The
 * difference of two seeded hashes must depend on the whole seed.
 */
TS_TEST(hashes_of_texts_differ_by_the_whole_seed)
{
	static const char *const texts[] = {"void kernel<1>(float *)",
					    "void kernel<2>(float *)",
					    "",
					    "a",
					    "abcdefgh",
					    "abcdefgi"};

	for (size_t i = 1; i < TS_ARRAY_LEN(texts); i++) {
		uint64_t differences[64];

		for (size_t k = 0; k < TS_ARRAY_LEN(differences); k++) {
			uint64_t seed = draw() << 8 | 1;

			differences[k] = ts_hash_seeded_text(seed, texts[i]) -
					 ts_hash_seeded_text(seed, texts[i - 1]);
			for (size_t n = 0; n < k; n++)
				ts_check(differences[n] != differences[k]);
		}
	}
}

/*
 * A hash depends on the length, on the seed, and on each bit, also of the bytes after the last
 * whole word.
 */
TS_TEST(each_bit_changes_a_seeded_hash)
{
	uint8_t bytes[24] = {0};

	for (size_t n = 0; n < sizeof(bytes); n++) {
		uint64_t hash = ts_hash_seeded_bytes(7, bytes, n);

		ts_check(hash != ts_hash_seeded_bytes(7, bytes, n + 1));
		ts_check(hash != ts_hash_seeded_bytes(9, bytes, n));
		for (size_t i = 0; i < 8 * n; i++) {
			bytes[i / 8] ^= (uint8_t)(1u << i % 8);
			ts_check(hash != ts_hash_seeded_bytes(7, bytes, n));
			bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		}
	}
	ts_check(ts_hash_seeded_text(7, NULL) == ts_hash_seeded_text(7, ""));
}
