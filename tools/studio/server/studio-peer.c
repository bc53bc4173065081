/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the user of a connection's other end: see studio-peer.h. http.c calls this module for each
 * new connection. It asks the kernel for the one socket by NETLINK_SOCK_DIAG (sock_diag(7)). A
 * kernel without this answers by its table of connections, which is as long as any user of the
 * machine makes it. All four parts of the connection's address are compared. Another user chooses
 * the port of a connection from 127.0.0.2, and that entry belongs to root once it is closed.
 */
#include "tools/studio/server/studio-peer.h"

#include "proto/abi/base.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

struct question {
	struct nlmsghdr header;
	struct inet_diag_req_v2 body;
};

/* ---- sock_diag ------------------------------------------------------------------------------- */

/* Sends the question. Returns a socket with the answer, or -errno. */
static int ask_kernel(const struct sockaddr_in *peer, unsigned port)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct question question = {.header = {.nlmsg_len = sizeof(question),
					       .nlmsg_type = SOCK_DIAG_BY_FAMILY,
					       .nlmsg_flags = NLM_F_REQUEST},
				    .body = {.sdiag_family = AF_INET,
					     .sdiag_protocol = IPPROTO_TCP,
					     .idiag_states = UINT32_MAX,
					     .id = {.idiag_sport = peer->sin_port,
						    .idiag_dport = htons((uint16_t)port),
						    .idiag_src = {peer->sin_addr.s_addr},
						    .idiag_dst = {htonl(INADDR_LOOPBACK)},
						    .idiag_cookie = {INET_DIAG_NOCOOKIE,
								     INET_DIAG_NOCOOKIE}}}};
	ts_cleanup(ts_closep) int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0 || sendto(fd, &question, sizeof(question), 0, (const struct sockaddr *)&kernel,
			     sizeof(kernel)) < 0)
		return -errno;
	return ts_take_fd(&fd);
}

/*
 * Finds the user of the client's socket. Returns 0, -ENOENT if there is no such socket, or another
 * error if the kernel cannot answer. A client's IPv6 socket, at ::ffff:127.0.0.1, is found as well.
 */
static int find_user(const struct sockaddr_in *peer, unsigned port, unsigned *ret_uid)
{
	ts_cleanup(ts_closep) int fd = ask_kernel(peer, port);
	union {
		struct nlmsghdr header;
		uint8_t bytes[1024];
	} answer;
	const struct inet_diag_msg *found = NLMSG_DATA(&answer.header);
	const struct nlmsgerr *error = NLMSG_DATA(&answer.header);
	ssize_t n = fd < 0 ? fd : recv(fd, &answer, sizeof(answer), 0);

	if (fd < 0)
		return fd;
	if (n < 0)
		return -errno;
	if (!NLMSG_OK(&answer.header, (size_t)n))
		return -EPROTO;
	if (answer.header.nlmsg_type == NLMSG_ERROR &&
	    answer.header.nlmsg_len >= NLMSG_LENGTH(sizeof(*error)))
		return error->error ? error->error : -EPROTO;
	if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
		return -EPROTO;
	*ret_uid = found->idiag_uid;
	return 0;
}

/* ---- /proc ----------------------------------------------------------------------------------- */

/* Finds the entry of a client's socket in a table. Returns false if there is none. */
static bool find_entry(const char *path, const char *addresses, unsigned *ret_uid)
{
	FILE *table = fopen(path, "re");
	bool is_found = false;
	char line[256];

	while (table && !is_found && fgets(line, sizeof(line), table)) {
		const char *found = strstr(line, addresses);

		is_found = found && sscanf(found + strlen(addresses), "%*x %*x:%*x %*x:%*x %*x %u",
					   ret_uid) == 1;
	}
	if (table)
		fclose(table);
	return is_found;
}

static bool find_in_tables(const struct sockaddr_in *peer, unsigned port, unsigned *ret_uid)
{
	/* The kernel prints addresses as words of this machine. */
	const uint32_t from = peer->sin_addr.s_addr, to = htonl(INADDR_LOOPBACK);
	static const char mapped[] = "0000000000000000FFFF0000";
	char addresses[96];

	snprintf(addresses, sizeof(addresses), ": %08X:%04X %08X:%04X ", from,
		 ntohs(peer->sin_port), to, port);
	if (find_entry("/proc/net/tcp", addresses, ret_uid))
		return true;
	/* A socket of IPv6 connects to ::ffff:127.0.0.1, and is in the other table. */
	snprintf(addresses, sizeof(addresses), ": %s%08X:%04X %s%08X:%04X ", mapped, from,
		 ntohs(peer->sin_port), mapped, to, port);
	return find_entry("/proc/net/tcp6", addresses, ret_uid);
}

bool ts_studio_is_own_peer(const struct sockaddr *peer, socklen_t n_bytes, unsigned port)
{
	const struct sockaddr_in *address = (const void *)peer;
	unsigned uid;
	int r;

	if (n_bytes < sizeof(*address) || peer->sa_family != AF_INET)
		return true;
	r = find_user(address, port, &uid);
	/* A client that has closed its socket gets no answer anyway. */
	if (r == -ENOENT || (r && !find_in_tables(address, port, &uid)))
		return true;
	return uid == getuid() || !uid;
}
