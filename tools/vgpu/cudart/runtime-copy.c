/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and memsets: calls the driver's function for the direction that the program states, or
 * that the addresses imply. Programs call this file through the functions of
 * generated-cudart-copy.h; runtime-graph-node.c calls copy_fill_*().
 */
#include "tools/vgpu/cudart/runtime.h"

static bool kind_is_known(int32_t kind)
{
	return kind >= TS_CUDA_MEMCPY_HOST_TO_HOST && kind <= TS_CUDA_MEMCPY_DEFAULT;
}

static int copy(void *dst, const void *src, size_t count, int32_t kind, bool own)
{
	int r = ready();

	if (r)
		return r;
	if (!kind_is_known(kind))
		return TS_CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
	if (!count)
		return 0;
	switch (kind) {
	case TS_CUDA_MEMCPY_HOST_TO_DEVICE:
		return (own ? cuMemcpyHtoD_v2_ptds : cuMemcpyHtoD_v2)(address(dst), src, count);
	case TS_CUDA_MEMCPY_DEVICE_TO_HOST:
		return (own ? cuMemcpyDtoH_v2_ptds : cuMemcpyDtoH_v2)(dst, address(src), count);
	case TS_CUDA_MEMCPY_DEVICE_TO_DEVICE:
		return (own ? cuMemcpyDtoD_v2_ptds : cuMemcpyDtoD_v2)(address(dst), address(src),
								      count);
	default:
		return (own ? cuMemcpy_ptds : cuMemcpy)(address(dst), address(src), count);
	}
}

static int copy_async(void *dst, const void *src, size_t count, int32_t kind, void *stream,
		      bool own)
{
	int r = ready();

	if (r)
		return r;
	if (!kind_is_known(kind))
		return TS_CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
	if (!count)
		return 0;
	switch (kind) {
	case TS_CUDA_MEMCPY_HOST_TO_DEVICE:
		return (own ? cuMemcpyHtoDAsync_v2_ptsz : cuMemcpyHtoDAsync_v2)(address(dst), src,
										count, stream);
	case TS_CUDA_MEMCPY_DEVICE_TO_HOST:
		return (own ? cuMemcpyDtoHAsync_v2_ptsz : cuMemcpyDtoHAsync_v2)(dst, address(src),
										count, stream);
	case TS_CUDA_MEMCPY_DEVICE_TO_DEVICE:
		return (own ? cuMemcpyDtoDAsync_v2_ptsz
			    : cuMemcpyDtoDAsync_v2)(address(dst), address(src), count, stream);
	default:
		return (own ? cuMemcpyAsync_ptsz : cuMemcpyAsync)(address(dst), address(src), count,
								  stream);
	}
}

/* Returns the address of a part of a device variable. */
int symbol_part(const void *symbol, size_t count, size_t offset, void **ret_address)
{
	uint64_t where;
	size_t bytes;
	int r = ready();

	if (!r)
		r = variable_of(symbol, &where, &bytes);
	if (r)
		return r;
	if (offset > bytes || count > bytes - offset)
		return TS_CUDA_ERROR_INVALID_VALUE;
	*ret_address = (void *)(uintptr_t)(where + offset);
	return 0;
}

static int copy_to_symbol(const void *symbol, const void *src, size_t count, size_t offset,
			  int32_t kind, bool own)
{
	void *dst;
	int r = symbol_part(symbol, count, offset, &dst);

	if (r)
		return r;
	if (kind == TS_CUDA_MEMCPY_DEVICE_TO_HOST || kind == TS_CUDA_MEMCPY_HOST_TO_HOST)
		return TS_CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
	return copy(dst, src, count, kind, own);
}

static int copy_from_symbol(void *dst, const void *symbol, size_t count, size_t offset,
			    int32_t kind, bool own)
{
	void *src;
	int r = symbol_part(symbol, count, offset, &src);

	if (r)
		return r;
	if (kind == TS_CUDA_MEMCPY_HOST_TO_DEVICE || kind == TS_CUDA_MEMCPY_HOST_TO_HOST)
		return TS_CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
	return copy(dst, src, count, kind, own);
}

static int copy_to_symbol_async(const void *symbol, const void *src, size_t count, size_t offset,
				int32_t kind, void *stream, bool own)
{
	void *dst;
	int r = symbol_part(symbol, count, offset, &dst);

	if (r)
		return r;
	if (kind == TS_CUDA_MEMCPY_DEVICE_TO_HOST || kind == TS_CUDA_MEMCPY_HOST_TO_HOST)
		return TS_CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
	return copy_async(dst, src, count, kind, stream, own);
}

static int copy_from_symbol_async(void *dst, const void *symbol, size_t count, size_t offset,
				  int32_t kind, void *stream, bool own)
{
	void *src;
	int r = symbol_part(symbol, count, offset, &src);

	if (r)
		return r;
	if (kind == TS_CUDA_MEMCPY_HOST_TO_DEVICE || kind == TS_CUDA_MEMCPY_HOST_TO_HOST)
		return TS_CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
	return copy_async(dst, src, count, kind, stream, own);
}

/* Kinds of memory that a direction implies. */
static int32_t src_type(int32_t kind)
{
	switch (kind) {
	case TS_CUDA_MEMCPY_HOST_TO_HOST:
	case TS_CUDA_MEMCPY_HOST_TO_DEVICE:
		return TS_CU_MEMORYTYPE_HOST;
	case TS_CUDA_MEMCPY_DEVICE_TO_HOST:
	case TS_CUDA_MEMCPY_DEVICE_TO_DEVICE:
		return TS_CU_MEMORYTYPE_DEVICE;
	default:
		return TS_CU_MEMORYTYPE_UNIFIED;
	}
}

static int32_t dst_type(int32_t kind)
{
	switch (kind) {
	case TS_CUDA_MEMCPY_HOST_TO_HOST:
	case TS_CUDA_MEMCPY_DEVICE_TO_HOST:
		return TS_CU_MEMORYTYPE_HOST;
	case TS_CUDA_MEMCPY_HOST_TO_DEVICE:
	case TS_CUDA_MEMCPY_DEVICE_TO_DEVICE:
		return TS_CU_MEMORYTYPE_DEVICE;
	default:
		return TS_CU_MEMORYTYPE_UNIFIED;
	}
}

static int fill_2d(struct ts_cu_memcpy_2d *c, void *dst, size_t dpitch, const void *src,
		   size_t spitch, size_t width, size_t height, int32_t kind)
{
	int r = ready();

	if (r)
		return r;
	if (!kind_is_known(kind))
		return TS_CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
	if (height > 1 && (dpitch < width || spitch < width))
		return TS_CUDA_ERROR_INVALID_PITCH_VALUE;
	*c = (struct ts_cu_memcpy_2d){
		.src_memory_type = src_type(kind),
		.src_host = src,
		.src_device = address(src),
		.src_pitch = spitch,
		.dst_memory_type = dst_type(kind),
		.dst_host = dst,
		.dst_device = address(dst),
		.dst_pitch = dpitch,
		.width_in_bytes = width,
		.height = height,
	};
	return 0;
}

static int copy_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
		   size_t height, int32_t kind, bool own)
{
	struct ts_cu_memcpy_2d c;
	int r = fill_2d(&c, dst, dpitch, src, spitch, width, height, kind);

	if (r || !width || !height)
		return r;
	return (own ? cuMemcpy2DUnaligned_v2_ptds : cuMemcpy2DUnaligned_v2)(&c);
}

static int copy_2d_async(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
			 size_t height, int32_t kind, void *stream, bool own)
{
	struct ts_cu_memcpy_2d c;
	int r = fill_2d(&c, dst, dpitch, src, spitch, width, height, kind);

	if (r || !width || !height)
		return r;
	return (own ? cuMemcpy2DAsync_v2_ptsz : cuMemcpy2DAsync_v2)(&c, stream);
}

int copy_fill_1d(struct ts_cu_memcpy_3d *c, void *dst, const void *src, size_t count, int32_t kind)
{
	struct ts_cuda_memcpy_3d_parms p = {
		.src_ptr = {(void *)(uintptr_t)src, count, count, 1},
		.dst_ptr = {dst, count, count, 1},
		.extent = {count, 1, 1},
		.kind = kind,
	};

	return copy_fill_3d(c, &p);
}

int copy_fill_3d(struct ts_cu_memcpy_3d *c, const struct ts_cuda_memcpy_3d_parms *p)
{
	int r = ready();

	if (r)
		return r;
	if (!p || p->src_array || p->dst_array)
		return p ? TS_CUDA_ERROR_NOT_SUPPORTED : TS_CUDA_ERROR_INVALID_VALUE;
	if (!kind_is_known(p->kind))
		return TS_CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
	*c = (struct ts_cu_memcpy_3d){
		.src_x_in_bytes = p->src_pos.x,
		.src_y = p->src_pos.y,
		.src_z = p->src_pos.z,
		.src_memory_type = src_type(p->kind),
		.src_host = p->src_ptr.ptr,
		.src_device = address(p->src_ptr.ptr),
		.src_pitch = p->src_ptr.pitch,
		.src_height = p->src_ptr.ysize,
		.dst_x_in_bytes = p->dst_pos.x,
		.dst_y = p->dst_pos.y,
		.dst_z = p->dst_pos.z,
		.dst_memory_type = dst_type(p->kind),
		.dst_host = p->dst_ptr.ptr,
		.dst_device = address(p->dst_ptr.ptr),
		.dst_pitch = p->dst_ptr.pitch,
		.dst_height = p->dst_ptr.ysize,
		.width_in_bytes = p->extent.width,
		.height = p->extent.height,
		.depth = p->extent.depth,
	};
	return 0;
}

static int copy_3d(const struct ts_cuda_memcpy_3d_parms *p, bool own)
{
	struct ts_cu_memcpy_3d c;
	int r = copy_fill_3d(&c, p);

	return r ? r : (own ? cuMemcpy3D_v2_ptds : cuMemcpy3D_v2)(&c);
}

static int copy_3d_async(const struct ts_cuda_memcpy_3d_parms *p, void *stream, bool own)
{
	struct ts_cu_memcpy_3d c;
	int r = copy_fill_3d(&c, p);

	return r ? r : (own ? cuMemcpy3DAsync_v2_ptsz : cuMemcpy3DAsync_v2)(&c, stream);
}

/* Returns the primary contexts of two devices. */
static int peers(int32_t dst_device, int32_t src_device, void **ret_dst, void **ret_src)
{
	int r = ready();

	if (!r)
		r = primary_of(dst_device, ret_dst);
	if (!r)
		r = primary_of(src_device, ret_src);
	return r;
}

static int copy_peer(void *dst, int32_t dst_device, const void *src, int32_t src_device,
		     size_t count)
{
	void *dst_context, *src_context;
	int r = peers(dst_device, src_device, &dst_context, &src_context);

	if (r || !count)
		return r;
	return cuMemcpyPeer(address(dst), dst_context, address(src), src_context, count);
}

static int copy_peer_async(void *dst, int32_t dst_device, const void *src, int32_t src_device,
			   size_t count, void *stream)
{
	void *dst_context, *src_context;
	int r = peers(dst_device, src_device, &dst_context, &src_context);

	if (r || !count)
		return r;
	return cuMemcpyPeerAsync(address(dst), dst_context, address(src), src_context, count,
				 stream);
}

static int fill_3d_peer(struct ts_cu_memcpy_3d_peer *c,
			const struct ts_cuda_memcpy_3d_peer_parms *p)
{
	void *dst_context, *src_context;
	int r;

	if (!p || p->src_array || p->dst_array)
		return p ? TS_CUDA_ERROR_NOT_SUPPORTED : TS_CUDA_ERROR_INVALID_VALUE;
	r = peers(p->dst_device, p->src_device, &dst_context, &src_context);
	if (r)
		return r;
	*c = (struct ts_cu_memcpy_3d_peer){
		.src_x_in_bytes = p->src_pos.x,
		.src_y = p->src_pos.y,
		.src_z = p->src_pos.z,
		.src_memory_type = TS_CU_MEMORYTYPE_DEVICE,
		.src_device = address(p->src_ptr.ptr),
		.src_context = src_context,
		.src_pitch = p->src_ptr.pitch,
		.src_height = p->src_ptr.ysize,
		.dst_x_in_bytes = p->dst_pos.x,
		.dst_y = p->dst_pos.y,
		.dst_z = p->dst_pos.z,
		.dst_memory_type = TS_CU_MEMORYTYPE_DEVICE,
		.dst_device = address(p->dst_ptr.ptr),
		.dst_context = dst_context,
		.dst_pitch = p->dst_ptr.pitch,
		.dst_height = p->dst_ptr.ysize,
		.width_in_bytes = p->extent.width,
		.height = p->extent.height,
		.depth = p->extent.depth,
	};
	return 0;
}

static int copy_3d_peer(const struct ts_cuda_memcpy_3d_peer_parms *p, bool own)
{
	struct ts_cu_memcpy_3d_peer c;
	int r = fill_3d_peer(&c, p);

	return r ? r : (own ? cuMemcpy3DPeer_ptds : cuMemcpy3DPeer)(&c);
}

static int copy_3d_peer_async(const struct ts_cuda_memcpy_3d_peer_parms *p, void *stream, bool own)
{
	struct ts_cu_memcpy_3d_peer c;
	int r = fill_3d_peer(&c, p);

	return r ? r : (own ? cuMemcpy3DPeerAsync_ptsz : cuMemcpy3DPeerAsync)(&c, stream);
}

static int set(void *dev_ptr, int32_t value, size_t count, bool own)
{
	int r = ready();

	if (r || !count)
		return r;
	return (own ? cuMemsetD8_v2_ptds : cuMemsetD8_v2)(address(dev_ptr), (uint8_t)value, count);
}

static int set_async(void *dev_ptr, int32_t value, size_t count, void *stream, bool own)
{
	int r = ready();

	if (r || !count)
		return r;
	return (own ? cuMemsetD8Async_ptsz : cuMemsetD8Async)(address(dev_ptr), (uint8_t)value,
							      count, stream);
}

static int set_2d(void *dev_ptr, size_t pitch, int32_t value, size_t width, size_t height, bool own)
{
	int r = ready();

	if (r || !width || !height)
		return r;
	return (own ? cuMemsetD2D8_v2_ptds : cuMemsetD2D8_v2)(address(dev_ptr), pitch,
							      (uint8_t)value, width, height);
}

static int set_2d_async(void *dev_ptr, size_t pitch, int32_t value, size_t width, size_t height,
			void *stream, bool own)
{
	int r = ready();

	if (r || !width || !height)
		return r;
	return (own ? cuMemsetD2D8Async_ptsz : cuMemsetD2D8Async)(address(dev_ptr), pitch,
								  (uint8_t)value, width, height,
								  stream);
}

/*
 * Sets a 3D range. If there are no gaps between slices, one memset sets all rows; otherwise each
 * slice needs one memset.
 */
static int set_3d_with(struct ts_cuda_pitched_ptr p, int32_t value, struct ts_cuda_extent extent,
		       void *stream, bool async, bool own)
{
	size_t n = extent.depth, rows = extent.height;
	int r = 0;

	if (p.ysize == extent.height) {
		n = extent.depth ? 1 : 0;
		rows = extent.height * extent.depth;
	}
	for (size_t z = 0; !r && z < n; z++) {
		void *slice = (void *)(uintptr_t)(address(p.ptr) + z * p.pitch * p.ysize);

		r = async ? set_2d_async(slice, p.pitch, value, extent.width, rows, stream, own)
			  : set_2d(slice, p.pitch, value, extent.width, rows, own);
	}
	return r;
}

static int set_3d(struct ts_cuda_pitched_ptr pitched_dev_ptr, int32_t value,
		  struct ts_cuda_extent extent, bool own)
{
	return set_3d_with(pitched_dev_ptr, value, extent, NULL, false, own);
}

static int set_3d_async(struct ts_cuda_pitched_ptr pitched_dev_ptr, int32_t value,
			struct ts_cuda_extent extent, void *stream, bool own)
{
	return set_3d_with(pitched_dev_ptr, value, extent, stream, true, own);
}

#include "tools/vgpu/generated-cudart-copy.h"
