/* SPDX-License-Identifier: Apache-2.0 */
/* Setting memory, by bytes, halves and words, in rows or not. */
#include "tools/vgpu/cuda/work.h"

static struct ts_vgpu_operation *describe(const struct context *context,
					  const struct ts_vgpu_fill *fill, uint32_t stream_id)
{
	struct ts_vgpu_operation *op = report_operation(context, stream_id);
	struct ts_vgpu_range range;

	if (!op)
		return NULL;
	op->kind = TS_CUPTI_ACTIVITY_KIND_MEMSET;
	op->channel_type = TS_CUPTI_CHANNEL_TYPE_COMPUTE;
	op->async = fill->async;
	op->memset.bytes = (uint64_t)fill->width * fill->height * fill->element_bytes;
	op->memset.value = fill->value;
	op->memset.memory_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	if (!ts_vgpu_range_of(driver.vgpu, fill->dst, &range)) {
		if (range.kind == TS_VGPU_MEMORY_MANAGED)
			op->memset.memory_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
		else if (range.kind == TS_VGPU_MEMORY_PINNED)
			op->memset.memory_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	}
	return op;
}

int set_run(struct context *context, struct ts_vgpu_stream *vstream, struct ts_vgpu_fill *fill,
	    const struct work_place *place)
{
	struct ts_vgpu_operation *op =
		ts_vgpu_armed() ? describe(context, fill, ts_vgpu_stream_id(vstream)) : NULL;
	int r;

	report_place(op, place);
	report_submit(op);
	fill->tag = (uint64_t)(uintptr_t)op;
	r = result_of(ts_vgpu_fill(vstream, fill));
	if (r && r != TS_CU_ERROR_DEINITIALIZED)
		report_cancel(op);
	return r;
}

static int set(uint64_t dst, size_t pitch, uint32_t value, uint32_t element_bytes, size_t width,
	       size_t height, void *stream, bool async)
{
	struct ts_vgpu_fill fill = {
		.dst = dst,
		.value = value,
		.element_bytes = element_bytes,
		.width = width,
		.height = height,
		.pitch = pitch,
		.async = async,
	};
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *capturing;
	int r = stream_work(stream, &context, &vstream, &capturing);

	if (r || !width || !height)
		return r;
	if (!capturing)
		return set_run(context, vstream, &fill, NULL);
	return async ? capture_set(capturing, context, &fill) : capture_refuse(capturing);
}

#define SETS(suffix, type, bytes)                                                            \
	static int d##suffix(uint64_t dst, type value, size_t n, void *stream)               \
	{                                                                                    \
		return set(dst, 0, value, bytes, n, 1, stream, false);                       \
	}                                                                                    \
	static int d##suffix##_async(uint64_t dst, type value, size_t n, void *stream)       \
	{                                                                                    \
		return set(dst, 0, value, bytes, n, 1, stream, true);                        \
	}                                                                                    \
	static int d2d##suffix(uint64_t dst, size_t pitch, type value, size_t width,         \
			       size_t height, void *stream)                                  \
	{                                                                                    \
		return set(dst, pitch, value, bytes, width, height, stream, false);          \
	}                                                                                    \
	static int d2d##suffix##_async(uint64_t dst, size_t pitch, type value, size_t width, \
				       size_t height, void *stream)                          \
	{                                                                                    \
		return set(dst, pitch, value, bytes, width, height, stream, true);           \
	}

SETS(8, uint8_t, 1)
SETS(16, uint16_t, 2)
SETS(32, uint32_t, 4)

API int cuMemsetD8_v2(uint64_t dst_device, uint8_t value, size_t n)
{
	struct ts_cu_memset_d8_params params = {dst_device, value, n};

	return CALL(cuMemsetD8_v2, &params, d8(dst_device, value, n, NULL));
}

API int cuMemsetD8_v2_ptds(uint64_t dst_device, uint8_t value, size_t n)
{
	struct ts_cu_memset_d8_params params = {dst_device, value, n};

	return CALL(cuMemsetD8_v2_ptds, &params, d8(dst_device, value, n, TS_CU_STREAM_PER_THREAD));
}

API int cuMemsetD16_v2(uint64_t dst_device, uint16_t value, size_t n)
{
	struct ts_cu_memset_d16_params params = {dst_device, value, n};

	return CALL(cuMemsetD16_v2, &params, d16(dst_device, value, n, NULL));
}

API int cuMemsetD16_v2_ptds(uint64_t dst_device, uint16_t value, size_t n)
{
	struct ts_cu_memset_d16_params params = {dst_device, value, n};

	return CALL(cuMemsetD16_v2_ptds, &params,
		    d16(dst_device, value, n, TS_CU_STREAM_PER_THREAD));
}

API int cuMemsetD32_v2(uint64_t dst_device, uint32_t value, size_t n)
{
	struct ts_cu_memset_d32_params params = {dst_device, value, n};

	return CALL(cuMemsetD32_v2, &params, d32(dst_device, value, n, NULL));
}

API int cuMemsetD32_v2_ptds(uint64_t dst_device, uint32_t value, size_t n)
{
	struct ts_cu_memset_d32_params params = {dst_device, value, n};

	return CALL(cuMemsetD32_v2_ptds, &params,
		    d32(dst_device, value, n, TS_CU_STREAM_PER_THREAD));
}

API int cuMemsetD2D8_v2(uint64_t dst_device, size_t dst_pitch, uint8_t value, size_t width,
			size_t height)
{
	struct ts_cu_memset_d2d8_params params = {dst_device, dst_pitch, value, width, height};

	return CALL(cuMemsetD2D8_v2, &params,
		    d2d8(dst_device, dst_pitch, value, width, height, NULL));
}

API int cuMemsetD2D8_v2_ptds(uint64_t dst_device, size_t dst_pitch, uint8_t value, size_t width,
			     size_t height)
{
	struct ts_cu_memset_d2d8_params params = {dst_device, dst_pitch, value, width, height};

	return CALL(cuMemsetD2D8_v2_ptds, &params,
		    d2d8(dst_device, dst_pitch, value, width, height, TS_CU_STREAM_PER_THREAD));
}

API int cuMemsetD2D16_v2(uint64_t dst_device, size_t dst_pitch, uint16_t value, size_t width,
			 size_t height)
{
	struct ts_cu_memset_d2d16_params params = {dst_device, dst_pitch, value, width, height};

	return CALL(cuMemsetD2D16_v2, &params,
		    d2d16(dst_device, dst_pitch, value, width, height, NULL));
}

API int cuMemsetD2D16_v2_ptds(uint64_t dst_device, size_t dst_pitch, uint16_t value, size_t width,
			      size_t height)
{
	struct ts_cu_memset_d2d16_params params = {dst_device, dst_pitch, value, width, height};

	return CALL(cuMemsetD2D16_v2_ptds, &params,
		    d2d16(dst_device, dst_pitch, value, width, height, TS_CU_STREAM_PER_THREAD));
}

API int cuMemsetD2D32_v2(uint64_t dst_device, size_t dst_pitch, uint32_t value, size_t width,
			 size_t height)
{
	struct ts_cu_memset_d2d32_params params = {dst_device, dst_pitch, value, width, height};

	return CALL(cuMemsetD2D32_v2, &params,
		    d2d32(dst_device, dst_pitch, value, width, height, NULL));
}

API int cuMemsetD2D32_v2_ptds(uint64_t dst_device, size_t dst_pitch, uint32_t value, size_t width,
			      size_t height)
{
	struct ts_cu_memset_d2d32_params params = {dst_device, dst_pitch, value, width, height};

	return CALL(cuMemsetD2D32_v2_ptds, &params,
		    d2d32(dst_device, dst_pitch, value, width, height, TS_CU_STREAM_PER_THREAD));
}

API int cuMemsetD8Async(uint64_t dst_device, uint8_t value, size_t n, void *stream)
{
	struct ts_cu_memset_d8_async_params params = {dst_device, value, n, stream};

	return CALL(cuMemsetD8Async, &params, d8_async(dst_device, value, n, stream));
}

API int cuMemsetD8Async_ptsz(uint64_t dst_device, uint8_t value, size_t n, void *stream)
{
	struct ts_cu_memset_d8_async_params params = {dst_device, value, n, stream};

	return CALL(cuMemsetD8Async_ptsz, &params,
		    d8_async(dst_device, value, n, per_thread(stream)));
}

API int cuMemsetD16Async(uint64_t dst_device, uint16_t value, size_t n, void *stream)
{
	struct ts_cu_memset_d16_async_params params = {dst_device, value, n, stream};

	return CALL(cuMemsetD16Async, &params, d16_async(dst_device, value, n, stream));
}

API int cuMemsetD16Async_ptsz(uint64_t dst_device, uint16_t value, size_t n, void *stream)
{
	struct ts_cu_memset_d16_async_params params = {dst_device, value, n, stream};

	return CALL(cuMemsetD16Async_ptsz, &params,
		    d16_async(dst_device, value, n, per_thread(stream)));
}

API int cuMemsetD32Async(uint64_t dst_device, uint32_t value, size_t n, void *stream)
{
	struct ts_cu_memset_d32_async_params params = {dst_device, value, n, stream};

	return CALL(cuMemsetD32Async, &params, d32_async(dst_device, value, n, stream));
}

API int cuMemsetD32Async_ptsz(uint64_t dst_device, uint32_t value, size_t n, void *stream)
{
	struct ts_cu_memset_d32_async_params params = {dst_device, value, n, stream};

	return CALL(cuMemsetD32Async_ptsz, &params,
		    d32_async(dst_device, value, n, per_thread(stream)));
}

API int cuMemsetD2D8Async(uint64_t dst_device, size_t dst_pitch, uint8_t value, size_t width,
			  size_t height, void *stream)
{
	struct ts_cu_memset_d2d8_async_params params = {dst_device, dst_pitch, value,
							width,	    height,    stream};

	return CALL(cuMemsetD2D8Async, &params,
		    d2d8_async(dst_device, dst_pitch, value, width, height, stream));
}

API int cuMemsetD2D8Async_ptsz(uint64_t dst_device, size_t dst_pitch, uint8_t value, size_t width,
			       size_t height, void *stream)
{
	struct ts_cu_memset_d2d8_async_params params = {dst_device, dst_pitch, value,
							width,	    height,    stream};

	return CALL(cuMemsetD2D8Async_ptsz, &params,
		    d2d8_async(dst_device, dst_pitch, value, width, height, per_thread(stream)));
}

API int cuMemsetD2D16Async(uint64_t dst_device, size_t dst_pitch, uint16_t value, size_t width,
			   size_t height, void *stream)
{
	struct ts_cu_memset_d2d16_async_params params = {dst_device, dst_pitch, value,
							 width,	     height,	stream};

	return CALL(cuMemsetD2D16Async, &params,
		    d2d16_async(dst_device, dst_pitch, value, width, height, stream));
}

API int cuMemsetD2D16Async_ptsz(uint64_t dst_device, size_t dst_pitch, uint16_t value, size_t width,
				size_t height, void *stream)
{
	struct ts_cu_memset_d2d16_async_params params = {dst_device, dst_pitch, value,
							 width,	     height,	stream};

	return CALL(cuMemsetD2D16Async_ptsz, &params,
		    d2d16_async(dst_device, dst_pitch, value, width, height, per_thread(stream)));
}

API int cuMemsetD2D32Async(uint64_t dst_device, size_t dst_pitch, uint32_t value, size_t width,
			   size_t height, void *stream)
{
	struct ts_cu_memset_d2d32_async_params params = {dst_device, dst_pitch, value,
							 width,	     height,	stream};

	return CALL(cuMemsetD2D32Async, &params,
		    d2d32_async(dst_device, dst_pitch, value, width, height, stream));
}

API int cuMemsetD2D32Async_ptsz(uint64_t dst_device, size_t dst_pitch, uint32_t value, size_t width,
				size_t height, void *stream)
{
	struct ts_cu_memset_d2d32_async_params params = {dst_device, dst_pitch, value,
							 width,	     height,	stream};

	return CALL(cuMemsetD2D32Async_ptsz, &params,
		    d2d32_async(dst_device, dst_pitch, value, width, height, per_thread(stream)));
}
