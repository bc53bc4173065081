/* SPDX-License-Identifier: Apache-2.0 */
/* Private to retention.c (lists, removing) and retention-scan.c (files of earlier runs). */
#pragma once

#include "daemon/serve/recording/retention.h"

#define RETENTION_N_BUCKETS 1024u

struct retention_file {
	struct retention_file *next; /* the newer ones of the trace */
	char *name;		     /* below the directory */
	dev_t device;
	ino_t inode;
	uint64_t n_bytes; /* that count for it */
	uint64_t time_ns; /* last change, CLOCK_REALTIME */
	bool has_links;	  /* other names lead to it: a dump's */
};

struct retention_trace {
	struct retention_trace *before, *next; /* older, newer */
	struct retention_file *files;	       /* the oldest first */
	uint64_t time_ns;		       /* of the newest */
	bool is_stuck;			       /* it cannot be removed, and that was logged */
};

struct retention_owner {
	struct retention_owner *before, *next; /* in the list of all */
	struct retention_owner *same;	       /* in the same bucket */
	struct ts_user *user;
	struct retention_trace *first, *last; /* the oldest, the newest */
	uint64_t n_bytes;
};

struct ts_retention {
	struct ts_retention_options options;
	int fd; /* of the directory */
	struct retention_owner *owners;
	struct retention_owner *buckets[RETENTION_N_BUCKETS]; /* by account */
	uint64_t n_bytes;
	size_t n_files;
};

void ts_retention_describe(struct retention_file *file, const struct stat *status);
void ts_retention_file_free(struct retention_file *file); /* NULL is fine */
void ts_retention_trace_free(struct retention_trace *trace);
/* Takes the trace over and counts it in the user's account. -ENOMEM: it is the caller's still. */
int ts_retention_insert(struct ts_retention *retention, struct ts_user *user,
			struct retention_trace *trace);
/* Whether a daemon writes the file: it has a lock then, which only the file's owner can take. */
bool ts_retention_is_written(int fd, const struct stat *status);
