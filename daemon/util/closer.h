/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes descriptors that strangers passed. The porter's process calls it, never the daemon: close() of a stranger's descriptor
 * can last as long as the stranger likes (a TCP socket that lingers, a file of a FUSE file system), and a thread that waits for a
 * FUSE server ignores SIGKILL. Each queue has one thread while it holds descriptors; a queue's number is the caller's.
 *
 * Worst case: TS_CLOSER_MAX_THREADS queues wait in close(). Then descriptors of further queues stay open until one of these
 * closes returns. Queues below TS_CLOSER_FIRST_SHARED always get a thread.
 *
 * ts_closer_close() is thread-safe. A closer has no end: it lives as long as its process.
 */
#pragma once

#include <stdint.h>

struct ts_closer;

#define TS_CLOSER_MAX_THREADS  256u
#define TS_CLOSER_FIRST_SHARED 2u

int ts_closer_new(struct ts_closer **ret_closer); /* 0 or -ENOMEM */

/* Takes the descriptor over, -1 included. Never blocks. */
void ts_closer_close(struct ts_closer *closer, uint64_t queue, int fd);

/* The number of descriptors that are not closed yet: of one queue, and of all. */
unsigned ts_closer_waiting(struct ts_closer *closer, uint64_t queue);
unsigned ts_closer_waiting_all(struct ts_closer *closer);
