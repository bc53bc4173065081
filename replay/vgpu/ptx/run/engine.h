/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine and its functions for blocks. engine.c runs blocks in order, schedule.c in a chosen
 * order.
 */
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
	/* The lock protects `open`, `quitting`, `generation` and `n_inside`. */
	bool open, quitting;
	uint64_t generation;
	uint32_t n_inside;
	const struct ts_ptx_observer *observer;
	const struct ts_ptx_debugger *debugger;
	const struct ts_ptx_scheduler *scheduler; /* NULL: none */
	/* State of the current run. */
	const struct ts_ptx_launch *launch;
	uint64_t n_blocks;
	uint64_t block_first, block_step; /* block order; step 0: ascending */
	uint32_t max_resident;
	uint32_t local_stride, shared_bytes, dynamic_offset;
	_Atomic uint64_t next_block;
	_Atomic uint32_t n_resident;
	_Atomic uint64_t n_insns;
	_Atomic bool stop;
};

/* blocks.c */
void ts_ptx_block_free(struct ts_ptx_block *block);
/*
 * Makes the next block resident in the worker, and puts it at *end. Returns false if no block is
 * left, if as many blocks as permitted are resident, or if memory is short. If memory is short,
 * records a fault.
 */
bool ts_ptx_take_block(struct ts_ptx_worker *worker, struct ts_ptx_block ***end);
void ts_ptx_block_end(struct ts_ptx_worker *worker, struct ts_ptx_block *block);
/* Records a fault for a block that has threads, none of which can run. */
void ts_ptx_deadlock(struct ts_ptx_block *block);
/* Adds the counts of the warps to the worker's counts. */
void ts_ptx_collect(struct ts_ptx_worker *worker, struct ts_ptx_warp *warps, uint32_t n);
/* Charges executed instructions, and stops the run if a limit is exceeded. */
void ts_ptx_charge(struct ts_ptx_worker *worker, bool spins);
/*
 * Sets whether the PTX threads of the worker only poll memory. A worker whose threads do more
 * counts as active in launch->watch.
 */
void ts_ptx_set_only_watches(struct ts_ptx_worker *worker, bool only_watches);
/* Returns the index of the block that becomes resident as the n-th. */
uint64_t ts_ptx_block_at(struct ts_ptx_engine *engine, uint64_t n);

/* schedule.c: runs the launch's blocks in the order of the engine's scheduler. */
void ts_ptx_work_scheduled(struct ts_ptx_worker *worker);
