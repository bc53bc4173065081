/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures driver calls that allocate, map, register, free and unmap memory. capture-calls.c calls
 * this file. This file keeps the map of allocations in capture-memory.c, and puts ALLOC and FREE
 * into the lane.
 */
#include "inject/capture/capture.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define ID(name) TS_CUPTI_DRIVER_CBID_##name
/* Case labels for a call and for its variant with per-thread default streams. */
#define PTSZ(name) ID(name) : case ID(name##_ptsz)

static void put_alloc(struct ts_capture *capture, const struct ts_record_operation *model,
		      uint64_t address, uint64_t bytes, uint32_t flags)
{
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_ALLOC;
	operation.dst = address;
	operation.bytes = bytes;
	operation.operation_flags |= flags;
	ts_capture_forget(capture, address, bytes);
	if (!ts_memory_map_add(&capture->memory, address, bytes,
			       flags & (TS_OPERATION_MEMORY_PINNED | TS_OPERATION_MEMORY_MANAGED),
			       operation.context))
		ts_lane_end(&capture->lane, TS_LANE_NO_MEMORY);
	(void)ts_lane_put(&capture->lane, &operation);
}

static void put_free(struct ts_capture *capture, const struct ts_record_operation *model,
		     uint64_t address, uint32_t flags)
{
	struct ts_record_operation operation = *model;
	const struct ts_memory_range *range = ts_memory_map_find(&capture->memory, address);

	/* The call will fail, or frees nothing. */
	if (!range || range->start != address)
		return;
	if (range->flags)
		ts_capture_forget(capture, address, range->bytes);
	(void)ts_memory_map_remove(&capture->memory, address);
	operation.kind = TS_OPERATION_FREE;
	operation.dst = address;
	operation.operation_flags |= flags;
	(void)ts_lane_put(&capture->lane, &operation);
}

/*
 * State of memory that cuMemCreate() made. The table of handles stores it as the handle's number.
 */
enum {
	HANDLE_UNKNOWN = 0,
	HANDLE_CREATED,
	HANDLE_MAPPED, /* mapped at least once */
};

static void note_created(struct ts_capture *capture, const struct ts_record_operation *model,
			 const struct ts_cu_mem_create_params *params)
{
	const struct ts_cu_mem_allocation_prop *prop = params->prop;
	uint32_t *number = ts_handles_get(&capture->memory_numbers, *params->handle);

	if (!number)
		ts_lane_end(&capture->lane, TS_LANE_NO_MEMORY);
	else
		*number = HANDLE_CREATED;
	if (prop->location.type != TS_CU_MEM_LOCATION_TYPE_DEVICE)
		ts_capture_unsupported(capture, model, "cuMemCreate of host memory");
}

/*
 * Captures cuMemMap() as an allocation at the mapped address. So a replay supports only one mapping
 * of each piece of memory.
 */
static void put_mapped(struct ts_capture *capture, const struct ts_record_operation *model,
		       const struct ts_cu_mem_map_params *params)
{
	uint32_t *number = ts_handles_get(&capture->memory_numbers, params->handle);

	if (!number)
		ts_lane_end(&capture->lane, TS_LANE_NO_MEMORY);
	else if (*number != HANDLE_CREATED)
		ts_capture_unsupported(capture, model,
				       *number == HANDLE_MAPPED
					       ? "a second cuMemMap of the same cuMemCreate handle"
					       : "cuMemMap of memory of another process");
	else
		*number = HANDLE_MAPPED;
	put_alloc(capture, model, params->ptr, params->size, TS_OPERATION_MEMORY_MAPPED);
}

/* Captures cuMemUnmap(), which can unmap several adjacent mappings at once. */
static void put_unmapped(struct ts_capture *capture, const struct ts_record_operation *model,
			 const struct ts_cu_mem_unmap_params *params)
{
	const struct ts_memory_range *range;
	uint64_t at = params->ptr;

	while ((range = ts_memory_map_find(&capture->memory, at)) && range->start == at &&
	       range->bytes <= params->ptr + params->size - at) {
		at += range->bytes;
		put_free(capture, model, range->start, TS_OPERATION_MEMORY_MAPPED);
	}
}

bool ts_capture_alloc_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			   struct ts_record_operation *model)
{
	switch (cbid) {
	case ID(cuMemAlloc_v2): {
		const struct ts_cu_mem_alloc_params *p = params;

		put_alloc(capture, model, *p->dev_ptr, p->byte_size, 0);
		return true;
	}
	case ID(cuMemAllocPitch_v2): {
		const struct ts_cu_mem_alloc_pitch_params *p = params;

		put_alloc(capture, model, *p->dev_ptr, *p->pitch * p->height, 0);
		return true;
	}
	case ID(cuMemAllocHost_v2):
	case ID(cuMemHostAlloc):
	case ID(cuMemHostAlloc_v2): {
		const struct ts_cu_mem_alloc_host_params *p = params;

		put_alloc(capture, model, (uint64_t)(uintptr_t)*p->pp, p->byte_size,
			  TS_OPERATION_MEMORY_PINNED);
		return true;
	}
	case ID(cuMemAllocManaged): {
		const struct ts_cu_mem_alloc_managed_params *p = params;

		put_alloc(capture, model, *p->dev_ptr, p->byte_size, TS_OPERATION_MEMORY_MANAGED);
		return true;
	}
	case ID(cuMemHostRegister_v2): {
		const struct ts_cu_mem_host_register_params *p = params;

		put_alloc(capture, model, (uint64_t)(uintptr_t)p->p, p->byte_size,
			  TS_OPERATION_MEMORY_PINNED);
		return true;
	}
	case PTSZ(cuMemAllocAsync): {
		const struct ts_cu_mem_alloc_async_params *p = params;

		model->stream = ts_capture_stream(cbid, p->stream);
		if (!ts_capture_is_captured(capture, model->stream))
			put_alloc(capture, model, *p->dev_ptr, p->byte_size, TS_OPERATION_ASYNC);
		return true;
	}
	case PTSZ(cuMemAllocFromPoolAsync): {
		const struct ts_cu_mem_alloc_from_pool_async_params *p = params;

		model->stream = ts_capture_stream(cbid, p->stream);
		if (!ts_capture_is_captured(capture, model->stream))
			put_alloc(capture, model, *p->dev_ptr, p->byte_size, TS_OPERATION_ASYNC);
		return true;
	}
	case ID(cuMemCreate):
		note_created(capture, model, params);
		return true;
	case ID(cuMemMap):
		put_mapped(capture, model, params);
		return true;
	case ID(cuMemUnmap):
		put_unmapped(capture, model, params);
		return true;
	case ID(cuMemFree_v2):
	case ID(cuMemFreeHost):
	case ID(cuMemHostUnregister):
		put_free(capture, model, *(const uint64_t *)params, 0);
		return true;
	case PTSZ(cuMemFreeAsync): {
		const struct ts_cu_mem_free_async_params *p = params;

		model->stream = ts_capture_stream(cbid, p->stream);
		if (!ts_capture_is_captured(capture, model->stream))
			put_free(capture, model, p->dev_ptr, TS_OPERATION_ASYNC);
		return true;
	}
	default:
		return false;
	}
}
