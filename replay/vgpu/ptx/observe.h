/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking on while kernels run: what each warp accesses in global and shared memory, and by what its threads are ordered. For
 * checks (replay/check); who does not look on pays nothing, since the instructions of an image are replaced for it.
 *
 * Order of use: ts_ptx_image_observe() once an image is linked, ts_ptx_engine_observe() before its kernels run. An engine that
 * is looked on at has one thread: what is told comes in an order in which it happened.
 */
#pragma once

#include "replay/vgpu/ptx/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_PTX_OBSERVED_LANES 32
#define TS_PTX_OBSERVED_BYTES 32 /* of a lane's access, at most */

#define TS_PTX_ACCESS_READ    (1u << 0)
#define TS_PTX_ACCESS_WRITE   (1u << 1)
#define TS_PTX_ACCESS_STRONG  (1u << 2) /* atomic, volatile, relaxed or stronger */
#define TS_PTX_ACCESS_RELEASE (1u << 3) /* what came before is published by it */
#define TS_PTX_ACCESS_SHARED  (1u << 4) /* of shared memory; else global */

/* An instruction's access, before it is carried out. */
struct ts_ptx_access {
	uint32_t flags;
	uint32_t place; /* the instruction: ts_ptx_image_site() */
	uint32_t warp;	/* in the block */
	uint32_t lanes;
	uint32_t bytes; /* of a lane; bulk copies have more than TS_PTX_OBSERVED_BYTES */
	uint64_t address[TS_PTX_OBSERVED_LANES];    /* of shared memory offsets in the block's */
	const uint8_t *host[TS_PTX_OBSERVED_LANES]; /* what is there */
	/* What plain stores write; NULL: not known. */
	const uint8_t (*values)[TS_PTX_OBSERVED_BYTES];
};

/* `block` is what block_begin() answered. */
struct ts_ptx_observer {
	void *userdata;
	void (*begin)(void *userdata, const struct ts_ptx_launch *launch);
	/* NULL: it did not fault. */
	void (*end)(void *userdata, const struct ts_ptx_fault *fault);
	/* The last reserved_bytes of its shared memory are the system's, and zero. */
	void *(*block_begin)(void *userdata, uint64_t index, uint32_t shared_bytes,
			     uint32_t reserved_bytes);
	void (*block_end)(void *userdata, void *block);
	void (*access)(void *userdata, void *block, const struct ts_ptx_access *access);
	void (*fence)(void *userdata, void *block, uint32_t warp, uint32_t lanes);
	void (*warp_sync)(void *userdata, void *block, uint32_t warp, uint32_t lanes);
	/* waits: until the barrier is complete. */
	void (*arrive)(void *userdata, void *block, uint32_t barrier, uint32_t warp, uint32_t lanes,
		       bool waits);
	/* all: of every thread of the block. */
	void (*complete)(void *userdata, void *block, uint32_t barrier, bool all);
};

/* Where an instruction comes from. The strings are the image's. */
struct ts_ptx_site {
	const char *function;
	const char *source_file; /* NULL: not known */
	uint32_t line;		 /* of the PTX text */
	uint32_t source_line;	 /* 0: not known */
};

/* For all runs of the image's kernels; those on engines that nobody looks on at go on as before. -ENOMEM. */
int ts_ptx_image_observe(struct ts_ptx_image *image);
void ts_ptx_image_site(const struct ts_ptx_image *image, uint32_t place,
		       struct ts_ptx_site *ret_site);
const struct ts_ptx_image *ts_ptx_kernel_image(const struct ts_ptx_kernel *kernel);
/* The observer stays the caller's. -EINVAL: the engine has more than one thread. */
int ts_ptx_engine_observe(struct ts_ptx_engine *engine, const struct ts_ptx_observer *observer);

#ifdef __cplusplus
}
#endif
