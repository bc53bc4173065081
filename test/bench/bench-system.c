/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-system [CALLS]: the time that the probes of `--system` (daemon/bpf) add to a call: a
 * reported call, a nested call, a call of an excluded process. Measures one program at both ends of
 * a function, and two programs, as on kernels before 6.13. Probes attach to functions of this
 * program. The figures are processor time, the minimum of PASSES passes.
 */
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "daemon/bpf/system.h"
#include "test/bench/bench.h"

#define PASSES	40
#define SKIPPED 77

static uint64_t n_told;

__attribute__((noinline)) static int inner(uint64_t handle)
{
	__asm__ volatile("" ::: "memory");
	return handle != 0;
}

__attribute__((noinline)) static int outer(uint64_t handle)
{
	int r = inner(handle);

	__asm__ volatile("" ::: "memory");
	return r + 1;
}

static void call_inner(void)
{
	inner(1);
}

static void call_outer(void)
{
	outer(1);
}

static void call_kernel(void)
{
	syscall(SYS_getppid);
}

struct place {
	uintptr_t address;
	uint64_t offset;
};

static int find_place(struct dl_phdr_info *info, size_t n_bytes, void *data)
{
	struct place *place = data;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && place->address >= start &&
		    place->address - start < info->dlpi_phdr[i].p_filesz)
			place->offset = place->address - start + info->dlpi_phdr[i].p_offset;
	}
	return place->offset != 0;
}

static void set_place(uint64_t *places, const char *symbol, int (*function)(uint64_t))
{
	struct place place = {.address = (uintptr_t)function};
	size_t n;
	const struct ts_call_function *functions = ts_call_functions(&n);

	dl_iterate_phdr(find_place, &place);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(functions[i].symbol, symbol))
			places[i] = place.offset;
}

static void take(void *data, const struct ts_call_event *event)
{
	n_told += event->type == TS_CALL_EVENT_CALL && event->pid == (uint32_t)getpid();
}

static uint64_t processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static double least_ns(struct ts_system *system, void (*call)(void), uint64_t n)
{
	double least = 1e18;

	for (int i = 0; i < PASSES; i++) {
		uint64_t start_ns = processor_ns();
		double ns;

		for (uint64_t j = 0; j < n; j++)
			call();
		ns = (double)(processor_ns() - start_ns) / (double)n;
		least = ns < least ? ns : least;
		if (system)
			ts_system_take(system, take, NULL);
	}
	return least;
}

static void measure(bool pairs, uint64_t n)
{
	uint64_t places[512] = {0}, n_outer = 0;
	struct ts_system_programs programs;
	struct ts_system_probes probes;
	char why[TS_SYSTEM_WHY_BYTES];
	struct ts_system *system;
	double plain_ns, one_ns, two_ns, excluded_ns, kernel_ns;
	int fd;

	if (ts_system_new(pairs, &system, why)) {
		fprintf(stderr, "%s\n", why);
		exit(SKIPPED);
	}
	plain_ns = least_ns(NULL, call_outer, n);
	kernel_ns = least_ns(NULL, call_kernel, n);
	set_place(places, "cuLaunchKernel", inner);
	set_place(places, "cudaLaunchKernel", outer);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	programs = ts_system_programs(system);
	if (fd < 0 || ts_system_probe(&programs, fd, places, &probes))
		exit(1);
	close(fd);
	n_told = 0;
	one_ns = least_ns(system, call_inner, n);
	two_ns = least_ns(system, call_outer, n);
	n_outer = n_told;
	ts_system_exclude(system, getpid(), true);
	excluded_ns = least_ns(system, call_inner, n);
	printf("{\"pairs\": %s, \"plain_ns\": %.1f, \"getppid_ns\": %.1f, \"told_ns\": %.1f, "
	       "\"nested_ns\": %.1f, \"excluded_ns\": %.1f, \"called\": %" PRIu64
	       ", \"told\": %" PRIu64 "}\n",
	       pairs ? "true" : "false", plain_ns, kernel_ns, one_ns - plain_ns, two_ns - one_ns,
	       excluded_ns - plain_ns, 2 * PASSES * n, n_outer);
	ts_system_remove(&probes);
	ts_system_free(system);
}

int main(int argc, char **argv)
{
	uint64_t n = ts_bench_count(argc, argv, 20000);

	measure(false, n);
	measure(true, n);
	return 0;
}
