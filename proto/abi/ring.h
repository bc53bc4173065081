/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both halves of a shard's index protocol, side by side to show each barrier pair.
 *
 * One producer thread, one consumer. The producer owns `head`, the consumer owns `released`. Each
 * side reads the other side's index with acquire and writes its own with release. A record is
 * contiguous: if it does not fit before the end of the memory, a PAD record fills the rest. If a
 * record does not fit at all, the caller drops and counts it. Nothing here waits, allocates or
 * makes a system call.
 *
 * 	producer                                 consumer
 * 	  fill the record                          acquire head            (A)
 * 	  release head            (A)              copy the records out, write them to the trace
 * 	  acquire released        (B)              release released        (B)
 * 	  reuse the space
 *
 * test/model/ring.pml is this protocol for a model checker; change both together.
 *
 * (A) makes a record's bytes visible before its position. (B) keeps the producer from overwriting
 * bytes that the consumer still reads.
 */
#pragma once

#include "proto/abi/session.h"

/* The producer's half. It is private to one thread, except `shard` and `ring`, which are shared. */
struct ts_ring_producer {
	uint64_t head;	   /* of the next record */
	uint64_t released; /* the consumer's index at the last look */
	/*
	 * Up to this index a record is free and in one piece, so that reserving makes one
	 * comparison. It lies at most at the end of the ring's memory and at released + ring_bytes.
	 */
	uint64_t straight_to;
	uint64_t ring_bytes;
	uint8_t *ring;
	struct ts_shard *shard;
};

static inline void ts_ring_producer_init(struct ts_ring_producer *producer, struct ts_shard *shard,
					 uint64_t ring_bytes)
{
	producer->shard = shard;
	producer->ring = (uint8_t *)shard + sizeof(*shard);
	producer->ring_bytes = ring_bytes;
	producer->head = __atomic_load_n(&shard->head, __ATOMIC_RELAXED);
	/* Acquire pairs with ts_ring_consumer_release(), (B). */
	producer->released = __atomic_load_n(&shard->released, __ATOMIC_ACQUIRE);
	producer->straight_to = producer->head;
}

/* Fills the `pad` bytes at the end of the ring's memory. The next record begins at its start. */
static inline void ts_ring_pad(struct ts_ring_producer *producer, uint64_t pad)
{
	while (pad) {
		struct ts_record *filler =
			(struct ts_record *)(producer->ring +
					     (producer->head & (producer->ring_bytes - 1)));
		uint64_t step = pad > TS_RECORD_MAX_BYTES ? TS_RECORD_MAX_BYTES : pad;

		/* If only 8 bytes are left, the PAD record is only its first word. */
		filler->n_words = (uint16_t)(step / 8);
		filler->n_fixed_words = 0;
		filler->clock = 0;
		filler->type = TS_RECORD_PAD;
		filler->flags = 0;
		producer->head += step;
		pad -= step;
	}
}

/*
 * Prepares room for n_bytes that do not fit below straight_to. Cold: it runs once in each lap of
 * the ring, and when the consumer is behind. Returns false if the ring is full.
 */
static inline __attribute__((cold)) bool ts_ring_make_space(struct ts_ring_producer *producer,
							    uint32_t n_bytes)
{
	const uint64_t off = producer->head & (producer->ring_bytes - 1);
	const uint64_t pad = off + n_bytes > producer->ring_bytes ? producer->ring_bytes - off : 0;
	uint64_t lap_end;

	if (producer->head + pad + n_bytes - producer->released > producer->ring_bytes) {
		/* Acquire pairs with ts_ring_consumer_release(), (B). */
		producer->released = __atomic_load_n(&producer->shard->released, __ATOMIC_ACQUIRE);
		if (producer->head + pad + n_bytes - producer->released > producer->ring_bytes)
			return false;
	}
	ts_ring_pad(producer, pad);
	lap_end = (producer->head | (producer->ring_bytes - 1)) + 1;
	producer->straight_to = producer->released + producer->ring_bytes;
	if (producer->straight_to > lap_end)
		producer->straight_to = lap_end;
	return true;
}

/*
 * Reserves n_bytes (a multiple of 8, at most a quarter of the ring) and returns their address.
 * NULL: the ring is full. The consumer sees nothing before ts_ring_commit() of that size.
 */
static inline void *ts_ring_reserve(struct ts_ring_producer *producer, uint32_t n_bytes)
{
	if (ts_unlikely(producer->head + n_bytes > producer->straight_to) &&
	    !ts_ring_make_space(producer, n_bytes))
		return NULL;
	return producer->ring + (producer->head & (producer->ring_bytes - 1));
}

/* Makes the reserved record, and padding before it, visible to the consumer. Returns `head`. */
static inline uint64_t ts_ring_commit(struct ts_ring_producer *producer, uint32_t n_bytes)
{
	const uint64_t head = producer->head + n_bytes;

	producer->head = head;
	/* Release pairs with ts_ring_consumer_head(), (A). */
	__atomic_store_n(&producer->shard->head, head, __ATOMIC_RELEASE);
	return head;
}

/* Returns whether more than half of the ring is unreleased. The daemon should then be woken. */
static inline bool ts_ring_past_watermark(const struct ts_ring_producer *producer)
{
	return producer->head - producer->released > producer->ring_bytes / 2;
}

/* The consumer's half. The consumer reads next at `position`, which may be ahead of `released`. */

/*
 * Acquire pairs with ts_ring_commit(), (A). The value is untrusted: see ts_ring_consumer_check().
 */
static inline uint64_t ts_ring_consumer_head(const struct ts_shard *shard)
{
	return __atomic_load_n(&shard->head, __ATOMIC_ACQUIRE);
}

/*
 * Returns whether a head read from shared memory is possible for this `released` and `position`.
 * False: the peer is broken or hostile and must be dropped.
 */
static inline bool ts_ring_consumer_check(uint64_t head, uint64_t position, uint64_t released,
					  uint64_t ring_bytes)
{
	return head % 8 == 0 && position - released <= ring_bytes &&
	       head - released <= ring_bytes && head - released >= position - released;
}

/*
 * Copies up to n_bytes of [position, head) out of the ring. Returns the count of bytes; it is less
 * than n_bytes at the end of the ring's memory. The reader interprets only the copy and does not
 * read shared memory again.
 */
static inline uint64_t ts_ring_consumer_copy(const struct ts_shard *shard, uint64_t ring_bytes,
					     uint64_t position, uint64_t head, void *buffer,
					     uint64_t n_bytes)
{
	uint64_t off = position & (ring_bytes - 1);
	uint64_t n = head - position;

	if (n > n_bytes)
		n = n_bytes;
	if (n > ring_bytes - off)
		n = ring_bytes - off;
	memcpy(buffer, (const uint8_t *)shard + sizeof(*shard) + off, n);
	return n;
}

/* Returns [.., position) to the producer. Release pairs with ts_ring_reserve(), (B). */
static inline void ts_ring_consumer_release(struct ts_shard *shard, uint64_t position)
{
	__atomic_store_n(&shard->released, position, __ATOMIC_RELEASE);
}
