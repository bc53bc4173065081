/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the private daemon; link-thread.c calls this file. fork() would run the application's
 * atfork handlers and copy its page tables. Instead, two clones share the caller's memory while the
 * caller waits, as vfork() does.
 *
 * The first clone leaves the session, makes the second clone, and ends. So the second clone becomes
 * a child of init. The first clone's exit signal is 0, so the application gets no SIGCHLD, and an
 * ordinary wait() does not return the clone; this file reaps it.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "inject/process/spawn-detached.h"
#include "inject/ring/unlocked.h"
#include "proto/abi/base.h"

#define STACK_BYTES (64u * 1024)

/* Data that the two clones share with the waiting caller. */
struct spawn {
	const char *path;
	char *const *argv;
	char *const *environment;
	int fd;
	bool keep_stderr;
	int error; /* negative errno of a failed step in a clone; 0: none failed */
	uint8_t *daemon_stack_top;
};

/*
 * Ends the process by the system call exit_group, because in this library _exit() is the shim's own
 * function.
 */
static void leave(void)
{
	for (;;)
		syscall(SYS_exit_group, 0);
}

/*
 * Closes the descriptors that /proc lists. Used on kernels before 5.9, which lack close_range().
 * Reads the entries by the system call, because opendir() would allocate from the application's
 * heap, which this child process shares.
 */
static void close_listed(int first)
{
	struct {
		uint64_t inode;
		int64_t off;
		uint16_t n_bytes;
		uint8_t type;
		char name[];
	} __attribute__((packed)) * entry;
	uint8_t entries[4096] __attribute__((aligned(8)));
	int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n, at;

	while (directory >= 0 &&
	       (n = syscall(SYS_getdents64, directory, entries, sizeof(entries))) > 0)
		for (at = 0; at < n; at += entry->n_bytes) {
			int fd = 0;
			const char *digit;

			entry = (void *)(entries + at);
			for (digit = entry->name; *digit >= '0' && *digit <= '9'; digit++)
				fd = 10 * fd + *digit - '0';
			if (digit != entry->name && fd >= first && fd != directory)
				close(fd);
		}
	if (directory >= 0)
		close(directory);
	else
		for (n = first; n < 1024; n++)
			close((int)n);
}

static int arrange_descriptors(int fd, bool keep_stderr)
{
	int null, i;

	/* Move fd above 0 to 3 first. */
	fd = fcntl(fd, F_DUPFD, 4);
	if (fd < 0)
		return -errno;
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		return -errno;
	null = fcntl(null, F_DUPFD, 4);
	if (null < 0)
		return -errno;
	for (i = 0; i < (keep_stderr ? STDERR_FILENO : 3); i++)
		if (dup2(null, i) < 0)
			return -errno;
	if (dup2(fd, 3) < 0)
		return -errno;
	if (syscall(SYS_close_range, 4u, ~0u, 0u) < 0)
		close_listed(4);
	return 0;
}

static int daemon_main(void *data)
{
	struct spawn *spawn = data;
	struct sigaction action;
	sigset_t none;
	int i;

	spawn->error = arrange_descriptors(spawn->fd, spawn->keep_stderr);
	if (spawn->error)
		leave();
	/*
	 * The table of handlers is a copy, because CLONE_SIGHAND is not set. exec resets handlers,
	 * but ignored signals stay ignored.
	 */
	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_DFL;
	for (i = 1; i < _NSIG; i++)
		(void)sigaction(i, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/*
	 * Make the system call directly: execve() would call this library's own function, which is
	 * for the application (process-exec.c).
	 */
	syscall(SYS_execve, spawn->path, spawn->argv, spawn->environment);
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

int ts_spawn_detached(const char *path, char *const *argv, char *const *environment, int fd,
		      bool keep_stderr)
{
	struct spawn spawn = {path, argv, environment, fd, keep_stderr, 0, NULL};
	uint8_t *stacks;
	pid_t pid;

	stacks = ts_unlocked_map(2 * STACK_BYTES);
	if (!stacks)
		return -ENOMEM;
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
