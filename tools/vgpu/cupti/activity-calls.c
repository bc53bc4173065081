// SPDX-License-Identifier: Apache-2.0
/*
 * Calls of the activity API that may change whether the sink is needed. These calls switch kinds
 * and calls (kinds.c) and flush buffers (cupti-buffer.c), then update the attachment (attach.c).
 * Clients call this file through api.h.
 */
#include "tools/vgpu/cupti/api.h"
#include "tools/vgpu/cupti/cupti-internal.h"

static uint32_t switched(uint32_t result)
{
	return result ? result : ts_cupti_update_attachment();
}

uint32_t cuptiActivityEnable(uint32_t kind)
{
	return ts_cupti_result(switched(ts_cupti_switch_kind(kind, true)));
}

uint32_t cuptiActivityDisable(uint32_t kind)
{
	return ts_cupti_result(switched(ts_cupti_switch_kind(kind, false)));
}

uint32_t cuptiActivityEnableAndDump(uint32_t kind)
{
	uint32_t result = switched(ts_cupti_switch_kind(kind, true));

	if (result || !ts_cupti_buffers_registered())
		return ts_cupti_result(result);
	if (kind == TS_CUPTI_ACTIVITY_KIND_DEVICE)
		ts_cupti_record_devices();
	else if (kind == TS_CUPTI_ACTIVITY_KIND_CONTEXT)
		ts_cupti_record_contexts();
	else if (kind == TS_CUPTI_ACTIVITY_KIND_STREAM)
		ts_cupti_record_streams();
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivityEnableContext(void *context, uint32_t kind)
{
	return ts_cupti_result(switched(ts_cupti_switch_context(context, kind, true)));
}

uint32_t cuptiActivityDisableContext(void *context, uint32_t kind)
{
	return ts_cupti_result(switched(ts_cupti_switch_context(context, kind, false)));
}

uint32_t cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	return ts_cupti_result(
		switched(ts_cupti_switch_api(TS_CUPTI_CB_DOMAIN_RUNTIME_API, cbid, enable)));
}

uint32_t cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
	return ts_cupti_result(
		switched(ts_cupti_switch_api(TS_CUPTI_CB_DOMAIN_DRIVER_API, cbid, enable)));
}

uint32_t cuptiActivityFlushAll(uint32_t flags)
{
	uint32_t result;

	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	result = ts_cupti_buffers_flush(flags & TS_CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	/* The flush may have delivered the last pending record that kept the sink attached. */
	if (!result && !ts_cupti_subscribed() && !ts_cupti_any_kind_enabled())
		result = ts_cupti_update_attachment();
	return ts_cupti_result(result);
}

uint32_t cuptiActivityFlush(void *context, uint32_t stream_id, uint32_t flags)
{
	return cuptiActivityFlushAll(
		flags); /* buffers belong to no context, as in CUPTI since 6.0 */
}
