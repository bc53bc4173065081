/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the event that a call waited for: see ts_emulate_find_events(). calibrate.c calls this
 * file. The vendor records its own event number for the wait, and a handle for the record. For each
 * number, the module chooses the handle whose records best explain the return times of all calls
 * with that number.
 */
#include "replay/emulate/emulate-program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/tablehash.h"

#define NONE TS_EMULATE_NONE
/* Number of recent records that a call may have waited for. */
#define RECENT 64u

/* How well an event handle explains the return times of the calls with one event number. */
struct tally {
	uint64_t handle;
	uint64_t n_calls;
	uint64_t n_bad; /* calls that returned before the record's end */
	/*
	 * Sum over all calls of the time from the record's end to the return; if the record ended
	 * before the call, from the call's start.
	 */
	double later_ns;
};

struct matching {
	struct ts_emulate_program *program;
	struct ts_state_map tally_by_both, best_by_number, record_by_handle;
	struct tally *tallies;
	size_t n_tallies, n_allocated;
	uint32_t recent[RECENT];
	uint64_t n_recent;
};

static const struct ts_emulate_recorded_item *recorded_of(const struct matching *matching,
							  uint32_t item)
{
	return &matching->program->recorded_items[item];
}

static const struct ts_emulate_recorded_call *times_of(const struct matching *matching,
						       const struct ts_emulate_call *call)
{
	return &matching->program->recorded_calls[call - matching->program->calls];
}

static void matching_deinit(struct matching *matching)
{
	ts_state_map_deinit(&matching->tally_by_both);
	ts_state_map_deinit(&matching->best_by_number);
	ts_state_map_deinit(&matching->record_by_handle);
	free(matching->tallies);
}

static uint32_t session_of(const struct ts_emulate_program *program,
			   const struct ts_emulate_call *call)
{
	return program->threads[call->thread].session;
}

/* Returns the session of a record. */
static uint32_t owner_of(const struct ts_emulate_program *program, uint32_t record)
{
	return program->queues[program->items[record].stream].session;
}

/*
 * Returns a key for a number and a handle. A session has few of them, so collisions of keys do not
 * matter.
 */
static uint64_t key_of(uint32_t number, uint64_t handle)
{
	return ts_hash_key(number) ^ handle;
}

static int tally_one(struct matching *matching, const struct ts_emulate_call *call,
		     const struct ts_emulate_recorded_item *record)
{
	const struct ts_emulate_recorded_call *times = times_of(matching, call);
	uint32_t session = session_of(matching->program, call);
	uint64_t key = key_of(call->wait_of, record->bytes);
	uint32_t at = ts_state_map_find(&matching->tally_by_both, session, key);
	struct tally *tally;
	int r = 0;

	if (at == NONE) {
		at = (uint32_t)matching->n_tallies;
		r = ts_largearray_grow(&matching->tallies, at, &matching->n_allocated,
				       sizeof(*matching->tallies));
		if (!r)
			r = ts_state_map_set(&matching->tally_by_both, session, key, at);
		if (r)
			return r;
		matching->n_tallies++;
		matching->tallies[at] = (struct tally){.handle = record->bytes};
	}
	tally = &matching->tallies[at];
	tally->n_calls++;
	if (record->end_ns > times->end_ns)
		tally->n_bad++;
	else
		tally->later_ns +=
			(double)(times->end_ns - ts_emulate_more(times->start_ns, record->end_ns));
	return 0;
}

static bool is_better(const struct tally *a, const struct tally *b)
{
	if (a->n_calls - a->n_bad != b->n_calls - b->n_bad)
		return a->n_calls - a->n_bad > b->n_calls - b->n_bad;
	return a->later_ns < b->later_ns;
}

/*
 * Adds a call to the tally of each recently recorded handle. Each handle counts once, with its
 * latest record.
 */
static int tally_call(struct matching *matching, struct ts_emulate_call *call)
{
	const struct ts_emulate_program *program = matching->program;
	uint64_t n = ts_emulate_less(matching->n_recent, RECENT);
	int r = 0;

	for (uint64_t i = 1; !r && i <= n; i++) {
		uint32_t at = matching->recent[(matching->n_recent - i) % RECENT];
		const struct ts_emulate_recorded_item *record = recorded_of(matching, at);
		uint32_t session = owner_of(program, at);

		/* An older version of an event that was recorded again is no candidate. */
		if (session == session_of(program, call) &&
		    ts_state_map_find(&matching->record_by_handle, session, record->bytes) == at)
			r = tally_one(matching, call, record);
	}
	return r;
}

static int choose(struct matching *matching, struct ts_emulate_call *call)
{
	const struct ts_emulate_program *program = matching->program;
	uint32_t session = session_of(program, call);
	uint64_t n = ts_emulate_less(matching->n_recent, RECENT);
	uint32_t best = ts_state_map_find(&matching->best_by_number, session, call->wait_of);
	uint32_t before = best;

	for (uint64_t i = 1; i <= n; i++) {
		const struct ts_emulate_recorded_item *record =
			recorded_of(matching, matching->recent[(matching->n_recent - i) % RECENT]);
		uint32_t at = ts_state_map_find(&matching->tally_by_both, session,
						key_of(call->wait_of, record->bytes));

		if (at != NONE &&
		    (best == NONE || is_better(&matching->tallies[at], &matching->tallies[best])))
			best = at;
	}
	if (best == before)
		return 0;
	return ts_state_map_set(&matching->best_by_number, session, call->wait_of, best);
}

/*
 * Returns the record that ended last before the call returned. Used if no handle was found for the
 * call's event number.
 */
static uint32_t last_over(const struct matching *matching, const struct ts_emulate_call *call)
{
	const struct ts_emulate_program *program = matching->program;
	uint64_t n = ts_emulate_less(matching->n_recent, RECENT);
	uint64_t end_ns = times_of(matching, call)->end_ns;
	uint32_t best = NONE;

	for (uint64_t i = 1; i <= n; i++) {
		uint32_t at = matching->recent[(matching->n_recent - i) % RECENT];
		const struct ts_emulate_recorded_item *record = recorded_of(matching, at);

		if (owner_of(program, at) == session_of(program, call) &&
		    record->end_ns <= end_ns &&
		    (best == NONE || record->end_ns > recorded_of(matching, best)->end_ns))
			best = at;
	}
	return best;
}

static int settle(struct matching *matching, struct ts_emulate_call *call)
{
	const struct ts_emulate_program *program = matching->program;
	uint32_t session = session_of(program, call), record = NONE;
	uint32_t best = ts_state_map_find(&matching->best_by_number, session, call->wait_of);

	if (best != NONE)
		record = ts_state_map_find(&matching->record_by_handle, session,
					   matching->tallies[best].handle);
	if (record == NONE ||
	    recorded_of(matching, record)->end_ns > times_of(matching, call)->end_ns)
		record = last_over(matching, call);
	call->wait_of = record;
	if (record == NONE)
		call->wait = TS_EMULATE_WAIT_NONE;
	return 0;
}

/* Visits calls in order; each call sees only the records of earlier calls. */
static int walk(struct matching *matching, const uint32_t *calls, size_t n_calls,
		int (*visit)(struct matching *, struct ts_emulate_call *))
{
	struct ts_emulate_program *program = matching->program;
	int r = 0;

	ts_state_map_deinit(&matching->record_by_handle);
	matching->record_by_handle = (struct ts_state_map){0};
	matching->n_recent = 0;
	for (size_t i = 0; !r && i < n_calls; i++) {
		struct ts_emulate_call *call = &program->calls[calls[i]];

		for (uint32_t k = call->first_item; !r && k < call->first_item + call->n_items;
		     k++) {
			if (!ts_emulate_is_record(&program->items[k]))
				continue;
			matching->recent[matching->n_recent++ % RECENT] = k;
			r = ts_state_map_set(&matching->record_by_handle, owner_of(program, k),
					     recorded_of(matching, k)->bytes, k);
		}
		if (!r && call->wait == TS_EMULATE_WAIT_ITEM)
			r = visit(matching, call);
	}
	return r;
}

int ts_emulate_find_events(struct ts_emulate_program *program, const uint32_t *calls,
			   size_t n_calls)
{
	ts_cleanup(matching_deinit) struct matching matching = {.program = program};
	int r = walk(&matching, calls, n_calls, tally_call);

	if (!r)
		r = walk(&matching, calls, n_calls, choose);
	return r ? r : walk(&matching, calls, n_calls, settle);
}
