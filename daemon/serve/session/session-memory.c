/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a session: counts the memory that a process makes the daemon allocate, and charges
 * it to the account of its user. session-round.c and session-lane.c call this module after each
 * chunk of records. session-definitions.c calls this module before a map of ids grows.
 *
 * If the user has no share left, the session writes its rows. After the write, only the maps and
 * the bits of halves use memory, and the session continues in smaller steps. If the maps and bits
 * alone exceed the share, the session ends with that reason. An idle session frees the same memory.
 */
#include <malloc.h>

#include "daemon/serve/session/session-internal.h"
#include "daemon/util/daemon-error.h"

/*
 * Charges are multiples of this step: sessions share the account, and a large step keeps access to
 * it rare.
 */
#define MEMORY_STEP_BYTES (UINT64_C(256) << 10)
/* A thread's stack, and the memory that its allocator keeps. */
#define MEMORY_THREAD_BYTES (UINT64_C(128) << 10)
/* Charged in advance: rows of a chunk, and their encoding, are allocated before the next charge. */
#define MEMORY_RESERVE_BYTES (UINT64_C(1) << 20)
/* A shard's header in shared memory: one page, and one page of the page table that maps it. */
#define MEMORY_HEADER_BYTES UINT64_C(8192)
/* Bytes of the page table for each byte of a ring that is mapped. */
#define MEMORY_MAP_SHARE UINT64_C(512)
/* A session that drains less than REST_LEAST_BYTES in REST_NS is idle. */
#define REST_NS		 (2000 * MS_NS)
#define REST_LEAST_BYTES (UINT64_C(256) << 10)
/* An idle session does not free working memory below this size. */
#define REST_KEPT_BYTES (UINT64_C(256) << 10)

static uint64_t fixed_bytes(const struct ts_session *s)
{
	return MEMORY_THREAD_BYTES + sizeof(*s) + sizeof(*s->halves) +
	       2 * TS_CLOCK_TABLE_PAIRS * sizeof(struct ts_clock_pair) +
	       s->memory.n_shards *
		       (sizeof(*s->shards) + sizeof(*s->checkpoint) + MEMORY_HEADER_BYTES);
}

/* Returns the bytes of memory that grow and shrink with the rows. */
static uint64_t working_bytes(const struct ts_session *s)
{
	return ts_sbt_session_writer_memory(s->writer) + ts_drain_memory(&s->drain);
}

/* Returns the bytes of rings for which there are page tables, also if the pages were unmapped. */
static uint64_t mapped_bytes(const struct ts_session *s)
{
	uint64_t all = s->n_claimed * s->memory.ring_bytes;

	return s->mapped_bytes < all ? s->mapped_bytes : all;
}

static uint64_t held_bytes(const struct ts_session *s)
{
	return fixed_bytes(s) - sizeof(*s->halves) + ts_halves_memory(s->halves) +
	       working_bytes(s) + ts_arena_reader_memory(&s->arena) + ts_session_kernel_memory(s) +
	       mapped_bytes(s) / MEMORY_MAP_SHARE +
	       (s->kernel_facts ? ts_kernel_facts_memory(s->kernel_facts) : 0);
}

/* Sets the charge to n_bytes plus the reserve. */
static bool charge(struct ts_session *s, uint64_t n_bytes)
{
	uint64_t most = s->recording->limits->max_session_memory;
	uint64_t wanted = ts_align_up(n_bytes + MEMORY_RESERVE_BYTES, MEMORY_STEP_BYTES);

	if (n_bytes + MEMORY_RESERVE_BYTES > most)
		return false;
	if (wanted <= s->memory_bytes) {
		/* Hysteresis: the charge shrinks by two steps or more. */
		if (s->memory_bytes - wanted >= 2 * MEMORY_STEP_BYTES) {
			ts_user_give(s->recording->user, TS_RESOURCE_MEMORY_BYTES,
				     s->memory_bytes - wanted);
			s->memory_bytes = wanted;
		}
		return true;
	}
	if (!ts_user_take(s->recording->user, TS_RESOURCE_MEMORY_BYTES, wanted - s->memory_bytes))
		return false;
	s->memory_bytes = wanted;
	return true;
}

int ts_session_memory_begin(struct ts_session *s)
{
	return charge(s, fixed_bytes(s)) && ts_recording_account(s->recording)
		       ? 0
		       : ts_error_origin(-ENOMEM);
}

void ts_session_memory_end(struct ts_session *s)
{
	ts_user_give(s->recording->user, TS_RESOURCE_MEMORY_BYTES, s->memory_bytes);
	s->memory_bytes = 0;
}

bool ts_session_grant(struct ts_session *s, uint64_t n_bytes)
{
	return !s->starved && charge(s, held_bytes(s) + n_bytes);
}

static int shrink(struct ts_session *s)
{
	int r;

	/*
	 * Pending definitions must be written too: an earlier write in the same reading may have
	 * cleared s->dirty.
	 */
	if (ts_sbt_session_writer_pending_bytes(s->writer))
		ts_session_dirty(s);
	r = ts_session_write(s);
	ts_session_trim(s);
	ts_halves_trim(s->halves);
	return r;
}

int ts_session_account(struct ts_session *s)
{
	int r;

	if (charge(s, held_bytes(s)))
		return 0;
	r = shrink(s);
	if (r || s->starved || charge(s, held_bytes(s)))
		return r;
	s->starved = true;
	return ts_session_bad(
		s,
		"it needs more memory than its limits allow (see --max-session-memory, --max-memory)");
}

/* Unmaps the rings. The next lap maps them again. */
static void unmap_rings(struct ts_session *s)
{
	for (uint32_t i = 0; s->mapped_bytes && i < s->n_claimed; i++) {
		const struct ts_drain_ring ring = ts_session_ring(s, i);

		ts_drain_unmap(&ring);
		s->shards[i].map_to = s->shards[i].position + ring.n_bytes;
	}
}

void ts_session_rest(struct ts_session *s)
{
	uint64_t now = ts_clock_monotonic_ns();

	if (s->dirty || now - s->rest_ns < REST_NS)
		return;
	if (s->drained_bytes < REST_LEAST_BYTES && !ts_session_kernel_flows(s) &&
	    working_bytes(s) > REST_KEPT_BYTES) {
		ts_session_trim(s);
		unmap_rings(s);
		ts_drain_deinit(&s->drain);
		ts_arena_reader_trim(&s->arena);
		malloc_trim(0);
		/* Memory was freed, so the charge only shrinks, and charge() cannot fail. */
		(void)charge(s, held_bytes(s));
		(void)ts_recording_account(s->recording);
	}
	s->rest_ns = now;
	s->drained_bytes = 0;
}
