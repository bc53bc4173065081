/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that device rows are still to come for, in the order in which they were fed, found by operation id. One that was
 * answered lingers, as a launch of a graph or a copy in pieces has several rows. Within replay/state; one thread.
 *
 * The vendor counts ids as calls are entered, so that those of the calls at hand lie close together: an id's lower bits say
 * where to look, without a hash. Ids that lie meet there; all but the first of them go to a map.
 */
#pragma once

#include "replay/state/state-map.h"

/* Calls that are kept although they were answered, or expect no answer. */
#define TS_STATE_CALLS_LINGER 2048u

struct ts_call {
	uint64_t op_id, nested_op_id; /* the same where nothing was nested */
	uint64_t start_ns, end_ns;
	uint32_t session, thread, stack, context;
	uint16_t domain, cbid;
	bool is_awaited;
	bool may_begin_early; /* its kernel, before the one in front of it in its stream is over */
};

struct ts_state_calls {
	struct ts_call *at; /* a ring, by number */
	uint32_t *by_op; /* twice as long: the number's lower half, or one of a call that is gone */
	uint32_t n_slots;     /* of the ring: a power of two */
	uint64_t first, next; /* numbers, from 1 */
	uint64_t n_awaited, n_given_up;
	uint64_t n_twice;	     /* that have another's id */
	struct ts_call given_up;     /* the last of those */
	struct ts_state_map crowded; /* ids whose place in by_op was taken */
};

int ts_state_calls_init(struct ts_state_calls *calls); /* -ENOMEM */
void ts_state_calls_deinit(struct ts_state_calls *calls);
/* Its number is calls->next - 1 then. -ENOMEM. */
int ts_state_calls_add(struct ts_state_calls *calls, const struct ts_call *call);
/* The first one is not needed any more. */
void ts_state_calls_drop_first(struct ts_state_calls *calls);

static inline struct ts_call *ts_state_calls_at(const struct ts_state_calls *calls, uint64_t number)
{
	return &calls->at[number & (calls->n_slots - 1)];
}

static inline uint32_t *ts_state_calls_place(const struct ts_state_calls *calls, uint32_t session,
					     uint64_t op_id)
{
	return &calls->by_op[(op_id + session * UINT64_C(0x9e3779b1)) & (2 * calls->n_slots - 1)];
}

static inline bool ts_state_calls_has_id(const struct ts_call *call, uint32_t session,
					 uint64_t op_id)
{
	return (call->op_id == op_id || call->nested_op_id == op_id) && call->session == session;
}

/* The call that a place in by_op tells of; 0: none that is still here. */
static inline uint64_t ts_state_calls_at_place(const struct ts_state_calls *calls,
					       const uint32_t *place)
{
	uint64_t number = calls->next - (uint32_t)((uint32_t)calls->next - *place);

	return number >= calls->first && number < calls->next ? number : 0;
}

/* The number of the call of that id, the last one where ids lie; 0: there is none. */
static inline uint64_t ts_state_calls_find(const struct ts_state_calls *calls, uint32_t session,
					   uint64_t op_id)
{
	uint64_t number =
		ts_state_calls_at_place(calls, ts_state_calls_place(calls, session, op_id));
	uint32_t slot;

	if (number && ts_state_calls_has_id(ts_state_calls_at(calls, number), session, op_id))
		return number;
	slot = ts_state_map_find(&calls->crowded, session, op_id);
	if (slot == TS_STATE_MAP_NONE)
		return 0;
	return calls->first + ((slot - calls->first) & (calls->n_slots - 1));
}
