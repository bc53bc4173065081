/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the credentials of socket peers. listen.c calls this module for each accepted connection.
 * peers.c, session-kernel.c and sample/sampling.c use this module to confirm a process before they
 * act on its pid. This module uses system calls and /proc only.
 */
#include "daemon/util/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/util/daemon-error.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59 /* Linux 4.13 */
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define STAT_FIELD_START  22
#define IDENTITY_N_GROUPS 64

static bool in_list(const gid_t *groups, size_t n, gid_t group)
{
	for (size_t i = 0; i < n; i++)
		if (groups[i] == group)
			return true;
	return false;
}

static bool peer_is_member(int fd, gid_t group)
{
	gid_t few[IDENTITY_N_GROUPS];
	socklen_t n_bytes = sizeof(few);
	gid_t *all;
	bool found;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, few, &n_bytes))
		return in_list(few, n_bytes / sizeof(*few), group);
	/* ERANGE: n_bytes is the size of the whole list, at most NGROUPS_MAX gids. */
	if (errno != ERANGE)
		return false;
	all = malloc(n_bytes);
	found = all && !getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, all, &n_bytes) &&
		in_list(all, n_bytes / sizeof(*all), group);
	free(all);
	return found;
}

/*
 * Returns a pidfd of the process at the other end. -1: the process has ended, or the kernel has no
 * SO_PEERPIDFD (*ret_known is false).
 */
static int open_pidfd(int fd, bool *ret_known)
{
	socklen_t n_bytes = sizeof(int);
	int pidfd = -1;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &n_bytes)) {
		*ret_known = true;
		return pidfd;
	}
	*ret_known = errno != ENOPROTOOPT;
	return -1;
}

int ts_identity_start_ticks(pid_t pid, uint64_t *ret_start_ticks)
{
	char path[32], text[1024];
	ts_cleanup(ts_closep) int fd = -1;
	unsigned field = 2;
	char *at;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	/* The name in parentheses may contain spaces and parentheses. */
	at = strrchr(text, ')');
	while (at && field < STAT_FIELD_START) {
		at = strchr(at + 1, ' ');
		field++;
	}
	if (!at)
		return -ESRCH;
	*ret_start_ticks = strtoull(at + 1, NULL, 10);
	return 0;
}

int ts_identity_read(int fd, gid_t all_group, uid_t overflow_uid, struct ts_identity *ret_identity)
{
	struct ucred credentials;
	socklen_t n_bytes = sizeof(credentials);
	struct ts_identity identity;
	bool has_pidfd;
	int pidfd;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n_bytes) < 0)
		return ts_error_origin(-errno);
	identity = (struct ts_identity){
		.pid = credentials.pid,
		.uid = credentials.uid,
		.gid = credentials.gid,
	};
	identity.is_anonymous = overflow_uid != (uid_t)-1 && identity.uid == overflow_uid;
	identity.sees_all = !identity.uid || (identity.uid == getuid() && !identity.is_anonymous);
	if (!identity.sees_all && all_group != (gid_t)-1)
		identity.sees_all = identity.gid == all_group || peer_is_member(fd, all_group);
	pidfd = open_pidfd(fd, &has_pidfd);
	if (pidfd >= 0)
		close(pidfd);
	if (!has_pidfd && ts_identity_start_ticks(identity.pid, &identity.start_ticks))
		identity.start_ticks = 0;
	*ret_identity = identity;
	return 0;
}

static bool pidfd_is_alive(int pidfd)
{
	struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};

	return poll(&poll_fd, 1, 0) == 0;
}

int ts_identity_confirm(int fd, const struct ts_identity *identity, uint64_t *ret_start_ticks)
{
	uint64_t start_ticks;
	bool has_pidfd, same;
	int pidfd, r;

	pidfd = open_pidfd(fd, &has_pidfd);
	r = ts_identity_start_ticks(identity->pid, &start_ticks);
	if (has_pidfd)
		/*
		 * If the process is alive after reading /proc, the pid was its own during the read.
		 */
		same = pidfd >= 0 && pidfd_is_alive(pidfd);
	else
		same = identity->start_ticks && start_ticks == identity->start_ticks;
	if (pidfd >= 0)
		close(pidfd);
	if (r < 0 || !same)
		return -ESRCH;
	*ret_start_ticks = start_ticks;
	return 0;
}

bool ts_identity_is_over(int fd)
{
	struct ucred credentials;
	socklen_t n_bytes = sizeof(credentials);
	bool has_pidfd, is_over;
	int pidfd = open_pidfd(fd, &has_pidfd), error = errno;

	if (pidfd >= 0) {
		is_over = !pidfd_is_alive(pidfd);
		close(pidfd);
		return is_over;
	}
	/* Before Linux 6.16, the kernel gives no pidfd of a reaped process. */
	if (has_pidfd)
		return error == ESRCH || error == EINVAL;
	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n_bytes) &&
	       credentials.pid && kill(credentials.pid, 0) < 0 && errno == ESRCH;
}

gid_t ts_identity_group(void)
{
	const struct group *group = getgrnam(TS_IDENTITY_GROUP);

	return group ? group->gr_gid : (gid_t)-1;
}

static bool read_numbers(const char *path, unsigned numbers[3], int n)
{
	ts_cleanup(ts_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n_bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[n_bytes > 0 ? n_bytes : 0] = '\0';
	return sscanf(text, "%u %u %u", &numbers[0], &numbers[1], &numbers[2]) >= n;
}

uid_t ts_identity_overflow_uid(void)
{
	unsigned map[3] = {0, 0, 0}, overflow[3] = {65534, 0, 0};

	/* The initial user namespace, or an equal one, maps every uid but (uid_t)-1. */
	if (read_numbers("/proc/self/uid_map", map, 3) && !map[0] && map[2] == UINT32_MAX)
		return (uid_t)-1;
	read_numbers("/proc/sys/kernel/overflowuid", overflow, 1);
	return overflow[0];
}

bool ts_identity_may_see(const struct ts_identity *asker, uid_t owner)
{
	return asker->sees_all || (asker->uid == owner && !asker->is_anonymous);
}
