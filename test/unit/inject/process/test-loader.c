/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a walk over the libraries with a concurrent fork: a child never finds the loader's lock
 * held by a thread of its parent.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "inject/process/loader-symbols.h"
#include "inject/process/loader.h"
#include "test/unit/harness.h"

static pthread_barrier_t walking;

/*
 * Ends a forked child by a system call and not by _exit(): in _exit(), ThreadSanitizer looks for
 * threads that only the parent has.
 */
static void leave(int status)
{
	syscall(SYS_exit_group, status);
}

static int visit_slowly(struct dl_phdr_info *info, size_t size, void *data)
{
	pthread_barrier_wait(&walking);
	usleep(100000);
	return 1;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	return 2;
}

static int visit_and_fork(struct dl_phdr_info *info, size_t size, void *data)
{
	pid_t pid = fork();

	if (!pid)
		leave(0);
	return pid;
}

static void *walk(void *data)
{
	ts_check_int(ts_loader_iterate(visit_slowly, NULL), 1);
	return NULL;
}

TS_TEST(symbols_are_found_without_the_loader)
{
	static const char *const names[] = {"getenv", "pthread_create", "dl_iterate_phdr",
					    "stdout"};
	char *pending;

	/* The search leaves an error of the loader for the application. */
	ts_check(!dlopen("/none/libnone.so", RTLD_NOW));
	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
		ts_check(ts_loader_find(names[i]));
	ts_check(!ts_loader_find("no_library_has_this_function"));
	pending = dlerror();
	ts_check(pending && strstr(pending, "libnone"));
	for (size_t i = 0; i + 1 < TS_ARRAY_LEN(names); i++)
		ts_check(ts_loader_find(names[i]) == dlsym(RTLD_NEXT, names[i]));
}

TS_TEST(a_fork_waits_for_a_walk)
{
	pthread_t thread;
	int status;
	pid_t pid;

	pthread_barrier_init(&walking, NULL, 2);
	ts_check_int(pthread_create(&thread, NULL, walk, NULL), 0);
	pthread_barrier_wait(&walking);
	pid = fork();
	if (!pid) {
		alarm(TS_TEST_SECONDS);
		/*
		 * Walk over the libraries with the C library's function, and then with the shim's.
		 */
		leave(dl_iterate_phdr(visit, NULL) != 2 || ts_loader_iterate(visit, NULL) != 2);
	}
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	pthread_join(thread, NULL);
	ts_check_int(ts_loader_iterate(visit, NULL), 2);
}

/* A signal handler may fork on the thread that it interrupted in the middle of a walk. */
TS_TEST(a_fork_within_a_walk)
{
	pid_t pid = ts_loader_iterate(visit_and_fork, NULL);

	ts_check(pid > 0);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	ts_check_int(ts_loader_iterate(visit, NULL), 2);
}
