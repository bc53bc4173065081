/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of the driver and its devices. Results come from the device's shape. A feature that the
 * virtual GPU lacks is reported as unsupported, so that programs use their other code path.
 * Programs call this file through the functions of generated-cuda-device.h.
 */
#include <stdio.h>

#include "tools/vgpu/cuda/driver.h"

static int get_error_name(int32_t error, const char **str)
{
	if (!str)
		return TS_CU_ERROR_INVALID_VALUE;
	switch (error) {
#define NAME(suffix, value, name, text) \
	case value:                     \
		*str = #name;           \
		return 0;
		TS_CU_RESULTS(NAME)
#undef NAME
	}
	*str = NULL;
	return TS_CU_ERROR_INVALID_VALUE;
}

static int get_error_string(int32_t error, const char **str)
{
	if (!str)
		return TS_CU_ERROR_INVALID_VALUE;
	switch (error) {
#define TEXT(suffix, value, name, text) \
	case value:                     \
		*str = text;            \
		return 0;
		TS_CU_RESULTS(TEXT)
#undef TEXT
	}
	*str = NULL;
	return TS_CU_ERROR_INVALID_VALUE;
}

static int driver_get_version(int32_t *driver_version)
{
	if (!driver_version)
		return TS_CU_ERROR_INVALID_VALUE;
	*driver_version = TS_CU_VERSION;
	return 0;
}

static int get(int32_t *device, int32_t ordinal)
{
	int r = check_ready();

	if (r)
		return r;
	if (!device)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!device_get(ordinal))
		return TS_CU_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return 0;
}

static int get_count(int32_t *count)
{
	int r = check_ready();

	if (r)
		return r;
	if (!count)
		return TS_CU_ERROR_INVALID_VALUE;
	*count = (int32_t)ts_vgpu_n_devices(driver.vgpu);
	return 0;
}

/* Returns a device's shape, or the error of the query. */
static int shape_get(int32_t dev, const struct ts_vgpu_shape **ret_shape)
{
	int r = check_ready();

	if (r)
		return r;
	if (!device_get(dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	*ret_shape = ts_vgpu_device_shape(device_get(dev));
	return 0;
}

static int get_name(char *name, int32_t len, int32_t dev)
{
	const struct ts_vgpu_shape *shape;
	int r = shape_get(dev, &shape);

	if (r)
		return r;
	if (!name || len <= 0)
		return TS_CU_ERROR_INVALID_VALUE;
	snprintf(name, (size_t)len, "%s", shape->name);
	return 0;
}

static int get_uuid(struct ts_cu_uuid *uuid, int32_t dev)
{
	const struct ts_vgpu_shape *shape;
	int r = shape_get(dev, &shape);

	if (r)
		return r;
	if (!uuid)
		return TS_CU_ERROR_INVALID_VALUE;
	device_uuid(dev, uuid);
	return 0;
}

static int total_mem(size_t *bytes, int32_t dev)
{
	const struct ts_vgpu_shape *shape;
	int r = shape_get(dev, &shape);

	if (r)
		return r;
	if (!bytes)
		return TS_CU_ERROR_INVALID_VALUE;
	*bytes = shape->memory_bytes;
	return 0;
}

static int compute_capability(int32_t *major, int32_t *minor, int32_t dev)
{
	const struct ts_vgpu_shape *shape;
	int r = shape_get(dev, &shape);

	if (r)
		return r;
	if (!major || !minor)
		return TS_CU_ERROR_INVALID_VALUE;
	*major = (int32_t)shape->cc_major;
	*minor = (int32_t)shape->cc_minor;
	return 0;
}

static int64_t attribute_of(const struct ts_vgpu_shape *shape, int32_t attrib, int32_t dev)
{
	switch (attrib) {
	case TS_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
	case TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
	case TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
		return shape->max_threads_per_block;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
		return 64;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
		return INT32_MAX;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
	case TS_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
		return 65535;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
		return shape->shared_bytes_per_block;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		return shape->shared_bytes_per_block_optin;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
		return shape->shared_bytes_per_sm;
	case TS_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
		return shape->cc_major >= 8 ? 1024 : 0;
	case TS_CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
		return 65536;
	case TS_CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		return shape->warp_size;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_PITCH:
		return INT32_MAX;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
	case TS_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
		return shape->regs_per_sm;
	case TS_CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
		return shape->clock_khz;
	case TS_CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
		return shape->memory_clock_khz;
	case TS_CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
		return shape->memory_bus_bits;
	case TS_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
		return shape->l2_bytes;
	case TS_CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
	case TS_CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT:
		return 512;
	case TS_CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
		return 32;
	case TS_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		return shape->n_sm;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
		return shape->max_threads_per_sm;
	case TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
		return shape->max_blocks_per_sm;
	case TS_CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
		return shape->n_h2d_engines + shape->n_d2h_engines;
	case TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		return shape->cc_major;
	case TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		return shape->cc_minor;
	case TS_CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		return dev + 1;
	case TS_CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
	case TS_CU_DEVICE_ATTRIBUTE_NUMA_ID:
		return -1;
	case TS_CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:
		return 2;
	case TS_CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT:
	case TS_CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
	case TS_CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
	case TS_CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
	case TS_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
	case TS_CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
	case TS_CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
	case TS_CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
	case TS_CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
	case TS_CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
	case TS_CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
	case TS_CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
	case TS_CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
	case TS_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
	case TS_CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
	case TS_CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
		return 1;
	default:
		/* All other features are absent, or are 0 in a virtual device's PCI address. */
		return 0;
	}
}

static int get_attribute(int32_t *pi, int32_t attrib, int32_t dev)
{
	const struct ts_vgpu_shape *shape;
	int r = shape_get(dev, &shape);

	if (r)
		return r;
	if (!pi || attrib < TS_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK ||
	    attrib > TS_CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED)
		return TS_CU_ERROR_INVALID_VALUE;
	*pi = (int32_t)attribute_of(shape, attrib, dev);
	return 0;
}

static int get_by_pci_bus_id(int32_t *dev, const char *pci_bus_id)
{
	unsigned domain, bus, device, function = 0;
	int r = check_ready();

	if (r)
		return r;
	if (!dev || !pci_bus_id)
		return TS_CU_ERROR_INVALID_VALUE;
	if (sscanf(pci_bus_id, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3 &&
	    (domain = 0, sscanf(pci_bus_id, "%x:%x.%x", &bus, &device, &function) < 2))
		return TS_CU_ERROR_INVALID_VALUE;
	if (domain || device || function || !bus || !device_get((int32_t)bus - 1))
		return TS_CU_ERROR_INVALID_DEVICE;
	*dev = (int32_t)bus - 1;
	return 0;
}

static int get_pci_bus_id(char *pci_bus_id, int32_t len, int32_t dev)
{
	int r = check_ready();

	if (r)
		return r;
	if (!device_get(dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	if (!pci_bus_id || len < 13)
		return TS_CU_ERROR_INVALID_VALUE;
	snprintf(pci_bus_id, (size_t)len, "0000:%02x:00.0", (unsigned)dev + 1);
	return 0;
}

#include "tools/vgpu/generated-cuda-device.h"
