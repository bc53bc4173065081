/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's words to the service manager in a build without libsystemd: the functions of
 * sd-daemon(3) that main.c, server.c and event.c call. They read the variables that the manager
 * sets: NOTIFY_SOCKET, LISTEN_FDS, LISTEN_PID.
 */
#include "daemon/util/event/event.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int send_to(const char *path, const char *state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t n = strlen(path);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	ssize_t sent;
	int fd, r;

	if ((*path != '/' && *path != '@') || n < 2 || n >= sizeof(address.sun_path))
		return -EINVAL;
	memcpy(address.sun_path, path, n);
	if (*path == '@')
		address.sun_path[0] = 0; /* a name without a file */
	else
		length++;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
		      length);
	r = sent < 0 ? -errno : 1;
	close(fd);
	return r;
}

int sd_notify(int unset_environment, const char *state)
{
	const char *path = secure_getenv("NOTIFY_SOCKET");
	const int r = path ? send_to(path, state) : 0;

	if (unset_environment)
		unsetenv("NOTIFY_SOCKET");
	return r;
}

/* A number without sign and space, at most `most`; -EINVAL. */
static long read_number(const char *text, long most)
{
	char *end;
	long number;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	number = strtol(text, &end, 10);
	return *end || errno || number > most ? -EINVAL : number;
}

static int count_fds(void)
{
	const char *pid = secure_getenv("LISTEN_PID"), *fds = secure_getenv("LISTEN_FDS");
	long n;

	if (!pid || !fds)
		return 0;
	n = read_number(pid, INT32_MAX);
	if (n < 0)
		return (int)n;
	if (n != getpid())
		return 0;
	n = read_number(fds, INT32_MAX - SD_LISTEN_FDS_START);
	if (n <= 0)
		return n < 0 ? (int)n : -EINVAL;
	for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + (int)n; fd++)
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return -errno;
	return (int)n;
}

int sd_listen_fds(int unset_environment)
{
	const int r = count_fds();

	if (unset_environment) {
		unsetenv("LISTEN_PID");
		unsetenv("LISTEN_FDS");
		unsetenv("LISTEN_FDNAMES");
	}
	return r;
}

static int socket_option(int fd, int option, int *ret_value)
{
	socklen_t length = sizeof(*ret_value);

	return getsockopt(fd, SOL_SOCKET, option, ret_value, &length) < 0 ? -errno : 0;
}

int sd_is_socket_unix(int fd, int type, int listening, const char *path, size_t length)
{
	int family, own_type, accepts;
	int r = socket_option(fd, SO_DOMAIN, &family);

	if (r == -ENOTSOCK)
		return 0;
	r = r ?: socket_option(fd, SO_TYPE, &own_type);
	r = r ?: socket_option(fd, SO_ACCEPTCONN, &accepts);
	if (r)
		return r;
	if (path)
		return -EOPNOTSUPP;
	return family == AF_UNIX && (!type || own_type == type) &&
	       (listening < 0 || !accepts == !listening);
}
