/* SPDX-License-Identifier: Apache-2.0 */
/* The engine itself, and what it does with blocks: for engine.c, and for schedule.c, which chooses among them otherwise. */
#pragma once

#include <pthread.h>

#include "replay/vgpu/ptx/run/ptx-exec.h"

struct ts_ptx_engine {
	struct ts_ptx_host host;
	uint32_t n_threads, n_started;
	struct ts_ptx_worker *workers;
	pthread_t *threads;
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	pthread_mutex_t print_lock;
	/* Under the lock. */
	bool open, quitting;
	uint64_t generation;
	uint32_t n_inside;
	const struct ts_ptx_observer *observer;
	const struct ts_ptx_debugger *debugger;
	const struct ts_ptx_scheduler *scheduler; /* NULL: nobody chooses */
	/* The run's own. */
	const struct ts_ptx_launch *launch;
	uint64_t n_blocks;
	uint64_t block_first, block_step; /* their order; 0: ascending */
	uint32_t max_resident;
	uint32_t local_stride, shared_bytes, dynamic_offset;
	_Atomic uint64_t next_block;
	_Atomic uint32_t n_resident;
	_Atomic uint64_t n_insns;
	_Atomic bool stop;
};

/* blocks.c */
void ts_ptx_block_free(struct ts_ptx_block *block);
/* Makes the next block resident here, behind *end, if there is one and room for it. */
bool ts_ptx_take_block(struct ts_ptx_worker *worker, struct ts_ptx_block ***end);
void ts_ptx_block_end(struct ts_ptx_worker *worker, struct ts_ptx_block *block);
/* Of a block with threads left, none of which can run: faults. */
void ts_ptx_deadlock(struct ts_ptx_block *block);
/* Adds to the worker's figures what some of its warps did. */
void ts_ptx_collect(struct ts_ptx_worker *worker, struct ts_ptx_warp *warps, uint32_t n);
/* Charges what was executed, and stops the run when a limit is passed. */
void ts_ptx_charge(struct ts_ptx_worker *worker, bool spins);
/* Counts this thread as one that only watches, or as active. */
void ts_ptx_set_only_watches(struct ts_ptx_worker *worker, bool only_watches);
/* Which of all blocks becomes resident as the `n`th. */
uint64_t ts_ptx_block_at(struct ts_ptx_engine *engine, uint64_t n);

/* schedule.c: runs the launch's blocks as the engine's scheduler chooses. */
void ts_ptx_work_scheduled(struct ts_ptx_worker *worker);
