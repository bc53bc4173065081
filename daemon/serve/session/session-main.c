/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a session in the main thread: new, start, seal, end, free. The daemon's loop
 * (serve/loop) and serve/system call this module. This module starts the session's thread, which is
 * in session-thread.c.
 */
#include "daemon/serve/session/session-main.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "daemon/serve/session/session-internal.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/utf8.h"

/*
 * A record's time may lie this long before the session's start: for example, a context may have
 * been created before.
 */
#define ROW_BEHIND_NS (UINT64_C(3600) * 1000000000)

static void wake(struct ts_session *s)
{
	__atomic_add_fetch(&s->memory.control->doorbell, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &s->memory.control->doorbell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/*
 * Sets the position of each shard to its released position. The released position is 0 unless
 * another daemon served the process before. Loss counters likewise start at the values that the
 * other daemon reported, so no loss is counted twice.
 */
static int init_shards(struct ts_session *s)
{
	s->shards = calloc(s->memory.n_shards, sizeof(*s->shards));
	s->checkpoint = calloc(s->memory.n_shards + 8, sizeof(*s->checkpoint));
	if (!s->shards || !s->checkpoint)
		return ts_error_origin(-ENOMEM);
	for (uint32_t i = 0; i < s->memory.n_shards; i++) {
		const struct ts_shard *shard = ts_memory_shard(&s->memory, i);
		uint64_t released = __atomic_load_n(&shard->released, __ATOMIC_RELAXED);

		if (released % 8)
			return ts_error_origin(-EBADMSG);
		s->shards[i].position = s->shards[i].released = s->shards[i].head = released;
		s->shards[i].map_to = released + s->memory.ring_bytes;
		ts_loss_resume(&s->shards[i].lost, shard->reported, shard->lost);
	}
	ts_loss_resume(&s->lost_control, s->memory.control->reported, s->memory.control->lost);
	return 0;
}

static int init_clocks(struct ts_session *s)
{
	struct ts_clock_pair now = ts_clock_pair_take(s->memory.host_clock);
	const struct ts_clock_pair *start = &s->memory.start;
	int r = ts_clock_table_init(&s->host_clock);

	r = r ?: ts_clock_table_init(&s->cupti_clock);
	if (r)
		return ts_error_trace(r);
	/* Uses the peer's start time if it is plausible. */
	s->start_ns = now.monotonic_ns;
	if (start->monotonic_ns && start->monotonic_ns < now.monotonic_ns) {
		s->start_ns = start->monotonic_ns;
		if (start->ticks && start->ticks < now.ticks)
			ts_clock_table_add(&s->host_clock, start);
	}
	ts_clock_table_add(&s->host_clock, &now);
	s->last_pair = now;
	s->last_realtime = ts_clock_pair_take(TS_CLOCK_REALTIME);
	s->rows.clocks[TS_CLOCK_TSC] = s->memory.host_clock == TS_CLOCK_TSC ? &s->host_clock : NULL;
	s->rows.clocks[TS_CLOCK_CUPTI] = &s->cupti_clock;
	return 0;
}

static int init(struct ts_session *s)
{
	int r;

	r = ts_session_memory_begin(s);
	r = r ?: ts_halves_new(&s->halves);
	r = r ?: init_shards(s);
	r = r ?: init_clocks(s);
	if (r)
		return r;
	s->rows.ids = &s->arena;
	s->rows.halves = s->halves;
	s->loss_ns = s->start_ns;
	s->rows.earliest_ns = s->start_ns > ROW_BEHIND_NS ? s->start_ns - ROW_BEHIND_NS : 1;
	s->row = (struct ts_row_session){
		.pid = s->options.peer.pid > 0 ? (uint32_t)s->options.peer.pid : s->memory.pid,
		.parent_pid = s->memory.parent_session_pid,
		.uid = s->options.peer.uid,
		.start_ns = s->start_ns,
		.start_realtime_ns = s->memory.start_realtime_ns,
		.clock_error_ns = s->memory.start.error_ns < 1000000 ? s->memory.start.error_ns : 0,
		.host_clock = s->memory.host_clock,
		.state = TS_SESSION_RECORDING,
		.job_flags = s->memory.job.flags,
		.rank = s->memory.job.rank,
		.n_ranks = s->memory.job.n_ranks,
		.local_rank = s->memory.job.local_rank,
	};
	memcpy(s->row.uuid, s->memory.session_id, sizeof(s->row.uuid));
	r = ts_sbt_writer_string(s->recording->writer, s->memory.program, strlen(s->memory.program),
				 &s->row.program);
	if (!r && *s->memory.job.id)
		r = ts_sbt_writer_string(s->recording->writer, s->memory.job.id,
					 strlen(s->memory.job.id), &s->row.job);
	r = r ?: ts_sbt_session_writer_new(s->recording->writer, &s->row, &s->writer);
	if (r)
		return ts_error_trace(r < 0 ? r : -EIO);
	s->number = ts_sbt_session_writer_number(s->writer);
	/* A previous daemon may have received the YIELD record. */
	s->yielded =
		__atomic_load_n(&s->memory.control->state, __ATOMIC_RELAXED) == TS_SESSION_YIELDED;
	/*
	 * Write the session row soon, so that a reader of the file finds the session even before
	 * the first record.
	 */
	s->dirty = true;
	s->dirty_ns = ts_clock_monotonic_ns();
	r = ts_session_lane_begin(s);
	return r ? ts_error_trace(r) : ts_session_kernel_begin(s);
}

static void deinit(struct ts_session *s)
{
	ts_session_kernel_deinit(s);
	ts_kernel_facts_free(s->kernel_facts);
	ts_sbt_session_writer_free(s->writer);
	ts_halves_free(s->halves);
	ts_drain_deinit(&s->drain);
	ts_arena_reader_deinit(&s->arena);
	ts_clock_table_deinit(&s->host_clock);
	ts_clock_table_deinit(&s->cupti_clock);
	free(s->shards);
	free(s->checkpoint);
	ts_session_memory_end(s);
}

/* Starts the session's thread with all signals blocked, because the main thread handles signals. */
static int start_thread(struct ts_session *s)
{
	sigset_t all, old;
	char name[16];
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&s->thread, NULL, ts_session_thread, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r)
		return ts_error_origin(-r);
	s->started = true;
	snprintf(name, sizeof(name), "session-%" PRIu32, s->number % 1000000);
	pthread_setname_np(s->thread, name);
	return 0;
}

/*
 * Sets the command word to the daemon's options. The process's environment can switch stacks off,
 * switch lossless on and begin paused.
 */
static void set_command(struct ts_session *s)
{
	struct ts_control *control = s->memory.control;
	uint32_t wanted = __atomic_load_n(&control->command, __ATOMIC_RELAXED);
	uint32_t command = s->options.command;

	if (!(wanted & TS_COMMAND_STACKS))
		command &= ~(uint32_t)TS_COMMAND_STACKS;
	command |= wanted & TS_COMMAND_LOSSLESS;
	if (s->options.resumed)
		command &= ~(uint32_t)TS_COMMAND_PAUSED;
	if (s->options.resumed || !s->options.decides)
		command |= wanted & TS_COMMAND_PAUSED;
	__atomic_store_n(&control->command, command, __ATOMIC_RELAXED);
	/* The process applies PAUSED when a flush is requested. */
	if ((command ^ wanted) & TS_COMMAND_PAUSED)
		ts_session_ask_flush(s, 0);
}

int ts_session_new(struct ts_recording *recording, struct ts_memory *memory,
		   const struct ts_session_options *options, struct ts_session **ret_session)
{
	struct ts_session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ts_error_origin(-ENOMEM);
	s->recording = recording;
	s->memory = *memory;
	s->options = *options;
	r = init(s);
	if (!r) {
		__atomic_store_n(&s->memory.control->heartbeat_ns, ts_clock_monotonic_ns(),
				 __ATOMIC_RELAXED);
		set_command(s);
		r = start_thread(s);
	}
	if (r) {
		deinit(s);
		free(s);
		return ts_error_trace(r);
	}
	*memory = (struct ts_memory){0};
	*ret_session = s;
	return 0;
}

void ts_session_free(struct ts_session *s)
{
	if (!s)
		return;
	if (s->started)
		pthread_join(s->thread, NULL);
	deinit(s);
	ts_memory_close(&s->memory);
	free(s);
}

void ts_session_end(struct ts_session *s, enum ts_session_end how)
{
	uint32_t before = __atomic_load_n(&s->end_wanted, __ATOMIC_RELAXED);

	/*
	 * The process ended its session (state ENDED) and then called exec(): this counts as BYE.
	 */
	if (how == TS_SESSION_END_DIED &&
	    __atomic_load_n(&s->memory.control->state, __ATOMIC_RELAXED) == TS_SESSION_ENDED)
		how = TS_SESSION_END_BYE;
	if (before != TS_SESSION_END_NONE &&
	    !(before == TS_SESSION_END_STOPPED &&
	      (how == TS_SESSION_END_BYE || how == TS_SESSION_END_DIED)))
		return;
	/* Pairs with the acquire in the session's thread. */
	__atomic_store_n(&s->end_wanted, how, __ATOMIC_RELEASE);
	wake(s);
}

void ts_session_hand_over(struct ts_session *s)
{
	/* The session's thread reads hand_over after its acquire of end_wanted. */
	if (__atomic_load_n(&s->end_wanted, __ATOMIC_RELAXED) == TS_SESSION_END_NONE)
		__atomic_store_n(&s->hand_over, true, __ATOMIC_RELAXED);
	ts_session_end(s, TS_SESSION_END_STOPPED);
}

void ts_session_end_by(struct ts_session *s, uint64_t deadline_ns)
{
	__atomic_store_n(&s->end_deadline_ns, deadline_ns, __ATOMIC_RELAXED);
}

bool ts_session_ended(const struct ts_session *s, enum ts_session_end *ret_how,
		      const char **ret_why)
{
	/* Pairs with the release in ts_session_thread(). */
	uint32_t how = __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE);

	if (how == TS_SESSION_END_NONE)
		return false;
	*ret_how = (enum ts_session_end)how;
	*ret_why = s->why ? s->why : "";
	return true;
}

bool ts_session_switch(struct ts_session *s, bool paused)
{
	uint32_t *command = &s->memory.control->command;
	uint32_t before;

	/* Relaxed, because the later flush request releases this store. */
	if (paused)
		before = __atomic_fetch_or(command, TS_COMMAND_PAUSED, __ATOMIC_RELAXED);
	else
		before =
			__atomic_fetch_and(command, ~(uint32_t)TS_COMMAND_PAUSED, __ATOMIC_RELAXED);
	return !(before & TS_COMMAND_PAUSED) == paused;
}

int ts_session_window(struct ts_session *s, bool open)
{
	struct ts_control *control = s->memory.control;
	uint32_t state = __atomic_load_n(&control->capture_state, __ATOMIC_RELAXED), before;

	if (state != TS_CAPTURE_STATE_CLOSED && state != TS_CAPTURE_STATE_OPEN)
		return -ENOTSUP;
	before = open ? __atomic_fetch_or(&control->command, TS_COMMAND_REPLAY, __ATOMIC_RELAXED)
		      : __atomic_fetch_and(&control->command, ~(uint32_t)TS_COMMAND_REPLAY,
					   __ATOMIC_RELAXED);
	return !(before & TS_COMMAND_REPLAY) == open;
}

uint64_t ts_session_seal(struct ts_session *s, uint32_t flush_ms)
{
	uint64_t ticket;

	if (flush_ms)
		__atomic_store_n(&s->flush_wanted_ms, flush_ms, __ATOMIC_RELAXED);
	/* Pairs with the acquire in begin_seal(). */
	ticket = __atomic_add_fetch(&s->seal_wanted, 1, __ATOMIC_RELEASE);
	wake(s);
	return ticket;
}

bool ts_session_sealed(const struct ts_session *s, uint64_t ticket)
{
	/* Pairs with the release in finish_seal(). */
	return __atomic_load_n(&s->seals_done, __ATOMIC_ACQUIRE) >= ticket;
}

void ts_session_status(const struct ts_session *s, struct ts_session_status *ret_status)
{
	const struct ts_control *control = s->memory.control;
	struct ts_session_status status = {
		.number = s->number,
		.pid = s->options.peer.pid > 0 ? (uint32_t)s->options.peer.pid : s->memory.pid,
		.uid = s->options.peer.uid,
		.program = s->memory.program,
		.state = __atomic_load_n(&control->state, __ATOMIC_RELAXED),
		.paused = __atomic_load_n(&control->command, __ATOMIC_RELAXED) & TS_COMMAND_PAUSED,
		.reason = __atomic_load_n(&control->reason, __ATOMIC_ACQUIRE),
		.start_ns = s->start_ns,
		.unwritten_bytes = __atomic_load_n(&s->unwritten_bytes, __ATOMIC_RELAXED),
		.capture = __atomic_load_n(&control->capture_state, __ATOMIC_RELAXED),
		.capture_windows = __atomic_load_n(&control->capture_windows, __ATOMIC_RELAXED),
		.captured_bytes = __atomic_load_n(&control->captured_bytes, __ATOMIC_RELAXED),
		.captured_ns = __atomic_load_n(&control->captured_ns, __ATOMIC_RELAXED),
		.capture_max_bytes = __atomic_load_n(&control->capture_max_bytes, __ATOMIC_RELAXED),
		.capture_ended = ts_session_lane_why(s),
		.n_unsupported = __atomic_load_n(&s->lane.n_unsupported, __ATOMIC_RELAXED),
	};

	if (status.reason)
		memcpy(status.reason_text, control->reason_text, sizeof(status.reason_text) - 1);
	ts_text_clean(status.reason_text);
	for (unsigned i = 0; i < TS_ROW_EVENT_END; i++) {
		status.counts[i] = __atomic_load_n(&s->counts[i], __ATOMIC_RELAXED);
		status.rows += status.counts[i];
	}
	for (unsigned i = 0; i < TS_LOSS_COUNT; i++)
		status.lost[i] = __atomic_load_n(&s->lost[i], __ATOMIC_RELAXED);
	status.n_own_rows = __atomic_load_n(&s->n_own_rows, __ATOMIC_RELAXED);
	status.n_kernel_counters = __atomic_load_n(&s->n_kernel_counters, __ATOMIC_RELAXED);
	*ret_status = status;
}
