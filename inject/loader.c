/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trap: fork() copies the loader's lock as it is. glibc before 2.37 does not make it anew in the child, where nobody is left
 * to release it when another thread of the parent was walking the libraries: the child hangs in its first dlopen(). So a
 * walk of ours and a fork() exclude each other. The application's own walks are as they ever were.
 */
#include <pthread.h>

#include "inject/loader.h"

/*
 * Recursive, for a signal handler may fork() on the very thread that it interrupted while walking. Of the process, not
 * of the session: fork handlers cannot be taken back.
 */
static pthread_mutex_t walking = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
	pthread_mutex_lock(&walking);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&walking);
}

/* The owner that the mutex remembers is a thread of the parent's: it is made anew. */
static void in_child(void)
{
	walking = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

static void watch_forks(void)
{
	(void)pthread_atfork(before_fork, in_parent, in_child);
}

int ts_loader_iterate(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	int r;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&walking);
	r = dl_iterate_phdr(visit, data);
	pthread_mutex_unlock(&walking);
	return r;
}
