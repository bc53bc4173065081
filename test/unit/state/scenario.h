/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios written by hand. add() adds an item with the times at which it ran. look() makes the
 * trace of all items, runs the state machine on it, and returns the computed state of one
 * operation.
 */
#pragma once

#include "test/unit/harness.h"
#include "test/unit/state/program.h"

/* The first operation with that id. */
static inline const struct ts_state_current *find(const struct ts_state *state, uint64_t op_id)
{
	for (size_t i = 0; i < state->n_ops; i++)
		if (state->ops[i].op.op_id == op_id)
			return &state->ops[i];
	return NULL;
}

#define AT(i) (10 + 10 * (i)) /* time of item i's call; it lasts a nanosecond */

static struct program scenario;
static struct ts_state *seen; /* the last result of look() */

static inline void add(enum item_kind kind, unsigned int stream, unsigned int event,
		       uint64_t start_ns, uint64_t end_ns)
{
	unsigned int i = scenario.n_items++;

	scenario.items[i] = (struct item){.kind = kind,
					  .stream = stream,
					  .object = event,
					  .call_ns = AT(i),
					  .call_end_ns = AT(i) + 1,
					  .start_ns = start_ns,
					  .done_ns = end_ns};
}

static inline const struct ts_state_current *look(uint64_t t, uint64_t op_id)
{
	program_trace(&scenario);
	ts_state_free(seen);
	seen = program_state(&scenario, t);
	ts_check(seen);
	return find(seen, op_id);
}

/* Drops one row of type `type`: the one that follows n_before rows of this type. */
static inline void drop_nth_row(unsigned int type, unsigned int n_before)
{
	for (unsigned int i = 0; i < scenario.n_rows; i++)
		if (scenario.rows[i].type == type && !n_before--) {
			memmove(&scenario.rows[i], &scenario.rows[i + 1],
				(scenario.n_rows - i - 1) * sizeof(scenario.rows[0]));
			scenario.n_rows--;
			return;
		}
}

static inline void drop_row(unsigned int type)
{
	drop_nth_row(type, 0);
}
