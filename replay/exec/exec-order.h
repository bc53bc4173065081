/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order operations are done, where that is chosen: the host goes on while what it put into streams waits, behind what is
 * before it in its stream, behind events and by the legacy default stream's rule, and until the host waits for it. Where it is
 * not known what the host waits for (frees, its own writes to memory, what is not captured) it waits for all.
 */
#pragma once

#include "replay/exec/exec-schedule.h"
#include "replay/state/state-map.h"
#include "replay/streams/streams.h"

#define TS_EXEC_MAX_WAITING 64u
#define TS_EXEC_MAX_SHARED \
	1024u /* of more the host waits for copies to them, as for those to pageable memory */

struct ts_exec_waiting {
	const struct ts_row_operation *operation; /* NULL: nobody waits here */
	uint64_t number;			  /* in the order in which they were called for */
	uint64_t behind;			  /* bits of those that have to be over before */
	uint64_t held;				  /* until so many others were done */
	struct ts_stream_name name; /* its context is the stream's, where that is known */
	struct ts_stream_kind kind;
	struct ts_exec_decision *decision; /* that it is held; NULL: it is not told */
};

struct ts_exec_order {
	struct ts_exec_schedule *schedule;
	int (*each)(void *userdata, const struct ts_row_operation *operation);
	void *userdata;
	struct ts_exec_waiting waiting[TS_EXEC_MAX_WAITING];
	uint64_t is_waiting; /* bits of those that are */
	uint64_t n;
	struct ts_state_map
		streams; /* contexts of handles; as session 1 which are non-blocking; as session 2 events' last records */
	struct {
		uint64_t start, bytes;
		bool is_managed;      /* else pinned */
	} shared[TS_EXEC_MAX_SHARED]; /* memory that the host and the device reach, in no order */
	uint32_t n_shared;
};

/* What the host asks for next. Calls `each` for what is done until it asks for more. 0, or what `each` answered. */
int ts_exec_order_next(struct ts_exec_order *order, const struct ts_row_operation *operation);
/* Whether the host waits for all there is, whatever was decided: what is in memory then should be the same in every order. */
bool ts_exec_order_drains(const struct ts_row_operation *operation);
/* All that waits. */
int ts_exec_order_finish(struct ts_exec_order *order);
void ts_exec_order_deinit(struct ts_exec_order *order);
