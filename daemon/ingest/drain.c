/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies records from one shard's ring into private memory. serve/session (session-round.c,
 * session-lane.c, session-end.c) calls this module. A chunk ends at the end of a record, so the
 * position in a checkpoint is always the begin of a record.
 */
#include "daemon/ingest/drain.h"

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
 * Finds the length of the whole records in bytes[0, n_bytes). If a malformed record follows whole
 * ones, this is not an error yet.
 */
static int whole_bytes(const uint8_t *bytes, size_t n_bytes, size_t *ret_n_whole)
{
	const struct ts_record *record;
	size_t off = 0;
	int r;

	do
		r = ts_record_next(bytes, n_bytes, &off, &record);
	while (!r);
	*ret_n_whole = off;
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
		  uint64_t head, size_t *ret_n_bytes, uint64_t *ret_n_passed)
{
	const struct ts_record *first;
	size_t n_whole;
	ssize_t n;
	int r = prepare(drain);

	if (r)
		return r;
	first = (const struct ts_record *)drain->buffer;
	n = read_ring(drain, ring, position, head, TS_DRAIN_CHUNK_BYTES);
	if (n < 0)
		return (int)n;
	r = whole_bytes(drain->buffer, (size_t)n, &n_whole);
	if (r < 0)
		return r;
	if (!n_whole) {
		uint64_t n_first = first->n_words * UINT64_C(8);
		uint64_t n_on = ring->n_bytes - (position & (ring->n_bytes - 1));

		/* The first record is larger than a chunk, or its length is false. */
		if (n_first > head - position || n_first > n_on)
			return -EBADMSG;
		if (first->type == TS_RECORD_PAD) {
			*ret_n_bytes = 0;
			*ret_n_passed = n_first;
			return 0;
		}
		n = read_ring(drain, ring, position, head, TS_RECORD_MAX_BYTES);
		if (n < 0)
			return (int)n;
		r = whole_bytes(drain->buffer, (size_t)n, &n_whole);
		if (r < 0)
			return r;
		if (!n_whole)
			return -EBADMSG;
	}
	*ret_n_bytes = n_whole;
	*ret_n_passed = n_whole;
	return 0;
}
