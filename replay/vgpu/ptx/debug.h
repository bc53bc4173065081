/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's interface for a debugger. The engine calls the debugger before every instruction of
 * every warp. In the call the debugger may read all resident blocks and change registers and
 * memory. An engine with a debugger has one thread and runs its warps in the usual order.
 *
 * Registers have names in images from ts_ptx_link_named(), which gives each register its own slot.
 *
 * Only the debugger's callbacks may call the functions of this header, except ts_ptx_engine_debug()
 * and ts_ptx_link_named().
 */
#pragma once

#include "replay/vgpu/ptx/observe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_ptx_warp;

struct ts_ptx_debugger {
	void *userdata;
	void (*begin)(void *userdata, const struct ts_ptx_launch *launch);
	/*
	 * Called before an instruction of a warp. Non-zero: the kernel ends here as if cancelled.
	 */
	int (*step)(void *userdata, struct ts_ptx_warp *warp);
	/*
	 * Called once, when the kernel has ended: after its last instruction, at a fault, or when
	 * step() ended it. `fault` is NULL if the kernel did not fault. If it faulted, its resident
	 * blocks still exist and can be read.
	 */
	void (*end)(void *userdata, const struct ts_ptx_fault *fault);
};

/*
 * Sets the debugger of an engine; the caller owns it. -EINVAL: the engine has more than one thread.
 */
int ts_ptx_engine_debug(struct ts_ptx_engine *engine, const struct ts_ptx_debugger *debugger);

/* Like ts_ptx_link(). `texts` has one text per module and must outlive the image. */
int ts_ptx_link_named(struct ts_ptx_module *const *modules, const char *const *texts,
		      size_t n_modules, struct ts_ptx_image **ret_image,
		      struct ts_ptx_error *error);

/* Location of a lane's next instruction, or of a call. */
struct ts_ptx_place {
	const char *function;
	const char *source_file; /* NULL: unknown */
	const char *text;	 /* the PTX text of its module; NULL: not kept */
	uint32_t line;		 /* line in that text */
	uint32_t source_line;	 /* 0: unknown */
};

enum ts_ptx_lane_state {
	TS_PTX_LANE_READY,
	TS_PTX_LANE_WARP_SYNC, /* waits for lanes of its warp */
	TS_PTX_LANE_BARRIER,   /* waits for threads of its block */
	TS_PTX_LANE_JOINED,    /* waits where divergent paths reconverge */
	TS_PTX_LANE_EXITED,
};

struct ts_ptx_block_view {
	uint64_t index;
	uint32_t ctaid[3];
	uint32_t n_threads, n_warps, n_live;
	uint32_t shared_bytes;
};

/* Returns resident block i, from 0; false: there is none. */
bool ts_ptx_debug_block(const struct ts_ptx_warp *warp, size_t i,
			struct ts_ptx_block_view *ret_view);
/* Returns the block of a warp. */
void ts_ptx_debug_block_of(const struct ts_ptx_warp *warp, struct ts_ptx_block_view *ret_view);
/*
 * Returns warp i of a block, by the block's index. NULL: the block is not resident or has no such
 * warp.
 */
struct ts_ptx_warp *ts_ptx_debug_warp(const struct ts_ptx_warp *warp, uint64_t block, uint32_t i);
uint32_t ts_ptx_debug_warp_index(const struct ts_ptx_warp *warp);
/* Returns the lanes of the given warp that run the next instruction together. */
uint32_t ts_ptx_debug_active(const struct ts_ptx_warp *warp);
void ts_ptx_debug_thread(const struct ts_ptx_warp *warp, uint32_t lane, uint32_t ret_tid[3]);
enum ts_ptx_lane_state ts_ptx_debug_lane(const struct ts_ptx_warp *warp, uint32_t lane);
/*
 * Returns the location of a lane's call; level 0 is the innermost call. False: the lane has no such
 * call.
 */
bool ts_ptx_debug_place(const struct ts_ptx_warp *warp, uint32_t lane, uint32_t level,
			struct ts_ptx_place *ret_place);

/*
 * Return the number of functions of the warp's image, and the place of instruction i of a function,
 * both counted from 0. False: there is no such instruction.
 */
size_t ts_ptx_debug_n_functions(const struct ts_ptx_warp *warp);
bool ts_ptx_debug_instruction(const struct ts_ptx_warp *warp, size_t function, size_t i,
			      struct ts_ptx_place *ret_place);

struct ts_ptx_register_view {
	char name[64];
	const char *type; /* "u32", "pred" */
	uint64_t value;
	bool is_live; /* the value is still needed */
};
/* Returns register i of a lane's call, from 0. False: there is none, or the image has no names. */
bool ts_ptx_debug_register(const struct ts_ptx_warp *warp, uint32_t lane, uint32_t level, size_t i,
			   struct ts_ptx_register_view *ret_view);
/* Copies up to n bytes of the block's shared memory from an offset. Returns the number of bytes. */
size_t ts_ptx_debug_shared(const struct ts_ptx_warp *warp, uint64_t offset, void *to, size_t n);
/* Like ts_ptx_debug_shared(), from a generic address of a lane. */
size_t ts_ptx_debug_memory(struct ts_ptx_warp *warp, uint32_t lane, uint64_t address, void *to,
			   size_t n);

/*
 * Sets register i of a lane's call, as numbered by ts_ptx_debug_register(). For a predicate, only
 * the lowest bit of `value` is used. -ENOENT: there is no such register.
 */
int ts_ptx_debug_set_register(struct ts_ptx_warp *warp, uint32_t lane, uint32_t level, size_t i,
			      uint64_t value);
/*
 * Write all n bytes or none. -EFAULT: the memory is too short. -EROFS: constant or parameter
 * memory.
 */
int ts_ptx_debug_write_shared(struct ts_ptx_warp *warp, uint64_t offset, const void *from,
			      size_t n);
int ts_ptx_debug_write(struct ts_ptx_warp *warp, uint32_t lane, uint64_t address, const void *from,
		       size_t n);

#ifdef __cplusplus
}
#endif
