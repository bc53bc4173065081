/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For an instant at which no GPU works: finds the last operation that ended before the instant, and
 * the first that starts after it.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/*
 * Adds the nearest operations before and after the instant to a report of ts_statejson_make(), if
 * no operation runs at the instant. Session 0 means all. Errors are those of sbt/reader.h.
 */
int ts_statenear_add(struct ts_resolver *resolver, uint32_t session, struct ts_pool *pool,
		     Ts__Rpc__StateReport *report);
