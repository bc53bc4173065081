/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory management: reserves addresses, creates memory, maps memory to addresses. Each
 * handle of memory is a separate object, also a handle that the program requests by address.
 * Sharing with other processes is rejected. Programs call this file through the functions of
 * generated-cuda-map.h; this file calls vgpu-map.c and physical.c.
 */
#include "tools/vgpu/cuda/work.h"

/* Handle that one process passes to another. */
struct ipc_handle {
	char bytes[64];
};

struct allocation {
	struct handle handle;
	struct ts_vgpu_physical *physical;
};

static int allocation_get(uint64_t handle, struct allocation **ret_allocation)
{
	int r = check_ready();

	if (r)
		return r;
	*ret_allocation = (struct allocation *)(uintptr_t)handle;
	return handle_is(*ret_allocation, HANDLE_ALLOCATION) ? 0 : TS_CU_ERROR_INVALID_VALUE;
}

/* Consumes the reference. */
static int allocation_new(struct ts_vgpu_physical *physical, uint64_t *ret_handle)
{
	struct allocation *made = handle_new(HANDLE_ALLOCATION, sizeof(*made));

	if (!made) {
		ts_vgpu_physical_unref(physical);
		return TS_CU_ERROR_OUT_OF_MEMORY;
	}
	made->physical = physical;
	*ret_handle = (uint64_t)(uintptr_t)made;
	return 0;
}

/* Converts an error of the device. A range of the wrong kind is always "invalid value". */
static int map_result(int r)
{
	return r == TS_VGPU_E_ADDRESS || r == TS_VGPU_E_NOT_OWNER ? TS_CU_ERROR_INVALID_VALUE
								  : result_of(r);
}

static int address_reserve(uint64_t *ptr, size_t size, size_t alignment, uint64_t addr,
			   uint64_t flags)
{
	int r = check_ready();

	if (r)
		return r;
	if (!ptr || flags)
		return TS_CU_ERROR_INVALID_VALUE;
	/* The address is a hint, as in NVIDIA's driver. */
	return map_result(ts_vgpu_reserve(driver.vgpu, size, alignment, addr, ptr));
}

static int address_free(uint64_t ptr, size_t size)
{
	int r = check_ready();

	return r ? r : map_result(ts_vgpu_unreserve(driver.vgpu, ptr, size));
}

static int prop_check(const struct ts_cu_mem_allocation_prop *prop)
{
	if (!prop)
		return TS_CU_ERROR_INVALID_VALUE;
	if (prop->type != TS_CU_MEM_ALLOCATION_TYPE_PINNED ||
	    prop->location.type != TS_CU_MEM_LOCATION_TYPE_DEVICE ||
	    prop->handle_types != TS_CU_MEM_HANDLE_TYPE_NONE)
		return NOT_SERVED("cuMemCreate of the host's memory or with handle types",
				  "create it in a device's memory, for this process");
	return device_get(prop->location.id) ? 0 : TS_CU_ERROR_INVALID_DEVICE;
}

static int mem_create(uint64_t *handle, size_t size, const struct ts_cu_mem_allocation_prop *prop,
		      uint64_t flags)
{
	struct ts_vgpu_physical *physical;
	int r = check_ready();

	if (r)
		return r;
	if (!handle || flags)
		return TS_CU_ERROR_INVALID_VALUE;
	r = prop_check(prop);
	if (!r)
		r = map_result(
			ts_vgpu_physical_new(device_get(prop->location.id), size, &physical));
	return r ? r : allocation_new(physical, handle);
}

static int mem_release(uint64_t handle)
{
	struct allocation *a;
	int r = allocation_get(handle, &a);

	if (r)
		return r;
	ts_vgpu_physical_unref(a->physical);
	handle_free(a, sizeof(*a));
	return 0;
}

static int mem_map(uint64_t ptr, size_t size, size_t offset, uint64_t handle, uint64_t flags)
{
	struct allocation *a;
	int r = allocation_get(handle, &a);

	if (r)
		return r;
	if (flags)
		return TS_CU_ERROR_INVALID_VALUE;
	return map_result(ts_vgpu_map(a->physical, offset, ptr, size));
}

static int mem_unmap(uint64_t ptr, size_t size)
{
	int r = check_ready();

	return r ? r : map_result(ts_vgpu_unmap(driver.vgpu, ptr, size));
}

/*
 * Adds a description to the access of a range. Access has one bit per device, for reading and for
 * writing.
 */
int access_read(const struct ts_cu_mem_access_desc *desc, struct access *access)
{
	uint32_t device;

	if (desc->location.type != TS_CU_MEM_LOCATION_TYPE_DEVICE)
		return NOT_SERVED("access of the host to memory of a device or a pool",
				  "copy, or use managed memory");
	if (!device_get(desc->location.id))
		return TS_CU_ERROR_INVALID_DEVICE;
	if (desc->flags & ~TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE || desc->flags == 2)
		return TS_CU_ERROR_INVALID_VALUE;
	device = 1u << desc->location.id;
	access->readers = (access->readers & ~device) | (desc->flags & 1 ? device : 0);
	access->writers = (access->writers & ~device) | (desc->flags & 2 ? device : 0);
	return 0;
}

int32_t access_of(const struct access *access, int32_t device)
{
	if (access->writers & 1u << device)
		return TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return access->readers & 1u << device ? TS_CU_MEM_ACCESS_FLAGS_PROT_READ
					      : TS_CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

static int mem_set_access(uint64_t ptr, size_t size, const struct ts_cu_mem_access_desc *desc,
			  size_t count)
{
	struct ts_vgpu_range range;
	struct access access = {0, 0};
	int r = check_ready();

	if (r)
		return r;
	if (!desc || !count)
		return TS_CU_ERROR_INVALID_VALUE;
	/* Other devices keep their access. */
	if (!ts_vgpu_range_of(driver.vgpu, ptr, &range))
		access = (struct access){range.readers, range.writers};
	for (size_t i = 0; i < count && !r; i++)
		r = access_read(&desc[i], &access);
	return r ? r
		 : map_result(ts_vgpu_set_access(driver.vgpu, ptr, size, access.readers,
						 access.writers));
}

_Static_assert(TS_CU_MEM_ACCESS_FLAGS_PROT_READ == TS_VGPU_ACCESS_READ &&
		       TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE ==
			       (TS_VGPU_ACCESS_READ | TS_VGPU_ACCESS_WRITE),
	       "one set of values");

static int mem_get_access(uint64_t *flags, const struct ts_cu_mem_location *location, uint64_t ptr)
{
	struct ts_vgpu_range range;
	int r = check_ready();

	if (r)
		return r;
	if (!flags || !location || location->type != TS_CU_MEM_LOCATION_TYPE_DEVICE ||
	    !device_get(location->id) || ts_vgpu_range_of(driver.vgpu, ptr, &range))
		return TS_CU_ERROR_INVALID_VALUE;
	*flags = range.listed || range.physical
			 ? (uint64_t)access_of(&(struct access){range.readers, range.writers},
					       location->id)
			 : TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return 0;
}

static int get_granularity(size_t *granularity, const struct ts_cu_mem_allocation_prop *prop,
			   int32_t option)
{
	int r = check_ready();

	if (!r)
		r = prop_check(prop);
	if (r)
		return r;
	if (!granularity || option < 0 || option > 1)
		return TS_CU_ERROR_INVALID_VALUE;
	*granularity = TS_VGPU_GRANULE_BYTES;
	return 0;
}

static int get_properties(struct ts_cu_mem_allocation_prop *prop, uint64_t handle)
{
	struct allocation *a;
	int r = allocation_get(handle, &a);

	if (r)
		return r;
	if (!prop)
		return TS_CU_ERROR_INVALID_VALUE;
	*prop = (struct ts_cu_mem_allocation_prop){
		.type = TS_CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {TS_CU_MEM_LOCATION_TYPE_DEVICE,
			     (int32_t)ts_vgpu_device_index(ts_vgpu_physical_device(a->physical))},
	};
	return 0;
}

static int retain_handle(uint64_t *handle, void *addr)
{
	struct ts_vgpu_physical *physical;
	int r = check_ready();

	if (r)
		return r;
	if (!handle)
		return TS_CU_ERROR_INVALID_VALUE;
	r = map_result(ts_vgpu_physical_of(driver.vgpu, (uint64_t)(uintptr_t)addr, &physical));
	return r ? r : allocation_new(physical, handle);
}

/* Refuses a function that concerns other processes or arrays. */
static int refuse(const char *name)
{
	static atomic_bool said;
	int r = check_ready();

	if (r)
		return r;
	ts_vgpu_say_refused(name, &said);
	return TS_CU_ERROR_NOT_SUPPORTED;
}

#include "tools/vgpu/generated-cuda-map.h"
