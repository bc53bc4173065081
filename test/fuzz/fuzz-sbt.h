/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a fuzzer's bytes into a trace file, for the targets that read traces. Checksums would stop
 * a fuzzer early, so half of the runs (odd last byte) first correct them.
 */
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sbt/crc32c.h"
#include "sbt/format/block.h"
#include "sbt/format/short.h"
#include "sbt/reader.h"

/* Corrects the checksums of a short header, which are its last 8 bytes, if it has as many. */
static inline void ts_fuzz_sbt_fix_short(uint8_t *at, size_t left)
{
	size_t n = at[2];
	struct ts_sbt_block_header header;
	const char *why;
	uint32_t crc;

	if (n < 13 || n > left)
		return;
	for (int pass = 0; pass < 2; pass++) {
		crc = ts_crc32c(at, n - 4);
		memcpy(at + n - 4, &crc, sizeof(crc));
		if (pass || ts_block_header_parse(at, left, &header, &why) ||
		    header.stored_bytes > left - n)
			return;
		crc = ts_crc32c(at + n, header.stored_bytes);
		memcpy(at + n - 8, &crc, sizeof(crc));
	}
}

static inline void ts_fuzz_sbt_fix_block(uint8_t *at, size_t left)
{
	struct ts_sbt_block_header header;

	if (at[0] == 'T' && at[1] == 'b') {
		ts_fuzz_sbt_fix_short(at, left);
		return;
	}
	if (left < sizeof(header))
		return;
	memcpy(&header, at, sizeof(header));
	if (header.stored_bytes <= left - sizeof(header))
		header.payload_checksum = ts_crc32c(at + sizeof(header), header.stored_bytes);
	header.checksum = ts_crc32c(&header, offsetof(struct ts_sbt_block_header, checksum));
	memcpy(at, &header, sizeof(header));
}

/* Corrects the checksums of everything that looks like a header. */
static inline void ts_fuzz_sbt_fix(uint8_t *bytes, size_t size)
{
	uint32_t crc;

	if (size < TS_SBT_HEADER_BYTES)
		return;
	crc = ts_crc32c(bytes, offsetof(struct ts_sbt_file_header, checksum));
	memcpy(bytes + offsetof(struct ts_sbt_file_header, checksum), &crc, sizeof(crc));
	for (size_t i = TS_SBT_HEADER_BYTES; i + TS_SBT_MIN_BLOCK <= size; i++)
		if (ts_block_is_magic(bytes + i))
			ts_fuzz_sbt_fix_block(bytes + i, size - i);
	if (size >= TS_SBT_HEADER_BYTES + sizeof(struct ts_sbt_end_marker)) {
		uint8_t *marker = bytes + size - sizeof(struct ts_sbt_end_marker);

		crc = ts_crc32c(marker, offsetof(struct ts_sbt_end_marker, checksum));
		memcpy(marker + offsetof(struct ts_sbt_end_marker, checksum), &crc, sizeof(crc));
	}
}

/* Returns a memory file with these bytes, or -1. The caller closes it. */
static inline int ts_fuzz_sbt_file(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	int fd = copy && size ? memfd_create("fuzz", MFD_CLOEXEC) : -1;

	if (fd >= 0) {
		memcpy(copy, data, size);
		if (data[size - 1] & 1)
			ts_fuzz_sbt_fix(copy, size);
		if (write(fd, copy, size) != (ssize_t)size) {
			close(fd);
			fd = -1;
		}
	}
	free(copy);
	return fd;
}

/*
 * Calls look() with a reader of these bytes, if they are a trace with at most max_rows rows. Larger
 * ones take too long.
 */
static inline void ts_fuzz_sbt_look(const uint8_t *data, size_t size, uint64_t max_rows,
				    void (*look)(struct ts_sbt_reader *reader))
{
	struct ts_sbt_reader *reader = NULL;
	int fd = ts_fuzz_sbt_file(data, size);
	uint64_t n_rows = 0;

	if (fd >= 0 && !ts_sbt_reader_open(fd, &reader, NULL)) {
		for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
			n_rows += ts_sbt_reader_block(reader, i)->n_rows;
		if (n_rows <= max_rows)
			look(reader);
		ts_sbt_reader_free(reader);
	}
	if (fd >= 0)
		close(fd);
}
