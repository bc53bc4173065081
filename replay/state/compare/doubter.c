/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the doubts of a trace: see doubter.h. diff.c calls this file; this file uses relay.c and
 * the state machine.
 */
#include "replay/state/compare/doubter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/state/relay.h"
#include "replay/state/state-machine.h"
#include "sbt/reader-threads.h"

/* A row for the machine. In a thread of its own, the machine gets a copy. */
struct item {
	struct ts_sbt_row row;
	union {
		struct ts_row_api api;
		struct ts_row_kernel kernel;
		struct ts_row_memcpy memcpy_;
		struct ts_row_memset memset_;
		struct ts_row_event event;
		struct ts_row_stream stream;
		struct ts_row_stream_wait stream_wait;
		struct ts_row_graph_launch graph_launch;
	} copy;
};

struct ts_doubter {
	struct ts_state_machine *machine;
	struct ts_relay *relay;
	struct ts_doubts *doubts;
};

static int take_item(void *data, void *at)
{
	struct ts_doubter *doubter = data;
	const struct item *item = at;
	struct ts_state_op op;
	int r = ts_state_machine_feed(doubter->machine, &item->row, &op);

	if (r == 1)
		ts_doubts_add(doubter->doubts, &op);
	return r == 1 ? 0 : r;
}

int ts_doubter_new(struct ts_sbt_reader *reader, struct ts_doubts *doubts,
		   struct ts_doubter **ret_doubter)
{
	ts_cleanup(ts_doubter_freep) struct ts_doubter *doubter = calloc(1, sizeof(*doubter));
	const struct ts_relay_pass passes[] = {{take_item, doubter}};
	int r;

	if (!doubter)
		return -ENOMEM;
	doubter->doubts = doubts;
	r = ts_state_machine_new(&doubter->machine);
	r = r ? r : ts_state_machine_prepare(doubter->machine, reader, 0);
	r = r ? r : ts_relay_new(sizeof(struct item), passes, 1, &doubter->relay);
	if (r)
		return r;
	ts_relay_limit_threads(doubter->relay, ts_sbt_reader_max_threads(reader));
	*ret_doubter = ts_take_ptr(doubter);
	return 0;
}

int ts_doubter_feed(struct ts_doubter *doubter, const struct ts_sbt_row *row)
{
	struct item *item = ts_relay_item(doubter->relay);

	if (!(TS_ROW_BIT(row->type) & TS_STATE_MACHINE_ROWS))
		return 0;
	item->row = *row;
	if (ts_relay_has_threads(doubter->relay)) {
		memcpy(&item->copy, row->any, row->schema->row_bytes);
		item->row.any = &item->copy;
	}
	return ts_relay_put(doubter->relay);
}

int ts_doubter_finish(struct ts_doubter *doubter)
{
	struct ts_doubts of_machine = {0};
	int r = ts_relay_end(doubter->relay);

	if (r)
		return r;
	ts_doubts_finish(&of_machine, doubter->machine);
	doubter->doubts->n_unanswered += of_machine.n_unanswered;
	doubter->doubts->n_twice += of_machine.n_twice;
	return 0;
}

void ts_doubter_free(struct ts_doubter *doubter)
{
	if (!doubter)
		return;
	ts_relay_free(doubter->relay);
	ts_state_machine_free(doubter->machine);
	free(doubter);
}
