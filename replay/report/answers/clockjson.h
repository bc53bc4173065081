/* SPDX-License-Identifier: Apache-2.0 */
/* Error bounds of a trace's times, as a message. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"
#include "sbt/reader.h"

/*
 * Makes the message from the pool. Makes no message if a clock snapshot is unreadable. `session` 0
 * means all sessions. Errors are those of ts_clocks_read().
 */
int ts_clockjson_make(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
		      Ts__Rpc__ClockBounds **ret_message);
