/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI as the shim reaches it: found in the process or beside it, loaded, and its functions resolved. One build
 * serves CUPTI 11 to 13; what a version lacks is a NULL here.
 */
#pragma once

#include "inject/config.h"
#include "proto/abi/session.h"
#include "proto/abi/vendor/cupti.h"

/* X(name, arguments). Each returns CUPTI's result code. */
#define TS_CUPTI_REQUIRED(X)                                                                      \
	X(cuptiGetVersion, (uint32_t * ret_version))                                              \
	X(cuptiSubscribe, (void **ret_subscriber, ts_cupti_callback_fn callback, void *userdata)) \
	X(cuptiUnsubscribe, (void *subscriber))                                                   \
	X(cuptiEnableCallback,                                                                    \
	  (uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid))                    \
	X(cuptiActivityEnable, (uint32_t kind))                                                   \
	X(cuptiActivityDisable, (uint32_t kind))                                                  \
	X(cuptiActivityRegisterCallbacks,                                                         \
	  (ts_cupti_buffer_requested_fn requested, ts_cupti_buffer_completed_fn completed))       \
	X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid_bytes, void **record))      \
	X(cuptiActivityGetNumDroppedRecords,                                                      \
	  (void *context, uint32_t stream_id, size_t *ret_dropped))                               \
	X(cuptiActivityFlushAll, (uint32_t flags))                                                \
	X(cuptiGetTimestamp, (uint64_t * ret_time))

#define TS_CUPTI_OPTIONAL(X)                                                                       \
	X(cuptiSubscribe_v2, (void **ret_subscriber, ts_cupti_callback_fn callback,                \
			      void *userdata, struct ts_cupti_subscriber_params *params))          \
	X(cuptiActivityRegisterTimestampCallback, (ts_cupti_timestamp_fn now))                     \
	X(cuptiActivitySetAttribute, (uint32_t attribute, size_t * value_bytes, void *value))      \
	X(cuptiActivityGetAttribute, (uint32_t attribute, size_t * value_bytes, void *value))      \
	X(cuptiActivityEnableAndDump, (uint32_t kind))                                             \
	X(cuptiSetThreadIdType, (uint32_t type))                                                   \
	X(cuptiGetThreadIdType, (uint32_t * ret_type))                                             \
	X(cuptiGetResultString, (uint32_t result, const char **ret_string))                        \
	X(cuptiGetContextId, (void *context, uint32_t *ret_id))                                    \
	X(cuptiGetDeviceId, (void *context, uint32_t *ret_id))                                     \
	X(cuptiGetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *ret_id)) \
	X(cuptiGetGraphExecId, (void *graph_exec, uint32_t *ret_id))

struct ts_cupti {
#define TS_CUPTI_MEMBER_(name, arguments) uint32_t(*name) arguments;
	TS_CUPTI_REQUIRED(TS_CUPTI_MEMBER_)
	TS_CUPTI_OPTIONAL(TS_CUPTI_MEMBER_)
#undef TS_CUPTI_MEMBER_
	void *subscriber;
	/*
	 * 1: ours to call. Set with the subscription; cleared by the flush thread when it gives CUPTI up, or by CUPTI
	 * itself when it ends. Release, paired with acquire.
	 */
	uint32_t held;
	uint32_t version; /* cuptiGetVersion() */
	uint32_t driver_version;
	enum ts_clock clock; /* of activity records */
	uint64_t
		clock_ahead; /* where that is MONOTONIC: by so much are the records' times ahead of it */
	int (*driver_get_version)(
		int *); /* the one call of CUDA's that is ever made; may be NULL */
	/* What was set when CUPTI became ours, to be set again when it is given up. */
	uint32_t thread_id_type;
	uint8_t zeroed_out;
	char path[PATH_MAX];
};

static inline bool ts_cupti_is_ours(const struct ts_cupti *cupti)
{
	return __atomic_load_n(&cupti->held, __ATOMIC_ACQUIRE);
}

/*
 * Finds and loads it: what the process has already, then beside its libcudart or libcuda, then by the
 * loader's path, then $TRACESMITH_CUPTI, then in the toolkit of $CUDA_HOME and in /usr/local/cuda. Returns TS_EMPTY_NONE; else NO_CUPTI or CUPTI_TOO_OLD,
 * with the text that says it to a person.
 */
enum ts_empty_reason ts_cupti_load(struct ts_cupti *cupti, const struct ts_config *config,
				   char *ret_text, size_t n_text_bytes);

/* Resolves the functions from a loaded library. Returns the name of a required one that it lacks, or NULL. */
const char *ts_cupti_resolve(struct ts_cupti *cupti, void *library);

/*
 * Becomes the subscriber. Returns TS_EMPTY_NONE; CUPTI_HELD where another tool is, its name in the
 * text where CUPTI tells it; or CUPTI_ERROR.
 */
enum ts_empty_reason ts_cupti_subscribe(struct ts_cupti *cupti, ts_cupti_callback_fn callback,
					void *userdata, char *ret_text, size_t n_text_bytes);

/* The copy that the process has mapped, for dlsym(); NULL where there is none. The caller closes it by dlclose(). */
void *ts_cupti_mapped(void);

/* CUPTI's text for a result code; never NULL. */
const char *ts_cupti_result(const struct ts_cupti *cupti, uint32_t result);
