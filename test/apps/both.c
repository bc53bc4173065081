/* SPDX-License-Identifier: Apache-2.0 */
/*
 * both WHEN LIBRARY ...: programs of test/apps in one process, each in a thread of its own. Their
 * main functions lie in libraries (part_main), one over CUDA's driver and one over HIP. WHEN is
 * `after` (one after the other) or `at-once`. Each library is loaded when its turn comes, and has
 * the truth $TS_TRUTH.NUMBER, from 0 on.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_PARTS 4

struct part {
	pthread_t thread;
	char *name;
	int (*run)(int argc, char **argv);
	int status;
};

static void fail(const char *text)
{
	fprintf(stderr, "both: %s\n", text);
	exit(1);
}

static void *run(void *argument)
{
	struct part *part = argument;
	char *argv[] = {part->name, NULL};

	part->status = part->run(1, argv);
	return NULL;
}

/* Starts a part, and returns when it has opened its truth: the next part sets the variable anew. */
static void start(struct part *part, const char *truth, int number)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	char path[4200];
	void *library = dlopen(part->name, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		fail(dlerror());
	*(void **)&part->run = dlsym(library, "part_main");
	if (!part->run)
		fail(dlerror());
	snprintf(path, sizeof(path), "%s.%d", truth, number);
	setenv("TS_TRUTH", path, 1);
	if (pthread_create(&part->thread, NULL, run, part))
		fail("no thread");
	while (access(path, F_OK))
		nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
	struct part parts[MAX_PARTS];
	char *truth = getenv("TS_TRUTH");
	int n = argc - 2, status = 0;

	if (n < 1 || n > MAX_PARTS || !truth)
		fail("usage: both after|at-once LIBRARY ..., with TS_TRUTH");
	truth = strdup(truth);
	for (int i = 0; i < n; i++) {
		parts[i].name = argv[2 + i];
		start(&parts[i], truth, i);
		if (strcmp(argv[1], "at-once"))
			pthread_join(parts[i].thread, NULL);
	}
	for (int i = 0; i < n; i++) {
		if (!strcmp(argv[1], "at-once"))
			pthread_join(parts[i].thread, NULL);
		status |= parts[i].status;
	}
	free(truth);
	return status;
}
