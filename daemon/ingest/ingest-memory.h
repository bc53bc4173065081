/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer's session memory: checks the descriptor, copies the layout once, checks that, and maps it.
 * After that nobody looks at the layout in shared memory again: the peer can still write it.
 *
 * All of it is one mapping, but only the control page and the headers of shards and arena are
 * touched there: of a page that the peer never wrote, a look at it makes one, and who looked pays.
 * Rings and definitions are read from the descriptor, where such a page reads as zeros and stays
 * what it is.
 *
 * Thread-safe as far as the memory behind one object is used by one thread.
 */
#pragma once

#include "daemon/util/guard.h"
#include "proto/abi/session.h"

struct ts_memory {
	uint8_t *base;
	struct ts_control *control; /* live fields: producer, daemon */
	struct ts_guard *guard;	    /* hit: the memory cannot be had */
	int fd;			    /* of its own */
	uint64_t n_bytes;
	uint64_t shards_off;
	uint64_t shard_stride;
	uint64_t ring_bytes;
	uint64_t arena_off;
	uint64_t arena_bytes;
	uint64_t lane_off;
	uint64_t lane_bytes; /* 0: it has none */
	uint32_t n_shards;
	enum ts_clock host_clock;

	/* Identity, as copied; `program` is terminated. */
	uint8_t session_id[16];
	uint32_t pid;
	uint32_t parent_session_pid;
	struct ts_clock_pair start;
	uint64_t start_realtime_ns;
	char program[64];
};

/*
 * Maps `fd`, which stays the caller's: a duplicate is kept. `max_bytes` bounds the size.
 * Returns 0; -EBADF, -EINVAL, -EPERM, -EFBIG, -EPROTONOSUPPORT, or what mmap() gave; *ret_why is
 * then a constant text that says what is wrong with it.
 */
int ts_memory_open(int fd, uint64_t max_bytes, struct ts_memory *ret_memory, const char **ret_why);
void ts_memory_close(struct ts_memory *memory);

static inline struct ts_shard *ts_memory_shard(const struct ts_memory *memory, uint32_t i)
{
	return (struct ts_shard *)(memory->base + memory->shards_off + i * memory->shard_stride);
}

/* Where in the descriptor a ring begins, and the definitions. */
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
