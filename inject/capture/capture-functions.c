/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets the layout of a function's arguments and the size of a variable. capture-calls.c and
 * launches.c call this file. This file asks the driver, once for each function. Drivers before CUDA
 * 12.4 do not report arguments.
 */
#include "inject/capture/capture.h"
#include "inject/context.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define MAX_ARGUMENTS	   4096u
#define MAX_ARGUMENT_BYTES (32u * 1024)

struct function {
	bool known;	/* the driver was asked for the arguments */
	bool failed;	/* the driver had no answer */
	uint32_t first; /* index of its first argument in `layouts` */
	uint32_t n;
	uint32_t bytes; /* of all arguments */
};

static struct function *function_of(struct ts_capture *capture, uint64_t handle)
{
	struct function *functions = (struct function *)(void *)capture->functions.at;
	uint32_t *number;

	if (ts_likely(handle == capture->last_function && capture->last_number))
		return &functions[capture->last_number - 1];
	number = ts_handles_get(&capture->function_numbers, handle);
	if (!number)
		return NULL;
	if (!*number) {
		if (!ts_pages_grow(&capture->functions,
				   (capture->n_functions + 1) * sizeof(*functions)))
			return NULL;
		*number = (uint32_t)++capture->n_functions;
	}
	capture->last_function = handle;
	capture->last_number = *number;
	functions = (struct function *)(void *)capture->functions.at;
	return &functions[*number - 1];
}

void ts_capture_function(struct ts_capture *capture, uint64_t handle)
{
	struct function *function = function_of(capture, handle);

	if (function)
		function->known = false;
}

void ts_capture_functions_unload(struct ts_capture *capture)
{
	struct function *functions = (struct function *)(void *)capture->functions.at;

	for (size_t i = 0; i < capture->n_functions; i++)
		functions[i].known = false;
	/*
	 * At the next launch, the shim asks the driver again about each function. So `layouts` does
	 * not grow with each library that is loaded and unloaded.
	 */
	capture->n_layouts = 0;
}

/*
 * Asks the driver for the arguments, one by one, until it returns INVALID_VALUE. Returns false if
 * the driver does not report the arguments.
 */
static bool ask_with(struct ts_capture *capture, cuFuncGetParamInfo_fn *ask, void *handle,
		     struct function *function)
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
		/*
		 * `handle` may be a function, or a kernel of a library that is launched like a
		 * function.
		 */
		function->failed =
			!ask_with(capture, capture->driver->func_param, handle, function) &&
			!ask_with(capture, capture->driver->kernel_param, handle, function);
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
	const struct ts_capture_driver *driver = capture->driver;
	cuModuleGetGlobal_v2_fn *ask =
		cbid == TS_CUPTI_DRIVER_CBID_cuLibraryGetManaged  ? driver->library_managed
		: cbid == TS_CUPTI_DRIVER_CBID_cuLibraryGetGlobal ? driver->library_variable
								  : driver->module_variable;
	uint64_t address;
	size_t n = 0;

	return ask && !ask(&address, &n, module, name) ? n : 0;
}
