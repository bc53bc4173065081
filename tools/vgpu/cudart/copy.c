/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and sets: the driver's call for the direction that the program named, or that the addresses say. */
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

API int cudaMemcpy(void *dst, const void *src, size_t count, int32_t kind)
{
	struct ts_cuda_memcpy_params params = {dst, src, count, kind};

	return RT(cudaMemcpy_v3020, "cudaMemcpy", &params, copy(dst, src, count, kind, false));
}

API int cudaMemcpy_ptds(void *dst, const void *src, size_t count, int32_t kind)
{
	struct ts_cuda_memcpy_params params = {dst, src, count, kind};

	return RT(cudaMemcpy_ptds_v7000, "cudaMemcpy_ptds", &params,
		  copy(dst, src, count, kind, true));
}

API int cudaMemcpyAsync(void *dst, const void *src, size_t count, int32_t kind, void *stream)
{
	struct ts_cuda_memcpy_async_params params = {dst, src, count, kind, stream};

	return RT(cudaMemcpyAsync_v3020, "cudaMemcpyAsync", &params,
		  copy_async(dst, src, count, kind, stream, false));
}

API int cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t count, int32_t kind, void *stream)
{
	struct ts_cuda_memcpy_async_params params = {dst, src, count, kind, stream};

	return RT(cudaMemcpyAsync_ptsz_v7000, "cudaMemcpyAsync_ptsz", &params,
		  copy_async(dst, src, count, kind, stream, true));
}

/* Part of a device variable. */
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

API int cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
			   int32_t kind)
{
	struct ts_cuda_memcpy_to_symbol_params params = {symbol, src, count, offset, kind};

	return RT(cudaMemcpyToSymbol_v3020, "cudaMemcpyToSymbol", &params,
		  copy_to_symbol(symbol, src, count, offset, kind, false));
}

API int cudaMemcpyToSymbol_ptds(const void *symbol, const void *src, size_t count, size_t offset,
				int32_t kind)
{
	struct ts_cuda_memcpy_to_symbol_params params = {symbol, src, count, offset, kind};

	return RT(cudaMemcpyToSymbol_ptds_v7000, "cudaMemcpyToSymbol_ptds", &params,
		  copy_to_symbol(symbol, src, count, offset, kind, true));
}

API int cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
			     int32_t kind)
{
	struct ts_cuda_memcpy_from_symbol_params params = {dst, symbol, count, offset, kind};

	return RT(cudaMemcpyFromSymbol_v3020, "cudaMemcpyFromSymbol", &params,
		  copy_from_symbol(dst, symbol, count, offset, kind, false));
}

API int cudaMemcpyFromSymbol_ptds(void *dst, const void *symbol, size_t count, size_t offset,
				  int32_t kind)
{
	struct ts_cuda_memcpy_from_symbol_params params = {dst, symbol, count, offset, kind};

	return RT(cudaMemcpyFromSymbol_ptds_v7000, "cudaMemcpyFromSymbol_ptds", &params,
		  copy_from_symbol(dst, symbol, count, offset, kind, true));
}

API int cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
				int32_t kind, void *stream)
{
	struct ts_cuda_memcpy_to_symbol_async_params params = {symbol, src,  count,
							       offset, kind, stream};

	return RT(cudaMemcpyToSymbolAsync_v3020, "cudaMemcpyToSymbolAsync", &params,
		  copy_to_symbol_async(symbol, src, count, offset, kind, stream, false));
}

API int cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *src, size_t count,
				     size_t offset, int32_t kind, void *stream)
{
	struct ts_cuda_memcpy_to_symbol_async_params params = {symbol, src,  count,
							       offset, kind, stream};

	return RT(cudaMemcpyToSymbolAsync_ptsz_v7000, "cudaMemcpyToSymbolAsync_ptsz", &params,
		  copy_to_symbol_async(symbol, src, count, offset, kind, stream, true));
}

API int cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
				  int32_t kind, void *stream)
{
	struct ts_cuda_memcpy_from_symbol_async_params params = {dst,	 symbol, count,
								 offset, kind,	 stream};

	return RT(cudaMemcpyFromSymbolAsync_v3020, "cudaMemcpyFromSymbolAsync", &params,
		  copy_from_symbol_async(dst, symbol, count, offset, kind, stream, false));
}

API int cudaMemcpyFromSymbolAsync_ptsz(void *dst, const void *symbol, size_t count, size_t offset,
				       int32_t kind, void *stream)
{
	struct ts_cuda_memcpy_from_symbol_async_params params = {dst,	 symbol, count,
								 offset, kind,	 stream};

	return RT(cudaMemcpyFromSymbolAsync_ptsz_v7000, "cudaMemcpyFromSymbolAsync_ptsz", &params,
		  copy_from_symbol_async(dst, symbol, count, offset, kind, stream, true));
}

/* What a direction says about its sides. */
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

API int cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
		     size_t height, int32_t kind)
{
	struct ts_cuda_memcpy2d_params params = {dst, dpitch, src, spitch, width, height, kind};

	return RT(cudaMemcpy2D_v3020, "cudaMemcpy2D", &params,
		  copy_2d(dst, dpitch, src, spitch, width, height, kind, false));
}

API int cudaMemcpy2D_ptds(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
			  size_t height, int32_t kind)
{
	struct ts_cuda_memcpy2d_params params = {dst, dpitch, src, spitch, width, height, kind};

	return RT(cudaMemcpy2D_ptds_v7000, "cudaMemcpy2D_ptds", &params,
		  copy_2d(dst, dpitch, src, spitch, width, height, kind, true));
}

API int cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
			  size_t height, int32_t kind, void *stream)
{
	struct ts_cuda_memcpy2d_async_params params = {dst,   dpitch, src,  spitch,
						       width, height, kind, stream};

	return RT(cudaMemcpy2DAsync_v3020, "cudaMemcpy2DAsync", &params,
		  copy_2d_async(dst, dpitch, src, spitch, width, height, kind, stream, false));
}

API int cudaMemcpy2DAsync_ptsz(void *dst, size_t dpitch, const void *src, size_t spitch,
			       size_t width, size_t height, int32_t kind, void *stream)
{
	struct ts_cuda_memcpy2d_async_params params = {dst,   dpitch, src,  spitch,
						       width, height, kind, stream};

	return RT(cudaMemcpy2DAsync_ptsz_v7000, "cudaMemcpy2DAsync_ptsz", &params,
		  copy_2d_async(dst, dpitch, src, spitch, width, height, kind, stream, true));
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

API int cudaMemcpy3D(const struct ts_cuda_memcpy_3d_parms *p)
{
	struct ts_cuda_memcpy3d_params params = {p};

	return RT(cudaMemcpy3D_v3020, "cudaMemcpy3D", &params, copy_3d(p, false));
}

API int cudaMemcpy3D_ptds(const struct ts_cuda_memcpy_3d_parms *p)
{
	struct ts_cuda_memcpy3d_params params = {p};

	return RT(cudaMemcpy3D_ptds_v7000, "cudaMemcpy3D_ptds", &params, copy_3d(p, true));
}

API int cudaMemcpy3DAsync(const struct ts_cuda_memcpy_3d_parms *p, void *stream)
{
	struct ts_cuda_memcpy3d_async_params params = {p, stream};

	return RT(cudaMemcpy3DAsync_v3020, "cudaMemcpy3DAsync", &params,
		  copy_3d_async(p, stream, false));
}

API int cudaMemcpy3DAsync_ptsz(const struct ts_cuda_memcpy_3d_parms *p, void *stream)
{
	struct ts_cuda_memcpy3d_async_params params = {p, stream};

	return RT(cudaMemcpy3DAsync_ptsz_v7000, "cudaMemcpy3DAsync_ptsz", &params,
		  copy_3d_async(p, stream, true));
}

/* The primary contexts that two devices' memory belongs to. */
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

API int cudaMemcpyPeer(void *dst, int32_t dst_device, const void *src, int32_t src_device,
		       size_t count)
{
	struct ts_cuda_memcpy_peer_params params = {dst, dst_device, src, src_device, count};

	return RT(cudaMemcpyPeer_v4000, "cudaMemcpyPeer", &params,
		  copy_peer(dst, dst_device, src, src_device, count));
}

API int cudaMemcpyPeerAsync(void *dst, int32_t dst_device, const void *src, int32_t src_device,
			    size_t count, void *stream)
{
	struct ts_cuda_memcpy_peer_async_params params = {dst,	      dst_device, src,
							  src_device, count,	  stream};

	return RT(cudaMemcpyPeerAsync_v4000, "cudaMemcpyPeerAsync", &params,
		  copy_peer_async(dst, dst_device, src, src_device, count, stream));
}

API int cudaMemcpy3DPeer(const struct ts_cuda_memcpy_3d_peer_parms *p)
{
	struct ts_cuda_memcpy3d_peer_params params = {p};

	return RT(cudaMemcpy3DPeer_v4000, "cudaMemcpy3DPeer", &params, copy_3d_peer(p, false));
}

API int cudaMemcpy3DPeer_ptds(const struct ts_cuda_memcpy_3d_peer_parms *p)
{
	struct ts_cuda_memcpy3d_peer_params params = {p};

	return RT(cudaMemcpy3DPeer_ptds_v7000, "cudaMemcpy3DPeer_ptds", &params,
		  copy_3d_peer(p, true));
}

API int cudaMemcpy3DPeerAsync(const struct ts_cuda_memcpy_3d_peer_parms *p, void *stream)
{
	struct ts_cuda_memcpy3d_peer_async_params params = {p, stream};

	return RT(cudaMemcpy3DPeerAsync_v4000, "cudaMemcpy3DPeerAsync", &params,
		  copy_3d_peer_async(p, stream, false));
}

API int cudaMemcpy3DPeerAsync_ptsz(const struct ts_cuda_memcpy_3d_peer_parms *p, void *stream)
{
	struct ts_cuda_memcpy3d_peer_async_params params = {p, stream};

	return RT(cudaMemcpy3DPeerAsync_ptsz_v7000, "cudaMemcpy3DPeerAsync_ptsz", &params,
		  copy_3d_peer_async(p, stream, true));
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

/* Slices that leave no row out are one stretch of rows, others are set one by one. */
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

API int cudaMemset(void *dev_ptr, int32_t value, size_t count)
{
	struct ts_cuda_memset_params params = {dev_ptr, value, count};

	return RT(cudaMemset_v3020, "cudaMemset", &params, set(dev_ptr, value, count, false));
}

API int cudaMemset_ptds(void *dev_ptr, int32_t value, size_t count)
{
	struct ts_cuda_memset_params params = {dev_ptr, value, count};

	return RT(cudaMemset_ptds_v7000, "cudaMemset_ptds", &params,
		  set(dev_ptr, value, count, true));
}

API int cudaMemsetAsync(void *dev_ptr, int32_t value, size_t count, void *stream)
{
	struct ts_cuda_memset_async_params params = {dev_ptr, value, count, stream};

	return RT(cudaMemsetAsync_v3020, "cudaMemsetAsync", &params,
		  set_async(dev_ptr, value, count, stream, false));
}

API int cudaMemsetAsync_ptsz(void *dev_ptr, int32_t value, size_t count, void *stream)
{
	struct ts_cuda_memset_async_params params = {dev_ptr, value, count, stream};

	return RT(cudaMemsetAsync_ptsz_v7000, "cudaMemsetAsync_ptsz", &params,
		  set_async(dev_ptr, value, count, stream, true));
}

API int cudaMemset2D(void *dev_ptr, size_t pitch, int32_t value, size_t width, size_t height)
{
	struct ts_cuda_memset2d_params params = {dev_ptr, pitch, value, width, height};

	return RT(cudaMemset2D_v3020, "cudaMemset2D", &params,
		  set_2d(dev_ptr, pitch, value, width, height, false));
}

API int cudaMemset2D_ptds(void *dev_ptr, size_t pitch, int32_t value, size_t width, size_t height)
{
	struct ts_cuda_memset2d_params params = {dev_ptr, pitch, value, width, height};

	return RT(cudaMemset2D_ptds_v7000, "cudaMemset2D_ptds", &params,
		  set_2d(dev_ptr, pitch, value, width, height, true));
}

API int cudaMemset2DAsync(void *dev_ptr, size_t pitch, int32_t value, size_t width, size_t height,
			  void *stream)
{
	struct ts_cuda_memset2d_async_params params = {dev_ptr, pitch,	value,
						       width,	height, stream};

	return RT(cudaMemset2DAsync_v3020, "cudaMemset2DAsync", &params,
		  set_2d_async(dev_ptr, pitch, value, width, height, stream, false));
}

API int cudaMemset2DAsync_ptsz(void *dev_ptr, size_t pitch, int32_t value, size_t width,
			       size_t height, void *stream)
{
	struct ts_cuda_memset2d_async_params params = {dev_ptr, pitch,	value,
						       width,	height, stream};

	return RT(cudaMemset2DAsync_ptsz_v7000, "cudaMemset2DAsync_ptsz", &params,
		  set_2d_async(dev_ptr, pitch, value, width, height, stream, true));
}

API int cudaMemset3D(struct ts_cuda_pitched_ptr pitched_dev_ptr, int32_t value,
		     struct ts_cuda_extent extent)
{
	struct ts_cuda_memset3d_params params = {pitched_dev_ptr, value, extent};

	return RT(cudaMemset3D_v3020, "cudaMemset3D", &params,
		  set_3d(pitched_dev_ptr, value, extent, false));
}

API int cudaMemset3D_ptds(struct ts_cuda_pitched_ptr pitched_dev_ptr, int32_t value,
			  struct ts_cuda_extent extent)
{
	struct ts_cuda_memset3d_params params = {pitched_dev_ptr, value, extent};

	return RT(cudaMemset3D_ptds_v7000, "cudaMemset3D_ptds", &params,
		  set_3d(pitched_dev_ptr, value, extent, true));
}

API int cudaMemset3DAsync(struct ts_cuda_pitched_ptr pitched_dev_ptr, int32_t value,
			  struct ts_cuda_extent extent, void *stream)
{
	struct ts_cuda_memset3d_async_params params = {pitched_dev_ptr, value, extent, stream};

	return RT(cudaMemset3DAsync_v3020, "cudaMemset3DAsync", &params,
		  set_3d_async(pitched_dev_ptr, value, extent, stream, false));
}

API int cudaMemset3DAsync_ptsz(struct ts_cuda_pitched_ptr pitched_dev_ptr, int32_t value,
			       struct ts_cuda_extent extent, void *stream)
{
	struct ts_cuda_memset3d_async_params params = {pitched_dev_ptr, value, extent, stream};

	return RT(cudaMemset3DAsync_ptsz_v7000, "cudaMemset3DAsync_ptsz", &params,
		  set_3d_async(pitched_dev_ptr, value, extent, stream, true));
}
