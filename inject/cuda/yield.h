/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has CUPTI: us, or the application's own profiler. What is changed here is changed on the flush thread, but for
 * what the application does by its own calls.
 */
#pragma once

#include "inject/cuda/cupti-library.h"

enum ts_yield_state {
	TS_YIELD_NOT = 0,      /* ours, or never was */
	TS_YIELD_GIVEN = 1,    /* the application's */
	TS_YIELD_RETAKING = 2, /* about to be ours again, unless somebody comes */
};

struct ts_yield {
	uint32_t state;	      /* enum ts_yield_state */
	uint32_t n_takers;    /* threads inside one of the calls that take CUPTI */
	char to[128];	      /* who took it last */
	uint64_t retry_at_ns; /* not retaken before */

	/* What the application holds of CUPTI. */
	uint32_t subscribed;
	uint64_t kinds;	  /* a bit for each activity kind that it enabled */
	uint64_t done_ns; /* since when it has held nothing; 0: it holds something, or never did */
	ts_cupti_buffer_requested_fn requested;
	ts_cupti_buffer_completed_fn completed;
	ts_cupti_timestamp_fn now; /* its clock, in the place of CUPTI's own and of ours */

	/* CUPTI's id of the call that the flush thread makes, to know how many were made meanwhile. */
	uint32_t probed_id;
	uint32_t last_seen_id;
	bool is_last_seen_known;
	bool from_start; /* the application had it before the session began, and since then */
};

/* Whether the application holds any of CUPTI, or is about to. */
static inline bool ts_yield_is_held(const struct ts_yield *yield)
{
	return __atomic_load_n(&yield->n_takers, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&yield->subscribed, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&yield->kinds, __ATOMIC_ACQUIRE);
}
