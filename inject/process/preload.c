/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles load, unload and _exit(); the dynamic loader calls this file. This file calls shim.c to
 * end the session. LD_PRELOAD reaches every shell and compiler of a build, so the constructor does
 * little: it sets three environment variables, looks up a few functions and reads in /proc whether
 * a seccomp filter exists. It makes no thread, no socket, no lasting descriptor, and mostly no
 * allocation (process-environment.c). at-load.h explains where its functions and variables lie.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "inject/config.h"
#include "inject/context.h"
#include "inject/process/at-load.h"
#include "inject/process/old-libc.h"
#include "inject/process/process-environment.h"
#include "inject/process/process-exec.h"
#include "inject/process/process-sandbox.h"
#include "inject/ring/handover.h"
#include "inject/shim.h"
#include "proto/abi/vendor/cupti_family.h"

#define INJECTION_ENVIRONMENT	   "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION_ENVIRONMENT "NVTX_INJECTION64_PATH"

#define MAX_HOLDER_BYTES	   256u

struct preload {
	const char *holder; /* other library in CUDA_INJECTION64_PATH; NULL: this one */
	pid_t pid;	    /* 0: no `holder` */
	void (*next_exit)(int);
	void (*next_Exit)(int);
};

TS_WRITTEN_AT_LOAD static struct preload preload = {.pid = 0};

/* This library, as the loader mapped it. `path` is the loader's. */
struct own_library {
	const char *path; /* NULL: not found */
	uintptr_t start, end;
};

TS_CALLED_AT_LOAD static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t here = (uintptr_t)&preload, start = UINTPTR_MAX, end = 0;
	struct own_library *own = data;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		start = from < start ? from : start;
		end = from + segment->p_memsz > end ? from + segment->p_memsz : end;
	}
	if (here < start || here >= end)
		return 0;
	*own = (struct own_library){info->dlpi_name, start, end};
	return 1;
}

/*
 * Returns whether this library's functions come before libc's: it was preloaded, not loaded by the
 * driver. A sanitizer's runtime may come before both, with its own _exit() that calls this
 * library's. No sanitizer defines fexecve(), so this function looks up fexecve().
 */
TS_CALLED_AT_LOAD static bool finds_ours(const struct own_library *own)
{
	uintptr_t found = (uintptr_t)dlsym(RTLD_DEFAULT, TS_TEXT_AT_LOAD("fexecve"));

	return found >= own->start && found < own->end;
}

/*
 * In debug mode, prints that the shim is loaded, and which library the driver will load. This
 * explains a missing trace.
 */
static void say_loaded(void)
{
	if (preload.holder)
		dprintf(STDERR_FILENO,
			"tracesmith[%d]: loaded; " INJECTION_ENVIRONMENT
			" is %s: CUDA calls that tool, not TraceSmith\n",
			getpid(), preload.holder);
	else
		dprintf(STDERR_FILENO, "tracesmith[%d]: loaded; records when CUDA is initialised\n",
			getpid());
	if (ts_library.nvtx_holder)
		dprintf(STDERR_FILENO,
			"tracesmith[%d]: " NVTX_INJECTION_ENVIRONMENT
			" is %s: that tool receives the NVTX ranges\n",
			getpid(), ts_library.nvtx_holder);
}

/*
 * True: this process is Nsight Compute, which launches a program with a tool of its own. It does
 * not start if the variable is set, also by a shell that launched it. Source: ncu 2025.3.
 */
TS_CALLED_AT_LOAD static bool is_launcher(void)
{
	TS_READ_AT_LOAD static const char names[][17] = {"ncu", "ncu-ui", "nv-nsight-cu-cli"};
	size_t i;

	for (i = 0; i < TS_ARRAY_LEN(names); i++)
		if (!strcmp(program_invocation_short_name, names[i]))
			return true;
	return false;
}

/*
 * If the environment variable is unset, sets it to this library's path. Returns its value if this
 * is the path of another library, and else NULL.
 */
TS_CALLED_AT_LOAD static const char *take_variable(const char *name)
{
	const char *held = secure_getenv(name);

	/* The environment of a privileged program belongs to its caller and stays unchanged. */
	if (ts_config_is_privileged())
		return NULL;
	if (is_launcher()) {
		if (held && !strcmp(held, ts_library.path))
			unsetenv(name);
		return NULL;
	}
	if (held && *held)
		return strcmp(held, ts_library.path) ? held : NULL;
	/* If the driver loaded this library, other threads may read the environment. */
	if (*ts_library.path && ts_library.interposes)
		ts_environment_set(name, ts_library.path);
	else if (*ts_library.path)
		setenv(name, ts_library.path, 1);
	return NULL;
}

/* Copies a variable's value, because the program may change the variable. */
static const char *keep(char to[MAX_HOLDER_BYTES], const char *value)
{
	size_t n = strnlen(value, MAX_HOLDER_BYTES - 1);

	memcpy(to, value, n);
	to[n] = '\0';
	return to;
}

/*
 * True if the path names this library's file. An inherited variable may contain another path of the
 * same file.
 */
static bool is_ours(const char *path)
{
	struct stat theirs, ours;

	return !stat(path, &theirs) && !stat(ts_library.path, &ours) &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

/* Finds the path of this library, and whether it was preloaded. */
TS_CALLED_AT_LOAD static void find_library(void)
{
	static char absolute[PATH_MAX];
	struct own_library own = {0};

	/* dladdr() would search all of this library's symbols. */
	(void)dl_iterate_phdr(find_own, &own);
	if (!own.path)
		return;
	ts_library.interposes = finds_ours(&own);
	/*
	 * A child may start in another directory, and it inherits the variables, so the path is
	 * absolute. The loader's text stays: this library is never unloaded.
	 */
	ts_library.path = own.path;
	if (*own.path != '/' && realpath(own.path, absolute))
		ts_library.path = absolute;
}

TS_CALLED_AT_LOAD static void take_variables(void)
{
	static char holder[MAX_HOLDER_BYTES], nvtx_holder[MAX_HOLDER_BYTES];
	const char *held = take_variable(TS_TEXT_AT_LOAD(INJECTION_ENVIRONMENT));

	if (held) {
		preload.holder = keep(holder, held);
		preload.pid = getpid();
	}
	held = take_variable(TS_TEXT_AT_LOAD(NVTX_INJECTION_ENVIRONMENT));
	/* An inherited value may be another name of this library. */
	if (held && !is_ours(held))
		ts_library.nvtx_holder = keep(nvtx_holder, held);
	/* A tool that another vendor's driver loads instead is not reported. */
	for (size_t i = TS_PTI_CUPTI + 1; i < TS_PTI_VENDORS; i++)
		if (*ts_pti_vendors[i].injection)
			(void)take_variable(ts_pti_vendors[i].injection);
}

__attribute__((constructor)) static void loaded(void)
{
	int saved_errno = errno;

	ts_library.filters = ts_sandbox_count();
	/* RTLD_NEXT finds the _exit() of another preloaded library, or libc's. */
	*(void **)&preload.next_exit = ts_old_libc_next(TS_TEXT_AT_LOAD("_exit"));
	*(void **)&preload.next_Exit = ts_old_libc_next(TS_TEXT_AT_LOAD("_Exit"));
	ts_exec_resolve();
	ts_library.lacks_threads = !ts_old_libc_is_complete();
	/* glibc before 2.34, in a program that uses no GPU and loads no library. */
	if (ts_old_libc_has_dl()) {
		find_library();
		take_variables();
		if (ts_config_debug())
			say_loaded();
	}
	errno = saved_errno;
}

/*
 * Called if the process used CUDA, but the driver loaded another tool's library and not the shim.
 * If a daemon listens, reports this to the daemon, so that an empty recording states the reason.
 * Starts no daemon.
 */
TS_CALLED_AT_LOAD static void send_holder(void)
{
	char program[64], text[256];
	const char *path;
	void *driver;
	int fd = -1;

	/* Report once in a process, and not in forked children. */
	if (!preload.holder || ts_shim.started || preload.pid != getpid() ||
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

/* Runs after all exit handlers: flushes their records and ends the session. */
__attribute__((destructor)) TS_CALLED_AT_LOAD static void unloaded(void)
{
	int saved_errno = errno;

	send_holder();
	ts_shim_end(true);
	errno = saved_errno;
}

/*
 * Trap: a program that ends by _exit() runs no handler. _exit() is async-signal-safe, and so is
 * this code.
 */
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
