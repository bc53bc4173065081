/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor's state: workers run resident blocks, blocks have warps, and a warp's lanes run in
 * splits.
 *
 * A split is a set of lanes at one instruction. When a branch diverges, a join is created for the
 * instruction where both paths reconverge (the branch's immediate post-dominator). The split
 * becomes two splits under this join. A call creates a join for its return.
 *
 *     split {0..31}  bra
 *                     |-- split {0..15}  taken path ----.
 *                     '-- split {16..31} other path ----+--> join: arrived == expected
 *                                                             split {0..31} continues
 *
 * Unlike a stack, this scheme lets any split of a warp run. So a split that polls memory does not
 * keep the split that writes this memory from running, as the thread scheduling of GPUs since Volta
 * guarantees. If the lanes that a join still expects only poll, as in the loop of a lock, the lanes
 * that have arrived at the join continue without them.
 *
 * A warp has at most 32 splits, because splits are disjoint and not empty. A warp has at most 31
 * branch joins, because each join has lanes that no other join has. The thread's stack limits
 * calls.
 */
#pragma once

#include <stdatomic.h>
#include <string.h>

#include "replay/vgpu/ptx/debug.h"
#include "replay/vgpu/ptx/lanes/ops.h"
#include "replay/vgpu/ptx/schedule.h"

enum {
	TS_PTX_LANES = 32,
	TS_PTX_MAX_WARPS = TS_PTX_MAX_THREADS / 32,
	TS_PTX_MAX_CALL_DEPTH = 1024,
	TS_PTX_N_BARRIERS = 16, /* PTX numbers them 0 to 15; 16 is the cluster's barrier */
	TS_PTX_CLUSTER_BARRIER = TS_PTX_N_BARRIERS,
	TS_PTX_RESERVED_SHARED = 1024,
	TS_PTX_N_RANGES = 8,
	TS_PTX_SLICE = 4096,	  /* warp instructions of one turn */
	TS_PTX_BLOCK_PASSES = 16, /* passes over a block's warps before another block runs */
	TS_PTX_SYNC_COST = 64,	  /* instructions that one polling access counts as */
	TS_PTX_SPINNING =
		16, /* Polling accesses in a turn that may mean a wait for a lane at a join. */
};

struct ts_ptx_frame {
	struct ts_ptx_frame *next_free;
	const struct ts_ptx_code *code;
	uint32_t local_base;
	uint32_t depth;
	uint32_t size_class;
	_Alignas(64) uint8_t regs[];
};

struct ts_ptx_join {
	struct ts_ptx_join *parent;
	const struct ts_ptx_insn *pc;
	struct ts_ptx_frame *frame; /* frame after the join */
	/* frame of the called function; freed when all lanes have returned from the call */
	struct ts_ptx_frame *callee;
	uint32_t expected, arrived;
	const struct ts_ptx_insn *call;
};

enum ts_ptx_split_state {
	SPLIT_READY,
	SPLIT_WARP_SYNC,
	SPLIT_BARRIER
};

struct ts_ptx_split {
	const struct ts_ptx_insn *pc;
	struct ts_ptx_frame *frame;
	struct ts_ptx_join *join;
	uint32_t mask;
	uint32_t members; /* WARP_SYNC: lanes that must arrive */
	enum ts_ptx_split_state state;
	uint32_t barrier;
};

/* Reason for the return of loop(). */
enum ts_ptx_stop {
	STOP_SLICE, /* the turn is over */
	STOP_SPLIT, /* the split ended or waits: choose another */
	STOP_FAULT,
};

struct ts_ptx_warp {
	/* Working state of loop(): the current split. */
	uint8_t *bank[2];
	const struct ts_ptx_insn *pc;
	uint32_t act;
	uint32_t current; /* index in splits */
	int64_t slice;
	uint32_t n_watched; /* polling accesses in this turn */
	struct ts_ptx_block *block;
	struct ts_ptx_worker *worker;
	uint64_t n_warp_insns, n_thread_insns;
	uint32_t live; /* lanes that have not exited */
	uint32_t first_live;
	struct ts_ptx_frame *base; /* the kernel's frame */
	uint32_t index;		   /* index in the block */
	uint32_t n_splits;
	struct ts_ptx_split splits[TS_PTX_LANES];
	uint32_t tid[3][TS_PTX_LANES];
};

struct ts_ptx_barrier {
	uint32_t arrived[TS_PTX_MAX_WARPS]; /* lanes that have arrived */
	uint32_t n_arrived;
	uint32_t n_needed; /* 0: all threads of the block */
	uint32_t popc;
	bool all, any;
	bool used;
};

/*
 * A block may access shared memory up to the end of the last allocation unit of hardware (128 bytes
 * for CC 7.0 and later).
 */
#define TS_PTX_SHARED_REACH(bytes) (((bytes) + 127u) & ~127u)

struct ts_ptx_block {
	struct ts_ptx_block *next;
	struct ts_ptx_worker *worker;
	uint64_t index;
	uint32_t ctaid[3];
	uint32_t n_threads, n_warps, n_live;
	/*
	 * Used if a scheduler is set: the next warp, the number of the block's turns since it was
	 * put at the end of the worker's list, and the number of its latest turns in a row that
	 * only polled.
	 */
	uint32_t next_warp, n_turns, n_spun;
	bool spins; /* All its turns of the last pass only polled: it waits for another block. */
	uint8_t *shared; /* TS_PTX_SHARED_REACH() bytes */
	uint32_t shared_bytes, shared_capacity;
	uint8_t *local;
	size_t local_capacity;
	uint32_t local_stride; /* bytes per thread */
	struct ts_ptx_barrier barriers[TS_PTX_N_BARRIERS + 1];
	/*
	 * one bit for each barrier number, so that a new block clears only the barriers that were
	 * used
	 */
	uint32_t barriers_used;
	struct ts_ptx_warp *warps;
	uint32_t warps_capacity;
	uint32_t n_placed, placed_x, placed_y; /* warps with a valid tid, for this shape */
	void *observed;			       /* the observer's pointer */
};

struct ts_ptx_range {
	uint64_t base, bytes;
	uint8_t *host;
	bool read_only;
};

#define TS_PTX_SIZE_CLASSES 32

struct ts_ptx_worker {
	struct ts_ptx_engine *engine;
	const struct ts_ptx_launch *launch;
	const struct ts_ptx_kernel *kernel;
	const struct ts_ptx_image *image;
	const uint8_t *params;
	uint32_t params_bytes;
	uint32_t dynamic_offset; /* start of extern shared arrays */
	uint32_t local_limit;	 /* bytes of one thread's local memory */
	uint32_t index;
	struct ts_ptx_range ranges[TS_PTX_N_RANGES];
	uint32_t next_range;
	struct ts_ptx_block *blocks, *spare;
	uint32_t n_blocks;
	struct ts_ptx_frame *free_frames[TS_PTX_SIZE_CLASSES];
	struct ts_ptx_join *free_joins;
	struct ts_ptx_stats stats;
	struct ts_ptx_fault fault;
	const struct ts_ptx_observer *observer;	  /* NULL: none */
	const struct ts_ptx_scheduler *scheduler; /* NULL: none */
	const struct ts_ptx_debugger *debugger;	  /* NULL: none */
	/* TS_PTX_OBSERVING and TS_PTX_ACCESS_* flags, while an observed instruction runs */
	uint32_t observing;
	bool observed_atomic;
	const uint8_t (*observed_values)[TS_PTX_OBSERVED_BYTES];
	uint64_t unreported; /* warp instructions since the last charge */
	uint64_t watching;   /* warp instructions since the last turn that did more than poll */
	/* sum of atomics, written bytes, barriers and ended blocks at that turn */
	uint64_t done;
	/*
	 * The worker only polls (max_watching_insns), so it is not counted in
	 * launch->watch->n_active.
	 */
	bool only_watches;
};

static inline void *ts_ptx_slot(const struct ts_ptx_warp *w, uint32_t ref)
{
	return w->bank[ref & 1] + (ref & ~1u);
}

/* Returns the operand. Reads its first and last lane, so that the sanitizers check them. */
void *ts_ptx_checked_lanes(void *operand, size_t lane_bytes);

/* True if the operand is in the pool of constants, which are equal in all lanes. */
static inline bool ts_ptx_is_constant(uint32_t ref)
{
	return ref & 1;
}

/* Results are never in the pool. */
static inline void *ts_ptx_result(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	return w->bank[0] + in->dst;
}

static inline uint32_t *ts_ptx_pred(const struct ts_ptx_warp *w, uint32_t ref)
{
	return ts_ptx_slot(w, ref);
}

static inline uint32_t ts_ptx_guarded(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	return w->act & (*ts_ptx_pred(w, in->guard) ^ in->guard_xor);
}

static inline const struct ts_ptx_frame *ts_ptx_frame_of(const struct ts_ptx_warp *w)
{
	return w->splits[w->current].frame;
}

static inline const uint32_t *ts_ptx_operands(const struct ts_ptx_warp *w,
					      const struct ts_ptx_insn *in)
{
	return ts_ptx_frame_of(w)->code->operands + in->aux;
}

/*
 * ptx-fault.c: record a fault at a lane of the warp, and return STOP_FAULT. A worker keeps its
 * first fault.
 */
int ts_ptx_fault(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t lane,
		 enum ts_ptx_fault_kind kind, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
int ts_ptx_fault_access(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t lane,
			enum ts_ptx_fault_kind kind, uint64_t address, uint32_t bytes, bool write);

/*
 * control-flow.c: loop() calls it when control flow is not straight. Returns 0 to continue, or enum
 * ts_ptx_stop + 1.
 */
int ts_ptx_control(struct ts_ptx_warp *w, const struct ts_ptx_insn *in);
void ts_ptx_split_load(struct ts_ptx_warp *w, uint32_t i);
void ts_ptx_split_store(struct ts_ptx_warp *w);
int ts_ptx_warp_start(struct ts_ptx_warp *w, const struct ts_ptx_code *code, uint32_t lanes);
/* Loads a ready split. False: there is none. */
bool ts_ptx_warp_choose(struct ts_ptx_warp *w, bool rotate);
void ts_ptx_warp_drop(struct ts_ptx_warp *w);
/* Releases lanes that wait at joins. False: there are none. */
bool ts_ptx_warp_break(struct ts_ptx_warp *w);
/* Charges the cost of an access that threads may use to wait for each other. */
static inline void ts_ptx_watch(struct ts_ptx_warp *w)
{
	w->slice -= TS_PTX_SYNC_COST;
	w->n_watched++;
}
struct ts_ptx_frame *ts_ptx_frame_new(struct ts_ptx_worker *worker, const struct ts_ptx_code *code,
				      uint32_t local_base, uint32_t depth);
void ts_ptx_frame_free(struct ts_ptx_worker *worker, struct ts_ptx_frame *frame);

/* barrier.c */
int ts_ptx_barrier_insn(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask);
void ts_ptx_barrier_exit(struct ts_ptx_block *block);

/* builtin.c */
int ts_ptx_builtin_call(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask,
			const struct ts_ptx_code *code);

/* ptx-memory.c */
/* Checks the addresses and returns the host pointers of every lane of mask. */
int ts_ptx_addresses(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask,
		     uint32_t bytes, bool write, uint8_t *ret_host[TS_PTX_LANES]);
const struct ts_ptx_range *ts_ptx_range_resolve(struct ts_ptx_worker *worker, uint64_t address);
/*
 * Returns the host pointer of a generic address of one lane and the number of bytes that follow.
 * NULL: invalid address.
 */
uint8_t *ts_ptx_locate(struct ts_ptx_warp *w, uint32_t lane, uint64_t address,
		       uint64_t *ret_bytes_left, bool *ret_read_only);
/* observe-access.c: reports an access; `address` as in the instruction. */
#define TS_PTX_OBSERVING (1u << 31)
void ts_ptx_observed(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
		     const uint64_t address[TS_PTX_LANES], uint32_t bytes, bool write,
		     uint8_t *const host[TS_PTX_LANES]);
/*
 * schedule.c: returns the lane that runs an atomic first. The other lanes follow in ascending
 * order, with wrap-around.
 */
uint32_t ts_ptx_first_lane(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
			   uint8_t *const host[TS_PTX_LANES]);
static inline uint32_t ts_ptx_next_lane(uint32_t left, uint32_t first)
{
	return (uint32_t)__builtin_ctz(left >> first ? left >> first << first : left);
}

/* debug.c: runs a warp's turn if the engine has a debugger. */
int ts_ptx_debug_turn(struct ts_ptx_warp *w, int (*loop)(struct ts_ptx_warp *));
/* host.c */
const struct ts_ptx_host *ts_ptx_engine_host(const struct ts_ptx_engine *engine);
void ts_ptx_print(struct ts_ptx_worker *worker, const char *text, size_t n);

#ifdef __aarch64__
/* Control register of float arithmetic. 0: rounds to nearest, keeps denormals, traps nothing. */
static inline uint64_t ts_ptx_fpcr(void)
{
	uint64_t mode;

	__asm__ __volatile__("mrs %0, fpcr" : "=r"(mode) : : "memory");
	return mode;
}

static inline void ts_ptx_set_fpcr(uint64_t mode)
{
	__asm__ __volatile__("msr fpcr, %0" : : "r"(mode) : "memory");
}
#endif
