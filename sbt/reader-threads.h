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

/* Starts a thread without signals. Returns 0 or a negative errno. */
int ts_sbt_thread_start(pthread_t *ret_thread, void *(*run)(void *data), void *data);
