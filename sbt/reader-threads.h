/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a reader of traces, for callers inside this project: how many may work, how one is
 * started, and readers for them.
 */
#pragma once

#include <pthread.h>

#include "sbt/reader.h"

#define TS_SBT_MAX_THREADS 16u

/*
 * Threads are started for so many rows or bytes of a file: below, they cost more than they save. A
 * sanitizer makes each row ten times slower, and looks for races in threads. So its builds start
 * threads for an eighth of the rows, and their tests of threads read short traces.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TS_SBT_THREADS_SHARE 8u
#else
#define TS_SBT_THREADS_SHARE 1u
#endif
#define TS_SBT_THREADS_ROWS  (256u * 1024 / TS_SBT_THREADS_SHARE)
#define TS_SBT_THREADS_BYTES (2u * 1024 * 1024 / TS_SBT_THREADS_SHARE)

/*
 * Returns the number of threads that may work for this process at the same time: the number of
 * processors that it may use, at most TS_SBT_MAX_THREADS. The environment variable
 * TRACESMITH_THREADS sets another number in these bounds. 1: no thread may be started.
 */
unsigned ts_sbt_max_threads(void);

/* Returns the number of threads that may work for this reader and its caller. */
unsigned ts_sbt_reader_max_threads(const struct ts_sbt_reader *reader);

/* Sets the number of threads that may work for this reader. 0: as many as are permitted. */
void ts_sbt_reader_limit_threads(struct ts_sbt_reader *reader, unsigned n_threads);

/*
 * Lends the reader to another thread of the caller, with n_threads for its work. In between, the
 * callback of ts_sbt_reader_watch() is not called; ts_sbt_reader_lend_end() calls it for the rows
 * that were read.
 */
void ts_sbt_reader_lend(struct ts_sbt_reader *reader, unsigned n_threads);
void ts_sbt_reader_lend_end(struct ts_sbt_reader *reader);

/*
 * Makes a reader of the same blocks for one other thread. It shares the descriptors, and has its
 * own errors; its cursors start no threads. It knows sessions, threads, devices and names, and the
 * strings that `reader` returned before the other thread asks for them; it has no other string and
 * no stack. The caller neither refreshes, joins nor frees `reader` until all twins are freed.
 * Strings stay valid: they belong to `reader`. Returns 0 or -ENOMEM.
 */
int ts_sbt_reader_twin(const struct ts_sbt_reader *reader, struct ts_sbt_reader **ret_twin);
void ts_sbt_reader_twin_free(struct ts_sbt_reader *twin); /* NULL is fine */

/* Reports rows that twins read: calls the function of ts_sbt_reader_watch(). */
void ts_sbt_reader_report(const struct ts_sbt_reader *reader, uint64_t n_rows);
/*
 * Calls rest() before each block that is read from now on, in the thread that reads it: a twin's or
 * one that reads ahead, also. It may sleep, so that more urgent work comes first. NULL ends the
 * calls.
 */
void ts_sbt_reader_rest(struct ts_sbt_reader *reader, void (*rest)(void *data), void *data);
/* True if the reader's work is cancelled (ts_sbt_reader_cancel()). */
bool ts_sbt_reader_is_cancelled(const struct ts_sbt_reader *reader);

/* Starts a thread without signals. Returns 0 or a negative errno. */
int ts_sbt_thread_start(pthread_t *ret_thread, void *(*run)(void *data), void *data);
