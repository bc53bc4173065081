/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the next whole block after damage. verify.c continues there, to report all damage and not
 * only the first. repair.c distinguishes a torn end, after which no whole block comes, from damage
 * in the middle. Each header of a malformed file may claim a block up to the file's end, so a
 * search has a budget of bytes.
 */

#include "sbt/format/short.h"
#include "sbt/read/reader-internal.h"

/* Windows start small, because damage is mostly short and may occur in many places. */
#define MIN_WINDOW_BYTES (4u * 1024)
#define MAX_WINDOW_BYTES (256u * 1024)
#define MAGIC_BYTES	 4u

/*
 * Limits of a search. In a valid file, a search reads each byte once, and each block that it finds
 * once more.
 */
#define WORK_PER_BYTE  4
#define MIN_WORK_BYTES (4ull * 1024 * 1024)

void ts_sbt_search_init(struct ts_sbt_search *search, int fd, bool is_short, uint64_t file_bytes)
{
	uint64_t work_bytes;

	if (__builtin_mul_overflow(file_bytes, WORK_PER_BYTE, &work_bytes))
		work_bytes = UINT64_MAX;
	*search = (struct ts_sbt_search){
		.fd = fd,
		.is_short = is_short,
		.file_bytes = file_bytes,
		.left_bytes = work_bytes < MIN_WORK_BYTES ? MIN_WORK_BYTES : work_bytes,
	};
}

int ts_sbt_read_stored(int fd, const struct ts_sbt_block_header *header, uint64_t off,
		       uint8_t **ret_bytes)
{
	uint64_t n_head = ts_block_head_bytes(header);
	ts_cleanup(ts_freep) uint8_t *bytes = malloc(header->stored_bytes + 8);
	int r;

	if (!bytes)
		return -ENOMEM;
	r = ts_sbt_pread(fd, bytes, ts_block_bytes(header) - n_head, off + n_head);
	if (r)
		return r;
	*ret_bytes = ts_take_ptr(bytes);
	return 0;
}

static int spend(struct ts_sbt_search *search, uint64_t bytes)
{
	if (bytes > search->left_bytes) {
		search->left_bytes = 0;
		return TS_SBT_E_LIMIT;
	}
	search->left_bytes -= bytes;
	return 0;
}

/*
 * Checks for a whole block at `off`, header and payload. Returns 0, a negative errno,
 * TS_SBT_E_NOT_FOUND or TS_SBT_E_LIMIT.
 */
static int is_block(struct ts_sbt_search *search, uint64_t off, uint64_t sequence)
{
	ts_cleanup(ts_freep) uint8_t *stored = NULL;
	struct ts_sbt_block_header header;
	const char *why;
	int r = spend(search, sizeof(header));

	if (r)
		return r;
	r = ts_sbt_read_header(search->fd, off, search->file_bytes, &header, &why);
	if (r)
		return r < 0 ? r : TS_SBT_E_NOT_FOUND;
	/*
	 * A block with a lower number is not a successor; it lies in the payload of another block.
	 */
	if (header.sequence < sequence || ts_block_bytes(&header) > search->file_bytes - off)
		return TS_SBT_E_NOT_FOUND;
	r = spend(search, header.stored_bytes);
	if (r)
		return r;
	r = ts_sbt_read_stored(search->fd, &header, off, &stored);
	if (r)
		return r < 0 ? r : TS_SBT_E_NOT_FOUND;
	return ts_block_checksum_ok(&header, stored) ? 0 : TS_SBT_E_NOT_FOUND;
}

/* Searches one window of `n` bytes at `off`. */
static int search_window(struct ts_sbt_search *search, uint8_t *window, uint64_t off, uint64_t n,
			 uint64_t sequence, uint64_t *ret_off)
{
	int r = spend(search, n);

	if (r)
		return r;
	r = ts_sbt_pread(search->fd, window, n, off);
	if (r)
		return r < 0 ? r : TS_SBT_E_NOT_FOUND;
	for (uint64_t i = 0; i + MAGIC_BYTES <= n; i += search->is_short ? 1 : 8) {
		if (!ts_block_is_magic(window + i))
			continue;
		r = is_block(search, off + i, sequence);
		if (!r)
			*ret_off = off + i;
		if (r != TS_SBT_E_NOT_FOUND)
			return r;
	}
	return TS_SBT_E_NOT_FOUND;
}

int ts_sbt_search_block(struct ts_sbt_search *search, uint64_t from, uint64_t sequence,
			uint64_t *ret_off)
{
	uint64_t off = search->is_short ? from : ts_align_up(from, 8);
	uint64_t window_bytes = MIN_WINDOW_BYTES;
	ts_cleanup(ts_freep) uint8_t *window = NULL;

	if (off >= search->file_bytes)
		return TS_SBT_E_NOT_FOUND;
	window = malloc(search->file_bytes - off < MAX_WINDOW_BYTES ? search->file_bytes - off
								    : MAX_WINDOW_BYTES);
	if (!window)
		return -ENOMEM;
	while (off < search->file_bytes) {
		uint64_t left = search->file_bytes - off;
		uint64_t n = left < window_bytes ? left : window_bytes;
		int r = search_window(search, window, off, n, sequence, ret_off);

		if (r != TS_SBT_E_NOT_FOUND)
			return r;
		/* If blocks begin anywhere, a window repeats the bytes that may begin a magic. */
		off += search->is_short && n < left ? n - (MAGIC_BYTES - 1) : n;
		if (window_bytes < MAX_WINDOW_BYTES)
			window_bytes *= 2;
	}
	return TS_SBT_E_NOT_FOUND;
}
