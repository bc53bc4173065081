/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by retention.c (lists, removal) and retention-scan.c (files of earlier runs). */
#pragma once

#include "daemon/serve/recording/retention.h"
#include "proto/abi/map.h"

struct retention_file {
	struct retention_file *next; /* next newer file of the trace */
	char *name;		     /* relative to the directory */
	dev_t device;
	ino_t inode;
	uint64_t n_bytes; /* charged for it */
	uint64_t time_ns; /* last change, CLOCK_REALTIME */
	bool has_links;	  /* the file has another name, because a dump has it too */
};

struct retention_trace {
	struct retention_trace *before, *next; /* older, newer */
	struct retention_file *files;	       /* oldest first */
	uint64_t time_ns;		       /* time of the newest file */
	bool is_stuck;			       /* the removal failed, and this was logged */
};

struct retention_owner {
	struct retention_owner *before, *next; /* list of all owners */
	struct ts_user *user;
	struct retention_trace *first, *last; /* oldest, newest */
	uint64_t n_bytes;
};

struct ts_retention {
	struct ts_retention_options options;
	int fd; /* the directory */
	struct retention_owner *owners;
	struct ts_map by_user; /* struct retention_owner * by the address of its account */
	uint64_t n_bytes;
	size_t n_files;
};

void ts_retention_describe(struct retention_file *file, const struct stat *status);
void ts_retention_file_free(struct retention_file *file); /* NULL is accepted */
void ts_retention_trace_free(struct retention_trace *trace);
/*
 * Takes ownership of the trace and counts it in the user's account. -ENOMEM: the caller still owns
 * the trace.
 */
int ts_retention_insert(struct ts_retention *retention, struct ts_user *user,
			struct retention_trace *trace);
/*
 * True if a daemon writes the file. The writer holds a lock, which only the file's owner can hold.
 */
bool ts_retention_is_written(int fd, const struct stat *status);
