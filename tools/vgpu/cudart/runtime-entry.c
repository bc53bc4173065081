/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookup of driver functions by name, and calls for features that the virtual GPU lacks: programs
 * make them to detect the feature. Programs call this file through the functions of
 * generated-cudart-entry.h.
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

/* Tables between NVIDIA's libraries: none of these libraries works with this runtime. */
API int cudaGetExportTable(const void **table, const struct ts_cu_uuid *id)
{
	if (table)
		*table = NULL;
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

#include "tools/vgpu/generated-cudart-entry.h"
