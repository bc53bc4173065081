/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon that records a growing trace: finding it, and asking it to write. */
#pragma once

#include "tools/studio/server/studio.h"

/*
 * Returns the daemon of a trace's session or file from the last list, or NULL. *ret_session is the
 * daemon's number of the session, *ret_pid its process; both are 0 for a file with all sessions of
 * a recording.
 */
const struct ts_live_daemon *ts_studio_daemon_find(const struct ts_live *live,
						   const struct ts_studio_trace *trace,
						   uint32_t *ret_session, uint32_t *ret_pid);

/* A connection for one thread. Start with all fields zero. */
struct ts_studio_daemon {
	struct ts_live *live;
	const struct ts_live_daemon *daemon;
	uint32_t session;
	uint64_t tried_ns; /* the last search */
};

/*
 * Asks the daemon to write all rows so far. Returns the time of CLOCK_MONOTONIC before which all
 * rows are in the file, or 0 if no daemon can be asked; a later call searches again.
 */
uint64_t ts_studio_daemon_flush(struct ts_studio_daemon *daemon, struct ts_studio_trace *trace);
void ts_studio_daemon_deinit(struct ts_studio_daemon *daemon);
