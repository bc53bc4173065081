// SPDX-License-Identifier: Apache-2.0
/*
 * Calls of the callback API that may change whether the sink is needed: subscribe and unsubscribe
 * (callback.c), then update the attachment (attach.c). Clients call this file through api.h.
 */
#include <string.h>

#include "tools/vgpu/cupti/api.h"
#include "tools/vgpu/cupti/cupti-internal.h"

static uint32_t subscribe(void **ret_subscriber, ts_cupti_callback_fn callback, void *userdata,
			  struct ts_cupti_subscriber_params *params)
{
	uint32_t result;

	if (!ret_subscriber || !callback)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	result = ts_cupti_subscriber_put(callback, userdata, params);
	if (result)
		return ts_cupti_result(result);

	result = ts_cupti_update_attachment();
	if (result) {
		ts_cupti_subscriber_clear();
		return ts_cupti_result(result);
	}
	*ret_subscriber = ts_cupti_subscriber();
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiSubscribe(void **ret_subscriber, ts_cupti_callback_fn callback, void *userdata)
{
	return subscribe(ret_subscriber, callback, userdata, NULL);
}

uint32_t cuptiSubscribe_v2(void **ret_subscriber, ts_cupti_callback_fn callback, void *userdata,
			   struct ts_cupti_subscriber_params *params)
{
	if (!params || params->struct_size < sizeof(*params))
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (params->subscriber_name &&
	    strlen(params->subscriber_name) > TS_CUPTI_SUBSCRIBER_NAME_MAX_LEN)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (params->old_subscriber_name &&
	    params->old_subscriber_size < TS_CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	return subscribe(ret_subscriber, callback, userdata, params);
}

uint32_t cuptiUnsubscribe(void *handle)
{
	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	if (!ts_cupti_is_subscriber(handle))
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_cupti_unsubscribe_all();
	return ts_cupti_result(ts_cupti_update_attachment());
}
