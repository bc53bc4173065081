/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state between two windows of an emulation. Private to replay/emulate: see emulate-carry.c.
 * All times are relative to the first window's start.
 */
#pragma once

#include "replay/emulate/emulate-builder.h"
#include "replay/emulate/simulate.h"

/* Limit on events that are kept. */
#define TS_EMULATE_CARRY_EVENTS 4096u
/* Limit on spans of an engine; more are united. */
#define TS_EMULATE_CARRY_SPANS 256u

struct ts_emulate_carried_thread {
	uint32_t session, thread;
	uint64_t recorded_ns, end_ns; /* of its last call: as recorded, as emulated */
};

/* A stream with its last item, or an event with its last record. */
struct ts_emulate_carried_item {
	uint32_t session, context, stream;
	uint64_t event; /* handle; 0: a stream */
	uint64_t recorded_ns, end_ns;
	bool has_item;
};

/* An engine is busy although the next window has begun. */
struct ts_emulate_carried_span {
	uint32_t session, device, kind, demand;
	uint32_t queue_session, context, stream;
	uint64_t start_ns, end_ns;
};

struct ts_emulate_carried_engine {
	uint32_t session, device, kind, capacity;
};

struct ts_emulate_carry {
	struct ts_state_map thread_by_id, queue_by_id, event_by_handle;
	struct ts_emulate_carried_thread *threads; /* in the order of their first calls */
	size_t n_threads, threads_allocated;
	struct ts_emulate_carried_item *queues, *events;
	size_t n_queues, queues_allocated, n_events, events_allocated;
	struct ts_emulate_carried_span *spans;
	size_t n_spans, spans_allocated;
	struct ts_emulate_carried_engine *engines; /* of the last window */
	size_t n_engines, engines_allocated;
};

void ts_emulate_carry_deinit(struct ts_emulate_carry *carry);

/*
 * Prepares an empty builder for the window behind the one of `before`: it gets the streams, threads
 * and engines, in their order, and a first call for the items of earlier windows. Errors as
 * ts_emulate_builder_feed().
 */
int ts_emulate_carry_follow(struct ts_emulate_builder *builder,
			    const struct ts_emulate_builder *before);

/*
 * Updates the state after a run. `program` is the program as recorded; the run's program may be an
 * edited copy. Returns 0 or -ENOMEM.
 */
int ts_emulate_carry_take(struct ts_emulate_carry *carry, const struct ts_emulate_program *program,
			  const struct ts_emulate_run *run);
/*
 * Completes a builder, which ts_emulate_carry_follow() prepared, with the state after the run.
 * *ret_from_ns is the emulated start of the first call that the builder has so far. Errors as
 * ts_emulate_builder_feed().
 */
int ts_emulate_carry_seed(struct ts_emulate_carry *carry, const struct ts_emulate_run *run,
			  struct ts_emulate_builder *builder, uint64_t *ret_from_ns);
