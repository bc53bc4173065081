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
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "inject/context.h"
#include "inject/hip/hip-recorder.h"
#include "inject/hip/hip-references.h"
#include "inject/hip/hip-slots.h"
#include "inject/ring/futex.h"
#include "inject/shim.h"
#include "proto/abi/session.h"
#include "proto/abi/vendor/hip.h"

/* Without pointers, so that the loader writes nothing here in processes without HIP. */
struct symbol {
	char name[56], node[8];
	uint32_t slot; /* in the runtime's dispatch table, whether it has one or not */
};

static void *resolve(size_t index, const void *caller);

/* By index of a symbol: the function to call; NULL: not found yet. */
static void *targets[];

static inline __attribute__((always_inline)) void *target(size_t index)
{
	/* Acquire: pairs with the release in resolve(). */
	void *found = __atomic_load_n(&targets[index], __ATOMIC_ACQUIRE);

	return ts_likely(found) ? found : resolve(index, __builtin_return_address(0));
}

#define SYMBOL		    __attribute__((visibility("default")))
#define VERSION(name, node) __asm__(".symver ts_hip_symbol_" #name ", " #name "@hip_" #node);

#include "inject/generated-hip-symbols.h"

static void *targets[TS_ARRAY_LEN(symbols)];

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
	static const struct symbol others[] = {
		{"hipGetDeviceCount", "hip_4.2", TS_HIP_SLOT_hipGetDeviceCount},
		/* The name of 5.x for this layout; later releases have it, too. */
		{"hipGetDeviceProperties", "hip_4.2", TS_HIP_SLOT_hipGetDevicePropertiesR0000},
		{"hipGetDevicePropertiesR0600", "hip_6.0", TS_HIP_SLOT_hipGetDevicePropertiesR0600},
		{"hipPeekAtLastError", "hip_4.2", TS_HIP_SLOT_hipPeekAtLastError},
		{"hipRuntimeGetVersion", "hip_4.2", TS_HIP_SLOT_hipRuntimeGetVersion},
	};
	struct ts_hip_runtime *runtime = &ts_loaded.hip;
	/* Never closed: the runtime stays loaded, as its functions are kept. */
	void *handle;
	Dl_info info;

	if (!dladdr(function, &info) || !info.dli_fname)
		return false;
	handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return false;
	for (size_t i = 0; i < TS_ARRAY_LEN(symbols); i++)
		if (symbols[i].slot < TS_HIP_MAX_SLOTS)
			runtime->next[symbols[i].slot] =
				dlvsym(handle, symbols[i].name, symbols[i].node);
	for (size_t i = 0; i < TS_ARRAY_LEN(others); i++)
		runtime->next[others[i].slot] = dlvsym(handle, others[i].name, others[i].node);
	runtime->n_slots = TS_HIP_MAX_SLOTS;
	return true;
}

/* ---- which way ------------------------------------------------------------------------------- */

#define DECIDING 1u
#define DECIDED	 2u

/* Longest wait for another thread's decision; then the call passes through. */
#define DECIDE_NS UINT64_C(2000000000)

static uint32_t decision;
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
	uint32_t now = __atomic_load_n(&decision, __ATOMIC_ACQUIRE);

	if (now == DECIDED || deciding)
		return;
	if (!now && __atomic_compare_exchange_n(&decision, &now, DECIDING, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
		__atomic_store_n(&decider, getpid(), __ATOMIC_RELAXED);
		deciding = true;
		choose(library);
		deciding = false;
		ts_futex_set(&decision, DECIDED);
	} else if (now == DECIDING && __atomic_load_n(&decider, __ATOMIC_RELAXED) == getpid()) {
		/* Another thread decides; in a forked child nobody would. */
		(void)ts_futex_wait_for(&decision, DECIDED, DECIDE_NS);
	}
}

/* The target for a library outside the global scope. The first such reference decides as well. */
static void *choose_target(void *library, size_t index, bool *ret_keep)
{
	void *function = dlvsym(library, symbols[index].name, symbols[index].node);

	if (function)
		decide(library);
	*ret_keep = __atomic_load_n(&decision, __ATOMIC_ACQUIRE) == DECIDED;
	return *ret_keep ? wrap(index, function) : function;
}

static void *resolve(size_t index, const void *caller)
{
	const struct symbol *symbol = &symbols[index];
	int saved_errno = errno;
	void *function = dlvsym(RTLD_NEXT, symbol->name, symbol->node);

	if (function) {
		decide(RTLD_NEXT);
		function = wrap(index, function);
		if (__atomic_load_n(&decision, __ATOMIC_ACQUIRE) == DECIDED)
			/* Release: pairs with the acquire in target(). */
			__atomic_store_n(&targets[index], function, __ATOMIC_RELEASE);
	} else {
		/* The first one in the global scope is this library's own. */
		function = ts_hip_rebind(dlvsym(RTLD_DEFAULT, symbol->name, symbol->node), caller,
					 choose_target, index);
	}
	errno = saved_errno;
	return function;
}
