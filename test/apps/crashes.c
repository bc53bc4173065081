/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crashes HOW MS: launches and waits for 100 kernels, then ends itself by `abort`, `segv` or
 * `kill`, MS milliseconds after the last kernel. test/integration/test-crashes.py runs it.
 *
 * The first line of output holds, for each kernel, the time from its synchronization to the end, in
 * ns, in launch order. The second line holds the ns for which the shim's thread "ts-flush" waited
 * for a CPU, from the first launch to the end. It begins with "at least" if the thread is still
 * waiting.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

#include "test/apps/gpu.h"

#define N_KERNELS 100

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads a file of /proc/self/task/TASK; "" if it cannot be read. */
static void read_task(const char *task, const char *name, char *text, size_t n_text)
{
	char path[128];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/%s", task, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, n_text - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

/*
 * Returns the ns that the flush thread has waited for a CPU since its start. Returns 0 if no such
 * thread exists.
 */
static unsigned long long flusher_waited_ns(int *ret_waits)
{
	unsigned long long waited = 0;
	char text[512];
	struct dirent *task;
	DIR *tasks = opendir("/proc/self/task");

	*ret_waits = 0;
	while (tasks && (task = readdir(tasks))) {
		read_task(task->d_name, "comm", text, sizeof(text));
		if (strcmp(text, "ts-flush\n"))
			continue;
		read_task(task->d_name, "schedstat", text, sizeof(text));
		sscanf(text, "%*u %llu", &waited);
		read_task(task->d_name, "stat", text, sizeof(text));
		*ret_waits = strstr(text, ") R ") != NULL;
	}
	if (tasks)
		closedir(tasks);
	return waited;
}

static void die(const char *how)
{
	if (!strcmp(how, "abort"))
		abort();
	kill(getpid(), !strcmp(how, "segv") ? SIGSEGV : SIGKILL);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "abort";
	uint64_t wait_ns = (uint64_t)(argc > 2 ? atoi(argv[2]) : 1) * 1000000, synced[N_KERNELS],
		 end;
	unsigned long long waited;
	char line[N_KERNELS * 24];
	size_t at = 0;
	int waits;

	gpu_open(NULL);
	waited = flusher_waited_ns(&waits);
	for (int i = 0; i < N_KERNELS; i++) {
		gpu_nothing(gpu_default_stream(0));
		gpu_device_sync();
		synced[i] = now_ns();
	}
	end = synced[N_KERNELS - 1] + wait_ns;
	for (int i = 0; i < N_KERNELS; i++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%llu ",
				       (unsigned long long)(end - synced[i]));
	line[at - 1] = '\n';
	/* Stays on the CPU, as a program does before a crash. */
	while (now_ns() < end)
		;
	waited = flusher_waited_ns(&waits) - waited;
	at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%llu\n", waits ? "at least " : "",
			       waited);
	if (write(STDOUT_FILENO, line, at) != (ssize_t)at)
		return 1;
	die(how);
}
