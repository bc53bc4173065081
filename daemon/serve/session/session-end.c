/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a session. session-thread.c calls ts_session_finish(). All records committed so far
 * are drained and written. Some records cannot be drained, because the peer keeps writing or
 * because the deadline has passed. These records are counted in the ring and recorded in the trace
 * as lost.
 */
#include "daemon/serve/session/session-internal.h"
#include "proto/abi/utf8.h"

#define STOP_SLEEP_MS 10u

bool ts_session_is_handed_over(const struct ts_session *s)
{
	return __atomic_load_n(&s->hand_over, __ATOMIC_RELAXED);
}

/* Ends the recording of the process: the session is not handed over, or no longer. */
static void end_recording(struct ts_session *s)
{
	__atomic_store_n(&s->hand_over, false, __ATOMIC_RELAXED);
	__atomic_and_fetch(&s->memory.control->command, ~TS_COMMAND_RECORD, __ATOMIC_RELAXED);
}

static bool is_late(const struct ts_session *s)
{
	uint64_t deadline_ns = __atomic_load_n(&s->end_deadline_ns, __ATOMIC_RELAXED);

	return deadline_ns && ts_clock_monotonic_ns() >= deadline_ns;
}

static uint64_t drained_bytes(const struct ts_session *s)
{
	uint64_t n_bytes = 0;

	for (uint32_t i = 0; i < s->n_claimed; i++)
		n_bytes += s->shards[i].position;
	return n_bytes + s->lane.position;
}

/*
 * Drains until no new records come. If the peer keeps writing, the drain stops after twice the
 * bytes of all rings: by then every record that was in a ring at the session's end is drained. If
 * one shard is malformed, the others are still drained.
 */
static int drain_to_end(struct ts_session *s, bool *ret_bad)
{
	uint64_t begin = drained_bytes(s), n_most;
	int r;

	do {
		r = ts_session_round(s, &n_most);
		if (r == SESSION_E_BAD_PEER) {
			*ret_bad = true;
			if (ts_guard_hit(s->memory.guard))
				return 0;
			n_most = 1;
			r = 0;
		}
	} while (!r && n_most && !is_late(s) &&
		 drained_bytes(s) - begin <=
			 2 * (s->n_claimed * s->memory.ring_bytes + s->memory.lane_bytes));
	return r;
}

/*
 * Counts the records left in a ring. A malformed record, together with all bytes after it, counts
 * as one record.
 */
static uint64_t count_ring(struct ts_session *s, uint32_t i)
{
	const struct ts_drain_ring ring = ts_session_ring(s, i);
	const struct session_shard *shard = &s->shards[i];
	uint64_t position = shard->position, n = 0;
	/* Pairs with ts_ring_commit(), (A). */
	uint64_t head = ts_ring_consumer_head(ts_memory_shard(&s->memory, i));

	if (shard->bad ||
	    !ts_ring_consumer_check(head, position, shard->released, s->memory.ring_bytes))
		return 0;
	while (position != head) {
		const struct ts_record *record;
		size_t n_bytes, off;

		if (ts_drain_copy(&s->drain, &ring, position, head, &n_bytes, &off))
			return n + 1;
		while (!ts_record_next(s->drain.buffer, n_bytes, &off, &record))
			n++;
		position += off;
	}
	return n;
}

static uint64_t count_undrained(struct ts_session *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->n_claimed; i++)
		n += count_ring(s, i);
	return n;
}

/*
 * Ends a session as STOPPED: the process continues without recording. Asks the process to flush,
 * waits for the flush, and then clears TS_COMMAND_RECORD. A session that is handed over keeps this
 * bit, so the process keeps recording.
 */
static int stop(struct ts_session *s)
{
	uint64_t n_most;
	int r;

	ts_session_ask_flush(s, TS_SESSION_FLUSH_WAIT_MS);
	for (;;) {
		uint32_t seen = __atomic_load_n(&s->memory.control->doorbell, __ATOMIC_ACQUIRE);
		uint32_t wanted = __atomic_load_n(&s->end_wanted, __ATOMIC_ACQUIRE);
		bool flushed =
			ts_session_flushed(s) || wanted != TS_SESSION_END_STOPPED || is_late(s);

		r = ts_session_round(s, &n_most);
		if (r || flushed)
			break;
		ts_session_sleep(s, seen, STOP_SLEEP_MS);
	}
	if (!ts_session_is_handed_over(s))
		__atomic_and_fetch(&s->memory.control->command, ~TS_COMMAND_RECORD,
				   __ATOMIC_RELAXED);
	return r;
}

static void take_state(struct ts_session *s)
{
	const struct ts_control *control = s->memory.control;
	char text[sizeof(control->reason_text)];
	/* Pairs with the producer's release of `reason` after reason_text. */
	uint32_t reason = __atomic_load_n(&control->reason, __ATOMIC_ACQUIRE);

	s->row.state = __atomic_load_n(&control->state, __ATOMIC_RELAXED);
	s->row.vendor_version = __atomic_load_n(&control->vendor_version, __ATOMIC_RELAXED);
	s->row.driver_version = __atomic_load_n(&control->driver_version, __ATOMIC_RELAXED);
	s->row.interfaces = __atomic_load_n(&control->interfaces, __ATOMIC_RELAXED);
	s->row.hip_version = __atomic_load_n(&control->hip_version, __ATOMIC_RELAXED);
	s->row.hip_time_error_ns = __atomic_load_n(&control->hip_time_error_ns, __ATOMIC_RELAXED);
	if (!reason)
		return;
	s->row.empty_reason = reason;
	memcpy(text, control->reason_text, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ts_text_clean(text);
	if (ts_sbt_writer_string(s->recording->writer, text, strlen(text), &s->row.empty_text))
		s->row.empty_text = 0;
}

/* Adds loss rows for everything that is missing. */
static int count_missing(struct ts_session *s, enum ts_session_end how, bool full)
{
	uint64_t n_api, n_device;
	int r;

	r = ts_session_look_for_losses(s);
	ts_halves_count(s->halves, true, &n_api, &n_device);
	r = r ?: ts_session_lose(s, TS_LOSS_UNJOINED_API, n_api, s->start_ns);
	r = r ?: ts_session_lose(s, TS_LOSS_UNJOINED_DEVICE, n_device, s->start_ns);
	r = r ?: ts_session_lose(s, TS_LOSS_NO_MEMORY, s->halves->n_no_memory, s->start_ns);
	r = r
		    ?: ts_session_lose(s, TS_LOSS_CLOCK_BACKWARD,
				       s->host_clock.n_backward + s->cupti_clock.n_backward,
				       s->start_ns);
	/* If the session is handed over, the next daemon drains the records left in its rings. */
	if (full || !ts_session_is_handed_over(s))
		r = r
			    ?: ts_session_lose(s, full ? TS_LOSS_DISK : TS_LOSS_UNDRAINED,
					       count_undrained(s) + full, s->loss_ns);
	r = r ?: ts_session_lose(s, TS_LOSS_YIELDED_TO_END, s->yielded, s->loss_ns);
	if (how == TS_SESSION_END_BAD_DATA)
		r = r ?: ts_session_lose(s, TS_LOSS_BAD_RECORD, 1, s->loss_ns);
	return r;
}

/* Updates the session row with the end of the session, and writes it. */
static int write_end(struct ts_session *s, enum ts_session_end how)
{
	int r;

	take_state(s);
	s->row.end_ns = ts_clock_monotonic_ns();
	s->row.ended = how;
	r = ts_sbt_session_writer_update(s->writer, &s->row);
	s->dirty = true;
	return r ?: ts_session_write(s);
}

/*
 * Called if the file is full: drops the unwritten rows and counts them as TS_LOSS_DISK. Unwritten
 * loss rows are made again.
 */
static int drop(struct ts_session *s)
{
	uint64_t counts[TS_ROW_EVENT_END], n = 0;
	int r = 0;

	s->full = true;
	ts_sbt_session_writer_drop(s->writer, counts);
	for (unsigned type = 0; type < TS_ROW_EVENT_END; type++) {
		__atomic_store_n(&s->counts[type], s->counts[type] - counts[type],
				 __ATOMIC_RELAXED);
		if (type != TS_ROW_LOSS && type != TS_ROW_CLOCK)
			n += counts[type];
	}
	for (unsigned reason = 0; reason < TS_LOSS_COUNT && !r; reason++) {
		uint64_t count = s->lost[reason] - s->lost_written[reason];

		__atomic_store_n(&s->lost[reason], s->lost_written[reason], __ATOMIC_RELAXED);
		r = ts_session_lose(s, (enum ts_loss_reason)reason, count, s->start_ns);
	}
	return r ?: ts_session_lose(s, TS_LOSS_DISK, n, s->start_ns);
}

/*
 * Writes the last rows. If the file becomes full at one of these writes, the unwritten rows are
 * dropped. Then the losses are written again, into the room that the writer reserves for them.
 */
static int close_rows(struct ts_session *s, enum ts_session_end how, bool full)
{
	bool counted = false;
	int r = 0;

	if (!full) {
		r = count_missing(s, how, false);
		counted = !r;
		r = r ?: write_end(s, how);
		if (r != SESSION_E_FULL)
			return r;
	}
	r = drop(s);
	if (!counted)
		r = r ?: count_missing(s, TS_SESSION_END_DAEMON, true);
	return r ?: write_end(s, TS_SESSION_END_DAEMON);
}

enum ts_session_end ts_session_finish(struct ts_session *s, int r, enum ts_session_end how)
{
	bool bad = r == SESSION_E_BAD_PEER;

	s->ending = true;
	if (!r && how == TS_SESSION_END_STOPPED) {
		r = stop(s);
		bad = r == SESSION_E_BAD_PEER;
		/* The process may have sent BYE or died during the stop. */
		how = __atomic_load_n(&s->end_wanted, __ATOMIC_ACQUIRE);
	}
	if (r || bad || how != TS_SESSION_END_STOPPED)
		__atomic_store_n(&s->hand_over, false, __ATOMIC_RELAXED);
	if (r >= 0 && r != SESSION_E_FULL && !ts_session_is_handed_over(s))
		r = drain_to_end(s, &bad);
	if (!r)
		r = ts_session_kernel_end(s);
	if (!r)
		r = ts_session_lane_end(s);
	if (r || !ts_session_is_handed_over(s))
		end_recording(s);
	if (bad)
		how = TS_SESSION_END_BAD_DATA;
	else if (r == SESSION_E_FULL || is_late(s))
		how = TS_SESSION_END_DAEMON;
	if (r >= 0)
		r = close_rows(s, how, r == SESSION_E_FULL);
	if (!r && !s->full)
		return how;
	end_recording(s);
	if (!r)
		return TS_SESSION_END_DAEMON;
	/*
	 * Rows that were not written and records left in the rings are counted as lost because of
	 * the disk.
	 */
	ts_session_count_lost(s, TS_LOSS_DISK,
			      (ts_sbt_session_writer_pending_rows(s->writer) ?: 1) +
				      count_undrained(s));
	return TS_SESSION_END_DAEMON;
}
