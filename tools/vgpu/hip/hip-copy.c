// SPDX-License-Identifier: Apache-2.0
/*
 * Copies and sets. Programs call this file through the functions of generated-hip-copy.h and
 * generated-hip-set.h.
 */
#include "tools/vgpu/hip/hip-face.h"

/* hip.calls passes this structure to CUDA's functions. */
#define SAME(field)                                       \
	(offsetof(struct ts_hip_memcpy3d_parms, field) == \
	 offsetof(struct ts_cuda_memcpy_3d_parms, field))
static_assert(sizeof(struct ts_hip_memcpy3d_parms) == sizeof(struct ts_cuda_memcpy_3d_parms) &&
		      SAME(src_array) && SAME(src_pos) && SAME(src_ptr) && SAME(dst_array) &&
		      SAME(dst_pos) && SAME(dst_ptr) && SAME(extent) && SAME(kind),
	      "one layout");
#undef SAME

enum copy_form {
	COPY_BLOCKING,
	COPY_UNALIGNED,
	COPY_ASYNC,
};

/* A copy without compute units is a copy on the virtual GPU's engine. */
static int32_t direction(int32_t kind)
{
	return kind == TS_HIP_MEMCPY_DEVICE_TO_DEVICE_NO_CU ? TS_HIP_MEMCPY_DEVICE_TO_DEVICE : kind;
}

static struct ts_cuda_pitched_ptr pitched(struct ts_hip_pitched_ptr p)
{
	return (struct ts_cuda_pitched_ptr){p.ptr, p.pitch, p.xsize, p.ysize};
}

static struct ts_cuda_extent extent_of(struct ts_hip_extent e)
{
	return (struct ts_cuda_extent){e.width, e.height, e.depth};
}

static int copy_with_stream(void *dst, const void *src, size_t size_bytes, int32_t kind,
			    void *stream)
{
	int r = cudaMemcpyAsync(dst, src, size_bytes, direction(kind), stream);

	return r ? r : cudaStreamSynchronize(stream);
}

/* Converts a memory type of the release to CUDA's. */
static int32_t memory_type(int32_t type)
{
	if (release.has_old_memory) {
		switch (type) {
		case TS_HIP_MEMORY_TYPE_5_HOST:
			return TS_CU_MEMORYTYPE_HOST;
		case TS_HIP_MEMORY_TYPE_5_DEVICE:
			return TS_CU_MEMORYTYPE_DEVICE;
		case TS_HIP_MEMORY_TYPE_5_ARRAY:
			return TS_CU_MEMORYTYPE_ARRAY;
		default:
			return TS_CU_MEMORYTYPE_UNIFIED;
		}
	}
	switch (type) {
	case TS_HIP_MEMORY_TYPE_ARRAY:
		return TS_CU_MEMORYTYPE_ARRAY;
	case TS_HIP_MEMORY_TYPE_MANAGED:
	case TS_HIP_MEMORY_TYPE_UNIFIED:
		return TS_CU_MEMORYTYPE_UNIFIED;
	default:
		return type;
	}
}

static int copy_param_2d(const struct ts_hip_memcpy2d *copy, void *stream, enum copy_form form)
{
	struct ts_cu_memcpy_2d c;
	int r = ready();

	if (r)
		return r;
	if (!copy)
		return TS_HIP_ERROR_INVALID_VALUE;
	c = (struct ts_cu_memcpy_2d){
		.src_x_in_bytes = copy->src_x_in_bytes,
		.src_y = copy->src_y,
		.src_memory_type = memory_type(copy->src_memory_type),
		.src_host = copy->src_host,
		.src_device = address(copy->src_device),
		.src_array = copy->src_array,
		.src_pitch = copy->src_pitch,
		.dst_x_in_bytes = copy->dst_x_in_bytes,
		.dst_y = copy->dst_y,
		.dst_memory_type = memory_type(copy->dst_memory_type),
		.dst_host = copy->dst_host,
		.dst_device = address(copy->dst_device),
		.dst_array = copy->dst_array,
		.dst_pitch = copy->dst_pitch,
		.width_in_bytes = copy->width_in_bytes,
		.height = copy->height,
	};
	if (form == COPY_ASYNC)
		return cuMemcpy2DAsync_v2(&c, stream);
	return form == COPY_UNALIGNED ? cuMemcpy2DUnaligned_v2(&c) : cuMemcpy2D_v2(&c);
}

/* The sizes are 32 bits wide until 5.7. */
static struct ts_hip_drv_memcpy3d widen(const struct ts_hip_drv_memcpy3d_5 *copy)
{
	return (struct ts_hip_drv_memcpy3d){
		.src_x_in_bytes = copy->src_x_in_bytes,
		.src_y = copy->src_y,
		.src_z = copy->src_z,
		.src_lod = copy->src_lod,
		.src_memory_type = copy->src_memory_type,
		.src_host = copy->src_host,
		.src_device = copy->src_device,
		.src_array = copy->src_array,
		.src_pitch = copy->src_pitch,
		.src_height = copy->src_height,
		.dst_x_in_bytes = copy->dst_x_in_bytes,
		.dst_y = copy->dst_y,
		.dst_z = copy->dst_z,
		.dst_lod = copy->dst_lod,
		.dst_memory_type = copy->dst_memory_type,
		.dst_host = copy->dst_host,
		.dst_device = copy->dst_device,
		.dst_array = copy->dst_array,
		.dst_pitch = copy->dst_pitch,
		.dst_height = copy->dst_height,
		.width_in_bytes = copy->width_in_bytes,
		.height = copy->height,
		.depth = copy->depth,
	};
}

static int copy_param_3d(const struct ts_hip_drv_memcpy3d *copy, void *stream, enum copy_form form)
{
	struct ts_hip_drv_memcpy3d wide;
	struct ts_cu_memcpy_3d c;
	int r = ready();

	if (r)
		return r;
	if (!copy)
		return TS_HIP_ERROR_INVALID_VALUE;
	if (release.has_old_memory) {
		wide = widen((const struct ts_hip_drv_memcpy3d_5 *)copy);
		copy = &wide;
	}
	c = (struct ts_cu_memcpy_3d){
		.src_x_in_bytes = copy->src_x_in_bytes,
		.src_y = copy->src_y,
		.src_z = copy->src_z,
		.src_lod = copy->src_lod,
		.src_memory_type = memory_type(copy->src_memory_type),
		.src_host = copy->src_host,
		.src_device = address(copy->src_device),
		.src_array = copy->src_array,
		.src_pitch = copy->src_pitch,
		.src_height = copy->src_height,
		.dst_x_in_bytes = copy->dst_x_in_bytes,
		.dst_y = copy->dst_y,
		.dst_z = copy->dst_z,
		.dst_lod = copy->dst_lod,
		.dst_memory_type = memory_type(copy->dst_memory_type),
		.dst_host = copy->dst_host,
		.dst_device = address(copy->dst_device),
		.dst_array = copy->dst_array,
		.dst_pitch = copy->dst_pitch,
		.dst_height = copy->dst_height,
		.width_in_bytes = copy->width_in_bytes,
		.height = copy->height,
		.depth = copy->depth,
	};
	return form == COPY_ASYNC ? cuMemcpy3DAsync_v2(&c, stream) : cuMemcpy3D_v2(&c);
}

#include "tools/vgpu/generated-hip-copy.h"
#include "tools/vgpu/generated-hip-set.h"
