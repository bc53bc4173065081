/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of a request, in addition to row types and window. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"

#include <stdbool.h>

/*
 * True if the filter needs threads. Then the caller creates the resolver with `launchers`. `filter`
 * may be NULL.
 */
bool ts_row_filter_asks_threads(const Ts__Rpc__RowFilter *filter);

/* True if the row matches the whole filter. A NULL filter matches every row. */
bool ts_row_filter_takes(const Ts__Rpc__RowFilter *filter, struct ts_resolver *resolver,
			 const struct ts_sbt_row *row);

/*
 * True for a call that returned an error, and for a failed request to a disk or a driver. "Not
 * ready" is no error.
 */
bool ts_row_failed(const struct ts_sbt_row *row);
