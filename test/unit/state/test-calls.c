/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the table of calls by id with a list that is searched from its end, and the table from
 * ids to numbers with a map.
 */
#include "test/unit/harness.h"

#include "replay/state/graph/state-ids.h"
#include "replay/state/state-calls.h"
#include "replay/state/state-machine.h"

#include <stdlib.h>

#define N_CALLS 30000u

static uint64_t seed;

static uint64_t below(uint64_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % n;
}

/* An answered call lingers, but an older call that is unanswered does not keep it. */
static uint64_t find(const struct ts_state_calls *calls, const struct ts_call *all,
		     uint32_t session, uint64_t op_id)
{
	for (uint64_t n = calls->next - 1; n >= calls->first; n--) {
		const struct ts_call *call = ts_state_calls_at(calls, n);

		if (all[n].session == session &&
		    (all[n].op_id == op_id || all[n].nested_op_id == op_id))
			return call->is_awaited || call->answered_at == calls->next ||
					       n + 1 + TS_STATE_CALLS_LINGER >= calls->next
				       ? n
				       : 0;
	}
	return 0;
}

/*
 * Returns the id of the n-th call. `lie`: 0: all ids differ; 1: some occur twice; 2: few different
 * ids, all in one slot of the table.
 */
static uint64_t id_of(unsigned int lie, uint64_t n)
{
	switch (lie) {
	case 0:
		return 2 * n;
	case 1:
		return 2 * (n - below(n < 40 ? n : 40));
	default:
		return n % 300 << 40;
	}
}

static void check_ids(const struct ts_state_calls *calls, const struct ts_call *all,
		      uint64_t newest)
{
	for (unsigned int i = 0; i < 4; i++) {
		const struct ts_call *call = &all[newest - below(newest < 5000 ? newest : 5000)];
		uint64_t op_id = below(2) ? call->op_id : call->nested_op_id;
		uint32_t session = 1 + (uint32_t)below(2);

		ts_check_int(ts_state_calls_find(calls, session, op_id),
			     find(calls, all, session, op_id));
	}
}

TS_TEST(the_last_call_of_an_id_is_found_until_it_is_dropped)
{
	struct ts_call *all = calloc(N_CALLS + 1, sizeof(*all));

	for (unsigned int lie = 0; lie < 3; lie++) {
		struct ts_state_calls calls;
		uint64_t n_awaited = 0;

		seed = lie;
		ts_check_int(ts_state_calls_init(&calls), 0);
		for (uint64_t n = 1; n <= N_CALLS; n++) {
			uint64_t op_id = id_of(lie, n);

			all[n] = (struct ts_call){.op_id = op_id,
						  .nested_op_id = op_id + !below(3),
						  .start_ns = n,
						  .session = 1 + (uint32_t)below(2),
						  .is_awaited = n % 7000 < 2};
			*ts_state_calls_new(&calls) = all[n];
			ts_check_int(ts_state_calls_add(&calls), 0);
			ts_check_int(calls.next, n + 1);
			ts_check_int(ts_state_calls_at(&calls, n)->start_ns, n);
			/*
			 * One of two awaited calls is answered. The other never is, so the table
			 * keeps it and all later calls.
			 */
			if (n % 7000 == 6000)
				ts_state_calls_answer(&calls, ts_state_calls_at(&calls, n - 5999));
			if (n % 50 == 0)
				check_ids(&calls, all, n);
		}
		for (uint64_t n = calls.first; n < calls.next; n++)
			n_awaited += ts_state_calls_at(&calls, n)->is_awaited;
		ts_check(calls.next - calls.first > 2048);
		ts_check_int(n_awaited, calls.n_awaited);
		ts_check(n_awaited);
		while (calls.first < calls.next) {
			ts_state_calls_drop_first(&calls);
			if (calls.first % 100 == 0)
				check_ids(&calls, all, N_CALLS);
		}
		ts_check_int(ts_state_map_count(&calls.crowded), 0);
		ts_state_calls_deinit(&calls);
	}
	free(all);
}

TS_TEST(ids_lead_to_what_was_set_last)
{
	struct ts_state_ids ids = {0};
	struct ts_state_map map = {0};

	seed = 1;
	ts_check_int(ts_state_ids_find(&ids, 0, 0), TS_STATE_MAP_NONE);
	for (uint32_t n = 0; n < 20000; n++) {
		uint32_t session = (uint32_t)below(3);
		/* Ids shortly before and after the current one, and ids far from all others. */
		uint64_t id = below(8) ? n + below(40) : below(1u << 20) << 40;

		ts_check_int(ts_state_ids_set(&ids, session, id, n), 0);
		ts_check_int(ts_state_map_set(&map, session, id, n), 0);
		id = below(8) ? n + below(60) : below(1u << 20) << 40;
		session = (uint32_t)below(3);
		ts_check_int(ts_state_ids_find(&ids, session, id),
			     ts_state_map_find(&map, session, id));
	}
	ts_state_ids_deinit(&ids);
	ts_state_map_deinit(&map);
}
