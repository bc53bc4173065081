/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules, functions, variables and launches on a real device. exec-cuda.c has these functions in
 * its table; they call exec-cuda-memory.c. The driver trusts the lengths inside an image, so this
 * module checks images first. The driver chooses the addresses of variables, so variables count as
 * moved.
 */
#include "proto/abi/grow.h"
#include "replay/exec/cuda/exec-cuda-internal.h"

#define FATBIN_MAGIC	   0xba55ed50u
#define ENTRY_HEADER_BYTES 64u
/* limit of the total size of a kernel's arguments; no current device allows more */
#define MAX_ARGUMENT_BYTES 32764u
#define PORTABLE_CLUSTER   8u /* blocks of a cluster that every device with clusters supports */
#define MAX_PARAMETERS	   8192u
#define IMAGE_PADDING	   4096u

struct fatbin {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
};

struct entry {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t payload_bytes;
};

/* True if the container's entries lie inside it, one after the other. */
static bool is_whole_fatbin(const struct ts_exec_content *image)
{
	struct fatbin head;
	struct entry entry;
	uint64_t at, end;

	memcpy(&head, image->bytes, sizeof(head));
	end = head.header_bytes + head.bytes;
	for (at = head.header_bytes; at < end; at += entry.header_bytes + entry.payload_bytes) {
		if (end - at < ENTRY_HEADER_BYTES)
			return false;
		memcpy(&entry, image->bytes + at, sizeof(entry));
		if (entry.header_bytes < ENTRY_HEADER_BYTES || entry.header_bytes > end - at ||
		    entry.payload_bytes > end - at - entry.header_bytes)
			return false;
	}
	return true;
}

static const char *check_image(const struct ts_exec_content *image)
{
	const char *why = ts_exec_image_check(image);
	uint32_t magic;

	if (why)
		return why;
	memcpy(&magic, image->bytes, sizeof(magic));
	return magic == FATBIN_MAGIC && !is_whole_fatbin(image) ? "longer than its captured bytes"
								: NULL;
}

/*
 * Unloads a module from a context. Its functions need no cleanup: a later launch does not find a
 * function of an unloaded module.
 */
static void free_instance(struct cuda_state *state, uint32_t module, struct cuda_instance *instance)
{
	ts_exec_cuda_forget(state, instance->context, module + 1);
	(void)state->driver.module_unload(instance->module);
	free(instance);
}

void ts_exec_cuda_modules_leave(struct cuda_state *state, uint32_t context)
{
	for (uint32_t i = 0; i < state->modules.n; i++)
		for (struct cuda_instance **at = &cuda_module_at(state, i)->instances; *at;) {
			struct cuda_instance *instance = *at;

			if (instance->context != context) {
				at = &instance->next;
				continue;
			}
			*at = instance->next;
			free_instance(state, i, instance);
		}
}

void ts_exec_cuda_modules_free(struct cuda_state *state)
{
	for (uint32_t i = 0; i < state->modules.n; i++) {
		struct cuda_module *module = cuda_module_at(state, i);

		while (module->instances) {
			struct cuda_instance *instance = module->instances;

			module->instances = instance->next;
			free(instance);
		}
		free(ts_take_ptr(module->image));
	}
	for (uint32_t i = 0; i < state->kernels.n; i++)
		free(cuda_kernel_at(state, i)->parameters);
}

int ts_exec_cuda_module_load(void *userdata, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	struct cuda_module module = {0};
	struct ts_exec_content image;
	const char *why;
	uint32_t i;
	int r;

	if (!io->content)
		return ts_exec_module_again(&state->handles, operation, io);
	why = check_image(io->content) ?: state->driver.vendor->image(io->content, &image);
	if (why)
		return ts_exec_refuse(io, "the module's image: %s", why);
	/* Zeros after the image, in case the driver reads slightly beyond it. */
	module.image = calloc(1, image.n + IMAGE_PADDING);
	if (!module.image)
		return -ENOMEM;
	memcpy(module.image, image.bytes, image.n);
	r = ts_exec_objects_add(&state->modules, &module, sizeof(module), &i);
	if (r) {
		free(module.image);
		return r;
	}
	return ts_state_map_set(&state->handles, TS_EXEC_HANDLE_MODULE, operation->object, i);
}

int ts_exec_cuda_module_free(void *userdata, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_MODULE, operation->object);
	struct cuda_module *module;
	int r = 0;

	if (i == TS_STATE_MAP_NONE)
		return ts_exec_refuse(io, "no earlier operation loaded the module");
	module = cuda_module_at(state, i);
	while (!r && module->instances) {
		struct cuda_instance *instance = module->instances;

		r = ts_exec_cuda_wait_context(state, io, instance->context);
		if (r)
			return r;
		module->instances = instance->next;
		free_instance(state, i, instance);
	}
	free(ts_take_ptr(module->image));
	return 0;
}

static int find_instance(struct cuda_state *state, uint32_t i, uint32_t context,
			 const struct ts_exec_io *io, struct cuda_instance **ret_instance)
{
	struct cuda_module *module = cuda_module_at(state, i);
	struct cuda_instance *instance;
	int r = ts_exec_cuda_enter(state, context, io);

	if (r)
		return r;
	for (instance = module->instances; instance; instance = instance->next)
		if (instance->context == context) {
			*ret_instance = instance;
			return 0;
		}
	if (!module->image)
		return ts_exec_refuse(io, "an earlier operation unloaded the module");
	instance = calloc(1, sizeof(*instance));
	if (!instance)
		return -ENOMEM;
	r = ts_exec_cuda_result(state, io,
				state->driver.module_load(&instance->module, module->image));
	if (r) {
		free(instance);
		return r;
	}
	instance->context = context;
	instance->next = module->instances;
	module->instances = instance;
	*ret_instance = instance;
	return 0;
}

int ts_exec_cuda_function(void *userdata, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;

	return ts_exec_function(&state->functions, &state->handles, operation, io);
}

int ts_exec_cuda_variable(void *userdata, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_MODULE, operation->parent);
	const char *name = ts_exec_string(state->program, operation->name);
	struct ts_exec_allocation one = {.start = operation->dst, .owner = i + 1};
	struct cuda_instance *instance;
	size_t at, bytes;
	int r = ts_exec_cuda_context(state, operation, io, &one.context);

	if (r)
		return r;
	if (i == TS_STATE_MAP_NONE)
		return ts_exec_refuse(io, "no earlier operation loaded the module");
	r = find_instance(state, i, one.context, io, &instance);
	if (r || !name)
		return r;
	r = ts_exec_cuda_result(state, io,
				state->driver.module_variable(&one.at, &bytes, instance->module,
							      name));
	if (r)
		return r;
	if (bytes < operation->bytes)
		return ts_exec_refuse(io, "the variable is smaller than in the capture");
	/* operation->bytes is 0 if the program asked only for the variable's address. */
	one.bytes = operation->bytes ? operation->bytes : bytes;
	at = ts_exec_allocations_find(&state->allocations, one.start, one.bytes);
	/* The program has asked for this variable before, so it is registered already. */
	if (at != SIZE_MAX && state->allocations.all[at].owner == one.owner)
		return 0;
	if (!one.bytes || one.start > UINT64_MAX - one.bytes ||
	    ts_exec_allocations_overlap(&state->allocations, one.start, one.bytes))
		return ts_exec_refuse(io, "address 0x%llx is in use or invalid",
				      (unsigned long long)one.start);
	r = ts_exec_allocations_add(&state->allocations, &one);
	if (!r && one.at != one.start) {
		ts_exec_cuda_moved(state, &one);
		ts_exec_cuda_note(state,
				  "variable %.64s at 0x%llx is at 0x%llx in the replay: the driver "
				  "chooses the addresses of variables",
				  name, (unsigned long long)one.start, (unsigned long long)one.at);
	}
	return r;
}

/* ---- launches ---- */

/* Reads the sizes of a function's parameters, if the driver reports them. */
static int learn_parameters(const struct cuda_state *state, struct cuda_kernel *kernel)
{
	size_t offset, bytes;

	while (state->driver.parameter && kernel->n_parameters < MAX_PARAMETERS &&
	       !state->driver.parameter(kernel->handle, kernel->n_parameters, &offset, &bytes)) {
		uint32_t n = kernel->n_parameters;

		if (offset > MAX_ARGUMENT_BYTES || bytes > MAX_ARGUMENT_BYTES - offset)
			return -EINVAL;
		if (TS_GROW(kernel->parameters, kernel->n_parameters_allocated, (size_t)n + 1))
			return -ENOMEM;
		kernel->parameters[n] = (struct cuda_parameter){(uint32_t)offset, (uint32_t)bytes};
		kernel->n_parameters++;
		if (offset + bytes > kernel->params_bytes)
			kernel->params_bytes = (uint32_t)(offset + bytes);
	}
	return 0;
}

static int find_kernel(struct cuda_state *state, uint32_t i, uint32_t context,
		       const struct ts_exec_io *io, struct cuda_kernel **ret_kernel)
{
	const struct ts_exec_function *function = cuda_function_at(state, i);
	const char *name = ts_exec_string(state->program, function->name);
	uint32_t at = ts_state_map_find(&state->kernels_at, context, i);
	struct cuda_kernel kernel = {0};
	struct cuda_instance *instance;
	int32_t shared = 0;
	int r = find_instance(state, function->module, context, io, &instance);

	if (!r && at == TS_STATE_MAP_NONE) {
		r = name ? state->driver.module_function(&kernel.handle, instance->module, name)
			 : TS_CU_ERROR_NOT_FOUND;
		if (r == TS_CU_ERROR_NOT_FOUND)
			return ts_exec_refuse(io, "the module has no kernel with the captured "
						  "name");
		r = r
			    ?: state->driver.function_attribute(
				       &shared, TS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       kernel.handle);
		r = ts_exec_cuda_result(state, io, r);
		kernel.dynamic_shared_bytes = (uint32_t)shared;
		r = r ?: learn_parameters(state, &kernel);
		r = r ?: ts_exec_objects_add(&state->kernels, &kernel, sizeof(kernel), &at);
		if (r)
			free(kernel.parameters);
		r = r ?: ts_state_map_set(&state->kernels_at, context, i, at);
	}
	if (!r)
		*ret_kernel = cuda_kernel_at(state, at);
	return r == -EINVAL ? ts_exec_refuse(io, "the driver reports invalid sizes for the "
						 "kernel's parameters")
			    : r;
}

/* Allows more dynamic shared memory than kernels have by default. */
static int allow_shared(const struct cuda_state *state, const struct ts_exec_io *io,
			struct cuda_kernel *kernel, uint32_t bytes)
{
	int r;

	if (bytes <= kernel->dynamic_shared_bytes)
		return 0;
	r = bytes > INT32_MAX
		    ? TS_CU_ERROR_INVALID_VALUE
		    : state->driver.function_set(kernel->handle,
						 TS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
						 (int32_t)bytes);
	if (r == TS_CU_ERROR_INVALID_VALUE)
		return ts_exec_refuse(io, "the launch needs more shared memory than the device "
					  "allows");
	if (!r)
		kernel->dynamic_shared_bytes = bytes;
	return ts_exec_cuda_result(state, io, r);
}

/* Allows clusters of more blocks than every device with clusters has. */
static int allow_cluster(const struct cuda_state *state, const struct cuda_kernel *kernel,
			 uint64_t cluster)
{
	const uint64_t n_blocks = (uint64_t)TS_OPERATION_CLUSTER_AT(cluster, 0) *
				  TS_OPERATION_CLUSTER_AT(cluster, 1) *
				  TS_OPERATION_CLUSTER_AT(cluster, 2);

	return n_blocks <= PORTABLE_CLUSTER
		       ? 0
		       : state->driver.function_set(
				 kernel->handle,
				 TS_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
}

static void translate(struct cuda_state *state, const struct cuda_kernel *kernel,
		      uint8_t *arguments, size_t n)
{
	/*
	 * Translates each parameter separately: pointers are aligned relative to the start of their
	 * parameter.
	 */
	for (uint32_t i = 0; i < kernel->n_parameters; i++)
		ts_exec_cuda_translate(state, arguments + kernel->parameters[i].offset,
				       kernel->parameters[i].bytes);
	if (!kernel->n_parameters)
		ts_exec_cuda_translate(state, arguments, n);
}

static int launch(const struct cuda_state *state, const struct ts_row_operation *operation,
		  const struct cuda_kernel *kernel, void *stream, uint8_t *arguments, size_t n)
{
	void *extra[] = {TS_CU_LAUNCH_PARAM_BUFFER_POINTER, arguments,
			 TS_CU_LAUNCH_PARAM_BUFFER_SIZE, &n, TS_CU_LAUNCH_PARAM_END};
	struct ts_cu_launch_attribute attributes[2];
	struct ts_cu_launch_config config = {
		.grid_dim_x = operation->grid_x,
		.grid_dim_y = operation->grid_y,
		.grid_dim_z = operation->grid_z,
		.block_dim_x = operation->block_x,
		.block_dim_y = operation->block_y,
		.block_dim_z = operation->block_z,
		.shared_mem_bytes = operation->shared_bytes,
		.stream = stream,
		.attrs = attributes,
	};

	if (operation->flags & TS_OPERATION_COOPERATIVE)
		attributes[config.num_attrs++] =
			(struct ts_cu_launch_attribute){.id = TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
							.value.cooperative = 1};
	if (operation->value)
		attributes[config.num_attrs++] = (struct ts_cu_launch_attribute){
			.id = TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
			.value.cluster_dim = {TS_OPERATION_CLUSTER_AT(operation->value, 0),
					      TS_OPERATION_CLUSTER_AT(operation->value, 1),
					      TS_OPERATION_CLUSTER_AT(operation->value, 2)}};
	if (config.num_attrs)
		return state->driver.launch_ex(&config, kernel->handle, NULL, extra);
	return state->driver.launch(kernel->handle, operation->grid_x, operation->grid_y,
				    operation->grid_z, operation->block_x, operation->block_y,
				    operation->block_z, operation->shared_bytes, stream, NULL,
				    extra);
}

int ts_exec_cuda_launch(void *userdata, const struct ts_row_operation *operation,
			const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_FUNCTION, operation->object);
	uint8_t arguments[MAX_ARGUMENT_BYTES + 4] = {0};
	size_t n = io->content ? io->content->n : 0;
	struct cuda_kernel *kernel = NULL;
	struct cuda_stream stream;
	int r;

	if (i == TS_STATE_MAP_NONE)
		return ts_exec_refuse(io, "the capture lacks the call that returned the kernel's "
					  "handle");
	r = ts_exec_cuda_stream(state, operation, io, &stream);
	r = r ?: find_kernel(state, i, stream.context, io, &kernel);
	r = r ?: allow_shared(state, io, kernel, operation->shared_bytes);
	if (r)
		return r;
	if (n < kernel->params_bytes || n > MAX_ARGUMENT_BYTES)
		return ts_exec_refuse(io, "the arguments of the launch are too %s",
				      n < kernel->params_bytes ? "short" : "long");
	if ((operation->flags & TS_OPERATION_COOPERATIVE || operation->value) &&
	    !state->driver.launch_ex)
		return ts_exec_refuse(
			io, "a launch that is cooperative or in clusters needs %s or later",
			state->driver.vendor->launch_ex);
	if (n)
		memcpy(arguments, io->content->bytes, n);
	translate(state, kernel, arguments, n);
	r = allow_cluster(state, kernel, operation->value);
	r = r ?: launch(state, operation, kernel, stream.handle, arguments, n);
	if (operation->value &&
	    (r == TS_CU_ERROR_NOT_SUPPORTED || r == TS_CU_ERROR_INVALID_CLUSTER_SIZE))
		return ts_exec_refuse(io, "the device does not support the launch's clusters of "
					  "blocks");
	if (r == TS_CU_ERROR_INVALID_VALUE)
		return ts_exec_refuse(io, "the device does not support a launch of this size");
	return ts_exec_cuda_result(state, io, r);
}
