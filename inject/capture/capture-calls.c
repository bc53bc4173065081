/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures driver calls: selects the calls (from cuda_driver.calls) and puts their operations into
 * the lane. capture.c calls this file; recorder.c asks ts_capture_mode() through
 * ts_capture_wants(). This file calls the other files of this folder.
 *
 * If a call changes state that a replay needs, and this file does not handle the call, its name is
 * put into the lane as unsupported. The same happens to each call that a newer driver adds to the
 * classes that do work.
 */
#include "inject/calls/call-table.h"
#include "inject/capture/capture.h"
#include "inject/context.h"
#include "inject/generated-capture.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define ID(name) TS_CUPTI_DRIVER_CBID_##name
/* A call and its form for per-thread default streams. */
#define PTSZ(name) ID(name) : case ID(name##_ptsz)
#define PTDS(name) ID(name) : case ID(name##_ptds)

#define CASE(name) case ID(name):

enum ts_capture_mode ts_capture_mode(uint32_t cbid)
{
	switch (cbid) {
		TS_CAPTURE_ORDERED_CALLS(CASE)
		return TS_CAPTURE_ORDERED;
		TS_CAPTURE_BEFORE_CALLS(CASE)
		return TS_CAPTURE_BEFORE;
		/*
		 * Capture these calls after they return: they may wait for other threads, or the
		 * capture needs only their result.
		 */
		TS_CAPTURE_AFTER_CALLS(CASE)
		return TS_CAPTURE_AFTER;
	default:
		return ts_capture_mode_of_class(cbid);
	}
}

static bool is_launch(uint32_t cbid)
{
	switch (cbid) {
		TS_CAPTURE_LAUNCHES(CASE)
		return true;
	default:
		return false;
	}
}

static bool is_wait(uint32_t cbid)
{
	switch (cbid) {
		TS_CAPTURE_WAITS(CASE)
		return true;
	default:
		return false;
	}
}

enum ts_capture_work ts_capture_work(uint32_t cbid)
{
	switch (ts_call_table_class(TS_CUPTI_CB_DOMAIN_DRIVER_API, cbid)) {
	case TS_CUPTI_CLASS_LAUNCH:
	case TS_CUPTI_CLASS_GRAPH_LAUNCH:
		if (is_launch(cbid))
			return TS_CAPTURE_WORK_LAUNCH;
		/* Calls that create, change or destroy graphs put no work into a stream. */
		return ts_capture_mode(cbid) == TS_CAPTURE_UNSUPPORTED ? TS_CAPTURE_WORK_OTHER
								       : TS_CAPTURE_WORK_NOT;
	case TS_CUPTI_CLASS_MEMCPY:
	case TS_CUPTI_CLASS_MEMSET:
		return TS_CAPTURE_WORK_COPY;
	case TS_CUPTI_CLASS_STREAM:
	case TS_CUPTI_CLASS_EVENT:
		if (ts_capture_mode(cbid) == TS_CAPTURE_UNSUPPORTED)
			return TS_CAPTURE_WORK_OTHER;
		break;
	default:
		break;
	}
	return is_wait(cbid) ? TS_CAPTURE_WORK_OTHER : TS_CAPTURE_WORK_NOT;
}

static uint64_t handle_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static void put(struct ts_capture *capture, const struct ts_record_operation *model, uint32_t kind,
		uint64_t object, uint64_t stream, uint64_t value)
{
	struct ts_record_operation operation = *model;

	operation.kind = kind;
	operation.object = object;
	operation.stream = stream;
	operation.value = value;
	(void)ts_lane_put(&capture->lane, &operation);
}

static void put_named(struct ts_capture *capture, const struct ts_record_operation *model,
		      uint32_t kind, uint64_t object, uint64_t parent, const char *name)
{
	struct ts_record_operation operation = *model;

	operation.kind = kind;
	operation.object = object;
	operation.parent = parent;
	if (name)
		operation.name =
			ts_definitions_string(&capture->shim->definitions, name, strlen(name));
	if (kind == TS_OPERATION_FUNCTION)
		ts_capture_function(capture, object);
	(void)ts_lane_put(&capture->lane, &operation);
}

static void put_image(struct ts_capture *capture, const struct ts_record_operation *model,
		      const void *module, const void *image, size_t n_bytes, bool is_library)
{
	const bool is_hip = capture->driver == &capture->drivers[TS_CAPTURE_HIP];
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_MODULE_LOAD;
	operation.object = handle_of(module);
	/* A bundle may state more bytes than there are. */
	operation.content = n_bytes ? ts_lane_content_rows(&capture->lane, image, n_bytes, 1, 1,
							   n_bytes, n_bytes, !is_hip)
				    : 0;
	(void)ts_lane_put(&capture->lane, &operation);
	/* A library of CUDA belongs to all contexts, one of HIP to the device of its load. */
	ts_window_module(capture, operation.object, is_library && !is_hip ? 0 : operation.context,
			 is_library, true);
}

static void put_module(struct ts_capture *capture, const struct ts_record_operation *model,
		       const void *module, const void *image, bool is_library)
{
	const void *start;
	size_t n_bytes = ts_capture_image_bytes(image, &start);

	put_image(capture, model, module, start, n_bytes, is_library);
}

static void put_module_of_file(struct ts_capture *capture, const struct ts_record_operation *model,
			       const void *module, const char *path, bool is_library)
{
	const void *image = NULL;
	size_t n_bytes = ts_capture_file_take(path, &image);

	put_image(capture, model, module, image, n_bytes, is_library);
	if (!n_bytes)
		ts_capture_unsupported(
			capture, model,
			"a module from a file that cannot be read, or that changed while it was loaded");
}

static void put_fill(struct ts_capture *capture, const struct ts_record_operation *model,
		     uint32_t flags, uint64_t dst, uint64_t pitch, uint32_t value, uint32_t element,
		     size_t width, size_t height, uint64_t stream)
{
	struct ts_cu_memset_node_params fill = {dst, pitch, value, element, width, height};
	struct ts_record_operation own = *model;

	own.stream = stream;
	own.operation_flags |= flags;
	ts_capture_fill(capture, &own, &fill);
}

static bool module_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			const struct ts_record_operation *model)
{
	switch (cbid) {
	case ID(cuModuleLoad): {
		const struct ts_cu_module_load_params *p = params;

		put_module_of_file(capture, model, *p->module, p->fname, false);
		return true;
	}
	case ID(cuLibraryLoadFromFile): {
		const struct ts_cu_library_load_from_file_params *p = params;

		put_module_of_file(capture, model, *p->library, p->file_name, true);
		return true;
	}
	case ID(cuModuleLoadData):
	case ID(cuModuleLoadDataEx):
	case ID(cuModuleLoadFatBinary): {
		/* The first two parameters are the same in all three calls. */
		const struct ts_cu_module_load_data_params *p = params;

		put_module(capture, model, *p->module, p->image, false);
		return true;
	}
	case ID(cuLibraryLoadData): {
		const struct ts_cu_library_load_data_params *p = params;

		put_module(capture, model, *p->library, p->code, true);
		return true;
	}
	case ID(cuModuleUnload):
	case ID(cuLibraryUnload):
		put(capture, model, TS_OPERATION_MODULE_UNLOAD, handle_of(*(void *const *)params),
		    0, 0);
		ts_capture_functions_unload(capture);
		ts_window_module(capture, handle_of(*(void *const *)params), 0, false, false);
		return true;
	case ID(cuModuleGetFunction): {
		const struct ts_cu_module_get_function_params *p = params;

		put_named(capture, model, TS_OPERATION_FUNCTION, handle_of(*p->func),
			  handle_of(p->module), p->name);
		return true;
	}
	case ID(cuLibraryGetKernel): {
		const struct ts_cu_library_get_kernel_params *p = params;

		put_named(capture, model, TS_OPERATION_FUNCTION, handle_of(*p->kernel),
			  handle_of(p->library), p->name);
		return true;
	}
	case ID(cuKernelGetFunction): {
		const struct ts_cu_kernel_get_function_params *p = params;

		/*
		 * A FUNCTION operation without a name: its parent is a kernel, and its object is
		 * the same function in a context.
		 */
		put_named(capture, model, TS_OPERATION_FUNCTION, handle_of(*p->func),
			  handle_of(p->kernel), NULL);
		return true;
	}
	case ID(cuLibraryGetModule): {
		const struct ts_cu_kernel_get_function_params *p = params;

		/*
		 * A MODULE_LOAD operation without a content: its parent is a library, and its
		 * object is the library's module in a context. The parameters have the layout of
		 * cuKernelGetFunction().
		 */
		put_named(capture, model, TS_OPERATION_MODULE_LOAD, handle_of(*p->func),
			  handle_of(p->kernel), NULL);
		return true;
	}
	case ID(cuModuleGetGlobal_v2):
	case ID(cuLibraryGetGlobal):
	case ID(cuLibraryGetManaged): {
		const struct ts_cu_module_get_global_params *p = params;

		/* If the caller asks only for the size, dev_ptr is NULL and there is no address. */
		if (p->dev_ptr && p->name)
			ts_capture_variable(capture, model, *p->dev_ptr,
					    p->bytes
						    ? *p->bytes
						    : ts_capture_variable_bytes(capture, cbid,
										p->module, p->name),
					    p->module, p->name);
		return true;
	}
	default:
		return false;
	}
}

static void put_sync(struct ts_capture *capture, const struct ts_record_operation *model,
		     uint32_t flags, uint64_t event, uint64_t stream)
{
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_SYNC;
	operation.operation_flags |= flags;
	operation.object = event;
	operation.stream = stream;
	(void)ts_lane_put(&capture->lane, &operation);
	ts_capture_results(capture, &operation);
}

static bool stream_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			struct ts_record_operation *model)
{
	switch (cbid) {
	case ID(cuStreamCreateWithPriority):
		model->src =
			(uint32_t)((const struct ts_cu_stream_create_with_priority_params *)params)
				->priority;
		__attribute__((fallthrough));
	case ID(cuStreamCreate): {
		/* The parameters of cuStreamCreateWithPriority() begin with the same fields. */
		const struct ts_cu_stream_create_params *p = params;

		put(capture, model, TS_OPERATION_STREAM_CREATE, handle_of(*p->stream), 0, p->flags);
		ts_window_stream(capture, handle_of(*p->stream), model->context, true);
		return true;
	}
	case ID(cuStreamDestroy_v2):
		put(capture, model, TS_OPERATION_STREAM_DESTROY, handle_of(*(void *const *)params),
		    0, 0);
		ts_window_stream(capture, handle_of(*(void *const *)params), 0, false);
		return true;
	case ID(cuEventCreate): {
		const struct ts_cu_event_create_params *p = params;

		put(capture, model, TS_OPERATION_EVENT_CREATE, handle_of(*p->event), 0, p->flags);
		/*
		 * The driver may reuse the handle of a destroyed event. The new event has no
		 * position in a stream yet.
		 */
		ts_capture_event(capture,
				 &(struct ts_record_operation){.object = handle_of(*p->event)});
		return true;
	}
	case ID(cuEventDestroy_v2):
		put(capture, model, TS_OPERATION_EVENT_DESTROY, handle_of(*(void *const *)params),
		    0, 0);
		return true;
	case PTSZ(cuEventRecord):
	case PTSZ(cuEventRecordWithFlags): {
		const struct ts_cu_event_record_params *p = params;

		model->stream = ts_capture_stream(cbid, p->stream);
		ts_capture_event_record(capture, model, handle_of(p->event));
		return true;
	}
	case PTSZ(cuStreamWaitEvent): {
		const struct ts_cu_stream_wait_event_params *p = params;

		model->stream = ts_capture_stream(cbid, p->stream);
		model->value = p->flags;
		ts_capture_event_wait(capture, model, handle_of(p->event));
		return true;
	}
	case ID(cuCtxSynchronize):
		put_sync(capture, model, TS_OPERATION_SYNC_CONTEXT, 0, 0);
		return true;
	case ID(cuCtxSynchronize_v2):
		if (ts_capture_context(capture, *(void *const *)params, &model->context))
			put_sync(capture, model, TS_OPERATION_SYNC_CONTEXT, 0, 0);
		return true;
	case PTSZ(cuStreamSynchronize):
	case PTSZ(cuStreamQuery):
		put_sync(capture, model, TS_OPERATION_SYNC_STREAM, 0,
			 ts_capture_stream(cbid, *(void *const *)params));
		return true;
	case ID(cuEventSynchronize):
	case ID(cuEventQuery):
		put_sync(capture, model, TS_OPERATION_SYNC_EVENT, handle_of(*(void *const *)params),
			 0);
		return true;
	case ID(cuCtxEnablePeerAccess):
	case ID(cuCtxDisablePeerAccess):
		put(capture, model, TS_OPERATION_PEER, handle_of(*(void *const *)params), 0,
		    cbid == ID(cuCtxEnablePeerAccess));
		return true;
	case ID(cuCtxSetLimit): {
		const struct ts_cu_ctx_set_limit_params *p = params;
		struct ts_record_operation operation = *model;

		operation.kind = TS_OPERATION_LIMIT;
		operation.value = (uint32_t)p->limit;
		operation.bytes = p->value;
		(void)ts_lane_put(&capture->lane, &operation);
		return true;
	}
	default:
		return false;
	}
}

static bool fill_call(struct ts_capture *capture, uint32_t cbid, const void *params,
		      const struct ts_record_operation *model)
{
	switch (cbid) {
#define FILL(bits)                                                                                 \
	case PTDS(cuMemsetD##bits##_v2): {                                                         \
		const struct ts_cu_memset_d##bits##_params *p = params;                            \
                                                                                                   \
		put_fill(capture, model, 0, p->dst_device, 0, p->value, bits / 8, p->n, 1,         \
			 ts_capture_stream(cbid, NULL));                                           \
		return true;                                                                       \
	}                                                                                          \
	case PTSZ(cuMemsetD##bits##Async): {                                                       \
		const struct ts_cu_memset_d##bits##_async_params *p = params;                      \
                                                                                                   \
		put_fill(capture, model, TS_OPERATION_ASYNC, p->dst_device, 0, p->value, bits / 8, \
			 p->n, 1, ts_capture_stream(cbid, p->stream));                             \
		return true;                                                                       \
	}                                                                                          \
	case PTDS(cuMemsetD2D##bits##_v2): {                                                       \
		const struct ts_cu_memset_d2d##bits##_params *p = params;                          \
                                                                                                   \
		put_fill(capture, model, 0, p->dst_device, p->dst_pitch, p->value, bits / 8,       \
			 p->width, p->height, ts_capture_stream(cbid, NULL));                      \
		return true;                                                                       \
	}                                                                                          \
	case PTSZ(cuMemsetD2D##bits##Async): {                                                     \
		const struct ts_cu_memset_d2d##bits##_async_params *p = params;                    \
                                                                                                   \
		put_fill(capture, model, TS_OPERATION_ASYNC, p->dst_device, p->dst_pitch,          \
			 p->value, bits / 8, p->width, p->height,                                  \
			 ts_capture_stream(cbid, p->stream));                                      \
		return true;                                                                       \
	}
		FILL(8)
		FILL(16)
		FILL(32)
#undef FILL
	default:
		return false;
	}
}

/* Captures a copy of one row. */
static void copy_flat(struct ts_capture *capture, struct ts_record_operation *model, uint32_t cbid,
		      uint64_t dst, bool dst_host, uint64_t src, bool src_host, size_t n,
		      const void *stream, bool async)
{
	struct ts_capture_copy copy = {.dst = dst,
				       .src = src,
				       .width = n,
				       .height = 1,
				       .depth = 1,
				       .dst_pitch = n,
				       .src_pitch = n,
				       .dst_slice = n,
				       .src_slice = n,
				       .dst_host = dst_host,
				       .src_host = src_host,
				       .unified = cbid == ID(cuMemcpy) ||
						  cbid == ID(cuMemcpy_ptds) ||
						  cbid == ID(cuMemcpyAsync) ||
						  cbid == ID(cuMemcpyAsync_ptsz),
				       .async = async};

	model->stream = ts_capture_stream(cbid, stream);
	ts_capture_copies(capture, model, &copy);
}

static void copy_2d(struct ts_capture *capture, struct ts_record_operation *model, uint32_t cbid,
		    const struct ts_cu_memcpy_2d *from, const void *stream, bool async)
{
	bool src_host = from->src_memory_type == TS_CU_MEMORYTYPE_HOST;
	bool dst_host = from->dst_memory_type == TS_CU_MEMORYTYPE_HOST;
	struct ts_capture_copy copy = {
		.src = (src_host ? handle_of(from->src_host) : from->src_device) +
		       from->src_y * from->src_pitch + from->src_x_in_bytes,
		.dst = (dst_host ? handle_of(from->dst_host) : from->dst_device) +
		       from->dst_y * from->dst_pitch + from->dst_x_in_bytes,
		.width = from->width_in_bytes,
		.height = from->height,
		.depth = 1,
		.src_pitch = from->src_pitch ?: from->width_in_bytes,
		.dst_pitch = from->dst_pitch ?: from->width_in_bytes,
		.src_host = src_host,
		.dst_host = dst_host,
		.unified = from->src_memory_type == TS_CU_MEMORYTYPE_UNIFIED ||
			   from->dst_memory_type == TS_CU_MEMORYTYPE_UNIFIED,
		.async = async,
	};

	copy.src_slice = copy.src_pitch * copy.height;
	copy.dst_slice = copy.dst_pitch * copy.height;
	if (from->src_memory_type == TS_CU_MEMORYTYPE_ARRAY ||
	    from->dst_memory_type == TS_CU_MEMORYTYPE_ARRAY) {
		ts_capture_unsupported(capture, model, "copies of arrays");
		return;
	}
	model->stream = ts_capture_stream(cbid, stream);
	ts_capture_copies(capture, model, &copy);
}

static void copy_3d(struct ts_capture *capture, struct ts_record_operation *model, uint32_t cbid,
		    const struct ts_cu_memcpy_3d *from, const void *stream, bool async)
{
	struct ts_capture_copy copy;

	if (!ts_capture_copy_3d(from, &copy)) {
		ts_capture_unsupported(capture, model, "copies of arrays");
		return;
	}
	copy.async = async;
	model->stream = ts_capture_stream(cbid, stream);
	ts_capture_copies(capture, model, &copy);
}

static bool sync_copy_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			   struct ts_record_operation *model)
{
	switch (cbid) {
	case PTDS(cuMemcpyHtoD_v2): {
		const struct ts_cu_memcpy_htod_params *p = params;

		copy_flat(capture, model, cbid, p->dst_device, false, handle_of(p->src_host), true,
			  p->byte_count, NULL, false);
		return true;
	}
	case PTDS(cuMemcpyDtoH_v2): {
		const struct ts_cu_memcpy_dtoh_params *p = params;

		copy_flat(capture, model, cbid, handle_of(p->dst_host), true, p->src_device, false,
			  p->byte_count, NULL, false);
		return true;
	}
	case PTDS(cuMemcpyDtoD_v2):
	case PTDS(cuMemcpy): {
		/*
		 * Both calls have the same parameters. The addresses determine the kinds of memory.
		 */
		const struct ts_cu_memcpy_dtod_params *p = params;

		copy_flat(capture, model, cbid, p->dst_device, false, p->src_device, false,
			  p->byte_count, NULL, false);
		return true;
	}
	case PTDS(cuMemcpyPeer): {
		const struct ts_cu_memcpy_peer_params *p = params;

		copy_flat(capture, model, cbid, p->dst_device, false, p->src_device, false,
			  p->byte_count, NULL, false);
		return true;
	}
	case PTDS(cuMemcpy2D_v2):
	case PTDS(cuMemcpy2DUnaligned_v2):
		copy_2d(capture, model, cbid, *(const struct ts_cu_memcpy_2d *const *)params, NULL,
			false);
		return true;
	case PTDS(cuMemcpy3D_v2):
		copy_3d(capture, model, cbid, *(const struct ts_cu_memcpy_3d *const *)params, NULL,
			false);
		return true;
	default:
		return false;
	}
}

static bool async_copy_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			    struct ts_record_operation *model)
{
	switch (cbid) {
	case PTSZ(cuMemcpyHtoDAsync_v2): {
		const struct ts_cu_memcpy_htod_async_params *p = params;

		copy_flat(capture, model, cbid, p->dst_device, false, handle_of(p->src_host), true,
			  p->byte_count, p->stream, true);
		return true;
	}
	case PTSZ(cuMemcpyDtoHAsync_v2): {
		const struct ts_cu_memcpy_dtoh_async_params *p = params;

		copy_flat(capture, model, cbid, handle_of(p->dst_host), true, p->src_device, false,
			  p->byte_count, p->stream, true);
		return true;
	}
	case PTSZ(cuMemcpyDtoDAsync_v2):
	case PTSZ(cuMemcpyAsync): {
		const struct ts_cu_memcpy_dtod_async_params *p = params;

		copy_flat(capture, model, cbid, p->dst_device, false, p->src_device, false,
			  p->byte_count, p->stream, true);
		return true;
	}
	case PTSZ(cuMemcpyPeerAsync): {
		const struct ts_cu_memcpy_peer_async_params *p = params;

		copy_flat(capture, model, cbid, p->dst_device, false, p->src_device, false,
			  p->byte_count, p->stream, true);
		return true;
	}
	case PTSZ(cuMemcpy2DAsync_v2): {
		const struct ts_cu_memcpy2d_async_params *p = params;

		copy_2d(capture, model, cbid, p->copy, p->stream, true);
		return true;
	}
	case PTSZ(cuMemcpy3DAsync_v2): {
		const struct ts_cu_memcpy3d_async_params *p = params;

		copy_3d(capture, model, cbid, p->copy, p->stream, true);
		return true;
	}
	default:
		return false;
	}
}

struct launch {
	void *function;
	void **arguments, **extra;
	const char *lacks; /* a feature that a replay cannot repeat; NULL: none */
};

/* Reads a launch. `model` receives its size, its stream and its flags. False: it is no launch. */
static bool read_launch(uint32_t cbid, const void *params, struct ts_record_operation *model,
			struct launch *ret)
{
	*ret = (struct launch){0};
	switch (cbid) {
	case PTSZ(cuLaunchKernel):
	case PTSZ(cuLaunchCooperativeKernel): {
		/*
		 * The parameters of both calls are the same up to `extra`, which
		 * cuLaunchCooperativeKernel() lacks.
		 */
		const struct ts_cu_launch_cooperative_kernel_params *p = params;

		ret->function = p->func;
		ret->arguments = p->kernel_params;
		if (cbid == ID(cuLaunchKernel) || cbid == ID(cuLaunchKernel_ptsz))
			ret->extra = ((const struct ts_cu_launch_kernel_params *)params)->extra;
		else
			model->operation_flags |= TS_OPERATION_COOPERATIVE;
		memcpy(model->grid, &p->grid_dim_x, sizeof(model->grid));
		memcpy(model->block, &p->block_dim_x, sizeof(model->block));
		model->shared_bytes = p->shared_mem_bytes;
		model->stream = ts_capture_stream(cbid, p->stream);
		return true;
	}
	case PTSZ(cuLaunchKernelEx): {
		const struct ts_cu_launch_kernel_ex_params *p = params;

		ret->function = p->func;
		ret->arguments = p->kernel_params;
		ret->extra = p->extra;
		memcpy(model->grid, &p->config->grid_dim_x, sizeof(model->grid));
		memcpy(model->block, &p->config->block_dim_x, sizeof(model->block));
		model->shared_bytes = p->config->shared_mem_bytes;
		model->stream = ts_capture_stream(cbid, p->config->stream);
		for (uint32_t i = 0; i < p->config->num_attrs; i++) {
			const struct ts_cu_launch_attribute *one = &p->config->attrs[i];

			const char *lacks =
				ts_capture_launch_attribute(one->id, &one->value, model);

			ret->lacks = ret->lacks ?: lacks;
		}
		return true;
	}
	default:
		return false;
	}
}

static bool launch_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			struct ts_record_operation *model)
{
	struct launch launch;

	if (!read_launch(cbid, params, model, &launch))
		return false;
	if (!launch.lacks)
		ts_capture_launch(capture, model, launch.function, launch.arguments, launch.extra);
	else if (!ts_capture_is_captured(capture, model->stream))
		ts_capture_unsupported(capture, model, launch.lacks);
	return true;
}

void ts_capture_before_launch(struct ts_capture *capture, uint32_t cbid, const void *params,
			      const struct ts_record_operation *model)
{
	struct ts_record_operation own = *model;
	struct launch launch;

	if (cbid == ID(cuGraphLaunch) || cbid == ID(cuGraphLaunch_ptsz)) {
		const struct ts_cu_graph_launch_params *p = params;

		own.stream = ts_capture_stream(cbid, p->stream);
		ts_capture_graph_begins(capture, &own, p->graph_exec);
		return;
	}
	if (read_launch(cbid, params, &own, &launch) && !launch.lacks)
		ts_capture_launch_begins(capture, &own, launch.function, launch.arguments,
					 launch.extra);
}

static bool is_cluster(int32_t attribute)
{
	return attribute >= TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH &&
	       attribute <= TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH;
}

/*
 * If a call changes the meaning of captured calls, puts an operation that names it as unsupported.
 */
static bool odd_call(struct ts_capture *capture, uint32_t cbid, const void *params,
		     const struct ts_record_operation *model)
{
	switch (cbid) {
	case ID(cuMemHostGetDevicePointer):
	case ID(cuMemHostGetDevicePointer_v2): {
		const struct ts_cu_mem_host_get_device_pointer_params *p = params;

		if (p->pdptr && *p->pdptr != (uint64_t)(uintptr_t)p->p)
			ts_capture_unsupported(
				capture, model,
				"pinned memory whose device address differs from its host address");
		return true;
	}
	case ID(cuFuncSetAttribute): {
		const struct ts_cu_func_set_attribute_params *p = params;

		if (is_cluster(p->attrib) && p->value > 1)
			ts_capture_unsupported(capture, model, "launches in clusters of blocks");
		return true;
	}
	case ID(cuKernelSetAttribute): {
		const struct ts_cu_kernel_set_attribute_params *p = params;

		if (is_cluster(p->attrib) && p->val > 1)
			ts_capture_unsupported(capture, model, "launches in clusters of blocks");
		return true;
	}
	default:
		return false;
	}
}

void ts_capture_call(struct ts_capture *capture, uint32_t cbid, const void *params,
		     const struct ts_record_operation *model)
{
	struct ts_record_operation own = *model;

	/* cuCtxSynchronize() has no parameters. */
	if (!params && cbid != ID(cuCtxSynchronize))
		return;
	(void)(launch_call(capture, cbid, params, &own) ||
	       async_copy_call(capture, cbid, params, &own) ||
	       sync_copy_call(capture, cbid, params, &own) ||
	       fill_call(capture, cbid, params, model) ||
	       stream_call(capture, cbid, params, &own) ||
	       ts_capture_alloc_call(capture, cbid, params, &own) ||
	       ts_capture_graph_call(capture, cbid, params, &own) ||
	       module_call(capture, cbid, params, model) || odd_call(capture, cbid, params, model));
}
