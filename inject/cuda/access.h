/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory a copy, a set or a free names, by its arguments. Looks at them inside the callback only. No state.
 */
#pragma once

#include "proto/abi/record.h"

struct ts_access {
	uint64_t dst, src; /* 0: not told */
	uint64_t dst_bytes, src_bytes;
	uint32_t kind; /* enum ts_access_kind */
};

/* False where the call names nothing that is known of. domain: enum ts_cupti_domain, driver or runtime. */
bool ts_access_of(uint32_t domain, uint32_t cbid, const void *params, struct ts_access *ret_access);
/* The same of rows and boxes, whose structures are the application's: `result` is what the call returned. */
bool ts_access_of_box(uint32_t domain, uint32_t cbid, const void *params, int32_t result,
		      struct ts_access *ret_access);
/* What a call allocated, or asked for in vain; false if it is not known. */
bool ts_access_of_alloc(uint32_t domain, uint32_t cbid, const void *params, int32_t result,
			struct ts_access *ret_access);
