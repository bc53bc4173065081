/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies records out of the ring into private memory, one bounded chunk at a time, and walks over
 * the records of such a copy. Only the copy is interpreted, because the peer cannot change it
 * between a check and a use.
 *
 * A drain is not thread-safe. The walk is a pure function of its bytes, so a fuzzer can call it.
 */
#pragma once

#include "proto/abi/ring.h"

/* Bytes copied at once. A larger record is copied alone. */
#define TS_DRAIN_CHUNK_BYTES (256u * 1024)

/* A zeroed struct is a valid drain. */
struct ts_drain {
	/*
	 * TS_RECORD_MAX_BYTES, 8-byte aligned; NULL: nothing was copied since the last
	 * deinit.
	 */
	uint8_t *buffer;
};

/* Frees the buffer. The next copy allocates another one. */
void ts_drain_deinit(struct ts_drain *drain);
/* Returns the bytes of memory that the drain holds. */
uint64_t ts_drain_memory(const struct ts_drain *drain);

/*
 * A ring in the peer's memory. The daemon reads the ring from the descriptor, see
 * ingest/ingest-memory.h.
 */
struct ts_drain_ring {
	int fd;
	uint64_t off; /* offset of the ring's first byte in the file */
	uint64_t n_bytes;
	const uint8_t *mapped; /* the ring in the mapping of the file, for prefetches only */
};

/*
 * Copies the next records of [position, head) into the buffer. The caller walks over them from
 * *ret_off with ts_record_next() until that does not return 0. The position then advances by the
 * offset, which is above 0. The last record in the *ret_n_bytes bytes may be cut or malformed: the
 * next copy begins with it. If padding is longer than a chunk, only its length is used, and the
 * walk ends at once. The caller checked head with ts_ring_consumer_check(), and position < head.
 *
 * -EBADMSG: the bytes are no record, or the record's length exceeds the committed bytes or the rest
 * of the ring. -EIO: the ring cannot be read. -ENOMEM: no memory.
 */
int ts_drain_copy(struct ts_drain *drain, const struct ts_drain_ring *ring, uint64_t position,
		  uint64_t head, size_t *ret_n_bytes, size_t *ret_off);

/*
 * Maps the written pages of [position, position + n_bytes), which was just copied, so that later
 * laps of the ring can be prefetched. The caller maps each part of a ring once. Returns the bytes
 * that were mapped at most.
 */
uint64_t ts_drain_map(const struct ts_drain_ring *ring, uint64_t position, uint64_t n_bytes);
/* Removes the ring's pages from the page table. They count in the process's resident memory. */
void ts_drain_unmap(const struct ts_drain_ring *ring);

/* Bytes that are prefetched while the bytes before them become rows. */
#define TS_DRAIN_AHEAD TS_DRAIN_CHUNK_BYTES

/*
 * Prefetches committed bytes up to TS_DRAIN_AHEAD after `position`, from *ahead on, and advances
 * *ahead. The producer's processor has just written these bytes, and fetching them from there is a
 * large part of a copy's time. A prefetch of a page that is not mapped does nothing: it allocates
 * no memory.
 */
static inline void ts_drain_prefetch(const struct ts_drain_ring *ring, uint64_t position,
				     uint64_t head, uint64_t *ahead)
{
	uint64_t to = head - position < TS_DRAIN_AHEAD ? head : position + TS_DRAIN_AHEAD;

	for (; *ahead < to; *ahead += TS_CACHE_LINE)
		__builtin_prefetch(ring->mapped + (*ahead & (ring->n_bytes - 1)), 0, 2);
}

/* Results of ts_record_next(). */
#define TS_RECORD_E_END	    1 /* exactly at the end */
#define TS_RECORD_E_PARTIAL 2 /* a record begins here and continues beyond the end */

/*
 * Finds the record at *off of bytes[0, n_bytes); `bytes`, *off and n_bytes are multiples of 8. On
 * 0, *off moves past the record, the caller may read n_words words of it, and its n_fixed_words lie
 * within them. PAD records are skipped.
 *
 * Returns 0, TS_RECORD_E_END, TS_RECORD_E_PARTIAL, or -EBADMSG: the bytes are no record.
 */
static inline int ts_record_next(const uint8_t *bytes, size_t n_bytes, size_t *off,
				 const struct ts_record **ret_record)
{
	for (;;) {
		const struct ts_record *record = (const struct ts_record *)(bytes + *off);
		size_t n_record;

		if (*off >= n_bytes)
			return TS_RECORD_E_END;
		/* A PAD record may have only its first word. */
		n_record = record->n_words * (size_t)8;
		if (ts_unlikely(!n_record))
			return -EBADMSG;
		if (n_record > n_bytes - *off)
			return TS_RECORD_E_PARTIAL;
		if (ts_unlikely(record->type == TS_RECORD_PAD)) {
			*off += n_record;
			continue;
		}
		if (ts_unlikely(record->n_words < sizeof(*record) / 8 ||
				record->n_fixed_words < sizeof(*record) / 8 ||
				record->n_fixed_words > record->n_words))
			return -EBADMSG;
		*off += n_record;
		*ret_record = record;
		return 0;
	}
}
