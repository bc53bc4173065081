/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a session's rows and losses, charges definitions, and releases ring space after each
 * write. All files of the session's thread call this module. This module calls none of them.
 */
#include "daemon/serve/session/session-internal.h"
#include "daemon/util/daemon-error.h"

#define CHECKPOINT_VERSION  1u
#define CHECKPOINT_N_HEADER 4u
/* The memory of a definition beyond its bytes: an entry in a map of ids. */
#define DEFINITION_BYTES 64u

int ts_session_bad(struct ts_session *s, const char *why)
{
	s->why = why;
	return SESSION_E_BAD_PEER;
}

int ts_session_write_failed(struct ts_session *s, int r)
{
	const struct ts_sbt_writer *writer = s->recording->writer;

	if (ts_sbt_writer_full(writer) && !ts_sbt_writer_error(writer)) {
		s->full = true;
		return SESSION_E_FULL;
	}
	s->write_error = r < 0 ? r : -EIO;
	return ts_error_trace(s->write_error);
}

void ts_session_count_lost(struct ts_session *s, unsigned reason, uint64_t count)
{
	__atomic_store_n(&s->lost[reason], s->lost[reason] + count, __ATOMIC_RELAXED);
}

void ts_session_count_row(struct ts_session *s, unsigned type)
{
	ts_session_count_rows(s, type, 1);
}

void ts_session_count_rows(struct ts_session *s, unsigned type, uint64_t n)
{
	__atomic_store_n(&s->counts[type], s->counts[type] + n, __ATOMIC_RELAXED);
}

void ts_session_dirty(struct ts_session *s)
{
	if (!s->dirty) {
		s->dirty = true;
		s->dirty_ns = ts_clock_monotonic_ns();
	}
}

bool ts_session_charge(struct ts_session *s, uint64_t n_bytes)
{
	if (ts_recording_charge(s->recording, n_bytes + DEFINITION_BYTES, &s->definition_bytes))
		return true;
	s->dropped_definitions++;
	return false;
}

void ts_session_trim(struct ts_session *s)
{
	ts_sbt_session_writer_trim(s->writer);
	ts_sbt_writer_trim(s->recording->writer);
}

int ts_session_account_file(struct ts_session *s)
{
	if (ts_recording_account(s->recording))
		return 0;
	ts_session_trim(s);
	if (ts_recording_account(s->recording) || s->ending)
		return 0;
	return ts_session_bad(
		s, "the index of its file needs more memory than its user's limits allow");
}

/* ---- writing ---- */

/*
 * Stores the reported losses after the write that contains them. A later daemon continues from
 * these counters, as it does from the released positions.
 */
static void store_losses(struct ts_session *s)
{
	for (uint32_t i = 0; i < s->n_claimed; i++)
		ts_loss_store(&s->shards[i].lost, ts_memory_shard(&s->memory, i)->reported);
	ts_loss_store(&s->lost_control, s->memory.control->reported);
}

static void release_lane(struct ts_session *s)
{
	struct session_lane *lane = &s->lane;

	if (lane->position == lane->released)
		return;
	/* Pairs with ts_ring_reserve(), (B). */
	ts_ring_consumer_release(ts_memory_lane(&s->memory), lane->position);
	lane->released = lane->position;
}

void ts_session_release(struct ts_session *s)
{
	for (uint32_t i = 0; i < s->n_claimed; i++) {
		struct session_shard *shard = &s->shards[i];

		if (shard->position == shard->released)
			continue;
		/* Pairs with ts_ring_reserve(), (B). */
		ts_ring_consumer_release(ts_memory_shard(&s->memory, i), shard->position);
		shard->released = shard->position;
	}
	release_lane(s);
}

int ts_session_write(struct ts_session *s)
{
	size_t n_words = CHECKPOINT_N_HEADER + s->n_claimed;
	int r;

	if (!s->dirty)
		return 0;
	/*
	 * The checkpoint is {version, number of shards, arena position, 0, position of each shard}.
	 * A later daemon compares it with the shared memory.
	 */
	s->checkpoint[0] = CHECKPOINT_VERSION;
	s->checkpoint[1] = s->n_claimed;
	s->checkpoint[2] = s->arena.position;
	s->checkpoint[3] = 0;
	for (uint32_t i = 0; i < s->n_claimed; i++)
		s->checkpoint[CHECKPOINT_N_HEADER + i] =
			s->full ? s->shards[i].released : s->shards[i].position;
	r = ts_sbt_session_writer_seal(s->writer, s->checkpoint, n_words * sizeof(uint64_t));
	if (r)
		return ts_session_write_failed(s, r);
	s->dirty = false;
	memcpy(s->lost_written, s->lost, sizeof(s->lost));
	/*
	 * If the file is full, do not release the ring space. The dropped rows are in no file, and
	 * a later daemon can still read their records from the ring.
	 */
	if (!s->full)
		ts_session_release(s);
	store_losses(s);
	ts_recording_rotate(s->recording);
	r = ts_session_account_file(s);
	if (r)
		return r;
	return s->ending || !ts_recording_full(s->recording) ? 0 : SESSION_E_FULL;
}

int ts_session_add_row(struct ts_session *s, unsigned type, const void *row)
{
	int r = ts_sbt_session_writer_add_row(s->writer, type, row);

	if (ts_unlikely(r == TS_SBT_E_FULL)) {
		ts_session_dirty(s);
		r = ts_session_write(s);
		if (r)
			return r;
		r = ts_sbt_session_writer_add_row(s->writer, type, row);
	}
	return r ? ts_session_write_failed(s, r) : 0;
}

int ts_session_add_loss(struct ts_session *s, const struct ts_row_loss *row)
{
	int r;

	ts_session_dirty(s);
	ts_session_count_lost(s, row->reason, row->count);
	r = ts_session_add_row(s, TS_ROW_LOSS, row);
	if (!r)
		ts_session_count_row(s, TS_ROW_LOSS);
	return r;
}

int ts_session_lose(struct ts_session *s, enum ts_loss_reason reason, uint64_t count,
		    uint64_t from_ns)
{
	struct ts_row_loss row = ts_loss_row(reason, count, from_ns, ts_clock_monotonic_ns());

	return count ? ts_session_add_loss(s, &row) : 0;
}
