/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping and starting. A stop takes effect at once, and costs the application next to nothing when it has lasted a
 * while: then CUPTI gathers nothing more, and calls back only for what has to be followed (streams, contexts,
 * captures). Not before, so that work still on the device comes with its rows, and whoever switches to and fro pays for neither.
 */
#include "inject/cuda/switch.h"
#include "inject/cuda/recorder.h"
#include "inject/ring/ring-session.h"

/* How far ahead a switch is put: what all threads together call between two instructions of the flush thread's. */
#define MARGIN 1024u
/* If it is held up meanwhile, for longer than so many calls can be made in, it looks again. */
#define HELD_UP_NS    UINT64_C(20000)
#define HELD_UP_TRIES 100
#define QUIET_NS      UINT64_C(200000000)

/* Where no id can be asked for: from the last switch on; what is under way may be without its other half, and is counted. */
static uint64_t next_id(struct ts_shim *shim)
{
	uint64_t id = (shim->pause.last >> 1) + 1;
	uint64_t unseen = ts_cupti_is_ours(&shim->cupti)
				  ? 0
				  : ts_widen(&shim->widen, shim->yield.last_seen_id) + 1;

	return unseen > id ? unseen : id;
}

/* The id of the newest call, of this instant. 0: it is not told. */
static uint64_t newest_id(struct ts_shim *shim)
{
	uint64_t id, before;
	int i = 0;

	do {
		before = ts_clock_monotonic_ns();
		id = ts_widen(&shim->widen, ts_recorder_probe_once(shim));
	} while (id && ts_clock_monotonic_ns() - before > HELD_UP_NS && ++i < HELD_UP_TRIES);
	return id;
}

/* No call has the id yet when it is published, and no later call a lower one when this returns. */
static void switch_over(struct ts_shim *shim, bool paused)
{
	bool probing = ts_cupti_is_ours(&shim->cupti) && ts_recorder_begin_probes(shim);
	uint64_t id = probing ? newest_id(shim) : 0;
	const uint64_t from = id ? id + MARGIN : next_id(shim);
	unsigned i;

	ts_pause_publish(&shim->pause, from, paused);
	/* What was on the device at the switch before comes with the flush that follows this one. */
	if (shim->flush.worked)
		__atomic_store_n(&shim->producer.dirty, TS_DIRTY, __ATOMIC_RELEASE);
	for (i = 0; i < MARGIN && id && id < from; i++)
		id = ts_widen(&shim->widen, ts_recorder_probe_once(shim));
	if (probing)
		ts_recorder_end_probes(shim);
}

void ts_switch_record(struct ts_shim *shim, uint64_t ticks)
{
	struct ts_thread *thread = ts_producer_thread(&shim->producer);
	struct ts_record_pause *out;

	if (!thread)
		return;
	out = ts_thread_reserve(thread, TS_RECORD_PAUSE, sizeof(*out), shim->producer.clock, ticks);
	if (!out)
		return;
	out->paused = shim->pause.paused;
	out->cause = shim->pause.by_application ? TS_PAUSE_BY_APPLICATION : TS_PAUSE_BY_REQUEST;
	ts_thread_commit(thread, sizeof(*out));
}

static void stop(struct ts_shim *shim)
{
	shim->pause.paused_all_yield = ts_cupti_is_ours(&shim->cupti);
	shim->pause.by_application = __atomic_load_n(&ts_producer_stopped, __ATOMIC_RELAXED);
	switch_over(shim, true);
	ts_switch_record(shim, ts_producer_ticks(&shim->producer));
}

static void start(struct ts_shim *shim)
{
	uint64_t ticks;

	shim->pause.paused_all_yield = false;
	if (shim->pause.quiet && ts_cupti_is_ours(&shim->cupti))
		ts_recorder_rouse(shim);
	ticks = ts_producer_ticks(&shim->producer);
	switch_over(shim, false);
	ts_switch_record(shim, ticks);
}

void ts_switch_follow(struct ts_shim *shim)
{
	struct ts_pause *pause = &shim->pause;
	bool paused = ts_shim_is_stopped(shim);
	bool ours = ts_cupti_is_ours(&shim->cupti);

	/* Once exit() has begun, or nobody listens, it is no more our business. */
	if (__atomic_load_n(&shim->flushed, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&shim->link.over, __ATOMIC_ACQUIRE) ||
	    (!ours && shim->yield.state != TS_YIELD_GIVEN))
		return;
	if (paused && !pause->paused)
		stop(shim);
	else if (!paused && pause->paused)
		start(shim);
	else if (ours && paused && !pause->quiet &&
		 ts_clock_monotonic_ns() - pause->since_ns >= QUIET_NS &&
		 !ts_producer_is_any_in_call(&shim->producer))
		ts_recorder_quiet(shim);
}
