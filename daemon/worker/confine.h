/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes rights from the calling process, permanently. The process keeps only the rights to read
 * untrusted bytes. The process loses other users' rights, capabilities, the file system, the
 * network, new processes, new code and much memory. The process keeps its descriptors and can
 * receive more.
 *
 * Call it once, while the process has one thread and before it reads the first untrusted byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_confine_options {
	uint64_t memory_bytes; /* largest amount it may allocate */
	uint32_t cpu_seconds;  /* processor time for its whole life */
	bool end_with_parent;  /* kill the process when the thread that started it ends */
	bool threads;	       /* allow threads; never another process */
};

struct ts_confined {
	bool other_user; /* the process was root and now runs as user nobody */
	/*
	 * The root directory is empty, or Landlock forbids files. False: only the filter forbids
	 * them.
	 */
	bool no_files;
	uint32_t missing; /* TS_CONFINE_NO_* */
};

/* Parts that a system may lack; the confinement is still useful. */
#define TS_CONFINE_NO_USER \
	(1u                \
	 << 0) /* the worker is root and cannot become another user; it has no capability even so */
/* the root directory is not empty, and the kernel has no Landlock */
#define TS_CONFINE_NO_ROOT (1u << 1)

/*
 * Confines the process by Landlock (landlock(7)), for which it needs no privilege. Landlock forbids
 * files by name and TCP. Landlock also forbids to trace or signal other processes, and to reach
 * them by abstract sockets, as far as the kernel's version supports that. Call it after
 * no_new_privs is set. Returns Landlock's version, or a negative errno if the kernel has no
 * Landlock.
 */
int ts_confine_landlock(void);

/*
 * Confines the process. Returns 0, or the negative errno of a required part (limits, capabilities,
 * no_new_privs, the system-call filter), with its name in *ret_what. Afterwards a system call that
 * is not on the list kills the process; calls that name a file fail with EACCES.
 */
int ts_confine(const struct ts_confine_options *options, struct ts_confined *ret_confined,
	       const char **ret_what);
