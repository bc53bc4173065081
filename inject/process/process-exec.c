/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interposes the exec functions. exec runs no exit handler, so records that CUPTI still holds would
 * be lost with the image. This library therefore exports the exec calls before libc's and flushes
 * first (ts_shim_leave()). Most callers are children of fork() or vfork(); such a child has no
 * session and passes straight through. If exec fails, the process continues to record
 * (ts_shim_stay()).
 *
 * All code here is async-signal-safe, as the calls themselves are. posix_spawn() and system()
 * replace only a child of their own, inside libc, and do not use these functions.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/process/at-load.h"
#include "inject/process/old-libc.h"
#include "inject/process/process-exec.h"
#include "inject/shim.h"

#define EXPORT __attribute__((visibility("default")))

/*
 * Up to this many arguments of execl() and its variants are copied to the stack. For more, the shim
 * maps memory.
 */
#define FEW_ARGUMENTS 256u

TS_WRITTEN_AT_LOAD static struct {
	int (*execve)(const char *, char *const *, char *const *);
	int (*execvpe)(const char *, char *const *, char *const *);
	int (*fexecve)(int, char *const *, char *const *);
	int (*execveat)(int, const char *, char *const *, char *const *, int);
} next;

EXPORT int execve(const char *path, char *const *argv, char *const *environment);
EXPORT int execv(const char *path, char *const *argv);
EXPORT int execvp(const char *file, char *const *argv);
EXPORT int execvpe(const char *file, char *const *argv, char *const *environment);
EXPORT int execl(const char *path, const char *argument, ...);
EXPORT int execlp(const char *file, const char *argument, ...);
EXPORT int execle(const char *path, const char *argument, ...);
EXPORT int fexecve(int fd, char *const *argv, char *const *environment);
EXPORT int execveat(int fd, const char *path, char *const *argv, char *const *environment,
		    int flags);

TS_CALLED_AT_LOAD void ts_exec_resolve(void)
{
	*(void **)&next.execve = ts_old_libc_next(TS_TEXT_AT_LOAD("execve"));
	*(void **)&next.execvpe = ts_old_libc_next(TS_TEXT_AT_LOAD("execvpe"));
	*(void **)&next.fexecve = ts_old_libc_next(TS_TEXT_AT_LOAD("fexecve"));
	/* Exists since glibc 2.34. */
	*(void **)&next.execveat = ts_old_libc_next(TS_TEXT_AT_LOAD("execveat"));
}

/*
 * Finds libc's functions if the constructor of another library calls an exec function before this
 * library's constructor runs. No other thread exists then.
 */
static void resolve_early(void)
{
	if (!next.execve)
		ts_exec_resolve();
}

/* Handles a call that returned, which means that it failed. */
static int failed(void)
{
	ts_shim_stay();
	return -1;
}

static int refused(void)
{
	errno = ENOSYS;
	return -1;
}

int execve(const char *path, char *const *argv, char *const *environment)
{
	resolve_early();
	if (!next.execve)
		return refused();
	ts_shim_leave();
	next.execve(path, argv, environment);
	return failed();
}

int execvpe(const char *file, char *const *argv, char *const *environment)
{
	resolve_early();
	if (!next.execvpe)
		return refused();
	ts_shim_leave();
	next.execvpe(file, argv, environment);
	return failed();
}

int fexecve(int fd, char *const *argv, char *const *environment)
{
	resolve_early();
	if (!next.fexecve)
		return refused();
	ts_shim_leave();
	next.fexecve(fd, argv, environment);
	return failed();
}

int execveat(int fd, const char *path, char *const *argv, char *const *environment, int flags)
{
	resolve_early();
	if (!next.execveat)
		return refused();
	ts_shim_leave();
	next.execveat(fd, path, argv, environment, flags);
	return failed();
}

int execv(const char *path, char *const *argv)
{
	return execve(path, argv, environ);
}

int execvp(const char *file, char *const *argv)
{
	return execvpe(file, argv, environ);
}

typedef int exec_fn(const char *, char *const *, char *const *);

/*
 * Implements execl() and its variants: collects the arguments into an array. If requested, the
 * environment follows the last argument.
 */
static int exec_list(exec_fn *call, const char *path, const char *argument, va_list list,
		     bool with_environment)
{
	char *few[FEW_ARGUMENTS], **argv = few, *const *environment = environ;
	size_t n = 0, i, n_bytes = 0;
	va_list counted;
	int r, error;

	va_copy(counted, list);
	for (n = 1; argument && va_arg(counted, char *); n++)
		;
	va_end(counted);
	if (n >= FEW_ARGUMENTS) {
		n_bytes = (n + 1) * sizeof(*argv);
		argv = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		if (argv == MAP_FAILED)
			return -1;
	}
	argv[0] = (char *)(uintptr_t)argument;
	for (i = 1; argument && i <= n; i++)
		argv[i] = va_arg(list, char *);
	if (with_environment)
		environment = va_arg(list, char *const *);
	r = call(path, argv, environment);
	error = errno;
	if (n_bytes)
		munmap(argv, n_bytes);
	errno = error;
	return r;
}

int execl(const char *path, const char *argument, ...)
{
	va_list list;
	int r;

	va_start(list, argument);
	r = exec_list(execve, path, argument, list, false);
	va_end(list);
	return r;
}

int execlp(const char *file, const char *argument, ...)
{
	va_list list;
	int r;

	va_start(list, argument);
	r = exec_list(execvpe, file, argument, list, false);
	va_end(list);
	return r;
}

int execle(const char *path, const char *argument, ...)
{
	va_list list;
	int r;

	va_start(list, argument);
	r = exec_list(execve, path, argument, list, true);
	va_end(list);
	return r;
}
