/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's side of the lane (proto/abi/session.h). The lane holds contents, each once, found
 * by hash, and operations in order. All threads share the lane; a caller of a function below holds
 * `lock`, unless the function states otherwise. The lane drops nothing from its middle. If the ring
 * has no room for a record for too long, or the contents exceed their limit, the lane ends.
 *
 * Not for signal handlers. Memory comes from mmap() alone, never from the application's allocator.
 */
#pragma once

#include "inject/ring/lock.h"
#include "inject/ring/producer.h"

/* A growing region of pages. Zero-initialised means empty. */
struct ts_pages {
	uint8_t *at;
	size_t n_bytes;
};

/*
 * Grows to at least n_bytes, keeps the contents, and zeroes new bytes. The region may move. Returns
 * false if there is no memory.
 */
bool ts_pages_grow(struct ts_pages *pages, size_t n_bytes);

void ts_pages_free(struct ts_pages *pages);

struct ts_lane {
	struct ts_lock lock; /* guards all fields below */
	struct ts_producer *producer;
	struct ts_ring_producer ring;
	struct ts_shard *header;
	uint64_t n_mapped;     /* bytes of the ring that are mapped at ring.ring */
	uint64_t populated_to; /* the mapping has its pages up to this index */
	uint64_t ready_to;     /* up to this index it is mapped and has its pages */
	uint64_t sequence;
	uint64_t n_bytes;   /* bytes of contents, each counted once */
	uint64_t max_bytes; /* the lane ends at this size */
	uint32_t n_blobs;
	uint32_t ended;	       /* also read without the lock */
	struct ts_pages known; /* table of blobs by hash */
	size_t n_known_slots;
	struct ts_pages list;  /* blob numbers of one content */
	struct ts_pages rows;  /* one content, packed from rows */
	struct ts_pages chunk; /* a copy of memory that may be unmapped */
};

/*
 * Initialises the lane. `header` is the shard of the session's lane (ring-session.h); the ring
 * follows the header and is mapped here. Returns 0 or -errno.
 */
int ts_lane_init(struct ts_lane *lane, struct ts_producer *producer, struct ts_shard *header,
		 uint64_t max_bytes);

static inline bool ts_lane_goes_on(const struct ts_lane *lane)
{
	return !__atomic_load_n(&lane->ended, __ATOMIC_RELAXED);
}

/*
 * Puts the bytes into the lane if they are new. Returns the blob number of the content. Returns 0
 * if n_bytes is 0, or the lane has ended.
 */
uint32_t ts_lane_content(struct ts_lane *lane, const void *bytes, size_t n_bytes);
/*
 * True if ts_lane_content() puts n_bytes without a wait. False if the lane has no room now, has
 * ended, or needs several blobs for them.
 */
bool ts_lane_has_room(struct ts_lane *lane, size_t n_bytes);

/*
 * Like ts_lane_content(), for `height` rows of `width` bytes in each of `depth` slices. If
 * !is_sure, the memory may be unmapped or not the host's; the function then returns 0 if the bytes
 * cannot be read.
 */
uint32_t ts_lane_content_rows(struct ts_lane *lane, const uint8_t *bytes, size_t width,
			      size_t height, size_t depth, size_t pitch, size_t slice,
			      bool is_sure);

/*
 * Puts an operation into the lane and sets its sequence number. Returns this number; 0 if the lane
 * has ended.
 */
uint64_t ts_lane_put(struct ts_lane *lane, struct ts_record_operation *operation);

/*
 * Places a launch in the lane, without a wait. It has a sequence number and a header, which lacks
 * the time. The caller fills in all other fields and calls ts_lane_commit(), with no other function
 * of the lane in between. Returns NULL if there is no room, the lane has ended, or the limit of
 * operations is reached.
 */
struct ts_record_launch *ts_lane_place(struct ts_lane *lane);
/* Puts the launch that ts_lane_place() returned. */
void ts_lane_commit(struct ts_lane *lane);

/* Puts an END operation with the reason as text, and ends the lane. */
void ts_lane_end_saying(struct ts_lane *lane, enum ts_lane_end why, const char *text);
/* Ends the lane without an END operation. Needs no lock. The first reason stays. */
static inline void ts_lane_end(struct ts_lane *lane, enum ts_lane_end why)
{
	uint32_t none = TS_LANE_GOES_ON;

	__atomic_store_n(&lane->ended, 1, __ATOMIC_RELAXED);
	/* Release pairs with the daemon's acquire load of lane_ended. */
	(void)__atomic_compare_exchange_n(&lane->producer->control->lane_ended, &none,
					  (uint32_t)why, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
