/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-store [N]: the lower bound for a record. Two clock readings and a 64-byte record stored
 * into private memory of a ring's size; nothing is shared or counted.
 */
#include <sys/mman.h>

#include "proto/abi/session.h"
#include "test/bench/bench.h"

struct line {
	uint64_t word[8];
};

int main(int argc, char **argv)
{
	uint64_t n = ts_bench_count(argc, argv, 10000000) / TS_BENCH_PASSES;
	uint64_t n_lines = TS_RING_BYTES_DEFAULT / sizeof(struct line);
	volatile struct line *lines = mmap(NULL, TS_RING_BYTES_DEFAULT, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	double best_ns = 1e18, total_ns = 0;

	if (lines == MAP_FAILED)
		return 1;
	ts_bench_pin(1);
	for (int pass = 0; pass < TS_BENCH_PASSES; pass++) {
		uint64_t start_ns = ts_clock_monotonic_ns();
		double ns;

		for (uint64_t i = 0; i < n; i++) {
			volatile struct line *line = &lines[i & (n_lines - 1)];

			line->word[0] = 0x107;
			line->word[1] = ts_bench_ticks();
			__asm__ volatile("" ::: "memory");
			line->word[2] = ts_bench_ticks();
			line->word[3] = i;
			line->word[4] = 0;
			line->word[5] = 7;
			line->word[6] = 211;
			line->word[7] = 1;
		}
		ns = (double)(ts_clock_monotonic_ns() - start_ns) / (double)n;
		total_ns += ns;
		if (ns < best_ns)
			best_ns = ns;
	}
	printf("{\"name\": \"bare_store\", \"ns\": %.2f, \"mean_ns\": %.2f, \"n\": %" PRIu64 "}\n",
	       best_ns, total_ns / TS_BENCH_PASSES, n * TS_BENCH_PASSES);
	return 0;
}
