/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Yields CUPTI to the application's own profiler. The loader finds the functions exported here
 * before libcupti's, so the application calls them. Each calls ts_shim_yield() in shim.c, and then
 * libcupti's function.
 *
 * CUPTI has one subscriber and one pair of buffer callbacks. A tool that finds CUPTI held does not
 * always leave it alone. PyTorch's profiler is refused the subscription, but still replaces the
 * buffer callbacks. The device rows of both tools are then lost without an error. So the shim gives
 * CUPTI up before each such call:
 *
 *   TS_YIELD_NOT --a taking call: flush, unsubscribe--> TS_YIELD_GIVEN
 *        ^                                                |    ^
 *        |                      the application holds     |    | a taking call came, or
 *        |                      nothing for a while       v    | subscribing failed
 *        +----subscribed and enabled-------------- TS_YIELD_RETAKING
 *
 * - n_takers counts the running calls. If it is above 0, the flush thread does not take CUPTI back.
 * - `subscribed` and `kinds` are the application's holds on CUPTI. If end() finds none, it sets
 *   done_ns.
 * - The flush thread changes the state (flush.c). If the application already holds CUPTI when the
 *   session begins, the session starts in TS_YIELD_GIVEN.
 *
 * When CUPTI's owner changes, CUPTI may still have buffers of the old owner. So CUPTI's buffer
 * callbacks are always the shim's, and they pass each buffer of the application to the
 * application's callbacks.
 *
 * A tool that gets the functions by dlsym() on libcupti's handle bypasses this file; CUPTI refuses
 * its subscription.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "inject/cuda/recorder.h"
#include "inject/shim.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT uint32_t cuptiSubscribe(void **ret_subscriber, ts_cupti_callback_fn callback,
			       void *userdata);
EXPORT uint32_t cuptiSubscribe_v2(void **ret_subscriber, ts_cupti_callback_fn callback,
				  void *userdata, struct ts_cupti_subscriber_params *params);
EXPORT uint32_t cuptiUnsubscribe(void *subscriber);
EXPORT uint32_t cuptiFinalize(void);
EXPORT uint32_t cuptiActivityEnable(uint32_t kind);
EXPORT uint32_t cuptiActivityEnableAndDump(uint32_t kind);
EXPORT uint32_t cuptiActivityDisable(uint32_t kind);
EXPORT uint32_t cuptiActivityRegisterCallbacks(ts_cupti_buffer_requested_fn requested,
					       ts_cupti_buffer_completed_fn completed);
EXPORT uint32_t cuptiActivityRegisterTimestampCallback(ts_cupti_timestamp_fn now);

/*
 * Returns libcupti's function. RTLD_NEXT does not find libraries that were loaded RTLD_LOCAL, such
 * as Python's extensions.
 */
static void *real(const char *name)
{
	void *library = ts_cupti_mapped(), *function;

	if (!library)
		return NULL;
	function = dlsym(library, name);
	dlclose(library);
	return function;
}

/* Returns the file name of the calling library. The trace has it as the name of the tool. */
static const char *caller(const void *return_address)
{
	const char *slash;
	Dl_info info;

	if (!dladdr(return_address, &info) || !info.dli_fname)
		return "";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

/*
 * Begins a call that takes CUPTI: until end(), the flush thread does not take CUPTI back. The call
 * may initialise the driver, which then injects the shim; the shim finds CUPTI held in that case.
 */
static void begin(const char *who)
{
	struct ts_yield *yield = &ts_shim.yield;

	if (!__atomic_fetch_add(&yield->n_takers, 1, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(&yield->state, __ATOMIC_SEQ_CST) != TS_YIELD_GIVEN)
		snprintf(yield->to, sizeof(yield->to), "%s", who);
	ts_shim_yield();
}

static uint32_t end(uint32_t result)
{
	struct ts_yield *yield = &ts_shim.yield;
	bool holds = __atomic_load_n(&yield->subscribed, __ATOMIC_ACQUIRE) ||
		     __atomic_load_n(&yield->kinds, __ATOMIC_ACQUIRE);

	/*
	 * done_ns is set before n_takers goes down. So a thread that reads 0 from n_takers does not
	 * read an old done_ns.
	 */
	__atomic_store_n(&yield->done_ns, holds ? 0 : ts_clock_monotonic_ns(), __ATOMIC_RELEASE);
	__atomic_fetch_sub(&yield->n_takers, 1, __ATOMIC_SEQ_CST);
	return result;
}

static uint32_t subscribed(uint32_t result)
{
	if (!result)
		__atomic_store_n(&ts_shim.yield.subscribed, 1, __ATOMIC_RELEASE);
	return end(result);
}

uint32_t cuptiSubscribe(void **ret_subscriber, ts_cupti_callback_fn callback, void *userdata)
{
	__typeof__(cuptiSubscribe) *function;

	*(void **)&function = real("cuptiSubscribe");
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	begin(caller(__builtin_return_address(0)));
	return subscribed(function(ret_subscriber, callback, userdata));
}

uint32_t cuptiSubscribe_v2(void **ret_subscriber, ts_cupti_callback_fn callback, void *userdata,
			   struct ts_cupti_subscriber_params *params)
{
	__typeof__(cuptiSubscribe_v2) *function;

	*(void **)&function = real("cuptiSubscribe_v2");
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	begin(params && params->subscriber_name ? params->subscriber_name
						: caller(__builtin_return_address(0)));
	return subscribed(function(ret_subscriber, callback, userdata, params));
}

uint32_t cuptiUnsubscribe(void *subscriber)
{
	__typeof__(cuptiUnsubscribe) *function;
	uint32_t result;

	*(void **)&function = real("cuptiUnsubscribe");
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	__atomic_fetch_add(&ts_shim.yield.n_takers, 1, __ATOMIC_SEQ_CST);
	result = function(subscriber);
	if (!result)
		__atomic_store_n(&ts_shim.yield.subscribed, 0, __ATOMIC_RELEASE);
	return end(result);
}

/* cuptiFinalize() ends all of CUPTI, including the shim's subscription. */
uint32_t cuptiFinalize(void)
{
	__typeof__(cuptiFinalize) *function;
	uint32_t result;

	*(void **)&function = real("cuptiFinalize");
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	begin(caller(__builtin_return_address(0)));
	result = function();
	if (!result) {
		__atomic_store_n(&ts_shim.yield.subscribed, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&ts_shim.yield.kinds, 0, __ATOMIC_RELEASE);
	}
	return end(result);
}

static uint64_t bit_of(uint32_t kind)
{
	return kind < 64 ? UINT64_C(1) << kind : 0;
}

static uint32_t enable(const char *name, uint32_t kind, const void *return_address)
{
	__typeof__(cuptiActivityEnable) *function;
	uint32_t result;

	*(void **)&function = real(name);
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	begin(caller(return_address));
	result = function(kind);
	if (!result)
		__atomic_fetch_or(&ts_shim.yield.kinds, bit_of(kind), __ATOMIC_ACQ_REL);
	return end(result);
}

uint32_t cuptiActivityEnable(uint32_t kind)
{
	return enable("cuptiActivityEnable", kind, __builtin_return_address(0));
}

uint32_t cuptiActivityEnableAndDump(uint32_t kind)
{
	return enable("cuptiActivityEnableAndDump", kind, __builtin_return_address(0));
}

uint32_t cuptiActivityDisable(uint32_t kind)
{
	__typeof__(cuptiActivityDisable) *function;
	uint32_t result;

	*(void **)&function = real("cuptiActivityDisable");
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	begin(caller(__builtin_return_address(0)));
	result = function(kind);
	if (!result)
		__atomic_fetch_and(&ts_shim.yield.kinds, ~bit_of(kind), __ATOMIC_ACQ_REL);
	return end(result);
}

uint32_t cuptiActivityRegisterCallbacks(ts_cupti_buffer_requested_fn requested,
					ts_cupti_buffer_completed_fn completed)
{
	__typeof__(cuptiActivityRegisterCallbacks) *function;
	uint32_t result;

	*(void **)&function = real("cuptiActivityRegisterCallbacks");
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	begin(caller(__builtin_return_address(0)));
	if (!requested || !completed)
		return end(function(requested, completed));
	__atomic_store_n(&ts_shim.yield.completed, completed, __ATOMIC_RELEASE);
	__atomic_store_n(&ts_shim.yield.requested, requested, __ATOMIC_RELEASE);
	result = function(ts_recorder_requested, ts_recorder_completed);
	return end(result);
}

uint32_t cuptiActivityRegisterTimestampCallback(ts_cupti_timestamp_fn now)
{
	__typeof__(cuptiActivityRegisterTimestampCallback) *function;
	uint32_t result;

	*(void **)&function = real("cuptiActivityRegisterTimestampCallback");
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	begin(caller(__builtin_return_address(0)));
	result = function(now);
	if (!result)
		__atomic_store_n(&ts_shim.yield.now, now, __ATOMIC_RELEASE);
	return end(result);
}
