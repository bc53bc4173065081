/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs `tracesmithd --kernel-events-check` and parses its output: see kernel-events-check.h.
 * cmd-devices.c calls this file. The output has a line for each kind of kernel event: NAME; or
 * NAME, a colon and the missing part; or "NAME without PARTS: WHY" if only parts are missing. The
 * last line is for --system.
 */
#include "tools/tsctl/machine/kernel-events-check.h"

#include "proto/abi/base.h"
#include "proto/rpc/json.h"
#include "tools/tsctl/machine/paths.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#define MAX_LINES 16

extern char **environ;

static pid_t ask(const char *daemon, int out)
{
	char *argv[] = {(char *)(uintptr_t)daemon, (char *)(uintptr_t) "--kernel-events-check",
			NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid = 0;

	if (posix_spawn_file_actions_init(&actions))
		return 0;
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, daemon, &actions, NULL, argv, environ))
		pid = 0;
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

static void add_line(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info, char *line)
{
	Ts__Rpc__KernelEventsInfo *message = ts_pool_alloc(pool, 1, sizeof(*message));
	char *why, *without;

	line[strcspn(line, "\n")] = '\0';
	why = strstr(line, ": ");
	without = strstr(line, " without ");
	ts__rpc__kernel_events_info__init(message);
	if (without && why && without < why) {
		TS_RPC_SET(message, available, true);
		message->absent = ts_pool_copy(pool, without + strlen(" without "));
		*without = '\0';
	} else {
		TS_RPC_SET(message, available, !why);
		message->missing = why ? ts_pool_copy(pool, why + 2) : NULL;
		if (why)
			*why = '\0';
	}
	message->name = ts_pool_copy(pool, line);
	if (strcmp(line, "system"))
		info->kernel_events[info->n_kernel_events++] = message;
	else
		info->system = message;
}

void ts_kernel_fill(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info)
{
	char daemon[PATH_MAX], line[1024];
	int pipes[2];
	FILE *file;
	pid_t pid;

	info->kernel_events = ts_pool_alloc(pool, MAX_LINES, sizeof(*info->kernel_events));
	if (ts_path_daemon(daemon) || pipe2(pipes, O_CLOEXEC))
		return;
	pid = ask(daemon, pipes[1]);
	close(pipes[1]);
	file = fdopen(pipes[0], "r");
	while (file && info->n_kernel_events < MAX_LINES && fgets(line, sizeof(line), file))
		add_line(pool, info, line);
	if (file)
		fclose(file);
	else
		close(pipes[0]);
	while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
