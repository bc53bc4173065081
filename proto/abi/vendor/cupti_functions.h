/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of CUPTI that the shim calls and that the virtual GPU serves, each with its
 * arguments: X(name, arguments). Each function returns CUPTI's result code.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_activity.h"

#define TS_CUPTI_FUNCTIONS(X)                                                                      \
	X(cuptiGetVersion, (uint32_t * version))                                                   \
	X(cuptiGetTimestamp, (uint64_t * timestamp))                                               \
	X(cuptiGetResultString, (uint32_t result, const char **str))                               \
	X(cuptiGetErrorMessage, (uint32_t result, const char **str))                               \
	X(cuptiGetLastError, (void))                                                               \
	X(cuptiGetContextId, (void *context, uint32_t *context_id))                                \
	X(cuptiGetDeviceId, (void *context, uint32_t *device_id))                                  \
	X(cuptiGetStreamId, (void *context, void *stream, uint32_t *stream_id))                    \
	X(cuptiGetStreamIdEx,                                                                      \
	  (void *context, void *stream, uint8_t per_thread, uint32_t *stream_id))                  \
	X(cuptiGetGraphId, (void *graph, uint32_t *id))                                            \
	X(cuptiGetGraphExecId, (void *graph_exec, uint32_t *id))                                   \
	X(cuptiGetGraphNodeId, (void *node, uint64_t *id))                                         \
	X(cuptiGetThreadIdType, (uint32_t * type))                                                 \
	X(cuptiSetThreadIdType, (uint32_t type))                                                   \
	X(cuptiFinalize, (void))                                                                   \
	X(cuptiSubscribe, (void **subscriber, ts_cupti_callback_fn callback, void *userdata))      \
	X(cuptiSubscribe_v2, (void **subscriber, ts_cupti_callback_fn callback, void *userdata,    \
			      struct ts_cupti_subscriber_params *params))                          \
	X(cuptiUnsubscribe, (void *subscriber))                                                    \
	X(cuptiEnableCallback,                                                                     \
	  (uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid))                     \
	X(cuptiEnableDomain, (uint32_t enable, void *subscriber, uint32_t domain))                 \
	X(cuptiEnableAllDomains, (uint32_t enable, void *subscriber))                              \
	X(cuptiGetCallbackState,                                                                   \
	  (uint32_t * enable, void *subscriber, uint32_t domain, uint32_t cbid))                   \
	X(cuptiGetCallbackName, (uint32_t domain, uint32_t cbid, const char **name))               \
	X(cuptiSupportedDomains, (size_t * n_domains, uint32_t * *domains))                        \
	X(cuptiActivityEnable, (uint32_t kind))                                                    \
	X(cuptiActivityEnableAndDump, (uint32_t kind))                                             \
	X(cuptiActivityDisable, (uint32_t kind))                                                   \
	X(cuptiActivityEnableContext, (void *context, uint32_t kind))                              \
	X(cuptiActivityDisableContext, (void *context, uint32_t kind))                             \
	X(cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t enable))                          \
	X(cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t enable))                           \
	X(cuptiActivityEnableLatencyTimestamps, (uint8_t enable))                                  \
	X(cuptiActivityEnableAllSyncRecords, (uint8_t enable))                                     \
	X(cuptiActivityGetAttribute, (uint32_t attribute, size_t * value_size, void *value))       \
	X(cuptiActivitySetAttribute, (uint32_t attribute, size_t * value_size, void *value))       \
	X(cuptiActivityPushExternalCorrelationId, (uint32_t kind, uint64_t id))                    \
	X(cuptiActivityPopExternalCorrelationId, (uint32_t kind, uint64_t * last_id))              \
	X(cuptiActivityRegisterTimestampCallback, (ts_cupti_timestamp_fn callback))                \
	X(cuptiActivityRegisterCallbacks, (ts_cupti_buffer_requested_fn buffer_requested,          \
					   ts_cupti_buffer_completed_fn buffer_completed))         \
	X(cuptiActivityGetNextRecord,                                                              \
	  (uint8_t * buffer, size_t valid_size, struct ts_cupti_activity * *record))               \
	X(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream_id, size_t *dropped)) \
	X(cuptiActivityFlushAll, (uint32_t flags))                                                 \
	X(cuptiActivityFlush, (void *context, uint32_t stream_id, uint32_t flags))                 \
	X(cuptiActivityFlushPeriod, (uint32_t period_ms))

#define TS_CUPTI_TYPE_(name, arguments) typedef uint32_t name##_fn arguments;
TS_CUPTI_FUNCTIONS(TS_CUPTI_TYPE_)
#undef TS_CUPTI_TYPE_
