/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a replay on the virtual GPU for errors of the program, even if its results are right. It
 * finds data races within kernels and between operations, reads of unwritten memory, and accesses
 * outside allocations. It also finds changes of host memory during a copy from it.
 *
 * The replay (exec/run.c, exec/vgpu) reports allocations and operations in order; each operation
 * completes before the next begins. Kernels run on an engine with ts_check_observer(). Each finding
 * is certain. Unknown facts count as ordered and written, for example what a host function did, or
 * memory beyond a limit. README.md has the rules.
 *
 * Not thread-safe. Errors: 0, -ENOMEM. A callback's error is returned by ts_check_done().
 */
#pragma once

#include "replay/vgpu/ptx/observe.h"
#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks to run. */
#define TS_CHECK_RACES	(1u << 0) /* within kernels */
#define TS_CHECK_INIT	(1u << 1)
#define TS_CHECK_BOUNDS (1u << 2)
#define TS_CHECK_ORDER	(1u << 3) /* between operations */
#define TS_CHECK_ALL	(TS_CHECK_RACES | TS_CHECK_INIT | TS_CHECK_BOUNDS | TS_CHECK_ORDER)

enum ts_check_kind {
	TS_CHECK_FOUND_RACE = 1,  /* two unordered threads */
	TS_CHECK_FOUND_UNWRITTEN, /* read of unwritten memory */
	TS_CHECK_FOUND_OUT_OF_BOUNDS,
	TS_CHECK_FOUND_UNORDERED,    /* two unordered operations */
	TS_CHECK_FOUND_HOST_CHANGED, /* copy's source changed before its end */
	TS_CHECK_FOUND_STRAY,	     /* allocation without a pointer in the kernel */
};

/*
 * Returns "race", "unwritten", "out-of-bounds", "unordered", "host-changed" or "stray"; NULL for
 * other numbers.
 */
const char *ts_check_kind_name(enum ts_check_kind kind);

#define TS_CHECK_NAME_BYTES 128u

/* One of the two accesses that conflict in a finding. */
struct ts_check_side {
	/* the operation of this access; sequence is 0 if there is no such access */
	uint64_t sequence, op_id;
	bool is_read, is_write, is_atomic;
	bool has_thread; /* a thread of a kernel made the access; the fields below are set */
	char function[TS_CHECK_NAME_BYTES]; /* mangled, truncated */
	uint32_t line;			    /* line in the PTX text */
	char source_file[256];
	uint32_t source_line; /* 0: not known */
	uint32_t block[3], thread[3];
};

struct ts_check_finding {
	enum ts_check_kind kind;
	bool is_shared;	  /* the address is an offset in the block's shared memory */
	uint64_t address; /* address of the first affected byte */
	uint64_t bytes;	  /* size of the access */
	/* the allocation that contains the address or is nearest to it; 0 bytes: none */
	uint64_t allocation, allocation_bytes;
	/* mangled name of the kernel, truncated; empty: no kernel */
	char kernel[TS_CHECK_NAME_BYTES];
	struct ts_check_side access;  /* the access that was checked */
	struct ts_check_side earlier; /* the access that it conflicts with */
	/* number of times that the same instructions or operations conflicted */
	uint64_t n;
};

#define TS_CHECK_MAX_FINDINGS 64u

struct ts_check;

/*
 * Creates the checks of one replay. `what` is a mask of TS_CHECK_*. The caller frees *ret_check.
 * Returns 0 or -ENOMEM.
 */
int ts_check_new(uint32_t what, struct ts_check **ret_check);
void ts_check_free(struct ts_check *check); /* NULL is accepted */
/* Returns the observer for the PTX engine that runs the kernels. It is valid as long as `check`. */
const struct ts_ptx_observer *ts_check_observer(const struct ts_check *check);

/*
 * Sets a function that reads device memory while a kernel runs. `memory` returns a pointer to
 * n_bytes, or NULL. The check for strays needs it for kernels whose constants may be pointers.
 * `memory` may be NULL, which is the default.
 */
void ts_check_memory(struct ts_check *check,
		     const uint8_t *(*memory)(void *userdata, uint64_t address, uint64_t n_bytes),
		     void *userdata);

#define TS_CHECK_ALLOC_WRITTEN (1u << 0) /* it has initial content */
#define TS_CHECK_ALLOC_PINNED  (1u << 1) /* host memory */
#define TS_CHECK_ALLOC_MANAGED (1u << 3) /* accessible to host and device */
/* mapped by cuMemMap(): a kernel's pointer may cross into an adjacent mapping */
#define TS_CHECK_ALLOC_MAPPED (1u << 2)
/* Reports that memory is allocated or freed. ts_check_alloc() returns 0 or -ENOMEM. */
int ts_check_alloc(struct ts_check *check, uint64_t address, uint64_t bytes, uint32_t flags);
void ts_check_release(struct ts_check *check, uint64_t address);

/*
 * _begin() is called before an operation, _done() after the operation and all its reported
 * accesses.
 */
int ts_check_begin(struct ts_check *check, const struct ts_row_operation *operation);
int ts_check_done(struct ts_check *check);
/*
 * Report a contiguous range that the current operation writes or reads. `from` is the source of a
 * copy, or 0.
 */
int ts_check_writes(struct ts_check *check, uint64_t address, uint64_t bytes, uint64_t from);
int ts_check_reads(struct ts_check *check, uint64_t address, uint64_t bytes);
/* Reports host memory that the operation reads, with its bytes at the time of the call. */
int ts_check_takes(struct ts_check *check, uint64_t address, const uint8_t *bytes, size_t n_bytes);

/*
 * Returns an array of *ret_n findings. It is valid until the next call that may add a finding, and
 * as long as `check`.
 */
const struct ts_check_finding *ts_check_findings(const struct ts_check *check, size_t *ret_n);
/*
 * Return the number of findings that were dropped at the limit, and how often the checks reached
 * another limit. Such a limit leaves an access unchecked, the races of a kernel with too many
 * threads, or the order of all later operations of a program with too many streams.
 */
uint64_t ts_check_n_more(const struct ts_check *check);
uint64_t ts_check_n_unlooked(const struct ts_check *check);

#ifdef __cplusplus
}
#endif
