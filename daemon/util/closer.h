/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes strangers' descriptors. close() of what a stranger passed, or of a socket in which he left
 * descriptors unread, can take as long as he likes (a TCP socket that lingers, a file of a FUSE file
 * system): it never happens in the main thread. Each uid that has something to close gets one
 * thread for as long as it does, so that nobody waits behind another's.
 *
 * Made and freed by the main thread; ts_closer_close() is thread-safe.
 */
#pragma once

#include <sys/types.h>

struct ts_closer;

/* Of one uid, waiting: then it is heard no further. Of all: then nobody new is accepted. */
#define TS_CLOSER_MAX_USER 256u
#define TS_CLOSER_MAX	   4096u

int ts_closer_new(struct ts_closer **ret_closer); /* 0 or -ENOMEM */
/*
 * Waits a moment for what is still to be closed; what cannot be is left to the process's end, which
 * does not linger. NULL is fine.
 */
void ts_closer_free(struct ts_closer *closer);

/* Takes the descriptor over, -1 included. Never blocks. */
void ts_closer_close(struct ts_closer *closer, uid_t uid, int fd);

/* How many wait, of one uid and of all. */
unsigned ts_closer_waiting(struct ts_closer *closer, uid_t uid, unsigned *ret_n_all);
