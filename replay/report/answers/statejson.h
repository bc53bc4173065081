/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state at an instant as the message of proto/rpc/tracesmith.proto: names replace the ids, and
 * each stream and device has counts of its running and pending operations.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"
#include "replay/state/state.h"

/* Fills `ret_report` from the pool. `stacks`: add the stacks of the operations' calls. */
void ts_statejson_make(struct ts_resolver *resolver, const struct ts_state *state, bool stacks,
		       struct ts_pool *pool, Ts__Rpc__StateReport *ret_report);

/* Make parts of an operation's message from the pool. Other answers use them too. */
size_t ts_statejson_unsure(struct ts_pool *pool, uint32_t unsure, char ***ret_names);
char *ts_statejson_op_name(struct ts_resolver *resolver, struct ts_pool *pool,
			   const struct ts_state_op *op);
