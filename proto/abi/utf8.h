/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and cleans untrusted text. JSON, Arrow and the strings of protobuf messages must be UTF-8:
 * readers in other languages reject a whole message for one invalid byte.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Returns the length of the character at `text`, of which n_bytes follow; 0: it is invalid (RFC
 * 3629, table 3.1.1). n_bytes is at least 1.
 */
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

/* Makes null-terminated text valid UTF-8: each invalid byte becomes '?'. */
static inline void ts_text_clean(char *text)
{
	unsigned char *p = (unsigned char *)text;

	while (*p) {
		size_t length = ts_utf8_length(p, strnlen((const char *)p, 4));

		if (!length)
			*p = '?';
		p += length ? length : 1;
	}
}
