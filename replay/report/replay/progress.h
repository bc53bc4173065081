/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a replay is, for who waits for it: noted by the thread that replays, told by a thread of its own, so that an operation that
 * takes minutes is told of too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/abi/base.h"

#define TS_REPLAY_PROGRESS_NAME_BYTES 128

struct ts_replay_progress_now {
	const char *doing; /* as ReplayProgress has it; a constant */
	uint32_t session;
	uint32_t replay;
	uint64_t done, all; /* all 0: it is not known */
	uint64_t op_id;
	char operation[TS_REPLAY_PROGRESS_NAME_BYTES]; /* "": none */
};

struct ts_replay_progress;

/*
 * `report` is called by another thread, every `every_ms` from the first on, as long as there is something to be told that was not told
 * before. -ENOMEM where there is no such thread.
 */
int ts_replay_progress_new(void (*report)(void *data, const struct ts_replay_progress_now *now),
			   void *data, uint32_t every_ms, struct ts_replay_progress **ret_progress);
/* Nothing is told any more when it returns. NULL is fine. */
void ts_replay_progress_free(struct ts_replay_progress *progress);
TS_DEFINE_CLEANUP(struct ts_replay_progress *, ts_replay_progress_freep, ts_replay_progress_free)

/* NULL is fine: nobody waits. */
void ts_replay_progress_note(struct ts_replay_progress *progress,
			     const struct ts_replay_progress_now *now);
/* What is told no more until something is noted: the answer itself is being given. Waits for a `report` that is under way. */
void ts_replay_progress_pause(struct ts_replay_progress *progress);
