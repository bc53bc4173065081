/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookup of functions: cuGetProcAddress by name and version, cuGetExportTable for the virtual GPU's
 * own libraries only. Programs call this file through the functions of generated-cuda-entry.h.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tools/vgpu/cuda/driver.h"

/* Names whose newest form differs from the form of an older CUDA: form by version, newest first. */
static const struct {
	const char *name, *symbol;
	int32_t version;
} forms[] = {
	{"cuCtxCreate", "cuCtxCreate_v4", 12050},
	{"cuCtxCreate", "cuCtxCreate_v3", 11040},
	{"cuCtxCreate", "cuCtxCreate_v2", 3020},
	{"cuStreamGetCtx", "cuStreamGetCtx_v2", 12050},
	{"cuStreamGetCtx", "cuStreamGetCtx", 9020},
	{"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v3", 12030},
	{"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v2", 11030},
	{"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo", 10010},
	{"cuStreamBeginCapture", "cuStreamBeginCapture_v2", 10010},
	{"cuStreamBeginCapture", "cuStreamBeginCapture", 10000},
	{"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies_v2", 12030},
	{"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies", 11030},
	{"cuGraphInstantiate", "cuGraphInstantiateWithFlags", 12000},
	{"cuGraphInstantiate", "cuGraphInstantiate_v2", 11000},
	{"cuGraphInstantiate", "cuGraphInstantiate", 10000},
	{"cuGraphExecUpdate", "cuGraphExecUpdate_v2", 12000},
	{"cuGraphExecUpdate", "cuGraphExecUpdate", 10020},
	{"cuGraphAddKernelNode", "cuGraphAddKernelNode_v2", 12000},
	{"cuGraphAddKernelNode", "cuGraphAddKernelNode", 10000},
	{"cuGraphKernelNodeGetParams", "cuGraphKernelNodeGetParams_v2", 12000},
	{"cuGraphKernelNodeGetParams", "cuGraphKernelNodeGetParams", 10000},
	{"cuGraphKernelNodeSetParams", "cuGraphKernelNodeSetParams_v2", 12000},
	{"cuGraphKernelNodeSetParams", "cuGraphKernelNodeSetParams", 10000},
	{"cuGraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams_v2", 12000},
	{"cuGraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams", 10010},
	{"cuGraphGetEdges", "cuGraphGetEdges_v2", 12030},
	{"cuGraphGetEdges", "cuGraphGetEdges", 10000},
	{"cuGraphNodeGetDependencies", "cuGraphNodeGetDependencies_v2", 12030},
	{"cuGraphNodeGetDependencies", "cuGraphNodeGetDependencies", 10000},
	{"cuGraphNodeGetDependentNodes", "cuGraphNodeGetDependentNodes_v2", 12030},
	{"cuGraphNodeGetDependentNodes", "cuGraphNodeGetDependentNodes", 10000},
	{"cuGraphAddDependencies", "cuGraphAddDependencies_v2", 12030},
	{"cuGraphAddDependencies", "cuGraphAddDependencies", 10000},
	{"cuGraphRemoveDependencies", "cuGraphRemoveDependencies_v2", 12030},
	{"cuGraphRemoveDependencies", "cuGraphRemoveDependencies", 10000},
	{"cuGraphAddNode", "cuGraphAddNode_v2", 12030},
	{"cuGraphAddNode", "cuGraphAddNode", 12020},
	{"cuGetProcAddress", "cuGetProcAddress_v2", 12000},
	{"cuGetProcAddress", "cuGetProcAddress", 11030},
	{"cuMemAdvise", "cuMemAdvise_v2", 12020},
	{"cuMemAdvise", "cuMemAdvise", 8000},
	{"cuMemPrefetchAsync", "cuMemPrefetchAsync_v2", 12020},
	{"cuMemPrefetchAsync", "cuMemPrefetchAsync", 8000},
	{"cuEventElapsedTime", "cuEventElapsedTime_v2", 12080},
	{"cuEventElapsedTime", "cuEventElapsedTime", 2000},
	{"cuDeviceGetUuid", "cuDeviceGetUuid_v2", 11040},
	{"cuDeviceGetUuid", "cuDeviceGetUuid", 9020},
	{"cuCtxGetDevice", "cuCtxGetDevice_v2", 13000},
	{"cuCtxGetDevice", "cuCtxGetDevice", 2000},
	{"cuCtxSynchronize", "cuCtxSynchronize_v2", 13000},
	{"cuCtxSynchronize", "cuCtxSynchronize", 2000},
};

/* Opens this library for dlsym(): the address of any symbol in it gives its path. */
static void *own_library(void)
{
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)&driver, &info) || !info.dli_fname)
		return NULL;
	return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

static void *look_up(void *library, const char *name, bool own_stream)
{
	static const char *const suffixes[] = {"_ptsz", "_ptds"};
	char form[144]; /* the name from find(), and a suffix */
	void *found;

	if (is_refused(name))
		return NULL;
	for (size_t i = 0; own_stream && i < 2; i++) {
		snprintf(form, sizeof(form), "%s%s", name, suffixes[i]);
		found = dlsym(library, form);
		if (found)
			return found;
	}
	return dlsym(library, name);
}

static void *find(const char *symbol, int32_t version, bool own_stream, bool *ret_too_old)
{
	static const char *const suffixes[] = {"_v4", "_v3", "_v2", ""};
	void *library = own_library(), *found = NULL;
	bool listed = false;
	char form[128];

	if (!library)
		return NULL;
	for (size_t i = 0; !found && i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].name, symbol))
			continue;
		listed = true;
		if (forms[i].version <= version)
			found = look_up(library, forms[i].symbol, own_stream);
	}
	for (size_t i = 0; !found && !listed && i < 4; i++) {
		snprintf(form, sizeof(form), "%s%s", symbol, suffixes[i]);
		found = look_up(library, form, own_stream);
	}
	*ret_too_old = listed && !found;
	dlclose(library);
	return found;
}

static int get_proc_address(const char *symbol, void **pfn, int32_t cuda_version, uint64_t flags,
			    int32_t *symbol_status)
{
	bool too_old = false;
	void *found;

	if (!symbol || !pfn ||
	    flags & ~(uint64_t)(TS_CU_GET_PROC_ADDRESS_LEGACY_STREAM |
				TS_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
		return TS_CU_ERROR_INVALID_VALUE;
	/* Only public functions have such names; this library's symbol table has more. */
	found = strncmp(symbol, "cu", 2) || strlen(symbol) > 100
			? NULL
			: find(symbol, cuda_version,
			       flags & TS_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &too_old);
	*pfn = found;
	if (symbol_status)
		*symbol_status = found	   ? TS_CU_GET_PROC_ADDRESS_SUCCESS
				 : too_old ? TS_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
					   : TS_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return 0;
}

static int get_proc_address_v1(const char *symbol, void **pfn, int32_t cuda_version, uint64_t flags)
{
	int r = get_proc_address(symbol, pfn, cuda_version, flags, NULL);

	/* Without a status, a missing function is an error. */
	return r || *pfn ? r : TS_CU_ERROR_NOT_FOUND;
}

/*
 * Returns the name of the calling library if it is one of NVIDIA's closed libraries, which cannot
 * be relinked; else NULL.
 */
static const char *closed_library(const void *caller)
{
	static const char *const prefixes[] = {
		"libcublas",   "libcudnn", "libcufft",	  "libcurand", "libcusolver",
		"libcusparse", "libnccl",  "libcutensor", "libnpp",    "libnvjpeg",
	};
	const char *name, *slash;
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	name = slash ? slash + 1 : info.dli_fname;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name;
	return NULL;
}

static void say_no_table(const void *caller, bool runtime)
{
	static atomic_bool said;
	const char *closed = closed_library(caller);

	if ((!closed && !runtime) || atomic_exchange(&said, true))
		return;
	if (closed)
		fprintf(stderr,
			"tracesmith: virtual GPU: %s needs private tables of NVIDIA's driver: run "
			"on a real GPU, or use an open library\n",
			closed);
	else
		fprintf(stderr,
			"tracesmith: virtual GPU: the program's CUDA runtime needs NVIDIA's "
			"driver; relink with -cudart shared\n");
}

static int get_export_table(const void **pp_export_table, const struct ts_cu_uuid *export_table_id,
			    const void *caller)
{
	/*
	 * Tables that a runtime needs. NVIDIA's compiler requests another one and works without it.
	 */
	static const struct ts_cu_uuid runtimes[] = {
		{"\xf8\xcf\xf9\x51\x21\x46\x8b\x4e\xb9\xe2\xfb\x46\x9e\x7c\x0d\xd9"},
		{"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9"},
	};
	bool runtime = false;

	if (!pp_export_table || !export_table_id)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!memcmp(export_table_id, &ts_vgpu_hooks_uuid, sizeof(ts_vgpu_hooks_uuid))) {
		*pp_export_table = report_hooks();
		return 0;
	}
	/* NVIDIA's own runtime requests these: linked into the program, or in its libcudart. */
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		runtime |= !memcmp(export_table_id, &runtimes[i], sizeof(runtimes[i]));
	say_no_table(caller, runtime);
	*pp_export_table = NULL;
	return TS_CU_ERROR_NOT_SUPPORTED;
}

/* cuProfilerStart and cuProfilerStop mark a range for a profiler; they have no other effect. */
static int profiler(void)
{
	struct context *context;

	return context_current(&context);
}

#include "tools/vgpu/generated-cuda-entry.h"
