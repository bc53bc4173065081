/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls for streams and host functions. stream-object.c has the objects behind the handles.
 * Programs call this file through the functions of generated-cuda-stream.h; this file calls
 * vgpu-stream.c.
 */
#include <stdlib.h>

#include "tools/vgpu/cuda/work.h"

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
	/* Managed memory is host memory here: every stream sees it, whatever its attachment is. */
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
		return stream_capture_host(capturing, fn, user_data);
	*(void **)&function = fn;
	return result_of(ts_vgpu_host_function(vstream, function, user_data, 0));
}

/* cuStreamAddCallback's function also has a stream and a result as parameters. */
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
