// SPDX-License-Identifier: Apache-2.0
/*
 * Tests virtual memory management through libcuda: address ranges, memory, mappings and access
 * rights.
 */
#include <string.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "test/unit/harness.h"
#include "tools/vgpu/cudart/driver_api.h"

struct ipc_handle {
	char bytes[64];
};

#define ok(call) ts_check_int(call, TS_CU_SUCCESS)
#define G	 ((size_t)2 << 20)

static struct ts_cu_mem_allocation_prop prop = {
	.type = TS_CU_MEM_ALLOCATION_TYPE_PINNED,
	.location = {TS_CU_MEM_LOCATION_TYPE_DEVICE, 0},
};
static struct ts_cu_mem_access_desc all = {
	.location = {TS_CU_MEM_LOCATION_TYPE_DEVICE, 0},
	.flags = TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
};

static void begin(void)
{
	void *context;
	int32_t served;
	size_t granularity;

	setenv("TRACESMITH_VGPU", "ideal:2", 1);
	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&context, 0));
	ok(cuCtxSetCurrent(context));
	ok(cuDeviceGetAttribute(&served, TS_CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
				0));
	ts_check_int(served, 1);
	ok(cuMemGetAllocationGranularity(&granularity, &prop, 0));
	ts_check_int(granularity, G);
}

TS_TEST(segments_grow_by_mapping)
{
	uint64_t base, memory[2], again;
	size_t before, after, total;
	static uint8_t in[1 << 16], out[1 << 16];
	struct ts_cu_mem_allocation_prop got;

	begin();
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 7);
	ok(cuMemGetInfo_v2(&before, &total));
	ok(cuMemAddressReserve(&base, 8 * G, 0, 0, 0));
	ts_check_int(base % G, 0);
	ok(cuMemCreate(&memory[0], G, &prop, 0));
	ok(cuMemCreate(&memory[1], 2 * G, &prop, 0));
	ok(cuMemGetInfo_v2(&after, &total));
	ts_check_int(before - after, 3 * G);
	ok(cuMemMap(base, G, 0, memory[0], 0));
	ok(cuMemMap(base + G, G, G, memory[1], 0));
	ts_check_int(cuMemMap(base + G, G, 0, memory[0], 0), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemMap(base + 8 * G, G, 0, memory[0], 0), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemMap(base + 2 * G, 2 * G, G, memory[1], 0), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemMap(base + 2 * G, 4096, 0, memory[1], 0), TS_CU_ERROR_INVALID_VALUE);

	/* No access is allowed before cuMemSetAccess(). */
	ts_check_int(cuMemcpyHtoD_v2(base, in, 16), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemSetAccess(base, 3 * G, &all, 1), TS_CU_ERROR_INVALID_VALUE);
	ok(cuMemSetAccess(base, 2 * G, &all, 1));
	/* Across the border of the two mappings. */
	ok(cuMemcpyHtoD_v2(base + G - sizeof(in) / 2, in, sizeof(in)));
	ok(cuMemcpyDtoH_v2(out, base + G - sizeof(in) / 2, sizeof(out)));
	ts_check(!memcmp(in, out, sizeof(in)));
	ts_check_int(cuMemcpyHtoD_v2(base + 2 * G - 8, in, 16), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemcpyHtoD_v2(base + 3 * G, in, 16), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemFree_v2(base), TS_CU_ERROR_INVALID_VALUE);

	/* Memory lives as long as a handle or a mapping. */
	ok(cuMemRelease(memory[0]));
	ts_check_int(cuMemRelease(memory[0]), TS_CU_ERROR_INVALID_VALUE);
	ok(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(base + 64)));
	ok(cuMemGetAllocationPropertiesFromHandle(&got, again));
	ts_check_int(got.location.type, TS_CU_MEM_LOCATION_TYPE_DEVICE);
	ok(cuMemMap(base + 4 * G, G, 0, again, 0));
	ok(cuMemSetAccess(base + 4 * G, G, &all, 1));
	ok(cuMemcpyDtoH_v2(out, base + 5 * G - sizeof(in) / 2, sizeof(out) / 2));
	ts_check(!memcmp(in, out, sizeof(in) / 2));
	ok(cuMemRelease(again));
	ok(cuMemRelease(memory[1]));

	ts_check_int(cuMemAddressFree(base, 8 * G), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemUnmap(base + G, 2 * G), TS_CU_ERROR_INVALID_VALUE);
	ok(cuMemUnmap(base, 2 * G));
	ts_check_int(cuMemcpyDtoH_v2(out, base, 16), TS_CU_ERROR_INVALID_VALUE);
	ok(cuMemUnmap(base + 4 * G, G));
	ok(cuMemGetInfo_v2(&after, &total));
	ts_check_int(after, before);
	ok(cuMemAddressFree(base, 8 * G));
	ts_check_int(cuMemAddressFree(base, 8 * G), TS_CU_ERROR_INVALID_VALUE);
}

/* A requested address is used if it is free; otherwise the request is a hint that has no effect. */
TS_TEST(addresses_that_are_asked_for)
{
	uint64_t base, again, other;

	begin();
	ok(cuMemAddressReserve(&base, 4 * G, 0, 0, 0));
	ok(cuMemAddressFree(base, 4 * G));
	ok(cuMemAddressReserve(&again, 2 * G, 0, base + G, 0));
	ts_check_int(again, base + G);
	ok(cuMemAddressReserve(&other, 2 * G, 0, base + 2 * G, 0));
	ts_check(other != base + 2 * G);
	ok(cuMemAddressFree(other, 2 * G));
	ok(cuMemAddressReserve(&other, G, 0, base + 3 * G + 4096, 0));
	ts_check_int(other % G, 0);
	ok(cuMemAddressFree(other, G));
	ok(cuMemAddressReserve(&other, G, 0, UINT64_MAX - G + 1, 0));
	ok(cuMemAddressFree(other, G));
	ok(cuMemAddressFree(again, 2 * G));
}

TS_TEST(access_may_be_to_read_only)
{
	uint64_t base, memory, flags, word = 7;
	struct ts_cu_mem_access_desc read = all;

	begin();
	read.flags = TS_CU_MEM_ACCESS_FLAGS_PROT_READ;
	ok(cuMemAddressReserve(&base, G, 16 * G, 0, 0));
	ts_check_int(base % (16 * G), 0);
	ok(cuMemCreate(&memory, G, &prop, 0));
	ok(cuMemMap(base, G, 0, memory, 0));
	ok(cuMemSetAccess(base, G, &read, 1));
	ok(cuMemGetAccess(&flags, &read.location, base));
	ts_check_int(flags, TS_CU_MEM_ACCESS_FLAGS_PROT_READ);
	ok(cuMemcpyDtoH_v2(&word, base, sizeof(word)));
	ts_check_int(word, 0);
	ts_check_int(cuMemcpyHtoD_v2(base, &word, sizeof(word)), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemsetD8_v2(base, 1, 8), TS_CU_ERROR_INVALID_VALUE);
	ok(cuMemRelease(memory));
	ok(cuMemUnmap(base, G));
	ok(cuMemAddressFree(base, G));
}

TS_TEST(what_other_processes_would_share_is_refused)
{
	struct ipc_handle ipc = {.bytes = {0}};
	struct ts_cu_mem_allocation_prop shared = prop, host = prop;
	uint64_t memory, address;

	begin();
	shared.handle_types = TS_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	ts_check_int(cuMemCreate(&memory, G, &shared, 0), TS_CU_ERROR_NOT_SUPPORTED);
	host.location.type = TS_CU_MEM_LOCATION_TYPE_HOST;
	ts_check_int(cuMemCreate(&memory, G, &host, 0), TS_CU_ERROR_NOT_SUPPORTED);
	ts_check_int(cuMemCreate(&memory, G + 1, &prop, 0), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemCreate(&memory, (size_t)1 << 50, &prop, 0), TS_CU_ERROR_OUT_OF_MEMORY);
	ok(cuMemCreate(&memory, G, &prop, 0));
	ts_check_int(cuMemExportToShareableHandle(&ipc, memory, 1, 0), TS_CU_ERROR_NOT_SUPPORTED);
	ok(cuMemAlloc_v2(&address, 64));
	ts_check_int(cuIpcGetMemHandle(&ipc, address), TS_CU_ERROR_NOT_SUPPORTED);
	ts_check_int(cuIpcOpenMemHandle_v2(&address, ipc, 1), TS_CU_ERROR_NOT_SUPPORTED);
	ok(cuMemRelease(memory));
}
