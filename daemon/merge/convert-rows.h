/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a record in private memory to a row. Times become CLOCK_MONOTONIC, ids become the file's
 * ids. Device rows of a nested call get the operation id of the outer call. Not thread-safe.
 * Allocates nothing and takes no lock.
 */
#pragma once

#include "daemon/ingest/arena.h"
#include "daemon/merge/clock-table.h"
#include "daemon/merge/halves.h"
#include "sbt/schema.h"

struct ts_rows {
	/*
	 * One table for each enum ts_clock. The daemon adds clock pairs for the host's clock and
	 * for REALTIME; CLOCK records add pairs for CUPTI's clock. MONOTONIC needs no table.
	 */
	struct ts_clock_table *clocks[TS_CLOCK_COUNT];
	const struct ts_arena_reader *ids;
	struct ts_halves *halves;
	uint32_t thread; /* the file's id of the shard's owner */
	/* A record with a time outside this range is bad. */
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
#define TS_ROWS_E_BAD	  2 /* an impossible clock or value: count as BAD_RECORD */
#define TS_ROWS_E_TIME	  3 /* impossible times: count as BAD_TIME */

/*
 * Fills *ret_row; the type of the row is the type of the record. `record` passed ts_record_next().
 * If the record has fewer fixed words than this version, the missing ones are zero; additional ones
 * are ignored. Returns 0 or a TS_ROWS_E_*.
 */
int ts_rows_convert(struct ts_rows *rows, const struct ts_record *record,
		    union ts_row_any *ret_row);

/* Rows of the two most frequent types, and how many of each there are and may be. */
struct ts_rows_frequent {
	struct ts_row_api *api;
	struct ts_row_kernel *kernel;
	uint32_t n_api;
	uint32_t n_kernel;
	uint32_t n_most;
};

/*
 * Converts the records of bytes[*off, n_bytes) that begin before `to`, as ts_rows_convert() does.
 * *off moves behind them. The first record that is cut, malformed, no call or kernel, without room
 * for its row, or one for which ts_rows_convert() or its caller has more to do, ends the
 * conversion.
 */
void ts_rows_convert_frequent(struct ts_rows *rows, const uint8_t *bytes, size_t n_bytes, size_t to,
			      size_t *off, struct ts_rows_frequent *frequent);

/*
 * Converts a record of the lane. If its time is implausible, the row gets the session's latest
 * time; the order of operations is still right. Returns 0 or TS_ROWS_E_BAD.
 */
int ts_rows_operation(struct ts_rows *rows, const struct ts_record_operation *record,
		      struct ts_row_operation *ret_row);
