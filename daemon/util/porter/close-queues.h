/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes descriptors that strangers passed. The porter's process calls it, never the daemon: close() of a stranger's descriptor
 * can last as long as the stranger likes (a TCP socket that lingers, a file of a FUSE file system), and a thread that waits for a
 * FUSE server ignores SIGKILL. Each queue has one thread while it holds descriptors; a queue's number is the caller's.
 *
 * Worst case: TS_CLOSE_MAX_THREADS queues wait in close(). Then descriptors of further queues stay open until one of these
 * closes returns. Queues below TS_CLOSE_FIRST_SHARED always get a thread.
 *
 * ts_close_queues_add() is thread-safe. The queues have no end: they live as long as their process.
 */
#pragma once

#include <stdint.h>

struct ts_close_queues;

#define TS_CLOSE_MAX_THREADS  256u
#define TS_CLOSE_FIRST_SHARED 2u

int ts_close_queues_new(struct ts_close_queues **ret_queues); /* 0 or -ENOMEM */

/* Takes the descriptor over, -1 included. Never blocks. */
void ts_close_queues_add(struct ts_close_queues *queues, uint64_t queue, int fd);

/* The number of descriptors that are not closed yet: of one queue, and of all. */
unsigned ts_close_queues_waiting(struct ts_close_queues *queues, uint64_t queue);
unsigned ts_close_queues_waiting_all(struct ts_close_queues *queues);
