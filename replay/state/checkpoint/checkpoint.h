/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints store the state machine at many instants in the trace itself. ts_state_at() then
 * starts at the last checkpoint before the instant. FORMAT.md describes the bytes of a checkpoint.
 * Checkpoints are added once to a finished trace, in one pass over all rows. ts_state_at() uses
 * checkpoints that match the blocks of the trace; otherwise it reads from the start.
 */
#pragma once

#include "replay/state/state.h"
#include "sbt/append.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_state_checkpoints {
	uint64_t n;	       /* checkpoints */
	uint64_t bytes;	       /* their size before compression */
	uint64_t n_rows;       /* rows of the trace that were read */
	uint64_t n_unanswered; /* calls that never got a device row */
};

/*
 * Minimum distance between two checkpoints, in rows. After a checkpoint of n bytes, with n above
 * this minimum, the distance is n rows.
 */
#define TS_STATE_CHECKPOINT_ROWS 8192u

/*
 * Adds a checkpoint after every `every` rows to `append`; the caller commits the append. `every` 0:
 * the distance of TS_STATE_CHECKPOINT_ROWS. Errors: TS_SBT_E_CORRUPT: blocks are damaged;
 * TS_SBT_E_LIMIT: too many calls are unanswered, or too many blocks are open; TS_E_LIVE;
 * TS_E_STREAMS; -ENOMEM; -EFBIG, as in ts_sbt_append_item().
 */
int ts_state_checkpoints_add(struct ts_sbt_append *append, uint32_t every,
			     struct ts_state_checkpoints *ret);

/*
 * Finds the checkpoints that match the trace. TS_SBT_E_NOT_FOUND: there are none. TS_SBT_E_CORRUPT:
 * the head is damaged.
 */
int ts_state_checkpoints_find(struct ts_sbt_reader *reader, struct ts_state_checkpoints *ret);

/*
 * As ts_state_at(), but only from a checkpoint. TS_SBT_E_NOT_FOUND: no usable checkpoint.
 * TS_SBT_E_CORRUPT: the checkpoint is damaged.
 */
int ts_state_from_checkpoint(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
			     struct ts_state **ret_state);

#ifdef __cplusplus
}
#endif
