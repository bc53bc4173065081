/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-host [ITERATIONS [DEPTH]]: the program that the host sampler samples. One thread repeats
 * the same computation, DEPTH functions below main(). host.py does the same in Python.
 *
 * The program warms up, prints "ready", and reads lines; each line is a number of slices. The
 * program computes that many slices and prints the processor time of each as a JSON object. It
 * opens a GPU context, so that the sampler treats it as a session.
 *
 * bench-host interrupt [BLOCKS]: measures the time that perf's clock event takes from a thread
 * although nothing is recorded. This part of a sample's cost depends only on the machine.
 */
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "test/bench/bench.h"

#define SLICES_MAX   100000u
#define WARM_UP	     20u
#define INTERRUPT_NS 1000000

static volatile uint64_t result;
static uint64_t ns[SLICES_MAX];

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void open_gpu(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *context;
	int (*init)(unsigned) = library ? (int (*)(unsigned))dlsym(library, "cuInit") : NULL;
	int (*retain)(void **, int) =
		library ? (int (*)(void **, int))dlsym(library, "cuDevicePrimaryCtxRetain") : NULL;

	if (!init || !retain || init(0) || retain(&context, 0)) {
		fprintf(stderr, "bench-host: no GPU\n");
		exit(1);
	}
}

static __attribute__((noinline)) void work(uint64_t n_slices, uint64_t n)
{
	for (uint64_t slice = 0; slice < n_slices; slice++) {
		uint64_t begun = thread_ns(), x = 1;

		for (uint64_t i = 0; i < n; i++)
			x = x * UINT64_C(6364136223846793005) + (x >> 29);
		result = x;
		ns[slice] = thread_ns() - begun;
	}
}

static __attribute__((noinline)) void descend(uint64_t depth, uint64_t n_slices, uint64_t n)
{
	if (depth)
		descend(depth - 1, n_slices, n);
	else
		work(n_slices, n);
	result++; /* no tail call */
}

static int compare_doubles(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/*
 * Measures a perf event without a ring, alternately enabled and disabled. Compares each block with
 * its two neighbours and prints the median.
 */
static int measure_interrupt(uint64_t n_blocks, uint64_t n)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = INTERRUPT_NS,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	double *costs = calloc(n_blocks, sizeof(*costs));

	if (fd < 0 || !costs || !n_blocks)
		return 77;
	for (uint64_t i = 0; i < n_blocks; i++) {
		double before, with, after;

		work(1, n);
		before = (double)ns[0];
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		work(1, n);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		with = (double)ns[0];
		work(1, n);
		after = (double)ns[0];
		costs[i] = (with - (before + after) / 2) / (with / INTERRUPT_NS);
	}
	qsort(costs, n_blocks, sizeof(*costs), compare_doubles);
	printf("{\"interrupt_ns\": %.0f}\n", costs[n_blocks / 2]);
	free(costs);
	close(fd);
	return 0;
}

static void print(uint64_t start_ns, uint64_t n_slices)
{
	printf("{\"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 ", \"slices\": [", start_ns,
	       ts_clock_monotonic_ns());
	for (uint64_t i = 0; i < n_slices; i++)
		printf("%s%" PRIu64, i ? ", " : "", ns[i]);
	printf("]}\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint64_t n = ts_bench_count(argc, argv, 20000000);
	uint64_t depth = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
	char line[16];

	if (argc > 1 && !strcmp(argv[1], "interrupt"))
		return measure_interrupt(argc > 2 ? strtoull(argv[2], NULL, 10) : 100, 5000000);
	open_gpu();
	descend(depth, WARM_UP, n);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t n_slices = strtoull(line, NULL, 10), start_ns = ts_clock_monotonic_ns();

		if (n_slices > SLICES_MAX)
			return 2;
		descend(depth, n_slices, n);
		print(start_ns, n_slices);
	}
	return 0;
}
