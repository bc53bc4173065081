/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries the CUDA driver and CUPTI: see gpu.h. cmd-devices.c calls this file. If another libcuda
 * is preloaded or on the library path, such as the virtual GPU's, it answers the queries. A traced
 * program gets the same library.
 */
#include "tools/tsctl/machine/gpu.h"

#include "proto/abi/base.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "proto/rpc/json.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>

#define INJECTION_ENVIRONMENT "CUDA_INJECTION64_PATH"
#define CUPTI_ENVIRONMENT     "TRACESMITH_CUPTI"

#define MAX_DEVICES	      256

struct driver {
	int (*init)(unsigned int flags);
	int (*version)(int *ret_version);
	int (*count)(int *ret_count);
	int (*get)(int *ret_device, int ordinal);
	int (*name)(char *ret_name, int n, int device);
	int (*attribute)(int *ret_value, int attribute, int device);
	int (*memory)(size_t *ret_bytes, int device);
	int (*uuid)(struct ts_cu_uuid *ret_uuid, int device);
};

/* Returns the path of a loaded library. */
static char *library_path(struct ts_pool *pool, void *library)
{
	struct link_map *map;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map))
		return NULL;
	return ts_pool_copy(pool, map->l_name);
}

static const char *result_text(int result)
{
	static const struct {
		int result;
		const char *text;
	} texts[] = {
#define TEXT(suffix, value, name, text) {value, #name ": " text},
		TS_CU_RESULTS(TEXT)
#undef TEXT
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(texts); i++)
		if (texts[i].result == result)
			return texts[i].text;
	return "an unknown error";
}

static bool find_symbols(void *library, struct driver *driver)
{
	const struct {
		const char *name;
		void *function;
	} symbols[] = {
		{"cuInit", &driver->init},
		{"cuDriverGetVersion", &driver->version},
		{"cuDeviceGetCount", &driver->count},
		{"cuDeviceGet", &driver->get},
		{"cuDeviceGetName", &driver->name},
		{"cuDeviceGetAttribute", &driver->attribute},
		{"cuDeviceTotalMem_v2", &driver->memory},
		{"cuDeviceGetUuid", &driver->uuid},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(symbols); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol)
			return false;
		memcpy(symbols[i].function, &symbol, sizeof(symbol));
	}
	return true;
}

static uint32_t attribute(const struct driver *driver, int attribute, int device)
{
	int value = 0;

	return driver->attribute(&value, attribute, device) || value < 0 ? 0 : (uint32_t)value;
}

static char *uuid_text(struct ts_pool *pool, const struct ts_cu_uuid *uuid)
{
	char hex[33];

	for (int i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)uuid->bytes[i]);
	return ts_pool_printf(pool, "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
			      hex + 16, hex + 20);
}

static void fill_device(struct ts_pool *pool, const struct driver *driver, int ordinal,
			Ts__Rpc__DeviceInfo *info)
{
	struct ts_cu_uuid uuid;
	char name[256] = "";
	size_t bytes = 0;
	int device;

	ts__rpc__device_info__init(info);
	TS_RPC_SET(info, device, (uint32_t)ordinal);
	if (driver->get(&device, ordinal))
		return;
	if (!driver->name(name, sizeof(name) - 1, device))
		info->name = ts_pool_copy(pool, name);
	TS_RPC_SET(info, virtual_, !strncmp(name, "TraceSmith Virtual GPU", 22));
	if (!driver->uuid(&uuid, device))
		info->uuid = uuid_text(pool, &uuid);
	if (!driver->memory(&bytes, device))
		TS_RPC_SET(info, memory_bytes, bytes);
	info->compute_capability = ts_pool_printf(
		pool, "%u.%u",
		attribute(driver, TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
		attribute(driver, TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
	TS_RPC_SET(info, multiprocessors,
		   attribute(driver, TS_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
	TS_RPC_SET(info, core_clock_khz,
		   attribute(driver, TS_CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device));
	TS_RPC_SET(info, copy_engines,
		   attribute(driver, TS_CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, device));
	TS_RPC_SET(info, threads_per_warp,
		   attribute(driver, TS_CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
	TS_RPC_SET(info, l2_cache_bytes,
		   attribute(driver, TS_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device));
}

static void fill_devices(struct ts_pool *pool, const struct driver *driver,
			 Ts__Rpc__DevicesInfo *info)
{
	int count = 0, version = 0, r;

	if (!driver->version(&version) && version > 0)
		TS_RPC_SET(info, driver_version, (uint32_t)version);
	r = driver->init(0);
	if (!r)
		r = driver->count(&count);
	if (r) {
		info->driver_error = ts_pool_copy(pool, result_text(r));
		return;
	}
	if (count > MAX_DEVICES)
		count = MAX_DEVICES;
	info->devices = ts_pool_alloc(pool, (size_t)count + 1, sizeof(*info->devices));
	for (int i = 0; i < count; i++) {
		info->devices[i] = ts_pool_alloc(pool, 1, sizeof(**info->devices));
		fill_device(pool, driver, i, info->devices[i]);
		info->n_devices++;
	}
}

void ts_gpu_fill_driver(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info)
{
	const char *injection = secure_getenv(INJECTION_ENVIRONMENT);
	struct driver driver;
	void *library;

	/* No tool, TraceSmith included, may start in a process that only queries. */
	info->cupti = ts_pool_alloc(pool, 1, sizeof(*info->cupti));
	ts__rpc__cupti_info__init(info->cupti);
	if (injection && *injection)
		info->cupti->injection_path = ts_pool_copy(pool, injection);
	unsetenv(INJECTION_ENVIRONMENT);
	/* The library is never unloaded, because the driver does not support this well. */
	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		info->driver_error = ts_pool_copy(pool, dlerror());
		return;
	}
	info->driver = library_path(pool, library);
	if (find_symbols(library, &driver))
		fill_devices(pool, &driver, info);
	else
		info->driver_error = ts_pool_copy(pool, "it lacks functions that CUDA 11 has");
}

/* Searches as the shim does. It cannot try the folder of the traced process's cudart. */
static void *load_cupti(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11",
					    "libcupti.so",
					    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
	const char *given = secure_getenv(CUPTI_ENVIRONMENT);
	void *library = NULL;

	for (size_t i = 0; !library && i < TS_ARRAY_LEN(names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library && given && *given)
		library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
	return library;
}

void ts_gpu_fill_cupti(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info)
{
	int (*get_version)(uint32_t * ret_version);
	void *library = load_cupti(), *symbol;
	uint32_t version;

	TS_RPC_SET(info->cupti, found, library != NULL);
	if (!library)
		return;
	info->cupti->path = library_path(pool, library);
	symbol = dlsym(library, "cuptiGetVersion");
	memcpy(&get_version, &symbol, sizeof(symbol));
	if (symbol && !get_version(&version))
		TS_RPC_SET(info->cupti, version, version);
}

/* True if the library was linked with another one of this name, without regard to its version. */
static bool needs(void *library, const char *name)
{
	const char *strings = NULL;
	struct link_map *map;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map))
		return false;
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_STRTAB)
			strings = (const char *)entry->d_un.d_ptr;
	for (const ElfW(Dyn) *entry = map->l_ld; strings && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_NEEDED &&
		    !strncmp(strings + entry->d_un.d_val, name, strlen(name)))
			return true;
	return false;
}

/*
 * True if the runtime registers its dispatch tables. Releases since 6.2 do, if they were built with
 * librocprofiler-register. The virtual GPU's library needs none, and no HSA.
 */
static bool has_tables(void *library)
{
	return dlvsym(library, "hipGetFuncBySymbol", "hip_6.2") &&
	       (needs(library, "librocprofiler-register") || !needs(library, "libhsa-runtime64"));
}

/* True if rocprofiler-sdk is beside the runtime, or the loader finds it. */
static bool has_sdk(struct ts_pool *pool, void *library)
{
	static const char *const names[] = {"librocprofiler-sdk.so", "librocprofiler-sdk.so.1",
					    "librocprofiler-sdk.so.0"};
	const char *runtime = library_path(pool, library);
	const char *slash = runtime ? strrchr(runtime, '/') : NULL;
	char path[PATH_MAX];
	void *sdk;

	for (size_t i = 0; slash && i < TS_ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - runtime), runtime, names[i]);
		if (!access(path, R_OK))
			return true;
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++) {
		sdk = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
		if (sdk)
			return true;
	}
	return false;
}

void ts_gpu_fill_hip(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info)
{
	static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
					    "libamdhip64.so.5"};
	void *library = NULL;

	info->hip = ts_pool_alloc(pool, 1, sizeof(*info->hip));
	ts__rpc__hip_info__init(info->hip);
	/* No function of it is called: the first one may start the GPU's driver. */
	for (size_t i = 0; !library && i < TS_ARRAY_LEN(names); i++)
		library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		return;
	info->hip->path = library_path(pool, library);
	info->hip->interfaces = ts_pool_alloc(pool, 2, sizeof(char *));
	info->hip->interfaces[info->hip->n_interfaces++] =
		(char *)(has_tables(library) ? "hip_tables" : "hip_symbols");
	if (dlsym(library, "hipRegisterTracerCallback"))
		info->hip->interfaces[info->hip->n_interfaces++] = (char *)"hip_tracer";
	else if (dlsym(library, "hipInitActivityCallback"))
		info->hip->interfaces[info->hip->n_interfaces++] = (char *)"hip_activity";
	else if (has_tables(library) && has_sdk(pool, library))
		info->hip->interfaces[info->hip->n_interfaces++] = (char *)"rocprofiler_sdk";
	else
		info->hip->interfaces[info->hip->n_interfaces++] = (char *)"hip_events";
}
