/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holder of CUPTI: the shim or the application's own profiler. The flush thread changes these
 * fields; the application's CUPTI calls (yield.c) change the fields that describe the application.
 */
#pragma once

#include "inject/cuda/cupti-library.h"

enum ts_yield_state {
	TS_YIELD_NOT = 0,      /* the shim holds CUPTI, or never did */
	TS_YIELD_GIVEN = 1,    /* given to the application */
	TS_YIELD_RETAKING = 2, /* the shim subscribes again, unless a taker comes */
};

struct ts_yield {
	uint32_t state;	      /* enum ts_yield_state */
	uint32_t n_takers;    /* threads inside one of the calls that take CUPTI */
	char to[128];	      /* file name of the library that took CUPTI last */
	uint64_t retry_at_ns; /* no retake before this time */

	/* The application's holds on CUPTI. */
	uint32_t subscribed;
	uint64_t kinds; /* a bit for each activity kind that the application enabled */
	/* Time since which the application holds nothing. 0: it holds something, or never did. */
	uint64_t done_ns;
	ts_cupti_buffer_requested_fn requested;
	ts_cupti_buffer_completed_fn completed;
	/*
	 * timestamp callback of the application's profiler; it replaced that of CUPTI or of the
	 * shim
	 */
	ts_cupti_timestamp_fn now;

	/*
	 * CUPTI's id of a probe call, to compute how many calls were made while CUPTI was given up.
	 */
	uint32_t probed_id;
	uint32_t last_seen_id;
	bool is_last_seen_known;
	bool from_start; /* the application has held CUPTI since before the session */
};

/* True if the application holds CUPTI, or a call that takes it is running. */
static inline bool ts_yield_is_held(const struct ts_yield *yield)
{
	return __atomic_load_n(&yield->n_takers, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&yield->subscribed, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&yield->kinds, __ATOMIC_ACQUIRE);
}
