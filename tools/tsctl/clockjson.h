/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far times can be off, in messages and in words.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "sbt/reader.h"
#include "tools/tsctl/pool.h"

/* From the pool; none where not all snapshots can be read. `session` 0: all. Errors as ts_clocks_read(). */
int ts_clockjson_make(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
		      Ts__Rpc__ClockBounds **ret_message);
/* A line for people, where there are several processes. NULL is fine. */
void ts_clockjson_print(const Ts__Rpc__ClockBounds *bounds);
