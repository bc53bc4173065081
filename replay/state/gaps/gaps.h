/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains gaps: for each gap between two operations of a stream, the causes and their times.
 *
 * The gap before operation K of stream S lasts from the latest end of earlier operations in S to
 * the start of K. Call C of thread T requested K. Each nanosecond of a gap has one cause, the first
 * one in this table that applies:
 *   before C begins          activity of T: the innermost one recorded. The order is off its CPU,
 *                            memory reclaim, page fault, system call, call of the vendor's API;
 *                            otherwise T ran its own code
 *   until K's dependencies   dependency: an operation of another stream, by an event or by the
 *   end                      legacy default stream's rule (state-machine.h)
 *   until the engine is      device: an operation of the same kind on the same device in another
 *   free                     stream, if K began within 5 us of its end and it ended after C.
 *                            Inferred, as in state.h
 *   until C ends             activity of T, C included
 *   the rest                 dispatch: on the way to the device; between nodes of one graph launch,
 *                            graph: the inner order is not recorded
 *
 * If T was blocked and the trace records its waker, the waker's activity until the wake-up is
 * listed below the part, recursively. If T waited for a disk, its request to the disk is listed
 * below the part. A part that is listed below another part explains the other part's time, and no
 * sum adds it again.
 *
 * If no scheduling event proves that T had a CPU, its own code is `host`. If C or T is not
 * recorded, the cause is `unknown`.
 *
 * Samples name the code that T ran: 100 ms of own code with 14 samples in load() and 6 in save()
 * become 70 ms and 30 ms. This holds for one gap and for the sums of all gaps, each by its own
 * samples. n samples stand for at most n + 3 * sqrt(n) sampling periods. Time beyond that has no
 * name: T was off its CPU, which the trace does not show, or T was not sampled.
 *
 * In a window, a gap counts if it overlaps the window: it starts before the window's end and ends
 * after the window's start. It counts whole, and has the numbers that it has without a window.
 *
 * The module reads the trace twice. For a window it reads from the trace's start, because
 * dependencies may be that old, and up to the operations that end the window's last gaps. The first
 * time it reads a long trace, or a long way to a window, in segments (segments/). The second time
 * it reads a long trace of calls, without kernel events and samples, in slices. Both work in
 * threads. Memory is bounded by the number of gaps, at most TS_GAPS_MAX; of more gaps the longest
 * are explained. Not thread-safe; prints nothing.
 */
#pragma once

#include "replay/state/doubts.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_gap_cause {
	TS_GAP_UNKNOWN = 0,
	TS_GAP_RUNNING = 1,
	TS_GAP_HOST = 2,
	TS_GAP_OFF_CPU = 3,
	TS_GAP_PAGE_FAULT = 4,
	TS_GAP_SYSCALL = 5,
	TS_GAP_CALL = 6,
	TS_GAP_DEPENDENCY = 7,
	TS_GAP_DEVICE = 8,
	TS_GAP_GRAPH = 9,
	TS_GAP_DISPATCH = 10,
	TS_GAP_BLOCK_IO = 11, /* only below an interval off a CPU */
	TS_GAP_RECLAIM = 12,
	TS_GAP_CAUSES
};

/* Returns the cause's name, such as "off_cpu"; NULL for other numbers. */
const char *ts_gap_cause_name(unsigned cause);

#define TS_GAPS_MAX	 (1u << 20)
#define TS_GAP_MAX_PARTS 256u /* limit per gap; further parts are merged by cause */
/* limit for the sums of all gaps; further parts are merged by cause */
#define TS_GAPS_MAX_PARTS 4096u

/* Identifies a part. Fields that do not apply are 0; no padding. */
struct ts_gap_key {
	/*
	 * DEPENDENCY, DEVICE: id of the operation that the operation after the gap waited for. 0 in
	 * the sums over all gaps.
	 */
	uint64_t op_id;
	/* DEPENDENCY by an event: the event's handle. 0 in the sums over all gaps. */
	uint64_t event;
	uint32_t session;
	uint32_t cause; /* enum ts_gap_cause */
	/* Index of the part that this part explains, while parts are built; 0 in results. */
	uint32_t parent;
	uint32_t tid;		/* 0: no thread, or unknown */
	uint32_t reason;	/* OFF_CPU: enum ts_off_cpu_reason */
	uint32_t syscall;	/* number of the system call; TS_NO_SYSCALL: none */
	uint32_t file;		/* string: file of the current system call; 0: none */
	uint32_t waker_context; /* OFF_CPU: enum ts_waker_context */
	/*
	 * OFF_CPU: the thread that woke this one. If this thread was preempted or yielded: the
	 * thread that ran instead. 0: see ts_row_off_cpu.
	 */
	uint32_t waker_tid;
	uint32_t waker;	    /* string: the waker's name */
	uint32_t fault;	    /* PAGE_FAULT: enum ts_fault_kind */
	uint32_t memory;    /* PAGE_FAULT: enum ts_fault_memory */
	uint32_t stream;    /* DEPENDENCY, DEVICE: stream of the operation `op_id` */
	uint32_t disk;	    /* BLOCK_IO: string */
	uint32_t operation; /* BLOCK_IO: enum ts_block_operation; RECLAIM: enum ts_pressure_kind */
	/* RUNNING, HOST: the code that ran, as a number from ts_gaps_code.find(). 0: unknown. */
	uint32_t code;
	uint32_t reserved;     /* 0 */
	uint16_t domain, cbid; /* the thread's current call; 0, 0: none */
};

struct ts_gap_part {
	struct ts_gap_key key;
	uint64_t ns;
	uint64_t count; /* intervals, faults, calls */
	/* OFF_CPU: the part of `ns` in which the thread was runnable but had no CPU. */
	uint64_t runnable_ns;
	uint64_t queued_ns; /* BLOCK_IO: part of `ns` in the disk's queue */
	uint64_t samples;   /* RUNNING, HOST: samples of this code */
	/*
	 * 0: a part of the gap itself. n + 1: this part explains the nearest earlier part of depth
	 * n.
	 */
	uint32_t depth;
};

struct ts_gap_parts {
	/* By length, longest first. Each part is followed by the parts that explain it. */
	struct ts_gap_part *at;
	size_t n;
	/* There were too many parts: some are merged by cause, or lack an explanation. */
	bool is_cut;
};

#define TS_GAP_UNSURE_LOST (1u << 16) /* kernel events were lost */

struct ts_gap {
	/* The operation that ends the gap. `unsure` may have TS_GAP_UNSURE_* too. */
	struct ts_state_op op;
	uint64_t start_ns;     /* the gap ends at op.start_ns */
	uint64_t before_op_id; /* last operation before the gap */
	struct ts_gap_parts parts;
};

/* In a window: the stream's operations that touch the window, whole. */
struct ts_gap_stream {
	uint32_t session, device, context, stream;
	uint64_t n_ops;
	uint64_t from_ns, to_ns;  /* first start, last end */
	uint64_t busy_ns;	  /* time with at least one operation */
	uint64_t n_gaps, gaps_ns; /* gaps that are long enough */
	uint64_t causes_ns[TS_GAP_CAUSES];
};

struct ts_gaps {
	/* By session, context, stream. In a window: those with an operation or a gap in it. */
	struct ts_gap_stream *streams;
	size_t n_streams;
	/* Sums over all gaps. If several streams have a gap at the same time, each gap counts. */
	struct ts_gap_parts parts;
	struct ts_gap *longest; /* longest first; of equal ones, the first one to end first */
	size_t n_longest;
	uint64_t n, ns;		  /* gaps that are long enough */
	uint64_t n_left, left_ns; /* number and time of the gaps beyond TS_GAPS_MAX */
	bool is_damaged;	  /* damaged blocks were left out */
	/* All operations count; in a window, those that touch it or end a gap in it. */
	struct ts_doubts doubts;
};

/* Maps stacks to code. */
struct ts_gaps_code {
	/*
	 * Finds the code that a sample with this stack ran. *ret_number is the code's number, from
	 * 1; 0: unknown. Called once per sample of a thread's own code in a gap. Returns 0 or
	 * -ENOMEM.
	 */
	int (*find)(void *data, uint32_t session, uint32_t stack, uint64_t time_ns,
		    uint32_t *ret_number);
	void *data;
};

struct ts_gaps_options {
	uint32_t session;   /* 0: all */
	uint64_t least_ns;  /* shorter gaps do not count */
	size_t max_longest; /* maximum length of `longest` */
	/* If not 0: explain only the gap before this operation, however short. */
	uint64_t op_id;
	/* Only gaps that overlap [from_ns, to_ns). to_ns 0: no end. */
	uint64_t from_ns, to_ns;
	const struct ts_gaps_code *code; /* NULL: samples are ignored */
};

/*
 * Finds and explains the gaps. Returns 0, -ENOMEM, TS_E_STREAMS, or the errors of sbt/reader.h. The
 * caller frees *ret_gaps.
 */
int ts_gaps_read(struct ts_sbt_reader *reader, const struct ts_gaps_options *options,
		 struct ts_gaps **ret_gaps);
void ts_gaps_free(struct ts_gaps *gaps); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_gaps *, ts_gaps_freep, ts_gaps_free)

#ifdef __cplusplus
}
#endif
