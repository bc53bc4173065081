/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draining one shard. A chunk ends at a record's end, so that the position a checkpoint notes is
 * always a record's beginning.
 */
#include "daemon/ingest/drain.h"

int ts_drain_init(struct ts_drain *drain)
{
	/* Not touched beyond a chunk unless a record is that large. */
	drain->buffer =
		aligned_alloc(TS_CACHE_LINE, ts_align_up(TS_RECORD_MAX_BYTES, TS_CACHE_LINE));
	return drain->buffer ? 0 : -ENOMEM;
}

void ts_drain_deinit(struct ts_drain *drain)
{
	free(ts_take_ptr(drain->buffer));
}

/* How much of bytes[0, n_bytes) is whole records. What stands before a malformed one counts. */
static int drain_whole(const uint8_t *bytes, size_t n_bytes, size_t *ret_n_whole)
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

int ts_drain_copy(struct ts_drain *drain, const struct ts_shard *shard, uint64_t ring_bytes,
		  uint64_t position, uint64_t head, size_t *ret_n_bytes)
{
	uint64_t n = ts_ring_consumer_copy(shard, ring_bytes, position, head, drain->buffer,
					   TS_DRAIN_CHUNK_BYTES);
	size_t n_whole;
	int r;

	r = drain_whole(drain->buffer, n, &n_whole);
	if (r < 0)
		return r;
	if (!n_whole) {
		/* The first record is larger than a chunk, or lies. */
		n = ts_ring_consumer_copy(shard, ring_bytes, position, head, drain->buffer,
					  TS_RECORD_MAX_BYTES);
		r = drain_whole(drain->buffer, n, &n_whole);
		if (r < 0)
			return r;
		if (!n_whole)
			return -EBADMSG;
	}
	*ret_n_bytes = n_whole;
	return 0;
}
