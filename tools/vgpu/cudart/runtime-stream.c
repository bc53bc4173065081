/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events: each call is the driver's of the same name. Programs call this file through
 * the functions of generated-cudart-stream.h.
 */
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

static int exchange_stream_capture_mode(int32_t *mode)
{
	int r = ready();

	return r ? r : cuThreadExchangeStreamCaptureMode(mode);
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

	if (r)
		return r;
	return ms ? cuEventElapsedTime_v2(ms, start_event, end) : TS_CUDA_ERROR_INVALID_VALUE;
}

#include "tools/vgpu/generated-cudart-stream.h"
