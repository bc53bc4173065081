/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which record of an event a wait stands for: the last one before it. The vendor tells of waits by numbers of its own, of records by
 * handles; which number is which handle follows from the calls that made streams wait, whose row comes a moment after the wait's. So
 * waits are kept back until then, at most TS_WAITS_NS of the trace's time, and at most TS_WAITS_MAX of them. Rows are fed in their order.
 *
 * Memory follows from the number of events that are alive or not told to be gone. One thread; 0 or -ENOMEM.
 */
#pragma once

#include "sbt/schema.h"
#include "tools/export/hashtable.h"

#define TS_WAITS_NS  UINT64_C(100000000)
#define TS_WAITS_MAX 256u

struct ts_waits_one {
	struct ts_row_sync row;
	uint32_t session;
	bool is_ready;
	uint64_t record_op_id; /* 0: not known */
	uint32_t record_stream;
};

/* Zeroed, then initialised. */
struct ts_waits {
	struct ts_hashtable records; /* by handle */
	struct ts_hashtable numbers; /* of the vendor's: handle */
	struct ts_waits_one waits[TS_WAITS_MAX];
	uint32_t first, n; /* a ring */
};

void ts_waits_init(struct ts_waits *waits);
void ts_waits_deinit(struct ts_waits *waits);
int ts_waits_record(struct ts_waits *waits, uint32_t session, const struct ts_row_event *row);
int ts_waits_stream_wait(struct ts_waits *waits, uint32_t session,
			 const struct ts_row_stream_wait *row);
/* There must be room: ts_waits_next() was asked before. */
int ts_waits_sync(struct ts_waits *waits, uint32_t session, const struct ts_row_sync *row);
/* The next one that need not wait at that time, in the order in which they came; valid until the next call. NULL: none. */
const struct ts_waits_one *ts_waits_next(struct ts_waits *waits, uint64_t now_ns);
