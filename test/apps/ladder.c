/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ladder [RUNGS]: launches from known stacks (default: 10 rungs). For each depth from 1 to RUNGS,
 * climb() launches from that depth; the number of launches equals the depth. carry() makes one copy
 * from the same depth; its size in KiB equals the depth. RUNGS alone determines every launch and
 * stack that a trace must show. test/integration/test-cuda.py runs it.
 */
#include "test/apps/gpu.h"

#define KIB 1024u

struct ladder {
	void *from, *to;
	struct gpu_stream stream;
};

/*
 * noinline and the asm keep a frame for each call; the compiler would turn the recursion into a
 * loop.
 */
static void __attribute__((noinline)) climb(const struct ladder *ladder, unsigned int left)
{
	if (left > 1)
		climb(ladder, left - 1);
	else
		gpu_nothing(ladder->stream);
	__asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline))
carry(const struct ladder *ladder, unsigned int left, unsigned int depth)
{
	if (left > 1)
		carry(ladder, left - 1, depth);
	else
		gpu_h2d_async(ladder->to, ladder->from, depth * KIB, ladder->stream);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	unsigned int rungs = argc > 1 ? (unsigned int)atoi(argv[1]) : 10;
	struct ladder ladder;

	gpu_open(NULL);
	ladder.stream = gpu_stream_create(false);
	ladder.from = gpu_host_malloc((size_t)rungs * KIB);
	ladder.to = gpu_malloc((size_t)rungs * KIB);
	memset(ladder.from, 1, (size_t)rungs * KIB);
	for (unsigned int depth = 1; depth <= rungs; depth++) {
		for (unsigned int i = 0; i < depth; i++)
			climb(&ladder, depth);
		carry(&ladder, depth, depth);
	}
	gpu_set_async(ladder.to, 0, KIB, ladder.stream);
	gpu_stream_sync(ladder.stream);
	gpu_free(ladder.to);
	gpu_host_free(ladder.from);
	gpu_stream_destroy(ladder.stream);
	return gpu_close();
}
