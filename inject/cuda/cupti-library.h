/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's functions, found in the process or beside it, loaded and resolved. One build serves CUPTI
 * 11 to 13. A function that the loaded version lacks is NULL.
 */
#pragma once

#include "inject/config.h"
#include "proto/abi/session.h"
#include "proto/abi/vendor/cuda_driver_types.h"
#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_family.h"
#include "proto/abi/vendor/cupti_functions.h"

/* X(name) */
#define TS_CUPTI_REQUIRED(X)                 \
	X(cuptiGetVersion)                   \
	X(cuptiSubscribe)                    \
	X(cuptiUnsubscribe)                  \
	X(cuptiEnableCallback)               \
	X(cuptiActivityEnable)               \
	X(cuptiActivityDisable)              \
	X(cuptiActivityRegisterCallbacks)    \
	X(cuptiActivityGetNextRecord)        \
	X(cuptiActivityGetNumDroppedRecords) \
	X(cuptiActivityFlushAll)             \
	X(cuptiGetTimestamp)

#define TS_CUPTI_OPTIONAL(X)                      \
	X(cuptiSubscribe_v2)                      \
	X(cuptiActivityRegisterTimestampCallback) \
	X(cuptiActivitySetAttribute)              \
	X(cuptiActivityGetAttribute)              \
	X(cuptiActivityEnableAndDump)             \
	X(cuptiSetThreadIdType)                   \
	X(cuptiGetThreadIdType)                   \
	X(cuptiGetResultString)                   \
	X(cuptiGetContextId)                      \
	X(cuptiGetDeviceId)                       \
	X(cuptiGetStreamIdEx)                     \
	X(cuptiGetGraphExecId)

struct ts_cupti {
#define TS_CUPTI_MEMBER_(name) name##_fn *name;
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
	cuDriverGetVersion_fn *driver_get_version;
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
