/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far times can be off, as a message.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"
#include "sbt/reader.h"

/* From the pool; none where not all snapshots can be read. `session` 0: all. Errors as ts_clocks_read(). */
int ts_clockjson_make(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
		      Ts__Rpc__ClockBounds **ret_message);
