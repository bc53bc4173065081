/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state machine: rows in, operations out. It joins an operation's two halves, the call of the host and what ran on a
 * device, and finds what the device had to wait for before it could run it.
 *
 * Rows are fed in the order of their start, as a cursor yields them (sbt/reader.h). An operation is told when its
 * device row is fed: all that it waited for has begun by then, so that one pass does and memory is bounded by what
 * is under way, however long the trace is. Nothing is invented: where a half, a stream's kind or an earlier operation
 * is missing, the operation says so (TS_STATE_UNSURE_*).
 *
 * What holds an operation back, as "CUDA C++ Programming Guide", section "Streams", has it:
 *   its stream       what was issued to it before
 *   an event         cudaStreamWaitEvent before it in its stream: what the event's last record before that call stood behind
 *   the legacy default stream: an operation in it waits for all earlier ones of the context's blocking streams, and
 *                    they for it; streams made as non-blocking take no part
 *   the host         cudaLaunchHostFunc, or a word in memory that somebody is to write: until when is not in a trace
 *   a graph          all nodes of one launch wait for what stands before it in the stream that it was launched in, and what
 *                    is issued there afterwards for all nodes; which node waits for which is not in a trace
 * Issue order is the order of operation ids: the vendor counts calls as they are entered.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. One thread at a time. No limits but those named below.
 */
#pragma once

#include "replay/state/limit.h"
#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_state_dependency_kind {
	TS_STATE_BY_STREAM = 1,
	TS_STATE_BY_EVENT = 2,
	TS_STATE_BY_LEGACY = 3, /* the rule of the legacy default stream */
};

struct ts_state_dependency {
	uint64_t op_id; /* of the operation that was waited for, same session */
	uint64_t
		number; /* the machine's: of what runs under that id in that stream, the one over last */
	uint64_t end_ns; /* when it was */
	uint64_t event;	 /* BY_EVENT: the handle */
	uint32_t kind;	 /* enum ts_state_dependency_kind */
	uint32_t stream; /* that it ran in */
};

/* Why what is said of an operation may not be so. */
#define TS_STATE_UNSURE_CALL \
	(1u                  \
	 << 0) /* its call was not recorded, or began after it: when it was issued is not known */
#define TS_STATE_UNSURE_DEVICE	   (1u << 1) /* what the device did was not recorded */
#define TS_STATE_UNSURE_OVERLAP	   (1u << 2) /* it began before what it had to wait for was over */
#define TS_STATE_UNSURE_STREAM	   (1u << 3) /* of what kind its stream is was not recorded */
#define TS_STATE_UNSURE_DEPENDENCY (1u << 4) /* it waited for more, or for what was not recorded */
#define TS_STATE_UNSURE_GRAPH	   (1u << 5) /* part of a graph: its order within is not recorded */
#define TS_STATE_UNSURE_ENGINE \
	(1u << 6) /* of a state: whether it waited for an engine or was on its way is inferred */

/* Of more dependencies those are kept that were over last (and UNSURE_DEPENDENCY is said). */
#define TS_STATE_MAX_DEPENDENCIES 8u

struct ts_state_op {
	uint64_t op_id;
	uint64_t
		number; /* the machine's own, of device rows in the order in which they were fed, from 1: those of one
			    launch share an id; 0 with UNSURE_DEVICE */
	uint64_t
		call_number; /* of its call, of rows of calls in the order in which they were fed, from 1; 0 with UNSURE_CALL */
	uint64_t call_ns; /* the host called; 0 with UNSURE_CALL */
	uint64_t call_end_ns;
	uint64_t start_ns; /* it ran; 0 with UNSURE_DEVICE */
	uint64_t end_ns;
	uint32_t session;
	uint32_t type; /* TS_ROW_KERNEL, _MEMCPY, _MEMSET; TS_ROW_API: the device half is missing */
	uint32_t thread; /* that called; 0: not known */
	uint32_t stack;	 /* 0: not known */
	uint32_t device; /* TS_NO_DEVICE where not known, as the next two */
	uint32_t context;
	uint32_t stream;
	uint32_t
		stream_number; /* the machine's own, small ones: one of a session, context and stream; where the type is not API */
	uint32_t unsure;       /* TS_STATE_UNSURE_* */
	uint16_t domain, cbid; /* which function was called */
	bool may_begin_early; /* before the one in front of it in its stream is over, as its call allowed */
	/*
	 * The call after which its stream, or one that it waited for, waited for the host; 0: none. Until when is not recorded
	 * (UNSURE_DEPENDENCY): that it was over by host_over_ns is known, as another operation behind it began then. UINT64_MAX: none did.
	 */
	uint64_t host_op_id, host_over_ns;
	uint32_t n_dependencies;
	struct ts_state_dependency dependencies[TS_STATE_MAX_DEPENDENCIES];
	union {
		struct ts_row_kernel kernel;
		struct ts_row_memcpy memcpy_;
		struct ts_row_memset memset_;
	} row; /* the device's, as `type` says */
};

/* The call is still awaited, or may bring further rows: at most so many; older ones are given up (and counted). */
#define TS_STATE_MAX_CALLS (1u << 20)
/* Earlier operations that a stream remembers for the rule of the legacy default stream. */
#define TS_STATE_HISTORY 32u

struct ts_state_machine;

/* -ENOMEM. */
int ts_state_machine_new(struct ts_state_machine **ret_machine);
void ts_state_machine_free(struct ts_state_machine *machine); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_state_machine *, ts_state_machine_freep, ts_state_machine_free)

/*
 * The types of rows that it makes use of. A stream's kind may be told late: feed TS_ROW_STREAM rows of the whole trace
 * first, or call ts_state_machine_prepare(); to feed them again is fine.
 */
#define TS_STATE_MACHINE_ROWS                                                               \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) |   \
	 TS_ROW_BIT(TS_ROW_MEMSET) | TS_ROW_BIT(TS_ROW_EVENT) | TS_ROW_BIT(TS_ROW_STREAM) | \
	 TS_ROW_BIT(TS_ROW_STREAM_WAIT) | TS_ROW_BIT(TS_ROW_GRAPH_LAUNCH))

/* Feeds the streams of the whole trace. Damaged blocks are left out. A negative errno, or TS_E_STREAMS. */
int ts_state_machine_prepare(struct ts_state_machine *machine, struct ts_sbt_reader *reader,
			     uint32_t session);

/*
 * Returns 1 where the row completes an operation, told in *ret_op; 0 where not; -ENOMEM; TS_E_STREAMS. Rows of other types do nothing.
 */
int ts_state_machine_feed(struct ts_state_machine *machine, const struct ts_sbt_row *row,
			  struct ts_state_op *ret_op);

/*
 * Operations whose call was seen and whose device row was not, and will not be: call until it returns 0 when no rows
 * are left. They have type TS_ROW_API and UNSURE_DEVICE.
 */
int ts_state_machine_unanswered(struct ts_state_machine *machine, struct ts_state_op *ret_op);

/* Calls that make the device work and whose device row is still to come. */
uint64_t ts_state_machine_n_awaited(const struct ts_state_machine *machine);
/* Calls that were given up, because there were too many. */
uint64_t ts_state_machine_n_given_up(const struct ts_state_machine *machine);

/* Calls that have the id of another, of those that were still here. */
uint64_t ts_state_machine_n_twice(const struct ts_state_machine *machine);

/*
 * What an event's last record stands behind, as dependencies; returns how many, or -1 where it was not recorded. And the call by which it
 * stands behind something that the host does, which was over by then as far as is known: 0: none; UINT64_MAX: nobody knows.
 */
int ts_state_machine_event(struct ts_state_machine *machine, uint32_t session, uint64_t event,
			   struct ts_state_dependency ret[TS_STATE_MAX_DEPENDENCIES],
			   uint64_t *ret_host_op_id, uint64_t *ret_host_over_ns);

#ifdef __cplusplus
}
#endif
