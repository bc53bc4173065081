/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library like CUPTI for test-family.c: the functions that a vendor has, with its prefix, and the
 * names of some calls. PREFIX, and IS_MCPTI, IS_MUPTI or IS_MSPTI, choose the vendor. The
 * functions do nothing.
 */
#include <stdint.h>
#include <string.h>

#include "proto/abi/vendor/cupti.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define EXPORT(name, ...)                                                                \
	__attribute__((visibility("default"))) uint32_t JOIN(PREFIX, name)(__VA_ARGS__); \
	uint32_t JOIN(PREFIX, name)(__VA_ARGS__)

EXPORT(Subscribe, void **ret_subscriber, ts_cupti_callback_fn callback, void *userdata)
{
	return 0;
}

EXPORT(Unsubscribe, void *subscriber)
{
	return 0;
}

EXPORT(EnableCallback, uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid)
{
	return 0;
}

#ifndef IS_BARE
EXPORT(ActivityEnable, uint32_t kind)
{
	return 0;
}
#endif

EXPORT(ActivityDisable, uint32_t kind)
{
	return 0;
}

EXPORT(ActivityRegisterCallbacks, ts_cupti_buffer_requested_fn requested,
       ts_cupti_buffer_completed_fn completed)
{
	return 0;
}

EXPORT(ActivityGetNextRecord, uint8_t *buffer, size_t valid_bytes, void **record)
{
	return 0;
}

EXPORT(ActivityFlushAll, uint32_t flags)
{
	return 0;
}

#ifndef IS_MSPTI
EXPORT(GetVersion, uint32_t *ret_version)
{
	*ret_version = 18;
	return 0;
}

EXPORT(GetTimestamp, uint64_t *ret_time)
{
	*ret_time = 4711;
	return 0;
}

EXPORT(ActivityGetNumDroppedRecords, void *context, uint32_t stream, size_t *ret_dropped)
{
	return 0;
}

EXPORT(ActivityRegisterTimestampCallback, ts_cupti_timestamp_fn now)
{
	return 0;
}

EXPORT(GetContextId, void *context, uint32_t *ret_id)
{
	return 0;
}
#endif

#ifdef IS_MCPTI
EXPORT(ActivityGetApiName, uint32_t kind, uint32_t cbid, const char **ret_name)
{
	*ret_name = cbid == 301 ? "mcStreamDestroy" : "mcOfNoOtherVendor";
	/* Behind its table, a library may find anything. */
	if (cbid > 1000)
		*ret_name = (const char *)(uintptr_t)cbid;
	return kind != 5 || (cbid != 300 && cbid != 301 && cbid <= 1000);
}
#endif

#ifdef IS_MUPTI
EXPORT(GetCallbackName, uint32_t domain, uint32_t cbid, const char **ret_name)
{
	static const struct {
		uint32_t domain, cbid;
		const char *name;
	} names[] = {
		{2, 20, "musaMalloc_v3020"},
		{2, 21, "musaOfNoOtherVendor_v3020"},
		{2, 211, "musaLaunchKernel_v7000"},
		{1, 7, "muLaunchKernel"},
	};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].domain == domain && names[i].cbid == cbid) {
			*ret_name = names[i].name;
			return 0;
		}
	return 1;
}
#endif
