/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's side of the lane (proto/abi/session.h): contents by what they are, each once, and operations in order. All
 * threads share it; who uses it holds `lock`. Nothing is ever left out of its middle: what does not fit within a bound, or
 * beyond the limit, ends it.
 *
 * None of this is for signal handlers. Memory comes from mmap() alone, never from the application's allocator.
 */
#pragma once

#include <pthread.h>

#include "inject/ring/producer.h"

/* Pages that grow. Zero-initialised is empty. */
struct ts_pages {
	uint8_t *at;
	size_t n_bytes;
};

/* Room for n_bytes, what is there kept, new room zeroed. Returns false where there is no memory. */
bool ts_pages_grow(struct ts_pages *pages, size_t n_bytes);

void ts_pages_free(struct ts_pages *pages);

struct ts_lane {
	pthread_mutex_t lock; /* of all below */
	struct ts_producer *producer;
	struct ts_ring_producer ring;
	struct ts_shard *header;
	uint64_t n_mapped; /* of the ring: `ring` points into a mapping of so much */
	uint64_t sequence;
	uint64_t n_bytes;   /* of contents, each once */
	uint64_t max_bytes; /* then it ends */
	uint32_t n_blobs;
	uint32_t ended;	       /* read without the lock, too */
	struct ts_pages known; /* table of blobs by hash */
	size_t n_known_slots;
	struct ts_pages list;  /* numbers of a content's blobs */
	struct ts_pages rows;  /* a content without gaps */
	struct ts_pages chunk; /* of what may not be there */
};

/* `header` is the session's lane (ring-session.h), without its ring. 0 or -errno. */
int ts_lane_init(struct ts_lane *lane, struct ts_producer *producer, struct ts_shard *header,
		 uint64_t max_bytes);

static inline bool ts_lane_goes_on(const struct ts_lane *lane)
{
	return !__atomic_load_n(&lane->ended, __ATOMIC_RELAXED);
}

/* The number by which these bytes are known from now on; 0: there are none, or the lane has ended. */
uint32_t ts_lane_content(struct ts_lane *lane, const void *bytes, size_t n_bytes);

/*
 * The same of rows of `width` bytes, `height` of them in each of `depth` slices. Not sure: the memory may not be the host's,
 * or may be unmapped by now; then also 0 where it cannot be read.
 */
uint32_t ts_lane_content_rows(struct ts_lane *lane, const uint8_t *bytes, size_t width,
			      size_t height, size_t depth, size_t pitch, size_t slice,
			      bool is_sure);

/* Puts an operation: its sequence is set. Returns that; 0: the lane has ended. */
uint64_t ts_lane_put(struct ts_lane *lane, struct ts_record_operation *operation);

/* Puts an END that says why, and nothing after it. */
void ts_lane_end_saying(struct ts_lane *lane, enum ts_lane_end why, const char *text);
/* Ends it where no operation can say so. Needs no lock. */
void ts_lane_end(struct ts_lane *lane, enum ts_lane_end why);
