/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads libamdhip64 with dlopen(), and gives the executor on real devices HIP's functions as those
 * of CUDA's driver. exec-cuda.c calls this file. HIP has a like function for nearly each of the
 * driver's; this file converts what differs: contexts, errors' texts, copies' structures, packed
 * arguments.
 *
 * A context of the executor is a device: its handle is the device's ordinal plus 1.
 */
#include "replay/exec/hip/exec-hip-driver.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "proto/abi/amdcode.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_types.h"

#define INVALID_VALUE  1
#define MAX_WORDS      5u
#define MEMCPY_DEFAULT TS_HIP_MEMCPY_DEFAULT

/* Functions of every release since 5.2. */
#define FUNCTIONS(X)                      \
	X(hipInit)                        \
	X(hipRuntimeGetVersion)           \
	X(hipGetDeviceCount)              \
	X(hipDeviceGet)                   \
	X(hipDeviceGetName)               \
	X(hipDeviceTotalMem)              \
	X(hipSetDevice)                   \
	X(hipDeviceSynchronize)           \
	X(hipDeviceEnablePeerAccess)      \
	X(hipDeviceDisablePeerAccess)     \
	X(hipStreamCreateWithPriority)    \
	X(hipStreamDestroy)               \
	X(hipStreamQuery)                 \
	X(hipStreamWaitEvent)             \
	X(hipEventCreateWithFlags)        \
	X(hipEventDestroy)                \
	X(hipEventRecord)                 \
	X(hipEventQuery)                  \
	X(hipModuleLoadData)              \
	X(hipModuleUnload)                \
	X(hipModuleGetFunction)           \
	X(hipModuleGetGlobal)             \
	X(hipFuncGetAttribute)            \
	X(hipModuleLaunchKernel)          \
	X(hipMemAddressReserve)           \
	X(hipMemAddressFree)              \
	X(hipMemCreate)                   \
	X(hipMemRelease)                  \
	X(hipMemMap)                      \
	X(hipMemUnmap)                    \
	X(hipMemSetAccess)                \
	X(hipMemGetAllocationGranularity) \
	X(hipMalloc)                      \
	X(hipFree)                        \
	X(hipHostMalloc)                  \
	X(hipHostFree)                    \
	X(hipMemcpyAsync)                 \
	X(hipMemcpy2DAsync)               \
	X(hipMemcpy3DAsync)               \
	X(hipMemset2DAsync)               \
	X(hipMemsetD16Async)              \
	X(hipMemsetD32Async)              \
	X(hipGetErrorString)

/* Functions that some releases lack. */
#define OPTIONAL(X)                             \
	X(hipDeviceSetLimit)	/* since 5.3 */ \
	X(hipDrvLaunchKernelEx) /* since 6.5 */

/* The process's runtime: its functions have no state argument that could lead here. */
static struct {
#define MEMBER(symbol) symbol##_fn *symbol;
	FUNCTIONS(MEMBER)
	OPTIONAL(MEMBER)
#undef MEMBER
} hip;

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* The null stream has no other name before ROCm 7. */
static void *stream_of(void *stream)
{
	return stream == TS_CU_STREAM_LEGACY ? NULL : stream;
}

/* ---- devices ---- */

/* Converts the version to CUDA's form, 1000 for each major number. */
static int driver_version(int32_t *version)
{
	int r = hip.hipRuntimeGetVersion(version);

	*version = *version / 10000000 * 1000 + *version / 100000 % 100 * 10;
	return r;
}

static int error_string(int32_t error, const char **text)
{
	*text = hip.hipGetErrorString(error);
	return 0;
}

static int context_current(void *context)
{
	return context ? hip.hipSetDevice((int32_t)(uintptr_t)context - 1) : 0;
}

static int context_new(void **context, uint32_t flags, int32_t device)
{
	(void)flags;
	*context = pointer((uint64_t)(uint32_t)device + 1);
	return context_current(*context);
}

/* The executor frees all that belongs to a context. The device itself stays. */
static int context_free(void *context)
{
	(void)context;
	return 0;
}

static int context_limit(int32_t limit, size_t value)
{
	return hip.hipDeviceSetLimit ? hip.hipDeviceSetLimit(limit, value) : 801;
}

static int context_peer(void *peer, uint32_t flags)
{
	return hip.hipDeviceEnablePeerAccess((int32_t)(uintptr_t)peer - 1, flags);
}

static int context_no_peer(void *peer)
{
	return hip.hipDeviceDisablePeerAccess((int32_t)(uintptr_t)peer - 1);
}

/* ---- streams and events ---- */

static int stream_query(void *stream)
{
	return hip.hipStreamQuery(stream_of(stream));
}

static int stream_wait(void *stream, void *event, uint32_t flags)
{
	return hip.hipStreamWaitEvent(stream_of(stream), event, flags);
}

static int event_record(void *event, void *stream)
{
	return hip.hipEventRecord(event, stream_of(stream));
}

/* ---- modules and launches ---- */

static int module_variable(uint64_t *address, size_t *bytes, void *module, const char *name)
{
	void *at = NULL;
	int r = hip.hipModuleGetGlobal(&at, bytes, module, name);

	*address = (uint64_t)(uintptr_t)at;
	return r;
}

/* AMD's kernels need no permission for more shared memory: a launch with too much fails. */
static int function_set(void *function, int32_t attribute, int32_t value)
{
	(void)function;
	(void)attribute;
	(void)value;
	return 0;
}

/* Both vendors have the same words but for the end. */
static void **converted(void **extra, void **words)
{
	size_t n = 0;

	if (!extra)
		return NULL;
	for (; n + 2 < MAX_WORDS && extra[n] != TS_CU_LAUNCH_PARAM_END; n += 2) {
		words[n] = extra[n];
		words[n + 1] = extra[n + 1];
	}
	words[n] = TS_HIP_LAUNCH_PARAM_END;
	return words;
}

static int launch(void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
		  uint32_t block_x, uint32_t block_y, uint32_t block_z, uint32_t shared_bytes,
		  void *stream, void **kernel_params, void **extra)
{
	void *words[MAX_WORDS];

	return hip.hipModuleLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y,
					 block_z, shared_bytes, stream_of(stream), kernel_params,
					 converted(extra, words));
}

static int launch_ex(const struct ts_cu_launch_config *config, void *function, void **kernel_params,
		     void **extra)
{
	/* HIP's attributes have CUDA's numbers and layout. */
	const struct ts_hip_drv_launch_config as = {
		.grid_dim_x = config->grid_dim_x,
		.grid_dim_y = config->grid_dim_y,
		.grid_dim_z = config->grid_dim_z,
		.block_dim_x = config->block_dim_x,
		.block_dim_y = config->block_dim_y,
		.block_dim_z = config->block_dim_z,
		.shared_mem_bytes = config->shared_mem_bytes,
		.stream = stream_of(config->stream),
		.attrs = config->attrs,
		.num_attrs = config->num_attrs,
	};
	void *words[MAX_WORDS];

	return hip.hipDrvLaunchKernelEx(&as, function, kernel_params, converted(extra, words));
}

/* ---- memory ---- */

static int reserve(uint64_t *address, size_t bytes, size_t align, uint64_t wanted, uint64_t flags)
{
	void *at = NULL;
	int r = hip.hipMemAddressReserve(&at, bytes, align, pointer(wanted), flags);

	*address = (uint64_t)(uintptr_t)at;
	return r;
}

static int unreserve(uint64_t address, size_t bytes)
{
	return hip.hipMemAddressFree(pointer(address), bytes);
}

static int memory_new(uint64_t *handle, size_t bytes, const struct ts_cu_mem_allocation_prop *what,
		      uint64_t flags)
{
	void *made = NULL;
	/* HIP's structures of mapped memory have CUDA's layout. */
	int r = hip.hipMemCreate(&made, bytes, (const void *)what, flags);

	*handle = (uint64_t)(uintptr_t)made;
	return r;
}

static int memory_release(uint64_t handle)
{
	return hip.hipMemRelease(pointer(handle));
}

static int map(uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)
{
	return hip.hipMemMap(pointer(address), bytes, offset, pointer(handle), flags);
}

static int unmap(uint64_t address, size_t bytes)
{
	return hip.hipMemUnmap(pointer(address), bytes);
}

static int set_access(uint64_t address, size_t bytes, const struct ts_cu_mem_access_desc *who,
		      size_t n)
{
	return hip.hipMemSetAccess(pointer(address), bytes, (const void *)who, n);
}

static int granularity(size_t *bytes, const struct ts_cu_mem_allocation_prop *what, int32_t option)
{
	return hip.hipMemGetAllocationGranularity(bytes, (const void *)what, option);
}

static int alloc(uint64_t *address, size_t bytes)
{
	void *at = NULL;
	int r = hip.hipMalloc(&at, bytes);

	*address = (uint64_t)(uintptr_t)at;
	return r;
}

static int free_(uint64_t address)
{
	return hip.hipFree(pointer(address));
}

static int copy(uint64_t dst, uint64_t src, size_t bytes, void *stream)
{
	return hip.hipMemcpyAsync(pointer(dst), pointer(src), bytes, MEMCPY_DEFAULT,
				  stream_of(stream));
}

/* The executor's copies have unified addresses and begin at the first row. */
static int copy_2d(const struct ts_cu_memcpy_2d *from, void *stream)
{
	return hip.hipMemcpy2DAsync(pointer(from->dst_device), from->dst_pitch,
				    pointer(from->src_device), from->src_pitch,
				    from->width_in_bytes, from->height, MEMCPY_DEFAULT,
				    stream_of(stream));
}

static int copy_3d(const struct ts_cu_memcpy_3d *from, void *stream)
{
	const struct ts_hip_memcpy3d_parms as = {
		.src_ptr = {pointer(from->src_device), from->src_pitch, from->src_pitch,
			    from->src_height},
		.dst_ptr = {pointer(from->dst_device), from->dst_pitch, from->dst_pitch,
			    from->dst_height},
		.extent = {from->width_in_bytes, from->height, from->depth},
		.kind = MEMCPY_DEFAULT,
	};

	return hip.hipMemcpy3DAsync(&as, stream_of(stream));
}

static int fill_8(uint64_t dst, size_t pitch, uint8_t value, size_t width, size_t height,
		  void *stream)
{
	return hip.hipMemset2DAsync(pointer(dst), pitch, value, width, height, stream_of(stream));
}

/* Fills of rows have elements of a byte alone before 7.1; so each row is a fill. */
static int fill_16(uint64_t dst, size_t pitch, uint16_t value, size_t width, size_t height,
		   void *stream)
{
	int r = 0;

	for (size_t y = 0; !r && y < height; y++)
		r = hip.hipMemsetD16Async(pointer(dst + y * pitch), value, width,
					  stream_of(stream));
	return r;
}

static int fill_32(uint64_t dst, size_t pitch, uint32_t value, size_t width, size_t height,
		   void *stream)
{
	int r = 0;

	for (size_t y = 0; !r && y < height; y++)
		r = hip.hipMemsetD32Async(pointer(dst + y * pitch), (int32_t)value, width,
					  stream_of(stream));
	return r;
}

/* ---- the library ---- */

/* HIP takes bundles as they are, and AMD's code. */
static const char *image_of(const struct ts_exec_content *image, struct ts_exec_content *ret_part)
{
	Elf64_Ehdr head;

	*ret_part = *image;
	if (ts_amd_is_bundle(image->bytes, image->n) ||
	    !strncmp((const char *)image->bytes, TS_HIP_BUNDLE_COMPRESSED_MAGIC,
		     strlen(TS_HIP_BUNDLE_COMPRESSED_MAGIC)))
		return NULL;
	if (image->n >= sizeof(head) && !memcmp(image->bytes, ELFMAG, SELFMAG)) {
		memcpy(&head, image->bytes, sizeof(head));
		if (head.e_machine == EM_AMDGPU)
			return NULL;
	}
	return "no code for AMD GPUs: use `--on cuda` or `--on vgpu`";
}

static const struct ts_exec_cuda_vendor vendor = {
	.library = "libamdhip64",
	.interface = "HIP",
	.launch_ex = "ROCm 7",
	.image = image_of,
};

static void *open_library(void)
{
	static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
					    "libamdhip64.so.5", "libamdhip64.so"};
	void *library = NULL;

	for (size_t i = 0; i < TS_ARRAY_LEN(names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

static const char *find_all(void *library)
{
	const char *lacks = NULL;

#define FIND(symbol)                                     \
	*(void **)&hip.symbol = dlsym(library, #symbol); \
	lacks = lacks || hip.symbol ? lacks : #symbol;
	FUNCTIONS(FIND)
#undef FIND
#define FIND(symbol) *(void **)&hip.symbol = dlsym(library, #symbol);
	OPTIONAL(FIND)
#undef FIND
	return lacks;
}

bool ts_exec_hip_driver_open(struct ts_exec_cuda_driver *driver, char *text, size_t text_bytes)
{
	void *library = open_library();
	const char *lacks;

	driver->vendor = &vendor;
	if (!library) {
		snprintf(text, text_bytes,
			 "cannot load libamdhip64: `--on hip` needs AMD's ROCm; use `--on vgpu` "
			 "without it, if the trace's code has PTX");
		return false;
	}
	lacks = find_all(library);
	if (lacks) {
		snprintf(text, text_bytes,
			 "libamdhip64 has no %s: `--on hip` needs ROCm 5.2 or later", lacks);
		return false;
	}
	*driver = (struct ts_exec_cuda_driver){
		.vendor = &vendor,
		.init = hip.hipInit,
		.driver_version = driver_version,
		.error_string = error_string,
		.device_count = hip.hipGetDeviceCount,
		.device_get = hip.hipDeviceGet,
		.device_name = hip.hipDeviceGetName,
		.device_memory = hip.hipDeviceTotalMem,
		.context_new = context_new,
		.context_free = context_free,
		.context_current = context_current,
		.context_synchronize = hip.hipDeviceSynchronize,
		.context_limit = context_limit,
		.context_peer = context_peer,
		.context_no_peer = context_no_peer,
		.stream_new = hip.hipStreamCreateWithPriority,
		.stream_free = hip.hipStreamDestroy,
		.stream_query = stream_query,
		.stream_wait = stream_wait,
		.event_new = hip.hipEventCreateWithFlags,
		.event_free = hip.hipEventDestroy,
		.event_record = event_record,
		.event_query = hip.hipEventQuery,
		.module_load = hip.hipModuleLoadData,
		.module_unload = hip.hipModuleUnload,
		.module_function = hip.hipModuleGetFunction,
		.module_variable = module_variable,
		.function_attribute = hip.hipFuncGetAttribute,
		.function_set = function_set,
		.launch = launch,
		.launch_ex = hip.hipDrvLaunchKernelEx ? launch_ex : NULL,
		.reserve = reserve,
		.unreserve = unreserve,
		.memory_new = memory_new,
		.memory_release = memory_release,
		.map = map,
		.unmap = unmap,
		.set_access = set_access,
		.granularity = granularity,
		.alloc = alloc,
		.free = free_,
		.host_alloc = hip.hipHostMalloc,
		.host_free = hip.hipHostFree,
		.copy = copy,
		.copy_2d = copy_2d,
		.copy_3d = copy_3d,
		.fill_8 = fill_8,
		.fill_16 = fill_16,
		.fill_32 = fill_32,
	};
	return true;
}
