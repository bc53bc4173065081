// SPDX-License-Identifier: Apache-2.0
/*
 * Arguments of driver calls as we declare them, against CUPTI's header. Each line names one of ours and the vendor's; check-coverage.py sees to it that none of
 * ours goes without a line.
 */
#include <cupti.h>

#include "proto/abi/vendor/cuda_driver_params.h"
#include "test/unit/harness.h"
#include "test/unit/vendor/same.h"

TS_TEST(layouts)
{
	SAME_SIZE(struct ts_cu_get_error_string_params, cuGetErrorString_params);
	SAME_FIELDS(struct ts_cu_get_error_string_params, cuGetErrorString_params, error, error,
		    str, pStr);
	SAME_SIZE(struct ts_cu_get_error_name_params, cuGetErrorName_params);
	SAME_FIELDS(struct ts_cu_get_error_name_params, cuGetErrorName_params, error, error, str,
		    pStr);
	SAME_SIZE(struct ts_cu_init_params, cuInit_params);
	SAME_FIELDS(struct ts_cu_init_params, cuInit_params, flags, Flags);
	SAME_SIZE(struct ts_cu_driver_get_version_params, cuDriverGetVersion_params);
	SAME_FIELDS(struct ts_cu_driver_get_version_params, cuDriverGetVersion_params,
		    driver_version, driverVersion);
	SAME_SIZE(struct ts_cu_device_get_params, cuDeviceGet_params);
	SAME_FIELDS(struct ts_cu_device_get_params, cuDeviceGet_params, device, device, ordinal,
		    ordinal);
	SAME_SIZE(struct ts_cu_device_get_count_params, cuDeviceGetCount_params);
	SAME_FIELDS(struct ts_cu_device_get_count_params, cuDeviceGetCount_params, count, count);
	SAME_SIZE(struct ts_cu_device_get_name_params, cuDeviceGetName_params);
	SAME_FIELDS(struct ts_cu_device_get_name_params, cuDeviceGetName_params, name, name, len,
		    len, dev, dev);
	SAME_SIZE(struct ts_cu_device_get_uuid_params, cuDeviceGetUuid_v2_params);
	SAME_FIELDS(struct ts_cu_device_get_uuid_params, cuDeviceGetUuid_v2_params, uuid, uuid, dev,
		    dev);
	SAME_SIZE(struct ts_cu_device_get_uuid_params, cuDeviceGetUuid_params);
	SAME_FIELDS(struct ts_cu_device_get_uuid_params, cuDeviceGetUuid_params, uuid, uuid, dev,
		    dev);
	SAME_SIZE(struct ts_cu_device_total_mem_params, cuDeviceTotalMem_v2_params);
	SAME_FIELDS(struct ts_cu_device_total_mem_params, cuDeviceTotalMem_v2_params, bytes, bytes,
		    dev, dev);
	SAME_SIZE(struct ts_cu_device_get_attribute_params, cuDeviceGetAttribute_params);
	SAME_FIELDS(struct ts_cu_device_get_attribute_params, cuDeviceGetAttribute_params, pi, pi,
		    attrib, attrib, dev, dev);
	SAME_SIZE(struct ts_cu_device_set_mem_pool_params, cuDeviceSetMemPool_params);
	SAME_FIELDS(struct ts_cu_device_set_mem_pool_params, cuDeviceSetMemPool_params, dev, dev,
		    pool, pool);
	SAME_SIZE(struct ts_cu_device_get_mem_pool_params, cuDeviceGetMemPool_params);
	SAME_FIELDS(struct ts_cu_device_get_mem_pool_params, cuDeviceGetMemPool_params, pool, pool,
		    dev, dev);
	SAME_SIZE(struct ts_cu_device_get_default_mem_pool_params,
		  cuDeviceGetDefaultMemPool_params);
	SAME_FIELDS(struct ts_cu_device_get_default_mem_pool_params,
		    cuDeviceGetDefaultMemPool_params, pool_out, pool_out, dev, dev);
	SAME_SIZE(struct ts_cu_device_compute_capability_params, cuDeviceComputeCapability_params);
	SAME_FIELDS(struct ts_cu_device_compute_capability_params, cuDeviceComputeCapability_params,
		    major, major, minor, minor, dev, dev);
	SAME_SIZE(struct ts_cu_device_primary_ctx_retain_params, cuDevicePrimaryCtxRetain_params);
	SAME_FIELDS(struct ts_cu_device_primary_ctx_retain_params, cuDevicePrimaryCtxRetain_params,
		    pctx, pctx, dev, dev);
	SAME_SIZE(struct ts_cu_device_primary_ctx_release_params,
		  cuDevicePrimaryCtxRelease_v2_params);
	SAME_FIELDS(struct ts_cu_device_primary_ctx_release_params,
		    cuDevicePrimaryCtxRelease_v2_params, dev, dev);
	SAME_SIZE(struct ts_cu_device_primary_ctx_release_params, cuDevicePrimaryCtxRelease_params);
	SAME_FIELDS(struct ts_cu_device_primary_ctx_release_params,
		    cuDevicePrimaryCtxRelease_params, dev, dev);
	SAME_SIZE(struct ts_cu_device_primary_ctx_set_flags_params,
		  cuDevicePrimaryCtxSetFlags_v2_params);
	SAME_FIELDS(struct ts_cu_device_primary_ctx_set_flags_params,
		    cuDevicePrimaryCtxSetFlags_v2_params, dev, dev, flags, flags);
	SAME_SIZE(struct ts_cu_device_primary_ctx_set_flags_params,
		  cuDevicePrimaryCtxSetFlags_params);
	SAME_FIELDS(struct ts_cu_device_primary_ctx_set_flags_params,
		    cuDevicePrimaryCtxSetFlags_params, dev, dev, flags, flags);
	SAME_SIZE(struct ts_cu_device_primary_ctx_get_state_params,
		  cuDevicePrimaryCtxGetState_params);
	SAME_FIELDS(struct ts_cu_device_primary_ctx_get_state_params,
		    cuDevicePrimaryCtxGetState_params, dev, dev, flags, flags, active, active);
	SAME_SIZE(struct ts_cu_device_primary_ctx_reset_params, cuDevicePrimaryCtxReset_v2_params);
	SAME_FIELDS(struct ts_cu_device_primary_ctx_reset_params, cuDevicePrimaryCtxReset_v2_params,
		    dev, dev);
	SAME_SIZE(struct ts_cu_device_primary_ctx_reset_params, cuDevicePrimaryCtxReset_params);
	SAME_FIELDS(struct ts_cu_device_primary_ctx_reset_params, cuDevicePrimaryCtxReset_params,
		    dev, dev);
	SAME_SIZE(struct ts_cu_ctx_destroy_params, cuCtxDestroy_v2_params);
	SAME_FIELDS(struct ts_cu_ctx_destroy_params, cuCtxDestroy_v2_params, ctx, ctx);
	SAME_SIZE(struct ts_cu_ctx_destroy_params, cuCtxDestroy_params);
	SAME_FIELDS(struct ts_cu_ctx_destroy_params, cuCtxDestroy_params, ctx, ctx);
	SAME_SIZE(struct ts_cu_ctx_push_current_params, cuCtxPushCurrent_v2_params);
	SAME_FIELDS(struct ts_cu_ctx_push_current_params, cuCtxPushCurrent_v2_params, ctx, ctx);
	SAME_SIZE(struct ts_cu_ctx_push_current_params, cuCtxPushCurrent_params);
	SAME_FIELDS(struct ts_cu_ctx_push_current_params, cuCtxPushCurrent_params, ctx, ctx);
	SAME_SIZE(struct ts_cu_ctx_pop_current_params, cuCtxPopCurrent_v2_params);
	SAME_FIELDS(struct ts_cu_ctx_pop_current_params, cuCtxPopCurrent_v2_params, pctx, pctx);
	SAME_SIZE(struct ts_cu_ctx_pop_current_params, cuCtxPopCurrent_params);
	SAME_FIELDS(struct ts_cu_ctx_pop_current_params, cuCtxPopCurrent_params, pctx, pctx);
	SAME_SIZE(struct ts_cu_ctx_set_current_params, cuCtxSetCurrent_params);
	SAME_FIELDS(struct ts_cu_ctx_set_current_params, cuCtxSetCurrent_params, ctx, ctx);
	SAME_SIZE(struct ts_cu_ctx_get_current_params, cuCtxGetCurrent_params);
	SAME_FIELDS(struct ts_cu_ctx_get_current_params, cuCtxGetCurrent_params, pctx, pctx);
	SAME_SIZE(struct ts_cu_ctx_get_device_params, cuCtxGetDevice_v2_params);
	SAME_FIELDS(struct ts_cu_ctx_get_device_params, cuCtxGetDevice_v2_params, device, device,
		    ctx, ctx);
	SAME_SIZE(struct ts_cu_ctx_get_flags_params, cuCtxGetFlags_params);
	SAME_FIELDS(struct ts_cu_ctx_get_flags_params, cuCtxGetFlags_params, flags, flags);
	SAME_SIZE(struct ts_cu_ctx_set_flags_params, cuCtxSetFlags_params);
	SAME_FIELDS(struct ts_cu_ctx_set_flags_params, cuCtxSetFlags_params, flags, flags);
	SAME_SIZE(struct ts_cu_ctx_get_id_params, cuCtxGetId_params);
	SAME_FIELDS(struct ts_cu_ctx_get_id_params, cuCtxGetId_params, ctx, ctx, ctx_id, ctxId);
	SAME_SIZE(struct ts_cu_ctx_synchronize_params, cuCtxSynchronize_v2_params);
	SAME_FIELDS(struct ts_cu_ctx_synchronize_params, cuCtxSynchronize_v2_params, ctx, ctx);
	SAME_SIZE(struct ts_cu_ctx_set_limit_params, cuCtxSetLimit_params);
	SAME_FIELDS(struct ts_cu_ctx_set_limit_params, cuCtxSetLimit_params, limit, limit, value,
		    value);
	SAME_SIZE(struct ts_cu_ctx_get_limit_params, cuCtxGetLimit_params);
	SAME_FIELDS(struct ts_cu_ctx_get_limit_params, cuCtxGetLimit_params, pvalue, pvalue, limit,
		    limit);
	SAME_SIZE(struct ts_cu_ctx_get_cache_config_params, cuCtxGetCacheConfig_params);
	SAME_FIELDS(struct ts_cu_ctx_get_cache_config_params, cuCtxGetCacheConfig_params, pconfig,
		    pconfig);
	SAME_SIZE(struct ts_cu_ctx_set_cache_config_params, cuCtxSetCacheConfig_params);
	SAME_FIELDS(struct ts_cu_ctx_set_cache_config_params, cuCtxSetCacheConfig_params, config,
		    config);
	SAME_SIZE(struct ts_cu_ctx_get_api_version_params, cuCtxGetApiVersion_params);
	SAME_FIELDS(struct ts_cu_ctx_get_api_version_params, cuCtxGetApiVersion_params, ctx, ctx,
		    version, version);
	SAME_SIZE(struct ts_cu_ctx_get_stream_priority_range_params,
		  cuCtxGetStreamPriorityRange_params);
	SAME_FIELDS(struct ts_cu_ctx_get_stream_priority_range_params,
		    cuCtxGetStreamPriorityRange_params, least_priority, leastPriority,
		    greatest_priority, greatestPriority);
	SAME_SIZE(struct ts_cu_ctx_record_event_params, cuCtxRecordEvent_params);
	SAME_FIELDS(struct ts_cu_ctx_record_event_params, cuCtxRecordEvent_params, ctx, hCtx, event,
		    hEvent);
	SAME_SIZE(struct ts_cu_ctx_wait_event_params, cuCtxWaitEvent_params);
	SAME_FIELDS(struct ts_cu_ctx_wait_event_params, cuCtxWaitEvent_params, ctx, hCtx, event,
		    hEvent);
	SAME_SIZE(struct ts_cu_ctx_attach_params, cuCtxAttach_params);
	SAME_FIELDS(struct ts_cu_ctx_attach_params, cuCtxAttach_params, pctx, pctx, flags, flags);
	SAME_SIZE(struct ts_cu_ctx_detach_params, cuCtxDetach_params);
	SAME_FIELDS(struct ts_cu_ctx_detach_params, cuCtxDetach_params, ctx, ctx);
	SAME_SIZE(struct ts_cu_module_load_params, cuModuleLoad_params);
	SAME_FIELDS(struct ts_cu_module_load_params, cuModuleLoad_params, module, module, fname,
		    fname);
	SAME_SIZE(struct ts_cu_module_load_data_params, cuModuleLoadData_params);
	SAME_FIELDS(struct ts_cu_module_load_data_params, cuModuleLoadData_params, module, module,
		    image, image);
	SAME_SIZE(struct ts_cu_module_load_data_ex_params, cuModuleLoadDataEx_params);
	SAME_FIELDS(struct ts_cu_module_load_data_ex_params, cuModuleLoadDataEx_params, module,
		    module, image, image, num_options, numOptions, options, options, option_values,
		    optionValues);
	SAME_SIZE(struct ts_cu_module_unload_params, cuModuleUnload_params);
	SAME_FIELDS(struct ts_cu_module_unload_params, cuModuleUnload_params, module, hmod);
	SAME_SIZE(struct ts_cu_module_get_loading_mode_params, cuModuleGetLoadingMode_params);
	SAME_FIELDS(struct ts_cu_module_get_loading_mode_params, cuModuleGetLoadingMode_params,
		    mode, mode);
	SAME_SIZE(struct ts_cu_module_get_function_params, cuModuleGetFunction_params);
	SAME_FIELDS(struct ts_cu_module_get_function_params, cuModuleGetFunction_params, func,
		    hfunc, module, hmod, name, name);
	SAME_SIZE(struct ts_cu_module_get_function_count_params, cuModuleGetFunctionCount_params);
	SAME_FIELDS(struct ts_cu_module_get_function_count_params, cuModuleGetFunctionCount_params,
		    count, count, mod, mod);
	SAME_SIZE(struct ts_cu_module_enumerate_functions_params,
		  cuModuleEnumerateFunctions_params);
	SAME_FIELDS(struct ts_cu_module_enumerate_functions_params,
		    cuModuleEnumerateFunctions_params, functions, functions, num_functions,
		    numFunctions, mod, mod);
	SAME_SIZE(struct ts_cu_module_get_global_params, cuModuleGetGlobal_v2_params);
	SAME_FIELDS(struct ts_cu_module_get_global_params, cuModuleGetGlobal_v2_params, dev_ptr,
		    dptr, bytes, bytes, module, hmod, name, name);
	SAME_SIZE(struct ts_cu_library_load_data_params, cuLibraryLoadData_params);
	SAME_FIELDS(struct ts_cu_library_load_data_params, cuLibraryLoadData_params, library,
		    library, code, code, jit_options, jitOptions, jit_options_values,
		    jitOptionsValues, num_jit_options, numJitOptions, library_options,
		    libraryOptions, library_option_values, libraryOptionValues, num_library_options,
		    numLibraryOptions);
	SAME_SIZE(struct ts_cu_library_load_from_file_params, cuLibraryLoadFromFile_params);
	SAME_FIELDS(struct ts_cu_library_load_from_file_params, cuLibraryLoadFromFile_params,
		    library, library, file_name, fileName, jit_options, jitOptions,
		    jit_options_values, jitOptionsValues, num_jit_options, numJitOptions,
		    library_options, libraryOptions, library_option_values, libraryOptionValues,
		    num_library_options, numLibraryOptions);
	SAME_SIZE(struct ts_cu_library_unload_params, cuLibraryUnload_params);
	SAME_FIELDS(struct ts_cu_library_unload_params, cuLibraryUnload_params, library, library);
	SAME_SIZE(struct ts_cu_library_get_kernel_params, cuLibraryGetKernel_params);
	SAME_FIELDS(struct ts_cu_library_get_kernel_params, cuLibraryGetKernel_params, kernel,
		    pKernel, library, library, name, name);
	SAME_SIZE(struct ts_cu_library_get_kernel_count_params, cuLibraryGetKernelCount_params);
	SAME_FIELDS(struct ts_cu_library_get_kernel_count_params, cuLibraryGetKernelCount_params,
		    count, count, lib, lib);
	SAME_SIZE(struct ts_cu_library_enumerate_kernels_params, cuLibraryEnumerateKernels_params);
	SAME_FIELDS(struct ts_cu_library_enumerate_kernels_params, cuLibraryEnumerateKernels_params,
		    kernels, kernels, num_kernels, numKernels, lib, lib);
	SAME_SIZE(struct ts_cu_kernel_get_function_params, cuKernelGetFunction_params);
	SAME_FIELDS(struct ts_cu_kernel_get_function_params, cuKernelGetFunction_params, func,
		    pFunc, kernel, kernel);
	SAME_SIZE(struct ts_cu_kernel_get_library_params, cuKernelGetLibrary_params);
	SAME_FIELDS(struct ts_cu_kernel_get_library_params, cuKernelGetLibrary_params, lib, pLib,
		    kernel, kernel);
	SAME_SIZE(struct ts_cu_library_get_global_params, cuLibraryGetGlobal_params);
	SAME_FIELDS(struct ts_cu_library_get_global_params, cuLibraryGetGlobal_params, dev_ptr,
		    dptr, bytes, bytes, library, library, name, name);
	SAME_SIZE(struct ts_cu_library_get_managed_params, cuLibraryGetManaged_params);
	SAME_FIELDS(struct ts_cu_library_get_managed_params, cuLibraryGetManaged_params, dev_ptr,
		    dptr, bytes, bytes, library, library, name, name);
	SAME_SIZE(struct ts_cu_kernel_get_attribute_params, cuKernelGetAttribute_params);
	SAME_FIELDS(struct ts_cu_kernel_get_attribute_params, cuKernelGetAttribute_params, pi, pi,
		    attrib, attrib, kernel, kernel, dev, dev);
	SAME_SIZE(struct ts_cu_kernel_set_attribute_params, cuKernelSetAttribute_params);
	SAME_FIELDS(struct ts_cu_kernel_set_attribute_params, cuKernelSetAttribute_params, attrib,
		    attrib, val, val, kernel, kernel, dev, dev);
	SAME_SIZE(struct ts_cu_kernel_set_cache_config_params, cuKernelSetCacheConfig_params);
	SAME_FIELDS(struct ts_cu_kernel_set_cache_config_params, cuKernelSetCacheConfig_params,
		    kernel, kernel, config, config, dev, dev);
	SAME_SIZE(struct ts_cu_kernel_get_name_params, cuKernelGetName_params);
	SAME_FIELDS(struct ts_cu_kernel_get_name_params, cuKernelGetName_params, name, name, func,
		    hfunc);
	SAME_SIZE(struct ts_cu_mem_get_info_params, cuMemGetInfo_v2_params);
	SAME_FIELDS(struct ts_cu_mem_get_info_params, cuMemGetInfo_v2_params, free, free, total,
		    total);
	SAME_SIZE(struct ts_cu_mem_alloc_params, cuMemAlloc_v2_params);
	SAME_FIELDS(struct ts_cu_mem_alloc_params, cuMemAlloc_v2_params, dev_ptr, dptr, byte_size,
		    bytesize);
	SAME_SIZE(struct ts_cu_mem_alloc_pitch_params, cuMemAllocPitch_v2_params);
	SAME_FIELDS(struct ts_cu_mem_alloc_pitch_params, cuMemAllocPitch_v2_params, dev_ptr, dptr,
		    pitch, pPitch, width_in_bytes, WidthInBytes, height, Height, element_size_bytes,
		    ElementSizeBytes);
	SAME_SIZE(struct ts_cu_mem_free_params, cuMemFree_v2_params);
	SAME_FIELDS(struct ts_cu_mem_free_params, cuMemFree_v2_params, dev_ptr, dptr);
	SAME_SIZE(struct ts_cu_mem_get_address_range_params, cuMemGetAddressRange_v2_params);
	SAME_FIELDS(struct ts_cu_mem_get_address_range_params, cuMemGetAddressRange_v2_params,
		    pbase, pbase, psize, psize, dev_ptr, dptr);
	SAME_SIZE(struct ts_cu_mem_alloc_host_params, cuMemAllocHost_v2_params);
	SAME_FIELDS(struct ts_cu_mem_alloc_host_params, cuMemAllocHost_v2_params, pp, pp, byte_size,
		    bytesize);
	SAME_SIZE(struct ts_cu_mem_free_host_params, cuMemFreeHost_params);
	SAME_FIELDS(struct ts_cu_mem_free_host_params, cuMemFreeHost_params, p, p);
	SAME_SIZE(struct ts_cu_mem_host_alloc_params, cuMemHostAlloc_params);
	SAME_FIELDS(struct ts_cu_mem_host_alloc_params, cuMemHostAlloc_params, pp, pp, byte_size,
		    bytesize, flags, Flags);
	SAME_SIZE(struct ts_cu_mem_host_get_device_pointer_params,
		  cuMemHostGetDevicePointer_v2_params);
	SAME_FIELDS(struct ts_cu_mem_host_get_device_pointer_params,
		    cuMemHostGetDevicePointer_v2_params, pdptr, pdptr, p, p, flags, Flags);
	SAME_SIZE(struct ts_cu_mem_host_get_flags_params, cuMemHostGetFlags_params);
	SAME_FIELDS(struct ts_cu_mem_host_get_flags_params, cuMemHostGetFlags_params, flags, pFlags,
		    p, p);
	SAME_SIZE(struct ts_cu_mem_alloc_managed_params, cuMemAllocManaged_params);
	SAME_FIELDS(struct ts_cu_mem_alloc_managed_params, cuMemAllocManaged_params, dev_ptr, dptr,
		    byte_size, bytesize, flags, flags);
	SAME_SIZE(struct ts_cu_device_get_by_pci_bus_id_params, cuDeviceGetByPCIBusId_params);
	SAME_FIELDS(struct ts_cu_device_get_by_pci_bus_id_params, cuDeviceGetByPCIBusId_params, dev,
		    dev, pci_bus_id, pciBusId);
	SAME_SIZE(struct ts_cu_device_get_pci_bus_id_params, cuDeviceGetPCIBusId_params);
	SAME_FIELDS(struct ts_cu_device_get_pci_bus_id_params, cuDeviceGetPCIBusId_params,
		    pci_bus_id, pciBusId, len, len, dev, dev);
	SAME_SIZE(struct ts_cu_mem_host_register_params, cuMemHostRegister_v2_params);
	SAME_FIELDS(struct ts_cu_mem_host_register_params, cuMemHostRegister_v2_params, p, p,
		    byte_size, bytesize, flags, Flags);
	SAME_SIZE(struct ts_cu_mem_host_register_params, cuMemHostRegister_params);
	SAME_FIELDS(struct ts_cu_mem_host_register_params, cuMemHostRegister_params, p, p,
		    byte_size, bytesize, flags, Flags);
	SAME_SIZE(struct ts_cu_mem_host_unregister_params, cuMemHostUnregister_params);
	SAME_FIELDS(struct ts_cu_mem_host_unregister_params, cuMemHostUnregister_params, p, p);
	SAME_SIZE(struct ts_cu_memcpy_params, cuMemcpy_ptds_params);
	SAME_FIELDS(struct ts_cu_memcpy_params, cuMemcpy_ptds_params, dst, dst, src, src,
		    byte_count, ByteCount);
	SAME_SIZE(struct ts_cu_memcpy_params, cuMemcpy_params);
	SAME_FIELDS(struct ts_cu_memcpy_params, cuMemcpy_params, dst, dst, src, src, byte_count,
		    ByteCount);
	SAME_SIZE(struct ts_cu_memcpy_peer_params, cuMemcpyPeer_ptds_params);
	SAME_FIELDS(struct ts_cu_memcpy_peer_params, cuMemcpyPeer_ptds_params, dst_device,
		    dstDevice, dst_context, dstContext, src_device, srcDevice, src_context,
		    srcContext, byte_count, ByteCount);
	SAME_SIZE(struct ts_cu_memcpy_peer_params, cuMemcpyPeer_params);
	SAME_FIELDS(struct ts_cu_memcpy_peer_params, cuMemcpyPeer_params, dst_device, dstDevice,
		    dst_context, dstContext, src_device, srcDevice, src_context, srcContext,
		    byte_count, ByteCount);
	SAME_SIZE(struct ts_cu_memcpy_htod_params, cuMemcpyHtoD_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memcpy_htod_params, cuMemcpyHtoD_v2_ptds_params, dst_device,
		    dstDevice, src_host, srcHost, byte_count, ByteCount);
	SAME_SIZE(struct ts_cu_memcpy_htod_params, cuMemcpyHtoD_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy_htod_params, cuMemcpyHtoD_v2_params, dst_device, dstDevice,
		    src_host, srcHost, byte_count, ByteCount);
	SAME_SIZE(struct ts_cu_memcpy_dtoh_params, cuMemcpyDtoH_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memcpy_dtoh_params, cuMemcpyDtoH_v2_ptds_params, dst_host, dstHost,
		    src_device, srcDevice, byte_count, ByteCount);
	SAME_SIZE(struct ts_cu_memcpy_dtoh_params, cuMemcpyDtoH_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy_dtoh_params, cuMemcpyDtoH_v2_params, dst_host, dstHost,
		    src_device, srcDevice, byte_count, ByteCount);
	SAME_SIZE(struct ts_cu_memcpy_dtod_params, cuMemcpyDtoD_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memcpy_dtod_params, cuMemcpyDtoD_v2_ptds_params, dst_device,
		    dstDevice, src_device, srcDevice, byte_count, ByteCount);
	SAME_SIZE(struct ts_cu_memcpy_dtod_params, cuMemcpyDtoD_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy_dtod_params, cuMemcpyDtoD_v2_params, dst_device, dstDevice,
		    src_device, srcDevice, byte_count, ByteCount);
	SAME_SIZE(struct ts_cu_memcpy2d_params, cuMemcpy2D_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memcpy2d_params, cuMemcpy2D_v2_ptds_params, copy, pCopy);
	SAME_SIZE(struct ts_cu_memcpy2d_params, cuMemcpy2D_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy2d_params, cuMemcpy2D_v2_params, copy, pCopy);
	SAME_SIZE(struct ts_cu_memcpy2d_unaligned_params, cuMemcpy2DUnaligned_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memcpy2d_unaligned_params, cuMemcpy2DUnaligned_v2_ptds_params,
		    copy, pCopy);
	SAME_SIZE(struct ts_cu_memcpy2d_unaligned_params, cuMemcpy2DUnaligned_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy2d_unaligned_params, cuMemcpy2DUnaligned_v2_params, copy,
		    pCopy);
	SAME_SIZE(struct ts_cu_memcpy3d_params, cuMemcpy3D_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memcpy3d_params, cuMemcpy3D_v2_ptds_params, copy, pCopy);
	SAME_SIZE(struct ts_cu_memcpy3d_params, cuMemcpy3D_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy3d_params, cuMemcpy3D_v2_params, copy, pCopy);
	SAME_SIZE(struct ts_cu_memcpy3d_peer_params, cuMemcpy3DPeer_ptds_params);
	SAME_FIELDS(struct ts_cu_memcpy3d_peer_params, cuMemcpy3DPeer_ptds_params, copy, pCopy);
	SAME_SIZE(struct ts_cu_memcpy3d_peer_params, cuMemcpy3DPeer_params);
	SAME_FIELDS(struct ts_cu_memcpy3d_peer_params, cuMemcpy3DPeer_params, copy, pCopy);
	SAME_SIZE(struct ts_cu_memcpy_async_params, cuMemcpyAsync_ptsz_params);
	SAME_FIELDS(struct ts_cu_memcpy_async_params, cuMemcpyAsync_ptsz_params, dst, dst, src, src,
		    byte_count, ByteCount, stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy_async_params, cuMemcpyAsync_params);
	SAME_FIELDS(struct ts_cu_memcpy_async_params, cuMemcpyAsync_params, dst, dst, src, src,
		    byte_count, ByteCount, stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy_peer_async_params, cuMemcpyPeerAsync_ptsz_params);
	SAME_FIELDS(struct ts_cu_memcpy_peer_async_params, cuMemcpyPeerAsync_ptsz_params,
		    dst_device, dstDevice, dst_context, dstContext, src_device, srcDevice,
		    src_context, srcContext, byte_count, ByteCount, stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy_peer_async_params, cuMemcpyPeerAsync_params);
	SAME_FIELDS(struct ts_cu_memcpy_peer_async_params, cuMemcpyPeerAsync_params, dst_device,
		    dstDevice, dst_context, dstContext, src_device, srcDevice, src_context,
		    srcContext, byte_count, ByteCount, stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy_htod_async_params, cuMemcpyHtoDAsync_v2_ptsz_params);
	SAME_FIELDS(struct ts_cu_memcpy_htod_async_params, cuMemcpyHtoDAsync_v2_ptsz_params,
		    dst_device, dstDevice, src_host, srcHost, byte_count, ByteCount, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_memcpy_htod_async_params, cuMemcpyHtoDAsync_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy_htod_async_params, cuMemcpyHtoDAsync_v2_params, dst_device,
		    dstDevice, src_host, srcHost, byte_count, ByteCount, stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy_dtoh_async_params, cuMemcpyDtoHAsync_v2_ptsz_params);
	SAME_FIELDS(struct ts_cu_memcpy_dtoh_async_params, cuMemcpyDtoHAsync_v2_ptsz_params,
		    dst_host, dstHost, src_device, srcDevice, byte_count, ByteCount, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_memcpy_dtoh_async_params, cuMemcpyDtoHAsync_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy_dtoh_async_params, cuMemcpyDtoHAsync_v2_params, dst_host,
		    dstHost, src_device, srcDevice, byte_count, ByteCount, stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy_dtod_async_params, cuMemcpyDtoDAsync_v2_ptsz_params);
	SAME_FIELDS(struct ts_cu_memcpy_dtod_async_params, cuMemcpyDtoDAsync_v2_ptsz_params,
		    dst_device, dstDevice, src_device, srcDevice, byte_count, ByteCount, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_memcpy_dtod_async_params, cuMemcpyDtoDAsync_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy_dtod_async_params, cuMemcpyDtoDAsync_v2_params, dst_device,
		    dstDevice, src_device, srcDevice, byte_count, ByteCount, stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy2d_async_params, cuMemcpy2DAsync_v2_ptsz_params);
	SAME_FIELDS(struct ts_cu_memcpy2d_async_params, cuMemcpy2DAsync_v2_ptsz_params, copy, pCopy,
		    stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy2d_async_params, cuMemcpy2DAsync_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy2d_async_params, cuMemcpy2DAsync_v2_params, copy, pCopy,
		    stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy3d_async_params, cuMemcpy3DAsync_v2_ptsz_params);
	SAME_FIELDS(struct ts_cu_memcpy3d_async_params, cuMemcpy3DAsync_v2_ptsz_params, copy, pCopy,
		    stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy3d_async_params, cuMemcpy3DAsync_v2_params);
	SAME_FIELDS(struct ts_cu_memcpy3d_async_params, cuMemcpy3DAsync_v2_params, copy, pCopy,
		    stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy3d_peer_async_params, cuMemcpy3DPeerAsync_ptsz_params);
	SAME_FIELDS(struct ts_cu_memcpy3d_peer_async_params, cuMemcpy3DPeerAsync_ptsz_params, copy,
		    pCopy, stream, hStream);
	SAME_SIZE(struct ts_cu_memcpy3d_peer_async_params, cuMemcpy3DPeerAsync_params);
	SAME_FIELDS(struct ts_cu_memcpy3d_peer_async_params, cuMemcpy3DPeerAsync_params, copy,
		    pCopy, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d8_params, cuMemsetD8_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memset_d8_params, cuMemsetD8_v2_ptds_params, dst_device, dstDevice,
		    value, uc, n, N);
	SAME_SIZE(struct ts_cu_memset_d8_params, cuMemsetD8_v2_params);
	SAME_FIELDS(struct ts_cu_memset_d8_params, cuMemsetD8_v2_params, dst_device, dstDevice,
		    value, uc, n, N);
	SAME_SIZE(struct ts_cu_memset_d16_params, cuMemsetD16_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memset_d16_params, cuMemsetD16_v2_ptds_params, dst_device,
		    dstDevice, value, us, n, N);
	SAME_SIZE(struct ts_cu_memset_d16_params, cuMemsetD16_v2_params);
	SAME_FIELDS(struct ts_cu_memset_d16_params, cuMemsetD16_v2_params, dst_device, dstDevice,
		    value, us, n, N);
	SAME_SIZE(struct ts_cu_memset_d32_params, cuMemsetD32_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memset_d32_params, cuMemsetD32_v2_ptds_params, dst_device,
		    dstDevice, value, ui, n, N);
	SAME_SIZE(struct ts_cu_memset_d32_params, cuMemsetD32_v2_params);
	SAME_FIELDS(struct ts_cu_memset_d32_params, cuMemsetD32_v2_params, dst_device, dstDevice,
		    value, ui, n, N);
	SAME_SIZE(struct ts_cu_memset_d2d8_params, cuMemsetD2D8_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memset_d2d8_params, cuMemsetD2D8_v2_ptds_params, dst_device,
		    dstDevice, dst_pitch, dstPitch, value, uc, width, Width, height, Height);
	SAME_SIZE(struct ts_cu_memset_d2d8_params, cuMemsetD2D8_v2_params);
	SAME_FIELDS(struct ts_cu_memset_d2d8_params, cuMemsetD2D8_v2_params, dst_device, dstDevice,
		    dst_pitch, dstPitch, value, uc, width, Width, height, Height);
	SAME_SIZE(struct ts_cu_memset_d2d16_params, cuMemsetD2D16_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memset_d2d16_params, cuMemsetD2D16_v2_ptds_params, dst_device,
		    dstDevice, dst_pitch, dstPitch, value, us, width, Width, height, Height);
	SAME_SIZE(struct ts_cu_memset_d2d16_params, cuMemsetD2D16_v2_params);
	SAME_FIELDS(struct ts_cu_memset_d2d16_params, cuMemsetD2D16_v2_params, dst_device,
		    dstDevice, dst_pitch, dstPitch, value, us, width, Width, height, Height);
	SAME_SIZE(struct ts_cu_memset_d2d32_params, cuMemsetD2D32_v2_ptds_params);
	SAME_FIELDS(struct ts_cu_memset_d2d32_params, cuMemsetD2D32_v2_ptds_params, dst_device,
		    dstDevice, dst_pitch, dstPitch, value, ui, width, Width, height, Height);
	SAME_SIZE(struct ts_cu_memset_d2d32_params, cuMemsetD2D32_v2_params);
	SAME_FIELDS(struct ts_cu_memset_d2d32_params, cuMemsetD2D32_v2_params, dst_device,
		    dstDevice, dst_pitch, dstPitch, value, ui, width, Width, height, Height);
	SAME_SIZE(struct ts_cu_memset_d8_async_params, cuMemsetD8Async_ptsz_params);
	SAME_FIELDS(struct ts_cu_memset_d8_async_params, cuMemsetD8Async_ptsz_params, dst_device,
		    dstDevice, value, uc, n, N, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d8_async_params, cuMemsetD8Async_params);
	SAME_FIELDS(struct ts_cu_memset_d8_async_params, cuMemsetD8Async_params, dst_device,
		    dstDevice, value, uc, n, N, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d16_async_params, cuMemsetD16Async_ptsz_params);
	SAME_FIELDS(struct ts_cu_memset_d16_async_params, cuMemsetD16Async_ptsz_params, dst_device,
		    dstDevice, value, us, n, N, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d16_async_params, cuMemsetD16Async_params);
	SAME_FIELDS(struct ts_cu_memset_d16_async_params, cuMemsetD16Async_params, dst_device,
		    dstDevice, value, us, n, N, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d32_async_params, cuMemsetD32Async_ptsz_params);
	SAME_FIELDS(struct ts_cu_memset_d32_async_params, cuMemsetD32Async_ptsz_params, dst_device,
		    dstDevice, value, ui, n, N, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d32_async_params, cuMemsetD32Async_params);
	SAME_FIELDS(struct ts_cu_memset_d32_async_params, cuMemsetD32Async_params, dst_device,
		    dstDevice, value, ui, n, N, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d2d8_async_params, cuMemsetD2D8Async_ptsz_params);
	SAME_FIELDS(struct ts_cu_memset_d2d8_async_params, cuMemsetD2D8Async_ptsz_params,
		    dst_device, dstDevice, dst_pitch, dstPitch, value, uc, width, Width, height,
		    Height, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d2d8_async_params, cuMemsetD2D8Async_params);
	SAME_FIELDS(struct ts_cu_memset_d2d8_async_params, cuMemsetD2D8Async_params, dst_device,
		    dstDevice, dst_pitch, dstPitch, value, uc, width, Width, height, Height, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_memset_d2d16_async_params, cuMemsetD2D16Async_ptsz_params);
	SAME_FIELDS(struct ts_cu_memset_d2d16_async_params, cuMemsetD2D16Async_ptsz_params,
		    dst_device, dstDevice, dst_pitch, dstPitch, value, us, width, Width, height,
		    Height, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d2d16_async_params, cuMemsetD2D16Async_params);
	SAME_FIELDS(struct ts_cu_memset_d2d16_async_params, cuMemsetD2D16Async_params, dst_device,
		    dstDevice, dst_pitch, dstPitch, value, us, width, Width, height, Height, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_memset_d2d32_async_params, cuMemsetD2D32Async_ptsz_params);
	SAME_FIELDS(struct ts_cu_memset_d2d32_async_params, cuMemsetD2D32Async_ptsz_params,
		    dst_device, dstDevice, dst_pitch, dstPitch, value, ui, width, Width, height,
		    Height, stream, hStream);
	SAME_SIZE(struct ts_cu_memset_d2d32_async_params, cuMemsetD2D32Async_params);
	SAME_FIELDS(struct ts_cu_memset_d2d32_async_params, cuMemsetD2D32Async_params, dst_device,
		    dstDevice, dst_pitch, dstPitch, value, ui, width, Width, height, Height, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_mem_address_reserve_params, cuMemAddressReserve_params);
	SAME_FIELDS(struct ts_cu_mem_address_reserve_params, cuMemAddressReserve_params, ptr, ptr,
		    size, size, alignment, alignment, addr, addr, flags, flags);
	SAME_SIZE(struct ts_cu_mem_address_free_params, cuMemAddressFree_params);
	SAME_FIELDS(struct ts_cu_mem_address_free_params, cuMemAddressFree_params, ptr, ptr, size,
		    size);
	SAME_SIZE(struct ts_cu_mem_create_params, cuMemCreate_params);
	SAME_FIELDS(struct ts_cu_mem_create_params, cuMemCreate_params, handle, handle, size, size,
		    prop, prop, flags, flags);
	SAME_SIZE(struct ts_cu_mem_release_params, cuMemRelease_params);
	SAME_FIELDS(struct ts_cu_mem_release_params, cuMemRelease_params, handle, handle);
	SAME_SIZE(struct ts_cu_mem_map_params, cuMemMap_params);
	SAME_FIELDS(struct ts_cu_mem_map_params, cuMemMap_params, ptr, ptr, size, size, offset,
		    offset, handle, handle, flags, flags);
	SAME_SIZE(struct ts_cu_mem_unmap_params, cuMemUnmap_params);
	SAME_FIELDS(struct ts_cu_mem_unmap_params, cuMemUnmap_params, ptr, ptr, size, size);
	SAME_SIZE(struct ts_cu_mem_set_access_params, cuMemSetAccess_params);
	SAME_FIELDS(struct ts_cu_mem_set_access_params, cuMemSetAccess_params, ptr, ptr, size, size,
		    desc, desc, count, count);
	SAME_SIZE(struct ts_cu_mem_free_async_params, cuMemFreeAsync_ptsz_params);
	SAME_FIELDS(struct ts_cu_mem_free_async_params, cuMemFreeAsync_ptsz_params, dev_ptr, dptr,
		    stream, hStream);
	SAME_SIZE(struct ts_cu_mem_free_async_params, cuMemFreeAsync_params);
	SAME_FIELDS(struct ts_cu_mem_free_async_params, cuMemFreeAsync_params, dev_ptr, dptr,
		    stream, hStream);
	SAME_SIZE(struct ts_cu_mem_alloc_async_params, cuMemAllocAsync_ptsz_params);
	SAME_FIELDS(struct ts_cu_mem_alloc_async_params, cuMemAllocAsync_ptsz_params, dev_ptr, dptr,
		    byte_size, bytesize, stream, hStream);
	SAME_SIZE(struct ts_cu_mem_alloc_async_params, cuMemAllocAsync_params);
	SAME_FIELDS(struct ts_cu_mem_alloc_async_params, cuMemAllocAsync_params, dev_ptr, dptr,
		    byte_size, bytesize, stream, hStream);
	SAME_SIZE(struct ts_cu_mem_pool_trim_to_params, cuMemPoolTrimTo_params);
	SAME_FIELDS(struct ts_cu_mem_pool_trim_to_params, cuMemPoolTrimTo_params, pool, pool,
		    min_bytes_to_keep, minBytesToKeep);
	SAME_SIZE(struct ts_cu_mem_pool_set_attribute_params, cuMemPoolSetAttribute_params);
	SAME_FIELDS(struct ts_cu_mem_pool_set_attribute_params, cuMemPoolSetAttribute_params, pool,
		    pool, attr, attr, value, value);
	SAME_SIZE(struct ts_cu_mem_pool_set_access_params, cuMemPoolSetAccess_params);
	SAME_FIELDS(struct ts_cu_mem_pool_set_access_params, cuMemPoolSetAccess_params, pool, pool,
		    map, map, count, count);
	SAME_SIZE(struct ts_cu_mem_pool_create_params, cuMemPoolCreate_params);
	SAME_FIELDS(struct ts_cu_mem_pool_create_params, cuMemPoolCreate_params, pool, pool,
		    pool_props, poolProps);
	SAME_SIZE(struct ts_cu_mem_pool_destroy_params, cuMemPoolDestroy_params);
	SAME_FIELDS(struct ts_cu_mem_pool_destroy_params, cuMemPoolDestroy_params, pool, pool);
	SAME_SIZE(struct ts_cu_mem_alloc_from_pool_async_params,
		  cuMemAllocFromPoolAsync_ptsz_params);
	SAME_FIELDS(struct ts_cu_mem_alloc_from_pool_async_params,
		    cuMemAllocFromPoolAsync_ptsz_params, dev_ptr, dptr, byte_size, bytesize, pool,
		    pool, stream, hStream);
	SAME_SIZE(struct ts_cu_mem_alloc_from_pool_async_params, cuMemAllocFromPoolAsync_params);
	SAME_FIELDS(struct ts_cu_mem_alloc_from_pool_async_params, cuMemAllocFromPoolAsync_params,
		    dev_ptr, dptr, byte_size, bytesize, pool, pool, stream, hStream);
	SAME_SIZE(struct ts_cu_pointer_get_attribute_params, cuPointerGetAttribute_params);
	SAME_FIELDS(struct ts_cu_pointer_get_attribute_params, cuPointerGetAttribute_params, data,
		    data, attribute, attribute, ptr, ptr);
	SAME_SIZE(struct ts_cu_mem_prefetch_async_params, cuMemPrefetchAsync_v2_ptsz_params);
	SAME_FIELDS(struct ts_cu_mem_prefetch_async_params, cuMemPrefetchAsync_v2_ptsz_params,
		    dev_ptr, devPtr, count, count, location, location, flags, flags, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_mem_prefetch_async_params, cuMemPrefetchAsync_v2_params);
	SAME_FIELDS(struct ts_cu_mem_prefetch_async_params, cuMemPrefetchAsync_v2_params, dev_ptr,
		    devPtr, count, count, location, location, flags, flags, stream, hStream);
	SAME_SIZE(struct ts_cu_mem_advise_params, cuMemAdvise_v2_params);
	SAME_FIELDS(struct ts_cu_mem_advise_params, cuMemAdvise_v2_params, dev_ptr, devPtr, count,
		    count, advice, advice, location, location);
	SAME_SIZE(struct ts_cu_pointer_set_attribute_params, cuPointerSetAttribute_params);
	SAME_FIELDS(struct ts_cu_pointer_set_attribute_params, cuPointerSetAttribute_params, value,
		    value, attribute, attribute, ptr, ptr);
	SAME_SIZE(struct ts_cu_pointer_get_attributes_params, cuPointerGetAttributes_params);
	SAME_FIELDS(struct ts_cu_pointer_get_attributes_params, cuPointerGetAttributes_params,
		    num_attributes, numAttributes, attributes, attributes, data, data, ptr, ptr);
	SAME_SIZE(struct ts_cu_stream_create_params, cuStreamCreate_params);
	SAME_FIELDS(struct ts_cu_stream_create_params, cuStreamCreate_params, stream, phStream,
		    flags, Flags);
	SAME_SIZE(struct ts_cu_stream_create_with_priority_params,
		  cuStreamCreateWithPriority_params);
	SAME_FIELDS(struct ts_cu_stream_create_with_priority_params,
		    cuStreamCreateWithPriority_params, stream, phStream, flags, flags, priority,
		    priority);
	SAME_SIZE(struct ts_cu_stream_get_priority_params, cuStreamGetPriority_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_get_priority_params, cuStreamGetPriority_ptsz_params,
		    stream, hStream, priority, priority);
	SAME_SIZE(struct ts_cu_stream_get_priority_params, cuStreamGetPriority_params);
	SAME_FIELDS(struct ts_cu_stream_get_priority_params, cuStreamGetPriority_params, stream,
		    hStream, priority, priority);
	SAME_SIZE(struct ts_cu_stream_get_device_params, cuStreamGetDevice_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_get_device_params, cuStreamGetDevice_ptsz_params, stream,
		    hStream, device, device);
	SAME_SIZE(struct ts_cu_stream_get_device_params, cuStreamGetDevice_params);
	SAME_FIELDS(struct ts_cu_stream_get_device_params, cuStreamGetDevice_params, stream,
		    hStream, device, device);
	SAME_SIZE(struct ts_cu_stream_get_flags_params, cuStreamGetFlags_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_get_flags_params, cuStreamGetFlags_ptsz_params, stream,
		    hStream, flags, flags);
	SAME_SIZE(struct ts_cu_stream_get_flags_params, cuStreamGetFlags_params);
	SAME_FIELDS(struct ts_cu_stream_get_flags_params, cuStreamGetFlags_params, stream, hStream,
		    flags, flags);
	SAME_SIZE(struct ts_cu_stream_get_id_params, cuStreamGetId_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_get_id_params, cuStreamGetId_ptsz_params, stream, hStream,
		    stream_id, streamId);
	SAME_SIZE(struct ts_cu_stream_get_id_params, cuStreamGetId_params);
	SAME_FIELDS(struct ts_cu_stream_get_id_params, cuStreamGetId_params, stream, hStream,
		    stream_id, streamId);
	SAME_SIZE(struct ts_cu_stream_get_ctx_params, cuStreamGetCtx_v2_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_get_ctx_params, cuStreamGetCtx_v2_ptsz_params, stream,
		    hStream, ctx, pCtx, green_ctx, pGreenCtx);
	SAME_SIZE(struct ts_cu_stream_get_ctx_params, cuStreamGetCtx_v2_params);
	SAME_FIELDS(struct ts_cu_stream_get_ctx_params, cuStreamGetCtx_v2_params, stream, hStream,
		    ctx, pCtx, green_ctx, pGreenCtx);
	SAME_SIZE(struct ts_cu_stream_wait_event_params, cuStreamWaitEvent_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_wait_event_params, cuStreamWaitEvent_ptsz_params, stream,
		    hStream, event, hEvent, flags, Flags);
	SAME_SIZE(struct ts_cu_stream_wait_event_params, cuStreamWaitEvent_params);
	SAME_FIELDS(struct ts_cu_stream_wait_event_params, cuStreamWaitEvent_params, stream,
		    hStream, event, hEvent, flags, Flags);
	SAME_SIZE(struct ts_cu_stream_add_callback_params, cuStreamAddCallback_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_add_callback_params, cuStreamAddCallback_ptsz_params,
		    stream, hStream, callback, callback, user_data, userData, flags, flags);
	SAME_SIZE(struct ts_cu_stream_add_callback_params, cuStreamAddCallback_params);
	SAME_FIELDS(struct ts_cu_stream_add_callback_params, cuStreamAddCallback_params, stream,
		    hStream, callback, callback, user_data, userData, flags, flags);
	SAME_SIZE(struct ts_cu_stream_begin_capture_params, cuStreamBeginCapture_v2_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_begin_capture_params, cuStreamBeginCapture_v2_ptsz_params,
		    stream, hStream, mode, mode);
	SAME_SIZE(struct ts_cu_stream_begin_capture_params, cuStreamBeginCapture_v2_params);
	SAME_FIELDS(struct ts_cu_stream_begin_capture_params, cuStreamBeginCapture_v2_params,
		    stream, hStream, mode, mode);
	SAME_SIZE(struct ts_cu_thread_exchange_stream_capture_mode_params,
		  cuThreadExchangeStreamCaptureMode_params);
	SAME_FIELDS(struct ts_cu_thread_exchange_stream_capture_mode_params,
		    cuThreadExchangeStreamCaptureMode_params, mode, mode);
	SAME_SIZE(struct ts_cu_stream_end_capture_params, cuStreamEndCapture_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_end_capture_params, cuStreamEndCapture_ptsz_params, stream,
		    hStream, graph, phGraph);
	SAME_SIZE(struct ts_cu_stream_end_capture_params, cuStreamEndCapture_params);
	SAME_FIELDS(struct ts_cu_stream_end_capture_params, cuStreamEndCapture_params, stream,
		    hStream, graph, phGraph);
	SAME_SIZE(struct ts_cu_stream_is_capturing_params, cuStreamIsCapturing_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_is_capturing_params, cuStreamIsCapturing_ptsz_params,
		    stream, hStream, capture_status, captureStatus);
	SAME_SIZE(struct ts_cu_stream_is_capturing_params, cuStreamIsCapturing_params);
	SAME_FIELDS(struct ts_cu_stream_is_capturing_params, cuStreamIsCapturing_params, stream,
		    hStream, capture_status, captureStatus);
	SAME_SIZE(struct ts_cu_stream_get_capture_info_params,
		  cuStreamGetCaptureInfo_v3_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_get_capture_info_params,
		    cuStreamGetCaptureInfo_v3_ptsz_params, stream, hStream, capture_status_out,
		    captureStatus_out, id_out, id_out, graph_out, graph_out, dependencies_out,
		    dependencies_out, edge_data_out, edgeData_out, num_dependencies_out,
		    numDependencies_out);
	SAME_SIZE(struct ts_cu_stream_get_capture_info_params, cuStreamGetCaptureInfo_v3_params);
	SAME_FIELDS(struct ts_cu_stream_get_capture_info_params, cuStreamGetCaptureInfo_v3_params,
		    stream, hStream, capture_status_out, captureStatus_out, id_out, id_out,
		    graph_out, graph_out, dependencies_out, dependencies_out, edge_data_out,
		    edgeData_out, num_dependencies_out, numDependencies_out);
	SAME_SIZE(struct ts_cu_stream_attach_mem_async_params, cuStreamAttachMemAsync_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_attach_mem_async_params, cuStreamAttachMemAsync_ptsz_params,
		    stream, hStream, dev_ptr, dptr, length, length, flags, flags);
	SAME_SIZE(struct ts_cu_stream_attach_mem_async_params, cuStreamAttachMemAsync_params);
	SAME_FIELDS(struct ts_cu_stream_attach_mem_async_params, cuStreamAttachMemAsync_params,
		    stream, hStream, dev_ptr, dptr, length, length, flags, flags);
	SAME_SIZE(struct ts_cu_stream_query_params, cuStreamQuery_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_query_params, cuStreamQuery_ptsz_params, stream, hStream);
	SAME_SIZE(struct ts_cu_stream_query_params, cuStreamQuery_params);
	SAME_FIELDS(struct ts_cu_stream_query_params, cuStreamQuery_params, stream, hStream);
	SAME_SIZE(struct ts_cu_stream_synchronize_params, cuStreamSynchronize_ptsz_params);
	SAME_FIELDS(struct ts_cu_stream_synchronize_params, cuStreamSynchronize_ptsz_params, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_stream_synchronize_params, cuStreamSynchronize_params);
	SAME_FIELDS(struct ts_cu_stream_synchronize_params, cuStreamSynchronize_params, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_stream_destroy_params, cuStreamDestroy_v2_params);
	SAME_FIELDS(struct ts_cu_stream_destroy_params, cuStreamDestroy_v2_params, stream, hStream);
	SAME_SIZE(struct ts_cu_stream_destroy_params, cuStreamDestroy_params);
	SAME_FIELDS(struct ts_cu_stream_destroy_params, cuStreamDestroy_params, stream, hStream);
	SAME_SIZE(struct ts_cu_event_create_params, cuEventCreate_params);
	SAME_FIELDS(struct ts_cu_event_create_params, cuEventCreate_params, event, phEvent, flags,
		    Flags);
	SAME_SIZE(struct ts_cu_event_record_params, cuEventRecord_ptsz_params);
	SAME_FIELDS(struct ts_cu_event_record_params, cuEventRecord_ptsz_params, event, hEvent,
		    stream, hStream);
	SAME_SIZE(struct ts_cu_event_record_params, cuEventRecord_params);
	SAME_FIELDS(struct ts_cu_event_record_params, cuEventRecord_params, event, hEvent, stream,
		    hStream);
	SAME_SIZE(struct ts_cu_event_record_with_flags_params, cuEventRecordWithFlags_ptsz_params);
	SAME_FIELDS(struct ts_cu_event_record_with_flags_params, cuEventRecordWithFlags_ptsz_params,
		    event, hEvent, stream, hStream, flags, flags);
	SAME_SIZE(struct ts_cu_event_record_with_flags_params, cuEventRecordWithFlags_params);
	SAME_FIELDS(struct ts_cu_event_record_with_flags_params, cuEventRecordWithFlags_params,
		    event, hEvent, stream, hStream, flags, flags);
	SAME_SIZE(struct ts_cu_event_query_params, cuEventQuery_params);
	SAME_FIELDS(struct ts_cu_event_query_params, cuEventQuery_params, event, hEvent);
	SAME_SIZE(struct ts_cu_event_synchronize_params, cuEventSynchronize_params);
	SAME_FIELDS(struct ts_cu_event_synchronize_params, cuEventSynchronize_params, event,
		    hEvent);
	SAME_SIZE(struct ts_cu_event_destroy_params, cuEventDestroy_v2_params);
	SAME_FIELDS(struct ts_cu_event_destroy_params, cuEventDestroy_v2_params, event, hEvent);
	SAME_SIZE(struct ts_cu_event_destroy_params, cuEventDestroy_params);
	SAME_FIELDS(struct ts_cu_event_destroy_params, cuEventDestroy_params, event, hEvent);
	SAME_SIZE(struct ts_cu_event_elapsed_time_params, cuEventElapsedTime_v2_params);
	SAME_FIELDS(struct ts_cu_event_elapsed_time_params, cuEventElapsedTime_v2_params,
		    milliseconds, pMilliseconds, start, hStart, end, hEnd);
	SAME_SIZE(struct ts_cu_event_elapsed_time_params, cuEventElapsedTime_params);
	SAME_FIELDS(struct ts_cu_event_elapsed_time_params, cuEventElapsedTime_params, milliseconds,
		    pMilliseconds, start, hStart, end, hEnd);
	SAME_SIZE(struct ts_cu_func_get_attribute_params, cuFuncGetAttribute_params);
	SAME_FIELDS(struct ts_cu_func_get_attribute_params, cuFuncGetAttribute_params, pi, pi,
		    attrib, attrib, func, hfunc);
	SAME_SIZE(struct ts_cu_func_set_attribute_params, cuFuncSetAttribute_params);
	SAME_FIELDS(struct ts_cu_func_set_attribute_params, cuFuncSetAttribute_params, func, hfunc,
		    attrib, attrib, value, value);
	SAME_SIZE(struct ts_cu_func_set_cache_config_params, cuFuncSetCacheConfig_params);
	SAME_FIELDS(struct ts_cu_func_set_cache_config_params, cuFuncSetCacheConfig_params, func,
		    hfunc, config, config);
	SAME_SIZE(struct ts_cu_func_get_module_params, cuFuncGetModule_params);
	SAME_FIELDS(struct ts_cu_func_get_module_params, cuFuncGetModule_params, module, hmod, func,
		    hfunc);
	SAME_SIZE(struct ts_cu_func_get_name_params, cuFuncGetName_params);
	SAME_FIELDS(struct ts_cu_func_get_name_params, cuFuncGetName_params, name, name, func,
		    hfunc);
	SAME_SIZE(struct ts_cu_func_load_params, cuFuncLoad_params);
	SAME_FIELDS(struct ts_cu_func_load_params, cuFuncLoad_params, function, function);
	SAME_SIZE(struct ts_cu_launch_kernel_params, cuLaunchKernel_ptsz_params);
	SAME_FIELDS(struct ts_cu_launch_kernel_params, cuLaunchKernel_ptsz_params, func, f,
		    grid_dim_x, gridDimX, grid_dim_y, gridDimY, grid_dim_z, gridDimZ, block_dim_x,
		    blockDimX, block_dim_y, blockDimY, block_dim_z, blockDimZ, shared_mem_bytes,
		    sharedMemBytes, stream, hStream, kernel_params, kernelParams, extra, extra);
	SAME_SIZE(struct ts_cu_launch_kernel_params, cuLaunchKernel_params);
	SAME_FIELDS(struct ts_cu_launch_kernel_params, cuLaunchKernel_params, func, f, grid_dim_x,
		    gridDimX, grid_dim_y, gridDimY, grid_dim_z, gridDimZ, block_dim_x, blockDimX,
		    block_dim_y, blockDimY, block_dim_z, blockDimZ, shared_mem_bytes,
		    sharedMemBytes, stream, hStream, kernel_params, kernelParams, extra, extra);
	SAME_SIZE(struct ts_cu_launch_kernel_ex_params, cuLaunchKernelEx_ptsz_params);
	SAME_FIELDS(struct ts_cu_launch_kernel_ex_params, cuLaunchKernelEx_ptsz_params, config,
		    config, func, f, kernel_params, kernelParams, extra, extra);
	SAME_SIZE(struct ts_cu_launch_kernel_ex_params, cuLaunchKernelEx_params);
	SAME_FIELDS(struct ts_cu_launch_kernel_ex_params, cuLaunchKernelEx_params, config, config,
		    func, f, kernel_params, kernelParams, extra, extra);
	SAME_SIZE(struct ts_cu_launch_cooperative_kernel_params,
		  cuLaunchCooperativeKernel_ptsz_params);
	SAME_FIELDS(struct ts_cu_launch_cooperative_kernel_params,
		    cuLaunchCooperativeKernel_ptsz_params, func, f, grid_dim_x, gridDimX,
		    grid_dim_y, gridDimY, grid_dim_z, gridDimZ, block_dim_x, blockDimX, block_dim_y,
		    blockDimY, block_dim_z, blockDimZ, shared_mem_bytes, sharedMemBytes, stream,
		    hStream, kernel_params, kernelParams);
	SAME_SIZE(struct ts_cu_launch_cooperative_kernel_params, cuLaunchCooperativeKernel_params);
	SAME_FIELDS(struct ts_cu_launch_cooperative_kernel_params, cuLaunchCooperativeKernel_params,
		    func, f, grid_dim_x, gridDimX, grid_dim_y, gridDimY, grid_dim_z, gridDimZ,
		    block_dim_x, blockDimX, block_dim_y, blockDimY, block_dim_z, blockDimZ,
		    shared_mem_bytes, sharedMemBytes, stream, hStream, kernel_params, kernelParams);
	SAME_SIZE(struct ts_cu_launch_host_func_params, cuLaunchHostFunc_ptsz_params);
	SAME_FIELDS(struct ts_cu_launch_host_func_params, cuLaunchHostFunc_ptsz_params, stream,
		    hStream, fn, fn, user_data, userData);
	SAME_SIZE(struct ts_cu_launch_host_func_params, cuLaunchHostFunc_params);
	SAME_FIELDS(struct ts_cu_launch_host_func_params, cuLaunchHostFunc_params, stream, hStream,
		    fn, fn, user_data, userData);
	SAME_SIZE(struct ts_cu_graph_create_params, cuGraphCreate_params);
	SAME_FIELDS(struct ts_cu_graph_create_params, cuGraphCreate_params, graph, phGraph, flags,
		    flags);
	SAME_SIZE(struct ts_cu_graph_add_kernel_node_params, cuGraphAddKernelNode_v2_params);
	SAME_FIELDS(struct ts_cu_graph_add_kernel_node_params, cuGraphAddKernelNode_v2_params,
		    graph_node, phGraphNode, graph, hGraph, dependencies, dependencies,
		    num_dependencies, numDependencies, node_params, nodeParams);
	SAME_SIZE(struct ts_cu_graph_add_memcpy_node_params, cuGraphAddMemcpyNode_params);
	SAME_FIELDS(struct ts_cu_graph_add_memcpy_node_params, cuGraphAddMemcpyNode_params,
		    graph_node, phGraphNode, graph, hGraph, dependencies, dependencies,
		    num_dependencies, numDependencies, copy_params, copyParams, ctx, ctx);
	SAME_SIZE(struct ts_cu_graph_add_memset_node_params, cuGraphAddMemsetNode_params);
	SAME_FIELDS(struct ts_cu_graph_add_memset_node_params, cuGraphAddMemsetNode_params,
		    graph_node, phGraphNode, graph, hGraph, dependencies, dependencies,
		    num_dependencies, numDependencies, memset_params, memsetParams, ctx, ctx);
	SAME_SIZE(struct ts_cu_graph_add_host_node_params, cuGraphAddHostNode_params);
	SAME_FIELDS(struct ts_cu_graph_add_host_node_params, cuGraphAddHostNode_params, graph_node,
		    phGraphNode, graph, hGraph, dependencies, dependencies, num_dependencies,
		    numDependencies, node_params, nodeParams);
	SAME_SIZE(struct ts_cu_graph_add_empty_node_params, cuGraphAddEmptyNode_params);
	SAME_FIELDS(struct ts_cu_graph_add_empty_node_params, cuGraphAddEmptyNode_params,
		    graph_node, phGraphNode, graph, hGraph, dependencies, dependencies,
		    num_dependencies, numDependencies);
	SAME_SIZE(struct ts_cu_graph_clone_params, cuGraphClone_params);
	SAME_FIELDS(struct ts_cu_graph_clone_params, cuGraphClone_params, graph_clone, phGraphClone,
		    original_graph, originalGraph);
	SAME_SIZE(struct ts_cu_graph_add_dependencies_params, cuGraphAddDependencies_v2_params);
	SAME_FIELDS(struct ts_cu_graph_add_dependencies_params, cuGraphAddDependencies_v2_params,
		    graph, hGraph, from, from, to, to, edge_data, edgeData, num_dependencies,
		    numDependencies);
	SAME_SIZE(struct ts_cu_graph_instantiate_with_flags_params,
		  cuGraphInstantiateWithFlags_params);
	SAME_FIELDS(struct ts_cu_graph_instantiate_with_flags_params,
		    cuGraphInstantiateWithFlags_params, graph_exec, phGraphExec, graph, hGraph,
		    flags, flags);
	SAME_SIZE(struct ts_cu_graph_instantiate_with_params_params,
		  cuGraphInstantiateWithParams_ptsz_params);
	SAME_FIELDS(struct ts_cu_graph_instantiate_with_params_params,
		    cuGraphInstantiateWithParams_ptsz_params, graph_exec, phGraphExec, graph,
		    hGraph, instantiate_params, instantiateParams);
	SAME_SIZE(struct ts_cu_graph_instantiate_with_params_params,
		  cuGraphInstantiateWithParams_params);
	SAME_FIELDS(struct ts_cu_graph_instantiate_with_params_params,
		    cuGraphInstantiateWithParams_params, graph_exec, phGraphExec, graph, hGraph,
		    instantiate_params, instantiateParams);
	SAME_SIZE(struct ts_cu_graph_upload_params, cuGraphUpload_ptsz_params);
	SAME_FIELDS(struct ts_cu_graph_upload_params, cuGraphUpload_ptsz_params, graph_exec,
		    hGraphExec, stream, hStream);
	SAME_SIZE(struct ts_cu_graph_launch_params, cuGraphLaunch_ptsz_params);
	SAME_FIELDS(struct ts_cu_graph_launch_params, cuGraphLaunch_ptsz_params, graph_exec,
		    hGraphExec, stream, hStream);
	SAME_SIZE(struct ts_cu_graph_exec_destroy_params, cuGraphExecDestroy_params);
	SAME_FIELDS(struct ts_cu_graph_exec_destroy_params, cuGraphExecDestroy_params, graph_exec,
		    hGraphExec);
	SAME_SIZE(struct ts_cu_graph_destroy_params, cuGraphDestroy_params);
	SAME_FIELDS(struct ts_cu_graph_destroy_params, cuGraphDestroy_params, graph, hGraph);
	SAME_SIZE(struct ts_cu_graph_exec_update_params, cuGraphExecUpdate_v2_params);
	SAME_FIELDS(struct ts_cu_graph_exec_update_params, cuGraphExecUpdate_v2_params, graph_exec,
		    hGraphExec, graph, hGraph, result_info, resultInfo);
	SAME_SIZE(struct ts_cu_graph_exec_set_params_params, cuGraphExecNodeSetParams_params);
	SAME_FIELDS(struct ts_cu_graph_exec_set_params_params,
		    cuGraphExecKernelNodeSetParams_params, graph_exec, hGraphExec, node, hNode,
		    params, nodeParams);
	SAME_FIELDS(struct ts_cu_graph_exec_set_params_params,
		    cuGraphExecKernelNodeSetParams_v2_params, graph_exec, hGraphExec, node, hNode,
		    params, nodeParams);
	SAME_FIELDS(struct ts_cu_graph_exec_set_params_params,
		    cuGraphExecMemcpyNodeSetParams_params, graph_exec, hGraphExec, node, hNode,
		    params, copyParams);
	SAME_FIELDS(struct ts_cu_graph_exec_set_params_params,
		    cuGraphExecMemsetNodeSetParams_params, graph_exec, hGraphExec, node, hNode,
		    params, memsetParams);
	SAME_FIELDS(struct ts_cu_graph_exec_set_params_params, cuGraphExecHostNodeSetParams_params,
		    graph_exec, hGraphExec, node, hNode, params, nodeParams);
	SAME_FIELDS(struct ts_cu_graph_exec_set_params_params,
		    cuGraphExecChildGraphNodeSetParams_params, graph_exec, hGraphExec, node, hNode,
		    params, childGraph);
	SAME_FIELDS(struct ts_cu_graph_exec_set_params_params,
		    cuGraphExecEventRecordNodeSetEvent_params, graph_exec, hGraphExec, node, hNode,
		    params, event);
	SAME_FIELDS(struct ts_cu_graph_exec_set_params_params,
		    cuGraphExecEventWaitNodeSetEvent_params, graph_exec, hGraphExec, node, hNode,
		    params, event);
	SAME_FIELDS(struct ts_cu_graph_exec_set_params_params, cuGraphExecNodeSetParams_params,
		    graph_exec, hGraphExec, node, hNode, params, nodeParams);
	SAME_SIZE(struct ts_cu_graph_node_set_enabled_params, cuGraphNodeSetEnabled_params);
	SAME_FIELDS(struct ts_cu_graph_node_set_enabled_params, cuGraphNodeSetEnabled_params,
		    graph_exec, hGraphExec, node, hNode, is_enabled, isEnabled);
	SAME_SIZE(struct ts_cu_occupancy_max_active_blocks_per_multiprocessor_params,
		  cuOccupancyMaxActiveBlocksPerMultiprocessor_params);
	SAME_FIELDS(struct ts_cu_occupancy_max_active_blocks_per_multiprocessor_params,
		    cuOccupancyMaxActiveBlocksPerMultiprocessor_params, num_blocks, numBlocks, func,
		    func, block_size, blockSize, dynamic_s_mem_size, dynamicSMemSize);
	SAME_SIZE(struct ts_cu_occupancy_max_active_blocks_per_multiprocessor_with_flags_params,
		  cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_params);
	SAME_FIELDS(struct ts_cu_occupancy_max_active_blocks_per_multiprocessor_with_flags_params,
		    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_params, num_blocks,
		    numBlocks, func, func, block_size, blockSize, dynamic_s_mem_size,
		    dynamicSMemSize, flags, flags);
	SAME_SIZE(struct ts_cu_occupancy_max_potential_block_size_params,
		  cuOccupancyMaxPotentialBlockSize_params);
	SAME_FIELDS(struct ts_cu_occupancy_max_potential_block_size_params,
		    cuOccupancyMaxPotentialBlockSize_params, min_grid_size, minGridSize, block_size,
		    blockSize, func, func, block_size_to_dynamic_s_mem_size,
		    blockSizeToDynamicSMemSize, dynamic_s_mem_size, dynamicSMemSize,
		    block_size_limit, blockSizeLimit);
	SAME_SIZE(struct ts_cu_occupancy_max_potential_block_size_with_flags_params,
		  cuOccupancyMaxPotentialBlockSizeWithFlags_params);
	SAME_FIELDS(struct ts_cu_occupancy_max_potential_block_size_with_flags_params,
		    cuOccupancyMaxPotentialBlockSizeWithFlags_params, min_grid_size, minGridSize,
		    block_size, blockSize, func, func, block_size_to_dynamic_s_mem_size,
		    blockSizeToDynamicSMemSize, dynamic_s_mem_size, dynamicSMemSize,
		    block_size_limit, blockSizeLimit, flags, flags);
	SAME_SIZE(struct ts_cu_occupancy_available_dynamic_s_mem_per_block_params,
		  cuOccupancyAvailableDynamicSMemPerBlock_params);
	SAME_FIELDS(struct ts_cu_occupancy_available_dynamic_s_mem_per_block_params,
		    cuOccupancyAvailableDynamicSMemPerBlock_params, dynamic_smem_size,
		    dynamicSmemSize, func, func, num_blocks, numBlocks, block_size, blockSize);
	SAME_SIZE(struct ts_cu_device_can_access_peer_params, cuDeviceCanAccessPeer_params);
	SAME_FIELDS(struct ts_cu_device_can_access_peer_params, cuDeviceCanAccessPeer_params,
		    can_access_peer, canAccessPeer, dev, dev, peer_dev, peerDev);
	SAME_SIZE(struct ts_cu_ctx_enable_peer_access_params, cuCtxEnablePeerAccess_params);
	SAME_FIELDS(struct ts_cu_ctx_enable_peer_access_params, cuCtxEnablePeerAccess_params,
		    peer_context, peerContext, flags, Flags);
	SAME_SIZE(struct ts_cu_ctx_disable_peer_access_params, cuCtxDisablePeerAccess_params);
	SAME_FIELDS(struct ts_cu_ctx_disable_peer_access_params, cuCtxDisablePeerAccess_params,
		    peer_context, peerContext);
	SAME_SIZE(struct ts_cu_device_get_p2_p_attribute_params, cuDeviceGetP2PAttribute_params);
	SAME_FIELDS(struct ts_cu_device_get_p2_p_attribute_params, cuDeviceGetP2PAttribute_params,
		    value, value, attrib, attrib, src_device, srcDevice, dst_device, dstDevice);
	SAME_SIZE(struct ts_cu_get_proc_address_params, cuGetProcAddress_v2_params);
	SAME_FIELDS(struct ts_cu_get_proc_address_params, cuGetProcAddress_v2_params, symbol,
		    symbol, pfn, pfn, cuda_version, cudaVersion, flags, flags, symbol_status,
		    symbolStatus);
	SAME_SIZE(struct ts_cu_get_export_table_params, cuGetExportTable_params);
	SAME_FIELDS(struct ts_cu_get_export_table_params, cuGetExportTable_params, pp_export_table,
		    ppExportTable, export_table_id, pExportTableId);
	SAME_SIZE(struct ts_cu_graph_instantiate_params, cuGraphInstantiate_params);
	SAME_FIELDS(struct ts_cu_graph_instantiate_params, cuGraphInstantiate_params, graph_exec,
		    phGraphExec, graph, hGraph, error_node, phErrorNode, log_buffer, logBuffer,
		    buffer_size, bufferSize);
	SAME_SIZE(struct ts_cu_graph_instantiate_params, cuGraphInstantiate_v2_params);
	SAME_FIELDS(struct ts_cu_graph_instantiate_params, cuGraphInstantiate_v2_params, graph_exec,
		    phGraphExec, graph, hGraph, error_node, phErrorNode, log_buffer, logBuffer,
		    buffer_size, bufferSize);
}
