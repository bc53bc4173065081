/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the line of an instruction in Python code. The interpreter's own PyCode_Addr2Line() cannot
 * be called from another process, so this module reads the tables. Three formats: co_lnotab (3.8,
 * 3.9; Objects/lnotab_notes.txt there), co_linetable of 3.10 (PEP 626), and the location table of
 * 3.11 and later (Objects/locations.md). pycode.c calls this module.
 */
#include "daemon/sample/remote-python.h"

/* ---- 3.8, 3.9 and 3.10 ---- */

static int64_t lnotab_line(const uint8_t *table, size_t n_bytes, int64_t line, int32_t offset)
{
	int64_t at = 0;

	for (size_t i = 0; i + 1 < n_bytes; i += 2) {
		at += table[i];
		if (at > offset)
			break;
		line += (int8_t)table[i + 1];
	}
	return line;
}

static int64_t linetable_line(const uint8_t *table, size_t n_bytes, int64_t line, int32_t offset)
{
	int64_t start = 0, end;

	for (size_t i = 0; i + 1 < n_bytes; i += 2) {
		int8_t delta = (int8_t)table[i + 1];

		end = start + table[i];
		if (delta != -128)
			line += delta;
		if (offset < end)
			return delta == -128 ? 0 : line;
		start = end;
	}
	return 0;
}

/* ---- from 3.11 on ---- */

struct bytes {
	const uint8_t *at, *end;
};

static uint32_t take_number(struct bytes *bytes)
{
	uint32_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		if (bytes->at == bytes->end)
			return value;
		byte = *bytes->at++;
		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40);
	return value;
}

static int64_t take_signed(struct bytes *bytes)
{
	uint32_t value = take_number(bytes);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

#define KIND_NONE	15
#define KIND_LONG	14
#define KIND_NO_COLUMNS 13
#define KIND_ONE_LINE	10 /* up to 12 */

static int64_t location_line(const uint8_t *table, size_t n_bytes, int64_t line, int32_t offset)
{
	struct bytes bytes = {table, table + n_bytes};
	int64_t at = 0;

	while (bytes.at < bytes.end) {
		uint8_t first = *bytes.at++;
		unsigned kind = first >> 3 & 15;

		if (kind == KIND_LONG || kind == KIND_NO_COLUMNS)
			line += take_signed(&bytes);
		else if (kind >= KIND_ONE_LINE && kind < KIND_NO_COLUMNS)
			line += kind - KIND_ONE_LINE;
		at += 2 * ((first & 7) + 1);
		if (offset < at)
			return kind == KIND_NONE ? 0 : line;
		/*
		 * Skip the remaining bytes of the entry: only the first byte of an entry has the
		 * top bit set.
		 */
		while (bytes.at < bytes.end && !(*bytes.at & 0x80))
			bytes.at++;
	}
	return 0;
}

uint32_t ts_remote_python_line(unsigned minor, const uint8_t *table, size_t n_bytes,
			       int32_t first_line, int32_t offset)
{
	int64_t line;

	if (offset < 0)
		line = first_line;
	else if (minor < 10)
		line = lnotab_line(table, n_bytes, first_line, offset);
	else if (minor == 10)
		line = linetable_line(table, n_bytes, first_line, offset);
	else
		line = location_line(table, n_bytes, first_line, offset);
	return line > 0 && line < INT64_C(1) << 27 ? (uint32_t)line : 0;
}
