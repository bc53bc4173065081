/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a session's shared memory: one memfd, laid out, sealed and mapped (proto/abi/session.h). */
#pragma once

#include "proto/abi/session.h"

struct ts_session_options {
	uint32_t n_shards;
	uint64_t ring_bytes;
	uint64_t arena_bytes;
	uint64_t lane_bytes; /* 0: none */
	uint32_t parent_session_pid;
	uint32_t command; /* initial value; a daemon may change it */
	const char *program;
	struct ts_job job;
};

/*
 * Mappings of the session. At first each mapping is one page; its user maps further pages directly
 * after it when they are needed (unlocked.h). A forked child inherits none of the mappings.
 */
struct ts_session_memory {
	struct ts_control *control;
	struct ts_arena *arena; /* without its definitions */
	struct ts_shard *lane;	/* without its ring; NULL: no lane */
};

/*
 * Makes the memory. If memory or a resource limit is short, it is smaller than requested. The
 * caller owns *ret_fd; the mappings live as long as the process. Returns 0, or the negative errno
 * of the attempt with the smallest size.
 */
int ts_session_new(const struct ts_session_options *options, int *ret_fd,
		   struct ts_session_memory *ret_memory);

/*
 * Returns the clock that the kernel itself trusts: the processor's counter if it is the
 * clocksource, else CLOCK_MONOTONIC.
 */
enum ts_clock ts_session_host_clock(void);

/*
 * Records which tool has held CUPTI from the start. This is the reason for an empty trace until
 * ts_session_has_cupti().
 */
void ts_session_wait_for_cupti(struct ts_control *control, const char *text);
void ts_session_has_cupti(struct ts_control *control);

/* Records why the session can record nothing. The first reason stays. Thread-safe. */
void ts_session_refuse(struct ts_control *control, enum ts_empty_reason reason, const char *text);

static inline void ts_session_count(struct ts_control *control, enum ts_loss_reason reason,
				    uint64_t n)
{
	__atomic_fetch_add(&control->lost[reason], n, __ATOMIC_RELAXED);
}
