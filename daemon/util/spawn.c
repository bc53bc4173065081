/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One posix_spawn() for all helpers. worker/worker-client.c, sample/sampler.c,
 * serve/system/prober.c and serve/system/inspector.c call this module. This module calls libc only.
 */
#include "daemon/util/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/abi/base.h"

static int fill_attributes(posix_spawnattr_t *attributes)
{
	sigset_t all, none;
	int r;

	sigfillset(&all);
	sigemptyset(&none);
	r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							 POSIX_SPAWN_SETSID);
	r = r ?: posix_spawnattr_setsigmask(attributes, &none);
	return r ?: posix_spawnattr_setsigdefault(attributes, &all);
}

static int fill_actions(posix_spawn_file_actions_t *actions, int fd)
{
	int r = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);

	r = r ?: posix_spawn_file_actions_adddup2(actions, 0, 1);
	r = r ?: posix_spawn_file_actions_adddup2(actions, 0, 2);
	r = r ?: posix_spawn_file_actions_adddup2(actions, fd, TS_SPAWN_FD);
	return r ?: posix_spawn_file_actions_addclosefrom_np(actions, TS_SPAWN_FD + 1);
}

static int spawn(char *const *argv, char *const *environment, int fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (!r) {
		r = fill_actions(&actions, fd);
		r = r ?: fill_attributes(&attributes);
		r = r ?: posix_spawn(ret_pid, argv[0], &actions, &attributes, argv, environment);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int ts_spawn(char *const *argv, char *const *environment, int type, int *ret_fd, pid_t *ret_pid)
{
	ts_cleanup(ts_closep) int ours = -1;
	ts_cleanup(ts_closep) int theirs = -1;
	int fds[2], r;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
		return -errno;
	ours = fds[0];
	/* A number above TS_SPAWN_FD, so that dup2() in the helper cannot overwrite it. */
	theirs = fcntl(fds[1], F_DUPFD_CLOEXEC, TS_SPAWN_FD + 1);
	r = theirs < 0 ? -errno : 0;
	close(fds[1]);
	if (!r && fcntl(theirs, F_SETFL, O_RDWR) < 0)
		r = -errno;
	r = r ?: spawn(argv, environment, theirs, ret_pid);
	if (!r)
		*ret_fd = ts_take_fd(&ours);
	return r;
}
