/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the functions to probe, with the cookie of each probe (call.h). The vendors' tables of
 * calls (proto/abi/vendor) give the functions; the tables here give their interesting arguments. If
 * a function is not in `arguments`, its calls are recorded without size and handle. system.c,
 * mappings.c and serve/system (prober.c, observed.c) call this module.
 */
#include "daemon/bpf/call-functions.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>

#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip_calls.h"

#define MAX_FUNCTIONS 512
#define NONE	      TS_CALL_NONE

struct arguments {
	const char *symbol; /* without the suffix for per-thread streams */
	uint8_t bytes, times, shift, handle;
};

/*
 * The first versions of the driver's functions have 32-bit sizes, and the upper half of the
 * register of such a size is undefined. So only the _v2 versions are listed.
 */
static const struct arguments arguments[] = {
	{"cudaLaunchKernel", NONE, NONE, 0, 0},
	{"__cudaLaunchKernel", NONE, NONE, 0, 0},
	{"cudaLaunchCooperativeKernel", NONE, NONE, 0, 0},
	{"cudaLaunchKernelExC", NONE, NONE, 0, 1},
	{"cudaMalloc", 1, NONE, 0, NONE},
	{"cudaMallocManaged", 1, NONE, 0, NONE},
	{"cudaMallocHost", 1, NONE, 0, NONE},
	{"cudaMallocPitch", 2, 3, 0, NONE},
	{"cudaMallocAsync", 1, NONE, 0, NONE},
	{"cudaMallocFromPoolAsync", 1, NONE, 0, NONE},
	{"cudaHostAlloc", 1, NONE, 0, NONE},
	{"cudaHostRegister", 1, NONE, 0, NONE},
	{"cudaMemcpy", 2, NONE, 0, NONE},
	{"cudaMemcpyAsync", 2, NONE, 0, NONE},
	{"cudaMemcpyPeer", 4, NONE, 0, NONE},
	{"cudaMemcpyPeerAsync", 4, NONE, 0, NONE},
	{"cudaMemcpy2D", 4, 5, 0, NONE},
	{"cudaMemcpy2DAsync", 4, 5, 0, NONE},
	{"cudaMemcpyToSymbol", 2, NONE, 0, NONE},
	{"cudaMemcpyToSymbolAsync", 2, NONE, 0, NONE},
	{"cudaMemcpyFromSymbol", 2, NONE, 0, NONE},
	{"cudaMemcpyFromSymbolAsync", 2, NONE, 0, NONE},
	{"cudaMemset", 2, NONE, 0, NONE},
	{"cudaMemsetAsync", 2, NONE, 0, NONE},
	{"cudaMemset2D", 3, 4, 0, NONE},
	{"cudaMemset2DAsync", 3, 4, 0, NONE},
	{"cuLaunchKernel", NONE, NONE, 0, 0},
	{"cuLaunchCooperativeKernel", NONE, NONE, 0, 0},
	{"cuLaunchKernelEx", NONE, NONE, 0, 1},
	{"cuMemAlloc_v2", 1, NONE, 0, NONE},
	{"cuMemAllocPitch_v2", 2, 3, 0, NONE},
	{"cuMemAllocHost_v2", 1, NONE, 0, NONE},
	{"cuMemAllocManaged", 1, NONE, 0, NONE},
	{"cuMemAllocAsync", 1, NONE, 0, NONE},
	{"cuMemAllocFromPoolAsync", 1, NONE, 0, NONE},
	{"cuMemHostAlloc", 1, NONE, 0, NONE},
	{"cuMemHostRegister_v2", 1, NONE, 0, NONE},
	{"cuMemCreate", 1, NONE, 0, NONE},
	{"cuMemcpy", 2, NONE, 0, NONE},
	{"cuMemcpyAsync", 2, NONE, 0, NONE},
	{"cuMemcpyPeer", 4, NONE, 0, NONE},
	{"cuMemcpyPeerAsync", 4, NONE, 0, NONE},
	{"cuMemcpyHtoD_v2", 2, NONE, 0, NONE},
	{"cuMemcpyHtoDAsync_v2", 2, NONE, 0, NONE},
	{"cuMemcpyDtoH_v2", 2, NONE, 0, NONE},
	{"cuMemcpyDtoHAsync_v2", 2, NONE, 0, NONE},
	{"cuMemcpyDtoD_v2", 2, NONE, 0, NONE},
	{"cuMemcpyDtoDAsync_v2", 2, NONE, 0, NONE},
	{"cuMemcpyHtoA_v2", 3, NONE, 0, NONE},
	{"cuMemcpyHtoAAsync_v2", 3, NONE, 0, NONE},
	{"cuMemcpyAtoH_v2", 3, NONE, 0, NONE},
	{"cuMemcpyAtoHAsync_v2", 3, NONE, 0, NONE},
	{"cuMemcpyDtoA_v2", 3, NONE, 0, NONE},
	{"cuMemcpyAtoD_v2", 3, NONE, 0, NONE},
	{"cuMemcpyAtoA_v2", 4, NONE, 0, NONE},
	{"cuMemsetD8_v2", 2, NONE, 0, NONE},
	{"cuMemsetD8Async", 2, NONE, 0, NONE},
	{"cuMemsetD16_v2", 2, NONE, 1, NONE},
	{"cuMemsetD16Async", 2, NONE, 1, NONE},
	{"cuMemsetD32_v2", 2, NONE, 2, NONE},
	{"cuMemsetD32Async", 2, NONE, 2, NONE},
	{"cuMemsetD2D8_v2", 3, 4, 0, NONE},
	{"cuMemsetD2D8Async", 3, 4, 0, NONE},
	{"cuMemsetD2D16_v2", 3, 4, 1, NONE},
	{"cuMemsetD2D16Async", 3, 4, 1, NONE},
	{"cuMemsetD2D32_v2", 3, 4, 2, NONE},
	{"cuMemsetD2D32Async", 3, 4, 2, NONE},
	{"hipLaunchKernel", NONE, NONE, 0, 0},
	{"hipLaunchKernelExC", NONE, NONE, 0, 1},
	{"hipDrvLaunchKernelEx", NONE, NONE, 0, 1},
	{"hipLaunchByPtr", NONE, NONE, 0, 0},
	{"hipLaunchCooperativeKernel", NONE, NONE, 0, 0},
	{"hipExtLaunchKernel", NONE, NONE, 0, 0},
	{"hipModuleLaunchKernel", NONE, NONE, 0, 0},
	{"hipExtModuleLaunchKernel", NONE, NONE, 0, 0},
	{"hipHccModuleLaunchKernel", NONE, NONE, 0, 0},
	{"hipModuleLaunchCooperativeKernel", NONE, NONE, 0, 0},
	{"hipMemcpy", 2, NONE, 0, NONE},
	{"hipMemcpyAsync", 2, NONE, 0, NONE},
	{"hipMemcpyWithStream", 2, NONE, 0, NONE},
	{"hipMemcpyHtoD", 2, NONE, 0, NONE},
	{"hipMemcpyHtoDAsync", 2, NONE, 0, NONE},
	{"hipMemcpyDtoH", 2, NONE, 0, NONE},
	{"hipMemcpyDtoHAsync", 2, NONE, 0, NONE},
	{"hipMemcpyDtoD", 2, NONE, 0, NONE},
	{"hipMemcpyDtoDAsync", 2, NONE, 0, NONE},
	{"hipMemcpyPeer", 4, NONE, 0, NONE},
	{"hipMemcpyPeerAsync", 4, NONE, 0, NONE},
	{"hipMemcpy2D", 4, 5, 0, NONE},
	{"hipMemcpy2DAsync", 4, 5, 0, NONE},
	{"hipMemcpyToSymbol", 2, NONE, 0, NONE},
	{"hipMemcpyToSymbolAsync", 2, NONE, 0, NONE},
	{"hipMemcpyFromSymbol", 2, NONE, 0, NONE},
	{"hipMemcpyFromSymbolAsync", 2, NONE, 0, NONE},
	{"hipMemset", 2, NONE, 0, NONE},
	{"hipMemsetAsync", 2, NONE, 0, NONE},
	{"hipMemset2D", 3, 4, 0, NONE},
	{"hipMemset2DAsync", 3, 4, 0, NONE},
	{"hipMemsetD8", 2, NONE, 0, NONE},
	{"hipMemsetD8Async", 2, NONE, 0, NONE},
	{"hipMemsetD16", 2, NONE, 1, NONE},
	{"hipMemsetD16Async", 2, NONE, 1, NONE},
	{"hipMemsetD32", 2, NONE, 2, NONE},
	{"hipMemsetD32Async", 2, NONE, 2, NONE},
	{"hipMemsetD2D8", 3, 4, 0, NONE},
	{"hipMemsetD2D8Async", 3, 4, 0, NONE},
	{"hipMemsetD2D16", 3, 4, 1, NONE},
	{"hipMemsetD2D16Async", 3, 4, 1, NONE},
	{"hipMemsetD2D32", 3, 4, 2, NONE},
	{"hipMemsetD2D32Async", 3, 4, 2, NONE},
	{"hipMalloc", 1, NONE, 0, NONE},
	{"hipExtMallocWithFlags", 1, NONE, 0, NONE},
	{"hipMallocManaged", 1, NONE, 0, NONE},
	{"hipMallocPitch", 2, 3, 0, NONE},
	{"hipMallocAsync", 1, NONE, 0, NONE},
	{"hipMallocFromPoolAsync", 1, NONE, 0, NONE},
	{"hipHostMalloc", 1, NONE, 0, NONE},
	{"hipHostAlloc", 1, NONE, 0, NONE},
	{"hipMallocHost", 1, NONE, 0, NONE},
	{"hipMemAllocHost", 1, NONE, 0, NONE},
	{"hipExtHostAlloc", 1, NONE, 0, NONE},
	{"hipMemCreate", 1, NONE, 0, NONE},
	{"hipHostRegister", 1, NONE, 0, NONE},
};

/* Functions that report the handle of a kernel with its name, or with another handle of it. */
static const struct {
	const char *symbol;
	enum ts_call_role role;
	bool indirect; /* argument `handle` is the address where the handle is stored */
	uint8_t handle, argument;
} namers[] = {
	{"__cudaRegisterFunction", TS_CALL_NAMES, false, 1, 3},
	{"cudaLibraryGetKernel", TS_CALL_NAMES, true, 0, 2},
	{"cudaGetKernel", TS_CALL_ALIAS, true, 0, 1},
	{"__cudaGetKernel", TS_CALL_ALIAS, true, 0, 1},
	{"cudaGetFuncBySymbol", TS_CALL_ALIAS, true, 0, 1},
	{"cuModuleGetFunction", TS_CALL_NAMES, true, 0, 2},
	{"cuLibraryGetKernel", TS_CALL_NAMES, true, 0, 2},
	{"cuKernelGetFunction", TS_CALL_ALIAS, true, 0, 1},
	{"__hipRegisterFunction", TS_CALL_NAMES, false, 1, 3},
	{"hipModuleGetFunction", TS_CALL_NAMES, true, 0, 2},
	{"hipGetFuncBySymbol", TS_CALL_ALIAS, true, 0, 1},
	{"InitializeInjection", TS_CALL_SHIM, false, NONE, NONE},
};

static uint64_t cookie_of(size_t number, unsigned role, const struct arguments *of,
			  unsigned argument, bool indirect)
{
	return (uint64_t)number | (uint64_t)role << 16 | (uint64_t)of->bytes << 20 |
	       (uint64_t)of->times << 24 | (uint64_t)of->shift << 28 | (uint64_t)of->handle << 32 |
	       (uint64_t)argument << 36 | (indirect ? TS_CALL_INDIRECT : 0);
}

static bool ends(const char *text, size_t n_text, const char *end)
{
	size_t n = strlen(end);

	return n_text > n && !strncmp(text + n_text - n, end, n);
}

static const struct arguments *arguments_of(const char *symbol)
{
	static const struct arguments none = {"", NONE, NONE, 0, NONE};
	size_t n = strlen(symbol);

	if (ends(symbol, n, "_ptsz") || ends(symbol, n, "_ptds"))
		n -= 5;
	else if (ends(symbol, n, "_spt"))
		n -= 4;
	for (size_t i = 0; i < TS_ARRAY_LEN(arguments); i++)
		if (strlen(arguments[i].symbol) == n && !strncmp(arguments[i].symbol, symbol, n))
			return &arguments[i];
	return &none;
}

static bool is_probed(enum ts_cupti_class class)
{
	switch (class) {
	case TS_CUPTI_CLASS_LAUNCH:
	case TS_CUPTI_CLASS_GRAPH_LAUNCH:
	case TS_CUPTI_CLASS_MEMCPY:
	case TS_CUPTI_CLASS_MEMSET:
	case TS_CUPTI_CLASS_ALLOC:
	case TS_CUPTI_CLASS_FREE:
	case TS_CUPTI_CLASS_SYNC:
		return true;
	default:
		return false;
	}
}

struct table {
	struct ts_call_function functions[MAX_FUNCTIONS];
	size_t n;
};

/*
 * Adds a function's id to the table. If the function has several ids, the last one is kept, because
 * it belongs to the current parameters.
 */
static void add(struct table *table, const char *name, uint16_t domain, uint16_t cbid,
		enum ts_cupti_class class)
{
	const char *tail = strrchr(name, '_');
	struct ts_call_function function = {.domain = domain, .cbid = cbid};
	size_t n = strlen(name), at;

	if (!is_probed(class))
		return;
	/* The name of a runtime id ends in the version that introduced its parameters. */
	if (domain == TS_API_CUDA_RUNTIME && tail && tail[1] == 'v' &&
	    isdigit((unsigned char)tail[2]) && strlen(tail) >= 6)
		n = (size_t)(tail - name);
	snprintf(function.symbol, sizeof(function.symbol), "%.*s", (int)n, name);
	for (at = 0; at < table->n; at++)
		if (!strcmp(table->functions[at].symbol, function.symbol))
			break;
	if (at == MAX_FUNCTIONS)
		return;
	function.cookie = cookie_of(at, TS_CALL_PLAIN, arguments_of(function.symbol), NONE, false);
	table->functions[at] = function;
	table->n += at == table->n;
}

/*
 * The list is a table because a sanitizer needs most of a minute to compile a thousand calls in one
 * function.
 */
static const struct listed {
	const char *name;
	uint16_t domain, id;
	enum ts_cupti_class class;
} listed[] = {
#define LIST(name, id, kind) {#name, DOMAIN, id, TS_CUPTI_CLASS_##kind},
#define DOMAIN		     TS_API_CUDA_RUNTIME
	TS_CUPTI_RUNTIME_CBIDS(LIST)
#undef DOMAIN
#define DOMAIN TS_API_CUDA_DRIVER
		TS_CUPTI_DRIVER_CBIDS(LIST)
#undef DOMAIN
#define DOMAIN TS_API_HIP
			TS_HIP_CALLS(LIST)
#undef DOMAIN
#undef LIST
};

static void fill(struct table *table)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(listed); i++)
		add(table, listed[i].name, listed[i].domain, listed[i].id, listed[i].class);
	for (size_t i = 0; i < TS_ARRAY_LEN(namers) && table->n < MAX_FUNCTIONS; i++) {
		const struct arguments of = {"", NONE, NONE, 0, namers[i].handle};
		struct ts_call_function *function = &table->functions[table->n];

		snprintf(function->symbol, sizeof(function->symbol), "%s", namers[i].symbol);
		function->cookie = cookie_of(table->n++, namers[i].role, &of, namers[i].argument,
					     namers[i].indirect);
	}
}

const struct ts_call_function *ts_call_functions(size_t *ret_n)
{
	static struct table table;

	if (!table.n)
		fill(&table);
	*ret_n = table.n;
	return table.functions;
}

bool ts_call_is_library(const char *name)
{
	static const char *const patterns[] = {"libcuda.so*",	    "libcudart.so*",
					       "libcudart-*.so*",   "libamdhip64.so*",
					       "libamdhip64-*.so*", "libtsinject.so*"};

	for (size_t i = 0; i < TS_ARRAY_LEN(patterns); i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}
