/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What replay/state/overview/errors.h found, with names and stacks.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/* Messages from the pool; NULL where no call failed. Errors of ts_call_errors_read(). *ret_damaged is set where blocks were left out. */
int ts_errorsjson_make(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
		       size_t *ret_n, Ts__Rpc__CallError ***ret_errors, uint64_t *ret_failed_calls,
		       bool *ret_damaged);
