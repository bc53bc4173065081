/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a replay is, for who waits for it: noted by the thread that replays, told by a thread of its own, so that an operation that
 * takes minutes is told of too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/abi/base.h"

#define TS_UNDERWAY_NAME_BYTES 128

struct ts_underway_now {
	const char *doing; /* as ReplayProgress has it; a constant */
	uint32_t session;
	uint32_t replay;
	uint64_t done, all; /* all 0: it is not known */
	uint64_t op_id;
	char operation[TS_UNDERWAY_NAME_BYTES]; /* "": none */
};

struct ts_underway;

/*
 * `tell` is called by another thread, every `every_ms` from the first on, as long as there is something to be told that was not told
 * before. -ENOMEM where there is no such thread.
 */
int ts_underway_new(void (*tell)(void *data, const struct ts_underway_now *now), void *data,
		    uint32_t every_ms, struct ts_underway **ret_progress);
/* Nothing is told any more when it returns. NULL is fine. */
void ts_underway_free(struct ts_underway *underway);
TS_DEFINE_CLEANUP(struct ts_underway *, ts_underway_freep, ts_underway_free)

/* NULL is fine: nobody waits. */
void ts_underway_note(struct ts_underway *underway, const struct ts_underway_now *now);
/* What is told no more until something is noted: the answer itself is being given. Waits for a `tell` that is under way. */
void ts_underway_hush(struct ts_underway *underway);
