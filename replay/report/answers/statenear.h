/* SPDX-License-Identifier: Apache-2.0 */
/*
 * At an instant at which no GPU works: the operation that ended last before it, and the one that starts next.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/* Adds both to a report of ts_statejson_make(), if nothing runs in it. Session 0: of all. Errors of sbt/reader.h. */
int ts_statenear_add(struct ts_resolver *resolver, uint32_t session, struct ts_pool *pool,
		     Ts__Rpc__StateReport *report);
