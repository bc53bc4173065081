/* SPDX-License-Identifier: Apache-2.0 */
/* Parses numbers and sizes of the command line. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "proto/abi/base.h"

/*
 * Parses a number of decimal digits. Returns 0, or -EINVAL: another character, or a number above
 * `most`.
 */
static inline int ts_number_parse(const char *text, uint64_t most, uint64_t *ret_number)
{
	uint64_t number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || number > most)
		return -EINVAL;
	*ret_number = number;
	return 0;
}

/*
 * Parses a size in bytes, with an optional suffix K, M or G (powers of 1024). Returns 0 or -EINVAL.
 */
static inline int ts_number_parse_size(const char *text, uint64_t most, uint64_t *ret_bytes)
{
	static const char suffixes[] = "KMG";
	size_t n = strlen(text);
	const char *suffix = n ? strchr(suffixes, text[n - 1]) : NULL;
	unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
	char digits[24];
	uint64_t number;

	if (n >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, n + 1);
	if (suffix)
		digits[n - 1] = '\0';
	if (ts_number_parse(digits, most >> shift, &number))
		return -EINVAL;
	*ret_bytes = number << shift;
	return 0;
}
