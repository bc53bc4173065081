/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table in unlocked memory has the keys that were added and not removed, with their slots' bytes;
 * any key is possible. Its memory is the kernel's, and is given back.
 */
#include "test/unit/harness.h"

#include "inject/ring/unlocked-table.h"

#define N_KEYS 3000u

struct slot {
	struct ts_unlocked_slot by_key;
	uint64_t rest[2];
};

static uint64_t seed = 7;

static uint64_t random_number(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return seed >> 20;
}

/* Addresses are aligned and close together; handles may be any number. */
static uint64_t key_of(uint32_t i)
{
	return i == 0 ? 0 : i == 1 ? UINT64_MAX : i % 2 ? UINT64_C(0x7f0000000000) + i * 512 : i;
}

static void add(struct ts_unlocked_table *table, uint32_t i)
{
	struct slot *slot = ts_unlocked_table_add(table, sizeof(*slot), key_of(i));

	ts_check(slot && slot->by_key.key == key_of(i));
	ts_check(!slot->by_key.number && !slot->rest[0] && !slot->rest[1]);
	slot->by_key.number = i;
	slot->rest[0] = slot->rest[1] = ~(uint64_t)i;
}

TS_TEST(keys_and_slots)
{
	struct ts_unlocked_table table = {0};
	static bool is_in[N_KEYS];
	struct slot *slot;
	size_t n = 0;

	ts_check(!ts_unlocked_table_find(&table, sizeof(*slot), 0));
	for (uint32_t step = 0; step < 60000; step++) {
		/* The table grows, shrinks, and grows again. */
		uint32_t i = (uint32_t)(random_number() % N_KEYS);
		bool adds = random_number() % 100 < (step / 15000 % 2 ? 25 : 75);

		slot = ts_unlocked_table_find(&table, sizeof(*slot), key_of(i));
		ts_check(!slot == !is_in[i]);
		if (slot)
			ts_check(slot->by_key.number == i && slot->rest[1] == ~(uint64_t)i);
		if (slot && !adds)
			ts_unlocked_table_remove(&table, sizeof(*slot), slot);
		else if (!slot && adds)
			add(&table, i);
		n += (size_t)adds - is_in[i];
		is_in[i] = adds;
		ts_check_int(table.slots.n, n);
	}
	for (uint32_t i = 0; i < N_KEYS; i++)
		ts_check(!ts_unlocked_table_find(&table, sizeof(*slot), key_of(i)) == !is_in[i]);
	ts_unlocked_table_deinit(&table, sizeof(*slot));
	ts_check(!ts_unlocked_table_find(&table, sizeof(*slot), key_of(5)));
	add(&table, 5);
	ts_unlocked_table_deinit(&table, sizeof(*slot));
	ts_unlocked_table_deinit(&table, sizeof(*slot));
}
