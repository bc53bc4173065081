/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the order in which operations run, for schedules. The host goes on while its stream
 * operations wait. An operation waits for earlier ones in its stream, for events, and by the legacy
 * default stream's rule. It runs at the latest when the host waits for it. For some host operations
 * the capture does not show what the host waits for: frees, host writes to memory, uncaptured
 * calls. Then the host waits for all operations.
 */
#pragma once

#include "replay/exec/exec-schedule.h"
#include "replay/state/state-map.h"
#include "replay/streams/streams.h"

#define TS_EXEC_MAX_WAITING 64u
#define TS_EXEC_MAX_SHARED \
	1024u /* limit of ranges; for copies to others the host waits, as for pageable memory */

struct ts_exec_waiting {
	const struct ts_row_operation *operation; /* NULL: free slot */
	uint64_t number;			  /* position in call order */
	uint64_t behind;	    /* bits of the operations that must complete first */
	uint64_t held;		    /* number of other operations that must complete first */
	struct ts_stream_name name; /* its context is the stream's, if known */
	struct ts_stream_kind kind;
	struct ts_exec_decision *decision; /* the decision to hold it; NULL: not described */
};

struct ts_exec_order {
	struct ts_exec_schedule *schedule;
	int (*each)(void *userdata, const struct ts_row_operation *operation);
	void *userdata;
	struct ts_exec_waiting waiting[TS_EXEC_MAX_WAITING];
	uint64_t is_waiting; /* bits of the used slots */
	uint64_t n;
	/*
	 * Session 0: contexts of stream handles. Session 1: non-blocking streams. Session
	 * 2: last records of events.
	 */
	struct ts_state_map streams;
	struct {
		uint64_t start, bytes;
		bool is_managed; /* managed or pinned */
		/* Unordered array of memory that both the host and the device access. */
	} shared[TS_EXEC_MAX_SHARED];
	uint32_t n_shared;
};

/*
 * Passes the host's next operation. Calls `each` for every operation that runs before the next one
 * arrives. Returns 0, -ENOMEM, or the value of `each`.
 */
int ts_exec_order_next(struct ts_exec_order *order, const struct ts_row_operation *operation);
/*
 * True if the host waits for all work, whatever the decisions. Memory should then be the same in
 * every order.
 */
bool ts_exec_order_drains(const struct ts_row_operation *operation);
/* Runs all queued operations. */
int ts_exec_order_finish(struct ts_exec_order *order);
void ts_exec_order_deinit(struct ts_exec_order *order);
