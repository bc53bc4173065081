/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values on a command line. Outputs are untouched on failure.
 */
#pragma once

#include <stdint.h>

/* Parses a decimal number of [min, max], nothing behind it. Returns 0, -EINVAL or -ERANGE. */
int ts_parse_number(const char *text, unsigned long long min, unsigned long long max,
		    unsigned long long *ret_number);
/* The same with an optional suffix K, M or G, powers of 1024. */
int ts_parse_bytes(const char *text, unsigned long long min, unsigned long long max,
		   unsigned long long *ret_bytes);
/* A time as ts_time_parse() reads it; seconds if it has no unit. Returns 0, -EINVAL or -ERANGE. */
int ts_parse_seconds(const char *text, uint64_t *ret_ns);
/* A time as ts_time_parse() reads it, whose unit is there. Returns 0, -EINVAL or -ERANGE. */
int ts_parse_time_with_unit(const char *text, uint64_t *ret_ns);
/*
 * Operation ids: "7" is one, "7..20" from one to another. Complains of --ops and returns -EINVAL.
 */
int ts_ops_parse(const char *text, uint64_t *ret_first, uint64_t *ret_last);
