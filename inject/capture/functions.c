/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and kernels: how the program came by each, and where its arguments lie. Where each argument lies and how long it is the
 * driver tells (from 12.4 on); it is asked once for each function. calls.c and launches.c call it.
 *
 * Trap: the runtime launches a library's kernel by the kernel's own handle, and a node that such a launch makes in a captured graph
 * has the handle of the kernel's function, which no call gave to anybody. Its name says which of the known kernels it is.
 */
#include "inject/capture/capture.h"
#include "inject/context.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define MAX_ARGUMENTS	   4096u
#define MAX_ARGUMENT_BYTES (32u * 1024)

struct function {
	bool known;	/* asked for its arguments */
	bool failed;	/* the driver did not tell */
	bool has_come;	/* an operation says how the program came by it */
	uint32_t first; /* of its arguments in the layouts */
	uint32_t n;
	uint32_t bytes; /* of all */
};

/* A kernel of a library, by the name that the program asked for. */
struct kernel {
	uint64_t handle;
	uint32_t name; /* its string's id */
};

static struct function *function_of(struct ts_capture *capture, uint64_t handle)
{
	uint32_t *number = ts_handles_get(&capture->function_numbers, handle);
	struct function *functions;

	if (!number)
		return NULL;
	if (!*number) {
		if (!ts_pages_grow(&capture->functions,
				   (capture->n_functions + 1) * sizeof(*functions)))
			return NULL;
		*number = (uint32_t)++capture->n_functions;
	}
	functions = (struct function *)(void *)capture->functions.at;
	return &functions[*number - 1];
}

void ts_capture_function(struct ts_capture *capture, uint64_t handle)
{
	struct function *function = function_of(capture, handle);

	if (!function)
		return;
	function->known = false;
	function->has_come = true;
}

void ts_capture_kernel(struct ts_capture *capture, uint64_t handle, uint32_t name)
{
	struct kernel *kernels;

	if (!ts_pages_grow(&capture->kernels, (capture->n_kernels + 1) * sizeof(*kernels)))
		return;
	kernels = (struct kernel *)(void *)capture->kernels.at;
	kernels[capture->n_kernels++] = (struct kernel){handle, name};
}

/* The newest kernel of that name whose function it is; 0: none is. */
static uint64_t kernel_of(const struct ts_capture *capture, void *function, uint32_t name)
{
	const struct kernel *kernels = (const void *)capture->kernels.at;

	for (size_t i = capture->n_kernels; i-- > 0;) {
		void *found = NULL;

		if (kernels[i].name == name &&
		    !capture->driver.kernel_function(&found,
						     (void *)(uintptr_t)kernels[i].handle) &&
		    found == function)
			return kernels[i].handle;
	}
	return 0;
}

void ts_capture_graph_function(struct ts_capture *capture, const struct ts_record_operation *model,
			       uint64_t handle)
{
	const struct ts_capture_driver *driver = &capture->driver;
	struct ts_record_operation operation = *model;
	struct function *function = function_of(capture, handle);
	const char *name = NULL;

	if (!function || function->has_come || !driver->function_name || !driver->kernel_function)
		return;
	function->has_come = true;
	if (driver->function_name(&name, (void *)(uintptr_t)handle) || !name)
		return;
	operation.kind = TS_OPERATION_FUNCTION;
	operation.operation_flags = 0;
	operation.stream = 0;
	operation.object = handle;
	operation.parent =
		kernel_of(capture, (void *)(uintptr_t)handle,
			  ts_definitions_string(&capture->shim->definitions, name, strlen(name)));
	/* Without a name: the parent is a kernel, and this the same in a context. */
	if (operation.parent)
		(void)ts_lane_put(&capture->lane, &operation);
}

/* One by one, until there is none. Returns false where the driver does not tell. */
static bool ask_with(struct ts_capture *capture, int (*ask)(void *, size_t, size_t *, size_t *),
		     void *handle, struct function *function)
{
	size_t offset, bytes;

	function->first = (uint32_t)capture->n_layouts;
	function->n = function->bytes = 0;
	if (!ask)
		return false;
	for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
		int r = ask(handle, i, &offset, &bytes);
		struct ts_capture_argument *layouts;

		if (r)
			return r == TS_CU_ERROR_INVALID_VALUE;
		if (offset > MAX_ARGUMENT_BYTES || bytes > MAX_ARGUMENT_BYTES - offset ||
		    !ts_pages_grow(&capture->layouts, (capture->n_layouts + 1) * sizeof(*layouts)))
			return false;
		layouts = (struct ts_capture_argument *)(void *)capture->layouts.at;
		layouts[capture->n_layouts++] =
			(struct ts_capture_argument){(uint32_t)offset, (uint32_t)bytes};
		function->n++;
		if (offset + bytes > function->bytes)
			function->bytes = (uint32_t)(offset + bytes);
	}
	return false;
}

bool ts_capture_layout(struct ts_capture *capture, void *handle,
		       struct ts_capture_layout *ret_layout)
{
	struct function *function = function_of(capture, (uint64_t)(uintptr_t)handle);

	if (!function)
		return false;
	if (!function->known) {
		function->known = true;
		/* A kernel of a library may be launched as a function. */
		function->failed =
			!ask_with(capture, capture->driver.func_param, handle, function) &&
			!ask_with(capture, capture->driver.kernel_param, handle, function);
	}
	*ret_layout = (struct ts_capture_layout){
		.arguments = (const struct ts_capture_argument *)(void *)capture->layouts.at +
			     function->first,
		.n = function->n,
		.bytes = function->bytes,
	};
	return !function->failed;
}

size_t ts_capture_variable_bytes(const struct ts_capture *capture, uint32_t cbid, void *module,
				 const char *name)
{
	const struct ts_capture_driver *driver = &capture->driver;
	int (*ask)(uint64_t *, size_t *, void *, const char *) =
		cbid == TS_CUPTI_DRIVER_CBID_cuLibraryGetManaged  ? driver->library_managed
		: cbid == TS_CUPTI_DRIVER_CBID_cuLibraryGetGlobal ? driver->library_variable
								  : driver->module_variable;
	uint64_t address;
	size_t n = 0;

	return ask && !ask(&address, &n, module, name) ? n : 0;
}
