/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline's requests work first. Threads that read the whole trace, also for a question, rest
 * while a browser starts, and while a page loads, asks or draws, because they share the processors.
 * All functions may be called by any thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

/* Zero is ready to use. */
struct ts_studio_pace {
	atomic_uint n_requests;
	atomic_ulong busy_until_ns; /* of CLOCK_MONOTONIC */
};

/* The server's address is known, so a browser may start. */
void ts_studio_pace_start(struct ts_studio_pace *pace);
/* A browser loads a file of the page. */
void ts_studio_pace_load(struct ts_studio_pace *pace);
/* A request of the timeline begins, and ends. */
void ts_studio_pace_begin(struct ts_studio_pace *pace);
void ts_studio_pace_end(struct ts_studio_pace *pace);

/*
 * Waits until the pages rest or is_over() returns true. The wait is bounded: the caller works on,
 * slowly, while a page asks without a pause.
 */
void ts_studio_pace_rest(struct ts_studio_pace *pace, bool (*is_over)(void *data), void *data);
