/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that a copy, set, free or allocation accesses, from the call's parameters. Call these
 * functions inside the callback only, while the parameters are valid. No state.
 */
#pragma once

#include "proto/abi/record.h"

struct ts_access {
	uint64_t dst, src; /* 0: not known */
	uint64_t dst_bytes, src_bytes;
	uint32_t kind; /* enum ts_access_kind */
};

/*
 * Returns false if the call accesses no known memory. domain: enum ts_cupti_domain, driver or
 * runtime.
 */
bool ts_access_of(uint32_t domain, uint32_t cbid, const void *params, struct ts_access *ret_access);
/*
 * Like the function above, for copies and sets of rows and boxes, whose parameters are in a
 * structure of the application. `result` is the call's return value.
 */
bool ts_access_of_box(uint32_t domain, uint32_t cbid, const void *params, int32_t result,
		      struct ts_access *ret_access);
/*
 * Like the functions above, for allocations. If `result` is an error, the access is a failed
 * request, and ret_access->dst is 0. Returns false if the call is unknown.
 */
bool ts_access_of_alloc(uint32_t domain, uint32_t cbid, const void *params, int32_t result,
			struct ts_access *ret_access);
