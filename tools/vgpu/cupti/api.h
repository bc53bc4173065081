/* SPDX-License-Identifier: Apache-2.0 */
/* The supported functions of libcupti.so.13, with CUPTI's names and TraceSmith's types. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_activity.h"

#define TS_CUPTI_EXPORT __attribute__((visibility("default")))

TS_CUPTI_EXPORT uint32_t cuptiGetVersion(uint32_t *version);
TS_CUPTI_EXPORT uint32_t cuptiGetTimestamp(uint64_t *timestamp);
TS_CUPTI_EXPORT uint32_t cuptiGetResultString(uint32_t result, const char **str);
TS_CUPTI_EXPORT uint32_t cuptiGetErrorMessage(uint32_t result, const char **str);
TS_CUPTI_EXPORT uint32_t cuptiGetLastError(void);
TS_CUPTI_EXPORT uint32_t cuptiGetContextId(void *context, uint32_t *context_id);
TS_CUPTI_EXPORT uint32_t cuptiGetDeviceId(void *context, uint32_t *device_id);
TS_CUPTI_EXPORT uint32_t cuptiGetStreamId(void *context, void *stream, uint32_t *stream_id);
TS_CUPTI_EXPORT uint32_t cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread,
					    uint32_t *stream_id);
TS_CUPTI_EXPORT uint32_t cuptiGetGraphId(void *graph, uint32_t *id);
TS_CUPTI_EXPORT uint32_t cuptiGetGraphExecId(void *graph_exec, uint32_t *id);
TS_CUPTI_EXPORT uint32_t cuptiGetGraphNodeId(void *node, uint64_t *id);
TS_CUPTI_EXPORT uint32_t cuptiGetThreadIdType(uint32_t *type);
TS_CUPTI_EXPORT uint32_t cuptiSetThreadIdType(uint32_t type);
TS_CUPTI_EXPORT uint32_t cuptiFinalize(void);

TS_CUPTI_EXPORT uint32_t cuptiSubscribe(void **subscriber, ts_cupti_callback_fn callback,
					void *userdata);
TS_CUPTI_EXPORT uint32_t cuptiSubscribe_v2(void **subscriber, ts_cupti_callback_fn callback,
					   void *userdata,
					   struct ts_cupti_subscriber_params *params);
TS_CUPTI_EXPORT uint32_t cuptiUnsubscribe(void *subscriber);
TS_CUPTI_EXPORT uint32_t cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain,
					     uint32_t cbid);
TS_CUPTI_EXPORT uint32_t cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain);
TS_CUPTI_EXPORT uint32_t cuptiEnableAllDomains(uint32_t enable, void *subscriber);
TS_CUPTI_EXPORT uint32_t cuptiGetCallbackState(uint32_t *enable, void *subscriber, uint32_t domain,
					       uint32_t cbid);
TS_CUPTI_EXPORT uint32_t cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name);
TS_CUPTI_EXPORT uint32_t cuptiSupportedDomains(size_t *n_domains, uint32_t **domains);

TS_CUPTI_EXPORT uint32_t cuptiActivityEnable(uint32_t kind);
TS_CUPTI_EXPORT uint32_t cuptiActivityEnableAndDump(uint32_t kind);
TS_CUPTI_EXPORT uint32_t cuptiActivityDisable(uint32_t kind);
TS_CUPTI_EXPORT uint32_t cuptiActivityEnableContext(void *context, uint32_t kind);
TS_CUPTI_EXPORT uint32_t cuptiActivityDisableContext(void *context, uint32_t kind);
TS_CUPTI_EXPORT uint32_t cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
TS_CUPTI_EXPORT uint32_t cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
TS_CUPTI_EXPORT uint32_t cuptiActivityEnableLatencyTimestamps(uint8_t enable);
TS_CUPTI_EXPORT uint32_t cuptiActivityEnableAllSyncRecords(uint8_t enable);
TS_CUPTI_EXPORT uint32_t cuptiActivityGetAttribute(uint32_t attribute, size_t *value_size,
						   void *value);
TS_CUPTI_EXPORT uint32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *value_size,
						   void *value);
TS_CUPTI_EXPORT uint32_t cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id);
TS_CUPTI_EXPORT uint32_t cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last_id);
TS_CUPTI_EXPORT uint32_t cuptiActivityRegisterTimestampCallback(ts_cupti_timestamp_fn callback);

TS_CUPTI_EXPORT uint32_t
cuptiActivityRegisterCallbacks(ts_cupti_buffer_requested_fn buffer_requested,
			       ts_cupti_buffer_completed_fn buffer_completed);
TS_CUPTI_EXPORT uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_size,
						    struct ts_cupti_activity **record);
TS_CUPTI_EXPORT uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream_id,
							   size_t *dropped);
TS_CUPTI_EXPORT uint32_t cuptiActivityFlushAll(uint32_t flags);
TS_CUPTI_EXPORT uint32_t cuptiActivityFlush(void *context, uint32_t stream_id, uint32_t flags);
TS_CUPTI_EXPORT uint32_t cuptiActivityFlushPeriod(uint32_t period_ms);
