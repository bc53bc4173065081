/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one line that `tsctl record` ends with: how much is in the trace, how much was lost, and why nothing is there.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "tools/tsctl/record/rotation-options.h"

#include <stdbool.h>

struct ts_record_summary {
	const Ts__Rpc__RecordingSummary *summary; /* the daemon's */
	const char *path;			  /* asked of the daemon: absolute */
	const char *output; /* as the user gave it; NULL: by the program's name */
	const struct ts_rotation *rotation;
	const char *end;	/* of the command, where it is worth a word; or NULL */
	const char *empty_hint; /* see why.h */
	bool quiet;		/* errors alone */
};

/* To standard error. Everything is borrowed for the call. */
void ts_record_summary_print(const struct ts_record_summary *of);
