/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a trace's doubts to a message. graphjson.c, timelinejson.c, gapsjson.c and tsctl call
 * this file.
 */
#include "replay/report/answers/doubtsjson.h"

#include "proto/rpc/json.h"

Ts__Rpc__Doubts *ts_doubtsjson_make(struct ts_pool *pool, const struct ts_doubts *doubts)
{
	Ts__Rpc__Doubts *message;

	if (!ts_doubts_any(doubts))
		return NULL;
	message = ts_pool_alloc(pool, 1, sizeof(*message));
	ts__rpc__doubts__init(message);
	TS_RPC_SET(message, operations, doubts->n_ops);
	TS_RPC_SET(message, without_call, doubts->n_no_call);
	TS_RPC_SET(message, overlapping, doubts->n_overlaps);
	TS_RPC_SET(message, backwards, doubts->n_backwards);
	TS_RPC_SET(message, at_no_time, doubts->n_never);
	TS_RPC_SET(message, not_all_known, doubts->n_unknown);
	TS_RPC_SET(message, unanswered, doubts->n_unanswered);
	TS_RPC_SET(message, ids_twice, doubts->n_twice);
	return message;
}
