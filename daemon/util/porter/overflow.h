/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that close descriptors for the porter. The porter has one table of descriptors for all users, and close() of a stranger's
 * descriptor may never return. The porter keeps a bounded number of such closes for each user, and passes the others to a helper
 * process. A helper whose own table is full serves no further descriptor, and the next helper begins. A full helper lives until its
 * closes return.
 *
 * A helper must not start with copies of strangers' descriptors, because the copies would be closed at its end. A process that never
 * has any, the nursery, therefore forks each helper.
 *
 * Belongs to one thread. Both calls wait for nothing but fork(): less than a millisecond.
 */
#pragma once

#include <stdint.h>

struct ts_overflow;

/*
 * Forks the nursery. Call it while the process has one thread and no stranger's descriptor. The nursery and the helpers keep no descriptor
 * of the caller but the standard ones. They end after the caller's end, when their closes have returned. 0 or a negative errno.
 */
int ts_overflow_new(struct ts_overflow **ret_overflow);

/*
 * Passes a descriptor to a helper, which closes it in the given queue (close-queues.h). 0: the caller's descriptor is closed, without
 * waiting. A negative errno: no helper takes it now, and the descriptor is still the caller's.
 */
int ts_overflow_close(struct ts_overflow *overflow, uint64_t queue, int fd);
