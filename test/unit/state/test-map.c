/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the table of state-map.h: compares random operations with a list that is searched from end
 * to end; the largest values, and lack of memory.
 */
#include <stdint.h>
#include <stdlib.h>

static size_t n_until_failure = SIZE_MAX;

static void *failing_calloc(size_t n, size_t n_bytes)
{
	return n_until_failure && n_until_failure-- ? calloc(n, n_bytes) : NULL;
}

#define calloc failing_calloc
#include "replay/state/state-map.h"
#undef calloc

#include "test/unit/harness.h"

#define N_KEYS	   90u /* in each session */
#define N_SESSIONS 4u

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct entry {
	uint32_t session;
	uint64_t key;
	uint32_t value; /* TS_STATE_MAP_NONE: the key is absent */
};

static struct entry list[N_SESSIONS * N_KEYS];

/* The same keys in each session: 0, neighbours, and multiples of a large power of two. */
static void fill_list(void)
{
	static const uint32_t sessions[N_SESSIONS] = {0, 1, 2, UINT32_MAX};

	for (size_t i = 0; i < TS_ARRAY_LEN(list); i++) {
		uint64_t key = i / N_SESSIONS;

		list[i] = (struct entry){sessions[i % N_SESSIONS], key % 2 ? key : key << 48,
					 TS_STATE_MAP_NONE};
	}
}

static void check_map(const struct ts_state_map *map)
{
	size_t n = 0, n_visited = 0;

	for (size_t i = 0; i < TS_ARRAY_LEN(list); i++) {
		n += list[i].value != TS_STATE_MAP_NONE;
		ts_check_int(ts_state_map_find(map, list[i].session, list[i].key), list[i].value);
	}
	ts_check_int(ts_state_map_count(map), n);
	TS_STATE_MAP_EACH (map, slot) {
		size_t i = 0;

		while (i < TS_ARRAY_LEN(list) &&
		       (list[i].session != slot->session || list[i].key != slot->key))
			i++;
		ts_check(i < TS_ARRAY_LEN(list) && list[i].value == slot->place - 1);
		n_visited++;
	}
	ts_check_int(n_visited, n);
}

static int set(struct ts_state_map *map, size_t i, uint32_t value)
{
	int r = ts_state_map_set(map, list[i].session, list[i].key, value);

	if (!r)
		list[i].value = value;
	return r;
}

TS_TEST(state_map_is_as_a_list)
{
	struct ts_state_map map = {0};

	fill_list();
	check_map(&map);
	ts_state_map_remove(&map, 0, 0);
	for (unsigned step = 0; step < 40000; step++) {
		size_t i = draw() % TS_ARRAY_LEN(list);

		/* Alternates between mostly additions and mostly removals. */
		if (draw() % 4 < (step / 2000 % 2 ? 1 : 3)) {
			ts_check_int(set(&map, i, draw() % 8 ? (uint32_t)draw() / 2 : 0), 0);
		} else {
			ts_state_map_remove(&map, list[i].session, list[i].key);
			list[i].value = TS_STATE_MAP_NONE;
		}
		if (step % 97 == 0)
			check_map(&map);
	}
	ts_state_map_deinit(&map);
	fill_list();
	check_map(&map);
}

TS_TEST(state_map_refuses_the_last_value)
{
	struct ts_state_map map = {0};

	fill_list();
	ts_check_int(set(&map, 0, UINT32_MAX), -ENOMEM);
	check_map(&map);
	ts_check_int(set(&map, 0, UINT32_MAX - 1), 0);
	ts_check_int(set(&map, 1, 0), 0);
	check_map(&map);
	ts_check_int(set(&map, 0, UINT32_MAX), -ENOMEM);
	check_map(&map);
	ts_state_map_deinit(&map);
}

TS_TEST(state_map_without_memory_is_as_it_was)
{
	struct ts_state_map map = {0};
	const void *all;
	size_t n = 0;

	fill_list();
	n_until_failure = 0;
	ts_check_int(set(&map, 0, 1), -ENOMEM);
	check_map(&map);
	n_until_failure = 2;
	for (; n < TS_ARRAY_LEN(list); n++) {
		int r = set(&map, n, (uint32_t)n);

		ts_check(r == 0 || r == -ENOMEM);
		if (r)
			break;
	}
	ts_check(n && n < TS_ARRAY_LEN(list));
	check_map(&map);
	/* Replacing needs no memory and moves nothing. */
	all = map.slots.all;
	for (size_t i = 0; i < n; i++)
		ts_check_int(set(&map, i, (uint32_t)(n - i)), 0);
	ts_check(map.slots.all == all);
	check_map(&map);
	ts_state_map_remove(&map, list[0].session, list[0].key);
	list[0].value = TS_STATE_MAP_NONE;
	ts_check_int(set(&map, n, 7), 0);
	ts_check_int(set(&map, 0, 7), -ENOMEM);
	n_until_failure = SIZE_MAX;
	ts_check_int(set(&map, 0, 7), 0);
	check_map(&map);
	ts_state_map_deinit(&map);
}
