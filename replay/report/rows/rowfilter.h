/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows are asked for, beyond type and window.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"

#include <stdbool.h>

/* A filter asks for threads: the resolver has to tell launchers. NULL: no filter. */
bool ts_row_filter_asks_threads(const Ts__Rpc__RowFilter *filter);

/* True where the row has all that the filter asks for; NULL takes every row. */
bool ts_row_filter_takes(const Ts__Rpc__RowFilter *filter, struct ts_resolver *resolver,
			 const struct ts_sbt_row *row);

/* A call that returned an error, or what failed in a driver. "Not ready" is an answer and no error. */
bool ts_row_failed(const struct ts_sbt_row *row);
