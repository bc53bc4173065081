/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that was named after it had been freed, and how full pools were, as far as records prove it.
 *
 * Copies, sets and frees that fail say which memory they name (TS_ROW_ACCESS); what kernels and the nodes of graphs are given is not
 * recorded, so that what they touch is not judged. A call is told of where
 *   - what it names has been freed by a call that had returned before it began, or that came before it on the same thread, and has
 *     not been allocated since, as far as is recorded. In streams order makes no difference: what is issued after a
 *     stream-ordered free cannot be ordered before it;
 *   - and it was the device's memory that it named: it failed, or its device row says so. Addresses of the host may be anybody's by
 *     then, and are not judged.
 * Nothing is judged across a pause, a yield or a loss that may have hidden an allocation. Where a half is missing the finding is
 * marked (TS_MISUSE_UNSURE_*).
 *
 * Pools are the stream-ordered allocator's. Holes are memory that was allocated from a pool, has been freed, and was not allocated
 * again; neighbours count as one.
 *
 * Memory is bounded by the addresses that were ever used. One thread at a time; nothing is printed.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_misuse_kind {
	TS_MISUSE_READ = 1, /* after it was freed */
	TS_MISUSE_WRITE = 2,
	TS_MISUSE_DOUBLE_FREE = 3,
};

/* "read_after_free", "write_after_free", "double_free"; NULL for other numbers. */
const char *ts_misuse_kind_name(uint32_t kind);

#define TS_MISUSE_UNSURE_CALL \
	(1u << 0) /* one of the calls was not recorded: their order is that of their ids */
#define TS_MISUSE_UNSURE_DEVICE \
	(1u                     \
	 << 1) /* it succeeded, and no device row says whose memory it was: it may be the host's by now */
#define TS_MISUSE_UNSURE_MAPPED \
	(1u                     \
	 << 2) /* the application maps memory itself, or opens another process's: it may lie there */
#define TS_MISUSE_UNSURE_LOST (1u << 3) /* something was lost, and when is not known */

struct ts_misuse_call {
	uint64_t op_id;
	uint64_t start_ns, end_ns; /* 0: it was not recorded */
	uint32_t thread, stack;	   /* 0: not known */
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
	uint64_t address, bytes;     /* what was named; of a free 0 bytes */
	uint64_t block, block_bytes; /* what was allocated there; 0 bytes: not recorded */
	struct ts_misuse_call use, freed, allocated;
};

/* A pool, when it had to grow although what it held was not all in use, and that was the most; and in all. */
struct ts_pool_use {
	uint32_t session, device;
	uint64_t pool;
	uint64_t peak_bytes, peak_ns; /* that it held of the device's memory */
	uint64_t peak_used_bytes;
	uint64_t n_growths,
		n_growths_with_room; /* with room: what was not in use would have been enough in one piece */
	uint64_t wasted_ns;	     /* of the largest such growth; 0: there was none */
	uint64_t wasted_bytes;				  /* held and not used before it */
	uint64_t asked_bytes;				  /* for what it had to grow */
	uint64_t n_holes, hole_bytes, largest_hole_bytes; /* then */
};

struct ts_misuses {
	struct ts_misuse *list; /* in the order of time; at most as many as asked for */
	size_t n_listed;
	uint64_t n;
	struct ts_pool_use *pools; /* by session, pool */
	size_t n_pools;
	uint64_t n_accesses; /* that were looked at: 0 in a file whose recorder did not tell them */
	uint64_t
		n_unknown_frees; /* that failed: of what is neither allocated nor freed, as far as is recorded */
	bool is_damaged; /* blocks were left out: what they held is missing here */
};

/* Findings that are examined at most; later ones are not. */
#define TS_MISUSE_MAX 65536u

/* `session` 0: all. Errors: -ENOMEM, those of sbt/reader.h, TS_E_POOLS. */
int ts_misuses_read(struct ts_sbt_reader *reader, uint32_t session, size_t max_listed,
		    struct ts_misuses **ret_misuses);
void ts_misuses_free(struct ts_misuses *misuses); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_misuses *, ts_misuses_freep, ts_misuses_free)

#ifdef __cplusplus
}
#endif
