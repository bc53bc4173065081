/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing who goes next while a kernel runs: of resident blocks, of warps within them, of lanes whose atomics meet. Every
 * order that comes of it is one that a GPU may take: resident blocks and warps make progress, barriers hold, and blocks become
 * resident in ascending order, unless asked otherwise. A launch runs one instruction of one warp after the other: which values
 * weakly ordered accesses may see besides is not explored.
 *
 * An engine with a scheduler has one thread, so that the same choices make the same run (but for clocks).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ts_ptx_choice_kind {
	TS_PTX_CHOICE_BLOCKS, /* the order in which a launch's blocks become resident */
	TS_PTX_CHOICE_TURN,   /* which warp goes next, and for how long */
	TS_PTX_CHOICE_LANES,  /* which lane's atomic is first, of some on one address */
};

/* What was chosen. */
struct ts_ptx_choice {
	enum ts_ptx_choice_kind kind;
	const char *kernel; /* valid during the call */
	uint64_t block;	    /* TURN, LANES; BLOCKS: the first one */
	uint32_t warp;	    /* TURN, LANES: in the block */
	uint32_t line;	    /* TURN, LANES: of the PTX text, where it goes on */
	uint32_t lane;	    /* LANES: the first one, in the warp */
	uint32_t n_insns;   /* TURN: for at most so many instructions */
	/* Who would have had the turn. */
	uint64_t instead_block;
	uint32_t instead_warp, instead_lane;
	uint32_t instead_line;
};

struct ts_ptx_scheduler {
	void *userdata;
	bool unordered_blocks; /* TS_PTX_CHOICE_BLOCKS is asked for, too */
	/* 0: as it is by default. Any other number is a choice; the same number in the same place is the same choice. */
	uint64_t (*choose)(void *userdata, enum ts_ptx_choice_kind kind);
	/* What came of an answer that was not 0. */
	void (*chosen)(void *userdata, const struct ts_ptx_choice *choice);
};

struct ts_ptx_engine;
/* For all kernels that it runs from now on; NULL: none. The scheduler stays the caller's. -EINVAL: it has more than one thread. */
int ts_ptx_engine_schedule(struct ts_ptx_engine *engine, const struct ts_ptx_scheduler *scheduler);

#ifdef __cplusplus
}
#endif
