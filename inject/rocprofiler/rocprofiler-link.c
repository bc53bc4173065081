/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's side of rocprofiler-sdk. hip-register.c, hip-calls.c, hip-session.c and flush.c call
 * this file. It loads libtsinject-rocprofiler.so (rocprofiler-tool.c), which calls deliver() here
 * on a thread of the SDK. This file calls hip-rows.c and flush-request.c.
 *
 * The SDK finds tools by the global name rocprofiler_configure, and librocprofiler-register then
 * calls the SDK. Both libraries are therefore loaded with RTLD_GLOBAL, and no variable is set: a
 * child process inherits nothing. The tool comes last in the SDK's order, so other tools keep the
 * priority that they have without the shim.
 *
 * The tool stands aside if the process's tables go to another library than the SDK, or if the SDK
 * was configured before: it then takes no tool any more.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "inject/annotate/annotation-names.h"
#include "inject/context.h"
#include "inject/hip/hip-recorder.h"
#include "inject/ring/ring-session.h"
#include "inject/rocprofiler/rocprofiler-interface.h"
#include "inject/rocprofiler/rocprofiler-link.h"
#include "inject/shim-debug.h"
#include "proto/abi/vendor/hip.h"

#define TOOL_LIBRARY	   "libtsinject-rocprofiler.so"
#define SETTING		   "TRACESMITH_ROCPROFILER"
#define REGISTER_VARIABLE  "ROCPROFILER_REGISTER_LIBRARY"
#define SDK_NAME	   "librocprofiler-sdk.so"
#define LAST_TRACER_MAJOR  7u /* of HIP: its call records are known (hip-rows.c) */
#define FLUSH_NS	   UINT64_C(1000000000)
#define CLOCK_TOLERANCE_NS UINT64_C(1000000)

/* Kernels of AMD's runtime that carry out its copies and sets. */
#define RUNTIME_FILLS  "__amd_rocclr_fill"
#define RUNTIME_COPIES "__amd_rocclr_copy"

/* ---- what the tool calls --------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *prefix)
{
	return text && !strncmp(text, prefix, strlen(prefix));
}

/* The commands of AMD's runtime that are copies in these directions; 0: not known. */
static uint32_t command_of(uint32_t operation)
{
	switch (operation) {
	case TS_ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE:
		return TS_HIP_COMMAND_WRITE_BUFFER;
	case TS_ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST:
		return TS_HIP_COMMAND_READ_BUFFER;
	case TS_ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE:
		return TS_HIP_COMMAND_COPY_BUFFER;
	default:
		return 0;
	}
}

static void deliver(const struct ts_rocprofiler_work *work, const char *kernel_name)
{
	struct ts_hip_dispatch finished = {
		.record = {.domain = TS_HIP_DOMAIN_SDK,
			   .op = TS_HIP_ACTIVITY_OP_COPY,
			   .correlation_id = work->op_id,
			   .begin_ns = work->start_ns,
			   .end_ns = work->end_ns},
	};

	if (work->kind == TS_ROCPROFILER_COPY) {
		finished.record.kind = command_of(work->operation);
		finished.record.bytes = work->bytes;
	} else if (begins_with(kernel_name, RUNTIME_FILLS)) {
		finished.record.kind = TS_HIP_COMMAND_FILL_BUFFER;
	} else if (begins_with(kernel_name, RUNTIME_COPIES)) {
		finished.record.kind = TS_HIP_COMMAND_COPY_BUFFER;
	} else {
		finished.record.op = TS_HIP_ACTIVITY_OP_DISPATCH;
		finished.record.kernel_name = kernel_name;
		memcpy(finished.grid, work->grid, sizeof(finished.grid));
		memcpy(finished.block, work->block, sizeof(finished.block));
	}
	ts_hip_deliver(&finished.record);
}

static void count(uint32_t reason, uint64_t n)
{
	/* A forked child finds a wiped page. */
	const struct ts_gate *gate = __atomic_load_n(&ts_shim.gate, __ATOMIC_ACQUIRE);

	if (gate && __atomic_load_n(&gate->annotations, __ATOMIC_RELAXED) != TS_GATE_CLOSED &&
	    __atomic_load_n(&ts_shim.hip.started, __ATOMIC_ACQUIRE))
		ts_session_count(ts_shim.control, (enum ts_loss_reason)reason, n);
}

static const struct ts_rocprofiler_shim functions = {
	.interface = TS_ROCPROFILER_INTERFACE,
	.current_op = ts_hip_current_op,
	.deliver = deliver,
	.count = count,
};

/* ---- loading --------------------------------------------------------------------------------- */

/* The reason why the SDK is there and gives no times. The first one stays. */
static void give_up(const char *format, const char *what)
{
	char *problem = ts_loaded.rocprofiler.problem;

	if (!*problem)
		snprintf(problem, sizeof(ts_loaded.rocprofiler.problem), format, what);
}

/* Returns a handle of the library that a function belongs to; the caller keeps it. */
static void *library_of(const void *function)
{
	Dl_info info;

	return dladdr(function, &info) && info.dli_fname
		       ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD)
		       : NULL;
}

/* Loads the SDK: a loaded copy, or the one beside the runtime, or the one that the loader finds. */
static void *load_sdk(const char *runtime_path)
{
	static const char *const endings[] = {"", ".1", ".0"};
	void *sdk = dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");
	char path[PATH_MAX], folder[PATH_MAX];

	if (sdk)
		return library_of(sdk);
	for (size_t i = 0; !sdk && i < TS_ARRAY_LEN(endings); i++) {
		snprintf(path, sizeof(path), SDK_NAME "%s", endings[i]);
		sdk = dlopen(path, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
	}
	snprintf(folder, sizeof(folder), "%s", runtime_path);
	if (strchr(folder, '/'))
		*strrchr(folder, '/') = '\0';
	else
		*folder = '\0';
	for (size_t i = 0; !sdk && *folder && i < TS_ARRAY_LEN(endings); i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s/" SDK_NAME "%s", folder, endings[i]) <
		    sizeof(path))
			sdk = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
	}
	for (size_t i = 0; !sdk && i < TS_ARRAY_LEN(endings); i++) {
		snprintf(path, sizeof(path), SDK_NAME "%s", endings[i]);
		sdk = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
	}
	return sdk;
}

static bool is_off(void)
{
	const char *text = secure_getenv(SETTING);

	return text && !strcmp(text, "0");
}

/* True if a variable names another library that receives the tables. */
static bool is_register_library_other(void)
{
	const char *path = secure_getenv(REGISTER_VARIABLE), *name;

	if (!path || !*path)
		return false;
	name = strrchr(path, '/');
	return strncmp(name ? name + 1 : path, SDK_NAME, strlen(SDK_NAME)) != 0;
}

/* Loads the tool, which is beside the shim. */
static void load_tool(void *sdk)
{
	ts_rocprofiler_open_fn open = NULL;
	const char *missing = NULL;
	char path[PATH_MAX + sizeof(TOOL_LIBRARY)];
	void *tool;

	snprintf(path, PATH_MAX, "%s", ts_library.path);
	if (!strchr(path, '/'))
		return;
	strcpy(strrchr(path, '/') + 1, TOOL_LIBRARY);
	tool = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (tool)
		*(void **)&open = dlsym(tool, TS_ROCPROFILER_OPEN);
	if (!open) {
		give_up("%s cannot be loaded", TOOL_LIBRARY);
		return;
	}
	ts_loaded.rocprofiler.library = open(&functions, sdk, &missing);
	if (!ts_loaded.rocprofiler.library)
		give_up("the library lacks %s()", missing);
}

/* True if librocprofiler-register will configure the SDK for another tool. */
static bool is_tool_present(void)
{
	static const char *const variables[] = {"ROCP_TOOL_LIBRARIES", REGISTER_VARIABLE,
						"ROCPROFILER_REGISTER_FORCE_LOAD"};
	const char *value;

	for (size_t i = 0; i < TS_ARRAY_LEN(variables); i++) {
		value = secure_getenv(variables[i]);
		if (value && *value)
			return true;
	}
	return dlsym(RTLD_DEFAULT, "rocprofiler_configure") != NULL;
}

/*
 * Returns a handle of the runtime of HIP, which the caller closes: of the one that registers, or of
 * a loaded one. NULL: none.
 */
static void *find_runtime(const void *function)
{
	static const char *const names[] = {"libamdhip64.so.8", "libamdhip64.so.7",
					    "libamdhip64.so.6"};
	void *runtime = NULL;

	if (function)
		return ts_hip_library(function);
	for (size_t i = 0; !runtime && i < TS_ARRAY_LEN(names); i++)
		runtime = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
	return runtime;
}

/* Loads the SDK and the tool, or stores the reason for not doing so. */
static void load(const char *runtime_path)
{
	int (*is_initialized)(int *) = NULL;
	int status = 0;
	void *sdk;

	if (is_off()) {
		give_up("%s is 0", SETTING);
		return;
	}
	if (is_register_library_other()) {
		give_up("%s names another library", REGISTER_VARIABLE);
		return;
	}
	sdk = load_sdk(runtime_path);
	if (!sdk)
		return;
	*(void **)&is_initialized = dlsym(sdk, "rocprofiler_is_initialized");
	*(void **)&ts_loaded.rocprofiler.set_table = dlsym(sdk, "rocprofiler_set_api_table");
	if (!is_initialized || !ts_loaded.rocprofiler.set_table)
		give_up("%s", "another tool receives HIP's tables");
	else if (is_initialized(&status) || status != TS_ROCPROFILER_NOT_INITIALIZED)
		give_up("%s", "another tool configured the library before HIP was loaded");
	else if (ts_loaded.rocprofiler.hsa_came)
		give_up("%s", "the program started HSA before HIP");
	else
		load_tool(sdk);
}

void ts_rocprofiler_prepare(const char *name, const void *function, uint32_t version)
{
	const bool is_hip = name && !strcmp(name, TS_HIP_TABLE_NAME);
	struct link_map *map;
	void *runtime;
	bool is_needed;

	/*
	 * The SDK takes tools when it gets its first table. If it gets one for another tool, that
	 * may be any table. Otherwise it gets HIP's, of a process with a session.
	 */
	if (ts_loaded.rocprofiler.prepared ||
	    (is_hip ? !__atomic_load_n(&ts_shim.hip.started, __ATOMIC_ACQUIRE)
		    : !is_tool_present()))
		return;
	runtime = find_runtime(function);
	if (!runtime)
		return;
	ts_loaded.rocprofiler.prepared = true;
	is_needed = (function && version / 10000 > LAST_TRACER_MAJOR) ||
		    !dlsym(runtime, "hipRegisterTracerCallback");
	if (is_needed && !dlinfo(runtime, RTLD_DI_LINKMAP, &map))
		load(map->l_name);
	dlclose(runtime);
}

void ts_rocprofiler_passed(const char *name, uint32_t version, void **tables, uint64_t n_tables,
			   bool passed)
{
	const struct ts_rocprofiler_library *library = ts_loaded.rocprofiler.library;
	const bool is_hsa = name && !strcmp(name, "hsa");

	if (!library) {
		ts_loaded.rocprofiler.hsa_came |= is_hsa;
		return;
	}
	if (!passed && name && tables && n_tables)
		(void)ts_loaded.rocprofiler.set_table(name, version, 0, tables, n_tables);
	if (library->state() == TS_ROCPROFILER_WAITING)
		give_up("%s", "librocprofiler-register passed HIP's table to no tool");
}

/* ---- the session ----------------------------------------------------------------------------- */

/*
 * Reads the difference of the SDK's clock to CLOCK_MONOTONIC. The clock is CLOCK_BOOTTIME, which
 * hip-rows.c knows, with CLOCK_MONOTONIC beside it. Another clock has this difference.
 */
static void read_clock(struct ts_shim *shim, const struct ts_rocprofiler_library *library)
{
	uint64_t before, time, difference, known;

	ts_hip_read_clocks(shim);
	known = shim->hip.ahead_ns;
	before = ts_clock_monotonic_ns();
	time = library->now();
	difference = time - before;
	if (time && difference - known + CLOCK_TOLERANCE_NS > 2 * CLOCK_TOLERANCE_NS &&
	    difference + CLOCK_TOLERANCE_NS > 2 * CLOCK_TOLERANCE_NS)
		shim->hip.ahead_ns = difference;
}

bool ts_rocprofiler_attach(struct ts_shim *shim)
{
	const struct ts_rocprofiler_library *library = ts_loaded.rocprofiler.library;
	char note[256];

	if (library && library->state() == TS_ROCPROFILER_RUNNING) {
		read_clock(shim, library);
		return true;
	}
	if (library && library->state() == TS_ROCPROFILER_FAILED)
		give_up("%s", library->problem());
	if (*ts_loaded.rocprofiler.problem) {
		snprintf(note, sizeof(note), "no times of the GPU's work by rocprofiler-sdk: %s",
			 ts_loaded.rocprofiler.problem);
		ts_debug(&shim->config, "%s", note);
		ts_names_note(shim, note);
	}
	return false;
}

void ts_rocprofiler_returned(struct ts_shim *shim, int32_t result)
{
	if (ts_unlikely(result))
		ts_flush_after_error(&shim->flush, result);
	else if (ts_unlikely(__atomic_load_n(&shim->hip.dirty, __ATOMIC_RELAXED) != TS_DIRTY))
		ts_flush_notify(&shim->flush, &shim->hip.dirty);
}

void ts_rocprofiler_flush(struct ts_shim *shim, bool all)
{
	const struct ts_rocprofiler_library *library = ts_loaded.rocprofiler.library;
	uint64_t now;

	if (!library || __atomic_load_n(&shim->hip.attached, __ATOMIC_ACQUIRE) != TS_HIP_ATTACHED ||
	    shim->hip.traced != TS_INTERFACE_ROCPROFILER_SDK)
		return;
	now = ts_clock_monotonic_ns();
	/* Cleared first: work submitted during the flush requests the next one. */
	if (!__atomic_exchange_n(&shim->hip.dirty, TS_DIRTY_NOT, __ATOMIC_ACQ_REL) && !all &&
	    now < shim->hip.flush_at_ns)
		return;
	shim->hip.flush_at_ns = now + FLUSH_NS;
	library->flush();
}
