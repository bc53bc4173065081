/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes `loss` rows from a peer's counters of lost records. The counters only grow. A row has the
 * growth of one counter since the previous look, and the time since then. Not thread-safe.
 */
#pragma once

#include "sbt/schema.h"

/* The last values of the counters of one shard, or of the control page. */
struct ts_loss_seen {
	uint64_t counts[TS_LOSS_COUNT];
};

/*
 * Compares `live` (shared memory, single writer, relaxed) with `seen` and fills a row for each
 * counter that grew, at most TS_LOSS_COUNT. Returns the number of rows. If a counter went back, the
 * peer is broken; growth is then counted from the new value on.
 */
unsigned ts_loss_look(struct ts_loss_seen *seen, const uint64_t *live, uint64_t from_ns,
		      uint64_t to_ns, uint32_t thread, struct ts_row_loss *ret_rows);

/*
 * Continues from the counts that an earlier daemon reported. `reported` is shared memory that the
 * peer can write, so a count larger than the live counter is ignored.
 */
void ts_loss_resume(struct ts_loss_seen *seen, const uint64_t *reported, const uint64_t *live);

/*
 * Stores the seen counts in `reported`, so that a later daemon does not write them again. Call it
 * when the trace has their rows.
 */
void ts_loss_store(const struct ts_loss_seen *seen, uint64_t *reported);

/* Returns one row. */
struct ts_row_loss ts_loss_row(enum ts_loss_reason reason, uint64_t count, uint64_t from_ns,
			       uint64_t to_ns);
