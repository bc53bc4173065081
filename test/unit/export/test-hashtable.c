/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries are found by their key, keep their numbers while the table grows, and are new only once.
 */
#include "test/unit/harness.h"
#include "tools/export/hashtable.h"

struct thing {
	uint64_t key[2];
	uint64_t value;
};

#define N_THINGS 200000u

static struct thing key_of(uint32_t i)
{
	/* Neighbouring numbers, and the same number in either half of the key. */
	return (struct thing){.key = {i / 2, i % 2 ? i / 2 : UINT64_MAX}};
}

TS_TEST(each_key_has_one_entry)
{
	struct ts_hashtable table;
	uint32_t at;
	bool is_new;

	ts_hashtable_init(&table, sizeof(struct thing), offsetof(struct thing, value));
	for (uint32_t i = 0; i < N_THINGS; i++) {
		struct thing key = key_of(i);

		ts_check(!ts_hashtable_find(&table, &key, &at));
		ts_check_int(ts_hashtable_get(&table, &key, &at, &is_new), 0);
		ts_check(is_new);
		ts_check_int(at, i);
		ts_check_int(((struct thing *)ts_hashtable_at(&table, at))->value, 0);
		((struct thing *)ts_hashtable_at(&table, at))->value = i + 1;
	}
	for (uint32_t i = 0; i < N_THINGS; i++) {
		struct thing key = key_of(i);

		/* Only the key counts, not the value behind it. */
		key.value = 99;
		ts_check(ts_hashtable_find(&table, &key, &at));
		ts_check_int(at, i);
		ts_check_int(ts_hashtable_get(&table, &key, &at, &is_new), 0);
		ts_check(!is_new);
		ts_check_int(((struct thing *)ts_hashtable_at(&table, at))->value, i + 1);
	}
	ts_check_int(table.n, N_THINGS);
	ts_hashtable_deinit(&table);
}

TS_TEST(clear_forgets)
{
	struct thing key = key_of(5);
	struct ts_hashtable table;
	uint32_t at;
	bool is_new;

	ts_hashtable_init(&table, sizeof(struct thing), offsetof(struct thing, value));
	ts_check(!ts_hashtable_find(&table, &key, &at));
	ts_check_int(ts_hashtable_get(&table, &key, &at, NULL), 0);
	((struct thing *)ts_hashtable_at(&table, at))->value = 1;
	ts_hashtable_clear(&table);
	ts_check(!ts_hashtable_find(&table, &key, &at));
	ts_check_int(ts_hashtable_get(&table, &key, &at, &is_new), 0);
	ts_check(is_new);
	ts_check_int(((struct thing *)ts_hashtable_at(&table, at))->value, 0);
	ts_hashtable_deinit(&table);
}
