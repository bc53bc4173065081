/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies. The device determines the kind of memory of each side from its address. If a call states
 * the kinds, they must match. Programs call this file through the functions of
 * generated-cuda-copy.h, graphs call copy_run(); this file calls ts_vgpu_copy().
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cuda/work.h"

static const uint8_t memory_kinds[] = {
	[TS_VGPU_MEMORY_PAGEABLE] = TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE,
	[TS_VGPU_MEMORY_PINNED] = TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
	[TS_VGPU_MEMORY_DEVICE] = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
	[TS_VGPU_MEMORY_MANAGED] = TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED,
};

static bool is_device(const struct ts_vgpu_range *range)
{
	return range->kind >= TS_VGPU_MEMORY_DEVICE;
}

/* Returns the allocation of an address; an unknown address is host memory. */
static void side_of(uint64_t address, uint32_t device, struct ts_vgpu_range *ret_range)
{
	if (ts_vgpu_range_of(driver.vgpu, address, ret_range))
		*ret_range = (struct ts_vgpu_range){.start = address,
						    .kind = TS_VGPU_MEMORY_PAGEABLE,
						    .device = device};
}

static uint8_t copy_kind(const struct ts_vgpu_range *src, const struct ts_vgpu_range *dst)
{
	if (is_device(src) && is_device(dst))
		return src->device == dst->device ? TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
						  : TS_CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	if (is_device(dst))
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	return is_device(src) ? TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
			      : TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
}

static struct ts_vgpu_operation *describe(const struct context *context,
					  const struct ts_vgpu_copy *copy, uint32_t stream_id)
{
	struct ts_vgpu_operation *op = report_operation(context, stream_id);
	struct ts_vgpu_range src, dst;

	if (!op)
		return NULL;
	side_of(copy->src, context->device, &src);
	side_of(copy->dst, context->device, &dst);
	op->kind = TS_CUPTI_ACTIVITY_KIND_MEMCPY;
	op->channel_type = TS_CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
	op->async = copy->async;
	op->memcpy.bytes = (uint64_t)copy->width * copy->height * copy->depth;
	op->memcpy.n_copies = 1;
	op->memcpy.copy_kind = copy_kind(&src, &dst);
	op->memcpy.src_kind = memory_kinds[src.kind];
	op->memcpy.dst_kind = memory_kinds[dst.kind];
	if (op->memcpy.copy_kind == TS_CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) {
		op->kind = TS_CUPTI_ACTIVITY_KIND_MEMCPY2;
		op->memcpy.src_device_id = src.device;
		op->memcpy.dst_device_id = dst.device;
		op->memcpy.src_context_id = src.context ? ts_vgpu_context_uid(src.context) : 0;
		op->memcpy.dst_context_id = dst.context ? ts_vgpu_context_uid(dst.context) : 0;
	}
	return op;
}

static bool side_is(uint64_t address, enum said said)
{
	struct ts_vgpu_range range;

	if (said == SAID_ANY)
		return true;
	/*
	 * Host memory that the device can access is also a device address. Only device memory in
	 * place of host memory is an error.
	 */
	if (ts_vgpu_range_of(driver.vgpu, address, &range))
		return said == SAID_HOST;
	return said == SAID_DEVICE || range.host;
}

int copy_run(struct context *context, struct ts_vgpu_stream *vstream, struct said_copy *c,
	     const struct work_place *place)
{
	struct ts_vgpu_operation *op = NULL;
	int r;

	if (!c->copy.width || !c->copy.height || !c->copy.depth)
		return 0;
	if (!side_is(c->copy.src, c->src) || !side_is(c->copy.dst, c->dst))
		return TS_CU_ERROR_INVALID_VALUE;
	if (ts_vgpu_armed())
		op = describe(context, &c->copy, ts_vgpu_stream_id(vstream));
	report_place(op, place);
	report_submit(op);
	c->copy.tag = (uint64_t)(uintptr_t)op;
	r = result_of(ts_vgpu_copy(vstream, &c->copy));
	if (r && r != TS_CU_ERROR_DEINITIALIZED)
		report_cancel(op);
	return r;
}

static int copy_on(void *stream, struct said_copy *copy)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *capturing;
	int r = stream_work(stream, &context, &vstream, &capturing);

	if (r)
		return r;
	if (!capturing)
		return copy_run(context, vstream, copy, NULL);
	return copy->copy.async ? stream_capture_copy(capturing, context, copy)
				: stream_capture_refuse(capturing);
}

static int linear(void *stream, uint64_t dst, uint64_t src, size_t bytes, enum said src_said,
		  enum said dst_said, bool async)
{
	struct said_copy c = {
		.copy =
			{
				.src = src,
				.dst = dst,
				.width = bytes,
				.height = 1,
				.depth = 1,
				.async = async,
			},
		.src = src_said,
		.dst = dst_said,
	};

	return copy_on(stream, &c);
}

static uint64_t host(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static int copy_any(uint64_t dst, uint64_t src, size_t byte_count, void *stream)
{
	return linear(stream, dst, src, byte_count, SAID_ANY, SAID_ANY, false);
}

static int copy_any_async(uint64_t dst, uint64_t src, size_t byte_count, void *stream)
{
	return linear(stream, dst, src, byte_count, SAID_ANY, SAID_ANY, true);
}

static int copy_htod(uint64_t dst, const void *src, size_t byte_count, void *stream)
{
	return linear(stream, dst, host(src), byte_count, SAID_HOST, SAID_DEVICE, false);
}

static int copy_htod_async(uint64_t dst, const void *src, size_t byte_count, void *stream)
{
	return linear(stream, dst, host(src), byte_count, SAID_HOST, SAID_DEVICE, true);
}

static int copy_dtoh(void *dst, uint64_t src, size_t byte_count, void *stream)
{
	return linear(stream, host(dst), src, byte_count, SAID_DEVICE, SAID_HOST, false);
}

static int copy_dtoh_async(void *dst, uint64_t src, size_t byte_count, void *stream)
{
	return linear(stream, host(dst), src, byte_count, SAID_DEVICE, SAID_HOST, true);
}

static int copy_dtod(uint64_t dst, uint64_t src, size_t byte_count, void *stream)
{
	return linear(stream, dst, src, byte_count, SAID_DEVICE, SAID_DEVICE, false);
}

static int copy_dtod_async(uint64_t dst, uint64_t src, size_t byte_count, void *stream)
{
	return linear(stream, dst, src, byte_count, SAID_DEVICE, SAID_DEVICE, true);
}

static int copy_peer_with(uint64_t dst, void *dst_context, uint64_t src, void *src_context,
			  size_t byte_count, void *stream, bool async)
{
	if (!handle_is(dst_context, HANDLE_CONTEXT) || !handle_is(src_context, HANDLE_CONTEXT))
		return TS_CU_ERROR_INVALID_CONTEXT;
	return linear(stream, dst, src, byte_count, SAID_DEVICE, SAID_DEVICE, async);
}

static int copy_peer(uint64_t dst, void *dst_context, uint64_t src, void *src_context,
		     size_t byte_count, void *stream)
{
	return copy_peer_with(dst, dst_context, src, src_context, byte_count, stream, false);
}

static int copy_peer_async(uint64_t dst, void *dst_context, uint64_t src, void *src_context,
			   size_t byte_count, void *stream)
{
	return copy_peer_with(dst, dst_context, src, src_context, byte_count, stream, true);
}

/* One side of a pitched copy, from the driver's structs. */
struct pitched {
	int32_t type;
	const void *host;
	uint64_t device;
	size_t x, y, z;
	size_t pitch, height;
};

static int pitched_start(const struct pitched *p, size_t width, uint64_t *ret_address,
			 size_t *ret_pitch, size_t *ret_slice, enum said *ret_said)
{
	size_t pitch = p->pitch ? p->pitch : width;
	size_t slice, off, rows;

	switch (p->type) {
	case TS_CU_MEMORYTYPE_HOST:
		*ret_address = host(p->host);
		*ret_said = SAID_HOST;
		break;
	case TS_CU_MEMORYTYPE_DEVICE:
		*ret_address = p->device;
		*ret_said = SAID_DEVICE;
		break;
	case TS_CU_MEMORYTYPE_UNIFIED:
		*ret_address = p->device;
		*ret_said = SAID_ANY;
		break;
	case TS_CU_MEMORYTYPE_ARRAY:
		return NOT_SERVED("CUDA arrays", "use linear memory, or " ON_A_REAL_GPU);
	default:
		return TS_CU_ERROR_INVALID_VALUE;
	}
	if (p->x + width > pitch || p->x + width < width)
		return TS_CU_ERROR_INVALID_VALUE;
	if (__builtin_mul_overflow(pitch, p->height, &slice) ||
	    __builtin_mul_overflow(slice, p->z, &off) ||
	    __builtin_mul_overflow(pitch, p->y, &rows) || __builtin_add_overflow(off, rows, &off) ||
	    __builtin_add_overflow(off, p->x, &off) ||
	    __builtin_add_overflow(*ret_address, off, ret_address))
		return TS_CU_ERROR_INVALID_VALUE;
	*ret_pitch = pitch;
	*ret_slice = slice;
	return 0;
}

static int read_pitched(const struct pitched *src, const struct pitched *dst, size_t width,
			size_t height, size_t depth, bool async, struct said_copy *ret_copy)
{
	struct said_copy c = {
		.copy =
			{
				.width = width,
				.height = height,
				.depth = depth,
				.async = async,
			},
	};
	int r = pitched_start(src, width, &c.copy.src, &c.copy.src_pitch, &c.copy.src_slice,
			      &c.src);

	if (!r)
		r = pitched_start(dst, width, &c.copy.dst, &c.copy.dst_pitch, &c.copy.dst_slice,
				  &c.dst);
	if (!r)
		*ret_copy = c;
	return r;
}

static int copy_2d_with(const struct ts_cu_memcpy_2d *c, void *stream, bool async)
{
	struct pitched src, dst;
	struct said_copy copy;
	int r;

	if (!c)
		return TS_CU_ERROR_INVALID_VALUE;
	src = (struct pitched){
		.type = c->src_memory_type,
		.host = c->src_host,
		.device = c->src_device,
		.x = c->src_x_in_bytes,
		.y = c->src_y,
		.pitch = c->src_pitch,
	};
	dst = (struct pitched){
		.type = c->dst_memory_type,
		.host = c->dst_host,
		.device = c->dst_device,
		.x = c->dst_x_in_bytes,
		.y = c->dst_y,
		.pitch = c->dst_pitch,
	};
	r = read_pitched(&src, &dst, c->width_in_bytes, c->height, 1, async, &copy);
	return r ? r : copy_on(stream, &copy);
}

static int copy_2d(const struct ts_cu_memcpy_2d *copy, void *stream)
{
	return copy_2d_with(copy, stream, false);
}

static int copy_2d_async(const struct ts_cu_memcpy_2d *copy, void *stream)
{
	return copy_2d_with(copy, stream, true);
}

int copy_read(const struct ts_cu_memcpy_3d *c, struct said_copy *ret_copy)
{
	struct pitched src, dst;

	if (!c || c->src_lod || c->dst_lod)
		return TS_CU_ERROR_INVALID_VALUE;
	src = (struct pitched){
		.type = c->src_memory_type,
		.host = c->src_host,
		.device = c->src_device,
		.x = c->src_x_in_bytes,
		.y = c->src_y,
		.z = c->src_z,
		.pitch = c->src_pitch,
		.height = c->src_height ? c->src_height : c->height,
	};
	dst = (struct pitched){
		.type = c->dst_memory_type,
		.host = c->dst_host,
		.device = c->dst_device,
		.x = c->dst_x_in_bytes,
		.y = c->dst_y,
		.z = c->dst_z,
		.pitch = c->dst_pitch,
		.height = c->dst_height ? c->dst_height : c->height,
	};
	return read_pitched(&src, &dst, c->width_in_bytes, c->height, c->depth, true, ret_copy);
}

static int copy_3d_with(const struct ts_cu_memcpy_3d *c, void *stream, bool async)
{
	struct said_copy copy;
	int r = copy_read(c, &copy);

	if (r)
		return r;
	copy.copy.async = async;
	return copy_on(stream, &copy);
}

static int copy_3d(const struct ts_cu_memcpy_3d *copy, void *stream)
{
	return copy_3d_with(copy, stream, false);
}

static int copy_3d_async(const struct ts_cu_memcpy_3d *copy, void *stream)
{
	return copy_3d_with(copy, stream, true);
}

static int copy_3d_peer_with(const struct ts_cu_memcpy_3d_peer *c, void *stream, bool async)
{
	struct ts_cu_memcpy_3d plain;

	if (!c)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!handle_is(c->src_context, HANDLE_CONTEXT) ||
	    !handle_is(c->dst_context, HANDLE_CONTEXT))
		return TS_CU_ERROR_INVALID_CONTEXT;
	/*
	 * Both structs have one layout, except for the contexts, which the addresses determine
	 * anyway.
	 */
	_Static_assert(sizeof(plain) == sizeof(*c), "one layout");
	memcpy(&plain, c, sizeof(plain));
	return copy_3d_with(&plain, stream, async);
}

static int copy_3d_peer(const struct ts_cu_memcpy_3d_peer *copy, void *stream)
{
	return copy_3d_peer_with(copy, stream, false);
}

static int copy_3d_peer_async(const struct ts_cu_memcpy_3d_peer *copy, void *stream)
{
	return copy_3d_peer_with(copy, stream, true);
}

#include "tools/vgpu/generated-cuda-copy.h"
