/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes from the calling process, for good, all that the reading of a stranger's bytes does not need: other
 * users' rights, capabilities, the file system, the network, new processes, new code, much memory. What stays are the
 * descriptors that it has and those it is sent.
 *
 * One thread; called once, before the first stranger's byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_confine_options {
	uint64_t memory_bytes; /* it may allocate at most */
	uint32_t cpu_seconds;  /* it may compute in all its life */
	bool end_with_parent;  /* with the thread that started it */
	bool threads;	       /* it may have more of its own; never another process */
};

struct ts_confined {
	bool other_user; /* it was root and is nobody now */
	bool no_files; /* its root directory is empty, or Landlock forbids files; else the filter alone does */
	uint32_t missing; /* TS_CONFINE_NO_* */
};

/* What a system may lack without making the confinement worthless. */
#define TS_CONFINE_NO_USER \
	(1u                \
	 << 0) /* root, but not allowed to become another: no capability is left it all the same */
#define TS_CONFINE_NO_ROOT (1u << 1) /* the root directory is not empty, and there is no Landlock */

/*
 * Landlock's part (landlock(7)), which needs no right: no file by its name, no TCP, and of other processes none that is traced, gets
 * a signal, or is reached by an abstract socket, as far as the kernel's version of it goes. After no_new_privs. Returns that version,
 * or a negative errno where the kernel has none.
 */
int ts_confine_landlock(void);

/*
 * Returns 0, or the negative errno of the part that must not be missing (limits, capabilities,
 * no_new_privs, the system-call filter), with its name in *ret_what. Afterwards a system call that is not on
 * the list kills the process; those that name a file fail with EACCES.
 */
int ts_confine(const struct ts_confine_options *options, struct ts_confined *ret_confined,
	       const char **ret_what);
