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

static inline void *threads_do_nothing(void *data)
{
	return data;
}

/*
 * Returns the number of threads after a first thread has come and gone. ThreadSanitizer starts a
 * thread of its own at the first thread, which the test would count as one of the code under test.
 */
static inline unsigned count_first_threads(void)
{
	pthread_t thread;

	ts_check_int(pthread_create(&thread, NULL, threads_do_nothing, NULL), 0);
	ts_check_int(pthread_join(thread, NULL), 0);
	usleep(10000);
	return n_threads();
}
