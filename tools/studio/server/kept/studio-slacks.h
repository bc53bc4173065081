/* SPDX-License-Identifier: Apache-2.0 */
/* The slack of the last few windows. All threads may call these functions. */
#pragma once

#include "replay/report/tiles/tile-slack.h"

#include <pthread.h>

#define TS_STUDIO_MAX_SLACKS 2u
/* Calls and operations of a window: 31 MB for a moment, and 13 MB that are kept. */
#define TS_STUDIO_SLACK_NODES (1u << 18)

struct ts_studio_slack {
	unsigned refs;
	/* The window. */
	uint64_t trace;	   /* 0, 1 */
	uint32_t session;  /* 0: all */
	uint64_t n_blocks; /* of the trace, which may have grown since */
	uint64_t from_ns, to_ns;
	struct ts_tiles_slack *slack;
};

struct ts_studio_slacks {
	pthread_mutex_t lock;	/* guards `at` and the references */
	pthread_mutex_t making; /* one graph is made at a time, which bounds the memory */
	unsigned n_made;
	struct ts_studio_slack *at[TS_STUDIO_MAX_SLACKS];
};

struct ts_studio_call;

void ts_studio_slacks_init(struct ts_studio_slacks *slacks);
void ts_studio_slacks_deinit(struct ts_studio_slacks *slacks);

/*
 * Returns the slack of a window of the call's trace and session. Times are absolute; 0: no limit.
 * ts_studio_slacks_put() gives it back. Returns NULL after ts_call_fail().
 */
struct ts_studio_slack *ts_studio_slacks_get(struct ts_studio_slacks *slacks,
					     struct ts_studio_call *call, uint64_t trace,
					     uint64_t from_ns, uint64_t to_ns);
void ts_studio_slacks_put(struct ts_studio_slacks *slacks, struct ts_studio_slack *slack);
