/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a BPF_MAP_TYPE_RINGBUF at the records' places. libbpf's reader stores the position after
 * each record, into a cache line that the programs load at each event. This reader stores it once
 * in TS_EVENT_RING_HELD bytes, and its loop needs no call for a record.
 *
 * One thread at a time reads. The kernel writes the ring, so its records are valid.
 */
#pragma once

#include <linux/bpf.h>
#include <stdint.h>

#include "proto/abi/base.h"

/* The most bytes of read records whose place is not yet free. */
#define TS_EVENT_RING_HELD 65536u

/* A zeroed struct is a ring that was never mapped. */
struct ts_event_ring {
	uint64_t *consumer; /* NULL: not mapped. The programs load it */
	const uint64_t *producer;
	const uint8_t *records; /* mapped twice in a row, so that a record never wraps */
	uint64_t n_bytes;	/* a power of two */
	uint64_t position;	/* begin of the next record */
	uint64_t released;	/* the value of *consumer */
	uint64_t head;		/* end of the records of this read */
	int fd;
};

/* Maps the ring of `n_bytes`. `fd` is its map, which the caller keeps. Returns 0 or -errno. */
int ts_event_ring_init(struct ts_event_ring *ring, int fd, uint64_t n_bytes);
void ts_event_ring_deinit(struct ts_event_ring *ring);

/* Waits until a program wakes the reader, for at most ms. Returns at once if the ring has bytes. */
void ts_event_ring_wait(const struct ts_event_ring *ring, int ms);

/* Bytes in the ring, with those of records that are not complete. */
static inline uint64_t ts_event_ring_waiting(const struct ts_event_ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_RELAXED) - ring->position;
}

/* Begins a read of the records that are in the ring now. */
static inline void ts_event_ring_begin(struct ts_event_ring *ring)
{
	/* Pairs with the kernel's release when it reserves a record. */
	ring->head = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
}

/* Ends a read: the places of its records are free. */
static inline void ts_event_ring_end(struct ts_event_ring *ring)
{
	/* Pairs with the kernel's acquire when it reserves a record. */
	__atomic_store_n(ring->consumer, ring->position, __ATOMIC_RELEASE);
	ring->released = ring->position;
}

/*
 * Returns the next record and its size, or NULL at the end of the read. The record is valid until
 * the next call of any function of the ring.
 */
static inline const void *ts_event_ring_next(struct ts_event_ring *ring, size_t *ret_n_bytes)
{
	while (ring->position < ring->head) {
		const uint8_t *at = ring->records + (ring->position & (ring->n_bytes - 1));
		/* Pairs with the kernel's exchange when it completes the record. */
		uint32_t length =
			__atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);

		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		if (ts_unlikely(ring->position - ring->released >= TS_EVENT_RING_HELD))
			ts_event_ring_end(ring);
		*ret_n_bytes = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		ring->position += (*ret_n_bytes + BPF_RINGBUF_HDR_SZ + 7) & ~UINT64_C(7);
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			return at + BPF_RINGBUF_HDR_SZ;
	}
	return NULL;
}
