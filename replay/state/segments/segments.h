/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a long trace in segments of time, each with a state machine and a consumer of its own, in
 * threads. The caller joins the consumers in the order of time. The results are those of one
 * machine, or there are none: see segments.c. Private to replay/state.
 *
 * 	r = ts_segments_read(reader, &options, &consumer, data);
 * 	if (r)
 *		... read all rows with one machine
 */
#pragma once

#include "replay/state/doubts.h"
#include "replay/state/state-machine.h"

/* No result: the trace is short, or the state at a border may depend on rows far before it. */
#define TS_SEGMENTS_NONE 260 /* differs from the codes of sbt/error.h and limit.h */

/* Facts about a segment besides its operations. */
struct ts_segments_counts {
	/* As in struct ts_doubts. The first count may be negative: only the sum counts. */
	int64_t n_unanswered;
	uint64_t n_twice;
	/* Dependencies that ended by this time may be missing. The segment begins later. */
	uint64_t old_ns;
	/* Operations that ended by this time may be unknown: they began before all rows. */
	uint64_t begun_ns;
	/* Only for join(). Calls of the segments before without a device row; -1: unknown. */
	int64_t n_carried;
};

struct ts_segments_consumer {
	/*
	 * Creates the consumer of a segment, in a thread. `data` is shared by all threads. The
	 * machine exists until the last call of row() and take().
	 */
	int (*create)(void *data, bool is_first, const struct ts_state_machine *machine,
		      void **ret_consumer);
	/* NULL, or gets each row before the machine does. Also called before start(). */
	int (*row)(void *consumer, const struct ts_sbt_row *row);
	/* Takes an operation. Before start(), operations of the segment before are repeated. */
	int (*take)(void *consumer, const struct ts_state_op *op);
	/*
	 * The segment starts: the consumer forgets its sums. It keeps the state after the repeated
	 * operations, as far as times after old_ns prove it.
	 */
	void (*start)(void *consumer, const struct ts_segments_counts *counts);
	/*
	 * Adds a segment to the sums of all segments before it. Called by the caller's thread.
	 * Returns 0, or an error: then there is no result.
	 */
	int (*join)(void *data, void *consumer, const struct ts_segments_counts *counts);
	void (*free)(void *consumer);
};

struct ts_segments_options {
	uint32_t session; /* 0: all */
	uint64_t to_ns;	  /* 0: no limit */
	uint64_t rows;	  /* of the machine; 0: TS_STATE_MACHINE_ROWS */
	uint64_t types;	  /* for row(), besides those of the machine */
	/* take() must know whether an operation has dependencies by the legacy default stream. */
	bool needs_legacy;
	/* Rows of a segment, if the trace has enough for all threads. 0: default. */
	uint64_t max_rows;
	/* Least rows of a segment; for tests, rows of its warm-up. 0: default. */
	uint64_t n_rows, n_warm_rows;
};

static inline uint64_t ts_segments_rows(const struct ts_segments_options *options)
{
	return options->rows ? options->rows : TS_STATE_MACHINE_ROWS;
}

/* Returns 0 or TS_SEGMENTS_NONE; then the sums in `data` are not valid. */
int ts_segments_read(struct ts_sbt_reader *reader, const struct ts_segments_options *options,
		     const struct ts_segments_consumer *consumer, void *data);
