/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private daemon's start. fork() would run the application's atfork handlers and copy its page tables;
 * instead two clones share the caller's memory while it waits, as vfork() does. The first one only leaves the
 * session and makes the second, whose parent it is; its own exit signal is 0, so that neither SIGCHLD nor an
 * ordinary wait() of the application ever tells of it, and it is reaped here. The second one thus belongs to init.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "inject/spawn.h"
#include "proto/abi/base.h"

#define STACK_BYTES (64u * 1024)

/* What the two clones share with the waiting caller. */
struct spawn {
	const char *path;
	char *const *argv;
	char *const *environment;
	int fd;
	int error; /* of either clone */
	uint8_t *daemon_stack_top;
};

/* exit_group by number: _exit() by name is the shim's own. */
static void leave(void)
{
	for (;;)
		syscall(SYS_exit_group, 0);
}

static int arrange_descriptors(int fd)
{
	int null, i;

	/* Out of the way of 0 to 3 first. */
	fd = fcntl(fd, F_DUPFD, 4);
	if (fd < 0)
		return -errno;
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		return -errno;
	null = fcntl(null, F_DUPFD, 4);
	if (null < 0)
		return -errno;
	for (i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			return -errno;
	if (dup2(fd, 3) < 0)
		return -errno;
	if (syscall(SYS_close_range, 4u, ~0u, 0u) < 0)
		for (i = 4; i < 1024; i++)
			close(i);
	return 0;
}

static int daemon_main(void *data)
{
	struct spawn *spawn = data;
	struct sigaction action;
	sigset_t none;
	int i;

	spawn->error = arrange_descriptors(spawn->fd);
	if (spawn->error)
		leave();
	/* The table of handlers is a copy: CLONE_SIGHAND is not set. exec resets handlers, but not what is ignored. */
	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_DFL;
	for (i = 1; i < _NSIG; i++)
		(void)sigaction(i, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(spawn->path, spawn->argv, spawn->environment);
	spawn->error = -errno;
	leave();
	return 0;
}

static int intermediate_main(void *data)
{
	struct spawn *spawn = data;

	setsid();
	if (clone(daemon_main, spawn->daemon_stack_top, CLONE_VM | CLONE_VFORK | SIGCHLD, spawn) <
	    0)
		spawn->error = -errno;
	leave();
	return 0;
}

int ts_spawn_detached(const char *path, char *const *argv, char *const *environment, int fd)
{
	struct spawn spawn = {path, argv, environment, fd, 0, NULL};
	uint8_t *stacks;
	pid_t pid;

	stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stacks == MAP_FAILED)
		return -errno;
	spawn.daemon_stack_top = stacks + STACK_BYTES;
	pid = clone(intermediate_main, stacks + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, &spawn);
	if (pid < 0)
		spawn.error = -errno;
	else
		while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
			;
	munmap(stacks, 2 * STACK_BYTES);
	return spawn.error;
}
