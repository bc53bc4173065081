/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that is linked with libamdhip64, as an extension of Python is. hip-loads.c loads it and
 * calls HIP through it, so that the loader binds HIP's names outside the global scope.
 */
#include "proto/abi/vendor/hip.h"
#include "tools/vgpu/generated-hip-functions.h"

#define API __attribute__((visibility("default")))

API int32_t plugin_hipMalloc(void **ptr, size_t size);
API int32_t plugin_hipMemcpy(void *dst, const void *src, size_t size_bytes, int32_t kind);
API int32_t plugin_hipMemset(void *dst, int32_t value, size_t size_bytes);
API int32_t plugin_hipFree(void *ptr);
API int32_t plugin_hipDeviceSynchronize(void);

int32_t plugin_hipMalloc(void **ptr, size_t size)
{
	return hipMalloc(ptr, size);
}

int32_t plugin_hipMemcpy(void *dst, const void *src, size_t size_bytes, int32_t kind)
{
	return hipMemcpy(dst, src, size_bytes, kind);
}

int32_t plugin_hipMemset(void *dst, int32_t value, size_t size_bytes)
{
	return hipMemset(dst, value, size_bytes);
}

int32_t plugin_hipFree(void *ptr)
{
	return hipFree(ptr);
}

int32_t plugin_hipDeviceSynchronize(void)
{
	return hipDeviceSynchronize();
}
