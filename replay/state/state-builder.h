/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state while it is built. Private to state.c, at.c, state-engines.c, state-append.c and
 * checkpoint/checkpoint.c.
 */
#pragma once

#include "replay/state/state-engines.h"
#include "replay/state/state-order.h"
#include "replay/state/state.h"

/*
 * A graph launch, some of whose rows may still be missing. Its last row has come when an operation
 * issued after the launch in its stream begins, or when a synchronization has waited for the
 * launch.
 */
struct ts_state_launch {
	uint64_t op_id;
	uint64_t done_ns; /* 0: unknown */
	uint32_t session, context, stream;
};

struct ts_state_call {
	uint32_t session;
	struct ts_row_api row;
};

struct ts_state_sync {
	uint32_t session;
	struct ts_row_sync row;
};

/*
 * Work that was in progress when the last row began. It also holds older entries until a cleanup
 * removes them.
 */
struct ts_state_open {
	struct ts_state_call *calls;
	struct ts_state_sync *syncs;
	struct ts_state_op *ops; /* device operations */
	size_t n_calls, n_calls_allocated, n_syncs, n_syncs_allocated, n_ops, n_ops_allocated;
};

struct ts_state_builder {
	struct ts_state *state;
	struct ts_state_machine *machine;
	struct ts_state_map allocation_by_address, event_by_handle, thread_by_call;
	/*
	 * Synchronizations whose rows begin before the rows of their calls, by op_id. The two rows
	 * come from different clocks, and conversion adds an error.
	 */
	struct ts_state_map early_sync_by_call;
	struct ts_row_sync *early_syncs;
	size_t n_early_syncs, n_early_syncs_allocated;
	size_t n_ops_allocated, n_threads_allocated, n_allocations_allocated, n_events_allocated;
	struct ts_state_launch *launches;
	size_t n_launches, n_launches_allocated;
	/* the reader has passed the instant; n_reported and is_due_known are valid */
	bool is_behind;
	size_t n_reported; /* number of operations up to the last one that was awaited */
	bool is_due_known; /* due times of events are current */
	struct ts_state_engines engines;

	/*
	 * Not NULL: the builder makes checkpoints, which serve all instants, and keeps no state for
	 * a single instant. NULL: the builder serves one instant.
	 */
	struct ts_state_open *open;
	/*
	 * Calls that never get a device row, and the number of them that are awaited. NULL:
	 * unknown.
	 */
	const struct ts_state_map *never;
	uint64_t n_never;
};

#define TS_STATE_ROWS                                                                 \
	(TS_STATE_MACHINE_ROWS | TS_ROW_BIT(TS_ROW_SYNC) | TS_ROW_BIT(TS_ROW_ALLOC) | \
	 TS_ROW_BIT(TS_ROW_FREE))

/* Returns a zeroed item at the end of a growing array, or NULL if memory is short. */
void *ts_state_append(void *items, size_t *n, size_t *n_allocated, size_t bytes);
/*
 * Add an operation or a host row that began before the instant, as ts_state_builder_feed() does.
 * Return 0, -ENOMEM, TS_E_LIVE or TS_E_STREAMS.
 */
int ts_state_builder_keep(struct ts_state_builder *builder, const struct ts_state_op *op);
int ts_state_builder_host(struct ts_state_builder *builder, const struct ts_sbt_row *row);
/* Adds the limits of all devices of the trace. Returns 0 or -ENOMEM. */
int ts_state_builder_devices(struct ts_state_builder *builder, struct ts_sbt_reader *reader);
/* Feeds rows until no further row can change the answer (TS_SBT_E_END) or a call fails. */
int ts_state_builder_read(struct ts_state_builder *builder, struct ts_sbt_cursor *cursor);
/*
 * Feeds a row to a builder whose `open` is set. Such a builder does not use
 * ts_state_builder_feed().
 */
int ts_state_builder_pass(struct ts_state_builder *builder, const struct ts_sbt_row *row);
