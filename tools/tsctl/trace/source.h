/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reading command reads: a trace file by its path, or a live session, whose daemon hands over its
 * trace as an open file. The daemon never opens a path for us, nor we one of the daemon's.
 */
#pragma once

#include "sbt/reader.h"
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/screen/term.h"

#include <stdbool.h>

/* Does not move once it is open. */
struct ts_source {
	struct ts_sbt_reader *reader;
	char *path;	  /* as given, or as the daemon says */
	uint32_t session; /* only this session of the file is meant; 0: all */
	struct ts_progress progress;
};

/*
 * Opens `file`; or, where `session` is given ("3", a session's number with the daemon, or its pid), that
 * live one. A `file` that does not exist and is a number is taken for a session. Exactly one of them is not
 * NULL. Returns TS_EXIT_OK, or TS_EXIT_BAD after a complaint.
 */
int ts_source_open(struct ts_source *source, const char *file, const char *session);
void ts_source_deinit(struct ts_source *source);

/*
 * Reading the trace shows how many rows were read, once it takes over a second. Ends with
 * ts_source_unwatch(), which wipes the line: before anything else is printed.
 */
void ts_source_watch(struct ts_source *source);
void ts_source_unwatch(struct ts_source *source);
/*
 * The same for any reader, several of which may share one line; NULL: no more. The line is the
 * caller's to wipe.
 */
void ts_source_watch_reader(struct ts_sbt_reader *reader, struct ts_progress *progress);

/* How many of the sessions that are meant have their host half only (TS_SESSION_SOURCE_PROBES). */
uint32_t ts_source_n_halves(const struct ts_source *source);
/* Says so on stdout, where there are any. */
void ts_source_print_halves(const struct ts_source *source);

/*
 * The newest file of a recording in several: those before it, as far back as they go, belong to it from now on. Nothing, where there are
 * none. Returns what ts_sbt_reader_join() does, or -ENOMEM.
 */
int ts_source_join(struct ts_sbt_reader *reader, const char *path);

/*
 * Deletes the finished files of the recording whose newest file is `path`, oldest first, and leaves `path`. A file of that name
 * that is not of this recording stays. Returns 0, or the -errno of the file that could not be deleted.
 */
int ts_source_unlink_before(const char *path);

/*
 * Opens a regular file with these open() flags; complains where it is none or cannot be opened. Returns the
 * descriptor or -1.
 */
int ts_source_open_file(const char *path, int flags);
/*
 * The same, with the files of the recording that come before it, the newest first. Returns 0, and *ret_n descriptors; -1: it has been
 * complained.
 */
int ts_source_open_files(const char *path, int *ret_fds, unsigned most, unsigned *ret_n);
/* Complains of what went wrong with a trace: `r` is a negative errno or TS_SBT_E_*. */
void ts_source_complain(const char *path, int r, const struct ts_sbt_error *error);

/*
 * Whose session it is, and its number there: a process of any daemon's, or a number of the service's. Without either it
 * is the service's to know, by *ret_session 0; NULL: there is no service.
 */
const struct ts_live_daemon *ts_source_find_session(const struct ts_live *live, uint32_t number,
						    uint32_t *ret_session);
/* Complains that there is no such process, and nobody else to ask. */
void ts_source_complain_nobody(uint32_t number);
