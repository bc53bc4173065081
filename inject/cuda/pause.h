/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls are left out because recording was stopped, told by their ids.
 *
 * A switch holds from an id on, which is chosen a little ahead of the newest and published before CUPTI gives it out: so every
 * thread judges a call alike, whenever it looks, and so does whoever decodes what the call made the device do, however
 * late that comes. Nothing is recorded by halves, and nobody waits.
 *
 * The flush thread alone switches; everybody reads, without a lock.
 */
#pragma once

#include "proto/abi/base.h"

/* Switches that are remembered, for what comes late: CUPTI may keep a buffer as long as one of its kernels runs. */
#define TS_PAUSE_SWITCHES 4096u
#define TS_PAUSE_STRAYS	  256u
/* A stray's id is so near to the switch that made it one; what is farther away is not looked for. */
#define TS_PAUSE_NEAR UINT64_C(65536)

struct ts_pause {
	uint64_t last; /* switch: the first id that it holds for << 1 | paused */
	uint64_t switches[TS_PAUSE_SWITCHES]; /* all of them, the oldest overwritten */
	uint32_t n_switches;
	/* Ids of calls made within a call that began on the other side of a switch: they share its lot. */
	uint32_t n_strays;
	uint64_t strays[TS_PAUSE_STRAYS];

	/* The flush thread's own. */
	bool paused;
	bool by_application;   /* who stopped it, and not the daemon's word */
	bool quiet;	       /* CUPTI does no more than is needed to go on from here */
	bool paused_all_yield; /* since before CUPTI was given up */
	uint64_t since_ns;     /* of the last switch */
};

/* For ids of before the last switch. */
bool ts_pause_looks_back(const struct ts_pause *pause, uint64_t op_id);

/* Whether a call of that id is left out. */
static inline bool ts_pause_leaves_out(const struct ts_pause *pause, uint64_t op_id)
{
	uint64_t last = __atomic_load_n(&pause->last, __ATOMIC_RELAXED);

	if (ts_likely(op_id >= last >> 1))
		return last & 1;
	return ts_pause_looks_back(pause, op_id);
}

/* A call of that id is made within one on the other side of a switch. */
void ts_pause_stray(struct ts_pause *pause, uint64_t op_id);

/* Whether what the device did for the call of that id is left out. */
bool ts_pause_drops(const struct ts_pause *pause, uint64_t op_id);

/* For the flush thread, and while nobody else looks: from `op_id` on calls are left out, or not. */
void ts_pause_publish(struct ts_pause *pause, uint64_t op_id, bool paused);

/* Before CUPTI is set up: nothing is recorded until it is asked for. */
void ts_pause_begin(struct ts_pause *pause);
