/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates how many bits an entropy coder needs for bytes. Private to sbt/write/. */
#pragma once

#include <stdint.h>

/* Returns log2 in units of 1/256: exact for powers of two, at most 0.09 too low in between. */
static inline uint64_t ts_log2_256(uint32_t value)
{
	unsigned e = (unsigned)(31 - __builtin_clz(value));

	return (e << 8) + ((value << (31 - e) & 0x7fffffff) >> 23);
}

/* Returns the bits of n > 0 bytes, in units of 1/256. `counts` has the number of each byte. */
static inline uint64_t ts_entropy_256(const uint32_t counts[256], uint32_t n)
{
	uint64_t bits = n * ts_log2_256(n);

	for (unsigned i = 0; i < 256; i++)
		if (counts[i])
			bits -= counts[i] * ts_log2_256(counts[i]);
	return bits;
}
