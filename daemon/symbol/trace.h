/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolises all stacks of a trace and writes rows with the files (image) and symbols. The caller's
 * sink adds the rows to a recording that is about to end, or appends them to a finished file.
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
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; later files are not tried; 0: none */
	/* If *stop_ns is not 0, the deadline counts as expired; read atomically. May be NULL. */
	const uint64_t *stop_ns;
	bool for_others; /* root opens a session's files as the session's user */
	bool again;	 /* resolve files again that were resolved before */
};

struct ts_symbol_report_image {
	char *path;
	enum ts_image_kind kind;
	enum ts_image_result result;
	char why[TS_SYMBOL_WHY_BYTES];
	uint64_t n_addresses, n_named;
};

struct ts_symbol_report {
	uint64_t n_frames;    /* in all stacks */
	uint64_t n_addresses; /* different ones, per file */
	uint64_t n_named;
	uint64_t n_kept;     /* images that were resolved before */
	uint64_t n_left_out; /* frames above TS_SYMBOL_MAX_ADDRESSES */
	struct ts_symbol_report_image *images;
	size_t n_images, n_images_allocated;
};

/* Frees the list of images and zeroes the report. */
void ts_symbol_report_deinit(struct ts_symbol_report *report);

/*
 * Largest number of different addresses of a session; frames with further addresses are counted and
 * get no symbols.
 */
#define TS_SYMBOL_MAX_ADDRESSES (4u * 1024 * 1024)

/*
 * Symbolises a trace. `report` may be NULL. Returns 0, a negative errno (-ENOENT: there is no
 * worker), or TS_SBT_E_*. If the trace has no stack, no worker is started.
 */
int ts_symbolize_trace(struct ts_sbt_reader *reader, const struct ts_symbol_sink *sink,
		       const struct ts_symbol_trace_options *options,
		       struct ts_symbol_report *report);
