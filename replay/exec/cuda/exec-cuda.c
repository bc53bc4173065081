/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real devices as an executor: contexts, streams, events, and the table. run.c calls this file
 * through the table; this file calls the other files of this folder.
 *
 * The trace's code runs on the device, and only the driver limits it. So the executor checks
 * everything that the driver would trust: addresses of this process, lengths, images.
 */
#include "proto/abi/clock.h"
#include "replay/exec/cuda/exec-cuda-internal.h"
#include "replay/exec/hip/exec-hip-driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define LIMIT_STACK_SIZE   0 /* enum CUlimit */
#define LIMIT_PRINTF_BYTES 1
#define LIMIT_HEAP_SIZE	   2
#define MAX_STACK_BYTES	   (512u << 10)
#define MAX_PRINTF_BYTES   (64u << 20)

/* An earlier replay left a running kernel, so this process can do no other work on its devices. */
static bool is_left;

/* ---- streams ---- */

static int do_stream(void *userdata, const struct ts_row_operation *operation,
		     const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	uint32_t i;
	int r = ts_exec_cuda_context(state, operation, io, &i);

	return r
		       ?: ts_exec_cuda_add_stream(state, io, i,
						  operation->value & TS_CU_STREAM_NON_BLOCKING,
						  (int32_t)operation->src, TS_EXEC_HANDLE_STREAM,
						  operation->object);
}

static int do_stream_destroy(void *userdata, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_STREAM, operation->object);
	int r;

	if (i == TS_STATE_MAP_NONE || !cuda_stream_at(state, i)->handle)
		return ts_exec_refuse(io, "the stream does not exist");
	/* Wait before the stream is destroyed: afterwards no call could wait for its work. */
	r = ts_exec_cuda_wait_stream(state, io, cuda_stream_at(state, i));
	if (r)
		return r;
	return ts_exec_cuda_result(state, io,
				   state->driver.stream_free(
					   ts_take_ptr(cuda_stream_at(state, i)->handle)));
}

/* ---- contexts ---- */

static int do_context(void *userdata, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	struct cuda_context context = {
		.device = ts_exec_device_place(operation->device, state->n_first_devices)};
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_CONTEXT, operation->context);
	int32_t device;
	int r;

	if (operation->device >= TS_BESIDE_DEVICE && state->n_first_devices)
		return ts_exec_refuse(
			io, "the process used CUDA and HIP: use `--on vgpu`, which has both");
	if (context.device >= state->n_devices)
		return ts_exec_refuse(io, "device %u does not exist", operation->device);
	if (i != TS_STATE_MAP_NONE && cuda_context_at(state, i)->handle)
		return ts_exec_refuse(io, "context %u exists already", operation->context);
	state->current = TS_EXEC_CUDA_NOBODY;
	r = state->driver.device_get(&device, (int32_t)context.device);
	r = r ?: state->driver.context_new(&context.handle, 0, device);
	if (!r) {
		r = state->driver.stream_new(&context.own, TS_CU_STREAM_NON_BLOCKING, 0);
		if (r)
			(void)state->driver.context_free(context.handle);
	}
	r = ts_exec_cuda_result(state, io, r);
	r = r ?: ts_exec_objects_add(&state->contexts, &context, sizeof(context), &i);
	r = r ?: ts_state_map_set(&state->handles, TS_EXEC_HANDLE_CONTEXT, operation->context, i);
	return r
		       ?: ts_state_map_set(&state->handles, TS_EXEC_HANDLE_CONTEXT_POINTER,
					   operation->object, i);
}

/* Frees a context with its streams and events. The context must be current and idle. */
static int free_context(struct cuda_state *state, uint32_t i)
{
	struct cuda_context *context = cuda_context_at(state, i);

	for (uint32_t s = 0; s < state->streams.n; s++)
		if (cuda_stream_at(state, s)->context == i && cuda_stream_at(state, s)->handle)
			(void)state->driver.stream_free(
				ts_take_ptr(cuda_stream_at(state, s)->handle));
	for (uint32_t e = 0; e < state->events.n; e++)
		if (cuda_event_at(state, e)->context == i && cuda_event_at(state, e)->handle)
			(void)state->driver.event_free(
				ts_take_ptr(cuda_event_at(state, e)->handle));
	if (context->staging)
		(void)state->driver.host_free(ts_take_ptr(context->staging));
	(void)state->driver.stream_free(ts_take_ptr(context->own));
	state->current = TS_EXEC_CUDA_NOBODY;
	return state->driver.context_free(ts_take_ptr(context->handle));
}

static int do_context_destroy(void *userdata, const struct ts_row_operation *operation,
			      const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	uint32_t i;
	int r = ts_exec_cuda_context(state, operation, io, &i);

	/*
	 * Wait for all contexts, because each context may access the memory of the context that is
	 * freed.
	 */
	r = r ?: ts_exec_cuda_wait(state, io);
	r = r ?: ts_exec_cuda_enter(state, i, io);
	if (r)
		return r;
	ts_exec_cuda_modules_leave(state, i);
	ts_exec_cuda_forget(state, i, 0);
	return ts_exec_cuda_result(state, io, free_context(state, i));
}

static int do_limit(void *userdata, const struct ts_row_operation *operation,
		    const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	uint64_t most = 0;
	uint32_t i;
	int r = ts_exec_cuda_context(state, operation, io, &i);

	if (r)
		return r;
	if (operation->value == LIMIT_STACK_SIZE)
		most = MAX_STACK_BYTES;
	else if (operation->value == LIMIT_PRINTF_BYTES)
		most = MAX_PRINTF_BYTES;
	else if (operation->value == LIMIT_HEAP_SIZE)
		most = state->memory_bytes[cuda_context_at(state, i)->device];
	/* The remaining limits affect only speed, so they are ignored. */
	if (!most)
		return 0;
	if (operation->bytes > most)
		return ts_exec_refuse(io, "a limit of %llu bytes is more than a replay allows",
				      (unsigned long long)operation->bytes);
	return ts_exec_cuda_result(state, io,
				   state->driver.context_limit((int32_t)operation->value,
							       operation->bytes));
}

static int do_peer(void *userdata, const struct ts_row_operation *operation,
		   const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	uint32_t peer = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_CONTEXT_POINTER,
					  operation->object);
	uint32_t i;
	int r = ts_exec_cuda_context(state, operation, io, &i);

	if (r)
		return r;
	if (peer == TS_STATE_MAP_NONE || !cuda_context_at(state, peer)->handle)
		return ts_exec_refuse(io, "the peer's context does not exist");
	r = operation->value ? state->driver.context_peer(cuda_context_at(state, peer)->handle, 0)
			     : state->driver.context_no_peer(cuda_context_at(state, peer)->handle);
	if (r == TS_CU_ERROR_PEER_ACCESS_ALREADY_ENABLED ||
	    r == TS_CU_ERROR_PEER_ACCESS_NOT_ENABLED)
		r = 0;
	return ts_exec_cuda_result(state, io, r);
}

/* ---- events ---- */

static int do_event(void *userdata, const struct ts_row_operation *operation,
		    const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	struct cuda_event event;
	uint32_t i;
	int r = ts_exec_cuda_context(state, operation, io, &event.context);

	r = r
		    ?: ts_exec_cuda_result(state, io,
					   state->driver.event_new(&event.handle,
								   TS_CU_EVENT_DISABLE_TIMING));
	if (r)
		return r;
	r = ts_exec_objects_add(&state->events, &event, sizeof(event), &i);
	if (r)
		(void)state->driver.event_free(event.handle);
	return r ?: ts_state_map_set(&state->handles, TS_EXEC_HANDLE_EVENT, operation->object, i);
}

static int find_event(struct cuda_state *state, uint64_t handle, const struct ts_exec_io *io,
		      void **ret_event)
{
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_EVENT, handle);

	if (i == TS_STATE_MAP_NONE || !cuda_event_at(state, i)->handle)
		return ts_exec_refuse(io, "the event does not exist");
	*ret_event = cuda_event_at(state, i)->handle;
	return 0;
}

static int do_event_destroy(void *userdata, const struct ts_row_operation *operation,
			    const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_EVENT, operation->object);
	struct cuda_event *event;

	if (i == TS_STATE_MAP_NONE)
		return ts_exec_refuse(io, "the event does not exist");
	event = cuda_event_at(state, i);
	ts_state_map_remove(&state->handles, TS_EXEC_HANDLE_EVENT, operation->object);
	/* The handle is NULL if the event was destroyed together with its context. */
	return event->handle
		       ? ts_exec_cuda_result(state, io,
					     state->driver.event_free(ts_take_ptr(event->handle)))
		       : 0;
}

static int do_event_record(void *userdata, const struct ts_row_operation *operation,
			   const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	struct cuda_stream stream;
	void *event = NULL;
	int r = find_event(state, operation->object, io, &event);

	r = r ?: ts_exec_cuda_stream(state, operation, io, &stream);
	return r
		       ?: ts_exec_cuda_result(state, io,
					      state->driver.event_record(event, stream.handle));
}

static int do_stream_wait(void *userdata, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	struct cuda_stream stream;
	void *event = NULL;
	int r = find_event(state, operation->object, io, &event);

	r = r ?: ts_exec_cuda_stream(state, operation, io, &stream);
	return r
		       ?: ts_exec_cuda_result(state, io,
					      state->driver.stream_wait(stream.handle, event, 0));
}

static int do_sync(void *userdata, const struct ts_row_operation *operation,
		   const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	struct cuda_stream stream;
	void *event = NULL;
	uint32_t i;
	int r;

	if (operation->flags & TS_OPERATION_SYNC_EVENT) {
		r = find_event(state, operation->object, io, &event);
		return r ?: ts_exec_cuda_wait_for(state, io, state->driver.event_query, event);
	}
	if (operation->flags & TS_OPERATION_SYNC_STREAM) {
		r = ts_exec_cuda_stream(state, operation, io, &stream);
		return r ?: ts_exec_cuda_wait_stream(state, io, &stream);
	}
	r = ts_exec_cuda_context(state, operation, io, &i);
	return r ?: ts_exec_cuda_wait_context(state, io, i);
}

/* ---- beginning and end ---- */

/*
 * Redirects stdout to /dev/null, so that the output of kernels' printf, which the driver writes to
 * stdout, does not mix with the report. The virtual GPU drops this output, too.
 */
static int mute(struct cuda_state *state)
{
	int nowhere;

	fflush(stdout);
	state->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (state->out < 0)
		return errno == EBADF ? 0 : -errno;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0) {
		close(nowhere);
		return 0;
	}
	if (nowhere >= 0)
		close(nowhere);
	close(state->out);
	state->out = -1;
	return -EIO;
}

static void unmute(const struct cuda_state *state)
{
	fflush(stdout);
	if (state->out < 0)
		return;
	(void)dup2(state->out, STDOUT_FILENO);
	close(state->out);
}

static int finish(void *userdata, const struct ts_exec_io *io)
{
	return ts_exec_cuda_wait(userdata, io);
}

static void report_notes(void *userdata, struct ts_exec_notes *notes)
{
	struct cuda_state *state = userdata;

	*notes = state->notes;
	if (state->n_pointers_moved)
		snprintf(notes->texts[notes->n++], TS_EXEC_TEXT_BYTES,
			 "%llu words of kernel arguments look like addresses of moved memory; the "
			 "replay changed them",
			 (unsigned long long)state->n_pointers_moved);
	if (state->n_words_left)
		snprintf(notes->texts[notes->n++], TS_EXEC_TEXT_BYTES,
			 "%llu words of data copied to the device look like addresses of moved "
			 "memory; the replay did not change them",
			 (unsigned long long)state->n_words_left);
}

static void free_on_device(struct cuda_state *state)
{
	char text[TS_EXEC_TEXT_BYTES];
	const struct ts_exec_io io = {.text = text};

	/*
	 * A kernel that still runs may run forever. Then all resources stay until the process ends.
	 */
	for (uint32_t i = 0; i < state->contexts.n && !state->is_stuck; i++)
		if (cuda_context_at(state, i)->handle)
			(void)ts_exec_cuda_wait_context(state, &io, i);
	if (state->is_stuck)
		return;
	for (uint32_t i = 0; i < state->contexts.n; i++)
		if (cuda_context_at(state, i)->handle) {
			(void)ts_exec_cuda_enter(state, i, &io);
			(void)free_context(state, i);
		}
	ts_exec_cuda_unreserve(state);
}

static void free_state(void *userdata)
{
	struct cuda_state *state = userdata;

	if (!state->is_stuck)
		free_on_device(state);
	is_left |= state->is_stuck;
	unmute(state);
	ts_exec_cuda_modules_free(state);
	ts_state_map_deinit(&state->handles);
	ts_state_map_deinit(&state->kernels_at);
	free(state->ranges);
	free(state->blocks);
	free(state->allocations.all);
	free(state->contexts.at);
	free(state->modules.at);
	free(state->functions.at);
	free(state->kernels.at);
	free(state->streams.at);
	free(state->events.at);
	free(state->read);
	free(state);
}

static int look_at_devices(struct cuda_state *state, char *text)
{
	const struct ts_exec_cuda_driver *driver = &state->driver;
	struct ts_cu_mem_allocation_prop what = {
		.type = TS_CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = TS_CU_MEM_LOCATION_TYPE_DEVICE},
	};
	char name[128] = "";
	int32_t n = 0, version = 0, device;
	size_t bytes;
	int r = driver->init(0);

	state->n_first_devices = ts_exec_first_devices(state->program);
	r = r ?: driver->device_count(&n);
	if (!r && !n)
		r = TS_CU_ERROR_NO_DEVICE;
	state->n_devices =
		n < (int32_t)TS_EXEC_CUDA_MAX_DEVICES ? (uint32_t)n : TS_EXEC_CUDA_MAX_DEVICES;
	for (uint32_t i = 0; !r && i < state->n_devices; i++) {
		r = driver->device_get(&device, (int32_t)i);
		r = r ?: driver->device_memory(&bytes, device);
		state->memory_bytes[i] = bytes;
		what.location.id = (int32_t)i;
		/*
		 * Without this granularity, or with larger pages, no allocation can have its
		 * captured address.
		 */
		if (!r && (driver->granularity(&bytes, &what, 0) || !bytes ||
			   TS_EXEC_CUDA_GRANULE % bytes))
			for (size_t k = 0; k < state->n_ranges; k++)
				state->ranges[k].why = "the device cannot map memory at a "
						       "requested address";
	}
	if (r) {
		snprintf(text, TS_EXEC_TEXT_BYTES,
			 "no GPU to replay on: %s reports: %s (error %d); use `--on vgpu` without "
			 "a GPU",
			 driver->vendor->library, ts_exec_cuda_error_text(driver, r), r);
		return TS_EXEC_E_REFUSED;
	}
	(void)driver->device_get(&device, 0);
	(void)driver->device_name(name, sizeof(name), device);
	(void)driver->driver_version(&version);
	snprintf(state->notes.device, sizeof(state->notes.device), "%s, %s %d.%d", name,
		 driver->vendor->interface, version / 1000, version % 1000 / 10);
	return 0;
}

bool ts_exec_cuda_is_left(void)
{
	return is_left;
}

static int new_with(const struct ts_exec_program *program, const struct ts_exec_options *options,
		    const volatile int *cancel, char *text,
		    bool (*open_driver)(struct ts_exec_cuda_driver *, char *, size_t),
		    void **ret_state)
{
	struct cuda_state *state;
	int r;

	if (is_left) {
		snprintf(text, TS_EXEC_TEXT_BYTES,
			 "a kernel of the previous replay still runs and occupies the device");
		return TS_EXEC_E_REFUSED;
	}
	state = calloc(1, sizeof(*state));
	if (!state)
		return -ENOMEM;
	state->program = program;
	state->cancel = cancel;
	state->current = TS_EXEC_CUDA_NOBODY;
	state->until_ns = options->time_ns ? ts_clock_monotonic_ns() + options->time_ns : 0;
	r = mute(state);
	if (r) {
		free(state);
		return r;
	}
	r = ts_exec_cuda_hold(state);
	if (!r && !open_driver(&state->driver, text, TS_EXEC_TEXT_BYTES))
		r = TS_EXEC_E_REFUSED;
	r = r ?: look_at_devices(state, text);
	if (r) {
		ts_exec_cuda_let_go(state);
		unmute(state);
		free(state->ranges);
		free(state);
		return r;
	}
	ts_exec_cuda_reserve(state);
	*ret_state = state;
	return 0;
}

static int new_state(const struct ts_exec_program *program, const struct ts_exec_options *options,
		     const volatile int *cancel, char *text, void **ret_state)
{
	return new_with(program, options, cancel, text, ts_exec_cuda_driver_open, ret_state);
}

static int new_hip_state(const struct ts_exec_program *program,
			 const struct ts_exec_options *options, const volatile int *cancel,
			 char *text, void **ret_state)
{
	return new_with(program, options, cancel, text, ts_exec_hip_driver_open, ret_state);
}

/* Both vendors' functions: the driver's table differs. */
#define FUNCTIONS                                                                     \
	.free_ = free_state,                                                          \
	.operations =                                                                 \
		{                                                                     \
			[TS_OPERATION_CONTEXT_CREATE] = do_context,                   \
			[TS_OPERATION_CONTEXT_DESTROY] = do_context_destroy,          \
			[TS_OPERATION_MODULE_LOAD] = ts_exec_cuda_module_load,        \
			[TS_OPERATION_MODULE_UNLOAD] = ts_exec_cuda_module_free,      \
			[TS_OPERATION_FUNCTION] = ts_exec_cuda_function,              \
			[TS_OPERATION_VARIABLE] = ts_exec_cuda_variable,              \
			[TS_OPERATION_ALLOC] = ts_exec_cuda_alloc,                    \
			[TS_OPERATION_FREE] = ts_exec_cuda_free,                      \
			[TS_OPERATION_STREAM_CREATE] = do_stream,                     \
			[TS_OPERATION_STREAM_DESTROY] = do_stream_destroy,            \
			[TS_OPERATION_EVENT_CREATE] = do_event,                       \
			[TS_OPERATION_EVENT_DESTROY] = do_event_destroy,              \
			[TS_OPERATION_EVENT_RECORD] = do_event_record,                \
			[TS_OPERATION_STREAM_WAIT] = do_stream_wait,                  \
			[TS_OPERATION_LAUNCH] = ts_exec_cuda_launch,                  \
			[TS_OPERATION_COPY] = ts_exec_cuda_copy,                      \
			[TS_OPERATION_FILL] = ts_exec_cuda_fill,                      \
			[TS_OPERATION_SYNC] = do_sync,                                \
			[TS_OPERATION_HOST_WRITE] = ts_exec_cuda_host_write,          \
			[TS_OPERATION_LIMIT] = do_limit,                              \
			[TS_OPERATION_PEER] = do_peer,                                \
	},                                                                            \
	.finish = finish, .memory = ts_exec_cuda_memory, .bytes = ts_exec_cuda_bytes, \
	.report_notes = report_notes,

const struct ts_executor ts_exec_cuda = {.name = "cuda", .new_ = new_state, FUNCTIONS};
const struct ts_executor ts_exec_hip = {.name = "hip", .new_ = new_hip_state, FUNCTIONS};
