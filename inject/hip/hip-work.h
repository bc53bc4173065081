/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of HIP work between the call that submits it and its device rows. HIP's activity records
 * have an operation id, times and a name; grid, stream and kind of copy are known at the call
 * alone.
 *
 * One table by op_id, without a lock. A later call takes the place of the call TS_HIP_WORKS before
 * it. Thread-safe; a reader never gets half an entry.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_HIP_WORKS 65536u

struct ts_hip_work {
	uint64_t op_id;
	union {
		struct { /* launches */
			uint32_t grid[3], block[3];
			uint32_t dynamic_shared_bytes;
			uint32_t code; /* number of the kernel's code (hip-code.h); 0: unknown */
		};
		struct {		/* copies and sets */
			uint64_t bytes; /* as the call has them; 0: not known */
			uint32_t value; /* sets */
		};
		struct {		   /* launches of graphs */
			uint64_t graph;	   /* the kernels in it (hip-graphs.h) */
			uint32_t graph_id; /* in the trace */
		};
	};
	uint32_t name;	 /* launches, if the runtime's records have no names; string id, else 0 */
	uint32_t device; /* HIP's ordinal */
	uint32_t stream; /* id in the trace */
	uint8_t kind;	 /* enum ts_cupti_class of the call: selects the part of the union */
	uint8_t copy_kind;
	uint8_t async;
	uint8_t is_awaited; /* 1: a device row will certainly come */
};

struct ts_hip_works {
	struct ts_hip_work_slot *slots; /* NULL: no memory, nothing is kept */
};

/* Maps the table. Returns 0 or -ENOMEM. Lives as long as the session. */
int ts_hip_works_init(struct ts_hip_works *works);

/* Stores the facts of a call that begins. */
void ts_hip_works_put(struct ts_hip_works *works, const struct ts_hip_work *work);

/* Copies the facts of a call. Returns false if they are not known, or no more. */
bool ts_hip_works_get(const struct ts_hip_works *works, uint64_t op_id, struct ts_hip_work *ret);

/*
 * Marks an awaited call as done: its first device row came, or the call failed. Further calls for
 * the same id change nothing.
 */
void ts_hip_works_done(struct ts_hip_works *works, uint64_t op_id);

/*
 * Returns the number of awaited calls without a device row, among the newest n_calls with ids up to
 * newest_op_id. Scans the table, so it is for the end of a process. With `gives_up`, marks them as
 * done.
 */
uint64_t ts_hip_works_pending(struct ts_hip_works *works, uint64_t newest_op_id, uint64_t n_calls,
			      bool gives_up);
