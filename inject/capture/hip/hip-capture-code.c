/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows device code for the capture: which code a function belongs to, and the layout of its
 * arguments. HIP reports no layouts before 7.2, so they come from the code itself: from PTX, or
 * from the metadata of AMD's code. The runtime is asked about code that cannot be read here.
 * hip-capture-calls.c and hip-capture-graphs.c call this file, with the lane's lock held. This file
 * calls the files that read arguments, and hip/hip-code.c.
 *
 * A program may free a module's image once it is loaded. So the part that describes the kernels is
 * copied. Code that the program registers has its image as long as it is registered.
 */
#include "inject/capture/hip/hip-capture.h"

#include "inject/context.h"
#include "inject/hip/hip-slots.h"
#include "proto/abi/amdmetadata.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define DRIVER(name) TS_CUPTI_DRIVER_CBID_##name

/* Results of ts_hip_capture_argument(), as the driver's. */
#define NO_ARGUMENT 1
#define NOT_KNOWN   801

enum kind {
	KIND_NONE = 0, /* no description of kernels in it that can be read */
	KIND_PTX,
	KIND_METADATA,
};

struct hip_code {
	struct ts_pages text;
	size_t n_bytes;
	enum kind kind;
	uint32_t registered; /* number of the registered code that was put; 0: a module */
};

struct hip_function {
	uint32_t code;	     /* number of its code, from 1 */
	uint32_t name_off;   /* in `names` */
	uint32_t registered; /* number of the registered code; 0: of a module */
};

static struct hip_code *code_of(struct ts_capture_hip *hip, const void *handle)
{
	uint32_t *number = ts_handles_get(&hip->code_numbers, (uint64_t)(uintptr_t)handle);

	if (!number)
		return NULL;
	if (!*number) {
		if (!ts_pages_grow(&hip->codes, (hip->n_codes + 1) * sizeof(struct hip_code)))
			return NULL;
		*number = (uint32_t)++hip->n_codes;
	}
	return &((struct hip_code *)(void *)hip->codes.at)[*number - 1];
}

static uint32_t number_of(const struct ts_capture_hip *hip, const struct hip_code *code)
{
	return (uint32_t)(code - (const struct hip_code *)(const void *)hip->codes.at) + 1;
}

static struct hip_function *function_of(struct ts_capture_hip *hip, const void *handle)
{
	uint32_t *number = ts_handles_get(&hip->function_numbers, (uint64_t)(uintptr_t)handle);

	if (!number)
		return NULL;
	if (!*number) {
		if (!ts_pages_grow(&hip->functions,
				   (hip->n_functions + 1) * sizeof(struct hip_function)))
			return NULL;
		*number = (uint32_t)++hip->n_functions;
	}
	return &((struct hip_function *)(void *)hip->functions.at)[*number - 1];
}

/* ---- descriptions ---- */

/* The description of the kernels, and the code that it describes. */
struct part {
	const uint8_t *bytes;
	size_t n_bytes;
	enum kind kind;
	const uint8_t *code;
	size_t n_code;
};

static struct part part_of_text(const uint8_t *text, size_t n_bytes)
{
	return (struct part){text, n_bytes, KIND_PTX, text, n_bytes};
}

static struct part part_of_elf(const uint8_t *elf, size_t n_bytes)
{
	struct part part = {.kind = KIND_METADATA, .code = elf, .n_code = n_bytes};

	if (ts_amd_elf_metadata(elf, n_bytes, &part.bytes, &part.n_bytes))
		part.kind = KIND_NONE;
	return part;
}

/* Takes the entry with PTX, else the first one of AMD: arguments do not depend on the target. */
static struct part part_of_bundle(const uint8_t *bundle, size_t n_bytes)
{
	struct part part = {0};
	struct ts_amd_entry entry;
	uint64_t i = 0;
	size_t at = 0;

	while (ts_amd_bundle_next(bundle, n_bytes, &at, &i, &entry)) {
		const uint8_t *bytes = bundle + entry.offset;

		if (!entry.n_bytes || !ts_amd_fits(entry.offset, entry.n_bytes, n_bytes) ||
		    !ts_hip_code_can_read(bytes, entry.n_bytes))
			continue;
		if (ts_amd_is_ptx(&entry))
			return part_of_text(bytes, entry.n_bytes);
		if (!part.kind && memmem(entry.id, entry.n_id, TS_AMD_IDS, strlen(TS_AMD_IDS)))
			part = part_of_elf(bytes, entry.n_bytes);
	}
	return part;
}

static struct part part_of(const uint8_t *image, size_t n_bytes)
{
	if (n_bytes < SELFMAG)
		return (struct part){0};
	if (ts_amd_is_bundle(image, n_bytes))
		return part_of_bundle(image, n_bytes);
	if (!memcmp(image, ELFMAG, SELFMAG))
		return part_of_elf(image, n_bytes);
	if (!memcmp(image, TS_HIP_BUNDLE_COMPRESSED_MAGIC, strlen(TS_HIP_BUNDLE_COMPRESSED_MAGIC)))
		return (struct part){0};
	return part_of_text(image, n_bytes);
}

void ts_hip_capture_code(struct ts_capture *capture, const void *module, const void *image,
			 size_t n_bytes)
{
	struct hip_code *code = code_of(&capture->hip, module);
	struct part part = {0};

	if (!code)
		return;
	ts_pages_free(&code->text);
	*code = (struct hip_code){0};
	if (image && n_bytes)
		part = part_of(image, n_bytes);
	ts_window_code(capture, part.code, part.n_code);
	if (!part.kind || !ts_pages_grow(&code->text, part.n_bytes + 1))
		return;
	memcpy(code->text.at, part.bytes, part.n_bytes);
	code->n_bytes = part.n_bytes;
	code->kind = part.kind;
}

void ts_hip_capture_code_drop(struct ts_capture *capture, const void *module)
{
	ts_hip_capture_code(capture, module, NULL, 0);
}

/* ---- functions ---- */

/* Keeps a name. Returns its offset in `names`, which begins with an empty one; 0: no memory. */
static uint32_t keep_name(struct ts_capture_hip *hip, const char *name)
{
	const size_t n = strlen(name) + 1, off = hip->n_name_bytes ? hip->n_name_bytes : 1;

	if (off + n > UINT32_MAX || !ts_pages_grow(&hip->names, off + n))
		return 0;
	memcpy(hip->names.at + off, name, n);
	hip->n_name_bytes = off + n;
	return (uint32_t)off;
}

static void set_function(struct ts_capture_hip *hip, const void *handle, uint32_t code,
			 const char *name, uint32_t registered)
{
	struct hip_function *function = function_of(hip, handle);

	if (!function)
		return;
	function->code = code;
	function->registered = registered;
	/* A program may look a function up again and again. */
	if (!function->name_off ||
	    strcmp((const char *)hip->names.at + function->name_off, name) != 0)
		function->name_off = keep_name(hip, name);
}

void ts_hip_capture_function(struct ts_capture *capture, const void *function, const void *module,
			     const char *name)
{
	const struct hip_code *code = code_of(&capture->hip, module);

	if (code)
		set_function(&capture->hip, function, number_of(&capture->hip, code), name, 0);
}

void ts_hip_capture_alias(struct ts_capture *capture, const void *function, const void *of)
{
	struct ts_capture_hip *hip = &capture->hip;
	const struct hip_function *other = function_of(hip, of);
	struct hip_function copy, *own;

	if (!other)
		return;
	copy = *other;
	/* The array may move. */
	own = function_of(hip, function);
	if (own)
		*own = copy;
}

/*
 * Puts the operation that loads registered code, once. The image stands for the module: HIP shows
 * no handle. Returns the code; NULL: no memory.
 */
static struct hip_code *put_registered(struct ts_capture *capture,
				       const struct ts_record_operation *model, void *image,
				       uint32_t number)
{
	const struct ts_cu_module_load_data_params load = {&image, image};
	struct hip_code *code = code_of(&capture->hip, image);
	const void *start;
	size_t n_bytes;

	if (!code || code->registered == number)
		return code;
	n_bytes = ts_capture_image_bytes(image, &start);
	ts_capture_call(capture, DRIVER(cuModuleLoadData), &load, model);
	if (ts_hip_code_is_managed(&ts_loaded.hip.codes, image))
		ts_capture_unsupported(capture, model, "managed variables of the program's code");
	/* An image is no handle that the runtime knows. */
	ts_window_module(capture, (uint64_t)(uintptr_t)image, 0, false, false);
	ts_hip_capture_code(capture, image, start, n_bytes);
	code->registered = number;
	return code;
}

bool ts_hip_capture_has_code_of(struct ts_capture *capture, const void *symbol)
{
	const char *name;
	uint32_t number;
	const void *image = ts_hip_code_registered(&ts_loaded.hip.codes, symbol, &name, &number);
	const struct hip_code *code = image ? code_of(&capture->hip, image) : NULL;

	return code && code->registered == number;
}

void ts_hip_capture_registered(struct ts_capture *capture, const struct ts_record_operation *model,
			       const void *function)
{
	struct ts_capture_hip *hip = &capture->hip;
	const struct hip_function *known = function_of(hip, function);
	const struct hip_code *code;
	const char *name;
	uint32_t number;
	void *image = (void *)(uintptr_t)ts_hip_code_registered(&ts_loaded.hip.codes, function,
								&name, &number);
	void *handle = (void *)(uintptr_t)function;

	if (!image || !known || known->registered == number)
		return;
	code = put_registered(capture, model, image, number);
	if (!code)
		return;
	ts_capture_call(capture, DRIVER(cuModuleGetFunction),
			&(struct ts_cu_module_get_function_params){&handle, image, name}, model);
	set_function(hip, function, number_of(hip, code), name, number);
}

void ts_hip_capture_variable(struct ts_capture *capture, const struct ts_record_operation *model,
			     const void *symbol, uint64_t address, size_t n_bytes)
{
	const struct ts_memory_range *range = ts_memory_map_find(&capture->memory, address);
	const char *name;
	uint32_t number;
	void *image = (void *)(uintptr_t)ts_hip_code_registered(&ts_loaded.hip.codes, symbol, &name,
								&number);

	if (range && range->start == address)
		return;
	if (!image) {
		ts_capture_unsupported(capture, model,
				       "the address of a variable that no call registered");
		return;
	}
	if (put_registered(capture, model, image, number))
		ts_capture_call(capture, DRIVER(cuModuleGetGlobal_v2),
				&(struct ts_cu_module_get_global_params){&address, &n_bytes, image,
									 name},
				model);
}

/* ---- arguments ---- */

/* A kernel whose arguments are read from metadata. */
struct wanted {
	const char *name;
	struct ts_capture_argument *arguments;
	int n; /* -1: not found, or too many */
};

/* Takes the arguments of the kernel, without the compiler's own. */
static int take_kernel(void *userdata, const struct ts_amd_kernel *kernel)
{
	struct wanted *wanted = userdata;

	if (kernel->n_name_bytes != strlen(wanted->name) ||
	    memcmp(kernel->name, wanted->name, kernel->n_name_bytes) != 0)
		return 0;
	if (kernel->n_arguments > TS_AMD_MAX_ARGUMENTS)
		return 1;
	wanted->n = 0;
	for (uint32_t i = 0; i < kernel->n_arguments; i++)
		if (!kernel->arguments[i].is_hidden)
			wanted->arguments[wanted->n++] =
				(struct ts_capture_argument){kernel->arguments[i].offset,
							     kernel->arguments[i].bytes};
	return 1;
}

static int read_arguments(const struct ts_capture_hip *hip, const struct hip_function *function,
			  struct ts_capture_argument *ret)
{
	const struct hip_code *code =
		&((const struct hip_code *)(const void *)hip->codes.at)[function->code - 1];
	const char *name = (const char *)hip->names.at + function->name_off;

	struct wanted wanted = {.name = name, .arguments = ret, .n = -1};

	if (code->kind == KIND_PTX)
		return ts_hip_ptx_arguments((const char *)code->text.at, code->n_bytes, name, ret);
	if (code->kind == KIND_METADATA)
		(void)ts_amd_read_metadata(code->text.at, code->n_bytes, take_kernel, &wanted);
	return wanted.n;
}

/*
 * Asks the runtime, for code that cannot be read here: a compressed bundle. Runtimes before 7.2 do
 * not report arguments. The runtime knows a program's host function by another handle.
 */
static int ask_runtime(void *function, size_t index, size_t *offset, size_t *bytes)
{
	hipKernelGetParamInfo_fn *ask = ts_hip_next(hipKernelGetParamInfo);
	hipGetFuncBySymbol_fn *find = ts_hip_next(hipGetFuncBySymbol);
	const char *name;
	uint32_t number;
	int r;

	if (!ask)
		return NOT_KNOWN;
	if (ts_hip_code_registered(&ts_loaded.hip.codes, function, &name, &number) &&
	    (!find || find(&function, function)))
		return NOT_KNOWN;
	r = ask(function, index, offset, bytes);
	return r && r != NO_ARGUMENT ? NOT_KNOWN : r;
}

int ts_hip_capture_argument(void *function, size_t index, size_t *offset, size_t *bytes)
{
	struct ts_capture_hip *hip = &ts_capture_shim()->capture.hip;
	const struct hip_function *one = function_of(hip, function);
	struct ts_capture_argument *arguments;

	if (!one || !one->code || !one->name_off ||
	    !ts_pages_grow(&hip->arguments, TS_HIP_MAX_ARGUMENTS * sizeof(*arguments)))
		return NOT_KNOWN;
	arguments = (struct ts_capture_argument *)(void *)hip->arguments.at;
	/* The caller asks for one after the other. */
	if (!index)
		hip->n_arguments = read_arguments(hip, one, arguments);
	if (hip->n_arguments < 0)
		return ask_runtime(function, index, offset, bytes);
	if (index >= (size_t)hip->n_arguments)
		return NO_ARGUMENT;
	*offset = arguments[index].offset;
	*bytes = arguments[index].bytes;
	return 0;
}
