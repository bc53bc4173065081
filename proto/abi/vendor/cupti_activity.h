/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's activity records, in the project's own words.
 *
 * There is one structure per kind: the newest one (CUDA 13.0). It fits every CUPTI since CUDA 11.0,
 * because these records only grew at their end or turned padding into fields. No field ever moved
 * (test/unit/vendor asserts it against the older layouts that the vendor still declares). Each
 * structure's comment names its additions and their API versions. ts_cupti_record_bytes() below
 * returns the length of a record's kind in a given version; a field that ends beyond this length
 * must not be read. If padding became a field later, older versions have zero or garbage there; the
 * same comments name the first version with a valid value.
 *
 * Iterate over buffers only with cuptiActivityGetNextRecord, because later versions will grow
 * records again. Records are 8-byte aligned and packed. No structure here has a hole, so no
 * attribute is needed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cupti.h"

/* Kinds of record. */
enum ts_cupti_activity_kind {
	TS_CUPTI_ACTIVITY_KIND_INVALID = 0,
	TS_CUPTI_ACTIVITY_KIND_MEMCPY = 1,
	TS_CUPTI_ACTIVITY_KIND_MEMSET = 2,
	TS_CUPTI_ACTIVITY_KIND_KERNEL = 3,
	TS_CUPTI_ACTIVITY_KIND_DRIVER = 4,
	TS_CUPTI_ACTIVITY_KIND_RUNTIME = 5,
	TS_CUPTI_ACTIVITY_KIND_EVENT = 6,
	TS_CUPTI_ACTIVITY_KIND_METRIC = 7,
	TS_CUPTI_ACTIVITY_KIND_DEVICE = 8,
	TS_CUPTI_ACTIVITY_KIND_CONTEXT = 9,
	TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10,
	TS_CUPTI_ACTIVITY_KIND_NAME = 11,
	TS_CUPTI_ACTIVITY_KIND_MARKER = 12,
	TS_CUPTI_ACTIVITY_KIND_MARKER_DATA = 13,
	TS_CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR = 14,
	TS_CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS = 15,
	TS_CUPTI_ACTIVITY_KIND_BRANCH = 16,
	TS_CUPTI_ACTIVITY_KIND_OVERHEAD = 17,
	TS_CUPTI_ACTIVITY_KIND_CDP_KERNEL = 18,
	TS_CUPTI_ACTIVITY_KIND_PREEMPTION = 19,
	TS_CUPTI_ACTIVITY_KIND_ENVIRONMENT = 20,
	TS_CUPTI_ACTIVITY_KIND_EVENT_INSTANCE = 21,
	TS_CUPTI_ACTIVITY_KIND_MEMCPY2 = 22,
	TS_CUPTI_ACTIVITY_KIND_METRIC_INSTANCE = 23,
	TS_CUPTI_ACTIVITY_KIND_INSTRUCTION_EXECUTION = 24,
	TS_CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER = 25,
	TS_CUPTI_ACTIVITY_KIND_FUNCTION = 26,
	TS_CUPTI_ACTIVITY_KIND_MODULE = 27,
	TS_CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE = 28,
	TS_CUPTI_ACTIVITY_KIND_SHARED_ACCESS = 29,
	TS_CUPTI_ACTIVITY_KIND_PC_SAMPLING = 30,
	TS_CUPTI_ACTIVITY_KIND_PC_SAMPLING_RECORD_INFO = 31,
	TS_CUPTI_ACTIVITY_KIND_INSTRUCTION_CORRELATION = 32,
	TS_CUPTI_ACTIVITY_KIND_OPENACC_DATA = 33,
	TS_CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH = 34,
	TS_CUPTI_ACTIVITY_KIND_OPENACC_OTHER = 35,
	TS_CUPTI_ACTIVITY_KIND_CUDA_EVENT = 36,
	TS_CUPTI_ACTIVITY_KIND_STREAM = 37,
	TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION = 38,
	TS_CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 39,
	TS_CUPTI_ACTIVITY_KIND_NVLINK = 40,
	TS_CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT = 41,
	TS_CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT_INSTANCE = 42,
	TS_CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC = 43,
	TS_CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC_INSTANCE = 44,
	TS_CUPTI_ACTIVITY_KIND_MEMORY = 45,
	TS_CUPTI_ACTIVITY_KIND_PCIE = 46,
	TS_CUPTI_ACTIVITY_KIND_OPENMP = 47,
	TS_CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API = 48,
	TS_CUPTI_ACTIVITY_KIND_MEMORY2 = 49,
	TS_CUPTI_ACTIVITY_KIND_MEMORY_POOL = 50,
	TS_CUPTI_ACTIVITY_KIND_GRAPH_TRACE = 51,
	TS_CUPTI_ACTIVITY_KIND_JIT = 52,
	TS_CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE = 53,
	TS_CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS = 54,
	TS_CUPTI_ACTIVITY_KIND_CONFIDENTIAL_COMPUTE_ROTATION = 55,
};

/* Kind of an object id in an overhead record. */
enum ts_cupti_activity_object_kind {
	TS_CUPTI_ACTIVITY_OBJECT_UNKNOWN = 0,
	TS_CUPTI_ACTIVITY_OBJECT_PROCESS = 1,
	TS_CUPTI_ACTIVITY_OBJECT_THREAD = 2,
	TS_CUPTI_ACTIVITY_OBJECT_DEVICE = 3,
	TS_CUPTI_ACTIVITY_OBJECT_CONTEXT = 4,
	TS_CUPTI_ACTIVITY_OBJECT_STREAM = 5,
};

/* Cause of the time in an overhead record. */
enum ts_cupti_activity_overhead_kind {
	TS_CUPTI_ACTIVITY_OVERHEAD_UNKNOWN = 0,
	TS_CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER = 1,
	TS_CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH = 0x10000,
	TS_CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION = 0x20000,
	TS_CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE = 0x30000,
	TS_CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING = 0x40000,
	TS_CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING = 0x50000,
	TS_CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL = 0x60000,
	TS_CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST = 0x70000,
	TS_CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT = 0x80000,
};

enum ts_cupti_activity_compute_api {
	TS_CUPTI_ACTIVITY_COMPUTE_API_UNKNOWN = 0,
	TS_CUPTI_ACTIVITY_COMPUTE_API_CUDA = 1,
	TS_CUPTI_ACTIVITY_COMPUTE_API_CUDA_MPS = 2,
};

/* Flags; the meaning of a bit depends on the kind. */
enum ts_cupti_activity_flag {
	TS_CUPTI_ACTIVITY_FLAG_NONE = 0,
	TS_CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS = 1,
	TS_CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC = 1,
	TS_CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE = 1,
	TS_CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1,
	TS_CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC = 1,
};

/* Direction of a finished copy. */
enum ts_cupti_activity_memcpy_kind {
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN = 0,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD = 1,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH = 2,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOA = 3,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_ATOH = 4,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_ATOA = 5,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_ATOD = 6,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOA = 7,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOD = 8,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOH = 9,
	TS_CUPTI_ACTIVITY_MEMCPY_KIND_PTOP = 10,
};

/* Kind of memory at either end. */
enum ts_cupti_activity_memory_kind {
	TS_CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN = 0,
	TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE = 1,
	TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED = 2,
	TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE = 3,
	TS_CUPTI_ACTIVITY_MEMORY_KIND_ARRAY = 4,
	TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED = 5,
	TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC = 6,
	TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC = 7,
};

/* Object of the wait in a synchronization record. */
enum ts_cupti_activity_synchronization_type {
	TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN = 0,
	TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE = 1,
	TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT = 2,
	TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE = 3,
	TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE = 4,
};

enum ts_cupti_activity_stream_flag {
	TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN = 0,
	TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT = 1,
	TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING = 2,
	TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL = 3,
	TS_CUPTI_ACTIVITY_STREAM_CREATE_MASK = 0xffff,
};

/* MEMORY2 records. */
enum ts_cupti_activity_memory_operation {
	TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID = 0,
	TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION = 1,
	TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE = 2,
};

enum ts_cupti_activity_memory_pool_type {
	TS_CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID = 0,
	TS_CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL = 1,
	TS_CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED = 2,
};

/* The hardware channel that carried an operation. */
enum ts_cupti_channel_type {
	TS_CUPTI_CHANNEL_TYPE_INVALID = 0,
	TS_CUPTI_CHANNEL_TYPE_COMPUTE = 1,
	TS_CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY = 2,
	TS_CUPTI_CHANNEL_TYPE_DECOMP = 3,
};

enum ts_cupti_activity_launch_type {
	TS_CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR = 0,
	TS_CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE = 1,
	TS_CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE = 2,
	TS_CUPTI_ACTIVITY_LAUNCH_TYPE_CBL_COMMANDLIST = 3,
};

enum ts_cupti_activity_shmem_limit {
	TS_CUPTI_FUNC_SHMEM_LIMIT_DEFAULT = 0,
	TS_CUPTI_FUNC_SHMEM_LIMIT_OPTIN = 1,
};

enum ts_cupti_activity_cache_config {
	TS_CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_UNKNOWN = 0,
	TS_CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_NOT_SUPPORTED = 1,
	TS_CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_OFF = 2,
	TS_CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_ON = 3,
};

enum ts_cupti_context_cig_mode {
	TS_CUPTI_CONTEXT_CIG_MODE_NONE = 0,
	TS_CUPTI_CONTEXT_CIG_MODE_CIG = 1,
	TS_CUPTI_CONTEXT_CIG_MODE_CIG_FALLBACK = 2,
};

enum ts_cupti_external_correlation_kind {
	TS_CUPTI_EXTERNAL_CORRELATION_KIND_INVALID = 0,
	TS_CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN = 1,
	TS_CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC = 2,
	TS_CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 = 3,
	TS_CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1 = 4,
	TS_CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 = 5,
};

/* Values that mean unknown. */
#define TS_CUPTI_TIMESTAMP_UNKNOWN	       0
#define TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE 0xffffffff
#define TS_CUPTI_CORRELATION_ID_UNKNOWN	       0
#define TS_CUPTI_GRID_ID_UNKNOWN	       0

/* Head of every record, and its place in a buffer. */
struct ts_cupti_activity {
	uint32_t kind;
} __attribute__((aligned(8)));

/*
 * KERNEL and CONCURRENT_KERNEL. cache_config holds two nibbles: requested (low) and used (high).
 * name is mangled, belongs to CUPTI, and may vanish with its module. start and end are 0 if CUPTI
 * had no room to store them. Only end is 0 if a forced flush found the kernel running. Version 13
 * (CUDA 11.0): up to shmem_limit_config; graph_id was padding until 14 (11.1). 15 (11.2):
 * access_policy_window. 17 (11.6): channel_id, channel_type. 18 (11.8): cluster_*,
 * local_memory_total_v2. 19 (12.0): max_potential_cluster_size, max_active_clusters. 130000 (13.0):
 * is_device_launched.
 */
struct ts_cupti_activity_kernel {
	uint32_t kind;
	uint8_t cache_config;
	uint8_t shared_memory_config;
	uint16_t registers_per_thread;
	uint32_t partitioned_global_cache_requested;
	uint32_t partitioned_global_cache_executed;
	uint64_t start;
	uint64_t end;
	uint64_t completed;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	int32_t grid_x;
	int32_t grid_y;
	int32_t grid_z;
	int32_t block_x;
	int32_t block_y;
	int32_t block_z;
	int32_t static_shared_memory;
	int32_t dynamic_shared_memory;
	uint32_t local_memory_per_thread;
	uint32_t local_memory_total;
	uint32_t correlation_id;
	int64_t grid_id;
	const char *name;
	void *reserved0;
	uint64_t queued;
	uint64_t submitted;
	uint8_t launch_type;
	uint8_t is_shared_memory_carveout_requested;
	uint8_t shared_memory_carveout_requested;
	uint8_t padding;
	uint32_t shared_memory_executed;
	uint64_t graph_node_id;
	uint32_t shmem_limit_config;
	uint32_t graph_id;
	void *access_policy_window;
	uint32_t channel_id;
	uint32_t channel_type;
	uint32_t cluster_x;
	uint32_t cluster_y;
	uint32_t cluster_z;
	uint32_t cluster_scheduling_policy;
	uint64_t local_memory_total_v2;
	uint32_t max_potential_cluster_size;
	uint32_t max_active_clusters;
	uint8_t is_device_launched;
	uint8_t padding3[7];
};

/*
 * MEMCPY: a copy within one context. flags: TS_CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC. 14 (CUDA 11.1):
 * graph_id. 17 (11.6): channel_id, channel_type. 26 (12.8): is_device_launched (padding before),
 * copy_count.
 */
struct ts_cupti_activity_memcpy {
	uint32_t kind;
	uint8_t copy_kind;
	uint8_t src_kind;
	uint8_t dst_kind;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t correlation_id;
	uint32_t runtime_correlation_id;
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node_id;
	uint32_t graph_id;
	uint32_t channel_id;
	uint32_t channel_type;
	uint8_t is_device_launched;
	uint8_t pad2[3];
	uint64_t copy_count;
};

/*
 * MEMCPY2: a copy between two devices.
 * 14 (CUDA 11.1): graph_id. 17 (11.6): channel_id, channel_type.
 */
struct ts_cupti_activity_memcpy_ptop {
	uint32_t kind;
	uint8_t copy_kind;
	uint8_t src_kind;
	uint8_t dst_kind;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t src_device_id;
	uint32_t src_context_id;
	uint32_t dst_device_id;
	uint32_t dst_context_id;
	uint32_t correlation_id;
	void *reserved0;
	uint64_t graph_node_id;
	uint32_t graph_id;
	uint32_t channel_id;
	uint32_t channel_type;
};

/*
 * MEMSET. flags: TS_CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC. 14 (CUDA 11.1): graph_id. 17 (11.6):
 * channel_id, channel_type; is_device_launched was padding at first.
 */
struct ts_cupti_activity_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t correlation_id;
	uint16_t flags;
	uint16_t memory_kind;
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node_id;
	uint32_t graph_id;
	uint32_t channel_id;
	uint32_t channel_type;
	uint8_t is_device_launched;
	uint8_t pad2[3];
};

/*
 * SYNCHRONIZATION: the duration of a wait in a call. stream_id and cuda_event_id are
 * TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE if the wait was for neither.
 *
 * 26 (CUDA 12.8): cuda_event_sync_id, return_value.
 */
struct ts_cupti_activity_synchronization {
	uint32_t kind;
	uint32_t type;
	uint64_t start;
	uint64_t end;
	uint32_t correlation_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t cuda_event_id;
	uint64_t cuda_event_sync_id;
	uint32_t return_value;
	uint32_t pad;
};

/*
 * MEMORY2: one record for an allocation and one for its release; stream-ordered ones have is_async
 * set. In the pool, size is valid for a local pool and process_id for an imported pool. The kind
 * exists since 15 (CUDA 11.2). 18 (11.8) has memory_pool_config.utilized_size, 24 (12.6) source.
 */
struct ts_cupti_activity_memory {
	uint32_t kind;
	uint32_t memory_operation_type;
	uint32_t memory_kind;
	uint32_t correlation_id;
	uint64_t address;
	uint64_t bytes;
	uint64_t timestamp;
	uint64_t pc;
	uint32_t process_id;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	const char *name;
	uint32_t is_async;
	uint32_t pad1;
	struct {
		uint32_t memory_pool_type;
		uint32_t pad2;
		uint64_t address;
		uint64_t release_threshold;
		union {
			uint64_t size;
			uint64_t process_id;
		} pool;
		uint64_t utilized_size;
	} memory_pool_config;
	const char *source;
};

/*
 * DRIVER and RUNTIME: one call. cupti_cbid.h lists the values of cbid. cuptiSetThreadIdType()
 * determines the kind of number in thread_id: pthread_self(), or the kernel's id.
 */
struct ts_cupti_activity_api {
	uint32_t kind;
	uint32_t cbid;
	uint64_t start;
	uint64_t end;
	uint32_t process_id;
	uint32_t thread_id;
	uint32_t correlation_id;
	uint32_t return_value;
};

/* A process and thread, or a device, context and stream. */
union ts_cupti_activity_object_id {
	struct {
		uint32_t process_id;
		uint32_t thread_id;
	} pt;
	struct {
		uint32_t device_id;
		uint32_t context_id;
		uint32_t stream_id;
	} dcs;
};

/*
 * OVERHEAD: time spent by the tracing itself, or by lazy loading.
 *
 * 20 (CUDA 12.2): correlation_id. 22 (12.4): overhead_data.
 */
struct ts_cupti_activity_overhead {
	uint32_t kind;
	uint32_t overhead_kind;
	uint32_t object_kind;
	union ts_cupti_activity_object_id object_id;
	uint64_t start;
	uint64_t end;
	uint32_t correlation_id;
	uint32_t reserved0;
	void *overhead_data;
};

/*
 * DEVICE. Sizes in bytes, rates in kHz, bandwidth in kB/s. CUPTI owns name.
 *
 * 17 (CUDA 11.6): is_mig_enabled (padding before) to mig_uuid. 13.0 has is_numa_node, numa_id.
 */
struct ts_cupti_activity_device {
	uint32_t kind;
	uint32_t flags;
	uint64_t global_memory_bandwidth;
	uint64_t global_memory_size;
	uint32_t constant_memory_size;
	uint32_t l2_cache_size;
	uint32_t num_threads_per_warp;
	uint32_t core_clock_rate;
	uint32_t num_memcpy_engines;
	uint32_t num_multiprocessors;
	uint32_t max_ipc;
	uint32_t max_warps_per_multiprocessor;
	uint32_t max_blocks_per_multiprocessor;
	uint32_t max_shared_memory_per_multiprocessor;
	uint32_t max_registers_per_multiprocessor;
	uint32_t max_registers_per_block;
	uint32_t max_shared_memory_per_block;
	uint32_t max_threads_per_block;
	uint32_t max_block_dim_x;
	uint32_t max_block_dim_y;
	uint32_t max_block_dim_z;
	uint32_t max_grid_dim_x;
	uint32_t max_grid_dim_y;
	uint32_t max_grid_dim_z;
	uint32_t compute_capability_major;
	uint32_t compute_capability_minor;
	uint32_t id;
	uint32_t ecc_enabled;
	struct ts_cu_uuid uuid;
	const char *name;
	uint8_t is_cuda_visible;
	uint8_t is_mig_enabled;
	uint8_t reserved[6];
	uint32_t gpu_instance_id;
	uint32_t compute_instance_id;
	struct ts_cu_uuid mig_uuid;
	uint32_t is_numa_node;
	uint32_t numa_id;
};

/*
 * CONTEXT. null_stream_id is the id of the context's default stream in records.
 *
 * 22 (CUDA 12.4): parent_context_id to num_multiprocessors. 13.0 has cig_mode.
 */
struct ts_cupti_activity_context {
	uint32_t kind;
	uint32_t context_id;
	uint32_t device_id;
	uint16_t compute_api_kind;
	uint16_t null_stream_id;
	uint32_t parent_context_id;
	uint8_t is_green_context;
	uint8_t padding;
	uint16_t num_multiprocessors;
	uint32_t cig_mode;
	uint32_t padding2;
};

/*
 * STREAM.
 */
struct ts_cupti_activity_stream {
	uint32_t kind;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t priority;
	uint32_t flag;
	uint32_t correlation_id;
};

/*
 * EXTERNAL_CORRELATION: the pushed id at the time of the call with this correlation id. It precedes
 * the call's own record.
 */
struct ts_cupti_activity_external_correlation {
	uint32_t kind;
	uint32_t external_kind;
	uint64_t external_id;
	uint32_t correlation_id;
	uint32_t reserved;
};

/*
 * GRAPH_TRACE: one launch of a whole graph, instead of its nodes. Exists since 17 (CUDA 11.7 at the
 * latest). 22 (12.4): end_device_id, end_context_id.
 */
struct ts_cupti_activity_graph_trace {
	uint32_t kind;
	uint32_t correlation_id;
	uint64_t start;
	uint64_t end;
	uint32_t device_id;
	uint32_t graph_id;
	uint32_t context_id;
	uint32_t stream_id;
	void *reserved;
	uint32_t end_device_id;
	uint32_t end_context_id;
};

/*
 * CUDA_EVENT. 26 (CUDA 12.8): device_id to cuda_event_sync_id.
 */
struct ts_cupti_activity_cuda_event {
	uint32_t kind;
	uint32_t correlation_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t event_id;
	uint32_t pad;
	uint32_t device_id;
	uint32_t pad2;
	void *reserved0;
	uint64_t device_timestamp;
	uint64_t cuda_event_sync_id;
};

/*
 * Layouts: X(kind, since API version, bytes, the vendor's name), oldest first within a kind. If the
 * vendor's notes do not name the version, the table has the later candidate. At worst, a field is
 * not read although it exists.
 */
#define TS_CUPTI_RECORD_LAYOUTS(X)                                         \
	X(CONCURRENT_KERNEL, 13, 160, CUpti_ActivityKernel5)               \
	X(CONCURRENT_KERNEL, 15, 168, CUpti_ActivityKernel6)               \
	X(CONCURRENT_KERNEL, 17, 176, CUpti_ActivityKernel7)               \
	X(CONCURRENT_KERNEL, 18, 200, CUpti_ActivityKernel8)               \
	X(CONCURRENT_KERNEL, 19, 208, CUpti_ActivityKernel9)               \
	X(CONCURRENT_KERNEL, 130000, 216, CUpti_ActivityKernel10)          \
	X(MEMCPY, 13, 72, CUpti_ActivityMemcpy3)                           \
	X(MEMCPY, 14, 80, CUpti_ActivityMemcpy4)                           \
	X(MEMCPY, 17, 88, CUpti_ActivityMemcpy5)                           \
	X(MEMCPY, 26, 96, CUpti_ActivityMemcpy6)                           \
	X(MEMCPY2, 13, 80, CUpti_ActivityMemcpyPtoP2)                      \
	X(MEMCPY2, 14, 88, CUpti_ActivityMemcpyPtoP3)                      \
	X(MEMCPY2, 17, 96, CUpti_ActivityMemcpyPtoP4)                      \
	X(MEMSET, 13, 72, CUpti_ActivityMemset2)                           \
	X(MEMSET, 14, 80, CUpti_ActivityMemset3)                           \
	X(MEMSET, 17, 88, CUpti_ActivityMemset4)                           \
	X(SYNCHRONIZATION, 13, 40, CUpti_ActivitySynchronization)          \
	X(SYNCHRONIZATION, 26, 56, CUpti_ActivitySynchronization2)         \
	X(MEMORY2, 15, 112, CUpti_ActivityMemory2)                         \
	X(MEMORY2, 18, 120, CUpti_ActivityMemory3)                         \
	X(MEMORY2, 24, 128, CUpti_ActivityMemory4)                         \
	X(OVERHEAD, 13, 40, CUpti_ActivityOverhead)                        \
	X(OVERHEAD, 20, 48, CUpti_ActivityOverhead2)                       \
	X(OVERHEAD, 22, 56, CUpti_ActivityOverhead3)                       \
	X(DEVICE, 13, 152, CUpti_ActivityDevice3)                          \
	X(DEVICE, 17, 176, CUpti_ActivityDevice4)                          \
	X(DEVICE, 130000, 184, CUpti_ActivityDevice5)                      \
	X(CONTEXT, 13, 16, CUpti_ActivityContext)                          \
	X(CONTEXT, 22, 24, CUpti_ActivityContext2)                         \
	X(CONTEXT, 130000, 32, CUpti_ActivityContext3)                     \
	X(STREAM, 13, 24, CUpti_ActivityStream)                            \
	X(EXTERNAL_CORRELATION, 13, 24, CUpti_ActivityExternalCorrelation) \
	X(GRAPH_TRACE, 17, 48, CUpti_ActivityGraphTrace)                   \
	X(GRAPH_TRACE, 22, 56, CUpti_ActivityGraphTrace2)                  \
	X(CUDA_EVENT, 13, 24, CUpti_ActivityCudaEvent)                     \
	X(CUDA_EVENT, 26, 56, CUpti_ActivityCudaEvent2)                    \
	X(RUNTIME, 13, 40, CUpti_ActivityAPI)

/*
 * Returns the bytes of a record of this kind that CUPTI fills in this API version; 0: the kind is
 * not listed above, or this version does not have it.
 */
static inline size_t ts_cupti_record_bytes(uint32_t kind, uint32_t api_version)
{
	size_t n_bytes = 0;

	if (kind == TS_CUPTI_ACTIVITY_KIND_KERNEL)
		kind = TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	else if (kind == TS_CUPTI_ACTIVITY_KIND_DRIVER)
		kind = TS_CUPTI_ACTIVITY_KIND_RUNTIME;
#define TS_CUPTI_LAYOUT_(k, since, bytes, vendor)                       \
	if (kind == TS_CUPTI_ACTIVITY_KIND_##k && api_version >= since) \
		n_bytes = bytes;
	TS_CUPTI_RECORD_LAYOUTS(TS_CUPTI_LAYOUT_)
#undef TS_CUPTI_LAYOUT_
	return n_bytes;
}

/* Returns whether a record of n_bytes has this field. */
#define ts_cupti_record_has(type, field, n_bytes) \
	(offsetof(struct type, field) + sizeof(((struct type *)0)->field) <= (n_bytes))
