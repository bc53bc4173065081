/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both halves of a shard's index protocol, side by side so that every barrier pair is seen at once.
 *
 * One producer thread, one consumer. The producer owns `head`, the consumer owns `released`; each
 * reads the other's index with acquire and writes its own with release. A record is contiguous:
 * where it does not fit before the end of the memory, a PAD record fills the rest. A record that
 * does not fit at all is dropped and counted by the caller; nothing here waits, allocates or makes
 * a system call.
 *
 *	producer                                 consumer
 *	  fill the record                          acquire head            (A)
 *	  release head            (A)              copy the records out, write them to the trace
 *	  acquire released        (B)              release released        (B)
 *	  reuse the space
 *
 * test/model/ring.pml is this protocol for a model checker; whoever changes one changes the other.
 *
 * (A) makes a record's bytes visible before its position. (B) keeps the producer from overwriting
 * bytes that the consumer still reads.
 */
#pragma once

#include "proto/abi/session.h"

/* The producer's half: private to one thread, but for `shard` and `ring`, which are shared. */
struct ts_ring_producer {
	uint64_t head;	   /* of the next record */
	uint64_t released; /* the consumer's index when last looked at */
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
	/* Pairs with ts_ring_consumer_release(), (B). */
	producer->released = __atomic_load_n(&shard->released, __ATOMIC_ACQUIRE);
}

/*
 * Reserves n_bytes (a multiple of 8, at most a quarter of the ring) and returns where to write
 * them, or NULL where the ring is full. Nothing is visible before ts_ring_commit() of that size.
 */
static inline void *ts_ring_reserve(struct ts_ring_producer *producer, uint32_t n_bytes)
{
	uint64_t off = producer->head & (producer->ring_bytes - 1);
	uint64_t pad = off + n_bytes > producer->ring_bytes ? producer->ring_bytes - off : 0;

	if (ts_unlikely(producer->head + pad + n_bytes - producer->released >
			producer->ring_bytes)) {
		/* Pairs with ts_ring_consumer_release(), (B). */
		producer->released = __atomic_load_n(&producer->shard->released, __ATOMIC_ACQUIRE);
		if (producer->head + pad + n_bytes - producer->released > producer->ring_bytes)
			return NULL;
	}
	while (ts_unlikely(pad)) {
		struct ts_record *filler = (struct ts_record *)(producer->ring + off);
		uint64_t step = pad > TS_RECORD_MAX_BYTES ? TS_RECORD_MAX_BYTES : pad;

		/* 8 bytes may be all there is: a PAD record is its first word. */
		filler->n_words = (uint16_t)(step / 8);
		filler->n_fixed_words = 0;
		filler->clock = 0;
		filler->type = TS_RECORD_PAD;
		filler->flags = 0;
		producer->head += step;
		off += step;
		pad -= step;
	}
	return producer->ring + (producer->head & (producer->ring_bytes - 1));
}

/* Makes the reserved record, and padding before it, visible to the consumer. */
static inline void ts_ring_commit(struct ts_ring_producer *producer, uint32_t n_bytes)
{
	producer->head += n_bytes;
	/* Pairs with ts_ring_consumer_head(), (A). */
	__atomic_store_n(&producer->shard->head, producer->head, __ATOMIC_RELEASE);
}

/* Whether so much lies unreleased that the daemon should be woken: half of the ring. */
static inline bool ts_ring_past_watermark(const struct ts_ring_producer *producer)
{
	return producer->head - producer->released > producer->ring_bytes / 2;
}

/* The consumer's half. `position` may run ahead of what was released. */

/* Pairs with ts_ring_commit(), (A). The value is a peer's: see ts_ring_consumer_check(). */
static inline uint64_t ts_ring_consumer_head(const struct ts_shard *shard)
{
	return __atomic_load_n(&shard->head, __ATOMIC_ACQUIRE);
}

/*
 * Whether a head read from shared memory can be true, given what was released and how far was read.
 * False: the peer is broken or hostile, and is to be dropped.
 */
static inline bool ts_ring_consumer_check(uint64_t head, uint64_t position, uint64_t released,
					  uint64_t ring_bytes)
{
	return head % 8 == 0 && position - released <= ring_bytes &&
	       head - released <= ring_bytes && head - released >= position - released;
}

/*
 * Copies up to n_bytes of [position, head) out of the ring. Returns how many; less than asked for
 * at the end of the ring's memory. Whoever interprets the copy never looks at shared memory again.
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

/* Gives [.., position) back to the producer. Pairs with ts_ring_reserve(), (B). */
static inline void ts_ring_consumer_release(struct ts_shard *shard, uint64_t position)
{
	__atomic_store_n(&shard->released, position, __ATOMIC_RELEASE);
}
