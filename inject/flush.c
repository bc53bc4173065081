/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flush thread. shim.c starts it, and flush-request.c sends it requests. It calls recorder.c,
 * switch.c, budget.c and the report functions of other folders.
 *
 * In each turn the thread updates the list of libraries, records the shim's own counters, applies a
 * request to stop or start recording, and flushes. It also gives CUPTI up or takes it back
 * (cuda/yield.c). Then it waits (wait_for_work()).
 *
 * Traps handled here:
 * - CUPTI's own flush period delivers only full buffers, so the shim flushes.
 * - A flush has hung in a process without submitted work, so such a process is never flushed.
 * - FLUSH_FORCED delivers running kernels without an end, and never again, so only an end uses it.
 * - No flush runs while its caller holds a lock of the shim.
 */
#include <sys/prctl.h>

#include "inject/capture/capture-link.h"
#include "inject/context.h"
#include "inject/cuda/recorder.h"
#include "inject/cuda/switch.h"
#include "inject/flush.h"
#include "inject/ring/ring-session.h"
#include "inject/shim-debug.h"
#include "proto/abi/vendor/cupti_activity.h"

#define REPORT_NS   UINT64_C(1000000000)
#define CLOCK_TRIES 20
/*
 * A profiler may release CUPTI only for an instant, so the shim waits TAKE_BACK_NS. If CUPTI
 * refuses, the shim tries again after RETRY_NS.
 */
#define TAKE_BACK_NS UINT64_C(500000000)
#define RETRY_NS     UINT64_C(5000000000)

/*
 * Records an instant on CUPTI's clock and on CLOCK_MONOTONIC, if CUPTI's clock could not be
 * replaced. Trap: at set-up, reading CUPTI's clock made some versions deliver nothing. The first
 * flush after the first work is early enough.
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

	/* Cleared first: work recorded during the flush requests the next one. */
	dirty = __atomic_exchange_n(&shim->producer.dirty, 0, __ATOMIC_ACQ_REL);
	flush->worked |= dirty;
	/*
	 * A failed kernel had not ended at the last flush, so TS_FLUSH_FAULT flushes even if
	 * !dirty.
	 */
	if (last || (requests & TS_FLUSH_FAULT) ? !flush->worked : !dirty)
		return;
	/*
	 * After exit() has begun, the driver may be torn down at any moment. Only explicit requests
	 * flush then.
	 */
	if (!requests && __atomic_load_n(&shim->flushed, __ATOMIC_ACQUIRE))
		return;
	if (shim->cupti.clock == TS_CLOCK_CUPTI)
		record_clock(shim);
	if (last)
		ts_recorder_before_last_flush(shim);
	/* At the end, a second flush delivers the incomplete records as they are. */
	flush_all(shim, 0);
	if (last)
		flush_all(shim, TS_CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	if (!shim->cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &n_dropped) && n_dropped)
		ts_session_count(shim->control, TS_LOSS_CUPTI_DROPPED, n_dropped);
	if (shim->cupti.clock == TS_CLOCK_CUPTI)
		record_clock(shim);
}

/* Gives CUPTI up, after all records that CUPTI holds are in the rings. */
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
	/* An ended or refused session keeps its state. */
	__atomic_compare_exchange_n(&shim->control->state, &before,
				    yielded ? TS_SESSION_YIELDED : TS_SESSION_RECORDING, false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void set_yield_state(struct ts_shim *shim, enum ts_yield_state state)
{
	/*
	 * Sequentially consistent, paired with begin() in yield.c. A taker adds to n_takers and
	 * then loads `state`; take_back() stores `state` and then loads n_takers.
	 */
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

/* Takes CUPTI back if the application's profiler has held nothing for TAKE_BACK_NS. */
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
		ts_debug(&shim->config, "recording does not resume: %s", text);
		shim->yield.retry_at_ns = now + RETRY_NS;
		set_yield_state(shim, TS_YIELD_GIVEN);
		return;
	}
	if (shim->yield.from_start)
		ts_session_has_cupti(shim->control);
	shim->yield.from_start = false;
	ts_flush_record_yield(shim, false);
	id = ts_recorder_probe(shim);
	/* Calls made while recording is stopped are no loss. */
	if (id && shim->yield.is_last_seen_known &&
	    !(shim->pause.paused && shim->pause.paused_all_yield))
		ts_session_count(shim->control, TS_LOSS_YIELDED,
				 (uint32_t)(id - shim->yield.last_seen_id - 1));
	/* If CUPTI's clock is in use, conversion needs an instant on both clocks. */
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
		 * Trap: no detach after exit() has begun, because CUPTI's destructors may run at
		 * any moment. The process's end detaches too. The exit path requests a flush from
		 * this thread, and so waits for a running detach.
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

/*
 * Records the shim's own counters, every second and at the end. So readers of a live session have
 * them, and the trace of a killed process, too.
 */
static void report(struct ts_flush *flush, uint32_t requests)
{
	struct ts_shim *shim = flush->shim;
	const uint64_t now = ts_clock_monotonic_ns();

	if ((!requests && now < flush->report_at_ns) ||
	    (__atomic_load_n(&shim->gate->mode, __ATOMIC_RELAXED) == TS_GATE_CLOSED &&
	     (!__atomic_load_n(&shim->hip.started, __ATOMIC_RELAXED) ||
	      __atomic_load_n(&shim->gate->annotations, __ATOMIC_RELAXED) == TS_GATE_CLOSED)))
		return;
	flush->report_at_ns = now + REPORT_NS;
	ts_stack_report(&shim->stacks, &shim->producer);
	/* Acquire pairs with prepare() of capture.c. */
	if (__atomic_load_n(&shim->capture.shim, __ATOMIC_ACQUIRE))
		ts_capture_link_report(&shim->capture);
}

/* True if there is work that CUPTI or rocprofiler-sdk may hold. */
static bool is_dirty(const struct ts_shim *shim)
{
	return __atomic_load_n(&shim->producer.dirty, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&shim->hip.dirty, __ATOMIC_SEQ_CST);
}

/*
 * Waits until the next flush is due: some time after the first new work, or at a request of the
 * daemon or of another thread.
 */
static void wait_for_work(struct ts_flush *flush, uint32_t remote)
{
	struct ts_shim *shim = flush->shim;
	uint32_t *word = &shim->control->flush_request;

	ts_futex_wait(word, remote, ts_budget_pause_ns(&flush->budget), true);
	if (is_dirty(shim) || __atomic_load_n(word, __ATOMIC_ACQUIRE) != remote ||
	    __atomic_load_n(&flush->requests, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&flush->sleeps, 1, __ATOMIC_SEQ_CST);
	/*
	 * A call that set `dirty` before this store of `sleeps` has not woken this thread. Pairs
	 * with ts_flush_notify().
	 */
	if (!is_dirty(shim))
		ts_futex_wait(word, remote, TS_BUDGET_PERIOD_NS, true);
	__atomic_store_n(&flush->sleeps, 0, __ATOMIC_SEQ_CST);
	if (is_dirty(shim) && !__atomic_load_n(&flush->requests, __ATOMIC_ACQUIRE))
		/*
		 * Waits this time, so that one flush delivers the work of several calls. If the
		 * program dies, only the work of this time is lost.
		 */
		ts_futex_wait(word, remote, TS_BUDGET_EARLY_NS, true);
}

/* The link thread also writes it, until it sees that this thread has started. */
static uint32_t flushes_done(const struct ts_control *control)
{
	return __atomic_load_n(&control->flushes_done, __ATOMIC_RELAXED);
}

static void *thread_main(void *data)
{
	struct ts_flush *flush = data;
	struct ts_shim *shim = flush->shim;
	struct ts_control *control = shim->control;

	prctl(PR_SET_NAME, "ts-flush", 0, 0, 0);
	/* Calls that CUPTI makes during a flush are not the application's. */
	ts_tls.busy = TS_BUSY_OURS;
	if (shim->pause.paused)
		ts_switch_record(shim, ts_producer_ticks(&shim->producer));
	/*
	 * The rate of another vendor's clock is unknown. The pairs around the first flush lie too
	 * close together to show it.
	 */
	if (ts_cupti_is_ours(&shim->cupti) && shim->cupti.vendor->records)
		record_clock(shim);
	/*
	 * After the end there is no work left, and the state that this thread reads is being torn
	 * down.
	 */
	while (!__atomic_load_n(&shim->ended, __ATOMIC_ACQUIRE)) {
		uint32_t remote = __atomic_load_n(&control->flush_request, __ATOMIC_ACQUIRE);
		uint32_t asked = __atomic_load_n(&flush->asked, __ATOMIC_ACQUIRE);

		uint32_t requests = __atomic_exchange_n(&flush->requests, 0, __ATOMIC_ACQ_REL);
		const struct ts_budget_mark began = ts_budget_mark();
		struct ts_budget_mark ended;

		update_modules(flush);
		report(flush, requests);
		ts_switch_follow(shim);
		ts_hip_follow(shim);
		ts_rocprofiler_flush(shim, requests || remote != flushes_done(control));
		do_cupti(flush, requests);
		ended = ts_budget_mark();
		ts_budget_charge(&flush->budget, &began, &ended);
		/*
		 * Release, paired with the daemon's acquire: the requested records are in the ring.
		 * Before this thread started, the link thread answered (ring/link-thread.c).
		 */
		if (remote != flushes_done(control)) {
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
	/*
	 * CUPTI and its callees run on this thread, and their stack use is unknown, so the stack
	 * has the default size.
	 */
	return ts_link_start_thread(&shim->config, thread_main, flush, 0);
}
