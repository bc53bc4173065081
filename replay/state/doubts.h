/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace does not say, or says though it cannot be so: counted over the operations that an answer was made of, so that who reads it
 * knows how far to trust it. The state machine finds it out (TS_STATE_UNSURE_*), this adds it up.
 */
#pragma once

#include "replay/state/state-machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 146 years. Whatever a trace says to be later is not so. */
#define TS_DOUBTS_NEVER_NS (UINT64_C(1) << 62)

/* All zero to begin with. */
struct ts_doubts {
	uint64_t n_ops;	      /* looked at; of these: */
	uint64_t n_no_call;   /* their call was not recorded, or began after them */
	uint64_t n_overlaps;  /* they began before what they had to wait for was over */
	uint64_t n_backwards; /* they ended before they began: taken as of no length */
	uint64_t
		n_unknown; /* not all that they waited for is known, or not of what kind their stream is */
	uint64_t
		n_never; /* they ended when no clock that counts from its host's start can be by now */
	uint64_t n_unanswered; /* calls whose device rows are missing */
	uint64_t
		n_twice; /* calls that have the id of another shortly before them: what the device did may be the other's */
};

bool ts_doubts_is_backwards(const struct ts_state_op *op);

static inline void ts_doubts_add(struct ts_doubts *doubts, const struct ts_state_op *op)
{
	doubts->n_ops++;
	doubts->n_no_call += !!(op->unsure & TS_STATE_UNSURE_CALL);
	doubts->n_overlaps += !!(op->unsure & TS_STATE_UNSURE_OVERLAP);
	doubts->n_unknown += !!(op->unsure & (TS_STATE_UNSURE_DEPENDENCY | TS_STATE_UNSURE_STREAM));
	doubts->n_never += op->end_ns >= TS_DOUBTS_NEVER_NS;
	/* One that ended before it began is of no length. */
	if (op->end_ns == op->start_ns)
		doubts->n_backwards += ts_doubts_is_backwards(op);
}

/* When all rows were fed. */
void ts_doubts_finish(struct ts_doubts *doubts, const struct ts_state_machine *machine);
/* Of a window: what lies outside of it is no doubt. */
void ts_doubts_cut(struct ts_doubts *doubts);
/* Whether there is any. */
bool ts_doubts_any(const struct ts_doubts *doubts);

#ifdef __cplusplus
}
#endif
