/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the operations of HIP's calls. hip-capture.c calls this file, with the lane's lock held. For
 * most calls hip.calls names the driver call whose operation serves: the generated header makes its
 * arguments, and capture-calls.c puts the operation. The other calls have functions here.
 *
 * A call that does work and has neither is named as unsupported.
 */
#include "inject/capture/hip/hip-capture.h"

#include "inject/calls/call-table.h"
#include "inject/context.h"
#include "inject/hip/hip-arguments.h"
#include "inject/hip/hip-slots.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"

#include "inject/generated-hip-capture.h"

#define CASE(name)   case TS_HIP_CALL_##name:
#define DRIVER(name) TS_CUPTI_DRIVER_CBID_##name
#define MAX_DEVICES  64u
#define EXTRA_WORDS  5u

enum ts_capture_mode ts_hip_capture_mode(uint32_t id)
{
	const uint32_t driver_call = driver_call_of(id);

	if (driver_call)
		return ts_capture_mode(driver_call);
	switch (id) {
		TS_HIP_CAPTURE_ORDERED_CALLS(CASE)
		return TS_CAPTURE_ORDERED;
		TS_HIP_CAPTURE_BEFORE_CALLS(CASE)
		return TS_CAPTURE_BEFORE;
		TS_HIP_CAPTURE_AFTER_CALLS(CASE)
		return TS_CAPTURE_AFTER;
		TS_HIP_CAPTURE_HARMLESS_CALLS(CASE)
		return TS_CAPTURE_NOT;
		TS_HIP_CAPTURE_LACKED_CALLS(CASE)
		return TS_CAPTURE_UNSUPPORTED;
	default:
		break;
	}
	return ts_capture_class_mode(TS_API_HIP, id);
}

enum ts_capture_work ts_hip_capture_work(uint32_t id)
{
	const uint32_t driver_call = driver_call_of(id);

	if (driver_call)
		return ts_capture_work(driver_call);
	switch (ts_call_table_class(TS_API_HIP, id)) {
	case TS_CUPTI_CLASS_LAUNCH:
	case TS_CUPTI_CLASS_GRAPH_LAUNCH:
		return TS_CAPTURE_WORK_LAUNCH;
	case TS_CUPTI_CLASS_MEMCPY:
	case TS_CUPTI_CLASS_MEMSET:
		return TS_CAPTURE_WORK_COPY;
	case TS_CUPTI_CLASS_STREAM:
	case TS_CUPTI_CLASS_EVENT:
		return ts_hip_capture_mode(id) == TS_CAPTURE_UNSUPPORTED ? TS_CAPTURE_WORK_OTHER
									 : TS_CAPTURE_WORK_NOT;
	default:
		return TS_CAPTURE_WORK_NOT;
	}
}

static uint64_t handle_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* ---- devices ---- */

/* HIP shows no contexts. This handle of a device's context is the capture's own. */
static void *context_handle(uint32_t device)
{
	return (void *)(uintptr_t)(device + 1);
}

/* The number of a device's context in the trace; the device of a call. */
static uint32_t context_of(const struct ts_capture *capture, uint32_t device)
{
	return capture->shim->hip.first_device + device + 1;
}

static uint32_t device_of_call(const struct ts_capture *capture,
			       const struct ts_record_operation *model)
{
	return model->context - capture->shim->hip.first_device - 1;
}

static void put_context(struct ts_capture *capture, const struct ts_record_operation *model,
			uint32_t device, bool is_new)
{
	struct ts_record_operation operation = *model;
	const uint64_t bit = UINT64_C(1) << device % MAX_DEVICES;

	if (!(capture->hip.devices & bit) != is_new)
		return;
	capture->hip.devices ^= bit;
	operation.kind = is_new ? TS_OPERATION_CONTEXT_CREATE : TS_OPERATION_CONTEXT_DESTROY;
	operation.context = context_of(capture, device);
	operation.device = capture->shim->hip.first_device + device;
	operation.object = handle_of(context_handle(device));
	(void)ts_lane_put(&capture->lane, &operation);
	if (!is_new)
		ts_memory_map_leave(&capture->memory, operation.context);
	ts_window_context(capture, TS_CAPTURE_HIP, operation.object, operation.context, is_new);
}

/* Returns the device that a context of HIP stands for. Returns false if it is not known. */
static bool device_of(const struct ts_capture *capture, const void *context, uint32_t *ret_device)
{
	return ts_stream_table_find(&capture->shim->hip.contexts, 0, handle_of(context),
				    ret_device);
}

static void put_peer(struct ts_capture *capture, const struct ts_record_operation *model,
		     uint32_t peer, bool can_access)
{
	const struct ts_cu_ctx_enable_peer_access_params as = {context_handle(peer), 0};

	put_context(capture, model, peer, true);
	ts_capture_call(capture,
			can_access ? DRIVER(cuCtxEnablePeerAccess) : DRIVER(cuCtxDisablePeerAccess),
			&as, model);
}

static bool device_call(struct ts_capture *capture, uint32_t id, const void *params,
			const struct ts_record_operation *model)
{
	uint32_t device;

	switch (id) {
	case TS_HIP_CALL_hipDeviceEnablePeerAccess:
	case TS_HIP_CALL_hipDeviceDisablePeerAccess:
		put_peer(capture, model,
			 (uint32_t)((const struct hipDeviceEnablePeerAccess_params *)params)
				 ->peer_device_id,
			 id == TS_HIP_CALL_hipDeviceEnablePeerAccess);
		return true;
	case TS_HIP_CALL_hipCtxEnablePeerAccess:
	case TS_HIP_CALL_hipCtxDisablePeerAccess:
		if (device_of(capture, *(void *const *)params, &device))
			put_peer(capture, model, device, id == TS_HIP_CALL_hipCtxEnablePeerAccess);
		else
			ts_capture_unsupported(capture, model,
					       "peer access to a context that no call returned");
		return true;
	case TS_HIP_CALL_hipDeviceReset:
		put_context(capture, model, device_of_call(capture, model), false);
		return true;
	case TS_HIP_CALL_hipDevicePrimaryCtxReset:
		put_context(
			capture, model,
			(uint32_t)((const struct hipDevicePrimaryCtxReset_params *)params)->device,
			false);
		return true;
	default:
		return false;
	}
}

/* ---- modules ---- */

const char *ts_hip_capture_path(uint32_t id, const void *params)
{
	/* The first two arguments of both calls are alike. */
	return id == TS_HIP_CALL_hipModuleLoad || id == TS_HIP_CALL_hipLibraryLoadFromFile
		       ? ((const struct hipModuleLoad_params *)params)->fname
		       : NULL;
}

/* driver_call: cuModuleLoadData() or cuLibraryLoadData(), whose arguments begin alike. */
static void put_image(struct ts_capture *capture, uint32_t driver_call,
		      const struct hipModuleLoadData_params *p,
		      const struct ts_record_operation *model)
{
	const struct ts_cu_module_load_data_params as = {p->module, p->image};
	const void *start;
	size_t n_bytes = ts_capture_image_bytes(p->image, &start);

	ts_capture_call(capture, driver_call, &as, model);
	ts_hip_capture_code(capture, *p->module, start, n_bytes);
}

static void put_file(struct ts_capture *capture, uint32_t driver_call,
		     const struct hipModuleLoad_params *p, const struct ts_record_operation *model)
{
	const struct ts_cu_module_load_params as = {p->module, p->fname};
	const void *image = NULL;
	size_t n_bytes = ts_capture_file_take(p->fname, &image);

	ts_capture_call(capture, driver_call, &as, model);
	ts_hip_capture_code(capture, *p->module, image, n_bytes);
}

static bool module_call(struct ts_capture *capture, uint32_t id, const void *params,
			const struct ts_record_operation *model)
{
	switch (id) {
	case TS_HIP_CALL_hipModuleLoad:
		put_file(capture, DRIVER(cuModuleLoad), params, model);
		return true;
	case TS_HIP_CALL_hipLibraryLoadFromFile:
		put_file(capture, DRIVER(cuLibraryLoadFromFile), params, model);
		return true;
	/* The first two arguments of these calls are alike. */
	case TS_HIP_CALL_hipModuleLoadData:
	case TS_HIP_CALL_hipModuleLoadDataEx:
	case TS_HIP_CALL_hipModuleLoadFatBinary:
		put_image(capture, DRIVER(cuModuleLoadData), params, model);
		return true;
	case TS_HIP_CALL_hipLibraryLoadData:
		put_image(capture, DRIVER(cuLibraryLoadData), params, model);
		return true;
	case TS_HIP_CALL_hipModuleUnload:
	case TS_HIP_CALL_hipLibraryUnload:
		ts_capture_call(capture, DRIVER(cuModuleUnload), params, model);
		ts_hip_capture_code_drop(capture, *(void *const *)params);
		return true;
	/* A kernel of a library is a function, as hipKernelGetFunction() returns it. */
	case TS_HIP_CALL_hipLibraryGetKernel:
	case TS_HIP_CALL_hipModuleGetFunction: {
		const struct hipModuleGetFunction_params *p = params;
		const struct ts_cu_module_get_function_params as = {p->func, p->module, p->kname};

		ts_capture_call(capture, DRIVER(cuModuleGetFunction), &as, model);
		ts_hip_capture_function(capture, *p->func, p->module, p->kname);
		return true;
	}
	case TS_HIP_CALL_hipGetFuncBySymbol: {
		const struct hipGetFuncBySymbol_params *p = params;
		void *symbol = (void *)(uintptr_t)p->symbol_ptr;
		const struct ts_cu_kernel_get_function_params as = {p->function_ptr, symbol};

		ts_hip_capture_registered(capture, model, symbol);
		ts_capture_call(capture, DRIVER(cuKernelGetFunction), &as, model);
		ts_hip_capture_alias(capture, *p->function_ptr, symbol);
		return true;
	}
	default:
		return false;
	}
}

/* ---- launches ---- */

struct launch {
	void **arguments, **extra;
	const struct ts_cu_launch_attribute *attributes;
	uint32_t n_attributes;
	void *start_event, *stop_event;
	bool is_cooperative, is_ragged;
};

static bool is_ragged(const struct hipHccModuleLaunchKernel_params *p)
{
	return !p->local_work_size_x || !p->local_work_size_y || !p->local_work_size_z ||
	       p->global_x % p->local_work_size_x || p->global_work_size_y % p->local_work_size_y ||
	       p->global_work_size_z % p->local_work_size_z;
}

/* Reads what a launch has beside its size. Returns false for calls that are no launch. */
static bool read_launch(uint32_t id, const void *params, struct launch *ret)
{
	*ret = (struct launch){0};
	switch (id) {
	case TS_HIP_CALL_hipExtLaunchKernel: {
		const struct hipExtLaunchKernel_params *p = params;

		ret->start_event = p->start_event;
		ret->stop_event = p->stop_event;
	}
		__attribute__((fallthrough));
	case TS_HIP_CALL_hipLaunchKernel:
	case TS_HIP_CALL_hipLaunchKernel_spt:
		/* The arguments of hipExtLaunchKernel() begin alike. */
		ret->arguments = ((const struct hipLaunchKernel_params *)params)->args;
		return true;
	case TS_HIP_CALL_hipLaunchCooperativeKernel:
	case TS_HIP_CALL_hipLaunchCooperativeKernel_spt:
		ret->arguments =
			((const struct hipLaunchCooperativeKernel_params *)params)->kernel_params;
		ret->is_cooperative = true;
		return true;
	case TS_HIP_CALL_hipModuleLaunchCooperativeKernel:
		ret->arguments = ((const struct hipModuleLaunchCooperativeKernel_params *)params)
					 ->kernel_params;
		ret->is_cooperative = true;
		return true;
	case TS_HIP_CALL_hipModuleLaunchKernel: {
		const struct hipModuleLaunchKernel_params *p = params;

		ret->arguments = p->kernel_params;
		ret->extra = p->extra;
		return true;
	}
	case TS_HIP_CALL_hipExtModuleLaunchKernel:
	case TS_HIP_CALL_hipHccModuleLaunchKernel: {
		/* hipExtModuleLaunchKernel() has one argument more, at the end. */
		const struct hipHccModuleLaunchKernel_params *p = params;

		ret->arguments = p->kernel_params;
		ret->extra = p->extra;
		ret->start_event = p->start_event;
		ret->stop_event = p->stop_event;
		ret->is_ragged = is_ragged(p);
		return true;
	}
	case TS_HIP_CALL_hipLaunchKernelExC: {
		const struct hipLaunchKernelExC_params *p = params;

		ret->arguments = p->args;
		ret->attributes = p->config->attrs;
		ret->n_attributes = p->config->num_attrs;
		return true;
	}
	case TS_HIP_CALL_hipDrvLaunchKernelEx: {
		const struct hipDrvLaunchKernelEx_params *p = params;

		ret->arguments = p->kernel_params;
		ret->extra = p->extra;
		ret->attributes = p->config->attrs;
		ret->n_attributes = p->config->num_attrs;
		return true;
	}
	default:
		return false;
	}
}

static uint64_t stream_of(uint32_t id, const void *params)
{
	const struct ts_hip_stream stream = ts_hip_stream_of(id, params);

	if (stream.handle)
		return handle_of(stream.handle);
	return stream.per_thread ? TS_OPERATION_STREAM_PER_THREAD : TS_OPERATION_STREAM_LEGACY;
}

static bool launch_call(struct ts_capture *capture, uint32_t id, const void *params,
			const struct ts_record_operation *model)
{
	struct ts_record_operation own = *model;
	struct ts_hip_work work = {0};
	void *words[EXTRA_WORDS], *function;
	const char *lacks = NULL;
	struct launch launch;

	if (!read_launch(id, params, &launch))
		return false;
	function = (void *)(uintptr_t)ts_hip_function_of(id, params);
	ts_hip_capture_registered(capture, model, function);
	ts_hip_launch_of(id, params, &work);
	own.stream = stream_of(id, params);
	if (launch.start_event)
		ts_capture_event_record(capture, &own, handle_of(launch.start_event));
	memcpy(own.grid, work.grid, sizeof(own.grid));
	memcpy(own.block, work.block, sizeof(own.block));
	own.shared_bytes = work.dynamic_shared_bytes;
	/* HIP's attributes have CUDA's numbers and layout. */
	for (uint32_t i = 0; launch.attributes && i < launch.n_attributes; i++) {
		const struct ts_cu_launch_attribute *one = &launch.attributes[i];
		const char *lack = ts_capture_launch_attribute(one->id, &one->value, &own);

		lacks = lacks ?: lack;
	}
	if (launch.is_ragged)
		lacks = "blocks with fewer threads at the edge of a grid";
	own.operation_flags |= launch.is_cooperative ? TS_OPERATION_COOPERATIVE : 0;
	if (!lacks)
		ts_capture_launch(capture, &own, function, launch.arguments,
				  ts_hip_capture_extra(launch.extra, words));
	else if (!ts_capture_is_captured(capture, own.stream))
		ts_capture_unsupported(capture, model, lacks);
	own = *model;
	own.stream = stream_of(id, params);
	if (launch.stop_event)
		ts_capture_event_record(capture, &own, handle_of(launch.stop_event));
	return true;
}

static void use_before(void *userdata, uint32_t cbid, const void *as)
{
	struct ts_capture *capture = userdata;

	ts_capture_before_launch(capture, cbid, as, capture->hip.model);
}

void ts_hip_capture_before_launch(struct ts_capture *capture, uint32_t id, const void *params,
				  const struct ts_record_operation *model)
{
	struct ts_record_operation own = *model;
	void *words[EXTRA_WORDS], *function;
	struct launch launch;

	if (!read_launch(id, params, &launch)) {
		capture->hip.model = model;
		(void)as_driver_call(id, params, use_before, capture);
		capture->hip.model = NULL;
		return;
	}
	function = (void *)(uintptr_t)ts_hip_function_of(id, params);
	ts_hip_capture_registered(capture, model, function);
	own.stream = stream_of(id, params);
	ts_capture_launch_begins(capture, &own, function, launch.arguments,
				 ts_hip_capture_extra(launch.extra, words));
}

/* ---- memory ---- */

static void put_memory(struct ts_capture *capture, const struct hipMalloc3D_params *p,
		       const struct ts_record_operation *model)
{
	uint64_t address = handle_of(p->pitched_dev_ptr->ptr);
	const struct ts_cu_mem_alloc_params as = {&address, p->pitched_dev_ptr->pitch *
								    p->extent.height *
								    p->extent.depth};

	ts_capture_call(capture, DRIVER(cuMemAlloc_v2), &as, model);
}

/* A fill of a box: of rows, or of rows for each slice if other rows lie between slices. */
static void put_fill(struct ts_capture *capture, uint32_t id, const void *params,
		     const struct ts_record_operation *model)
{
	/* The arguments of the four calls begin alike. */
	const struct hipMemset3D_params *p = params;
	struct ts_cu_memset_node_params fill = {
		.dst = handle_of(p->pitched_dev_ptr.ptr),
		.pitch = p->pitched_dev_ptr.pitch,
		.value = (uint8_t)p->value,
		.element_size = 1,
		.width = p->extent.width,
		.height = p->extent.height,
	};
	struct ts_record_operation own = *model;

	own.stream = stream_of(id, params);
	own.operation_flags |= ts_hip_stream_of(id, params).is_async ? TS_OPERATION_ASYNC : 0;
	if (p->pitched_dev_ptr.ysize == p->extent.height) {
		fill.height *= p->extent.depth;
		ts_capture_fill(capture, &own, &fill);
		return;
	}
	for (size_t z = 0; z < p->extent.depth; z++) {
		ts_capture_fill(capture, &own, &fill);
		fill.dst += fill.pitch * p->pitched_dev_ptr.ysize;
	}
}

static void put_copy(struct ts_capture *capture, uint32_t id, const void *params,
		     const struct ts_record_operation *model, struct ts_capture_copy *copy)
{
	struct ts_record_operation own = *model;

	own.stream = stream_of(id, params);
	copy->unified = true;
	/* hipMemcpyWithStream() has a stream, and waits. */
	copy->async =
		ts_hip_stream_of(id, params).is_async && id != TS_HIP_CALL_hipMemcpyWithStream;
	ts_capture_copies(capture, &own, copy);
}

static void put_flat(struct ts_capture *capture, uint32_t id, const void *params,
		     const struct ts_record_operation *model, uint64_t dst, uint64_t src, size_t n)
{
	struct ts_capture_copy copy = {.dst = dst,
				       .src = src,
				       .width = n,
				       .height = 1,
				       .depth = 1,
				       .dst_pitch = n,
				       .src_pitch = n,
				       .dst_slice = n,
				       .src_slice = n};

	put_copy(capture, id, params, model, &copy);
}

static void put_rows(struct ts_capture *capture, uint32_t id, const struct hipMemcpy2D_params *p,
		     const struct ts_record_operation *model)
{
	struct ts_capture_copy copy = {
		.dst = handle_of(p->dst),
		.src = handle_of(p->src),
		.width = p->width,
		.height = p->height,
		.depth = 1,
		.dst_pitch = p->dpitch,
		.src_pitch = p->spitch,
		.dst_slice = p->dpitch * p->height,
		.src_slice = p->spitch * p->height,
	};

	put_copy(capture, id, p, model, &copy);
}

static void put_box(struct ts_capture *capture, uint32_t id, const void *params,
		    const struct ts_record_operation *model)
{
	const struct hipMemcpy3D_params *p = params;
	struct ts_cu_memcpy_3d as;
	struct ts_capture_copy copy;

	ts_hip_capture_3d(p->p, &as);
	if (ts_capture_copy_3d(&as, &copy))
		put_copy(capture, id, params, model, &copy);
	else
		ts_capture_unsupported(capture, model, "copies of arrays");
}

/* The first runtime with other numbers of memory types, and sizes of 8 bytes in boxes. */
#define NEW_MEMORY_TYPES 60000000u

static bool has_old_memory(void)
{
	const uint32_t version =
		__atomic_load_n(&ts_capture_shim()->control->hip_version, __ATOMIC_RELAXED);

	/* 0: the runtime was not asked yet. */
	return version && version < NEW_MEMORY_TYPES;
}

/* Converts a memory type. The address decides about all memory but arrays and the host's. */
static int32_t memory_type(int32_t type)
{
	const bool is_old = has_old_memory();

	if (type == (is_old ? TS_HIP_MEMORY_TYPE_5_ARRAY : (int32_t)TS_HIP_MEMORY_TYPE_ARRAY))
		return TS_CU_MEMORYTYPE_ARRAY;
	return type == (is_old ? TS_HIP_MEMORY_TYPE_5_HOST : (int32_t)TS_HIP_MEMORY_TYPE_HOST)
		       ? TS_CU_MEMORYTYPE_HOST
		       : TS_CU_MEMORYTYPE_UNIFIED;
}

/* The fields that the structures of rows and of boxes, old and new, have in common. */
#define CONVERT_ROWS(from, to)                                        \
	(to)->src_x_in_bytes = (from)->src_x_in_bytes;                \
	(to)->src_y = (from)->src_y;                                  \
	(to)->src_memory_type = memory_type((from)->src_memory_type); \
	(to)->src_host = (from)->src_host;                            \
	(to)->src_device = handle_of((from)->src_device);             \
	(to)->src_pitch = (from)->src_pitch;                          \
	(to)->dst_x_in_bytes = (from)->dst_x_in_bytes;                \
	(to)->dst_y = (from)->dst_y;                                  \
	(to)->dst_memory_type = memory_type((from)->dst_memory_type); \
	(to)->dst_host = (from)->dst_host;                            \
	(to)->dst_device = handle_of((from)->dst_device);             \
	(to)->dst_pitch = (from)->dst_pitch;                          \
	(to)->width_in_bytes = (from)->width_in_bytes;                \
	(to)->height = (from)->height;
#define CONVERT_BOX(from, to)                  \
	CONVERT_ROWS(from, to)                 \
	(to)->src_z = (from)->src_z;           \
	(to)->src_height = (from)->src_height; \
	(to)->dst_z = (from)->dst_z;           \
	(to)->dst_height = (from)->dst_height; \
	(to)->depth = (from)->depth;

/* Copies whose parameters are the driver's structures. `from` is of the runtime's release. */
static void put_structure(struct ts_capture *capture, uint32_t id, const void *params,
			  const struct ts_record_operation *model, const void *from, bool is_box)
{
	struct ts_cu_memcpy_3d as = {.depth = 1};
	struct ts_capture_copy copy;

	if (!is_box) {
		CONVERT_ROWS((const struct ts_hip_memcpy2d *)from, &as)
	} else if (has_old_memory()) {
		CONVERT_BOX((const struct ts_hip_drv_memcpy3d_5 *)from, &as)
	} else {
		CONVERT_BOX((const struct ts_hip_drv_memcpy3d *)from, &as)
	}
	if (ts_capture_copy_3d(&as, &copy))
		put_copy(capture, id, params, model, &copy);
	else
		ts_capture_unsupported(capture, model, "copies of arrays");
}

static bool memory_call(struct ts_capture *capture, uint32_t id, const void *params,
			const struct ts_record_operation *model)
{
	switch (id) {
	case TS_HIP_CALL_hipMalloc3D:
		put_memory(capture, params, model);
		return true;
	case TS_HIP_CALL_hipMemset3D:
	case TS_HIP_CALL_hipMemset3D_spt:
	case TS_HIP_CALL_hipMemset3DAsync:
	case TS_HIP_CALL_hipMemset3DAsync_spt:
		put_fill(capture, id, params, model);
		return true;
	case TS_HIP_CALL_hipMemcpyWithStream: {
		const struct hipMemcpyWithStream_params *p = params;

		put_flat(capture, id, params, model, handle_of(p->dst), handle_of(p->src),
			 p->size_bytes);
		return true;
	}
	/* The arguments of these calls begin alike. */
	case TS_HIP_CALL_hipMemcpy2D:
	case TS_HIP_CALL_hipMemcpy2D_spt:
	case TS_HIP_CALL_hipMemcpy2DAsync:
	case TS_HIP_CALL_hipMemcpy2DAsync_spt:
		put_rows(capture, id, params, model);
		return true;
	case TS_HIP_CALL_hipMemcpy3D:
	case TS_HIP_CALL_hipMemcpy3D_spt:
	case TS_HIP_CALL_hipMemcpy3DAsync:
	case TS_HIP_CALL_hipMemcpy3DAsync_spt:
		put_box(capture, id, params, model);
		return true;
	/* The structure is the first argument. */
	case TS_HIP_CALL_hipMemcpyParam2D:
	case TS_HIP_CALL_hipMemcpyParam2DAsync:
	case TS_HIP_CALL_hipDrvMemcpy2DUnaligned:
		put_structure(capture, id, params, model, *(const void *const *)params, false);
		return true;
	case TS_HIP_CALL_hipDrvMemcpy3D:
	case TS_HIP_CALL_hipDrvMemcpy3DAsync:
		put_structure(capture, id, params, model, *(const void *const *)params, true);
		return true;
	default:
		return false;
	}
}

/* ---- variables ---- */

/* Asks for the place of a variable, and puts it. Returns false if the runtime has no answer. */
static bool put_symbol(struct ts_capture *capture, const struct ts_record_operation *model,
		       const void *symbol, uint64_t *ret_address)
{
	hipGetSymbolAddress_fn *ask = ts_hip_next(hipGetSymbolAddress);
	hipGetSymbolSize_fn *ask_size = ts_hip_next(hipGetSymbolSize);
	void *address = NULL;
	size_t n_bytes = 0;

	if (!ask || !ask_size || ask(&address, symbol) || ask_size(&n_bytes, symbol))
		return false;
	*ret_address = handle_of(address);
	ts_hip_capture_variable(capture, model, symbol, *ret_address, n_bytes);
	return true;
}

/* Returns the variable that a copy changes or reads; NULL: another call. */
static const void *symbol_of(uint32_t id, const void *params)
{
	switch (id) {
	case TS_HIP_CALL_hipMemcpyToSymbol:
	case TS_HIP_CALL_hipMemcpyToSymbol_spt:
	case TS_HIP_CALL_hipMemcpyToSymbolAsync:
	case TS_HIP_CALL_hipMemcpyToSymbolAsync_spt:
		return ((const struct hipMemcpyToSymbol_params *)params)->symbol;
	case TS_HIP_CALL_hipMemcpyFromSymbol:
	case TS_HIP_CALL_hipMemcpyFromSymbol_spt:
	case TS_HIP_CALL_hipMemcpyFromSymbolAsync:
	case TS_HIP_CALL_hipMemcpyFromSymbolAsync_spt:
		return ((const struct hipMemcpyFromSymbol_params *)params)->symbol;
	default:
		return NULL;
	}
}

static bool symbol_call(struct ts_capture *capture, uint32_t id, const void *params,
			const struct ts_record_operation *model)
{
	/* The arguments of the calls for each direction begin alike. */
	const struct hipMemcpyToSymbol_params *to = params;
	const struct hipMemcpyFromSymbol_params *from = params;
	uint64_t address;

	switch (id) {
	case TS_HIP_CALL_hipGetSymbolAddress:
		if (put_symbol(capture, model,
			       ((const struct hipGetSymbolAddress_params *)params)->symbol,
			       &address))
			return true;
		break;
	case TS_HIP_CALL_hipMemcpyToSymbol:
	case TS_HIP_CALL_hipMemcpyToSymbol_spt:
	case TS_HIP_CALL_hipMemcpyToSymbolAsync:
	case TS_HIP_CALL_hipMemcpyToSymbolAsync_spt:
		if (!put_symbol(capture, model, to->symbol, &address))
			break;
		put_flat(capture, id, params, model, address + to->offset, handle_of(to->src),
			 to->size_bytes);
		return true;
	case TS_HIP_CALL_hipMemcpyFromSymbol:
	case TS_HIP_CALL_hipMemcpyFromSymbol_spt:
	case TS_HIP_CALL_hipMemcpyFromSymbolAsync:
	case TS_HIP_CALL_hipMemcpyFromSymbolAsync_spt:
		if (!put_symbol(capture, model, from->symbol, &address))
			break;
		put_flat(capture, id, params, model, handle_of(from->dst), address + from->offset,
			 from->size_bytes);
		return true;
	default:
		return false;
	}
	ts_capture_unsupported(capture, model, "a variable whose address HIP does not report");
	return true;
}

/* ---- all calls ---- */

static void use(void *userdata, uint32_t cbid, const void *as)
{
	struct ts_capture *capture = userdata;

	ts_capture_call(capture, cbid, as, capture->hip.model);
}

void ts_hip_capture_put(struct ts_capture *capture, uint32_t id, const void *params,
			const struct ts_record_operation *model)
{
	capture->hip.model = model;
	if (id != TS_HIP_CALL_hipDeviceReset && id != TS_HIP_CALL_hipDevicePrimaryCtxReset)
		put_context(capture, model, device_of_call(capture, model), true);
	(void)(as_driver_call(id, params, use, capture) ||
	       launch_call(capture, id, params, model) || memory_call(capture, id, params, model) ||
	       symbol_call(capture, id, params, model) || device_call(capture, id, params, model) ||
	       module_call(capture, id, params, model) ||
	       ts_hip_capture_graph_call(capture, id, params, model));
	capture->hip.model = NULL;
}

void ts_hip_capture_put_objects(struct ts_capture *capture, uint32_t id, const void *params,
				const struct ts_record_operation *model)
{
	const void *symbol = symbol_of(id, params);
	struct launch launch;
	uint64_t address;

	put_context(capture, model, device_of_call(capture, model), true);
	if (read_launch(id, params, &launch))
		ts_hip_capture_registered(capture, model, ts_hip_function_of(id, params));
	else if (symbol)
		(void)put_symbol(capture, model, symbol, &address);
}
