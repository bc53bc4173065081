/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-lttng [N [ranges]]: N tracepoints with the fields of an API record, or N pairs of a range's
 * tracepoints. The result is meaningful only if a session with these tracepoints enabled is active;
 * run.py starts one. A tool needs the two clock readings for the start and end of a call. LTTng
 * adds its own timestamp, as always.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "test/bench/tracepoint.h"

#include "test/bench/bench.h"

static void calls(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t enter = ts_bench_ticks();

		__asm__ volatile("" ::: "memory");
		lttng_ust_tracepoint(tracesmith_bench, api, enter, ts_bench_ticks(), i, 0, 7,
				     2u << 16 | 211, 0, 1);
	}
}

static void ranges(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		lttng_ust_tracepoint(tracesmith_bench, push, "forward");
		lttng_ust_tracepoint(tracesmith_bench, pop, i);
	}
}

int main(int argc, char **argv)
{
	uint64_t n = ts_bench_count(argc, argv, 1000000) / TS_BENCH_PASSES;
	void (*run)(uint64_t n) = argc > 2 ? ranges : calls;
	double best_ns = 1e18, total_ns = 0;

	ts_bench_pin(1);
	for (int pass = 0; pass < TS_BENCH_PASSES; pass++) {
		uint64_t start_ns = ts_clock_monotonic_ns();
		double ns;

		run(n);
		ns = (double)(ts_clock_monotonic_ns() - start_ns) / (double)n;
		total_ns += ns;
		if (ns < best_ns)
			best_ns = ns;
	}
	printf("{\"name\": \"lttng_tracepoint\", \"ns\": %.2f, \"mean_ns\": %.2f, \"n\": %" PRIu64
	       ", \"enabled\": %d}\n",
	       best_ns, total_ns / TS_BENCH_PASSES, n * TS_BENCH_PASSES,
	       lttng_ust_tracepoint_enabled(tracesmith_bench, api) ? 1 : 0);
	return 0;
}
