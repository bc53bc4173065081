/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flush thread. Traps answered here: CUPTI's own period delivers full buffers only, so flushing is ours; it is never
 * done in a process that submitted no work, where it has hung; FLUSH_FORCED gives out running kernels without
 * an end and never again, so only an end uses it; and flushing is never done while a lock of ours is held.
 */
#include <sys/prctl.h>

#include "inject/context.h"
#include "inject/cuda/recorder.h"
#include "inject/cuda/switch.h"
#include "inject/flush.h"
#include "inject/ring/ring-session.h"
#include "inject/shim-debug.h"
#include "proto/abi/vendor/cupti_activity.h"

#define REPORT_NS   UINT64_C(1000000000)
#define CLOCK_TRIES 20
/* A profiler that lets go of CUPTI for an instant is not done; one that will not let us have it is asked again. */
#define TAKE_BACK_NS UINT64_C(500000000)
#define RETRY_NS     UINT64_C(5000000000)

/*
 * An instant on CUPTI's clock and on ours, where CUPTI's could not be replaced. Trap: asked for at setup, it
 * made some versions deliver nothing; the first flush after the first work is early enough.
 */
static void record_clock(struct ts_shim *shim)
{
	struct ts_thread *thread = ts_producer_thread(&shim->producer);
	uint64_t best_error = UINT64_MAX, best_time = 0, best_ticks = 0;
	struct ts_record_clock *out;
	int i;

	if (!thread)
		return;
	for (i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before = ts_clock_monotonic_ns(), ticks, after;

		if (!ts_recorder_clock(shim, &ticks))
			return;
		after = ts_clock_monotonic_ns();
		if ((after - before) / 2 < best_error) {
			best_error = (after - before) / 2;
			best_time = before + (after - before) / 2;
			best_ticks = ticks;
		}
	}
	out = ts_thread_reserve(thread, TS_RECORD_CLOCK, sizeof(*out), TS_CLOCK_CUPTI, best_ticks);
	if (!out)
		return;
	out->other_time = best_time;
	out->error_ns = best_error;
	out->other_clock = TS_CLOCK_MONOTONIC;
	memset(out->reserved, 0, sizeof(out->reserved));
	ts_thread_commit(thread, sizeof(*out));
}

static void flush_all(struct ts_shim *shim, uint32_t flags)
{
	uint32_t result = shim->cupti.cuptiActivityFlushAll(flags);

	if (result)
		ts_debug(&shim->config, "cuptiActivityFlushAll(%u): %u", flags, result);
}

static void flush_cupti(struct ts_flush *flush, uint32_t requests)
{
	const bool last = requests & (TS_FLUSH_END | TS_FLUSH_DETACH | TS_FLUSH_LEAVE);
	struct ts_shim *shim = flush->shim;
	size_t n_dropped = 0;
	bool dirty;

	/* Cleared first: what is recorded during the flush asks for the next one. */
	dirty = __atomic_exchange_n(&shim->producer.dirty, 0, __ATOMIC_ACQ_REL);
	flush->worked |= dirty;
	/* A kernel that failed was not over at the last flush. */
	if (last || (requests & TS_FLUSH_FAULT) ? !flush->worked : !dirty)
		return;
	/* Once exit() has begun, the driver may go any moment: from then on only who knows better asks. */
	if (!requests && __atomic_load_n(&shim->flushed, __ATOMIC_ACQUIRE))
		return;
	if (shim->cupti.clock == TS_CLOCK_CUPTI)
		record_clock(shim);
	/* What is complete comes complete; then the rest, as it is. */
	flush_all(shim, 0);
	if (last)
		flush_all(shim, TS_CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	if (!shim->cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &n_dropped) && n_dropped)
		ts_session_count(shim->control, TS_LOSS_CUPTI_DROPPED, n_dropped);
	if (shim->cupti.clock == TS_CLOCK_CUPTI)
		record_clock(shim);
}

/* Everything that CUPTI holds is the daemon's before nobody takes it any more. */
static void detach(struct ts_flush *flush)
{
	ts_recorder_disable(flush->shim);
	flush_cupti(flush, TS_FLUSH_DETACH);
	ts_recorder_unsubscribe(flush->shim);
}

void ts_flush_record_yield(struct ts_shim *shim, bool yielded)
{
	struct ts_thread *thread = ts_producer_thread(&shim->producer);
	uint32_t before = yielded ? TS_SESSION_RECORDING : TS_SESSION_YIELDED, to;
	struct ts_record_yield *out;

	if (!thread)
		return;
	to = ts_definitions_string(&shim->definitions, shim->yield.to, strlen(shim->yield.to));
	out = ts_thread_reserve(thread, TS_RECORD_YIELD, sizeof(*out), shim->producer.clock,
				ts_producer_ticks(&shim->producer));
	if (out) {
		out->to = to;
		out->yielded = yielded;
		ts_thread_commit(thread, sizeof(*out));
	}
	/* Not where it has ended, or was refused. */
	__atomic_compare_exchange_n(&shim->control->state, &before,
				    yielded ? TS_SESSION_YIELDED : TS_SESSION_RECORDING, false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void set_yield_state(struct ts_shim *shim, enum ts_yield_state state)
{
	/* Sequentially consistent: a taker counts itself and then looks here; the other way round in take_back(). */
	__atomic_store_n(&shim->yield.state, (uint32_t)state, __ATOMIC_SEQ_CST);
}

static void yield(struct ts_flush *flush)
{
	struct ts_shim *shim = flush->shim;

	ts_recorder_disable(shim);
	shim->yield.last_seen_id = ts_recorder_probe(shim);
	shim->yield.is_last_seen_known = shim->yield.last_seen_id != 0;
	detach(flush);
	ts_flush_record_yield(shim, true);
	set_yield_state(shim, TS_YIELD_GIVEN);
}

/* CUPTI was given up to the application's profiler, which is done with it, and has been for a while. */
static void take_back(struct ts_flush *flush)
{
	struct ts_shim *shim = flush->shim;
	const uint64_t now = ts_clock_monotonic_ns();
	uint64_t done = __atomic_load_n(&shim->yield.done_ns, __ATOMIC_ACQUIRE);
	char text[256];
	uint32_t id;

	if (shim->yield.state != TS_YIELD_GIVEN || !done || now - done < TAKE_BACK_NS ||
	    now < shim->yield.retry_at_ns || __atomic_load_n(&shim->flushed, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&shim->link.over, __ATOMIC_ACQUIRE))
		return;
	set_yield_state(shim, TS_YIELD_RETAKING);
	if (ts_yield_is_held(&shim->yield)) {
		set_yield_state(shim, TS_YIELD_GIVEN);
		return;
	}
	if (ts_recorder_resume(shim, text, sizeof(text))) {
		ts_debug(&shim->config, "CUPTI is not taken back: %s", text);
		shim->yield.retry_at_ns = now + RETRY_NS;
		set_yield_state(shim, TS_YIELD_GIVEN);
		return;
	}
	if (shim->yield.from_start)
		ts_session_has_cupti(shim->control);
	shim->yield.from_start = false;
	ts_flush_record_yield(shim, false);
	id = ts_recorder_probe(shim);
	/* What was made while recording was stopped is missed by nobody. */
	if (id && shim->yield.is_last_seen_known &&
	    !(shim->pause.paused && shim->pause.paused_all_yield))
		ts_session_count(shim->control, TS_LOSS_YIELDED,
				 (uint32_t)(id - shim->yield.last_seen_id - 1));
	/* Where the clock is not ours, what is converted needs an instant on both. */
	if (shim->cupti.clock == TS_CLOCK_CUPTI)
		record_clock(shim);
	set_yield_state(shim, TS_YIELD_NOT);
}

static void do_cupti(struct ts_flush *flush, uint32_t requests)
{
	struct ts_shim *shim = flush->shim;

	if (!ts_cupti_is_ours(&shim->cupti)) {
		take_back(flush);
	} else if (requests & TS_FLUSH_DETACH) {
		yield(flush);
	} else if (!requests && __atomic_load_n(&shim->link.over, __ATOMIC_ACQUIRE) &&
		   !__atomic_load_n(&shim->flushed, __ATOMIC_ACQUIRE)) {
		/*
		 * Trap: not once exit() has begun, for CUPTI's own destructors may run at any moment; the process's end
		 * detaches well enough. The end asks this thread to flush, and so waits for a detaching under way.
		 */
		detach(flush);
	} else {
		flush_cupti(flush, requests);
	}
}

static void update_modules(struct ts_flush *flush)
{
	bool unloaded = false;

	ts_modules_update(&flush->modules, &unloaded);
	if (unloaded)
		ts_unwind_forget(&flush->shim->stacks.unwind);
	ts_loader_watch_check(&flush->shim->stacks.watch);
}

/* Now and then, for who looks at a live session or kills the process; and at the end. */
static void report(struct ts_flush *flush, uint32_t requests)
{
	struct ts_shim *shim = flush->shim;
	const uint64_t now = ts_clock_monotonic_ns();

	if ((!requests && now < flush->report_at_ns) ||
	    __atomic_load_n(&shim->gate->mode, __ATOMIC_RELAXED) == TS_GATE_CLOSED)
		return;
	flush->report_at_ns = now + REPORT_NS;
	ts_stack_report(&shim->stacks, &shim->producer);
	if (shim->capture.shim)
		ts_capture_report(&shim->capture);
}

/* Until the next flush is due: for work, a while after it was first seen; or since the daemon, or somebody here, asked. */
static void wait_for_work(struct ts_flush *flush, uint32_t remote)
{
	struct ts_shim *shim = flush->shim;
	uint32_t *word = &shim->control->flush_request;

	ts_futex_wait(word, remote, ts_budget_pause_ns(&flush->budget), true);
	if (__atomic_load_n(&shim->producer.dirty, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(word, __ATOMIC_ACQUIRE) != remote ||
	    __atomic_load_n(&flush->requests, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&flush->sleeps, 1, __ATOMIC_SEQ_CST);
	/* Where a call came before that, it has not woken us. */
	if (!__atomic_load_n(&shim->producer.dirty, __ATOMIC_SEQ_CST))
		ts_futex_wait(word, remote, TS_BUDGET_PERIOD_NS, true);
	__atomic_store_n(&flush->sleeps, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&shim->producer.dirty, __ATOMIC_ACQUIRE) &&
	    !__atomic_load_n(&flush->requests, __ATOMIC_ACQUIRE))
		/* A program that dies keeps the work that is older than this. */
		ts_futex_wait(word, remote, TS_BUDGET_EARLY_NS, true);
}

static void *thread_main(void *data)
{
	struct ts_flush *flush = data;
	struct ts_shim *shim = flush->shim;
	struct ts_control *control = shim->control;

	prctl(PR_SET_NAME, "ts-flush", 0, 0, 0);
	/* Calls that CUPTI makes under a flush are no calls of the application's. */
	ts_tls.busy = TS_BUSY_OURS;
	if (shim->pause.paused)
		ts_switch_record(shim, ts_producer_ticks(&shim->producer));
	/* After the end nothing is left to do; what this thread would look at is being torn down. */
	while (!__atomic_load_n(&shim->ended, __ATOMIC_ACQUIRE)) {
		uint32_t remote = __atomic_load_n(&control->flush_request, __ATOMIC_ACQUIRE);
		uint32_t asked = __atomic_load_n(&flush->asked, __ATOMIC_ACQUIRE);

		uint32_t requests = __atomic_exchange_n(&flush->requests, 0, __ATOMIC_ACQ_REL);
		const struct ts_budget_mark began = ts_budget_mark();
		struct ts_budget_mark ended;

		update_modules(flush);
		report(flush, requests);
		ts_switch_follow(shim);
		do_cupti(flush, requests);
		ended = ts_budget_mark();
		ts_budget_charge(&flush->budget, &began, &ended);
		/*
		 * Release, paired with the daemon's acquire: what was asked for is in the ring. Until this thread was there,
		 * the link's answered (ring/link-thread.c).
		 */
		if (remote != __atomic_load_n(&control->flushes_done, __ATOMIC_RELAXED)) {
			__atomic_store_n(&control->flushes_done, remote, __ATOMIC_RELEASE);
			ts_producer_wake_daemon(control);
		}
		if (asked != flush->done)
			ts_futex_set(&flush->done, asked);
		if (asked == __atomic_load_n(&flush->asked, __ATOMIC_ACQUIRE))
			wait_for_work(flush, remote);
	}
	return NULL;
}

int ts_flush_start(struct ts_flush *flush, struct ts_shim *shim)
{
	int r;

	flush->shim = shim;
	flush->sleeps = 0;
	ts_budget_init(&flush->budget, ts_clock_monotonic_ns());
	r = ts_modules_init(&flush->modules, &shim->definitions, shim->producer.clock);
	if (r)
		return r;
	/* CUPTI runs on it, and what it calls; how much stack that takes nobody tells. */
	return ts_link_start_thread(&shim->config, thread_main, flush, 0);
}
