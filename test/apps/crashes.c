/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crashes HOW MS: 100 kernels, each waited for, and then the end of the process by `abort`, `segv` or `kill`, so many
 * milliseconds after the last. A line says how long before the end each kernel was waited for, in ns, the first one first.
 */
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

/* The end. What was printed is written before: that is no part of the time. */
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
	char line[N_KERNELS * 24];
	size_t at = 0;

	gpu_open(NULL);
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
	if (write(STDOUT_FILENO, line, at) != (ssize_t)at)
		return 1;
	/* On the processor, as a program that is about to crash is. */
	while (now_ns() < end)
		;
	die(how);
}
