/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over a trace's rows: what the GPU did, summed up by the place that asked for it and by what it was; or the time of
 * threads, by where they were. Memory follows from the number of different ones, not from that of rows.
 */
#pragma once

#include "tools/export/export.h"
#include "tools/export/hashtable.h"

/* The stack that launched operations, or the stack of a sampled thread. */
struct ts_site {
	uint32_t session;
	uint32_t is_known; /* 0: the call is not in the trace, and what follows is 0 */
	uint32_t stack;	   /* 0: none was taken */
	uint32_t thread;
	uint32_t epoch; /* of the session's modules: an address means the same throughout one */
	uint32_t reserved;
	/* the key ends here */
	uint64_t time_ns; /* of the first call from there */
};

struct ts_sample {
	uint32_t site;
	uint32_t type; /* TS_ROW_KERNEL, ..., 0 without leaves */
	uint32_t
		name; /* of a kernel: string; of a copy: its kind; of a sample: TS_SAMPLE_KERNEL or 0; off a processor: the reason */
	uint32_t device; /* TS_NO_DEVICE where devices and streams are not told apart */
	uint32_t stream;
	uint32_t reserved;
	/* the key ends here */
	uint64_t values[TS_EXPORT_N_WEIGHTS];
};

struct ts_collected {
	struct ts_hashtable sites;   /* of struct ts_site */
	struct ts_hashtable samples; /* of struct ts_sample */
	struct ts_export_report report;
	uint64_t period_ns; /* of the first sample; 0: there is none */
};

/* `profile`: samples of different devices and streams are different; of threads' time there is all, whatever weight is asked for. */
int ts_collect(struct ts_sbt_reader *reader, const struct ts_export_options *options, bool profile,
	       struct ts_collected *ret_collected);
void ts_collected_deinit(struct ts_collected *collected);

/* Within collect.c: the time of threads. `all`: not the options' weight alone. */
int ts_collect_host(struct ts_sbt_reader *reader, const struct ts_export_options *options, bool all,
		    struct ts_collected *collected);

/* Sums of a hostile trace's numbers stay numbers that a profile can hold. */
static inline void ts_collect_add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum) || *sum > INT64_MAX)
		*sum = INT64_MAX;
}
