/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker that answers one question about a trace, and ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Before the walls. What cannot be had is done without: names of kernels stay as the compiler made them. */
void ts_query_prepare(bool is_replay);

/*
 * Takes a request from the socket, answers it, and returns the exit status. `error`: why it is not confined, and `part` of what;
 * 0: it is. `device_bytes`: what a
 * replay's GPU has at most; 0: it is not there to replay.
 */
int ts_query_serve(int fd, int error, const char *part, uint64_t device_bytes);
