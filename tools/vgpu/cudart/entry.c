/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver functions by name, and the calls for what the virtual GPU does not have, that programs make to find out.
 */
#include <string.h>

#include "tools/vgpu/cudart/runtime.h"
#include "tools/vgpu/refused.h"

static int entry_point_by_version(const char *symbol, void **func_ptr, uint32_t cuda_version,
				  uint64_t flags, int32_t *driver_status, bool own)
{
	int32_t status;
	int r = start();

	if (r)
		return r;
	if (!symbol || !func_ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	if (own && flags == TS_CUDA_ENABLE_DEFAULT)
		flags = TS_CUDA_ENABLE_PER_THREAD_DEFAULT_STREAM;
	r = cuGetProcAddress_v2(symbol, func_ptr, (int32_t)cuda_version, flags, &status);
	if (driver_status)
		*driver_status = status;
	else if (!r && status == TS_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
		r = TS_CUDA_ERROR_SYMBOL_NOT_FOUND;
	return r;
}

static int entry_point(const char *symbol, void **func_ptr, uint64_t flags, int32_t *driver_status,
		       bool own)
{
	return entry_point_by_version(symbol, func_ptr, TS_CUDART_VERSION, flags, driver_status,
				      own);
}

API int cudaGetDriverEntryPoint(const char *symbol, void **func_ptr, uint64_t flags,
				int32_t *driver_status)
{
	struct ts_cuda_get_driver_entry_point_params params = {symbol, func_ptr, flags,
							       driver_status};

	return RT(cudaGetDriverEntryPoint_v11030, "cudaGetDriverEntryPoint", &params,
		  entry_point(symbol, func_ptr, flags, driver_status, false));
}

API int cudaGetDriverEntryPoint_ptsz(const char *symbol, void **func_ptr, uint64_t flags,
				     int32_t *driver_status)
{
	struct ts_cuda_get_driver_entry_point_params params = {symbol, func_ptr, flags,
							       driver_status};

	return RT(cudaGetDriverEntryPoint_ptsz_v11030, "cudaGetDriverEntryPoint_ptsz", &params,
		  entry_point(symbol, func_ptr, flags, driver_status, true));
}

API int cudaGetDriverEntryPointByVersion(const char *symbol, void **func_ptr, uint32_t cuda_version,
					 uint64_t flags, int32_t *driver_status)
{
	struct ts_cuda_get_driver_entry_point_by_version_params params = {symbol, func_ptr,
									  cuda_version, flags,
									  driver_status};

	return RT(cudaGetDriverEntryPointByVersion_v12050, "cudaGetDriverEntryPointByVersion",
		  &params,
		  entry_point_by_version(symbol, func_ptr, cuda_version, flags, driver_status,
					 false));
}

API int cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **func_ptr,
					      uint32_t cuda_version, uint64_t flags,
					      int32_t *driver_status)
{
	struct ts_cuda_get_driver_entry_point_by_version_params params = {symbol, func_ptr,
									  cuda_version, flags,
									  driver_status};

	return RT(cudaGetDriverEntryPointByVersion_ptsz_v12050,
		  "cudaGetDriverEntryPointByVersion_ptsz", &params,
		  entry_point_by_version(symbol, func_ptr, cuda_version, flags, driver_status,
					 true));
}

/* Memory and events of other processes. */
struct ipc_handle {
	char bytes[64];
};

static int refuse(const char *name)
{
	static atomic_bool said;
	int r = ready();

	if (r)
		return r;
	ts_vgpu_say_refused(name, &said);
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

API int cudaIpcGetEventHandle(void *handle, void *event)
{
	struct {
		void *handle;
		void *event;
	} params = {handle, event};

	return RT(cudaIpcGetEventHandle_v4010, "cudaIpcGetEventHandle", &params,
		  refuse("cudaIpcGetEventHandle"));
}

API int cudaIpcOpenEventHandle(void **event, struct ipc_handle handle)
{
	struct {
		void **event;
		struct ipc_handle handle;
	} params = {event, handle};

	return RT(cudaIpcOpenEventHandle_v4010, "cudaIpcOpenEventHandle", &params,
		  refuse("cudaIpcOpenEventHandle"));
}

API int cudaIpcGetMemHandle(void *handle, void *dev_ptr)
{
	struct {
		void *handle;
		void *dev_ptr;
	} params = {handle, dev_ptr};

	return RT(cudaIpcGetMemHandle_v4010, "cudaIpcGetMemHandle", &params,
		  refuse("cudaIpcGetMemHandle"));
}

API int cudaIpcOpenMemHandle(void **dev_ptr, struct ipc_handle handle, uint32_t flags)
{
	struct {
		void **dev_ptr;
		struct ipc_handle handle;
		uint32_t flags;
	} params = {dev_ptr, handle, flags};

	return RT(cudaIpcOpenMemHandle_v4010, "cudaIpcOpenMemHandle", &params,
		  refuse("cudaIpcOpenMemHandle"));
}

API int cudaIpcCloseMemHandle(void *dev_ptr)
{
	struct {
		void *dev_ptr;
	} params = {dev_ptr};

	return RT(cudaIpcCloseMemHandle_v4010, "cudaIpcCloseMemHandle", &params,
		  refuse("cudaIpcCloseMemHandle"));
}

/* Tables between NVIDIA's libraries; nothing of theirs works over this runtime. */
API int cudaGetExportTable(const void **table, const struct ts_cu_uuid *id)
{
	if (table)
		*table = NULL;
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}
