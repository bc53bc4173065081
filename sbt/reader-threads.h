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
 * Returns the number of threads that may work for this process at the same time: the number of
 * processors that it may use, at most TS_SBT_MAX_THREADS. The environment variable
 * TRACESMITH_THREADS sets another number in these bounds. 1: no thread may be started.
 */
unsigned ts_sbt_max_threads(void);

/*
 * Makes a reader of the same blocks for the cursors of one other thread. It shares the descriptors,
 * and has its own errors. The caller keeps the reader, and does not refresh or join it, until all
 * twins are freed. Returns 0 or -ENOMEM.
 */
int ts_sbt_reader_twin(const struct ts_sbt_reader *reader, struct ts_sbt_reader **ret_twin);
void ts_sbt_reader_twin_free(struct ts_sbt_reader *twin); /* NULL is fine */

/* Reports rows that twins read: calls the function of ts_sbt_reader_watch(). */
void ts_sbt_reader_report(const struct ts_sbt_reader *reader, uint64_t n_rows);
/* True if the reader's work is cancelled (ts_sbt_reader_cancel()). */
bool ts_sbt_reader_is_cancelled(const struct ts_sbt_reader *reader);

/* Starts a thread without signals. Returns 0 or a negative errno. */
int ts_sbt_thread_start(pthread_t *ret_thread, void *(*run)(void *data), void *data);

/*
 * Makes a reader for another thread, which may ask it for definitions only, while the caller goes
 * on with `reader` and neither refreshes, joins nor frees it. It knows sessions, threads, devices
 * and names, and the strings that were requested from `reader` before the thread was told their
 * ids; it has no other string and no stack. Returns 0 or -ENOMEM.
 */
int ts_sbt_reader_share(const struct ts_sbt_reader *reader, struct ts_sbt_reader **ret_shared);
/* Accepts NULL. Strings stay valid: they belong to the reader that was shared. */
void ts_sbt_reader_unshare(struct ts_sbt_reader *shared);
