/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C of blocks, headers and summaries. Uses the processor's instruction if there is one (SSE
 * 4.2: about 8 bytes in 3 cycles). Otherwise this module uses a table of nibbles, which is slow and
 * small; no one profiles GPUs on such machines.
 */

#include <string.h>

#include "sbt/crc32c.h"

/* Remainder of each nibble. */
static const uint32_t crc_table[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static uint32_t crc_by_table(uint32_t crc, const uint8_t *p, size_t n)
{
	while (n--) {
		crc ^= *p++;
		crc = crc >> 4 ^ crc_table[crc & 15];
		crc = crc >> 4 ^ crc_table[crc & 15];
	}
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc, const uint8_t *p,
								     size_t n)
{
	uint64_t wide = crc, word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	while (n--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return crc;
}
#endif

uint32_t ts_crc32c(const void *bytes, size_t n_bytes)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return ~crc_by_instruction(UINT32_MAX, bytes, n_bytes);
#endif
	return ~crc_by_table(UINT32_MAX, bytes, n_bytes);
}
