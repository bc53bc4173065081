/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Varints (LEB128) in columns: 7 bits a byte, the low bits first, the top bit set in all bytes but
 * the last. Private to sbt/format/.
 */
#pragma once

#include "sbt/format/column.h"

/*
 * Stores a varint and returns its end. Most differences need one or two bytes; the loop stores
 * longer ones.
 */
static inline uint8_t *ts_varint_put(uint8_t *p, uint64_t value)
{
	if (value < 0x80) {
		*p = (uint8_t)value;
		return p + 1;
	}
	if (value < 0x4000) {
		p[0] = (uint8_t)(value | 0x80);
		p[1] = (uint8_t)(value >> 7);
		return p + 2;
	}
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

/*
 * Reads a varint and returns its end. Returns NULL if the varint does not end within [p, end) or
 * has more than 64 bits.
 */
static inline const uint8_t *ts_varint_get(const uint8_t *p, const uint8_t *end,
					   uint64_t *ret_value)
{
	uint64_t value = 0;

	if (ts_likely(p < end && *p < 0x80)) {
		*ret_value = *p;
		return p + 1;
	}
	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		uint64_t byte = *p++;

		if (shift == 63 && byte > 1)
			return NULL;
		value |= (byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return p;
		}
	}
	return NULL;
}
