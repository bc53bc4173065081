/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches over callback ids: where the pointers lie among the arguments. What was only ever called by programs older than
 * unified addresses, arrays and symbols are left out (access-box.c has structures of two and three dimensions): what they name is no linear memory, or
 * could not be told from what is.
 */
#include "inject/cuda/access.h"

#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cuda_runtime_params.h"
#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_cbid.h"

static uint64_t address(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* Arguments are what the application made up: what cannot be names nothing. */
static uint64_t extent(size_t pitch, size_t width, size_t height)
{
	uint64_t bytes;

	if (!width || !height || width > pitch ||
	    __builtin_mul_overflow((uint64_t)pitch, (uint64_t)height - 1, &bytes) ||
	    __builtin_add_overflow(bytes, (uint64_t)width, &bytes))
		return 0;
	return bytes;
}

static uint64_t elements(size_t n, unsigned bytes)
{
	uint64_t product;

	return __builtin_mul_overflow((uint64_t)n, (uint64_t)bytes, &product) ? 0 : product;
}

static bool copy(struct ts_access *ret, uint64_t dst, uint64_t dst_bytes, uint64_t src,
		 uint64_t src_bytes)
{
	*ret = (struct ts_access){dst, src, dst_bytes, src_bytes, TS_ACCESS_COPY};
	return dst_bytes || src_bytes;
}

static bool set(struct ts_access *ret, uint64_t dst, uint64_t bytes)
{
	*ret = (struct ts_access){dst, 0, bytes, 0, TS_ACCESS_SET};
	return bytes;
}

static bool freed(struct ts_access *ret, uint64_t at)
{
	*ret = (struct ts_access){at, 0, 0, 0, TS_ACCESS_FREE};
	return at;
}

static bool runtime_copy(uint32_t cbid, const void *params, struct ts_access *ret)
{
	switch (cbid) {
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy_ptds_v7000: {
		const struct ts_cuda_memcpy_params *p = params;

		return copy(ret, address(p->dst), p->count, address(p->src), p->count);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpyAsync_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpyAsync_ptsz_v7000: {
		const struct ts_cuda_memcpy_async_params *p = params;

		return copy(ret, address(p->dst), p->count, address(p->src), p->count);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpyPeer_v4000: {
		const struct ts_cuda_memcpy_peer_params *p = params;

		return copy(ret, address(p->dst), p->count, address(p->src), p->count);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpyPeerAsync_v4000: {
		const struct ts_cuda_memcpy_peer_async_params *p = params;

		return copy(ret, address(p->dst), p->count, address(p->src), p->count);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy2D_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy2D_ptds_v7000: {
		const struct ts_cuda_memcpy2d_params *p = params;

		return copy(ret, address(p->dst), extent(p->dpitch, p->width, p->height),
			    address(p->src), extent(p->spitch, p->width, p->height));
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy2DAsync_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy2DAsync_ptsz_v7000: {
		const struct ts_cuda_memcpy2d_async_params *p = params;

		return copy(ret, address(p->dst), extent(p->dpitch, p->width, p->height),
			    address(p->src), extent(p->spitch, p->width, p->height));
	}
	default:
		return false;
	}
}

static bool runtime_other(uint32_t cbid, const void *params, struct ts_access *ret)
{
	switch (cbid) {
	case TS_CUPTI_RUNTIME_CBID_cudaMemset_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemset_ptds_v7000: {
		const struct ts_cuda_memset_params *p = params;

		return set(ret, address(p->dev_ptr), p->count);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemsetAsync_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemsetAsync_ptsz_v7000: {
		const struct ts_cuda_memset_async_params *p = params;

		return set(ret, address(p->dev_ptr), p->count);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemset2D_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemset2D_ptds_v7000: {
		const struct ts_cuda_memset2d_params *p = params;

		return set(ret, address(p->dev_ptr), extent(p->pitch, p->width, p->height));
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemset2DAsync_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemset2DAsync_ptsz_v7000: {
		const struct ts_cuda_memset2d_async_params *p = params;

		return set(ret, address(p->dev_ptr), extent(p->pitch, p->width, p->height));
	}
	case TS_CUPTI_RUNTIME_CBID_cudaFree_v3020: {
		const struct ts_cuda_free_params *p = params;

		return freed(ret, address(p->dev_ptr));
	}
	case TS_CUPTI_RUNTIME_CBID_cudaFreeHost_v3020: {
		const struct ts_cuda_free_host_params *p = params;

		return freed(ret, address(p->ptr));
	}
	case TS_CUPTI_RUNTIME_CBID_cudaFreeAsync_v11020:
	case TS_CUPTI_RUNTIME_CBID_cudaFreeAsync_ptsz_v11020: {
		const struct ts_cuda_free_async_params *p = params;

		return freed(ret, address(p->dev_ptr));
	}
	default:
		return false;
	}
}

static bool driver_copy(uint32_t cbid, const void *params, struct ts_access *ret)
{
	switch (cbid) {
	case TS_CUPTI_DRIVER_CBID_cuMemcpy:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy_ptds: {
		const struct ts_cu_memcpy_params *p = params;

		return copy(ret, p->dst, p->byte_count, p->src, p->byte_count);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemcpyAsync:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyAsync_ptsz: {
		const struct ts_cu_memcpy_async_params *p = params;

		return copy(ret, p->dst, p->byte_count, p->src, p->byte_count);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemcpyPeer:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyPeer_ptds: {
		const struct ts_cu_memcpy_peer_params *p = params;

		return copy(ret, p->dst_device, p->byte_count, p->src_device, p->byte_count);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemcpyPeerAsync:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyPeerAsync_ptsz: {
		const struct ts_cu_memcpy_peer_async_params *p = params;

		return copy(ret, p->dst_device, p->byte_count, p->src_device, p->byte_count);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemcpyHtoD_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyHtoD_v2_ptds: {
		const struct ts_cu_memcpy_htod_params *p = params;

		return copy(ret, p->dst_device, p->byte_count, address(p->src_host), p->byte_count);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoH_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoH_v2_ptds: {
		const struct ts_cu_memcpy_dtoh_params *p = params;

		return copy(ret, address(p->dst_host), p->byte_count, p->src_device, p->byte_count);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoD_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoD_v2_ptds: {
		const struct ts_cu_memcpy_dtod_params *p = params;

		return copy(ret, p->dst_device, p->byte_count, p->src_device, p->byte_count);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemcpyHtoDAsync_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyHtoDAsync_v2_ptsz: {
		const struct ts_cu_memcpy_htod_async_params *p = params;

		return copy(ret, p->dst_device, p->byte_count, address(p->src_host), p->byte_count);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoHAsync_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoHAsync_v2_ptsz: {
		const struct ts_cu_memcpy_dtoh_async_params *p = params;

		return copy(ret, address(p->dst_host), p->byte_count, p->src_device, p->byte_count);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoDAsync_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoDAsync_v2_ptsz: {
		const struct ts_cu_memcpy_dtod_async_params *p = params;

		return copy(ret, p->dst_device, p->byte_count, p->src_device, p->byte_count);
	}
	default:
		return false;
	}
}

static bool driver_other(uint32_t cbid, const void *params, struct ts_access *ret)
{
	switch (cbid) {
	case TS_CUPTI_DRIVER_CBID_cuMemsetD8_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD8_v2_ptds: {
		const struct ts_cu_memset_d8_params *p = params;

		return set(ret, p->dst_device, elements(p->n, 1));
	}
	case TS_CUPTI_DRIVER_CBID_cuMemsetD8Async:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD8Async_ptsz: {
		const struct ts_cu_memset_d8_async_params *p = params;

		return set(ret, p->dst_device, elements(p->n, 1));
	}
	case TS_CUPTI_DRIVER_CBID_cuMemsetD16_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD16_v2_ptds: {
		const struct ts_cu_memset_d16_params *p = params;

		return set(ret, p->dst_device, elements(p->n, 2));
	}
	case TS_CUPTI_DRIVER_CBID_cuMemsetD16Async:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD16Async_ptsz: {
		const struct ts_cu_memset_d16_async_params *p = params;

		return set(ret, p->dst_device, elements(p->n, 2));
	}
	case TS_CUPTI_DRIVER_CBID_cuMemsetD32_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD32_v2_ptds: {
		const struct ts_cu_memset_d32_params *p = params;

		return set(ret, p->dst_device, elements(p->n, 4));
	}
	case TS_CUPTI_DRIVER_CBID_cuMemsetD32Async:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD32Async_ptsz: {
		const struct ts_cu_memset_d32_async_params *p = params;

		return set(ret, p->dst_device, elements(p->n, 4));
	}
	case TS_CUPTI_DRIVER_CBID_cuMemFree_v2: {
		const struct ts_cu_mem_free_params *p = params;

		return freed(ret, p->dev_ptr);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemFreeHost: {
		const struct ts_cu_mem_free_host_params *p = params;

		return freed(ret, address(p->p));
	}
	case TS_CUPTI_DRIVER_CBID_cuMemFreeAsync:
	case TS_CUPTI_DRIVER_CBID_cuMemFreeAsync_ptsz: {
		const struct ts_cu_mem_free_async_params *p = params;

		return freed(ret, p->dev_ptr);
	}
	default:
		return false;
	}
}

/* `where` is where the call puts the address. */
static bool asked(struct ts_access *ret, uint32_t kind, const void *where, uint64_t bytes)
{
	*ret = (struct ts_access){address(where), 0, bytes, 0, kind};
	return bytes;
}

static bool runtime_alloc(uint32_t cbid, const void *params, struct ts_access *ret)
{
	switch (cbid) {
	case TS_CUPTI_RUNTIME_CBID_cudaMalloc_v3020: {
		const struct ts_cuda_malloc_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED, p->dev_ptr, p->size);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMallocHost_v3020: {
		const struct ts_cuda_malloc_host_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED_PINNED, p->ptr, p->size);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaHostAlloc_v3020: {
		const struct ts_cuda_host_alloc_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED_PINNED, p->host, p->size);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMallocManaged_v6000: {
		const struct ts_cuda_malloc_managed_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED_MANAGED, p->dev_ptr, p->size);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMallocAsync_v11020:
	case TS_CUPTI_RUNTIME_CBID_cudaMallocAsync_ptsz_v11020: {
		const struct ts_cuda_malloc_async_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED, p->dev_ptr, p->size);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMallocFromPoolAsync_v11020:
	case TS_CUPTI_RUNTIME_CBID_cudaMallocFromPoolAsync_ptsz_v11020: {
		const struct ts_cuda_malloc_from_pool_async_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED, p->ptr, p->size);
	}
	default:
		return false;
	}
}

static bool driver_alloc(uint32_t cbid, const void *params, struct ts_access *ret)
{
	switch (cbid) {
	case TS_CUPTI_DRIVER_CBID_cuMemAlloc_v2: {
		const struct ts_cu_mem_alloc_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED, p->dev_ptr, p->byte_size);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemAllocHost_v2: {
		const struct ts_cu_mem_alloc_host_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED_PINNED, p->pp, p->byte_size);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemHostAlloc: {
		const struct ts_cu_mem_host_alloc_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED_PINNED, p->pp, p->byte_size);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemAllocManaged: {
		const struct ts_cu_mem_alloc_managed_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED_MANAGED, p->dev_ptr, p->byte_size);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemAllocAsync:
	case TS_CUPTI_DRIVER_CBID_cuMemAllocAsync_ptsz: {
		const struct ts_cu_mem_alloc_async_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED, p->dev_ptr, p->byte_size);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemAllocFromPoolAsync:
	case TS_CUPTI_DRIVER_CBID_cuMemAllocFromPoolAsync_ptsz: {
		const struct ts_cu_mem_alloc_from_pool_async_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED, p->dev_ptr, p->byte_size);
	}
	case TS_CUPTI_DRIVER_CBID_cuMemCreate: {
		const struct ts_cu_mem_create_params *p = params;

		return asked(ret, TS_ACCESS_ALLOCATED, NULL, p->size);
	}
	default:
		return false;
	}
}

bool ts_access_of_alloc(uint32_t domain, uint32_t cbid, const void *params, int32_t result,
			struct ts_access *ret_access)
{
	uint64_t *where;

	if (!params ||
	    !(domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_alloc(cbid, params, ret_access)
						       : driver_alloc(cbid, params, ret_access)))
		return false;
	where = (uint64_t *)(uintptr_t)ret_access->dst;
	if (result)
		ret_access->kind = TS_ACCESS_ALLOC;
	ret_access->dst = result || !where ? 0 : *where;
	return result || ret_access->dst;
}

bool ts_access_of(uint32_t domain, uint32_t cbid, const void *params, struct ts_access *ret_access)
{
	if (!params)
		return false;
	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API)
		return runtime_copy(cbid, params, ret_access) ||
		       runtime_other(cbid, params, ret_access);
	return driver_copy(cbid, params, ret_access) || driver_other(cbid, params, ret_access);
}
