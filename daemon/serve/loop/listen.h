/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's listening sockets and their connections. Functions return 0 or a negative errno
 * unless noted. Only the main thread calls them.
 */
#pragma once

#include "daemon/serve/loop/server.h"

int ts_listen_init(struct ts_server *server);
int ts_listen_inject(struct ts_server *server);
/*
 * Starts to listen for clients. `fd` is a listening socket; -1: creates a socket at
 * options.control_socket.
 */
int ts_listen_control(struct ts_server *server, int fd);

/*
 * Closes a listening socket; -1 is accepted. `is_own`: the daemon created the socket, and no other
 * process listens on it.
 */
void ts_listen_close(struct ts_server *server, int *fd, bool is_own);

/*
 * Accepts one waiting connection of a traced process (not of a client). Returns true if a
 * connection waited.
 */
bool ts_listen_accept_peer(struct ts_server *server);

/*
 * ts_listen_adopt_peer() serves the connected socket of the traced process, ts_listen_adopt_owner()
 * that of the client that owns the recording. Both take ownership of the socket.
 */
int ts_listen_adopt_peer(struct ts_server *server, int fd);
int ts_listen_adopt_owner(struct ts_server *server, int fd);
int ts_listen_nonblocking(int fd);
