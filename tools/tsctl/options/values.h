/* SPDX-License-Identifier: Apache-2.0 */
/* Values on a command line. Outputs are untouched on failure. */
#pragma once

#include <stdint.h>

/* Parses a decimal number of [min, max] without trailing text. Returns 0, -EINVAL or -ERANGE. */
int ts_parse_number(const char *text, unsigned long long min, unsigned long long max,
		    unsigned long long *ret_number);
/* Like ts_parse_number(), with an optional suffix K, M or G (powers of 1024). */
int ts_parse_bytes(const char *text, unsigned long long min, unsigned long long max,
		   unsigned long long *ret_bytes);
/*
 * Parses a time like ts_time_parse(); a time without a unit is in seconds. Returns 0, -EINVAL or
 * -ERANGE.
 */
int ts_parse_seconds(const char *text, uint64_t *ret_ns);
/* Parses a time like ts_time_parse(); the unit is required. Returns 0, -EINVAL or -ERANGE. */
int ts_parse_time_with_unit(const char *text, uint64_t *ret_ns);
/*
 * Parses operation ids: "7" is one, "7..20" a range. Prints an error about --ops and returns
 * -EINVAL if they are malformed.
 */
int ts_ops_parse(const char *text, uint64_t *ret_first, uint64_t *ret_last);
