/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a reader of traces, for callers inside this project: how many may work, how one is
 * started, and how it reads definitions.
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
