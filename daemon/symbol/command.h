/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tracesmithd --symbolize`, which `tsctl symbolize` starts: symbolises the stacks of a finished
 * trace. The result is one SymbolizeReport, with an error in it on failure, in a frame of
 * rpc/frame.h.
 */
#pragma once

#include "daemon/symbol/trace.h"

struct ts_symbolize_command {
	int trace_fd;  /* open for reading and writing */
	int report_fd; /* a stream socket or a pipe */
	bool again;
	const char *worker; /* NULL: the worker of ts_worker_find() */
};

/* Symbolises the trace. Returns the exit status: 0, or 1 on failure. */
int ts_symbolize_command(const struct ts_symbolize_command *command);
