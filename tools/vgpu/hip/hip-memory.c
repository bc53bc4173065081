// SPDX-License-Identifier: Apache-2.0
/*
 * Memory, memory pools and virtual memory. HIP's structures for the last two have CUDA's layouts.
 * Programs call this file through the functions of generated-hip-memory.h, generated-hip-pool.h and
 * generated-hip-map.h.
 */
#include "tools/vgpu/hip/hip-face.h"

/* hip.calls passes these structures to CUDA's functions. */
static_assert(sizeof(struct ts_hip_mem_location) == sizeof(struct ts_cu_mem_location) &&
		      offsetof(struct ts_hip_mem_location, id) ==
			      offsetof(struct ts_cu_mem_location, id),
	      "one layout");
static_assert(sizeof(struct ts_hip_mem_access_desc) == sizeof(struct ts_cu_mem_access_desc) &&
		      offsetof(struct ts_hip_mem_access_desc, flags) ==
			      offsetof(struct ts_cu_mem_access_desc, flags),
	      "one layout");
static_assert(sizeof(struct ts_hip_mem_pool_props) == sizeof(struct ts_cu_mem_pool_props) &&
		      offsetof(struct ts_hip_mem_pool_props, location) ==
			      offsetof(struct ts_cu_mem_pool_props, location) &&
		      offsetof(struct ts_hip_mem_pool_props, max_size) ==
			      offsetof(struct ts_cu_mem_pool_props, max_size),
	      "one layout");
static_assert(sizeof(struct ts_hip_mem_allocation_prop) ==
			      sizeof(struct ts_cu_mem_allocation_prop) &&
		      offsetof(struct ts_hip_mem_allocation_prop, location) ==
			      offsetof(struct ts_cu_mem_allocation_prop, location) &&
		      offsetof(struct ts_hip_mem_allocation_prop, alloc_flags) ==
			      offsetof(struct ts_cu_mem_allocation_prop, compression),
	      "one layout");

/* Flags that CUDA has. The others choose the memory's place and caches. */
#define HOST_FLAGS                                                 \
	(TS_HIP_HOST_MALLOC_PORTABLE | TS_HIP_HOST_MALLOC_MAPPED | \
	 TS_HIP_HOST_MALLOC_WRITE_COMBINED)

/* hipCpuDeviceId is the processor. */
static struct ts_cu_mem_location location(int32_t device)
{
	return device == -1 ? (struct ts_cu_mem_location){TS_CU_MEM_LOCATION_TYPE_HOST, 0}
			    : (struct ts_cu_mem_location){TS_CU_MEM_LOCATION_TYPE_DEVICE, device};
}

static int host_alloc(void **ptr, size_t size, uint32_t flags)
{
	const uint32_t both = TS_HIP_HOST_MALLOC_COHERENT | TS_HIP_HOST_MALLOC_NON_COHERENT;

	return (flags & both) == both ? TS_HIP_ERROR_INVALID_VALUE
				      : cudaHostAlloc(ptr, size, flags & HOST_FLAGS);
}

static int malloc_with_flags(void **ptr, size_t size, uint32_t flags)
{
	if (flags == TS_HIP_MALLOC_SIGNAL_MEMORY)
		return REFUSED("hipMallocSignalMemory");
	if (flags & ~TS_HIP_DEVICE_MALLOC_FINEGRAINED)
		return TS_HIP_ERROR_INVALID_VALUE;
	return cudaMalloc(ptr, size);
}

static int malloc_3d(struct ts_hip_pitched_ptr *ptr, struct ts_hip_extent extent)
{
	return cudaMalloc3D((struct ts_cuda_pitched_ptr *)ptr,
			    (struct ts_cuda_extent){extent.width, extent.height, extent.depth});
}

/* Converts a memory type to that of the release. The types since 6.0 are CUDA's. */
static int32_t memory_type(int32_t type)
{
	if (!release.has_old_memory)
		return type;
	switch (type) {
	case TS_HIP_MEMORY_TYPE_HOST:
		return TS_HIP_MEMORY_TYPE_5_HOST;
	case TS_HIP_MEMORY_TYPE_MANAGED:
		return TS_HIP_MEMORY_TYPE_5_MANAGED;
	default:
		return TS_HIP_MEMORY_TYPE_5_DEVICE;
	}
}

static int pointer_attribute(void *data, int32_t attribute, void *ptr)
{
	int r = READY(cuPointerGetAttribute(data, attribute, address(ptr)));

	if (!r && attribute == TS_HIP_POINTER_ATTRIBUTE_MEMORY_TYPE)
		*(int32_t *)data = memory_type(*(int32_t *)data);
	return r;
}

static int drv_pointer_attributes(uint32_t n, int32_t *attributes, void **data, void *ptr)
{
	int r = READY(cuPointerGetAttributes(n, attributes, data, address(ptr)));

	for (uint32_t i = 0; !r && i < n; i++)
		if (attributes[i] == TS_HIP_POINTER_ATTRIBUTE_MEMORY_TYPE)
			*(int32_t *)data[i] = memory_type(*(int32_t *)data[i]);
	return r;
}

static int pointer_attributes(void *attributes, const void *ptr)
{
	struct ts_hip_pointer_attributes *out = attributes;
	struct ts_cuda_pointer_attributes known;
	int r;

	if (!out || !ptr)
		return TS_HIP_ERROR_INVALID_VALUE;
	r = cudaPointerGetAttributes(&known, ptr);
	if (r)
		return r;
	*out = (struct ts_hip_pointer_attributes){.device = -2}; /* hipInvalidDeviceId */
	if (known.type == TS_CUDA_MEMORY_TYPE_UNREGISTERED)
		return release.has_old_memory ? TS_HIP_ERROR_INVALID_VALUE : 0;
	out->type = memory_type(known.type);
	out->device = known.device;
	out->device_pointer = known.device_pointer;
	out->host_pointer = known.type == TS_CUDA_MEMORY_TYPE_DEVICE ? NULL : known.host_pointer;
	out->is_managed = known.type == TS_CUDA_MEMORY_TYPE_MANAGED;
	return 0;
}

#include "tools/vgpu/generated-hip-map.h"
#include "tools/vgpu/generated-hip-memory.h"
#include "tools/vgpu/generated-hip-pool.h"
