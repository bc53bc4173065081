/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The application's own profiler. CUPTI has one subscriber and one pair of buffer callbacks, and a tool that finds it held
 * does not always leave it alone: PyTorch's profiler, refused the subscription, still puts its buffer callbacks in
 * the place of ours, and the device rows of both are lost without a word. So the calls by which a tool takes CUPTI are
 * exported here, before libcupti's: whoever makes one gets it, after what was recorded up to then was flushed. It is not
 * taken back: CUPTI's timestamp callback can be registered but once, and the tool may have its own by then.
 *
 * A tool that looks the functions up in libcupti's handle, by dlsym(), is not seen here; CUPTI refuses it.
 */
#include <dlfcn.h>

#include "inject/shim.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT uint32_t cuptiSubscribe(void **ret_subscriber, ts_cupti_callback_fn callback,
			       void *userdata);
EXPORT uint32_t cuptiSubscribe_v2(void **ret_subscriber, ts_cupti_callback_fn callback,
				  void *userdata, struct ts_cupti_subscriber_params *params);
EXPORT uint32_t cuptiActivityRegisterCallbacks(ts_cupti_buffer_requested_fn requested,
					       ts_cupti_buffer_completed_fn completed);

/* libcupti's own. Not RTLD_NEXT, which does not see what was loaded RTLD_LOCAL, as Python's extensions are. */
static void *real(const char *name)
{
	void *library = ts_cupti_mapped(), *function;

	if (!library)
		return NULL;
	function = dlsym(library, name);
	dlclose(library);
	return function;
}

/* The library that called, for want of a better name. */
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
 * While a subscription is under way the driver may be initialised by it, and inject the shim: which then finds
 * CUPTI taken.
 */
static void begin(const char *who)
{
	__atomic_fetch_add(&ts_shim.n_takers, 1, __ATOMIC_ACQ_REL);
	ts_shim_yield(who);
}

static uint32_t end(uint32_t result)
{
	__atomic_fetch_sub(&ts_shim.n_takers, 1, __ATOMIC_ACQ_REL);
	return result;
}

uint32_t cuptiSubscribe(void **ret_subscriber, ts_cupti_callback_fn callback, void *userdata)
{
	__typeof__(cuptiSubscribe) *function;

	*(void **)&function = real("cuptiSubscribe");
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	begin(caller(__builtin_return_address(0)));
	return end(function(ret_subscriber, callback, userdata));
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
	return end(function(ret_subscriber, callback, userdata, params));
}

uint32_t cuptiActivityRegisterCallbacks(ts_cupti_buffer_requested_fn requested,
					ts_cupti_buffer_completed_fn completed)
{
	__typeof__(cuptiActivityRegisterCallbacks) *function;

	*(void **)&function = real("cuptiActivityRegisterCallbacks");
	if (!function)
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	begin(caller(__builtin_return_address(0)));
	return end(function(requested, completed));
}
