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

	return sscanf(line, " %*u: %*x:%x %*x:%x %*x %*x:%*x %*x:%*x %*x %u", &own_port,
		      &other_port, ret_uid) == 3 &&
	       own_port == port && other_port == server;
}

bool ts_studio_is_own_peer(const struct sockaddr *peer, socklen_t n_bytes, unsigned port)
{
	const struct sockaddr_in *address = (const void *)peer;
	bool is_own = true;
	char line[256];
	unsigned uid;
	FILE *table;

	if (n_bytes < sizeof(*address) || peer->sa_family != AF_INET)
		return true;
	table = fopen("/proc/net/tcp", "re");
	if (!table)
		return true;
	while (fgets(line, sizeof(line), table)) {
		if (!is_entry(line, ntohs(address->sin_port), port, &uid))
			continue;
		is_own = uid == getuid() || !uid;
		break;
	}
	fclose(table);
	return is_own;
}
