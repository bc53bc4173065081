/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers code that nvcc embeds in programs. Constructors of the program register fatbins, and
 * the kernel or device variable of each host function or host variable. A fatbin is loaded at its
 * first use, so a program that never uses a GPU starts no driver. Launch stubs request a kernel by
 * its host function's address. runtime-launch.c and the copy files look up kernels and variables
 * here.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/map.h"
#include "tools/vgpu/cudart/runtime.h"

struct fatbin {
	const void *wrapper;
	int (*read)(const void *wrapper, void **ret_image); /* NULL: the wrapper is the image */
	void *image;					    /* from read */
	void *library;					    /* NULL before the first use */
	int error;					    /* result of loading it */
	bool loaded;
	struct symbol *symbols; /* linked by `next` */
	struct fatbin *next;
};

/* A key for a device object: a host function, a host variable, or a kernel handle. */
struct symbol {
	const void *key;
	struct fatbin *fatbin;
	const char *name; /* from the program; for a kernel handle, from the driver */
	void *kernel;
	void **managed; /* the program's pointer to a managed variable */
	struct symbol *next;
	struct symbol *older; /* older symbol with the same key */
};

static struct {
	pthread_rwlock_t lock;
	struct ts_map newest; /* symbols by key */
	struct fatbin *fatbins;
} registered = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static struct symbol *find(const void *key)
{
	struct symbol *symbol;

	pthread_rwlock_rdlock(&registered.lock);
	symbol = ts_map_get_pointer(&registered.newest, address(key));
	pthread_rwlock_unlock(&registered.lock);
	return symbol;
}

static void add(struct fatbin *fatbin, const void *key, const char *name, void *kernel,
		void **managed)
{
	struct symbol *symbol = fatbin ? malloc(sizeof(*symbol)) : NULL;

	/*
	 * Constructors call this function and cannot handle an error. A later use fails: invalid
	 * device function.
	 */
	if (!symbol)
		return;
	*symbol = (struct symbol){
		.key = key, .fatbin = fatbin, .name = name, .kernel = kernel, .managed = managed};
	pthread_rwlock_wrlock(&registered.lock);
	symbol->older = ts_map_get_pointer(&registered.newest, address(key));
	if (ts_map_set_pointer(&registered.newest, address(key), symbol)) {
		free(symbol);
	} else {
		symbol->next = fatbin->symbols;
		fatbin->symbols = symbol;
	}
	pthread_rwlock_unlock(&registered.lock);
}

/* The caller holds the lock. */
static void remove_symbol(const struct symbol *symbol)
{
	struct symbol *newest = ts_map_get_pointer(&registered.newest, address(symbol->key));
	struct symbol **at = &newest->older;

	if (newest == symbol) {
		(void)ts_map_set_pointer(&registered.newest, address(symbol->key), symbol->older);
		return;
	}
	while (*at != symbol)
		at = &(*at)->older;
	*at = symbol->older;
}

void **code_register(const void *wrapper, int (*read)(const void *wrapper, void **ret_image))
{
	struct fatbin *fatbin = calloc(1, sizeof(*fatbin));

	if (!fatbin)
		return NULL;
	fatbin->wrapper = wrapper;
	fatbin->read = read;
	pthread_rwlock_wrlock(&registered.lock);
	fatbin->next = registered.fatbins;
	registered.fatbins = fatbin;
	pthread_rwlock_unlock(&registered.lock);
	return (void **)fatbin;
}

API void **__cudaRegisterFatBinary(void *wrapper)
{
	return code_register(wrapper, NULL);
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
	/* Loading is lazy, so there is nothing to do. */
}

API void __cudaUnregisterFatBinary(void **handle)
{
	struct fatbin *fatbin = (struct fatbin *)handle;
	struct symbol *symbol;

	if (!fatbin)
		return;
	pthread_rwlock_wrlock(&registered.lock);
	while ((symbol = fatbin->symbols)) {
		fatbin->symbols = symbol->next;
		remove_symbol(symbol);
		free(symbol);
	}
	for (struct fatbin **at = &registered.fatbins; *at; at = &(*at)->next)
		if (*at == fatbin) {
			*at = fatbin->next;
			break;
		}
	pthread_rwlock_unlock(&registered.lock);
	/* At exit the vendor's driver is already unloaded, so there is no unload call. */
	if (fatbin->library && !exiting()) {
		cuLibraryUnload(fatbin->library);
		free(fatbin->image);
	}
	free(fatbin);
}

API void __cudaRegisterFunction(void **handle, const char *host_function, char *device_symbol,
				const char *name, int thread_limit, void *tid, void *bid,
				void *block_dim, void *grid_dim, int *warp_size)
{
	add((struct fatbin *)handle, host_function, name, NULL, NULL);
}

API void __cudaRegisterVar(void **handle, char *host_variable, char *device_symbol,
			   const char *name, int external, size_t bytes, int constant, int global)
{
	add((struct fatbin *)handle, host_variable, name, NULL, NULL);
}

API void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device_symbol,
				  const char *name, int external, size_t bytes, int constant,
				  int global)
{
	add((struct fatbin *)handle, host_pointer, name, NULL, host_pointer);
}

API void __cudaRegisterHostVar(void **handle, const char *name, char *host_variable, size_t bytes)
{
	/* Host memory that device code uses: nothing is needed before device code runs. */
}

/* Sets the program's pointers to the fatbin's managed variables. The library is loaded. */
static void set_managed(struct fatbin *fatbin)
{
	uint64_t where;
	size_t bytes;

	for (struct symbol *s = fatbin->symbols; s; s = s->next)
		if (s->managed && !cuLibraryGetManaged(&where, &bytes, fatbin->library, s->name))
			*s->managed = (void *)(uintptr_t)where;
}

static int load(struct fatbin *fatbin)
{
	static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
	int r = ready();

	if (r || __atomic_load_n(&fatbin->loaded, __ATOMIC_ACQUIRE))
		return r ? r : fatbin->error;
	pthread_mutex_lock(&loading);
	if (!fatbin->loaded) {
		if (fatbin->read)
			fatbin->error = fatbin->read(fatbin->wrapper, &fatbin->image);
		if (!fatbin->error)
			fatbin->error =
				cuLibraryLoadData(&fatbin->library,
						  fatbin->read ? fatbin->image : fatbin->wrapper,
						  NULL, NULL, 0, NULL, NULL, 0);
		if (!fatbin->error)
			set_managed(fatbin);
		__atomic_store_n(&fatbin->loaded, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&loading);
	return fatbin->error;
}

API char __cudaInitModule(void **handle)
{
	return handle && !load((struct fatbin *)handle);
}

static int symbol_kernel(struct symbol *symbol, void **ret_kernel)
{
	void *kernel = __atomic_load_n(&symbol->kernel, __ATOMIC_ACQUIRE);
	int r;

	if (!kernel) {
		r = load(symbol->fatbin);
		if (!r)
			r = cuLibraryGetKernel(&kernel, symbol->fatbin->library, symbol->name);
		if (r)
			return r == TS_CU_ERROR_NOT_FOUND ? TS_CUDA_ERROR_INVALID_DEVICE_FUNCTION
							  : r;
		/* The kernel's handle also finds its name. */
		if (!find(kernel))
			add(symbol->fatbin, kernel, symbol->name, kernel, NULL);
		__atomic_store_n(&symbol->kernel, kernel, __ATOMIC_RELEASE);
	}
	*ret_kernel = kernel;
	return 0;
}

int kernel_of(const void *func, void **ret_kernel)
{
	struct symbol *symbol = find(func);

	if (!func)
		return TS_CUDA_ERROR_INVALID_DEVICE_FUNCTION;
	if (symbol)
		return symbol_kernel(symbol, ret_kernel);
	/* A kernel handle from cudaLibraryGetKernel; the driver checks it. */
	*ret_kernel = (void *)(uintptr_t)func;
	return 0;
}

const void *host_function_of(const void *kernel)
{
	const void *key = NULL;

	pthread_rwlock_rdlock(&registered.lock);
	for (const struct fatbin *fatbin = registered.fatbins; fatbin && !key;
	     fatbin = fatbin->next)
		for (const struct symbol *one = fatbin->symbols; one && !key; one = one->next)
			if (one->key != kernel &&
			    __atomic_load_n(&one->kernel, __ATOMIC_ACQUIRE) == kernel)
				key = one->key;
	pthread_rwlock_unlock(&registered.lock);
	return key;
}

const char *symbol_name(const void *func)
{
	struct symbol *symbol = armed() ? find(func) : NULL;
	void *kernel;

	if (!symbol)
		return NULL;
	/*
	 * Load the code before the launch is reported, in separate calls, as the vendor's runtime
	 * does.
	 */
	if (!ready())
		(void)kernel_of(func, &kernel);
	return symbol->name;
}

int variable_of(const void *key, uint64_t *ret_address, size_t *ret_bytes)
{
	struct symbol *symbol = find(key);
	int r;

	if (!symbol)
		return TS_CUDA_ERROR_INVALID_SYMBOL;
	r = load(symbol->fatbin);
	if (r)
		return r;
	r = symbol->managed ? cuLibraryGetManaged(ret_address, ret_bytes, symbol->fatbin->library,
						  symbol->name)
			    : cuLibraryGetGlobal(ret_address, ret_bytes, symbol->fatbin->library,
						 symbol->name);
	return r == TS_CU_ERROR_NOT_FOUND ? TS_CUDA_ERROR_INVALID_SYMBOL : r;
}

static int get_kernel(void **kernel_ptr, const void *entry_func_addr)
{
	const char *name;
	void *kernel;
	int r = ready();

	if (r)
		return r;
	if (!kernel_ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	r = kernel_of(entry_func_addr, &kernel);
	/* An unregistered key may be a kernel's handle. */
	if (!r && kernel == entry_func_addr && cuKernelGetName(&name, kernel))
		r = TS_CUDA_ERROR_INVALID_DEVICE_FUNCTION;
	if (!r)
		*kernel_ptr = kernel;
	return r;
}

/*
 * Launch stubs call this function once and store the result; it is not reported. If there is no
 * kernel, the stub gets the host function, so that its launches fail with the reason.
 */
API int __cudaGetKernel(void **kernel, const void *host_function)
{
	int r = get_kernel(kernel, host_function);

	if (r && kernel)
		*kernel = (void *)(uintptr_t)host_function;
	if (r)
		error_keep(r);
	return r;
}

static int get_func_by_symbol(void **function_ptr, const void *symbol_ptr)
{
	void *kernel;
	int r = ready();

	if (r)
		return r;
	if (!function_ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	r = kernel_of(symbol_ptr, &kernel);
	if (!r)
		r = cuKernelGetFunction(function_ptr, kernel);
	return r == TS_CU_ERROR_INVALID_HANDLE ? TS_CUDA_ERROR_INVALID_DEVICE_FUNCTION : r;
}

static int library_load_data(void **library, const void *code, int32_t *jit_options,
			     void **jit_options_values, uint32_t num_jit_options,
			     int32_t *library_options, void **library_option_values,
			     uint32_t num_library_options)
{
	int r = ready();

	return r ? r
		 : cuLibraryLoadData(library, code, jit_options, jit_options_values,
				     num_jit_options, library_options, library_option_values,
				     num_library_options);
}

static int library_load_from_file(void **library, const char *file_name, int32_t *jit_options,
				  void **jit_options_values, uint32_t num_jit_options,
				  int32_t *library_options, void **library_option_values,
				  uint32_t num_library_options)
{
	int r = ready();

	return r ? r
		 : cuLibraryLoadFromFile(library, file_name, jit_options, jit_options_values,
					 num_jit_options, library_options, library_option_values,
					 num_library_options);
}

static int library_unload(void *library)
{
	int r = ready();

	return r ? r : cuLibraryUnload(library);
}

static int library_get_kernel(void **kernel, void *library, const char *name)
{
	int r = ready();

	return r ? r : cuLibraryGetKernel(kernel, library, name);
}

static int library_get_global(void **dev_ptr, size_t *bytes, void *library, const char *name)
{
	int r = ready();

	return r ? r : cuLibraryGetGlobal((uint64_t *)dev_ptr, bytes, library, name);
}

static int library_get_managed(void **dev_ptr, size_t *bytes, void *library, const char *name)
{
	int r = ready();

	return r ? r : cuLibraryGetManaged((uint64_t *)dev_ptr, bytes, library, name);
}

static int library_get_kernel_count(uint32_t *count, void *lib)
{
	int r = ready();

	return r ? r : cuLibraryGetKernelCount(count, lib);
}

static int library_enumerate_kernels(void **kernels, uint32_t num_kernels, void *lib)
{
	int r = ready();

	return r ? r : cuLibraryEnumerateKernels(kernels, num_kernels, lib);
}

static int kernel_set_attribute_for_device(void *kernel, int32_t attr, int32_t value,
					   int32_t device)
{
	int r = ready();

	return r ? r : cuKernelSetAttribute(attr, value, kernel, device);
}

#include "tools/vgpu/generated-cudart-register.h"
