/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads facts of a call's work from its arguments: stream, grid, kind of copy. hip-calls.c calls
 * this file. The places of arguments are generated from proto/abi/vendor/hip.calls. For launches,
 * ts_hip_launch_of() has one case for each structure of arguments.
 */
#include "inject/hip/hip-arguments.h"

#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"

/* Places of a call's arguments, as AT(); 0: it has no such argument. */
struct arguments {
	uint8_t stream, kind, value;
	uint8_t value_bytes;
	bool per_thread; /* a NULL stream is the thread's own */
	bool is_async;
};

#define AT(structure, argument) (offsetof(struct structure, argument) + 1)

#include "inject/generated-hip-arguments.h"

#undef AT

static const struct arguments *arguments_of(uint32_t call)
{
	return &hip_arguments[call < TS_HIP_CALL_SIZE ? hip_arguments_of[call] : 0];
}

static const void *argument(const void *params, uint8_t at)
{
	return (const char *)params + at - 1;
}

struct ts_hip_stream ts_hip_stream_of(uint32_t call, const void *params)
{
	const struct arguments *arguments = arguments_of(call);
	struct ts_hip_stream stream = {NULL, arguments->per_thread, arguments->is_async};

	if (call == TS_HIP_CALL_hipLaunchKernelExC) {
		const struct hipLaunchKernelExC_params *p = params;

		stream.handle = p->config ? p->config->stream : NULL;
	} else if (call == TS_HIP_CALL_hipDrvLaunchKernelEx) {
		const struct hipDrvLaunchKernelEx_params *p = params;

		stream.handle = p->config ? p->config->stream : NULL;
	} else if (params && arguments->stream) {
		stream.handle = *(void *const *)argument(params, arguments->stream);
	}
	return stream;
}

static void set_grid(struct ts_hip_work *work, uint32_t x, uint32_t y, uint32_t z)
{
	work->grid[0] = x;
	work->grid[1] = y;
	work->grid[2] = z;
}

static void set_block(struct ts_hip_work *work, uint32_t x, uint32_t y, uint32_t z)
{
	work->block[0] = x;
	work->block[1] = y;
	work->block[2] = z;
}

/* The arguments of hipLaunchKernel() and its kin begin alike. */
static void read_plain(const struct hipLaunchKernel_params *p, struct ts_hip_work *work)
{
	set_grid(work, p->num_blocks.x, p->num_blocks.y, p->num_blocks.z);
	set_block(work, p->dim_blocks.x, p->dim_blocks.y, p->dim_blocks.z);
	work->dynamic_shared_bytes = (uint32_t)p->shared_mem_bytes;
}

/* The arguments of hipModuleLaunchKernel() and hipModuleLaunchCooperativeKernel() begin alike. */
static void read_module(const struct hipModuleLaunchKernel_params *p, struct ts_hip_work *work)
{
	set_grid(work, p->grid_dim_x, p->grid_dim_y, p->grid_dim_z);
	set_block(work, p->block_dim_x, p->block_dim_y, p->block_dim_z);
	work->dynamic_shared_bytes = p->shared_mem_bytes;
}

static uint32_t blocks(uint32_t items, uint32_t block)
{
	return block ? items / block + (items % block != 0) : 0;
}

/* hipExtModuleLaunchKernel() counts the grid in threads, not in blocks. */
static void read_items(const struct hipHccModuleLaunchKernel_params *p, struct ts_hip_work *work)
{
	set_block(work, p->local_work_size_x, p->local_work_size_y, p->local_work_size_z);
	set_grid(work, blocks(p->global_x, p->local_work_size_x),
		 blocks(p->global_work_size_y, p->local_work_size_y),
		 blocks(p->global_work_size_z, p->local_work_size_z));
	work->dynamic_shared_bytes = (uint32_t)p->shared_mem_bytes;
}

void ts_hip_launch_of(uint32_t call, const void *params, struct ts_hip_work *work)
{
	switch (call) {
	case TS_HIP_CALL_hipLaunchKernel:
	case TS_HIP_CALL_hipLaunchKernel_spt:
	case TS_HIP_CALL_hipExtLaunchKernel:
		read_plain(params, work);
		break;
	case TS_HIP_CALL_hipLaunchCooperativeKernel:
	case TS_HIP_CALL_hipLaunchCooperativeKernel_spt: {
		const struct hipLaunchCooperativeKernel_params *p = params;

		set_grid(work, p->grid_dim.x, p->grid_dim.y, p->grid_dim.z);
		set_block(work, p->block_dim_x.x, p->block_dim_x.y, p->block_dim_x.z);
		work->dynamic_shared_bytes = (uint32_t)p->shared_mem_bytes;
		break;
	}
	case TS_HIP_CALL_hipModuleLaunchKernel:
	case TS_HIP_CALL_hipModuleLaunchCooperativeKernel:
		read_module(params, work);
		break;
	case TS_HIP_CALL_hipExtModuleLaunchKernel:
	case TS_HIP_CALL_hipHccModuleLaunchKernel:
		read_items(params, work);
		break;
	case TS_HIP_CALL_hipLaunchKernelExC: {
		const struct hipLaunchKernelExC_params *p = params;

		if (!p->config)
			break;
		set_grid(work, p->config->grid_dim.x, p->config->grid_dim.y, p->config->grid_dim.z);
		set_block(work, p->config->block_dim.x, p->config->block_dim.y,
			  p->config->block_dim.z);
		work->dynamic_shared_bytes = (uint32_t)p->config->dynamic_smem_bytes;
		break;
	}
	case TS_HIP_CALL_hipDrvLaunchKernelEx: {
		const struct hipDrvLaunchKernelEx_params *p = params;

		if (!p->config)
			break;
		set_grid(work, p->config->grid_dim_x, p->config->grid_dim_y, p->config->grid_dim_z);
		set_block(work, p->config->block_dim_x, p->config->block_dim_y,
			  p->config->block_dim_z);
		work->dynamic_shared_bytes = p->config->shared_mem_bytes;
		break;
	}
	default:
		break;
	}
}

const void *ts_hip_function_of(uint32_t call, const void *params)
{
	/* The configuration precedes the function in two calls; in the others it is the first. */
	if (call == TS_HIP_CALL_hipLaunchKernelExC)
		return ((const struct hipLaunchKernelExC_params *)params)->func;
	if (call == TS_HIP_CALL_hipDrvLaunchKernelEx)
		return ((const struct hipDrvLaunchKernelEx_params *)params)->func;
	return ((const struct hipLaunchKernel_params *)params)->func;
}

bool ts_hip_is_pointer(uint32_t call)
{
	switch (call) {
	case TS_HIP_CALL_hipModuleLaunchKernel:
	case TS_HIP_CALL_hipModuleLaunchCooperativeKernel:
	case TS_HIP_CALL_hipExtModuleLaunchKernel:
	case TS_HIP_CALL_hipHccModuleLaunchKernel:
	case TS_HIP_CALL_hipDrvLaunchKernelEx:
		return false;
	default:
		return true;
	}
}

uint8_t ts_hip_copy_kind_of(uint32_t call, const void *params)
{
	static const uint8_t kinds[] = {
		[TS_HIP_MEMCPY_HOST_TO_HOST] = TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOH,
		[TS_HIP_MEMCPY_HOST_TO_DEVICE] = TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
		[TS_HIP_MEMCPY_DEVICE_TO_HOST] = TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
		[TS_HIP_MEMCPY_DEVICE_TO_DEVICE] = TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOD,
	};
	const struct arguments *arguments = arguments_of(call);
	uint32_t kind;

	switch (call) {
	case TS_HIP_CALL_hipMemcpyHtoD:
	case TS_HIP_CALL_hipMemcpyHtoDAsync:
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	case TS_HIP_CALL_hipMemcpyDtoH:
	case TS_HIP_CALL_hipMemcpyDtoHAsync:
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
	case TS_HIP_CALL_hipMemcpyDtoD:
	case TS_HIP_CALL_hipMemcpyDtoDAsync:
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
	case TS_HIP_CALL_hipMemcpyPeer:
	case TS_HIP_CALL_hipMemcpyPeerAsync:
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	default:
		break;
	}
	if (!params || !arguments->kind)
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
	kind = *(const uint32_t *)argument(params, arguments->kind);
	return kind < sizeof(kinds) ? kinds[kind] : TS_CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
}

uint32_t ts_hip_set_value_of(uint32_t call, const void *params)
{
	const struct arguments *arguments = arguments_of(call);
	uint32_t value = 0;

	if (params && arguments->value)
		memcpy(&value, argument(params, arguments->value), arguments->value_bytes);
	return value;
}

uint32_t ts_hip_sync_type_of(uint32_t call)
{
	switch (call) {
	case TS_HIP_CALL_hipDeviceSynchronize:
	case TS_HIP_CALL_hipCtxSynchronize:
		return TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
	case TS_HIP_CALL_hipStreamSynchronize:
	case TS_HIP_CALL_hipStreamSynchronize_spt:
		return TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
	case TS_HIP_CALL_hipEventSynchronize:
		return TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
	default:
		return TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN;
	}
}

/* All calls that create a stream have the place of the handle as their first argument. */
void *ts_hip_created_stream(const void *params)
{
	void **stream = *(void **const *)params;

	return stream ? *stream : NULL;
}

bool ts_hip_is_stream_destroy(uint32_t call)
{
	return call == TS_HIP_CALL_hipStreamDestroy;
}

bool ts_hip_is_module_unload(uint32_t call)
{
	return call == TS_HIP_CALL_hipModuleUnload || call == TS_HIP_CALL_hipLibraryUnload;
}

bool ts_hip_is_graph_destroy(uint32_t call)
{
	return call == TS_HIP_CALL_hipGraphDestroy || call == TS_HIP_CALL_hipGraphExecDestroy;
}
