/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the table of calls: watched calls, calls that certainly reach the device, and the
 * operations that calls put into a stream.
 */
#include "inject/calls/access.h"
#include "inject/calls/call-table.h"
#include "inject/calls/stream-table.h"
#include "inject/capture/capture.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cuda_runtime_params.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "test/unit/harness.h"

#define RUNTIME TS_CUPTI_CB_DOMAIN_RUNTIME_API
#define DRIVER	TS_CUPTI_CB_DOMAIN_DRIVER_API
#define R(name) TS_CUPTI_RUNTIME_CBID_##name
#define D(name) TS_CUPTI_DRIVER_CBID_##name

TS_TEST(cheap_and_frequent_calls_are_not_watched)
{
	ts_check(ts_call_table_watched(RUNTIME, R(cudaLaunchKernel_v7000)));
	ts_check(ts_call_table_watched(DRIVER, D(cuLaunchKernelEx)));
	ts_check(ts_call_table_watched(RUNTIME, R(cudaMallocAsync_v11020)));
	ts_check(!ts_call_table_watched(RUNTIME, R(cudaGetDevice_v3020)));
	ts_check(!ts_call_table_watched(RUNTIME, R(cudaGetLastError_v3020)));
	ts_check(!ts_call_table_watched(DRIVER, D(cuCtxGetCurrent)));
	ts_check(!ts_call_table_watched(DRIVER, D(cuCtxSetCurrent)));
	ts_check(!ts_call_table_watched(DRIVER, D(cuDevicePrimaryCtxGetState)));
	ts_check(!ts_call_table_watched(RUNTIME, R(cudaThreadExchangeStreamCaptureMode_v10010)));
	ts_check(!ts_call_table_watched(DRIVER, D(cuThreadExchangeStreamCaptureMode)));
	ts_check(!ts_call_table_watched(DRIVER, 5000));
	ts_check(!ts_call_table_watched(DRIVER, 0));
}

/*
 * Calls that give kernels memory of which the capture has no record are unsupported. Supported are
 * queries, and calls that make objects that the shim captures at their use.
 */
TS_TEST(what_a_replay_would_lack_is_named)
{
	ts_check_int(ts_capture_mode_of_class(D(cuTexObjectCreate)), TS_CAPTURE_UNSUPPORTED);
	ts_check_str(ts_capture_name(D(cuTexObjectCreate)), "cuTexObjectCreate");
	ts_check_int(ts_capture_mode_of_class(D(cuGraphicsMapResources_ptsz)),
		     TS_CAPTURE_UNSUPPORTED);
	ts_check_int(ts_capture_mode_of_class(D(cuMulticastBindMem)), TS_CAPTURE_UNSUPPORTED);
	ts_check_int(ts_capture_mode_of_class(D(cuExternalMemoryGetMappedBuffer)),
		     TS_CAPTURE_UNSUPPORTED);
	ts_check_int(ts_capture_mode_of_class(D(cuIpcGetMemHandle)), TS_CAPTURE_UNSUPPORTED);
	ts_check_int(ts_capture_mode_of_class(D(cuIpcOpenMemHandle_v2)), TS_CAPTURE_UNSUPPORTED);
	ts_check_int(ts_capture_mode_of_class(D(cuLaunchHostFunc)), TS_CAPTURE_UNSUPPORTED);
	ts_check_int(ts_capture_mode_of_class(D(cuStreamWriteValue32_v2)), TS_CAPTURE_UNSUPPORTED);
	ts_check_int(ts_capture_mode_of_class(D(cuLinkAddData_v2)), TS_CAPTURE_NOT);
	ts_check_int(ts_capture_mode_of_class(D(cuIpcGetEventHandle)), TS_CAPTURE_NOT);
	ts_check_int(ts_capture_mode_of_class(D(cuMemAdvise)), TS_CAPTURE_NOT);
	ts_check_int(ts_capture_mode_of_class(D(cuCtxGetCurrent)), TS_CAPTURE_NOT);
}

TS_TEST(only_what_is_certain_is_expected)
{
	struct ts_cuda_memcpy_async_params copy = {.count = 1,
						   .kind = TS_CUDA_MEMCPY_HOST_TO_DEVICE};
	struct ts_cuda_memset_params set = {.count = 1};
	struct ts_cu_memcpy_htod_params driver_copy = {.byte_count = 1};

	ts_check(ts_call_table_expect_device(RUNTIME, R(cudaLaunchKernel_v7000), NULL));
	ts_check(!ts_call_table_expect_device(RUNTIME, R(cudaGraphLaunch_v10000), NULL));
	ts_check(ts_call_table_expect_device(RUNTIME, R(cudaMemcpyAsync_v3020), &copy));
	ts_check(ts_call_table_expect_device(RUNTIME, R(cudaMemcpyAsync_ptsz_v7000), &copy));
	ts_check(!ts_call_table_expect_device(RUNTIME, R(cudaMemcpyAsync_v3020), NULL));
	copy.kind = TS_CUDA_MEMCPY_HOST_TO_HOST;
	ts_check(!ts_call_table_expect_device(RUNTIME, R(cudaMemcpyAsync_v3020), &copy));
	copy.kind = TS_CUDA_MEMCPY_DEVICE_TO_HOST;
	copy.count = 0;
	ts_check(!ts_call_table_expect_device(RUNTIME, R(cudaMemcpyAsync_v3020), &copy));
	ts_check(ts_call_table_expect_device(RUNTIME, R(cudaMemset_v3020), &set));
	set.count = 0;
	ts_check(!ts_call_table_expect_device(RUNTIME, R(cudaMemset_v3020), &set));
	ts_check(ts_call_table_expect_device(DRIVER, D(cuMemcpyHtoD_v2), &driver_copy));
	driver_copy.byte_count = 0;
	ts_check(!ts_call_table_expect_device(DRIVER, D(cuMemcpyHtoD_v2), &driver_copy));
	ts_check(!ts_call_table_expect_device(RUNTIME, R(cudaMalloc_v3020), &set));
}

TS_TEST(launches_that_may_begin_early)
{
	struct ts_cu_launch_attribute attributes[2] = {
		{.id = TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1},
		{.id = TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
		 .value.programmatic_stream_serialization_allowed = 1},
	};
	struct ts_cu_launch_config config = {.attrs = attributes, .num_attrs = 2};
	struct ts_cuda_launch_config runtime_config = {.attrs = attributes, .num_attrs = 2};
	struct ts_cu_launch_kernel_ex_params params = {.config = &config};
	struct ts_cuda_launch_kernel_ex_c_params runtime_params = {.config = &runtime_config};

	ts_check(ts_call_table_may_begin_early(DRIVER, D(cuLaunchKernelEx), &params));
	ts_check(ts_call_table_may_begin_early(DRIVER, D(cuLaunchKernelEx_ptsz), &params));
	ts_check(ts_call_table_may_begin_early(RUNTIME, R(cudaLaunchKernelExC_v11060),
					       &runtime_params));
	ts_check(!ts_call_table_may_begin_early(DRIVER, D(cuLaunchKernel), &params));
	config.num_attrs = 1;
	ts_check(!ts_call_table_may_begin_early(DRIVER, D(cuLaunchKernelEx), &params));
	config = (struct ts_cu_launch_config){.num_attrs = 2};
	ts_check(!ts_call_table_may_begin_early(DRIVER, D(cuLaunchKernelEx), &params));
	params.config = NULL;
	ts_check(!ts_call_table_may_begin_early(DRIVER, D(cuLaunchKernelEx), &params));
	ts_check(!ts_call_table_may_begin_early(DRIVER, D(cuLaunchKernelEx), NULL));
	attributes[1].value.programmatic_stream_serialization_allowed = 0;
	ts_check(!ts_call_table_may_begin_early(RUNTIME, R(cudaLaunchKernelExC_ptsz_v11060),
						&runtime_params));
}

TS_TEST(stream_operations)
{
	int event, s;
	struct ts_cu_event_record_with_flags_params record = {&event, &s, 1};
	struct ts_cuda_stream_wait_event_params wait = {&s, &event, 2};
	struct ts_stream_op op;

	op = ts_call_table_stream_op(DRIVER, D(cuEventRecordWithFlags_ptsz), &record);
	ts_check(op.kind == TS_STREAM_OP_EVENT && op.stream == &s && op.object == &event);
	ts_check(op.per_thread && op.flags == 1);
	op = ts_call_table_stream_op(RUNTIME, R(cudaStreamWaitEvent_v3020), &wait);
	ts_check(op.kind == TS_STREAM_OP_WAIT && op.stream == &s && op.object == &event);
	ts_check(!op.per_thread && op.flags == 2);
	op = ts_call_table_stream_op(RUNTIME, R(cudaMalloc_v3020), &wait);
	ts_check(op.kind == TS_STREAM_OP_NONE);
	op = ts_call_table_stream_op(RUNTIME, R(cudaStreamWaitEvent_v3020), NULL);
	ts_check(op.kind == TS_STREAM_OP_NONE);
}

TS_TEST(captures)
{
	ts_check_int(ts_call_table_stream_capture(RUNTIME, R(cudaStreamBeginCapture_v10000)), 1);
	ts_check_int(ts_call_table_stream_capture(DRIVER, D(cuStreamBeginCapture_v2_ptsz)), 1);
	ts_check_int(ts_call_table_stream_capture(DRIVER, D(cuStreamEndCapture)), -1);
	ts_check_int(ts_call_table_stream_capture(RUNTIME, R(cudaMalloc_v3020)), 0);
}

TS_TEST(what_copies_and_sets_name)
{
	const struct ts_cuda_memcpy_params copy = {(void *)0x1000, (void *)0x2000, 64,
						   TS_CUDA_MEMCPY_DEFAULT};
	const struct ts_cuda_memcpy2d_params rows = {.dst = (void *)0x1000,
						     .dpitch = 128,
						     .src = (void *)0x2000,
						     .spitch = 64,
						     .width = 64,
						     .height = 3};
	const struct ts_cu_memset_d32_params set = {.dst_device = 0x3000, .n = 5};
	const struct ts_cuda_free_async_params freed = {.dev_ptr = (void *)0x4000};
	struct ts_cuda_memcpy2d_params bad = rows;
	struct ts_access access;

	ts_check(ts_access_of(RUNTIME, R(cudaMemcpy_ptds_v7000), &copy, &access));
	ts_check_int(access.kind, TS_ACCESS_COPY);
	ts_check_int(access.dst, 0x1000);
	ts_check_int(access.src, 0x2000);
	ts_check_int(access.src_bytes, 64);
	ts_check(ts_access_of(RUNTIME, R(cudaMemcpy2D_v3020), &rows, &access));
	ts_check_int(access.dst_bytes, 2 * 128 + 64);
	ts_check_int(access.src_bytes, 3 * 64);
	ts_check(ts_access_of(DRIVER, D(cuMemsetD32_v2), &set, &access));
	ts_check_int(access.kind, TS_ACCESS_SET);
	ts_check_int(access.dst_bytes, 20);
	ts_check(ts_access_of(RUNTIME, R(cudaFreeAsync_ptsz_v11020), &freed, &access));
	ts_check_int(access.kind, TS_ACCESS_FREE);
	ts_check_int(access.dst, 0x4000);
	/*
	 * The application may pass any arguments. If they describe no valid copy, the shim records
	 * no access.
	 */
	bad.height = SIZE_MAX;
	bad.dpitch = bad.spitch = 16;
	ts_check(!ts_access_of(RUNTIME, R(cudaMemcpy2D_v3020), &bad, &access));
	ts_check(!ts_access_of(RUNTIME, R(cudaMalloc_v3020), &copy, &access));
	ts_check(!ts_access_of(DRIVER, 5000, &copy, &access));
	ts_check(!ts_access_of(RUNTIME, R(cudaMemcpy_v3020), NULL, &access));
}

TS_TEST(allocations)
{
	void *at = (void *)0x7000;
	uint64_t on_device = 0x8000;
	const struct ts_cuda_malloc_host_params pinned = {.ptr = &at, .size = 64};
	const struct ts_cu_mem_alloc_managed_params managed = {.dev_ptr = &on_device,
							       .byte_size = 32};
	const struct ts_cu_mem_alloc_params device = {.dev_ptr = &on_device, .byte_size = 16};
	const struct ts_cu_mem_alloc_params bad = {.dev_ptr = (void *)1, .byte_size = 16};
	struct ts_access access;

	ts_check(ts_access_of_alloc(RUNTIME, R(cudaMallocHost_v3020), &pinned, 0, &access));
	ts_check_int(access.kind, TS_ACCESS_ALLOCATED_PINNED);
	ts_check_int(access.dst, 0x7000);
	ts_check_int(access.dst_bytes, 64);
	ts_check(ts_access_of_alloc(DRIVER, D(cuMemAllocManaged), &managed, 0, &access));
	ts_check_int(access.kind, TS_ACCESS_ALLOCATED_MANAGED);
	ts_check(ts_access_of_alloc(DRIVER, D(cuMemAlloc_v2), &device, 0, &access));
	ts_check_int(access.kind, TS_ACCESS_ALLOCATED);
	ts_check_int(access.dst, 0x8000);
	/* If the call failed, the address is not read. */
	ts_check(ts_access_of_alloc(DRIVER, D(cuMemAlloc_v2), &bad, 2, &access));
	ts_check_int(access.kind, TS_ACCESS_ALLOC);
	ts_check_int(access.dst, 0);
	ts_check_int(access.dst_bytes, 16);
	ts_check(!ts_access_of_alloc(DRIVER, D(cuMemAlloc_v2), NULL, 0, &access));
	ts_check(!ts_access_of_alloc(DRIVER, D(cuMemFree_v2), &device, 0, &access));
}

/*
 * The memory has rows of 64 bytes, and 4 rows per plane. A box of 16 x 2 x 2 at (8, 1, 1) spans
 * byte 328 to the end of the box's last row.
 */
TS_TEST(accesses_of_boxes)
{
	struct ts_cu_memcpy_3d box = {.src_x_in_bytes = 8,
				      .src_y = 1,
				      .src_z = 1,
				      .src_memory_type = TS_CU_MEMORYTYPE_DEVICE,
				      .src_device = 0x10000,
				      .src_pitch = 64,
				      .src_height = 4,
				      .dst_memory_type = TS_CU_MEMORYTYPE_HOST,
				      .dst_host = (void *)0x20000,
				      .dst_pitch = 16,
				      .dst_height = 2,
				      .width_in_bytes = 16,
				      .height = 2,
				      .depth = 2};
	const struct ts_cu_memcpy3d_params params = {&box};
	const struct ts_cu_memset_d2d16_params rows = {.dst_device = 0x3000,
						       .dst_pitch = 64,
						       .width = 8,
						       .height = 3};
	const struct ts_cuda_memcpy3d_params nothing = {NULL};
	struct ts_access access;

	ts_check(ts_access_of_box(DRIVER, D(cuMemcpy3D_v2), &params, 0, &access));
	ts_check_int(access.kind, TS_ACCESS_COPY);
	ts_check_int(access.src, 0x10000 + 256 + 64 + 8);
	ts_check_int(access.src_bytes, 256 + 64 + 16);
	ts_check_int(access.dst, 0x20000);
	ts_check_int(access.dst_bytes, 64);
	/*
	 * The driver may have failed before it looked at the arguments. Only an error about the
	 * arguments proves that it read the box.
	 */
	ts_check(!ts_access_of_box(DRIVER, D(cuMemcpy3D_v2), &params, 4, &access));
	ts_check(ts_access_of_box(DRIVER, D(cuMemcpy3D_v2), &params, TS_CU_ERROR_INVALID_VALUE,
				  &access));
	box.src_memory_type = TS_CU_MEMORYTYPE_ARRAY;
	ts_check(ts_access_of_box(DRIVER, D(cuMemcpy3D_v2), &params, 0, &access));
	ts_check(!access.src && !access.src_bytes);
	box.dst_pitch = SIZE_MAX;
	ts_check(!ts_access_of_box(DRIVER, D(cuMemcpy3D_v2), &params, 0, &access));
	ts_check(ts_access_of_box(DRIVER, D(cuMemsetD2D16_v2), &rows, 0, &access));
	ts_check_int(access.kind, TS_ACCESS_SET);
	ts_check_int(access.dst_bytes, 2 * 64 + 16);
	ts_check(!ts_access_of_box(RUNTIME, R(cudaMemcpy3D_v3020), &nothing, 0, &access));
	ts_check(!ts_access_of_box(DRIVER, D(cuLaunchKernel), &params, 0, &access));
}

TS_TEST(functions_of_the_host_make_a_stream_wait)
{
	struct ts_cu_launch_host_func_params params = {.stream = (void *)16};
	struct ts_stream_op op = ts_call_table_stream_op(DRIVER, D(cuLaunchHostFunc), &params);

	ts_check_int(op.kind, TS_STREAM_OP_HOST);
	ts_check(op.stream == (void *)16 && !op.object && !op.per_thread);
	op = ts_call_table_stream_op(RUNTIME, R(cudaLaunchHostFunc_ptsz_v10000), &params);
	ts_check_int(op.kind, TS_STREAM_OP_HOST);
	ts_check(op.per_thread);
	ts_check_int(ts_call_table_stream_op(DRIVER, D(cuStreamWaitValue64_v2), &params).kind,
		     TS_STREAM_OP_HOST);
	ts_check_int(ts_call_table_stream_op(DRIVER, D(cuStreamCreate), &params).kind,
		     TS_STREAM_OP_NONE);
	ts_check_int(ts_call_table_stream_op(DRIVER, D(cuLaunchHostFunc), NULL).kind,
		     TS_STREAM_OP_NONE);
}

#define STREAM(n) (UINT64_C(0x1000) + (n))
#define EVENT(n)  (UINT64_C(0x2000) + (n))

/*
 *	stream 0    [ |0|       w1   ]		its capture begins; event 0 extends it
 *	stream 1          w0 |1|		captured by the wait, until that capture ends
 *	stream 2    |2| w2			takes no part
 */
TS_TEST(captures_bring_in_what_waits_for_them)
{
	static struct ts_stream_captures captured;

	ts_check(!ts_stream_captures_record(&captured, STREAM(0), EVENT(0)));
	ts_stream_captures_begin(&captured, STREAM(0));
	ts_check(ts_stream_captures_record(&captured, STREAM(0), EVENT(0)));
	ts_check(ts_stream_captures_record(&captured, STREAM(0), EVENT(0)));
	ts_check(ts_stream_captures_wait(&captured, STREAM(1), EVENT(0)));
	ts_check(ts_stream_captures_record(&captured, STREAM(1), EVENT(1)));
	ts_check(ts_stream_captures_wait(&captured, STREAM(0), EVENT(1)));
	ts_check(ts_stream_captures_record(&captured, STREAM(1), 0));
	ts_check(!ts_stream_captures_record(&captured, STREAM(2), EVENT(2)));
	ts_check(!ts_stream_captures_wait(&captured, STREAM(3), EVENT(2)));
	/* Two captures at a time: the end of one does not end the other. */
	ts_stream_captures_begin(&captured, STREAM(4));
	ts_check(ts_stream_captures_record(&captured, STREAM(4), EVENT(4)));
	ts_stream_captures_end(&captured, STREAM(0));
	ts_check(!ts_stream_captures_record(&captured, STREAM(1), 0));
	ts_check(!ts_stream_captures_wait(&captured, STREAM(5), EVENT(1)));
	ts_check(ts_stream_captures_wait(&captured, STREAM(5), EVENT(4)));
	/* An event that is recorded outside the capture no longer belongs to the capture. */
	ts_check(!ts_stream_captures_record(&captured, STREAM(2), EVENT(4)));
	ts_check(!ts_stream_captures_wait(&captured, STREAM(6), EVENT(4)));
	ts_stream_captures_end(&captured, STREAM(4));
	ts_check(!ts_stream_captures_record(&captured, STREAM(5), EVENT(5)));
	ts_stream_captures_end(&captured, STREAM(4));
}

TS_TEST(a_full_table_of_captures_takes_them_for_done)
{
	static struct ts_stream_captures captured;
	unsigned int n = 0;

	ts_stream_captures_begin(&captured, STREAM(0));
	for (unsigned int i = 0; i < 3 * TS_STREAM_TABLE_SLOTS; i++)
		n += ts_stream_captures_record(&captured, STREAM(0), EVENT(i));
	ts_check_int(n, 3 * TS_STREAM_TABLE_SLOTS);
	ts_stream_captures_end(&captured, STREAM(0));
	for (unsigned int i = 0; i < 3 * TS_STREAM_TABLE_SLOTS; i++)
		ts_check(!ts_stream_captures_wait(&captured, STREAM(1), EVENT(i)));
}
