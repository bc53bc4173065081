// SPDX-License-Identifier: Apache-2.0
/*
 * The two ways by which a tool sees libamdhip64: dispatch tables, which this program receives as
 * librocprofiler-register does, and the tracer's callback.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "test/unit/vgpu/hip/hip-test.h"
#include "tools/vgpu/hip/hip-api-ids.h"

static const char saxpy_stub;

/* ---- dispatch tables ------------------------------------------------------------------------- */

static unsigned n_registered[2];
static _Atomic unsigned n_mallocs;
static bool slow_registration;
static int32_t count_inside;
static int32_t (*next_malloc)(void **ptr, size_t size);

static int32_t my_malloc(void **ptr, size_t size)
{
	n_mallocs++;
	return next_malloc(ptr, size);
}

int rocprofiler_register_library_api_table(const char *name, int (*import)(void), uint32_t version,
					   void **tables, uint64_t n_tables, void *ret_id);

__attribute__((visibility("default"))) int rocprofiler_register_library_api_table(
	const char *name, int (*import)(void), uint32_t version, void **tables, uint64_t n_tables,
	void *ret_id)
{
	struct ts_hip_dispatch_table *table = tables[0];
	bool compiler = !strcmp(name, "hip_compiler");

	if (n_tables != 1 || (!compiler && strcmp(name, "hip")))
		return 1;
	n_registered[compiler]++;
	/* ROCm 6.2: 452 and 9 functions. */
	ts_check_int(table->size, compiler ? 80 : 453 * 8);
	ts_check_int(version, 60200);
	ts_check_int(import(), 60200);
	for (size_t i = 0; i < table->size / 8 - 1; i++)
		ts_check(table->slots[i]);
	if (compiler)
		return 0;
	/* A tool may call HIP here, and sees no wrapper yet. */
	ok(hipGetDeviceCount(&count_inside));
	if (slow_registration)
		usleep(20000);
	next_malloc = table->slots[216 - 1];
	table->slots[216 - 1] = (void *)my_malloc;
	return 0;
}

TS_TEST(tables_are_registered_once_at_the_first_call)
{
	void *bundle = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx), *memory;

	ts_check(!n_registered[0] && !n_registered[1]);
	__hipUnregisterFatBinary(register_kernel(bundle, &saxpy_stub, "saxpy"));
	ts_check_int(n_registered[1], 1);
	ts_check_int(n_registered[0], 0);
	ok(hipMalloc(&memory, 64));
	ok(hipFree(memory));
	ts_check_int(n_registered[0], 1);
	ts_check_int(n_registered[1], 1);
	ts_check_int(count_inside, 2);
	ts_check_int(n_mallocs, 1);
	free(bundle);
}

static void *call_malloc(void *unused)
{
	void *memory;

	ok(hipMalloc(&memory, 64));
	return unused;
}

/* No call of another thread passes while the tool puts its functions into the table. */
TS_TEST(threads_wait_for_the_registration)
{
	pthread_t threads[8];

	slow_registration = true;
	for (unsigned i = 0; i < 8; i++)
		ts_check_int(pthread_create(&threads[i], NULL, call_malloc, NULL), 0);
	for (unsigned i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	ts_check_int(n_registered[0], 1);
	ts_check_int(n_mallocs, 8);
}

/* ---- the callback ---------------------------------------------------------------------------- */

#define MAX_RECORDS 64

static struct ts_hip_activity_record records[MAX_RECORDS];
static _Atomic unsigned n_records;
static unsigned n_calls, n_entered, n_exited, n_asked[3];
static _Atomic unsigned n_asked_at_end;
static pthread_t caller;
static bool refuse_records;
static uint32_t last_call;
static bool with_phases, refuse_copies;
static uint64_t last_id;

static void on_enter(uint32_t op, struct ts_hip_api_trace_data *data)
{
	n_entered++;
	data->phases.phase_data = op;
}

static void on_exit_(uint32_t op, struct ts_hip_api_trace_data *data)
{
	n_exited++;
	ts_check(data->phases.phase_data == op);
}

static int on_event(uint32_t domain, uint32_t op, void *data)
{
	struct ts_hip_api_trace_data *call = data;

	if (domain == TS_HIP_ACTIVITY_DOMAIN_API) {
		n_calls++;
		last_call = op;
		call->correlation_id = ++last_id;
		call->phases.phase_enter = with_phases ? on_enter : NULL;
		call->phases.phase_exit = with_phases ? on_exit_ : NULL;
		return op == TS_HIP_API_ID_hipMemset ? 1 : 0;
	}
	ts_check_int(domain, TS_HIP_ACTIVITY_DOMAIN_OPS);
	if (!data && !pthread_equal(pthread_self(), caller)) {
		ts_check_int(op, TS_HIP_ACTIVITY_OP_DISPATCH);
		n_asked_at_end++;
		return refuse_records;
	}
	if (!data) {
		n_asked[op]++;
		return op == TS_HIP_ACTIVITY_OP_COPY && refuse_copies;
	}
	records[atomic_fetch_add(&n_records, 1)] = *(const struct ts_hip_activity_record *)data;
	return 0;
}

static uint64_t boottime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

TS_TEST(operations_are_reported_with_the_callers_id)
{
	void *bundle = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx), *arguments[4];
	float *dev_x, *dev_y, a = 2, host[N] = {0};
	uint64_t before, launch_id, copy_id;
	uint32_t n = N;
	const struct ts_hip_activity_record *r = records;

	caller = pthread_self();
	register_kernel(bundle, &saxpy_stub, "saxpy");
	ok(hipMalloc((void **)&dev_x, sizeof(host)));
	hipRegisterTracerCallback((void *)(uintptr_t)on_event);
	before = boottime_ns();
	ok(hipMalloc((void **)&dev_y, sizeof(host)));
	ts_check_int(n_calls, 1);
	ts_check_int(last_call, TS_HIP_API_ID_hipMalloc);
	ts_check_str(hipApiName(last_call), "hipMalloc");
	ok(hipMemcpy(dev_y, host, sizeof(host), TS_HIP_MEMCPY_HOST_TO_DEVICE));
	copy_id = last_id;
	/*
	 * on_event() returns 1 for hipMemset(), so the record of this memset has no correlation id.
	 */
	ok(hipMemset(dev_x, 0, 100));
	arguments[0] = &n;
	arguments[1] = &a;
	arguments[2] = &dev_x;
	arguments[3] = &dev_y;
	with_phases = true;
	ok(hipLaunchKernel(&saxpy_stub, GRID, BLOCK, arguments, 0, NULL));
	launch_id = last_id;
	ts_check(n_entered == 1 && n_exited == 1);
	with_phases = false;
	ok(hipMemcpy(host, dev_y, 40, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	refuse_copies = true;
	ok(hipMemcpy(host, dev_y, 40, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ok(hipDeviceSynchronize());
	ts_check_int(n_asked[TS_HIP_ACTIVITY_OP_DISPATCH], 1);
	ts_check_int(n_asked[TS_HIP_ACTIVITY_OP_COPY], 4);
	hipRegisterTracerCallback(NULL);
	n = n_calls;
	ok(hipFree(dev_x));
	ts_check_int(n_calls, n);

	ts_check_int(n_records, 4);
	ts_check_int(n_asked_at_end, 4);
	/* A copy to the device, a set, a kernel, a copy to the host. */
	ts_check(r[0].kind == TS_HIP_COMMAND_WRITE_BUFFER && r[0].op == TS_HIP_ACTIVITY_OP_COPY);
	ts_check(r[0].bytes == sizeof(host) && r[0].correlation_id == copy_id);
	ts_check(r[1].kind == TS_HIP_COMMAND_FILL_BUFFER && r[1].op == TS_HIP_ACTIVITY_OP_COPY);
	ts_check(r[1].bytes == 100 && r[1].correlation_id == 0);
	ts_check(r[2].kind == TS_HIP_COMMAND_NDRANGE_KERNEL &&
		 r[2].op == TS_HIP_ACTIVITY_OP_DISPATCH);
	ts_check_str(r[2].kernel_name, "saxpy");
	ts_check(r[2].correlation_id == launch_id);
	ts_check(r[3].kind == TS_HIP_COMMAND_READ_BUFFER && r[3].bytes == 40);
	for (unsigned i = 0; i < 4; i++) {
		ts_check_int(r[i].domain, TS_HIP_ACTIVITY_DOMAIN_OPS);
		ts_check_int(r[i].device_id, 1);
		ts_check(r[i].begin_ns > before && r[i].end_ns > r[i].begin_ns);
		ts_check(r[i].end_ns < before + 60000000000);
		ts_check(i == 0 || r[i].begin_ns >= r[i - 1].end_ns);
	}
	ok(hipFree(dev_y));
}

TS_TEST(kernels_of_a_graph_have_the_launchs_id)
{
	void *bundle = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx);
	static const char nothing_stub;
	void *stream, *graph, *exec;

	caller = pthread_self();
	register_kernel(bundle, &nothing_stub, "nothing");
	ok(hipStreamCreate(&stream));
	ok(hipStreamBeginCapture(stream, TS_HIP_STREAM_CAPTURE_MODE_GLOBAL));
	for (int i = 0; i < 3; i++)
		ok(hipLaunchKernel(&nothing_stub, (struct ts_hip_dim3){1, 1, 1},
				   (struct ts_hip_dim3){1, 1, 1}, NULL, 0, stream));
	ok(hipStreamEndCapture(stream, &graph));
	ok(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	hipRegisterTracerCallback((void *)(uintptr_t)on_event);
	ok(hipGraphLaunch(exec, stream));
	ok(hipStreamSynchronize(stream));
	hipRegisterTracerCallback(NULL);
	ts_check_int(n_records, 3);
	for (unsigned i = 0; i < 3; i++) {
		ts_check_int(records[i].kind, TS_HIP_COMMAND_TASK);
		ts_check_int(records[i].correlation_id, 1);
		ts_check_str(records[i].kernel_name, "nothing");
	}
}

TS_TEST(records_of_events_are_barriers_without_an_id)
{
	void *event, *memory;

	caller = pthread_self();
	ok(hipMalloc(&memory, 64));
	ok(hipEventCreate(&event));
	hipRegisterTracerCallback((void *)(uintptr_t)on_event);
	ok(hipEventRecord(event, NULL));
	ok(hipEventSynchronize(event));
	ok(hipDeviceSynchronize());
	ts_check_int(n_asked[TS_HIP_ACTIVITY_OP_BARRIER], 0);
	ts_check_int(n_records, 1);
	ts_check_int(records[0].op, TS_HIP_ACTIVITY_OP_BARRIER);
	ts_check_int(records[0].kind, TS_HIP_COMMAND_MARKER);
	ts_check_int(records[0].correlation_id, 0);
	/* The callback refuses at the end what it asked for at the submission. */
	refuse_records = true;
	ok(hipMemset(memory, 0, 64));
	ok(hipEventRecord(event, NULL));
	ok(hipDeviceSynchronize());
	ts_check_int(n_asked[TS_HIP_ACTIVITY_OP_COPY], 1);
	ts_check_int(n_asked_at_end, 3);
	ts_check_int(n_records, 1);
	hipRegisterTracerCallback(NULL);
	ok(hipEventDestroy(event));
	ok(hipFree(memory));
}

/*
 * libamdhip64 contains the virtual GPU's driver. This driver does not load the library of
 * CUDA_INJECTION64_PATH, because a HIP process has no CUDA tool.
 */
TS_TEST(no_cuda_injection_is_loaded)
{
	void *memory;

	setenv("CUDA_INJECTION64_PATH", getenv("TS_TEST_INJECTED"), 1);
	ok(hipMalloc(&memory, 64));
	ts_check(!getenv("TS_TEST_INJECTED_COUNT"));
	ok(hipFree(memory));
}
