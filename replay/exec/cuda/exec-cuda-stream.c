/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the contexts and streams of operations, waits for them, and converts the driver's errors to
 * refusals. The other files of the executor call this file. A wait polls the driver, so a replay
 * can be interrupted although a running kernel cannot.
 */
#include "proto/abi/clock.h"
#include "replay/exec/cuda/exec-cuda-internal.h"
#include "replay/exec/exec-fault.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define FIRST_ASKED	 64u
#define LONGEST_PAUSE_NS 1000000
#define MAX_QUEUED	 512u

void ts_exec_cuda_note(struct cuda_state *state, const char *format, ...)
{
	struct ts_exec_notes *notes = &state->notes;
	va_list args;

	/* The last two places are reserved for the notes that are added when the run ends. */
	if (notes->n >= TS_EXEC_MAX_NOTES - 2) {
		notes->n_more++;
		return;
	}
	va_start(args, format);
	vsnprintf(notes->texts[notes->n++], TS_EXEC_TEXT_BYTES, format, args);
	va_end(args);
}

const char *ts_exec_cuda_error_text(const struct ts_exec_cuda_driver *driver, int error)
{
	const char *text = NULL;

	(void)driver->error_string(error, &text);
	return text ? text : "an error without a text";
}

int ts_exec_cuda_result(const struct cuda_state *state, const struct ts_exec_io *io, int r)
{
	if (!r)
		return 0;
	if (r == TS_CU_ERROR_OUT_OF_MEMORY)
		return ts_exec_refuse(io, "the device is out of memory");
	if (ts_exec_is_fault(r) && io->fault)
		*io->fault = r;
	if (ts_exec_is_fault(r))
		return ts_exec_refuse(io, "a kernel faulted: %s",
				      ts_exec_cuda_error_text(&state->driver, r));
	return ts_exec_refuse(io, "the driver reports: %s (error %d)",
			      ts_exec_cuda_error_text(&state->driver, r), r);
}

int ts_exec_cuda_enter(struct cuda_state *state, uint32_t context, const struct ts_exec_io *io)
{
	int r = 0;

	if (state->current != context)
		r = ts_exec_cuda_result(state, io,
					state->driver.context_current(
						cuda_context_at(state, context)->handle));
	state->current = r ? TS_EXEC_CUDA_NOBODY : context;
	return r;
}

int ts_exec_cuda_context(struct cuda_state *state, const struct ts_row_operation *operation,
			 const struct ts_exec_io *io, uint32_t *ret_context)
{
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_CONTEXT, operation->context);

	if (i == TS_STATE_MAP_NONE || !cuda_context_at(state, i)->handle)
		return ts_exec_refuse(io, "context %u does not exist", operation->context);
	*ret_context = i;
	return ts_exec_cuda_enter(state, i, io);
}

/* ---- waiting ---- */

static bool is_given_up(const struct cuda_state *state)
{
	return (state->cancel && __atomic_load_n(state->cancel, __ATOMIC_RELAXED)) ||
	       (state->until_ns && ts_clock_monotonic_ns() > state->until_ns);
}

int ts_exec_cuda_wait_for(struct cuda_state *state, const struct ts_exec_io *io,
			  int (*query)(void *), void *what)
{
	struct timespec pause = {.tv_nsec = 10000};

	for (uint32_t n = 0;; n++) {
		int r = query(what);

		if (r != TS_CU_ERROR_NOT_READY)
			return ts_exec_cuda_result(state, io, r);
		if (is_given_up(state)) {
			state->is_stuck = true;
			return ts_exec_refuse(io, TS_EXEC_TIME_IS_UP " while a kernel ran");
		}
		if (n < FIRST_ASKED) {
			sched_yield();
			continue;
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LONGEST_PAUSE_NS)
			pause.tv_nsec *= 2;
	}
}

int ts_exec_cuda_wait_stream(struct cuda_state *state, const struct ts_exec_io *io,
			     const struct cuda_stream *stream)
{
	int r = ts_exec_cuda_enter(state, stream->context, io);

	return r ?: ts_exec_cuda_wait_for(state, io, state->driver.stream_query, stream->handle);
}

int ts_exec_cuda_wait_context(struct cuda_state *state, const struct ts_exec_io *io,
			      uint32_t context)
{
	struct cuda_context *one = cuda_context_at(state, context);
	int r = ts_exec_cuda_enter(state, context, io);

	for (uint32_t i = 0; !r && i < state->streams.n; i++)
		if (cuda_stream_at(state, i)->context == context &&
		    cuda_stream_at(state, i)->handle)
			r = ts_exec_cuda_wait_for(state, io, state->driver.stream_query,
						  cuda_stream_at(state, i)->handle);
	r = r ?: ts_exec_cuda_wait_for(state, io, state->driver.stream_query, TS_CU_STREAM_LEGACY);
	r = r ?: ts_exec_cuda_wait_for(state, io, state->driver.stream_query, one->own);
	/*
	 * All work is complete, so cuCtxSynchronize() does not wait. It returns faults that no
	 * stream returned.
	 */
	r = r ?: ts_exec_cuda_result(state, io, state->driver.context_synchronize());
	if (!r) {
		one->n_staged = 0;
		one->n_queued = 0;
	}
	return r;
}

int ts_exec_cuda_wait(struct cuda_state *state, const struct ts_exec_io *io)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < state->contexts.n; i++)
		if (cuda_context_at(state, i)->handle)
			r = ts_exec_cuda_wait_context(state, io, i);
	return r;
}

/* ---- streams ---- */

int ts_exec_cuda_add_stream(struct cuda_state *state, const struct ts_exec_io *io, uint32_t context,
			    uint32_t flags, int32_t priority, enum ts_exec_handle_kind kind,
			    uint64_t key)
{
	struct cuda_stream stream = {.context = context};
	uint32_t i;
	int r = ts_exec_cuda_result(state, io,
				    state->driver.stream_new(&stream.handle, flags, priority));

	r = r ?: ts_exec_objects_add(&state->streams, &stream, sizeof(stream), &i);
	return r ?: ts_state_map_set(&state->handles, kind, key, i);
}

static int find_stream(struct cuda_state *state, const struct ts_row_operation *operation,
		       const struct ts_exec_io *io, struct cuda_stream *ret_stream)
{
	enum ts_exec_handle_kind kind = TS_EXEC_HANDLE_STREAM;
	uint64_t key = operation->stream_handle;
	uint32_t i;
	int r;

	if (key == TS_OPERATION_STREAM_LEGACY) {
		ret_stream->handle = TS_CU_STREAM_LEGACY;
		return ts_exec_cuda_context(state, operation, io, &ret_stream->context);
	}
	if (key == TS_OPERATION_STREAM_PER_THREAD) {
		/* A thread's default stream, created at its first use. */
		kind = TS_EXEC_HANDLE_THREAD_STREAM;
		key = (uint64_t)operation->thread << 32 | operation->context;
		if (ts_state_map_find(&state->handles, kind, key) == TS_STATE_MAP_NONE) {
			r = ts_exec_cuda_context(state, operation, io, &i);
			r = r ?: ts_exec_cuda_add_stream(state, io, i, 0, 0, kind, key);
			if (r)
				return r;
		}
	}
	i = ts_state_map_find(&state->handles, kind, key);
	if (i == TS_STATE_MAP_NONE || !cuda_stream_at(state, i)->handle)
		return ts_exec_refuse(io, "the operation's stream does not exist");
	*ret_stream = *cuda_stream_at(state, i);
	return ts_exec_cuda_enter(state, ret_stream->context, io);
}

/*
 * Waits for the context when MAX_QUEUED operations are queued in it. The driver's own queues hold
 * about 1024 operations. If they are full, the driver's call waits, and this wait cannot be
 * interrupted.
 */
int ts_exec_cuda_stream(struct cuda_state *state, const struct ts_row_operation *operation,
			const struct ts_exec_io *io, struct cuda_stream *ret_stream)
{
	int r = find_stream(state, operation, io, ret_stream);

	if (!r && cuda_context_at(state, ret_stream->context)->n_queued++ == MAX_QUEUED)
		r = ts_exec_cuda_wait_context(state, io, ret_stream->context);
	return r;
}
