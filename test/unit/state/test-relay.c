/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes behind a relay get all items in order, with any number of threads; the first error of the
 * earliest item ends the relay; passes get no item that a first pass did not complete; a relay that
 * is freed early leaves no thread.
 */
#include "test/unit/threads.h"

#include "replay/state/relay.h"

#define N_ITEMS 200003u /* many chunks, and a part of one */

struct item {
	uint64_t number;
	uint8_t rest[72];
};

struct pass {
	uint64_t n, sum, fails_at; /* UINT64_MAX: never */
	int error;
	bool is_slow;
};

static int take(void *data, void *at)
{
	const struct item *item = at;
	struct pass *pass = data;

	ts_check_int(item->number, pass->n);
	ts_check_int(item->rest[71], (uint8_t)item->number);
	if (item->number == pass->fails_at)
		return pass->error;
	if (pass->is_slow && item->number % 4096 == 0)
		usleep(100);
	pass->sum += item->number;
	pass->n++;
	return 0;
}

/* Returns the relay's result; *ret_more is the number of threads that it started. */
static int run(const char *threads, struct pass passes[2], unsigned *ret_more)
{
	const struct ts_relay_pass both[] = {{take, &passes[0]}, {take, &passes[1]}};
	unsigned before = count_first_threads();
	struct ts_relay *relay;
	int r = 0;

	ts_check_int(setenv("TRACESMITH_THREADS", threads, 1), 0);
	ts_check_int(ts_relay_new(sizeof(struct item), both, 2, &relay), 0);
	for (uint64_t i = 0; !r && i < N_ITEMS; i++) {
		struct item *item = ts_relay_item(relay);

		item->number = i;
		item->rest[71] = (uint8_t)i;
		r = ts_relay_put(relay);
		if (i == N_ITEMS / 2)
			*ret_more = n_threads() - before;
	}
	ts_check(!r || r == ts_relay_end(relay));
	r = ts_relay_end(relay);
	ts_check_int(ts_relay_end(relay), r);
	ts_relay_free(relay);
	check_threads(before);
	return r;
}

TS_TEST(each_pass_gets_all_items_in_order)
{
	static const char *const threads[] = {"1", "2", "4", "5", "16"};
	unsigned n_more[5] = {0};

	for (unsigned i = 0; i < 5; i++) {
		struct pass passes[2] = {{.fails_at = UINT64_MAX},
					 {.fails_at = UINT64_MAX, .is_slow = i % 2}};

		ts_check_int(run(threads[i], passes, &n_more[i]), 0);
		for (unsigned j = 0; j < 2; j++) {
			ts_check_int(passes[j].n, N_ITEMS);
			ts_check_int(passes[j].sum, (uint64_t)N_ITEMS * (N_ITEMS - 1) / 2);
		}
	}
	ts_check_int(n_more[0], 0);
	ts_check(n_more[1] >= 1);
	ts_check(n_more[2] >= 1);
	ts_check_int(n_more[4], n_more[2] + 1);
}

TS_TEST(the_earliest_error_is_the_result)
{
	static const char *const threads[] = {"1", "4", "16"};
	unsigned n_more;

	for (unsigned i = 0; i < 3; i++) {
		struct pass later[2] = {{.fails_at = 150000, .error = -5, .is_slow = true},
					{.fails_at = 149999, .error = -6}};
		struct pass same[2] = {{.fails_at = 150000, .error = -5},
				       {.fails_at = 150000, .error = -6}};
		struct pass early[2] = {{.fails_at = 3, .error = -7}, {.fails_at = UINT64_MAX}};
		struct pass last[2] = {{.fails_at = UINT64_MAX},
				       {.fails_at = N_ITEMS - 1, .error = -8}};

		ts_check_int(run(threads[i], later, &n_more), -6);
		ts_check_int(run(threads[i], same, &n_more), -5);
		ts_check_int(run(threads[i], early, &n_more), -7);
		ts_check_int(run(threads[i], last, &n_more), -8);
	}
}

TS_TEST(a_relay_that_is_freed_early_ends_its_threads)
{
	struct pass passes[2] = {{.fails_at = UINT64_MAX}, {.fails_at = UINT64_MAX}};
	const struct ts_relay_pass both[] = {{take, &passes[0]}, {take, &passes[1]}};
	unsigned before = count_first_threads();
	struct ts_relay *relay;

	ts_check_int(setenv("TRACESMITH_THREADS", "16", 1), 0);
	ts_check_int(ts_relay_new(sizeof(struct item), both, 2, &relay), 0);
	for (uint64_t i = 0; i < 100000; i++) {
		struct item *item = ts_relay_item(relay);

		item->number = i;
		item->rest[71] = (uint8_t)i;
		ts_check_int(ts_relay_put(relay), 0);
	}
	ts_check(n_threads() > before);
	ts_relay_free(relay);
	check_threads(before);
	ts_check_int(passes[0].n, 100000);
	ts_check_int(passes[1].n, 100000);
	ts_relay_free(NULL);
}

static int mark(void *data, void *at)
{
	struct item *item = at;

	item->rest[0] = (uint8_t)(item->number * 3 + 1);
	return take(data, at);
}

static int take_marked(void *data, void *at)
{
	const struct item *item = at;

	ts_check_int(item->rest[0], (uint8_t)(item->number * 3 + 1));
	return take(data, at);
}

TS_TEST(a_first_pass_completes_the_items)
{
	static const char *const threads[] = {"1", "4", "5", "6"};

	for (unsigned i = 0; i < 4; i++) {
		struct pass passes[3] = {{.fails_at = UINT64_MAX, .is_slow = i % 2},
					 {.fails_at = UINT64_MAX},
					 {.fails_at = UINT64_MAX, .is_slow = i == 2}};
		const struct ts_relay_pass all[] = {{mark, &passes[0], true},
						    {take_marked, &passes[1], false},
						    {take_marked, &passes[2], false}};
		struct ts_relay *relay;

		ts_check_int(setenv("TRACESMITH_THREADS", threads[i], 1), 0);
		ts_check_int(ts_relay_new(sizeof(struct item), all, 3, &relay), 0);
		for (uint64_t j = 0; j < N_ITEMS; j++) {
			struct item *item = ts_relay_item(relay);

			item->number = j;
			item->rest[0] = 0;
			item->rest[71] = (uint8_t)j;
			ts_check_int(ts_relay_put(relay), 0);
		}
		ts_check_int(ts_relay_end(relay), 0);
		ts_relay_free(relay);
		for (unsigned j = 0; j < 3; j++)
			ts_check_int(passes[j].n, N_ITEMS);
	}
}

/* As mark(), but fails without completing the item. */
static int mark_or_fail(void *data, void *at)
{
	const struct item *item = at;
	const struct pass *pass = data;

	return item->number == pass->fails_at ? pass->error : mark(data, at);
}

TS_TEST(passes_get_no_item_that_a_first_pass_did_not_complete)
{
	static const char *const threads[] = {"1", "4", "5", "6"};

	for (unsigned i = 0; i < 4; i++) {
		struct pass passes[3] = {{.fails_at = i % 2 ? 150000 : 150077, .error = -9},
					 {.fails_at = UINT64_MAX, .is_slow = true},
					 {.fails_at = UINT64_MAX}};
		const struct ts_relay_pass all[] = {{mark_or_fail, &passes[0], true},
						    {take_marked, &passes[1], false},
						    {take_marked, &passes[2], false}};
		struct ts_relay *relay;
		int r = 0;

		ts_check_int(setenv("TRACESMITH_THREADS", threads[i], 1), 0);
		ts_check_int(ts_relay_new(sizeof(struct item), all, 3, &relay), 0);
		for (uint64_t j = 0; !r && j < N_ITEMS; j++) {
			struct item *item = ts_relay_item(relay);

			item->number = j;
			item->rest[0] = (uint8_t)(j * 3);
			item->rest[71] = (uint8_t)j;
			r = ts_relay_put(relay);
		}
		ts_check_int(ts_relay_end(relay), -9);
		ts_relay_free(relay);
		for (unsigned j = 0; j < 3; j++)
			ts_check_int(passes[j].n, passes[0].fails_at);
	}
}
