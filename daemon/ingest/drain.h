/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of the ring, into private memory, one bounded chunk at a time; and the walk over the records
 * of such a copy. Only the copy is interpreted: the peer cannot change it between a check and a
 * use.
 *
 * A drain belongs to one thread. The walk is a pure function of its bytes: that is what is fuzzed.
 */
#pragma once

#include "proto/abi/ring.h"

/* Copied at once; a record larger than this is copied alone. */
#define TS_DRAIN_CHUNK_BYTES (256u * 1024)

/* Zero-initialised is ready. */
struct ts_drain {
	uint8_t *
		buffer; /* TS_RECORD_MAX_BYTES, 8-byte aligned; NULL: nothing was copied since the last deinit */
};

/* Frees the buffer. The next copy makes another one. */
void ts_drain_deinit(struct ts_drain *drain);
uint64_t ts_drain_memory(const struct ts_drain *drain);

/* A ring in the peer's memory: read from the descriptor, see ingest/ingest-memory.h. */
struct ts_drain_ring {
	int fd;
	uint64_t off; /* of its first byte */
	uint64_t n_bytes;
};

/*
 * Copies the next whole records of [position, head): *ret_n_bytes of them are in the buffer, and
 * the position moves on by *ret_n_passed, which is more than nothing. Of padding that goes beyond a
 * chunk only the first word is read. The head was checked by ts_ring_consumer_check(), and
 * position < head.
 * -EBADMSG: what lies there is no record, or claims to be longer than what was committed or than
 * the ring goes on. -EIO: it cannot be read. -ENOMEM.
 */
int ts_drain_copy(struct ts_drain *drain, const struct ts_drain_ring *ring, uint64_t position,
		  uint64_t head, size_t *ret_n_bytes, uint64_t *ret_n_passed);

/* Walks private bytes. */
#define TS_RECORD_E_END	    1 /* exactly at the end */
#define TS_RECORD_E_PARTIAL 2 /* a record begins here and goes on beyond the end */

/*
 * The record at *off of bytes[0, n_bytes), both multiples of 8 bytes and aligned so. On 0, *off
 * moves past it; the caller may read n_words words of it, and its n_fixed_words lie within. PAD
 * records are stepped over.
 * -EBADMSG: no record.
 */
static inline int ts_record_next(const uint8_t *bytes, size_t n_bytes, size_t *off,
				 const struct ts_record **ret_record)
{
	for (;;) {
		const struct ts_record *record = (const struct ts_record *)(bytes + *off);
		size_t n_record;

		if (*off >= n_bytes)
			return TS_RECORD_E_END;
		/* The first word is all that a PAD record need have. */
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
