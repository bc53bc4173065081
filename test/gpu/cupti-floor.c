/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The minimum cost of CUPTI to a program; a measurement of the recorder on a GPU subtracts it. The
 * driver loads this library by CUDA_INJECTION64_PATH. The library enables the parts listed in
 * $TS_FLOOR and discards their data:
 *
 *     kernel     kernel records, which any profiler needs
 *     all        also records of copies, memsets, memory, synchronization and overhead
 *     callbacks  callbacks at both ends of launches of the driver and the runtime
 *     flush      a thread flushes complete buffers every 10 ms
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define BUFFER_BYTES (1024u * 1024)

static uint32_t (*flush_all)(uint32_t flags);
static unsigned long n_callbacks, n_bytes;

static void on_callback(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)userdata, (void)domain, (void)cbid, (void)data;
	__atomic_fetch_add(&n_callbacks, 1, __ATOMIC_RELAXED);
}

static void on_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static void on_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid_bytes)
{
	(void)context, (void)stream, (void)size;
	__atomic_fetch_add(&n_bytes, valid_bytes, __ATOMIC_RELAXED);
	free(buffer);
}

#define FLUSH_US 10000

static void *flush(void *unused)
{
	(void)unused;
	for (;;) {
		usleep(FLUSH_US);
		flush_all(0);
	}
	return NULL;
}

static void finish(void)
{
	flush_all(1);
	fprintf(stderr, "cupti-floor: %lu callbacks, %lu bytes of records\n", n_callbacks, n_bytes);
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static const uint32_t all[] = {TS_CUPTI_ACTIVITY_KIND_MEMCPY,
				       TS_CUPTI_ACTIVITY_KIND_MEMCPY2,
				       TS_CUPTI_ACTIVITY_KIND_MEMSET,
				       TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
				       TS_CUPTI_ACTIVITY_KIND_MEMORY2,
				       TS_CUPTI_ACTIVITY_KIND_OVERHEAD};
	static const uint32_t driver[] = {TS_CUPTI_DRIVER_CBID_cuLaunchKernel,
					  TS_CUPTI_DRIVER_CBID_cuLaunchKernel_ptsz,
					  TS_CUPTI_DRIVER_CBID_cuLaunchKernelEx,
					  TS_CUPTI_DRIVER_CBID_cuLaunchKernelEx_ptsz};
	static const uint32_t runtime[] = {TS_CUPTI_RUNTIME_CBID_cudaLaunchKernel_v7000,
					   TS_CUPTI_RUNTIME_CBID_cudaLaunchKernel_ptsz_v7000,
					   TS_CUPTI_RUNTIME_CBID_cudaLaunchKernelExC_v11060};
	void *library = dlopen("libcupti.so.13", RTLD_NOW), *subscriber;
	const char *floor = getenv("TS_FLOOR");
	uint32_t (*subscribe)(void **, ts_cupti_callback_fn, void *);
	uint32_t (*enable)(uint32_t), (*enable_callback)(uint32_t, void *, uint32_t, uint32_t);
	uint32_t (*register_callbacks)(ts_cupti_buffer_requested_fn, ts_cupti_buffer_completed_fn);
	pthread_t thread;
	size_t i;

	if (!library || !floor) {
		fprintf(stderr, "cupti-floor: %s\n", library ? "TS_FLOOR is not set" : dlerror());
		return 1;
	}
	*(void **)&subscribe = dlsym(library, "cuptiSubscribe");
	*(void **)&enable = dlsym(library, "cuptiActivityEnable");
	*(void **)&enable_callback = dlsym(library, "cuptiEnableCallback");
	*(void **)&register_callbacks = dlsym(library, "cuptiActivityRegisterCallbacks");
	*(void **)&flush_all = dlsym(library, "cuptiActivityFlushAll");
	if (subscribe(&subscriber, on_callback, NULL) ||
	    register_callbacks(on_requested, on_completed)) {
		fprintf(stderr, "cupti-floor: CUPTI cannot be had\n");
		return 1;
	}
	if (strstr(floor, "kernel"))
		enable(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	for (i = 0; strstr(floor, "all") && i < sizeof(all) / sizeof(all[0]); i++)
		enable(all[i]);
	for (i = 0; strstr(floor, "callbacks") && i < sizeof(driver) / sizeof(driver[0]); i++)
		enable_callback(1, subscriber, TS_CUPTI_CB_DOMAIN_DRIVER_API, driver[i]);
	for (i = 0; strstr(floor, "callbacks") && i < sizeof(runtime) / sizeof(runtime[0]); i++)
		enable_callback(1, subscriber, TS_CUPTI_CB_DOMAIN_RUNTIME_API, runtime[i]);
	if (strstr(floor, "flush") && !pthread_create(&thread, NULL, flush, NULL))
		pthread_detach(thread);
	atexit(finish);
	return 1;
}
