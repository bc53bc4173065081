/* SPDX-License-Identifier: Apache-2.0 */
/* The query worker: answers one query about a trace, and ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Prepares the process; call it before the confinement. Failures are ignored: without a demangler,
 * names of kernels stay mangled.
 */
void ts_query_prepare(bool is_replay);

/*
 * Receives a request from the socket, answers it, and returns the exit status. `error` is the
 * negative errno of a failed confinement and `part` its part; 0: confined. `device_bytes` is the
 * memory limit of a replay's GPU; 0: the process cannot replay.
 */
int ts_query_serve(int fd, int error, const char *part, uint64_t device_bytes);
