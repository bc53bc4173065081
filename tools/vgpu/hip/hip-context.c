// SPDX-License-Identifier: Apache-2.0
/*
 * Errors, devices and contexts. Every function of libamdhip64 calls hip_result() with its result.
 * Programs call this file through the functions of generated-hip-context.h.
 */
#include "tools/vgpu/hip/hip-face.h"

/* The thread's last result, and its last error. A success leaves the last error as it is. */
static __thread int32_t last_result, last_error;

/* CUDA's errors that HIP has no number for. */
static int32_t convert(int r)
{
	switch (r) {
#define KNOWN(suffix, value, name, text) case value:
		TS_HIP_ERRORS(KNOWN)
#undef KNOWN
		return r;
	case TS_CU_ERROR_MISALIGNED_ADDRESS:
	case TS_CU_ERROR_ILLEGAL_INSTRUCTION:
	case TS_CU_ERROR_INVALID_PC:
	case TS_CU_ERROR_HARDWARE_STACK_ERROR:
		return TS_HIP_ERROR_LAUNCH_FAILURE;
	default:
		return TS_HIP_ERROR_UNKNOWN;
	}
}

int32_t hip_result(int r)
{
	last_result = convert(r);
	if (last_result && last_result != TS_HIP_ERROR_NOT_READY)
		last_error = last_result;
	return last_result;
}

/* Before ROCm 7, a success also replaced the last error. */
static int32_t *error_of_thread(void)
{
	return release.keeps_error ? &last_error : &last_result;
}

static int32_t take_error(uint32_t id, int32_t *at, bool reset)
{
	struct hip_call call;
	int32_t error;

	call_enter(&call, id);
	error = *at;
	if (reset)
		*at = 0;
	call_leave(&call, id);
	return error;
}

int32_t impl_hipGetLastError(void)
{
	return take_error(TS_HIP_API_ID_hipGetLastError, error_of_thread(), true);
}

int32_t impl_hipExtGetLastError(void)
{
	return take_error(TS_HIP_API_ID_hipExtGetLastError, &last_result, true);
}

int32_t impl_hipPeekAtLastError(void)
{
	return take_error(TS_HIP_API_ID_hipPeekAtLastError, error_of_thread(), false);
}

static const char *error_name(int32_t error)
{
	switch (error) {
#define NAME(suffix, value, name, text) \
	case value:                     \
		return #name;
		TS_HIP_ERRORS(NAME)
#undef NAME
	}
	return "hipErrorUnknown";
}

static const char *error_string(int32_t error)
{
	switch (error) {
#define TEXT(suffix, value, name, text) \
	case value:                     \
		return text;
		TS_HIP_ERRORS(TEXT)
#undef TEXT
	}
	return "unknown error";
}

static int drv_error_name(int32_t error, const char **string)
{
	if (!string)
		return TS_HIP_ERROR_INVALID_VALUE;
	*string = error_name(error);
	return 0;
}

static int drv_error_string(int32_t error, const char **string)
{
	if (!string)
		return TS_HIP_ERROR_INVALID_VALUE;
	*string = error_string(error);
	return 0;
}

static int init(uint32_t flags)
{
	return flags ? TS_HIP_ERROR_INVALID_VALUE : start();
}

static int get_version(int32_t *version)
{
	if (!version)
		return TS_HIP_ERROR_INVALID_VALUE;
	*version = release_version();
	return 0;
}

static int get_uuid(struct ts_hip_uuid *uuid, int32_t device)
{
	int r = uuid ? START(cuDeviceGetUuid_v2((struct ts_cu_uuid *)uuid, device))
		     : TS_HIP_ERROR_INVALID_VALUE;

	if (!r)
		uuid_to_hip(uuid->bytes);
	return r;
}

/* AMD's devices have banks of four bytes, and no switch for it: 1 is that size. */
static int get_shared_mem_config(int32_t *config)
{
	int r = ready();

	if (!r && !config)
		r = TS_HIP_ERROR_INVALID_VALUE;
	if (!r)
		*config = 1;
	return r;
}

static int set_shared_mem_config(int32_t config)
{
	return config < 0 || config > 2 ? TS_HIP_ERROR_INVALID_VALUE : ready();
}

#include "tools/vgpu/generated-hip-context.h"
