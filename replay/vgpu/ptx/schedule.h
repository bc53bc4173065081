/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scheduler chooses the order of a running kernel: of resident blocks, of their warps, and of
 * lanes whose atomics use one address. A GPU may take every order that results. Resident blocks and
 * warps make progress, and barriers hold. Blocks become resident in ascending order unless
 * unordered_blocks is set.
 *
 * A launch runs one instruction of one warp at a time. Other values that weakly ordered accesses
 * may see are not explored.
 *
 * An engine with a scheduler has one thread, so equal choices give equal runs, except for clock
 * values.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ts_ptx_choice_kind {
	TS_PTX_CHOICE_BLOCKS, /* order in which the launch's blocks become resident */
	TS_PTX_CHOICE_TURN,   /* warp that runs next, and its number of instructions */
	TS_PTX_CHOICE_LANES,  /* lane that is first among atomics on one address */
};

/* A choice that was applied. */
struct ts_ptx_choice {
	enum ts_ptx_choice_kind kind;
	const char *kernel; /* valid during the call */
	uint64_t block;	    /* TURN, LANES: the warp's block; BLOCKS: the first block */
	uint32_t warp;	    /* TURN, LANES: index in the block */
	uint32_t line;	    /* TURN, LANES: line of the PTX text where the warp continues */
	uint32_t lane;	    /* LANES: the first lane */
	uint32_t n_insns;   /* TURN: maximum number of instructions */
	/* The default that the choice replaced. */
	uint64_t instead_block;
	uint32_t instead_warp, instead_lane;
	uint32_t instead_line;
};

struct ts_ptx_scheduler {
	void *userdata;
	bool unordered_blocks; /* choose() is also called for TS_PTX_CHOICE_BLOCKS */
	/*
	 * Returns 0 for the default order. Any other number is a choice; the same number at the
	 * same place is the same choice.
	 */
	uint64_t (*choose)(void *userdata, enum ts_ptx_choice_kind kind);
	/* Reports the result of a non-zero choice. */
	void (*chosen)(void *userdata, const struct ts_ptx_choice *choice);
};

struct ts_ptx_engine;
/*
 * Sets the scheduler of all later kernels of the engine; NULL: no scheduler. The caller owns the
 * scheduler. -EINVAL: the engine has more than one thread.
 */
int ts_ptx_engine_schedule(struct ts_ptx_engine *engine, const struct ts_ptx_scheduler *scheduler);

#ifdef __cplusplus
}
#endif
