/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of our own: a `tracesmithd --record` in a session of its own, out of reach of the
 * terminal's signals, a private directory with the socket that shims find, and the connection over which it is
 * told to finish. When tsctl dies the connection closes, and the daemon finishes the file by itself.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ts_recorder;

/* Makes the directory; nothing runs yet. Returns 0 or a negative errno. */
int ts_recorder_new(struct ts_recorder **ret_recorder);
/* Lets the daemon finish if it runs, waits for it, removes the directory. */
void ts_recorder_free(struct ts_recorder *recorder);
void ts_recorder_freep(struct ts_recorder **recorder);

/* For TRACESMITH_SOCKET. Borrowed. */
const char *ts_recorder_socket(const struct ts_recorder *recorder);

struct ts_recorder_options {
	const char *daemon;	/* path of tracesmithd */
	const char *output;	/* absolute path of the trace; must not exist */
	const char *command;	/* for the trace's metadata: the command line, and */
	const char *empty_hint; /* what to say where nothing was recorded (why.h) */
	bool stacks;
	bool symbols; /* stacks get names before it ends */
	bool lossless;
	bool start_later;
	uint64_t quantum_ns; /* of the host's times; 0: as they are */
	/* 0: not so; ages in ms. */
	uint64_t rotate_size, rotate_age, keep, keep_last_size, keep_last_age;
	const char *dump_on_mark;  /* NULL: none */
	const char *kernel_events; /* the daemon's list; NULL: none */
	bool system;		   /* calls of all other processes, seen from outside */
};

/*
 * Starts the daemon and returns once it listens. On failure a negative errno; ts_recorder_error() then
 * says in one line what the daemon said.
 */
int ts_recorder_start(struct ts_recorder *recorder, const struct ts_recorder_options *options);

/* Of the kernel events that were wanted, which are missing and why; NULL: none. Lives as long as the recorder. */
const char *ts_recorder_kernel_missing(const struct ts_recorder *recorder);

/* Why calls of other processes are not seen, where they were wanted; NULL: they are. Lives as long as the recorder. */
const char *ts_recorder_system_missing(const struct ts_recorder *recorder);

/* Asks for what there is so far to be kept as another file. 0 or -errno. */
int ts_recorder_dump(const struct ts_recorder *recorder);

/* Readable when the daemon went away. -1 once it has. */
int ts_recorder_fd(const struct ts_recorder *recorder);

/*
 * Ends the recording and takes the summary. `pid` and `end` go into the trace: the command, and how it ended
 * (NULL: as commands do, or it runs on). The summary is freed with ts__rpc__answer__free_unpacked(). On failure
 * (the daemon died: -ECONNRESET) a negative errno and ts_recorder_error().
 */
int ts_recorder_finish(struct ts_recorder *recorder, pid_t pid, const char *end,
		       Ts__Rpc__Answer **ret_answer);

/* What went wrong with the daemon, in one line. Never NULL. */
const char *ts_recorder_error(struct ts_recorder *recorder);
