/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the threads of the calling process, for tests of code that starts threads. */
#pragma once

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include "test/unit/harness.h"

static inline unsigned n_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned n = 0;

	ts_check(dir);
	for (const struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Fails if the threads do not become `n`. The kernel lists a thread on after it was joined. */
static inline void check_threads(unsigned n)
{
	for (int i = 0; i < 20000 && n_threads() != n; i++)
		usleep(1000);
	ts_check_int(n_threads(), n);
}

static inline void *threads_store_id(void *data)
{
	*(pid_t *)data = gettid();
	return NULL;
}

/*
 * Returns the number of threads after a first thread has come and gone. ThreadSanitizer starts a
 * thread of its own at the first thread, which the test would count as one of the code under test.
 */
static inline unsigned count_first_threads(void)
{
	pthread_t thread;
	char path[64];
	pid_t tid;

	ts_check_int(pthread_create(&thread, NULL, threads_store_id, &tid), 0);
	ts_check_int(pthread_join(thread, NULL), 0);
	snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
	while (!access(path, F_OK))
		usleep(1000);
	return n_threads();
}
