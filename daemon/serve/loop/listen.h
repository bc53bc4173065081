/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's listening sockets, and the connections that come in by them. Returns are 0 or a negative errno unless
 * said otherwise.
 */
#pragma once

#include "daemon/serve/loop/server.h"

int ts_listen_init(struct ts_server *server);
int ts_listen_inject(struct ts_server *server);
/* `fd`: a socket that listens already; -1: one is made at options.control_socket. */
int ts_listen_control(struct ts_server *server, int fd);

/* Closes a socket that listens, -1 included; `is_own`: it was made here, and nobody else listens at it. */
void ts_listen_close(struct ts_server *server, int *fd, bool is_own);

/* Takes one connection of a process's, where one waits. Returns whether one did. */
bool ts_listen_accept_peer(struct ts_server *server);

/* Serve a connected socket: of the process to be recorded, or of the client that the recording belongs to. Take it over. */
int ts_listen_adopt_peer(struct ts_server *server, int fd);
int ts_listen_adopt_owner(struct ts_server *server, int fd);
int ts_listen_nonblocking(int fd);
