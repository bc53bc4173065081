/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries and kernels: code loaded once for the process, independent of contexts. The first
 * request of a kernel's function in a context creates it there. Programs call this file through the
 * functions of generated-cuda-library.h; the launch and function files call kernel_function() and
 * function_get().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cuda/driver.h"

static void library_free(struct library *library)
{
	for (size_t i = 0; library->kernels && i < library->code->n_kernels; i++)
		library->kernels[i].handle.kind = 0;
	free(library->kernels);
	ts_vgpu_module_free(library->code);
	free(library->image);
	handle_free(library, sizeof(*library));
}

/* Consumes the image, if there is one. */
static int library_new(const void *data, char *image, struct library **ret_library)
{
	struct library *library = handle_new(HANDLE_LIBRARY, sizeof(*library));
	const struct ts_vgpu_shape *shape;
	unsigned cc = 0;
	int r;

	if (!library) {
		free(image);
		return TS_CU_ERROR_OUT_OF_MEMORY;
	}
	library->image = image;
	library->data = data;
	/*
	 * The library contains each kernel that some device can run; loading it on another device
	 * may still fail.
	 */
	for (uint32_t i = 0; i < ts_vgpu_n_devices(driver.vgpu); i++) {
		shape = ts_vgpu_device_shape(ts_vgpu_device_at(driver.vgpu, i));
		if (shape->cc_major * 10 + shape->cc_minor > cc)
			cc = shape->cc_major * 10 + shape->cc_minor;
	}
	library->cc = cc;
	r = code_new(data, cc, &library->code);
	if (r) {
		free(image);
		handle_free(library, sizeof(*library));
		return r;
	}
	library->kernels = calloc(library->code->n_kernels + 1, sizeof(*library->kernels));
	if (!library->kernels) {
		library_free(library);
		return TS_CU_ERROR_OUT_OF_MEMORY;
	}
	for (size_t i = 0; i < library->code->n_kernels; i++) {
		library->kernels[i].handle.kind = HANDLE_KERNEL;
		library->kernels[i].library = library;
		library->kernels[i].index = i;
		library->kernels[i].name = intern(library->code->kernels[i].name);
	}
	pthread_mutex_lock(&driver.lock);
	library->next = driver.libraries;
	driver.libraries = library;
	pthread_mutex_unlock(&driver.lock);
	*ret_library = library;
	return 0;
}

/* Returns the library as a module of the context, and loads it first if necessary. */
static int library_module(struct context *context, struct library *library,
			  struct module **ret_module)
{
	static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
	struct module *module;
	int r = 0;

	pthread_mutex_lock(&driver.lock);
	for (module = context->modules; module && module->library != library;)
		module = module->next;
	pthread_mutex_unlock(&driver.lock);
	if (!module) {
		pthread_mutex_lock(&loading);
		for (module = context->modules; module && module->library != library;)
			module = module->next;
		if (!module) {
			r = module_new(context, library->data, library, &module);
			for (size_t i = 0; !r && i < module->code->n_kernels; i++)
				for (size_t k = 0; k < library->code->n_kernels; k++)
					if (library->kernels[k].name == module->functions[i].name)
						module->functions[i].kernel = &library->kernels[k];
		}
		pthread_mutex_unlock(&loading);
	}
	if (!r)
		*ret_module = module;
	return r;
}

int kernel_function(struct context *context, struct kernel *kernel, struct function **ret_function)
{
	struct function *function;
	struct module *module;
	int r;

	/* Fast path of launches. Acquire, paired with the release store below. */
	function = atomic_load_explicit(&kernel->cached, memory_order_acquire);
	if (function && function->module->context == context) {
		*ret_function = function;
		return 0;
	}
	r = library_module(context, kernel->library, &module);
	if (r)
		return r;
	for (size_t i = 0; i < module->code->n_kernels; i++)
		if (module->functions[i].name == kernel->name) {
			*ret_function = &module->functions[i];
			if (!function)
				atomic_store_explicit(&kernel->cached, &module->functions[i],
						      memory_order_release);
			return 0;
		}
	return TS_CU_ERROR_NOT_FOUND;
}

int function_get(struct context *context, void *handle, struct function **ret_function)
{
	if (handle_is(handle, HANDLE_FUNCTION)) {
		*ret_function = handle;
		return 0;
	}
	if (handle_is(handle, HANDLE_KERNEL))
		return kernel_function(context, handle, ret_function);
	return TS_CU_ERROR_INVALID_HANDLE;
}

const char *function_name(const void *handle)
{
	if (handle_is(handle, HANDLE_FUNCTION))
		return ((const struct function *)handle)->name;
	if (handle_is(handle, HANDLE_KERNEL))
		return ((const struct kernel *)handle)->name;
	return NULL;
}

static int load_data(void **library, const void *code, int32_t *jit_options,
		     void **jit_options_values, uint32_t num_jit_options, int32_t *library_options,
		     void **library_option_values, uint32_t num_library_options)
{
	struct library *made;
	int r = check_ready();

	if (r)
		return r;
	if (!library || !code)
		return TS_CU_ERROR_INVALID_VALUE;
	r = library_new(code, NULL, &made);
	if (!r)
		*library = made;
	return r;
}

static int load_from_file(void **library, const char *file_name, int32_t *jit_options,
			  void **jit_options_values, uint32_t num_jit_options,
			  int32_t *library_options, void **library_option_values,
			  uint32_t num_library_options)
{
	struct library *made;
	char *bytes;
	int r = check_ready();

	if (r)
		return r;
	if (!library || !file_name)
		return TS_CU_ERROR_INVALID_VALUE;
	r = read_file(file_name, &bytes);
	if (r)
		return r;
	r = library_new(bytes, bytes, &made);
	if (!r)
		*library = made;
	return r;
}

/* Returns a module of the library in any context; NULL: there is none. */
static struct module *any_module_of(const struct library *library)
{
	struct module *module = NULL;

	pthread_mutex_lock(&driver.lock);
	for (struct context *c = driver.contexts; c && !module; c = c->next)
		for (module = c->modules; module && module->library != library;)
			module = module->next;
	pthread_mutex_unlock(&driver.lock);
	return module;
}

static int unload(void *library)
{
	struct library *l = library;
	struct module *module;
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(l, HANDLE_LIBRARY))
		return TS_CU_ERROR_INVALID_HANDLE;
	while ((module = any_module_of(l)))
		module_destroy(module);
	pthread_mutex_lock(&driver.lock);
	for (struct library **at = &driver.libraries; *at; at = &(*at)->next)
		if (*at == l) {
			*at = l->next;
			break;
		}
	pthread_mutex_unlock(&driver.lock);
	library_free(l);
	return 0;
}

static int get_kernel(void **kernel, void *library, const char *name)
{
	struct library *l = library;
	const struct ts_vgpu_kernel *decl;
	int r = check_ready();

	if (r)
		return r;
	if (!kernel || !name)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!handle_is(l, HANDLE_LIBRARY))
		return TS_CU_ERROR_INVALID_HANDLE;
	decl = ts_vgpu_module_kernel(l->code, name);
	if (!decl)
		return TS_CU_ERROR_NOT_FOUND;
	*kernel = &l->kernels[decl - l->code->kernels];
	return 0;
}

static int get_kernel_count(uint32_t *count, void *lib)
{
	struct library *l = lib;
	int r = check_ready();

	if (r)
		return r;
	if (!count || !handle_is(l, HANDLE_LIBRARY))
		return TS_CU_ERROR_INVALID_VALUE;
	*count = (uint32_t)l->code->n_kernels;
	return 0;
}

static int enumerate_kernels(void **kernels, uint32_t num_kernels, void *lib)
{
	struct library *l = lib;
	int r = check_ready();

	if (r)
		return r;
	if (!kernels || !handle_is(l, HANDLE_LIBRARY))
		return TS_CU_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < num_kernels && i < l->code->n_kernels; i++)
		kernels[i] = &l->kernels[i];
	return 0;
}

static int get_module(void **module, void *library)
{
	struct context *context;
	struct module *m;
	int r = context_current(&context);

	if (r)
		return r;
	if (!handle_is(library, HANDLE_LIBRARY))
		return TS_CU_ERROR_INVALID_HANDLE;
	if (!module)
		return TS_CU_ERROR_INVALID_VALUE;
	r = library_module(context, library, &m);
	if (!r)
		*module = m;
	return r;
}

static int get_variable(uint64_t *dev_ptr, size_t *bytes, void *library, const char *name,
			bool managed)
{
	struct context *context;
	struct module *m;
	int r = context_current(&context);

	if (r)
		return r;
	if (!name)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!handle_is(library, HANDLE_LIBRARY))
		return TS_CU_ERROR_INVALID_HANDLE;
	r = library_module(context, library, &m);
	return r ? r : variable_find(m, name, managed, dev_ptr, bytes);
}

static int get_global(uint64_t *dev_ptr, size_t *bytes, void *library, const char *name)
{
	return get_variable(dev_ptr, bytes, library, name, false);
}

static int get_managed(uint64_t *dev_ptr, size_t *bytes, void *library, const char *name)
{
	return get_variable(dev_ptr, bytes, library, name, true);
}

static int kernel_get_function(void **func, void *kernel)
{
	struct context *context;
	struct function *f;
	int r = context_current(&context);

	if (r)
		return r;
	if (!func)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!handle_is(kernel, HANDLE_KERNEL))
		return TS_CU_ERROR_INVALID_HANDLE;
	r = kernel_function(context, kernel, &f);
	if (!r)
		*func = f;
	return r;
}

static int kernel_get_library(void **lib, void *kernel)
{
	struct kernel *k = kernel;
	int r = check_ready();

	if (r)
		return r;
	if (!lib)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!handle_is(k, HANDLE_KERNEL))
		return TS_CU_ERROR_INVALID_HANDLE;
	*lib = k->library;
	return 0;
}

static int get_name(const char **name, void *func)
{
	int r = check_ready();

	if (r)
		return r;
	if (!name)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!function_name(func))
		return TS_CU_ERROR_INVALID_HANDLE;
	*name = function_name(func);
	return 0;
}

#include "tools/vgpu/generated-cuda-library.h"
