/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives HIP's dispatch tables. libamdhip64 (ROCm 6.2 and later) registers its tables with
 * librocprofiler-register at its first call. This library is preloaded, so its function of that
 * name is called first. It puts the shim's wrappers into the table (hip-wrappers.c), and passes the
 * table on. A tool of rocprofiler-sdk then wraps the wrappers, and both see every call.
 * rocprofiler-link.c loads the shim's own tool of the SDK before, if the runtime needs it.
 *
 * Trap: if a program loads HIP with RTLD_DEEPBIND, or preloads librocprofiler-register before this
 * library, HIP calls the real function, and the process's HIP calls are not recorded.
 *
 * No environment variable is set, and rocprofiler-register loads nothing for the shim: it ends the
 * process if a library in its variable is missing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "inject/annotate/roctx-tool.h"
#include "inject/context.h"
#include "inject/hip/hip-recorder.h"
#include "inject/process/loader-symbols.h"
#include "inject/ring/ring-session.h"
#include "inject/shim.h"
#include "proto/abi/session.h"
#include "proto/abi/vendor/hip.h"

/* The longest table that is believed. HIP's has some 4 KiB. */
#define MAX_TABLE_BYTES 65536u

/* rocprofiler-register's result without a tool. For other errors HIP prints a message. */
#define REGISTER_NO_TOOLS 1

typedef int (*register_fn)(const char *name, void *import, uint32_t version, void **tables,
			   uint64_t n_tables, void *ret_id);

/* Finds the real function, whatever the name of its library. */
static register_fn next_register(void)
{
	register_fn next = NULL;

	*(void **)&next = ts_loader_find("rocprofiler_register_library_api_table");
	return next;
}

/*
 * Returns true once in a process, to the caller with the first table of the compiler's functions. A
 * second copy of the runtime keeps its own table.
 */
static bool claim_compiler(void)
{
	uint32_t none = 0;

	return __atomic_compare_exchange_n(&ts_loaded.hip.compiler_wrapped, &none, 1, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool ts_hip_begin(struct ts_shim *shim)
{
	int r;

	if (!ts_shim_begin())
		return false;
	r = ts_hip_start(shim);
	if (!r && ts_shim_run(shim))
		return true;
	if (r != -EALREADY)
		ts_session_refuse(shim->control, TS_EMPTY_NO_MEMORY,
				  r ? "no memory to record HIP"
				    : "the flush thread could not be started");
	return false;
}

static void take_tables(const char *name, void **tables, uint64_t n_tables)
{
	size_t n_bytes;
	bool is_compiler = name && !strcmp(name, TS_HIP_COMPILER_TABLE_NAME);

	if (name && !strcmp(name, "roctx") && tables && n_tables && tables[0]) {
		ts_roctx_wrap(tables, n_tables);
		return;
	}
	if (!name || (strcmp(name, TS_HIP_TABLE_NAME) != 0 && !is_compiler) || !tables ||
	    !n_tables || !tables[0])
		return;
	/* The table begins with its own size; functions follow. */
	n_bytes = *(const size_t *)tables[0];
	if (n_bytes < 2 * sizeof(void *) || n_bytes > MAX_TABLE_BYTES || n_bytes % sizeof(void *) ||
	    !(is_compiler ? claim_compiler() : ts_hip_claim(TS_INTERFACE_HIP_TABLES)))
		return;
	/* Registering code begins no session: most programs that link HIP use no GPU. */
	if (is_compiler) {
		ts_hip_wrap_compiler(tables[0], n_bytes);
		return;
	}
	if (ts_hip_begin(&ts_shim))
		ts_hip_wrap(tables[0], n_bytes);
}

/* Returns a function of HIP's runtime, the first one of its tables; NULL: another table. */
static const void *first_function(const char *name, void **tables, uint64_t n_tables)
{
	if (!name ||
	    (strcmp(name, TS_HIP_TABLE_NAME) && strcmp(name, TS_HIP_COMPILER_TABLE_NAME)) ||
	    !tables || !n_tables || !tables[0] || *(const size_t *)tables[0] < 2 * sizeof(void *))
		return NULL;
	return ((void **)tables[0])[1];
}

__attribute__((visibility("default"))) int rocprofiler_register_library_api_table(
	const char *name, void *import, uint32_t version, void **tables, uint64_t n_tables,
	void *ret_id);

int rocprofiler_register_library_api_table(const char *name, void *import, uint32_t version,
					   void **tables, uint64_t n_tables, void *ret_id)
{
	int saved_errno = errno, result = REGISTER_NO_TOOLS;
	const void *function;
	register_fn next;

	/* Before the wrappers are in the table. */
	function = first_function(name, tables, n_tables);
	take_tables(name, tables, n_tables);
	ts_rocprofiler_prepare(name, function, version);
	next = next_register();
	errno = saved_errno;
	if (next)
		result = next(name, import, version, tables, n_tables, ret_id);
	saved_errno = errno;
	ts_rocprofiler_passed(name, version, tables, n_tables, next != NULL);
	/* Own failures are not the application's. */
	(void)dlerror();
	errno = saved_errno;
	return result;
}
