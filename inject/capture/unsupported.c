/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay would lack: calls that do something which is not captured. Of the classes that do work each call is named that is not
 * known to be harmless; of the others those that bring kernels memory, or a shape, that no captured call tells of.
 * ts_capture_unsupported() puts the operation that names a lack.
 */
#include "inject/capture/capture.h"
#include "inject/context.h"
#include "inject/cuda/call-table.h"
#include "inject/generated-capture.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define ID(name)   TS_CUPTI_DRIVER_CBID_##name
#define CASE(name) case ID(name):

static const char *const names[TS_CUPTI_DRIVER_CBID_SIZE] = {
#define TS_CALL_(name, id, kind) [id] = #name,
	TS_CUPTI_DRIVER_CBIDS(TS_CALL_) TS_CUPTI_DRIVER_UNTRACED_CBIDS(TS_CALL_)
#undef TS_CALL_
};

const char *ts_capture_name(uint32_t cbid)
{
	return cbid < TS_CUPTI_DRIVER_CBID_SIZE && names[cbid] ? names[cbid]
							       : "a call of a newer driver";
}

/*
 * Of classes where what is not known is unsupported: these change nothing that is computed. What comes of linking is loaded as
 * any image is; cuStreamAttachMemAsync says which stream's work the host may have to wait for.
 */
static bool is_harmless(uint32_t cbid)
{
	switch (cbid) {
		TS_CAPTURE_HARMLESS_CALLS(CASE)
		return true;
	default:
		return false;
	}
}

/* Of the classes that do no work: memory that is another's, or has others that write to it. */
static bool is_lacked(uint32_t cbid)
{
	switch (cbid) {
		TS_CAPTURE_LACKED_CALLS(CASE)
#define TS_CALL_(name, id, kind) case ID(name):
		TS_CUPTI_DRIVER_UNTRACED_CBIDS(TS_CALL_)
#undef TS_CALL_
		return true;
	default:
		return false;
	}
}

enum ts_capture_mode ts_capture_mode_of_class(uint32_t cbid)
{
	if (is_lacked(cbid))
		return TS_CAPTURE_UNSUPPORTED;
	switch (ts_call_table_class(TS_CUPTI_CB_DOMAIN_DRIVER_API, cbid)) {
	case TS_CUPTI_CLASS_LAUNCH:
	case TS_CUPTI_CLASS_MEMCPY:
	case TS_CUPTI_CLASS_MEMSET:
	case TS_CUPTI_CLASS_ALLOC:
	case TS_CUPTI_CLASS_FREE:
	case TS_CUPTI_CLASS_STREAM:
	case TS_CUPTI_CLASS_EVENT:
	case TS_CUPTI_CLASS_MODULE:
	case TS_CUPTI_CLASS_GRAPH_LAUNCH:
		return is_harmless(cbid) ? TS_CAPTURE_NOT : TS_CAPTURE_UNSUPPORTED;
	default:
		return ts_call_table_stream_capture(TS_CUPTI_CB_DOMAIN_DRIVER_API, cbid)
			       ? TS_CAPTURE_OF_STREAM
			       : TS_CAPTURE_NOT;
	}
}

void ts_capture_unsupported(struct ts_capture *capture, const struct ts_record_operation *model,
			    const char *what)
{
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_UNSUPPORTED;
	operation.object = operation.parent = 0;
	operation.name = ts_definitions_string(&capture->shim->definitions, what, strlen(what));
	(void)ts_lane_put(&capture->lane, &operation);
}
