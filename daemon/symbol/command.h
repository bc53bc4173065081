/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tracesmithd --symbolize`, which `tsctl symbolize` starts: names what a finished trace has of stacks, and says how it
 * went as one SymbolizeReport, or an Error, in a frame of rpc/frame.h.
 */
#pragma once

#include "daemon/symbol/trace.h"

struct ts_symbolize_command {
	int trace_fd;  /* open for reading and writing */
	int report_fd; /* a stream socket or a pipe */
	bool again;
	const char *worker; /* NULL: the one that belongs to this program */
};

/* Returns the exit status. */
int ts_symbolize_command(const struct ts_symbolize_command *command);
