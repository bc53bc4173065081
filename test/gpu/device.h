/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the tests of test/unit/ptx over a CUDA driver, libcuda.so.1. This header replaces
 * test/unit/ptx/device.h, which uses the engine. NVIDIA's driver shows whether the tests'
 * references are correct on a GPU; the virtual GPU's driver works too. Memory is managed, so that
 * the host uses the same addresses.
 */
#pragma once

#include <dlfcn.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "test/unit/harness.h"

#define DEVICE_BYTES  (UINT64_C(64) << 20)
#define PTX_HEAD      ".version 8.6\n.target sm_90\n.address_size 64\n"
#define DEVICE_GLOBAL 1 /* CU_MEM_ATTACH_GLOBAL */

/* X(field, exported name, parameters) */
#define DEVICE_DRIVER(X)                                                                        \
	X(init, cuInit, (unsigned flags))                                                       \
	X(count, cuDeviceGetCount, (int *ret_count))                                            \
	X(retain, cuDevicePrimaryCtxRetain, (void **ret_context, int device))                   \
	X(current, cuCtxSetCurrent, (void *context))                                            \
	X(synchronize, cuCtxSynchronize, (void))                                                \
	X(load, cuModuleLoadDataEx,                                                             \
	  (void **ret_module, const void *image, unsigned n_options, unsigned *options,         \
	   void **values))                                                                      \
	X(unload, cuModuleUnload, (void *module))                                               \
	X(function, cuModuleGetFunction, (void **ret_function, void *module, const char *name)) \
	X(alloc, cuMemAllocManaged, (uint64_t * ret_address, size_t n_bytes, unsigned flags))   \
	X(launch, cuLaunchKernel,                                                               \
	  (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
	   unsigned block_y, unsigned block_z, unsigned shared, void *, void **arguments,       \
	   void **extra))

static struct {
#define DEVICE_FIELD(field, name, parameters) int(*field) parameters;
	DEVICE_DRIVER(DEVICE_FIELD)
#undef DEVICE_FIELD
} device_cu;

struct device {
	void *module;
	uint64_t used;
};

/*
 * One context and one allocation serve all texts of a test until its process ends, because NVIDIA's
 * driver creates them slowly.
 */
static uint64_t device_memory;

static inline void device_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int n = 0;

	if (!library)
		ts_skip(dlerror());
#define DEVICE_FIND(field, name, parameters)                \
	*(void **)&device_cu.field = dlsym(library, #name); \
	if (!device_cu.field)                               \
		ts_skip("the CUDA driver lacks " #name);
	DEVICE_DRIVER(DEVICE_FIND)
#undef DEVICE_FIND
	if (device_cu.init(0) || device_cu.count(&n) || !n)
		ts_skip("the CUDA driver has no device");
}

/* If the driver's compiler refuses a text, prints the text and the compiler's log. */
static inline void device_open(struct device *d, const char *text)
{
	char log[4096] = "";
	unsigned options[] = {TS_CU_JIT_ERROR_LOG_BUFFER, TS_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)sizeof(log)}, *context;
	int result;

	memset(d, 0, sizeof(*d));
	if (!device_memory) {
		device_driver();
		ts_check_int(device_cu.retain(&context, 0), 0);
		ts_check_int(device_cu.current(context), 0);
		ts_check_int(device_cu.alloc(&device_memory, DEVICE_BYTES, DEVICE_GLOBAL), 0);
	}
	result = device_cu.load(&d->module, text, 2, options, values);
	if (result) {
		fprintf(stderr, "%s\n%s\n", log, text);
		d->module = NULL;
	}
	ts_check_int(result, 0);
}

/* n_threads concerns only the engine; a driver ignores it. */
static inline void device_load(struct device *d, const char *const *texts, size_t n,
			       uint32_t n_threads)
{
	(void)n_threads;
	ts_check_int(n, 1);
	device_open(d, texts[0]);
}

static inline bool device_loaded(const struct device *d)
{
	return d->module;
}

static inline void device_close(struct device *d)
{
	if (d->module)
		ts_check_int(device_cu.unload(d->module), 0);
}

static inline uint64_t device_alloc(struct device *d, size_t bytes)
{
	uint64_t at = device_memory + d->used;

	d->used += (bytes + 255) & ~(size_t)255;
	ts_check(d->used <= DEVICE_BYTES);
	return at;
}

static inline void *device_host(struct device *d, uint64_t address)
{
	(void)d;
	return (void *)(uintptr_t)address;
}

static inline void device_run(struct device *d, const char *kernel, uint32_t grid, uint32_t block,
			      const uint64_t *params, size_t n_params)
{
	void *function, *arguments[16];

	ts_check(n_params <= 16);
	for (size_t i = 0; i < n_params; i++)
		arguments[i] = (void *)(uintptr_t)&params[i];
	ts_check_int(device_cu.function(&function, d->module, kernel), 0);
	ts_check_int(device_cu.launch(function, grid, 1, 1, block, 1, 1, 0, NULL, arguments, NULL),
		     0);
	ts_check_int(device_cu.synchronize(), 0);
}

#define DEVICE_RUN(d, kernel, grid, block, ...)                             \
	device_run(d, kernel, grid, block, (const uint64_t[]){__VA_ARGS__}, \
		   sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

#define DEVICE_FAULTS(d, kernel, grid, block, kind, ...) ((void)(d))

/* Exits before the harness checks file descriptors, because a driver keeps its own files open. */
#undef TS_TEST
#define TS_TEST(name_)                                                               \
	static void ts_test_run_##name_(void);                                       \
	static void ts_test_end_##name_(void)                                        \
	{                                                                            \
		ts_test_run_##name_();                                               \
		exit(ts_test_has_failed);                                            \
	}                                                                            \
	static struct ts_test ts_test_##name_ = {#name_, ts_test_end_##name_, NULL}; \
	__attribute__((constructor)) static void ts_test_add_##name_(void)           \
	{                                                                            \
		*ts_tests_end = &ts_test_##name_;                                    \
		ts_tests_end = &ts_test_##name_.next;                                \
	}                                                                            \
	static void ts_test_run_##name_(void)
