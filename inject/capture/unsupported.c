/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies calls that capture-calls.c does not capture, and names them as unsupported.
 * capture-calls.c calls this file; hip/hip-capture-calls.c takes the classes from it; the other
 * files of this folder call ts_capture_unsupported(), which puts the operation with the name.
 *
 * In the classes that do work, each call is unsupported unless it is known to be harmless. In the
 * other classes, a call is unsupported if it gives kernels memory or a shape that no captured call
 * shows.
 */
#include "inject/calls/call-table.h"
#include "inject/capture/capture.h"
#include "inject/context.h"
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
 * True for calls that change no computed value, in classes where unknown calls are unsupported. The
 * output of a linker call (cuLink*) is captured when it is loaded as an image.
 * cuStreamAttachMemAsync only limits the work that the host may have to wait for.
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

/*
 * True for calls outside the classes of work that use another owner's memory, or memory that others
 * can write.
 */
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

enum ts_capture_mode ts_capture_class_mode(uint32_t api, uint32_t id)
{
	switch (ts_call_table_class(api, id)) {
	case TS_CUPTI_CLASS_LAUNCH:
	case TS_CUPTI_CLASS_MEMCPY:
	case TS_CUPTI_CLASS_MEMSET:
	case TS_CUPTI_CLASS_ALLOC:
	case TS_CUPTI_CLASS_FREE:
	case TS_CUPTI_CLASS_STREAM:
	case TS_CUPTI_CLASS_EVENT:
	case TS_CUPTI_CLASS_MODULE:
	case TS_CUPTI_CLASS_GRAPH_LAUNCH:
		return TS_CAPTURE_UNSUPPORTED;
	default:
		return ts_call_table_stream_capture(api, id) ? TS_CAPTURE_OF_STREAM
							     : TS_CAPTURE_NOT;
	}
}

enum ts_capture_mode ts_capture_mode_of_class(uint32_t cbid)
{
	enum ts_capture_mode mode;

	if (is_lacked(cbid))
		return TS_CAPTURE_UNSUPPORTED;
	mode = ts_capture_class_mode(TS_CUPTI_CB_DOMAIN_DRIVER_API, cbid);
	return mode == TS_CAPTURE_UNSUPPORTED && is_harmless(cbid) ? TS_CAPTURE_NOT : mode;
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
