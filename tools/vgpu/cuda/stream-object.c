/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects behind stream handles. A stream handle is an object, 0 or 1 for the legacy default
 * stream, or 2 for the calling thread's own stream. The functions that end in _ptsz use 0 for the
 * thread's own stream. driver-stream.c and the capture files call this file. This file calls
 * stream-captures.c when a stream is destroyed.
 */
#include <stdlib.h>

#include "tools/vgpu/cuda/work.h"

/* The calling thread's own default streams, one per context. */
struct own_stream {
	struct stream *stream;
	uint32_t context_uid;
	struct own_stream *next;
};

static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

void stream_delete(struct stream *stream)
{
	stream_capture_forget_stream(stream);
	report_stream(TS_CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, stream->context, stream);
	pthread_mutex_lock(&driver.lock);
	*stream->prev = stream->next;
	if (stream->next)
		stream->next->prev = stream->prev;
	pthread_mutex_unlock(&driver.lock);
	ts_vgpu_stream_free(stream->vstream);
	handle_free(stream, sizeof(*stream));
}

static void own_free(void *arg)
{
	struct own_stream *own = arg, *next;

	for (; own; own = next) {
		next = own->next;
		/* A destroyed context has already destroyed its streams. */
		if (check_ready() == 0 && handle_is(own->stream, HANDLE_STREAM) &&
		    own->stream->per_thread && own->stream->context->uid == own->context_uid)
			stream_delete(own->stream);
		free(own);
	}
}

static void own_make_key(void)
{
	pthread_key_create(&own_key, own_free);
}

int stream_new(struct context *context, uint32_t flags, int32_t priority, bool own,
	       struct stream **ret_stream)
{
	struct stream *stream = handle_new(HANDLE_STREAM, sizeof(*stream));
	int r;

	if (!stream)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	r = ts_vgpu_stream_new(context->vctx,
			       flags & TS_CU_STREAM_NON_BLOCKING ? TS_VGPU_STREAM_NON_BLOCKING : 0,
			       priority, &stream->vstream);
	if (r) {
		handle_free(stream, sizeof(*stream));
		return result_of(r);
	}
	stream->context = context;
	stream->per_thread = own;
	pthread_mutex_lock(&driver.lock);
	stream->next = context->streams;
	stream->prev = &context->streams;
	if (stream->next)
		stream->next->prev = &stream->next;
	context->streams = stream;
	pthread_mutex_unlock(&driver.lock);
	report_stream(TS_CUPTI_CBID_RESOURCE_STREAM_CREATED, context, stream);
	*ret_stream = stream;
	return 0;
}

int stream_own(struct context *context, struct stream **ret_stream)
{
	struct own_stream *first, *own;
	int r;

	pthread_once(&own_once, own_make_key);
	first = pthread_getspecific(own_key);
	for (own = first; own; own = own->next)
		if (own->context_uid == context->uid) {
			*ret_stream = own->stream;
			return 0;
		}
	own = malloc(sizeof(*own));
	if (!own)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	r = stream_new(context, 0, 0, true, &own->stream);
	if (r) {
		free(own);
		return r;
	}
	own->context_uid = context->uid;
	own->next = first;
	pthread_setspecific(own_key, own);
	*ret_stream = own->stream;
	return 0;
}

void streams_destroy(struct context *context)
{
	while (context->streams)
		stream_delete(context->streams);
}

int stream_get(void *handle, struct context **ret_context, struct ts_vgpu_stream **ret_stream)
{
	struct context *context;
	struct stream *stream;
	int r;

	if (handle_is(handle, HANDLE_STREAM)) {
		r = check_ready();
		if (r)
			return r;
		stream = handle;
		*ret_context = stream->context;
		*ret_stream = stream->vstream;
		return result_of_context(stream->context);
	}
	r = context_current(&context);
	if (r)
		return r;
	if (!handle || handle == TS_CU_STREAM_LEGACY) {
		*ret_stream = ts_vgpu_context_legacy(context->vctx);
	} else if (handle == TS_CU_STREAM_PER_THREAD) {
		r = stream_own(context, &stream);
		if (r)
			return r;
		*ret_stream = stream->vstream;
	} else {
		return TS_CU_ERROR_INVALID_HANDLE;
	}
	*ret_context = context;
	return 0;
}
