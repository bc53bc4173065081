/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins the session of a vendor whose driver loads no tool by itself. The preloaded shim stands
 * before some of the runtime's functions, TS_PTI_ENTRIES(); programs call these. The first call
 * joins the vendor's library to the session (shim.c), and each call goes on to the runtime.
 *
 * Each function has at most six integer or pointer arguments. The calling convention passes them
 * and the result alike, so one form serves all.
 */
#include <dlfcn.h>

#include "inject/context.h"
#include "inject/cuda/family.h"
#include "inject/shim.h"

/* Result if the process has no such runtime: an error in each vendor's numbers. */
#define NO_DEVICE 100

typedef uintptr_t (*entry_fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static uintptr_t no_runtime(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
			    uintptr_t f)
{
	return NO_DEVICE;
}

/*
 * Finds the runtime's function. RTLD_NEXT does not find libraries that were loaded RTLD_LOCAL, such
 * as Python's extensions.
 */
static entry_fn find_next(const struct ts_pti_vendor *vendor, const char *name)
{
	char path[PATH_MAX];
	entry_fn next;
	void *library;

	*(void **)&next = dlsym(RTLD_NEXT, name);
	if (next || !ts_cupti_find_mapped(vendor->runtime, path))
		return next;
	library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return NULL;
	*(void **)&next = dlsym(library, name);
	dlclose(library);
	return next;
}

static entry_fn enter(const struct ts_pti_vendor *vendor, entry_fn *known, const char *name)
{
	const struct ts_gate *gate = __atomic_load_n(&ts_shim.gate, __ATOMIC_ACQUIRE);
	entry_fn next = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (ts_unlikely(!next)) {
		next = find_next(vendor, name);
		/* The runtime may be loaded later: the next call looks again. */
		if (!next)
			return no_runtime;
		__atomic_store_n(known, next, __ATOMIC_RELAXED);
	}
	if (ts_unlikely(!gate || !gate->alive ||
			__atomic_load_n(&ts_shim.cuda_started, __ATOMIC_ACQUIRE) != 2) &&
	    !ts_tls.busy)
		ts_shim_start_gpu(vendor);
	return next;
}

#define TS_FAMILY_ENTRY_(vendor, name)                                                          \
	__attribute__((visibility("default")))                                                  \
	uintptr_t name(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);       \
	uintptr_t name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,         \
		       uintptr_t f)                                                             \
	{                                                                                       \
		static entry_fn next;                                                           \
                                                                                                \
		return enter(&ts_pti_vendors[TS_PTI_##vendor], &next, #name)(a, b, c, d, e, f); \
	}

TS_PTI_ENTRIES(TS_FAMILY_ENTRY_)
