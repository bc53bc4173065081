/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a reader of traces, for callers inside this project: how many may work, and how one is
 * started.
 */
#pragma once

#include <pthread.h>

#define TS_SBT_MAX_THREADS 16u

/*
 * Returns the number of threads that may work for this process at the same time: the number of
 * processors that it may use, at most TS_SBT_MAX_THREADS. The environment variable
 * TRACESMITH_THREADS sets another number in these bounds. 1: no thread may be started.
 */
unsigned ts_sbt_max_threads(void);

struct ts_sbt_reader;

/* Returns the number of threads that may work for this reader and its caller. */
unsigned ts_sbt_reader_max_threads(const struct ts_sbt_reader *reader);

/*
 * Lends the reader to another thread of the caller, with n_threads for its work. In between, the
 * callback of ts_sbt_reader_watch() is not called; ts_sbt_reader_lend_end() calls it for the rows
 * that were read.
 */
void ts_sbt_reader_lend(struct ts_sbt_reader *reader, unsigned n_threads);
void ts_sbt_reader_lend_end(struct ts_sbt_reader *reader);

/* Starts a thread without signals. Returns 0 or a negative errno. */
int ts_sbt_thread_start(pthread_t *ret_thread, void *(*run)(void *data), void *data);
