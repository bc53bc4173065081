/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state machine: rows in, operations out. It joins the two halves of an operation: the host's
 * call and the device row. It also finds the operations that the device had to finish first.
 *
 * Feed rows in the order of their start, as a cursor yields them (sbt/reader.h). The machine
 * reports an operation when its device row is fed. By then all its dependencies have begun, so one
 * pass is enough. Memory is bounded by the work in progress and not by the length of the trace. The
 * machine invents nothing: if a half, the kind of a stream or an earlier operation is missing, the
 * operation carries TS_STATE_UNSURE_*.
 *
 * Dependencies of an operation, as in "CUDA C++ Programming Guide", section "Streams":
 *   stream   operations issued to the same stream before
 *   event    a cudaStreamWaitEvent before it in its stream: the operations before the event's
 *            last record, as of that call
 *   legacy   the legacy default stream: an operation in it waits for all earlier operations of the
 *            context's blocking streams, and they wait for it; non-blocking streams are exempt
 *   host     cudaLaunchHostFunc, or a wait for a value in memory: the trace does not record its end
 *   graph    all nodes of a launch wait for the operations before it in the launch's stream, and
 *            operations issued behind it wait for all nodes; the order of nodes is not recorded
 * Issue order is the order of operation ids, because the vendor counts calls as they are entered.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. Not thread-safe. There are no limits but those named
 * below.
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
	uint64_t op_id; /* id of the operation that this one waited for, in the same session */
	/*
	 * The machine's number of the operation `op_id`. If several rows of its stream have this
	 * id, the number of the row that ends last.
	 */
	uint64_t number;
	uint64_t end_ns; /* end of the operation */
	uint64_t event;	 /* BY_EVENT: the handle */
	uint32_t kind;	 /* enum ts_state_dependency_kind */
	uint32_t stream; /* stream in which that operation ran */
};

/* Reasons why a statement about an operation may be wrong. */
#define TS_STATE_UNSURE_CALL \
	(1u                  \
	 << 0) /* call not recorded, or it began after the device row: the issue time is unknown */
#define TS_STATE_UNSURE_DEVICE	(1u << 1) /* device row not recorded */
#define TS_STATE_UNSURE_OVERLAP (1u << 2) /* began before a dependency ended */
/* the kind of the operation's stream is not recorded */
#define TS_STATE_UNSURE_STREAM (1u << 3)
/* there are more than TS_STATE_MAX_DEPENDENCIES dependencies, or some are not recorded */
#define TS_STATE_UNSURE_DEPENDENCY (1u << 4)
/* graph node: the order of the nodes is not recorded */
#define TS_STATE_UNSURE_GRAPH (1u << 5)
#define TS_STATE_UNSURE_ENGINE \
	(1u << 6) /* only in a state (state.h): the wait for an engine is inferred */

/*
 * If there are more dependencies, those with the latest ends are kept, and UNSURE_DEPENDENCY is
 * set.
 */
#define TS_STATE_MAX_DEPENDENCIES 8u

struct ts_state_op {
	uint64_t op_id;
	/*
	 * The machine's count of device rows, in feeding order, from 1. Rows of one launch share an
	 * op_id; this number distinguishes them. 0 with UNSURE_DEVICE.
	 */
	uint64_t number;
	/* The machine's count of calls, in feeding order, from 1. 0 with UNSURE_CALL. */
	uint64_t call_number;
	uint64_t call_ns; /* start of the call; 0 with UNSURE_CALL */
	uint64_t call_end_ns;
	uint64_t start_ns; /* start on the device; 0 with UNSURE_DEVICE */
	uint64_t end_ns;
	uint32_t session;
	/* TS_ROW_KERNEL, _MEMCPY or _MEMSET. TS_ROW_API: the device half is missing. */
	uint32_t type;
	uint32_t thread; /* the calling thread; 0: unknown */
	uint32_t stack;	 /* 0: unknown */
	uint32_t device; /* `device`, `context` and `stream`: TS_NO_DEVICE if unknown */
	uint32_t context;
	uint32_t stream;
	/* The machine's number of a session, context and stream, from 0. Not valid for type API. */
	uint32_t stream_number;
	uint32_t unsure;       /* TS_STATE_UNSURE_* */
	uint16_t domain, cbid; /* the called function */
	bool may_begin_early;  /* its call allows an overlap with its predecessor */
	/*
	 * The call that made the operation's stream, or a stream that it waited for, wait for the
	 * host. 0: none. The end of that wait is not recorded (UNSURE_DEPENDENCY). The wait had
	 * ended by host_over_ns, because another operation that waited for it began then.
	 * UINT64_MAX: no such operation began.
	 */
	uint64_t host_op_id, host_over_ns;
	uint32_t n_dependencies;
	struct ts_state_dependency dependencies[TS_STATE_MAX_DEPENDENCIES];
	union {
		struct ts_row_kernel kernel;
		struct ts_row_memcpy memcpy_;
		struct ts_row_memset memset_;
	} row; /* device row, valid per `type` */
};

/*
 * Limit on kept calls. A call is kept as long as it may get device rows. Above the limit, the
 * oldest call is given up and counted.
 */
#define TS_STATE_MAX_CALLS (1u << 20)
/* Number of past groups that a stream keeps for the rule of the legacy default stream. */
#define TS_STATE_HISTORY 32u

struct ts_state_machine;

/* Returns 0 or -ENOMEM. */
int ts_state_machine_new(struct ts_state_machine **ret_machine);
void ts_state_machine_free(struct ts_state_machine *machine); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_state_machine *, ts_state_machine_freep, ts_state_machine_free)

/*
 * Types of the rows that the machine uses. The kind of a stream may come late in a trace. Feed the
 * TS_ROW_STREAM rows of the whole trace first, or call ts_state_machine_prepare(). Feeding them
 * twice is harmless.
 */
#define TS_STATE_MACHINE_ROWS                                                               \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) |   \
	 TS_ROW_BIT(TS_ROW_MEMSET) | TS_ROW_BIT(TS_ROW_EVENT) | TS_ROW_BIT(TS_ROW_STREAM) | \
	 TS_ROW_BIT(TS_ROW_STREAM_WAIT) | TS_ROW_BIT(TS_ROW_GRAPH_LAUNCH))

/*
 * Feeds the stream rows of the whole trace. Damaged blocks are left out. Returns 0, a negative
 * errno, TS_E_STREAMS, or the errors of sbt/reader.h.
 */
int ts_state_machine_prepare(struct ts_state_machine *machine, struct ts_sbt_reader *reader,
			     uint32_t session);

/*
 * Returns 1 if the row completes an operation, which is then in *ret_op; otherwise 0, -ENOMEM or
 * TS_E_STREAMS. Rows of other types have no effect.
 */
int ts_state_machine_feed(struct ts_state_machine *machine, const struct ts_sbt_row *row,
			  struct ts_state_op *ret_op);

/*
 * Returns 1 and the next call that never got its device row, or 0 if there is none. Call it after
 * the last row, until it returns 0. *ret_op then stands for that call: type TS_ROW_API, unsure bit
 * TS_STATE_UNSURE_DEVICE.
 */
int ts_state_machine_unanswered(struct ts_state_machine *machine, struct ts_state_op *ret_op);

/* Returns the number of calls that start device work and whose device row has not come yet. */
uint64_t ts_state_machine_n_awaited(const struct ts_state_machine *machine);
/* Returns the number of calls that were given up because of TS_STATE_MAX_CALLS. */
uint64_t ts_state_machine_n_given_up(const struct ts_state_machine *machine);

/* Returns the number of calls that repeat the id of a call that was still kept. */
uint64_t ts_state_machine_n_twice(const struct ts_state_machine *machine);

/*
 * Writes the operations before the event's last record as dependencies. Returns their number, or -1
 * if no record of the event is known. *ret_host_op_id is the call by which the event waits for the
 * host; 0: none. *ret_host_over_ns bounds the end of that wait; UINT64_MAX: unknown.
 */
int ts_state_machine_event(struct ts_state_machine *machine, uint32_t session, uint64_t event,
			   struct ts_state_dependency ret[TS_STATE_MAX_DEPENDENCIES],
			   uint64_t *ret_host_op_id, uint64_t *ret_host_over_ns);

#ifdef __cplusplus
}
#endif
