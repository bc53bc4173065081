/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the contexts and streams of operations, and converts the device's errors to refusals. The
 * other files of the executor call this file.
 */
#include "replay/exec/exec-fault.h"
#include "replay/exec/vgpu/exec-vgpu-internal.h"

int ts_exec_vgpu_result(struct vgpu_state *state, const struct ts_exec_io *io, int r)
{
	const char *waits = ts_ptx_fault_name(TS_PTX_FAULT_WAITS);

	if (r <= 0)
		return r == -EINVAL ? ts_exec_refuse(io, "the device rejects the operation: an "
							 "argument is invalid")
				    : r;
	switch (r) {
	case TS_VGPU_E_ADDRESS:
		return ts_exec_refuse(io, "the operation uses an address without an allocation");
	case TS_VGPU_E_OUT_OF_MEMORY:
		return ts_exec_refuse(io, "the device is out of memory");
	case TS_VGPU_E_NOT_OWNER:
		return ts_exec_refuse(io, "the address to free is not the start of an allocation");
	default:
		/*
		 * Another thread reports a kernel's fault line, but always before the failing call
		 * returns.
		 */
		if (state->watch.is_late)
			return ts_exec_refuse(io, TS_EXEC_TIME_IS_UP " while a kernel ran");
		if (!strncmp(state->fault, waits, strlen(waits)))
			return state->watch.is_alone
				       ? ts_exec_refuse(io, "%s", TS_EXEC_WAITS)
				       : ts_exec_refuse(
						 io, "%s. %s", state->fault,
						 "No operation of the replay writes this memory: a "
						 "capture lacks the stores of the program's "
						 "threads during a kernel");
		if (io->fault)
			*io->fault = ts_exec_fault_of_vgpu(r);
		return ts_exec_refuse(io, "a kernel faulted: %s",
				      *state->fault ? state->fault
						    : "the device does not report the cause");
	}
}

int ts_exec_vgpu_context(struct vgpu_state *state, const struct ts_row_operation *operation,
			 const struct ts_exec_io *io, uint32_t *ret_context)
{
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_CONTEXT, operation->context);

	if (i == TS_STATE_MAP_NONE || !context_at(state, i)->vgpu)
		return ts_exec_refuse(io, "context %u does not exist", operation->context);
	*ret_context = i;
	return 0;
}

/* Finds a thread's default stream. Creates the stream at its first use. */
static int thread_stream(struct vgpu_state *state, const struct ts_row_operation *operation,
			 const struct ts_exec_io *io, struct stream *ret_stream)
{
	uint64_t key = (uint64_t)operation->thread << 32 | operation->context;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_THREAD_STREAM, key);
	struct stream stream;
	int r;

	if (i == TS_STATE_MAP_NONE) {
		r = ts_exec_vgpu_context(state, operation, io, &stream.context);
		r = r
			    ?: ts_exec_vgpu_result(
				       state, io,
				       ts_vgpu_stream_new(context_at(state, stream.context)->vgpu,
							  0, 0, &stream.vgpu));
		r = r ?: ts_exec_objects_add(&state->streams, &stream, sizeof(stream), &i);
		r = r ?: ts_state_map_set(&state->handles, TS_EXEC_HANDLE_THREAD_STREAM, key, i);
		if (r)
			return r;
	}
	*ret_stream = *stream_at(state, i);
	return ret_stream->vgpu && context_at(state, ret_stream->context)->vgpu
		       ? 0
		       : ts_exec_refuse(io, "the operation's stream does not exist");
}

int ts_exec_vgpu_stream(struct vgpu_state *state, const struct ts_row_operation *operation,
			const struct ts_exec_io *io, struct stream *ret_stream)
{
	uint32_t i;
	int r;

	if (operation->stream_handle == TS_OPERATION_STREAM_PER_THREAD)
		return thread_stream(state, operation, io, ret_stream);
	if (operation->stream_handle == TS_OPERATION_STREAM_LEGACY) {
		r = ts_exec_vgpu_context(state, operation, io, &i);
		if (!r)
			*ret_stream =
				(struct stream){ts_vgpu_context_legacy(context_at(state, i)->vgpu),
						i};
		return r;
	}
	i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_STREAM, operation->stream_handle);
	if (i == TS_STATE_MAP_NONE || !stream_at(state, i)->vgpu ||
	    !context_at(state, stream_at(state, i)->context)->vgpu)
		return ts_exec_refuse(io, "the operation's stream does not exist");
	*ret_stream = *stream_at(state, i);
	return 0;
}
