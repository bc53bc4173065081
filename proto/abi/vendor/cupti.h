/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUPTI that TraceSmith uses, in the project's own words: result codes, domains,
 * callback arguments, attributes. Records are in cupti_activity.h and callback ids in cupti_cbid.h.
 * The arguments that callbacks point to are in cuda_driver_params.h and cuda_runtime_params.h,
 * which the build generates. The reading rules are those of cuda_driver.h: the vendor's CUPTI_X is
 * TS_CUPTI_X here. Values and layouts are those of CUPTI 13.0, tested against its headers. If CUPTI
 * 11 and 12 differ, the comment names the version that added the part.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The number of cuptiGetVersion. It ascended by 1 until CUDA 12 (13 is CUDA 11.0, 18 is 11.8, 19 is
 * 12.0, 26 is 12.8). Since then it is major, minor, update: 130001 is 13.0 update 1, and 130000 is
 * the release before it.
 */
#define TS_CUPTI_API_VERSION	       130001
#define TS_CUPTI_API_VERSION_CUDA_11_0 13
#define TS_CUPTI_API_VERSION_CUDA_11_6 17
#define TS_CUPTI_API_VERSION_CUDA_12_0 19
#define TS_CUPTI_API_VERSION_CUDA_13_0 130000

/* Result codes: X(suffix of TS_CUPTI_, value). The vendor's name is CUPTI_ and the suffix. */
#define TS_CUPTI_RESULTS(X)                                        \
	X(SUCCESS, 0)                                              \
	X(ERROR_INVALID_PARAMETER, 1)                              \
	X(ERROR_INVALID_DEVICE, 2)                                 \
	X(ERROR_INVALID_CONTEXT, 3)                                \
	X(ERROR_INVALID_EVENT_DOMAIN_ID, 4)                        \
	X(ERROR_INVALID_EVENT_ID, 5)                               \
	X(ERROR_INVALID_EVENT_NAME, 6)                             \
	X(ERROR_INVALID_OPERATION, 7)                              \
	X(ERROR_OUT_OF_MEMORY, 8)                                  \
	X(ERROR_HARDWARE, 9)                                       \
	X(ERROR_PARAMETER_SIZE_NOT_SUFFICIENT, 10)                 \
	X(ERROR_API_NOT_IMPLEMENTED, 11)                           \
	X(ERROR_MAX_LIMIT_REACHED, 12)                             \
	X(ERROR_NOT_READY, 13)                                     \
	X(ERROR_NOT_COMPATIBLE, 14)                                \
	X(ERROR_NOT_INITIALIZED, 15)                               \
	X(ERROR_INVALID_METRIC_ID, 16)                             \
	X(ERROR_INVALID_METRIC_NAME, 17)                           \
	X(ERROR_QUEUE_EMPTY, 18)                                   \
	X(ERROR_INVALID_HANDLE, 19)                                \
	X(ERROR_INVALID_STREAM, 20)                                \
	X(ERROR_INVALID_KIND, 21)                                  \
	X(ERROR_INVALID_EVENT_VALUE, 22)                           \
	X(ERROR_DISABLED, 23)                                      \
	X(ERROR_INVALID_MODULE, 24)                                \
	X(ERROR_INVALID_METRIC_VALUE, 25)                          \
	X(ERROR_HARDWARE_BUSY, 26)                                 \
	X(ERROR_NOT_SUPPORTED, 27)                                 \
	X(ERROR_UM_PROFILING_NOT_SUPPORTED, 28)                    \
	X(ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE, 29)          \
	X(ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES, 30) \
	X(ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS, 31)           \
	X(ERROR_CDP_TRACING_NOT_SUPPORTED, 32)                     \
	X(ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, 33)              \
	X(ERROR_CUDA_COMPILER_NOT_COMPATIBLE, 34)                  \
	X(ERROR_INSUFFICIENT_PRIVILEGES, 35)                       \
	X(ERROR_OLD_PROFILER_API_INITIALIZED, 36)                  \
	X(ERROR_OPENACC_UNDEFINED_ROUTINE, 37)                     \
	X(ERROR_LEGACY_PROFILER_NOT_SUPPORTED, 38)                 \
	X(ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39)            \
	X(ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40)    \
	X(ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, 41)          \
	X(ERROR_CMP_DEVICE_NOT_SUPPORTED, 42)                      \
	X(ERROR_MIG_DEVICE_NOT_SUPPORTED, 43)                      \
	X(ERROR_SLI_DEVICE_NOT_SUPPORTED, 44)                      \
	X(ERROR_WSL_DEVICE_NOT_SUPPORTED, 45)                      \
	X(ERROR_INVALID_CHIP_NAME, 46)                             \
	X(ERROR_UNKNOWN, 999)

enum ts_cupti_result {
#define TS_CUPTI_RESULT_(suffix, value) TS_CUPTI_##suffix = value,
	TS_CUPTI_RESULTS(TS_CUPTI_RESULT_)
#undef TS_CUPTI_RESULT_
};

/* Side of the call at which a callback runs. */
enum ts_cupti_api_site {
	TS_CUPTI_API_ENTER = 0,
	TS_CUPTI_API_EXIT = 1,
};

/* Subject of a callback. */
enum ts_cupti_domain {
	TS_CUPTI_CB_DOMAIN_INVALID = 0,
	TS_CUPTI_CB_DOMAIN_DRIVER_API = 1,
	TS_CUPTI_CB_DOMAIN_RUNTIME_API = 2,
	TS_CUPTI_CB_DOMAIN_RESOURCE = 3,
	TS_CUPTI_CB_DOMAIN_SYNCHRONIZE = 4,
	TS_CUPTI_CB_DOMAIN_NVTX = 5,
	TS_CUPTI_CB_DOMAIN_STATE = 6,
};

/* Callback ids of the resource domain. */
enum ts_cupti_cbid_resource {
	TS_CUPTI_CBID_RESOURCE_INVALID = 0,
	TS_CUPTI_CBID_RESOURCE_CONTEXT_CREATED = 1,
	TS_CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING = 2,
	TS_CUPTI_CBID_RESOURCE_STREAM_CREATED = 3,
	TS_CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING = 4,
	TS_CUPTI_CBID_RESOURCE_CU_INIT_FINISHED = 5,
	TS_CUPTI_CBID_RESOURCE_MODULE_LOADED = 6,
	TS_CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING = 7,
	TS_CUPTI_CBID_RESOURCE_MODULE_PROFILED = 8,
	TS_CUPTI_CBID_RESOURCE_GRAPH_CREATED = 9,
	TS_CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING = 10,
	TS_CUPTI_CBID_RESOURCE_GRAPH_CLONED = 11,
	TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING = 12,
	TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED = 13,
	TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING = 14,
	TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED = 15,
	TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING = 16,
	TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING = 17,
	TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED = 18,
	TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING = 19,
	TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED = 20,
	TS_CUPTI_CBID_RESOURCE_STREAM_ATTRIBUTE_CHANGED = 21,
	TS_CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED = 22,
	TS_CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS = 23,
};

/* Callback ids of the synchronize domain. */
enum ts_cupti_cbid_synchronize {
	TS_CUPTI_CBID_SYNCHRONIZE_INVALID = 0,
	TS_CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED = 1,
	TS_CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED = 2,
};

/* Callback ids of the state domain. */
enum ts_cupti_cbid_state {
	TS_CUPTI_CBID_STATE_INVALID = 0,
	TS_CUPTI_CBID_STATE_FATAL_ERROR = 1,
	TS_CUPTI_CBID_STATE_ERROR = 2,
	TS_CUPTI_CBID_STATE_WARNING = 3,
};

/* A subscriber's callback: its userdata, the domain, the callback id, and that domain's data. */
typedef void (*ts_cupti_callback_fn)(void *userdata, uint32_t domain, uint32_t cbid,
				     const void *data);

/*
 * Data of a callback in the driver and runtime domains. `context` can change between enter and
 * exit, because the runtime makes contexts lazily.
 */
struct ts_cupti_callback_data {
	uint32_t callback_site;
	const char *function_name;
	const void *function_params;
	void *function_return_value;
	const char *symbol_name;
	void *context;
	uint32_t context_uid;
	uint64_t *correlation_data;
	uint32_t correlation_id;
};

/*
 * Data of a callback in the resource domain. The callback id determines the type behind
 * resource_descriptor.
 */
struct ts_cupti_resource_data {
	void *context;
	union {
		void *stream;
	} resource_handle;
	void *resource_descriptor;
};

/*
 * resource_descriptor of the module ids: the loaded image, readable only during the callback.
 */
struct ts_cupti_module_data {
	uint32_t module_id;
	size_t cubin_size;
	const char *cubin;
};

/* resource_descriptor of the graph ids. */
struct ts_cupti_graph_data {
	void *graph;
	void *original_graph;
	void *node;
	void *original_node;
	int32_t node_type;
	void *dependency;
	void *graph_exec;
};

/* Synchronize domain. */
struct ts_cupti_synchronize_data {
	void *context;
	void *stream;
};

/* State domain. */
struct ts_cupti_state_data {
	uint32_t result;
	const char *message;
};

/*
 * cuptiSubscribe_v2, since CUDA 13.0: name of the new subscriber, and a buffer for the name of the
 * current one.
 */
struct ts_cupti_subscriber_params {
	size_t struct_size;
	const char *subscriber_name;
	char *old_subscriber_name;
	size_t old_subscriber_size;
};

#define TS_CUPTI_SUBSCRIBER_NAME_MAX_LEN     53
#define TS_CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN 64

/* cuptiActivityGetAttribute and cuptiActivitySetAttribute. */
enum ts_cupti_activity_attribute {
	TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE = 0,
	TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP = 1,
	TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT = 2,
	TS_CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE = 3,
	TS_CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT = 4,
	TS_CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER = 5,
	TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE = 6,
	TS_CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE = 7,
	TS_CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED = 8,
	TS_CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER = 9,
	TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS = 10,
};

/*
 * Callbacks of the activity API: request a buffer, return a full buffer, read the time (since CUDA
 * 11.6).
 */
typedef void (*ts_cupti_buffer_requested_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*ts_cupti_buffer_completed_fn)(void *context, uint32_t stream_id, uint8_t *buffer,
					     size_t size, size_t valid_size);
typedef uint64_t (*ts_cupti_timestamp_fn)(void);

/* Type of thread ids in records: pthread_self() cut to 32 bits, or the kernel's id. */
enum ts_cupti_thread_id_type {
	TS_CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT = 0,
	TS_CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM = 1,
};
