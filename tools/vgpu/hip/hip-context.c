// SPDX-License-Identifier: Apache-2.0
/*
 * Errors, devices and contexts. Every function of libamdhip64 calls hip_result() with its result.
 * Programs call this file through the functions of generated-hip-context.h.
 */
#include "tools/vgpu/hip/hip-face.h"

static __thread int32_t last_error;

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

/* Success also replaces the last error, as in ROCm 6. */
int32_t hip_result(int r)
{
	last_error = convert(r);
	return last_error;
}

static int32_t take_error(uint32_t id, bool reset)
{
	struct hip_call call;
	int32_t error;

	call_enter(&call, id);
	error = last_error;
	if (reset)
		last_error = 0;
	call_leave(&call, id);
	return error;
}

int32_t impl_hipGetLastError(void)
{
	return take_error(TS_HIP_API_ID_hipGetLastError, true);
}

int32_t impl_hipExtGetLastError(void)
{
	return take_error(TS_HIP_API_ID_hipExtGetLastError, true);
}

int32_t impl_hipPeekAtLastError(void)
{
	return take_error(TS_HIP_API_ID_hipPeekAtLastError, false);
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
	*version = TS_HIP_VERSION;
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
