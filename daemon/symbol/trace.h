/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names everything in a trace's stacks: what the frames' addresses lie in, what it is called, and the rows that
 * say so. Where the rows go is the caller's: into a recording that is about to end, or behind a finished file.
 */
#pragma once

#include "daemon/symbol/symbolizer.h"
#include "sbt/reader.h"

struct ts_symbol_sink {
	int (*string)(void *data, const char *bytes, size_t n_bytes, uint32_t *ret_id);
	int (*row)(void *data, unsigned type, const void *row);
	void *data;
};

struct ts_symbol_trace_options {
	struct ts_symbolizer_options symbolizer;
	uint64_t deadline_ns; /* of CLOCK_MONOTONIC; 0: none. What is left then is not tried */
	const uint64_t
		*stop_ns; /* not 0: as if the deadline was over; read atomically. NULL: none */
	bool for_others;  /* root opens what a session's process named with that process's rights */
	bool again;	  /* what was resolved before, too */
};

struct ts_symbol_report_image {
	char *path;
	enum ts_image_kind kind;
	enum ts_image_result result;
	char why[TS_SYMBOL_WHY_BYTES];
	uint64_t n_addresses, n_named;
};

struct ts_symbol_report {
	uint64_t n_frames;    /* of all stacks */
	uint64_t n_addresses; /* different ones, by file */
	uint64_t n_named;
	uint64_t n_kept;     /* images that were resolved before */
	uint64_t n_left_out; /* frames beyond the bound */
	struct ts_symbol_report_image *images;
	size_t n_images;
};

void ts_symbol_report_deinit(struct ts_symbol_report *report);

/* The most different addresses of a session; further ones are counted and left out. */
#define TS_SYMBOL_MAX_ADDRESSES (4u * 1024 * 1024)

/*
 * `report` may be NULL. 0, a negative errno (-ENOENT: there is no worker), or TS_SBT_E_*. Without a stack no
 * worker is started.
 */
int ts_symbolize_trace(struct ts_sbt_reader *reader, const struct ts_symbol_sink *sink,
		       const struct ts_symbol_trace_options *options,
		       struct ts_symbol_report *report);
