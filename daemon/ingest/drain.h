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
};

/*
 * Copies the next whole records of [position, head) into the buffer. *ret_n_bytes: their size. The
 * position advances by *ret_n_passed, which is not 0. If padding is longer than a chunk, only its
 * first word is read. The caller checked head with ts_ring_consumer_check(), and position < head.
 *
 * -EBADMSG: the bytes are no record, or the record's length exceeds the committed bytes or the rest
 * of the ring. -EIO: the ring cannot be read. -ENOMEM: no memory.
 */
int ts_drain_copy(struct ts_drain *drain, const struct ts_drain_ring *ring, uint64_t position,
		  uint64_t head, size_t *ret_n_bytes, uint64_t *ret_n_passed);

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
