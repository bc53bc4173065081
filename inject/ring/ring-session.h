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
 * A page each is mapped at first; the rest is mapped behind them when it is used (unlocked.h). No forked child inherits
 * any of it.
 */
struct ts_session_memory {
	struct ts_control *control;
	struct ts_arena *arena; /* without its definitions */
	struct ts_shard *lane;	/* without its ring; NULL: there is none */
};

/*
 * Makes it; where memory or a resource limit is short, smaller than asked for. *ret_fd is the caller's; the mappings live as long as the process.
 * Returns 0, or a negative errno of what failed at the smallest size.
 */
int ts_session_new(const struct ts_session_options *options, int *ret_fd,
		   struct ts_session_memory *ret_memory);

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
