/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helper processes that close descriptors for the porter. The porter's table of descriptors serves
 * all users, and close() of a stranger's descriptor may never return. So the porter keeps a bounded
 * number of such closes per user and passes the others to a helper. When a helper's own table is
 * full, it accepts no more descriptors, and the next helper starts. A full helper lives until its
 * closes return.
 *
 * A helper must not inherit strangers' descriptors, because its exit would close these copies. So
 * the nursery, a process that never has any, forks each helper.
 *
 * Not thread-safe. Each function waits only for fork(), less than a millisecond.
 */
#pragma once

#include <stdint.h>

struct ts_overflow;

/*
 * Forks the nursery. Call it while the process has one thread and no stranger's descriptor. Nursery
 * and helpers keep only the caller's standard descriptors. They end after the caller, once their
 * closes have returned. Returns 0 or a negative errno.
 */
int ts_overflow_new(struct ts_overflow **ret_overflow);

/*
 * Passes a descriptor to a helper, which closes it in the given queue (close-queues.h). 0: the
 * caller's descriptor is closed, without a wait. A negative errno: no helper accepts it now, and
 * the caller still owns the descriptor.
 */
int ts_overflow_close(struct ts_overflow *overflow, uint64_t queue, int fd);
