/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ladder [RUNGS]: stacks that are known. From 1 to RUNGS (10 unless told) calls of climb() deep a kernel is launched, as
 * many times as it is deep; from carry(), as deep, one copy of as many KiB. What a trace says was launched from where
 * can be told from RUNGS alone.
 */
#include "test/apps/gpu.h"

#define KIB 1024u

struct ladder {
	void *from, *to;
	struct gpu_stream stream;
};

/* Each call is a frame of its own, whatever the compiler would rather have. */
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
