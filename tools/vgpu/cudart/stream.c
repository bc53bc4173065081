/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events: each call is the driver's of the same name. */
#include "tools/vgpu/cudart/runtime.h"

static int stream_create(void **stream)
{
	int r = ready();

	return r ? r : cuStreamCreate(stream, TS_CU_STREAM_DEFAULT);
}

static int stream_create_with_flags(void **stream, uint32_t flags)
{
	int r = ready();

	return r ? r : cuStreamCreate(stream, flags);
}

static int stream_create_with_priority(void **stream, uint32_t flags, int32_t priority)
{
	int r = ready();

	return r ? r : cuStreamCreateWithPriority(stream, flags, priority);
}

static int stream_destroy(void *stream)
{
	int r = ready();

	return r ? r : cuStreamDestroy_v2(stream);
}

static int stream_get_priority(void *stream, int32_t *priority, bool own)
{
	int r = ready();

	return r ? r : (own ? cuStreamGetPriority_ptsz : cuStreamGetPriority)(stream, priority);
}

static int stream_get_flags(void *stream, uint32_t *flags, bool own)
{
	int r = ready();

	return r ? r : (own ? cuStreamGetFlags_ptsz : cuStreamGetFlags)(stream, flags);
}

static int stream_get_id(void *stream, uint64_t *stream_id, bool own)
{
	int r = ready();

	return r ? r : (own ? cuStreamGetId_ptsz : cuStreamGetId)(stream, stream_id);
}

static int stream_get_device(void *stream, int32_t *device, bool own)
{
	int r = ready();

	return r ? r : (own ? cuStreamGetDevice_ptsz : cuStreamGetDevice)(stream, device);
}

static int stream_query(void *stream, bool own)
{
	int r = ready();

	return r ? r : (own ? cuStreamQuery_ptsz : cuStreamQuery)(stream);
}

static int stream_synchronize(void *stream, bool own)
{
	int r = ready();

	return r ? r : (own ? cuStreamSynchronize_ptsz : cuStreamSynchronize)(stream);
}

static int stream_wait_event(void *stream, void *event, uint32_t flags, bool own)
{
	int r = ready();

	return r ? r : (own ? cuStreamWaitEvent_ptsz : cuStreamWaitEvent)(stream, event, flags);
}

static int stream_add_callback(void *stream, void *callback, void *user_data, uint32_t flags,
			       bool own)
{
	int r = ready();

	return r ? r
		 : (own ? cuStreamAddCallback_ptsz : cuStreamAddCallback)(stream, callback,
									  user_data, flags);
}

static int stream_attach_mem_async(void *stream, void *dev_ptr, size_t length, uint32_t flags,
				   bool own)
{
	int r = ready();

	return r ? r
		 : (own ? cuStreamAttachMemAsync_ptsz
			: cuStreamAttachMemAsync)(stream, address(dev_ptr), length, flags);
}

static int stream_is_capturing(void *stream, int32_t *capture_status, bool own)
{
	int r = ready();

	return r ? r
		 : (own ? cuStreamIsCapturing_ptsz : cuStreamIsCapturing)(stream, capture_status);
}

static int exchange_capture_mode(int32_t *mode)
{
	int r = ready();

	return r ? r : cuThreadExchangeStreamCaptureMode(mode);
}

API int cudaStreamCreate(void **stream)
{
	struct ts_cuda_stream_create_params params = {stream};

	return RT(cudaStreamCreate_v3020, "cudaStreamCreate", &params, stream_create(stream));
}

API int cudaStreamCreateWithFlags(void **stream, uint32_t flags)
{
	struct ts_cuda_stream_create_with_flags_params params = {stream, flags};

	return RT(cudaStreamCreateWithFlags_v5000, "cudaStreamCreateWithFlags", &params,
		  stream_create_with_flags(stream, flags));
}

API int cudaStreamCreateWithPriority(void **stream, uint32_t flags, int32_t priority)
{
	struct ts_cuda_stream_create_with_priority_params params = {stream, flags, priority};

	return RT(cudaStreamCreateWithPriority_v5050, "cudaStreamCreateWithPriority", &params,
		  stream_create_with_priority(stream, flags, priority));
}

API int cudaStreamDestroy(void *stream)
{
	struct ts_cuda_stream_destroy_params params = {stream};

	return RT(cudaStreamDestroy_v5050, "cudaStreamDestroy", &params, stream_destroy(stream));
}

API int cudaStreamGetPriority(void *stream, int32_t *priority)
{
	struct ts_cuda_stream_get_priority_params params = {stream, priority};

	return RT(cudaStreamGetPriority_v5050, "cudaStreamGetPriority", &params,
		  stream_get_priority(stream, priority, false));
}

API int cudaStreamGetPriority_ptsz(void *stream, int32_t *priority)
{
	struct ts_cuda_stream_get_priority_params params = {stream, priority};

	return RT(cudaStreamGetPriority_ptsz_v7000, "cudaStreamGetPriority_ptsz", &params,
		  stream_get_priority(stream, priority, true));
}

API int cudaStreamGetFlags(void *stream, uint32_t *flags)
{
	struct ts_cuda_stream_get_flags_params params = {stream, flags};

	return RT(cudaStreamGetFlags_v5050, "cudaStreamGetFlags", &params,
		  stream_get_flags(stream, flags, false));
}

API int cudaStreamGetFlags_ptsz(void *stream, uint32_t *flags)
{
	struct ts_cuda_stream_get_flags_params params = {stream, flags};

	return RT(cudaStreamGetFlags_ptsz_v7000, "cudaStreamGetFlags_ptsz", &params,
		  stream_get_flags(stream, flags, true));
}

API int cudaStreamGetId(void *stream, uint64_t *stream_id)
{
	struct ts_cuda_stream_get_id_params params = {stream, stream_id};

	return RT(cudaStreamGetId_v12000, "cudaStreamGetId", &params,
		  stream_get_id(stream, stream_id, false));
}

API int cudaStreamGetId_ptsz(void *stream, uint64_t *stream_id)
{
	struct ts_cuda_stream_get_id_params params = {stream, stream_id};

	return RT(cudaStreamGetId_ptsz_v12000, "cudaStreamGetId_ptsz", &params,
		  stream_get_id(stream, stream_id, true));
}

API int cudaStreamGetDevice(void *stream, int32_t *device)
{
	struct ts_cuda_stream_get_device_params params = {stream, device};

	return RT(cudaStreamGetDevice_v12080, "cudaStreamGetDevice", &params,
		  stream_get_device(stream, device, false));
}

API int cudaStreamGetDevice_ptsz(void *stream, int32_t *device)
{
	struct ts_cuda_stream_get_device_params params = {stream, device};

	return RT(cudaStreamGetDevice_ptsz_v12080, "cudaStreamGetDevice_ptsz", &params,
		  stream_get_device(stream, device, true));
}

API int cudaStreamQuery(void *stream)
{
	struct ts_cuda_stream_query_params params = {stream};

	return RT(cudaStreamQuery_v3020, "cudaStreamQuery", &params, stream_query(stream, false));
}

API int cudaStreamQuery_ptsz(void *stream)
{
	struct ts_cuda_stream_query_params params = {stream};

	return RT(cudaStreamQuery_ptsz_v7000, "cudaStreamQuery_ptsz", &params,
		  stream_query(stream, true));
}

API int cudaStreamSynchronize(void *stream)
{
	struct ts_cuda_stream_synchronize_params params = {stream};

	return RT(cudaStreamSynchronize_v3020, "cudaStreamSynchronize", &params,
		  stream_synchronize(stream, false));
}

API int cudaStreamSynchronize_ptsz(void *stream)
{
	struct ts_cuda_stream_synchronize_params params = {stream};

	return RT(cudaStreamSynchronize_ptsz_v7000, "cudaStreamSynchronize_ptsz", &params,
		  stream_synchronize(stream, true));
}

API int cudaStreamWaitEvent(void *stream, void *event, uint32_t flags)
{
	struct ts_cuda_stream_wait_event_params params = {stream, event, flags};

	return RT(cudaStreamWaitEvent_v3020, "cudaStreamWaitEvent", &params,
		  stream_wait_event(stream, event, flags, false));
}

API int cudaStreamWaitEvent_ptsz(void *stream, void *event, uint32_t flags)
{
	struct ts_cuda_stream_wait_event_params params = {stream, event, flags};

	return RT(cudaStreamWaitEvent_ptsz_v7000, "cudaStreamWaitEvent_ptsz", &params,
		  stream_wait_event(stream, event, flags, true));
}

API int cudaStreamAddCallback(void *stream, void *callback, void *user_data, uint32_t flags)
{
	struct ts_cuda_stream_add_callback_params params = {stream, callback, user_data, flags};

	return RT(cudaStreamAddCallback_v5000, "cudaStreamAddCallback", &params,
		  stream_add_callback(stream, callback, user_data, flags, false));
}

API int cudaStreamAddCallback_ptsz(void *stream, void *callback, void *user_data, uint32_t flags)
{
	struct ts_cuda_stream_add_callback_params params = {stream, callback, user_data, flags};

	return RT(cudaStreamAddCallback_ptsz_v7000, "cudaStreamAddCallback_ptsz", &params,
		  stream_add_callback(stream, callback, user_data, flags, true));
}

API int cudaStreamAttachMemAsync(void *stream, void *dev_ptr, size_t length, uint32_t flags)
{
	struct ts_cuda_stream_attach_mem_async_params params = {stream, dev_ptr, length, flags};

	return RT(cudaStreamAttachMemAsync_v6000, "cudaStreamAttachMemAsync", &params,
		  stream_attach_mem_async(stream, dev_ptr, length, flags, false));
}

API int cudaStreamAttachMemAsync_ptsz(void *stream, void *dev_ptr, size_t length, uint32_t flags)
{
	struct ts_cuda_stream_attach_mem_async_params params = {stream, dev_ptr, length, flags};

	return RT(cudaStreamAttachMemAsync_ptsz_v7000, "cudaStreamAttachMemAsync_ptsz", &params,
		  stream_attach_mem_async(stream, dev_ptr, length, flags, true));
}

API int cudaStreamIsCapturing(void *stream, int32_t *capture_status)
{
	struct ts_cuda_stream_is_capturing_params params = {stream, capture_status};

	return RT(cudaStreamIsCapturing_v10000, "cudaStreamIsCapturing", &params,
		  stream_is_capturing(stream, capture_status, false));
}

API int cudaStreamIsCapturing_ptsz(void *stream, int32_t *capture_status)
{
	struct ts_cuda_stream_is_capturing_params params = {stream, capture_status};

	return RT(cudaStreamIsCapturing_ptsz_v10000, "cudaStreamIsCapturing_ptsz", &params,
		  stream_is_capturing(stream, capture_status, true));
}

API int cudaThreadExchangeStreamCaptureMode(int32_t *mode)
{
	struct ts_cuda_thread_exchange_stream_capture_mode_params params = {mode};

	return RT(cudaThreadExchangeStreamCaptureMode_v10010, "cudaThreadExchangeStreamCaptureMode",
		  &params, exchange_capture_mode(mode));
}

static int event_create(void **event)
{
	int r = ready();

	return r ? r : cuEventCreate(event, TS_CU_EVENT_DEFAULT);
}

static int event_create_with_flags(void **event, uint32_t flags)
{
	int r = ready();

	return r ? r : cuEventCreate(event, flags);
}

static int event_record(void *event, void *stream, bool own)
{
	int r = ready();

	return r ? r : (own ? cuEventRecord_ptsz : cuEventRecord)(event, stream);
}

static int event_record_with_flags(void *event, void *stream, uint32_t flags, bool own)
{
	int r = ready();

	return r ? r
		 : (own ? cuEventRecordWithFlags_ptsz : cuEventRecordWithFlags)(event, stream,
										flags);
}

static int event_query(void *event)
{
	int r = ready();

	return r ? r : cuEventQuery(event);
}

static int event_synchronize(void *event)
{
	int r = ready();

	return r ? r : cuEventSynchronize(event);
}

static int event_destroy(void *event)
{
	int r = ready();

	return r ? r : cuEventDestroy_v2(event);
}

static int event_elapsed_time(float *ms, void *start_event, void *end)
{
	int r = ready();

	return r ? r : cuEventElapsedTime_v2(ms, start_event, end);
}

API int cudaEventCreate(void **event)
{
	struct ts_cuda_event_create_params params = {event};

	return RT(cudaEventCreate_v3020, "cudaEventCreate", &params, event_create(event));
}

API int cudaEventCreateWithFlags(void **event, uint32_t flags)
{
	struct ts_cuda_event_create_with_flags_params params = {event, flags};

	return RT(cudaEventCreateWithFlags_v3020, "cudaEventCreateWithFlags", &params,
		  event_create_with_flags(event, flags));
}

API int cudaEventRecord(void *event, void *stream)
{
	struct ts_cuda_event_record_params params = {event, stream};

	return RT(cudaEventRecord_v3020, "cudaEventRecord", &params,
		  event_record(event, stream, false));
}

API int cudaEventRecord_ptsz(void *event, void *stream)
{
	struct ts_cuda_event_record_params params = {event, stream};

	return RT(cudaEventRecord_ptsz_v7000, "cudaEventRecord_ptsz", &params,
		  event_record(event, stream, true));
}

API int cudaEventRecordWithFlags(void *event, void *stream, uint32_t flags)
{
	struct ts_cuda_event_record_with_flags_params params = {event, stream, flags};

	return RT(cudaEventRecordWithFlags_v11010, "cudaEventRecordWithFlags", &params,
		  event_record_with_flags(event, stream, flags, false));
}

API int cudaEventRecordWithFlags_ptsz(void *event, void *stream, uint32_t flags)
{
	struct ts_cuda_event_record_with_flags_params params = {event, stream, flags};

	return RT(cudaEventRecordWithFlags_ptsz_v11010, "cudaEventRecordWithFlags_ptsz", &params,
		  event_record_with_flags(event, stream, flags, true));
}

API int cudaEventQuery(void *event)
{
	struct ts_cuda_event_query_params params = {event};

	return RT(cudaEventQuery_v3020, "cudaEventQuery", &params, event_query(event));
}

API int cudaEventSynchronize(void *event)
{
	struct ts_cuda_event_synchronize_params params = {event};

	return RT(cudaEventSynchronize_v3020, "cudaEventSynchronize", &params,
		  event_synchronize(event));
}

API int cudaEventDestroy(void *event)
{
	struct ts_cuda_event_destroy_params params = {event};

	return RT(cudaEventDestroy_v3020, "cudaEventDestroy", &params, event_destroy(event));
}

API int cudaEventElapsedTime(float *ms, void *start, void *end)
{
	struct ts_cuda_event_elapsed_time_params params = {ms, start, end};

	return RT(cudaEventElapsedTime_v12080, "cudaEventElapsedTime", &params,
		  event_elapsed_time(ms, start, end));
}
