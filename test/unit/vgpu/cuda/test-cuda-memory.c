// SPDX-License-Identifier: Apache-2.0
/* Tests the driver's functions for memory of every kind, pools, addresses, copies and sets. */
#include <pthread.h>

#include "test/unit/vgpu/generated-driver.h"

static void *begin(void)
{
	void *context;

	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&context, 0));
	ok(cuCtxSetCurrent(context));
	return context;
}

CONFORM(allocations)
{
	uint64_t a, base, nobody = 64;
	size_t bytes, free_bytes, total, pitch;
	void *host;

	begin();
	ok(cuMemGetInfo_v2(&free_bytes, &total));
	ts_check(free_bytes <= total && total > 1 << 20);
	ok(cuMemGetInfo_v2(NULL, &total));
	ok(cuMemAlloc_v2(&a, 1000));
	ts_check(a && a % 256 == 0);
	base = a;
	want(ERROR_INVALID_VALUE, cuMemAlloc_v2(&base, 0));
	ts_check_int(base, 0);
	want(ERROR_INVALID_VALUE, cuMemAlloc_v2(NULL, 16));
	want(ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&base, total * 2));
	ok(cuMemGetAddressRange_v2(&base, &bytes, a + 500));
	ts_check(base == a && bytes == 1000);
	ok(cuMemGetAddressRange_v2(NULL, NULL, a));
	ok(cuMemGetAddressRange_v2(NULL, NULL, 0));
	want(ERROR_NOT_FOUND, cuMemGetAddressRange_v2(&base, &bytes, nobody));
	ok(cuMemFree_v2(a));
	ok(cuMemFree_v2(0));
	want(ERROR_INVALID_VALUE, cuMemFree_v2(nobody));
	ok(cuMemAllocPitch_v2(&a, &pitch, 100, 10, 4));
	ts_check(pitch >= 100);
	want(ERROR_INVALID_VALUE, cuMemAllocPitch_v2(&base, &pitch, 100, 10, 5));
	want(ERROR_INVALID_VALUE, cuMemAllocPitch_v2(NULL, &pitch, 100, 10, 4));
	ok(cuMemFree_v2(a));
	ok(cuMemAllocManaged(&a, 100, TS_CU_MEM_ATTACH_GLOBAL));
	*(char *)(uintptr_t)a = 1;
	want(ERROR_INVALID_VALUE, cuMemAllocManaged(&base, 100, 0));
	want(ERROR_INVALID_VALUE, cuMemAllocManaged(&base, 0, TS_CU_MEM_ATTACH_GLOBAL));
	ok(cuMemFree_v2(a));
	ok(cuMemAllocHost_v2(&host, 100));
	want(ERROR_INVALID_VALUE, cuMemAllocHost_v2(NULL, 100));
	ok(cuMemFreeHost(host));
	want(ERROR_INVALID_VALUE, cuMemFreeHost(&a));
}

CONFORM(host_memory)
{
	static char mine[8192] __attribute__((aligned(4096)));
	uint64_t device;
	uint32_t flags;
	void *host, *none = mine;

	begin();
	ok(cuMemHostAlloc(&host, 4096, TS_CU_MEMHOSTALLOC_DEVICEMAP | TS_CU_MEMHOSTALLOC_PORTABLE));
	want(ERROR_INVALID_VALUE, cuMemHostAlloc(&none, 4096, 1 << 10));
	ts_check(!none);
	want(ERROR_INVALID_VALUE, cuMemHostAlloc(NULL, 4096, 0));
	ok(cuMemHostGetDevicePointer_v2(&device, host, 0));
	want(ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&device, host, 1));
	want(ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&device, mine, 0));
	ok(cuMemHostGetFlags(&flags, host));
	ts_check(flags & TS_CU_MEMHOSTALLOC_DEVICEMAP);
	want(ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, mine));
	ok(cuMemFreeHost(host));
	/* NULL is no page-locked memory, but may be freed. */
	want(ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&device, NULL, 0));
	want(ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, NULL));
	ok(cuMemFreeHost(NULL));
	ok(cuMemHostRegister_v2(mine, 4096, TS_CU_MEMHOSTREGISTER_PORTABLE));
	want(ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(mine, 4096, 0));
	want(ERROR_INVALID_VALUE, cuMemHostRegister_v2(NULL, 4096, 0));
	want(ERROR_INVALID_VALUE, cuMemHostRegister_v2(mine + 4096, 0, 0));
	ok(cuMemHostRegister(mine + 4096, 4096, 0));
	want(ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(mine, 8192, 0));
	ok(cuMemHostUnregister(mine));
	ok(cuMemHostUnregister(mine + 4096));
	want(ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(mine));
}

CONFORM(what_a_pointer_is)
{
	int32_t both[2] = {TS_CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
			   TS_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	uint32_t type = 0, on = 1;
	int32_t ordinal = 99;
	void *out[2] = {&type, &ordinal}, *owner, *context = begin();
	uint64_t a;

	ok(cuMemAlloc_v2(&a, 64));
	ok(cuPointerGetAttribute(&owner, TS_CU_POINTER_ATTRIBUTE_CONTEXT, a));
	ts_check(owner == context);
	want(ERROR_INVALID_VALUE,
	     cuPointerGetAttribute(&type, TS_CU_POINTER_ATTRIBUTE_CONTEXT, 64));
	want(ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, 999, a));
	want(ERROR_INVALID_VALUE, cuPointerGetAttribute(NULL, 2, a));
	ok(cuPointerGetAttributes(2, both, out, a));
	ts_check(type == TS_CU_MEMORYTYPE_DEVICE && ordinal == 0);
	want(ERROR_INVALID_VALUE, cuPointerGetAttributes(0, both, out, a));
	want(ERROR_INVALID_VALUE, cuPointerGetAttributes(2, NULL, out, a));
	ok(cuPointerGetAttributes(2, both, out, 64));
	ts_check_int(type, 0);
	ok(cuPointerSetAttribute(&on, TS_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
	want(ERROR_INVALID_VALUE, cuPointerSetAttribute(&on, TS_CU_POINTER_ATTRIBUTE_CONTEXT, a));
	want(ERROR_INVALID_VALUE,
	     cuPointerSetAttribute(NULL, TS_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
	ok(cuMemFree_v2(a));
}

CONFORM(advice)
{
	struct ts_cu_mem_location here = {TS_CU_MEM_LOCATION_TYPE_DEVICE, 0};
	struct ts_cu_mem_location nowhere = {TS_CU_MEM_LOCATION_TYPE_DEVICE, 99};
	uint64_t a;

	begin();
	ok(cuMemAllocManaged(&a, 4096, TS_CU_MEM_ATTACH_GLOBAL));
	ok(cuMemAdvise_v2(a, 4096, TS_CU_MEM_ADVISE_SET_READ_MOSTLY, here));
	want(ERROR_INVALID_VALUE, cuMemAdvise_v2(a, 4096, 99, here));
	want(ERROR_INVALID_VALUE, cuMemAdvise_v2(64, 4096, TS_CU_MEM_ADVISE_SET_READ_MOSTLY, here));
	want(ERROR_INVALID_VALUE,
	     cuMemAdvise_v2(a, 4096, TS_CU_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere));
	ok(cuMemPrefetchAsync_v2(a, 4096, here, 0, NULL));
	want(ERROR_INVALID_VALUE, cuMemPrefetchAsync_v2(a, 4096, here, 1, NULL));
	want(ERROR_INVALID_VALUE, cuMemPrefetchAsync_v2(a, 0, here, 0, NULL));
	want(ERROR_INVALID_DEVICE, cuMemPrefetchAsync_v2(a, 4096, nowhere, 0, NULL));
	ok(cuCtxSynchronize());
	ok(cuMemFree_v2(a));
}

CONFORM(pools)
{
	struct ts_cu_mem_pool_props props = {
		.alloc_type = TS_CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {TS_CU_MEM_LOCATION_TYPE_DEVICE, 0},
	};
	struct ts_cu_mem_access_desc access = {{TS_CU_MEM_LOCATION_TYPE_DEVICE, 0},
					       TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	uint64_t a, b, n = 1 << 20, got = 0;
	void *pool, *standard, *current;
	int32_t flags = 99;

	begin();
	ok(cuDeviceGetDefaultMemPool(&standard, 0));
	want(ERROR_INVALID_DEVICE, cuDeviceGetDefaultMemPool(&standard, 99));
	want(ERROR_INVALID_VALUE, cuDeviceGetDefaultMemPool(NULL, 0));
	ok(cuDeviceGetMemPool(&current, 0));
	ts_check(current == standard);
	want(ERROR_INVALID_VALUE, cuDeviceGetMemPool(NULL, 0));
	ok(cuMemPoolCreate(&pool, &props));
	want(ERROR_INVALID_VALUE, cuMemPoolCreate(&pool, NULL));
	want(ERROR_INVALID_VALUE, cuMemPoolCreate(NULL, &props));
	ok(cuDeviceSetMemPool(0, pool));
	want(ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, NULL));
	ok(cuDeviceGetMemPool(&current, 0));
	ts_check(current == pool);
	ok(cuMemPoolSetAttribute(pool, TS_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &n));
	want(ERROR_INVALID_VALUE, cuMemPoolSetAttribute(pool, 99, &n));
	want(ERROR_INVALID_VALUE, cuMemPoolSetAttribute(NULL, 4, &n));
	ok(cuMemPoolGetAttribute(pool, TS_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &got));
	ts_check(got == n);
	want(ERROR_INVALID_VALUE, cuMemPoolGetAttribute(pool, 99, &got));
	want(ERROR_INVALID_VALUE, cuMemPoolGetAttribute(NULL, 4, &got));
	ok(cuMemPoolSetAccess(pool, &access, 1));
	want(ERROR_INVALID_VALUE, cuMemPoolSetAccess(NULL, &access, 1));
	want(ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, NULL, 1));
	ok(cuMemPoolGetAccess(&flags, pool, &access.location));
	ts_check_int(flags, TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	want(ERROR_INVALID_VALUE, cuMemPoolGetAccess(NULL, pool, &access.location));
	ok(cuMemAllocAsync(&a, 4096, NULL));
	want(ERROR_INVALID_VALUE, cuMemAllocAsync(NULL, 4096, NULL));
	refuses(ERROR_INVALID_HANDLE, cuMemAllocAsync(&b, 4096, (void *)8));
	ok(cuMemAllocFromPoolAsync(&b, 4096, pool, NULL));
	want(ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&b, 4096, NULL, NULL));
	ok(cuMemPoolGetAttribute(pool, TS_CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &got));
	ts_check(got >= 8192);
	ok(cuMemFreeAsync(a, NULL));
	ok(cuMemFreeAsync(b, NULL));
	want(ERROR_INVALID_VALUE, cuMemFreeAsync(64, NULL));
	ok(cuStreamSynchronize(NULL));
	ok(cuMemPoolTrimTo(pool, 0));
	want(ERROR_INVALID_VALUE, cuMemPoolTrimTo(NULL, 0));
	ok(cuMemPoolDestroy(pool));
	want(ERROR_INVALID_VALUE, cuMemPoolDestroy(NULL));
}

CONFORM(addresses_and_what_is_mapped_there)
{
	/* The beginning of the vendor's CUmemAllocationProp: pinned, no handle, this device. */
	struct {
		int32_t type, handle_types, location, id;
		uint64_t rest[2];
	} prop = {1, 0, TS_CU_MEM_LOCATION_TYPE_DEVICE, 0, {0}}, told;
	struct ts_cu_mem_access_desc access = {{TS_CU_MEM_LOCATION_TYPE_DEVICE, 0},
					       TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	uint64_t at, handle, again, flags;
	size_t step;
	char text[8] = "mapped", back[8] = "";

	begin();
	ok(cuMemGetAllocationGranularity(&step, (void *)&prop, 0));
	ts_check(step >= 4096 && !(step & (step - 1)));
	want(ERROR_INVALID_VALUE, cuMemGetAllocationGranularity(NULL, (void *)&prop, 0));
	ok(cuMemAddressReserve(&at, step * 2, 0, 0, 0));
	want(ERROR_INVALID_VALUE, cuMemAddressReserve(&again, step + 1, 0, 0, 0));
	want(ERROR_INVALID_VALUE, cuMemAddressReserve(&again, 0, 0, 0, 0));
	ok(cuMemCreate(&handle, step, (void *)&prop, 0));
	want(ERROR_INVALID_VALUE, cuMemCreate(&again, step + 1, (void *)&prop, 0));
	want(ERROR_INVALID_VALUE, cuMemCreate(&again, step, NULL, 0));
	ok(cuMemMap(at, step, 0, handle, 0));
	want(ERROR_INVALID_VALUE, cuMemMap(at, step, 0, handle, 0));
	want(ERROR_INVALID_VALUE, cuMemMap(at + step * 4, step, 0, handle, 0));
	ok(cuMemSetAccess(at, step, &access, 1));
	want(ERROR_INVALID_VALUE, cuMemSetAccess(at, step, NULL, 1));
	ok(cuMemGetAccess(&flags, &access.location, at));
	ts_check_int(flags, TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	want(ERROR_INVALID_VALUE, cuMemGetAccess(NULL, &access.location, at));
	ok(cuMemcpyHtoD_v2(at, text, 8));
	ok(cuMemcpyDtoH_v2(back, at, 8));
	ts_check_str(back, "mapped");
	ok(cuMemGetAllocationPropertiesFromHandle((void *)&told, handle));
	ts_check(told.type == 1 && told.location == TS_CU_MEM_LOCATION_TYPE_DEVICE);
	want(ERROR_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(NULL, handle));
	ok(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)at));
	want(ERROR_INVALID_VALUE, cuMemRetainAllocationHandle(&again, (void *)64));
	ok(cuMemRelease(handle));
	ok(cuMemRelease(again));
	want(ERROR_INVALID_VALUE, cuMemRelease(0));
	ok(cuMemUnmap(at, step));
	ok(cuMemUnmap(at, step));
	ok(cuMemAddressFree(at, step * 2));
	want(ERROR_INVALID_VALUE, cuMemAddressFree(at, step * 2));
	want(ERROR_INVALID_VALUE, cuMemUnmap(at, step));
}

CONFORM(what_is_shared_with_processes_is_refused)
{
	struct ipc_handle handle = {""};
	uint64_t a;
	void *event;
	int fd;

	begin();
	only_virtual("the vendor's driver shares memory with other processes");
	ok(cuMemAlloc_v2(&a, 64));
	ok(cuEventCreate(&event, 0));
	want(ERROR_NOT_SUPPORTED, cuIpcGetMemHandle(&handle, a));
	want(ERROR_NOT_SUPPORTED, cuIpcOpenMemHandle(&a, handle, 1));
	want(ERROR_NOT_SUPPORTED, cuIpcOpenMemHandle_v2(&a, handle, 1));
	want(ERROR_NOT_SUPPORTED, cuIpcCloseMemHandle(a));
	want(ERROR_NOT_SUPPORTED, cuIpcGetEventHandle(&handle, event));
	want(ERROR_NOT_SUPPORTED, cuIpcOpenEventHandle(&event, handle));
	want(ERROR_NOT_SUPPORTED, cuMemExportToShareableHandle(&fd, a, 1, 0));
	want(ERROR_NOT_SUPPORTED, cuMemImportFromShareableHandle(&a, &fd, 1));
	want(ERROR_NOT_SUPPORTED, cuMemMapArrayAsync(&handle, 1, NULL));
}

CONFORM(linear_copies)
{
	char text[64] = "hello", back[64] = "";
	uint64_t a, b;
	void *context = begin();

	ok(cuMemAlloc_v2(&a, 64));
	ok(cuMemAlloc_v2(&b, 64));
	ok(cuMemcpyHtoD_v2(a, text, 64));
	ok(cuMemcpyDtoD_v2(b, a, 64));
	ok(cuMemcpyDtoH_v2(back, b, 64));
	ts_check_str(back, "hello");
	strcpy(text, "again");
	ok(cuMemcpyHtoDAsync_v2(a, text, 64, NULL));
	ok(cuMemcpyDtoDAsync_v2(b, a, 64, NULL));
	ok(cuMemcpyDtoHAsync_v2(back, b, 64, NULL));
	ok(cuStreamSynchronize(NULL));
	ts_check_str(back, "again");
	strcpy(text, "any");
	ok(cuMemcpy(a, conform_at(text), 64));
	ok(cuMemcpyAsync(b, a, 64, NULL));
	ok(cuMemcpyPeer(a, context, b, context, 64));
	ok(cuMemcpyPeerAsync(b, context, a, context, 64, NULL));
	ok(cuMemcpy(conform_at(back), b, 64));
	ts_check_str(back, "any");
	want(ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(64, text, 64));
	want(ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(a, text, 65));
	want(ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(back, 64, 64));
	want(ERROR_INVALID_VALUE, cuMemcpyDtoD_v2(64, a, 64));
	want(ERROR_INVALID_VALUE, cuMemcpy(a, conform_at(text), 65));
	want(ERROR_INVALID_VALUE, cuMemcpyPeer(a, context, 64, context, 64));
	want(ERROR_INVALID_VALUE, cuMemcpyHtoDAsync_v2(64, text, 64, NULL));
	want(ERROR_INVALID_VALUE, cuMemcpyDtoHAsync_v2(back, 64, 64, NULL));
	want(ERROR_INVALID_VALUE, cuMemcpyDtoDAsync_v2(64, a, 64, NULL));
	want(ERROR_INVALID_VALUE, cuMemcpyAsync(a, conform_at(text), 65, NULL));
	want(ERROR_INVALID_VALUE, cuMemcpyPeerAsync(a, context, 64, context, 64, NULL));
	refuses(ERROR_INVALID_HANDLE, cuMemcpyAsync(a, b, 64, (void *)8));
	refuses(ERROR_INVALID_CONTEXT, cuMemcpyPeer(a, (void *)8, b, context, 64));
}

static void plane(struct ts_cu_memcpy_2d *c, uint64_t dst, const void *src)
{
	*c = (struct ts_cu_memcpy_2d){
		.src_memory_type = TS_CU_MEMORYTYPE_HOST,
		.src_host = src,
		.src_pitch = 8,
		.dst_memory_type = TS_CU_MEMORYTYPE_DEVICE,
		.dst_device = dst,
		.dst_pitch = 16,
		.width_in_bytes = 8,
		.height = 4,
	};
}

CONFORM(copies_of_planes)
{
	struct ts_cu_memcpy_2d c, wrong;
	char from[33] = "0.......1.......2.......3.......", back[64];
	uint64_t a;

	begin();
	ok(cuMemAlloc_v2(&a, 64));
	plane(&c, a, from);
	wrong = c;
	wrong.dst_pitch = 4;
	ok(cuMemcpy2D_v2(&c));
	ok(cuMemcpyDtoH_v2(back, a, 64));
	ts_check(back[0] == '0' && back[16] == '1' && back[48] == '3');
	from[0] = 'a';
	ok(cuMemcpy2DUnaligned_v2(&c));
	from[8] = 'b';
	ok(cuMemcpy2DAsync_v2(&c, NULL));
	ok(cuStreamSynchronize(NULL));
	ok(cuMemcpyDtoH_v2(back, a, 64));
	ts_check(back[0] == 'a' && back[16] == 'b');
	want(ERROR_INVALID_VALUE, cuMemcpy2D_v2(&wrong));
	want(ERROR_INVALID_VALUE, cuMemcpy2DUnaligned_v2(&wrong));
	want(ERROR_INVALID_VALUE, cuMemcpy2DAsync_v2(&wrong, NULL));
	want(ERROR_INVALID_VALUE, cuMemcpy2D_v2(NULL));
	refuses(ERROR_INVALID_HANDLE, cuMemcpy2DAsync_v2(&c, (void *)8));
}

CONFORM(copies_of_boxes)
{
	char from[65], back[64];
	struct ts_cu_memcpy_3d c = {
		.src_memory_type = TS_CU_MEMORYTYPE_HOST,
		.src_host = from,
		.src_pitch = 4,
		.src_height = 4,
		.dst_memory_type = TS_CU_MEMORYTYPE_DEVICE,
		.dst_pitch = 4,
		.dst_height = 4,
		.width_in_bytes = 4,
		.height = 4,
		.depth = 4,
	};
	struct ts_cu_memcpy_3d_peer p;
	void *context = begin();
	uint64_t a;

	for (int i = 0; i < 64; i++)
		from[i] = (char)i;
	ok(cuMemAlloc_v2(&a, 64));
	c.dst_device = a;
	_Static_assert(sizeof(c) == sizeof(p), "the peers' form has contexts in reserved places");
	ok(cuMemcpy3D_v2(&c));
	ok(cuMemcpyDtoH_v2(back, a, 64));
	ts_check(!memcmp(from, back, 64));
	from[63] = 1;
	ok(cuMemcpy3DAsync_v2(&c, NULL));
	ok(cuStreamSynchronize(NULL));
	memcpy(&p, &c, sizeof(p));
	p.src_memory_type = TS_CU_MEMORYTYPE_DEVICE;
	p.src_device = a;
	p.src_context = p.dst_context = context;
	ok(cuMemcpy3DPeer(&p));
	ok(cuMemcpy3DPeerAsync(&p, NULL));
	ok(cuMemcpyDtoH_v2(back, a, 64));
	ts_check(back[63] == 1);
	c.dst_pitch = p.dst_pitch = 2;
	want(ERROR_INVALID_VALUE, cuMemcpy3D_v2(&c));
	want(ERROR_INVALID_VALUE, cuMemcpy3DAsync_v2(&c, NULL));
	want(ERROR_INVALID_VALUE, cuMemcpy3DPeer(&p));
	want(ERROR_INVALID_VALUE, cuMemcpy3DPeerAsync(&p, NULL));
	want(ERROR_INVALID_VALUE, cuMemcpy3D_v2(NULL));
}

CONFORM(sets)
{
	uint8_t back[256];
	uint64_t a;

	begin();
	ok(cuMemAlloc_v2(&a, 256));
	ok(cuMemsetD8_v2(a, 1, 256));
	ok(cuMemsetD16_v2(a, 0x0202, 64));
	ok(cuMemsetD32_v2(a, 0x03030303, 16));
	ok(cuMemsetD2D8_v2(a, 128, 4, 2, 2));
	ok(cuMemsetD2D16_v2(a + 8, 128, 0x0505, 1, 2));
	ok(cuMemsetD2D32_v2(a + 16, 128, 0x06060606, 1, 2));
	ok(cuMemcpyDtoH_v2(back, a, 256));
	ts_check(back[255] == 1 && back[126] == 2 && back[63] == 3);
	ts_check(back[0] == 4 && back[128] == 4 && back[2] == 3);
	ts_check(back[8] == 5 && back[136] == 5 && back[16] == 6 && back[144] == 6);
	ok(cuMemsetD8Async(a, 11, 256, NULL));
	ok(cuMemsetD16Async(a, 0x0c0c, 64, NULL));
	ok(cuMemsetD32Async(a, 0x0d0d0d0d, 16, NULL));
	ok(cuMemsetD2D8Async(a, 128, 14, 2, 2, NULL));
	ok(cuMemsetD2D16Async(a + 8, 128, 0x0f0f, 1, 2, NULL));
	ok(cuMemsetD2D32Async(a + 16, 128, 0x10101010, 1, 2, NULL));
	ok(cuStreamSynchronize(NULL));
	ok(cuMemcpyDtoH_v2(back, a, 256));
	ts_check(back[255] == 11 && back[126] == 12 && back[63] == 13);
	ts_check(back[128] == 14 && back[136] == 15 && back[144] == 16);
	want(ERROR_INVALID_VALUE, cuMemsetD8_v2(a, 1, 257));
	want(ERROR_INVALID_VALUE, cuMemsetD16_v2(a + 1, 1, 8));
	want(ERROR_INVALID_VALUE, cuMemsetD32_v2(a + 2, 1, 8));
	want(ERROR_INVALID_VALUE, cuMemsetD2D8_v2(a, 4, 1, 8, 8));
	want(ERROR_INVALID_VALUE, cuMemsetD2D16_v2(a + 1, 128, 1, 1, 1));
	want(ERROR_INVALID_VALUE, cuMemsetD2D32_v2(a + 2, 128, 1, 1, 1));
	want(ERROR_INVALID_VALUE, cuMemsetD8Async(64, 1, 1, NULL));
	want(ERROR_INVALID_VALUE, cuMemsetD16Async(a + 1, 1, 8, NULL));
	want(ERROR_INVALID_VALUE, cuMemsetD32Async(a + 2, 1, 8, NULL));
	want(ERROR_INVALID_VALUE, cuMemsetD2D8Async(a, 4, 1, 8, 8, NULL));
	want(ERROR_INVALID_VALUE, cuMemsetD2D16Async(a + 1, 128, 1, 1, 1, NULL));
	want(ERROR_INVALID_VALUE, cuMemsetD2D32Async(a + 2, 128, 1, 1, 1, NULL));
	refuses(ERROR_INVALID_HANDLE, cuMemsetD8Async(a, 1, 1, (void *)8));
}

/* Memory in use reports its destroyed pool's handle, and no other pool gets this handle. */
CONFORM(a_pool_that_is_gone_is_none)
{
	struct ts_cu_mem_pool_props props = {
		.alloc_type = TS_CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {TS_CU_MEM_LOCATION_TYPE_DEVICE, 0},
	};
	void *pool, *next, *of = NULL;
	uint64_t a;

	begin();
	ok(cuMemPoolCreate(&pool, &props));
	ok(cuMemAllocFromPoolAsync(&a, 4096, pool, NULL));
	ok(cuPointerGetAttribute(&of, TS_CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
	ts_check(of == pool);
	ok(cuMemPoolDestroy(pool));
	ok(cuMemPoolCreate(&next, &props));
	of = NULL;
	ok(cuPointerGetAttribute(&of, TS_CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
	ts_check(of == pool && of != next);
	ok(cuMemFreeAsync(a, NULL));
	ok(cuStreamSynchronize(NULL));
	ok(cuMemPoolDestroy(next));
}

static void *standard_pool;

/* Only this thread sets the attribute, so a query returns the value that it has just set. */
static void *set_opportunistic(void *arg)
{
	int32_t got;

	for (volatile int32_t i = 0; i < 20000; i++) {
		int32_t value = i & 1;

		ok(cuMemPoolSetAttribute(standard_pool,
					 TS_CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value));
		ok(cuMemPoolGetAttribute(standard_pool,
					 TS_CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &got));
		ts_check_int(got, value);
	}
	return arg;
}

CONFORM(attributes_that_threads_set_are_all_kept)
{
	pthread_t thread;
	uint64_t got;

	begin();
	ok(cuDeviceGetDefaultMemPool(&standard_pool, 0));
	ts_check_int(pthread_create(&thread, NULL, set_opportunistic, NULL), 0);
	for (uint64_t i = 0; i < 20000; i++) {
		ok(cuMemPoolSetAttribute(standard_pool, TS_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &i));
		ok(cuMemPoolGetAttribute(standard_pool, TS_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
					 &got));
		ts_check_int(got, i);
	}
	ts_check_int(pthread_join(thread, NULL), 0);
}

/* A stream of the second device allocates from the first's pool. */
CONFORM(a_pool_serves_streams_of_other_devices)
{
	void *second, *pool, *stream;
	int32_t n;
	uint64_t a, used = 1;

	begin();
	ok(cuDeviceGetCount(&n));
	if (n < 2)
		ts_skip("needs two devices");
	ok(cuDeviceGetDefaultMemPool(&pool, 0));
	ok(cuDevicePrimaryCtxRetain(&second, 1));
	ok(cuCtxSetCurrent(second));
	ok(cuStreamCreate(&stream, 1));
	ok(cuMemAllocFromPoolAsync(&a, 4096, pool, stream));
	ok(cuPointerGetAttribute(&n, TS_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a));
	ts_check_int(n, 0);
	ok(cuMemFreeAsync(a, stream));
	ok(cuMemAllocFromPoolAsync(&a, 4096, pool, stream));
	ok(cuStreamSynchronize(stream));
	ok(cuMemFree_v2(a));
	ok(cuMemPoolGetAttribute(pool, TS_CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
	ts_check_int(used, 0);
}

/* A kernel of the second device writes to memory of the first's pool. */
CONFORM(a_pool_lets_other_devices_in)
{
	struct ts_cu_mem_access_desc access = {{TS_CU_MEM_LOCATION_TYPE_DEVICE, 1},
					       TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	uint32_t value = 5, got = 0;
	void *first = begin(), *second, *pool, *module, *fill, *args[2];
	uint64_t a;
	int32_t n;

	ok(cuDeviceGetCount(&n));
	if (n < 2 || (cuDeviceCanAccessPeer(&n, 1, 0), !n))
		ts_skip("needs two devices that can be peers");
	args[0] = &a;
	args[1] = &value;
	ok(cuDeviceGetDefaultMemPool(&pool, 0));
	ok(cuMemAllocAsync(&a, 4096, NULL));
	ok(cuStreamSynchronize(NULL));
	ok(cuMemPoolGetAccess(&n, pool, &access.location));
	ts_check_int(n, TS_CU_MEM_ACCESS_FLAGS_PROT_NONE);
	ok(cuMemPoolSetAccess(pool, &access, 1));
	ok(cuMemPoolGetAccess(&n, pool, &access.location));
	ts_check_int(n, TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	ok(cuDevicePrimaryCtxRetain(&second, 1));
	ok(cuCtxSetCurrent(second));
	ok(cuModuleLoadData(&module, conform_ptx));
	ok(cuModuleGetFunction(&fill, module, "fill"));
	ok(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
	ok(cuCtxSynchronize());
	ok(cuMemcpyDtoH_v2(&got, a, 4));
	ts_check_int(got, 5);
	access.flags = TS_CU_MEM_ACCESS_FLAGS_PROT_NONE;
	ok(cuMemPoolSetAccess(pool, &access, 1));
	/* Peer access is about other memory. */
	ok(cuCtxEnablePeerAccess(first, 0));
	ok(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
	want(ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
	access.location.id = 0;
	want(ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, &access, 1));
}
