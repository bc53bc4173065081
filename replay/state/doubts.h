/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts, over the operations of an answer, the facts that a trace lacks and the facts that cannot
 * be true. The counts show a reader how far to trust the answer. The state machine finds each doubt
 * (TS_STATE_UNSURE_*). This module adds the doubts up.
 */
#pragma once

#include "replay/state/state-machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 146 years. A later time in a trace is wrong. */
#define TS_DOUBTS_NEVER_NS (UINT64_C(1) << 62)

/* Start with all fields zero. */
struct ts_doubts {
	uint64_t n_ops; /* operations that were added */
	/* operations whose call is not recorded, or whose call began after the device row */
	uint64_t n_no_call;
	uint64_t n_overlaps;  /* operations that began before a dependency ended */
	uint64_t n_backwards; /* operations that end before their start; counted with length 0 */
	/* operations with incomplete dependencies, or whose stream is of unknown kind */
	uint64_t n_unknown;
	uint64_t n_never;      /* operations that end at or after TS_DOUBTS_NEVER_NS */
	uint64_t n_unanswered; /* calls without device rows */
	/*
	 * Calls that repeat the operation id of a recent call. A device row with this id may belong
	 * to either call.
	 */
	uint64_t n_twice;
};

bool ts_doubts_is_backwards(const struct ts_state_op *op);

static inline void ts_doubts_add(struct ts_doubts *doubts, const struct ts_state_op *op)
{
	doubts->n_ops++;
	doubts->n_no_call += !!(op->unsure & TS_STATE_UNSURE_CALL);
	doubts->n_overlaps += !!(op->unsure & TS_STATE_UNSURE_OVERLAP);
	doubts->n_unknown += !!(op->unsure & (TS_STATE_UNSURE_DEPENDENCY | TS_STATE_UNSURE_STREAM));
	doubts->n_never += op->end_ns >= TS_DOUBTS_NEVER_NS;
	/* The machine sets end_ns to start_ns if a row ends before its start. */
	if (op->end_ns == op->start_ns)
		doubts->n_backwards += ts_doubts_is_backwards(op);
}

/* Adds the machine's own counts. Call it after the last row. */
void ts_doubts_finish(struct ts_doubts *doubts, const struct ts_state_machine *machine);
/* Adds the doubts of other operations. */
void ts_doubts_join(struct ts_doubts *doubts, const struct ts_doubts *more);
/*
 * For a window: drops the counts of missing calls and missing device rows, because those may lie
 * outside the window.
 */
void ts_doubts_cut(struct ts_doubts *doubts);
/* True if at least one count is not 0. */
bool ts_doubts_any(const struct ts_doubts *doubts);

#ifdef __cplusplus
}
#endif
