/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a session in rounds. session-thread.c calls this module until the session ends;
 * session-end.c calls this module for the last drain. This module calls the session's other files,
 * daemon/ingest and daemon/merge.
 *
 * One round:
 * - loads the heads of the shards;
 * - records a clock pair, so that every drained host time lies between two pairs;
 * - reads new definitions;
 * - copies records out of the rings and makes rows;
 * - writes the rows if enough are gathered or enough time has passed.
 *
 * Ring space is released only after the write. If the daemon dies, the next daemon finds all
 * unwritten records in the ring.
 *
 * The peer is hostile. A peer that breaks the rules of the ring ends its own session and no other.
 */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "daemon/serve/session/session-internal.h"
#include "daemon/util/daemon-error.h"

#define ROUND_LEAST_NS	 (1 * MS_NS)
#define SEAL_ROWS	 65536u
#define CLOCK_SPACING_NS (20 * MS_NS) /* interval between clock pairs in memory */
/*
 * Interval between clock pairs in the trace. Rounds are 40 ms apart at most while records come, so
 * two pairs are at most 100 ms apart.
 */
#define CLOCK_STORED_NS (60 * MS_NS)
/*
 * A row's time may lie this far in the future, because the timeline of a virtual device runs ahead
 * of the host's clock.
 */
#define ROW_AHEAD_NS (60000 * MS_NS)
#define LOSS_LOOK_NS (100 * MS_NS)
#define FILE_LOOK_NS (1000 * MS_NS)

/* ---- clocks ---- */

static int store_clock(struct ts_session *s, enum ts_clock clock, const struct ts_clock_pair *pair)
{
	struct ts_row_clock row = {
		.start_ns = pair->monotonic_ns,
		.ticks = pair->ticks,
		.error_ns = pair->error_ns,
		.clock = clock,
	};

	int r = ts_session_add_row(s, TS_ROW_CLOCK, &row);

	if (!r)
		ts_session_count_row(s, TS_ROW_CLOCK);
	return r;
}

static int store_pairs(struct ts_session *s)
{
	int r = 0;

	if (s->memory.host_clock != TS_CLOCK_MONOTONIC)
		r = store_clock(s, s->memory.host_clock, &s->last_pair);
	s->last_pair_stored = true;
	s->stored_ns = s->last_pair.monotonic_ns;
	return r ?: store_clock(s, TS_CLOCK_REALTIME, &s->last_realtime);
}

/*
 * Records a pair of the current host time and vendor time. While rows come, pairs in the trace are
 * at most 100 ms apart. The first row after a silence also stores the last pair before it. So for
 * every time in the trace, there is an earlier pair and a later one.
 */
static int take_clock_pair(struct ts_session *s, bool flowing)
{
	struct ts_clock_pair pair = ts_clock_pair_take(s->memory.host_clock);
	int r = 0;

	if (s->memory.host_clock != TS_CLOCK_MONOTONIC)
		ts_clock_table_extend(&s->host_clock, &pair, CLOCK_SPACING_NS);
	if (pair.error_ns > s->row.clock_error_ns)
		s->row.clock_error_ns = pair.error_ns;
	if (flowing && !s->last_pair_stored) {
		ts_session_dirty(s);
		r = store_pairs(s);
	}
	if (pair.monotonic_ns - s->stored_ns < CLOCK_STORED_NS && s->last_pair_stored)
		return r;
	s->last_pair = pair;
	s->last_realtime = ts_clock_pair_take(TS_CLOCK_REALTIME);
	s->last_pair_stored = false;
	if (!flowing || r)
		return r;
	ts_session_dirty(s);
	return store_pairs(s);
}

/* ---- records ---- */

/*
 * Excludes a malformed shard from further rounds. The other shards are still drained before the
 * session ends.
 */
static int fail_shard(struct ts_session *s, struct session_shard *shard, const char *why)
{
	shard->bad = true;
	shard->head = shard->position;
	return ts_session_bad(s, why);
}

static int drain_shard(struct ts_session *s, uint32_t i)
{
	const struct ts_shard *memory = ts_memory_shard(&s->memory, i);
	struct session_shard *shard = &s->shards[i];
	const struct ts_drain_ring ring = ts_session_ring(s, i);
	uint64_t round_begin = shard->position, round_bytes = ts_session_round_bytes(s);
	uint32_t thread;

	if (shard->position == shard->head)
		return 0;
	/*
	 * The owner writes this field before its first commit. The acquire load of the head has
	 * seen that commit.
	 */
	thread = __atomic_load_n(&memory->thread, __ATOMIC_RELAXED);
	s->rows.thread = ts_id_map_get(&s->arena.threads, thread);
	while (shard->position != shard->head && shard->position - round_begin < round_bytes) {
		uint64_t begin = shard->position;
		size_t n_bytes, off;
		int r;

		r = ts_drain_copy(&s->drain, &ring, begin, shard->head, &n_bytes, &off);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			return fail_shard(s, shard, "a record in its ring is malformed");
		if (begin < shard->map_to)
			s->mapped_bytes += ts_drain_map(&ring, begin, n_bytes);
		r = ts_session_take_records(s, shard, &ring, begin, n_bytes, &off);
		if (r)
			return r;
		shard->position = begin + off;
		s->drained_bytes += off;
		r = ts_session_account(s);
		if (r)
			return r;
		if (ts_sbt_session_writer_pending_rows(s->writer) >= SEAL_ROWS ||
		    shard->position - shard->released > s->memory.ring_bytes / 2) {
			/* Only padding was drained, so nothing needs a write. */
			if (!s->dirty)
				ts_session_release(s);
			r = ts_session_write(s);
			if (r)
				return r;
		}
	}
	return 0;
}

static int load_head(struct ts_session *s, uint32_t i, uint64_t *n_most)
{
	struct session_shard *shard = &s->shards[i];
	/* Pairs with ts_ring_commit(), (A). */
	uint64_t head = ts_ring_consumer_head(ts_memory_shard(&s->memory, i));

	if (shard->bad)
		return 0;
	if (!ts_ring_consumer_check(head, shard->position, shard->released, s->memory.ring_bytes))
		return fail_shard(s, shard, "its ring has invalid indices");
	if (head - shard->position > *n_most)
		*n_most = head - shard->position;
	shard->head = head;
	return 0;
}

/*
 * Loads the heads of all shards: first those of shards with device rows, which are drained last.
 * The API row of an operation was committed before its device rows, in another shard. With this
 * order, the same round drains the API row first.
 *
 * Exception: if the API row's shard holds more bytes than one round drains, the API row may come in
 * a later round. Then the device row keeps the id of a nested call, and the API row lists this id.
 */
static int load_heads(struct ts_session *s, uint64_t *ret_n_most)
{
	/* Pairs with the producer's release when it claims a shard. */
	uint32_t n = __atomic_load_n(&s->memory.control->n_claimed, __ATOMIC_ACQUIRE);
	uint64_t unwritten = 0;
	int r = 0;

	*ret_n_most = 0;
	if (n > s->memory.n_shards && !s->ending)
		return ts_session_bad(s, "it claims more shards than its memory holds");
	if (n > s->n_claimed && n <= s->memory.n_shards)
		s->n_claimed = n;
	for (uint32_t i = 0; i < s->n_claimed && !r; i++)
		if (s->shards[i].has_device_rows)
			r = load_head(s, i, ret_n_most);
	for (uint32_t i = 0; i < s->n_claimed && !r; i++)
		if (!s->shards[i].has_device_rows)
			r = load_head(s, i, ret_n_most);
	for (uint32_t i = 0; i < s->n_claimed; i++)
		unwritten += s->shards[i].head - s->shards[i].released;
	__atomic_store_n(&s->unwritten_bytes, unwritten, __ATOMIC_RELAXED);
	return r;
}

static int drain_shards(struct ts_session *s)
{
	uint64_t device[TS_SESSION_MAX_SHARDS / 64] = {0};
	int r = 0;

	for (uint32_t i = 0; i < s->n_claimed && !r; i++) {
		if (s->shards[i].has_device_rows)
			device[i / 64] |= UINT64_C(1) << i % 64;
		else
			r = drain_shard(s, i);
	}
	for (uint32_t i = 0; i < s->n_claimed && !r; i++)
		if (device[i / 64] & UINT64_C(1) << i % 64)
			r = drain_shard(s, i);
	return r;
}

int ts_session_look_for_losses(struct ts_session *s)
{
	struct ts_row_loss rows[TS_LOSS_COUNT];
	uint64_t now = ts_clock_monotonic_ns();
	int r;

	for (uint32_t i = 0; i <= s->n_claimed; i++) {
		bool control = i == s->n_claimed;
		const struct ts_shard *shard = control ? NULL : ts_memory_shard(&s->memory, i);
		/* A full file gets no new threads, so its loss rows refer to no thread (0). */
		uint32_t thread =
			control || s->full
				? 0
				: ts_id_map_get(&s->arena.threads,
						__atomic_load_n(&shard->thread, __ATOMIC_RELAXED));
		unsigned n = ts_loss_look(control ? &s->lost_control : &s->shards[i].lost,
					  control ? s->memory.control->lost : shard->lost,
					  s->loss_ns, now, thread, rows);

		for (unsigned j = 0; j < n; j++) {
			r = ts_session_add_loss(s, &rows[j]);
			if (r)
				return r;
		}
	}
	s->loss_ns = now;
	return 0;
}

int ts_session_round(struct ts_session *s, uint64_t *ret_n_most)
{
	int r = load_heads(s, ret_n_most);
	/*
	 * The next round follows at once. A write before it would have few rows, and would take
	 * time while the ring fills. This round leaves the write to one that finds less, or to the
	 * shard that gets half full of unwritten records.
	 */
	const bool is_behind = *ret_n_most > ts_session_round_bytes(s);

	r = r ?: ts_session_lane_load(s);
	if (ts_guard_hit(s->memory.guard))
		return ts_session_bad(s, "its shared memory cannot be read");
	s->rows.latest_ns = ts_clock_monotonic_ns() + ROW_AHEAD_NS;
	r = r ?: take_clock_pair(s, *ret_n_most || ts_session_lane_waiting(s));
	r = r ?: ts_session_read_arena(s);
	r = r ?: drain_shards(s);
	r = r ?: ts_session_lane_drain(s);
	if (ts_session_lane_waiting(s))
		*ret_n_most = s->memory.ring_bytes;
	r = r ?: ts_session_kernel_round(s);
	r = r ?: ts_session_account(s);
	if (!r && ts_clock_monotonic_ns() - s->loss_ns >= LOSS_LOOK_NS)
		r = ts_session_look_for_losses(s);
	if (!r && s->dirty && !is_behind &&
	    ts_clock_monotonic_ns() - s->dirty_ns >= s->options.seal_age_ms * MS_NS)
		r = ts_session_write(s);
	ts_session_rest(s);
	if (ts_clock_monotonic_ns() - s->file_ns >= FILE_LOOK_NS) {
		ts_recording_look(s->recording);
		s->file_ns = ts_clock_monotonic_ns();
	}
	__atomic_store_n(&s->memory.control->heartbeat_ns, ts_clock_monotonic_ns(),
			 __ATOMIC_RELAXED);
	return r;
}

/* ---- between rounds ---- */

void ts_session_ask_flush(struct ts_session *s, uint32_t wait_ms)
{
	/*
	 * Release; pairs with the producer's acquire: the producer sees earlier changes of
	 * `command`.
	 */
	uint32_t number =
		__atomic_add_fetch(&s->memory.control->flush_request, 1, __ATOMIC_RELEASE);

	/* The shim's flush thread sleeps on flush_request. */
	syscall(SYS_futex, &s->memory.control->flush_request, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	s->flush_number = number;
	s->flush_waiting = true;
	s->flush_deadline_ns = ts_clock_monotonic_ns() + wait_ms * MS_NS;
}

bool ts_session_flushed(struct ts_session *s)
{
	struct ts_control *control = s->memory.control;
	uint32_t state = __atomic_load_n(&control->state, __ATOMIC_RELAXED);

	if (!s->flush_waiting)
		return true;
	/* Pairs with the producer's release of flushes_done. */
	if (__atomic_load_n(&control->flushes_done, __ATOMIC_ACQUIRE) == s->flush_number ||
	    (state != TS_SESSION_RECORDING && state != TS_SESSION_STARTING) ||
	    ts_clock_monotonic_ns() >= s->flush_deadline_ns)
		s->flush_waiting = false;
	return !s->flush_waiting;
}

static bool past_watermark(const struct ts_session *s)
{
	for (uint32_t i = 0; i < s->n_claimed; i++) {
		uint64_t head = ts_ring_consumer_head(ts_memory_shard(&s->memory, i));

		if (head - s->shards[i].released > s->memory.ring_bytes / 2)
			return true;
	}
	return !s->lane.closed &&
	       ts_ring_consumer_head(ts_memory_lane(&s->memory)) - s->lane.released >
		       s->memory.lane_bytes / 4;
}

/*
 * Sleeps until the doorbell differs from `seen`, for at most ms. `sleeping` asks the producer to
 * ring when a shard passes its watermark. A ring before the wait is not lost, because the doorbell
 * then differs from `seen`.
 */
void ts_session_sleep(struct ts_session *s, uint32_t seen, uint64_t ms)
{
	struct ts_control *control = s->memory.control;
	struct timespec time = {.tv_sec = (time_t)(ms / 1000),
				.tv_nsec = (long)(ms % 1000 * MS_NS)};
	bool is_over;

	__atomic_store_n(&control->sleeping, 1, __ATOMIC_SEQ_CST);
	is_over = syscall(SYS_futex, &control->doorbell, FUTEX_WAIT, seen, &time, NULL, 0) < 0 &&
		  errno == ETIMEDOUT;
	__atomic_store_n(&control->sleeping, 0, __ATOMIC_RELAXED);
	/*
	 * Ignore the doorbell if no shard is past its watermark, because a hostile producer could
	 * ring it all the time.
	 */
	if (!is_over && !past_watermark(s))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, ROUND_LEAST_NS}, NULL);
}
