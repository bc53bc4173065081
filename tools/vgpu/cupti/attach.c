// SPDX-License-Identifier: Apache-2.0
/*
 * Attaching to the virtual GPU's libcuda, and leaving it. The sink is attached while a subscriber or an activity
 * kind wants it and taken away when nothing does, so that a process which no longer traces pays one
 * relaxed load per call again. While operations are under way it stays, because their records are
 * still owed.
 */
#include <errno.h>
#include <sched.h>

#include "tools/vgpu/cupti/api.h"
#include "tools/vgpu/cupti/cupti-internal.h"

static pthread_mutex_t config_lock = PTHREAD_MUTEX_INITIALIZER;
static bool attached;

uint32_t ts_cupti_update_attachment(void)
{
	const struct ts_vgpu_hooks *hooks = ts_cupti_hooks();
	bool detach = false;
	int r = 0;

	if (!hooks)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&config_lock);
	if (ts_cupti_subscribed() || ts_cupti_any_kind_enabled()) {
		/*
		 * Busy is a detaching thread that has let go of the lock but not yet of the sink.
		 */
		while (!attached && (r = hooks->set_sink(&ts_cupti_sink)) == -EBUSY)
			sched_yield();
		attached = attached || r == 0;
	} else if (attached && !ts_cupti_buffers_pending()) {
		attached = false;
		detach = true;
	}
	pthread_mutex_unlock(&config_lock);
	if (detach)
		hooks->set_sink(NULL); /* waits for callbacks in progress, hence without the lock */
	return r == 0 ? TS_CUPTI_SUCCESS : TS_CUPTI_ERROR_NOT_COMPATIBLE;
}

uint32_t cuptiFinalize(void)
{
	const struct ts_vgpu_hooks *hooks = ts_cupti_hooks();
	uint32_t result;

	if (!hooks)
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	if (ts_cupti_buffers_delivering())
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_OPERATION);
	ts_cupti_activity_reset();
	if (ts_cupti_subscribed())
		ts_cupti_unsubscribe_all();
	/* As the real one does: what is under way ends first, so that its records are whole. */
	hooks->queries->drain();
	result = ts_cupti_update_attachment();
	ts_cupti_buffers_reset();
	ts_cupti_clock_set(NULL);
	ts_cupti_thread_id_reset();
	return ts_cupti_result(result);
}
