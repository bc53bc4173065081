/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries and settings of a kernel: attributes, parameters, whether it is loaded. Most calls accept
 * a function or a kernel. A kernel stands for its function in the current context, or in a device's
 * context. Programs call this file through the functions of generated-cuda-function.h; this file
 * calls library.c.
 */
#include "tools/vgpu/cuda/driver.h"

static int func_get_module(void **module, void *func)
{
	struct function *f = func;
	int r = check_ready();

	if (r)
		return r;
	if (!module || !func)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!handle_is(f, HANDLE_FUNCTION))
		return TS_CU_ERROR_INVALID_HANDLE;
	*module = f->module;
	return 0;
}

static int func_load(void *function)
{
	int r = check_ready();

	if (r)
		return r;
	return handle_is(function, HANDLE_FUNCTION) ? 0 : TS_CU_ERROR_INVALID_HANDLE;
}

static int func_is_loaded(int32_t *state, void *function)
{
	int r = func_load(function);

	if (r)
		return r;
	if (!state)
		return TS_CU_ERROR_INVALID_VALUE;
	*state = 1;
	return 0;
}

/*
 * Finds the context of a call about a kernel on a device: the current one if it is on the device,
 * else the device's primary one.
 */
static int context_of_device(int32_t dev, struct context **ret_context)
{
	struct context *context;
	int r = check_ready();

	if (r)
		return r;
	if (!device_get(dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	context = context_current_or_null();
	if (!context || !handle_is(context, HANDLE_CONTEXT) || context->device != (uint32_t)dev) {
		pthread_mutex_lock(&driver.lock);
		context = driver.primary[dev];
		pthread_mutex_unlock(&driver.lock);
	}
	if (!context)
		return TS_CU_ERROR_INVALID_CONTEXT;
	*ret_context = context;
	return 0;
}

static int attribute_of(const struct function *f, int32_t attrib, int32_t *pi)
{
	const struct ts_vgpu_shape *shape =
		ts_vgpu_device_shape(device_get((int32_t)f->module->context->device));
	int cc = (int)(shape->cc_major * 10 + shape->cc_minor);

	switch (attrib) {
	case TS_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*pi = (int32_t)(f->decl->max_threads ? f->decl->max_threads
						     : shape->max_threads_per_block);
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*pi = (int32_t)f->decl->static_shared_bytes;
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*pi = (int32_t)f->decl->local_bytes;
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_NUM_REGS:
		*pi = (int32_t)function_regs(f);
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_PTX_VERSION:
		*pi = (int32_t)f->module->code->target;
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*pi = cc;
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*pi = (int32_t)f->max_dynamic_shared_bytes;
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*pi = f->carveout;
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		/*
		 * Return the constant memory of the whole module: PTX does not show a function's
		 * own share.
		 */
		*pi = (int32_t)f->module->code->constant_bytes;
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
	case TS_CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
	case TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
	case TS_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
	case TS_CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		*pi = 0;
		return 0;
	default:
		return TS_CU_ERROR_INVALID_VALUE;
	}
}

static int attribute_set(struct function *f, int32_t attrib, int32_t value)
{
	const struct ts_vgpu_shape *shape =
		ts_vgpu_device_shape(device_get((int32_t)f->module->context->device));

	switch (attrib) {
	case TS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if (value < 0 || (uint32_t)value + f->decl->static_shared_bytes >
					 shape->shared_bytes_per_block_optin)
			return TS_CU_ERROR_INVALID_VALUE;
		f->max_dynamic_shared_bytes = (uint32_t)value;
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		if (value < -1 || value > 100)
			return TS_CU_ERROR_INVALID_VALUE;
		f->carveout = value;
		return 0;
	case TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
	case TS_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
	case TS_CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		return NOT_SERVED("thread block clusters",
				  "launch without clusters, or " ON_A_REAL_GPU);
	default:
		return TS_CU_ERROR_INVALID_VALUE;
	}
}

/* Returns the function of a function or kernel handle in the current context. */
static int func_get(void *func, struct function **ret_function)
{
	struct context *context = NULL;
	int r = handle_is(func, HANDLE_FUNCTION) ? check_ready() : context_current(&context);

	return r ? r : function_get(context, func, ret_function);
}

static int func_get_attribute(int32_t *pi, int32_t attrib, void *func)
{
	struct function *f;
	int r = func_get(func, &f);

	if (r)
		return r;
	return pi ? attribute_of(f, attrib, pi) : TS_CU_ERROR_INVALID_VALUE;
}

static int func_set_attribute(void *func, int32_t attrib, int32_t value)
{
	struct function *f;
	int r = func_get(func, &f);

	return r ? r : attribute_set(f, attrib, value);
}

static int func_set_cache_config(void *func, int32_t config)
{
	struct function *f;
	int r = func_get(func, &f);

	if (r)
		return r;
	if (config < TS_CU_FUNC_CACHE_PREFER_NONE || config > TS_CU_FUNC_CACHE_PREFER_EQUAL)
		return TS_CU_ERROR_INVALID_VALUE;
	f->cache_config = config;
	return 0;
}

static int kernel_on_device(void *kernel, int32_t dev, struct function **ret_function)
{
	struct context *context;
	int r = context_of_device(dev, &context);

	if (r)
		return r;
	if (!handle_is(kernel, HANDLE_KERNEL))
		return TS_CU_ERROR_INVALID_HANDLE;
	return kernel_function(context, kernel, ret_function);
}

static int kernel_get_attribute(int32_t *pi, int32_t attrib, void *kernel, int32_t dev)
{
	struct function *f;
	int r = kernel_on_device(kernel, dev, &f);

	if (r)
		return r;
	return pi ? attribute_of(f, attrib, pi) : TS_CU_ERROR_INVALID_VALUE;
}

static int kernel_set_attribute(int32_t attrib, int32_t val, void *kernel, int32_t dev)
{
	struct function *f;
	int r = kernel_on_device(kernel, dev, &f);

	return r ? r : attribute_set(f, attrib, val);
}

static int kernel_set_cache_config(void *kernel, int32_t config, int32_t dev)
{
	struct function *f;
	int r = kernel_on_device(kernel, dev, &f);

	return r ? r : func_set_cache_config(f, config);
}

static int param_info(const struct ts_vgpu_kernel *decl, size_t index, size_t *offset,
		      size_t *bytes)
{
	if (!offset || index >= decl->n_params)
		return TS_CU_ERROR_INVALID_VALUE;
	*offset = decl->params[index].offset;
	if (bytes)
		*bytes = decl->params[index].bytes;
	return 0;
}

static int func_get_param_info(void *func, size_t index, size_t *offset, size_t *bytes)
{
	struct function *f;
	int r = func_get(func, &f);

	return r ? r : param_info(f->decl, index, offset, bytes);
}

static int kernel_get_param_info(void *kernel, size_t index, size_t *offset, size_t *bytes)
{
	struct kernel *k = kernel;
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(k, HANDLE_KERNEL))
		return TS_CU_ERROR_INVALID_HANDLE;
	return param_info(&k->library->code->kernels[k->index], index, offset, bytes);
}

#include "tools/vgpu/generated-cuda-function.h"
