/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP in the shim: the runtime's dispatch tables, which belong to the process, and the state of the
 * session.
 *
 * 	program -> hipX() of libamdhip64 -> its table -> wrapper (hip-wrappers.c) -> runtime
 * 	                                                    |                           |
 * 	                                        API row, facts of work          activity callback
 * 	                                           (hip-calls.c)                 (hip-rows.c)
 *
 * All functions are thread-safe. The application's HIP calls may call them, except where a comment
 * names another caller.
 */
#pragma once

#include "inject/calls/stream-table.h"
#include "inject/hip/hip-allocations.h"
#include "inject/hip/hip-code.h"
#include "inject/hip/hip-graphs.h"
#include "inject/hip/hip-work.h"
#include "inject/ring/producer.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_types.h"

struct ts_shim;

/*
 * Work that rocprofiler-sdk reports: a record with this domain is the first member of a struct
 * ts_hip_dispatch. HIP's own records do not have the size of a kernel.
 */
#define TS_HIP_DOMAIN_SDK 256u

struct ts_hip_dispatch {
	struct ts_hip_activity_record record;
	uint32_t grid[3], block[3]; /* of a kernel; 0: not known */
};

/* Room for slots of HIP's dispatch table; later slots are not wrapped. */
#define TS_HIP_MAX_SLOTS 640u

/* State of the process, not of a session: the runtime whose calls go through the wrappers. */
struct ts_hip_runtime {
	uint32_t wrapped;		 /* 1: a runtime has been claimed; others are left alone */
	uint32_t way;			 /* TS_INTERFACE_HIP_TABLES or _SYMBOLS; 0: none */
	uint32_t n_slots;		 /* of the table, its size included */
	void *next[TS_HIP_MAX_SLOTS];	 /* the runtime's own functions, by slot */
	void *(*wrapper)(uint32_t slot); /* ts_hip_wrapper(), for calls that get rows */
	uint32_t compiler_wrapped; /* 1: a table of the compiler's functions has been claimed */
	struct ts_hip_codes codes;
};

#define TS_HIP_ATTACHED 2u

/* A wrapper's call in progress. It lies in the wrapper's stack frame, at an address of its own. */
struct ts_hip_frame {
	const void *params;
	uint64_t op_id; /* of the recorded call */
	/* A call that is captured for a replay, and makes no record: its id. 0: another call */
	uint32_t captured;
	bool is_known;	 /* `handle` or `allocation` was known */
	bool has_events; /* ts_hip_events_enter() was called */
	/*
	 * The stream or memory that the call destroys; handle and address 0: none. Not set by a
	 * launch, which destroys nothing.
	 */
	uint64_t handle;
	uint32_t context, stream; /* of `handle` */
	struct ts_hip_allocation allocation;
};

/*
 * The session's part. Words that calls, or threads of the runtime, write have cache lines of their
 * own: each call reads the words before them.
 */
struct ts_hip {
	uint32_t started;  /* 1: the session records HIP */
	uint32_t attached; /* TS_HIP_ATTACHED: devices are defined, the callback is installed */
	uint32_t traced;   /* not 0: the runtime reports finished work */
	uint32_t stopped;  /* recording is stopped: calls that begin now are left out */
	/*
	 * In a process with CUDA, ids of HIP's devices, contexts, streams and operations begin
	 * behind CUDA's.
	 */
	uint64_t first_op_id;
	uint32_t first_device;
	uint32_t phases_off; /* in the runtime's record of a call, proto/abi/vendor/hip.h */
	uint64_t ahead_ns;   /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC */
	/* Times of rows up to here need no other look at the clock; grows once a second. */
	uint64_t latest_ns;
	/* Runtimes before 5.3.1; NULL: records have the names of kernels. */
	hipKernelNameRef_fn *name_of_function;
	hipKernelNameRefByPtr_fn *name_of_pointer;
	struct ts_hip_numbered *commands; /* hip-activity.c; NULL: none */
	struct ts_hip_events *events;	  /* hip-events.c; NULL: the runtime reports the work */
	struct ts_hip_works works;
	uint32_t dirty;	      /* enum ts_dirty: rocprofiler-sdk may hold work */
	uint64_t flush_at_ns; /* flush thread: the latest time of the SDK's next flush */
	uint32_t n_streams;
	uint32_t n_graph_ids;
	uint64_t n_calls __attribute__((aligned(TS_CACHE_LINE)));
	struct ts_hip_memory memory __attribute__((aligned(TS_CACHE_LINE)));
	struct ts_hip_code_ids code;
	struct ts_hip_graphs graphs;
	struct ts_stream_table streams;
	struct ts_stream_table graph_ids; /* executable graphs' ids in the trace, by handle */
	struct ts_stream_table contexts;  /* ordinals of devices, by handle of the context */
};

/* ---- hip-session.c ---- */

/*
 * Begins to record HIP in this session, at the registration of a table. Returns 0, -ENOMEM, or
 * -EALREADY if the session records HIP already.
 */
int ts_hip_start(struct ts_shim *shim);
/* Before the first recorded call: defines the devices, installs the activity callback. */
void ts_hip_attach(struct ts_shim *shim);
/* Flush thread: follows stops and starts of recording. */
void ts_hip_follow(struct ts_shim *shim);
/* The end of the process: waits until the rows of launched work have come, with a bound. */
void ts_hip_wait(struct ts_shim *shim);

/* ---- hip-register.c ---- */

/*
 * Begins the session, if there is none, and the recording of HIP in it. Returns false if HIP is
 * recorded already or cannot be; the session then has the reason.
 */
bool ts_hip_begin(struct ts_shim *shim);

/* ---- hip-calls.c ---- */

/*
 * Begins a call. `frame` lies in the wrapper's stack frame. Returns false if the call makes no
 * record, because it is nested, or because nothing is recorded.
 */
bool ts_hip_enter(struct ts_hip_frame *frame, uint32_t call, const void *params);
/* Ends a call for which ts_hip_enter() returned true. */
void ts_hip_leave(const struct ts_hip_frame *frame, int32_t result);
/* Returns the op_id of the thread's recorded call; 0: it is in none. */
static inline uint64_t ts_hip_current_op(void)
{
	const struct ts_call *call = &ts_tls.call;

	return call->depth && call->domain == TS_API_HIP && call->recorded ? call->op_id : 0;
}

/* ---- hip-rows.c ---- */

/*
 * Installs the activity callback of the runtime that `function` belongs to. version:
 * hipRuntimeGetVersion(). Returns false if the runtime has no such callback, or one of another
 * layout.
 */
bool ts_hip_trace(struct ts_shim *shim, const void *function, uint32_t version);

/* Writes the device row of finished work. correlation_id: the call's op_id, 0: none. Any thread. */
void ts_hip_deliver(const struct ts_hip_activity_record *record);

/* Reads the difference of the runtime's clock, before rows come. */
void ts_hip_read_clocks(struct ts_shim *shim);

/* Returns a handle of the runtime that `function` belongs to; the caller closes it. NULL: none. */
void *ts_hip_library(const void *function);

/* ---- hip-activity.c ---- */

/*
 * Installs the callbacks of runtimes before 5.3.1, and finds their functions for names of kernels.
 * `function` belongs to the runtime. Returns false without.
 */
bool ts_hip_activity_install(struct ts_shim *shim, const void *function);

/* ---- hip-events.c ---- */

/*
 * Begins to time samples by events, for runtimes that report no work. Returns false if the setting
 * forbids it, the runtime lacks a function, or there is no memory.
 */
bool ts_hip_events_install(struct ts_shim *shim);
/*
 * Before each call's entry is timed, if `events` is not NULL. device: the current one. Returns the
 * number of the pair around the call; 0: none.
 */
uint32_t ts_hip_events_enter(struct ts_shim *shim, uint32_t call, const void *params,
			     uint32_t device);
/* After the call's entry is timed, if it has a pair: the work cannot begin before. */
void ts_hip_events_entered(struct ts_shim *shim, uint32_t number);
/* After each call, with the number that ts_hip_events_enter() returned. Returns false: no row. */
bool ts_hip_events_leave(struct ts_shim *shim, uint32_t number, uint32_t call, const void *params,
			 int32_t result);
/* After a call that began a stream capture, or failed to, is counted in n_stream_captures. */
void ts_hip_events_captured(struct ts_shim *shim);
/* Gives up the pair of a call that has no end, or makes no record. */
void ts_hip_events_cancel(struct ts_shim *shim, uint32_t number);
/* Writes the rows of finished pairs; all: of each, however many are not finished. */
void ts_hip_events_read(struct ts_shim *shim, bool all);
/* The end of the process: waits, with a bound, until no other thread reads pairs. */
void ts_hip_events_end(struct ts_shim *shim);

/* ---- hip-wrappers.c ---- */

/*
 * Claims the process's runtime for one way. Returns true once in a process. The calls of a second
 * copy of the runtime are not recorded.
 */
bool ts_hip_claim(uint32_t way);

/* In a forked child: gives up the claim of a thread that only the parent has. */
void ts_hip_unclaim(void);

/* Returns the wrapper of a function by its slot. It calls the function in ts_loaded.hip.next. */
void *ts_hip_wrapper(uint32_t slot);

/*
 * Puts the wrappers into a table of n_bytes, and keeps the runtime's functions in ts_loaded.hip.
 * n_bytes includes the size word and at least one function. Returns the number of wrapped
 * functions.
 */
size_t ts_hip_wrap(void **table, size_t n_bytes);
