/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the stream and the context of a call, and whether the stream is being captured. The files
 * that capture calls and nodes of graphs call this file. This file asks the driver and CUPTI.
 */
#include "inject/capture/capture.h"
#include "inject/context.h"
#include "inject/cuda/renumber.h"

/* True if the call's form uses the per-thread default stream for a NULL stream. */
static bool is_per_thread(uint32_t cbid)
{
	const char *name = ts_capture_name(cbid);
	size_t n = strlen(name);

	return n > 5 && (!strcmp(name + n - 5, "_ptsz") || !strcmp(name + n - 5, "_ptds"));
}

uint64_t ts_capture_stream(uint32_t cbid, const void *stream)
{
	uint64_t handle = (uint64_t)(uintptr_t)stream;

	if (handle)
		return handle;
	return is_per_thread(cbid) ? TS_OPERATION_STREAM_PER_THREAD : TS_OPERATION_STREAM_LEGACY;
}

bool ts_capture_context(struct ts_capture *capture, void *handle, uint32_t *context)
{
	struct ts_shim *shim = capture->shim;

	if (!handle)
		return true;
	if (!shim->cupti.cuptiGetContextId || shim->cupti.cuptiGetContextId(handle, context))
		return false;
	*context = ts_renumbered_context(*context, shim->first_cuda_device);
	return true;
}

bool ts_capture_is_captured(struct ts_capture *capture, uint64_t stream)
{
	int status = 0;

	if (!__atomic_load_n(&capture->shim->n_stream_captures, __ATOMIC_RELAXED) ||
	    !capture->driver->is_capturing)
		return false;
	return !capture->driver->is_capturing((void *)(uintptr_t)stream, &status) && status;
}
