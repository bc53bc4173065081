/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills memory with bytes, 16-bit or 32-bit values, in one or more rows. Programs call this file
 * through the functions of generated-cuda-set.h, graphs call set_run(); this file calls
 * ts_vgpu_fill().
 */
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
	return async ? stream_capture_set(capturing, context, &fill)
		     : stream_capture_refuse(capturing);
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

#include "tools/vgpu/generated-cuda-set.h"
