// SPDX-License-Identifier: Apache-2.0
/*
 * Attaches to and detaches from the virtual GPU's libcuda. The sink is attached while a subscriber
 * or an activity kind needs it. When nothing needs the sink, the sink is detached, so that a
 * process without tracing pays one relaxed load per call. While operations are in progress the sink
 * stays attached, because their records are not complete. subscribe.c and activity-calls.c call
 * this file.
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
		 * -EBUSY: another thread detaches. That thread has released the lock, but not yet
		 * the sink.
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
		/* waits for callbacks in progress, so the lock is released first */
		hooks->set_sink(NULL);
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
	/* Like CUPTI, let operations in progress end first, so that their records are complete. */
	hooks->queries->drain();
	result = ts_cupti_update_attachment();
	ts_cupti_buffers_reset();
	ts_cupti_clock_set(NULL);
	ts_cupti_thread_id_reset();
	return ts_cupti_result(result);
}
