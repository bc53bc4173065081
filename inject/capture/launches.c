/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures launches: packs a kernel's arguments as the device gets them, and captures host memory
 * that the arguments point to. capture-calls.c and graphs.c call this file. This file calls
 * capture-functions.c, copies.c and lane.c.
 */
#include "inject/capture/capture.h"
#include "inject/context.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cuda_driver_params.h"

/*
 * Gets arguments that the application packed itself, in `extra`. Returns false if there are none.
 */
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

/* Packs arguments that the application passed one by one. Returns false if there is no memory. */
static bool packed(struct ts_capture *capture, const struct ts_capture_layout *layout,
		   void **params)
{
	if (!ts_pages_grow(&capture->arguments, layout->bytes + 8))
		return false;
	memset(capture->arguments.at, 0, layout->bytes);
	for (uint32_t i = 0; i < layout->n; i++) {
		const struct ts_capture_argument *argument = &layout->arguments[i];

		memcpy(capture->arguments.at + argument->offset, params[i], argument->bytes);
	}
	return true;
}

/* Marks the memory as in use by this kernel, too. */
void ts_capture_hand_over(struct ts_capture *capture, const struct ts_record_operation *model,
			  const uint8_t *bytes, size_t n)
{
	uint64_t address;

	for (size_t at = 0; at + sizeof(address) <= n; at += sizeof(address)) {
		struct ts_memory_range *range;

		memcpy(&address, bytes + at, sizeof(address));
		range = ts_memory_map_find_host(&capture->memory, address);
		if (!range)
			continue;
		ts_capture_host_memory(capture, model, range);
		if (range->in_use && range->stream != model->stream)
			range->stream = 0;
		else
			range->stream = model->stream;
		/*
		 * The launch gets its sequence later; the next free sequence is above that of all
		 * earlier operations.
		 */
		range->in_use = capture->lane.sequence + 1;
	}
}

bool ts_capture_arguments(struct ts_capture *capture, void *handle, void **params, void **extra,
			  const void **ret_bytes, size_t *ret_n)
{
	struct ts_capture_layout layout;

	if (given(extra, ret_bytes, ret_n))
		return true;
	if (!ts_capture_layout(capture, handle, &layout) ||
	    (layout.n && (!params || !packed(capture, &layout, params))))
		return false;
	*ret_bytes = capture->arguments.at;
	*ret_n = layout.bytes;
	return true;
}

void ts_capture_launch_packed(struct ts_capture *capture, const struct ts_record_operation *model,
			      uint64_t handle, const void *bytes, size_t n)
{
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_LAUNCH;
	operation.object = handle;
	operation.bytes = n;
	ts_capture_hand_over(capture, model, bytes, n);
	operation.content = n ? ts_lane_content(&capture->lane, bytes, n) : 0;
	(void)ts_lane_put(&capture->lane, &operation);
}

void ts_capture_launch_begins(struct ts_capture *capture, const struct ts_record_operation *model,
			      void *handle, void **params, void **extra)
{
	const void *bytes;
	size_t n;

	if (capture->memory.has_host && !ts_capture_is_captured(capture, model->stream) &&
	    ts_capture_arguments(capture, handle, params, extra, &bytes, &n))
		ts_capture_hand_over(capture, model, bytes, n);
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
				       "a kernel whose argument sizes the driver does not report");
}

static bool points_to_host(const struct ts_capture *capture, const uint8_t *bytes, size_t n)
{
	uint64_t address;

	for (size_t at = 0; at + sizeof(address) <= n; at += sizeof(address)) {
		memcpy(&address, bytes + at, sizeof(address));
		if (ts_memory_map_find_host(&capture->memory, address))
			return true;
	}
	return false;
}

bool ts_capture_launch_gets_host(struct ts_capture *capture,
				 const struct ts_cu_launch_kernel_params *params)
{
	const void *bytes;
	size_t n;

	return !ts_capture_arguments(capture, params->func, params->kernel_params, params->extra,
				     &bytes, &n) ||
	       points_to_host(capture, bytes, n);
}

struct ts_record_launch *ts_capture_launch_place(struct ts_capture *capture,
						 const struct ts_cu_launch_kernel_params *params,
						 bool is_per_thread)
{
	const uint64_t stream = (uint64_t)(uintptr_t)params->stream;
	struct ts_record_launch *out;
	const void *bytes;
	uint32_t content;
	size_t n;

	if (!ts_capture_arguments(capture, params->func, params->kernel_params, params->extra,
				  &bytes, &n) ||
	    points_to_host(capture, bytes, n) || (n && !ts_lane_has_room(&capture->lane, n)))
		return NULL;
	content = n ? ts_lane_content(&capture->lane, bytes, n) : 0;
	out = content || !n ? ts_lane_place(&capture->lane) : NULL;
	if (!out)
		return NULL;
	out->object = (uint64_t)(uintptr_t)params->func;
	out->stream = stream	      ? stream
		      : is_per_thread ? TS_OPERATION_STREAM_PER_THREAD
				      : TS_OPERATION_STREAM_LEGACY;
	out->bytes = (uint32_t)n;
	out->operation_flags = 0;
	out->content = content;
	out->shared_bytes = params->shared_mem_bytes;
	memcpy(out->grid, &params->grid_dim_x, sizeof(out->grid));
	memcpy(out->block, &params->block_dim_x, sizeof(out->block));
	return out;
}
