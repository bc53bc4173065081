/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts about the runs of one side of a comparison (diff.h): durations by name, and the
 * operations of the first run by stream. Private to compare/.
 */
#pragma once

#include "replay/state/compare/diff.h"
#include "replay/state/state-map.h"
#include "sbt/intern.h"

struct ts_diff_samples {
	uint64_t *at;
	uint32_t n, n_allocated;
};

/* Identifies a name within one trace. */
struct ts_diff_key {
	uint32_t type;
	uint32_t kind; /* kernels: the string of the name; else as in struct ts_diff_name */
	uint32_t size_class;
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
	uint64_t segment;		 /* the last one that has the name; 0: none */
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
	uint64_t n_segments; /* added so far; 0: one machine read the rows */
};

/* The rows that a comparison reads. */
#define TS_DIFF_ROWS                                                                      \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | \
	 TS_ROW_BIT(TS_ROW_MEMSET))

void ts_diff_collection_deinit(struct ts_diff_collection *collection);

/*
 * Add rows or parts of a run. The functions return 0, -ENOMEM, TS_E_DIFF_NAMES or TS_E_STREAMS.
 */
struct ts_diff_key ts_diff_key_of(const struct ts_sbt_row *row);
struct ts_diff_config ts_diff_config_of(const struct ts_row_kernel *kernel);
int ts_diff_find_name(struct ts_diff_collection *collection, struct ts_sbt_reader *reader,
		      const struct ts_diff_key *key, uint32_t *ret_name);
int ts_diff_find_stream(struct ts_diff_collection *collection, uint32_t session, uint32_t context,
			uint32_t stream, uint32_t *ret_stream);
/* Adds durations of the current run, in order. */
int ts_diff_add_values(struct ts_diff_collected *name, const uint64_t *ns, size_t n);
int ts_diff_add_config(struct ts_diff_configs **configs, size_t run,
		       const struct ts_diff_config *config, uint64_t count);
/* Adds an operation of the first run, if the collection has less than TS_DIFF_MAX_OPS. */
int ts_diff_add_op(struct ts_diff_collection *collection, uint32_t stream,
		   const struct ts_diff_issued *op);
/* Returns the latest end of a device's operations; NULL: there are too many devices. */
uint64_t *ts_diff_busy_until(struct ts_diff_run *run, uint32_t session, uint32_t device);

static inline uint64_t ts_diff_duration(const struct ts_sbt_row *row)
{
	const uint64_t start_ns = ts_row_start_ns(row->any);
	const uint64_t end_ns = ts_row_end_ns(row->schema, row->any);

	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static inline void ts_diff_join_sums(struct ts_diff_side *sums, const struct ts_diff_side *more)
{
	if (!sums->count || more->min_ns < sums->min_ns)
		sums->min_ns = more->min_ns;
	if (more->max_ns > sums->max_ns)
		sums->max_ns = more->max_ns;
	sums->count += more->count;
	if (__builtin_add_overflow(sums->total_ns, more->total_ns, &sums->total_ns))
		sums->total_ns = UINT64_MAX;
}

static inline void ts_diff_sum(struct ts_diff_side *sums, uint64_t ns)
{
	const struct ts_diff_side one = {.count = 1, .total_ns = ns, .min_ns = ns, .max_ns = ns};

	ts_diff_join_sums(sums, &one);
}

/* Adds an operation to the sums of its run, but for the time that the device was busy. */
static inline void ts_diff_sum_op(struct ts_diff_run *run, struct ts_diff_total *total,
				  uint32_t type, uint64_t start_ns, uint64_t ns)
{
	const unsigned kind = type == TS_ROW_KERNEL ? 0 : type == TS_ROW_MEMCPY ? 1 : 2;

	run->first_ns = !run->n_ops++ ? start_ns : run->first_ns;
	if (start_ns + ns > run->last_ns)
		run->last_ns = start_ns + ns;
	run->ops_ns += ns;
	total->n_of[kind]++;
	total->ns_of[kind] += ns;
}

/*
 * Adds the time of an operation that no earlier operation of its device covers. Operations come
 * ordered by start, so the latest end so far is enough.
 */
static inline void ts_diff_add_busy(struct ts_diff_run *run, uint64_t *until_ns, uint64_t start_ns,
				    uint64_t end_ns)
{
	if (end_ns <= *until_ns)
		return;
	run->busy_ns += end_ns - (start_ns > *until_ns ? start_ns : *until_ns);
	*until_ns = end_ns;
}
