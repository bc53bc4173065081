/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the clock bounds of replay/state/state-clocks.h to a message. query.c, `tsctl info` and
 * `tsctl analyze` call this file.
 */
#include "replay/report/answers/clockjson.h"

#include "proto/rpc/json.h"
#include "replay/state/state-clocks.h"

int ts_clockjson_make(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
		      Ts__Rpc__ClockBounds **ret_message)
{
	Ts__Rpc__ClockBounds *message;
	struct ts_clocks clocks;
	int r = ts_clocks_read(reader, session, &clocks);

	if (r || clocks.is_damaged)
		return r;
	message = ts_pool_alloc(pool, 1, sizeof(*message));
	ts__rpc__clock_bounds__init(message);
	TS_RPC_SET(message, host_ns, clocks.host_ns);
	TS_RPC_SET(message, device_ns, clocks.device_ns);
	if (clocks.n_sessions > 1)
		TS_RPC_SET(message, between_sessions_ns, clocks.between_ns);
	*ret_message = message;
	return 0;
}
