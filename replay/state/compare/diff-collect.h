/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the runs of one side for a comparison (diff.h): durations by name, and the operations of
 * the first run by stream. Two sides can be collected in two threads. Private to compare/.
 */
#pragma once

#include "replay/state/compare/diff.h"
#include "replay/state/state-map.h"
#include "sbt/intern.h"

struct ts_diff_samples {
	uint64_t *at;
	uint32_t n, n_allocated;
};

#define TS_DIFF_MAX_CONFIGS 8u /* distinct configurations per kernel */

struct ts_diff_configs {
	struct ts_diff_config at[TS_DIFF_MAX_CONFIGS];
	uint64_t counts[TS_DIFF_MAX_CONFIGS];
	size_t n_runs[TS_DIFF_MAX_CONFIGS];   /* runs with this configuration */
	size_t last_run[TS_DIFF_MAX_CONFIGS]; /* the last of the runs with this configuration */
	unsigned n;
	/* there were more than TS_DIFF_MAX_CONFIGS configurations: no verdict possible */
	bool is_full;
};

/* The smallest and the largest count over the runs of a side. */
struct ts_diff_extremes {
	uint64_t least_count, most_count;
	struct ts_spread medians; /* spread of the medians of the runs that have the name */
};

/* A name of one side. */
struct ts_diff_collected {
	uint32_t type, kind, size_class; /* as in struct ts_diff_name */
	uint32_t text_bytes;
	char *text; /* kernels: the mangled name; else NULL */
	struct ts_diff_side sums;
	struct ts_diff_samples samples; /* of all finished runs; in order after the last one */
	struct ts_diff_samples run;	/* of the current run */
	uint64_t n_in_run;
	struct ts_diff_extremes extremes;
	struct ts_diff_configs *configs; /* NULL: none */
};

/* An operation of the first run. */
struct ts_diff_issued {
	uint64_t start_ns, duration_ns, op_id;
	uint32_t name; /* number among the side's names */
};

struct ts_diff_stream {
	uint32_t session, stream;   /* as in the trace */
	uint32_t session_at;	    /* number among sessions with operations */
	uint64_t first_op_id;	    /* smallest */
	struct ts_diff_issued *ops; /* in order of time */
	size_t n, n_allocated;
};

#define TS_DIFF_MAX_DEVICES 64u

/* The current run while it is read. */
struct ts_diff_run {
	size_t at; /* number of the run in its side */
	uint64_t n_ops, first_ns, last_ns, ops_ns, busy_ns;
	struct {
		uint32_t session, device;
		uint64_t busy_until_ns;
	} devices[TS_DIFF_MAX_DEVICES];
	unsigned n_devices;
};

/* Start with all bytes zero. */
struct ts_diff_collection {
	struct ts_diff_collected *names; /* in order of their first rows */
	size_t n_names, n_names_allocated;
	struct ts_diff_total total;
	bool has_host_clock;
	struct ts_diff_stream *streams;
	size_t n_streams, n_streams_allocated;
	size_t n_ops;	   /* of all streams */
	uint64_t first_ns; /* of the first run */

	struct ts_intern texts;
	struct ts_state_map by_key;  /* name; the row type serves as the map's session */
	struct ts_state_map kernels; /* name by the trace's string id */
	struct ts_state_map by_stream;
	struct ts_state_map by_session; /* number among sessions with operations */
	uint32_t n_sessions;
	struct ts_diff_run run;
};

/*
 * Reads the runs of a side. Returns the errors of ts_diff_read(); *ret_run is the run that failed.
 */
int ts_diff_collect(const struct ts_diff_runs *runs, struct ts_diff_collection *collection,
		    size_t *ret_run);
void ts_diff_collection_deinit(struct ts_diff_collection *collection);
