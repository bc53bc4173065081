/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a context that needs no lock: device, error, limits. vgpu-machine.c creates and frees
 * contexts. The facades and replay/exec/vgpu call these functions.
 */
#include <stdatomic.h>

#include "replay/vgpu/vgpu-internal.h"

struct ts_vgpu_device *ts_vgpu_context_device(const struct ts_vgpu_context *context)
{
	return context->device;
}

uint32_t ts_vgpu_context_uid(const struct ts_vgpu_context *context)
{
	return context->uid;
}

struct ts_vgpu_stream *ts_vgpu_context_legacy(struct ts_vgpu_context *context)
{
	return context->legacy;
}

int ts_vgpu_context_error(const struct ts_vgpu_context *context)
{
	return atomic_load_explicit(&context->error, memory_order_relaxed);
}

int ts_vgpu_context_fault(const struct ts_vgpu_context *context)
{
	int error = ts_vgpu_context_error(context);

	if (!error)
		return 0;
	return error >= TS_VGPU_E_FAULT_ADDRESS && error <= TS_VGPU_E_FAULT_RESOURCES
		       ? error
		       : TS_VGPU_E_FAULTED;
}

void ts_vgpu_context_set_peers(struct ts_vgpu_context *context, uint32_t peers)
{
	atomic_store_explicit(&context->peers, peers, memory_order_relaxed);
}

void ts_vgpu_context_set_limits(struct ts_vgpu_context *context, uint64_t stack_bytes,
				uint64_t heap_bytes)
{
	atomic_store_explicit(&context->stack_bytes, stack_bytes, memory_order_relaxed);
	atomic_store_explicit(&context->heap_limit, heap_bytes, memory_order_relaxed);
}
