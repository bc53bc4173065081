/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands before libamdhip64's functions, for runtimes that register no dispatch table: 5.x to 6.1,
 * and builds of later releases without librocprofiler-register. This library is preloaded, so a
 * program's reference to hipMalloc binds to the function here. At its first call, each function
 * finds its target:
 *
 * 	the runtime registers tables -> the runtime's own function: its table has the wrapper
 * 	it registers none            -> the wrapper of hip-wrappers.c, which calls the runtime
 *
 * The first call of all decides which. It calls hipGetErrorName(), which changes nothing, and at
 * which a runtime with tables registers them (hip-register.c).
 *
 * The functions have AMD's version nodes, hidden as old versions are: hipMalloc@hip_4.2. The loader
 * binds only references with that node to them, as every program has that was linked with AMD's
 * library. dlsym() finds none of them, so a program that asks for hipInit to detect HIP sees no HIP
 * where there is none. The first node of this library has no function: the loader binds references
 * without a node to it.
 *
 * The targets are found as the loader would find them without this library: in the global scope,
 * else in the scope of the library that has the reference. In the second case the reference is
 * rewritten (hip-references.c), so that further calls do not come here.
 *
 * Trap: finding a symbol takes the loader's lock. A library's constructor may hold it while it
 * waits for another thread's call. So the first call in a scope finds the targets of all functions.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inject/calls/call-names.h"
#include "inject/calls/call-thunks.h"
#include "inject/context.h"
#include "inject/hip/hip-code.h"
#include "inject/hip/hip-recorder.h"
#include "inject/hip/hip-references.h"
#include "inject/hip/hip-slots.h"
#include "inject/process/loader.h"
#include "inject/ring/futex.h"
#include "inject/shim.h"
#include "proto/abi/session.h"
#include "proto/abi/vendor/hip.h"

#define PREFIX "hip"

/* Without pointers, so that the loader writes nothing here in processes without HIP. */
struct symbol {
	uint16_t name; /* the offset in HIP's names (call-names.h) */
	uint16_t slot; /* in the runtime's dispatch table, whether it has one or not */
	uint8_t node;  /* in `symbol_nodes` */
};

#define SYMBOL		    __attribute__((visibility("default")))
#define VERSION(name, node) __asm__(".symver ts_hip_symbol_" #name ", " #name "@hip_" #node);

#include "inject/generated-hip-symbols.h"

/*
 * By index of a symbol: the function to call; NULL: not found yet. The thunks read it with acquire,
 * which pairs with the release in fill_targets().
 */
void *ts_hip_targets[TS_ARRAY_LEN(symbols)];

/* The thunks call this. Never returns NULL. */
void *ts_hip_resolve(uint32_t index, const void *caller);

/* The exported functions, in the order of the symbols. */
/* clang-format off */
#define THUNK_(name, node, index)                                      \
	"	.globl ts_hip_symbol_" #name "\n"                     \
	"	.type ts_hip_symbol_" #name ", %function\n"           \
	"	.symver ts_hip_symbol_" #name ", " #name "@hip_" #node "\n" \
	"	.balign " TS_THUNK_TEXT(TS_THUNK_BYTES) "\n"         \
	"ts_hip_symbol_" #name ":\n"                                 \
	TS_THUNK(#index, ".Lts_hip_jump")                          \
	"	.size ts_hip_symbol_" #name ", . - ts_hip_symbol_" #name "\n"
__asm__("	.text\n"
	"	.cfi_startproc\n"
	TS_HIP_SYMBOLS(THUNK_)
	TS_THUNK_SHARED_JUMP(".Lts_hip_jump", "ts_hip_targets", "ts_hip_resolve")
	"	.cfi_endproc\n");
#undef THUNK_
/* clang-format on */

/* Without HIP's prefix. */
static const char *name_of(size_t index)
{
	return ts_call_names(TS_API_HIP).names + symbols[index].name;
}

static void *find_in(void *library, size_t index)
{
	char name[64];

	snprintf(name, sizeof(name), PREFIX "%s", name_of(index));
	return dlvsym(library, name, symbol_nodes[symbols[index].node]);
}

/* ---- the runtime ----------------------------------------------------------------------------- */

/* Returns the target for references that the loader would bind to `function`. */
static void *wrap(size_t index, void *function)
{
	const uint32_t slot = symbols[index].slot;

	if (function && ts_loaded.hip.way == TS_INTERFACE_HIP_SYMBOLS && slot < TS_HIP_MAX_SLOTS &&
	    ts_loaded.hip.next[slot] == function)
		return ts_hip_wrapper(slot);
	return function;
}

/* Fills ts_loaded.hip.next with the functions of the runtime that `function` belongs to. */
static bool fill_next(const void *function)
{
	/* Functions that the session calls and does not watch. */
	static const struct {
		char name[36], node[8];
		uint32_t slot;
	} others[] = {
		{"hipEventElapsedTime", "hip_4.2", TS_HIP_SLOT_hipEventElapsedTime},
		{"hipEventQuery", "hip_4.2", TS_HIP_SLOT_hipEventQuery},
		{"hipGetDeviceCount", "hip_4.2", TS_HIP_SLOT_hipGetDeviceCount},
		/* The name of 5.x for this layout; later releases have it, too. */
		{"hipGetDeviceProperties", "hip_4.2", TS_HIP_SLOT_hipGetDevicePropertiesR0000},
		{"hipGetDevicePropertiesR0600", "hip_6.0", TS_HIP_SLOT_hipGetDevicePropertiesR0600},
		{"hipGetLastError", "hip_4.2", TS_HIP_SLOT_hipGetLastError},
		{"hipKernelNameRef", "hip_4.2", TS_HIP_SLOT_hipKernelNameRef},
		{"hipKernelNameRefByPtr", "hip_4.2", TS_HIP_SLOT_hipKernelNameRefByPtr},
		{"hipPeekAtLastError", "hip_4.2", TS_HIP_SLOT_hipPeekAtLastError},
		{"hipRuntimeGetVersion", "hip_4.2", TS_HIP_SLOT_hipRuntimeGetVersion},
		/* Capture level `replay` asks these. */
		{"hipStreamIsCapturing", "hip_4.3", TS_HIP_SLOT_hipStreamIsCapturing},
		{"hipGetSymbolAddress", "hip_4.2", TS_HIP_SLOT_hipGetSymbolAddress},
		{"hipGetSymbolSize", "hip_4.2", TS_HIP_SLOT_hipGetSymbolSize},
		{"hipGraphGetNodes", "hip_4.4", TS_HIP_SLOT_hipGraphGetNodes},
		{"hipGraphGetEdges", "hip_4.5", TS_HIP_SLOT_hipGraphGetEdges},
		{"hipGraphNodeGetType", "hip_4.5", TS_HIP_SLOT_hipGraphNodeGetType},
		{"hipGraphKernelNodeGetParams", "hip_4.4", TS_HIP_SLOT_hipGraphKernelNodeGetParams},
		{"hipGraphMemcpyNodeGetParams", "hip_4.4", TS_HIP_SLOT_hipGraphMemcpyNodeGetParams},
		{"hipGraphMemsetNodeGetParams", "hip_4.4", TS_HIP_SLOT_hipGraphMemsetNodeGetParams},
		{"hipGraphChildGraphNodeGetGraph", "hip_4.5",
		 TS_HIP_SLOT_hipGraphChildGraphNodeGetGraph},
		{"hipGraphEventRecordNodeGetEvent", "hip_4.5",
		 TS_HIP_SLOT_hipGraphEventRecordNodeGetEvent},
		{"hipGraphEventWaitNodeGetEvent", "hip_4.5",
		 TS_HIP_SLOT_hipGraphEventWaitNodeGetEvent},
		/* Its windows ask these. */
		{"hipGetDevice", "hip_4.2", TS_HIP_SLOT_hipGetDevice},
		{"hipMemGetAddressRange", "hip_4.2", TS_HIP_SLOT_hipMemGetAddressRange},
		{"hipThreadExchangeStreamCaptureMode", "hip_5.0",
		 TS_HIP_SLOT_hipThreadExchangeStreamCaptureMode},
	};
	struct ts_hip_runtime *runtime = &ts_loaded.hip;
	void *handle;
	Dl_info info;

	if (!ts_loader_pin(function) || !dladdr(function, &info) || !info.dli_fname)
		return false;
	/* Never closed. */
	handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return false;
	for (size_t i = 0; i < TS_ARRAY_LEN(symbols); i++)
		if (symbols[i].slot < TS_HIP_MAX_SLOTS)
			runtime->next[symbols[i].slot] = find_in(handle, i);
	for (size_t i = 0; i < TS_ARRAY_LEN(others); i++)
		runtime->next[others[i].slot] = dlvsym(handle, others[i].name, others[i].node);
	runtime->n_slots = TS_HIP_MAX_SLOTS;
	return true;
}

/* ---- which way ------------------------------------------------------------------------------- */

#define DECIDED 1u

/* Longest wait for another thread's decision; then the call passes through. */
#define DECIDE_NS UINT64_C(2000000000)

static uint32_t decision;
/*
 * The process in which a thread decides. A forked child has the parent's number, and none of the
 * parent's other threads.
 */
static pid_t decider;

/* True on the thread that decides: the runtime may call its own functions by their names. */
static __thread bool deciding __attribute__((tls_model("initial-exec")));

/* A function that changes nothing, of the runtime that `library` is linked with. */
static void *error_name_of(void *library)
{
	return dlvsym(library, "hipGetErrorName", "hip_4.2");
}

/* Decides for the process, by the runtime of the first call. library: RTLD_NEXT or a handle. */
static void choose(void *library)
{
	const char *(*error_name)(int32_t) = NULL;

	*(void **)&error_name = error_name_of(library);
	if (!error_name)
		return;
	(void)error_name(0);
	if (!ts_hip_claim(TS_INTERFACE_HIP_SYMBOLS))
		return;
	if (!fill_next((const void *)error_name) || !ts_hip_begin(&ts_shim))
		ts_loaded.hip.way = 0;
}

static void decide(void *library)
{
	const pid_t self = getpid();
	pid_t now = __atomic_load_n(&decider, __ATOMIC_RELAXED);

	if (__atomic_load_n(&decision, __ATOMIC_ACQUIRE) == DECIDED || deciding)
		return;
	if (now != self && __atomic_compare_exchange_n(&decider, &now, self, false,
						       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		/* The parent may have been between its claim and its decision. */
		if (now)
			ts_hip_unclaim();
		deciding = true;
		choose(library);
		deciding = false;
		ts_futex_set(&decision, DECIDED);
	} else {
		/* Another thread decides. */
		(void)ts_futex_wait_for(&decision, DECIDED, DECIDE_NS);
	}
}

/* The target for a library outside the global scope. The first such reference decides as well. */
static void *choose_target(void *library, size_t index, bool *ret_keep)
{
	void *function = find_in(library, index);

	if (function)
		decide(library);
	*ret_keep = __atomic_load_n(&decision, __ATOMIC_ACQUIRE) == DECIDED;
	return *ret_keep ? wrap(index, function) : function;
}

/* Finds all functions of the global scope. They are kept, so their library stays loaded. */
static void fill_targets(void)
{
	const void *function = NULL;

	for (size_t i = 0; i < TS_ARRAY_LEN(symbols); i++) {
		void *next = ts_hip_targets[i] ? NULL : find_in(RTLD_NEXT, i);

		if (!next)
			continue;
		if (!function && !ts_loader_pin(next))
			return;
		function = next;
		/* Release: pairs with the acquire of the thunks. */
		__atomic_store_n(&ts_hip_targets[i], wrap(i, next), __ATOMIC_RELEASE);
	}
}

static size_t find_symbol(const char *name)
{
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return SIZE_MAX;
	for (size_t i = 0; i < TS_ARRAY_LEN(symbols); i++)
		if (!strcmp(name_of(i), name + strlen(PREFIX)))
			return i;
	return SIZE_MAX;
}

/* The first one in the global scope is this library's own. */
static const void *own_symbol(size_t index)
{
	return find_in(RTLD_DEFAULT, index);
}

/* The result of a function that no runtime has. */
static int32_t no_device(void)
{
	return TS_HIP_ERROR_NO_DEVICE;
}

__attribute__((used)) void *ts_hip_resolve(uint32_t index, const void *caller)
{
	const struct ts_hip_rebind rebind = {find_symbol, own_symbol, choose_target};
	int saved_errno = errno;
	void *function = find_in(RTLD_NEXT, index);

	if (function) {
		decide(RTLD_NEXT);
		function = wrap(index, function);
		if (__atomic_load_n(&decision, __ATOMIC_ACQUIRE) == DECIDED)
			fill_targets();
	} else {
		function = ts_hip_rebind(&rebind, caller, index);
	}
	/* Own failures are not the application's. */
	(void)dlerror();
	errno = saved_errno;
	return function ? function : (void *)no_device;
}

/* ---- code ------------------------------------------------------------------------------------ */

/*
 * Constructors of programs and libraries register their code by these functions, and destructors
 * unregister it. These functions do not decide the way: many such programs make no call of HIP. So
 * the references stay, and each library finds the functions of its own runtime.
 */
enum code_symbol {
	REGISTER_CODE,
	REGISTER_FUNCTION,
	REGISTER_VARIABLE,
	REGISTER_MANAGED,
	UNREGISTER_CODE,
	N_CODE_SYMBOLS
};

static const char code_names[N_CODE_SYMBOLS][32] = {
	[REGISTER_CODE] = "__hipRegisterFatBinary",
	[REGISTER_FUNCTION] = "__hipRegisterFunction",
	[REGISTER_VARIABLE] = "__hipRegisterVar",
	[REGISTER_MANAGED] = "__hipRegisterManagedVar",
	[UNREGISTER_CODE] = "__hipUnregisterFatBinary",
};
static const char code_node[] = "hip_4.2";

/* In the global scope; NULL: not found yet. */
static void *code_targets[N_CODE_SYMBOLS];

/* The thread's last registered code: thousands of functions may follow. */
static __thread struct {
	void **modules;
	void *functions[N_CODE_SYMBOLS]; /* of its runtime; NULL: not found yet */
} last_code __attribute__((tls_model("initial-exec")));

static void *choose_code(void *library, size_t index, bool *ret_keep)
{
	*ret_keep = false;
	return dlvsym(library, code_names[index], code_node);
}

static size_t find_code_symbol(const char *name)
{
	for (size_t i = 0; i < N_CODE_SYMBOLS; i++)
		if (!strcmp(code_names[i], name))
			return i;
	return SIZE_MAX;
}

static const void *own_code_symbol(size_t index)
{
	return dlvsym(RTLD_DEFAULT, code_names[index], code_node);
}

/* Returns the runtime's function for the library of the caller. modules: the code; NULL: new. */
static void *code_target(enum code_symbol index, void **modules, const void *caller)
{
	/* Acquire: pairs with the release below. */
	void *function = __atomic_load_n(&code_targets[index], __ATOMIC_ACQUIRE);
	const struct ts_hip_rebind rebind = {find_code_symbol, own_code_symbol, choose_code};
	const bool is_last = modules && last_code.modules == modules;
	int saved_errno = errno;

	if (!function && is_last)
		function = last_code.functions[index];
	if (function)
		return function;
	function = dlvsym(RTLD_NEXT, code_names[index], code_node);
	if (!function)
		function = ts_hip_rebind(&rebind, caller, index);
	else if (ts_loader_pin(function))
		__atomic_store_n(&code_targets[index], function, __ATOMIC_RELEASE);
	if (is_last)
		last_code.functions[index] = function;
	(void)dlerror();
	errno = saved_errno;
	return function;
}

VERSION(__hipRegisterFatBinary, 4.2)
SYMBOL void **ts_hip_symbol___hipRegisterFatBinary(const void *wrapper);
SYMBOL void **ts_hip_symbol___hipRegisterFatBinary(const void *wrapper)
{
	void **(*next)(const void *) =
		code_target(REGISTER_CODE, NULL, __builtin_return_address(0));
	void **modules = next ? next(wrapper) : NULL;

	ts_hip_registered(wrapper, modules);
	last_code.modules = modules;
	memset(last_code.functions, 0, sizeof(last_code.functions));
	return modules;
}

VERSION(__hipRegisterFunction, 4.2)
SYMBOL void ts_hip_symbol___hipRegisterFunction(void **modules, const void *host_function,
						char *device_function, const char *device_name,
						uint32_t thread_limit, struct ts_hip_dim3 *tid,
						struct ts_hip_dim3 *bid,
						struct ts_hip_dim3 *block_dim,
						struct ts_hip_dim3 *grid_dim, int32_t *warp_size);
SYMBOL void ts_hip_symbol___hipRegisterFunction(void **modules, const void *host_function,
						char *device_function, const char *device_name,
						uint32_t thread_limit, struct ts_hip_dim3 *tid,
						struct ts_hip_dim3 *bid,
						struct ts_hip_dim3 *block_dim,
						struct ts_hip_dim3 *grid_dim, int32_t *warp_size)
{
	void (*next)(void **, const void *, char *, const char *, uint32_t, struct ts_hip_dim3 *,
		     struct ts_hip_dim3 *, struct ts_hip_dim3 *, struct ts_hip_dim3 *, int32_t *) =
		code_target(REGISTER_FUNCTION, modules, __builtin_return_address(0));

	if (!next)
		return;
	next(modules, host_function, device_function, device_name, thread_limit, tid, bid,
	     block_dim, grid_dim, warp_size);
	ts_hip_registered_function(modules, host_function, device_name);
}

VERSION(__hipRegisterVar, 4.2)
SYMBOL void ts_hip_symbol___hipRegisterVar(void **modules, void *var, char *host_var,
					   char *device_var, int32_t ext, size_t size,
					   int32_t constant, int32_t global);
SYMBOL void ts_hip_symbol___hipRegisterVar(void **modules, void *var, char *host_var,
					   char *device_var, int32_t ext, size_t size,
					   int32_t constant, int32_t global)
{
	void (*next)(void **, void *, char *, char *, int32_t, size_t, int32_t, int32_t) =
		code_target(REGISTER_VARIABLE, modules, __builtin_return_address(0));

	if (!next)
		return;
	next(modules, var, host_var, device_var, ext, size, constant, global);
	ts_hip_registered_variable(modules, var, device_var);
}

VERSION(__hipRegisterManagedVar, 4.2)
SYMBOL void ts_hip_symbol___hipRegisterManagedVar(void *module, void **pointer, void *init_value,
						  const char *name, size_t size, uint32_t align);
SYMBOL void ts_hip_symbol___hipRegisterManagedVar(void *module, void **pointer, void *init_value,
						  const char *name, size_t size, uint32_t align)
{
	void (*next)(void *, void **, void *, const char *, size_t, uint32_t) =
		code_target(REGISTER_MANAGED, module, __builtin_return_address(0));

	if (!next)
		return;
	next(module, pointer, init_value, name, size, align);
	ts_hip_registered_managed(module);
}

VERSION(__hipUnregisterFatBinary, 4.2)
SYMBOL void ts_hip_symbol___hipUnregisterFatBinary(void **modules);
SYMBOL void ts_hip_symbol___hipUnregisterFatBinary(void **modules)
{
	void (*next)(void **) = code_target(UNREGISTER_CODE, modules, __builtin_return_address(0));

	ts_hip_unregistering(modules);
	if (next)
		next(modules);
}
