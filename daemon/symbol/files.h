/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the files that have symbols: at the path that the traced process used, and debug files by
 * build id. Every opened file is a regular file, wherever its path leads. No function here reads a
 * byte of it.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

/*
 * The root directories below which files are looked up, and the rights with which they are opened.
 * Set root_fd to -1 to use only the daemon's root directory; an all-zero struct is not valid.
 */
struct ts_symbol_view {
	/*
	 * Root directory of the traced process, which may differ from the daemon's; -1: the
	 * daemon's.
	 */
	int root_fd;
	uid_t uid;	  /* root opens files as this user; 0: as root */
	bool by_own_path; /* look up paths also below the daemon's root directory */
	bool of_owner;	  /* reject files of other owners than `owner` (-EPERM) */
	uid_t owner;
};

struct ts_symbol_file {
	int fd;
	bool trusted; /* only root or the daemon's own user can have written the file */
};

/* Opens /proc/PID/root. -1: the process has ended, or this process may not examine it. */
int ts_symbol_root_open(pid_t pid);

/*
 * Opens the nth place (0, 1, ...) where `path` may be. -ERANGE: there is no nth place. Other errors
 * refer to that place alone: -ENOENT, -EACCES, -EINVAL (not a regular file), -EPERM (another
 * owner), ...
 */
int ts_symbol_open(const struct ts_symbol_view *view, const char *path, unsigned nth,
		   struct ts_symbol_file *ret_file);
/*
 * Opens the separate debug file of a build id: from this system, else from the view, else from
 * debuginfod's cache. Returns 0 or -ENOENT.
 */
int ts_symbol_open_debug(const struct ts_symbol_view *view, const uint8_t *build_id, size_t n,
			 struct ts_symbol_file *ret_file);
/*
 * Opens the nth place of the debug file `name`, to which the file at `path` links. Errors as in
 * ts_symbol_open().
 */
int ts_symbol_open_link(const struct ts_symbol_view *view, const char *path, const char *name,
			unsigned nth, struct ts_symbol_file *ret_file);

/*
 * Starts debuginfod's client for the debug file, if TRACESMITH_DEBUGINFOD is 1 and DEBUGINFOD_URLS
 * is set. Does not wait: the file is available to a later run. Returns true if the client was
 * started.
 */
bool ts_symbol_fetch_debug(const uint8_t *build_id, size_t n);
