/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon of one recording: a `tracesmithd --record` in a session of its own, so that the
 * terminal's signals do not reach it. It has a private directory with the socket for the shims, and
 * a connection to tsctl for the request to finish. If tsctl dies, the connection closes, and the
 * daemon finishes the file.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ts_recorder;

/* Creates the directory and starts nothing. Returns 0 or a negative errno. */
int ts_recorder_new(struct ts_recorder **ret_recorder);
/* If the daemon runs, lets it finish and waits for it; removes the directory. */
void ts_recorder_free(struct ts_recorder *recorder);
void ts_recorder_freep(struct ts_recorder **recorder);

/* Returns the value for TRACESMITH_SOCKET. Valid as long as the recorder. */
const char *ts_recorder_socket(const struct ts_recorder *recorder);

struct ts_recorder_options {
	const char *daemon;	/* path of tracesmithd */
	const char *output;	/* absolute path of the trace; must not exist */
	const char *command;	/* command line, for the metadata */
	const char *empty_hint; /* why the trace may be empty (why.h); stored in the metadata */
	bool stacks;
	bool symbols; /* find names for stacks at the end */
	bool lossless;
	bool start_later;
	uint64_t quantum_ns; /* rounds host times; 0: no rounding */
	/* 0: off; ages in ms. */
	uint64_t rotate_size, rotate_age, keep, keep_last_size, keep_last_age;
	const char *dump_on_mark;  /* NULL: none */
	const char *kernel_events; /* list in the daemon's syntax; NULL: none */
	bool system;		   /* also observe calls of other processes */
};

/*
 * Starts the daemon and returns when it listens. Returns 0 or a negative errno; then
 * ts_recorder_error() has the daemon's message.
 */
int ts_recorder_start(struct ts_recorder *recorder, const struct ts_recorder_options *options);

/*
 * Returns the requested kernel events that are missing, with reasons; NULL: none is missing. Valid
 * as long as the recorder.
 */
const char *ts_recorder_kernel_missing(const struct ts_recorder *recorder);

/*
 * Returns the reason why calls of other processes cannot be observed; NULL: they can be observed.
 * Valid as long as the recorder.
 */
const char *ts_recorder_system_missing(const struct ts_recorder *recorder);

/* Asks the daemon to save the recording so far as another file. Returns 0 or -errno. */
int ts_recorder_dump(const struct ts_recorder *recorder);

/*
 * Returns the descriptor of the connection to the daemon. It becomes readable if the daemon dies.
 * -1: the recorder has no connection, or has closed it.
 */
int ts_recorder_fd(const struct ts_recorder *recorder);

/*
 * Ends the recording and returns the summary. `pid` and `end` describe the command and its end in
 * the trace (`end` NULL: a normal end, or still running). Free the summary with
 * ts__rpc__answer__free_unpacked(). On failure (-ECONNRESET: the daemon died) returns a negative
 * errno; see ts_recorder_error().
 */
int ts_recorder_finish(struct ts_recorder *recorder, pid_t pid, const char *end,
		       Ts__Rpc__Answer **ret_answer);

/* Returns the daemon's error in one line. Never NULL. */
const char *ts_recorder_error(struct ts_recorder *recorder);
