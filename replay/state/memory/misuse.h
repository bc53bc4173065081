/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds uses of freed memory, and how full pools were, as far as rows prove it.
 *
 * Copies, sets and failed frees record the memory that they name (TS_ROW_ACCESS). Arguments of
 * kernels and graph nodes are not recorded, so this module finds no misuse by a kernel or a graph
 * node. A call is reported if both conditions hold:
 * - The memory was freed before, and was not allocated since, as far as recorded. The freeing call
 *   returned before the use began, or came before it on the same thread. Streams do not matter:
 *   work that is issued after a stream-ordered free cannot be ordered before it.
 * - The memory was the device's: the call failed, or its device row states the kind. A host address
 *   may have a new owner when it is used, so its use is not reported.
 *
 * No use is reported if a pause, a yield or a loss between the free and the use may hide an
 * allocation. If a call's row or a device row is missing, the finding is marked
 * (TS_MISUSE_UNSURE_*).
 *
 * Pools are those of the stream-ordered allocator. A hole is memory that a pool allocated, freed,
 * and did not allocate again; adjacent holes count as one.
 *
 * Memory is bounded by the number of addresses in use over time. Not thread-safe; prints nothing.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_misuse_kind {
	TS_MISUSE_READ = 1, /* of freed memory */
	TS_MISUSE_WRITE = 2,
	TS_MISUSE_DOUBLE_FREE = 3,
};

/* Returns "read_after_free", "write_after_free" or "double_free"; NULL for other numbers. */
const char *ts_misuse_kind_name(uint32_t kind);

/* one of the calls was not recorded: their order is only the order of the operation ids */
#define TS_MISUSE_UNSURE_CALL (1u << 0)
/* the call succeeded, but no device row has the memory kind: the memory may be the host's now */
#define TS_MISUSE_UNSURE_DEVICE (1u << 1)
/*
 * the application maps memory, or opens memory of another process: that memory may be at this
 * address now
 */
#define TS_MISUSE_UNSURE_MAPPED (1u << 2)
#define TS_MISUSE_UNSURE_LOST	(1u << 3) /* data was lost at an unknown time */

struct ts_misuse_call {
	uint64_t op_id;
	uint64_t start_ns, end_ns; /* 0: not recorded */
	uint32_t thread, stack;	   /* 0: unknown */
	int32_t result;
	uint16_t domain, cbid;
};

struct ts_misuse {
	uint32_t kind; /* enum ts_misuse_kind */
	uint32_t session;
	uint32_t unsure; /* TS_MISUSE_UNSURE_* */
	uint32_t memory_kind;
	uint32_t device;
	uint32_t reserved;
	uint64_t address, bytes; /* the range that the call names; bytes is 0 for a free */
	/* the freed allocation at the address; bytes 0: not recorded */
	uint64_t block, block_bytes;
	struct ts_misuse_call use, freed, allocated;
};

/* A pool: its growths, and its state at the growth with the most unused memory. */
struct ts_pool_use {
	uint32_t session, device;
	uint64_t pool;
	/* maximum of the device memory that the pool held, and its time */
	uint64_t peak_bytes, peak_ns;
	uint64_t peak_used_bytes;
	/*
	 * Growths, and among them those at which the pool's unused memory was larger than the
	 * request.
	 */
	uint64_t n_growths, n_growths_with_room;
	uint64_t wasted_ns; /* time of the growth with most unused memory; 0: none */
	/* bytes that the pool held and did not use just before wasted_ns */
	uint64_t wasted_bytes;
	uint64_t asked_bytes; /* size of the request that made the pool grow at wasted_ns */
	uint64_t n_holes, hole_bytes, largest_hole_bytes; /* holes at that time */
};

struct ts_misuses {
	struct ts_misuse *list; /* in time order; at most max_listed */
	size_t n_listed;
	uint64_t n;
	struct ts_pool_use *pools; /* by session, pool */
	size_t n_pools;
	/* Accesses that were checked. 0 in a file of a recorder without access rows. */
	uint64_t n_accesses;
	/* Failed frees of memory that was neither allocated nor freed, as far as recorded. */
	uint64_t n_unknown_frees;
	bool is_damaged; /* damaged blocks were left out */
};

/* Limit on candidates; later ones are not examined. */
#define TS_MISUSE_MAX 65536u

/*
 * Finds the misuses and pools of a trace. `session` 0: all. Returns -ENOMEM, TS_E_POOLS, or the
 * errors of sbt/reader.h. The caller frees *ret_misuses.
 */
int ts_misuses_read(struct ts_sbt_reader *reader, uint32_t session, size_t max_listed,
		    struct ts_misuses **ret_misuses);
void ts_misuses_free(struct ts_misuses *misuses); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_misuses *, ts_misuses_freep, ts_misuses_free)

#ifdef __cplusplus
}
#endif
