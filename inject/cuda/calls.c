/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables and switches over callback ids. The classes are proto/abi/vendor's; this is the shim's judgement on top.
 */
#include "inject/cuda/calls.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cuda_runtime_params.h"
#include "proto/abi/vendor/cupti_cbid.h"

/* Class plus one; 0: not known. */
static const uint8_t runtime_classes[TS_CUPTI_RUNTIME_CBID_SIZE] = {
#define TS_CALL_(name, id, kind) [id] = TS_CUPTI_CLASS_##kind + 1,
	TS_CUPTI_RUNTIME_CBIDS(TS_CALL_)
#undef TS_CALL_
};

static const uint8_t driver_classes[TS_CUPTI_DRIVER_CBID_SIZE] = {
#define TS_CALL_(name, id, kind) [id] = TS_CUPTI_CLASS_##kind + 1,
	TS_CUPTI_DRIVER_CBIDS(TS_CALL_)
#undef TS_CALL_
};

uint32_t ts_calls_n(uint32_t domain)
{
	return domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API ? TS_CUPTI_RUNTIME_CBID_SIZE
							: TS_CUPTI_DRIVER_CBID_SIZE;
}

unsigned ts_calls_class(uint32_t domain, uint32_t cbid)
{
	uint8_t entry;

	if (cbid >= ts_calls_n(domain))
		return TS_CUPTI_CLASS_OTHER;
	entry = domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_classes[cbid]
							 : driver_classes[cbid];
	return entry ? entry - 1u : (unsigned)TS_CUPTI_CLASS_OTHER;
}

bool ts_calls_watched(uint32_t domain, uint32_t cbid)
{
	if (domain == TS_CUPTI_CB_DOMAIN_DRIVER_API) {
		/*
		 * Trap: some calls come by the million and do nothing (the runtime makes them within its own). Their
		 * callbacks alone slow programs down; the queries (cudaGetDevice, cuCtxGetCurrent,
		 * cuKernelGetAttribute, cuDevicePrimaryCtxGetState, ...) are a class of their own.
		 */
		switch (cbid) {
		case TS_CUPTI_DRIVER_CBID_cuCtxPushCurrent:
		case TS_CUPTI_DRIVER_CBID_cuCtxPopCurrent:
		case TS_CUPTI_DRIVER_CBID_cuCtxPushCurrent_v2:
		case TS_CUPTI_DRIVER_CBID_cuCtxPopCurrent_v2:
		case TS_CUPTI_DRIVER_CBID_cuCtxSetCurrent:
			return false;
		default:
			break;
		}
	}
	switch (ts_calls_class(domain, cbid)) {
	case TS_CUPTI_CLASS_QUERY:
	case TS_CUPTI_CLASS_OTHER:
		return false;
	default:
		return true;
	}
}

static bool copy_is_certain(int32_t kind)
{
	return kind == TS_CUDA_MEMCPY_HOST_TO_DEVICE || kind == TS_CUDA_MEMCPY_DEVICE_TO_HOST ||
	       kind == TS_CUDA_MEMCPY_DEVICE_TO_DEVICE;
}

static bool runtime_expects(uint32_t cbid, const void *params)
{
	switch (cbid) {
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy_ptds_v7000: {
		const struct ts_cuda_memcpy_params *p = params;

		return p->count && copy_is_certain(p->kind);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpyAsync_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpyAsync_ptsz_v7000: {
		const struct ts_cuda_memcpy_async_params *p = params;

		return p->count && copy_is_certain(p->kind);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy2D_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy2D_ptds_v7000: {
		const struct ts_cuda_memcpy2d_params *p = params;

		return p->width && p->height && copy_is_certain(p->kind);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy2DAsync_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemcpy2DAsync_ptsz_v7000: {
		const struct ts_cuda_memcpy2d_async_params *p = params;

		return p->width && p->height && copy_is_certain(p->kind);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaMemset_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemset_ptds_v7000:
		return ((const struct ts_cuda_memset_params *)params)->count;
	case TS_CUPTI_RUNTIME_CBID_cudaMemsetAsync_v3020:
	case TS_CUPTI_RUNTIME_CBID_cudaMemsetAsync_ptsz_v7000:
		return ((const struct ts_cuda_memset_async_params *)params)->count;
	default:
		return false;
	}
}

static bool driver_expects(uint32_t cbid, const void *params)
{
	switch (cbid) {
	case TS_CUPTI_DRIVER_CBID_cuMemcpyHtoD_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyHtoD_v2_ptds:
		return ((const struct ts_cu_memcpy_htod_params *)params)->byte_count;
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoH_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoH_v2_ptds:
		return ((const struct ts_cu_memcpy_dtoh_params *)params)->byte_count;
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoD_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoD_v2_ptds:
		return ((const struct ts_cu_memcpy_dtod_params *)params)->byte_count;
	case TS_CUPTI_DRIVER_CBID_cuMemcpyHtoDAsync_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyHtoDAsync_v2_ptsz:
		return ((const struct ts_cu_memcpy_htod_async_params *)params)->byte_count;
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoHAsync_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoHAsync_v2_ptsz:
		return ((const struct ts_cu_memcpy_dtoh_async_params *)params)->byte_count;
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoDAsync_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemcpyDtoDAsync_v2_ptsz:
		return ((const struct ts_cu_memcpy_dtod_async_params *)params)->byte_count;
	case TS_CUPTI_DRIVER_CBID_cuMemsetD8_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD8_v2_ptds:
		return ((const struct ts_cu_memset_d8_params *)params)->n;
	case TS_CUPTI_DRIVER_CBID_cuMemsetD16_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD16_v2_ptds:
		return ((const struct ts_cu_memset_d16_params *)params)->n;
	case TS_CUPTI_DRIVER_CBID_cuMemsetD32_v2:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD32_v2_ptds:
		return ((const struct ts_cu_memset_d32_params *)params)->n;
	case TS_CUPTI_DRIVER_CBID_cuMemsetD8Async:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD8Async_ptsz:
		return ((const struct ts_cu_memset_d8_async_params *)params)->n;
	case TS_CUPTI_DRIVER_CBID_cuMemsetD16Async:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD16Async_ptsz:
		return ((const struct ts_cu_memset_d16_async_params *)params)->n;
	case TS_CUPTI_DRIVER_CBID_cuMemsetD32Async:
	case TS_CUPTI_DRIVER_CBID_cuMemsetD32Async_ptsz:
		return ((const struct ts_cu_memset_d32_async_params *)params)->n;
	default:
		return false;
	}
}

bool ts_calls_expect_device(uint32_t domain, uint32_t cbid, const void *params)
{
	/* A graph may hold host nodes alone, so GRAPH_LAUNCH is not certain. */
	if (ts_calls_class(domain, cbid) == TS_CUPTI_CLASS_LAUNCH)
		return true;
	if (!params)
		return false;
	return domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_expects(cbid, params)
							: driver_expects(cbid, params);
}

int ts_calls_capture(uint32_t domain, uint32_t cbid)
{
	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API) {
		switch (cbid) {
		case TS_CUPTI_RUNTIME_CBID_cudaStreamBeginCapture_v10000:
		case TS_CUPTI_RUNTIME_CBID_cudaStreamBeginCapture_ptsz_v10000:
		case TS_CUPTI_RUNTIME_CBID_cudaStreamBeginCaptureToGraph_v12030:
		case TS_CUPTI_RUNTIME_CBID_cudaStreamBeginCaptureToGraph_ptsz_v12030:
			return 1;
		case TS_CUPTI_RUNTIME_CBID_cudaStreamEndCapture_v10000:
		case TS_CUPTI_RUNTIME_CBID_cudaStreamEndCapture_ptsz_v10000:
			return -1;
		default:
			return 0;
		}
	}
	switch (cbid) {
	case TS_CUPTI_DRIVER_CBID_cuStreamBeginCapture:
	case TS_CUPTI_DRIVER_CBID_cuStreamBeginCapture_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuStreamBeginCapture_v2:
	case TS_CUPTI_DRIVER_CBID_cuStreamBeginCapture_v2_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuStreamBeginCaptureToGraph:
	case TS_CUPTI_DRIVER_CBID_cuStreamBeginCaptureToGraph_ptsz:
		return 1;
	case TS_CUPTI_DRIVER_CBID_cuStreamEndCapture:
	case TS_CUPTI_DRIVER_CBID_cuStreamEndCapture_ptsz:
		return -1;
	default:
		return 0;
	}
}

/* The stream is the first argument of them all. */
void *ts_calls_captured(uint32_t domain, uint32_t cbid, const void *params, bool *ret_per_thread)
{
	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API)
		*ret_per_thread =
			cbid == TS_CUPTI_RUNTIME_CBID_cudaStreamBeginCapture_ptsz_v10000 ||
			cbid == TS_CUPTI_RUNTIME_CBID_cudaStreamBeginCaptureToGraph_ptsz_v12030 ||
			cbid == TS_CUPTI_RUNTIME_CBID_cudaStreamEndCapture_ptsz_v10000;
	else
		*ret_per_thread = cbid == TS_CUPTI_DRIVER_CBID_cuStreamBeginCapture_ptsz ||
				  cbid == TS_CUPTI_DRIVER_CBID_cuStreamBeginCapture_v2_ptsz ||
				  cbid == TS_CUPTI_DRIVER_CBID_cuStreamBeginCaptureToGraph_ptsz ||
				  cbid == TS_CUPTI_DRIVER_CBID_cuStreamEndCapture_ptsz;
	return params ? *(void *const *)params : NULL;
}

static struct ts_stream_op stream_op(enum ts_stream_op_kind kind, void *stream, bool per_thread,
				     void *object, uint32_t flags)
{
	return (struct ts_stream_op){kind, stream, per_thread, object, flags};
}

static struct ts_stream_op runtime_stream_op(uint32_t cbid, const void *params)
{
	bool per_thread = false;

	switch (cbid) {
	case TS_CUPTI_RUNTIME_CBID_cudaEventRecord_ptsz_v7000:
		per_thread = true;
		__attribute__((fallthrough));
	case TS_CUPTI_RUNTIME_CBID_cudaEventRecord_v3020: {
		const struct ts_cuda_event_record_params *p = params;

		return stream_op(TS_STREAM_OP_EVENT, p->stream, per_thread, p->event, 0);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaEventRecordWithFlags_ptsz_v11010:
		per_thread = true;
		__attribute__((fallthrough));
	case TS_CUPTI_RUNTIME_CBID_cudaEventRecordWithFlags_v11010: {
		const struct ts_cuda_event_record_with_flags_params *p = params;

		return stream_op(TS_STREAM_OP_EVENT, p->stream, per_thread, p->event, p->flags);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaStreamWaitEvent_ptsz_v7000:
		per_thread = true;
		__attribute__((fallthrough));
	case TS_CUPTI_RUNTIME_CBID_cudaStreamWaitEvent_v3020: {
		const struct ts_cuda_stream_wait_event_params *p = params;

		return stream_op(TS_STREAM_OP_WAIT, p->stream, per_thread, p->event, p->flags);
	}
	case TS_CUPTI_RUNTIME_CBID_cudaGraphLaunch_ptsz_v10000:
		per_thread = true;
		__attribute__((fallthrough));
	case TS_CUPTI_RUNTIME_CBID_cudaGraphLaunch_v10000: {
		const struct ts_cuda_graph_launch_params *p = params;

		return stream_op(TS_STREAM_OP_GRAPH, p->stream, per_thread, p->graph_exec, 0);
	}
	default:
		return stream_op(TS_STREAM_OP_NONE, NULL, false, NULL, 0);
	}
}

static struct ts_stream_op driver_stream_op(uint32_t cbid, const void *params)
{
	bool per_thread = false;

	switch (cbid) {
	case TS_CUPTI_DRIVER_CBID_cuEventRecord_ptsz:
		per_thread = true;
		__attribute__((fallthrough));
	case TS_CUPTI_DRIVER_CBID_cuEventRecord: {
		const struct ts_cu_event_record_params *p = params;

		return stream_op(TS_STREAM_OP_EVENT, p->stream, per_thread, p->event, 0);
	}
	case TS_CUPTI_DRIVER_CBID_cuEventRecordWithFlags_ptsz:
		per_thread = true;
		__attribute__((fallthrough));
	case TS_CUPTI_DRIVER_CBID_cuEventRecordWithFlags: {
		const struct ts_cu_event_record_with_flags_params *p = params;

		return stream_op(TS_STREAM_OP_EVENT, p->stream, per_thread, p->event, p->flags);
	}
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitEvent_ptsz:
		per_thread = true;
		__attribute__((fallthrough));
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitEvent: {
		const struct ts_cu_stream_wait_event_params *p = params;

		return stream_op(TS_STREAM_OP_WAIT, p->stream, per_thread, p->event, p->flags);
	}
	case TS_CUPTI_DRIVER_CBID_cuGraphLaunch_ptsz:
		per_thread = true;
		__attribute__((fallthrough));
	case TS_CUPTI_DRIVER_CBID_cuGraphLaunch: {
		const struct ts_cu_graph_launch_params *p = params;

		return stream_op(TS_STREAM_OP_GRAPH, p->stream, per_thread, p->graph_exec, 0);
	}
	default:
		return stream_op(TS_STREAM_OP_NONE, NULL, false, NULL, 0);
	}
}

/* The stream is the first argument of them all. Of a batch it is not looked at whether there is a wait in it. */
static struct ts_stream_op host_op(uint32_t domain, uint32_t cbid, const void *params)
{
	void *stream = *(void *const *)params;

	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API) {
		switch (cbid) {
		case TS_CUPTI_RUNTIME_CBID_cudaLaunchHostFunc_v10000:
		case TS_CUPTI_RUNTIME_CBID_cudaStreamAddCallback_v5000:
			return stream_op(TS_STREAM_OP_HOST, stream, false, NULL, 0);
		case TS_CUPTI_RUNTIME_CBID_cudaLaunchHostFunc_ptsz_v10000:
		case TS_CUPTI_RUNTIME_CBID_cudaStreamAddCallback_ptsz_v7000:
			return stream_op(TS_STREAM_OP_HOST, stream, true, NULL, 0);
		default:
			return stream_op(TS_STREAM_OP_NONE, NULL, false, NULL, 0);
		}
	}
	switch (cbid) {
	case TS_CUPTI_DRIVER_CBID_cuLaunchHostFunc:
	case TS_CUPTI_DRIVER_CBID_cuStreamAddCallback:
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitValue32:
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitValue64:
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitValue32_v2:
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitValue64_v2:
	case TS_CUPTI_DRIVER_CBID_cuStreamBatchMemOp:
	case TS_CUPTI_DRIVER_CBID_cuStreamBatchMemOp_v2:
		return stream_op(TS_STREAM_OP_HOST, stream, false, NULL, 0);
	case TS_CUPTI_DRIVER_CBID_cuLaunchHostFunc_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuStreamAddCallback_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitValue32_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitValue64_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitValue32_v2_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuStreamWaitValue64_v2_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuStreamBatchMemOp_ptsz:
	case TS_CUPTI_DRIVER_CBID_cuStreamBatchMemOp_v2_ptsz:
		return stream_op(TS_STREAM_OP_HOST, stream, true, NULL, 0);
	default:
		return stream_op(TS_STREAM_OP_NONE, NULL, false, NULL, 0);
	}
}

struct ts_stream_op ts_calls_stream_op(uint32_t domain, uint32_t cbid, const void *params)
{
	unsigned kind = ts_calls_class(domain, cbid);

	if (kind == TS_CUPTI_CLASS_STREAM && params)
		return host_op(domain, cbid, params);
	if ((kind != TS_CUPTI_CLASS_EVENT && kind != TS_CUPTI_CLASS_GRAPH_LAUNCH) || !params)
		return stream_op(TS_STREAM_OP_NONE, NULL, false, NULL, 0);
	return domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_stream_op(cbid, params)
							: driver_stream_op(cbid, params);
}

bool ts_calls_stream_create(uint32_t domain, uint32_t cbid, const void *params, uint32_t *ret_flags,
			    int32_t *ret_priority)
{
	uint32_t flags = 0;
	int32_t priority = 0;

	if (!params)
		return false;
	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API) {
		switch (cbid) {
		case TS_CUPTI_RUNTIME_CBID_cudaStreamCreate_v3020:
			break;
		case TS_CUPTI_RUNTIME_CBID_cudaStreamCreateWithFlags_v5000:
			flags = ((const struct ts_cuda_stream_create_with_flags_params *)params)
					->flags;
			break;
		case TS_CUPTI_RUNTIME_CBID_cudaStreamCreateWithPriority_v5050: {
			const struct ts_cuda_stream_create_with_priority_params *p = params;

			flags = p->flags;
			priority = p->priority;
			break;
		}
		default:
			return false;
		}
	} else {
		switch (cbid) {
		case TS_CUPTI_DRIVER_CBID_cuStreamCreate:
			flags = ((const struct ts_cu_stream_create_params *)params)->flags;
			break;
		case TS_CUPTI_DRIVER_CBID_cuStreamCreateWithPriority: {
			const struct ts_cu_stream_create_with_priority_params *p = params;

			flags = p->flags;
			priority = p->priority;
			break;
		}
		default:
			return false;
		}
	}
	*ret_flags = flags;
	*ret_priority = priority;
	return true;
}

bool ts_calls_followed(uint32_t domain, uint32_t cbid)
{
	if (ts_calls_capture(domain, cbid))
		return true;
	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API)
		return cbid == TS_CUPTI_RUNTIME_CBID_cudaStreamCreate_v3020 ||
		       cbid == TS_CUPTI_RUNTIME_CBID_cudaStreamCreateWithFlags_v5000 ||
		       cbid == TS_CUPTI_RUNTIME_CBID_cudaStreamCreateWithPriority_v5050;
	return cbid == TS_CUPTI_DRIVER_CBID_cuStreamCreate ||
	       cbid == TS_CUPTI_DRIVER_CBID_cuStreamCreateWithPriority;
}
