/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a peer's session: checks the descriptor, copies the layout once, checks the copy,
 * and maps the memory. The daemon never reads the layout in shared memory again, because the peer
 * can still write it.
 *
 * One mapping covers the whole memory, but the daemon touches only the control page and the headers
 * of shards and arena there. A read of a page that the peer never wrote allocates the page, and the
 * daemon is charged for it. So the daemon reads rings and definitions from the descriptor. For a
 * page that was never written, this read returns zeros and allocates nothing. Exception: of each
 * 64 KiB of a ring, one byte is read once (ts_drain_map()), to map the pages for prefetches.
 *
 * Not thread-safe, but different threads may use different objects.
 */
#pragma once

#include "daemon/util/guard.h"
#include "proto/abi/session.h"

struct ts_memory {
	uint8_t *base;
	struct ts_control *control; /* live fields of the producer and the daemon */
	struct ts_guard *guard;	    /* if hit, a page could not be allocated */
	int fd;			    /* duplicate of the descriptor; this object owns it */
	uint64_t n_bytes;
	uint64_t shards_off;
	uint64_t shard_stride;
	uint64_t ring_bytes;
	uint64_t arena_off;
	uint64_t arena_bytes;
	uint64_t lane_off;
	uint64_t lane_bytes; /* 0: no lane */
	uint32_t n_shards;
	enum ts_clock host_clock;

	/* Identity, copied from the control page; `program` and `job.id` are terminated. */
	uint8_t session_id[16];
	uint32_t pid;
	uint32_t parent_session_pid;
	struct ts_clock_pair start;
	uint64_t start_realtime_ns;
	char program[64];
	struct ts_job job;
};

/*
 * Maps `fd`. The caller keeps `fd`; this function keeps a duplicate. `max_bytes` limits the size.
 * Returns 0; -EBADF, -EINVAL, -EPERM, -EFBIG, -EPROTONOSUPPORT, -EIO, -ENOMEM, or the errno of
 * fcntl() or mmap(). On error, *ret_why is a constant text with the reason.
 */
int ts_memory_open(int fd, uint64_t max_bytes, struct ts_memory *ret_memory, const char **ret_why);
/* Unmaps the memory and closes its descriptor. A zeroed object is fine. */
void ts_memory_close(struct ts_memory *memory);

/* Return the header of a shard (i < n_shards), of the arena or of the lane in the mapping. */
static inline struct ts_shard *ts_memory_shard(const struct ts_memory *memory, uint32_t i)
{
	return (struct ts_shard *)(memory->base + memory->shards_off + i * memory->shard_stride);
}

/* Return the offset of a ring, and of the definitions, in the session's memory file. */
static inline uint64_t ts_memory_ring_off(const struct ts_memory *memory, uint32_t i)
{
	return memory->shards_off + i * memory->shard_stride + sizeof(struct ts_shard);
}

static inline uint64_t ts_memory_definitions_off(const struct ts_memory *memory)
{
	return memory->arena_off + sizeof(struct ts_arena);
}

static inline struct ts_arena *ts_memory_arena(const struct ts_memory *memory)
{
	return (struct ts_arena *)(memory->base + memory->arena_off);
}

static inline struct ts_shard *ts_memory_lane(const struct ts_memory *memory)
{
	return (struct ts_shard *)(memory->base + memory->lane_off);
}
