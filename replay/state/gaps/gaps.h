/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a stream stood still: for each gap between two operations of a stream, what the time went to.
 *
 * The gap before operation K of stream S is from the end of what ran in S before (the latest, where several ran) to the
 * start of K. K was asked for by call C of thread T. Each nanosecond of the gap has one cause, the first of these that
 * holds:
 *   before C began             what T did: of what was recorded of T, the innermost. Off its CPU goes before freeing memory, that before a
 *                              page fault, that before a system call, that before a call of the vendor's; else it ran its own code
 *   up to the latest end of    the dependency: an operation of another stream that K had to wait for, by an event or the
 *   what K depended on         legacy default stream's rule (state-machine.h)
 *   up to the end of what had  the device: an operation of the same kind on the same device in another stream, if K began when that
 *   the engine                 was over (within 5 us) and it outlasted C. Inferred, as in state.h
 *   until C ended              what T did, C itself among it
 *   the rest                   dispatch: on its way to the device; or, between nodes of one launch of a graph, the graph, whose inner
 *                              order is not recorded
 *
 * A thread that was blocked was woken by another one, as far as that was recorded: then what that one did until then is told
 * below it, and so on. Where it waited for a disk, what it had given the disk to do is. This explains the time above it, and
 * counts no further.
 *
 * Time of which nothing proves that T had a CPU (no scheduling events then, or in that trace) is `host`; where C or T is not
 * recorded it is `unknown`.
 *
 * Samples say which code T ran: 100 ms of a gap in its own code with 14 samples in load() and 6 in save() are 70 ms and 30 ms.
 * That holds for one gap, and for the sums of all gaps, by the samples that fell into each. It takes samples that can stand for
 * all of that time: n samples of a period stand for at most n + 3 * sqrt(n) periods. What is beyond has no name: T was
 * off its CPU, which the trace does not show, or was not sampled then.
 *
 * Reads the trace twice. Memory is bounded by the number of gaps (at most TS_GAPS_MAX; of more the longest are looked at).
 * One thread at a time; nothing is printed.
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
	TS_GAP_BLOCK_IO = 11, /* below an interval off a CPU alone */
	TS_GAP_RECLAIM = 12,
	TS_GAP_CAUSES
};

/* "off_cpu"; NULL for another number. */
const char *ts_gap_cause_name(unsigned cause);

#define TS_GAPS_MAX	  (1u << 20)
#define TS_GAP_MAX_PARTS  256u	/* of a gap; what is more is told by cause alone */
#define TS_GAPS_MAX_PARTS 4096u /* of all gaps together; likewise */

/* What distinguishes one part from another. What does not apply is 0; no padding. */
struct ts_gap_key {
	uint64_t op_id; /* DEPENDENCY, DEVICE: the other operation. In the sums of all gaps 0 */
	uint64_t event; /* DEPENDENCY by an event: the handle. In the sums of all gaps 0 */
	uint32_t session;
	uint32_t cause; /* enum ts_gap_cause */
	uint32_t
		parent; /* index of the part that this one explains, in the making; 0 in what is handed out */
	uint32_t tid;		/* whose doing; 0: no thread's, or not known */
	uint32_t reason;	/* OFF_CPU: enum ts_off_cpu_reason */
	uint32_t syscall;	/* by the machine's number; TS_NO_SYSCALL: in none */
	uint32_t file;		/* string: of the system call that it was in; 0: none */
	uint32_t waker_context; /* OFF_CPU, as `waker_tid`, ..: enum ts_waker_context */
	uint32_t
		waker_tid; /* who woke it; where it was preempted or yielded, who ran instead; 0: see ts_row_off_cpu */
	uint32_t waker;	    /* string: its name */
	uint32_t fault;	    /* PAGE_FAULT: enum ts_fault_kind */
	uint32_t memory;    /* PAGE_FAULT: enum ts_fault_memory */
	uint32_t stream;    /* DEPENDENCY, DEVICE: that the other operation ran in */
	uint32_t disk;	    /* BLOCK_IO: string */
	uint32_t operation; /* BLOCK_IO: enum ts_block_operation; RECLAIM: enum ts_pressure_kind */
	uint32_t code;	   /* RUNNING, HOST: which, a number of struct ts_gaps_code; 0: not known */
	uint32_t reserved; /* 0 */
	uint16_t domain, cbid; /* the vendor's call that the thread was in; 0, 0: in none */
};

struct ts_gap_part {
	struct ts_gap_key key;
	uint64_t ns;
	uint64_t count;	      /* intervals, faults, calls */
	uint64_t runnable_ns; /* OFF_CPU: of `ns`, it could have run and had no CPU */
	uint64_t queued_ns;   /* BLOCK_IO: of `ns`, it was in the disk's queue */
	uint64_t samples;     /* RUNNING, HOST: that were of this code */
	uint32_t depth; /* 0: the gap's own; n + 1: explains the nearest one of depth n before it */
};

struct ts_gap_parts {
	struct ts_gap_part *at; /* each followed by those that explain it, the longest first */
	size_t n;
	bool is_cut; /* there were too many: some are told by cause alone, or not explained */
};

#define TS_GAP_UNSURE_LOST (1u << 16) /* kernel events were lost in it */

struct ts_gap {
	struct ts_state_op
		op;	   /* that it was before; its `unsure` may have TS_GAP_UNSURE_* besides */
	uint64_t start_ns; /* to op.start_ns */
	uint64_t before_op_id; /* that was over last in the stream */
	struct ts_gap_parts parts;
};

struct ts_gap_stream {
	uint32_t session, device, context, stream;
	uint64_t n_ops;
	uint64_t from_ns, to_ns;  /* first start, last end */
	uint64_t busy_ns;	  /* in which at least one operation ran in it */
	uint64_t n_gaps, gaps_ns; /* that are long enough */
	uint64_t causes_ns[TS_GAP_CAUSES];
};

struct ts_gaps {
	struct ts_gap_stream *streams; /* by session, context, stream */
	size_t n_streams;
	struct ts_gap_parts parts; /* of all gaps; streams that stood still at once count each */
	struct ts_gap *longest;	   /* the longest first */
	size_t n_longest;
	uint64_t n, ns;		  /* gaps that are long enough */
	uint64_t n_left, left_ns; /* of these: not looked at, because there were too many */
	bool is_damaged;	  /* blocks were left out: what they held is missing here */
	struct ts_doubts doubts;  /* of all operations */
};

/* Names code. */
struct ts_gaps_code {
	/*
	 * The number, from 1, of the code that a sample with this stack was in; 0: not known. Called once for each sample of a
	 * thread's own code in a gap. -ENOMEM.
	 */
	int (*find)(void *data, uint32_t session, uint32_t stack, uint64_t time_ns,
		    uint32_t *ret_number);
	void *data;
};

struct ts_gaps_options {
	uint32_t session;   /* 0: all */
	uint64_t least_ns;  /* shorter gaps do not count */
	size_t max_longest; /* that are told one by one */
	uint64_t op_id;	    /* not 0: of one operation alone, that before it, however short */
	const struct ts_gaps_code *code; /* NULL: samples are not looked at */
};

/* Errors: -ENOMEM, those of sbt/reader.h, TS_E_STREAMS. */
int ts_gaps_read(struct ts_sbt_reader *reader, const struct ts_gaps_options *options,
		 struct ts_gaps **ret_gaps);
void ts_gaps_free(struct ts_gaps *gaps); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_gaps *, ts_gaps_freep, ts_gaps_free)

#ifdef __cplusplus
}
#endif
