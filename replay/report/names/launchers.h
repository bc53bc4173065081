/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that caused device rows: a table of fixed size by operation id. The caller adds the
 * calls up to the start of a device row, in order of time, and then looks up the row's call. Tables
 * of consecutive parts of a trace can be merged. Not thread-safe.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>

/*
 * A call precedes its device rows by at most the depth of a stream's queue. The table has places
 * for twice as many calls as the longest known queue holds.
 */
#define TS_LAUNCHERS (1u << 16)
/* For a window, calls are added from this long before the window's start. */
#define TS_LAUNCHERS_BEFORE_NS UINT64_C(5000000000)

/* The call that caused a device row. */
struct ts_launcher {
	uint64_t op_id;
	uint32_t session;
	uint32_t thread;
	uint32_t stack;
};

/* Embed it, zeroed. */
struct ts_launchers {
	struct ts_launcher *at;
	uint64_t *taken; /* a bit for each place: a call was added */
};

/* Returns 0 or -ENOMEM. */
int ts_launchers_init(struct ts_launchers *launchers);
void ts_launchers_deinit(struct ts_launchers *launchers);

void ts_launchers_add(struct ts_launchers *launchers, const struct ts_launcher *launcher);

/* Returns false if the call is unknown. */
bool ts_launchers_find(const struct ts_launchers *launchers, uint32_t session, uint64_t op_id,
		       struct ts_launcher *ret_launcher);

/*
 * Returns true if a call has the operation's place, perhaps of another operation. If false, a table
 * of an earlier part of the trace may have the call.
 */
bool ts_launchers_has_place(const struct ts_launchers *launchers, uint32_t session, uint64_t op_id);

/* Adds all calls of the part of the trace that follows. */
void ts_launchers_merge(struct ts_launchers *launchers, const struct ts_launchers *later);
