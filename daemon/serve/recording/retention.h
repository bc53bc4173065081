/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished traces of a service: their owners, their disk use, and the rules for their removal.
 *
 * Layout, below the service's directory:
 *	UID/tracesmith-*.sbt	files of the user UID
 *	tracesmith-*.sbt	files of earlier versions; they belong to the file's owner
 * The files of one recording, NAME.1.sbt, NAME.2.sbt, ... and NAME.sbt, are one trace. A dump,
 * NAME-dump1.1.sbt, ... and NAME-dump1.sbt, is a separate trace.
 *
 * A trace is removed
 * - if it is older than --retain-age;
 * - the user's oldest first: if the user's traces exceed --retain-size-user, or the user has used
 *   seven eighths of a share (--max-disk-bytes-user, a quarter of --max-disk-files);
 * - the oldest of the user with the most bytes first: if all traces exceed --retain-size, or users
 *   have used seven eighths of their part of --max-disk-bytes or --max-disk-files. So one user's
 *   new traces do not push out another user's.
 *
 * The service removes a trace because of a share only while it writes another trace. So a trace
 * that used up the share by itself stays until a new recording needs the room. A trace that is
 * being written or read stays. Low free disk removes no trace, because any user of the disk could
 * cause it.
 *
 * Only a regular file of this service or of an earlier run is removed. Name, place, owner and first
 * bytes identify it. Symbolic links are not followed.
 *
 * Only the main thread calls these functions.
 */
#pragma once

#include <sys/stat.h>

#include "daemon/serve/users.h"

struct ts_retention;

struct ts_retention_options {
	const char *directory;
	const struct ts_limits *limits; /* `limits` and `users` must outlive the object */
	struct ts_users *users;
	void *data;
	/* True if a reader has the file open. NULL: no readers. */
	bool (*is_busy)(void *data, const struct stat *status);
	/*
	 * Called after a name of the file is removed. Takes ownership of a descriptor of the file
	 * (-1: none). NULL: the descriptor is closed.
	 */
	void (*removed)(void *data, const struct stat *status, int fd);
};

/* Creates the lists, without traces. Returns 0, -ENOMEM, or the error of opening the directory. */
int ts_retention_new(const struct ts_retention_options *options,
		     struct ts_retention **ret_retention);
void ts_retention_free(struct ts_retention *retention); /* NULL is accepted */

/*
 * Finds the traces of earlier runs, once. Files that another daemon is writing are skipped. Returns
 * 0 or a negative errno; traces that were found before the error stay in the list.
 */
int ts_retention_scan(struct ts_retention *retention);

/*
 * Adds a finished trace of the user: its files, oldest first. They count in the user's account from
 * now on. 0 or -ENOMEM.
 */
int ts_retention_add(struct ts_retention *retention, struct ts_user *user, char *const *paths,
		     size_t n_paths);

/*
 * Removes expired traces, at most `most`. `now_ns`: CLOCK_REALTIME. Returns the number of removed
 * traces.
 */
size_t ts_retention_expire(struct ts_retention *retention, uint64_t now_ns, size_t most);

/* Checks every file. Removed files no longer count; changed sizes are updated. */
void ts_retention_refresh(struct ts_retention *retention);

size_t ts_retention_n_files(const struct ts_retention *retention);
