/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as a training job makes it, step by step, from a seed: a main thread that launches forward and optimizer and
 * waits for the loss, autograd's thread that launches backward, a loader's thread that copies in the next batch, and a
 * compute, a communication and a copy stream. Same seed, same rows.
 *
 * What varies, varies as it does in life: a call takes 2.2 us and the host computes for microseconds between calls, both
 * log-normal, with hiccups; kernels take as long as their kind, give or take 1.2 %, communication 10 %; a kernel
 * begins 0.9 us after the one before on its stream, or 3.5 us after its call where the stream was idle. Devices tick (32 ns
 * is usual) and their clock drifts against the host's. Nothing of it is rounded for a compressor's sake.
 */
#pragma once

#include "sbt/schema.h"

#define TS_TRAINING_MAX_ROWS 1024u /* of a type in a step */
#define TS_TRAINING_THREADS  3u
#define TS_TRAINING_STACKS   48u
#define TS_TRAINING_NAMES    32u

struct ts_training {
	uint64_t random;
	uint64_t tick_ns;
	uint64_t origin_ns;
	double thread_ns[TS_TRAINING_THREADS]; /* where each is in time, from the origin */
	double stream_ns[3];
	uint64_t op_id;
	uint64_t n_steps;

	/* The step that was made last. */
	struct ts_row_api api[TS_TRAINING_MAX_ROWS];
	struct ts_row_kernel kernels[TS_TRAINING_MAX_ROWS];
	struct ts_row_memcpy copies[TS_TRAINING_MAX_ROWS];
	struct ts_row_memset sets[TS_TRAINING_MAX_ROWS];
	unsigned n_api, n_kernels, n_copies, n_sets;
};

void ts_training_init(struct ts_training *training, uint64_t seed, uint64_t tick_ns);

/* The next step. Rows of each type are in the order in which they were made: by thread, by stream. */
void ts_training_step(struct ts_training *training);

/* Names of kernels, [1, TS_TRAINING_NAMES]: mangled, as long as real ones. */
void ts_training_name(unsigned id, char *text, size_t n_text);

/* Frames of stacks, [1, TS_TRAINING_STACKS]; how many. At most 64. */
unsigned ts_training_stack(unsigned id, uint64_t *frames);
