/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the vendors' libraries on which probes are put: those that launch, copy, set, allocate, free and wait,
 * and those by which a kernel gets its name. Constant data, made once: ts_call_functions() before there are threads.
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

/* By the number in the cookie. What is no call of anybody's (TS_CALL_NAMES and such) has domain 0. */
const struct ts_call_function *ts_call_functions(size_t *ret_n);

/* Whether a file of that name (the last part of its path) may have any of them. */
bool ts_call_is_library(const char *name);
