/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session in this process: its memory, its definitions and its producer, for tests of the layers
 * above.
 */
#pragma once

#include <sys/mman.h>

#include "inject/ring/producer.h"
#include "inject/ring/ring-session.h"

struct fixture {
	struct ts_control *control; /* a mapping of the whole memory, like the daemon's */
	struct ts_session_memory memory;
	struct ts_definitions definitions;
	struct ts_producer producer;
	struct ts_gate gate;
	int fd;
};

/* lane_bytes: of the lane of captured operations; 0: there is none. */
static inline void fixture_init_lane(struct fixture *fixture, uint32_t n_shards,
				     uint64_t ring_bytes, uint64_t arena_bytes, uint64_t lane_bytes)
{
	struct ts_session_options options = {
		.n_shards = n_shards,
		.ring_bytes = ring_bytes,
		.arena_bytes = arena_bytes,
		.lane_bytes = lane_bytes,
		.command = TS_COMMAND_RECORD,
		.program = "fixture",
	};

	memset(fixture, 0, sizeof(*fixture));
	fixture->gate.alive = 1;
	ts_check_int(ts_session_new(&options, &fixture->fd, &fixture->memory), 0);
	fixture->control = mmap(NULL, fixture->memory.control->total_bytes, PROT_READ | PROT_WRITE,
				MAP_SHARED, fixture->fd, 0);
	ts_check(fixture->control != MAP_FAILED);
	ts_check_int(ts_definitions_init(&fixture->definitions, &fixture->memory), 0);
	ts_check_int(ts_producer_init(&fixture->producer, &fixture->gate, fixture->memory.control,
				      &fixture->definitions, 1),
		     0);
}

static inline void fixture_init(struct fixture *fixture, uint32_t n_shards, uint64_t ring_bytes,
				uint64_t arena_bytes)
{
	fixture_init_lane(fixture, n_shards, ring_bytes, arena_bytes, 0);
}

static inline void fixture_deinit(struct fixture *fixture)
{
	ts_producer_deinit(&fixture->producer);
	close(fixture->fd);
	munmap(fixture->control, fixture->control->total_bytes);
}

static inline struct ts_shard *fixture_shard(const struct fixture *fixture, uint32_t i)
{
	return (struct ts_shard *)((uint8_t *)fixture->control + fixture->control->shards_off +
				   i * fixture->control->shard_stride);
}

/* Returns the i-th record of a shard that never wrapped; NULL: the shard has no such record. */
static inline const struct ts_record *fixture_record_of(const struct ts_shard *shard, uint32_t i)
{
	const uint8_t *ring = (const uint8_t *)shard + sizeof(*shard);
	uint64_t off = 0, head = shard->head;

	for (; off < head; i--) {
		const struct ts_record *record = (const struct ts_record *)(ring + off);

		if (!i)
			return record;
		off += record->n_words * 8u;
	}
	return NULL;
}

static inline const struct ts_record *fixture_record(const struct fixture *fixture, uint32_t shard,
						     uint32_t i)
{
	return fixture_record_of(fixture_shard(fixture, shard), i);
}

/* Returns the definition of that type and id; NULL: the arena does not have it. */
static inline const struct ts_definition *fixture_definition(const struct fixture *fixture,
							     uint32_t type, uint32_t id)
{
	const uint8_t *bytes =
		(uint8_t *)fixture->control + fixture->control->arena_off + sizeof(struct ts_arena);
	/*
	 * Acquire, as in the daemon, because other threads may be writing. Pairs with the release
	 * of `published` by the definitions.
	 */
	const uint64_t published =
		__atomic_load_n(&fixture->definitions.arena->published, __ATOMIC_ACQUIRE);
	uint64_t off = 0;

	while (off < published) {
		const struct ts_definition *definition =
			(const struct ts_definition *)(bytes + off);

		if (definition->type == type && definition->id == id)
			return definition;
		off += definition->n_words * UINT64_C(8);
	}
	return NULL;
}
