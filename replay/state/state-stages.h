/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state machine in two stages, for passes that work in threads (relay.h). The first stage finds
 * the call of a device row, the second one the dependencies. Both get all rows in the same order,
 * and share no memory, so each may have its own thread. One after the other, they are
 * ts_state_machine_feed(). Private to replay/state.
 */
#pragma once

#include "replay/state/state-machine.h"

/* A row on its way from the first stage to the second one and to the passes. */
struct ts_state_item {
	uint64_t start_ns;
	uint32_t type, session; /* of the row */
	bool has_op;		/* `op` is valid; after the second stage, it is complete */
	union {
		struct ts_state_op op;
		/* Copies of other rows, by type. */
		struct ts_row_api api;
		struct ts_row_sync sync;
		struct ts_row_event event;
		struct ts_row_stream stream;
		struct ts_row_stream_wait stream_wait;
		struct ts_row_graph_launch graph_launch;
	};
};

/*
 * The first stage. Fills the item for TS_STATE_MACHINE_ROWS and TS_ROW_SYNC. Returns 1 if the
 * second stage needs the item, 0 if not, -ENOMEM or TS_E_STREAMS.
 */
int ts_state_machine_join(struct ts_state_machine *machine, const struct ts_sbt_row *row,
			  struct ts_state_item *ret_item);

/* The second stage, as a pass of a relay: `item` is a ts_state_item. Returns 0 or an error. */
int ts_state_machine_order(void *machine, void *item);
