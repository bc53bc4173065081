/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for AMD's librocprofiler-register, with the behaviour of version 0.5.0: receives the
 * tables of HIP and passes them to a tool, if one is requested. libamdhip64 calls this file.
 * test/integration/test-hip.py preloads it after the shim, so the shim gets the tables first.
 *
 * A tool is requested if ROCPROFILER_REGISTER_LIBRARY or ROCP_TOOL_LIBRARIES is set, or if a loaded
 * library has rocprofiler_configure(). The tool is the function rocprofiler_set_api_table() of a
 * loaded library. If no loaded library has it, the stand-in loads ROCPROFILER_REGISTER_LIBRARY, or
 * else librocprofiler-sdk.so. If this library lacks the function too, the process aborts.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY_ENVIRONMENT "ROCPROFILER_REGISTER_LIBRARY"
#define TOOLS_ENVIRONMENT   "ROCP_TOOL_LIBRARIES"
#define ENABLED_ENVIRONMENT "ROCPROFILER_REGISTER_ENABLED"
#define DEFAULT_LIBRARY	    "librocprofiler-sdk.so"
#define ENTRY		    "rocprofiler_set_api_table"

/* Copies of one library in a process. */
#define MAX_INSTANCES 8u

enum registration {
	DONE = 0,
	NO_TOOLS = 1,
	BAD_LENGTH = 3,
	UNSUPPORTED = 4,
	TOOL_FAILED = 6,
	EXCESS = 7,
};

typedef int (*set_table_fn)(const char *name, uint64_t version, uint64_t instance, void **tables,
			    uint64_t n_tables);

static const char *const names[] = {"hsa", "hip", "roctx", "hip_compiler"};
static uint64_t n_instances[sizeof(names) / sizeof(names[0])];

static bool is_enabled(void)
{
	const char *value = getenv(ENABLED_ENVIRONMENT);

	return !value || strcmp(value, "0");
}

static set_table_fn load_tool(const char *path)
{
	set_table_fn set_table = NULL;
	void *library;

	*(void **)&set_table = dlsym(RTLD_DEFAULT, ENTRY);
	if (set_table)
		return set_table;
	library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
	if (library)
		*(void **)&set_table = dlsym(library, ENTRY);
	if (set_table)
		return set_table;
	fprintf(stderr, "register-standin: %s has no " ENTRY "()\n", path);
	abort();
}

/* Returns the tool's function. NULL: no tool is requested. */
static set_table_fn find_tool(void)
{
	const char *library = getenv(LIBRARY_ENVIRONMENT), *tools = getenv(TOOLS_ENVIRONMENT);

	if (library && *library)
		return load_tool(library);
	if (dlsym(RTLD_DEFAULT, "rocprofiler_configure") || (tools && *tools))
		return load_tool(DEFAULT_LIBRARY);
	return NULL;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int rocprofiler_register_library_api_table(const char *name, int (*import)(void),
						  uint32_t version, void **tables,
						  uint64_t n_tables, uint64_t *ret_id);

int rocprofiler_register_library_api_table(const char *name, int (*import)(void), uint32_t version,
					   void **tables, uint64_t n_tables, uint64_t *ret_id)
{
	set_table_fn set_table;
	uint64_t instance;
	size_t place = 0;

	(void)import;
	if (!n_tables)
		return BAD_LENGTH;
	if (!is_enabled())
		return NO_TOOLS;
	set_table = find_tool();
	while (place < sizeof(names) / sizeof(names[0]) && strcmp(names[place], name))
		place++;
	if (place == sizeof(names) / sizeof(names[0]))
		return UNSUPPORTED;
	instance = __atomic_fetch_add(&n_instances[place], 1, __ATOMIC_RELAXED);
	if (instance >= MAX_INSTANCES)
		return EXCESS;
	*ret_id = MAX_INSTANCES * place + instance;
	if (!set_table)
		return NO_TOOLS;
	return set_table(name, version, instance, tables, n_tables) ? TOOL_FAILED : DONE;
}
