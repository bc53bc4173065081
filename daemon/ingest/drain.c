/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies records from one shard's ring into private memory. serve/session (session-round.c,
 * session-lane.c, session-end.c) calls this module. Their positions move from record to record, so
 * the position in a checkpoint is always the begin of one.
 */
#include "daemon/ingest/drain.h"

#include <sys/mman.h>
#include <unistd.h>

static int prepare(struct ts_drain *drain)
{
	/* The pages beyond a chunk stay untouched unless a record is larger than a chunk. */
	if (!drain->buffer)
		drain->buffer = aligned_alloc(TS_CACHE_LINE,
					      ts_align_up(TS_RECORD_MAX_BYTES, TS_CACHE_LINE));
	return drain->buffer ? 0 : -ENOMEM;
}

uint64_t ts_drain_memory(const struct ts_drain *drain)
{
	return drain->buffer ? TS_RECORD_MAX_BYTES : 0;
}

void ts_drain_deinit(struct ts_drain *drain)
{
	free(ts_take_ptr(drain->buffer));
}

/*
 * Checks the begin of bytes[0, n_bytes): *ret_is_whole is true if a whole record is there. If a
 * malformed record follows padding, this is not an error yet.
 */
static int check_first(const uint8_t *bytes, size_t n_bytes, bool *ret_is_whole)
{
	const struct ts_record *record;
	size_t off = 0;
	int r = ts_record_next(bytes, n_bytes, &off, &record);

	*ret_is_whole = off;
	return r < 0 && !off ? r : 0;
}

/*
 * Reads up to n_most bytes of [position, head), and not past the end of the ring's memory. Returns
 * the number of bytes or -EIO.
 */
static ssize_t read_ring(struct ts_drain *drain, const struct ts_drain_ring *ring,
			 uint64_t position, uint64_t head, uint64_t n_most)
{
	uint64_t off = position & (ring->n_bytes - 1), n = head - position;

	if (n > n_most)
		n = n_most;
	if (n > ring->n_bytes - off)
		n = ring->n_bytes - off;
	/* The size of the file is sealed, so a short read is an error. */
	return pread(ring->fd, drain->buffer, n, (off_t)(ring->off + off)) == (ssize_t)n
		       ? (ssize_t)n
		       : -EIO;
}

int ts_drain_copy(struct ts_drain *drain, const struct ts_drain_ring *ring, uint64_t position,
		  uint64_t head, size_t *ret_n_bytes, size_t *ret_off)
{
	const struct ts_record *first;
	bool is_whole;
	ssize_t n;
	int r = prepare(drain);

	if (r)
		return r;
	first = (const struct ts_record *)drain->buffer;
	n = read_ring(drain, ring, position, head, TS_DRAIN_CHUNK_BYTES);
	if (n < 0)
		return (int)n;
	r = check_first(drain->buffer, (size_t)n, &is_whole);
	if (r < 0)
		return r;
	*ret_off = 0;
	if (!is_whole) {
		uint64_t n_first = first->n_words * UINT64_C(8);
		uint64_t n_on = ring->n_bytes - (position & (ring->n_bytes - 1));

		/* The first record is larger than a chunk, or its length is false. */
		if (n_first > head - position || n_first > n_on)
			return -EBADMSG;
		if (first->type == TS_RECORD_PAD) {
			*ret_n_bytes = 0;
			*ret_off = n_first;
			return 0;
		}
		n = read_ring(drain, ring, position, head, TS_RECORD_MAX_BYTES);
		if (n < 0)
			return (int)n;
		r = check_first(drain->buffer, (size_t)n, &is_whole);
		if (r < 0)
			return r;
		if (!is_whole)
			return -EBADMSG;
	}
	*ret_n_bytes = (size_t)n;
	return 0;
}

/* A fault maps all pages of this many bytes, aligned, that are in memory (fault_around_bytes). */
#define FAULT_AROUND UINT64_C(65536)

uint64_t ts_drain_map(const struct ts_drain_ring *ring, uint64_t position, uint64_t n_bytes)
{
	uintptr_t from = (uintptr_t)ring->mapped + (position & (ring->n_bytes - 1));
	uint64_t n_mapped = 0;

	/* The last byte of each part: the producer has then written all of the part's pages. */
	for (uintptr_t end = (from | (FAULT_AROUND - 1)) + 1; end <= from + n_bytes;
	     end += FAULT_AROUND) {
		(void)*(const volatile uint8_t *)(end - 1);
		n_mapped += FAULT_AROUND;
	}
	return n_mapped;
}

void ts_drain_unmap(const struct ts_drain_ring *ring)
{
	const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ts_align_up((uintptr_t)ring->mapped, page_bytes);
	uintptr_t to = ((uintptr_t)ring->mapped + ring->n_bytes) & ~(page_bytes - 1);

	/* The pages are the peer's file, which keeps their content. */
	(void)madvise((void *)from, to - from, MADV_DONTNEED);
}
