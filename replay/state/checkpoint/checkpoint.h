/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: what the state machine knew at many instants of a trace, stored in the trace, so that the state at any instant is told
 * from the last one before it. FORMAT.md says what they look like. They are made once, of a finished trace, by reading all of it;
 * ts_state_at() uses those that fit the blocks that are there, and reads from the start where there are none.
 */
#pragma once

#include "replay/state/state.h"
#include "sbt/append.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_state_checkpoints {
	uint64_t n;	       /* checkpoints */
	uint64_t bytes;	       /* of them, before compression */
	uint64_t n_rows;       /* of the trace that were read */
	uint64_t n_unanswered; /* calls that no device row ever answered */
};

/* A checkpoint follows another after so many rows at least, and after as many as it has bytes. */
#define TS_STATE_CHECKPOINT_ROWS 8192u

/*
 * Adds checkpoints to what is to be appended; the caller commits. One for `every` rows; 0: as TS_STATE_CHECKPOINT_ROWS says. TS_SBT_E_CORRUPT: blocks are damaged;
 * TS_SBT_E_LIMIT: too much of it is unanswered; TS_E_LIVE, TS_E_STREAMS; also -ENOMEM, and -EFBIG as ts_sbt_append_item() says.
 */
int ts_state_checkpoints_add(struct ts_sbt_append *append, uint32_t every,
			     struct ts_state_checkpoints *ret);

/* What there is that fits the trace. TS_SBT_E_NOT_FOUND: nothing; TS_SBT_E_CORRUPT: it is damaged. */
int ts_state_checkpoints_find(struct ts_sbt_reader *reader, struct ts_state_checkpoints *ret);

/* As ts_state_at(), from a checkpoint. TS_SBT_E_NOT_FOUND: there is none that could be used; TS_SBT_E_CORRUPT: it is damaged. */
int ts_state_from_checkpoint(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
			     struct ts_state **ret_state);

#ifdef __cplusplus
}
#endif
