/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker that answers one question about a trace, and ends.
 */
#pragma once

/* Before the walls. What cannot be had is done without: names of kernels stay as the compiler made them. */
void ts_query_prepare(void);

/*
 * Takes a request from the socket, answers it, and returns the exit status. `error`: why it is not confined, and `part` of what;
 * 0: it is.
 */
int ts_query_serve(int fd, int error, const char *part);
