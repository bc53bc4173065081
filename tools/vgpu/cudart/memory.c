/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of every kind, pools, and what can be asked about an address. */
#include "tools/vgpu/cudart/runtime.h"

static int malloc_device(void **dev_ptr, size_t size)
{
	int r = ready();

	if (r)
		return r;
	if (!dev_ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	/* Nothing asked for is no mistake here, unlike in the driver. */
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

	/* Freeing nothing is how programs start the runtime. */
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

API int cudaMalloc(void **dev_ptr, size_t size)
{
	struct ts_cuda_malloc_params params = {dev_ptr, size};

	return RT(cudaMalloc_v3020, "cudaMalloc", &params, malloc_device(dev_ptr, size));
}

API int cudaMallocHost(void **ptr, size_t size)
{
	struct ts_cuda_malloc_host_params params = {ptr, size};

	return RT(cudaMallocHost_v3020, "cudaMallocHost", &params, malloc_host(ptr, size));
}

API int cudaMallocManaged(void **dev_ptr, size_t size, uint32_t flags)
{
	struct ts_cuda_malloc_managed_params params = {dev_ptr, size, flags};

	return RT(cudaMallocManaged_v6000, "cudaMallocManaged", &params,
		  malloc_managed(dev_ptr, size, flags));
}

API int cudaMallocPitch(void **dev_ptr, size_t *pitch, size_t width, size_t height)
{
	struct ts_cuda_malloc_pitch_params params = {dev_ptr, pitch, width, height};

	return RT(cudaMallocPitch_v3020, "cudaMallocPitch", &params,
		  malloc_pitch(dev_ptr, pitch, width, height));
}

API int cudaMalloc3D(struct ts_cuda_pitched_ptr *pitched_dev_ptr, struct ts_cuda_extent extent)
{
	struct ts_cuda_malloc3d_params params = {pitched_dev_ptr, extent};

	return RT(cudaMalloc3D_v3020, "cudaMalloc3D", &params, malloc_3d(pitched_dev_ptr, extent));
}

API int cudaFree(void *dev_ptr)
{
	struct ts_cuda_free_params params = {dev_ptr};

	return RT(cudaFree_v3020, "cudaFree", &params, free_device(dev_ptr));
}

API int cudaFreeHost(void *ptr)
{
	struct ts_cuda_free_host_params params = {ptr};

	return RT(cudaFreeHost_v3020, "cudaFreeHost", &params, free_host(ptr));
}

API int cudaHostAlloc(void **host, size_t size, uint32_t flags)
{
	struct ts_cuda_host_alloc_params params = {host, size, flags};

	return RT(cudaHostAlloc_v3020, "cudaHostAlloc", &params, host_alloc(host, size, flags));
}

API int cudaHostRegister(void *ptr, size_t size, uint32_t flags)
{
	struct ts_cuda_host_register_params params = {ptr, size, flags};

	return RT(cudaHostRegister_v4000, "cudaHostRegister", &params,
		  host_register(ptr, size, flags));
}

API int cudaHostUnregister(void *ptr)
{
	struct ts_cuda_host_unregister_params params = {ptr};

	return RT(cudaHostUnregister_v4000, "cudaHostUnregister", &params, host_unregister(ptr));
}

API int cudaHostGetDevicePointer(void **device, void *host, uint32_t flags)
{
	struct ts_cuda_host_get_device_pointer_params params = {device, host, flags};

	return RT(cudaHostGetDevicePointer_v3020, "cudaHostGetDevicePointer", &params,
		  host_get_device_pointer(device, host, flags));
}

API int cudaHostGetFlags(uint32_t *flags, void *host)
{
	struct ts_cuda_host_get_flags_params params = {flags, host};

	return RT(cudaHostGetFlags_v3020, "cudaHostGetFlags", &params, host_get_flags(flags, host));
}

API int cudaMemGetInfo(size_t *free, size_t *total)
{
	struct ts_cuda_mem_get_info_params params = {free, total};

	return RT(cudaMemGetInfo_v3020, "cudaMemGetInfo", &params, mem_get_info(free, total));
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

API int cudaMallocAsync(void **dev_ptr, size_t size, void *stream)
{
	struct ts_cuda_malloc_async_params params = {dev_ptr, size, stream};

	return RT(cudaMallocAsync_v11020, "cudaMallocAsync", &params,
		  malloc_async(dev_ptr, size, stream, false));
}

API int cudaMallocAsync_ptsz(void **dev_ptr, size_t size, void *stream)
{
	struct ts_cuda_malloc_async_params params = {dev_ptr, size, stream};

	return RT(cudaMallocAsync_ptsz_v11020, "cudaMallocAsync_ptsz", &params,
		  malloc_async(dev_ptr, size, stream, true));
}

API int cudaMallocFromPoolAsync(void **ptr, size_t size, void *mem_pool, void *stream)
{
	struct ts_cuda_malloc_from_pool_async_params params = {ptr, size, mem_pool, stream};

	return RT(cudaMallocFromPoolAsync_v11020, "cudaMallocFromPoolAsync", &params,
		  malloc_from_pool_async(ptr, size, mem_pool, stream, false));
}

API int cudaMallocFromPoolAsync_ptsz(void **ptr, size_t size, void *mem_pool, void *stream)
{
	struct ts_cuda_malloc_from_pool_async_params params = {ptr, size, mem_pool, stream};

	return RT(cudaMallocFromPoolAsync_ptsz_v11020, "cudaMallocFromPoolAsync_ptsz", &params,
		  malloc_from_pool_async(ptr, size, mem_pool, stream, true));
}

API int cudaFreeAsync(void *dev_ptr, void *stream)
{
	struct ts_cuda_free_async_params params = {dev_ptr, stream};

	return RT(cudaFreeAsync_v11020, "cudaFreeAsync", &params,
		  free_async(dev_ptr, stream, false));
}

API int cudaFreeAsync_ptsz(void *dev_ptr, void *stream)
{
	struct ts_cuda_free_async_params params = {dev_ptr, stream};

	return RT(cudaFreeAsync_ptsz_v11020, "cudaFreeAsync_ptsz", &params,
		  free_async(dev_ptr, stream, true));
}

API int cudaDeviceGetDefaultMemPool(void **mem_pool, int32_t device)
{
	struct ts_cuda_device_get_default_mem_pool_params params = {mem_pool, device};

	return RT(cudaDeviceGetDefaultMemPool_v11020, "cudaDeviceGetDefaultMemPool", &params,
		  device_get_default_mem_pool(mem_pool, device));
}

API int cudaDeviceGetMemPool(void **mem_pool, int32_t device)
{
	struct ts_cuda_device_get_mem_pool_params params = {mem_pool, device};

	return RT(cudaDeviceGetMemPool_v11020, "cudaDeviceGetMemPool", &params,
		  device_get_mem_pool(mem_pool, device));
}

API int cudaDeviceSetMemPool(int32_t device, void *mem_pool)
{
	struct ts_cuda_device_set_mem_pool_params params = {device, mem_pool};

	return RT(cudaDeviceSetMemPool_v11020, "cudaDeviceSetMemPool", &params,
		  device_set_mem_pool(device, mem_pool));
}

API int cudaMemPoolCreate(void **mem_pool, const struct ts_cu_mem_pool_props *pool_props)
{
	struct ts_cuda_mem_pool_create_params params = {mem_pool, pool_props};

	return RT(cudaMemPoolCreate_v11020, "cudaMemPoolCreate", &params,
		  mem_pool_create(mem_pool, pool_props));
}

API int cudaMemPoolDestroy(void *mem_pool)
{
	struct ts_cuda_mem_pool_destroy_params params = {mem_pool};

	return RT(cudaMemPoolDestroy_v11020, "cudaMemPoolDestroy", &params,
		  mem_pool_destroy(mem_pool));
}

API int cudaMemPoolTrimTo(void *mem_pool, size_t min_bytes_to_keep)
{
	struct ts_cuda_mem_pool_trim_to_params params = {mem_pool, min_bytes_to_keep};

	return RT(cudaMemPoolTrimTo_v11020, "cudaMemPoolTrimTo", &params,
		  mem_pool_trim_to(mem_pool, min_bytes_to_keep));
}

API int cudaMemPoolSetAttribute(void *mem_pool, int32_t attr, void *value)
{
	struct ts_cuda_mem_pool_set_attribute_params params = {mem_pool, attr, value};

	return RT(cudaMemPoolSetAttribute_v11020, "cudaMemPoolSetAttribute", &params,
		  mem_pool_set_attribute(mem_pool, attr, value));
}

API int cudaMemPoolGetAttribute(void *mem_pool, int32_t attr, void *value)
{
	struct {
		void *mem_pool;
		int32_t attr;
		void *value;
	} params = {mem_pool, attr, value};

	return RT(cudaMemPoolGetAttribute_v11020, "cudaMemPoolGetAttribute", &params,
		  mem_pool_get_attribute(mem_pool, attr, value));
}

API int cudaMemPoolSetAccess(void *mem_pool, const struct ts_cu_mem_access_desc *desc_list,
			     size_t count)
{
	struct ts_cuda_mem_pool_set_access_params params = {mem_pool, desc_list, count};

	return RT(cudaMemPoolSetAccess_v11020, "cudaMemPoolSetAccess", &params,
		  mem_pool_set_access(mem_pool, desc_list, count));
}

API int cudaMemPoolGetAccess(int32_t *flags, void *mem_pool, struct ts_cu_mem_location *location)
{
	struct {
		int32_t *flags;
		void *mem_pool;
		struct ts_cu_mem_location *location;
	} params = {flags, mem_pool, location};

	return RT(cudaMemPoolGetAccess_v11020, "cudaMemPoolGetAccess", &params,
		  mem_pool_get_access(flags, mem_pool, location));
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

API int cudaPointerGetAttributes(struct ts_cuda_pointer_attributes *attributes, const void *ptr)
{
	struct ts_cuda_pointer_get_attributes_params params = {attributes, ptr};

	return RT(cudaPointerGetAttributes_v4000, "cudaPointerGetAttributes", &params,
		  pointer_get_attributes(attributes, ptr));
}

API int cudaMemAdvise(const void *dev_ptr, size_t count, int32_t advice,
		      struct ts_cu_mem_location location)
{
	struct ts_cuda_mem_advise_params params = {dev_ptr, count, advice, location};

	return RT(cudaMemAdvise_v12020, "cudaMemAdvise", &params,
		  mem_advise(dev_ptr, count, advice, location));
}

API int cudaMemPrefetchAsync(const void *dev_ptr, size_t count, struct ts_cu_mem_location location,
			     uint32_t flags, void *stream)
{
	struct ts_cuda_mem_prefetch_async_params params = {dev_ptr, count, location, flags, stream};

	return RT(cudaMemPrefetchAsync_v12020, "cudaMemPrefetchAsync", &params,
		  mem_prefetch_async(dev_ptr, count, location, flags, stream, false));
}

API int cudaMemPrefetchAsync_ptsz(const void *dev_ptr, size_t count,
				  struct ts_cu_mem_location location, uint32_t flags, void *stream)
{
	struct ts_cuda_mem_prefetch_async_params params = {dev_ptr, count, location, flags, stream};

	return RT(cudaMemPrefetchAsync_ptsz_v12020, "cudaMemPrefetchAsync_ptsz", &params,
		  mem_prefetch_async(dev_ptr, count, location, flags, stream, true));
}

API int cudaGetSymbolAddress(void **dev_ptr, const void *symbol)
{
	struct ts_cuda_get_symbol_address_params params = {dev_ptr, symbol};

	return RT(cudaGetSymbolAddress_v3020, "cudaGetSymbolAddress", &params,
		  get_symbol_address(dev_ptr, symbol));
}

API int cudaGetSymbolSize(size_t *size, const void *symbol)
{
	struct ts_cuda_get_symbol_size_params params = {size, symbol};

	return RT(cudaGetSymbolSize_v3020, "cudaGetSymbolSize", &params,
		  get_symbol_size(size, symbol));
}
