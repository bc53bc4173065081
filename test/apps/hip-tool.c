/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another tool beside the shim: it receives HIP's dispatch table as rocprofiler-sdk does, puts its
 * own functions into the table, and counts their calls. librocprofiler-register or
 * register-standin.c calls this file.
 *
 * The counts are in the file $TS_TOOL.<pid>, in the layout of the truth (truth.h).
 */
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_slots.h"
#include "test/apps/truth.h"
#include "tools/vgpu/generated-hip-functions.h"

#define EXPORT		 __attribute__((visibility("default")))
#define FILE_ENVIRONMENT "TS_TOOL"

/* X(name, parameters, arguments) */
#define COUNTED_CALLS(X)                                                                           \
	X(hipLaunchKernel,                                                                         \
	  (const void *function, struct ts_hip_dim3 grid, struct ts_hip_dim3 block,                \
	   void **arguments, size_t shared, void *stream),                                         \
	  (function, grid, block, arguments, shared, stream))                                      \
	X(hipMalloc, (void **memory, size_t n), (memory, n))                                       \
	X(hipFree, (void *memory), (memory))                                                       \
	X(hipHostMalloc, (void **memory, size_t n, uint32_t flags), (memory, n, flags))            \
	X(hipHostFree, (void *memory), (memory))                                                   \
	X(hipMemcpy, (void *dst, const void *src, size_t n, int32_t kind), (dst, src, n, kind))    \
	X(hipMemcpyAsync, (void *dst, const void *src, size_t n, int32_t kind, void *stream),      \
	  (dst, src, n, kind, stream))                                                             \
	X(hipMemset, (void *dst, int32_t value, size_t n), (dst, value, n))                        \
	X(hipMemsetAsync, (void *dst, int32_t value, size_t n, void *stream),                      \
	  (dst, value, n, stream))                                                                 \
	X(hipStreamCreateWithFlags, (void **stream, uint32_t flags), (stream, flags))              \
	X(hipStreamDestroy, (void *stream), (stream))                                              \
	X(hipStreamSynchronize, (void *stream), (stream))                                          \
	X(hipStreamWaitEvent, (void *stream, void *event, uint32_t flags), (stream, event, flags)) \
	X(hipEventRecord, (void *event, void *stream), (event, stream))                            \
	X(hipEventSynchronize, (void *event), (event))                                             \
	X(hipDeviceSynchronize, (void), ())

enum place {
#define PLACE(slot, name, kind) PLACE_##name = (slot),
	TS_HIP_SLOTS(PLACE)
#undef PLACE
};

enum counted {
#define NUMBER(name, parameters, arguments) NUMBER_##name,
	COUNTED_CALLS(NUMBER)
#undef NUMBER
};

static struct ts_truth *counts;

#define WRAP(name, parameters, arguments)                       \
	static __typeof__(name) *next_##name;                   \
                                                                \
	static int32_t count_##name parameters                  \
	{                                                       \
		ts_truth_add(&counts->calls[NUMBER_##name], 1); \
		return next_##name arguments;                   \
	}
COUNTED_CALLS(WRAP)

static void open_counts(void)
{
	const char *path = getenv(FILE_ENVIRONMENT);
	char own[4096];
	int fd = -1;

	if (path) {
		snprintf(own, sizeof(own), "%s.%d", path, (int)getpid());
		fd = open(own, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0 || ftruncate(fd, sizeof(*counts))) {
			perror(own);
			exit(9);
		}
	}
	counts = ts_truth_map(fd, sizeof(*counts));
	if (fd >= 0)
		close(fd);
	counts->n_bytes = sizeof(*counts);
	counts->pid = (uint32_t)getpid();
	counts->magic = TS_TRUTH_MAGIC;
#define STORE_NAME(name, parameters, arguments) \
	snprintf(counts->call_names[NUMBER_##name], TS_TRUTH_NAME_BYTES, "%s", #name);
	COUNTED_CALLS(STORE_NAME)
}

EXPORT void *rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority,
				   void *client);
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t n_tables);

/* A tool's second function; librocprofiler-register looks for it in the loaded libraries. */
void *rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority, void *client)
{
	(void)version;
	(void)runtime;
	(void)priority;
	(void)client;
	return NULL;
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t n_tables)
{
	void **table;

	(void)version;
	if (strcmp(name, "hip") || instance || !tables || !n_tables || !tables[0])
		return 0;
	table = tables[0];
	open_counts();
#define REPLACE(name, parameters, arguments)          \
	*(void **)&next_##name = table[PLACE_##name]; \
	table[PLACE_##name] = (void *)count_##name;
	COUNTED_CALLS(REPLACE)
	return 0;
}
