/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the memory of copies and sets of rows and boxes: from the first byte to the last.
 * callbacks.c calls this file. The arguments lie in a structure of the application. An array as
 * source or target is not recorded. The structure is read only if the call itself read it: the call
 * succeeded, or returned an error about the structure's values.
 */
#include "inject/calls/access.h"

#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cuda_runtime_params.h"
#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_cbid.h"

struct box {
	uint64_t base, x, y, z, pitch, rows; /* rows: of one plane in memory */
};

/* Computes base + x + y * pitch + z * pitch * rows. Returns false on overflow. */
static bool reach(const struct box *box, uint64_t x, uint64_t y, uint64_t z, uint64_t *ret)
{
	uint64_t lines, bytes;

	return !__builtin_mul_overflow(z, box->rows, &lines) &&
	       !__builtin_add_overflow(lines, y, &lines) &&
	       !__builtin_mul_overflow(lines, box->pitch, &bytes) &&
	       !__builtin_add_overflow(bytes, x, &bytes) &&
	       !__builtin_add_overflow(bytes, box->base, ret);
}

/* Writes 0 to both results if the box is empty or invalid. */
static void find_extent(struct box box, uint64_t width, uint64_t height, uint64_t depth,
			uint64_t *ret_at, uint64_t *ret_bytes)
{
	uint64_t end, x, y, z;

	*ret_at = *ret_bytes = 0;
	if (!box.base || !width || !height || !depth)
		return;
	/*
	 * For one row, the driver ignores the pitch; for one plane, the number of rows. The
	 * application may pass 0 for either.
	 */
	if (!box.pitch && height == 1 && depth == 1)
		box.pitch = width;
	if (!box.rows)
		box.rows = height;
	if (__builtin_add_overflow(box.x, width, &x) ||
	    __builtin_add_overflow(box.y, height - 1, &y) ||
	    __builtin_add_overflow(box.z, depth - 1, &z) || width > box.pitch ||
	    !reach(&box, box.x, box.y, box.z, ret_at) || !reach(&box, x, y, z, &end)) {
		*ret_at = 0;
		return;
	}
	*ret_bytes = end - *ret_at;
}

static uint64_t side(int32_t type, const void *host, uint64_t device)
{
	switch (type) {
	case TS_CU_MEMORYTYPE_HOST:
		return (uint64_t)(uintptr_t)host;
	case TS_CU_MEMORYTYPE_DEVICE:
	case TS_CU_MEMORYTYPE_UNIFIED:
		return device;
	default:
		return 0;
	}
}

static bool copied(struct ts_access *ret, struct box dst, struct box src, uint64_t width,
		   uint64_t height, uint64_t depth)
{
	*ret = (struct ts_access){.kind = TS_ACCESS_COPY};
	find_extent(dst, width, height, depth, &ret->dst, &ret->dst_bytes);
	find_extent(src, width, height, depth, &ret->src, &ret->src_bytes);
	return ret->dst_bytes || ret->src_bytes;
}

static bool set(struct ts_access *ret, struct box dst, uint64_t width, uint64_t height,
		uint64_t depth)
{
	*ret = (struct ts_access){.kind = TS_ACCESS_SET};
	find_extent(dst, width, height, depth, &ret->dst, &ret->dst_bytes);
	return ret->dst_bytes;
}

static bool copy_2d(const struct ts_cu_memcpy_2d *p, struct ts_access *ret)
{
	if (!p)
		return false;
	return copied(ret,
		      (struct box){side(p->dst_memory_type, p->dst_host, p->dst_device),
				   p->dst_x_in_bytes, p->dst_y, 0, p->dst_pitch, 0},
		      (struct box){side(p->src_memory_type, p->src_host, p->src_device),
				   p->src_x_in_bytes, p->src_y, 0, p->src_pitch, 0},
		      p->width_in_bytes, p->height, 1);
}

static bool copy_3d(const struct ts_cu_memcpy_3d *p, struct ts_access *ret)
{
	if (!p)
		return false;
	return copied(ret,
		      (struct box){side(p->dst_memory_type, p->dst_host, p->dst_device),
				   p->dst_x_in_bytes, p->dst_y, p->dst_z, p->dst_pitch,
				   p->dst_height},
		      (struct box){side(p->src_memory_type, p->src_host, p->src_device),
				   p->src_x_in_bytes, p->src_y, p->src_z, p->src_pitch,
				   p->src_height},
		      p->width_in_bytes, p->height, p->depth);
}

static struct box pitched(const struct ts_cuda_pitched_ptr *p, const struct ts_cuda_pos *at)
{
	return (struct box){(uint64_t)(uintptr_t)p->ptr, at->x, at->y, at->z, p->pitch, p->ysize};
}

/*
 * Returns false if the copy involves an array, because x and width then count elements, and the
 * structure does not have the element size.
 */
static bool copy_parms(const struct ts_cuda_memcpy_3d_parms *p, struct ts_access *ret)
{
	if (!p || p->src_array || p->dst_array)
		return false;
	return copied(ret, pitched(&p->dst_ptr, &p->dst_pos), pitched(&p->src_ptr, &p->src_pos),
		      p->extent.width, p->extent.height, p->extent.depth);
}

static bool copy_peer_parms(const struct ts_cuda_memcpy_3d_peer_parms *p, struct ts_access *ret)
{
	if (!p || p->src_array || p->dst_array)
		return false;
	return copied(ret, pitched(&p->dst_ptr, &p->dst_pos), pitched(&p->src_ptr, &p->src_pos),
		      p->extent.width, p->extent.height, p->extent.depth);
}

/* Describes a set of rows. The parameters of all these calls have the same layout. */
static bool set_rows(const struct ts_cu_memset_d2d8_params *p, unsigned int element_bytes,
		     struct ts_access *ret)
{
	uint64_t width;

	if (__builtin_mul_overflow((uint64_t)p->width, (uint64_t)element_bytes, &width))
		return false;
	return set(ret, (struct box){p->dst_device, 0, 0, 0, p->dst_pitch, 0}, width, p->height, 1);
}

static bool set_box(const struct ts_cuda_memset3d_params *p, struct ts_access *ret)
{
	static const struct ts_cuda_pos origin;

	return set(ret, pitched(&p->pitched_dev_ptr, &origin), p->extent.width, p->extent.height,
		   p->extent.depth);
}

static bool runtime_box(uint32_t cbid, const void *params, struct ts_access *ret)
{
	switch (cbid) {
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy3D_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy3D_ptds_v7000:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy3DAsync_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy3DAsync_ptsz_v7000:
		return copy_parms(((const struct ts_cuda_memcpy3d_params *)params)->p, ret);
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy3DPeer_v4000:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy3DPeer_ptds_v7000:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy3DPeerAsync_v4000:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy3DPeerAsync_ptsz_v7000:
		return copy_peer_parms(((const struct ts_cuda_memcpy3d_peer_params *)params)->p,
				       ret);
	case TS_CUPTI_RUNTIME_CBID_cudaMemset3D_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemset3D_ptds_v7000:
	case TS_CUPTI_RUNTIME_CBID_cudaMemset3DAsync_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemset3DAsync_ptsz_v7000:
		return set_box(params, ret);
	default:
		return false;
	}
}

static bool driver_box(uint32_t cbid, const void *params, struct ts_access *ret)
{
	switch (cbid) {
	case TS_CUPTI_DRIVER_CBID_cuMemcpy2D_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy2D_v2_ptds:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy2DUnaligned_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy2DUnaligned_v2_ptds:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy2DAsync_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy2DAsync_v2_ptsz:
		return copy_2d(((const struct ts_cu_memcpy2d_params *)params)->copy, ret);
	/*
	 * cuMemcpy3DPeer's structure has the same layout. It holds the two contexts in fields that
	 * are reserved in cuMemcpy3D's.
	 */
	case TS_CUPTI_DRIVER_CBID_cuMemcpy3D_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy3D_v2_ptds:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy3DAsync_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy3DAsync_v2_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy3DPeer:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy3DPeer_ptds:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy3DPeerAsync:
	case TS_CUPTI_DRIVER_CBID_cuMemcpy3DPeerAsync_ptsz:
		return copy_3d(((const struct ts_cu_memcpy3d_params *)params)->copy, ret);
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D8_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D8_v2_ptds:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D8Async:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D8Async_ptsz:
		return set_rows(params, 1, ret);
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D16_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D16_v2_ptds:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D16Async:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D16Async_ptsz:
		return set_rows(params, 2, ret);
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D32_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D32_v2_ptds:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D32Async:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD2D32Async_ptsz:
		return set_rows(params, 4, ret);
	default:
		return false;
	}
}

bool ts_access_of_box(uint32_t domain, uint32_t cbid, const void *params, int32_t result,
		      struct ts_access *ret_access)
{
	/* The number is the same in the driver and the runtime. */
	if (!params || (result && result != TS_CU_ERROR_INVALID_VALUE))
		return false;
	/* HIP's structures are not read. */
	if (domain == TS_API_HIP)
		return false;
	return domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_box(cbid, params, ret_access)
							: driver_box(cbid, params, ret_access);
}
