/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of all kinds, pools, and queries of an address. Programs call this file through the
 * functions of generated-cudart-memory.h; this file calls the driver's functions.
 */
#include "tools/vgpu/cudart/runtime.h"

static int malloc_device(void **dev_ptr, size_t size)
{
	int r = ready();

	if (r)
		return r;
	if (!dev_ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	/* Size 0 is valid here, unlike in the driver. */
	if (!size) {
		*dev_ptr = NULL;
		return 0;
	}
	return cuMemAlloc_v2((uint64_t *)dev_ptr, size);
}

static int malloc_host(void **ptr, size_t size)
{
	int r = ready();

	if (r)
		return r;
	if (!ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	if (!size) {
		*ptr = NULL;
		return 0;
	}
	return cuMemAllocHost_v2(ptr, size);
}

static int malloc_managed(void **dev_ptr, size_t size, uint32_t flags)
{
	int r = ready();

	if (r)
		return r;
	if (!dev_ptr || !size)
		return TS_CUDA_ERROR_INVALID_VALUE;
	return cuMemAllocManaged((uint64_t *)dev_ptr, size, flags);
}

static int malloc_pitch(void **dev_ptr, size_t *pitch, size_t width, size_t height)
{
	int r = ready();

	if (r)
		return r;
	if (!dev_ptr || !pitch)
		return TS_CUDA_ERROR_INVALID_VALUE;
	if (!width || !height) {
		*dev_ptr = NULL;
		*pitch = 0;
		return 0;
	}
	return cuMemAllocPitch_v2((uint64_t *)dev_ptr, pitch, width, height, 4);
}

static int malloc_3d(struct ts_cuda_pitched_ptr *pitched_dev_ptr, struct ts_cuda_extent extent)
{
	size_t rows;
	int r;

	if (!pitched_dev_ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
		return TS_CUDA_ERROR_MEMORY_ALLOCATION;
	r = malloc_pitch(&pitched_dev_ptr->ptr, &pitched_dev_ptr->pitch, extent.width, rows);
	if (!r) {
		pitched_dev_ptr->xsize = extent.width;
		pitched_dev_ptr->ysize = extent.height;
	}
	return r;
}

static int free_device(void *dev_ptr)
{
	int r = ready();

	/* Programs call cudaFree(NULL) to start the runtime. */
	if (r || !dev_ptr)
		return r;
	return cuMemFree_v2(address(dev_ptr));
}

static int free_host(void *ptr)
{
	int r = ready();

	if (r || !ptr)
		return r;
	return cuMemFreeHost(ptr);
}

static int host_alloc(void **host, size_t size, uint32_t flags)
{
	int r = ready();

	if (r)
		return r;
	if (!host)
		return TS_CUDA_ERROR_INVALID_VALUE;
	if (!size) {
		*host = NULL;
		return 0;
	}
	return cuMemHostAlloc(host, size, flags);
}

static int host_register(void *ptr, size_t size, uint32_t flags)
{
	int r = ready();

	return r ? r : cuMemHostRegister_v2(ptr, size, flags);
}

static int host_unregister(void *ptr)
{
	int r = ready();

	return r ? r : cuMemHostUnregister(ptr);
}

static int host_get_device_pointer(void **device, void *host, uint32_t flags)
{
	int r = ready();

	return r ? r : cuMemHostGetDevicePointer_v2((uint64_t *)device, host, flags);
}

static int host_get_flags(uint32_t *flags, void *host)
{
	int r = ready();

	return r ? r : cuMemHostGetFlags(flags, host);
}

static int mem_get_info(size_t *free, size_t *total)
{
	int r = ready();

	return r ? r : cuMemGetInfo_v2(free, total);
}

static int malloc_async(void **dev_ptr, size_t size, void *stream, bool own)
{
	int r = ready();

	if (r)
		return r;
	if (!dev_ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	if (!size) {
		*dev_ptr = NULL;
		return 0;
	}
	return (own ? cuMemAllocAsync_ptsz : cuMemAllocAsync)((uint64_t *)dev_ptr, size, stream);
}

static int malloc_from_pool_async(void **ptr, size_t size, void *mem_pool, void *stream, bool own)
{
	int r = ready();

	if (r)
		return r;
	if (!ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	return (own ? cuMemAllocFromPoolAsync_ptsz : cuMemAllocFromPoolAsync)((uint64_t *)ptr, size,
									      mem_pool, stream);
}

static int free_async(void *dev_ptr, void *stream, bool own)
{
	int r = ready();

	if (r || !dev_ptr)
		return r;
	return (own ? cuMemFreeAsync_ptsz : cuMemFreeAsync)(address(dev_ptr), stream);
}

static int device_get_default_mem_pool(void **mem_pool, int32_t device)
{
	int r = start();

	return r ? r : cuDeviceGetDefaultMemPool(mem_pool, device);
}

static int device_get_mem_pool(void **mem_pool, int32_t device)
{
	int r = start();

	return r ? r : cuDeviceGetMemPool(mem_pool, device);
}

static int device_set_mem_pool(int32_t device, void *mem_pool)
{
	int r = start();

	return r ? r : cuDeviceSetMemPool(device, mem_pool);
}

static int mem_pool_create(void **mem_pool, const struct ts_cu_mem_pool_props *pool_props)
{
	int r = start();

	return r ? r : cuMemPoolCreate(mem_pool, pool_props);
}

static int mem_pool_destroy(void *mem_pool)
{
	int r = start();

	return r ? r : cuMemPoolDestroy(mem_pool);
}

static int mem_pool_trim_to(void *mem_pool, size_t min_bytes_to_keep)
{
	int r = start();

	return r ? r : cuMemPoolTrimTo(mem_pool, min_bytes_to_keep);
}

static int mem_pool_set_attribute(void *mem_pool, int32_t attr, void *value)
{
	int r = start();

	return r ? r : cuMemPoolSetAttribute(mem_pool, attr, value);
}

static int mem_pool_get_attribute(void *mem_pool, int32_t attr, void *value)
{
	int r = start();

	return r ? r : cuMemPoolGetAttribute(mem_pool, attr, value);
}

static int mem_pool_set_access(void *mem_pool, const struct ts_cu_mem_access_desc *desc_list,
			       size_t count)
{
	int r = start();

	return r ? r : cuMemPoolSetAccess(mem_pool, desc_list, count);
}

static int mem_pool_get_access(int32_t *flags, void *mem_pool, struct ts_cu_mem_location *location)
{
	int r = start();

	return r ? r : cuMemPoolGetAccess(flags, mem_pool, location);
}

static int pointer_get_attributes(struct ts_cuda_pointer_attributes *attributes, const void *ptr)
{
	uint32_t type, managed;
	int32_t device;
	uint64_t device_pointer;
	void *host_pointer;
	int32_t asked[] = {
		TS_CU_POINTER_ATTRIBUTE_MEMORY_TYPE,	TS_CU_POINTER_ATTRIBUTE_IS_MANAGED,
		TS_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, TS_CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
		TS_CU_POINTER_ATTRIBUTE_HOST_POINTER,
	};
	void *answers[] = {&type, &managed, &device, &device_pointer, &host_pointer};
	int r = ready();

	if (r)
		return r;
	if (!attributes)
		return TS_CUDA_ERROR_INVALID_VALUE;
	r = cuPointerGetAttributes(sizeof(asked) / sizeof(asked[0]), asked, answers, address(ptr));
	if (r)
		return r;
	*attributes = (struct ts_cuda_pointer_attributes){
		.type = managed				  ? TS_CUDA_MEMORY_TYPE_MANAGED
			: type == TS_CU_MEMORYTYPE_HOST	  ? TS_CUDA_MEMORY_TYPE_HOST
			: type == TS_CU_MEMORYTYPE_DEVICE ? TS_CUDA_MEMORY_TYPE_DEVICE
							  : TS_CUDA_MEMORY_TYPE_UNREGISTERED,
		.device = device,
		.device_pointer = (void *)(uintptr_t)device_pointer,
		.host_pointer = type ? host_pointer : (void *)(uintptr_t)ptr,
	};
	return 0;
}

static int mem_advise(const void *dev_ptr, size_t count, int32_t advice,
		      struct ts_cu_mem_location location)
{
	int r = ready();

	return r ? r : cuMemAdvise_v2(address(dev_ptr), count, advice, location);
}

static int mem_prefetch_async(const void *dev_ptr, size_t count, struct ts_cu_mem_location location,
			      uint32_t flags, void *stream, bool own)
{
	int r = ready();

	return r ? r
		 : (own ? cuMemPrefetchAsync_v2_ptsz
			: cuMemPrefetchAsync_v2)(address(dev_ptr), count, location, flags, stream);
}

static int get_symbol_address(void **dev_ptr, const void *symbol)
{
	uint64_t where;
	size_t bytes;
	int r = ready();

	if (!r)
		r = variable_of(symbol, &where, &bytes);
	if (r)
		return r;
	if (!dev_ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	*dev_ptr = (void *)(uintptr_t)where;
	return 0;
}

static int get_symbol_size(size_t *size, const void *symbol)
{
	uint64_t where;
	size_t bytes;
	int r = ready();

	if (!r)
		r = variable_of(symbol, &where, &bytes);
	if (r)
		return r;
	if (!size)
		return TS_CUDA_ERROR_INVALID_VALUE;
	*size = bytes;
	return 0;
}

#include "tools/vgpu/generated-cudart-memory.h"
