/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's memfd: a control page, the shards, the definition arena. Both sides map it shared.
 *
 * 	0                        struct ts_control (one page)
 * 	shards_off               n_shards times { struct ts_shard, ring_bytes of ring },
 * 	                         shard_stride apart
 * 	arena_off                struct ts_arena, then arena_bytes of definitions
 * 	lane_off                 struct ts_shard, then lane_bytes of ring; if lane_bytes is not 0
 *
 * The lane is for capture level `replay`: one ring for all threads. The threads take turns, so the
 * lane holds the operations in their order of effect. Its records are TS_RECORD_OPERATION,
 * TS_RECORD_LAUNCH and TS_RECORD_BLOB. No record is dropped from its middle: if the lane stays
 * full, the capture ends there.
 *
 * The producer lays the memfd out, seals it against shrinking and growing, and hands it to the
 * daemon (handshake.h). The daemon checks the seals and copies the layout fields once. It never
 * reads them again, because the producer can still write them. Untouched memory costs nothing.
 *
 * Writers: the producer writes fields under "layout" and "identity" before the handover. Only the
 * application's process writes "producer" fields. Only the daemon writes "daemon" fields. Both
 * sides access every shared field at run time with the __atomic built-ins. The pairs named below
 * use release and acquire; all other accesses are relaxed.
 */
#pragma once

#include "proto/abi/clock.h"
#include "proto/abi/record.h"

#define TS_SESSION_MAGIC 0x31535345534d5354ull /* "TSMSESS1" */

#define TS_CONTROL_BYTES 4096u

/* Limits that the daemon enforces for a producer. */
#define TS_SESSION_MAX_SHARDS 1024u
#define TS_RING_MIN_BYTES     (64u * 1024)
#define TS_RING_MAX_BYTES     (256u * 1024 * 1024)
#define TS_ARENA_MIN_BYTES    (64u * 1024)
#define TS_ARENA_MAX_BYTES    (1024u * 1024 * 1024)
#define TS_SESSION_MAX_BYTES  (8ull * 1024 * 1024 * 1024)
#define TS_LANE_MIN_BYTES     (4u * 1024 * 1024)
#define TS_LANE_MAX_BYTES     (256u * 1024 * 1024)

/* Defaults. */
#define TS_SHARDS_DEFAULT      128u
#define TS_RING_BYTES_DEFAULT  (4u * 1024 * 1024)
#define TS_ARENA_BYTES_DEFAULT (64u * 1024 * 1024)
#define TS_LANE_BYTES_DEFAULT  (64u * 1024 * 1024)

/*
 * ts_control.command: switches, which the launch path reads by one relaxed load. The initial value
 * comes from the process's environment. The daemon then writes its own value, but keeps STACKS off
 * and LOSSLESS on if the environment requests this.
 */
#define TS_COMMAND_RECORD   (1u << 0) /* make records; 0: pass all calls through */
#define TS_COMMAND_STACKS   (1u << 1) /* record native stacks */
#define TS_COMMAND_LOSSLESS (1u << 2) /* wait for space, with a bound, instead of dropping */
#define TS_COMMAND_PYTHON   (1u << 3) /* record Python stacks */
#define TS_COMMAND_REPLAY   (1u << 4) /* open a window of capture level `replay` */
/*
 * Recording is paused. A cleared RECORD takes effect at once for the next event. PAUSED takes
 * effect at a requested flush (flush_request) and is complete when that flush is done. A call is
 * then recorded with all its rows or not at all, and a PAUSE record holds the time. A new daemon
 * leaves this bit unchanged.
 */
#define TS_COMMAND_PAUSED (1u << 5)

/* Values of ts_control.state, which the producer sets. */
enum ts_session_state {
	TS_SESSION_STARTING = 1,
	TS_SESSION_RECORDING = 2, /* the shim holds CUPTI, or CUDA is not in use yet */
	TS_SESSION_YIELDED = 3,	  /* the application's own profiler has CUPTI */
	TS_SESSION_REFUSED = 4,	  /* nothing can be recorded: see `reason`, `reason_text` */
	TS_SESSION_ENDED = 5,	  /* all is flushed; no record follows */
};

/* Reason for a session without GPU rows; also in TS_HANDSHAKE_NOTE. */
enum ts_empty_reason {
	TS_EMPTY_NONE = 0,
	TS_EMPTY_NO_CUPTI = 1,	 /* no libcupti could be loaded */
	TS_EMPTY_CUPTI_HELD = 2, /* another tool holds CUPTI: reason_text names it */
	/* CUDA_INJECTION64_PATH names another tool, which is in reason_text. */
	TS_EMPTY_INJECTION_HELD = 3,
	TS_EMPTY_CUPTI_TOO_OLD = 4, /* lacks a function, which is in reason_text */
	TS_EMPTY_CUPTI_ERROR = 5,   /* a CUPTI call failed: call and error in reason_text */
	TS_EMPTY_NO_MEMORY = 6,	    /* no memory for the rings: details in reason_text */
	TS_EMPTY_REFUSED = 7,	    /* the daemon refused the session: details in reason_text */
};

/* The known fields of a struct ts_job. */
#define TS_JOB_RANK	  (1u << 0)
#define TS_JOB_LOCAL_RANK (1u << 1)

/*
 * The process's place in a job of many processes, from its environment at the session's start
 * (inject/job.h).
 */
struct ts_job {
	char id[64];	     /* of the batch job, terminated; "": unknown */
	uint32_t flags;	     /* TS_JOB_*; a field without its bit is 0 */
	uint32_t rank;	     /* number of the process in the job, from 0 */
	uint32_t n_ranks;    /* number of processes of the job; 0: unknown */
	uint32_t local_rank; /* number of the process on its machine, from 0 */
};
TS_ASSERT_SIZE(struct ts_job, 80);

/* The control page. Times are ns of CLOCK_MONOTONIC unless stated otherwise. */
struct ts_control {
	/* layout */
	uint64_t magic;
	uint16_t major;		/* other major: refuse */
	uint16_t minor;		/* newer minor: known fields keep their offsets */
	uint32_t control_bytes; /* TS_CONTROL_BYTES */
	uint64_t total_bytes;	/* of the memfd */
	uint64_t shards_off;	/* page-aligned, as every offset in this struct */
	uint64_t shard_stride;
	uint64_t ring_bytes;  /* size of each shard's ring; a power of two */
	uint64_t arena_off;   /* of struct ts_arena */
	uint64_t arena_bytes; /* size of the definitions, without struct ts_arena */
	uint32_t n_shards;
	uint32_t host_clock; /* enum ts_clock of the process's own times: TSC or MONOTONIC */

	/* identity */
	uint8_t session_id[16]; /* random */
	/* in the process's own namespace; the daemon trusts SO_PEERCRED */
	uint32_t pid;
	uint32_t parent_session_pid; /* pid of the traced process that forked this one; else 0 */
	uint64_t start_ticks;	     /* host clock, at start_monotonic_ns */
	uint64_t start_monotonic_ns;
	uint64_t start_realtime_ns;
	uint64_t start_error_ns; /* error bound of the pair start_ticks and start_monotonic_ns */
	char program[64];	 /* its file's base name, terminated */

	/* producer */
	uint32_t state; /* enum ts_session_state */
	/* enum ts_empty_reason; stored with release after reason_text is written */
	uint32_t reason;
	char reason_text[256]; /* terminated; written once */
	/*
	 * Shards [0, n_claimed) were claimed at least once; release pairs with the daemon's
	 * acquire.
	 */
	uint32_t n_claimed;
	uint32_t vendor_version; /* cuptiGetVersion() */
	uint32_t driver_version; /* cuDriverGetVersion() */
	/* Equals flush_request when that flush is done; release pairs with the daemon's acquire. */
	uint32_t flushes_done;
	uint64_t lost[TS_LOSS_COUNT]; /* number of losses that no shard counts, by reason */

	/* daemon */
	uint32_t command __attribute__((aligned(TS_CACHE_LINE))); /* TS_COMMAND_* */
	uint32_t flush_request; /* ascending: flush CUPTI's buffers now */
	uint64_t heartbeat_ns;	/* last time that the daemon was alive */

	/*
	 * The daemon sets `sleeping` and sleeps in futex(FUTEX_WAIT, doorbell). If a producer finds
	 * a shard past its watermark and `sleeping` set, it clears `sleeping`, increments doorbell
	 * and wakes the daemon.
	 */
	uint32_t doorbell __attribute__((aligned(TS_CACHE_LINE)));
	uint32_t sleeping;

	/*
	 * daemon: the part of `lost` that a trace already reports; a later daemon reports only the
	 * difference
	 */
	uint64_t reported[TS_LOSS_COUNT] __attribute__((aligned(TS_CACHE_LINE)));

	/* layout, since minor version 4 */
	uint64_t lane_off;   /* of its struct ts_shard */
	uint64_t lane_bytes; /* size of the lane's ring; a power of two; 0: no lane */
	/*
	 * lane_closed: written once, by the daemon, when it reads no more of the lane. lane_ended:
	 * written once, by the producer, when it writes no more into the lane.
	 */
	uint32_t lane_closed;
	uint32_t lane_ended; /* enum ts_lane_end; release pairs with the daemon's acquire */

	/* producer, since minor version 5: state of the capture. Relaxed. */
	uint32_t capture_state;	  /* enum ts_capture_state */
	uint32_t capture_windows; /* count of opened windows */
	uint64_t captured_bytes;  /* bytes of captured contents; each content counts once */
	uint64_t captured_ns;	  /* time that the capture cost the application's threads */
	/* since minor version 6 */
	uint64_t capture_max_bytes; /* limit of captured_bytes: at this limit the capture ends */
	/* producer, since minor version 8. Relaxed. */
	/* TS_INTERFACE_*: the interfaces by which the shim sees calls and work */
	uint32_t interfaces;
	uint32_t hip_version; /* hipRuntimeGetVersion(); 0: no HIP */
	/* since minor version 9 */
	uint64_t hip_time_error_ns; /* largest error of times by HIP's events; 0: none */
	/* identity, since minor version 10 */
	struct ts_job job;
};

/* Ways into a vendor's runtime. */
#define TS_INTERFACE_CUPTI	     (1u << 0) /* CUPTI's callbacks and activity records */
#define TS_INTERFACE_HIP_TABLES	     (1u << 1) /* the dispatch tables of HIP's runtime */
#define TS_INTERFACE_HIP_TRACER	     (1u << 2) /* GPU times by hipRegisterTracerCallback() */
#define TS_INTERFACE_HIP_SYMBOLS     (1u << 3) /* functions that stand before HIP's */
#define TS_INTERFACE_HIP_ACTIVITY    (1u << 4) /* GPU times by hipInitActivityCallback() */
#define TS_INTERFACE_HIP_EVENTS	     (1u << 5) /* GPU times of samples, by pairs of events */
#define TS_INTERFACE_ROCPROFILER_SDK (1u << 6) /* GPU times by AMD's rocprofiler-sdk */
/* Bit of a library like CUPTI: this one shifted by its enum ts_pti_id. */
#define TS_INTERFACE_PTI (1u << 8)

enum ts_capture_state {
	TS_CAPTURE_STATE_NONE = 0,
	TS_CAPTURE_STATE_WHOLE = 1, /* from the process's start */
	/* Live objects are tracked: a window may be opened (TS_COMMAND_REPLAY). */
	TS_CAPTURE_STATE_CLOSED = 2,
	TS_CAPTURE_STATE_OPEN = 3,
};

/* Reason why a producer writes no more into the lane. */
enum ts_lane_end {
	TS_LANE_GOES_ON = 0,
	TS_LANE_FULL = 1,	/* the lane stayed full too long, so an operation is missing */
	TS_LANE_NO_MEMORY = 2,	/* no memory to track captured contents */
	TS_LANE_YIELDED = 3,	/* CUPTI was yielded: operations are missing */
	TS_LANE_STOPPED = 4,	/* recording was stopped: operations are missing */
	TS_LANE_HIP_WINDOW = 8, /* of older shims: HIP had no windows */
	/* The process uses HIP and a library like CUPTI, whose calls are not captured. */
	TS_LANE_TWO_VENDORS = 9,
	TS_LANE_NO_LIBRARY = 10, /* the shim cannot use libtsinject-capture.so */
	/*
	 * If the end has one of the values below, the lane's last operation is TS_OPERATION_END
	 * with the reason as text.
	 */
	TS_LANE_LIMIT = 5,     /* capture_max_bytes */
	TS_LANE_TOO_LARGE = 6, /* a content too large for a list of chunks */
	TS_LANE_TOO_MANY = 7,  /* the limit of operations for a replay */
};
TS_ASSERT_FIELD(struct ts_control, lane_off, 1152);
TS_ASSERT_FIELD(struct ts_control, lane_bytes, 1160);
TS_ASSERT_FIELD(struct ts_control, lane_closed, 1168);
TS_ASSERT_FIELD(struct ts_control, lane_ended, 1172);
TS_ASSERT_FIELD(struct ts_control, capture_state, 1176);
TS_ASSERT_FIELD(struct ts_control, capture_windows, 1180);
TS_ASSERT_FIELD(struct ts_control, captured_bytes, 1184);
TS_ASSERT_FIELD(struct ts_control, captured_ns, 1192);
TS_ASSERT_FIELD(struct ts_control, capture_max_bytes, 1200);
TS_ASSERT_FIELD(struct ts_control, interfaces, 1208);
TS_ASSERT_FIELD(struct ts_control, hip_version, 1212);
TS_ASSERT_FIELD(struct ts_control, hip_time_error_ns, 1216);
TS_ASSERT_FIELD(struct ts_control, job, 1224);
TS_ASSERT_FIELD(struct ts_control, major, 8);
TS_ASSERT_FIELD(struct ts_control, minor, 10);
TS_ASSERT_FIELD(struct ts_control, control_bytes, 12);
TS_ASSERT_FIELD(struct ts_control, total_bytes, 16);
TS_ASSERT_FIELD(struct ts_control, shards_off, 24);
TS_ASSERT_FIELD(struct ts_control, shard_stride, 32);
TS_ASSERT_FIELD(struct ts_control, ring_bytes, 40);
TS_ASSERT_FIELD(struct ts_control, arena_off, 48);
TS_ASSERT_FIELD(struct ts_control, arena_bytes, 56);
TS_ASSERT_FIELD(struct ts_control, n_shards, 64);
TS_ASSERT_FIELD(struct ts_control, host_clock, 68);
TS_ASSERT_FIELD(struct ts_control, session_id, 72);
TS_ASSERT_FIELD(struct ts_control, pid, 88);
TS_ASSERT_FIELD(struct ts_control, parent_session_pid, 92);
TS_ASSERT_FIELD(struct ts_control, start_ticks, 96);
TS_ASSERT_FIELD(struct ts_control, start_monotonic_ns, 104);
TS_ASSERT_FIELD(struct ts_control, start_realtime_ns, 112);
TS_ASSERT_FIELD(struct ts_control, start_error_ns, 120);
TS_ASSERT_FIELD(struct ts_control, program, 128);
TS_ASSERT_FIELD(struct ts_control, state, 192);
TS_ASSERT_FIELD(struct ts_control, reason, 196);
TS_ASSERT_FIELD(struct ts_control, reason_text, 200);
TS_ASSERT_FIELD(struct ts_control, n_claimed, 456);
TS_ASSERT_FIELD(struct ts_control, vendor_version, 460);
TS_ASSERT_FIELD(struct ts_control, driver_version, 464);
TS_ASSERT_FIELD(struct ts_control, flushes_done, 468);
TS_ASSERT_FIELD(struct ts_control, lost, 472);
TS_ASSERT_FIELD(struct ts_control, command, 768);
TS_ASSERT_FIELD(struct ts_control, flush_request, 772);
TS_ASSERT_FIELD(struct ts_control, heartbeat_ns, 776);
TS_ASSERT_FIELD(struct ts_control, doorbell, 832);
TS_ASSERT_FIELD(struct ts_control, sleeping, 836);
TS_ASSERT_FIELD(struct ts_control, reported, 896);

/* ts_shard.state; only the producer's process changes it. */
enum ts_shard_state {
	TS_SHARD_FREE = 0,
	TS_SHARD_OWNED = 1,
	/* the owner thread has ended; the shard is free again when released == head */
	TS_SHARD_ABANDONED = 2,
};

/*
 * A shard's header. `head` and `released` are byte positions that only grow. The byte of position p
 * lies at p % ring_bytes of the ring that follows the header. The owner changes only while released
 * == head, so all unreleased records belong to the current owner.
 */
struct ts_shard {
	uint32_t state;	 /* enum ts_shard_state */
	uint32_t thread; /* TS_DEF_THREAD of the owner; written before its first commit */
	/* number of losses by reason, of all owners so far; only the present owner writes it */
	uint64_t lost[TS_LOSS_COUNT];
	uint8_t reserved0[56];
	/* producer: end of committed records; release pairs with the daemon's acquire */
	uint64_t head;
	uint8_t reserved1[56];
	/* daemon: end of records in the trace; release pairs with the producer's acquire */
	uint64_t released;
	uint8_t reserved2[56];
	uint64_t reported[TS_LOSS_COUNT]; /* daemon: part of `lost` that a trace reports */
	uint8_t reserved3[4096 - 704];
};
TS_ASSERT_SIZE(struct ts_shard, 4096);
TS_ASSERT_FIELD(struct ts_shard, thread, 4);
TS_ASSERT_FIELD(struct ts_shard, lost, 8);
TS_ASSERT_FIELD(struct ts_shard, head, 320);
TS_ASSERT_FIELD(struct ts_shard, released, 384);
TS_ASSERT_FIELD(struct ts_shard, reported, 448);

/*
 * The definition arena. Definitions are published before the first record that refers to them. A
 * reader that acquires a shard's head and then `published` finds all definitions that it needs.
 */
struct ts_arena {
	/* bytes of complete definitions; release pairs with the daemon's acquire */
	uint64_t published;
	uint8_t reserved[TS_CONTROL_BYTES - 8];
};
TS_ASSERT_SIZE(struct ts_arena, 4096);

/* Fills the layout fields for these sizes. Returns 0, or -EINVAL if a size is out of its limits. */
static inline int ts_control_layout(struct ts_control *control, uint32_t n_shards,
				    uint64_t ring_bytes, uint64_t arena_bytes)
{
	if (n_shards < 1 || n_shards > TS_SESSION_MAX_SHARDS || ring_bytes < TS_RING_MIN_BYTES ||
	    ring_bytes > TS_RING_MAX_BYTES || !ts_is_power_of_two(ring_bytes) ||
	    arena_bytes < TS_ARENA_MIN_BYTES || arena_bytes > TS_ARENA_MAX_BYTES ||
	    arena_bytes % TS_CONTROL_BYTES)
		return -EINVAL;
	control->magic = TS_SESSION_MAGIC;
	control->major = TS_ABI_MAJOR;
	control->minor = TS_ABI_MINOR;
	control->control_bytes = TS_CONTROL_BYTES;
	control->n_shards = n_shards;
	control->ring_bytes = ring_bytes;
	control->shard_stride = sizeof(struct ts_shard) + ring_bytes;
	control->shards_off = TS_CONTROL_BYTES;
	control->arena_off = control->shards_off + n_shards * control->shard_stride;
	control->arena_bytes = arena_bytes;
	control->total_bytes = control->arena_off + sizeof(struct ts_arena) + arena_bytes;
	return control->total_bytes > TS_SESSION_MAX_BYTES ? -EINVAL : 0;
}

/*
 * Adds a lane to a layout. Returns 0, or -EINVAL if the size is out of its limits; the layout is
 * then unchanged.
 */
static inline int ts_control_add_lane(struct ts_control *control, uint64_t lane_bytes)
{
	uint64_t off = ts_align_up(control->total_bytes, TS_CONTROL_BYTES);
	uint64_t end = off + sizeof(struct ts_shard) + lane_bytes;

	if (lane_bytes < TS_LANE_MIN_BYTES || lane_bytes > TS_LANE_MAX_BYTES ||
	    !ts_is_power_of_two(lane_bytes) || end > TS_SESSION_MAX_BYTES)
		return -EINVAL;
	control->lane_off = off;
	control->lane_bytes = lane_bytes;
	control->total_bytes = end;
	return 0;
}
