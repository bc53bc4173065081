/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline [ROUNDS]: a copy and compute pipeline like that of an inference server. Pinned buffers
 * enter by one stream, two other streams compute, and a fourth stream copies the results out.
 * Events order the streams; no thread waits before the end of a round. A device-to-device copy
 * keeps the last input. test/integration/test-cuda.py runs it.
 */
#include "test/apps/gpu.h"

#define N     (1u << 14)
#define DEPTH 4 /* buffers in flight */

struct slot {
	float *in, *out; /* pinned */
	float *device, *kept;
	void *copied, *computed, *left;
	float seed;
};

static struct gpu_stream stream_in, stream_out, compute[2];

static void slot_init(struct slot *slot)
{
	slot->in = gpu_host_malloc(N * sizeof(float));
	slot->out = gpu_host_malloc(N * sizeof(float));
	slot->device = gpu_malloc(N * sizeof(float));
	slot->kept = gpu_malloc(N * sizeof(float));
	slot->copied = gpu_event_create();
	slot->computed = gpu_event_create();
	slot->left = gpu_event_create();
}

static void slot_deinit(struct slot *slot)
{
	gpu_host_free(slot->in);
	gpu_host_free(slot->out);
	gpu_free(slot->device);
	gpu_free(slot->kept);
	gpu_event_destroy(slot->copied);
	gpu_event_destroy(slot->computed);
	gpu_event_destroy(slot->left);
}

static void slot_submit(struct slot *slot, int round, int which)
{
	struct gpu_stream worker = compute[which % 2];

	slot->seed = (float)(round * DEPTH + which);
	for (uint32_t i = 0; i < N; i++)
		slot->in[i] = slot->seed + (float)(i % 5);
	gpu_h2d_async(slot->device, slot->in, N * sizeof(float), stream_in);
	gpu_event_record(slot->copied, stream_in);
	gpu_stream_wait(worker, slot->copied);
	gpu_d2d_async(slot->kept, slot->device, N * sizeof(float), worker);
	gpu_scale(N, 3, slot->device, worker);
	gpu_saxpy(N, 2, slot->kept, slot->device, worker);
	gpu_event_record(slot->computed, worker);
	gpu_stream_wait(stream_out, slot->computed);
	gpu_d2h_async(slot->out, slot->device, N * sizeof(float), stream_out);
	gpu_event_record(slot->left, stream_out);
}

static void slot_check(struct slot *slot)
{
	for (uint32_t i = 0; i < N; i++) {
		float value = slot->seed + (float)(i % 5);

		if (slot->out[i] == value * 5)
			continue;
		printf("pipeline: out[%u] is %g of %g\n", i, (double)slot->out[i], (double)value);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 25;
	struct slot slots[DEPTH];

	gpu_open(NULL);
	stream_in = gpu_stream_create(false);
	stream_out = gpu_stream_create(false);
	compute[0] = gpu_stream_create(true);
	compute[1] = gpu_stream_create(false);
	for (int i = 0; i < DEPTH; i++)
		slot_init(&slots[i]);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < DEPTH; i++)
			slot_submit(&slots[i], round, i);
		for (int i = 0; i < DEPTH; i++) {
			gpu_event_sync(slots[i].left);
			slot_check(&slots[i]);
			gpu_set_async(slots[i].kept, 0xff, N, compute[i % 2]);
		}
	}
	gpu_stream_sync(compute[0]);
	gpu_stream_sync(compute[1]);
	gpu_device_sync();
	for (int i = 0; i < DEPTH; i++)
		slot_deinit(&slots[i]);
	gpu_stream_destroy(stream_in);
	gpu_stream_destroy(stream_out);
	gpu_stream_destroy(compute[0]);
	gpu_stream_destroy(compute[1]);
	printf("pipeline: %d rounds of %d buffers\n", rounds, DEPTH);
	return gpu_close();
}
