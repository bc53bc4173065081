/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a GPU at an instant: every operation whose call has begun and that has not ended,
 * every thread in a call, every live allocation, and every event that is not reached.
 *
 * Phases of an operation, in order:
 *   dispatch_pending  called, and all its recorded dependencies have ended: on its way to the
 *                     device
 *   queued            behind others in its stream
 *   waiting           first in its stream, held back by an event, the legacy default stream's rule,
 *                     the host or an engine; the engine is inferred from the operations around it
 *   running           on the device
 *
 * The builder reads a trace from its start to the instant, and then until all work in progress is
 * answered. Memory is bounded by the work in progress. Not thread-safe; prints nothing.
 */
#pragma once

#include "replay/state/state-machine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_state_phase {
	TS_STATE_UNKNOWN = 0, /* the device half is missing */
	TS_STATE_DISPATCH_PENDING = 1,
	TS_STATE_QUEUED = 2,
	TS_STATE_WAITING = 3,
	TS_STATE_RUNNING = 4,
};

enum ts_state_cause {
	TS_STATE_CAUSE_NONE = 0,
	TS_STATE_CAUSE_STREAM = 1, /* an earlier operation in the same stream */
	TS_STATE_CAUSE_EVENT = 2,
	TS_STATE_CAUSE_LEGACY = 3, /* the legacy default stream's rule */
	/*
	 * Inferred (UNSURE_ENGINE): another operation occupied the engine. The waiting operation
	 * began when that operation, or the last of its successors on the engine, ended.
	 */
	TS_STATE_CAUSE_ENGINE = 4,
	/* A host function or a wait for a value in memory, earlier in the same stream. */
	TS_STATE_CAUSE_HOST = 5,
};

struct ts_state_current {
	struct ts_state_op op;
	uint32_t phase;	   /* enum ts_state_phase */
	uint32_t cause;	   /* enum ts_state_cause */
	uint64_t by_op_id; /* the operation that it waits for; 0: none */
	uint64_t by_event; /* CAUSE_EVENT: the handle */
	uint64_t since_ns; /* start of this phase with this cause */
	/*
	 * In any phase: the operation that occupied the engine at the instant, if this operation
	 * waited for it or for its successors. Its id and start; 0: none.
	 */
	uint64_t engine_op_id, engine_ns;
	/* the wait for the engine is unsure: the device had room for a block, or users were lost */
	bool is_engine_unsure;
};

struct ts_state_thread {
	uint32_t session, thread;
	struct ts_row_api call;	 /* the current call; start_ns 0: none */
	struct ts_row_sync sync; /* the current wait; start_ns 0: none */
	/*
	 * The last-ending operation that the call waits for. 0: unknown. The trace does not record
	 * which event a call waits for.
	 */
	uint64_t by_op_id;
};

struct ts_state_allocation {
	uint32_t session;
	struct ts_row_memory row; /* the row of TS_ROW_ALLOC */
};

struct ts_state_event {
	uint32_t session, stream;
	uint64_t event; /* the handle */
	uint64_t recorded_ns;
	/*
	 * Among the operations before the event's record, the one that ends last; if there is none,
	 * host_op_id.
	 */
	uint64_t by_op_id;
	/*
	 * End of the operation `by_op_id`. 0: all known operations before the record had ended;
	 * only the host wait may remain.
	 */
	uint64_t due_ns;
	/*
	 * The call by which the event waits for the host, if no operation that waits for this call
	 * had begun. The trace does not record when the event is reached, so it may have been
	 * reached. 0: none.
	 */
	uint64_t host_op_id;
};

struct ts_state {
	uint64_t at_ns;
	struct ts_state_current *ops; /* running first; then session, device, ... */
	size_t n_ops;
	struct ts_state_thread *threads; /* threads that are in a call; by session, thread */
	size_t n_threads;
	struct ts_state_allocation *allocations; /* by session, address */
	size_t n_allocations;
	/* events that are recorded and not reached; by session, time */
	struct ts_state_event *events;
	size_t n_events;
	uint64_t n_rows; /* read */
	/* Number of frees of unknown addresses before the instant. */
	uint64_t n_bad_frees;
	bool is_checkpoint_bad; /* the checkpoints are damaged, so all rows were read */
	bool is_damaged;	/* damaged blocks were left out */
	/* The trace ends before all work in progress was answered, or the builder met a limit. */
	bool is_cut;
};

/* Limit on live allocations, threads, events and operations. Beyond it the answer is TS_E_LIVE. */
#define TS_STATE_MAX_LIVE TS_MAX_LIVE

/*
 * Computes the state at at_ns. `session` 0: all. Returns -ENOMEM, TS_E_LIVE, TS_E_STREAMS, or the
 * errors of sbt/reader.h. The caller frees *ret_state.
 */
int ts_state_at(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
		struct ts_state **ret_state);
void ts_state_free(struct ts_state *state); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_state *, ts_state_freep, ts_state_free)

/*
 * Builds a state from rows that the caller feeds in the order of their start. Feed rows until
 * ts_state_builder_feed() returns TS_SBT_E_END or no rows are left. Tests use it, and callers that
 * read a trace once for several purposes.
 */
struct ts_state_builder;
int ts_state_builder_new(uint64_t at_ns, struct ts_state_builder **ret_builder);
void ts_state_builder_free(struct ts_state_builder *builder);
TS_DEFINE_CLEANUP(struct ts_state_builder *, ts_state_builder_freep, ts_state_builder_free)
struct ts_state_machine *ts_state_builder_machine(struct ts_state_builder *builder);
/*
 * Adds the limits of a device; call it before the first row. If a device is missing, its occupancy
 * is unknown. Returns 0 or -ENOMEM.
 */
int ts_state_builder_device(struct ts_state_builder *builder, uint32_t session,
			    const struct ts_row_device *row);
/*
 * Feeds a row. Returns TS_SBT_E_END if no further row can change the answer. Otherwise returns 0,
 * -ENOMEM, TS_E_LIVE or TS_E_STREAMS.
 */
int ts_state_builder_feed(struct ts_state_builder *builder, const struct ts_sbt_row *row);
/* Returns the state, which the caller frees. Afterwards, only free the builder. */
int ts_state_builder_finish(struct ts_state_builder *builder, struct ts_state **ret_state);

const char *ts_state_phase_name(unsigned phase); /* "running" */
const char *ts_state_cause_name(unsigned cause); /* "event"; "" for none */

#ifdef __cplusplus
}
#endif
