/* SPDX-License-Identifier: Apache-2.0 */
/* From replay/state/clocks.h to a message and a line. */
#include "tools/tsctl/clockjson.h"

#include "proto/rpc/json.h"
#include "replay/state/clocks.h"
#include "tools/tsctl/out.h"

#include <stdio.h>

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

void ts_clockjson_print(const Ts__Rpc__ClockBounds *bounds)
{
	char host[TS_OUT_FIGURE_BYTES], device[TS_OUT_FIGURE_BYTES], between[TS_OUT_FIGURE_BYTES];

	if (!bounds || !bounds->has_between_sessions_ns)
		return;
	printf("Times are true to %s on hosts and %s on GPUs; those of different processes, to %s of "
	       "each other.\n",
	       ts_out_duration(host, bounds->host_ns), ts_out_duration(device, bounds->device_ns),
	       ts_out_duration(between, bounds->between_sessions_ns));
}
