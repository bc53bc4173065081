/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound of the daemon's end by a signal. A thread of its own waits for the signal, so that the bound holds whatever the main
 * loop does at that moment. The thread wakes the main loop, which ends sessions and files in order. If the process is still there
 * after TS_END_MS, the thread ends it.
 */
#pragma once

#include <signal.h>
#include <stdint.h>

struct ts_end;

#define TS_END_MS 4500u /* from the signal to the end of the process, whatever is stuck */

/*
 * Blocks the signals in the calling thread, which every later thread inherits. `wake_fd`: an eventfd that is written when the first
 * signal comes. `give_up` is called in the thread when the time is over, and does not return. 0 or a negative errno.
 */
int ts_end_new(const sigset_t *signals, int wake_fd, void (*give_up)(void *data), void *data,
	       struct ts_end **ret_end);
/* The process ends in time. NULL is fine. */
void ts_end_free(struct ts_end *end);

/* When the signal came, by CLOCK_MONOTONIC; 0: it did not. Another thread writes it: to be read atomically. */
const uint64_t *ts_end_signal_ns(const struct ts_end *end);
