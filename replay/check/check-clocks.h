/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread knows of others: of a thread, a warp or a block up to which of its clocks everything it did came before. A set never
 * changes once made and is shared by all who know the same, which after a barrier is a whole block.
 *
 * NULL knows of nobody. Where one grows past a bound, or memory is short, it becomes the set that knows everything: then less is
 * found, and nothing is found wrongly. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whose clock: threads, warps and blocks of a launch have numbers of their own. */
enum ts_check_level {
	TS_CHECK_THREAD,
	TS_CHECK_WARP,
	TS_CHECK_BLOCK,
};

struct ts_check_clocks;

struct ts_check_clocks *ts_check_clocks_ref(struct ts_check_clocks *clocks);
void ts_check_clocks_unref(struct ts_check_clocks *clocks);
/* Whether all that `thread` did up to its clock is known; block_threads: numbers that a block takes, a multiple of 32. */
bool ts_check_clocks_know(const struct ts_check_clocks *clocks, uint32_t thread, uint32_t clock,
			  uint32_t block_threads);
/* *clocks becomes what either knows. */
void ts_check_clocks_join(struct ts_check_clocks **clocks, struct ts_check_clocks *other);
/* *clocks learns of one more. What is known of parts of a block that becomes known goes. */
void ts_check_clocks_learn(struct ts_check_clocks **clocks, enum ts_check_level level,
			   uint32_t number, uint32_t clock, uint32_t block_threads);

#ifdef __cplusplus
}
#endif
