/* SPDX-License-Identifier: Apache-2.0 */
/* Checks UTF-8. Names of traces are untrusted bytes; JSON and Arrow accept only valid text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the character at `text`; 0: invalid (RFC 3629, table 3.1.1). n_bytes > 0. */
static inline size_t ts_utf8_length(const unsigned char *text, size_t n_bytes)
{
	size_t length;
	uint32_t c = text[0], least;

	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c <= 0xdf)
		length = 2, c &= 0x1f, least = 0x80;
	else if (c >= 0xe0 && c <= 0xef)
		length = 3, c &= 0x0f, least = 0x800;
	else if (c >= 0xf0 && c <= 0xf4)
		length = 4, c &= 0x07, least = 0x10000;
	else
		return 0;
	if (length > n_bytes)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (text[i] & 0x3f);
	}
	return c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : length;
}
