/* SPDX-License-Identifier: Apache-2.0 */
/* A state while it is built. Shared by state.c, at.c, state-engines.c, state-append.c and checkpoint/checkpoint.c, and by nobody else. */
#pragma once

#include "replay/state/state-engines.h"
#include "replay/state/state-order.h"
#include "replay/state/state.h"

/* A launch of a graph: more rows of it may come until something issued behind it began, or was waited for. */
struct ts_state_launch {
	uint64_t op_id;
	uint64_t done_ns; /* 0: not known */
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

/* What was under way when the last row began, and, until it is tidied up, what was earlier. */
struct ts_state_open {
	struct ts_state_call *calls;
	struct ts_state_sync *syncs;
	struct ts_state_op *ops; /* on the device */
	size_t n_calls, n_calls_allocated, n_syncs, n_syncs_allocated, n_ops, n_ops_allocated;
};

struct ts_state_builder {
	struct ts_state *state;
	struct ts_state_machine *machine;
	struct ts_state_map allocation_by_address, event_by_handle, thread_by_call;
	/* Synchronisations that begin before their calls: their clock is another one, converted with an error. By op_id. */
	struct ts_state_map early_sync_by_call;
	struct ts_row_sync *early_syncs;
	size_t n_early_syncs, n_early_syncs_allocated;
	size_t n_ops_allocated, n_threads_allocated, n_allocations_allocated, n_events_allocated;
	struct ts_state_launch *launches;
	size_t n_launches, n_launches_allocated;
	bool is_behind;	   /* the instant was passed; then: */
	size_t n_reported; /* operations up to the last that was waited for */
	bool is_due_known; /* of events, nothing that was waited for having come since */
	struct ts_state_engines engines;

	/* For all instants at once: nothing is kept for one of them. NULL: for one. */
	struct ts_state_open *open;
	/* Calls of which is known that they will never be answered, and how many of them are awaited. NULL: nothing is. */
	const struct ts_state_map *never;
	uint64_t n_never;
};

#define TS_STATE_ROWS                                                                 \
	(TS_STATE_MACHINE_ROWS | TS_ROW_BIT(TS_ROW_SYNC) | TS_ROW_BIT(TS_ROW_ALLOC) | \
	 TS_ROW_BIT(TS_ROW_FREE))

/* A zeroed item at the end of an array that grows; NULL: no memory. */
void *ts_state_append(void *items, size_t *n, size_t *n_allocated, size_t bytes);
/* The state that the rows before an instant leave: as in a builder that was fed them. -ENOMEM, TS_E_LIVE, TS_E_STREAMS. */
int ts_state_builder_keep(struct ts_state_builder *builder, const struct ts_state_op *op);
int ts_state_builder_host(struct ts_state_builder *builder, const struct ts_sbt_row *row);
/* The limits of the trace's devices. -ENOMEM. */
int ts_state_builder_devices(struct ts_state_builder *builder, struct ts_sbt_reader *reader);
/* Until nothing that follows can change the answer (TS_SBT_E_END), or it fails. */
int ts_state_builder_read(struct ts_state_builder *builder, struct ts_sbt_cursor *cursor);
/* A row for all instants: is `open` set, this instead of ts_state_builder_feed(). */
int ts_state_builder_pass(struct ts_state_builder *builder, const struct ts_sbt_row *row);
