/* SPDX-License-Identifier: Apache-2.0 */
/* The last line of `tsctl record`: size of the trace, losses, and the reason of an empty trace. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "tools/tsctl/record/rotation-options.h"

#include <stdbool.h>

struct ts_record_summary {
	const Ts__Rpc__RecordingSummary *summary; /* from the daemon */
	const char *path;			  /* requested from the daemon; absolute */
	/* Path of the file as the user gave it. NULL: the file is named after the program. */
	const char *output;
	const struct ts_rotation *rotation;
	const char *end;	/* how the command ended, or NULL */
	const char *empty_hint; /* see why.h */
	bool quiet;		/* print errors only */
};

/* Prints to stderr. The pointers must be valid during the call. */
void ts_record_summary_print(const struct ts_record_summary *of);
