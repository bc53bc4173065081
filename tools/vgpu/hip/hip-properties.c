// SPDX-License-Identifier: Apache-2.0
/*
 * Attributes and properties of devices, from the driver's attributes. hip-context.c calls this
 * file. The architecture is an MI300X's, so tools find the code of a bundle that belongs to the
 * device. The engine runs PTX, so the warp size is 32.
 */
#include <string.h>

#include "tools/vgpu/hip/hip-face.h"

#define ARCH_NAME "gfx942:sramecc+:xnack-"

/* Attributes that both vendors have. HIP's others are 0 here. */
static const struct {
	int32_t hip, cuda;
} attributes[] = {
#define A(hip, cuda)                                                         \
	{                                                                    \
		TS_HIP_DEVICE_ATTRIBUTE_##hip, TS_CU_DEVICE_ATTRIBUTE_##cuda \
	}
#define SAME(name) A(name, name)
	SAME(ASYNC_ENGINE_COUNT),
	SAME(CAN_MAP_HOST_MEMORY),
	SAME(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
	SAME(CLOCK_RATE),
	SAME(COMPUTE_MODE),
	SAME(COMPUTE_PREEMPTION_SUPPORTED),
	SAME(CONCURRENT_KERNELS),
	SAME(CONCURRENT_MANAGED_ACCESS),
	SAME(COOPERATIVE_LAUNCH),
	A(DEVICE_OVERLAP, GPU_OVERLAP),
	SAME(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
	SAME(GLOBAL_L1_CACHE_SUPPORTED),
	SAME(HOST_NATIVE_ATOMIC_SUPPORTED),
	SAME(INTEGRATED),
	SAME(KERNEL_EXEC_TIMEOUT),
	SAME(L2_CACHE_SIZE),
	SAME(LOCAL_L1_CACHE_SUPPORTED),
	SAME(COMPUTE_CAPABILITY_MAJOR),
	SAME(MANAGED_MEMORY),
	A(MAX_BLOCKS_PER_MULTI_PROCESSOR, MAX_BLOCKS_PER_MULTIPROCESSOR),
	SAME(MAX_BLOCK_DIM_X),
	SAME(MAX_BLOCK_DIM_Y),
	SAME(MAX_BLOCK_DIM_Z),
	SAME(MAX_GRID_DIM_X),
	SAME(MAX_GRID_DIM_Y),
	SAME(MAX_GRID_DIM_Z),
	SAME(MAX_THREADS_PER_BLOCK),
	A(MAX_THREADS_PER_MULTI_PROCESSOR, MAX_THREADS_PER_MULTIPROCESSOR),
	SAME(MAX_PITCH),
	A(MEMORY_BUS_WIDTH, GLOBAL_MEMORY_BUS_WIDTH),
	SAME(MEMORY_CLOCK_RATE),
	SAME(COMPUTE_CAPABILITY_MINOR),
	SAME(MULTIPROCESSOR_COUNT),
	A(PHYSICAL_MULTI_PROCESSOR_COUNT, MULTIPROCESSOR_COUNT),
	SAME(PAGEABLE_MEMORY_ACCESS),
	SAME(PCI_BUS_ID),
	SAME(PCI_DEVICE_ID),
	SAME(PCI_DOMAIN_ID),
	SAME(MAX_REGISTERS_PER_BLOCK),
	SAME(MAX_REGISTERS_PER_MULTIPROCESSOR),
	A(RESERVED_SHARED_MEM_PER_BLOCK, RESERVED_SHARED_MEMORY_PER_BLOCK),
	SAME(MAX_SHARED_MEMORY_PER_BLOCK),
	A(SHARED_MEM_PER_BLOCK_OPTIN, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
	A(SHARED_MEM_PER_MULTIPROCESSOR, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
	A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
	SAME(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO),
	SAME(STREAM_PRIORITIES_SUPPORTED),
	SAME(TEXTURE_ALIGNMENT),
	SAME(TEXTURE_PITCH_ALIGNMENT),
	SAME(TOTAL_CONSTANT_MEMORY),
	SAME(UNIFIED_ADDRESSING),
	SAME(WARP_SIZE),
	SAME(MEMORY_POOLS_SUPPORTED),
	SAME(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
	SAME(HOST_REGISTER_SUPPORTED),
#undef SAME
#undef A
};

static bool is_attribute(int32_t attr)
{
	switch (attr) {
#define KNOWN(suffix, value, name) case value:
		TS_HIP_DEVICE_ATTRIBUTES(KNOWN)
#undef KNOWN
		return true;
	}
	return false;
}

int get_attribute(int32_t *value, int32_t attr, int32_t device)
{
	int32_t any;
	int r = start();

	if (r)
		return r;
	if (!value)
		return TS_HIP_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (attributes[i].hip == attr)
			return cuDeviceGetAttribute(value, attributes[i].cuda, device);
	r = cuDeviceGetAttribute(&any, TS_CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
	if (r)
		return r;
	if (!is_attribute(attr))
		return TS_HIP_ERROR_INVALID_VALUE;
	*value = 0;
	return 0;
}

int get_properties(struct ts_hip_device_prop_r0600 *prop, int32_t device)
{
	struct ts_cuda_device_prop known;
	int r;

	if (!prop)
		return TS_HIP_ERROR_INVALID_VALUE;
	r = cudaGetDeviceProperties(&known, device);
	if (r)
		return r;
	/* CUDA's structure has the same fields, without those that 13.0 removed. */
	memset(prop, 0, sizeof(*prop));
	memcpy(prop->name, known.name, sizeof(prop->name));
	memcpy(&prop->uuid, &known.uuid, sizeof(prop->uuid));
	uuid_to_hip(prop->uuid.bytes);
#define SAME(field)    prop->field = known.field
#define A(field, name) (void)get_attribute(&prop->field, TS_HIP_DEVICE_ATTRIBUTE_##name, device)
	SAME(total_global_mem);
	SAME(shared_mem_per_block);
	SAME(regs_per_block);
	SAME(warp_size);
	SAME(mem_pitch);
	SAME(max_threads_per_block);
	memcpy(prop->max_threads_dim, known.max_threads_dim, sizeof(prop->max_threads_dim));
	memcpy(prop->max_grid_size, known.max_grid_size, sizeof(prop->max_grid_size));
	A(clock_rate, CLOCK_RATE);
	SAME(total_const_mem);
	SAME(major);
	SAME(minor);
	SAME(texture_alignment);
	SAME(texture_pitch_alignment);
	A(device_overlap, DEVICE_OVERLAP);
	SAME(multi_processor_count);
	SAME(integrated);
	SAME(can_map_host_memory);
	SAME(surface_alignment);
	SAME(concurrent_kernels);
	SAME(pci_bus_id);
	SAME(pci_device_id);
	SAME(pci_domain_id);
	SAME(async_engine_count);
	SAME(unified_addressing);
	A(memory_clock_rate, MEMORY_CLOCK_RATE);
	SAME(memory_bus_width);
	SAME(l2_cache_size);
	SAME(max_threads_per_multi_processor);
	SAME(stream_priorities_supported);
	SAME(global_l1_cache_supported);
	SAME(local_l1_cache_supported);
	SAME(shared_mem_per_multiprocessor);
	SAME(regs_per_multiprocessor);
	SAME(managed_memory);
	A(single_to_double_precision_perf_ratio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
	SAME(concurrent_managed_access);
	SAME(compute_preemption_supported);
	SAME(can_use_host_pointer_for_registered_mem);
	SAME(cooperative_launch);
	SAME(shared_mem_per_block_optin);
	SAME(max_blocks_per_multi_processor);
	SAME(reserved_shared_mem_per_block);
	SAME(host_register_supported);
	SAME(memory_pools_supported);
#undef A
#undef SAME
	strcpy(prop->gcn_arch_name, ARCH_NAME);
	prop->max_shared_memory_per_multi_processor = prop->shared_mem_per_multiprocessor;
	prop->clock_instruction_rate = prop->clock_rate;
	return 0;
}

int get_properties_r0000(struct ts_hip_device_prop_r0000 *prop, int32_t device)
{
	struct ts_hip_device_prop_r0600 known;
	int r;

	if (!prop)
		return TS_HIP_ERROR_INVALID_VALUE;
	r = get_properties(&known, device);
	if (r)
		return r;
	memset(prop, 0, sizeof(*prop));
	memcpy(prop->name, known.name, sizeof(prop->name));
	memcpy(prop->gcn_arch_name, known.gcn_arch_name, sizeof(prop->gcn_arch_name));
	memcpy(prop->max_threads_dim, known.max_threads_dim, sizeof(prop->max_threads_dim));
	memcpy(prop->max_grid_size, known.max_grid_size, sizeof(prop->max_grid_size));
#define SAME(field) prop->field = known.field
	SAME(total_global_mem);
	SAME(shared_mem_per_block);
	SAME(regs_per_block);
	SAME(warp_size);
	SAME(max_threads_per_block);
	SAME(clock_rate);
	SAME(memory_clock_rate);
	SAME(memory_bus_width);
	SAME(total_const_mem);
	SAME(major);
	SAME(minor);
	SAME(multi_processor_count);
	SAME(l2_cache_size);
	SAME(max_threads_per_multi_processor);
	SAME(clock_instruction_rate);
	SAME(concurrent_kernels);
	SAME(pci_domain_id);
	SAME(pci_bus_id);
	SAME(pci_device_id);
	SAME(max_shared_memory_per_multi_processor);
	SAME(can_map_host_memory);
	SAME(integrated);
	SAME(cooperative_launch);
	SAME(mem_pitch);
	SAME(texture_alignment);
	SAME(texture_pitch_alignment);
	SAME(managed_memory);
	SAME(concurrent_managed_access);
#undef SAME
	return 0;
}
