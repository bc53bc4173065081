/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the memory that a call accesses, from its parameters. callbacks.c calls this file. The
 * switches over callback ids are generated from the tables of calls, with the offset of each
 * pointer. Calls with structures of two or three dimensions are in access-box.c. Left out are calls
 * of programs older than unified addresses, and calls with arrays or symbols: they have no linear
 * memory, or no sign that separates it.
 */
#include "inject/calls/access.h"

#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cuda_runtime_params.h"
#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"

static uint64_t address(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* The application chooses the arguments. Invalid arguments return 0: no access is recorded. */
static uint64_t extent(size_t pitch, size_t width, size_t height)
{
	uint64_t bytes;

	if (!width || !height || width > pitch ||
	    __builtin_mul_overflow((uint64_t)pitch, (uint64_t)height - 1, &bytes) ||
	    __builtin_add_overflow(bytes, (uint64_t)width, &bytes))
		return 0;
	return bytes;
}

static uint64_t elements(size_t n, unsigned bytes)
{
	uint64_t product;

	return __builtin_mul_overflow((uint64_t)n, (uint64_t)bytes, &product) ? 0 : product;
}

static bool copy(struct ts_access *ret, uint64_t dst, uint64_t dst_bytes, uint64_t src,
		 uint64_t src_bytes)
{
	*ret = (struct ts_access){dst, src, dst_bytes, src_bytes, TS_ACCESS_COPY};
	return dst_bytes || src_bytes;
}

static bool set(struct ts_access *ret, uint64_t dst, uint64_t bytes)
{
	*ret = (struct ts_access){dst, 0, bytes, 0, TS_ACCESS_SET};
	return bytes;
}

static bool freed(struct ts_access *ret, uint64_t at)
{
	*ret = (struct ts_access){at, 0, 0, 0, TS_ACCESS_FREE};
	return at;
}

/*
 * Describes a request for memory. `where` points to the variable in which the call stores the
 * address.
 */
static bool asked(struct ts_access *ret, uint32_t kind, const void *where, uint64_t bytes)
{
	*ret = (struct ts_access){address(where), 0, bytes, 0, kind};
	return bytes;
}

#include "inject/generated-accesses.h"

bool ts_access_of_alloc(uint32_t domain, uint32_t cbid, const void *params, int32_t result,
			struct ts_access *ret_access)
{
	bool is_known = false;
	uint64_t *where;

	if (!params)
		return false;
	if (domain == TS_API_CUDA_RUNTIME)
		is_known = runtime_alloc(cbid, params, ret_access);
	else if (domain == TS_API_CUDA_DRIVER)
		is_known = driver_alloc(cbid, params, ret_access);
	else if (domain == TS_API_HIP)
		is_known = hip_alloc(cbid, params, ret_access);
	if (!is_known)
		return false;
	where = (uint64_t *)(uintptr_t)ret_access->dst;
	if (result)
		ret_access->kind = TS_ACCESS_ALLOC;
	ret_access->dst = result || !where ? 0 : *where;
	return result || ret_access->dst;
}

bool ts_access_of(uint32_t domain, uint32_t cbid, const void *params, struct ts_access *ret_access)
{
	if (!params)
		return false;
	if (domain == TS_API_HIP)
		return hip_access(cbid, params, ret_access);
	return domain == TS_API_CUDA_RUNTIME ? runtime_access(cbid, params, ret_access)
					     : driver_access(cbid, params, ret_access);
}
