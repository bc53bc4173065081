/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a session: its beginning, its end, and what comes between. Called by what the application reaches by itself:
 * functions that stand before others' (process/, cuda/yield.c) and annotations.
 */
#pragma once

#include <stdbool.h>

/*
 * Begins this process's session where it has none: waits until there is one, with a bound. Returns whether there is. A forked
 * child gets one of its own. Calls nothing of the dynamic loader.
 */
bool ts_shim_begin(void);

/*
 * The application's own profiler is about to take CUPTI: everything is flushed and CUPTI is given up before this
 * returns; bounded in time. Does nothing where CUPTI is not ours.
 */
void ts_shim_yield(void);

/*
 * The process is about to replace itself by exec: everything is flushed. Where that fails, ts_shim_stay() follows. Both
 * may be called from anywhere, and do nothing in a child of fork() or vfork(); the first is bounded in time.
 */
void ts_shim_leave(void);
void ts_shim_stay(void);

/*
 * The process is about to end. May be called from anywhere: inside a callback, in a signal handler,
 * while other threads hold our locks; twice; in a forked child, where it does nothing. Bounded in time.
 * `last`: nothing runs after this.
 */
void ts_shim_end(bool last);
