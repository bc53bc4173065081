/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that `tsctl benchmark` measures, in a process of its own: see benchload.h.
 * cmd-benchmark.c calls this file. This file loads the driver as any CUDA program does, so the
 * benchmark covers the path of every program.
 */
#include "tools/tsctl/machine/benchload.h"

#include "proto/abi/base.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "tools/tsctl/machine/paths.h"
#include "tools/tsctl/tsctl.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

/* Number of distinct stacks and depths of the launches. */
#define DEPTHS 16u
/* Launches before the measurement, for one-time work: loading the kernel, finding the daemon. */
#define WARM_UPS 64u

static const char ptx[] = ".version 7.0\n"
			  ".target sm_50\n"
			  ".address_size 64\n"
			  ".visible .entry " TS_BENCHLOAD_KERNEL "()\n{\n	ret;\n}\n"
			  ".visible .entry tracesmith_warm_up()\n{\n	ret;\n}\n";

struct load {
	int (*init)(unsigned int flags);
	int (*device)(int *ret_device, int ordinal);
	int (*retain)(void **ret_context, int device);
	int (*make_current)(void *context);
	int (*load)(void **ret_module, const void *image);
	int (*function)(void **ret_function, void *module, const char *name);
	int (*launch)(void *function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
		      unsigned int block_x, unsigned int block_y, unsigned int block_z,
		      unsigned int shared_bytes, void *stream, void **arguments, void **extra);
	int (*wait)(void);
	int (*name)(int result, const char **ret_name);
};

static int find_symbols(struct load *load)
{
	const struct {
		const char *name;
		void *function;
	} symbols[] = {
		{"cuInit", &load->init},
		{"cuDeviceGet", &load->device},
		{"cuDevicePrimaryCtxRetain", &load->retain},
		{"cuCtxSetCurrent", &load->make_current},
		{"cuModuleLoadData", &load->load},
		{"cuModuleGetFunction", &load->function},
		{"cuLaunchKernel", &load->launch},
		{"cuCtxSynchronize", &load->wait},
		{"cuGetErrorName", &load->name},
	};
	/* The library is never unloaded, because the driver does not support this well. */
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		ts_complain("there is no CUDA driver here (%s)%s", dlerror(),
			    ts_path_has_vgpu() ? "; --vgpu needs none" : "");
		return -ENOENT;
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(symbols); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol) {
			ts_complain("the CUDA driver has no %s", symbols[i].name);
			return -ENOSYS;
		}
		memcpy(symbols[i].function, &symbol, sizeof(symbol));
	}
	return 0;
}

static int complain(const struct load *load, const char *call, int result)
{
	const char *name = NULL;

	if (!load->name || load->name(result, &name) || !name)
		name = "an unknown error";
	ts_complain("%s: %s", call, name);
	return -EIO;
}

static int open_kernels(struct load *load, void **ret_kernel, void **ret_warm_up)
{
	void *context, *module;
	const char *call = "cuInit";
	int device, r = load->init(0);

	if (!r)
		r = (call = "cuDeviceGet", load->device(&device, 0));
	if (!r)
		r = (call = "cuDevicePrimaryCtxRetain", load->retain(&context, device));
	if (!r)
		r = (call = "cuCtxSetCurrent", load->make_current(context));
	if (!r)
		r = (call = "cuModuleLoadData", load->load(&module, ptx));
	if (!r)
		r = (call = "cuModuleGetFunction",
		     load->function(ret_kernel, module, TS_BENCHLOAD_KERNEL));
	if (!r)
		r = load->function(ret_warm_up, module, "tracesmith_warm_up");
	return r ? complain(load, call, r) : 0;
}

/* Clang does not clone functions and has no attribute against it. */
#ifdef __clang__
#define ONE_FRAME __attribute__((noinline))
#else
#define ONE_FRAME __attribute__((noinline, noclone))
#endif

/*
 * Launches the kernel from `depth` frames further down. There is no tail call and no unrolling, so
 * each level is a frame.
 */
static int ONE_FRAME launch_below(const struct load *load, void *kernel, unsigned int depth)
{
	int r = depth ? launch_below(load, kernel, depth - 1)
		      : load->launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);

	__asm__ volatile("" ::: "memory");
	return r;
}

static int launch_all(const struct load *load, void *kernel, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		int r = launch_below(load, kernel, (unsigned int)(i % DEPTHS));

		if (r)
			return complain(load, "cuLaunchKernel", r);
	}
	return 0;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int ts_benchload_run(uint64_t n)
{
	struct load load = {NULL};
	void *kernel, *warm_up;
	double start_s;
	int r;

	if (find_symbols(&load) || open_kernels(&load, &kernel, &warm_up) ||
	    launch_all(&load, warm_up, WARM_UPS) || load.wait())
		return TS_EXIT_BAD;
	start_s = now_s();
	if (launch_all(&load, kernel, n))
		return TS_EXIT_BAD;
	r = load.wait();
	if (r) {
		complain(&load, "cuCtxSynchronize", r);
		return TS_EXIT_BAD;
	}
	printf("%" PRIu64 " %.9f\n", n, now_s() - start_s);
	return ts_finish_output(TS_EXIT_OK);
}
