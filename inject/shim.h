/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a session: begin, yield, exec, end. Called from annotations, and from functions that
 * replace those of libc and libcupti (process/, cuda/yield.c).
 */
#pragma once

#include <stdbool.h>

/*
 * Begins the process's session if it has none, and waits for it, with a bound. Returns true if the
 * session takes annotations. A forked child gets a session of its own. Makes no call to the dynamic
 * loader.
 */
bool ts_shim_begin(void);

/*
 * Starts the parts that the calls of every vendor need, once in a session: the stack walker and the
 * flush thread. The session must exist. Returns false if memory is short or the thread cannot
 * start.
 */
struct ts_shim;
bool ts_shim_run(struct ts_shim *shim);

/*
 * Joins CUPTI to the process's session, or the like library of another vendor (NULL: CUPTI). Begins
 * the session if there is none. A second call waits for the first, with a bound, and does nothing.
 */
struct ts_pti_vendor;
void ts_shim_start_gpu(const struct ts_pti_vendor *vendor);

/*
 * Called before the application's own profiler takes CUPTI. Flushes everything and gives CUPTI up
 * before it returns; bounded in time. Does nothing if the shim does not hold CUPTI.
 */
void ts_shim_yield(void);

/*
 * Called around exec. ts_shim_leave() flushes all records before exec, within a limited time.
 * ts_shim_stay() is called after exec has failed. Both functions may be called on any thread at any
 * time. They do nothing in a child of fork() or vfork().
 */
void ts_shim_leave(void);
void ts_shim_stay(void);

/*
 * Called before the process ends; bounded in time. May be called inside a callback, in a signal
 * handler, while other threads hold the shim's locks, and more than once. Does nothing in a forked
 * child. `last`: no code of the program runs after this call.
 */
void ts_shim_end(bool last);
