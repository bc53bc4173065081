/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of clocks. A thread's set lists the accesses of other threads that happened before the
 * thread's next access. An entry of the set is an owner (a thread, a warp or a block) and a clock:
 * all accesses of the owner up to this clock happened before. A set is immutable. Threads with
 * equal sets share one: for example, all threads of a block after a barrier.
 *
 * NULL is the empty set. If a set exceeds a limit, or memory is short, it becomes the full set: all
 * accesses of all threads happened before. Then races may be missed, but none is reported wrongly.
 * Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owner of a clock. Threads, warps and blocks of a launch have separate numbers. */
enum ts_check_level {
	TS_CHECK_THREAD,
	TS_CHECK_WARP,
	TS_CHECK_BLOCK,
};

struct ts_check_clocks;

struct ts_check_clocks *ts_check_clocks_ref(struct ts_check_clocks *clocks);
void ts_check_clocks_unref(struct ts_check_clocks *clocks);
/*
 * True if everything that `thread` did up to `clock` happened before, according to the set.
 * block_threads is the count of thread numbers per block, a multiple of 32.
 */
bool ts_check_clocks_know(const struct ts_check_clocks *clocks, uint32_t thread, uint32_t clock,
			  uint32_t block_threads);
/* Adds the entries of `other` to *clocks. */
void ts_check_clocks_join(struct ts_check_clocks **clocks, struct ts_check_clocks *other);
/* Adds one entry to *clocks, and drops entries that the new one covers. */
void ts_check_clocks_learn(struct ts_check_clocks **clocks, enum ts_check_level level,
			   uint32_t number, uint32_t clock, uint32_t block_threads);

#ifdef __cplusplus
}
#endif
