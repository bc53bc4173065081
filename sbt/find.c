/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where a file makes sense again after damage: for verify, to name all that is wrong and not only
 * the first of it, and for repair, to tell a torn end (nothing whole follows) from damage in the middle.
 */

#include "sbt/reader-internal.h"

#define WINDOW_BYTES (256u * 1024)

int ts_sbt_read_stored(int fd, const struct ts_sbt_block_header *header, uint64_t off,
		       uint8_t **ret_bytes)
{
	ts_cleanup(ts_freep) uint8_t *bytes = malloc(header->stored_bytes + 8);
	int r;

	if (!bytes)
		return -ENOMEM;
	r = ts_sbt_pread(fd, bytes, ts_align_up(header->stored_bytes, 8), off + sizeof(*header));
	if (r)
		return r;
	*ret_bytes = ts_take_ptr(bytes);
	return 0;
}

/* Whether a whole block lies at `off`: header and payload. 0, -errno, TS_SBT_E_NOT_FOUND. */
static int is_block(int fd, uint64_t off, uint64_t file_bytes)
{
	ts_cleanup(ts_freep) uint8_t *stored = NULL;
	struct ts_sbt_block_header header;
	int r;

	if (file_bytes - off < sizeof(header))
		return TS_SBT_E_NOT_FOUND;
	r = ts_sbt_pread(fd, &header, sizeof(header), off);
	if (r)
		return r < 0 ? r : TS_SBT_E_NOT_FOUND;
	if (ts_block_header_check(&header) || ts_block_bytes(&header) > file_bytes - off)
		return TS_SBT_E_NOT_FOUND;
	r = ts_sbt_read_stored(fd, &header, off, &stored);
	if (r)
		return r < 0 ? r : TS_SBT_E_NOT_FOUND;
	return ts_block_checksum_ok(&header, stored) ? 0 : TS_SBT_E_NOT_FOUND;
}

int ts_sbt_find_block(int fd, uint64_t from, uint64_t file_bytes, uint64_t *ret_off)
{
	ts_cleanup(ts_freep) uint8_t *window = malloc(WINDOW_BYTES);

	if (!window)
		return -ENOMEM;
	for (uint64_t off = ts_align_up(from, 8); off < file_bytes; off += WINDOW_BYTES) {
		uint64_t n = file_bytes - off < WINDOW_BYTES ? file_bytes - off : WINDOW_BYTES;
		int r = ts_sbt_pread(fd, window, n, off);

		if (r)
			return r < 0 ? r : TS_SBT_E_NOT_FOUND;
		for (uint64_t i = 0; i + 4 <= n; i += 8) {
			uint32_t magic;

			memcpy(&magic, window + i, sizeof(magic));
			if (magic != TS_SBT_BLOCK_MAGIC)
				continue;
			r = is_block(fd, off + i, file_bytes);
			if (!r)
				*ret_off = off + i;
			if (r <= 0)
				return r;
		}
	}
	return TS_SBT_E_NOT_FOUND;
}
