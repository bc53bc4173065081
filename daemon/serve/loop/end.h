/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the time that the daemon takes to end after a signal. A separate thread waits for the
 * signal, so the limit holds even if the main loop is stuck. The thread wakes the main loop, which
 * ends sessions and files in order. If the process still exists after TS_END_MS, the thread ends
 * it.
 */
#pragma once

#include <signal.h>
#include <stdint.h>

struct ts_end;

/* maximum time from the signal to the end of the process, even if a thread is stuck */
#define TS_END_MS 4500u

/*
 * Starts the thread. Blocks the signals in the calling thread; later threads inherit this.
 * `wake_fd`: an eventfd, written at the first signal. `give_up` runs in the new thread TS_END_MS
 * after the signal, and does not return. Returns 0 or a negative errno.
 */
int ts_end_new(const sigset_t *signals, int wake_fd, void (*give_up)(void *data), void *data,
	       struct ts_end **ret_end);
/* Stops the thread, when the process ends in time. NULL is accepted. */
void ts_end_free(struct ts_end *end);

/* Returns the number of the signal; 0: no signal yet. */
int ts_end_signal(const struct ts_end *end);

/*
 * Returns a pointer to the time of the signal (CLOCK_MONOTONIC; 0: no signal yet). The end thread
 * writes the time, so readers use an atomic load.
 */
const uint64_t *ts_end_signal_ns(const struct ts_end *end);
