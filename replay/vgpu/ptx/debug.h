/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debugger's side of the engine: it is asked before every instruction of every warp, and may look at all that is resident
 * meanwhile, and change registers and memory. An engine with a debugger has one thread, and runs its warps in the order in which it would without.
 *
 * Registers have names in images that were linked for it (ts_ptx_link_named()), where each has a place of its own.
 *
 * Everything here but the two that set things up is for the debugger's own callbacks, from within them.
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
	/* Before an instruction of a warp. Non-zero: the kernel ends here, as if it were cancelled. */
	int (*step)(void *userdata, struct ts_ptx_warp *warp);
	/* After the last one; of a kernel that faulted before what is resident goes. NULL: it did not. */
	void (*end)(void *userdata, const struct ts_ptx_fault *fault);
};

/* -EINVAL: the engine has more than one thread. The debugger stays the caller's. */
int ts_ptx_engine_debug(struct ts_ptx_engine *engine, const struct ts_ptx_debugger *debugger);

/* As ts_ptx_link(). `texts`, one for each module, outlive the image. */
int ts_ptx_link_named(struct ts_ptx_module *const *modules, const char *const *texts,
		      size_t n_modules, struct ts_ptx_image **ret_image,
		      struct ts_ptx_error *error);

/* An instruction that is to be carried out, or was called from. */
struct ts_ptx_place {
	const char *function;
	const char *source_file; /* NULL: not known */
	const char *text;	 /* the whole PTX that it is in; NULL: not kept */
	uint32_t line;		 /* of that */
	uint32_t source_line;	 /* 0: not known */
};

enum ts_ptx_lane_state {
	TS_PTX_LANE_READY,
	TS_PTX_LANE_WARP_SYNC, /* waits for lanes of its warp */
	TS_PTX_LANE_BARRIER,   /* waits for threads of its block */
	TS_PTX_LANE_JOINED,    /* waits where ways meet again */
	TS_PTX_LANE_EXITED,
};

struct ts_ptx_block_view {
	uint64_t index;
	uint32_t ctaid[3];
	uint32_t n_threads, n_warps, n_live;
	uint32_t shared_bytes;
};

/* Resident blocks, from 0; false: there are no more. */
bool ts_ptx_debug_block(const struct ts_ptx_warp *warp, size_t i,
			struct ts_ptx_block_view *ret_view);
/* The block that a warp is of. */
void ts_ptx_debug_block_of(const struct ts_ptx_warp *warp, struct ts_ptx_block_view *ret_view);
/* A warp of a resident block, by the block's index; NULL: it is not resident, or has no such warp. */
struct ts_ptx_warp *ts_ptx_debug_warp(const struct ts_ptx_warp *warp, uint64_t block, uint32_t i);
uint32_t ts_ptx_debug_warp_index(const struct ts_ptx_warp *warp);
/* Lanes that carry out the next instruction together, of the warp that is asked about. */
uint32_t ts_ptx_debug_active(const struct ts_ptx_warp *warp);
void ts_ptx_debug_thread(const struct ts_ptx_warp *warp, uint32_t lane, uint32_t ret_tid[3]);
enum ts_ptx_lane_state ts_ptx_debug_lane(const struct ts_ptx_warp *warp, uint32_t lane);
/* Where a lane is: level 0 the innermost call. False: it is not so deep, or nowhere. */
bool ts_ptx_debug_place(const struct ts_ptx_warp *warp, uint32_t lane, uint32_t level,
			struct ts_ptx_place *ret_place);

/* Functions of the image that a warp runs, and their instructions, from 0. False: there are no more. */
size_t ts_ptx_debug_n_functions(const struct ts_ptx_warp *warp);
bool ts_ptx_debug_instruction(const struct ts_ptx_warp *warp, size_t function, size_t i,
			      struct ts_ptx_place *ret_place);

struct ts_ptx_register_view {
	char name[64];
	const char *type; /* "u32", "pred" */
	uint64_t value;
	bool is_live; /* it has a value that is still needed */
};
/* Registers of a lane's call, from 0. False: there are no more, or they have no names. */
bool ts_ptx_debug_register(const struct ts_ptx_warp *warp, uint32_t lane, uint32_t level, size_t i,
			   struct ts_ptx_register_view *ret_view);
/* How many bytes of the block's shared memory there are from an offset on, at most n; they are copied. */
size_t ts_ptx_debug_shared(const struct ts_ptx_warp *warp, uint64_t offset, void *to, size_t n);
/* The same of a generic address of a lane's. */
size_t ts_ptx_debug_memory(struct ts_ptx_warp *warp, uint32_t lane, uint64_t address, void *to,
			   size_t n);

/* Of the register that the same numbers name; of a predicate the lowest bit. -ENOENT: there is none. */
int ts_ptx_debug_set_register(struct ts_ptx_warp *warp, uint32_t lane, uint32_t level, size_t i,
			      uint64_t value);
/* All n bytes, or none. -EFAULT: there is not so much memory; -EROFS: it is constant, or a parameter. */
int ts_ptx_debug_write_shared(struct ts_ptx_warp *warp, uint64_t offset, const void *from,
			      size_t n);
int ts_ptx_debug_write(struct ts_ptx_warp *warp, uint32_t lane, uint64_t address, const void *from,
		       size_t n);

#ifdef __cplusplus
}
#endif
