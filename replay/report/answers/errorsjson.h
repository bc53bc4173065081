/* SPDX-License-Identifier: Apache-2.0 */
/* Failed calls from replay/state/overview/errors.h, with names and stacks. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"
#include "replay/state/overview/errors.h"

/*
 * Makes *ret_n messages from the pool. Errors are those of ts_call_errors_read(). Sets *ret_damaged
 * to true if damaged blocks were skipped, else leaves it unchanged.
 */
int ts_errorsjson_make(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
		       size_t *ret_n, Ts__Rpc__CallError ***ret_errors, uint64_t *ret_failed_calls,
		       bool *ret_damaged);
/* As ts_errorsjson_make(), of errors that the caller has read and keeps. */
int ts_errorsjson_make_of(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
			  const struct ts_call_errors *errors, size_t *ret_n,
			  Ts__Rpc__CallError ***ret_errors, uint64_t *ret_failed_calls,
			  bool *ret_damaged);
