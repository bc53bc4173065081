/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorded command as a child process: forked first, so that its pid can name the trace, and let go
 * once everything stands. It keeps the caller's descriptors, process group, signal mask and dispositions.
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
 * Forks. The child waits; where ts_launch_deinit() comes before ts_launch_go() it ends without having run
 * anything. `mask` and `child_action` are what the command gets as its signal mask and for SIGCHLD.
 * Returns 0 or a negative errno.
 */
int ts_launch_prepare(struct ts_launch *launch, char *const *argv, char *const *environment,
		      const sigset_t *mask, const struct sigaction *child_action);
/* Runs it. Returns 0 once it was executed; why it could not be, a negative errno, otherwise. */
int ts_launch_go(struct ts_launch *launch);
/* Ends and reaps a child that was never let go; closes the pipes. */
void ts_launch_deinit(struct ts_launch *launch);
