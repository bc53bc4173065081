/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the recorded command: see record-launch.h. cmd-record.c calls this file. One pipe holds
 * the child back; the other returns its error. Both are close-on-exec, so a successful execve()
 * closes the second one.
 */
#include "tools/tsctl/record/record-launch.h"

#include "proto/abi/base.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

/* Runs in the child. */
static void __attribute__((noreturn))
wait_and_run(int go_fd, int result_fd, char *const *argv, char *const *environment,
	     const sigset_t *mask, const struct sigaction *child_action)
{
	ssize_t n;
	int error;
	char go;

	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0);
	sigaction(SIGCHLD, child_action, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvpe(argv[0], argv, environment);
	error = errno;
	if (write(result_fd, &error, sizeof(error)) < 0)
		_exit(1);
	_exit(1);
}

int ts_launch_prepare(struct ts_launch *launch, char *const *argv, char *const *environment,
		      const sigset_t *mask, const struct sigaction *child_action)
{
	ts_cleanup(ts_closep) int go_read = -1;
	ts_cleanup(ts_closep) int result_write = -1;
	int go[2], result[2];

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	go_read = go[0];
	launch->go_fd = go[1];
	if (pipe2(result, O_CLOEXEC))
		return -errno;
	launch->result_fd = result[0];
	result_write = result[1];
	fflush(NULL);
	launch->pid = fork();
	if (launch->pid < 0) {
		launch->pid = 0;
		return -errno;
	}
	if (!launch->pid) {
		/* Otherwise the child would not see the end of the pipe when the parent dies. */
		close(launch->go_fd);
		wait_and_run(go_read, result_write, argv, environment, mask, child_action);
	}
	return 0;
}

int ts_launch_go(struct ts_launch *launch)
{
	ssize_t n;
	int error;

	do
		n = write(launch->go_fd, "g", 1);
	while (n < 0 && errno == EINTR);
	do
		n = read(launch->result_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(launch->go_fd);
	close(launch->result_fd);
	launch->go_fd = launch->result_fd = -1;
	if (n != (ssize_t)sizeof(error))
		return 0;
	while (waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR)
		;
	launch->pid = 0;
	return -error;
}

void ts_launch_deinit(struct ts_launch *launch)
{
	bool held = launch->go_fd >= 0 && launch->pid;

	ts_closep(&launch->go_fd);
	ts_closep(&launch->result_fd);
	if (held)
		while (waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR)
			;
	*launch = (struct ts_launch)TS_LAUNCH_INIT;
}
