/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports how far a replay is. The thread that replays notes its progress; a thread of this module
 * reports it, so a program hears of an operation that takes minutes too. Give it to ts_query_run()
 * as ts_query_options.progress (replay/report/query.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_REPLAY_PROGRESS_NAME_BYTES 128

struct ts_replay_progress_now {
	const char *doing; /* as ReplayProgress of tracesmith.proto has it; a constant */
	uint32_t session;
	uint32_t replay;    /* number of this replay of the session, from 1; 0: none yet */
	uint64_t done, all; /* operations, rows or nanoseconds, as `doing` says; all 0: not known */
	uint64_t op_id;	    /* the operation that runs */
	char operation[TS_REPLAY_PROGRESS_NAME_BYTES]; /* its name; "": none runs */
};

struct ts_replay_progress;

/*
 * Starts the thread. Every `every_ms` milliseconds it calls `report`, unless nothing was noted
 * since the last call. `now` is valid until `report` returns. The caller owns *ret_progress.
 * Returns 0, or -ENOMEM if there is no memory or no thread.
 */
int ts_replay_progress_new(void (*report)(void *data, const struct ts_replay_progress_now *now),
			   void *data, uint32_t every_ms, struct ts_replay_progress **ret_progress);
/* Ends the thread; no `report` runs when this returns. Not from within `report`. NULL is fine. */
void ts_replay_progress_free(struct ts_replay_progress *progress);
TS_DEFINE_CLEANUP(struct ts_replay_progress *, ts_replay_progress_freep, ts_replay_progress_free)

/* Called by replays, from any thread. Copies *now. NULL is fine: nobody listens. */
void ts_replay_progress_note(struct ts_replay_progress *progress,
			     const struct ts_replay_progress_now *now);
/*
 * Called by replays before they give an answer: drops what was noted, so no report comes among the
 * answer's lines, and waits for a `report` that runs. NULL is fine.
 */
void ts_replay_progress_pause(struct ts_replay_progress *progress);

#ifdef __cplusplus
}
#endif
