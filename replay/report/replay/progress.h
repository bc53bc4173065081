/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the progress of a replay. The replaying thread notes its progress; a thread of this
 * module reports it. So the program also receives reports during an operation that takes minutes. A
 * caller passes the object to ts_query_run() as ts_query_options.progress (replay/report/query.h).
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
	const char *doing; /* as in ReplayProgress of tracesmith.proto; a constant */
	uint32_t session;
	uint32_t replay; /* number of this replay of the session, from 1; 0: none yet */
	/*
	 * Counts of operations, rows or nanoseconds; `doing` determines which. `all` is 0 if the
	 * total is unknown.
	 */
	uint64_t done, all;
	uint64_t op_id;				       /* the running operation */
	char operation[TS_REPLAY_PROGRESS_NAME_BYTES]; /* the operation's name; "": none runs */
};

struct ts_replay_progress;

/*
 * Starts the thread. Every `every_ms` milliseconds it calls `report`, unless nothing was noted
 * since the last call. `now` is valid until `report` returns. The caller owns *ret_progress.
 * Returns 0, or -ENOMEM if there is no memory or no thread.
 */
int ts_replay_progress_new(void (*report)(void *data, const struct ts_replay_progress_now *now),
			   void *data, uint32_t every_ms, struct ts_replay_progress **ret_progress);
/*
 * Ends the thread. No `report` runs when this function has returned. Must not be called from
 * `report`. NULL is accepted.
 */
void ts_replay_progress_free(struct ts_replay_progress *progress);
TS_DEFINE_CLEANUP(struct ts_replay_progress *, ts_replay_progress_freep, ts_replay_progress_free)

/*
 * Notes the progress of a replay. The replay calls it from any thread. Copies *now. Does nothing if
 * `progress` is NULL.
 */
void ts_replay_progress_note(struct ts_replay_progress *progress,
			     const struct ts_replay_progress_now *now);
/*
 * Drops the noted progress, and waits until a running `report` has returned. A replay calls this
 * function before it gives an answer, so that no report comes between the answer's lines. NULL is
 * accepted.
 */
void ts_replay_progress_pause(struct ts_replay_progress *progress);

#ifdef __cplusplus
}
#endif
