// SPDX-License-Identifier: Apache-2.0
/* Tests the runtime's functions for memory of every kind, pools, copies and sets. */
#include "test/unit/vgpu/generated-runtime.h"

#define H2D TS_CUDA_MEMCPY_HOST_TO_DEVICE
#define D2H TS_CUDA_MEMCPY_DEVICE_TO_HOST
#define D2D TS_CUDA_MEMCPY_DEVICE_TO_DEVICE

static void *const bad = (void *)8;

CONFORM(allocations)
{
	struct ts_cuda_pitched_ptr box;
	struct ts_cuda_extent extent = {100, 4, 2};
	size_t free_bytes, total, pitch;
	void *p, *q;

	ok(cudaMemGetInfo(&free_bytes, &total));
	ts_check(free_bytes <= total);
	ok(cudaMemGetInfo(NULL, &total));
	ok(cudaMalloc(&p, 1000));
	want(ERROR_INVALID_VALUE, cudaMalloc(NULL, 1000));
	want(ERROR_MEMORY_ALLOCATION, cudaMalloc(&q, total * 2));
	ok(cudaFree(p));
	ok(cudaFree(NULL));
	want(ERROR_INVALID_VALUE, cudaFree(&p));
	ok(cudaMallocPitch(&p, &pitch, 100, 10));
	ts_check(pitch >= 100);
	want(ERROR_INVALID_VALUE, cudaMallocPitch(NULL, &pitch, 100, 10));
	ok(cudaFree(p));
	ok(cudaMalloc3D(&box, extent));
	ts_check(box.ptr && box.pitch >= 100);
	want(ERROR_INVALID_VALUE, cudaMalloc3D(NULL, extent));
	ok(cudaFree(box.ptr));
	ok(cudaMallocManaged(&p, 100, TS_CUDA_MEM_ATTACH_GLOBAL));
	*(char *)p = 1;
	want(ERROR_INVALID_VALUE, cudaMallocManaged(&q, 100, 0));
	ok(cudaFree(p));
}

CONFORM(host_memory)
{
	static char mine[4096] __attribute__((aligned(4096)));
	uint32_t flags;
	void *p, *device;

	ok(cudaMallocHost(&p, 100));
	want(ERROR_INVALID_VALUE, cudaMallocHost(NULL, 100));
	ok(cudaFreeHost(p));
	ok(cudaFreeHost(NULL));
	want(ERROR_INVALID_VALUE, cudaFreeHost(mine));
	ok(cudaHostAlloc(&p, 4096, TS_CUDA_HOST_ALLOC_MAPPED));
	want(ERROR_INVALID_VALUE, cudaHostAlloc(&device, 4096, 1 << 10));
	ok(cudaHostGetDevicePointer(&device, p, 0));
	want(ERROR_INVALID_VALUE, cudaHostGetDevicePointer(&device, p, 1));
	ok(cudaHostGetFlags(&flags, p));
	ts_check(flags & TS_CUDA_HOST_ALLOC_MAPPED);
	want(ERROR_INVALID_VALUE, cudaHostGetFlags(&flags, mine));
	ok(cudaFreeHost(p));
	ok(cudaHostRegister(mine, 4096, TS_CUDA_HOST_REGISTER_DEFAULT));
	want(ERROR_HOST_MEMORY_ALREADY_REGISTERED, cudaHostRegister(mine, 4096, 0));
	want(ERROR_INVALID_VALUE, cudaHostRegister(NULL, 4096, 0));
	ok(cudaHostUnregister(mine));
	want(ERROR_HOST_MEMORY_NOT_REGISTERED, cudaHostUnregister(mine));
}

CONFORM(what_a_pointer_is)
{
	struct ts_cu_mem_location here = {TS_CUDA_MEM_LOCATION_TYPE_DEVICE, 0};
	struct ts_cu_mem_location nowhere = {TS_CUDA_MEM_LOCATION_TYPE_DEVICE, 99};
	struct ts_cuda_pointer_attributes a;
	void *p;

	ok(cudaMallocManaged(&p, 4096, TS_CUDA_MEM_ATTACH_GLOBAL));
	ok(cudaPointerGetAttributes(&a, p));
	ts_check(a.type == TS_CUDA_MEMORY_TYPE_MANAGED && a.device_pointer == p);
	ok(cudaPointerGetAttributes(&a, &a));
	ts_check_int(a.type, TS_CUDA_MEMORY_TYPE_UNREGISTERED);
	want(ERROR_INVALID_VALUE, cudaPointerGetAttributes(NULL, p));
	ok(cudaMemAdvise(p, 4096, TS_CUDA_MEM_ADVISE_SET_READ_MOSTLY, here));
	want(ERROR_INVALID_VALUE, cudaMemAdvise(p, 4096, 99, here));
	ok(cudaMemPrefetchAsync(p, 4096, here, 0, NULL));
	want(ERROR_INVALID_DEVICE, cudaMemPrefetchAsync(p, 4096, nowhere, 0, NULL));
	ok(cudaStreamAttachMemAsync(NULL, p, 0, TS_CUDA_MEM_ATTACH_GLOBAL));
	want(ERROR_INVALID_VALUE, cudaStreamAttachMemAsync(NULL, p, 0, 99));
	ok(cudaStreamSynchronize(NULL));
	ok(cudaFree(p));
}

CONFORM(pools)
{
	struct ts_cu_mem_pool_props props = {
		.alloc_type = TS_CUDA_MEM_ALLOCATION_TYPE_PINNED,
		.location = {TS_CUDA_MEM_LOCATION_TYPE_DEVICE, 0},
	};
	struct ts_cu_mem_access_desc access = {{TS_CUDA_MEM_LOCATION_TYPE_DEVICE, 0},
					       TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	uint64_t n = 1 << 20, got = 0;
	void *pool, *standard, *current, *a, *b;
	int32_t flags = 99;

	ok(cudaDeviceGetDefaultMemPool(&standard, 0));
	want(ERROR_INVALID_DEVICE, cudaDeviceGetDefaultMemPool(&standard, 99));
	ok(cudaMemPoolCreate(&pool, &props));
	want(ERROR_INVALID_VALUE, cudaMemPoolCreate(&pool, NULL));
	ok(cudaDeviceSetMemPool(0, pool));
	want(ERROR_INVALID_VALUE, cudaDeviceSetMemPool(0, NULL));
	ok(cudaDeviceGetMemPool(&current, 0));
	ts_check(current == pool && pool != standard);
	want(ERROR_INVALID_VALUE, cudaDeviceGetMemPool(NULL, 0));
	ok(cudaMemPoolSetAttribute(pool, TS_CUDA_MEM_POOL_ATTR_RELEASE_THRESHOLD, &n));
	want(ERROR_INVALID_VALUE, cudaMemPoolSetAttribute(pool, 99, &n));
	ok(cudaMemPoolGetAttribute(pool, TS_CUDA_MEM_POOL_ATTR_RELEASE_THRESHOLD, &got));
	ts_check(got == n);
	want(ERROR_INVALID_VALUE, cudaMemPoolGetAttribute(pool, 99, &got));
	ok(cudaMemPoolSetAccess(pool, &access, 1));
	want(ERROR_INVALID_VALUE, cudaMemPoolSetAccess(NULL, &access, 1));
	ok(cudaMemPoolGetAccess(&flags, pool, &access.location));
	ts_check_int(flags, TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	refuses(ERROR_INVALID_VALUE, cudaMemPoolGetAccess(NULL, pool, &access.location));
	ok(cudaMallocAsync(&a, 4096, NULL));
	want(ERROR_INVALID_VALUE, cudaMallocAsync(NULL, 4096, NULL));
	ok(cudaMallocFromPoolAsync(&b, 4096, pool, NULL));
	want(ERROR_INVALID_VALUE, cudaMallocFromPoolAsync(&b, 4096, NULL, NULL));
	ok(cudaFreeAsync(a, NULL));
	ok(cudaFreeAsync(b, NULL));
	want(ERROR_INVALID_VALUE, cudaFreeAsync(&a, NULL));
	ok(cudaStreamSynchronize(NULL));
	ok(cudaMemPoolTrimTo(pool, 0));
	want(ERROR_INVALID_VALUE, cudaMemPoolTrimTo(NULL, 0));
	ok(cudaMemPoolDestroy(pool));
	want(ERROR_INVALID_VALUE, cudaMemPoolDestroy(NULL));
}

CONFORM(linear_copies)
{
	char text[64] = "hello", back[64] = "";
	void *a, *b;

	ok(cudaMalloc(&a, 64));
	ok(cudaMalloc(&b, 64));
	ok(cudaMemcpy(a, text, 64, H2D));
	ok(cudaMemcpyAsync(b, a, 64, D2D, NULL));
	ok(cudaMemcpy(back, b, 64, TS_CUDA_MEMCPY_DEFAULT));
	ts_check_str(back, "hello");
	want(ERROR_INVALID_MEMCPY_DIRECTION, cudaMemcpy(a, text, 64, 77));
	want(ERROR_INVALID_VALUE, cudaMemcpy(a, text, 65, H2D));
	want(ERROR_INVALID_VALUE, cudaMemcpyAsync(a, text, 65, H2D, NULL));
	refuses(ERROR_INVALID_RESOURCE_HANDLE, cudaMemcpyAsync(a, b, 64, D2D, bad));
	ok(cudaMemcpyPeer(a, 0, b, 0, 64));
	want(ERROR_INVALID_DEVICE, cudaMemcpyPeer(a, 0, b, 99, 64));
	ok(cudaMemcpyPeerAsync(a, 0, b, 0, 64, NULL));
	want(ERROR_INVALID_DEVICE, cudaMemcpyPeerAsync(a, 99, b, 0, 64, NULL));
	ok(cudaDeviceSynchronize());
}

CONFORM(copies_of_planes)
{
	char from[33] = "0.......1.......2.......3.......", back[64];
	void *a;

	ok(cudaMalloc(&a, 64));
	ok(cudaMemcpy2D(a, 16, from, 8, 8, 4, H2D));
	ok(cudaMemcpy(back, a, 64, D2H));
	ts_check(back[0] == '0' && back[16] == '1' && back[48] == '3');
	from[8] = 'b';
	ok(cudaMemcpy2DAsync(a, 16, from, 8, 8, 4, H2D, NULL));
	ok(cudaStreamSynchronize(NULL));
	ok(cudaMemcpy(back, a, 64, D2H));
	ts_check_int(back[16], 'b');
	want(ERROR_INVALID_PITCH_VALUE, cudaMemcpy2D(a, 4, from, 8, 8, 4, H2D));
	want(ERROR_INVALID_PITCH_VALUE, cudaMemcpy2DAsync(a, 16, from, 4, 8, 4, H2D, NULL));
	want(ERROR_INVALID_MEMCPY_DIRECTION, cudaMemcpy2D(a, 16, from, 8, 8, 4, 77));
}

CONFORM(copies_of_boxes)
{
	char from[65], back[64];
	struct ts_cuda_memcpy_3d_parms c = {
		.src_ptr = {from, 4, 4, 4},
		.extent = {4, 4, 4},
		.kind = H2D,
	};
	struct ts_cuda_memcpy_3d_peer_parms p = {.extent = {4, 4, 4}};
	void *a, *b;

	for (int i = 0; i < 64; i++)
		from[i] = (char)i;
	ok(cudaMalloc(&a, 64));
	ok(cudaMalloc(&b, 64));
	c.dst_ptr = (struct ts_cuda_pitched_ptr){a, 4, 4, 4};
	ok(cudaMemcpy3D(&c));
	want(ERROR_INVALID_VALUE, cudaMemcpy3D(NULL));
	ok(cudaMemcpy3DAsync(&c, NULL));
	want(ERROR_INVALID_VALUE, cudaMemcpy3DAsync(NULL, NULL));
	p.src_ptr = c.dst_ptr;
	p.dst_ptr = (struct ts_cuda_pitched_ptr){b, 4, 4, 4};
	ok(cudaMemcpy3DPeer(&p));
	want(ERROR_INVALID_VALUE, cudaMemcpy3DPeer(NULL));
	ok(cudaMemcpy3DPeerAsync(&p, NULL));
	want(ERROR_INVALID_VALUE, cudaMemcpy3DPeerAsync(NULL, NULL));
	ok(cudaMemcpy(back, b, 64, D2H));
	ts_check(!memcmp(from, back, 64));
}

CONFORM(sets)
{
	struct ts_cuda_pitched_ptr box;
	struct ts_cuda_extent extent = {2, 2, 1};
	uint8_t back[256];
	void *a;

	ok(cudaMalloc(&a, 256));
	box = (struct ts_cuda_pitched_ptr){a, 128, 128, 2};
	ok(cudaMemset(a, 1, 256));
	ok(cudaMemsetAsync(a, 2, 128, NULL));
	ok(cudaMemset2D((char *)a + 8, 128, 3, 2, 2));
	ok(cudaMemset2DAsync((char *)a + 16, 128, 4, 2, 2, NULL));
	ok(cudaMemset3D(box, 5, extent));
	box.ptr = (char *)a + 24;
	ok(cudaMemset3DAsync(box, 6, extent, NULL));
	ok(cudaStreamSynchronize(NULL));
	ok(cudaMemcpy(back, a, 256, D2H));
	ts_check(back[255] == 1 && back[127] == 2 && back[8] == 3 && back[136] == 3);
	ts_check(back[144] == 4 && back[128] == 5 && back[152] == 6 && back[153] == 6);
	want(ERROR_INVALID_VALUE, cudaMemset(a, 1, 257));
	want(ERROR_INVALID_VALUE, cudaMemsetAsync(a, 1, 257, NULL));
	want(ERROR_INVALID_VALUE, cudaMemset2D(a, 4, 1, 8, 8));
	want(ERROR_INVALID_VALUE, cudaMemset2DAsync(a, 4, 1, 8, 8, NULL));
	box.pitch = 1;
	want(ERROR_INVALID_VALUE, cudaMemset3D(box, 1, extent));
	want(ERROR_INVALID_VALUE, cudaMemset3DAsync(box, 1, extent, NULL));
}
