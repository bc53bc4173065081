// SPDX-License-Identifier: Apache-2.0
/*
 * NVIDIA's face: the records of CUDA 13.0, the calls and their ids as they are, CLOCK_REALTIME. The
 * other files of this folder call it.
 */
#include "tools/vgpu/cupti/face.h"

#include "proto/abi/vendor/cupti_cbid.h"

size_t ts_cupti_face_bytes(uint32_t kind)
{
	return ts_cupti_record_bytes(kind, TS_CUPTI_API_VERSION);
}

bool ts_cupti_face_call(const struct ts_vgpu_api *call, struct ts_cupti_face_call *ret_call)
{
	*ret_call = (struct ts_cupti_face_call){call->domain, call->cbid, call->function_name};
	return true;
}

uint32_t ts_cupti_face_ids(uint32_t domain)
{
	return domain == TS_CUPTI_CB_DOMAIN_DRIVER_API ? TS_CUPTI_DRIVER_CBID_SIZE
						       : TS_CUPTI_RUNTIME_CBID_SIZE;
}

uint32_t ts_cupti_face_version(void)
{
	return TS_CUPTI_API_VERSION;
}

uint64_t (*const ts_cupti_face_ticks)(uint64_t device_ns) = NULL;
