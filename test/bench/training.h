/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates the rows of a training job step by step, from a seed. A main thread launches forward
 * and optimizer and waits for the loss. Autograd's thread launches backward. A loader's thread
 * copies in the next batch. The device has a compute, a communication and a copy stream. The same
 * seed gives the same rows.
 *
 * The variation is realistic. A call lasts 2.2 us; the host computes for microseconds between
 * calls. Both are log-normal, with occasional hiccups. A kernel lasts as long as its kind, +- 1.2
 * %, communication +- 10 %. It begins 0.9 us after the previous operation on its stream, or 3.5 us
 * after its call if the stream is idle. The device clock ticks (32 ns is usual) and drifts against
 * the host's clock. No value is rounded in favour of a compressor.
 */
#pragma once

#include "sbt/schema.h"

#define TS_TRAINING_MAX_ROWS 1024u /* of one type in a step */
#define TS_TRAINING_THREADS  3u
#define TS_TRAINING_STACKS   48u
#define TS_TRAINING_NAMES    32u

struct ts_training {
	uint64_t random;
	uint64_t tick_ns;
	uint64_t origin_ns;
	double thread_ns[TS_TRAINING_THREADS]; /* current time of each thread, from the origin */
	double stream_ns[3];
	uint64_t op_id;
	uint64_t n_steps;

	/* Rows of the current step. */
	struct ts_row_api api[TS_TRAINING_MAX_ROWS];
	struct ts_row_kernel kernels[TS_TRAINING_MAX_ROWS];
	struct ts_row_memcpy copies[TS_TRAINING_MAX_ROWS];
	struct ts_row_memset sets[TS_TRAINING_MAX_ROWS];
	unsigned n_api, n_kernels, n_copies, n_sets;
};

void ts_training_init(struct ts_training *training, uint64_t seed, uint64_t tick_ns);

/* Generates the next step. Rows of each type are in creation order: by thread, by stream. */
void ts_training_step(struct ts_training *training);

/*
 * Writes the name of a kernel; ids are [1, TS_TRAINING_NAMES]. Names look mangled and have a
 * realistic length.
 */
void ts_training_name(unsigned id, char *text, size_t n_text);

/*
 * Writes the frames of a stack, at most 64, and returns their number. Ids are [1,
 * TS_TRAINING_STACKS].
 */
unsigned ts_training_stack(unsigned id, uint64_t *frames);
