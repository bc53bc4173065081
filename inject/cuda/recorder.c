/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches CUPTI on and off, and handles CUPTI's activity buffers. shim.c, flush.c and switch.c
 * call this file; CUPTI calls the buffer callbacks. This file calls cupti-library.c, buffers.c,
 * activity.c and capture.c.
 *
 * Trap: the order of set-up. Subscribe first, and touch nothing of CUPTI if another tool holds it.
 * Next come the timestamp callback, thread ids and attributes. Then the buffer callbacks, then
 * activity kinds, then callbacks of calls.
 */
#include <time.h>

#include "inject/calls/call-table.h"
#include "inject/capture/capture-interface.h"
#include "inject/capture/capture-link.h"
#include "inject/cuda/callbacks.h"
#include "inject/cuda/family.h"
#include "inject/cuda/recorder.h"
#include "inject/ring/ring-session.h"
#include "inject/shim-debug.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/cupti_cbid.h"

/*
 * A thread that delivers device rows launches nothing, so it may wait this long for room in its
 * ring.
 */
#define DELIVERY_PATIENCE_NS UINT64_C(500000000)

/*
 * Activity kinds to enable. KIND_KERNEL would serialise kernels. RUNTIME and DRIVER are not needed:
 * the callbacks measure calls.
 */
static const uint32_t kinds[] = {
	TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	TS_CUPTI_ACTIVITY_KIND_MEMCPY,
	TS_CUPTI_ACTIVITY_KIND_MEMCPY2,
	TS_CUPTI_ACTIVITY_KIND_MEMSET,
	TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
	TS_CUPTI_ACTIVITY_KIND_MEMORY2, /* from CUDA 11.2; refused before */
	TS_CUPTI_ACTIVITY_KIND_OVERHEAD,
	/*
	 * Rare records. They stay on while recording is stopped, because later records refer to
	 * them.
	 */
	TS_CUPTI_ACTIVITY_KIND_DEVICE,
	TS_CUPTI_ACTIVITY_KIND_CONTEXT,
	TS_CUPTI_ACTIVITY_KIND_STREAM,
};

#define N_KINDS_OF_WORK (TS_ARRAY_LEN(kinds) - 3)

/* Returns the library's number of a kind; 0: it has no such records. */
static uint32_t kind_of(const struct ts_cupti *cupti, uint32_t kind)
{
	const struct ts_pti_record *record;

	if (!cupti->vendor->records)
		return kind;
	record = ts_pti_find_kind(cupti->vendor, kind);
	return record ? record->vendor_kind : 0;
}

static void disable_kind(const struct ts_cupti *cupti, uint32_t kind)
{
	kind = kind_of(cupti, kind);
	if (kind)
		(void)cupti->cuptiActivityDisable(kind);
}

static const uint32_t resources[] = {
	TS_CUPTI_CBID_RESOURCE_CONTEXT_CREATED, TS_CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
	TS_CUPTI_CBID_RESOURCE_STREAM_CREATED,	TS_CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
	TS_CUPTI_CBID_RESOURCE_MODULE_LOADED,	TS_CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
};

/*
 * Trap: runs on an application's thread inside its CUDA call, so it must be fast and never return
 * NULL.
 */
void ts_recorder_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	struct ts_shim *shim = &ts_shim;
	ts_cupti_buffer_requested_fn theirs =
		__atomic_load_n(&shim->yield.requested, __ATOMIC_ACQUIRE);
	int saved_errno = errno;

	if (ts_unlikely(theirs && !ts_cupti_is_ours(&shim->cupti))) {
		theirs(buffer, size, max_records);
		return;
	}
	*max_records = 0;
	*size = TS_BUFFER_BYTES;
	*buffer = ts_buffers_take(&shim->buffers);
	if (ts_buffers_is_discard(&shim->buffers, *buffer)) {
		/*
		 * Let CUPTI put only one record into this buffer, so that the shim counts each
		 * discarded record.
		 */
		*size = TS_DISCARD_BYTES;
		*max_records = 1;
	}
	errno = saved_errno;
}

static void count_dropped(struct ts_shim *shim, void *context, uint32_t stream)
{
	size_t n_dropped = 0;

	/*
	 * Trap: the caller must hold no lock of the shim during this call. CUPTI takes its own
	 * lock, and calls the shim with it held.
	 */
	if (ts_cupti_is_ours(&shim->cupti) &&
	    !shim->cupti.cuptiActivityGetNumDroppedRecords(context, stream, &n_dropped) &&
	    n_dropped)
		ts_session_count(shim->control, TS_LOSS_CUPTI_DROPPED, n_dropped);
}

void ts_recorder_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			   size_t valid_bytes)
{
	struct ts_shim *shim = &ts_shim;
	uint32_t was_busy = ts_tls.busy;
	int saved_errno = errno;
	struct ts_thread *thread;

	if (ts_unlikely(buffer && !ts_buffers_is_ours(&shim->buffers, buffer))) {
		ts_cupti_buffer_completed_fn theirs =
			__atomic_load_n(&shim->yield.completed, __ATOMIC_ACQUIRE);

		if (theirs)
			theirs(context, stream, buffer, size, valid_bytes);
		return;
	}
	/*
	 * A forked child has neither the session nor CUPTI; the buffer is a copy of the parent's.
	 */
	if (!shim->gate->alive || !buffer)
		return;
	ts_tls.busy = was_busy ? was_busy : TS_BUSY_IN_CALL;
	if (ts_buffers_is_discard(&shim->buffers, buffer)) {
		if (valid_bytes)
			ts_session_count(shim->control, TS_LOSS_NO_BUFFER, 1);
	} else if (!__atomic_load_n(&shim->gate->rows, __ATOMIC_ACQUIRE)) {
		ts_session_count(shim->control, TS_LOSS_LATE,
				 ts_activity_count(&shim->activity, buffer, valid_bytes));
	} else if (valid_bytes) {
		thread = ts_producer_thread(&shim->producer);
		/*
		 * If an application's thread delivers the buffer inside a call of its own, the
		 * thread does not wait for room in the ring.
		 */
		if (thread && was_busy != TS_BUSY_IN_CALL && !ts_tls.call.depth)
			thread->patience_ns = DELIVERY_PATIENCE_NS;
		ts_activity_decode(&shim->activity, buffer, valid_bytes);
		if (thread)
			thread->patience_ns = 0;
		count_dropped(shim, context, stream);
		__atomic_fetch_add(&shim->flush.n_delivered, 1, __ATOMIC_RELAXED);
	}
	ts_buffers_give(&shim->buffers, buffer, valid_bytes);
	ts_tls.busy = was_busy;
	errno = saved_errno;
}

/* The completion callback of a library whose callback names no context and no stream. */
static void completed_short(uint8_t *buffer, size_t size, size_t valid_bytes)
{
	ts_recorder_completed(NULL, 0, buffer, size, valid_bytes);
}

/*
 * CUPTI's timestamp callback. Trap: it cannot be removed, because CUPTI accepts no NULL. A change
 * of the callback, or of its origin, makes CUPTI interpolate between two clocks. So this clock
 * returns the values of CUPTI's own clock, CLOCK_REALTIME, but a change of the system's time does
 * not change them. The application's profiler then finds the times that it expects, and the clock
 * stays the same when CUPTI's owner changes.
 */
static uint64_t timestamp(void)
{
	return ts_clock_monotonic_ns() + ts_shim.cupti.clock_ahead;
}

bool ts_recorder_clock(struct ts_shim *shim, uint64_t *ret_ticks)
{
	ts_cupti_timestamp_fn theirs = __atomic_load_n(&shim->yield.now, __ATOMIC_ACQUIRE);

	if (!theirs)
		return !shim->cupti.cuptiGetTimestamp(ret_ticks);
	*ret_ticks = theirs();
	return true;
}

static void set_attribute(struct ts_shim *shim, uint32_t attribute, uint8_t value)
{
	size_t n_bytes = sizeof(value);

	if (shim->cupti.cuptiActivitySetAttribute)
		(void)shim->cupti.cuptiActivitySetAttribute(attribute, &n_bytes, &value);
}

static void set_up_clock(struct ts_shim *shim)
{
	struct ts_cupti *cupti = &shim->cupti;
	struct ts_clock_pair now = ts_clock_pair_take(TS_CLOCK_REALTIME);

	/*
	 * Trap: CUPTI's own clock is CLOCK_REALTIME, which is set back and forth. timestamp()
	 * replaces it, once in a process: a second registration corrupts records. CUPTI before CUDA
	 * 11.6 has no such callback. Its records carry CUPTI's ticks, and clock records of the
	 * flush thread convert them. The same holds if the application has registered a clock of
	 * its own.
	 */
	cupti->clock = TS_CLOCK_CUPTI;
	cupti->clock_ahead = now.ticks - now.monotonic_ns;
	if (!shim->yield.now && cupti->version >= TS_CUPTI_API_VERSION_CUDA_11_6 &&
	    cupti->cuptiActivityRegisterTimestampCallback &&
	    !cupti->cuptiActivityRegisterTimestampCallback(timestamp))
		cupti->clock = TS_CLOCK_MONOTONIC;
}

/* True if capture takes CUDA's calls. */
static bool takes_calls(const struct ts_shim *shim)
{
	return shim->capture.takes_cuda;
}

/*
 * Enables or disables the callbacks of calls. If !followed, leaves out calls that are followed even
 * while recording is stopped.
 */
static void enable_calls(struct ts_shim *shim, uint32_t enable, bool followed)
{
	static const uint32_t domains[] = {TS_CUPTI_CB_DOMAIN_RUNTIME_API,
					   TS_CUPTI_CB_DOMAIN_DRIVER_API};
	struct ts_cupti *cupti = &shim->cupti;
	uint32_t cbid;
	size_t i;

	if (cupti->vendor->records) {
		ts_family_enable_calls(shim, enable, followed);
		return;
	}
	/*
	 * Enable the callbacks one by one: this version of CUPTI refuses ids that it does not know,
	 * but the other callbacks stay enabled.
	 */
	for (i = 0; i < TS_ARRAY_LEN(domains); i++)
		for (cbid = 1; cbid < ts_call_table_n(domains[i]); cbid++)
			if ((ts_call_table_watched(domains[i], cbid) ||
			     (takes_calls(shim) &&
			      shim->capture.library->wants(domains[i], cbid))) &&
			    (followed || !ts_call_table_followed(domains[i], cbid)))
				(void)cupti->cuptiEnableCallback(enable, cupti->subscriber,
								 domains[i], cbid);
}

static void enable_callbacks(struct ts_shim *shim)
{
	struct ts_cupti *cupti = &shim->cupti;
	size_t i;

	enable_calls(shim, 1, true);
	for (i = 0; i < TS_ARRAY_LEN(resources) && cupti->vendor->flags & TS_PTI_RESOURCES; i++)
		(void)cupti->cuptiEnableCallback(1, cupti->subscriber, TS_CUPTI_CB_DOMAIN_RESOURCE,
						 resources[i]);
	if (!cupti->vendor->records)
		(void)cupti->cuptiEnableCallback(1, cupti->subscriber, TS_CUPTI_CB_DOMAIN_STATE,
						 TS_CUPTI_CBID_STATE_FATAL_ERROR);
}

/*
 * Sets SYSTEM thread ids (the default is pthread_self() cut to 32 bits) and zeroed buffers. Saves
 * the old settings.
 */
static void set_attributes(struct ts_shim *shim)
{
	struct ts_cupti *cupti = &shim->cupti;
	size_t n_bytes = sizeof(cupti->zeroed_out);

	if (!cupti->cuptiGetThreadIdType || cupti->cuptiGetThreadIdType(&cupti->thread_id_type))
		cupti->thread_id_type = TS_CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
	if (!cupti->cuptiActivityGetAttribute ||
	    cupti->cuptiActivityGetAttribute(TS_CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER,
					     &n_bytes, &cupti->zeroed_out))
		cupti->zeroed_out = 0;
	if (cupti->cuptiSetThreadIdType)
		(void)cupti->cuptiSetThreadIdType(TS_CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	/* CUPTI then need not zero buffers on the application's thread. */
	set_attribute(shim, TS_CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1);
}

/*
 * Trap: if CUPTI expects zeroed buffers, and the application's buffers are not zeroed, records
 * contain garbage.
 */
static void restore_attributes(struct ts_shim *shim)
{
	if (shim->cupti.cuptiSetThreadIdType)
		(void)shim->cupti.cuptiSetThreadIdType(shim->cupti.thread_id_type);
	set_attribute(shim, TS_CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER,
		      shim->cupti.zeroed_out);
}

/*
 * The second part of the set-up, from thread ids on. ts_recorder_start() and ts_recorder_resume()
 * share it.
 */
static enum ts_empty_reason switch_on(struct ts_shim *shim, char *ret_text, size_t n_text_bytes)
{
	struct ts_cupti *cupti = &shim->cupti;
	uint32_t result, kind;
	size_t i;

	set_attributes(shim);
	result = cupti->cuptiActivityRegisterCallbacks(
		ts_recorder_requested,
		cupti->vendor->flags & TS_PTI_SHORT_COMPLETION
			? (ts_cupti_buffer_completed_fn)(void (*)(void))completed_short
			: ts_recorder_completed);
	if (result) {
		snprintf(ret_text, n_text_bytes, "%sActivityRegisterCallbacks: %s (%u)",
			 cupti->vendor->prefix, ts_cupti_result(cupti, result), result);
		ts_recorder_unsubscribe(shim);
		return TS_EMPTY_CUPTI_ERROR;
	}
	for (i = 0; i < TS_ARRAY_LEN(kinds); i++) {
		kind = kind_of(cupti, kinds[i]);
		if (!kind)
			continue;
		/*
		 * EnableAndDump also delivers records of devices, contexts and streams that existed
		 * before. Only this function does.
		 */
		result = shim->yield.from_start && cupti->cuptiActivityEnableAndDump
				 ? cupti->cuptiActivityEnableAndDump(kind)
				 : cupti->cuptiActivityEnable(kind);
		ts_debug(&shim->config, "activity kind %u: %u", kind, result);
		if (!result || kinds[i] != TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			continue;
		/*
		 * Without kernel records a trace is useless. Causes: insufficient privileges, an
		 * unsupported device, ...
		 */
		snprintf(ret_text, n_text_bytes, "%sActivityEnable(CONCURRENT_KERNEL): %s (%u)",
			 cupti->vendor->prefix, ts_cupti_result(cupti, result), result);
		ts_recorder_disable(shim);
		ts_recorder_unsubscribe(shim);
		return TS_EMPTY_CUPTI_ERROR;
	}
	/* The gate opens first, so that the callbacks of running calls find an open gate. */
	__atomic_store_n(&shim->gate->rows, 1, __ATOMIC_RELEASE);
	ts_link_open_gate(&shim->link);
	enable_callbacks(shim);
	shim->pause.quiet = false;
	if (shim->pause.paused)
		ts_recorder_quiet(shim);
	return TS_EMPTY_NONE;
}

static ts_cupti_callback_fn handler(const struct ts_shim *shim)
{
	if (shim->cupti.vendor->records)
		return ts_family_handle;
	return takes_calls(shim) ? shim->capture.library->handle : ts_callbacks_handle;
}

enum ts_empty_reason ts_recorder_start(struct ts_shim *shim, char *ret_text, size_t n_text_bytes)
{
	struct ts_cupti *cupti = &shim->cupti;
	enum ts_empty_reason reason;

	/* A capture has calls of CUDA only, and of no other library like CUPTI. */
	if (!cupti->vendor->records)
		ts_capture_link_start(shim);
	else if (__atomic_load_n(&shim->capture.hip.is_used, __ATOMIC_ACQUIRE))
		ts_capture_link_refuse(shim, TS_LANE_TWO_VENDORS);
	reason = ts_cupti_subscribe(cupti, handler(shim), shim, ret_text, n_text_bytes);
	if (reason)
		return reason;
	ts_stack_skip(&shim->stacks, 1, (const void *)(uintptr_t)cupti->cuptiActivityFlushAll);
	set_up_clock(shim);
	ts_activity_init(&shim->activity, cupti, &shim->producer, &shim->widen, &shim->objects);
	shim->activity.pause = &shim->pause;
	shim->activity.first_device = shim->first_cuda_device;
	if (!shim->pause.n_switches && ts_shim_is_stopped(shim)) {
		shim->pause.by_application =
			__atomic_load_n(&ts_producer_stopped, __ATOMIC_RELAXED);
		ts_pause_begin(&shim->pause);
	}
	return switch_on(shim, ret_text, n_text_bytes);
}

enum ts_empty_reason ts_recorder_resume(struct ts_shim *shim, char *ret_text, size_t n_text_bytes)
{
	enum ts_empty_reason reason;

	if (shim->yield.from_start)
		return ts_recorder_start(shim, ret_text, n_text_bytes);
	/* The capture lacks the calls made meanwhile. */
	if (shim->capture.shim)
		ts_capture_link_refuse(shim, TS_LANE_YIELDED);
	/*
	 * While the application's profiler had CUPTI, streams were created and destroyed, and
	 * stream captures ended, without callbacks.
	 */
	memset(&shim->streams, 0, sizeof(shim->streams));
	memset(&shim->stream_captures, 0, sizeof(shim->stream_captures));
	__atomic_store_n(&shim->n_stream_captures, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&shim->generation, shim->generation + 1, __ATOMIC_RELAXED);
	/*
	 * Trap: the clock is registered only once. If the application has registered its own clock,
	 * records carry this clock's ticks from now on.
	 */
	if (__atomic_load_n(&shim->yield.now, __ATOMIC_ACQUIRE))
		shim->cupti.clock = TS_CLOCK_CUPTI;
	reason = ts_cupti_subscribe(&shim->cupti, handler(shim), shim, ret_text, n_text_bytes);
	return reason ? reason : switch_on(shim, ret_text, n_text_bytes);
}

bool ts_recorder_begin_probes(struct ts_shim *shim)
{
	struct ts_cupti *cupti = &shim->cupti;

	/*
	 * cuDriverGetVersion() always works and waits for nothing. Its callback is enabled only for
	 * probes.
	 */
	return cupti->driver_get_version && cupti->probe_cbid &&
	       !cupti->cuptiEnableCallback(1, cupti->subscriber, cupti->probe_domain,
					   cupti->probe_cbid);
}

uint32_t ts_recorder_probe_once(struct ts_shim *shim)
{
	uint32_t was_busy = ts_tls.busy;
	int version;

	shim->yield.probed_id = 0;
	ts_tls.busy = TS_BUSY_PROBING;
	shim->cupti.driver_get_version(&version);
	ts_tls.busy = was_busy;
	return shim->yield.probed_id;
}

void ts_recorder_end_probes(struct ts_shim *shim)
{
	(void)shim->cupti.cuptiEnableCallback(0, shim->cupti.subscriber, shim->cupti.probe_domain,
					      shim->cupti.probe_cbid);
}

uint32_t ts_recorder_probe(struct ts_shim *shim)
{
	uint32_t id;

	if (!ts_recorder_begin_probes(shim))
		return 0;
	id = ts_recorder_probe_once(shim);
	ts_recorder_end_probes(shim);
	return id;
}

void ts_recorder_quiet(struct ts_shim *shim)
{
	size_t i;

	/*
	 * Delivers work that was on the device when recording stopped, before CUPTI stops
	 * gathering.
	 */
	if (shim->flush.worked)
		(void)shim->cupti.cuptiActivityFlushAll(0);
	for (i = 0; i < N_KINDS_OF_WORK; i++)
		disable_kind(&shim->cupti, kinds[i]);
	if (shim->flush.worked)
		(void)shim->cupti.cuptiActivityFlushAll(0);
	enable_calls(shim, 0, false);
	shim->pause.quiet = true;
}

void ts_recorder_rouse(struct ts_shim *shim)
{
	size_t i;

	__atomic_store_n(&shim->generation, shim->generation + 1, __ATOMIC_RELAXED);
	for (i = 0; i < N_KINDS_OF_WORK; i++)
		if (kind_of(&shim->cupti, kinds[i]))
			(void)shim->cupti.cuptiActivityEnable(kind_of(&shim->cupti, kinds[i]));
	enable_calls(shim, 1, false);
	shim->pause.quiet = false;
}

void ts_recorder_disable(struct ts_shim *shim)
{
	size_t i;

	__atomic_store_n(&shim->gate->recording, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shim->gate->mode, TS_GATE_CLOSED, __ATOMIC_SEQ_CST);
	for (i = 0; i < TS_ARRAY_LEN(kinds); i++)
		disable_kind(&shim->cupti, kinds[i]);
}

void ts_recorder_before_last_flush(struct ts_shim *shim)
{
	/* Trap: MSPTI delivers the last records only to a client that has unsubscribed. */
	if (shim->cupti.vendor->flags & TS_PTI_UNSUBSCRIBE_FIRST)
		(void)shim->cupti.cuptiUnsubscribe(shim->cupti.subscriber);
}

void ts_recorder_unsubscribe(struct ts_shim *shim)
{
	/*
	 * Trap: a subscription without use costs the application 10 to 20 percent. cuptiFinalize()
	 * would free more, but it synchronises all contexts and has crashed with graphs: too
	 * dangerous in another program.
	 */
	(void)shim->cupti.cuptiUnsubscribe(shim->cupti.subscriber);
	restore_attributes(shim);
	__atomic_store_n(&shim->gate->rows, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&shim->cupti.held, 0, __ATOMIC_RELEASE);
}
