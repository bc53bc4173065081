/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that may still get device rows, in feeding order, found by operation id. An answered
 * call stays for a while, because a graph launch or a chunked copy has several rows. Older calls
 * that are unanswered do not make it stay longer. Private to replay/state. Not thread-safe.
 *
 * The vendor counts ids as calls are entered, so the ids of pending calls are close together. The
 * lower bits of an id give its place without a hash. Ids of a malformed trace may have the same
 * place. The first call keeps the place in by_op, and the other calls go to the map `crowded`.
 */
#pragma once

#include "replay/state/state-map.h"

/* Number of recent calls that are kept although they have their device row or expect none. */
#define TS_STATE_CALLS_LINGER 2048u

struct ts_call {
	uint64_t op_id, nested_op_id; /* equal if no call was nested */
	uint64_t start_ns, end_ns;
	uint32_t session, thread, stack, context;
	uint32_t answered_at; /* lower half of `next` when its first device row came */
	uint16_t domain, cbid;
	bool is_awaited;      /* it starts device work, and its device row has not come yet */
	bool may_begin_early; /* its kernel may begin before its predecessor in the stream ends */
};

struct ts_state_calls {
	struct ts_call *at; /* a ring, indexed by call number */
	/*
	 * For each value of the lower bits of op_id, the lower half of a call's number. The array
	 * is twice as long as the ring of calls. The call may have been dropped.
	 */
	uint32_t *by_op;
	uint32_t n_slots;     /* of the ring; a power of two */
	uint64_t first, next; /* call numbers, from 1 */
	uint64_t n_awaited, n_given_up;
	uint64_t n_twice;	     /* calls that repeat the id of a call that was still kept */
	struct ts_call given_up;     /* the last call that was given up */
	struct ts_state_map crowded; /* ids whose place in by_op is occupied */
};

int ts_state_calls_init(struct ts_state_calls *calls); /* -ENOMEM */
void ts_state_calls_deinit(struct ts_state_calls *calls);
/*
 * Adds a call in two steps. Returns its place, which the caller fills before it calls another
 * function; NULL: out of memory. A copy of a call that was just made would wait for its stores.
 */
struct ts_call *ts_state_calls_new(struct ts_state_calls *calls);
/* The number of the added call is then calls->next - 1. Returns 0 or -ENOMEM. */
int ts_state_calls_add(struct ts_state_calls *calls);
/* Drops the oldest call. */
void ts_state_calls_drop_first(struct ts_state_calls *calls);

static inline struct ts_call *ts_state_calls_at(const struct ts_state_calls *calls, uint64_t number)
{
	return &calls->at[number & (calls->n_slots - 1)];
}

static inline uint32_t *ts_state_calls_place(const struct ts_state_calls *calls, uint32_t session,
					     uint64_t op_id)
{
	return &calls->by_op[(op_id + ts_hash_key(session)) & (2 * calls->n_slots - 1)];
}

static inline bool ts_state_calls_has_id(const struct ts_call *call, uint32_t session,
					 uint64_t op_id)
{
	return (call->op_id == op_id || call->nested_op_id == op_id) && call->session == session;
}

/*
 * Returns the number of the call to which a place in by_op refers; 0 if that call is no longer
 * kept.
 */
static inline uint64_t ts_state_calls_at_place(const struct ts_state_calls *calls,
					       const uint32_t *place)
{
	uint64_t number = calls->next - (uint32_t)((uint32_t)calls->next - *place);

	return number >= calls->first && number < calls->next ? number : 0;
}

/*
 * Returns `number`, or 0 if its call no longer counts when call `next` is the next one: it was
 * answered before the last call, and does not linger any more. An older call that is unanswered may
 * keep its slot in the ring.
 */
TS_SLOTS_INLINE uint64_t ts_state_calls_if_kept(const struct ts_state_calls *calls, uint64_t number,
						uint64_t next)
{
	const struct ts_call *call = ts_state_calls_at(calls, number);

	return call->is_awaited || number + TS_STATE_CALLS_LINGER + 1 >= next ||
			       call->answered_at == (uint32_t)next
		       ? number
		       : 0;
}

/*
 * Returns the number of the call with this id; 0 if there is none. If an id repeats, the last call
 * is returned. `next` is the number of the next call.
 */
TS_SLOTS_INLINE uint64_t ts_state_calls_find_at(const struct ts_state_calls *calls,
						uint32_t session, uint64_t op_id, uint64_t next)
{
	uint64_t number =
		ts_state_calls_at_place(calls, ts_state_calls_place(calls, session, op_id));
	uint32_t slot;

	if (number && ts_state_calls_has_id(ts_state_calls_at(calls, number), session, op_id))
		return ts_state_calls_if_kept(calls, number, next);
	slot = ts_state_map_find(&calls->crowded, session, op_id);
	if (slot == TS_STATE_MAP_NONE)
		return 0;
	number = calls->first + ((slot - calls->first) & (calls->n_slots - 1));
	return ts_state_calls_if_kept(calls, number, next);
}

static inline uint64_t ts_state_calls_find(const struct ts_state_calls *calls, uint32_t session,
					   uint64_t op_id)
{
	return ts_state_calls_find_at(calls, session, op_id, calls->next);
}

/* Notes the first device row of an awaited call. */
static inline void ts_state_calls_answer(struct ts_state_calls *calls, struct ts_call *call)
{
	calls->n_awaited--;
	call->is_awaited = false;
	call->answered_at = (uint32_t)calls->next;
}
