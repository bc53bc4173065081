/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What function_params of a driver callback points to, for the calls whose arguments somebody reads
 * or makes: the arguments in order, as the vendor lays them out. Each structure names the callback
 * ids (cupti_cbid.h) that hand it out; older ids of the same call have other layouts and are not
 * read. Pointers are the caller's: read what they point to inside the callback only. Names and
 * types follow cuda_driver.h's reading rules.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cuda_driver.h"

/* cuGetErrorString. */
struct ts_cu_get_error_string_params {
	int32_t error;
	const char **str;
};

/* cuGetErrorName. */
struct ts_cu_get_error_name_params {
	int32_t error;
	const char **str;
};

/* cuInit. */
struct ts_cu_init_params {
	uint32_t flags;
};

/* cuDriverGetVersion. */
struct ts_cu_driver_get_version_params {
	int32_t *driver_version;
};

/* cuDeviceGet. */
struct ts_cu_device_get_params {
	int32_t *device;
	int32_t ordinal;
};

/* cuDeviceGetCount. */
struct ts_cu_device_get_count_params {
	int32_t *count;
};

/* cuDeviceGetName. */
struct ts_cu_device_get_name_params {
	char *name;
	int32_t len;
	int32_t dev;
};

/* cuDeviceGetUuid_v2, cuDeviceGetUuid. */
struct ts_cu_device_get_uuid_params {
	struct ts_cu_uuid *uuid;
	int32_t dev;
};

/* cuDeviceTotalMem_v2. */
struct ts_cu_device_total_mem_params {
	size_t *bytes;
	int32_t dev;
};

/* cuDeviceGetAttribute. */
struct ts_cu_device_get_attribute_params {
	int32_t *pi;
	int32_t attrib;
	int32_t dev;
};

/* cuDeviceSetMemPool. */
struct ts_cu_device_set_mem_pool_params {
	int32_t dev;
	void *pool;
};

/* cuDeviceGetMemPool. */
struct ts_cu_device_get_mem_pool_params {
	void **pool;
	int32_t dev;
};

/* cuDeviceGetDefaultMemPool. */
struct ts_cu_device_get_default_mem_pool_params {
	void **pool_out;
	int32_t dev;
};

/* cuDeviceComputeCapability. */
struct ts_cu_device_compute_capability_params {
	int32_t *major;
	int32_t *minor;
	int32_t dev;
};

/* cuDevicePrimaryCtxRetain. */
struct ts_cu_device_primary_ctx_retain_params {
	void **pctx;
	int32_t dev;
};

/* cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease. */
struct ts_cu_device_primary_ctx_release_params {
	int32_t dev;
};

/* cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags. */
struct ts_cu_device_primary_ctx_set_flags_params {
	int32_t dev;
	uint32_t flags;
};

/* cuDevicePrimaryCtxGetState. */
struct ts_cu_device_primary_ctx_get_state_params {
	int32_t dev;
	uint32_t *flags;
	int32_t *active;
};

/* cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset. */
struct ts_cu_device_primary_ctx_reset_params {
	int32_t dev;
};

/* cuCtxDestroy_v2, cuCtxDestroy. */
struct ts_cu_ctx_destroy_params {
	void *ctx;
};

/* cuCtxPushCurrent_v2, cuCtxPushCurrent. */
struct ts_cu_ctx_push_current_params {
	void *ctx;
};

/* cuCtxPopCurrent_v2, cuCtxPopCurrent. */
struct ts_cu_ctx_pop_current_params {
	void **pctx;
};

/* cuCtxSetCurrent. */
struct ts_cu_ctx_set_current_params {
	void *ctx;
};

/* cuCtxGetCurrent. */
struct ts_cu_ctx_get_current_params {
	void **pctx;
};

/* cuCtxGetDevice_v2. */
struct ts_cu_ctx_get_device_params {
	int32_t *device;
	void *ctx;
};

/* cuCtxGetFlags. */
struct ts_cu_ctx_get_flags_params {
	uint32_t *flags;
};

/* cuCtxSetFlags. */
struct ts_cu_ctx_set_flags_params {
	uint32_t flags;
};

/* cuCtxGetId. */
struct ts_cu_ctx_get_id_params {
	void *ctx;
	uint64_t *ctx_id;
};

/* cuCtxSynchronize_v2. */
struct ts_cu_ctx_synchronize_params {
	void *ctx;
};

/* cuCtxSetLimit. */
struct ts_cu_ctx_set_limit_params {
	int32_t limit;
	size_t value;
};

/* cuCtxGetLimit. */
struct ts_cu_ctx_get_limit_params {
	size_t *pvalue;
	int32_t limit;
};

/* cuCtxGetCacheConfig. */
struct ts_cu_ctx_get_cache_config_params {
	int32_t *pconfig;
};

/* cuCtxSetCacheConfig. */
struct ts_cu_ctx_set_cache_config_params {
	int32_t config;
};

/* cuCtxGetApiVersion. */
struct ts_cu_ctx_get_api_version_params {
	void *ctx;
	uint32_t *version;
};

/* cuCtxGetStreamPriorityRange. */
struct ts_cu_ctx_get_stream_priority_range_params {
	int32_t *least_priority;
	int32_t *greatest_priority;
};

/* cuCtxRecordEvent. */
struct ts_cu_ctx_record_event_params {
	void *ctx;
	void *event;
};

/* cuCtxWaitEvent. */
struct ts_cu_ctx_wait_event_params {
	void *ctx;
	void *event;
};

/* cuCtxAttach. */
struct ts_cu_ctx_attach_params {
	void **pctx;
	uint32_t flags;
};

/* cuCtxDetach. */
struct ts_cu_ctx_detach_params {
	void *ctx;
};

/* cuModuleLoad. */
struct ts_cu_module_load_params {
	void **module;
	const char *fname;
};

/* cuModuleLoadData. */
struct ts_cu_module_load_data_params {
	void **module;
	const void *image;
};

/* cuModuleLoadDataEx. */
struct ts_cu_module_load_data_ex_params {
	void **module;
	const void *image;
	uint32_t num_options;
	int32_t *options;
	void **option_values;
};

/* cuModuleUnload. */
struct ts_cu_module_unload_params {
	void *module;
};

/* cuModuleGetLoadingMode. */
struct ts_cu_module_get_loading_mode_params {
	int32_t *mode;
};

/* cuModuleGetFunction. */
struct ts_cu_module_get_function_params {
	void **func;
	void *module;
	const char *name;
};

/* cuModuleGetFunctionCount. */
struct ts_cu_module_get_function_count_params {
	uint32_t *count;
	void *mod;
};

/* cuModuleEnumerateFunctions. */
struct ts_cu_module_enumerate_functions_params {
	void **functions;
	uint32_t num_functions;
	void *mod;
};

/* cuModuleGetGlobal_v2. */
struct ts_cu_module_get_global_params {
	uint64_t *dev_ptr;
	size_t *bytes;
	void *module;
	const char *name;
};

/* cuLibraryLoadData. */
struct ts_cu_library_load_data_params {
	void **library;
	const void *code;
	int32_t *jit_options;
	void **jit_options_values;
	uint32_t num_jit_options;
	int32_t *library_options;
	void **library_option_values;
	uint32_t num_library_options;
};

/* cuLibraryLoadFromFile. */
struct ts_cu_library_load_from_file_params {
	void **library;
	const char *file_name;
	int32_t *jit_options;
	void **jit_options_values;
	uint32_t num_jit_options;
	int32_t *library_options;
	void **library_option_values;
	uint32_t num_library_options;
};

/* cuLibraryUnload. */
struct ts_cu_library_unload_params {
	void *library;
};

/* cuLibraryGetKernel. */
struct ts_cu_library_get_kernel_params {
	void **kernel;
	void *library;
	const char *name;
};

/* cuLibraryGetKernelCount. */
struct ts_cu_library_get_kernel_count_params {
	uint32_t *count;
	void *lib;
};

/* cuLibraryEnumerateKernels. */
struct ts_cu_library_enumerate_kernels_params {
	void **kernels;
	uint32_t num_kernels;
	void *lib;
};

/* cuKernelGetFunction. */
struct ts_cu_kernel_get_function_params {
	void **func;
	void *kernel;
};

/* cuKernelGetLibrary. */
struct ts_cu_kernel_get_library_params {
	void **lib;
	void *kernel;
};

/* cuLibraryGetGlobal. */
struct ts_cu_library_get_global_params {
	uint64_t *dev_ptr;
	size_t *bytes;
	void *library;
	const char *name;
};

/* cuLibraryGetManaged. */
struct ts_cu_library_get_managed_params {
	uint64_t *dev_ptr;
	size_t *bytes;
	void *library;
	const char *name;
};

/* cuKernelGetAttribute. */
struct ts_cu_kernel_get_attribute_params {
	int32_t *pi;
	int32_t attrib;
	void *kernel;
	int32_t dev;
};

/* cuKernelSetAttribute. */
struct ts_cu_kernel_set_attribute_params {
	int32_t attrib;
	int32_t val;
	void *kernel;
	int32_t dev;
};

/* cuKernelSetCacheConfig. */
struct ts_cu_kernel_set_cache_config_params {
	void *kernel;
	int32_t config;
	int32_t dev;
};

/* cuKernelGetName. */
struct ts_cu_kernel_get_name_params {
	const char **name;
	void *func;
};

/* cuMemGetInfo_v2. */
struct ts_cu_mem_get_info_params {
	size_t *free;
	size_t *total;
};

/* cuMemAlloc_v2. */
struct ts_cu_mem_alloc_params {
	uint64_t *dev_ptr;
	size_t byte_size;
};

/* cuMemAllocPitch_v2. */
struct ts_cu_mem_alloc_pitch_params {
	uint64_t *dev_ptr;
	size_t *pitch;
	size_t width_in_bytes;
	size_t height;
	uint32_t element_size_bytes;
};

/* cuMemFree_v2. */
struct ts_cu_mem_free_params {
	uint64_t dev_ptr;
};

/* cuMemGetAddressRange_v2. */
struct ts_cu_mem_get_address_range_params {
	uint64_t *pbase;
	size_t *psize;
	uint64_t dev_ptr;
};

/* cuMemAllocHost_v2. */
struct ts_cu_mem_alloc_host_params {
	void **pp;
	size_t byte_size;
};

/* cuMemFreeHost. */
struct ts_cu_mem_free_host_params {
	void *p;
};

/* cuMemHostAlloc. */
struct ts_cu_mem_host_alloc_params {
	void **pp;
	size_t byte_size;
	uint32_t flags;
};

/* cuMemHostGetDevicePointer_v2. */
struct ts_cu_mem_host_get_device_pointer_params {
	uint64_t *pdptr;
	void *p;
	uint32_t flags;
};

/* cuMemHostGetFlags. */
struct ts_cu_mem_host_get_flags_params {
	uint32_t *flags;
	void *p;
};

/* cuMemAllocManaged. */
struct ts_cu_mem_alloc_managed_params {
	uint64_t *dev_ptr;
	size_t byte_size;
	uint32_t flags;
};

/* cuDeviceGetByPCIBusId. */
struct ts_cu_device_get_by_pci_bus_id_params {
	int32_t *dev;
	const char *pci_bus_id;
};

/* cuDeviceGetPCIBusId. */
struct ts_cu_device_get_pci_bus_id_params {
	char *pci_bus_id;
	int32_t len;
	int32_t dev;
};

/* cuMemHostRegister_v2, cuMemHostRegister. */
struct ts_cu_mem_host_register_params {
	void *p;
	size_t byte_size;
	uint32_t flags;
};

/* cuMemHostUnregister. */
struct ts_cu_mem_host_unregister_params {
	void *p;
};

/* cuMemcpy_ptds, cuMemcpy. */
struct ts_cu_memcpy_params {
	uint64_t dst;
	uint64_t src;
	size_t byte_count;
};

/* cuMemcpyPeer_ptds, cuMemcpyPeer. */
struct ts_cu_memcpy_peer_params {
	uint64_t dst_device;
	void *dst_context;
	uint64_t src_device;
	void *src_context;
	size_t byte_count;
};

/* cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2. */
struct ts_cu_memcpy_htod_params {
	uint64_t dst_device;
	const void *src_host;
	size_t byte_count;
};

/* cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2. */
struct ts_cu_memcpy_dtoh_params {
	void *dst_host;
	uint64_t src_device;
	size_t byte_count;
};

/* cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2. */
struct ts_cu_memcpy_dtod_params {
	uint64_t dst_device;
	uint64_t src_device;
	size_t byte_count;
};

/* cuMemcpy2D_v2_ptds, cuMemcpy2D_v2. */
struct ts_cu_memcpy2d_params {
	const struct ts_cu_memcpy_2d *copy;
};

/* cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2. */
struct ts_cu_memcpy2d_unaligned_params {
	const struct ts_cu_memcpy_2d *copy;
};

/* cuMemcpy3D_v2_ptds, cuMemcpy3D_v2. */
struct ts_cu_memcpy3d_params {
	const struct ts_cu_memcpy_3d *copy;
};

/* cuMemcpy3DPeer_ptds, cuMemcpy3DPeer. */
struct ts_cu_memcpy3d_peer_params {
	const struct ts_cu_memcpy_3d_peer *copy;
};

/* cuMemcpyAsync_ptsz, cuMemcpyAsync. */
struct ts_cu_memcpy_async_params {
	uint64_t dst;
	uint64_t src;
	size_t byte_count;
	void *stream;
};

/* cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync. */
struct ts_cu_memcpy_peer_async_params {
	uint64_t dst_device;
	void *dst_context;
	uint64_t src_device;
	void *src_context;
	size_t byte_count;
	void *stream;
};

/* cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2. */
struct ts_cu_memcpy_htod_async_params {
	uint64_t dst_device;
	const void *src_host;
	size_t byte_count;
	void *stream;
};

/* cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2. */
struct ts_cu_memcpy_dtoh_async_params {
	void *dst_host;
	uint64_t src_device;
	size_t byte_count;
	void *stream;
};

/* cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2. */
struct ts_cu_memcpy_dtod_async_params {
	uint64_t dst_device;
	uint64_t src_device;
	size_t byte_count;
	void *stream;
};

/* cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2. */
struct ts_cu_memcpy2d_async_params {
	const struct ts_cu_memcpy_2d *copy;
	void *stream;
};

/* cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2. */
struct ts_cu_memcpy3d_async_params {
	const struct ts_cu_memcpy_3d *copy;
	void *stream;
};

/* cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync. */
struct ts_cu_memcpy3d_peer_async_params {
	const struct ts_cu_memcpy_3d_peer *copy;
	void *stream;
};

/* cuMemsetD8_v2_ptds, cuMemsetD8_v2. */
struct ts_cu_memset_d8_params {
	uint64_t dst_device;
	uint8_t value;
	size_t n;
};

/* cuMemsetD16_v2_ptds, cuMemsetD16_v2. */
struct ts_cu_memset_d16_params {
	uint64_t dst_device;
	uint16_t value;
	size_t n;
};

/* cuMemsetD32_v2_ptds, cuMemsetD32_v2. */
struct ts_cu_memset_d32_params {
	uint64_t dst_device;
	uint32_t value;
	size_t n;
};

/* cuMemsetD2D8_v2_ptds, cuMemsetD2D8_v2. */
struct ts_cu_memset_d2d8_params {
	uint64_t dst_device;
	size_t dst_pitch;
	uint8_t value;
	size_t width;
	size_t height;
};

/* cuMemsetD2D16_v2_ptds, cuMemsetD2D16_v2. */
struct ts_cu_memset_d2d16_params {
	uint64_t dst_device;
	size_t dst_pitch;
	uint16_t value;
	size_t width;
	size_t height;
};

/* cuMemsetD2D32_v2_ptds, cuMemsetD2D32_v2. */
struct ts_cu_memset_d2d32_params {
	uint64_t dst_device;
	size_t dst_pitch;
	uint32_t value;
	size_t width;
	size_t height;
};

/* cuMemsetD8Async_ptsz, cuMemsetD8Async. */
struct ts_cu_memset_d8_async_params {
	uint64_t dst_device;
	uint8_t value;
	size_t n;
	void *stream;
};

/* cuMemsetD16Async_ptsz, cuMemsetD16Async. */
struct ts_cu_memset_d16_async_params {
	uint64_t dst_device;
	uint16_t value;
	size_t n;
	void *stream;
};

/* cuMemsetD32Async_ptsz, cuMemsetD32Async. */
struct ts_cu_memset_d32_async_params {
	uint64_t dst_device;
	uint32_t value;
	size_t n;
	void *stream;
};

/* cuMemsetD2D8Async_ptsz, cuMemsetD2D8Async. */
struct ts_cu_memset_d2d8_async_params {
	uint64_t dst_device;
	size_t dst_pitch;
	uint8_t value;
	size_t width;
	size_t height;
	void *stream;
};

/* cuMemsetD2D16Async_ptsz, cuMemsetD2D16Async. */
struct ts_cu_memset_d2d16_async_params {
	uint64_t dst_device;
	size_t dst_pitch;
	uint16_t value;
	size_t width;
	size_t height;
	void *stream;
};

/* cuMemsetD2D32Async_ptsz, cuMemsetD2D32Async. */
struct ts_cu_memset_d2d32_async_params {
	uint64_t dst_device;
	size_t dst_pitch;
	uint32_t value;
	size_t width;
	size_t height;
	void *stream;
};

/* cuMemAddressReserve. */
struct ts_cu_mem_address_reserve_params {
	uint64_t *ptr;
	size_t size;
	size_t alignment;
	uint64_t addr;
	uint64_t flags;
};

/* cuMemAddressFree. */
struct ts_cu_mem_address_free_params {
	uint64_t ptr;
	size_t size;
};

/* cuMemCreate. */
struct ts_cu_mem_create_params {
	uint64_t *handle;
	size_t size;
	const void *prop;
	uint64_t flags;
};

/* cuMemRelease. */
struct ts_cu_mem_release_params {
	uint64_t handle;
};

/* cuMemMap. */
struct ts_cu_mem_map_params {
	uint64_t ptr;
	size_t size;
	size_t offset;
	uint64_t handle;
	uint64_t flags;
};

/* cuMemUnmap. */
struct ts_cu_mem_unmap_params {
	uint64_t ptr;
	size_t size;
};

/* cuMemSetAccess. */
struct ts_cu_mem_set_access_params {
	uint64_t ptr;
	size_t size;
	const struct ts_cu_mem_access_desc *desc;
	size_t count;
};

/* cuMemFreeAsync_ptsz, cuMemFreeAsync. */
struct ts_cu_mem_free_async_params {
	uint64_t dev_ptr;
	void *stream;
};

/* cuMemAllocAsync_ptsz, cuMemAllocAsync. */
struct ts_cu_mem_alloc_async_params {
	uint64_t *dev_ptr;
	size_t byte_size;
	void *stream;
};

/* cuMemPoolTrimTo. */
struct ts_cu_mem_pool_trim_to_params {
	void *pool;
	size_t min_bytes_to_keep;
};

/* cuMemPoolSetAttribute. */
struct ts_cu_mem_pool_set_attribute_params {
	void *pool;
	int32_t attr;
	void *value;
};

/* cuMemPoolSetAccess. */
struct ts_cu_mem_pool_set_access_params {
	void *pool;
	const struct ts_cu_mem_access_desc *map;
	size_t count;
};

/* cuMemPoolCreate. */
struct ts_cu_mem_pool_create_params {
	void **pool;
	const struct ts_cu_mem_pool_props *pool_props;
};

/* cuMemPoolDestroy. */
struct ts_cu_mem_pool_destroy_params {
	void *pool;
};

/* cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync. */
struct ts_cu_mem_alloc_from_pool_async_params {
	uint64_t *dev_ptr;
	size_t byte_size;
	void *pool;
	void *stream;
};

/* cuPointerGetAttribute. */
struct ts_cu_pointer_get_attribute_params {
	void *data;
	int32_t attribute;
	uint64_t ptr;
};

/* cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2. */
struct ts_cu_mem_prefetch_async_params {
	uint64_t dev_ptr;
	size_t count;
	struct ts_cu_mem_location location;
	uint32_t flags;
	void *stream;
};

/* cuMemAdvise_v2. */
struct ts_cu_mem_advise_params {
	uint64_t dev_ptr;
	size_t count;
	int32_t advice;
	struct ts_cu_mem_location location;
};

/* cuPointerSetAttribute. */
struct ts_cu_pointer_set_attribute_params {
	const void *value;
	int32_t attribute;
	uint64_t ptr;
};

/* cuPointerGetAttributes. */
struct ts_cu_pointer_get_attributes_params {
	uint32_t num_attributes;
	int32_t *attributes;
	void **data;
	uint64_t ptr;
};

/* cuStreamCreate. */
struct ts_cu_stream_create_params {
	void **stream;
	uint32_t flags;
};

/* cuStreamCreateWithPriority. */
struct ts_cu_stream_create_with_priority_params {
	void **stream;
	uint32_t flags;
	int32_t priority;
};

/* cuStreamGetPriority_ptsz, cuStreamGetPriority. */
struct ts_cu_stream_get_priority_params {
	void *stream;
	int32_t *priority;
};

/* cuStreamGetDevice_ptsz, cuStreamGetDevice. */
struct ts_cu_stream_get_device_params {
	void *stream;
	int32_t *device;
};

/* cuStreamGetFlags_ptsz, cuStreamGetFlags. */
struct ts_cu_stream_get_flags_params {
	void *stream;
	uint32_t *flags;
};

/* cuStreamGetId_ptsz, cuStreamGetId. */
struct ts_cu_stream_get_id_params {
	void *stream;
	uint64_t *stream_id;
};

/* cuStreamGetCtx_v2_ptsz, cuStreamGetCtx_v2. */
struct ts_cu_stream_get_ctx_params {
	void *stream;
	void **ctx;
	void **green_ctx;
};

/* cuStreamWaitEvent_ptsz, cuStreamWaitEvent. */
struct ts_cu_stream_wait_event_params {
	void *stream;
	void *event;
	uint32_t flags;
};

/* cuStreamAddCallback_ptsz, cuStreamAddCallback. */
struct ts_cu_stream_add_callback_params {
	void *stream;
	void *callback;
	void *user_data;
	uint32_t flags;
};

/* cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2. */
struct ts_cu_stream_begin_capture_params {
	void *stream;
	int32_t mode;
};

/* cuThreadExchangeStreamCaptureMode. */
struct ts_cu_thread_exchange_stream_capture_mode_params {
	int32_t *mode;
};

/* cuStreamEndCapture_ptsz, cuStreamEndCapture. */
struct ts_cu_stream_end_capture_params {
	void *stream;
	void **graph;
};

/* cuStreamIsCapturing_ptsz, cuStreamIsCapturing. */
struct ts_cu_stream_is_capturing_params {
	void *stream;
	int32_t *capture_status;
};

/* cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3. */
struct ts_cu_stream_get_capture_info_params {
	void *stream;
	int32_t *capture_status_out;
	uint64_t *id_out;
	void **graph_out;
	const void ***dependencies_out;
	const void **edge_data_out;
	size_t *num_dependencies_out;
};

/* cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync. */
struct ts_cu_stream_attach_mem_async_params {
	void *stream;
	uint64_t dev_ptr;
	size_t length;
	uint32_t flags;
};

/* cuStreamQuery_ptsz, cuStreamQuery. */
struct ts_cu_stream_query_params {
	void *stream;
};

/* cuStreamSynchronize_ptsz, cuStreamSynchronize. */
struct ts_cu_stream_synchronize_params {
	void *stream;
};

/* cuStreamDestroy_v2, cuStreamDestroy. */
struct ts_cu_stream_destroy_params {
	void *stream;
};

/* cuEventCreate. */
struct ts_cu_event_create_params {
	void **event;
	uint32_t flags;
};

/* cuEventRecord_ptsz, cuEventRecord. */
struct ts_cu_event_record_params {
	void *event;
	void *stream;
};

/* cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags. */
struct ts_cu_event_record_with_flags_params {
	void *event;
	void *stream;
	uint32_t flags;
};

/* cuEventQuery. */
struct ts_cu_event_query_params {
	void *event;
};

/* cuEventSynchronize. */
struct ts_cu_event_synchronize_params {
	void *event;
};

/* cuEventDestroy_v2, cuEventDestroy. */
struct ts_cu_event_destroy_params {
	void *event;
};

/* cuEventElapsedTime_v2, cuEventElapsedTime. */
struct ts_cu_event_elapsed_time_params {
	float *milliseconds;
	void *start;
	void *end;
};

/* cuFuncGetAttribute. */
struct ts_cu_func_get_attribute_params {
	int32_t *pi;
	int32_t attrib;
	void *func;
};

/* cuFuncSetAttribute. */
struct ts_cu_func_set_attribute_params {
	void *func;
	int32_t attrib;
	int32_t value;
};

/* cuFuncSetCacheConfig. */
struct ts_cu_func_set_cache_config_params {
	void *func;
	int32_t config;
};

/* cuFuncGetModule. */
struct ts_cu_func_get_module_params {
	void **module;
	void *func;
};

/* cuFuncGetName. */
struct ts_cu_func_get_name_params {
	const char **name;
	void *func;
};

/* cuFuncLoad. */
struct ts_cu_func_load_params {
	void *function;
};

/* cuLaunchKernel_ptsz, cuLaunchKernel. */
struct ts_cu_launch_kernel_params {
	void *func;
	uint32_t grid_dim_x;
	uint32_t grid_dim_y;
	uint32_t grid_dim_z;
	uint32_t block_dim_x;
	uint32_t block_dim_y;
	uint32_t block_dim_z;
	uint32_t shared_mem_bytes;
	void *stream;
	void **kernel_params;
	void **extra;
};

/* cuLaunchKernelEx_ptsz, cuLaunchKernelEx. */
struct ts_cu_launch_kernel_ex_params {
	const struct ts_cu_launch_config *config;
	void *func;
	void **kernel_params;
	void **extra;
};

/* cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel. */
struct ts_cu_launch_cooperative_kernel_params {
	void *func;
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

/* cuLaunchHostFunc_ptsz, cuLaunchHostFunc. */
struct ts_cu_launch_host_func_params {
	void *stream;
	void *fn;
	void *user_data;
};

/* cuGraphCreate. */
struct ts_cu_graph_create_params {
	void **graph;
	uint32_t flags;
};

/* cuGraphAddKernelNode_v2. */
struct ts_cu_graph_add_kernel_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
	const struct ts_cu_kernel_node_params *node_params;
};

/* cuGraphAddMemcpyNode. */
struct ts_cu_graph_add_memcpy_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
	const struct ts_cu_memcpy_3d *copy_params;
	void *ctx;
};

/* cuGraphAddMemsetNode. */
struct ts_cu_graph_add_memset_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
	const struct ts_cu_memset_node_params *memset_params;
	void *ctx;
};

/* cuGraphAddHostNode. */
struct ts_cu_graph_add_host_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
	const struct ts_cu_host_node_params *node_params;
};

/* cuGraphAddEmptyNode. */
struct ts_cu_graph_add_empty_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
};

/* cuGraphClone. */
struct ts_cu_graph_clone_params {
	void **graph_clone;
	void *original_graph;
};

/* cuGraphAddDependencies_v2. */
struct ts_cu_graph_add_dependencies_params {
	void *graph;
	const void **from;
	const void **to;
	const void *edge_data;
	size_t num_dependencies;
};

/* cuGraphInstantiateWithFlags. */
struct ts_cu_graph_instantiate_with_flags_params {
	void **graph_exec;
	void *graph;
	uint64_t flags;
};

/* cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams. */
struct ts_cu_graph_instantiate_with_params_params {
	void **graph_exec;
	void *graph;
	void *instantiate_params;
};

/* cuGraphUpload_ptsz. */
struct ts_cu_graph_upload_params {
	void *graph_exec;
	void *stream;
};

/* cuGraphLaunch_ptsz. */
struct ts_cu_graph_launch_params {
	void *graph_exec;
	void *stream;
};

/* cuGraphExecDestroy. */
struct ts_cu_graph_exec_destroy_params {
	void *graph_exec;
};

/* cuGraphDestroy. */
struct ts_cu_graph_destroy_params {
	void *graph;
};

/* cuGraphExecUpdate_v2. */
struct ts_cu_graph_exec_update_params {
	void *graph_exec;
	void *graph;
	void *result_info;
};

/*
 * cuGraphExec...NodeSetParams, cuGraphExec...NodeSetEvent; some have a context behind them. Where it is a graph or an event that is
 * new, `params` is its handle.
 */
struct ts_cu_graph_exec_set_params_params {
	void *graph_exec;
	void *node;
	const void *params;
};

/* cuGraphNodeSetEnabled. */
struct ts_cu_graph_node_set_enabled_params {
	void *graph_exec;
	void *node;
	uint32_t is_enabled;
};

/* cuOccupancyMaxActiveBlocksPerMultiprocessor. */
struct ts_cu_occupancy_max_active_blocks_per_multiprocessor_params {
	int32_t *num_blocks;
	void *func;
	int32_t block_size;
	size_t dynamic_s_mem_size;
};

/* cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags. */
struct ts_cu_occupancy_max_active_blocks_per_multiprocessor_with_flags_params {
	int32_t *num_blocks;
	void *func;
	int32_t block_size;
	size_t dynamic_s_mem_size;
	uint32_t flags;
};

/* cuOccupancyMaxPotentialBlockSize. */
struct ts_cu_occupancy_max_potential_block_size_params {
	int32_t *min_grid_size;
	int32_t *block_size;
	void *func;
	void *block_size_to_dynamic_s_mem_size;
	size_t dynamic_s_mem_size;
	int32_t block_size_limit;
};

/* cuOccupancyMaxPotentialBlockSizeWithFlags. */
struct ts_cu_occupancy_max_potential_block_size_with_flags_params {
	int32_t *min_grid_size;
	int32_t *block_size;
	void *func;
	void *block_size_to_dynamic_s_mem_size;
	size_t dynamic_s_mem_size;
	int32_t block_size_limit;
	uint32_t flags;
};

/* cuOccupancyAvailableDynamicSMemPerBlock. */
struct ts_cu_occupancy_available_dynamic_s_mem_per_block_params {
	size_t *dynamic_smem_size;
	void *func;
	int32_t num_blocks;
	int32_t block_size;
};

/* cuDeviceCanAccessPeer. */
struct ts_cu_device_can_access_peer_params {
	int32_t *can_access_peer;
	int32_t dev;
	int32_t peer_dev;
};

/* cuCtxEnablePeerAccess. */
struct ts_cu_ctx_enable_peer_access_params {
	void *peer_context;
	uint32_t flags;
};

/* cuCtxDisablePeerAccess. */
struct ts_cu_ctx_disable_peer_access_params {
	void *peer_context;
};

/* cuDeviceGetP2PAttribute. */
struct ts_cu_device_get_p2_p_attribute_params {
	int32_t *value;
	int32_t attrib;
	int32_t src_device;
	int32_t dst_device;
};

/* cuGetProcAddress_v2. */
struct ts_cu_get_proc_address_params {
	const char *symbol;
	void **pfn;
	int32_t cuda_version;
	uint64_t flags;
	int32_t *symbol_status;
};

/* cuGetExportTable. */
struct ts_cu_get_export_table_params {
	const void **pp_export_table;
	const struct ts_cu_uuid *export_table_id;
};

/* cuGraphInstantiate, cuGraphInstantiate_v2. */
struct ts_cu_graph_instantiate_params {
	void **graph_exec;
	void *graph;
	void **error_node;
	char *log_buffer;
	size_t buffer_size;
};
