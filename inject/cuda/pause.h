/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides by op_id which calls are left out because recording is stopped.
 *
 * A switch (a stop or a start) applies to the calls from a certain id on. The flush thread chooses
 * this id a little ahead of the newest id, and publishes it before CUPTI assigns it. So all
 * threads, and the decoder of late device rows, decide in the same way about a call. A call is
 * recorded with all its rows or not at all, and no thread waits.
 *
 * Only the flush thread switches. All threads read, without a lock.
 */
#pragma once

#include "proto/abi/base.h"

/*
 * Switches that are kept for late device rows: CUPTI may keep a buffer as long as one of its
 * kernels runs.
 */
#define TS_PAUSE_SWITCHES 4096u
#define TS_PAUSE_STRAYS	  256u
/* Maximum distance of a stray's id from the last switch; strays farther away are not searched. */
#define TS_PAUSE_NEAR UINT64_C(65536)

struct ts_pause {
	uint64_t last;			      /* the last switch: its first id << 1 | paused */
	uint64_t switches[TS_PAUSE_SWITCHES]; /* a ring in the format of `last` */
	uint32_t n_switches;
	/*
	 * Strays: ids of nested calls that began after a switch, although their outermost calls
	 * began before that switch. A stray is left out if its outermost call is left out, and
	 * recorded otherwise.
	 */
	uint32_t n_strays;
	uint64_t strays[TS_PAUSE_STRAYS];

	/* The flush thread's own. */
	bool paused;
	bool by_application;   /* the application stopped it, not the daemon */
	bool quiet;	       /* CUPTI gathers nothing: ts_recorder_quiet() */
	bool paused_all_yield; /* stopped since before CUPTI was given up */
	uint64_t since_ns;     /* time of the last switch */
};

/* Like ts_pause_leaves_out(), for ids before the last switch. */
bool ts_pause_looks_back(const struct ts_pause *pause, uint64_t op_id);

/* True if the call with this id is left out. */
static inline bool ts_pause_leaves_out(const struct ts_pause *pause, uint64_t op_id)
{
	uint64_t last = __atomic_load_n(&pause->last, __ATOMIC_RELAXED);

	if (ts_likely(op_id >= last >> 1))
		return last & 1;
	return ts_pause_looks_back(pause, op_id);
}

/* True if the call with this id is recorded, by the last switch. False: ts_pause_leaves_out(). */
static inline bool ts_pause_records(const struct ts_pause *pause, uint64_t op_id)
{
	const uint64_t last = __atomic_load_n(&pause->last, __ATOMIC_RELAXED);

	return op_id << 1 >= last && !(last & 1);
}

/*
 * Adds a stray: a nested call that began after a switch, although its outermost call began before
 * that switch.
 */
void ts_pause_stray(struct ts_pause *pause, uint64_t op_id);

/* Like ts_pause_drops(), if there are strays. */
bool ts_pause_drops_stray(const struct ts_pause *pause, uint64_t op_id);

/* True if the device rows of the call with this id are left out. */
static inline bool ts_pause_drops(const struct ts_pause *pause, uint64_t op_id)
{
	if (ts_unlikely(__atomic_load_n(&pause->n_strays, __ATOMIC_RELAXED)))
		return ts_pause_drops_stray(pause, op_id);
	return ts_pause_leaves_out(pause, op_id);
}

/*
 * Publishes a switch: from op_id on, calls are left out (paused) or recorded. Only the flush thread
 * calls it, or the thread that sets CUPTI up.
 */
void ts_pause_publish(struct ts_pause *pause, uint64_t op_id, bool paused);

/* Begins the session in the stopped state. Called before CUPTI is set up. */
void ts_pause_begin(struct ts_pause *pause);
