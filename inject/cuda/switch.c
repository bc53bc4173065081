/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops and starts recording. flush.c calls this file on the flush thread. This file calls pause.c
 * and recorder.c.
 *
 * States, and the time of each step:
 *
 *   recording --stop()--> stopped --after QUIET_NS, no call running--> quiet
 *       ^                    |                                           |
 *       +------start()-------+--------------start(), rouse()-------------+
 *
 * A stop takes effect at once. After a while the quiet state makes it nearly free for the
 * application: CUPTI gathers nothing, and only followed calls (streams, contexts, captures) have
 * callbacks. The delay lets work that is still on the device come with its rows, and spares the
 * cost if the application stops and starts often.
 */
#include "inject/cuda/switch.h"
#include "inject/cuda/recorder.h"
#include "inject/ring/ring-session.h"

/*
 * Distance of a switch from the newest id: more than all threads together call between two
 * instructions of the flush thread.
 */
#define MARGIN 1024u
/* A probe that takes longer than HELD_UP_NS is repeated: MARGIN calls are possible in that time. */
#define HELD_UP_NS    UINT64_C(20000)
#define HELD_UP_TRIES 100
#define QUIET_NS      UINT64_C(200000000)

/*
 * Returns the first id of a switch if no id can be probed: the one after the last switch, or after
 * the last id seen before CUPTI was given up. Running calls may then lose their API row or their
 * device rows; these losses are counted.
 */
static uint64_t next_id(struct ts_shim *shim)
{
	uint64_t id = (shim->pause.last >> 1) + 1;
	uint64_t unseen = ts_cupti_is_ours(&shim->cupti)
				  ? 0
				  : ts_widen(&shim->widen, shim->yield.last_seen_id) + 1;

	if (shim->family.newest)
		unseen = ts_widen(&shim->widen,
				  __atomic_load_n(&shim->family.newest, __ATOMIC_RELAXED)) +
			 1;
	return unseen > id ? unseen : id;
}

/* Returns the op_id of the newest call at this instant; 0 if it is unknown. */
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

/*
 * Publishes a switch. At that time, no call has the switch's id or a higher one. When this function
 * returns, all later calls have this id or a higher one.
 */
static void switch_over(struct ts_shim *shim, bool paused)
{
	bool probing = ts_cupti_is_ours(&shim->cupti) && ts_recorder_begin_probes(shim);
	uint64_t id = probing ? newest_id(shim) : 0;
	const uint64_t from = id ? id + MARGIN : next_id(shim);
	unsigned i;

	ts_pause_publish(&shim->pause, from, paused);
	/* Work that was on the device at the previous switch comes with the next flush. */
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

	/* After exit() has begun, or without a daemon, switches have no effect. */
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
