/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and host functions. A stream handle may be an object, or 0 and 1 for the legacy default stream, 2 for
 * the calling thread's own; the forms of calls that end in _ptsz take 0 for the thread's own.
 */
#include <stdlib.h>

#include "tools/vgpu/cuda/work.h"

/* The calling thread's default streams, one per context it used that way. */
struct own_stream {
	struct stream *stream;
	uint32_t context_uid;
	struct own_stream *next;
};

static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static void stream_delete(struct stream *stream)
{
	capture_forget_stream(stream);
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
		/* A context that went took its streams with it. */
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

static int stream_new(struct context *context, uint32_t flags, int32_t priority, bool own,
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

static int stream_create(void **stream, uint32_t flags, int32_t priority)
{
	struct context *context;
	struct stream *made;
	int r = context_current(&context);

	if (r)
		return r;
	if (!stream || flags & ~(uint32_t)TS_CU_STREAM_NON_BLOCKING)
		return TS_CU_ERROR_INVALID_VALUE;
	r = stream_new(context, flags, priority, false, &made);
	if (!r)
		*stream = made;
	return r;
}

static int stream_create_default(void **stream, uint32_t flags)
{
	return stream_create(stream, flags, 0);
}

static int stream_destroy(void *stream)
{
	struct stream *s = stream;
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(s, HANDLE_STREAM) || s->per_thread)
		return TS_CU_ERROR_INVALID_HANDLE;
	stream_delete(s);
	return 0;
}

static int stream_get_priority(void *stream, int32_t *priority)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	int r = stream_get(stream, &context, &vstream);

	if (r)
		return r;
	if (!priority)
		return TS_CU_ERROR_INVALID_VALUE;
	*priority = ts_vgpu_stream_priority(vstream);
	return 0;
}

static int stream_get_flags(void *stream, uint32_t *flags)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	int r = stream_get(stream, &context, &vstream);

	if (r)
		return r;
	if (!flags)
		return TS_CU_ERROR_INVALID_VALUE;
	*flags = ts_vgpu_stream_flags(vstream) & TS_VGPU_STREAM_NON_BLOCKING
			 ? TS_CU_STREAM_NON_BLOCKING
			 : TS_CU_STREAM_DEFAULT;
	return 0;
}

static int stream_get_id(void *stream, uint64_t *stream_id)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	int r = stream_get(stream, &context, &vstream);

	if (r)
		return r;
	if (!stream_id)
		return TS_CU_ERROR_INVALID_VALUE;
	*stream_id = ts_vgpu_stream_id(vstream);
	return 0;
}

static int stream_get_device(void *stream, int32_t *device)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	int r = stream_get(stream, &context, &vstream);

	if (r)
		return r;
	if (!device)
		return TS_CU_ERROR_INVALID_VALUE;
	*device = (int32_t)context->device;
	return 0;
}

static int stream_get_ctx(void *stream, void **ctx, void **green_ctx)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	int r = stream_get(stream, &context, &vstream);

	if (r)
		return r;
	if (!ctx)
		return TS_CU_ERROR_INVALID_VALUE;
	*ctx = context;
	if (green_ctx)
		*green_ctx = NULL;
	return 0;
}

static int stream_query(void *stream)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	int r = stream_uncaptured(stream, &context, &vstream);

	return r ? r : result_of(ts_vgpu_stream_query(vstream));
}

static int stream_synchronize(void *stream)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	uint64_t start;
	int r = stream_uncaptured(stream, &context, &vstream);

	if (r)
		return r;
	start = ts_vgpu_now_ns();
	r = result_of(ts_vgpu_stream_synchronize(vstream));
	report_wait(TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, context,
		    ts_vgpu_stream_id(vstream), stream, TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		    start, r);
	return r;
}

static int stream_attach_mem(void *stream, uint64_t dev_ptr, size_t length, uint32_t flags)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct ts_vgpu_range range;
	int r = stream_uncaptured(stream, &context, &vstream);

	if (r)
		return r;
	if ((flags != TS_CU_MEM_ATTACH_GLOBAL && flags != TS_CU_MEM_ATTACH_HOST &&
	     flags != TS_CU_MEM_ATTACH_SINGLE) ||
	    ts_vgpu_range_of(driver.vgpu, dev_ptr, &range) || range.kind != TS_VGPU_MEMORY_MANAGED)
		return TS_CU_ERROR_INVALID_VALUE;
	/* Managed memory is host memory here: everybody sees it whatever it is attached to. */
	return 0;
}

static int launch_host_func(void *stream, void *fn, void *user_data)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *capturing;
	void (*function)(void *);
	int r = stream_work(stream, &context, &vstream, &capturing);

	if (r)
		return r;
	if (!fn)
		return TS_CU_ERROR_INVALID_VALUE;
	if (capturing)
		return capture_host(capturing, fn, user_data);
	*(void **)&function = fn;
	return result_of(ts_vgpu_host_function(vstream, function, user_data, 0));
}

/* cuStreamAddCallback's function takes the stream and a result besides. */
struct callback {
	void (*function)(void *stream, int status, void *user_data);
	void *stream, *user_data;
};

static void callback_run(void *arg)
{
	struct callback *callback = arg;

	callback->function(callback->stream, TS_CU_SUCCESS, callback->user_data);
	free(callback);
}

static int stream_add_callback(void *stream, void *callback, void *user_data, uint32_t flags)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct callback *c;
	int r = stream_uncaptured(stream, &context, &vstream);

	if (r)
		return r;
	if (!callback || flags)
		return TS_CU_ERROR_INVALID_VALUE;
	c = malloc(sizeof(*c));
	if (!c)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	*(void **)&c->function = callback;
	c->stream = stream;
	c->user_data = user_data;
	r = result_of(ts_vgpu_host_function(vstream, callback_run, c, 0));
	if (r)
		free(c);
	return r;
}

#include "tools/vgpu/generated-cuda-stream.h"
