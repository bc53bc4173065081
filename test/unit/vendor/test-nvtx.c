// SPDX-License-Identifier: Apache-2.0
/*
 * Our declarations of NVTX, compared with NVIDIA's headers. Each line names one of our declarations
 * and the vendor's.
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include "proto/abi/vendor/nvtx.h"
#include "test/unit/harness.h"
#include "test/unit/vendor/same.h"

TS_TEST(ids)
{
#define CHECK(name, id) SAME(id, NVTX_CBID_CORE_##name);
	TS_NVTX_CORE(CHECK)
#undef CHECK
#define CHECK(name, id) SAME(id, NVTX_CBID_CORE2_##name);
	TS_NVTX_CORE2(CHECK)
#undef CHECK
#define CHECK(name, id) SAME(id, NVTX_CBID_CUDA_##name);
	TS_NVTX_CUDA(CHECK)
#undef CHECK
#define CHECK(name, id) SAME(id, NVTX_CBID_CUDART_##name);
	TS_NVTX_CUDART(CHECK)
#undef CHECK
	SAME_AS(NVTX_CB_MODULE_CORE);
	SAME_AS(NVTX_CB_MODULE_CUDA);
	SAME_AS(NVTX_CB_MODULE_CUDART);
	SAME_AS(NVTX_CB_MODULE_CORE2);
	SAME_AS(NVTX_ETID_CALLBACKS);
	SAME_AS(NVTX_ETID_VERSIONINFO);
}

TS_TEST(values)
{
	SAME_AS(NVTX_VERSION);
	SAME_AS(NVTX_NO_PUSH_POP_TRACKING);
	SAME_AS(NVTX_COLOR_UNKNOWN);
	SAME_AS(NVTX_COLOR_ARGB);
	SAME_AS(NVTX_MESSAGE_UNKNOWN);
	SAME_AS(NVTX_MESSAGE_TYPE_ASCII);
	SAME_AS(NVTX_MESSAGE_TYPE_UNICODE);
	SAME_AS(NVTX_MESSAGE_TYPE_REGISTERED);
	SAME_AS(NVTX_PAYLOAD_UNKNOWN);
	SAME_AS(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
	SAME_AS(NVTX_PAYLOAD_TYPE_INT64);
	SAME_AS(NVTX_PAYLOAD_TYPE_DOUBLE);
	SAME_AS(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
	SAME_AS(NVTX_PAYLOAD_TYPE_INT32);
	SAME_AS(NVTX_PAYLOAD_TYPE_FLOAT);
	SAME_AS(NVTX_RESOURCE_TYPE_UNKNOWN);
	SAME_AS(NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);
	SAME_AS(NVTX_RESOURCE_TYPE_CUDA_DEVICE);
	SAME_AS(NVTX_RESOURCE_TYPE_CUDA_CONTEXT);
	SAME_AS(NVTX_RESOURCE_TYPE_CUDA_STREAM);
	SAME_AS(NVTX_RESOURCE_TYPE_CUDA_EVENT);
	SAME_AS(NVTX_RESOURCE_TYPE_CUDART_DEVICE);
	SAME_AS(NVTX_RESOURCE_TYPE_CUDART_STREAM);
	SAME_AS(NVTX_RESOURCE_TYPE_CUDART_EVENT);
}

TS_TEST(layouts)
{
	SAME_SIZE(ts_nvtx_table, NvtxFunctionTable);
	SAME_SIZE(struct ts_nvtx_callbacks, NvtxExportTableCallbacks);
	SAME_FIELDS(struct ts_nvtx_callbacks, NvtxExportTableCallbacks, struct_size, struct_size,
		    get_module_function_table, GetModuleFunctionTable);
	SAME_SIZE(struct ts_nvtx_version_info, NvtxExportTableVersionInfo);
	SAME_FIELDS(struct ts_nvtx_version_info, NvtxExportTableVersionInfo, struct_size,
		    struct_size, version, version, reserved0, reserved0, set_injection_nvtx_version,
		    SetInjectionNvtxVersion);
	SAME_SIZE(union ts_nvtx_payload, union payload_t);
	SAME_FIELDS(union ts_nvtx_payload, union payload_t, ull_value, ullValue, ll_value, llValue,
		    d_value, dValue, ui_value, uiValue, i_value, iValue, f_value, fValue);
	SAME_SIZE(union ts_nvtx_message, nvtxMessageValue_t);
	SAME_FIELDS(union ts_nvtx_message, nvtxMessageValue_t, ascii, ascii, unicode, unicode,
		    registered, registered);
	SAME_SIZE(struct ts_nvtx_event_attributes, nvtxEventAttributes_t);
	SAME_FIELDS(struct ts_nvtx_event_attributes, nvtxEventAttributes_t, version, version, size,
		    size, category, category, color_type, colorType, color, color, payload_type,
		    payloadType, reserved0, reserved0, payload, payload, message_type, messageType,
		    message, message);
	SAME_SIZE(union ts_nvtx_identifier, union identifier_t);
	SAME_FIELDS(union ts_nvtx_identifier, union identifier_t, p_value, pValue, ull_value,
		    ullValue);
	SAME_SIZE(struct ts_nvtx_resource_attributes, nvtxResourceAttributes_t);
	SAME_FIELDS(struct ts_nvtx_resource_attributes, nvtxResourceAttributes_t, version, version,
		    size, size, identifier_type, identifierType, identifier, identifier,
		    message_type, messageType, message, message);
}
