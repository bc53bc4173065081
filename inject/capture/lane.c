/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes contents and operations into the lane's ring. The files that capture calls and window.c
 * call this file. This file calls the ring's producer functions.
 *
 * A content is cut into chunks of 64 KiB. Each chunk is copied into free room of the ring and
 * hashed in one pass. The copy becomes a record only if the lane has not had the same bytes before.
 * If the ring is full, the chunk is hashed in place first, because known bytes need no room. The
 * daemon writes the lane to the trace. If the daemon is slower than the capture, the application
 * waits, for at most 30 s: a capture with a gap cannot be replayed.
 */
#include "inject/capture/lane.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "inject/ring/unlocked.h"
#include "proto/abi/capture-config.h"
#include "proto/abi/hash.h"

#define PATIENCE_NS	 UINT64_C(30000000000)
#define WAIT_NS		 500000
#define FIRST_KNOWN	 (1u << 12)
#define PAGES_FIRST_STEP (64u * 1024)
#define FIRST_RING_BYTES (1024u * 1024)
#define POPULATE_BYTES	 (64u * 1024)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct known {
	uint64_t hash[2];
	uint32_t n_bytes;
	uint32_t blob; /* 0: a free slot */
};

bool ts_pages_grow(struct ts_pages *pages, size_t n_bytes)
{
	size_t want = pages->n_bytes ? pages->n_bytes : PAGES_FIRST_STEP;
	void *at;

	if (n_bytes <= pages->n_bytes)
		return true;
	while (want < n_bytes)
		if (__builtin_mul_overflow(want, 2, &want))
			return false;
	at = pages->at ? ts_unlocked_grow(pages->at, pages->n_bytes, want) : ts_unlocked_map(want);
	if (!at)
		return false;
	pages->at = at;
	pages->n_bytes = want;
	return true;
}

void ts_pages_free(struct ts_pages *pages)
{
	if (pages->at)
		munmap(pages->at, pages->n_bytes);
	*pages = (struct ts_pages){0};
}

/*
 * Maps the part of the ring that the next n_bytes need, so that unused pages cost nothing. The new
 * mapping has another address and replaces the old one.
 */
static bool map_ring(struct ts_lane *lane, uint32_t n_bytes)
{
	const uint64_t ring_bytes = lane->ring.ring_bytes;
	uint64_t want = lane->n_mapped ? lane->n_mapped : FIRST_RING_BYTES, head = lane->ring.head;
	uint8_t *ring;

	if (lane->n_mapped == ring_bytes || head + n_bytes <= lane->n_mapped)
		return true;
	while (want < ring_bytes && want < head + n_bytes)
		want *= 2;
	ring = ts_unlocked_map_behind(lane->header + 1, want);
	if (!ring)
		return false;
	if (lane->n_mapped)
		ts_unlocked_unmap_behind(lane->ring.ring, lane->n_mapped);
	lane->n_mapped = want;
	lane->ring.ring = ring;
	return true;
}

int ts_lane_init(struct ts_lane *lane, struct ts_producer *producer, struct ts_shard *header,
		 uint64_t max_bytes)
{
	struct ts_control *control = producer->control;

	memset(lane, 0, sizeof(*lane));
	if (!ts_pages_grow(&lane->known, FIRST_KNOWN * sizeof(struct known)))
		return -ENOMEM;
	lane->n_known_slots = FIRST_KNOWN;
	__atomic_store_n(&control->capture_max_bytes, max_bytes, __ATOMIC_RELAXED);
	lane->producer = producer;
	lane->max_bytes = max_bytes;
	lane->header = header;
	ts_ring_producer_init(&lane->ring, header, control->lane_bytes);
	return map_ring(lane, 0) ? 0 : -ENOMEM;
}

/*
 * Gives the part of the ring that the next n_bytes need its pages. One call for several pages takes
 * a fifth less time than a fault at each of them. After two laps the whole ring has its pages.
 */
static void populate(struct ts_lane *lane, uint32_t n_bytes)
{
	const uint64_t ring_bytes = lane->ring.ring_bytes, from = lane->populated_to;
	const uint64_t off = from & (ring_bytes - 1), left = lane->n_mapped - off;
	const uint64_t end = ts_align_up(lane->ring.head + n_bytes, POPULATE_BYTES);
	const uintptr_t at = (uintptr_t)lane->ring.ring + off;
	const uintptr_t into_page = at & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	const uint64_t n = end - from < left ? end - from : left;
	int saved_errno = errno;

	/* If it fails, as before Linux 5.14, each page faults. */
	(void)madvise((void *)(at - into_page), n + into_page, MADV_POPULATE_WRITE);
	errno = saved_errno;
	lane->populated_to = end > 2 * ring_bytes ? UINT64_MAX : end;
}

/* Maps the part of the ring that the next n_bytes need, and gives it its pages. */
static __attribute__((noinline)) void make_ready(struct ts_lane *lane, uint32_t n_bytes)
{
	if (!map_ring(lane, n_bytes)) {
		ts_lane_end(lane, TS_LANE_NO_MEMORY);
		return;
	}
	if (lane->ring.head + n_bytes > lane->populated_to)
		populate(lane, n_bytes);
	lane->ready_to = lane->populated_to;
	if (lane->n_mapped < lane->ring.ring_bytes && lane->ready_to > lane->n_mapped)
		lane->ready_to = lane->n_mapped;
}

static bool is_closed(const struct ts_lane *lane)
{
	return __atomic_load_n(&lane->producer->control->lane_closed, __ATOMIC_RELAXED);
}

/* Reserves n_bytes in the ring, without waiting. NULL: there is no room, or the lane has ended. */
static void *try_reserve(struct ts_lane *lane, uint32_t n_bytes)
{
	if (ts_unlikely(lane->ring.head + n_bytes > lane->ready_to))
		make_ready(lane, n_bytes);
	return ts_lane_goes_on(lane) && !is_closed(lane) ? ts_ring_reserve(&lane->ring, n_bytes)
							 : NULL;
}

/* Reserves n_bytes in the ring and waits for room. Returns NULL if the lane has ended. */
static void *reserve(struct ts_lane *lane, uint32_t n_bytes)
{
	struct timespec time = {.tv_nsec = WAIT_NS};
	void *at = try_reserve(lane, n_bytes);
	uint64_t until;

	if (ts_likely(at != NULL))
		return at;
	until = ts_clock_monotonic_ns() + PATIENCE_NS;
	while (ts_lane_goes_on(lane)) {
		if (is_closed(lane) || ts_clock_monotonic_ns() >= until ||
		    !__atomic_load_n(&lane->producer->gate->served, __ATOMIC_RELAXED)) {
			ts_lane_end(lane, TS_LANE_FULL);
			return NULL;
		}
		ts_producer_wake_daemon(lane->producer->control);
		nanosleep(&time, NULL);
		at = try_reserve(lane, n_bytes);
		if (at)
			return at;
	}
	return NULL;
}

static void commit(struct ts_lane *lane, uint32_t n_bytes)
{
	ts_ring_commit(&lane->ring, n_bytes);
	if (lane->ring.head - lane->ring.released > lane->ring.ring_bytes / 4) {
		/* Pairs with ts_ring_consumer_release(), (B). */
		lane->ring.released =
			__atomic_load_n(&lane->ring.shard->released, __ATOMIC_ACQUIRE);
		if (lane->ring.head - lane->ring.released > lane->ring.ring_bytes / 4)
			ts_producer_wake_daemon(lane->producer->control);
	}
}

static struct ts_record fill_record(uint32_t type, uint32_t n_bytes, uint32_t n_fixed)
{
	return (struct ts_record){.n_words = (uint16_t)(n_bytes / 8),
				  .n_fixed_words = (uint8_t)(n_fixed / 8),
				  .clock = TS_CLOCK_MONOTONIC,
				  .type = (uint16_t)type};
}

/* The table uses pages of mmap(), not map.h: see unlocked-table.h. */
static struct known *find_known(struct ts_lane *lane, const struct ts_hash128 *hash,
				uint32_t n_bytes)
{
	struct known *slots = (void *)lane->known.at;

	for (size_t i = hash->a;; i++) {
		struct known *slot = &slots[i & (lane->n_known_slots - 1)];

		if (!slot->blob || (slot->hash[0] == hash->a && slot->hash[1] == hash->b &&
				    slot->n_bytes == n_bytes))
			return slot;
	}
}

/* Moves the table to new pages with twice as many slots, and frees the old pages. */
static bool grow_known(struct ts_lane *lane)
{
	struct ts_pages before = lane->known, after = {0};
	const struct known *old = (void *)before.at;
	size_t n_before = lane->n_known_slots;

	if (!ts_pages_grow(&after, 2 * n_before * sizeof(struct known)))
		return false;
	lane->known = after;
	lane->n_known_slots = 2 * n_before;
	for (size_t i = 0; i < n_before; i++) {
		struct ts_hash128 hash = {old[i].hash[0], old[i].hash[1]};

		if (old[i].blob)
			*find_known(lane, &hash, old[i].n_bytes) = old[i];
	}
	munmap(before.at, before.n_bytes);
	return true;
}

/*
 * Copies memory that may be unmapped or not the host's. process_vm_readv() returns an error in such
 * a case, so the application does not fault.
 */
static bool read_unsure(void *to, const void *from, size_t n_bytes)
{
	for (size_t n = 0; n < n_bytes;) {
		struct iovec local = {(uint8_t *)to + n, n_bytes - n};
		struct iovec remote = {(uint8_t *)(uintptr_t)from + n, n_bytes - n};
		ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	return true;
}

/* Returns the table's slot for a content. A list and a content with the same bytes differ. */
static struct known *slot_of(struct ts_lane *lane, struct ts_hash128 hash, uint32_t n_bytes,
			     uint32_t flags)
{
	struct ts_hash128 key = {hash.a ^ (flags ? ~UINT64_C(0) : 0), hash.b};
	struct known *slot = find_known(lane, &key, n_bytes);

	if (!slot->blob) {
		slot->hash[0] = key.a;
		slot->hash[1] = key.b;
		slot->n_bytes = n_bytes;
	}
	return slot;
}

static uint32_t blob_record_bytes(uint32_t n_bytes)
{
	return (uint32_t)(sizeof(struct ts_record_blob) + ts_align_up(n_bytes, 8));
}

/*
 * Returns the number of the blob with these bytes. Puts it first if it is new. Returns 0 if the
 * lane has ended.
 */
static uint32_t blob(struct ts_lane *lane, const void *bytes, uint32_t n_bytes, uint32_t flags)
{
	const uint32_t n_record = blob_record_bytes(n_bytes);
	struct ts_record_blob *out;
	struct ts_hash128 hash;
	struct known *slot;

	if (lane->n_blobs >= lane->n_known_slots / 2 && !grow_known(lane)) {
		ts_lane_end(lane, TS_LANE_NO_MEMORY);
		return 0;
	}
	out = try_reserve(lane, n_record);
	if (ts_unlikely(!out)) {
		slot = slot_of(lane, ts_hash128(bytes, n_bytes), n_bytes, flags);
		if (slot->blob)
			return slot->blob;
		out = reserve(lane, n_record);
		if (!out)
			return 0;
	}
	hash = ts_hash128_copy(out + 1, bytes, n_bytes);
	slot = slot_of(lane, hash, n_bytes, flags);
	/* Without a commit, the room stays free. */
	if (slot->blob)
		return slot->blob;
	out->record = fill_record(TS_RECORD_BLOB, n_record, sizeof(*out));
	out->record.time = ts_clock_monotonic_ns();
	out->blob = lane->n_blobs + 1;
	out->blob_flags = flags;
	out->n_bytes = n_bytes;
	out->reserved = 0;
	out->hash[0] = hash.a;
	out->hash[1] = hash.b;
	commit(lane, n_record);
	lane->n_blobs++;
	lane->n_bytes += n_bytes;
	slot->blob = lane->n_blobs;
	return lane->n_blobs;
}

static bool within_limit(struct ts_lane *lane, size_t n_bytes)
{
	char why[96];

	if (n_bytes <= lane->max_bytes && lane->n_bytes <= lane->max_bytes - n_bytes)
		return true;
	snprintf(why, sizeof(why),
		 "the capture for replay reached its limit of %llu bytes (see --capture)",
		 (unsigned long long)lane->max_bytes);
	ts_lane_end_saying(lane, TS_LANE_LIMIT, why);
	return false;
}

/* Like blob(), for one chunk of a content. Also returns 0 if the bytes cannot be read. */
static uint32_t chunk(struct ts_lane *lane, const void *bytes, uint32_t n_bytes, bool is_sure)
{
	if (!is_sure) {
		if (!ts_pages_grow(&lane->chunk, TS_BLOB_CHUNK_BYTES)) {
			ts_lane_end(lane, TS_LANE_NO_MEMORY);
			return 0;
		}
		if (!read_unsure(lane->chunk.at, bytes, n_bytes))
			return 0;
		bytes = lane->chunk.at;
	}
	return blob(lane, bytes, n_bytes, 0);
}

static uint32_t content(struct ts_lane *lane, const void *bytes, size_t n_bytes, bool is_sure)
{
	size_t n = n_bytes / TS_BLOB_CHUNK_BYTES + (n_bytes % TS_BLOB_CHUNK_BYTES != 0);
	uint32_t *list;

	if (!n_bytes || !ts_lane_goes_on(lane) || !within_limit(lane, n_bytes))
		return 0;
	if (n == 1)
		return chunk(lane, bytes, (uint32_t)n_bytes, is_sure);
	if (n > TS_BLOB_MAX_BYTES / sizeof(uint32_t)) {
		ts_lane_end_saying(lane, TS_LANE_TOO_LARGE,
				   "the capture for replay cannot hold an operation with more than "
				   "8 GiB of data");
		return 0;
	}
	if (!ts_pages_grow(&lane->list, n * sizeof(*list))) {
		ts_lane_end(lane, TS_LANE_NO_MEMORY);
		return 0;
	}
	list = (uint32_t *)(void *)lane->list.at;
	for (size_t i = 0; i < n; i++) {
		size_t at = i * TS_BLOB_CHUNK_BYTES, left = n_bytes - at;

		list[i] = chunk(lane, (const uint8_t *)bytes + at,
				left < TS_BLOB_CHUNK_BYTES ? (uint32_t)left : TS_BLOB_CHUNK_BYTES,
				is_sure);
		if (!list[i])
			return 0;
	}
	return blob(lane, list, (uint32_t)(n * sizeof(*list)), TS_BLOB_LIST);
}

bool ts_lane_has_room(struct ts_lane *lane, size_t n_bytes)
{
	return n_bytes <= TS_BLOB_CHUNK_BYTES &&
	       try_reserve(lane, blob_record_bytes((uint32_t)n_bytes));
}

uint32_t ts_lane_content(struct ts_lane *lane, const void *bytes, size_t n_bytes)
{
	return content(lane, bytes, n_bytes, true);
}

uint32_t ts_lane_content_rows(struct ts_lane *lane, const uint8_t *bytes, size_t width,
			      size_t height, size_t depth, size_t pitch, size_t slice, bool is_sure)
{
	uint8_t *at;
	size_t n;

	if ((height <= 1 || pitch == width) && (depth <= 1 || slice == width * height))
		return content(lane, bytes, width * height * depth, is_sure);
	if (__builtin_mul_overflow(width, height, &n) || __builtin_mul_overflow(n, depth, &n) ||
	    !ts_pages_grow(&lane->rows, n)) {
		ts_lane_end(lane, TS_LANE_NO_MEMORY);
		return 0;
	}
	at = lane->rows.at;
	for (size_t z = 0; z < depth; z++)
		for (size_t y = 0; y < height; y++, at += width) {
			const uint8_t *row = bytes + z * slice + y * pitch;

			if (is_sure)
				memcpy(at, row, width);
			else if (!read_unsure(at, row, width))
				return 0;
		}
	return ts_lane_content(lane, lane->rows.at, n);
}

static uint64_t put(struct ts_lane *lane, struct ts_record_operation *operation)
{
	struct ts_record_operation *out = reserve(lane, sizeof(*out));
	uint64_t time = operation->record.time;

	if (!out)
		return 0;
	operation->record = fill_record(TS_RECORD_OPERATION, sizeof(*out), sizeof(*out));
	operation->record.clock = (uint8_t)lane->producer->clock;
	operation->record.time = time ? time : ts_producer_ticks(lane->producer);
	operation->sequence = lane->sequence + 1;
	*out = *operation;
	commit(lane, sizeof(*out));
	return ++lane->sequence;
}

uint64_t ts_lane_put(struct ts_lane *lane, struct ts_record_operation *operation)
{
	/* Leaves room for the END operation. */
	if (lane->sequence + 1 >= TS_CAPTURE_MAX_OPERATIONS) {
		if (ts_lane_goes_on(lane))
			ts_lane_end_saying(
				lane, TS_LANE_TOO_MANY,
				"the capture for replay reached its limit of operations");
		return 0;
	}
	return put(lane, operation);
}

struct ts_record_launch *ts_lane_place(struct ts_lane *lane)
{
	struct ts_record_launch *out;

	if (lane->sequence + 1 >= TS_CAPTURE_MAX_OPERATIONS)
		return NULL;
	out = try_reserve(lane, sizeof(*out));
	if (!out)
		return NULL;
	out->record = fill_record(TS_RECORD_LAUNCH, sizeof(*out), sizeof(*out));
	out->record.clock = (uint8_t)lane->producer->clock;
	out->sequence = lane->sequence + 1;
	return out;
}

void ts_lane_commit(struct ts_lane *lane)
{
	commit(lane, sizeof(struct ts_record_launch));
	lane->sequence++;
}

void ts_lane_end_saying(struct ts_lane *lane, enum ts_lane_end why, const char *text)
{
	struct ts_record_operation end = {.kind = TS_OPERATION_END};

	end.name = ts_definitions_string(lane->producer->definitions, text, strlen(text));
	(void)put(lane, &end);
	ts_lane_end(lane, why);
}
