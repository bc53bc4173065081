/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes strangers' descriptors. Only the porter's processes call it, never the daemon: close() of
 * a stranger's descriptor can take any time. Examples are a lingering TCP socket and a file of a
 * FUSE file system. A thread that waits for a FUSE server ignores SIGKILL. Each queue has one
 * thread while it holds descriptors. The caller chooses the queue's number.
 *
 * Worst case: TS_CLOSE_MAX_THREADS queues wait in close(). Then descriptors of further queues stay
 * open until one of these closes returns. Queues below TS_CLOSE_FIRST_SHARED always get a thread.
 *
 * ts_close_queues_add() is thread-safe. The queues live as long as their process.
 */
#pragma once

#include <stdint.h>

struct ts_close_queues;

#define TS_CLOSE_MAX_THREADS  256u
#define TS_CLOSE_FIRST_SHARED 2u

int ts_close_queues_new(struct ts_close_queues **ret_queues); /* 0 or -ENOMEM */

/* Adds a descriptor to a queue and takes ownership of it; -1 is accepted. Never blocks. */
void ts_close_queues_add(struct ts_close_queues *queues, uint64_t queue, int fd);

/*
 * Return the number of descriptors that are not yet closed: in one user's queue, and in all queues.
 */
unsigned ts_close_queues_waiting(struct ts_close_queues *queues, uint64_t queue);
unsigned ts_close_queues_waiting_all(struct ts_close_queues *queues);
