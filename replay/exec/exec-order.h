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
/*
 * limit of listed ranges; a copy to memory beyond the limit is treated like one to pageable memory:
 * the host waits for it
 */
#define TS_EXEC_MAX_SHARED 1024u

struct ts_exec_waiting {
	const struct ts_row_operation *operation; /* NULL: free slot */
	uint64_t number;			  /* position in call order */
	uint64_t behind; /* bits of the operations that must complete first */
	/* number of other operations that must still complete before a held operation runs */
	uint64_t held;
	/* the operation's stream; `context` is the stream's context, if known */
	struct ts_stream_name name;
	struct ts_stream_kind kind;
	/* the description of the decision to hold the operation; NULL: not described */
	struct ts_exec_decision *decision;
};

struct ts_exec_order {
	struct ts_exec_schedule *schedule;
	int (*each)(void *userdata, const struct ts_row_operation *operation);
	void *userdata;
	struct ts_exec_waiting waiting[TS_EXEC_MAX_WAITING];
	uint64_t is_waiting; /* bit i: slot i of `waiting` is used */
	uint64_t n;
	/*
	 * The map's key `session` is 0 for contexts of stream handles, 1 for non-blocking streams,
	 * and 2 for last records of events.
	 */
	struct ts_state_map streams;
	/* Ranges of memory that both the host and the device may access. Not sorted. */
	struct {
		uint64_t start, bytes;
		bool is_managed; /* true: managed memory; false: pinned memory */
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
