/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator of a training job's rows; training.h describes the model. The bench programs call
 * this file.
 */

#include "test/bench/training.h"

#include <math.h>
#include <stdio.h>

#define LAYERS 32u
#define DRIFT  (1 + 3.7e-6)

enum {
	MAIN,
	AUTOGRAD,
	LOADER
};

enum {
	COMPUTE,
	COMMUNICATION,
	COPY
};

/* A kind of kernel; a step launches kernels of these kinds. */
struct kind {
	uint32_t name, stack;
	uint32_t grid[3], block[3];
	uint32_t shared, registers;
	double us;     /* duration */
	double gap_us; /* host time before the launch */
};

static const struct kind forward[] = {
	{1, 1, {4096, 1, 1}, {256, 1, 1}, 0, 32, 6.1, 5.5},
	{2, 2, {32, 24, 1}, {128, 1, 1}, 99328, 168, 41.7, 6.8},
	{3, 3, {64, 32, 8}, {128, 1, 1}, 65536, 255, 55.2, 9.1},
	{2, 4, {32, 8, 1}, {128, 1, 1}, 99328, 168, 14.9, 5.9},
	{4, 5, {8192, 1, 1}, {512, 1, 1}, 0, 24, 5.2, 4.7},
	{1, 6, {4096, 1, 1}, {256, 1, 1}, 0, 32, 6.2, 5.1},
	{5, 7, {32, 96, 1}, {256, 1, 1}, 131072, 200, 77.0, 6.4},
	{6, 8, {16384, 1, 1}, {256, 1, 1}, 0, 28, 8.8, 4.9},
};

static const struct kind backward[] = {
	{7, 11, {16384, 1, 1}, {256, 1, 1}, 0, 28, 9.6, 3.9},
	{5, 12, {96, 32, 1}, {256, 1, 1}, 131072, 200, 78.4, 5.2},
	{5, 13, {96, 96, 1}, {256, 1, 1}, 131072, 200, 81.3, 3.3},
	{8, 14, {1024, 1, 1}, {32, 32, 1}, 4096, 40, 7.1, 4.4},
	{9, 15, {8192, 1, 1}, {512, 1, 1}, 0, 24, 5.8, 3.7},
	{2, 16, {8, 32, 1}, {128, 1, 1}, 99328, 168, 15.3, 4.1},
	{2, 17, {8, 8, 4}, {128, 1, 1}, 99328, 168, 16.0, 3.2},
	{10, 18, {64, 32, 8}, {128, 1, 1}, 81920, 255, 131.5, 7.7},
	{11, 19, {4096, 2, 1}, {128, 1, 1}, 0, 48, 4.4, 3.5},
	{2, 20, {24, 32, 1}, {128, 1, 1}, 99328, 168, 42.5, 4.6},
	{2, 21, {24, 24, 2}, {128, 1, 1}, 99328, 168, 44.1, 3.3},
	{8, 22, {1024, 1, 1}, {32, 32, 1}, 4096, 40, 7.0, 4.4},
	{12, 23, {4096, 1, 1}, {256, 1, 1}, 0, 36, 6.6, 4.0},
};

static const struct kind all_reduce = {13, 30, {24, 1, 1}, {512, 1, 1}, 20480, 96, 310.0, 11.0};
static const struct kind optimizer[] = {
	{14, 31, {1184, 1, 1}, {512, 1, 1}, 0, 64, 44.0, 7.0},
	{15, 32, {1184, 1, 1}, {512, 1, 1}, 0, 40, 31.0, 5.0},
};

/* xorshift64*, scaled to (0, 1). */
static double uniform(struct ts_training *t)
{
	t->random ^= t->random >> 12;
	t->random ^= t->random << 25;
	t->random ^= t->random >> 27;
	return ((double)(t->random * 0x2545f4914f6cdd1du >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct ts_training *t)
{
	return sqrt(-2 * log(uniform(t))) * cos(2 * 3.14159265358979 * uniform(t));
}

static uint64_t host_time(const struct ts_training *t, double ns)
{
	return t->origin_ns + (uint64_t)ns;
}

/* Rounds a device time down to ticks, and converts it back by a clock that drifts by DRIFT. */
static uint64_t device_time(const struct ts_training *t, double ns)
{
	uint64_t ticks = (uint64_t)(ns / (double)t->tick_ns);

	return t->origin_ns + (uint64_t)((double)(ticks * t->tick_ns) * DRIFT);
}

static struct ts_row_api *call(struct ts_training *t, unsigned thread, uint16_t cbid,
			       uint32_t stack, double gap_us)
{
	struct ts_row_api *api = &t->api[t->n_api++];
	double *now = &t->thread_ns[thread], us = 2.2 * exp(0.12 * normal(t));

	*now += gap_us * 1000 * exp(0.25 * normal(t));
	if (uniform(t) < 1 / 300.)
		*now += 20000 + 180000 * uniform(t);
	if (uniform(t) < 1 / 200.)
		us += 5 + 25 * uniform(t);
	*api = (struct ts_row_api){
		.start_ns = host_time(t, *now),
		.op_id = ++t->op_id,
		.thread = thread + 1,
		.stack = stack,
		.context = 1,
		.domain = TS_API_CUDA_RUNTIME,
		.cbid = cbid,
		.flags = TS_API_EXPECTS_DEVICE,
	};
	*now += us * 1000;
	api->end_ns = host_time(t, *now);
	return api;
}

/* Computes the operation's start and end on its stream. */
static void run(struct ts_training *t, unsigned thread, unsigned stream, double ns, double spread,
		uint64_t *ret_start_ns, uint64_t *ret_end_ns)
{
	double queued = t->stream_ns[stream] + 900 + 80 * normal(t);
	double idle = t->thread_ns[thread] + 3500 + 300 * fabs(normal(t));
	double start = queued > idle ? queued : idle;

	t->stream_ns[stream] = start + ns * (1 + spread * normal(t));
	*ret_start_ns = device_time(t, start);
	*ret_end_ns = device_time(t, t->stream_ns[stream]);
}

static void launch(struct ts_training *t, unsigned thread, unsigned stream, const struct kind *kind,
		   uint32_t grid_more)
{
	struct ts_row_kernel *kernel = &t->kernels[t->n_kernels++];
	const struct ts_row_api *api = call(t, thread, 211, kind->stack, kind->gap_us);

	*kernel = (struct ts_row_kernel){
		.op_id = api->op_id,
		.context = 1,
		.stream = 7 + 6 * stream,
		.name = kind->name,
		.grid_x = kind->grid[0] + grid_more,
		.grid_y = kind->grid[1],
		.grid_z = kind->grid[2],
		.block_x = kind->block[0],
		.block_y = kind->block[1],
		.block_z = kind->block[2],
		.dynamic_shared_bytes = kind->shared,
		.registers_per_thread = (uint16_t)kind->registers,
		.launch_type = 1,
		.channel = 8 + stream,
		.channel_type = 1,
	};
	run(t, thread, stream, kind->us * 1000, stream == COMMUNICATION ? 0.1 : 0.012,
	    &kernel->start_ns, &kernel->end_ns);
}

static void copy(struct ts_training *t, unsigned thread, unsigned stream, uint32_t stack,
		 uint64_t bytes, bool to_device)
{
	struct ts_row_memcpy *row = &t->copies[t->n_copies++];
	const struct ts_row_api *api = call(t, thread, 41, stack, 8);

	*row = (struct ts_row_memcpy){
		.op_id = api->op_id,
		.context = 1,
		.stream = 7 + 6 * stream,
		.bytes = bytes,
		.copy_count = 1,
		.src_device = to_device ? TS_NO_DEVICE : 0,
		.dst_device = to_device ? 0 : TS_NO_DEVICE,
		.copy_kind = to_device ? 1 : 2,
		.src_kind = to_device ? 2 : 3,
		.dst_kind = to_device ? 3 : 2,
		.async = 1,
		.channel = 8 + stream,
	};
	run(t, thread, stream, (double)bytes / 25 + 1200, 0.02, &row->start_ns, &row->end_ns);
}

static void set(struct ts_training *t, uint32_t stack, uint64_t bytes)
{
	struct ts_row_memset *row = &t->sets[t->n_sets++];
	const struct ts_row_api *api = call(t, MAIN, 51, stack, 4);

	*row = (struct ts_row_memset){
		.op_id = api->op_id,
		.context = 1,
		.stream = 7,
		.bytes = bytes,
		.memory_kind = 3,
		.async = 1,
		.channel = 8,
	};
	run(t, MAIN, COMPUTE, (double)bytes / 1500 + 1100, 0.02, &row->start_ns, &row->end_ns);
}

/* Generates a call in which the host waits until the compute stream has finished its work. */
static void wait(struct ts_training *t, uint32_t stack)
{
	struct ts_row_api *api = call(t, MAIN, 131, stack, 3);

	if (t->stream_ns[COMPUTE] > t->thread_ns[MAIN])
		t->thread_ns[MAIN] = t->stream_ns[COMPUTE] + 5000 + 800 * fabs(normal(t));
	api->end_ns = host_time(t, t->thread_ns[MAIN]);
	api->flags = 0;
}

static double later(double a, double b)
{
	return a > b ? a : b;
}

void ts_training_init(struct ts_training *training, uint64_t seed, uint64_t tick_ns)
{
	*training = (struct ts_training){
		.random = seed * 0x9e3779b97f4a7c15u + 1,
		.tick_ns = tick_ns,
		.origin_ns = 812345678901234u,
	};
}

void ts_training_step(struct ts_training *t)
{
	t->n_api = t->n_kernels = t->n_copies = t->n_sets = 0;
	t->thread_ns[LOADER] = later(t->thread_ns[LOADER], t->thread_ns[MAIN] - 400000);
	for (unsigned i = 0; i < 4; i++)
		copy(t, LOADER, COPY, 40 + i / 2, 8u << 20 >> i, true);
	set(t, 42, 4096);
	for (unsigned layer = 0; layer < LAYERS; layer++)
		for (unsigned i = 0; i < TS_ARRAY_LEN(forward); i++)
			launch(t, MAIN, COMPUTE, &forward[i], 0);
	copy(t, MAIN, COMPUTE, 43, 4, false);
	t->thread_ns[AUTOGRAD] = later(t->thread_ns[AUTOGRAD], t->thread_ns[MAIN] + 15000);
	for (unsigned layer = 0; layer < LAYERS; layer++) {
		for (unsigned i = 0; i < TS_ARRAY_LEN(backward); i++)
			launch(t, AUTOGRAD, COMPUTE, &backward[i], 0);
		if (layer % 4 == 3) {
			t->stream_ns[COMMUNICATION] =
				later(t->stream_ns[COMMUNICATION], t->stream_ns[COMPUTE]);
			launch(t, AUTOGRAD, COMMUNICATION, &all_reduce, 0);
		}
	}
	t->thread_ns[MAIN] = later(t->thread_ns[MAIN], t->thread_ns[AUTOGRAD] + 9000);
	t->stream_ns[COMPUTE] = later(t->stream_ns[COMPUTE], t->stream_ns[COMMUNICATION]);
	for (unsigned i = 0; i < 20; i++)
		for (unsigned j = 0; j < TS_ARRAY_LEN(optimizer); j++)
			launch(t, MAIN, COMPUTE, &optimizer[j], i * 16);
	set(t, 44, 1u << 20);
	wait(t, 45);
	t->n_steps++;
}

void ts_training_name(unsigned id, char *text, size_t n_text)
{
	snprintf(text, n_text,
		 "_ZN6native%ugemm_kernel_128x%u_warpspecializedILi%uELb%uEEEvPKT_S3_PS1_NS_%06xE",
		 id * 7 % 90, id * 32, id % 5, id % 2, id * 2654435761u >> 8);
}

unsigned ts_training_stack(unsigned id, uint64_t *frames)
{
	unsigned n = 22 + id % 17;

	for (unsigned i = 0; i < n; i++)
		frames[i] = 0x7f31a0000000u + i * 0x51730 + (i < 6 ? id * 0x1940 : id / 8 * 0x70);
	return n;
}
