/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Being loaded, being unloaded, and _exit(). LD_PRELOAD reaches every shell and compiler of a build, so the constructor
 * sets two environment variables, looks up a few functions and reads in /proc whether there is a seccomp filter: no thread, no
 * socket, no descriptor that stays, no allocation but setenv()'s.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "inject/config.h"
#include "inject/context.h"
#include "inject/process/process-exec.h"
#include "inject/process/process-sandbox.h"
#include "inject/ring/handover.h"
#include "inject/shim.h"

#define INJECTION_ENVIRONMENT	   "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION_ENVIRONMENT "NVTX_INJECTION64_PATH"

struct preload {
	char holder[256]; /* whose CUDA_INJECTION64_PATH is; empty: ours */
	pid_t pid;
	void (*next_exit)(int);
	void (*next_Exit)(int);
};

static struct preload preload;

/*
 * Whether this library's functions stand before libc's: it was preloaded, not loaded by the driver. A sanitizer's runtime may
 * stand before both and has an _exit() of its own, which calls ours; fexecve() is no sanitizer's.
 */
static bool finds_ours(const void *base)
{
	void *found = dlsym(RTLD_DEFAULT, "fexecve");
	Dl_info info;

	return found && dladdr(found, &info) && info.dli_fbase == base;
}

/* For whoever looks for a trace that did not come: whether this is loaded, and what the driver will do. */
static void say_loaded(void)
{
	if (*preload.holder)
		dprintf(STDERR_FILENO,
			"tracesmith[%d]: loaded; " INJECTION_ENVIRONMENT
			" is %s: that tool is called, not this one\n",
			(int)preload.pid, preload.holder);
	else
		dprintf(STDERR_FILENO, "tracesmith[%d]: loaded; records when CUDA is initialised\n",
			(int)preload.pid);
	if (*ts_loaded.nvtx_holder)
		dprintf(STDERR_FILENO,
			"tracesmith[%d]: " NVTX_INJECTION_ENVIRONMENT
			" is %s: NVTX's ranges are that tool's\n",
			(int)preload.pid, ts_loaded.nvtx_holder);
}

/* Ours where it is free; else whose it is. */
static void take_variable(const char *name, char *ret_holder, size_t n_bytes)
{
	const char *held = secure_getenv(name);

	/* A privileged program's environment is its caller's, and stays as it is. */
	if (ts_config_is_privileged())
		return;
	if (!held || !*held) {
		if (*ts_loaded.library)
			setenv(name, ts_loaded.library, 1);
	} else if (strcmp(held, ts_loaded.library)) {
		snprintf(ret_holder, n_bytes, "%s", held);
	}
}

/* Whether two names are one file: the variable may have been inherited under another name. */
static bool is_ours(const char *path)
{
	struct stat theirs, ours;

	return !stat(path, &theirs) && !stat(ts_loaded.library, &ours) &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

__attribute__((constructor)) static void loaded(void)
{
	int saved_errno = errno;
	Dl_info info;

	preload.pid = getpid();
	ts_loaded.filters = ts_sandbox_count();
	/* Other preloaded libraries may have an _exit() too; theirs comes after ours. */
	*(void **)&preload.next_exit = dlsym(RTLD_NEXT, "_exit");
	*(void **)&preload.next_Exit = dlsym(RTLD_NEXT, "_Exit");
	ts_exec_resolve();
	if (dladdr((void *)(uintptr_t)&loaded, &info) && info.dli_fname) {
		ts_loaded.interposes = finds_ours(info.dli_fbase);
		/* A child may be started elsewhere, and inherits the variable. */
		if (*info.dli_fname == '/' || !realpath(info.dli_fname, ts_loaded.library))
			snprintf(ts_loaded.library, sizeof(ts_loaded.library), "%s",
				 info.dli_fname);
	}
	take_variable(INJECTION_ENVIRONMENT, preload.holder, sizeof(preload.holder));
	take_variable(NVTX_INJECTION_ENVIRONMENT, ts_loaded.nvtx_holder,
		      sizeof(ts_loaded.nvtx_holder));
	/* Inherited under another name, it is ours all the same. */
	if (*ts_loaded.nvtx_holder && is_ours(ts_loaded.nvtx_holder))
		ts_loaded.nvtx_holder[0] = '\0';
	if (ts_config_debug())
		say_loaded();
	errno = saved_errno;
}

/*
 * The process used CUDA, and another tool's library was injected in our place: a daemon that listens is told, so that
 * an empty recording says why. None is started for it.
 */
static void send_holder(void)
{
	char program[64], text[256];
	const char *path;
	void *driver;
	int fd = -1;

	/* Once for the process: not for each child that it forked. */
	if (ts_shim.started || !*preload.holder || preload.pid != getpid() ||
	    is_ours(preload.holder))
		return;
	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (!driver)
		return;
	path = secure_getenv(TS_SOCKET_ENVIRONMENT);
	if (ts_handover_connect(path && *path ? path : TS_INJECT_SOCKET, &fd))
		return;
	ts_config_program(program, sizeof(program));
	snprintf(text, sizeof(text), INJECTION_ENVIRONMENT " is %.200s", preload.holder);
	(void)ts_handover_note(fd, TS_EMPTY_INJECTION_HELD, program, text);
	close(fd);
}

/* Runs after every exit handler: what they recorded is flushed, and the session ends. */
__attribute__((destructor)) static void unloaded(void)
{
	int saved_errno = errno;

	send_holder();
	ts_shim_end(true);
	errno = saved_errno;
}

/* Trap: programs that end by _exit() run no handler at all. It is async-signal-safe, and so is what is done here. */
__attribute__((visibility("default"))) void _exit(int status)
{
	ts_shim_end(true);
	if (preload.next_exit)
		preload.next_exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
	ts_shim_end(true);
	if (preload.next_Exit)
		preload.next_Exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}
