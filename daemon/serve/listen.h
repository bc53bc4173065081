/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's listening sockets, and the connections that come in by them. Returns are 0 or a negative errno unless
 * said otherwise.
 */
#pragma once

#include "daemon/serve/server.h"

int ts_listen_init(struct ts_server *server);
int ts_listen_inject(struct ts_server *server);
/* `fd`: a socket that listens already; -1: one is made at options.control_socket. */
int ts_listen_control(struct ts_server *server, int fd);

/* Takes one connection of a process's, where one waits. Returns whether one did. */
bool ts_listen_accept_peer(struct ts_server *server);

/* Whose a connected socket's other end is. */
int ts_listen_credentials(int fd, struct ucred *ret_credentials);
int ts_listen_nonblocking(int fd);
