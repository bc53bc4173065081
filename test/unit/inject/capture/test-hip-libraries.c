/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures calls of HIP 7.2, which the virtual GPU does not have: libraries and their kernels. The
 * calls become the operations of CUDA's like calls. The runtime is absent, so each query fails.
 */
#include "inject/capture/hip/hip-capture.h"
#include "inject/context.h"
#include "inject/hip/hip-slots.h"
#include "proto/abi/capture-config.h"
#include "proto/abi/handshake.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"
#include "test/unit/harness.h"
#include "test/unit/inject/session-fixture.h"

#define CALL(name, params) call(TS_HIP_CALL_##name, params)

static struct ts_shim *const shim = &ts_shim;
static struct fixture fixture;

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			  ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n\tret;\n}\n";

/* Addresses stand for handles. */
static char handles[4];
static void *library = &handles[0], *kernel = &handles[1];

static void begin(void)
{
	fixture_init_lane(&fixture, 4, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES, TS_LANE_MIN_BYTES);
	fixture.gate.served = 1;
	shim->control = fixture.memory.control;
	shim->definitions = fixture.definitions;
	shim->producer = fixture.producer;
	shim->producer.definitions = &shim->definitions;
	shim->link.memory = fixture.memory;
	shim->config.capture.max_bytes = TS_CAPTURE_BYTES;
	ts_hip_capture_start(shim);
	ts_check(shim->capture.hip.is_used);
}

/* A call that succeeds, on device 0. Each has an operation id of its own. */
static void call(uint32_t id, const void *params)
{
	ts_tls.call.depth = 1;
	ts_tls.call.op_id++;
	ts_hip_capture_enter(shim, id, params, 0);
	ts_hip_capture_leave(shim, id, params, 0, 0);
	ts_tls.call.depth = 0;
}

/* Returns the i-th operation in the lane. */
static const struct ts_record_operation *operation(uint32_t i)
{
	const struct ts_shard *lane =
		(const void *)((const uint8_t *)fixture.control + fixture.control->lane_off);
	const struct ts_record *record;

	for (uint32_t at = 0; (record = fixture_record_of(lane, at)); at++)
		if (record->type == TS_RECORD_OPERATION && !i--)
			return (const struct ts_record_operation *)record;
	ts_check(!"an operation");
	return NULL;
}

static const struct ts_record_operation *expect(uint32_t i, uint32_t kind, const void *object)
{
	const struct ts_record_operation *found = operation(i);

	ts_check_int(found->kind, kind);
	ts_check_int(found->object, (uint64_t)(uintptr_t)object);
	return found;
}

/* Launches a kernel. Returns the operation. */
static const struct ts_record_operation *launch_of(uint32_t i, void *function)
{
	uint64_t pointer = 64;
	uint32_t n = 7;
	void *arguments[] = {&pointer, &n};
	const struct hipModuleLaunchKernel_params launch = {.func = function,
							    .grid_dim_x = 1,
							    .grid_dim_y = 1,
							    .grid_dim_z = 1,
							    .block_dim_x = 1,
							    .block_dim_y = 1,
							    .block_dim_z = 1,
							    .kernel_params = arguments};

	CALL(hipModuleLaunchKernel, &launch);
	return operation(i);
}

TS_TEST(libraries)
{
	const struct hipLibraryLoadData_params load = {.library = &library, .code = ptx};
	const struct hipLibraryGetKernel_params get = {&kernel, library, "add"};
	const struct hipLibraryUnload_params unload = {library};

	begin();
	CALL(hipLibraryLoadData, &load);
	CALL(hipLibraryGetKernel, &get);
	/* The layout of the arguments is known from the library's code: 8 bytes and 4. */
	ts_check_int(launch_of(3, kernel)->bytes, 12);
	CALL(hipLibraryUnload, &unload);
	(void)expect(0, TS_OPERATION_CONTEXT_CREATE, (void *)1);
	ts_check(expect(1, TS_OPERATION_MODULE_LOAD, library)->content);
	ts_check_int(expect(2, TS_OPERATION_FUNCTION, kernel)->parent,
		     (uint64_t)(uintptr_t)library);
	(void)expect(3, TS_OPERATION_LAUNCH, kernel);
	(void)expect(4, TS_OPERATION_MODULE_UNLOAD, library);
	fixture_deinit(&fixture);
}

/* A kernel with 8 bytes and 4. Only the last handle is a kernel of the runtime. */
static int32_t param_info(void *function, size_t index, size_t *offset, size_t *bytes)
{
	if (function != &handles[3])
		return 98;
	if (index > 1)
		return 1;
	*offset = 8 * index;
	*bytes = 8 - 4 * index;
	return 0;
}

static int32_t function_of_symbol(void **ret, const void *symbol)
{
	if (symbol != &handles[2])
		return 98;
	*ret = &handles[3];
	return 0;
}

/* A bundle's head, version 2: its size, and that of the uncompressed bundle. */
static const uint32_t compressed[8] = {0x424f4343, 2, 32, 4096};

TS_TEST(arguments_of_compressed_code)
{
	static const struct ts_hip_fat_binary_wrapper wrapper = {TS_HIP_FAT_BINARY_MAGIC,
								 TS_HIP_FAT_BINARY_VERSION,
								 compressed, NULL};
	const struct hipLibraryLoadData_params load = {.library = &library, .code = compressed};
	void *of_library = &handles[3];
	const struct hipLibraryGetKernel_params get = {&of_library, library, "add"};

	begin();
	ts_hip_code_register(&ts_loaded.hip.codes, &wrapper, &handles[1]);
	ts_hip_code_add_function(&ts_loaded.hip.codes, &handles[2], &handles[1], "mul");
	CALL(hipLibraryLoadData, &load);
	CALL(hipLibraryGetKernel, &get);
	/* This runtime reports no arguments. */
	ts_check_int(launch_of(3, of_library)->kind, TS_OPERATION_UNSUPPORTED);
	ts_loaded.hip.next[TS_HIP_SLOT_hipKernelGetParamInfo] = (void *)(uintptr_t)param_info;
	CALL(hipLibraryGetKernel, &get);
	ts_check_int(launch_of(5, of_library)->kind, TS_OPERATION_LAUNCH);
	ts_check_int(operation(5)->bytes, 12);
	/* A host function of the program, whose code is loaded at its launch. */
	ts_loaded.hip.next[TS_HIP_SLOT_hipGetFuncBySymbol] = (void *)(uintptr_t)function_of_symbol;
	(void)launch_of(6, &handles[2]);
	ts_check_int(operation(6)->kind, TS_OPERATION_MODULE_LOAD);
	ts_check_int(operation(7)->kind, TS_OPERATION_FUNCTION);
	ts_check_int(expect(8, TS_OPERATION_LAUNCH, &handles[2])->bytes, 12);
	fixture_deinit(&fixture);
}

TS_TEST(library_from_a_file)
{
	char path[] = "/tmp/ts-library-XXXXXX";
	const struct hipLibraryLoadFromFile_params load = {.library = &library, .file_name = path};
	int fd = mkstemp(path);

	ts_check(fd >= 0 && write(fd, ptx, sizeof(ptx) - 1) == (ssize_t)sizeof(ptx) - 1);
	close(fd);
	begin();
	CALL(hipLibraryLoadFromFile, &load);
	unlink(path);
	ts_check(expect(1, TS_OPERATION_MODULE_LOAD, library)->content);
	fixture_deinit(&fixture);
}

TS_TEST(variables)
{
	void *address = (void *)0x10000;
	size_t n_bytes = 24;
	const struct hipLibraryGetGlobal_params get = {&address, &n_bytes, library, "addend"};

	begin();
	CALL(hipLibraryGetGlobal, &get);
	ts_check_int(operation(1)->kind, TS_OPERATION_VARIABLE);
	ts_check_int(operation(1)->dst, 0x10000);
	ts_check_int(operation(1)->bytes, 24);
	ts_check_int(operation(1)->parent, (uint64_t)(uintptr_t)library);
	/* A managed variable of AMD is a pointer to memory of its own. */
	CALL(hipLibraryGetManaged, &get);
	ts_check_int(operation(2)->kind, TS_OPERATION_UNSUPPORTED);
	fixture_deinit(&fixture);
}
