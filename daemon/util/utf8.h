/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleans untrusted text. Strings in protobuf messages must be UTF-8: readers in other languages
 * reject a whole message for one invalid byte.
 */
#pragma once

#include <stddef.h>

/* Makes null-terminated text valid UTF-8: each invalid byte becomes '?'. */
static inline void ts_text_clean(char *text)
{
	unsigned char *p = (unsigned char *)text;

	while (*p) {
		/*
		 * RFC 3629, section 4: number of following bytes, and range of the first of them.
		 */
		unsigned n = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
		unsigned low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
		unsigned high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;
		unsigned i = 1;

		if (n && *p >= 0xc2 && *p <= 0xf4 && p[1] >= low && p[1] <= high)
			for (i = 2; i <= n && (p[i] & 0xc0) == 0x80; i++)
				;
		if (n && i != n + 1) {
			*p++ = '?';
			continue;
		}
		p += n + 1;
	}
}
