/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GPU was doing at an instant: every operation that had been called for and was not over, every stream, every
 * thread in a call, every live allocation, every event that somebody could still wait for.
 *
 * An operation is, in this order:
 *   dispatch_pending  called for, and nothing that the trace knows of holds it back: it is on its way to the device
 *   queued            behind others in its stream
 *   waiting           first in its stream, held back by an event, the legacy default stream's rule, the host, or, as far as can be
 *                     told from what ran then and what came after it, by an engine that was taken, as by a full device
 *   running
 *
 * A trace is read from its start to the instant, and on until everything that was under way has been told of. Memory is
 * bounded by what was under way. One thread at a time; nothing is printed.
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
	TS_STATE_CAUSE_STREAM = 1, /* what is before it in its stream */
	TS_STATE_CAUSE_EVENT = 2,
	TS_STATE_CAUSE_LEGACY = 3, /* the legacy default stream's rule */
	TS_STATE_CAUSE_ENGINE =
		4, /* inferred (UNSURE_ENGINE): another operation had the engine, and it began when that was over, or what came between the two */
	TS_STATE_CAUSE_HOST =
		5, /* what the host does within the stream: a function, a word to be written */
};

struct ts_state_current {
	struct ts_state_op op;
	uint32_t phase;	   /* enum ts_state_phase */
	uint32_t cause;	   /* enum ts_state_cause */
	uint64_t by_op_id; /* what it waits for; 0: nothing */
	uint64_t by_event; /* CAUSE_EVENT: the handle */
	uint64_t since_ns; /* in this phase, held back by this */
	/* Whatever its phase: what ran at the instant and had its engine, itself or by who came after it, and since when; 0: none. */
	uint64_t engine_op_id, engine_ns;
	bool is_engine_unsure; /* some of it had room, or too much ran to follow: it may not have waited */
};

struct ts_state_thread {
	uint32_t session, thread;
	struct ts_row_api call;	 /* that it is in; start_ns 0: in none */
	struct ts_row_sync sync; /* that it waits in; start_ns 0: in none */
	/* Of what it waits for, the operation that is over last; 0: none is known (of an event it is not recorded which). */
	uint64_t by_op_id;
};

struct ts_state_allocation {
	uint32_t session;
	struct ts_row_memory row; /* TS_ROW_ALLOC's */
};

struct ts_state_event {
	uint32_t session, stream;
	uint64_t event; /* the handle */
	uint64_t recorded_ns;
	uint64_t
		by_op_id; /* the operation that it stands behind and that is over last; or else what host_op_id says */
	uint64_t
		due_ns; /* when that was over; 0: all that is known of was, but for what the host does */
	/*
	 * The call by which it stands behind what the host does in its stream, and nothing behind that had begun: when it is reached is
	 * in no trace, so that it may have been. 0: none.
	 */
	uint64_t host_op_id;
};

struct ts_state {
	uint64_t at_ns;
	struct ts_state_current *ops; /* running ones first, then by session, stream, start */
	size_t n_ops;
	struct ts_state_thread *threads; /* in a call; by session, thread */
	size_t n_threads;
	struct ts_state_allocation *allocations; /* by session, address */
	size_t n_allocations;
	struct ts_state_event *events; /* recorded, not reached yet; by session, time */
	size_t n_events;
	uint64_t n_rows; /* read */
	uint64_t
		n_bad_frees; /* of what was not allocated, as far as the trace knows; earlier ones */
	bool is_checkpoint_bad; /* there were checkpoints, and they could not be used: all was read */
	bool is_damaged;	/* blocks were left out: what they held is missing here */
	bool is_cut; /* the trace ends before everything under way was over, or it was too much to follow */
};

/* Live allocations and threads that are kept at most; of more the answer is TS_E_LIVE. */
#define TS_STATE_MAX_LIVE TS_MAX_LIVE

/* `session` 0: all. Errors: -ENOMEM, and those of sbt/reader.h. */
int ts_state_at(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
		struct ts_state **ret_state);
void ts_state_free(struct ts_state *state); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_state *, ts_state_freep, ts_state_free)

/*
 * The same from rows that the caller feeds, in the order of their start: until it says that it is done, or there
 * are no more. What a test uses, and who reads a trace for several purposes at once.
 */
struct ts_state_builder;
int ts_state_builder_new(uint64_t at_ns, struct ts_state_builder **ret_builder);
void ts_state_builder_free(struct ts_state_builder *builder);
TS_DEFINE_CLEANUP(struct ts_state_builder *, ts_state_builder_freep, ts_state_builder_free)
struct ts_state_machine *ts_state_builder_machine(struct ts_state_builder *builder);
/* The limits of a device, before rows: of others it is not known whether they were full. -ENOMEM. */
int ts_state_builder_device(struct ts_state_builder *builder, uint32_t session,
			    const struct ts_row_device *row);
/* TS_SBT_E_END: nothing that follows can change the answer. Also 0, -ENOMEM, TS_E_LIVE, TS_E_STREAMS. */
int ts_state_builder_feed(struct ts_state_builder *builder, const struct ts_sbt_row *row);
/* The builder can be freed afterwards, and only that. */
int ts_state_builder_finish(struct ts_state_builder *builder, struct ts_state **ret_state);

const char *ts_state_phase_name(unsigned phase); /* "running" */
const char *ts_state_cause_name(unsigned cause); /* "event"; "" for none */

#ifdef __cplusplus
}
#endif
