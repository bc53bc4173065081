/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets of Studio. */
#pragma once

/*
 * Listens at a port of 127.0.0.1; 0: a free one. Returns the descriptor and the port, or a negative
 * errno.
 */
int ts_listen_port(unsigned port, unsigned *ret_port);

/*
 * Listens at a Unix socket that only this user can use. A stale socket of this user is replaced.
 * Returns the descriptor, or a negative errno: -EADDRINUSE if a server listens there, -EEXIST if
 * the path is no socket.
 */
int ts_listen_socket(const char *path);
