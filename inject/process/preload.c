/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles load, unload and _exit(); the dynamic loader calls this file. This file calls shim.c to
 * end the session. LD_PRELOAD reaches every shell and compiler of a build, so the constructor does
 * little: it sets three environment variables, looks up a few functions and reads in /proc whether
 * a seccomp filter exists. It makes no thread, no socket, no lasting descriptor, and no allocation
 * except setenv()'s.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "inject/config.h"
#include "inject/context.h"
#include "inject/process/old-libc.h"
#include "inject/process/process-exec.h"
#include "inject/process/process-sandbox.h"
#include "inject/ring/handover.h"
#include "inject/shim.h"
#include "proto/abi/vendor/cupti_family.h"

#define INJECTION_ENVIRONMENT	   "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION_ENVIRONMENT "NVTX_INJECTION64_PATH"

struct preload {
	char holder[256]; /* other library in CUDA_INJECTION64_PATH; empty: this one */
	pid_t pid;
	void (*next_exit)(int);
	void (*next_Exit)(int);
};

static struct preload preload;

/* This library, as the loader mapped it. `path` is the loader's. */
struct own_library {
	const char *path; /* NULL: not found */
	uintptr_t start, end;
};

static int find_own(struct dl_phdr_info *info, size_t size, void *data)
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
static bool finds_ours(const struct own_library *own)
{
	uintptr_t found = (uintptr_t)dlsym(RTLD_DEFAULT, "fexecve");

	return found >= own->start && found < own->end;
}

/* snprintf() costs several page faults in each process. */
static void copy_text(char *to, size_t n_bytes, const char *from)
{
	size_t n = strnlen(from, n_bytes - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

/*
 * In debug mode, prints that the shim is loaded, and which library the driver will load. This
 * explains a missing trace.
 */
static void say_loaded(void)
{
	if (*preload.holder)
		dprintf(STDERR_FILENO,
			"tracesmith[%d]: loaded; " INJECTION_ENVIRONMENT
			" is %s: CUDA calls that tool, not TraceSmith\n",
			(int)preload.pid, preload.holder);
	else
		dprintf(STDERR_FILENO, "tracesmith[%d]: loaded; records when CUDA is initialised\n",
			(int)preload.pid);
	if (*ts_loaded.nvtx_holder)
		dprintf(STDERR_FILENO,
			"tracesmith[%d]: " NVTX_INJECTION_ENVIRONMENT
			" is %s: that tool receives the NVTX ranges\n",
			(int)preload.pid, ts_loaded.nvtx_holder);
}

/*
 * True: this process is Nsight Compute, which launches a program with a tool of its own. It does
 * not start if the variable is set, also by a shell that launched it. Source: ncu 2025.3.
 */
static bool is_launcher(void)
{
	static const char *const names[] = {"ncu", "ncu-ui", "nv-nsight-cu-cli"};
	size_t i;

	for (i = 0; i < TS_ARRAY_LEN(names); i++)
		if (!strcmp(program_invocation_short_name, names[i]))
			return true;
	return false;
}

/*
 * If the environment variable is unset, sets it to this library's path. Else copies its value, the
 * path of another library, to ret_holder.
 */
static void take_variable(const char *name, char *ret_holder, size_t n_bytes)
{
	const char *held = secure_getenv(name);

	/* The environment of a privileged program belongs to its caller and stays unchanged. */
	if (ts_config_is_privileged())
		return;
	if (is_launcher()) {
		if (held && !strcmp(held, ts_loaded.library))
			unsetenv(name);
		return;
	}
	if (!held || !*held) {
		if (*ts_loaded.library)
			setenv(name, ts_loaded.library, 1);
	} else if (strcmp(held, ts_loaded.library)) {
		copy_text(ret_holder, n_bytes, held);
	}
}

/*
 * True if the path names this library's file. An inherited variable may contain another path of the
 * same file.
 */
static bool is_ours(const char *path)
{
	struct stat theirs, ours;

	return !stat(path, &theirs) && !stat(ts_loaded.library, &ours) &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

__attribute__((constructor)) static void loaded(void)
{
	int saved_errno = errno;
	char other[256]; /* a tool that another vendor's driver loads instead; not reported */
	struct own_library own = {0};
	size_t i;

	preload.pid = getpid();
	ts_loaded.filters = ts_sandbox_count();
	/* RTLD_NEXT finds the _exit() of another preloaded library, or libc's. */
	*(void **)&preload.next_exit = ts_old_libc_next("_exit");
	*(void **)&preload.next_Exit = ts_old_libc_next("_Exit");
	ts_exec_resolve();
	ts_loaded.lacks_threads = !ts_old_libc_is_complete();
	/* glibc before 2.34, in a program that uses no GPU and loads no library. */
	if (!ts_old_libc_has_dl()) {
		errno = saved_errno;
		return;
	}
	/* dladdr() would search all of this library's symbols. */
	(void)dl_iterate_phdr(find_own, &own);
	if (own.path) {
		ts_loaded.interposes = finds_ours(&own);
		/*
		 * A child may start in another directory, and it inherits the variable, so the path
		 * is absolute.
		 */
		if (*own.path == '/' || !realpath(own.path, ts_loaded.library))
			copy_text(ts_loaded.library, sizeof(ts_loaded.library), own.path);
	}
	take_variable(INJECTION_ENVIRONMENT, preload.holder, sizeof(preload.holder));
	take_variable(NVTX_INJECTION_ENVIRONMENT, ts_loaded.nvtx_holder,
		      sizeof(ts_loaded.nvtx_holder));
	for (i = TS_PTI_CUPTI + 1; i < TS_PTI_VENDORS; i++)
		if (ts_pti_vendors[i].injection)
			take_variable(ts_pti_vendors[i].injection, other, sizeof(other));
	/* An inherited value may be another name of this library. */
	if (*ts_loaded.nvtx_holder && is_ours(ts_loaded.nvtx_holder))
		ts_loaded.nvtx_holder[0] = '\0';
	if (ts_config_debug())
		say_loaded();
	errno = saved_errno;
}

/*
 * Called if the process used CUDA, but the driver loaded another tool's library and not the shim.
 * If a daemon listens, reports this to the daemon, so that an empty recording states the reason.
 * Starts no daemon.
 */
static void send_holder(void)
{
	char program[64], text[256];
	const char *path;
	void *driver;
	int fd = -1;

	/* Report once in a process, and not in forked children. */
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

/* Runs after all exit handlers: flushes their records and ends the session. */
__attribute__((destructor)) static void unloaded(void)
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
