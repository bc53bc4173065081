/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual GPU as an executor: contexts, streams, events, and the table. run.c calls this file
 * through the table; this file calls the other files of this folder and replay/vgpu.
 *
 * The trace's addresses are numbers on the device; no memory of this process has these addresses.
 * An operation may access only memory that earlier operations allocated. Only the replay's thread
 * allocates and frees (a stream-ordered free waits for its stream), so a checked address stays
 * valid.
 */
#include "replay/exec/exec-schedule.h"
#include "replay/exec/vgpu/exec-vgpu-internal.h"

#include <stdio.h>
#include <sys/mman.h>

#define LIMIT_STACK_SIZE 0u /* enum CUlimit */
#define LIMIT_HEAP_SIZE	 2u
#define MAX_STACK_BYTES	 (512u << 10)

static int do_context(void *userdata, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct ts_vgpu_device *device;
	struct context context = {.stack_bytes = TS_VGPU_STACK_BYTES,
				  .heap_bytes = TS_VGPU_HEAP_BYTES};
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_CONTEXT, operation->context);
	const uint32_t place = ts_exec_device_place(operation->device, state->n_first_devices);
	int r;

	if (place >= ts_vgpu_n_devices(state->vgpu))
		return ts_exec_refuse(io, "device %u does not exist", operation->device);
	if (i != TS_STATE_MAP_NONE && context_at(state, i)->vgpu)
		return ts_exec_refuse(io, "context %u exists already", operation->context);
	device = ts_vgpu_device_at(state->vgpu, place);
	context.shape = ts_vgpu_device_shape(device);
	r = ts_exec_vgpu_result(state, io, ts_vgpu_context_new(device, &context.vgpu));
	r = r ?: ts_exec_objects_add(&state->contexts, &context, sizeof(context), &i);
	r = r ?: ts_state_map_set(&state->handles, TS_EXEC_HANDLE_CONTEXT, operation->context, i);
	return r
		       ?: ts_state_map_set(&state->handles, TS_EXEC_HANDLE_CONTEXT_POINTER,
					   operation->object, i);
}

static int do_context_destroy(void *userdata, const struct ts_row_operation *operation,
			      const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	uint32_t i;
	int r = ts_exec_vgpu_context(state, operation, io, &i);

	if (r)
		return r;
	r = ts_exec_vgpu_result(state, io, ts_vgpu_context_synchronize(context_at(state, i)->vgpu));
	if (r)
		return r;
	ts_exec_vgpu_wait(state);
	ts_exec_vgpu_modules_leave(state, i);
	/* The context's allocations and streams end with it. */
	for (size_t a = state->allocations.n; a-- > 0;)
		if (state->allocations.all[a].context == i) {
			if (state->check)
				ts_check_release(state->check, state->allocations.all[a].start);
			ts_exec_allocations_remove(&state->allocations, a);
		}
	for (size_t s = 0; s < state->streams.n; s++)
		if (stream_at(state, (uint32_t)s)->context == i)
			stream_at(state, (uint32_t)s)->vgpu = NULL;
	ts_vgpu_context_free(ts_take_ptr(context_at(state, i)->vgpu));
	return 0;
}

static int do_stream(void *userdata, const struct ts_row_operation *operation,
		     const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct stream stream;
	uint32_t i;
	int r = ts_exec_vgpu_context(state, operation, io, &stream.context);

	if (r)
		return r;
	r = ts_exec_vgpu_result(state, io,
				ts_vgpu_stream_new(context_at(state, stream.context)->vgpu,
						   operation->value & TS_VGPU_STREAM_NON_BLOCKING,
						   (int32_t)operation->src, &stream.vgpu));
	r = r ?: ts_exec_objects_add(&state->streams, &stream, sizeof(stream), &i);
	return r ?: ts_state_map_set(&state->handles, TS_EXEC_HANDLE_STREAM, operation->object, i);
}

static int do_stream_destroy(void *userdata, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_STREAM, operation->object);

	if (i == TS_STATE_MAP_NONE || !stream_at(state, i)->vgpu)
		return ts_exec_refuse(io, "the stream does not exist");
	ts_vgpu_stream_free(ts_take_ptr(stream_at(state, i)->vgpu));
	return 0;
}

static int do_event(void *userdata, const struct ts_row_operation *operation,
		    const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct ts_vgpu_event *event;
	uint32_t i;
	int r = ts_exec_vgpu_result(state, io, ts_vgpu_event_new(state->vgpu, &event));

	if (r)
		return r;
	r = ts_exec_objects_add(&state->events, &event, sizeof(event), &i);
	if (r)
		ts_vgpu_event_free(event);
	return r ?: ts_state_map_set(&state->handles, TS_EXEC_HANDLE_EVENT, operation->object, i);
}

static int find_event(struct vgpu_state *state, uint64_t handle, const struct ts_exec_io *io,
		      struct ts_vgpu_event **ret_event)
{
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_EVENT, handle);

	*ret_event = i == TS_STATE_MAP_NONE ? NULL : *event_at(state, i);
	return *ret_event ? 0 : ts_exec_refuse(io, "the event does not exist");
}

static int do_event_destroy(void *userdata, const struct ts_row_operation *operation,
			    const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct ts_vgpu_event *event;
	int r = find_event(state, operation->object, io, &event);

	if (r)
		return r;
	*event_at(state, ts_state_map_find(&state->handles, TS_EXEC_HANDLE_EVENT,
					   operation->object)) = NULL;
	ts_vgpu_event_free(event);
	return 0;
}

static int do_event_record(void *userdata, const struct ts_row_operation *operation,
			   const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct ts_vgpu_event *event;
	struct stream stream;
	int r = find_event(state, operation->object, io, &event);

	r = r ?: ts_exec_vgpu_stream(state, operation, io, &stream);
	return r ?: ts_exec_vgpu_result(state, io, ts_vgpu_event_record(event, stream.vgpu, 0));
}

static int do_stream_wait(void *userdata, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct ts_vgpu_event *event;
	struct stream stream;
	int r = find_event(state, operation->object, io, &event);

	r = r ?: ts_exec_vgpu_stream(state, operation, io, &stream);
	return r ?: ts_exec_vgpu_result(state, io, ts_vgpu_stream_wait(stream.vgpu, event, 0));
}

static int do_sync(void *userdata, const struct ts_row_operation *operation,
		   const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct ts_vgpu_event *event;
	struct stream stream;
	uint32_t i;
	int r;

	if (operation->flags & TS_OPERATION_SYNC_EVENT) {
		r = find_event(state, operation->object, io, &event);
		return r ?: ts_exec_vgpu_result(state, io, ts_vgpu_event_synchronize(event));
	}
	if (operation->flags & TS_OPERATION_SYNC_STREAM) {
		r = ts_exec_vgpu_stream(state, operation, io, &stream);
		return r ?: ts_exec_vgpu_result(state, io, ts_vgpu_stream_synchronize(stream.vgpu));
	}
	r = ts_exec_vgpu_context(state, operation, io, &i);
	return r
		       ?: ts_exec_vgpu_result(state, io,
					      ts_vgpu_context_synchronize(
						      context_at(state, i)->vgpu));
}

static int do_limit(void *userdata, const struct ts_row_operation *operation,
		    const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct context *context;
	uint32_t i;
	int r = ts_exec_vgpu_context(state, operation, io, &i);

	if (r)
		return r;
	context = context_at(state, i);
	if (operation->value == LIMIT_STACK_SIZE && operation->bytes <= MAX_STACK_BYTES)
		context->stack_bytes = operation->bytes;
	else if (operation->value == LIMIT_HEAP_SIZE &&
		 operation->bytes <= context->shape->memory_bytes)
		context->heap_bytes = operation->bytes;
	ts_vgpu_context_set_limits(context->vgpu, context->stack_bytes, context->heap_bytes);
	return 0;
}

static int do_peer(void *userdata, const struct ts_row_operation *operation,
		   const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	uint32_t peer = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_CONTEXT_POINTER,
					  operation->object);
	struct context *context;
	uint32_t i, bit;
	int r = ts_exec_vgpu_context(state, operation, io, &i);

	if (r)
		return r;
	if (peer == TS_STATE_MAP_NONE || !context_at(state, peer)->vgpu)
		return ts_exec_refuse(io, "the peer's context does not exist");
	context = context_at(state, i);
	bit = 1u << ts_vgpu_device_index(ts_vgpu_context_device(context_at(state, peer)->vgpu));
	context->peers = operation->value ? context->peers | bit : context->peers & ~bit;
	ts_vgpu_context_set_peers(context->vgpu, context->peers);
	return 0;
}

static int finish(void *userdata, const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	int r = 0;

	for (uint32_t i = 0; !r && i < state->contexts.n; i++)
		if (context_at(state, i)->vgpu)
			r = ts_exec_vgpu_result(state, io,
						ts_vgpu_context_synchronize(
							context_at(state, i)->vgpu));
	return r;
}

/*
 * Keeps the first fault line. Kernels of several streams may fault; the device calls this function
 * for one kernel at a time.
 */
static void on_fault(void *userdata, const char *line)
{
	struct vgpu_state *state = userdata;

	if (!*state->fault)
		snprintf(state->fault, sizeof(state->fault), "%s", line);
}

static void free_state(void *userdata)
{
	struct vgpu_state *state = userdata;

	if (!state)
		return;
	ts_exec_vgpu_watch_end(state);
	if (state->check)
		ts_check_memory(state->check, NULL, NULL);
	for (uint32_t i = 0; i < state->modules.n; i++)
		ts_exec_vgpu_module_unload(state, i);
	for (uint32_t i = 0; i < state->events.n; i++)
		if (*event_at(state, i))
			ts_vgpu_event_free(*event_at(state, i));
	ts_vgpu_free(state->vgpu);
	ts_vgpu_executor_free(state->executor);
	ts_exec_layout_deinit(&state->layout);
	ts_state_map_deinit(&state->handles);
	free(state->allocations.all);
	free(state->contexts.at);
	free(state->modules.at);
	free(state->functions.at);
	free(state->streams.at);
	free(state->events.at);
	free(state->variables.all);
	if (state->staging)
		munmap(state->staging, state->staging_bytes);
	free(state);
}

/* Returns a device of the session; NULL: it is of another one. */
static const struct ts_sbt_device *own_device(const struct vgpu_state *state, size_t i)
{
	const struct ts_sbt_device *device = ts_sbt_reader_device_at(state->program->reader, i);

	return device->session == state->program->session ? device : NULL;
}

/* Counts the devices of the vendor that came first. */
static void count_first_devices(struct vgpu_state *state)
{
	const struct ts_sbt_device *device;

	state->n_first_devices = ts_exec_first_devices(state->program);
	for (size_t i = 0; i < ts_sbt_reader_n_devices(state->program->reader); i++) {
		device = own_device(state, i);
		if (device && device->row.device < TS_BESIDE_DEVICE &&
		    device->row.device >= state->n_first_devices)
			state->n_first_devices = device->row.device + 1;
	}
}

static void choose_shape(struct ts_vgpu_shape *shape, const struct ts_row_device *row,
			 const char *name)
{
	const struct ts_vgpu_shape *one;

	for (size_t s = 0; name && (one = ts_vgpu_shape_at(s)); s++)
		if (!strcmp(one->name, name)) {
			*shape = *one;
			if (row->n_multiprocessors - 1 < TS_VGPU_MAX_SM)
				shape->n_sm = row->n_multiprocessors;
		}
}

/*
 * Uses the recorded devices' shapes if the virtual GPU has them, else its default. Uses the
 * recorded numbers of devices and multiprocessors.
 */
static void choose_devices(struct vgpu_state *state, struct ts_vgpu_spec *spec)
{
	struct ts_sbt_reader *reader = state->program->reader;
	const struct ts_sbt_device *device;
	uint32_t n = 1, place;

	for (uint32_t i = 0; i < TS_VGPU_MAX_DEVICES; i++)
		spec->shapes[i] = *ts_vgpu_shape_at(0);
	count_first_devices(state);
	for (size_t i = 0; i < ts_sbt_reader_n_devices(reader); i++) {
		device = own_device(state, i);
		if (!device)
			continue;
		place = ts_exec_device_place(device->row.device, state->n_first_devices);
		if (place >= TS_VGPU_MAX_DEVICES)
			continue;
		if (place >= n)
			n = place + 1;
		choose_shape(&spec->shapes[place], &device->row,
			     ts_sbt_reader_string(reader, device->row.name, NULL));
	}
	for (size_t i = 0; i < state->program->n; i++) {
		const struct ts_row_operation *operation = &state->program->operations[i];

		if (operation->kind != TS_OPERATION_CONTEXT_CREATE)
			continue;
		place = ts_exec_device_place(operation->device, state->n_first_devices);
		if (place < TS_VGPU_MAX_DEVICES && place >= n)
			n = place + 1;
	}
	spec->n_devices = n;
	spec->host_clock = true;
}

/* Limits the memory of all devices together. */
static void limit_devices(const struct ts_exec_options *options, struct ts_vgpu_spec *spec)
{
	uint64_t most = options->device_bytes / spec->n_devices;

	if (!options->device_bytes)
		return;
	for (uint32_t i = 0; i < spec->n_devices; i++)
		if (spec->shapes[i].memory_bytes > most)
			spec->shapes[i].memory_bytes = most;
}

static const uint8_t *any_bytes(void *userdata, uint64_t address, uint64_t n_bytes)
{
	struct vgpu_state *state = userdata;
	void *bytes;

	return ts_vgpu_resolve(state->vgpu, address, n_bytes, &bytes) ? NULL : bytes;
}

static int new_state(const struct ts_exec_program *program, const struct ts_exec_options *options,
		     const volatile int *cancel, char *text, void **ret_state)
{
	struct vgpu_state *state = calloc(1, sizeof(*state));
	const struct ts_exec_io io = {.text = text};
	struct ts_vgpu_spec spec = {0};
	struct ts_vgpu_executor_options executor = {
		.n_threads = options->n_threads,
		.userdata = state,
		.fault = on_fault,
		.observer = options->check ? ts_check_observer(options->check) : NULL,
		.scheduler = options->schedule ? &options->schedule->scheduler : NULL,
		.debugger = options->debugger,
		.is_alone = options->check || options->schedule,
	};
	int r;

	if (!state)
		return -ENOMEM;
	state->program = program;
	state->check = options->check;
	state->is_debugged = options->debugger;
	/* Checked or debugged modules are compiled differently, so the cache cannot hold them. */
	if (!options->check && !options->debugger)
		state->compiled = options->compiled;
	choose_devices(state, &spec);
	spec.without_workers = options->schedule || options->check;
	limit_devices(options, &spec);
	r = ts_exec_layout_init(&state->layout, program);
	r = r ?: ts_exec_variables_init(&state->variables, program);
	r = r ?: ts_exec_vgpu_result(state, &io, ts_vgpu_new(&spec, &state->vgpu));
	if (state->check)
		ts_check_memory(state->check, any_bytes, state);
	r = r ?: ts_vgpu_executor_new(state->vgpu, &executor, &state->executor);
	r = r ?: ts_exec_vgpu_watch(state, options, cancel);
	if (r)
		free_state(state);
	else
		*ret_state = state;
	return r;
}

const struct ts_executor ts_exec_vgpu = {
	.name = "vgpu",
	.new_ = new_state,
	.free_ = free_state,
	.operations =
		{
			[TS_OPERATION_CONTEXT_CREATE] = do_context,
			[TS_OPERATION_CONTEXT_DESTROY] = do_context_destroy,
			[TS_OPERATION_MODULE_LOAD] = ts_exec_vgpu_module_load,
			[TS_OPERATION_MODULE_UNLOAD] = ts_exec_vgpu_module_free,
			[TS_OPERATION_FUNCTION] = ts_exec_vgpu_function,
			[TS_OPERATION_VARIABLE] = ts_exec_vgpu_variable,
			[TS_OPERATION_ALLOC] = ts_exec_vgpu_alloc,
			[TS_OPERATION_FREE] = ts_exec_vgpu_free,
			[TS_OPERATION_STREAM_CREATE] = do_stream,
			[TS_OPERATION_STREAM_DESTROY] = do_stream_destroy,
			[TS_OPERATION_EVENT_CREATE] = do_event,
			[TS_OPERATION_EVENT_DESTROY] = do_event_destroy,
			[TS_OPERATION_EVENT_RECORD] = do_event_record,
			[TS_OPERATION_STREAM_WAIT] = do_stream_wait,
			[TS_OPERATION_LAUNCH] = ts_exec_vgpu_launch,
			[TS_OPERATION_COPY] = ts_exec_vgpu_copy,
			[TS_OPERATION_FILL] = ts_exec_vgpu_fill,
			[TS_OPERATION_SYNC] = do_sync,
			[TS_OPERATION_HOST_WRITE] = ts_exec_vgpu_host_write,
			[TS_OPERATION_LIMIT] = do_limit,
			[TS_OPERATION_PEER] = do_peer,
		},
	.prepare_launch = ts_exec_vgpu_prepare_launch,
	.finish = finish,
	.memory = ts_exec_vgpu_memory,
	.bytes = ts_exec_vgpu_bytes,
};
