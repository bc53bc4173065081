// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the reports of the two facades to a profiler: the vendor's ids and names, and driver calls
 * nested in runtime calls. Operations have times inside the calls that made and awaited them.
 * Memory, waits, contexts, streams and modules are reported, too.
 */
#include <pthread.h>

#include "proto/abi/vendor/cuda_runtime.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "test/unit/harness.h"
#include "tools/vgpu/cudart/driver_api.h"
#include "tools/vgpu/hooks.h"

int cudaMalloc(void **address, size_t bytes);
int cudaFree(void *address);
int cudaMemcpy(void *dst, const void *src, size_t bytes, int32_t kind);
int cudaMemsetAsync(void *dst, int32_t value, size_t bytes, void *stream);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
int cudaStreamCreate(void **stream);
int cudaLibraryLoadData(void **library, const void *code, int32_t *o, void **v, uint32_t n,
			int32_t *lo, void **lv, uint32_t ln);
int cudaLibraryGetKernel(void **kernel, void *library, const char *name);
int cudaLaunchKernel(const void *func, struct ts_cuda_dim3 grid, struct ts_cuda_dim3 block,
		     void **args, size_t shared, void *stream);
int __cudaLaunchKernel(void *func, struct ts_cuda_dim3 grid, struct ts_cuda_dim3 block, void **args,
		       size_t shared, void *stream);

struct told {
	uint32_t site, domain, cbid, correlation_id;
	char name[48], symbol[16];
	int depth;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct told told[1024];
static size_t n_told;
static int depth;
static struct ts_vgpu_operation ops[256];
static size_t n_submitted, n_completed;
static struct ts_vgpu_wait_event waits[64];
static size_t n_waits;
static struct ts_vgpu_memory_event memories[64];
static size_t n_memories;
static uint32_t resources[64];
static size_t n_resources;

static void on_api(uint32_t site, struct ts_vgpu_api *call)
{
	struct told *t;

	pthread_mutex_lock(&lock);
	t = &told[n_told++ % 1024];
	*t = (struct told){site, call->domain, call->cbid, call->correlation_id, "", "", depth};
	snprintf(t->name, sizeof(t->name), "%s", call->function_name);
	snprintf(t->symbol, sizeof(t->symbol), "%s", call->symbol_name ? call->symbol_name : "");
	depth += site == TS_CUPTI_API_ENTER ? 1 : -1;
	pthread_mutex_unlock(&lock);
}

static void on_resource(const struct ts_vgpu_resource_event *event)
{
	resources[n_resources++ % 64] = event->cbid;
}

static void on_memory(const struct ts_vgpu_memory_event *event, uint32_t correlation_id)
{
	memories[n_memories++ % 64] = *event;
}

static void on_wait(const struct ts_vgpu_wait_event *event, uint32_t correlation_id)
{
	waits[n_waits++ % 64] = *event;
}

static void on_submitted(struct ts_vgpu_operation *op)
{
	/* A sink that leaves op->sink_buffer NULL gets no further reports for the operation. */
	op->sink_buffer = ops;
	pthread_mutex_lock(&lock);
	n_submitted++;
	pthread_mutex_unlock(&lock);
}

static void on_started(struct ts_vgpu_operation *op)
{
}

static void on_completed(struct ts_vgpu_operation *op)
{
	pthread_mutex_lock(&lock);
	ops[n_completed++ % 256] = *op;
	pthread_mutex_unlock(&lock);
}

static const struct ts_vgpu_sink sink = {
	.size = sizeof(sink),
	.version = TS_VGPU_HOOKS_VERSION,
	.api = on_api,
	.resource = on_resource,
	.memory = on_memory,
	.wait = on_wait,
	.operation_submitted = on_submitted,
	.operation_started = on_started,
	.operation_completed = on_completed,
};

static const struct ts_vgpu_hooks *attach(void)
{
	const struct ts_vgpu_hooks *hooks;
	const void *table;

	setenv("TRACESMITH_VGPU", "small:2", 1);
	ts_check_int(cuGetExportTable(&table, &ts_vgpu_hooks_uuid), 0);
	hooks = table;
	ts_check_int(hooks->version, TS_VGPU_HOOKS_VERSION);
	ts_check_int(hooks->set_sink(&sink), 0);
	return hooks;
}

/* Returns the latest call of that name at that site. If there is none, ends the test. */
static const struct told *find(uint32_t site, const char *name)
{
	for (size_t i = n_told; i-- > 0;)
		if (told[i].site == site && !strcmp(told[i].name, name))
			return &told[i];
	fprintf(stderr, "%s was not told\n", name);
	exit(1);
}

static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
			  ".visible .entry work(.param .u64 a) { ret; }\n";

TS_TEST(runtime_calls_nest_driver_calls)
{
	const struct ts_vgpu_hooks *hooks = attach();
	const struct told *outer, *inner;
	void *device, *library, *kernel, *args[1], *stream;
	struct ts_cuda_dim3 grid = {4, 1, 1}, block = {64, 1, 1};
	char text[64] = "text";
	uint64_t address = 0;
	size_t i;

	ts_check_int(cudaMalloc(&device, sizeof(text)), 0);
	outer = find(TS_CUPTI_API_ENTER, "cudaMalloc");
	inner = find(TS_CUPTI_API_ENTER, "cuMemAlloc_v2");
	ts_check_int(outer->cbid, 20);
	ts_check_int(outer->domain, TS_CUPTI_CB_DOMAIN_RUNTIME_API);
	ts_check_int(inner->cbid, TS_CUPTI_DRIVER_CBID_cuMemAlloc_v2);
	ts_check_int(inner->domain, TS_CUPTI_CB_DOMAIN_DRIVER_API);
	ts_check_int(outer->depth, 0);
	ts_check_int(inner->depth, 1);
	ts_check(outer->correlation_id && outer->correlation_id == inner->correlation_id);
	ts_check(n_memories == 1 && memories[0].address == (uint64_t)(uintptr_t)device &&
		 memories[0].bytes == sizeof(text));
	for (i = 0; i < n_resources; i++)
		if (resources[i] == TS_CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
			break;
	ts_check(i < n_resources);

	ts_check_int(cudaMemcpy(device, text, sizeof(text), TS_CUDA_MEMCPY_HOST_TO_DEVICE), 0);
	find(TS_CUPTI_API_EXIT, "cuMemcpyHtoD_v2");
	ts_check_int(find(TS_CUPTI_API_EXIT, "cudaMemcpy")->correlation_id,
		     outer->correlation_id + 1);
	ts_check_int(n_completed, 1);
	ts_check_int(ops[0].kind, TS_CUPTI_ACTIVITY_KIND_MEMCPY);
	ts_check_int(ops[0].memcpy.copy_kind, TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
	ts_check_int(ops[0].memcpy.src_kind, TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
	ts_check_int(ops[0].memcpy.bytes, sizeof(text));
	ts_check_int(ops[0].correlation_id, outer->correlation_id + 1);
	ts_check_int(ops[0].stream_id, 7);
	ts_check_int(ops[0].context_id, 1);

	ts_check_int(cudaStreamCreate(&stream), 0);
	ts_check_int(resources[n_resources - 1], TS_CUPTI_CBID_RESOURCE_STREAM_CREATED);
	ts_check_int(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0), 0);
	ts_check_int(cudaLibraryGetKernel(&kernel, library, "work"), 0);
	args[0] = &address;
	ts_check_int(cudaLaunchKernel(kernel, grid, block, args, 128, stream), 0);
	ts_check_int(__cudaLaunchKernel(kernel, grid, block, args, 0, NULL), 0);
	ts_check_int(find(TS_CUPTI_API_ENTER, "cudaLaunchKernel")->cbid, 211);
	inner = find(TS_CUPTI_API_ENTER, "cuLaunchKernel");
	ts_check_int(inner->cbid, TS_CUPTI_DRIVER_CBID_cuLaunchKernel);
	ts_check_str(inner->symbol, "work");
	ts_check_int(cudaMemsetAsync(device, 7, 32, stream), 0);
	ts_check_int(cudaDeviceSynchronize(), 0);
	ts_check_int(waits[n_waits - 1].type,
		     TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
	ts_check(n_submitted == 4 && n_completed == 4);
	for (i = 0; i < 4; i++) {
		ts_check(ops[i].queued_ns && ops[i].queued_ns <= ops[i].submitted_ns &&
			 ops[i].submitted_ns <= ops[i].start_ns);
		ts_check(ops[i].start_ns < ops[i].end_ns);
		ts_check(ops[i].end_ns <= waits[n_waits - 1].end_ns);
		if (ops[i].kind == TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			ts_check_str(ops[i].kernel.name, "work");
			ts_check(ops[i].kernel.grid[0] == 4 && ops[i].kernel.block[0] == 64);
			ts_check(ops[i].kernel.dynamic_shared_bytes ==
				 (ops[i].stream_id == 7 ? 0u : 128u));
		}
	}

	ts_check_int(cudaLaunchKernel(kernel, grid, (struct ts_cuda_dim3){4096, 1, 1}, args, 0,
				      NULL),
		     TS_CUDA_ERROR_INVALID_CONFIGURATION);
	ts_check_int(cudaGetLastError(), TS_CUDA_ERROR_INVALID_CONFIGURATION);
	ts_check_int(cudaGetLastError(), 0);
	ts_check_int(n_submitted, 4);
	ts_check_int(cudaFree(device), 0);
	ts_check_int(memories[n_memories - 1].operation,
		     TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);

	ts_check_int(depth, 0);
	ts_check_int(hooks->set_sink(NULL), 0);
	i = n_told;
	ts_check_int(cudaDeviceSynchronize(), 0);
	ts_check_int(n_told, i);
}

struct listing {
	uint32_t ids[16];
	int n;
};

static int list_stream(const struct ts_vgpu_stream_info *info, void *arg)
{
	struct listing *l = arg;

	l->ids[l->n++] = info->stream_id;
	return 0;
}

static int list_context(const struct ts_vgpu_context_info *info, void *arg)
{
	struct listing *l = arg;

	l->ids[l->n++] = info->context_id;
	return 0;
}

TS_TEST(a_profiler_can_ask)
{
	const struct ts_vgpu_hooks *hooks = attach();
	struct ts_vgpu_device_info device;
	struct ts_vgpu_context_info info;
	struct ts_vgpu_stream_info stream_info;
	struct listing contexts = {.n = 0}, streams = {.n = 0};
	void *context, *current, *stream;
	uint32_t id;

	hooks->queries->current_context(&current, &id);
	ts_check(!current && !id);
	ts_check_int(hooks->queries->n_devices(), 0);
	ts_check_int(cuInit(0), 0);
	ts_check_int(hooks->queries->n_devices(), 2);
	ts_check_int(hooks->queries->device(1, &device), 0);
	ts_check_int(device.n_multiprocessors, 4);
	ts_check_int(hooks->queries->device(2, &device), -ENOENT);
	ts_check_int(cuDevicePrimaryCtxRetain(&context, 1), 0);
	ts_check_int(cuCtxSetCurrent(context), 0);
	ts_check_int(hooks->queries->context(NULL, &info), 0);
	ts_check(info.context == context && info.device_id == 1 && info.null_stream_id == 7);
	ts_check_int(cuStreamCreate(&stream, TS_CU_STREAM_NON_BLOCKING), 0);
	ts_check_int(hooks->queries->stream(NULL, stream, false, &stream_info), 0);
	ts_check_int(stream_info.stream_id, 13);
	ts_check_int(stream_info.flag, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
	ts_check_int(hooks->queries->stream(NULL, NULL, true, &stream_info), 0);
	ts_check_int(stream_info.stream_id, 14);
	ts_check_int(hooks->queries->stream(NULL, (void *)8, false, &stream_info), -ENOENT);
	ts_check_int(hooks->queries->each_context(list_context, &contexts), 0);
	ts_check(contexts.n == 1 && contexts.ids[0] == 1);
	ts_check_int(hooks->queries->each_stream(list_stream, &streams), 0);
	ts_check(streams.n == 3 && streams.ids[0] == 7 && streams.ids[2] == 14);
	hooks->queries->drain();
	ts_check_int(hooks->set_sink(NULL), 0);
}
