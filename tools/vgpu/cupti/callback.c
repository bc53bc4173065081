// SPDX-License-Identifier: Apache-2.0
/*
 * The callback API: one subscriber, its enabled ids, and its calls. Like CUPTI, a second subscriber
 * receives the name of the first one. The callback pointer publishes the subscriber. Unsubscribing
 * clears the pointer and then waits until no thread is inside a callback. cupti-record.c and
 * subscribe.c call this file.
 */
#include <stdio.h>

#include "tools/vgpu/cupti/api.h"
#include "tools/vgpu/cupti/cupti-internal.h"

#define SUBSCRIBER_NAME_BYTES TS_CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN

static const uint32_t domains[] = {TS_CUPTI_CB_DOMAIN_DRIVER_API, TS_CUPTI_CB_DOMAIN_RUNTIME_API,
				   TS_CUPTI_CB_DOMAIN_RESOURCE, TS_CUPTI_CB_DOMAIN_SYNCHRONIZE,
				   TS_CUPTI_CB_DOMAIN_STATE};
#define N_DOMAINS (sizeof(domains) / sizeof(domains[0]))

static struct {
	/* held while subscribing, unsubscribing, or using the name */
	pthread_mutex_t lock;
	_Atomic(ts_cupti_callback_fn) callback; /* NULL: no subscriber */
	void *userdata;
	char name[SUBSCRIBER_NAME_BYTES];
	struct ts_cupti_set enabled[TS_CUPTI_CB_DOMAIN_STATE + 1];
} subscriber = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint32_t ts_cupti_domain_size(uint32_t domain)
{
	switch (domain) {
	case TS_CUPTI_CB_DOMAIN_DRIVER_API:
	case TS_CUPTI_CB_DOMAIN_RUNTIME_API:
		return ts_cupti_face_ids(domain);
	case TS_CUPTI_CB_DOMAIN_RESOURCE:
		return TS_CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS + 1;
	case TS_CUPTI_CB_DOMAIN_SYNCHRONIZE:
		return TS_CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED + 1;
	case TS_CUPTI_CB_DOMAIN_STATE:
		return TS_CUPTI_CBID_STATE_WARNING + 1;
	default:
		return 0;
	}
}

void ts_cupti_set_put(struct ts_cupti_set *set, uint32_t id, bool present)
{
	uint64_t bit = (uint64_t)1 << (id % 64);

	if (present)
		atomic_fetch_or_explicit(&set->words[id / 64], bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&set->words[id / 64], ~bit, memory_order_relaxed);
}

void ts_cupti_set_fill(struct ts_cupti_set *set, bool present)
{
	for (size_t i = 0; i < TS_CUPTI_SET_WORDS; i++)
		atomic_store_explicit(&set->words[i], present ? UINT64_MAX : 0,
				      memory_order_relaxed);
}

bool ts_cupti_subscribed(void)
{
	return atomic_load_explicit(&subscriber.callback, memory_order_relaxed) != NULL;
}

uint32_t ts_cupti_subscriber_put(ts_cupti_callback_fn callback, void *userdata,
				 const struct ts_cupti_subscriber_params *params)
{
	uint32_t result = TS_CUPTI_SUCCESS;

	pthread_mutex_lock(&subscriber.lock);
	if (ts_cupti_subscribed()) {
		if (params && params->old_subscriber_name && params->old_subscriber_size)
			snprintf(params->old_subscriber_name, params->old_subscriber_size, "%s",
				 subscriber.name);
		result = TS_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	} else {
		for (size_t i = 0; i <= TS_CUPTI_CB_DOMAIN_STATE; i++)
			ts_cupti_set_fill(&subscriber.enabled[i], false);
		subscriber.userdata = userdata;
		snprintf(subscriber.name, sizeof(subscriber.name), "%s",
			 params && params->subscriber_name ? params->subscriber_name : "");
		/*
		 * Release, paired with the acquire in call_subscriber(), which then sees userdata.
		 */
		atomic_store_explicit(&subscriber.callback, callback, memory_order_release);
	}
	pthread_mutex_unlock(&subscriber.lock);
	return result;
}

void ts_cupti_subscriber_clear(void)
{
	atomic_store_explicit(&subscriber.callback, NULL, memory_order_relaxed);
}

void *ts_cupti_subscriber(void)
{
	return &subscriber;
}

void ts_cupti_unsubscribe_all(void)
{
	pthread_mutex_lock(&subscriber.lock);
	for (size_t i = 0; i <= TS_CUPTI_CB_DOMAIN_STATE; i++)
		ts_cupti_set_fill(&subscriber.enabled[i], false);
	atomic_store_explicit(&subscriber.callback, NULL, memory_order_seq_cst);
	pthread_mutex_unlock(&subscriber.lock);
	/* Later calls find no subscriber. quiesce() waits for callbacks in progress. */
	ts_cupti_hooks()->quiesce();
}

bool ts_cupti_is_subscriber(const void *handle)
{
	return handle == &subscriber && ts_cupti_subscribed();
}

uint32_t cuptiEnableCallback(uint32_t enable, void *handle, uint32_t domain, uint32_t cbid)
{
	if (!ts_cupti_is_subscriber(handle) || cbid == 0 || cbid >= ts_cupti_domain_size(domain))
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_cupti_set_put(&subscriber.enabled[domain], cbid, enable);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiEnableDomain(uint32_t enable, void *handle, uint32_t domain)
{
	/*
	 * The NVTX domain exists, but the virtual GPU has no NVTX: enabling it gives no callbacks.
	 */
	if (!ts_cupti_is_subscriber(handle) ||
	    (!ts_cupti_domain_size(domain) && domain != TS_CUPTI_CB_DOMAIN_NVTX))
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (domain == TS_CUPTI_CB_DOMAIN_NVTX)
		return enable ? ts_cupti_result(TS_CUPTI_ERROR_NOT_SUPPORTED) : TS_CUPTI_SUCCESS;
	ts_cupti_set_fill(&subscriber.enabled[domain], enable);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiEnableAllDomains(uint32_t enable, void *handle)
{
	if (!ts_cupti_is_subscriber(handle))
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	for (size_t i = 0; i < N_DOMAINS; i++)
		ts_cupti_set_fill(&subscriber.enabled[domains[i]], enable);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiGetCallbackState(uint32_t *ret_enabled, void *handle, uint32_t domain, uint32_t cbid)
{
	if (!ret_enabled || !ts_cupti_is_subscriber(handle) || cbid == 0 ||
	    cbid >= ts_cupti_domain_size(domain))
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	*ret_enabled = ts_cupti_set_has(&subscriber.enabled[domain], cbid);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **ret_name)
{
	const char *name = ts_cupti_callback_name(domain, cbid);

	if (!ret_name || !name)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	*ret_name = name;
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiSupportedDomains(size_t *ret_n_domains, uint32_t **ret_domains)
{
	if (!ret_n_domains || !ret_domains)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	*ret_n_domains = N_DOMAINS;
	*ret_domains = (uint32_t *)(uintptr_t)domains; /* CUPTI's signature has no const */
	return TS_CUPTI_SUCCESS;
}

static void call_subscriber(uint32_t domain, uint32_t cbid, const void *data)
{
	/* Acquire, paired with the release in ts_cupti_subscriber_put(). */
	ts_cupti_callback_fn callback =
		atomic_load_explicit(&subscriber.callback, memory_order_acquire);

	if (callback)
		callback(subscriber.userdata, domain, cbid, data);
}

void ts_cupti_callback_api(uint32_t site, struct ts_vgpu_api *call)
{
	struct ts_cupti_callback_data data;
	struct ts_cupti_face_call face;

	if (!ts_cupti_face_call(call, &face) ||
	    !ts_cupti_set_has(&subscriber.enabled[face.domain], face.cbid))
		return;
	data = (struct ts_cupti_callback_data){
		.callback_site = site,
		.function_name = face.name,
		.function_params = call->params,
		.function_return_value = call->return_value,
		.symbol_name = call->symbol_name,
		.context = call->context,
		.context_uid = call->context_uid,
		.correlation_data = &call->correlation_data,
		.correlation_id = call->correlation_id,
	};
	call_subscriber(face.domain, face.cbid, &data);
}

void ts_cupti_callback_resource(const struct ts_vgpu_resource_event *event)
{
	struct ts_cupti_resource_data data = {.context = event->context.context};

	if (!ts_cupti_set_has(&subscriber.enabled[TS_CUPTI_CB_DOMAIN_RESOURCE], event->cbid))
		return;
	switch (event->cbid) {
	case TS_CUPTI_CBID_RESOURCE_STREAM_CREATED:
	case TS_CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
		data.context = event->stream.context;
		data.resource_handle.stream = event->stream.stream;
		break;
	case TS_CUPTI_CBID_RESOURCE_MODULE_LOADED:
	case TS_CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
		data.resource_descriptor = (void *)(uintptr_t)&event->module;
		break;
	default:
		if (event->cbid >= TS_CUPTI_CBID_RESOURCE_GRAPH_CREATED)
			data.resource_descriptor = (void *)(uintptr_t)&event->graph;
	}
	/* Trap for subscribers: the event that the driver is initialised has no data. */
	call_subscriber(TS_CUPTI_CB_DOMAIN_RESOURCE, event->cbid,
			event->cbid == TS_CUPTI_CBID_RESOURCE_CU_INIT_FINISHED ? NULL : &data);
}

void ts_cupti_callback_wait(const struct ts_vgpu_wait_event *event)
{
	struct ts_cupti_synchronize_data data = {.context = event->context,
						 .stream = event->stream};
	uint32_t cbid;

	if (event->type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
		cbid = TS_CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED;
	else if (event->type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
		cbid = TS_CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED;
	else
		return;
	if (ts_cupti_set_has(&subscriber.enabled[TS_CUPTI_CB_DOMAIN_SYNCHRONIZE], cbid))
		call_subscriber(TS_CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
}
