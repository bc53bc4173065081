/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of AMD's HIP (libamdhip64) that TraceSmith uses, in the project's own words. Values and
 * layouts are those of ROCm 6.2; a comment marks each declaration that changed since 5.2. The build
 * needs no ROCm. test/unit/vendor compares hip.h with hip-facts.txt, and with HIP's headers if they
 * are installed.
 *
 * Reading rules: the vendor's hipFooBar is TS_HIP_FOO_BAR here. Handles (context, stream, event,
 * module, function, array, graph, ...) and device pointers are void *, devices int32_t, hipError_t
 * and all enumerations int32_t. Fields keep the vendor's words in snake_case without the Hungarian
 * p/h. hip.calls lists the functions.
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/hip_values.h"

/* The runtime's version that hip.h describes: 10000000 * major + 100000 * minor. */
#define TS_HIP_VERSION 60200000

/* The soname of the library of this version. */
#define TS_HIP_SONAME "libamdhip64.so.6"

enum ts_hip_memcpy_kind {
	TS_HIP_MEMCPY_HOST_TO_HOST = 0,
	TS_HIP_MEMCPY_HOST_TO_DEVICE = 1,
	TS_HIP_MEMCPY_DEVICE_TO_HOST = 2,
	TS_HIP_MEMCPY_DEVICE_TO_DEVICE = 3,
	TS_HIP_MEMCPY_DEFAULT = 4,
	TS_HIP_MEMCPY_DEVICE_TO_DEVICE_NO_CU = 1024, /* since 6.2 */
};

/* Until 5.7. */
enum ts_hip_memory_type_5 {
	TS_HIP_MEMORY_TYPE_5_HOST = 0,
	TS_HIP_MEMORY_TYPE_5_DEVICE = 1,
	TS_HIP_MEMORY_TYPE_5_ARRAY = 2,
	TS_HIP_MEMORY_TYPE_5_UNIFIED = 3,
	TS_HIP_MEMORY_TYPE_5_MANAGED = 4,
};

/* Since 6.0. */
enum ts_hip_memory_type {
	TS_HIP_MEMORY_TYPE_UNREGISTERED = 0,
	TS_HIP_MEMORY_TYPE_HOST = 1,
	TS_HIP_MEMORY_TYPE_DEVICE = 2,
	TS_HIP_MEMORY_TYPE_MANAGED = 3,
	TS_HIP_MEMORY_TYPE_ARRAY = 10,
	TS_HIP_MEMORY_TYPE_UNIFIED = 11,
};

/* Streams that programs name without creating them. */
#define TS_HIP_STREAM_LEGACY		  ((void *)1)
#define TS_HIP_STREAM_PER_THREAD	  ((void *)2)

#define TS_HIP_STREAM_DEFAULT		  0x0u
#define TS_HIP_STREAM_NON_BLOCKING	  0x1u

#define TS_HIP_EVENT_DEFAULT		  0x0u
#define TS_HIP_EVENT_BLOCKING_SYNC	  0x1u
#define TS_HIP_EVENT_DISABLE_TIMING	  0x2u
#define TS_HIP_EVENT_INTERPROCESS	  0x4u
#define TS_HIP_EVENT_DISABLE_SYSTEM_FENCE 0x20000000u
#define TS_HIP_EVENT_RELEASE_TO_DEVICE	  0x40000000u
#define TS_HIP_EVENT_RELEASE_TO_SYSTEM	  0x80000000u

/* hipHostMalloc and hipHostAlloc have the same flags. */
#define TS_HIP_HOST_MALLOC_DEFAULT	  0x0u
#define TS_HIP_HOST_MALLOC_PORTABLE	  0x1u
#define TS_HIP_HOST_MALLOC_MAPPED	  0x2u
#define TS_HIP_HOST_MALLOC_WRITE_COMBINED 0x4u
#define TS_HIP_HOST_MALLOC_NUMA_USER	  0x20000000u
#define TS_HIP_HOST_MALLOC_COHERENT	  0x40000000u
#define TS_HIP_HOST_MALLOC_NON_COHERENT	  0x80000000u

#define TS_HIP_HOST_REGISTER_DEFAULT	  0x0u
#define TS_HIP_HOST_REGISTER_PORTABLE	  0x1u
#define TS_HIP_HOST_REGISTER_MAPPED	  0x2u
#define TS_HIP_HOST_REGISTER_IO_MEMORY	  0x4u

#define TS_HIP_MEM_ATTACH_GLOBAL	  0x1u
#define TS_HIP_MEM_ATTACH_HOST		  0x2u
#define TS_HIP_MEM_ATTACH_SINGLE	  0x4u

/* hipExtMallocWithFlags. */
#define TS_HIP_DEVICE_MALLOC_DEFAULT	     0x0u
#define TS_HIP_DEVICE_MALLOC_FINEGRAINED     0x1u
#define TS_HIP_MALLOC_SIGNAL_MEMORY	     0x2u

#define TS_HIP_DEVICE_SCHEDULE_AUTO	     0x0u
#define TS_HIP_DEVICE_SCHEDULE_SPIN	     0x1u
#define TS_HIP_DEVICE_SCHEDULE_YIELD	     0x2u
#define TS_HIP_DEVICE_SCHEDULE_BLOCKING_SYNC 0x4u
#define TS_HIP_DEVICE_SCHEDULE_MASK	     0x7u
#define TS_HIP_DEVICE_MAP_HOST		     0x8u

/* hipExtLaunchKernel and hipExtModuleLaunchKernel. */
#define TS_HIP_EXT_ANY_ORDER_LAUNCH 0x1u

enum ts_hip_stream_capture_mode {
	TS_HIP_STREAM_CAPTURE_MODE_GLOBAL = 0,
	TS_HIP_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
	TS_HIP_STREAM_CAPTURE_MODE_RELAXED = 2,
};

enum ts_hip_stream_capture_status {
	TS_HIP_STREAM_CAPTURE_STATUS_NONE = 0,
	TS_HIP_STREAM_CAPTURE_STATUS_ACTIVE = 1,
	TS_HIP_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
};

enum ts_hip_limit {
	TS_HIP_LIMIT_STACK_SIZE = 0,
	TS_HIP_LIMIT_PRINTF_FIFO_SIZE = 1,
	TS_HIP_LIMIT_MALLOC_HEAP_SIZE = 2,
};

/* hipPointerGetAttribute, hipDrvPointerGetAttributes. */
enum ts_hip_pointer_attribute {
	TS_HIP_POINTER_ATTRIBUTE_CONTEXT = 1,
	TS_HIP_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
	TS_HIP_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
	TS_HIP_POINTER_ATTRIBUTE_HOST_POINTER = 4,
	TS_HIP_POINTER_ATTRIBUTE_BUFFER_ID = 7,
	TS_HIP_POINTER_ATTRIBUTE_IS_MANAGED = 8,
	TS_HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
	TS_HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
	TS_HIP_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
	TS_HIP_POINTER_ATTRIBUTE_MAPPED = 13,
};

/* hipFuncGetAttribute. */
enum ts_hip_func_attribute {
	TS_HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
	TS_HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
	TS_HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
	TS_HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
	TS_HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
	TS_HIP_FUNC_ATTRIBUTE_PTX_VERSION = 5,
	TS_HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
	TS_HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
	TS_HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
	TS_HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
};

/* `extra` of hipModuleLaunchKernel: pairs of a key and a pointer. */
#define TS_HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define TS_HIP_LAUNCH_PARAM_BUFFER_SIZE	   ((void *)2)
#define TS_HIP_LAUNCH_PARAM_END		   ((void *)3)

enum ts_hip_mem_pool_attr {
	TS_HIP_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
	TS_HIP_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2,
	TS_HIP_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
	TS_HIP_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4,
	TS_HIP_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,
	TS_HIP_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6,
	TS_HIP_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,
	TS_HIP_MEM_POOL_ATTR_USED_MEM_HIGH = 8,
};

struct ts_hip_dim3 {
	uint32_t x;
	uint32_t y;
	uint32_t z;
};

struct ts_hip_extent {
	size_t width;
	size_t height;
	size_t depth;
};

struct ts_hip_pos {
	size_t x;
	size_t y;
	size_t z;
};

struct ts_hip_pitched_ptr {
	void *ptr;
	size_t pitch;
	size_t xsize;
	size_t ysize;
};

struct ts_hip_uuid {
	char bytes[16];
};

struct ts_hip_ipc_mem_handle {
	char reserved[64];
};

struct ts_hip_ipc_event_handle {
	char reserved[64];
};

struct ts_hip_channel_format_desc {
	int32_t x;
	int32_t y;
	int32_t z;
	int32_t w;
	int32_t f;
};

/* hipMemcpy3D. */
struct ts_hip_memcpy3d_parms {
	void *src_array;
	struct ts_hip_pos src_pos;
	struct ts_hip_pitched_ptr src_ptr;
	void *dst_array;
	struct ts_hip_pos dst_pos;
	struct ts_hip_pitched_ptr dst_ptr;
	struct ts_hip_extent extent;
	int32_t kind;
};

/* hipMemcpyParam2D. */
struct ts_hip_memcpy2d {
	size_t src_x_in_bytes;
	size_t src_y;
	int32_t src_memory_type;
	const void *src_host;
	void *src_device;
	void *src_array;
	size_t src_pitch;
	size_t dst_x_in_bytes;
	size_t dst_y;
	int32_t dst_memory_type;
	void *dst_host;
	void *dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t width_in_bytes;
	size_t height;
};

/* hipDrvMemcpy3D. Until 5.7 all sizes were 32 bits wide. */
struct ts_hip_drv_memcpy3d {
	size_t src_x_in_bytes;
	size_t src_y;
	size_t src_z;
	size_t src_lod;
	int32_t src_memory_type;
	const void *src_host;
	void *src_device;
	void *src_array;
	size_t src_pitch;
	size_t src_height;
	size_t dst_x_in_bytes;
	size_t dst_y;
	size_t dst_z;
	size_t dst_lod;
	int32_t dst_memory_type;
	void *dst_host;
	void *dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t dst_height;
	size_t width_in_bytes;
	size_t height;
	size_t depth;
};

/* hipDrvMemcpy3D until 5.7. */
struct ts_hip_drv_memcpy3d_5 {
	uint32_t src_x_in_bytes;
	uint32_t src_y;
	uint32_t src_z;
	uint32_t src_lod;
	int32_t src_memory_type;
	const void *src_host;
	void *src_device;
	void *src_array;
	uint32_t src_pitch;
	uint32_t src_height;
	uint32_t dst_x_in_bytes;
	uint32_t dst_y;
	uint32_t dst_z;
	uint32_t dst_lod;
	int32_t dst_memory_type;
	void *dst_host;
	void *dst_device;
	void *dst_array;
	uint32_t dst_pitch;
	uint32_t dst_height;
	uint32_t width_in_bytes;
	uint32_t height;
	uint32_t depth;
};

/* hipPointerGetAttributes. The layout of 5.x is the same; its memory types are not. */
struct ts_hip_pointer_attributes {
	int32_t type;
	int32_t device;
	void *device_pointer;
	void *host_pointer;
	int32_t is_managed;
	uint32_t allocation_flags;
};

struct ts_hip_func_attributes {
	int32_t binary_version;
	int32_t cache_mode_ca;
	size_t const_size_bytes;
	size_t local_size_bytes;
	int32_t max_dynamic_shared_size_bytes;
	int32_t max_threads_per_block;
	int32_t num_regs;
	int32_t preferred_shmem_carveout;
	int32_t ptx_version;
	size_t shared_size_bytes;
};

/* hipLaunchCooperativeKernelMultiDevice, hipExtLaunchMultiKernelMultiDevice. */
struct ts_hip_launch_params {
	void *func;
	struct ts_hip_dim3 grid_dim;
	struct ts_hip_dim3 block_dim;
	void **args;
	size_t shared_mem;
	void *stream;
};

/* hipModuleLaunchCooperativeKernelMultiDevice. */
struct ts_hip_function_launch_params {
	void *function;
	uint32_t grid_dim_x;
	uint32_t grid_dim_y;
	uint32_t grid_dim_z;
	uint32_t block_dim_x;
	uint32_t block_dim_y;
	uint32_t block_dim_z;
	uint32_t shared_mem_bytes;
	void *stream;
	void **kernel_params;
};

/* hipLaunchKernelExC, since 6.5. */
struct ts_hip_launch_config {
	struct ts_hip_dim3 grid_dim;
	struct ts_hip_dim3 block_dim;
	size_t dynamic_smem_bytes;
	void *stream;
	void *attrs;
	uint32_t num_attrs;
};

/* hipDrvLaunchKernelEx, since 6.5. */
struct ts_hip_drv_launch_config {
	uint32_t grid_dim_x;
	uint32_t grid_dim_y;
	uint32_t grid_dim_z;
	uint32_t block_dim_x;
	uint32_t block_dim_y;
	uint32_t block_dim_z;
	uint32_t shared_mem_bytes;
	void *stream;
	void *attrs;
	uint32_t num_attrs;
};

struct ts_hip_mem_location {
	int32_t type; /* 0: none, 1: device */
	int32_t id;
};

struct ts_hip_mem_access_desc {
	struct ts_hip_mem_location location;
	int32_t flags; /* 0: none, 1: read, 3: read and write */
};

struct ts_hip_mem_pool_props {
	int32_t alloc_type; /* 1: pinned */
	int32_t handle_types;
	struct ts_hip_mem_location location;
	void *win32_security_attributes;
	size_t max_size;
	uint8_t reserved[56];
};

struct ts_hip_mem_allocation_prop {
	int32_t type;
	int32_t requested_handle_type;
	struct ts_hip_mem_location location;
	void *win32_handle_meta_data;
	struct {
		uint8_t compression_type;
		uint8_t gpu_direct_rdma_capable;
		uint16_t usage;
	} alloc_flags;
};

struct ts_hip_kernel_node_params {
	struct ts_hip_dim3 block_dim;
	void **extra;
	void *func;
	struct ts_hip_dim3 grid_dim;
	void **kernel_params;
	uint32_t shared_mem_bytes;
};

struct ts_hip_memset_params {
	void *dst;
	uint32_t element_size;
	size_t height;
	size_t pitch;
	uint32_t value;
	size_t width;
};

struct ts_hip_host_node_params {
	void *fn;
	void *user_data;
};

struct ts_hip_mem_alloc_node_params {
	struct ts_hip_mem_pool_props pool_props;
	const struct ts_hip_mem_access_desc *access_descs;
	size_t access_desc_count;
	size_t bytesize;
	void *dptr;
};

/* hipGetDeviceProperties of programs built for 5.x. */
struct ts_hip_device_prop_r0000 {
	char name[256];
	size_t total_global_mem;
	size_t shared_mem_per_block;
	int32_t regs_per_block;
	int32_t warp_size;
	int32_t max_threads_per_block;
	int32_t max_threads_dim[3];
	int32_t max_grid_size[3];
	int32_t clock_rate;
	int32_t memory_clock_rate;
	int32_t memory_bus_width;
	size_t total_const_mem;
	int32_t major;
	int32_t minor;
	int32_t multi_processor_count;
	int32_t l2_cache_size;
	int32_t max_threads_per_multi_processor;
	int32_t compute_mode;
	int32_t clock_instruction_rate;
	uint32_t arch;
	int32_t concurrent_kernels;
	int32_t pci_domain_id;
	int32_t pci_bus_id;
	int32_t pci_device_id;
	size_t max_shared_memory_per_multi_processor;
	int32_t is_multi_gpu_board;
	int32_t can_map_host_memory;
	int32_t gcn_arch;
	char gcn_arch_name[256];
	int32_t integrated;
	int32_t cooperative_launch;
	int32_t cooperative_multi_device_launch;
	int32_t max_texture_1d_linear;
	int32_t max_texture_1d;
	int32_t max_texture_2d[2];
	int32_t max_texture_3d[3];
	uint32_t *hdp_mem_flush_cntl;
	uint32_t *hdp_reg_flush_cntl;
	size_t mem_pitch;
	size_t texture_alignment;
	size_t texture_pitch_alignment;
	int32_t kernel_exec_timeout_enabled;
	int32_t ecc_enabled;
	int32_t tcc_driver;
	int32_t cooperative_multi_device_unmatched_func;
	int32_t cooperative_multi_device_unmatched_grid_dim;
	int32_t cooperative_multi_device_unmatched_block_dim;
	int32_t cooperative_multi_device_unmatched_shared_mem;
	int32_t is_large_bar;
	int32_t asic_revision;
	int32_t managed_memory;
	int32_t direct_managed_mem_access_from_host;
	int32_t concurrent_managed_access;
	int32_t pageable_memory_access;
	int32_t pageable_memory_access_uses_host_page_tables;
};

/* hipGetDeviceProperties of programs built since 6.0. */
struct ts_hip_device_prop_r0600 {
	char name[256];
	struct ts_hip_uuid uuid;
	char luid[8];
	uint32_t luid_device_node_mask;
	size_t total_global_mem;
	size_t shared_mem_per_block;
	int32_t regs_per_block;
	int32_t warp_size;
	size_t mem_pitch;
	int32_t max_threads_per_block;
	int32_t max_threads_dim[3];
	int32_t max_grid_size[3];
	int32_t clock_rate;
	size_t total_const_mem;
	int32_t major;
	int32_t minor;
	size_t texture_alignment;
	size_t texture_pitch_alignment;
	int32_t device_overlap;
	int32_t multi_processor_count;
	int32_t kernel_exec_timeout_enabled;
	int32_t integrated;
	int32_t can_map_host_memory;
	int32_t compute_mode;
	int32_t max_texture_1d;
	int32_t max_texture_1d_mipmap;
	int32_t max_texture_1d_linear;
	int32_t max_texture_2d[2];
	int32_t max_texture_2d_mipmap[2];
	int32_t max_texture_2d_linear[3];
	int32_t max_texture_2d_gather[2];
	int32_t max_texture_3d[3];
	int32_t max_texture_3d_alt[3];
	int32_t max_texture_cubemap;
	int32_t max_texture_1d_layered[2];
	int32_t max_texture_2d_layered[3];
	int32_t max_texture_cubemap_layered[2];
	int32_t max_surface_1d;
	int32_t max_surface_2d[2];
	int32_t max_surface_3d[3];
	int32_t max_surface_1d_layered[2];
	int32_t max_surface_2d_layered[3];
	int32_t max_surface_cubemap;
	int32_t max_surface_cubemap_layered[2];
	size_t surface_alignment;
	int32_t concurrent_kernels;
	int32_t ecc_enabled;
	int32_t pci_bus_id;
	int32_t pci_device_id;
	int32_t pci_domain_id;
	int32_t tcc_driver;
	int32_t async_engine_count;
	int32_t unified_addressing;
	int32_t memory_clock_rate;
	int32_t memory_bus_width;
	int32_t l2_cache_size;
	int32_t persisting_l2_cache_max_size;
	int32_t max_threads_per_multi_processor;
	int32_t stream_priorities_supported;
	int32_t global_l1_cache_supported;
	int32_t local_l1_cache_supported;
	size_t shared_mem_per_multiprocessor;
	int32_t regs_per_multiprocessor;
	int32_t managed_memory;
	int32_t is_multi_gpu_board;
	int32_t multi_gpu_board_group_id;
	int32_t host_native_atomic_supported;
	int32_t single_to_double_precision_perf_ratio;
	int32_t pageable_memory_access;
	int32_t concurrent_managed_access;
	int32_t compute_preemption_supported;
	int32_t can_use_host_pointer_for_registered_mem;
	int32_t cooperative_launch;
	int32_t cooperative_multi_device_launch;
	size_t shared_mem_per_block_optin;
	int32_t pageable_memory_access_uses_host_page_tables;
	int32_t direct_managed_mem_access_from_host;
	int32_t max_blocks_per_multi_processor;
	int32_t access_policy_max_window_size;
	size_t reserved_shared_mem_per_block;
	int32_t host_register_supported;
	int32_t sparse_hip_array_supported;
	int32_t host_register_read_only_supported;
	int32_t timeline_semaphore_interop_supported;
	int32_t memory_pools_supported;
	int32_t gpu_direct_rdma_supported;
	uint32_t gpu_direct_rdma_flush_writes_options;
	int32_t gpu_direct_rdma_writes_ordering;
	uint32_t memory_pool_supported_handle_types;
	int32_t deferred_mapping_hip_array_supported;
	int32_t ipc_event_supported;
	int32_t cluster_launch;
	int32_t unified_function_pointers;
	int32_t reserved[63];
	int32_t hip_reserved[32];
	char gcn_arch_name[256];
	size_t max_shared_memory_per_multi_processor;
	int32_t clock_instruction_rate;
	uint32_t arch;
	uint32_t *hdp_mem_flush_cntl;
	uint32_t *hdp_reg_flush_cntl;
	int32_t cooperative_multi_device_unmatched_func;
	int32_t cooperative_multi_device_unmatched_grid_dim;
	int32_t cooperative_multi_device_unmatched_block_dim;
	int32_t cooperative_multi_device_unmatched_shared_mem;
	int32_t is_large_bar;
	int32_t asic_revision;
};

/*
 * The dispatch tables, hip_api_trace.hpp. libamdhip64 calls each exported function by one of them,
 * and gives both to rocprofiler_register_library_api_table() of librocprofiler-register (since 6.2)
 * before the first call:
 *
 *     int rocprofiler_register_library_api_table(const char *name, int (*import)(void),
 *                     uint32_t version, void **tables, uint64_t n_tables,
 *                     struct ts_hip_register_id *ret_id)
 *
 * name is TS_HIP_TABLE_NAME or TS_HIP_COMPILER_TABLE_NAME, tables[0] the table, and the version
 * 10000 * major + 100 * minor + patch. `size` bounds the table: a newer one is longer. hip.calls
 * numbers the places from its start, so slots[0] has place 1.
 */
#define TS_HIP_TABLE_NAME	   "hip"
#define TS_HIP_COMPILER_TABLE_NAME "hip_compiler"

struct ts_hip_dispatch_table {
	size_t size; /* bytes, with this field */
	void *slots[];
};

/*
 * The tracer's callback, hipRegisterTracerCallback() (version node hip_5.3). domain API: op is
 * HIP's id of the call, data a struct ts_hip_api_trace_data to fill in; 0 asks for the call. domain
 * OPS: without data it asks for the operation, 0 is yes; with data, a struct ts_hip_activity_record
 * of a finished operation.
 */
typedef int (*ts_hip_tracer_callback)(uint32_t domain, uint32_t op, void *data);

enum ts_hip_activity_domain {
	TS_HIP_ACTIVITY_DOMAIN_OPS = 2,
	TS_HIP_ACTIVITY_DOMAIN_API = 3,
};

enum ts_hip_activity_op {
	TS_HIP_ACTIVITY_OP_DISPATCH = 0,
	TS_HIP_ACTIVITY_OP_COPY = 1,
	TS_HIP_ACTIVITY_OP_BARRIER = 2,
};

/* Types of commands, those of OpenCL's CL_COMMAND_*. A set has op COPY and a FILL type. */
enum ts_hip_command {
	TS_HIP_COMMAND_NDRANGE_KERNEL = 0x11f0,
	TS_HIP_COMMAND_TASK = 0x11f1, /* a graph: one record for each kernel */
	TS_HIP_COMMAND_READ_BUFFER = 0x11f3,
	TS_HIP_COMMAND_WRITE_BUFFER = 0x11f4,
	TS_HIP_COMMAND_COPY_BUFFER = 0x11f5,
	TS_HIP_COMMAND_READ_IMAGE = 0x11f6,
	TS_HIP_COMMAND_WRITE_IMAGE = 0x11f7,
	TS_HIP_COMMAND_COPY_IMAGE = 0x11f8,
	TS_HIP_COMMAND_COPY_IMAGE_TO_BUFFER = 0x11f9,
	TS_HIP_COMMAND_COPY_BUFFER_TO_IMAGE = 0x11fa,
	TS_HIP_COMMAND_MARKER = 0x11fe,
	TS_HIP_COMMAND_READ_BUFFER_RECT = 0x1201,
	TS_HIP_COMMAND_WRITE_BUFFER_RECT = 0x1202,
	TS_HIP_COMMAND_COPY_BUFFER_RECT = 0x1203,
	TS_HIP_COMMAND_FILL_BUFFER = 0x1207,
	TS_HIP_COMMAND_FILL_IMAGE = 0x1208,
};

struct ts_hip_activity_record {
	uint32_t domain;
	uint32_t kind; /* enum ts_hip_command */
	uint32_t op;
	uint64_t correlation_id;
	uint64_t begin_ns; /* on the host, by the runtime's clock */
	uint64_t end_ns;
	int32_t device_id;
	uint64_t queue_id;
	union {
		size_t bytes;		 /* for copies and sets of buffers; else 0 */
		const char *kernel_name; /* for a dispatch; valid only inside the callback */
	};
};

/*
 * The tracer's record of a call, hip_api_trace_data_t: the id, a copy of the call's arguments as
 * long as the longest one of the release, and the phases. The runtime leaves phase_enter and
 * phase_exit uninitialized: a callback that returns 0 writes both.
 */
struct ts_hip_api_trace_data;

struct ts_hip_api_phases {
	uint64_t phase_enter_timestamp;
	uint64_t phase_data;
	void (*phase_enter)(uint32_t op, struct ts_hip_api_trace_data *data);
	void (*phase_exit)(uint32_t op, struct ts_hip_api_trace_data *data);
};

/* Offsets of the phases in 5.3 to 5.7, and since 6.0, where the longest argument grew. */
#define TS_HIP_API_PHASES_OFF_5 840
#define TS_HIP_API_PHASES_OFF_6 1520
#define TS_HIP_API_ARGS_BYTES	1504

/* The record since 6.0. */
struct ts_hip_api_trace_data {
	uint64_t correlation_id; /* written by the callback, kept in the records of the work */
	uint32_t phase;
	char args[TS_HIP_API_ARGS_BYTES] __attribute__((aligned(8)));
	struct ts_hip_api_phases phases;
};

/*
 * Since 7, data may also be this value in domain OPS: the runtime will deliver one record of the
 * operation. The result means nothing.
 */
#define TS_HIP_ACTIVITY_COMMIT ((void *)1)

/*
 * Until 5.3.0 instead, for roctracer. hipInitActivityCallback(id_callback, op_callback, arg) and
 * hipEnableActivityCallback(op, true): the runtime calls id_callback with a number of its own for
 * each command, on the thread that makes it, and op_callback with the record of the finished
 * command. There, correlation_id is that number, the record has no name of a kernel, and its bytes
 * may be 0. op is DISPATCH for kernels, else COPY, also for markers. Commands have times while a
 * callback of hipRegisterActivityCallback(id, callback, arg) exists for any call. The runtime calls
 * that at the entry of the call: a result NULL means that the call is not traced.
 */
typedef void (*ts_hip_activity_id_callback)(uint64_t record_id);
typedef void (*ts_hip_activity_op_callback)(uint32_t op, void *record, void *arg);
typedef void *(*ts_hip_activity_sync_callback)(uint32_t id, void *record, const void *data,
					       void *arg);
typedef void (*ts_hip_api_callback)(uint32_t domain, uint32_t id, const void *data, void *arg);

/* __hipRegisterFatBinary takes this wrapper. */
#define TS_HIP_FAT_BINARY_MAGIC	  0x48495046u /* "HIPF" */
#define TS_HIP_FAT_BINARY_VERSION 1u

struct ts_hip_fat_binary_wrapper {
	uint32_t magic;
	uint32_t version;
	const void *binary;
	void *unused;
};

/*
 * Its binary is a bundle: this head, then n_entries entries one after the other. Each entry is
 * followed by its id, id_bytes long and without a zero, "hipv4-amdgcn-amd-amdhsa--gfx90a" for
 * example. Offsets count from the head.
 */
#define TS_HIP_BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
/* A compressed bundle starts with this instead. */
#define TS_HIP_BUNDLE_COMPRESSED_MAGIC "CCOB"

struct ts_hip_bundle {
	char magic[24];
	uint64_t n_entries;
};

struct ts_hip_bundle_entry {
	uint64_t offset;
	uint64_t size;
	uint64_t id_bytes;
};

static_assert(sizeof(struct ts_hip_device_prop_r0000) == 792, "");
static_assert(sizeof(struct ts_hip_device_prop_r0600) == 1472, "");
static_assert(sizeof(struct ts_hip_memcpy3d_parms) == 160, "");
static_assert(sizeof(struct ts_hip_drv_memcpy3d) == 184, "");
static_assert(sizeof(struct ts_hip_pointer_attributes) == 32, "");
static_assert(sizeof(struct ts_hip_activity_record) == 64, "");
static_assert(offsetof(struct ts_hip_api_trace_data, phases) == TS_HIP_API_PHASES_OFF_6, "");
static_assert(sizeof(struct ts_hip_api_trace_data) == 1552, "");
