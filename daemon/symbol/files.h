/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the files that symbols come from: where the traced process saw them, and where this system keeps debug files by
 * build id. What is opened is a regular file, whatever a stranger's path leads to; nothing here reads a byte.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

/* Which file systems, and with whose rights. All zero is not one: root_fd is -1 where there is none. */
struct ts_symbol_view {
	int root_fd;	  /* the root directory of the process, where it may be another than ours */
	uid_t uid;	  /* root opens with the rights of this user; 0: with its own */
	bool by_own_path; /* its paths may be looked for in our own root directory */
	bool of_owner;	  /* what another than `owner` wrote is not believed (-EPERM) */
	uid_t owner;
};

struct ts_symbol_file {
	int fd;
	bool trusted; /* only root or we can have written it */
};

/* /proc/PID/root, or -1: the process is gone, or not ours to look at. */
int ts_symbol_root_open(pid_t pid);

/*
 * The nth place where `path` may be (0, 1, ...): -ERANGE past the last. Else 0, or why it could not be opened there:
 * -ENOENT, -EACCES, -EINVAL (no regular file), ...
 */
int ts_symbol_open(const struct ts_symbol_view *view, const char *path, unsigned nth,
		   struct ts_symbol_file *ret_file);
/* The separate debug file of a build id, from the same view, this system, or what debuginfod brought. -ENOENT */
int ts_symbol_open_debug(const struct ts_symbol_view *view, const uint8_t *build_id, size_t n,
			 struct ts_symbol_file *ret_file);
/* The nth place where the debug file that the file at `path` names may be: as ts_symbol_open(). */
int ts_symbol_open_link(const struct ts_symbol_view *view, const char *path, const char *name,
			unsigned nth, struct ts_symbol_file *ret_file);

/*
 * Has debuginfod asked for the debug file, where TRACESMITH_DEBUGINFOD is 1 and DEBUGINFOD_URLS says whom. Does not
 * wait: what comes is there for the next time. Returns whether it was asked.
 */
bool ts_symbol_fetch_debug(const uint8_t *build_id, size_t n);
