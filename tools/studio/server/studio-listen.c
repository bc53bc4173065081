/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening sockets: see studio-listen.h. main.c calls this module.
 */
#include "tools/studio/server/studio-listen.h"

#include "proto/abi/base.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BACKLOG 64

int ts_listen_port(unsigned port, unsigned *ret_port)
{
	ts_cleanup(ts_closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(address);
	int one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&address, n) || listen(fd, BACKLOG) ||
	    getsockname(fd, (struct sockaddr *)&address, &n))
		return -errno;
	*ret_port = ntohs(address.sin_port);
	return ts_take_fd(&fd);
}

/* Removes a socket at which nobody listens. */
static int remove_stale(const struct sockaddr_un *address)
{
	ts_cleanup(ts_closep) int fd = -1;
	struct stat status;

	if (lstat(address->sun_path, &status))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(status.st_mode) || status.st_uid != geteuid())
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return -EADDRINUSE;
	return errno == ECONNREFUSED && !unlink(address->sun_path) ? 0 : -errno;
}

int ts_listen_socket(const char *path)
{
	ts_cleanup(ts_closep) int fd = -1;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	r = remove_stale(&address);
	if (r)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	umask(mask);
	if (r || listen(fd, BACKLOG))
		return r ? r : -errno;
	return ts_take_fd(&fd);
}
