/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a trace, for completion: kernels, ranges, calls, streams, devices, threads. */
#pragma once

#include "tools/tsctl/options/option-table.h"

/* The name is valid during the call, and may hold any bytes. */
typedef void (*ts_complete_name_fn)(const char *name, void *data);

/*
 * Calls on_name() for each name of that kind in the trace `path`; the work that took the most time
 * comes first. Without a trace at `path` there are no names.
 *
 * The shell waits, so this takes at most 130 ms. If a trace is too large for that, the names of its
 * first rows are the result. If the file cannot even be opened in 180 ms, the process ends with
 * status 0. Uses SIGALRM.
 */
void ts_complete_names(const char *path, enum ts_option_names kind, ts_complete_name_fn on_name,
		       void *data);
