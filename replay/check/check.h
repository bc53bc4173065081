/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a program that is done again on the virtual GPU, though its results may be as they were: data races within
 * kernels and between operations, reads of memory that nobody wrote, accesses outside of allocations, host memory that was changed
 * under a copy.
 *
 * Who does the program tells what there is and what is done, in order, each operation over before the next one; kernels run on an
 * engine that ts_check_observer() looks on at. What is told is certain: where something is not known (bytes too many to be
 * kept track of, what a host function did) it counts as ordered and written. README.md says by which rules.
 *
 * One thread at a time. Errors: 0, -ENOMEM; callbacks keep theirs until ts_check_done().
 */
#pragma once

#include "replay/vgpu/ptx/observe.h"
#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to look for. */
#define TS_CHECK_RACES	(1u << 0) /* within kernels */
#define TS_CHECK_INIT	(1u << 1)
#define TS_CHECK_BOUNDS (1u << 2)
#define TS_CHECK_ORDER	(1u << 3) /* between operations */
#define TS_CHECK_ALL	(TS_CHECK_RACES | TS_CHECK_INIT | TS_CHECK_BOUNDS | TS_CHECK_ORDER)

enum ts_check_kind {
	TS_CHECK_FOUND_RACE = 1,  /* two threads, nothing between that orders them */
	TS_CHECK_FOUND_UNWRITTEN, /* memory is read that nobody wrote */
	TS_CHECK_FOUND_OUT_OF_BOUNDS,
	TS_CHECK_FOUND_UNORDERED,    /* two operations, nothing between that orders them */
	TS_CHECK_FOUND_HOST_CHANGED, /* the source of a copy, before it was done */
	TS_CHECK_FOUND_STRAY,	     /* in an allocation that the kernel has no pointer to */
};

/* "race", "unwritten", "out-of-bounds", "unordered", "host-changed", "stray". NULL for other numbers. */
const char *ts_check_kind_name(enum ts_check_kind kind);

#define TS_CHECK_NAME_BYTES 128u

/* One of the two sides of a finding. */
struct ts_check_side {
	uint64_t sequence, op_id; /* of the operation; 0: there is no such side */
	bool is_read, is_write, is_atomic;
	bool has_thread;		    /* it was a kernel's thread: what follows is known */
	char function[TS_CHECK_NAME_BYTES]; /* mangled, and cut if it is longer */
	uint32_t line;			    /* of the PTX text */
	char source_file[256];
	uint32_t source_line; /* 0: not known */
	uint32_t block[3], thread[3];
};

struct ts_check_finding {
	enum ts_check_kind kind;
	bool is_shared;	  /* the address is an offset in the block's shared memory */
	uint64_t address; /* of the first byte concerned */
	uint64_t bytes;	  /* of the access */
	uint64_t allocation, allocation_bytes; /* that it lies in, or nearest; 0 bytes: none */
	char kernel[TS_CHECK_NAME_BYTES];      /* likewise; empty: no kernel's */
	struct ts_check_side access;	       /* what found it */
	struct ts_check_side earlier;	       /* what it is against */
	uint64_t n;			       /* how often: the same instructions, or operations */
};

#define TS_CHECK_MAX_FINDINGS 64u

struct ts_check;

int ts_check_new(uint32_t what, struct ts_check **ret_check);
void ts_check_free(struct ts_check *check); /* NULL is fine */
const struct ts_ptx_observer *ts_check_observer(const struct ts_check *check);

/*
 * How to read the device's memory while a kernel runs: where so many of its bytes lie, or NULL. Of kernels whose constants may be
 * pointers, those are known by it alone. `memory` may be NULL, as it is at first.
 */
void ts_check_memory(struct ts_check *check,
		     const uint8_t *(*memory)(void *userdata, uint64_t address, uint64_t n_bytes),
		     void *userdata);

#define TS_CHECK_ALLOC_WRITTEN (1u << 0) /* it has a content */
#define TS_CHECK_ALLOC_PINNED  (1u << 1) /* it is the host's */
#define TS_CHECK_ALLOC_MANAGED (1u << 3) /* the host and the device reach it */
#define TS_CHECK_ALLOC_MAPPED  (1u << 2) /* pointers go on into mapped memory beside it */
/* Memory comes and goes. -ENOMEM. */
int ts_check_alloc(struct ts_check *check, uint64_t address, uint64_t bytes, uint32_t flags);
void ts_check_release(struct ts_check *check, uint64_t address);

/* Before an operation, and after it and all that is told of it. */
int ts_check_begin(struct ts_check *check, const struct ts_row_operation *operation);
int ts_check_done(struct ts_check *check);
/* What the operation that was begun writes or reads, as it lies: from `from` copied, where that is not 0. */
int ts_check_writes(struct ts_check *check, uint64_t address, uint64_t bytes, uint64_t from);
int ts_check_reads(struct ts_check *check, uint64_t address, uint64_t bytes);
/* What it takes from the host's memory, which had these bytes when it was asked for. */
int ts_check_takes(struct ts_check *check, uint64_t address, const uint8_t *bytes, size_t n_bytes);

const struct ts_check_finding *ts_check_findings(const struct ts_check *check, size_t *ret_n);
/* That were not kept, and accesses that were not looked at, since too much would have had to be kept of them. */
uint64_t ts_check_n_more(const struct ts_check *check);
uint64_t ts_check_n_unlooked(const struct ts_check *check);

#ifdef __cplusplus
}
#endif
