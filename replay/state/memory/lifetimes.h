/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernels ran while an allocation was alive: of all that covered an address, one after the other, the kernels of the same
 * process and device (of memory of the host, any device) that ran between the calls that allocated and that freed, by name. Of
 * memory in a stream's order also those that were launched before it was freed and ran later.
 *
 * Not said: that they used it; what kernels are given is not recorded. Two passes over a trace; memory follows from names. One
 * thread; nothing is printed.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocations of one address that are told of: the first ones. */
#define TS_LIFETIMES_MAX 64u

struct ts_lifetimes_kernel {
	uint32_t name; /* a string */
	uint64_t count, ns;
};

struct ts_lifetimes_allocation {
	uint32_t session;
	struct ts_row_memory row; /* TS_ROW_ALLOC's */
	uint64_t end_ns;	  /* it was freed; UINT64_MAX: it was not */
	uint64_t free_op_id;
	struct ts_lifetimes_kernel *kernels; /* the longest first */
	size_t n_kernels;
	uint64_t count, ns; /* of all */
};

struct ts_lifetimes {
	struct ts_lifetimes_allocation *allocations; /* by time */
	size_t n_allocations;
	uint64_t n_all;	 /* with those that are not told of */
	bool is_damaged; /* blocks were left out: what they held is missing here */
};

/* `session` 0: all. Errors: -ENOMEM and those of sbt/reader.h. */
int ts_lifetimes_read(struct ts_sbt_reader *reader, uint32_t session, uint64_t address,
		      struct ts_lifetimes **ret_lifetimes);
void ts_lifetimes_free(struct ts_lifetimes *lifetimes); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_lifetimes *, ts_lifetimes_freep, ts_lifetimes_free)

#ifdef __cplusplus
}
#endif
