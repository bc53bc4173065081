/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record in private memory becomes a row: times onto CLOCK_MONOTONIC, ids to the file's, device
 * rows under the outer call's operation id. One thread; no allocation, no lock.
 */
#pragma once

#include "daemon/ingest/arena.h"
#include "daemon/merge/clock-table.h"
#include "daemon/merge/halves.h"
#include "sbt/schema.h"

struct ts_rows {
	/*
	 * By enum ts_clock. The host's and REALTIME's are fed by the daemon, CUPTI's by CLOCK
	 * records; MONOTONIC needs none.
	 */
	struct ts_clock_table *clocks[TS_CLOCK_COUNT];
	const struct ts_arena_reader *ids;
	struct ts_halves *halves;
	uint32_t thread; /* the file's id of the shard's owner */
	/* Times outside are nobody's: the record is bad. */
	uint64_t earliest_ns;
	uint64_t latest_ns;
};

/* Room for any row. */
union ts_row_any {
	uint64_t align;
	uint8_t bytes[TS_ROW_MAX_BYTES];
	struct ts_row_api api;
	struct ts_row_kernel kernel;
	struct ts_row_memcpy memcpy_;
	struct ts_row_memset memset_;
	struct ts_row_sync sync;
	struct ts_row_memory memory;
	struct ts_row_event event;
	struct ts_row_stream_wait stream_wait;
	struct ts_row_stream stream;
	struct ts_row_context context;
	struct ts_row_graph_launch graph_launch;
	struct ts_row_mark mark;
	struct ts_row_range range;
	struct ts_row_counter counter;
	struct ts_row_clock clock;
	struct ts_row_loss loss;
	struct ts_row_overhead overhead;
	struct ts_row_gpu_module gpu_module;
	struct ts_row_yield yield;
	struct ts_row_range_begin range_begin;
	struct ts_row_pause pause;
	struct ts_row_access access;
	struct ts_row_operation operation;
};

#define TS_ROWS_E_UNKNOWN 1 /* a type that this version does not know: count as UNKNOWN_RECORD */
#define TS_ROWS_E_BAD	  2 /* a clock or a value that cannot be: count as BAD_RECORD */
#define TS_ROWS_E_TIME	  3 /* times that cannot be: count as BAD_TIME */

/*
 * Fills *ret_row; the row's type is the record's. `record` passed ts_record_next(): its fixed words
 * may be fewer than this version's (the rest reads as zero) or more (not looked at).
 */
int ts_rows_convert(struct ts_rows *rows, const struct ts_record *record,
		    union ts_row_any *ret_row);

/* The same for a record of the lane. A time that cannot be is the session's latest: what was done is in order all the same. */
int ts_rows_operation(struct ts_rows *rows, const struct ts_record_operation *record,
		      struct ts_row_operation *ret_row);
