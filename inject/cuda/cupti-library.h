/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's functions, found in the process or beside it, loaded and resolved. One build serves CUPTI
 * 11 to 13. A function that the loaded version lacks is NULL.
 */
#pragma once

#include "inject/config.h"
#include "proto/abi/session.h"
#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_family.h"

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
	 * 1: the shim is the subscriber and may call CUPTI. ts_cupti_subscribe() sets it. The flush
	 * thread clears it when it gives CUPTI up; the STATE callback clears it when CUPTI ends
	 * itself. Release, paired with the acquire in ts_cupti_is_ours().
	 */
	uint32_t held;
	const struct ts_pti_vendor *vendor; /* of the library; never NULL after loading */
	uint32_t version;		    /* cuptiGetVersion() */
	uint32_t layout_version;	    /* CUPTI's version with the layouts of the records */
	uint32_t driver_version;
	enum ts_clock clock; /* of activity records */
	/*
	 * If the clock is TS_CLOCK_MONOTONIC: time in CUPTI's records minus CLOCK_MONOTONIC, in ns.
	 */
	uint64_t clock_ahead;
	/*
	 * The only function of the runtime that the shim calls at level `timing`, and its callback
	 * id. May be NULL; the id may be 0.
	 */
	int (*driver_get_version)(int *);
	uint32_t probe_domain, probe_cbid;
	/* Settings from before the subscription; restored when CUPTI is given up. */
	uint32_t thread_id_type;
	uint8_t zeroed_out;
	char path[PATH_MAX];
};

static inline bool ts_cupti_is_ours(const struct ts_cupti *cupti)
{
	return __atomic_load_n(&cupti->held, __ATOMIC_ACQUIRE);
}

/*
 * Finds and loads CUPTI. The order: the copy in the process, beside libcudart or libcuda, the
 * loader's path, $TRACESMITH_CUPTI, the toolkit of $CUDA_HOME, /usr/local/cuda. Returns
 * TS_EMPTY_NONE. On failure returns NO_CUPTI or CUPTI_TOO_OLD, and writes a message for the user to
 * ret_text.
 */
enum ts_empty_reason ts_cupti_load(struct ts_cupti *cupti, const struct ts_config *config,
				   char *ret_text, size_t n_text_bytes);

/*
 * Gets the path of the process's library whose file name begins with `name`, which has PATH_MAX
 * bytes. Returns false if there is none.
 */
bool ts_cupti_find_mapped(const char *name, char *ret_path);

/*
 * Resolves the functions from a loaded library. Returns the name of a missing required function, or
 * NULL.
 */
const char *ts_cupti_resolve(struct ts_cupti *cupti, void *library);

/*
 * Subscribes to CUPTI. Returns TS_EMPTY_NONE. Returns CUPTI_HELD if another tool holds CUPTI;
 * ret_text holds the tool's name if CUPTI reports it. Returns CUPTI_ERROR on other errors.
 */
enum ts_empty_reason ts_cupti_subscribe(struct ts_cupti *cupti, ts_cupti_callback_fn callback,
					void *userdata, char *ret_text, size_t n_text_bytes);

/*
 * Returns the process's library with CUPTI's names, for dlsym(): CUPTI, or another vendor's that
 * has them too. NULL: there is none. The caller closes it by dlclose().
 */
void *ts_cupti_mapped(void);

/* Returns CUPTI's text for a result code; never NULL. */
const char *ts_cupti_result(const struct ts_cupti *cupti, uint32_t result);
