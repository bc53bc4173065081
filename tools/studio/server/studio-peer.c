/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the user of a connection's other end in the kernel's table of connections: see
 * studio-peer.h. http.c calls this module for each new connection.
 */
#include "tools/studio/server/studio-peer.h"

#include "proto/abi/base.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Returns true if the line is the entry of the socket at `port` that is connected to `server`, and
 * the user of that socket. All addresses of such an entry are on this machine.
 */
static bool is_entry(const char *line, unsigned port, unsigned server, unsigned *ret_uid)
{
	unsigned own_port, other_port;

	return sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%x %*x %*x:%*x %*x:%*x %*x %u",
		      &own_port, &other_port, ret_uid) == 3 &&
	       own_port == port && other_port == server;
}

/* Finds the entry of the client's socket in a table. Returns false if there is none. */
static bool find_user(const char *path, unsigned port, unsigned server, unsigned *ret_uid)
{
	FILE *table = fopen(path, "re");
	bool is_found = false;
	char line[256];

	while (table && !is_found && fgets(line, sizeof(line), table))
		is_found = is_entry(line, port, server, ret_uid);
	if (table)
		fclose(table);
	return is_found;
}

bool ts_studio_is_own_peer(const struct sockaddr *peer, socklen_t n_bytes, unsigned port)
{
	const struct sockaddr_in *address = (const void *)peer;
	unsigned uid, peer_port;

	if (n_bytes < sizeof(*address) || peer->sa_family != AF_INET)
		return true;
	peer_port = ntohs(address->sin_port);
	/* A socket of IPv6 connects to ::ffff:127.0.0.1, and is in the other table. */
	if (!find_user("/proc/net/tcp", peer_port, port, &uid) &&
	    !find_user("/proc/net/tcp6", peer_port, port, &uid))
		return true;
	return uid == getuid() || !uid;
}
