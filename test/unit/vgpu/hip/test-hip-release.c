// SPDX-License-Identifier: Apache-2.0
/*
 * Differences between the releases of libamdhip64: numbers, layouts, tables, the tracer's record
 * of a call, new functions. Built once for each library, with HIP_MAJOR. The releases of one
 * library are selected by the spec's setting, hip=MAJOR.MINOR.
 */
#include <dlfcn.h>

#include "proto/abi/vendor/hip_slots.h"
#include "test/unit/vgpu/hip/hip-test.h"
#include "tools/vgpu/hip/hip-api-ids.h"

/* The library of 5.2: another tracer, and fewer functions. */
#ifdef HIP_MINOR
#define IS_OLD 1
#else
#define IS_OLD 0
#endif

/* ---- what a program sees --------------------------------------------------------------------- */

TS_TEST(versions)
{
	static const int32_t expected[] = {
		[5] = IS_OLD ? 50200000 : 50700000, [6] = 60200000, [7] = 70100000};
	int32_t runtime = 0, driver = 0;

	ok(hipRuntimeGetVersion(&runtime));
	ok(hipDriverGetVersion(&driver));
	ts_check_int(runtime, expected[HIP_MAJOR]);
	ts_check_int(driver, expected[HIP_MAJOR]);
}

/* The loader finds a name of a version node; dlsym() would find any. */
static bool has(const char *name, const char *node)
{
	return dlvsym(RTLD_DEFAULT, name, node);
}

TS_TEST(nodes_of_a_release)
{
	ts_check(has("hipMalloc", "hip_4.2") && has("hipMemcpy_spt", "hip_5.2"));
	ts_check_int(has("hipRegisterTracerCallback", "hip_5.3"), !IS_OLD);
	ts_check_int(has("hipInitActivityCallback", "hip_4.2"), IS_OLD);
	/* AMD adds functions to old nodes: hipStreamGetDevice with 5.6. */
	ts_check_int(has("hipStreamGetDevice", "hip_4.2"), !IS_OLD);
	ts_check(has("hipGetDeviceProperties", "hip_4.2"));
	ts_check_int(has("hipGetDevicePropertiesR0000", "hip_4.2"), HIP_MAJOR >= 6);
	ts_check_int(has("hipGetDevicePropertiesR0600", "hip_6.0"), HIP_MAJOR >= 6);
	ts_check_int(has("hipDrvGraphAddMemsetNode", "hip_5.6"), HIP_MAJOR >= 6);
	ts_check_int(has("hipGetProcAddress", "hip_6.1"), HIP_MAJOR >= 6);
	ts_check_int(has("hipGraphExecGetFlags", "hip_6.2"), HIP_MAJOR >= 7);
	ts_check_int(has("hipLaunchKernelExC", "hip_6.5"), HIP_MAJOR >= 7);
	ts_check_int(has("hipStreamGetId", "hip_7.1"), HIP_MAJOR >= 7);
	ts_check(!has("hipLibraryLoadData", "hip_7.2"));
}

/* hipGetDeviceProperties is the name of 5.x; programs for 6 and later call the other one. */
TS_TEST(properties)
{
	struct ts_hip_device_prop_r0000 old;

	memset(&old, 0xff, sizeof(old));
	ok(hipGetDeviceProperties(&old, 1));
	ts_check_int(old.warp_size, 32);
	ts_check_int(old.multi_processor_count, 304);
	ts_check_str(old.gcn_arch_name, "gfx942:sramecc+:xnack-");
	ts_check_int(old.pageable_memory_access_uses_host_page_tables, 0);
#if HIP_MAJOR >= 6
	{
		struct ts_hip_device_prop_r0600 prop;

		memset(&prop, 0xff, sizeof(prop));
		ok(hipGetDevicePropertiesR0600(&prop, 1));
		ts_check_str(prop.name, old.name);
		ts_check_int(prop.multi_processor_count, 304);
		ts_check_str(prop.gcn_arch_name, "gfx942:sramecc+:xnack-");
		ts_check(prop.total_global_mem == old.total_global_mem);
		ts_check_int(prop.asic_revision, 0);
	}
#endif
}

/* Their structures are large: an ABI may pass these by their addresses. */
static bool has_structures(const char *name)
{
	return !strncmp(name, "hipMalloc3D", 11) || !strncmp(name, "hipMemset3D", 11) ||
	       !strncmp(name, "hipIpcOpen", 10) || !strcmp(name, "hipMallocMipmappedArray");
}

TS_TEST(zeros_crash_nothing)
{
	const struct ts_hip_extent extent = {0};
	const struct ts_hip_pitched_ptr pitched = {0};
	const struct ts_hip_ipc_event_handle event = {0};
	const struct ts_hip_ipc_mem_handle memory = {0};
	static const char *const names[] = {
#define NONE(name)
#define SERVED(name)		#name,
#define REFUSED(name)		#name,
#define NAME(place, name, kind) kind(name)
		TS_HIP_SLOTS(NAME)
#undef NAME
	};
	unsigned called = 0;

	ok(hipFree(NULL));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int (*function)(long, long, long, long, long, long, long, long, long, long, long,
				long, long, long, long, long);

		/* Those that return a text. */
		if (!strcmp(names[i], "hipApiName") || !strcmp(names[i], "hipGetErrorName") ||
		    !strcmp(names[i], "hipGetErrorString") ||
		    !strncmp(names[i], "hipKernelNameRef", 16) || has_structures(names[i]))
			continue;
		*(void **)&function = dlsym(RTLD_DEFAULT, names[i]);
		/* The table has functions of later releases. */
		if (!function)
			continue;
		ts_check(function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) < 1100);
		called++;
	}
	ts_check(called > 340);
	ts_check(hipMalloc3D(NULL, extent));
	ts_check(hipMalloc3DArray(NULL, NULL, extent, 0));
	ts_check(hipMallocMipmappedArray(NULL, NULL, extent, 0, 0));
	ts_check(hipMemset3D(pitched, 0, extent) < 1100);
	ts_check(hipMemset3DAsync(pitched, 0, extent, NULL) < 1100);
	ts_check(hipIpcOpenEventHandle(NULL, event));
	ts_check(hipIpcOpenMemHandle(NULL, memory, 0));
	ts_check(!hipKernelNameRef(NULL));
	ts_check(!hipKernelNameRefByPtr(NULL, NULL));
	ok(hipFree(NULL));
}

TS_TEST(memory_types)
{
	static const int32_t types[][3] = {
		[5] = {TS_HIP_MEMORY_TYPE_5_DEVICE, TS_HIP_MEMORY_TYPE_5_HOST,
		       TS_HIP_MEMORY_TYPE_5_MANAGED},
		[6] = {TS_HIP_MEMORY_TYPE_DEVICE, TS_HIP_MEMORY_TYPE_HOST,
		       TS_HIP_MEMORY_TYPE_MANAGED},
		[7] = {TS_HIP_MEMORY_TYPE_DEVICE, TS_HIP_MEMORY_TYPE_HOST,
		       TS_HIP_MEMORY_TYPE_MANAGED},
	};
	const int32_t *type = types[HIP_MAJOR];
	struct ts_hip_pointer_attributes attributes;
	int32_t one = -1, another = -1, number = TS_HIP_POINTER_ATTRIBUTE_MEMORY_TYPE;
	void *device, *host, *managed, *data = &another;

	ok(hipMalloc(&device, 64));
	ok(hipHostMalloc(&host, 64, 0));
	ok(hipMallocManaged(&managed, 64, TS_HIP_MEM_ATTACH_GLOBAL));
	ok(hipPointerGetAttributes(&attributes, device));
	ts_check_int(attributes.type, type[0]);
	ok(hipPointerGetAttributes(&attributes, host));
	ts_check_int(attributes.type, type[1]);
	ok(hipPointerGetAttributes(&attributes, managed));
	ts_check_int(attributes.type, type[2]);
	ok(hipPointerGetAttribute(&one, number, host));
	ts_check_int(one, type[1]);
	ok(hipDrvPointerGetAttributes(1, &number, &data, device));
	ts_check_int(another, type[0]);
	ts_check_int(hipPointerGetAttributes(&attributes, &one),
		     HIP_MAJOR == 5 ? TS_HIP_ERROR_INVALID_VALUE : TS_HIP_SUCCESS);
}

/* Two copies with the layout of the release, to the device and back. */
TS_TEST(copies_in_three_dimensions)
{
	uint8_t in[64], out[64] = {0};
	void *device;
#if HIP_MAJOR == 5
	struct ts_hip_drv_memcpy3d_5 copy = {
		.src_memory_type = TS_HIP_MEMORY_TYPE_5_HOST,
		.dst_memory_type = TS_HIP_MEMORY_TYPE_5_DEVICE,
#else
	struct ts_hip_drv_memcpy3d copy = {
		.src_memory_type = TS_HIP_MEMORY_TYPE_HOST,
		.dst_memory_type = TS_HIP_MEMORY_TYPE_DEVICE,
#endif
		.src_host = in,
		.src_pitch = 8,
		.src_height = 4,
		.dst_pitch = 16,
		.dst_height = 4,
		.width_in_bytes = 8,
		.height = 4,
		.depth = 2,
	};

	for (uint8_t i = 0; i < 64; i++)
		in[i] = i;
	ok(hipMalloc(&device, 256));
	copy.dst_device = device;
	ok(hipDrvMemcpy3D((const void *)&copy));
	ok(hipMemcpy2D(out, 8, device, 16, 8, 8, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ts_check(!memcmp(in, out, 64));
}

TS_TEST(last_error)
{
	void *memory, *event;

	want(OUT_OF_MEMORY, hipMalloc(&memory, (size_t)1 << 50));
	ok(hipSetDevice(0));
	/* Up to ROCm 6, a call that succeeds sets the last error to success. */
	ts_check_int(hipPeekAtLastError(),
		     HIP_MAJOR >= 7 ? TS_HIP_ERROR_OUT_OF_MEMORY : TS_HIP_SUCCESS);
	ts_check_int(hipGetLastError(),
		     HIP_MAJOR >= 7 ? TS_HIP_ERROR_OUT_OF_MEMORY : TS_HIP_SUCCESS);
	ts_check_int(hipGetLastError(), TS_HIP_SUCCESS);
	want(INVALID_VALUE, hipMalloc(NULL, 1));
#if HIP_MAJOR >= 6
	ok(hipEventCreate(&event));
	ts_check_int(hipExtGetLastError(), TS_HIP_SUCCESS);
	ok(hipEventDestroy(event));
#else
	(void)event;
#endif
	ts_check_int(hipGetLastError(),
		     HIP_MAJOR >= 6 && HIP_MAJOR < 7 ? TS_HIP_SUCCESS : TS_HIP_ERROR_INVALID_VALUE);
}

#if HIP_MAJOR >= 7
TS_TEST(functions_since_6_3)
{
	static const char saxpy_stub;
	void *bundle = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx), *module, *function, *event, *stream;
	void *arguments[4], *graph, *exec, *pointer;
	uint32_t n = N, count = 0;
	uint64_t id = 0, flags = 9;
	float *x, *y, a = 2, host[N];
	struct ts_hip_launch_config config = {.grid_dim = GRID, .block_dim = BLOCK};
	struct ts_hip_drv_launch_config drv = {(N + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, NULL, 0};
	int32_t status = -1;

	for (uint32_t i = 0; i < N; i++)
		host[i] = (float)i;
	register_kernel(bundle, &saxpy_stub, "saxpy");
	ok(hipMalloc((void **)&x, sizeof(host)));
	ok(hipMalloc((void **)&y, sizeof(host)));
	ok(hipMemcpy(x, host, sizeof(host), TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipMemset(y, 0, sizeof(host)));
	arguments[0] = &n;
	arguments[1] = &a;
	arguments[2] = &x;
	arguments[3] = &y;
	ok(hipLaunchKernelExC(&config, &saxpy_stub, arguments));
	ok(hipModuleLoadFatBinary(&module, bundle));
	ok(hipModuleGetFunctionCount(&count, module));
	ts_check_int(count, 3);
	ok(hipModuleGetFunction(&function, module, "saxpy"));
	ok(hipDrvLaunchKernelEx(&drv, function, arguments, NULL));
	ok(hipMemcpy(host, y, sizeof(host), TS_HIP_MEMCPY_DEVICE_TO_HOST));
	/* y = 2 x, twice. */
	for (uint32_t i = 0; i < N; i++)
		ts_check(host[i] == 4 * (float)i);
	ok(hipMemsetD2D8(x, 16, 1, 8, 2));
	ok(hipMemsetD2D16(x, 16, 0x0202, 2, 2));
	ok(hipMemsetD2D32(x, 16, 0x03030303, 1, 1));
	ok(hipMemsetD2D8Async((char *)x + 4, 16, 4, 1, 1, NULL));
	ok(hipMemsetD2D16Async((char *)x + 6, 16, 0x0505, 1, 1, NULL));
	ok(hipMemsetD2D32Async((char *)x + 16, 16, 0x06060606, 1, 1, NULL));
	ok(hipMemcpy(host, x, 32, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ts_check(!memcmp(host, "\3\3\3\3\4\1\5\5", 8));
	ts_check(!memcmp(host + 4, "\6\6\6\6\1\1\1\1", 8));
	ok(hipStreamCreate(&stream));
	ok(hipEventCreate(&event));
	ok(hipEventRecordWithFlags(event, stream, 0));
	ok(hipEventSynchronize(event));
	ok(hipStreamGetId(stream, &id));
	ts_check(id);
	ok(hipGraphCreate(&graph, 0));
	ok(hipGraphInstantiateWithFlags(&exec, graph, 0));
	ok(hipGraphExecGetFlags(exec, &flags));
	ts_check_int(flags, 0);
	ok(hipGetDriverEntryPoint("hipMalloc", &pointer, 0, &status));
	ts_check(pointer == (void *)hipMalloc && !status);
	ok(hipExtHostAlloc(&pointer, 64, 0));
	ok(hipHostFree(pointer));
	want(NOT_SUPPORTED, hipLinkDestroy(NULL));
	free(bundle);
}
#endif

/* ---- what a tool sees ------------------------------------------------------------------------ */

static unsigned n_registered;
static size_t table_bytes;
static uint32_t table_version;
static bool has_all_functions = true;

int rocprofiler_register_library_api_table(const char *name, int (*import)(void), uint32_t version,
					   void **tables, uint64_t n_tables, void *ret_id);

__attribute__((visibility("default"))) int rocprofiler_register_library_api_table(
	const char *name, int (*import)(void), uint32_t version, void **tables, uint64_t n_tables,
	void *ret_id)
{
	struct ts_hip_dispatch_table *table = tables[0];

	ts_check_int(import(), version);
	n_registered++;
	table_version = version;
	table_bytes = table->size;
	for (size_t i = 0; i < table->size / 8 - 1; i++)
		has_all_functions = has_all_functions && table->slots[i];
	return 0;
}

TS_TEST(tables)
{
	/* Steps 3 and 14 of the table. */
	static const size_t places[] = {[5] = 0, [6] = 453, [7] = 497};
	void *memory;

	ok(hipMalloc(&memory, 64));
	ts_check_int(n_registered, places[HIP_MAJOR] ? 1 : 0);
	ts_check_int(table_bytes, places[HIP_MAJOR] * 8);
	ts_check_int(table_version,
		     places[HIP_MAJOR] ? HIP_MAJOR * 10000 + (HIP_MAJOR == 6 ? 200 : 100) : 0);
	ts_check(has_all_functions);
	ok(hipFree(memory));
}

#if HIP_MAJOR == 6
/* The library reads the spec at its load, so a program of its own starts. */
TS_TEST(release_by_the_spec)
{
	int32_t version = 0;
	void *memory;

	if (!getenv("TS_TEST_SECOND")) {
		setenv("TS_TEST_SECOND", "1", 1);
		setenv("TRACESMITH_VGPU", "mi300:2,hip=6.1", 1);
		execl("/proc/self/exe", "test", "release_by_the_spec", NULL);
	}
	ok(hipRuntimeGetVersion(&version));
	ts_check_int(version, 60100000);
	ok(hipMalloc(&memory, 64));
	ts_check_int(n_registered, 0);
}
#endif

/* ---- the tracer ------------------------------------------------------------------------------ */

#if !IS_OLD
static unsigned n_entered, n_exited, n_records;
static uint64_t id_of_record;

static void on_enter(uint32_t op, struct ts_hip_api_trace_data *data)
{
	n_entered++;
}

static void on_exit_(uint32_t op, struct ts_hip_api_trace_data *data)
{
	n_exited++;
}

static int on_event(uint32_t domain, uint32_t op, void *data)
{
	const size_t off = HIP_MAJOR == 5 ? TS_HIP_API_PHASES_OFF_5 : TS_HIP_API_PHASES_OFF_6;
	struct ts_hip_api_phases *phases = (struct ts_hip_api_phases *)((char *)data + off);

	if (domain == TS_HIP_ACTIVITY_DOMAIN_API) {
		*(uint64_t *)data = 4711;
		phases->phase_enter = on_enter;
		phases->phase_exit = on_exit_;
	} else if (data) {
		id_of_record = ((const struct ts_hip_activity_record *)data)->correlation_id;
		n_records++;
	}
	return 0;
}

TS_TEST(tracer)
{
	void *memory;

	ok(hipMalloc(&memory, 64));
	hipRegisterTracerCallback((void *)(uintptr_t)on_event);
	ok(hipMemset(memory, 1, 64));
	ok(hipDeviceSynchronize());
	hipRegisterTracerCallback(NULL);
	ts_check(n_entered == 2 && n_exited == 2);
	ts_check_int(n_records, 1);
	ts_check_int(id_of_record, 4711);
}
#else
static uint64_t n_commands, n_finished, n_asked, last_number;
static struct ts_hip_activity_record last_record;

static void on_command(uint64_t number)
{
	ts_check(number == n_commands);
	n_commands++;
}

static void on_finished(uint32_t op, void *data, void *arg)
{
	ts_check(arg == &n_finished);
	last_record = *(const struct ts_hip_activity_record *)data;
	ts_check_int(op, last_record.op);
	last_number = last_record.correlation_id;
	n_finished++;
}

static void *on_call(uint32_t id, void *record, const void *data, void *arg)
{
	n_asked++;
	return NULL;
}

TS_TEST(activity_callbacks)
{
	void *memory, *event;
	char host[64];

	ok(hipMalloc(&memory, 64));
	hipInitActivityCallback((void *)(uintptr_t)on_command, (void *)(uintptr_t)on_finished,
				&n_finished);
	ts_check(hipEnableActivityCallback(TS_HIP_ACTIVITY_OP_COPY, true));
	ts_check(!hipEnableActivityCallback(3, true));
	/* No call is traced yet: no times. */
	ok(hipMemset(memory, 1, 64));
	ok(hipDeviceSynchronize());
	ts_check(n_commands == 1 && n_finished == 1);
	ts_check(!last_record.begin_ns && last_record.kind == TS_HIP_COMMAND_FILL_BUFFER);
	want(INVALID_VALUE, hipRegisterActivityCallback(0, (void *)(uintptr_t)on_call, NULL));
	ok(hipRegisterActivityCallback(TS_HIP_API_ID_hipMemcpy, (void *)(uintptr_t)on_call, NULL));
	ok(hipMemcpy(host, memory, 64, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ok(hipDeviceSynchronize());
	ts_check(n_asked == 1 && n_commands == 2 && n_finished == 2);
	ts_check(last_record.kind == TS_HIP_COMMAND_READ_BUFFER && last_number == 1);
	ts_check(last_record.begin_ns && last_record.end_ns > last_record.begin_ns);
	ts_check(!last_record.bytes);
	/* The marker of an event is a copy, too. */
	ok(hipEventCreate(&event));
	ok(hipEventRecord(event, NULL));
	ok(hipDeviceSynchronize());
	ts_check(n_finished == 3 && last_record.kind == TS_HIP_COMMAND_MARKER);
	ok(hipRemoveActivityCallback(TS_HIP_API_ID_hipMemcpy));
	ts_check(hipEnableActivityCallback(TS_HIP_ACTIVITY_OP_COPY, false));
	ok(hipMemset(memory, 1, 64));
	ok(hipDeviceSynchronize());
	ts_check_int(n_finished, 3);
}

/* A traced call: the tool's data at its entry, then twice the function for its phases. */
static struct ts_hip_api_trace_data call_data;
static unsigned phases[2];

static void *on_traced(uint32_t id, void *record, const void *data, void *arg)
{
	call_data.phase = 0;
	return &call_data;
}

static void on_phase(uint32_t domain, uint32_t id, const void *data, void *arg)
{
	ts_check_int(domain, TS_HIP_ACTIVITY_DOMAIN_API);
	ts_check_int(id, TS_HIP_API_ID_hipMemset);
	ts_check(data == &call_data && arg == phases);
	phases[call_data.phase]++;
}

TS_TEST(traced_calls)
{
	void *memory;

	ok(hipMalloc(&memory, 64));
	ok(hipRegisterApiCallback(TS_HIP_API_ID_hipMemset, (void *)(uintptr_t)on_phase, phases));
	ok(hipRegisterActivityCallback(TS_HIP_API_ID_hipMemset, (void *)(uintptr_t)on_traced,
				       NULL));
	ok(hipMemset(memory, 1, 64));
	ts_check(phases[0] == 1 && phases[1] == 1);
	ok(hipRemoveApiCallback(TS_HIP_API_ID_hipMemset));
	ok(hipMemset(memory, 1, 64));
	ts_check(phases[0] == 1 && phases[1] == 1);
}

TS_TEST(types_of_graph_nodes)
{
	void *graph, *node;
	int32_t type = -1;

	ok(hipGraphCreate(&graph, 0));
	ok(hipGraphAddEmptyNode(&node, graph, NULL, 0));
	ok(hipGraphNodeGetType(node, &type));
	/* 5 since 5.3. */
	ts_check_int(type, 6);
}
#endif
