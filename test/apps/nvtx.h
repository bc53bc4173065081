/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX for a test program. If the build has NVIDIA's headers (NVTX_HEADERS), includes them.
 * Otherwise implements the same interface over the project's declarations, and finds its tool in
 * the same way, by NVTX_INJECTION64_PATH. In both cases a program calls the functions by their NVTX
 * names.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "proto/abi/vendor/nvtx.h"

#ifdef NVTX_HEADERS

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

#else

#include <dlfcn.h>
#include <pthread.h>

#define NVTX_TABLE 16

static struct {
	pthread_once_t once;
	ts_nvtx_function functions[TS_NVTX_CB_MODULE_CORE2 + 1][NVTX_TABLE];
	ts_nvtx_function *tables[TS_NVTX_CB_MODULE_CORE2 + 1][NVTX_TABLE];
} nvtx_instance = {.once = PTHREAD_ONCE_INIT};

static int nvtx_get_table(uint32_t module, ts_nvtx_table *ret_table, unsigned *ret_n)
{
	unsigned n = module == TS_NVTX_CB_MODULE_CUDA	  ? 9
		     : module == TS_NVTX_CB_MODULE_CUDART ? 7
							  : NVTX_TABLE;

	if (module != TS_NVTX_CB_MODULE_CORE && module != TS_NVTX_CB_MODULE_CORE2 &&
	    module != TS_NVTX_CB_MODULE_CUDA && module != TS_NVTX_CB_MODULE_CUDART)
		return 0;
	for (unsigned i = 1; i < n; i++)
		nvtx_instance.tables[module][i] = &nvtx_instance.functions[module][i];
	*ret_table = nvtx_instance.tables[module];
	*ret_n = n;
	return 1;
}

static const void *nvtx_get_export_table(uint32_t id)
{
	static const struct ts_nvtx_callbacks callbacks = {sizeof(callbacks), nvtx_get_table};

	return id == TS_NVTX_ETID_CALLBACKS ? &callbacks : NULL;
}

static void nvtx_initialize(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(ts_nvtx_get_export_table_fn) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	if (initialize && !initialize(nvtx_get_export_table))
		memset(nvtx_instance.functions, 0, sizeof(nvtx_instance.functions));
}

static ts_nvtx_function nvtx_function(uint32_t module, unsigned id)
{
	pthread_once(&nvtx_instance.once, nvtx_initialize);
	return nvtx_instance.functions[module][id];
}

#define NVTX_FUNCTION(type, name, module, id, none, parameters, arguments)                        \
	__attribute__((unused)) static inline type nvtx##name parameters                          \
	{                                                                                         \
		ts_nvtx_function function = nvtx_function(TS_NVTX_CB_MODULE_##module, id);        \
                                                                                                  \
		return function ? ((type(*) parameters)(void (*)(void))function)arguments : none; \
	}

#define NVTX_VOID ((void)0)

NVTX_FUNCTION(void, MarkEx, CORE, 1, NVTX_VOID, (const void *e), (e))
NVTX_FUNCTION(void, MarkA, CORE, 2, NVTX_VOID, (const char *m), (m))
NVTX_FUNCTION(void, MarkW, CORE, 3, NVTX_VOID, (const wchar_t *m), (m))
NVTX_FUNCTION(uint64_t, RangeStartEx, CORE, 4, 0, (const void *e), (e))
NVTX_FUNCTION(uint64_t, RangeStartA, CORE, 5, 0, (const char *m), (m))
NVTX_FUNCTION(uint64_t, RangeStartW, CORE, 6, 0, (const wchar_t *m), (m))
NVTX_FUNCTION(void, RangeEnd, CORE, 7, NVTX_VOID, (uint64_t id), (id))
NVTX_FUNCTION(int, RangePushEx, CORE, 8, -2, (const void *e), (e))
NVTX_FUNCTION(int, RangePushA, CORE, 9, -2, (const char *m), (m))
NVTX_FUNCTION(int, RangePushW, CORE, 10, -2, (const wchar_t *m), (m))
NVTX_FUNCTION(int, RangePop, CORE, 11, -2, (void), ())
NVTX_FUNCTION(void, NameCategoryA, CORE, 12, NVTX_VOID, (uint32_t c, const char *n), (c, n))
NVTX_FUNCTION(void, NameOsThreadA, CORE, 14, NVTX_VOID, (uint32_t t, const char *n), (t, n))
NVTX_FUNCTION(void, NameCuStreamA, CUDA, 5, NVTX_VOID, (void *s, const char *n), (s, n))
NVTX_FUNCTION(void, DomainMarkEx, CORE2, 1, NVTX_VOID, (void *d, const void *e), (d, e))
NVTX_FUNCTION(uint64_t, DomainRangeStartEx, CORE2, 2, 0, (void *d, const void *e), (d, e))
NVTX_FUNCTION(void, DomainRangeEnd, CORE2, 3, NVTX_VOID, (void *d, uint64_t id), (d, id))
NVTX_FUNCTION(int, DomainRangePushEx, CORE2, 4, -2, (void *d, const void *e), (d, e))
NVTX_FUNCTION(int, DomainRangePop, CORE2, 5, -2, (void *d), (d))
NVTX_FUNCTION(void *, DomainResourceCreate, CORE2, 6, NULL, (void *d, void *r), (d, r))
NVTX_FUNCTION(void, DomainNameCategoryA, CORE2, 8, NVTX_VOID, (void *d, uint32_t c, const char *n),
	      (d, c, n))
NVTX_FUNCTION(void *, DomainRegisterStringA, CORE2, 10, NULL, (void *d, const char *s), (d, s))
NVTX_FUNCTION(void *, DomainRegisterStringW, CORE2, 11, NULL, (void *d, const wchar_t *s), (d, s))
NVTX_FUNCTION(void *, DomainCreateA, CORE2, 12, NULL, (const char *n), (n))
NVTX_FUNCTION(void *, DomainCreateW, CORE2, 13, NULL, (const wchar_t *n), (n))
NVTX_FUNCTION(void, DomainDestroy, CORE2, 14, NVTX_VOID, (void *d), (d))

#endif
