// SPDX-License-Identifier: Apache-2.0
/*
 * The library's load: names the functions for the dispatch tables (hip-tables.c), and sets up the
 * driver that is linked in. No other file calls this file.
 */
#include "tools/vgpu/generated-hip-slots.h"
#include "tools/vgpu/hip/hip-face.h"

/* Only the addresses matter here. */
#define DECLARE_SERVED(name)  void impl_##name(void);
#define DECLARE_REFUSED(name) void impl_##name(void);
#define DECLARE_NONE(name)
#define DECLARE(place, name, kind) DECLARE_##kind(name)
TS_HIP_SLOTS(DECLARE)
TS_HIP_COMPILER_SLOTS(DECLARE)

#define ADDRESS_SERVED(name)	   (void *)impl_##name
#define ADDRESS_REFUSED(name)	   (void *)impl_##name
#define ADDRESS_NONE(name)	   NULL
#define ADDRESS(place, name, kind) [(place)] = ADDRESS_##kind(name),

/* Indexed by place; place 0 is the size. */
static void *const runtime_functions[] = {TS_HIP_SLOTS(ADDRESS)};
static void *const compiler_functions[] = {TS_HIP_COMPILER_SLOTS(ADDRESS)};

#define N(functions) (sizeof(functions) / sizeof(functions[0]))

__attribute__((constructor)) static void on_load(void)
{
	release_select();
	tables_fill(runtime_functions, N(runtime_functions), compiler_functions,
		    N(compiler_functions));
	driver.default_spec = "mi300";
	/* A HIP process has no CUDA injection. */
	driver.is_contained = true;
}
