/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: device, pinned and managed memory, and queries of an address. driver-pool.c has
 * stream-ordered allocation. Programs call this file through the functions of
 * generated-cuda-memory.h; this file calls vgpu-memory.c.
 */
#include <string.h>

#include "tools/vgpu/cuda/work.h"

/* Alignment of rows in pitched memory. */
#define PITCH_BYTES 512u

static int get_info(size_t *free, size_t *total)
{
	struct context *context;
	uint64_t f, t;
	int r = context_current(&context);

	if (r)
		return r;
	ts_vgpu_device_memory(device_get((int32_t)context->device), &f, &t);
	if (free)
		*free = f;
	if (total)
		*total = t;
	return 0;
}

static int mem_alloc(uint64_t *dev_ptr, size_t byte_size)
{
	struct context *context;
	int r = context_current(&context);

	if (!r)
		r = stream_capture_unsafe();
	if (r)
		return r;
	if (!dev_ptr)
		return TS_CU_ERROR_INVALID_VALUE;
	/* NVIDIA's driver also sets the address. */
	if (!byte_size) {
		*dev_ptr = 0;
		return TS_CU_ERROR_INVALID_VALUE;
	}
	r = result_of(ts_vgpu_alloc(context->vctx, byte_size, 0, NULL, dev_ptr));
	if (!r)
		report_memory(TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
			      TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, context, *dev_ptr, byte_size);
	return r;
}

static int mem_alloc_pitch(uint64_t *dev_ptr, size_t *pitch, size_t width_in_bytes, size_t height,
			   uint32_t element_size_bytes)
{
	size_t rounded, bytes;
	int r;

	if (!pitch || !width_in_bytes || !height ||
	    (element_size_bytes != 4 && element_size_bytes != 8 && element_size_bytes != 16))
		return TS_CU_ERROR_INVALID_VALUE;
	if (width_in_bytes > INT32_MAX)
		return TS_CU_ERROR_INVALID_VALUE;
	rounded = (width_in_bytes + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
	if (__builtin_mul_overflow(rounded, height, &bytes))
		return TS_CU_ERROR_OUT_OF_MEMORY;
	r = mem_alloc(dev_ptr, bytes);
	if (!r)
		*pitch = rounded;
	return r;
}

static int mem_free(uint64_t dev_ptr)
{
	struct ts_vgpu_range range;
	struct context *context;
	int r = context_current(&context);

	if (!r)
		r = stream_capture_unsafe();
	if (r)
		return r;
	if (!dev_ptr)
		return 0;
	if (ts_vgpu_range_of(driver.vgpu, dev_ptr, &range) || range.start != dev_ptr)
		return TS_CU_ERROR_INVALID_VALUE;
	r = result_of(ts_vgpu_free_memory(context->vctx, dev_ptr));
	if (!r)
		report_memory(TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
			      range.kind == TS_VGPU_MEMORY_MANAGED
				      ? TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED
				      : TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
			      context, dev_ptr, range.bytes);
	return r;
}

static int mem_get_address_range(uint64_t *pbase, size_t *psize, uint64_t dev_ptr)
{
	struct ts_vgpu_range range;
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	/* NVIDIA's driver does not check the address if the call requests nothing. */
	if (!pbase && !psize)
		return 0;
	if (ts_vgpu_range_of(driver.vgpu, dev_ptr, &range))
		return TS_CU_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = range.start;
	if (psize)
		*psize = range.bytes;
	return 0;
}

static int mem_host_alloc(void **pp, size_t byte_size, uint32_t flags)
{
	struct context *context;
	int r = context_current(&context);

	if (!r)
		r = stream_capture_unsafe();
	if (r)
		return r;
	if (!pp)
		return TS_CU_ERROR_INVALID_VALUE;
	/* NVIDIA's driver sets the pointer even if it returns an error. */
	*pp = NULL;
	if (flags & ~(uint32_t)(TS_CU_MEMHOSTALLOC_PORTABLE | TS_CU_MEMHOSTALLOC_DEVICEMAP |
				TS_CU_MEMHOSTALLOC_WRITECOMBINED))
		return TS_CU_ERROR_INVALID_VALUE;
	r = result_of(ts_vgpu_alloc_pinned(context->vctx, byte_size, flags, pp));
	if (!r)
		report_memory(TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
			      TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED, context,
			      (uint64_t)(uintptr_t)*pp, byte_size);
	return r;
}

static int mem_alloc_host(void **pp, size_t byte_size)
{
	return mem_host_alloc(pp, byte_size, TS_CU_MEMHOSTALLOC_DEVICEMAP);
}

static int mem_free_host(void *p)
{
	struct ts_vgpu_range range;
	struct context *context;
	uint64_t address = (uint64_t)(uintptr_t)p;
	int r = context_current(&context);

	if (!r)
		r = stream_capture_unsafe();
	if (r)
		return r;
	if (!p)
		return 0;
	if (ts_vgpu_range_of(driver.vgpu, address, &range) || range.start != address ||
	    range.kind != TS_VGPU_MEMORY_PINNED)
		return TS_CU_ERROR_INVALID_VALUE;
	r = result_of(ts_vgpu_free_pinned(context->vctx, p));
	if (!r)
		report_memory(TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
			      TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED, context, address, range.bytes);
	return r;
}

static int mem_host_get_device_pointer(uint64_t *pdptr, void *p, uint32_t flags)
{
	struct ts_vgpu_range range;
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	if (!pdptr || flags)
		return TS_CU_ERROR_INVALID_VALUE;
	if (ts_vgpu_range_of(driver.vgpu, (uint64_t)(uintptr_t)p, &range) || !range.host)
		return TS_CU_ERROR_INVALID_VALUE;
	*pdptr = (uint64_t)(uintptr_t)p;
	return 0;
}

static int mem_host_get_flags(uint32_t *flags, void *p)
{
	struct ts_vgpu_range range;
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	if (!flags || ts_vgpu_range_of(driver.vgpu, (uint64_t)(uintptr_t)p, &range) ||
	    range.kind != TS_VGPU_MEMORY_PINNED)
		return TS_CU_ERROR_INVALID_VALUE;
	/* With unified addresses all pinned memory is mapped. */
	*flags = range.flags | TS_CU_MEMHOSTALLOC_DEVICEMAP;
	return 0;
}

static int mem_alloc_managed(uint64_t *dev_ptr, size_t byte_size, uint32_t flags)
{
	struct context *context;
	int r = context_current(&context);

	if (!r)
		r = stream_capture_unsafe();
	if (r)
		return r;
	if (!dev_ptr || (flags != TS_CU_MEM_ATTACH_GLOBAL && flags != TS_CU_MEM_ATTACH_HOST))
		return TS_CU_ERROR_INVALID_VALUE;
	r = result_of(ts_vgpu_alloc_managed(context->vctx, byte_size, flags, dev_ptr));
	if (!r)
		report_memory(TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
			      TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, context, *dev_ptr, byte_size);
	return r;
}

static int mem_host_register(void *p, size_t byte_size, uint32_t flags)
{
	struct context *context;
	int r = context_current(&context);

	if (!r)
		r = stream_capture_unsafe();
	if (r)
		return r;
	if (flags & TS_CU_MEMHOSTREGISTER_IOMEMORY)
		return NOT_SERVED("registered memory of other devices (IOMEMORY)", ON_A_REAL_GPU);
	if (flags & ~(uint32_t)(TS_CU_MEMHOSTREGISTER_PORTABLE | TS_CU_MEMHOSTREGISTER_DEVICEMAP |
				TS_CU_MEMHOSTREGISTER_READ_ONLY))
		return TS_CU_ERROR_INVALID_VALUE;
	return result_of(ts_vgpu_register_host(context->vctx, p, byte_size, flags));
}

static int mem_host_unregister(void *p)
{
	struct context *context;
	int r = context_current(&context);

	if (!r)
		r = stream_capture_unsafe();
	if (r)
		return r;
	r = ts_vgpu_unregister_host(context->vctx, p);
	return r == TS_VGPU_E_NOT_OWNER ? TS_CU_ERROR_HOST_MEMORY_NOT_REGISTERED : result_of(r);
}

static int mem_prefetch(uint64_t dev_ptr, size_t count, struct ts_cu_mem_location location,
			uint32_t flags, void *stream)
{
	struct ts_vgpu_range range;
	struct ts_vgpu_stream *vstream;
	struct context *context;
	int r = stream_uncaptured(stream, &context, &vstream);

	if (r)
		return r;
	if (flags || !count || ts_vgpu_range_of(driver.vgpu, dev_ptr, &range) ||
	    range.kind != TS_VGPU_MEMORY_MANAGED || count > range.bytes - (dev_ptr - range.start))
		return TS_CU_ERROR_INVALID_VALUE;
	if (location.type == TS_CU_MEM_LOCATION_TYPE_DEVICE && !device_get(location.id))
		return TS_CU_ERROR_INVALID_DEVICE;
	/* Host and device share the pages, so nothing moves. */
	return 0;
}

static int mem_advise(uint64_t dev_ptr, size_t count, int32_t advice,
		      struct ts_cu_mem_location location)
{
	struct ts_vgpu_range range;
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	if (advice < TS_CU_MEM_ADVISE_SET_READ_MOSTLY ||
	    advice > TS_CU_MEM_ADVISE_UNSET_ACCESSED_BY || !count ||
	    ts_vgpu_range_of(driver.vgpu, dev_ptr, &range) ||
	    range.kind != TS_VGPU_MEMORY_MANAGED || count > range.bytes - (dev_ptr - range.start))
		return TS_CU_ERROR_INVALID_VALUE;
	/* Some advice does not concern a device. */
	if (advice >= TS_CU_MEM_ADVISE_SET_PREFERRED_LOCATION &&
	    advice != TS_CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION &&
	    location.type == TS_CU_MEM_LOCATION_TYPE_DEVICE && !device_get(location.id))
		return TS_CU_ERROR_INVALID_VALUE; /* unlike cuMemPrefetchAsync */
	return 0;
}

static int attribute_of(const struct ts_vgpu_range *range, uint64_t ptr, int32_t attribute,
			void *data)
{
	struct context *context = context_of_vctx(range->context);

	switch (attribute) {
	case TS_CU_POINTER_ATTRIBUTE_CONTEXT:
		*(void **)data = context;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(uint32_t *)data = range->kind == TS_VGPU_MEMORY_PINNED ? TS_CU_MEMORYTYPE_HOST
									 : TS_CU_MEMORYTYPE_DEVICE;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(uint64_t *)data = ptr;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(void **)data = range->host ? (void *)(uintptr_t)ptr : NULL;
		return range->host ? 0 : TS_CU_ERROR_INVALID_VALUE;
	case TS_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*(uint32_t *)data = 0;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(uint64_t *)data = range->id;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(uint32_t *)data = range->kind == TS_VGPU_MEMORY_MANAGED;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int32_t *)data = (int32_t)range->device;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case TS_CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
	case TS_CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
		*(uint32_t *)data = 0;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(uint64_t *)data = range->start;
		return 0;
	case 12: /* the range's size; the vendor's list skips no number */
		*(size_t *)data = range->bytes;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_MAPPED:
		*(uint32_t *)data = 1;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*(uint64_t *)data = 0;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		*(uint32_t *)data = TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(const void **)data = range->block ? range->user : NULL;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		*(uint64_t *)data = range->start;
		return 0;
	case TS_CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		*(uint64_t *)data = range->id;
		return 0;
	default:
		return attribute < 1 || attribute > TS_CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE
			       ? TS_CU_ERROR_INVALID_VALUE
			       : TS_CU_ERROR_NOT_SUPPORTED;
	}
}

static int pointer_get_attribute(void *data, int32_t attribute, uint64_t ptr)
{
	struct ts_vgpu_range range;
	int r = check_ready();

	if (r)
		return r;
	if (!data || ts_vgpu_range_of(driver.vgpu, ptr, &range))
		return TS_CU_ERROR_INVALID_VALUE;
	return attribute_of(&range, ptr, attribute, data);
}

/* Returns the size of an attribute's value. */
static size_t attribute_bytes(int32_t attribute)
{
	switch (attribute) {
	case TS_CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case TS_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case TS_CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case TS_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
	case TS_CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case TS_CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
	case TS_CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
	case TS_CU_POINTER_ATTRIBUTE_MAPPED:
	case TS_CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		return 4;
	default:
		return 8;
	}
}

/* Unlike cuPointerGetAttribute(), this call returns zeros for unregistered memory. */
static int pointer_get_attributes(uint32_t num_attributes, int32_t *attributes, void **data,
				  uint64_t ptr)
{
	struct ts_vgpu_range range;
	bool known;
	int r = check_ready();

	if (r)
		return r;
	if (!num_attributes || !attributes || !data)
		return TS_CU_ERROR_INVALID_VALUE;
	known = !ts_vgpu_range_of(driver.vgpu, ptr, &range);
	for (uint32_t i = 0; i < num_attributes; i++) {
		memset(data[i], 0, attribute_bytes(attributes[i]));
		if (!known && attributes[i] == TS_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
			*(int32_t *)data[i] = TS_CU_DEVICE_INVALID;
		r = known ? attribute_of(&range, ptr, attributes[i], data[i]) : 0;
		if (r == TS_CU_ERROR_NOT_SUPPORTED)
			return r;
	}
	return 0;
}

static int pointer_set_attribute(const void *value, int32_t attribute, uint64_t ptr)
{
	struct ts_vgpu_range range;
	int r = check_ready();

	if (r)
		return r;
	if (!value || ts_vgpu_range_of(driver.vgpu, ptr, &range) ||
	    attribute != TS_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
		return TS_CU_ERROR_INVALID_VALUE;
	/* Every synchronous operation already synchronises. */
	return 0;
}

#include "tools/vgpu/generated-cuda-memory.h"
