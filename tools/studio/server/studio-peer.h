/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the user of a connection to the port. The token protects the data; this check keeps other
 * users of the machine from using up the connections.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/*
 * Returns false if the connection's other end, on this machine, belongs to a user who is neither
 * this process's nor root. `peer` is the other end's address, `port` the server's. Thread-safe.
 */
bool ts_studio_is_own_peer(const struct sockaddr *peer, socklen_t n_bytes, unsigned port);
