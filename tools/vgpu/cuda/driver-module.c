/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: code that a context loads, its kernels, and its variables in device memory. library.c
 * has libraries, which belong to the process. The first use of a library's kernel in a context
 * calls module_new() for that context. Programs call this file through the functions of
 * generated-cuda-module.h; this file calls vgpu-module.c.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/vgpu/cuda/driver.h"

/* Larger than any real module. */
#define FILE_MAX (1ll << 30)

static unsigned context_cc(const struct context *context)
{
	const struct ts_vgpu_shape *shape =
		ts_vgpu_device_shape(device_get((int32_t)context->device));

	return shape->cc_major * 10 + shape->cc_minor;
}

/* Prints one line on stderr: the module, its file and the error. */
static void complain(const void *image, const char *message)
{
	Dl_info info;

	if (dladdr(image, &info) && info.dli_fname)
		fprintf(stderr, "tracesmith: virtual GPU: module at %p in %s: %s\n", image,
			info.dli_fname, message);
	else
		fprintf(stderr, "tracesmith: virtual GPU: module at %p: %s\n", image, message);
}

int code_new(const void *image, unsigned cc, struct ts_vgpu_module **ret_code)
{
	char message[256];
	/* AMD's code is for HIP, whose library contains the driver. */
	int r = driver.timed_kernels && driver.is_contained
			? ts_vgpu_module_new_timed(image, cc, ret_code, message, sizeof(message))
			: ts_vgpu_module_new(image, cc, ret_code, message, sizeof(message));

	switch (r) {
	case 0:
		return 0;
	case TS_VGPU_MODULE_E_NO_PTX:
		complain(image, message);
		return TS_CU_ERROR_NO_BINARY_FOR_GPU;
	case TS_VGPU_MODULE_E_PTX:
		complain(image, message);
		return TS_CU_ERROR_INVALID_PTX;
	case TS_VGPU_MODULE_E_AMD:
		complain(image, message);
		return TS_CU_ERROR_INVALID_IMAGE;
	case TS_VGPU_MODULE_E_IMAGE:
		return TS_CU_ERROR_INVALID_IMAGE;
	default:
		return result_of(r);
	}
}

static int variable_write(struct module *module, size_t i)
{
	struct ts_vgpu_stream *stream = ts_vgpu_context_legacy(module->context->vctx);
	uint64_t bytes = module->code->variables[i].bytes;
	uint8_t *value = malloc(bytes);
	struct ts_vgpu_copy copy = {
		.src = (uint64_t)(uintptr_t)value,
		.dst = module->addresses[i],
		.width = bytes,
		.height = 1,
		.depth = 1,
	};
	int r;

	if (!value)
		return -ENOMEM;
	ts_vgpu_module_initial(module->code, i, value);
	r = ts_vgpu_copy(stream, &copy);
	free(value);
	return r;
}

/*
 * Allocates the variables in the context's memory and writes their initial values, which may be
 * addresses of variables.
 */
static int variables_make(struct module *module)
{
	struct context *context = module->context;
	int r = 0;

	for (size_t i = 0; !r && i < module->code->n_variables; i++) {
		const struct ts_vgpu_variable *v = &module->code->variables[i];
		/* A variable without a size also has an address. */
		uint64_t bytes = v->bytes ? v->bytes : 1;

		r = v->managed
			    ? ts_vgpu_alloc_managed(context->vctx, bytes, 0, &module->addresses[i])
			    : ts_vgpu_alloc(context->vctx, bytes, 0, NULL, &module->addresses[i]);
		if (!r)
			report_memory(TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
				      v->managed ? TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC
						 : TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC,
				      context, module->addresses[i], bytes);
	}
	if (!r && ts_vgpu_module_place(module->code, module->addresses)) {
		fprintf(stderr, "tracesmith: virtual GPU: the alignment of a variable is larger "
				"than the device supports\n");
		return TS_CU_ERROR_NOT_SUPPORTED;
	}
	for (size_t i = 0; !r && i < module->code->n_variables; i++)
		if (module->code->variables[i].bytes)
			r = variable_write(module, i);
	return result_of(r);
}

/* Removes the function from its kernel's cache. */
static void kernel_forget(struct function *function)
{
	struct function *expected = function;

	if (function->kernel)
		atomic_compare_exchange_strong(&function->kernel->cached, &expected, NULL);
}

static void module_free(struct module *module)
{
	if (!module)
		return;
	for (size_t i = 0; module->addresses && i < module->code->n_variables; i++)
		if (module->addresses[i])
			ts_vgpu_free_memory(module->context->vctx, module->addresses[i]);
	for (size_t i = 0; module->functions && i < module->code->n_kernels; i++) {
		kernel_forget(&module->functions[i]);
		module->functions[i].handle.kind = 0;
	}
	free(module->addresses);
	free(module->functions);
	if (module->borrowed)
		module->library->lent = false;
	else
		ts_vgpu_module_free(module->code);
	handle_free(module, sizeof(*module));
}

/*
 * The first context that loads a library uses the library's code. Addresses differ in other
 * contexts, so they compile their own code.
 */
static int module_code(struct module *module, const void *image)
{
	struct library *library = module->library;
	unsigned cc = context_cc(module->context);

	if (library && library->cc == cc && !library->lent) {
		library->lent = true;
		module->borrowed = true;
		module->code = library->code;
		return 0;
	}
	return code_new(image, cc, &module->code);
}

int module_new(struct context *context, const void *image, struct library *library,
	       struct module **ret_module)
{
	struct module *module = handle_new(HANDLE_MODULE, sizeof(*module));
	const struct ts_vgpu_shape *shape;
	int r;

	if (!module)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	module->context = context;
	module->library = library;
	r = module_code(module, image);
	if (r) {
		handle_free(module, sizeof(*module));
		return r;
	}
	/* Never NULL, so that a module without kernels or variables needs no special case. */
	module->functions = calloc(module->code->n_kernels + 1, sizeof(*module->functions));
	module->addresses = calloc(module->code->n_variables + 1, sizeof(*module->addresses));
	if (!module->functions || !module->addresses) {
		module_free(module);
		return TS_CU_ERROR_OUT_OF_MEMORY;
	}
	shape = ts_vgpu_device_shape(device_get((int32_t)context->device));
	for (size_t i = 0; i < module->code->n_kernels; i++) {
		struct function *f = &module->functions[i];

		f->handle.kind = HANDLE_FUNCTION;
		f->module = module;
		f->decl = &module->code->kernels[i];
		f->name = intern(f->decl->name);
		f->max_dynamic_shared_bytes =
			f->decl->static_shared_bytes < shape->shared_bytes_per_block
				? shape->shared_bytes_per_block - f->decl->static_shared_bytes
				: 0;
		f->carveout = -1;
		if (!f->name) {
			module_free(module);
			return TS_CU_ERROR_OUT_OF_MEMORY;
		}
	}
	r = variables_make(module);
	if (r) {
		module_free(module);
		return r;
	}
	module->image = module->code->n_texts ? module->code->texts[0] : "";
	module->image_bytes = strlen(module->image);
	pthread_mutex_lock(&driver.lock);
	module->id = ++driver.next_module_id;
	module->next = context->modules;
	context->modules = module;
	pthread_mutex_unlock(&driver.lock);
	report_module(TS_CUPTI_CBID_RESOURCE_MODULE_LOADED, context, module->id, module->image,
		      module->image_bytes);
	*ret_module = module;
	return 0;
}

void module_destroy(struct module *module)
{
	struct context *context = module->context;

	/* Queued work refers to the code. */
	ts_vgpu_context_synchronize(context->vctx);
	report_module(TS_CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, context, module->id,
		      module->image, module->image_bytes);
	pthread_mutex_lock(&driver.lock);
	for (struct module **at = &context->modules; *at; at = &(*at)->next)
		if (*at == module) {
			*at = module->next;
			break;
		}
	pthread_mutex_unlock(&driver.lock);
	module_free(module);
}

void modules_destroy(struct context *context)
{
	while (context->modules)
		module_destroy(context->modules);
}

int read_file(const char *path, char **ret_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes;
	ssize_t n = 0;
	off_t got = 0;

	if (fd < 0)
		return TS_CU_ERROR_FILE_NOT_FOUND;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX ||
	    st.st_size < (off_t)sizeof(uint32_t)) {
		close(fd);
		return TS_CU_ERROR_INVALID_IMAGE;
	}
	bytes = malloc((size_t)st.st_size + 1);
	if (!bytes) {
		close(fd);
		return TS_CU_ERROR_OUT_OF_MEMORY;
	}
	while (got < st.st_size && (n = read(fd, bytes + got, (size_t)(st.st_size - got))) > 0)
		got += n;
	close(fd);
	if (got < st.st_size) {
		free(bytes);
		return TS_CU_ERROR_FILE_NOT_FOUND;
	}
	bytes[got] = 0;
	*ret_bytes = bytes;
	return 0;
}

static int load_data(void **module, const void *image)
{
	struct context *context;
	struct module *made;
	int r = context_current(&context);

	if (r)
		return r;
	if (!module || !image)
		return TS_CU_ERROR_INVALID_VALUE;
	r = module_new(context, image, NULL, &made);
	if (!r)
		*module = made;
	return r;
}

/* There is no JIT compiler: its options are ignored, and its log buffers are reported as empty. */
static int load_data_ex(void **module, const void *image, uint32_t num_options, int32_t *options,
			void **option_values)
{
	for (uint32_t i = 0; options && option_values && i < num_options; i++)
		if (options[i] == TS_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
		    options[i] == TS_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
			option_values[i] = NULL;
	return load_data(module, image);
}

static int load_file(void **module, const char *fname)
{
	char *bytes;
	int r = check_ready();

	if (r)
		return r;
	if (!module || !fname)
		return TS_CU_ERROR_INVALID_VALUE;
	r = read_file(fname, &bytes);
	if (r)
		return r;
	r = load_data(module, bytes);
	free(bytes);
	return r;
}

static int unload(void *module)
{
	struct module *m = module;
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(m, HANDLE_MODULE))
		return TS_CU_ERROR_INVALID_HANDLE;
	/* A library's module is unloaded with the library. */
	if (m->library)
		return TS_CU_ERROR_NOT_PERMITTED;
	module_destroy(m);
	return 0;
}

static int get_loading_mode(int32_t *mode)
{
	int r = check_ready();

	if (r)
		return r;
	if (!mode)
		return TS_CU_ERROR_INVALID_VALUE;
	*mode = TS_CU_MODULE_LAZY_LOADING;
	return 0;
}

static int get_function(void **func, void *module, const char *name)
{
	struct module *m = module;
	int r = check_ready();

	if (r)
		return r;
	if (!func || !name)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!handle_is(m, HANDLE_MODULE))
		return TS_CU_ERROR_INVALID_HANDLE;
	for (size_t i = 0; i < m->code->n_kernels; i++)
		if (!strcmp(m->code->kernels[i].name, name)) {
			*func = &m->functions[i];
			return 0;
		}
	return TS_CU_ERROR_NOT_FOUND;
}

static int get_function_count(uint32_t *count, void *mod)
{
	struct module *m = mod;
	int r = check_ready();

	if (r)
		return r;
	if (!count || !handle_is(m, HANDLE_MODULE))
		return TS_CU_ERROR_INVALID_VALUE;
	*count = (uint32_t)m->code->n_kernels;
	return 0;
}

static int enumerate_functions(void **functions, uint32_t num_functions, void *mod)
{
	struct module *m = mod;
	int r = check_ready();

	if (r)
		return r;
	if (!functions || !handle_is(m, HANDLE_MODULE))
		return TS_CU_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < num_functions && i < m->code->n_kernels; i++)
		functions[i] = &m->functions[i];
	return 0;
}

int variable_find(struct module *m, const char *name, bool managed, uint64_t *dev_ptr,
		  size_t *bytes)
{
	const struct ts_vgpu_variable *v = ts_vgpu_module_variable(m->code, name);

	if (!v || v->managed != managed)
		return TS_CU_ERROR_NOT_FOUND;
	if (dev_ptr)
		*dev_ptr = m->addresses[v - m->code->variables];
	if (bytes)
		*bytes = v->bytes;
	return 0;
}

static int get_global(uint64_t *dev_ptr, size_t *bytes, void *module, const char *name)
{
	struct module *m = module;
	int r = check_ready();

	if (r)
		return r;
	if (!name)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!handle_is(m, HANDLE_MODULE))
		return TS_CU_ERROR_INVALID_HANDLE;
	r = variable_find(m, name, false, dev_ptr, bytes);
	return r == TS_CU_ERROR_NOT_FOUND ? variable_find(m, name, true, dev_ptr, bytes) : r;
}

#include "tools/vgpu/generated-cuda-module.h"
