/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the event record that a wait refers to: the last record before the wait. CUPTI identifies
 * events by its own numbers in waits, and by handles in records. The rows of stream-wait calls map
 * numbers to handles, but such a row comes shortly after the wait's row. So a wait is delayed until
 * that row comes, or until TS_WAITS_NS of trace time have passed. At most TS_WAITS_MAX waits are
 * delayed at once. The caller adds rows in order. Memory depends on the number of events that are
 * alive or whose end is unrecorded. Not thread-safe. Functions return 0 or -ENOMEM.
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
	uint64_t record_op_id; /* 0: unknown */
	uint32_t record_stream;
};

/* The caller zeroes the struct, then calls ts_waits_init(). */
struct ts_waits {
	struct ts_hashtable records; /* by handle */
	struct ts_hashtable numbers; /* by the vendor's number: handle */
	struct ts_waits_one waits[TS_WAITS_MAX];
	uint32_t first, n; /* a ring */
};

void ts_waits_init(struct ts_waits *waits);
void ts_waits_deinit(struct ts_waits *waits);
int ts_waits_record(struct ts_waits *waits, uint32_t session, const struct ts_row_event *row);
int ts_waits_stream_wait(struct ts_waits *waits, uint32_t session,
			 const struct ts_row_stream_wait *row);
/* Adds a wait. The caller has emptied ts_waits_next() before, so there is room. */
int ts_waits_sync(struct ts_waits *waits, uint32_t session, const struct ts_row_sync *row);
/*
 * Returns the next wait, in order of arrival, that needs no more delay at now_ns; valid until the
 * next call. NULL: none.
 */
const struct ts_waits_one *ts_waits_next(struct ts_waits *waits, uint64_t now_ns);
