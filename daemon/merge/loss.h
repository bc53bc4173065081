/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses. A peer's counters only grow; what they grew by since the last look becomes `loss` rows
 * over the time between. One thread.
 */
#pragma once

#include "sbt/schema.h"

/* The counters as last looked at: of one shard, or of the control page. */
struct ts_loss_seen {
	uint64_t counts[TS_LOSS_COUNT];
};

/*
 * Compares `live` (shared memory, single writer, relaxed) with what was seen and fills rows for
 * what grew, at most TS_LOSS_COUNT. Returns how many. A counter that went back is a broken peer's:
 * it counts from there.
 */
unsigned ts_loss_look(struct ts_loss_seen *seen, const uint64_t *live, uint64_t from_ns,
		      uint64_t to_ns, uint32_t thread, struct ts_row_loss *ret_rows);

/* What an earlier daemon told of: `told` is shared memory. No more than was counted, whoever wrote it. */
void ts_loss_resume(struct ts_loss_seen *seen, const uint64_t *reported, const uint64_t *live);

/* What was seen has been written: says so, for a daemon that comes after this one. */
void ts_loss_store(const struct ts_loss_seen *seen, uint64_t *reported);

/* One row. */
struct ts_row_loss ts_loss_row(enum ts_loss_reason reason, uint64_t count, uint64_t from_ns,
			       uint64_t to_ns);
