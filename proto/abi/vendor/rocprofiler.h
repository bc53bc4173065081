/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of AMD's rocprofiler-sdk (librocprofiler-sdk.so) that TraceSmith uses: a tool that
 * receives finished kernels and copies with their times. The facts are from the headers of 0.4.0
 * (ROCm 6.2), 0.5.0 (6.3) and 1.0.0 (7); test/unit/vendor/hip-facts.txt names each source. AMD's
 * ROCPROFILER_X is TS_ROCPROFILER_X, rocprofiler_x_t is struct ts_rocprofiler_x. Contexts, buffers,
 * threads and agents are handles of 64 bits.
 *
 * The life of a tool:
 *
 *	librocprofiler-register passes the first table to rocprofiler_set_api_table()
 *	  -> rocprofiler_configure() of each tool: returns a struct ts_rocprofiler_tool_result
 *	  -> its initialize(): makes contexts, buffers and services, and starts the contexts
 *	work ends -> a record in the buffer -> the buffer's callback, on a thread of the SDK
 *	exit()    -> its finalize()
 *
 * The SDK finds the tools in ROCP_TOOL_LIBRARIES, and all loaded libraries with
 * rocprofiler_configure(), if one of them is in the global scope. A tool's priority is its place in
 * that order: tools often return NULL if it is not 0.
 *
 * Times are nanoseconds of rocprofiler_get_timestamp(), CLOCK_BOOTTIME.
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define TS_ROCPROFILER_SUCCESS 0 /* results of all functions; other values are errors */

/* rocprofiler_is_initialized(): before 0, during -1, after the tools' initialize() 1. */
#define TS_ROCPROFILER_NOT_INITIALIZED 0

enum ts_rocprofiler_buffer_category {
	TS_ROCPROFILER_BUFFER_CATEGORY_TRACING = 1,
	TS_ROCPROFILER_BUFFER_CATEGORY_PC_SAMPLING = 2,
	TS_ROCPROFILER_BUFFER_CATEGORY_COUNTERS = 3,
};

/* Kinds beyond 11 differ between releases. */
enum ts_rocprofiler_buffer_tracing_kind {
	TS_ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API = 5,
	TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY = 10,
	TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH = 11,
};

enum ts_rocprofiler_callback_tracing_kind {
	TS_ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT = 10,
};

enum ts_rocprofiler_code_object_operation {
	TS_ROCPROFILER_CODE_OBJECT_LOAD = 1,
	TS_ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER = 2,
};

enum ts_rocprofiler_callback_phase {
	TS_ROCPROFILER_CALLBACK_PHASE_LOAD = 1,
	TS_ROCPROFILER_CALLBACK_PHASE_UNLOAD = 2,
};

enum ts_rocprofiler_memory_copy_operation {
	TS_ROCPROFILER_MEMORY_COPY_HOST_TO_HOST = 1,
	TS_ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE = 2,
	TS_ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST = 3,
	TS_ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE = 4,
};

enum ts_rocprofiler_kernel_dispatch_operation {
	TS_ROCPROFILER_KERNEL_DISPATCH_COMPLETE = 2,
};

/* LOSSLESS: who adds to a full buffer waits for the buffer's callback. */
enum ts_rocprofiler_buffer_policy {
	TS_ROCPROFILER_BUFFER_POLICY_DISCARD = 1,
	TS_ROCPROFILER_BUFFER_POLICY_LOSSLESS = 2,
};

/* For which records the SDK asks a tool for its own id. */
enum ts_rocprofiler_external_correlation_request {
	TS_ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY = 10,
	TS_ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH = 11,
};

/* Libraries that make threads: rocprofiler_at_internal_thread_create(). */
#define TS_ROCPROFILER_LIBRARY (1u << 0)

/* The name that TS_ROCPROFILER_CONFIGURE receives; the tool may set its name. */
struct ts_rocprofiler_client_id {
	size_t size;
	const char *name;
	uint32_t handle;
};

struct ts_rocprofiler_tool_result {
	size_t size;
	/* Returns 0, or another value to give up. It must not call HIP. */
	int (*initialize)(void (*finalize)(struct ts_rocprofiler_client_id client), void *data);
	void (*finalize)(void *data);
	void *data;
};

/* version: 10000 * major + 100 * minor + patch. NULL: the tool stands aside. */
typedef struct ts_rocprofiler_tool_result *(*ts_rocprofiler_configure)(
	uint32_t version, const char *version_text, uint32_t priority,
	struct ts_rocprofiler_client_id *client);

/* An id of the SDK, and one of the tool. */
struct ts_rocprofiler_correlation {
	uint64_t internal;
	uint64_t external;
};

/* The buffer's callback receives an array of pointers to these. */
struct ts_rocprofiler_record_header {
	uint32_t category; /* enum ts_rocprofiler_buffer_category */
	uint32_t kind;	   /* enum ts_rocprofiler_buffer_tracing_kind */
	void *payload;
};

typedef void (*ts_rocprofiler_buffer_callback)(uint64_t context, uint64_t buffer,
					       struct ts_rocprofiler_record_header **headers,
					       size_t n_headers, void *data, uint64_t n_dropped);

/* The head of every record of a finished operation. */
struct ts_rocprofiler_record {
	uint64_t size; /* bytes of the record, which newer releases append to */
	uint32_t kind;
	uint32_t operation;
	struct ts_rocprofiler_correlation correlation;
	uint64_t thread_id; /* gettid() of the thread that submitted the operation */
	uint64_t start_ns;
	uint64_t end_ns;
};

struct ts_rocprofiler_dispatch_record {
	struct ts_rocprofiler_record
		record; /* operation: TS_ROCPROFILER_KERNEL_DISPATCH_COMPLETE */
	struct {
		uint64_t size; /* without the reserved bytes */
		uint64_t agent;
		uint64_t queue;
		uint64_t kernel_id; /* of a kernel symbol */
		uint64_t dispatch_id;
		uint32_t private_segment_bytes;
		uint32_t group_segment_bytes; /* LDS, static and dynamic */
		uint32_t workgroup[3];
		uint32_t grid[3]; /* in work items */
		uint8_t reserved[56];
	} info;
};

struct ts_rocprofiler_copy_record {
	struct ts_rocprofiler_record
		record; /* operation: enum ts_rocprofiler_memory_copy_operation */
	uint64_t dst_agent;
	uint64_t src_agent;
	uint64_t bytes;
	/* since 1.0.0 */
	uint64_t dst_address;
	uint64_t src_address;
};

#define TS_ROCPROFILER_COPY_RECORD_BYTES_0_4 \
	offsetof(struct ts_rocprofiler_copy_record, dst_address)

/* Passed by value to the callbacks of callback tracing. Since 1.0.0 with the ancestor's id. */
struct ts_rocprofiler_callback_record_0_4 {
	uint64_t context;
	uint64_t thread_id;
	struct ts_rocprofiler_correlation correlation;
	uint32_t kind; /* enum ts_rocprofiler_callback_tracing_kind */
	uint32_t operation;
	uint32_t phase;
	void *payload;
};

struct ts_rocprofiler_callback_record {
	uint64_t context;
	uint64_t thread_id;
	struct ts_rocprofiler_correlation correlation;
	uint64_t ancestor;
	uint32_t kind;
	uint32_t operation;
	uint32_t phase;
	void *payload;
};

typedef void (*ts_rocprofiler_callback)(struct ts_rocprofiler_callback_record record,
					uint64_t *user_data, void *data);

/* Payload of TS_ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER: its first words. */
struct ts_rocprofiler_kernel_symbol {
	uint64_t size;
	uint64_t kernel_id;
	uint64_t code_object_id;
	const char *kernel_name; /* mangled, with ".kd" */
};

/*
 * Called on the thread that submits the operation, inside the application's call. 0: *ret_external
 * is the tool's id.
 */
typedef int (*ts_rocprofiler_external_callback)(uint64_t thread_id, uint64_t context, uint32_t kind,
						uint32_t operation, uint64_t internal,
						uint64_t *ret_external, void *data);

/*
 * X(name, arguments): the functions of librocprofiler-sdk that a tool calls. All return a result,
 * TS_ROCPROFILER_SUCCESS or an error, and exist since 0.4.0.
 */
#define TS_ROCPROFILER_FUNCTIONS(X)                                                          \
	X(rocprofiler_is_initialized, (int *ret_status))                                     \
	X(rocprofiler_get_timestamp, (uint64_t * ret_time))                                  \
	X(rocprofiler_at_internal_thread_create,                                             \
	  (void (*before)(int library, void *data), void (*after)(int library, void *data),  \
	   int libraries, void *data))                                                       \
	X(rocprofiler_create_context, (uint64_t * context))                                  \
	X(rocprofiler_create_buffer,                                                         \
	  (uint64_t context, size_t n_bytes, size_t watermark, uint32_t policy,              \
	   ts_rocprofiler_buffer_callback callback, void *data, uint64_t *buffer))           \
	X(rocprofiler_create_callback_thread, (uint64_t * ret_thread))                       \
	X(rocprofiler_assign_callback_thread, (uint64_t buffer, uint64_t thread))            \
	X(rocprofiler_configure_buffer_tracing_service,                                      \
	  (uint64_t context, uint32_t kind, const uint32_t *operations, size_t n_operations, \
	   uint64_t buffer))                                                                 \
	X(rocprofiler_configure_callback_tracing_service,                                    \
	  (uint64_t context, uint32_t kind, const uint32_t *operations, size_t n_operations, \
	   ts_rocprofiler_callback callback, void *data))                                    \
	X(rocprofiler_configure_external_correlation_id_request_service,                     \
	  (uint64_t context, const uint32_t *kinds, size_t n_kinds,                          \
	   ts_rocprofiler_external_callback callback, void *data))                           \
	X(rocprofiler_start_context, (uint64_t context))                                     \
	X(rocprofiler_flush_buffer, (uint64_t buffer))

/* For librocprofiler-register. 0 is success. */
typedef int (*ts_rocprofiler_set_api_table)(const char *name, uint64_t version, uint64_t instance,
					    void **tables, uint64_t n_tables);

static_assert(sizeof(struct ts_rocprofiler_record_header) == 16, "");
static_assert(sizeof(struct ts_rocprofiler_record) == 56, "");
static_assert(sizeof(struct ts_rocprofiler_dispatch_record) == 184, "");
static_assert(sizeof(struct ts_rocprofiler_copy_record) == 96, "");
static_assert(TS_ROCPROFILER_COPY_RECORD_BYTES_0_4 == 80, "");
static_assert(sizeof(struct ts_rocprofiler_callback_record_0_4) == 56, "");
static_assert(sizeof(struct ts_rocprofiler_callback_record) == 64, "");
static_assert(sizeof(struct ts_rocprofiler_client_id) == 24, "");
static_assert(sizeof(struct ts_rocprofiler_tool_result) == 32, "");
