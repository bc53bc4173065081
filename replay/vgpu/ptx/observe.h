/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observation of running kernels: accesses of each warp to global and shared memory, and
 * synchronization of its threads. replay/check uses it. An observed image contains replaced
 * instructions, so images without observation pay nothing.
 *
 * Order of use: ts_ptx_image_observe() after the image is linked, ts_ptx_engine_observe() before
 * its kernels run. An observed engine has one thread, so the reports come in an order in which the
 * events happened.
 */
#pragma once

#include "replay/vgpu/ptx/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_PTX_OBSERVED_LANES 32
#define TS_PTX_OBSERVED_BYTES 32 /* maximum per lane */

#define TS_PTX_ACCESS_READ    (1u << 0)
#define TS_PTX_ACCESS_WRITE   (1u << 1)
#define TS_PTX_ACCESS_STRONG  (1u << 2) /* atomic, volatile, relaxed or stronger */
#define TS_PTX_ACCESS_RELEASE (1u << 3) /* publishes earlier writes */
#define TS_PTX_ACCESS_SHARED  (1u << 4) /* shared memory; else global */

/* An access of an instruction, before it runs. */
struct ts_ptx_access {
	uint32_t flags;
	uint32_t place; /* the instruction, for ts_ptx_image_site() */
	uint32_t warp;	/* index in the block */
	uint32_t lanes;
	uint32_t bytes; /* per lane; a bulk copy may have more than TS_PTX_OBSERVED_BYTES */
	uint64_t address[TS_PTX_OBSERVED_LANES];    /* offset in the block's memory if shared */
	const uint8_t *host[TS_PTX_OBSERVED_LANES]; /* the bytes at the address */
	/* Bytes that a plain store writes; NULL: unknown. */
	const uint8_t (*values)[TS_PTX_OBSERVED_BYTES];
};

/* `block` is the result of block_begin(). */
struct ts_ptx_observer {
	void *userdata;
	void (*begin)(void *userdata, const struct ts_ptx_launch *launch);
	/* Called when the kernel has ended. `fault` is NULL if the kernel did not fault. */
	void (*end)(void *userdata, const struct ts_ptx_fault *fault);
	/*
	 * Called when a block becomes resident. The last reserved_bytes of the block's shared
	 * memory belong to the system and are zero.
	 */
	void *(*block_begin)(void *userdata, uint64_t index, uint32_t shared_bytes,
			     uint32_t reserved_bytes);
	void (*block_end)(void *userdata, void *block);
	void (*access)(void *userdata, void *block, const struct ts_ptx_access *access);
	void (*fence)(void *userdata, void *block, uint32_t warp, uint32_t lanes);
	void (*warp_sync)(void *userdata, void *block, uint32_t warp, uint32_t lanes);
	/*
	 * Called when the lanes arrive at a barrier. waits: the threads wait until the barrier is
	 * complete.
	 */
	void (*arrive)(void *userdata, void *block, uint32_t barrier, uint32_t warp, uint32_t lanes,
		       bool waits);
	/*
	 * Called when a barrier is complete. all: the barrier includes every thread of the block.
	 */
	void (*complete)(void *userdata, void *block, uint32_t barrier, bool all);
};

/* Origin of an instruction. The image owns the strings. */
struct ts_ptx_site {
	const char *function;
	const char *source_file; /* NULL: unknown */
	uint32_t line;		 /* line in the PTX text */
	uint32_t source_line;	 /* 0: unknown */
};

/*
 * Prepares all kernels of the image for observation. Engines without an observer run them as
 * before. -ENOMEM: out of memory.
 */
int ts_ptx_image_observe(struct ts_ptx_image *image);
void ts_ptx_image_site(const struct ts_ptx_image *image, uint32_t place,
		       struct ts_ptx_site *ret_site);
const struct ts_ptx_image *ts_ptx_kernel_image(const struct ts_ptx_kernel *kernel);
/*
 * Sets the observer of an engine; the caller owns it. -EINVAL: the engine has more than one thread.
 */
int ts_ptx_engine_observe(struct ts_ptx_engine *engine, const struct ts_ptx_observer *observer);

#ifdef __cplusplus
}
#endif
