/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a session's shared memory: one memfd, laid out, sealed and mapped (proto/abi/session.h).
 */
#pragma once

#include "proto/abi/session.h"

struct ts_session_options {
	uint32_t n_shards;
	uint64_t ring_bytes;
	uint64_t arena_bytes;
	uint64_t lane_bytes; /* 0: none */
	uint32_t parent_session_pid;
	uint32_t command; /* until a daemon says otherwise */
	const char *program;
};

/*
 * Makes it; where memory or a resource limit is short, smaller than asked for. The mapping is not
 * inherited by forked children. *ret_fd is the caller's; the mapping lives as long as the process.
 * Returns 0, or a negative errno of what failed at the smallest size.
 */
int ts_session_new(const struct ts_session_options *options, int *ret_fd,
		   struct ts_control **ret_control);

/* The clock that the kernel itself trusts: the TSC where it is the clocksource, else CLOCK_MONOTONIC. */
enum ts_clock ts_session_host_clock(void);

/* Says why nothing can be recorded. The first reason stays. Thread-safe. */
/*
 * Says who has CUPTI from the start and so why there is nothing, for as long as that is so: until ts_session_has_cupti().
 */
void ts_session_wait_for_cupti(struct ts_control *control, const char *text);
void ts_session_has_cupti(struct ts_control *control);

void ts_session_refuse(struct ts_control *control, enum ts_empty_reason reason, const char *text);

static inline void ts_session_count(struct ts_control *control, enum ts_loss_reason reason,
				    uint64_t n)
{
	__atomic_fetch_add(&control->lost[reason], n, __ATOMIC_RELAXED);
}
