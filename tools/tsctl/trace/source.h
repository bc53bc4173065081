/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input of a reading command: a trace file, or a live session, whose daemon passes its trace as
 * an open file. The daemon opens no path for tsctl, and tsctl opens no path of the daemon.
 */
#pragma once

#include "sbt/reader.h"
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/screen/term.h"

#include <stdbool.h>

/* Must not move after it is opened. */
struct ts_source {
	struct ts_sbt_reader *reader;
	char *path;	  /* the path that the user gave, or that the daemon returned */
	uint32_t session; /* only this session of the file; 0: all */
	int fd;		  /* the file, while has_fd */
	bool has_fd;
	struct ts_progress progress;
};

/*
 * Opens `file`, or the live `session` ("3": its number in the daemon, or its pid). If `file` does
 * not exist and is a number, it is taken as a session. Exactly one of the two is not NULL. Returns
 * TS_EXIT_OK, or TS_EXIT_BAD after an error message.
 */
int ts_source_open(struct ts_source *source, const char *file, const char *session);
/*
 * Opens the trace of `from` once more, for another thread. Asks no daemon: the session may be over.
 * Opens no path: another file may have the name by now. Returns as ts_source_open().
 */
int ts_source_reopen(struct ts_source *source, const struct ts_source *from);
void ts_source_deinit(struct ts_source *source);

/*
 * Shows the number of rows that were read, if reading takes over a second. Call ts_source_unwatch()
 * before any other output; it wipes the line.
 */
void ts_source_watch(struct ts_source *source);
void ts_source_unwatch(struct ts_source *source);
/*
 * Like ts_source_watch(), for any reader. Several readers may share a progress line. If `progress`
 * is NULL, the reader reports no more progress. The caller wipes the line.
 */
void ts_source_watch_reader(struct ts_sbt_reader *reader, struct ts_progress *progress);

/*
 * Returns the number of selected sessions that have only the host's calls
 * (TS_SESSION_SOURCE_PROBES).
 */
uint32_t ts_source_n_halves(const struct ts_source *source);
/* Prints that number on stdout, unless it is 0. */
void ts_source_print_halves(uint32_t n);

/*
 * Joins the earlier files of a recording to the reader of its newest file. Without earlier files it
 * does nothing. Returns the errors of ts_sbt_reader_join(), or -ENOMEM.
 */
int ts_source_join(struct ts_sbt_reader *reader, const char *path);

/*
 * Deletes the earlier files of the recording whose newest file is `path`, oldest first, and keeps
 * `path`. A file of another recording stays. Returns 0, or the -errno of the file that could not be
 * deleted.
 */
int ts_source_unlink_before(const char *path);

/*
 * Opens a regular file with these open() flags. Returns the descriptor, or -1 after an error
 * message.
 */
int ts_source_open_file(const char *path, int flags);
/*
 * Like ts_source_open_file(). Also opens the earlier files of the recording, newest first. Returns
 * 0 and *ret_n descriptors, or -1 after an error message.
 */
int ts_source_open_files(const char *path, int *ret_fds, unsigned most, unsigned *ret_n);
/* Prints an error about a trace; `r` is a negative errno or TS_SBT_E_*. */
void ts_source_complain(const char *path, int r, const struct ts_sbt_error *error);

/*
 * Finds the daemon of a session, and the session's number there. `number` is the pid of a process
 * of any daemon, or a session number of the service. If there is neither, returns the service with
 * *ret_session 0, or NULL if there is no service.
 */
const struct ts_live_daemon *ts_source_find_session(const struct ts_live *live, uint32_t number,
						    uint32_t *ret_session);
/* Prints that there is no such process, and no other daemon to ask. */
void ts_source_complain_nobody(uint32_t number);
