/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-start [OPERATIONS]: a small CUDA program, for the start and the end of a session. It prints
 * the time of the first call, cuInit(), and the instant at which main() returns. The caller
 * measures the time from there to the end of the process. run.py runs this program on the virtual
 * GPU, preloaded and not.
 */
#include <dlfcn.h>

#include "test/bench/bench.h"

#define X_DRIVER(X)                                                                    \
	X(init, cuInit, (unsigned flags))                                              \
	X(retain, cuDevicePrimaryCtxRetain, (void **ret_context, int device))          \
	X(set_current, cuCtxSetCurrent, (void *context))                               \
	X(alloc, cuMemAlloc_v2, (uint64_t * ret_address, size_t n_bytes))              \
	X(fill, cuMemsetD8Async, (uint64_t at, unsigned char value, size_t n, void *)) \
	X(sync, cuCtxSynchronize, (void))

#define DECLARE(field, name, parameters) int(*field) parameters;
#define FIND(field, name, parameters)                    \
	*(void **)&driver.field = dlsym(library, #name); \
	ts_bench_check(!driver.field, #name);

static struct {
	X_DRIVER(DECLARE)
} driver;

static uint64_t processor_ns(void)
{
	return (uint64_t)(ts_bench_cpu_s() * 1e9);
}

int main(int argc, char **argv)
{
	uint64_t n = ts_bench_count(argc, argv, 200), address, start_ns, start_processor_ns;
	uint64_t first_ns, first_processor_ns;
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;

	ts_bench_check(!library, "libcuda.so.1");
	X_DRIVER(FIND)
	start_processor_ns = processor_ns();
	start_ns = ts_clock_monotonic_ns();
	ts_bench_check(driver.init(0), "cuInit");
	first_ns = ts_clock_monotonic_ns() - start_ns;
	first_processor_ns = processor_ns() - start_processor_ns;
	ts_bench_check(driver.retain(&context, 0), "cuDevicePrimaryCtxRetain");
	ts_bench_check(driver.set_current(context), "cuCtxSetCurrent");
	ts_bench_check(driver.alloc(&address, 4096), "cuMemAlloc");
	for (uint64_t i = 0; i < n; i++)
		ts_bench_check(driver.fill(address, 0, 64, NULL), "cuMemsetD8Async");
	ts_bench_check(driver.sync(), "cuCtxSynchronize");
	printf("{\"first_ns\": %" PRIu64 ", \"first_processor_ns\": %" PRIu64
	       ", \"end_ns\": %" PRIu64 ", \"end_processor_ns\": %" PRIu64 "}\n",
	       first_ns, first_processor_ns, ts_clock_monotonic_ns(), processor_ns());
	return 0;
}
