/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules, functions, variables and launches on the virtual GPU. exec-vgpu.c has these functions in
 * its table; they call exec-vgpu-memory.c and compiled.c. A module's variables have their captured
 * addresses. A variable whose address the program never asked for lies where the program had no
 * memory.
 */
#include "replay/exec/vgpu/exec-vgpu-internal.h"

#define MAX_GRID_Y    65535u
#define MAX_BLOCK_Z   64u
#define MESSAGE_BYTES 160u

static unsigned cc_of(const struct vgpu_state *state, uint32_t context)
{
	const struct ts_vgpu_shape *shape = context_at(state, context)->shape;

	return shape->cc_major * 10 + shape->cc_minor;
}

static void free_instance(struct vgpu_state *state, struct instance *instance)
{
	for (size_t i = 0; instance->addresses && i < instance->code->n_variables; i++)
		if (instance->addresses[i])
			(void)ts_exec_vgpu_unplace(state, instance->addresses[i]);
	free(instance->addresses);
	if (state->compiled && instance->code)
		ts_exec_compiled_give(state->compiled, instance->content,
				      cc_of(state, instance->context), instance->code);
	else
		ts_vgpu_module_free(instance->code);
	free(instance);
}

void ts_exec_vgpu_module_unload(struct vgpu_state *state, uint32_t i)
{
	struct module *module = module_at(state, i);

	while (module->instances) {
		struct instance *instance = module->instances;
		struct context *context = context_at(state, instance->context);

		module->instances = instance->next;
		/* Waits first, because queued kernels refer to the module's code. */
		if (context->vgpu)
			(void)ts_vgpu_context_synchronize(context->vgpu);
		free_instance(state, instance);
	}
	free(ts_take_ptr(module->image));
}

void ts_exec_vgpu_modules_leave(struct vgpu_state *state, uint32_t context)
{
	for (uint32_t i = 0; i < state->modules.n; i++)
		for (struct instance **at = &module_at(state, i)->instances; *at;) {
			struct instance *instance = *at;

			if (instance->context != context) {
				at = &instance->next;
				continue;
			}
			*at = instance->next;
			free_instance(state, instance);
		}
}

int ts_exec_vgpu_module_load(void *userdata, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct module module = {0};
	struct ts_exec_content ptx;
	const char *why;
	uint32_t i;
	int r;

	if (!io->content)
		return ts_exec_module_again(&state->handles, operation, io);
	why = ts_exec_image_check(io->content) ?: ts_exec_image_ptx(io->content, &ptx);
	if (why)
		return ts_exec_refuse(io, "the module's image: %s", why);
	module.image = malloc(ptx.n + 1);
	if (!module.image)
		return -ENOMEM;
	memcpy(module.image, ptx.bytes, ptx.n);
	module.image[ptx.n] = '\0';
	module.content = operation->content;
	r = ts_exec_objects_add(&state->modules, &module, sizeof(module), &i);
	if (r) {
		free(module.image);
		return r;
	}
	return ts_state_map_set(&state->handles, TS_EXEC_HANDLE_MODULE, operation->object, i);
}

int ts_exec_vgpu_module_free(void *userdata, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_MODULE, operation->object);

	if (i == TS_STATE_MAP_NONE)
		return ts_exec_refuse(io, "no earlier operation loaded the module");
	ts_exec_vgpu_module_unload(state, i);
	return 0;
}

static int place_variables(struct vgpu_state *state, uint32_t module, struct instance *instance,
			   const struct ts_exec_io *io)
{
	struct ts_vgpu_module *code = instance->code;
	int r = 0;

	for (size_t i = 0; !r && i < code->n_variables; i++) {
		uint64_t bytes = code->variables[i].bytes ? code->variables[i].bytes : 1;
		uint64_t address =
			ts_exec_variables_find(&state->variables, &state->handles, module,
					       instance->context, code->variables[i].name);

		if (!address)
			address = ts_exec_layout_pick(&state->layout, bytes);
		r = ts_exec_vgpu_place(state, instance->context, address, bytes, io);
		if (!r) {
			instance->addresses[i] = address;
			r = ts_exec_vgpu_check_alloc(state, address, bytes, NULL);
		}
	}
	if (!r && ts_vgpu_module_place(code, instance->addresses))
		r = ts_exec_refuse(io, "the address of a variable is out of range or misaligned");
	for (size_t i = 0; !r && i < code->n_variables; i++) {
		void *to;

		if (!code->variables[i].bytes)
			continue;
		r = ts_exec_vgpu_result(state, io,
					ts_vgpu_resolve(state->vgpu, instance->addresses[i],
							code->variables[i].bytes, &to));
		if (!r)
			ts_vgpu_module_initial(code, i, to);
	}
	return r;
}

static int compile(struct vgpu_state *state, const struct module *module, uint32_t context,
		   const struct ts_exec_io *io, struct ts_vgpu_module **ret_code)
{
	char message[MESSAGE_BYTES];
	int r;

	if (state->compiled) {
		*ret_code = ts_exec_compiled_take(state->compiled, module->content,
						  cc_of(state, context));
		if (*ret_code)
			return 0;
	}
	r = (state->is_debugged ? ts_vgpu_module_new_named
				: ts_vgpu_module_new)(module->image, cc_of(state, context),
						      ret_code, message, sizeof(message));
	return r > 0 ? ts_exec_refuse(io, "cannot compile the module: %s", message) : r;
}

static int find_instance(struct vgpu_state *state, uint32_t i, uint32_t context,
			 const struct ts_exec_io *io, struct instance **ret_instance)
{
	struct module *module = module_at(state, i);
	struct instance *instance;
	int r;

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
	r = compile(state, module, context, io, &instance->code);
	if (r) {
		free(instance);
		return r;
	}
	instance->context = context;
	instance->content = module->content;
	r = state->check ? ts_ptx_image_observe(instance->code->image) : 0;
	instance->addresses = calloc(instance->code->n_variables + 1, sizeof(uint64_t));
	if (!r)
		r = instance->addresses ? place_variables(state, i, instance, io) : -ENOMEM;
	if (r) {
		free_instance(state, instance);
		return r;
	}
	instance->next = module->instances;
	module->instances = instance;
	*ret_instance = instance;
	return 0;
}

int ts_exec_vgpu_function(void *userdata, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;

	return ts_exec_function(&state->functions, &state->handles, operation, io);
}

int ts_exec_vgpu_variable(void *userdata, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_MODULE, operation->parent),
		 context;
	struct instance *instance;
	int r = ts_exec_vgpu_context(state, operation, io, &context);

	if (r)
		return r;
	if (i == TS_STATE_MAP_NONE)
		return ts_exec_refuse(io, "no earlier operation loaded the module");
	return find_instance(state, i, context, io, &instance);
}

/* Returns NULL, or the reason why the launch's size is invalid. */
static const char *check_size(const struct ts_vgpu_shape *shape,
			      const struct ts_row_operation *operation,
			      const struct ts_vgpu_kernel *kernel)
{
	uint64_t threads = (uint64_t)operation->block_x * operation->block_y;

	/* Bounds each factor before the multiplication. */
	if (operation->block_x > shape->max_threads_per_block ||
	    operation->block_y > shape->max_threads_per_block || operation->block_z > MAX_BLOCK_Z)
		return "the blocks of the launch are too large";
	threads *= operation->block_z;
	if (!operation->grid_x || !operation->grid_y || !operation->grid_z || !threads)
		return "the launch has no threads";
	if (operation->grid_x > INT32_MAX || operation->grid_y > MAX_GRID_Y ||
	    operation->grid_z > MAX_GRID_Y)
		return "the grid of the launch is too large";
	if (threads > shape->max_threads_per_block ||
	    (kernel->max_threads && threads > kernel->max_threads))
		return "the blocks of the launch are too large";
	if (kernel->static_shared_bytes > shape->shared_bytes_per_block_optin ||
	    operation->shared_bytes >
		    shape->shared_bytes_per_block_optin - kernel->static_shared_bytes)
		return "the launch needs more shared memory than the device allows";
	if (operation->value)
		return "the device does not support the launch's clusters of blocks";
	if (operation->flags & TS_OPERATION_COOPERATIVE &&
	    (uint64_t)operation->grid_x * operation->grid_y * operation->grid_z >
		    (uint64_t)shape->n_sm *
			    ts_vgpu_blocks_per_sm(shape, (uint32_t)threads,
						  operation->shared_bytes +
							  kernel->static_shared_bytes,
						  kernel->regs))
		return "the cooperative grid does not fit on the device";
	return NULL;
}

/*
 * Places variables without a captured address when their module is loaded, so the places do not
 * depend on the order of launches.
 */
void ts_exec_vgpu_prepare_launch(void *userdata, const struct ts_row_operation *operation,
				 const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_FUNCTION, operation->object);
	struct instance *instance;
	struct stream stream;

	/* Ignores errors: the launch itself will report them. */
	if (i != TS_STATE_MAP_NONE && !ts_exec_vgpu_stream(state, operation, io, &stream))
		(void)find_instance(state, function_at(state, i)->module, stream.context, io,
				    &instance);
}

int ts_exec_vgpu_launch(void *userdata, const struct ts_row_operation *operation,
			const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	uint32_t i = ts_state_map_find(&state->handles, TS_EXEC_HANDLE_FUNCTION, operation->object);
	const struct ts_vgpu_kernel *kernel;
	struct ts_vgpu_launch launch;
	struct instance *instance;
	struct stream stream;
	const char *name, *why;
	size_t n = io->content ? io->content->n : 0;
	int r;

	if (i == TS_STATE_MAP_NONE)
		return ts_exec_refuse(io, "the capture lacks the call that returned the kernel's "
					  "handle");
	name = ts_exec_string(state->program, function_at(state, i)->name);
	r = ts_exec_vgpu_stream(state, operation, io, &stream);
	r = r ?: find_instance(state, function_at(state, i)->module, stream.context, io, &instance);
	if (r)
		return r;
	kernel = name ? ts_vgpu_module_kernel(instance->code, name) : NULL;
	if (!kernel)
		return ts_exec_refuse(io, "the module has no kernel with the captured name");
	why = check_size(context_at(state, stream.context)->shape, operation, kernel);
	if (!why && n < kernel->params_bytes)
		why = "the arguments of the launch are too short";
	if (why)
		return ts_exec_refuse(io, "%s", why);
	launch = (struct ts_vgpu_launch){
		.kernel = kernel,
		.grid = {operation->grid_x, operation->grid_y, operation->grid_z},
		.block = {operation->block_x, operation->block_y, operation->block_z},
		.dynamic_shared_bytes = operation->shared_bytes,
		.static_shared_bytes = kernel->static_shared_bytes,
		.regs = kernel->regs,
		.local_bytes = kernel->local_bytes,
		.params = n ? io->content->bytes : NULL,
		.params_bytes = kernel->params_bytes,
		.cooperative = operation->flags & TS_OPERATION_COOPERATIVE,
	};
	return ts_exec_vgpu_result(state, io, ts_vgpu_launch(stream.vgpu, &launch));
}
