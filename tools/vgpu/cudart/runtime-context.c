/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the runtime: start of the driver, each thread's device and last error. Also queries of
 * errors and devices. All files of libcudart call start() and ready(); programs call the functions
 * of generated-cudart-context.h.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cudart/runtime.h"

const struct ts_vgpu_hooks *hooks;

static __thread struct {
	int error;
	int32_t device;
} self;

static pthread_once_t find_once = PTHREAD_ONCE_INIT;
static atomic_bool started;

static void find_hooks(void)
{
	const void *table;

	if (!cuGetExportTable(&table, &ts_vgpu_hooks_uuid))
		hooks = table;
}

/*
 * Finds the hooks when the library is loaded, so that even the first call is reported. NVIDIA's
 * driver has no such hooks.
 */
__attribute__((constructor)) static void on_load(void)
{
	pthread_once(&find_once, find_hooks);
}

void error_keep(int error)
{
	/* cudaErrorNotReady is a normal result: NVIDIA's runtime keeps the previous error. */
	if (error != TS_CUDA_ERROR_NOT_READY)
		self.error = error;
}

/*
 * Set at exit before handlers run that the program's constructors registered: constructors run
 * before the driver starts, and exit handlers run in reverse order.
 */
static atomic_bool ends;

static void on_exit_begun(void)
{
	atomic_store_explicit(&ends, true, memory_order_relaxed);
}

bool exiting(void)
{
	return atomic_load_explicit(&ends, memory_order_relaxed);
}

static void follow_exit(void)
{
	/* If atexit() fails, libraries are unloaded at exit as usual. */
	(void)atexit(on_exit_begun);
}

int start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r = 0;

	if (__builtin_expect(!atomic_load_explicit(&started, memory_order_acquire), 0)) {
		pthread_once(&find_once, find_hooks);
		if (!hooks)
			return TS_CUDA_ERROR_INSUFFICIENT_DRIVER;
		r = cuInit(0);
		pthread_once(&once, follow_exit);
		if (!r)
			atomic_store_explicit(&started, true, memory_order_release);
	}
	return r;
}

/*
 * Returns the device's primary context. The runtime retains each one once, whichever thread comes
 * first, and again after a reset.
 */
int primary_of(int32_t device, void **ret_context)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static void *contexts[64];
	uint32_t flags;
	int32_t active;
	int r;

	if (device < 0 || device >= 64)
		return TS_CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&lock);
	r = cuDevicePrimaryCtxGetState(device, &flags, &active);
	if (!r && (!active || !contexts[device]))
		r = cuDevicePrimaryCtxRetain(&contexts[device], device);
	if (!r)
		*ret_context = contexts[device];
	pthread_mutex_unlock(&lock);
	return r;
}

static int use_device(int32_t device)
{
	void *context;
	int r = primary_of(device, &context);

	return r ? r : cuCtxSetCurrent(context);
}

int ready(void)
{
	void *context;
	uint32_t uid;
	int r = start();

	if (r)
		return r;
	hooks->queries->current_context(&context, &uid);
	return context ? 0 : use_device(self.device);
}

int device_current(int32_t *ret_device)
{
	void *context;
	uint32_t uid;

	if (start())
		return TS_CUDA_ERROR_INITIALIZATION_ERROR;
	hooks->queries->current_context(&context, &uid);
	if (context)
		return cuCtxGetDevice_v2(ret_device, context);
	*ret_device = self.device;
	return 0;
}

API int cudaGetLastError(void)
{
	int error = RT_REPORTED(int, cudaGetLastError_v3020, "cudaGetLastError", NULL, NULL,
				self.error);

	self.error = 0;
	return error;
}

API int cudaPeekAtLastError(void)
{
	return RT_REPORTED(int, cudaPeekAtLastError_v3020, "cudaPeekAtLastError", NULL, NULL,
			   self.error);
}

static const char *error_name(int32_t error)
{
	switch (error) {
#define NAME(suffix, value, name, text) \
	case value:                     \
		return #name;
		TS_CUDA_ERRORS(NAME)
#undef NAME
	}
	return "unrecognized error code";
}

static const char *error_string(int32_t error)
{
	switch (error) {
#define TEXT(suffix, value, name, text) \
	case value:                     \
		return text;
		TS_CUDA_ERRORS(TEXT)
#undef TEXT
	}
	return "unrecognized error code";
}

API const char *cudaGetErrorName(int32_t error)
{
	struct ts_cuda_get_error_name_params params = {error};

	return RT_REPORTED(const char *, cudaGetErrorName_v6050, "cudaGetErrorName", &params, NULL,
			   error_name(error));
}

API const char *cudaGetErrorString(int32_t error)
{
	struct ts_cuda_get_error_string_params params = {error};

	return RT_REPORTED(const char *, cudaGetErrorString_v3020, "cudaGetErrorString", &params,
			   NULL, error_string(error));
}

static int driver_get_version(int32_t *driver_version)
{
	return cuDriverGetVersion(driver_version);
}

static int runtime_get_version(int32_t *runtime_version)
{
	if (!runtime_version)
		return TS_CUDA_ERROR_INVALID_VALUE;
	*runtime_version = TS_CUDART_VERSION;
	return 0;
}

static int get_device_count(int32_t *count)
{
	int r = start();

	return r ? r : cuDeviceGetCount(count);
}

static int set_device(int32_t device)
{
	int r = start();

	if (!r)
		r = use_device(device);
	if (!r)
		self.device = device;
	return r;
}

static int get_device(int32_t *device)
{
	return device ? device_current(device) : TS_CUDA_ERROR_INVALID_VALUE;
}

static int set_device_flags(uint32_t flags)
{
	int r = start();

	if (r)
		return r;
	if (flags & ~(uint32_t)(TS_CUDA_DEVICE_SCHEDULE_MASK | TS_CUDA_DEVICE_MAP_HOST |
				TS_CUDA_DEVICE_LMEM_RESIZE_TO_MAX | TS_CUDA_DEVICE_SYNC_MEMOPS))
		return TS_CUDA_ERROR_INVALID_VALUE;
	return cuDevicePrimaryCtxSetFlags_v2(self.device, flags);
}

static int get_device_flags(uint32_t *flags)
{
	int32_t active;
	int r = start();

	if (r)
		return r;
	if (!flags)
		return TS_CUDA_ERROR_INVALID_VALUE;
	r = cuDevicePrimaryCtxGetState(self.device, flags, &active);
	/* This flag is always in effect. */
	if (!r)
		*flags |= TS_CUDA_DEVICE_MAP_HOST;
	return r;
}

static int device_synchronize(void)
{
	int r = ready();

	return r ? r : cuCtxSynchronize();
}

static int device_reset(void)
{
	int32_t device;
	int r = device_current(&device);

	if (!r)
		r = cuCtxSetCurrent(NULL);
	return r ? r : cuDevicePrimaryCtxReset_v2(device);
}

static int init_device(int32_t device, uint32_t device_flags, uint32_t flags)
{
	void *context, *after;
	uint32_t uid;
	int r = start();

	if (r)
		return r;
	hooks->queries->current_context(&context, &uid);
	r = use_device(device);
	hooks->queries->current_context(&after, &uid);
	/* The call creates the device's context, but the current context stays: restore it. */
	if (!r && after != context)
		r = cuCtxSetCurrent(context);
	return r;
}

static int device_get_attribute(int32_t *value, int32_t attr, int32_t device)
{
	int r = start();

	return r ? r : cuDeviceGetAttribute(value, attr, device);
}

static int attribute(int32_t attr, int32_t device)
{
	int32_t value = 0;

	cuDeviceGetAttribute(&value, attr, device);
	return value;
}

static int get_device_properties(struct ts_cuda_device_prop *prop, int32_t device)
{
	int r = start();

	if (r)
		return r;
	if (!prop)
		return TS_CUDA_ERROR_INVALID_VALUE;
	memset(prop, 0, sizeof(*prop));
	r = cuDeviceGetName(prop->name, sizeof(prop->name), device);
	if (!r)
		r = cuDeviceGetUuid_v2(&prop->uuid, device);
	if (!r)
		r = cuDeviceTotalMem_v2(&prop->total_global_mem, device);
	if (r)
		return r;
#define A(name) attribute(TS_CU_DEVICE_ATTRIBUTE_##name, device)
	prop->shared_mem_per_block = (size_t)A(MAX_SHARED_MEMORY_PER_BLOCK);
	prop->regs_per_block = A(MAX_REGISTERS_PER_BLOCK);
	prop->warp_size = A(WARP_SIZE);
	prop->mem_pitch = (size_t)A(MAX_PITCH);
	prop->max_threads_per_block = A(MAX_THREADS_PER_BLOCK);
	prop->max_threads_dim[0] = A(MAX_BLOCK_DIM_X);
	prop->max_threads_dim[1] = A(MAX_BLOCK_DIM_Y);
	prop->max_threads_dim[2] = A(MAX_BLOCK_DIM_Z);
	prop->max_grid_size[0] = A(MAX_GRID_DIM_X);
	prop->max_grid_size[1] = A(MAX_GRID_DIM_Y);
	prop->max_grid_size[2] = A(MAX_GRID_DIM_Z);
	prop->total_const_mem = (size_t)A(TOTAL_CONSTANT_MEMORY);
	prop->major = A(COMPUTE_CAPABILITY_MAJOR);
	prop->minor = A(COMPUTE_CAPABILITY_MINOR);
	prop->texture_alignment = (size_t)A(TEXTURE_ALIGNMENT);
	prop->texture_pitch_alignment = (size_t)A(TEXTURE_PITCH_ALIGNMENT);
	prop->surface_alignment = (size_t)A(SURFACE_ALIGNMENT);
	prop->multi_processor_count = A(MULTIPROCESSOR_COUNT);
	prop->can_map_host_memory = A(CAN_MAP_HOST_MEMORY);
	prop->concurrent_kernels = A(CONCURRENT_KERNELS);
	prop->pci_bus_id = A(PCI_BUS_ID);
	prop->pci_device_id = A(PCI_DEVICE_ID);
	prop->pci_domain_id = A(PCI_DOMAIN_ID);
	prop->async_engine_count = A(ASYNC_ENGINE_COUNT);
	prop->unified_addressing = A(UNIFIED_ADDRESSING);
	prop->memory_bus_width = A(GLOBAL_MEMORY_BUS_WIDTH);
	prop->l2_cache_size = A(L2_CACHE_SIZE);
	prop->max_threads_per_multi_processor = A(MAX_THREADS_PER_MULTIPROCESSOR);
	prop->max_blocks_per_multi_processor = A(MAX_BLOCKS_PER_MULTIPROCESSOR);
	prop->stream_priorities_supported = A(STREAM_PRIORITIES_SUPPORTED);
	prop->global_l1_cache_supported = A(GLOBAL_L1_CACHE_SUPPORTED);
	prop->local_l1_cache_supported = A(LOCAL_L1_CACHE_SUPPORTED);
	prop->shared_mem_per_multiprocessor = (size_t)A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	prop->regs_per_multiprocessor = A(MAX_REGISTERS_PER_MULTIPROCESSOR);
	prop->managed_memory = A(MANAGED_MEMORY);
	prop->concurrent_managed_access = A(CONCURRENT_MANAGED_ACCESS);
	prop->compute_preemption_supported = A(COMPUTE_PREEMPTION_SUPPORTED);
	prop->can_use_host_pointer_for_registered_mem = A(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
	prop->cooperative_launch = A(COOPERATIVE_LAUNCH);
	prop->shared_mem_per_block_optin = (size_t)A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	prop->reserved_shared_mem_per_block = (size_t)A(RESERVED_SHARED_MEMORY_PER_BLOCK);
	prop->host_register_supported = A(HOST_REGISTER_SUPPORTED);
	prop->memory_pools_supported = A(MEMORY_POOLS_SUPPORTED);
	prop->device_numa_id = A(NUMA_ID);
	prop->host_numa_id = A(HOST_NUMA_ID);
#undef A
	return 0;
}

static int device_get_by_pci_bus_id(int32_t *device, const char *pci_bus_id)
{
	int r = start();

	return r ? r : cuDeviceGetByPCIBusId(device, pci_bus_id);
}

static int device_get_pci_bus_id(char *pci_bus_id, int32_t len, int32_t device)
{
	int r = start();

	return r ? r : cuDeviceGetPCIBusId(pci_bus_id, len, device);
}

static int device_set_limit(int32_t limit, size_t value)
{
	int r = ready();

	return r ? r : cuCtxSetLimit(limit, value);
}

static int device_get_limit(size_t *value, int32_t limit)
{
	int r = ready();

	return r ? r : cuCtxGetLimit(value, limit);
}

static int device_get_cache_config(int32_t *cache_config)
{
	int r = ready();

	return r ? r : cuCtxGetCacheConfig(cache_config);
}

static int device_set_cache_config(int32_t cache_config)
{
	int r = ready();

	return r ? r : cuCtxSetCacheConfig(cache_config);
}

static int device_get_stream_priority_range(int32_t *least_priority, int32_t *greatest_priority)
{
	int r = ready();

	return r ? r : cuCtxGetStreamPriorityRange(least_priority, greatest_priority);
}

static int device_can_access_peer(int32_t *can_access_peer, int32_t device, int32_t peer_device)
{
	int r = start();

	return r ? r : cuDeviceCanAccessPeer(can_access_peer, device, peer_device);
}

static int device_get_p2p_attribute(int32_t *value, int32_t attr, int32_t src_device,
				    int32_t dst_device)
{
	int r = start();

	return r ? r : cuDeviceGetP2PAttribute(value, attr, src_device, dst_device);
}

static int device_enable_peer_access(int32_t peer_device, uint32_t flags)
{
	void *context;
	int r = ready();

	if (!r)
		r = primary_of(peer_device, &context);
	return r ? r : cuCtxEnablePeerAccess(context, flags);
}

static int device_disable_peer_access(int32_t peer_device)
{
	void *context;
	int r = ready();

	if (!r)
		r = primary_of(peer_device, &context);
	return r ? r : cuCtxDisablePeerAccess(context);
}

static int profiler(bool on)
{
	int r = ready();

	if (r)
		return r;
	return on ? cuProfilerStart() : cuProfilerStop();
}

#include "tools/vgpu/generated-cudart-context.h"
