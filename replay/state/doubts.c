/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts doubts about a trace: see doubts.h. The readers of the state machine (overview/, gaps/,
 * graph/, compare/) call this file. This file reads the counters of state-machine.c.
 */
#include "replay/state/doubts.h"

bool ts_doubts_is_backwards(const struct ts_state_op *op)
{
	if (op->type == TS_ROW_KERNEL)
		return op->row.kernel.end_ns < op->start_ns;
	if (op->type == TS_ROW_MEMCPY)
		return op->row.memcpy_.end_ns < op->start_ns;
	return op->type == TS_ROW_MEMSET && op->row.memset_.end_ns < op->start_ns;
}

void ts_doubts_finish(struct ts_doubts *doubts, const struct ts_state_machine *machine)
{
	doubts->n_unanswered =
		ts_state_machine_n_awaited(machine) + ts_state_machine_n_given_up(machine);
	doubts->n_twice = ts_state_machine_n_twice(machine);
}

void ts_doubts_join(struct ts_doubts *doubts, const struct ts_doubts *more)
{
	doubts->n_ops += more->n_ops;
	doubts->n_no_call += more->n_no_call;
	doubts->n_overlaps += more->n_overlaps;
	doubts->n_backwards += more->n_backwards;
	doubts->n_unknown += more->n_unknown;
	doubts->n_never += more->n_never;
	doubts->n_unanswered += more->n_unanswered;
	doubts->n_twice += more->n_twice;
}

void ts_doubts_cut(struct ts_doubts *doubts)
{
	doubts->n_no_call = doubts->n_unanswered = 0;
}

bool ts_doubts_any(const struct ts_doubts *doubts)
{
	return doubts->n_no_call || doubts->n_overlaps || doubts->n_backwards || doubts->n_never ||
	       doubts->n_unknown || doubts->n_unanswered || doubts->n_twice;
}
