/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the calls that may still get device rows: see state-calls.h. state-machine.c calls this
 * file; this file uses state-map.h.
 */
#include "replay/state/state-calls.h"

#include "replay/state/state-machine.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CALLS 256u

static int set_slots(struct ts_state_calls *calls, uint32_t n_slots)
{
	struct ts_call *at = malloc(n_slots * sizeof(*at));
	uint32_t *by_op = calloc(2 * (size_t)n_slots, sizeof(*by_op));

	if (!at || !by_op) {
		free(at);
		free(by_op);
		return -ENOMEM;
	}
	calls->at = at;
	calls->by_op = by_op;
	calls->n_slots = n_slots;
	return 0;
}

int ts_state_calls_init(struct ts_state_calls *calls)
{
	*calls = (struct ts_state_calls){.first = 1, .next = 1};
	return set_slots(calls, FIRST_CALLS);
}

void ts_state_calls_deinit(struct ts_state_calls *calls)
{
	free(calls->at);
	free(calls->by_op);
	ts_state_map_deinit(&calls->crowded);
}

static int name_id(struct ts_state_calls *calls, uint64_t number, uint32_t session, uint64_t op_id)
{
	uint32_t *place = ts_state_calls_place(calls, session, op_id);
	uint64_t other = ts_state_calls_at_place(calls, place);

	if (other && !ts_state_calls_has_id(ts_state_calls_at(calls, other), session, op_id))
		return ts_state_map_set(&calls->crowded, session, op_id,
					(uint32_t)(number & (calls->n_slots - 1)));
	*place = (uint32_t)number;
	return 0;
}

/* Registers a call under its op_id and its nested_op_id. */
static int name(struct ts_state_calls *calls, uint64_t number)
{
	const struct ts_call *call = ts_state_calls_at(calls, number);
	int r = name_id(calls, number, call->session, call->op_id);

	if (!r && call->nested_op_id != call->op_id)
		r = name_id(calls, number, call->session, call->nested_op_id);
	return r;
}

static void forget_id(struct ts_state_calls *calls, uint32_t session, uint64_t op_id)
{
	uint32_t slot = (uint32_t)(calls->first & (calls->n_slots - 1));

	/* A malformed trace may repeat an id. Remove the entry only if it refers to this slot. */
	if (ts_state_map_find(&calls->crowded, session, op_id) == slot)
		ts_state_map_remove(&calls->crowded, session, op_id);
}

TS_SLOTS_INLINE void drop_first(struct ts_state_calls *calls)
{
	const struct ts_call *call = ts_state_calls_at(calls, calls->first);

	if (ts_state_map_count(&calls->crowded)) {
		forget_id(calls, call->session, call->op_id);
		forget_id(calls, call->session, call->nested_op_id);
	}
	calls->n_awaited -= call->is_awaited;
	calls->first++;
}

void ts_state_calls_drop_first(struct ts_state_calls *calls)
{
	drop_first(calls);
}

static int grow(struct ts_state_calls *calls)
{
	struct ts_state_calls old = *calls;
	int r = set_slots(calls, 2 * old.n_slots);

	if (r)
		return r;
	for (uint64_t n = old.first; n < old.next; n++)
		*ts_state_calls_at(calls, n) = *ts_state_calls_at(&old, n);
	free(old.at);
	free(old.by_op);
	ts_state_map_deinit(&calls->crowded);
	/*
	 * `next` increases with each registered call, so that a lookup finds no call before the
	 * loop reaches it.
	 */
	calls->next = calls->first;
	for (; !r && calls->next < old.next; calls->next++)
		r = name(calls, calls->next);
	calls->next = old.next;
	return r;
}

static int reserve_slot(struct ts_state_calls *calls)
{
	while (calls->next - calls->first > TS_STATE_CALLS_LINGER &&
	       !ts_state_calls_at(calls, calls->first)->is_awaited)
		drop_first(calls);
	if (calls->next - calls->first < calls->n_slots)
		return 0;
	if (calls->n_slots < TS_STATE_MAX_CALLS)
		return grow(calls);
	calls->n_given_up++;
	calls->given_up = *ts_state_calls_at(calls, calls->first);
	ts_state_calls_drop_first(calls);
	return 0;
}

static void count_twice(struct ts_state_calls *calls, const struct ts_call *call)
{
	uint64_t other = ts_state_calls_find_at(calls, call->session, call->op_id, calls->next + 1);

	if (other)
		calls->n_twice += ts_state_calls_at(calls, other)->op_id == call->op_id;
}

struct ts_call *ts_state_calls_new(struct ts_state_calls *calls)
{
	return reserve_slot(calls) ? NULL : ts_state_calls_at(calls, calls->next);
}

int ts_state_calls_add(struct ts_state_calls *calls)
{
	const uint64_t number = calls->next;
	const struct ts_call *call = ts_state_calls_at(calls, number);
	uint32_t *place = ts_state_calls_place(calls, call->session, call->op_id);
	const bool is_free = !ts_state_calls_at_place(calls, place);
	int r = 0;

	if (!is_free || ts_state_map_count(&calls->crowded))
		count_twice(calls, call);
	if (ts_likely(is_free))
		*place = (uint32_t)number;
	else
		r = name_id(calls, number, call->session, call->op_id);
	if (!r && call->nested_op_id != call->op_id)
		r = name_id(calls, number, call->session, call->nested_op_id);
	if (r)
		return r;
	calls->n_awaited += call->is_awaited;
	calls->next++;
	return 0;
}
