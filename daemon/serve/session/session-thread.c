/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of a session. session-main.c starts it. This module calls session-round.c until the
 * end is requested or a round fails, then session-end.c. Between rounds it serves the seals that
 * the main thread requests.
 */
#include "daemon/serve/session/session-internal.h"

/*
 * Time between two rounds: MIN while many records come, SLOW while few come, MAX while none come.
 * The doorbell ends the time early if a ring fills. Rounds that find few records would cost more
 * than these records, most of all with many sessions.
 */
#define ROUND_MIN_MS  10u
#define ROUND_SLOW_MS 40u
#define ROUND_MAX_MS  100u
/* Records are few if a ring gets less than one part in FEW_SHARE of its size between two rounds. */
#define FEW_SHARE 32u

/*
 * Starts the seal that the main thread requested, before the next round drains records. If the
 * request includes a flush, asks the traced process to flush.
 */
static void begin_seal(struct ts_session *s)
{
	uint64_t wanted = __atomic_load_n(&s->seal_wanted, __ATOMIC_ACQUIRE);
	uint32_t wait_ms;

	if (wanted == s->seal_serving)
		return;
	s->seal_serving = wanted;
	s->seal_targets_set = false;
	wait_ms = __atomic_exchange_n(&s->flush_wanted_ms, 0, __ATOMIC_RELAXED);
	if (wait_ms)
		ts_session_ask_flush(s, wait_ms);
}

/*
 * True if the session has drained all records up to the seal's targets. The first call after the
 * flush sets the targets: the heads of the shards at that time.
 */
static bool reached_targets(struct ts_session *s)
{
	if (!s->seal_targets_set)
		for (uint32_t i = 0; i < s->memory.n_shards; i++)
			s->shards[i].seal_target = s->shards[i].head;
	s->seal_targets_set = true;
	for (uint32_t i = 0; i < s->n_claimed; i++)
		if ((int64_t)(s->shards[i].position - s->shards[i].seal_target) < 0)
			return false;
	return true;
}

/* Completes a seal. `flushed`: the flush had ended before this round loaded the heads. */
static int finish_seal(struct ts_session *s, bool flushed)
{
	int r;

	if (!flushed || s->seal_serving == s->seals_done || !reached_targets(s))
		return 0;
	r = ts_session_look_for_losses(s);
	r = r ?: ts_session_write(s);
	if (r)
		return r;
	__atomic_store_n(&s->seals_done, s->seal_serving, __ATOMIC_RELEASE);
	ts_session_notify(s);
	return 0;
}

/* Returns the time until the next round. n_most: most bytes that a ring had in the last round. */
static uint64_t next_ms(const struct ts_session *s, uint64_t ms, uint64_t n_most)
{
	const bool is_waited_for = s->flush_waiting || ts_session_kernel_flows(s);
	const uint64_t most = n_most ? ROUND_SLOW_MS : ROUND_MAX_MS;

	if (is_waited_for || n_most > s->memory.ring_bytes / FEW_SHARE)
		return ROUND_MIN_MS;
	return 2 * ms < most ? 2 * ms : most;
}

void *ts_session_thread(void *session)
{
	struct ts_session *s = session;
	uint64_t ms = ROUND_MIN_MS, n_most = 0;
	enum ts_session_end how;
	int r = 0;

	for (;;) {
		uint32_t seen = __atomic_load_n(&s->memory.control->doorbell, __ATOMIC_ACQUIRE);
		bool flushed;

		how = __atomic_load_n(&s->end_wanted, __ATOMIC_ACQUIRE);
		if (how != TS_SESSION_END_NONE)
			break;
		begin_seal(s);
		flushed = ts_session_flushed(s);
		r = ts_session_round(s, &n_most);
		r = r ?: finish_seal(s, flushed);
		if (r)
			break;
		if (n_most > ts_session_round_bytes(s))
			continue;
		ms = next_ms(s, ms, n_most);
		ts_session_sleep(s, seen, ms);
	}
	how = ts_session_finish(s, r, how);
	if (s->options.ends_file)
		ts_recording_end(s->recording);
	__atomic_store_n(&s->ended, how, __ATOMIC_RELEASE);
	ts_session_notify(s);
	return NULL;
}
