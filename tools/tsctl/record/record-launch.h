/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorded command as a child process. The child is forked first, because its pid names the
 * trace, and runs the command after the recording is ready. It keeps the caller's descriptors,
 * process group, signal mask and dispositions.
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

struct ts_launch {
	pid_t pid; /* 0: none */
	int go_fd;
	int result_fd;
};
#define TS_LAUNCH_INIT    \
	{                 \
		0, -1, -1 \
	}

/*
 * Forks. The child waits for ts_launch_go(). If ts_launch_deinit() comes first, the child ends
 * without running the command. `mask` and `child_action` become the command's signal mask and its
 * SIGCHLD disposition. Returns 0 or a negative errno.
 */
int ts_launch_prepare(struct ts_launch *launch, char *const *argv, char *const *environment,
		      const sigset_t *mask, const struct sigaction *child_action);
/* Runs the command. Returns 0 after a successful execve(), or its error as a negative errno. */
int ts_launch_go(struct ts_launch *launch);
/* Ends and reaps a child that did not run the command; closes the pipes. */
void ts_launch_deinit(struct ts_launch *launch);
