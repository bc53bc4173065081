/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the kernels that ran while an allocation was alive. For each allocation that covered an
 * address, it sums the kernels by name that ran between the allocating and the freeing call. The
 * kernels are those of the same process and device; for host memory, of any device. For
 * stream-ordered memory, kernels that were launched before the free and ran later count too.
 *
 * The result does not show that a kernel used the memory, because kernel arguments are not
 * recorded. The module reads the trace twice. Memory is bounded by the number of names. Not
 * thread-safe; prints nothing.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of listed allocations of one address; the first ones are listed. */
#define TS_LIFETIMES_MAX 64u

struct ts_lifetimes_kernel {
	uint32_t name; /* a string */
	uint64_t count, ns;
};

struct ts_lifetimes_allocation {
	uint32_t session;
	struct ts_row_memory row; /* the row of TS_ROW_ALLOC */
	uint64_t end_ns;	  /* time of the free; UINT64_MAX: not freed */
	uint64_t free_op_id;
	struct ts_lifetimes_kernel *kernels; /* longest time first */
	size_t n_kernels;
	uint64_t count, ns; /* over all kernels */
};

struct ts_lifetimes {
	struct ts_lifetimes_allocation *allocations; /* by time */
	size_t n_allocations;
	uint64_t n_all;	 /* including allocations that are not listed */
	bool is_damaged; /* damaged blocks were left out */
};

/*
 * Finds the allocations that covered the address, and their kernels. `session` 0: all. Returns
 * -ENOMEM or the errors of sbt/reader.h. The caller frees *ret_lifetimes.
 */
int ts_lifetimes_read(struct ts_sbt_reader *reader, uint32_t session, uint64_t address,
		      struct ts_lifetimes **ret_lifetimes);
void ts_lifetimes_free(struct ts_lifetimes *lifetimes); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_lifetimes *, ts_lifetimes_freep, ts_lifetimes_free)

#ifdef __cplusplus
}
#endif
