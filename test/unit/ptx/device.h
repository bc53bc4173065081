/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device for tests of the PTX engine. It has memory at a fixed device address, a bump allocator,
 * and an image made of PTX text. The image is for the host instruction set that TS_TEST_ISA names,
 * or for the best one. Parameters of launches are 64-bit values, like those of most tests' kernels.
 */
#pragma once

/*
 * TS_TEST_DEVICE names another device with the same functions, for tests that need no more:
 * test/gpu/device.h.
 */
#ifdef TS_TEST_DEVICE
#include TS_TEST_DEVICE
#else

#include "replay/vgpu/ptx/lanes/ops.h"
#include "test/unit/harness.h"

#define DEVICE_BASE  UINT64_C(0x200000000)
#define DEVICE_BYTES (UINT64_C(64) << 20)
#define PTX_HEAD     ".version 8.0\n.target sm_80\n.address_size 64\n"

struct device {
	struct ts_ptx_image *image;
	struct ts_ptx_engine *engine;
	uint8_t *memory;
	uint64_t used;
	char *output;
	size_t n_output;
	struct ts_ptx_fault fault;
	struct ts_ptx_error error;
	struct ts_ptx_stats stats;
	struct ts_ptx_launch launch; /* default for device_run() */
};

static int device_resolve(void *userdata, uint64_t address, uint64_t *ret_base, uint64_t *ret_bytes,
			  uint8_t **ret_host, uint32_t *ret_flags)
{
	struct device *d = userdata;

	if (address < DEVICE_BASE || address >= DEVICE_BASE + DEVICE_BYTES)
		return -1;
	*ret_base = DEVICE_BASE;
	*ret_bytes = DEVICE_BYTES;
	*ret_host = d->memory;
	*ret_flags = 0;
	return 0;
}

static void device_print(void *userdata, const char *text, size_t n)
{
	struct device *d = userdata;

	d->output = realloc(d->output, d->n_output + n + 1);
	ts_check(d->output);
	memcpy(d->output + d->n_output, text, n);
	d->n_output += n;
	d->output[d->n_output] = 0;
}

static inline uint64_t device_alloc(struct device *d, size_t bytes)
{
	uint64_t at = DEVICE_BASE + d->used;

	d->used += (bytes + 255) & ~(size_t)255;
	ts_check(d->used <= DEVICE_BYTES);
	return at;
}

static inline void *device_host(struct device *d, uint64_t address)
{
	return d->memory + (address - DEVICE_BASE);
}

static uint64_t device_malloc(void *userdata, uint64_t bytes)
{
	return bytes > 65536 ? 0 : device_alloc(userdata, bytes);
}

static int device_free(void *userdata, uint64_t address)
{
	return address < DEVICE_BASE;
}

/*
 * For test-coverage.c: prints the instructions of the texts, and the functions of the executor's
 * table that they use.
 */
static inline void device_record(const struct device *d, struct ts_ptx_module *const *modules,
				 size_t n)
{
	static bool told[F_N * TY_N];
	const char *path = getenv("TS_TEST_COVERAGE");
	FILE *f = path ? fopen(path, "a") : NULL;

	for (size_t i = 0; f && i < n; i++)
		for (const struct ts_ptx_func *fn = modules[i]->funcs; fn; fn = fn->next)
			for (uint32_t k = 0; k < fn->n_stmts; k++)
				fprintf(f, "op %.*s\n", (int)strcspn(fn->stmts[k].opcode, "."),
					fn->stmts[k].opcode);
	for (uint32_t i = 0; f && i < d->image->n_codes; i++)
		for (uint32_t k = 0; k < d->image->codes[i].n_insns; k++) {
			const struct ts_ptx_insn *in = &d->image->codes[i].insns[k];

			for (size_t at = 0; at < (size_t)F_N * TY_N; at++) {
				const ts_ptx_fn fn = d->image->ops->fn[at / TY_N][at % TY_N];

				if (!fn || told[at] || (fn != in->fn && fn != in->inner))
					continue;
				told[at] = true;
				fprintf(f, "fn %zu %zu\n", at / TY_N, at % TY_N);
			}
		}
	if (f)
		fclose(f);
}

static inline void device_load(struct device *d, const char *const *texts, size_t n,
			       uint32_t n_threads)
{
	struct ts_ptx_host host = {d, device_resolve, device_print, device_malloc, device_free};
	struct ts_ptx_module *modules[8] = {NULL};
	int r;

	memset(d, 0, sizeof(*d));
	d->memory = aligned_alloc(4096, DEVICE_BYTES);
	ts_check(d->memory);
	for (size_t i = 0; i < n; i++) {
		r = ts_ptx_module_parse(texts[i], strlen(texts[i]), &modules[i], &d->error);
		if (r)
			fprintf(stderr, "parse: %d %s\n", r, d->error.message);
		ts_check_int(r, 0);
	}
	if (getenv("TS_TEST_ISA") && !ts_ptx_ops(getenv("TS_TEST_ISA")))
		ts_skip("the CPU lacks that instruction set");
	r = ts_ptx_link_isa(modules, n, getenv("TS_TEST_ISA"), &d->image, &d->error);
	if (r)
		fprintf(stderr, "link: %d %s\n", r, d->error.message);
	ts_check_int(r, 0);
	device_record(d, modules, n);
	for (size_t i = 0; i < n; i++)
		ts_ptx_module_free(modules[i]);
	for (size_t i = 0; i < ts_ptx_image_n_variables(d->image); i++) {
		struct ts_ptx_variable v;

		ts_ptx_image_variable(d->image, i, &v);
		ts_check_int(ts_ptx_image_place(d->image, i, device_alloc(d, v.bytes)), 0);
	}
	for (size_t i = 0; i < ts_ptx_image_n_variables(d->image); i++) {
		struct ts_ptx_variable v;

		ts_ptx_image_variable(d->image, i, &v);
		ts_ptx_image_initial(d->image, i, device_host(d, v.address));
	}
	ts_check_int(ts_ptx_engine_new(&host, n_threads, &d->engine), 0);
}

static inline void device_open(struct device *d, const char *text)
{
	device_load(d, &text, 1, 1);
}

static inline bool device_loaded(const struct device *d)
{
	return d->image;
}

static inline void device_close(struct device *d)
{
	ts_ptx_engine_free(d->engine);
	ts_ptx_image_free(d->image);
	free(d->memory);
	free(d->output);
}

/*
 * Launches the kernel. Grid and block are one-dimensional; if `grid` is 0, d->launch has the
 * dimensions. Each parameter has 64 bits.
 */
static inline int device_try(struct device *d, const char *kernel, uint32_t grid, uint32_t block,
			     const uint64_t *params, size_t n_params)
{
	struct ts_ptx_launch launch = d->launch;

	launch.kernel = ts_ptx_image_find_kernel(d->image, kernel);
	ts_check(launch.kernel);
	if (grid) {
		launch.grid[0] = grid;
		launch.grid[1] = launch.grid[2] = 1;
		launch.block[0] = block;
		launch.block[1] = launch.block[2] = 1;
	}
	launch.params = params;
	launch.params_bytes = n_params * 8;
	return ts_ptx_run(d->engine, &launch, &d->stats, &d->fault, &d->error);
}

static inline void device_run(struct device *d, const char *kernel, uint32_t grid, uint32_t block,
			      const uint64_t *params, size_t n_params)
{
	int r = device_try(d, kernel, grid, block, params, n_params);

	if (r)
		fprintf(stderr, "%s: %d %s\n", kernel, r, d->error.message);
	ts_check_int(r, 0);
}

#define DEVICE_RUN(d, kernel, grid, block, ...)                             \
	device_run(d, kernel, grid, block, (const uint64_t[]){__VA_ARGS__}, \
		   sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/*
 * Checks that the kernel stops with the fault `kind_`. Does nothing with a driver, because a fault
 * would break its context for the rest of the test.
 */
#define DEVICE_FAULTS(d, kernel, grid, block, kind_, ...)                                        \
	do {                                                                                     \
		ts_check_int(device_try(d, kernel, grid, block, (const uint64_t[]){__VA_ARGS__}, \
					sizeof((const uint64_t[]){__VA_ARGS__}) /                \
						sizeof(uint64_t)),                               \
			     TS_PTX_E_FAULT);                                                    \
		ts_check_int((d)->fault.kind, kind_);                                            \
	} while (0)

#endif
