/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hip-first WAY [LIBRARY]: first calls of HIP's functions at odd moments.
 *
 *	constructor  another thread calls hipFree() while a library's constructor waits for it
 *	error        a failed dlopen() is followed by a call, then by dlerror()
 *	fork         the process forks while another thread is in the first call
 *
 * Prints `done` if nothing hung. test-hip-versions.py runs it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test/apps/hip-first.h"

/* A hang becomes a failure. */
#define PATIENCE_SECONDS 20

static sem_t initialising, go_on, constructing, called;
static int waits;
static void *memory;

static int wait_for(sem_t *semaphore)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_SECONDS;
	return sem_timedwait(semaphore, &end);
}

static void fail(const char *what)
{
	fprintf(stderr, "hip-first: %s\n", what);
	exit(1);
}

void hip_first_initialise(void)
{
	if (!waits)
		return;
	sem_post(&initialising);
	wait_for(&go_on);
}

void hip_first_constructor(void)
{
	sem_post(&constructing);
	if (wait_for(&called))
		fail("the call did not return while a constructor ran");
}

static void *call_free(void *data)
{
	(void)data;
	if (wait_for(&constructing))
		return NULL;
	hipFree(memory);
	sem_post(&called);
	return NULL;
}

static void while_constructing(const char *library)
{
	pthread_t thread;

	hipMalloc(&memory, 64);
	pthread_create(&thread, NULL, call_free, NULL);
	if (!dlopen(library, RTLD_NOW))
		fail(dlerror());
	pthread_join(thread, NULL);
}

static void with_error(void)
{
	hipMalloc(&memory, 64);
	if (dlopen("/none/libnone.so", RTLD_NOW))
		fail("a missing library was loaded");
	hipFree(memory);
	if (!dlerror())
		fail("the application's dlerror() is gone");
	hipDeviceSynchronize();
	if (dlerror())
		fail("dlerror() has an error that is not the application's");
}

static void *call_first(void *data)
{
	(void)data;
	hipMalloc(&memory, 64);
	return NULL;
}

static void while_forking(void)
{
	pthread_t thread;
	void *of_child;
	int status;
	pid_t pid;

	waits = 1;
	pthread_create(&thread, NULL, call_first, NULL);
	if (wait_for(&initialising))
		fail("no call came");
	pid = fork();
	if (!pid) {
		hipMalloc(&of_child, 64);
		hipFree(of_child);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		fail("the child failed");
	sem_post(&go_on);
	pthread_join(thread, NULL);
	hipFree(memory);
}

int main(int argc, char **argv)
{
	sem_init(&initialising, 0, 0);
	sem_init(&go_on, 0, 0);
	sem_init(&constructing, 0, 0);
	sem_init(&called, 0, 0);
	if (argc > 2 && !strcmp(argv[1], "constructor"))
		while_constructing(argv[2]);
	else if (argc > 1 && !strcmp(argv[1], "error"))
		with_error();
	else if (argc > 1 && !strcmp(argv[1], "fork"))
		while_forking();
	else
		fail("usage: hip-first constructor LIBRARY|error|fork");
	puts("done");
	return 0;
}
