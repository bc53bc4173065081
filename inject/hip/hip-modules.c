/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the program's device code to hip-code.c. Constructors of the program and of its libraries
 * register code by the functions of the table `hip_compiler`, before a session exists;
 * hip-register.c puts the wrappers here into that table. Of runtimes without tables, hip-symbols.c
 * reports these calls. hip-calls.c passes the calls that load
 * modules, and that find functions in them.
 */
#include "inject/context.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"

/* Places in the table, in pointers; proto/abi/vendor/hip.calls has all. */
#define SLOT_REGISTER_FAT_BINARY   3u
#define SLOT_REGISTER_FUNCTION	   4u
#define SLOT_REGISTER_MANAGED_VAR  5u
#define SLOT_REGISTER_VAR	   8u
#define SLOT_UNREGISTER_FAT_BINARY 9u
#define N_SLOTS			   10u

static void **(*next_register)(const void *wrapper);
static void (*next_unregister)(void **modules);
static void (*next_function)(void **modules, const void *host_function, char *device_function,
			     const char *device_name, uint32_t thread_limit,
			     struct ts_hip_dim3 *tid, struct ts_hip_dim3 *bid,
			     struct ts_hip_dim3 *block_dim, struct ts_hip_dim3 *grid_dim,
			     int32_t *warp_size);
static void (*next_variable)(void **modules, void *var, char *host_var, char *device_var,
			     int32_t ext, size_t size, int32_t constant, int32_t global);
static void (*next_managed)(void *module, void **pointer, void *init_value, const char *name,
			    size_t size, uint32_t align);

static void **register_fat_binary(const void *wrapper)
{
	void **modules = next_register(wrapper);
	int saved_errno = errno;

	ts_hip_code_register(&ts_loaded.hip.codes, wrapper, modules);
	errno = saved_errno;
	return modules;
}

/* A library is unloaded, or the program ends. */
static void record_unregistered(void **modules)
{
	struct ts_shim *shim = &ts_shim;
	/* Acquire: pairs with make_gate() in shim.c. A forked child finds a wiped page. */
	const struct ts_gate *gate = __atomic_load_n(&shim->gate, __ATOMIC_ACQUIRE);
	int saved_errno = errno;

	if (!gate || __atomic_load_n(&gate->annotations, __ATOMIC_RELAXED) != TS_GATE_OPEN ||
	    ts_tls.busy || !__atomic_load_n(&shim->hip.started, __ATOMIC_ACQUIRE))
		return;
	ts_tls.busy = TS_BUSY_IN_CALL;
	ts_hip_code_unload_registered(shim, modules, ts_tls.hip_device);
	ts_tls.busy = TS_BUSY_NOT;
	errno = saved_errno;
}

static void unregister_fat_binary(void **modules)
{
	record_unregistered(modules);
	ts_hip_code_unregister(&ts_loaded.hip.codes, modules);
	next_unregister(modules);
}

static void register_function(void **modules, const void *host_function, char *device_function,
			      const char *device_name, uint32_t thread_limit,
			      struct ts_hip_dim3 *tid, struct ts_hip_dim3 *bid,
			      struct ts_hip_dim3 *block_dim, struct ts_hip_dim3 *grid_dim,
			      int32_t *warp_size)
{
	next_function(modules, host_function, device_function, device_name, thread_limit, tid, bid,
		      block_dim, grid_dim, warp_size);
	ts_hip_code_add_function(&ts_loaded.hip.codes, host_function, modules, device_name);
}

static void register_variable(void **modules, void *var, char *host_var, char *device_var,
			      int32_t ext, size_t size, int32_t constant, int32_t global)
{
	next_variable(modules, var, host_var, device_var, ext, size, constant, global);
	ts_hip_code_add_variable(&ts_loaded.hip.codes, var, modules, device_var);
}

static void register_managed(void *module, void **pointer, void *init_value, const char *name,
			     size_t size, uint32_t align)
{
	next_managed(module, pointer, init_value, name, size, align);
	ts_hip_code_set_managed(&ts_loaded.hip.codes, module);
}

/* A runtime with tables has just registered code by its table, if its first call was this one. */
static bool is_by_table(void)
{
	return __atomic_load_n(&ts_loaded.hip.compiler_wrapped, __ATOMIC_RELAXED);
}

void ts_hip_registered(const void *wrapper, void **modules)
{
	int saved_errno = errno;

	if (modules && !is_by_table())
		ts_hip_code_register(&ts_loaded.hip.codes, wrapper, modules);
	errno = saved_errno;
}

void ts_hip_registered_function(void **modules, const void *host_function, const char *name)
{
	if (!is_by_table())
		ts_hip_code_add_function(&ts_loaded.hip.codes, host_function, modules, name);
}

void ts_hip_registered_variable(void **modules, const void *variable, const char *name)
{
	if (!is_by_table())
		ts_hip_code_add_variable(&ts_loaded.hip.codes, variable, modules, name);
}

void ts_hip_registered_managed(void *module)
{
	if (!is_by_table())
		ts_hip_code_set_managed(&ts_loaded.hip.codes, module);
}

void ts_hip_unregistering(void **modules)
{
	if (is_by_table())
		return;
	record_unregistered(modules);
	ts_hip_code_unregister(&ts_loaded.hip.codes, modules);
}

void ts_hip_wrap_compiler(void **table, size_t n_bytes)
{
	if (n_bytes < N_SLOTS * sizeof(void *) || !table[SLOT_REGISTER_FAT_BINARY] ||
	    !table[SLOT_REGISTER_FUNCTION] || !table[SLOT_UNREGISTER_FAT_BINARY])
		return;
	*(void **)&next_register = table[SLOT_REGISTER_FAT_BINARY];
	*(void **)&next_function = table[SLOT_REGISTER_FUNCTION];
	*(void **)&next_unregister = table[SLOT_UNREGISTER_FAT_BINARY];
	table[SLOT_REGISTER_FAT_BINARY] = (void *)register_fat_binary;
	table[SLOT_REGISTER_FUNCTION] = (void *)register_function;
	table[SLOT_UNREGISTER_FAT_BINARY] = (void *)unregister_fat_binary;
	if (table[SLOT_REGISTER_VAR]) {
		*(void **)&next_variable = table[SLOT_REGISTER_VAR];
		table[SLOT_REGISTER_VAR] = (void *)register_variable;
	}
	if (table[SLOT_REGISTER_MANAGED_VAR]) {
		*(void **)&next_managed = table[SLOT_REGISTER_MANAGED_VAR];
		table[SLOT_REGISTER_MANAGED_VAR] = (void *)register_managed;
	}
}

/* Returns the handle that a successful call stored. */
static const void *stored(void *const *place)
{
	return place ? *place : NULL;
}

static void add_function(void *const *place, const void *owner, const char *name)
{
	ts_hip_code_add_function(&ts_loaded.hip.codes, stored(place), owner, name);
}

void ts_hip_follow_module(struct ts_shim *shim, uint32_t call, const void *params, uint32_t device)
{
	switch (call) {
	case TS_HIP_CALL_hipModuleLoad:
	case TS_HIP_CALL_hipLibraryLoadFromFile: {
		const struct hipModuleLoad_params *p = params;

		ts_hip_code_load(shim, stored(p->module), p->fname, NULL, device);
		break;
	}
	/* The first two arguments of these calls are alike. */
	case TS_HIP_CALL_hipModuleLoadData:
	case TS_HIP_CALL_hipModuleLoadDataEx:
	case TS_HIP_CALL_hipModuleLoadFatBinary:
	case TS_HIP_CALL_hipLibraryLoadData: {
		const struct hipModuleLoadData_params *p = params;

		ts_hip_code_load(shim, stored(p->module), NULL, p->image, device);
		break;
	}
	case TS_HIP_CALL_hipModuleUnload:
	case TS_HIP_CALL_hipLibraryUnload: {
		const struct hipModuleUnload_params *p = params;

		ts_hip_code_unload(shim, p->module, device);
		break;
	}
	case TS_HIP_CALL_hipModuleGetFunction:
	case TS_HIP_CALL_hipLibraryGetKernel: {
		const struct hipModuleGetFunction_params *p = params;

		add_function(p->func, p->module, p->kname);
		break;
	}
	case TS_HIP_CALL_hipGetFuncBySymbol: {
		const struct hipGetFuncBySymbol_params *p = params;

		add_function(p->function_ptr, p->symbol_ptr, NULL);
		break;
	}
	default:
		break;
	}
}
