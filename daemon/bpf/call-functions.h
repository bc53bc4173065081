/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the vendors' libraries that get probes: launch, copy, set, allocate, free and
 * wait, and the functions that name a kernel. The data is constant after the first call of
 * ts_call_functions(). Make that call before there are threads.
 */
#pragma once

#include "daemon/bpf/call.h"
#include "proto/abi/record.h"

struct ts_call_function {
	char symbol[72];
	uint64_t cookie; /* call.h */
	uint16_t domain; /* enum ts_api_domain */
	uint16_t cbid;
};

/*
 * Returns the functions, indexed by the number in the cookie. Functions that are not recorded as
 * calls (roles other than TS_CALL_PLAIN) have domain 0. The array is static.
 */
const struct ts_call_function *ts_call_functions(size_t *ret_n);

/* True if a file of that name (the last part of its path) may have any of these functions. */
bool ts_call_is_library(const char *name);
