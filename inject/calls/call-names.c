/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the vendors' calls. cuda/family-calls.c finds like-named calls of other vendors by them,
 * and hip/hip-symbols.c finds the runtime's functions. One text for all names of an interface costs
 * the loader no relocation.
 */
#include "inject/calls/call-names.h"

#include "proto/abi/base.h"
#include "proto/abi/record.h"

#include "inject/generated-call-names.h"

struct ts_call_names ts_call_names(uint32_t domain)
{
	if (domain == TS_API_CUDA_RUNTIME)
		return (struct ts_call_names){"cuda", runtime_names, runtime_ids,
					      TS_ARRAY_LEN(runtime_ids)};
	if (domain == TS_API_HIP)
		return (struct ts_call_names){"hip", hip_names, hip_ids, TS_ARRAY_LEN(hip_ids)};
	return (struct ts_call_names){"cu", driver_names, driver_ids, TS_ARRAY_LEN(driver_ids)};
}
