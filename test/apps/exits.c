/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits HOW [STATUS]: some work, then one way to end a process. test/integration/test-exits.py
 * checks that the trace holds all of the work, and that the parent sees the same exit as without
 * TraceSmith.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "test/apps/gpu.h"

#define N (1u << 12)

static int status;

static void work(void)
{
	float *device = gpu_malloc(N * sizeof(float));
	float values[N];

	memset(values, 0, sizeof(values));
	gpu_h2d(device, values, sizeof(values));
	for (int i = 0; i < 100; i++)
		gpu_scale(N, 2, device, gpu_default_stream(0));
	gpu_device_sync();
	gpu_d2h(values, device, sizeof(values));
	gpu_free(device);
	printf("exits: worked\n");
	fflush(stdout);
}

static void *exit_from_thread(void *unused)
{
	exit(status);
	return unused;
}

static void said_at_exit(void)
{
	printf("exits: atexit\n");
}

/* Forks a child that never touches the GPU and ends by _exit(), as most children do. */
static int fork_then_return(void)
{
	int child_status;
	pid_t child = fork();

	if (!child)
		_exit(5);
	if (child < 0 || waitpid(child, &child_status, 0) != child || !WIFEXITED(child_status) ||
	    WEXITSTATUS(child_status) != 5)
		return 1;
	/* This process must have no other child, for example the private daemon. */
	if (waitpid(-1, &child_status, WNOHANG) != -1 || errno != ECHILD)
		return 1;
	gpu_nothing(gpu_default_stream(0));
	gpu_device_sync();
	return gpu_close() ? GPU_FAILED : status;
}

/*
 * Replaces the process by a shell. Each of the exec functions passes the same arguments and the
 * same variable, so the shell always prints the same line.
 */
static void exec_by(const char *how)
{
	char shell[] = "sh", option[] = "-c", script[] = "echo exits: replaced $EXITS_WORD; exit 6";
	char variable[] = "EXITS_WORD=entirely";
	char *argv[] = {shell, option, script, NULL};
	char *environment[] = {variable, NULL};
	int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);

	setenv("EXITS_WORD", "entirely", 1);
	if (!strcmp(how, "execl"))
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	if (!strcmp(how, "execlp"))
		execlp("sh", "sh", "-c", script, (char *)NULL);
	if (!strcmp(how, "execle"))
		execle("/bin/sh", "sh", "-c", script, (char *)NULL, environment);
	if (!strcmp(how, "execv"))
		execv("/bin/sh", argv);
	if (!strcmp(how, "execve"))
		execve("/bin/sh", argv, environment);
	if (!strcmp(how, "execvp"))
		execvp("sh", argv);
	if (!strcmp(how, "execvpe"))
		execvpe("sh", argv, environment);
	if (!strcmp(how, "exec-fd"))
		fexecve(fd, argv, environment);
	if (!strcmp(how, "execveat"))
		execveat(fd, "", argv, environment, AT_EMPTY_PATH);
}

/* Two calls of exec fail. The process continues as before. */
static int exec_in_vain(void)
{
	char nothing[] = "nothing", *argv[] = {nothing, NULL};

	errno = 0;
	if (execv("/nowhere/nothing", argv) != -1 || errno != ENOENT)
		return 1;
	errno = 0;
	if (execlp("exits-no-such-program", "nothing", (char *)NULL) != -1 || errno != ENOENT)
		return 1;
	work();
	return gpu_close() ? GPU_FAILED : status;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	pthread_t thread;

	status = argc > 2 ? atoi(argv[2]) : 0;
	atexit(said_at_exit);
	gpu_open(NULL);
	work();
	if (!strcmp(how, "fork"))
		return fork_then_return();
	if (!strcmp(how, "vain-exec"))
		return exec_in_vain();
	gpu_close();
	if (!strcmp(how, "exit"))
		exit(status);
	if (!strcmp(how, "_exit"))
		_exit(status);
	if (!strcmp(how, "_Exit"))
		_Exit(status);
	if (!strcmp(how, "quick_exit"))
		quick_exit(status);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "signal"))
		kill(getpid(), status ? status : SIGTERM);
	if (!strncmp(how, "exec", 4))
		exec_by(how);
	if (!strcmp(how, "thread") && !pthread_create(&thread, NULL, exit_from_thread, NULL))
		pthread_join(thread, NULL);
	return strcmp(how, "return") ? 2 : status;
}
