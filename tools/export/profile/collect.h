/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace's rows once, and sums the GPU's work by launch site and operation, or the time of
 * threads by their stack. Memory depends on the number of distinct sites and samples, not of rows.
 */
#pragma once

#include "tools/export/export.h"
#include "tools/export/hashtable.h"

/* The stack that launched operations, or the stack of a sampled thread. */
struct ts_site {
	uint32_t session;
	uint32_t is_known; /* 0: the call is not in the trace; later fields are 0 */
	uint32_t stack;	   /* 0: no stack was captured */
	uint32_t thread;
	/* epoch of the session's modules; within an epoch, an address keeps its meaning */
	uint32_t epoch;
	uint32_t reserved;
	/* end of key */
	uint64_t time_ns; /* of the first call from this site */
};

struct ts_sample {
	uint32_t site;
	uint32_t type; /* TS_ROW_KERNEL, ...; 0: no_leaf */
	/*
	 * For a kernel, its name's string id; for a copy, its kind; for a sample, TS_SAMPLE_KERNEL
	 * or 0; for an off-CPU time, its reason.
	 */
	uint32_t name;
	uint32_t device; /* TS_NO_DEVICE if devices and streams are merged */
	uint32_t stream;
	uint32_t reserved;
	/* end of key */
	uint64_t values[TS_EXPORT_N_WEIGHTS];
};

struct ts_collected {
	struct ts_hashtable sites;   /* of struct ts_site */
	struct ts_hashtable samples; /* of struct ts_sample */
	struct ts_export_report report;
	uint64_t period_ns; /* of the first sample; 0: no sample */
};

/*
 * Sums a trace. If `profile` is true, it keeps devices and streams apart. For the time of threads
 * it then sums all weights, not only the weight in the options.
 */
int ts_collect(struct ts_sbt_reader *reader, const struct ts_export_options *options, bool profile,
	       struct ts_collected *ret_collected);
void ts_collected_deinit(struct ts_collected *collected);

/*
 * For collect.c only: sums the time of threads. If `all` is true, sums all weights, and not only
 * the requested one.
 */
int ts_collect_host(struct ts_sbt_reader *reader, const struct ts_export_options *options, bool all,
		    struct ts_collected *collected);

/* Adds and saturates, because sums of an untrusted trace must fit into a profile. */
static inline void ts_collect_add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum) || *sum > INT64_MAX)
		*sum = INT64_MAX;
}
