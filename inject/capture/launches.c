/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: the arguments of a kernel, packed as the device is given them. Where each lies and how long it is the driver tells
 * (from 12.4 on); it is asked once for each function.
 */
#include "inject/capture/capture.h"
#include "inject/context.h"
#include "proto/abi/vendor/cuda_driver.h"

#define MAX_ARGUMENTS	   4096u
#define MAX_ARGUMENT_BYTES (32u * 1024)

struct argument {
	uint32_t offset;
	uint32_t bytes;
};

struct function {
	bool known;
	bool failed;
	uint32_t first; /* of its arguments in the layouts */
	uint32_t n;
	uint32_t bytes; /* of all */
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

	if (function)
		function->known = false;
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
		struct argument *layouts;

		if (r)
			return r == TS_CU_ERROR_INVALID_VALUE;
		if (offset > MAX_ARGUMENT_BYTES || bytes > MAX_ARGUMENT_BYTES - offset ||
		    !ts_pages_grow(&capture->layouts, (capture->n_layouts + 1) * sizeof(*layouts)))
			return false;
		layouts = (struct argument *)(void *)capture->layouts.at;
		layouts[capture->n_layouts++] =
			(struct argument){(uint32_t)offset, (uint32_t)bytes};
		function->n++;
		if (offset + bytes > function->bytes)
			function->bytes = (uint32_t)(offset + bytes);
	}
	return false;
}

static struct function *ask(struct ts_capture *capture, void *handle)
{
	struct function *function = function_of(capture, (uint64_t)(uintptr_t)handle);

	if (!function)
		return NULL;
	if (!function->known) {
		function->known = true;
		/* A kernel of a library may be launched as a function. */
		function->failed =
			!ask_with(capture, capture->driver.func_param, handle, function) &&
			!ask_with(capture, capture->driver.kernel_param, handle, function);
	}
	return function->failed ? NULL : function;
}

/* As the application packed them itself. Returns false where it did not. */
static bool given(void **extra, const void **ret_bytes, size_t *ret_n)
{
	const void *bytes = NULL;
	const size_t *n = NULL;

	for (size_t i = 0; extra && extra[i] != TS_CU_LAUNCH_PARAM_END; i += 2)
		if (extra[i] == TS_CU_LAUNCH_PARAM_BUFFER_POINTER)
			bytes = extra[i + 1];
		else if (extra[i] == TS_CU_LAUNCH_PARAM_BUFFER_SIZE)
			n = extra[i + 1];
		else
			return false;
	if (!bytes || !n)
		return false;
	*ret_bytes = bytes;
	*ret_n = *n;
	return true;
}

static bool packed(struct ts_capture *capture, const struct function *function, void **params)
{
	const struct argument *layout = (const void *)capture->layouts.at;

	if (!ts_pages_grow(&capture->arguments, function->bytes + 8))
		return false;
	memset(capture->arguments.at, 0, function->bytes);
	for (uint32_t i = 0; i < function->n; i++) {
		const struct argument *argument = &layout[function->first + i];

		memcpy(capture->arguments.at + argument->offset, params[i], argument->bytes);
	}
	return true;
}

/* Host memory that arguments point to is the kernel's from here on. */
static void hand_over(struct ts_capture *capture, const struct ts_record_operation *model,
		      const uint8_t *bytes, size_t n)
{
	uint64_t address;

	for (size_t at = 0; at + sizeof(address) <= n; at += sizeof(address)) {
		struct ts_memory_range *range;

		memcpy(&address, bytes + at, sizeof(address));
		range = ts_memory_map_find(&capture->memory, address);
		if (!range || !range->flags)
			continue;
		ts_capture_host_memory(capture, model, range);
		if (range->in_use && range->stream != model->stream)
			range->stream = 0;
		else
			range->stream = model->stream;
		/* This launch's own sequence is not known yet, but is more than that of all before. */
		range->in_use = capture->lane.sequence + 1;
	}
}

bool ts_capture_arguments(struct ts_capture *capture, void *handle, void **params, void **extra,
			  const void **ret_bytes, size_t *ret_n)
{
	const struct function *function;

	if (given(extra, ret_bytes, ret_n))
		return true;
	function = ask(capture, handle);
	if (!function || (function->n && (!params || !packed(capture, function, params))))
		return false;
	*ret_bytes = capture->arguments.at;
	*ret_n = function->bytes;
	return true;
}

void ts_capture_launch_packed(struct ts_capture *capture, const struct ts_record_operation *model,
			      uint64_t handle, const void *bytes, size_t n)
{
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_LAUNCH;
	operation.object = handle;
	operation.bytes = n;
	hand_over(capture, model, bytes, n);
	operation.content = n ? ts_lane_content(&capture->lane, bytes, n) : 0;
	(void)ts_lane_put(&capture->lane, &operation);
}

void ts_capture_launch(struct ts_capture *capture, const struct ts_record_operation *model,
		       void *handle, void **params, void **extra)
{
	const void *bytes;
	size_t n;

	if (ts_capture_is_captured(capture, model->stream))
		return;
	if (ts_capture_arguments(capture, handle, params, extra, &bytes, &n))
		ts_capture_launch_packed(capture, model, (uint64_t)(uintptr_t)handle, bytes, n);
	else
		ts_capture_unsupported(capture, model,
				       "a kernel whose arguments' sizes the driver does not tell");
}
