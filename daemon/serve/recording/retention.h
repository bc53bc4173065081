/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished traces of a service: which there are, whose they are and how much of the disk they take up, and which go.
 *
 * Layout, below the service's directory:
 *	UID/tracesmith-*.sbt	files of the user UID
 *	tracesmith-*.sbt	files of earlier versions: their owner's
 * The files of one recording, NAME.1.sbt, NAME.2.sbt, ... and NAME.sbt, are one trace. A dump, NAME-dump1.1.sbt, ... and
 * NAME-dump1.sbt, is a trace of its own.
 *
 * A trace goes
 *	- when it is older than --retain-age,
 *	- the user's oldest first: when the user's traces have more than --retain-size-user, or the user has used seven eighths of
 *	  its share (--max-disk-bytes-user, a quarter of --max-disk-files),
 *	- the oldest of the user who has the most bytes first: when all have more than --retain-size, or seven eighths of
 *	  what users may have of --max-disk-bytes or --max-disk-files are used. One user's new traces do not push out another's.
 * Shares remove a trace only while another one is written: a trace that used up the share stays until the room is needed.
 * A trace that is being written or read stays. Low free disk removes none: any user of the disk could cause it.
 *
 * Only a regular file goes that this service or an earlier run of it wrote: by its name, its place, its owner and its first bytes.
 * No symbolic link is followed.
 *
 * The main thread alone.
 */
#pragma once

#include <sys/stat.h>

#include "daemon/serve/users.h"

struct ts_retention;

struct ts_retention_options {
	const char *directory;
	const struct ts_limits *limits; /* outlives it, as the users do */
	struct ts_users *users;
	void *data;
	/* Somebody reads the file. NULL: nobody. */
	bool (*is_busy)(void *data, const struct stat *status);
	/* A name of the file is gone; takes over a descriptor of it, -1: none. NULL: it is closed. */
	void (*removed)(void *data, const struct stat *status, int fd);
};

/* 0, -ENOMEM, or what opening the directory returned. */
int ts_retention_new(const struct ts_retention_options *options,
		     struct ts_retention **ret_retention);
void ts_retention_free(struct ts_retention *retention); /* NULL is fine */

/*
 * Finds the traces of earlier runs, once. Files that are being written, by another daemon, are left out. 0 or a negative errno;
 * what was found before it counts.
 */
int ts_retention_scan(struct ts_retention *retention);

/* A finished trace of the user's: its files, the oldest first. They count in the user's account from now on. 0 or -ENOMEM. */
int ts_retention_add(struct ts_retention *retention, struct ts_user *user, char *const *paths,
		     size_t n_paths);

/* Removes what has to go at `now_ns` (CLOCK_REALTIME), at most `most` traces. Returns how many it removed. */
size_t ts_retention_expire(struct ts_retention *retention, uint64_t now_ns, size_t most);

/* Looks at every file: one that is gone, or has another size, no longer counts as it did. */
void ts_retention_refresh(struct ts_retention *retention);

size_t ts_retention_n_files(const struct ts_retention *retention);
