/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of rows and columns. Everything that handles rows without knowing their types (encoding,
 * decoding, printing, the tests) is driven by them, so that a new column is one line here and one
 * field in schema.h.
 *
 * A column's id is on disk: never renumber, never reuse. Start and end are columns 1 and 2 of every event.
 */

#include "sbt/schema.h"

#define COL_(row_, id_, field_, role_, signed_)                                              \
	{                                                                                    \
		.name = #field_, .id = id_, .width = sizeof(((struct row_ *)0)->field_),     \
		.offset = offsetof(struct row_, field_), .role = role_, .is_signed = signed_ \
	}
#define U(row_, id_, field_, role_) COL_(row_, id_, field_, TS_ROLE_##role_, 0)
#define S(row_, id_, field_, role_) COL_(row_, id_, field_, TS_ROLE_##role_, 1)

/* Rows on a GPU share where they ran. */
#define PLACE_COLUMNS(row_)                                                              \
	U(row_, 3, op_id, OP), U(row_, 4, device, DEVICE), U(row_, 5, context, CONTEXT), \
		U(row_, 6, stream, STREAM), U(row_, 7, graph, NUMBER),                   \
		U(row_, 8, graph_node, NUMBER)

static const struct ts_column api_columns[] = {
	U(ts_row_api, 1, start_ns, TIME_START),
	U(ts_row_api, 2, end_ns, TIME_END),
	U(ts_row_api, 3, op_id, OP),
	U(ts_row_api, 4, nested_op_id, OP),
	U(ts_row_api, 5, thread, THREAD),
	U(ts_row_api, 6, stack, STACK),
	U(ts_row_api, 7, context, CONTEXT),
	S(ts_row_api, 8, result, ENUM),
	U(ts_row_api, 9, domain, ENUM),
	U(ts_row_api, 10, cbid, ENUM),
	U(ts_row_api, 11, flags, FLAGS),
};

static const struct ts_column kernel_columns[] = {
	U(ts_row_kernel, 1, start_ns, TIME_START),
	U(ts_row_kernel, 2, end_ns, TIME_END),
	PLACE_COLUMNS(ts_row_kernel),
	U(ts_row_kernel, 9, queued_ns, TIME),
	U(ts_row_kernel, 10, submitted_ns, TIME),
	U(ts_row_kernel, 11, name, STRING),
	U(ts_row_kernel, 12, grid_x, NUMBER),
	U(ts_row_kernel, 13, grid_y, NUMBER),
	U(ts_row_kernel, 14, grid_z, NUMBER),
	U(ts_row_kernel, 15, block_x, NUMBER),
	U(ts_row_kernel, 16, block_y, NUMBER),
	U(ts_row_kernel, 17, block_z, NUMBER),
	U(ts_row_kernel, 18, cluster_x, NUMBER),
	U(ts_row_kernel, 19, cluster_y, NUMBER),
	U(ts_row_kernel, 20, cluster_z, NUMBER),
	U(ts_row_kernel, 21, static_shared_bytes, SIZE),
	U(ts_row_kernel, 22, dynamic_shared_bytes, SIZE),
	U(ts_row_kernel, 23, local_bytes_per_thread, SIZE),
	U(ts_row_kernel, 24, channel, NUMBER),
	U(ts_row_kernel, 25, registers_per_thread, NUMBER),
	U(ts_row_kernel, 26, launch_type, ENUM),
	U(ts_row_kernel, 27, channel_type, ENUM),
};

static const struct ts_column memcpy_columns[] = {
	U(ts_row_memcpy, 1, start_ns, TIME_START),
	U(ts_row_memcpy, 2, end_ns, TIME_END),
	PLACE_COLUMNS(ts_row_memcpy),
	U(ts_row_memcpy, 9, bytes, BYTES),
	U(ts_row_memcpy, 10, copy_count, COUNT),
	U(ts_row_memcpy, 11, src_device, DEVICE),
	U(ts_row_memcpy, 12, dst_device, DEVICE),
	U(ts_row_memcpy, 13, copy_kind, ENUM),
	U(ts_row_memcpy, 14, src_kind, ENUM),
	U(ts_row_memcpy, 15, dst_kind, ENUM),
	U(ts_row_memcpy, 16, async, FLAGS),
	U(ts_row_memcpy, 17, channel, NUMBER),
};

static const struct ts_column memset_columns[] = {
	U(ts_row_memset, 1, start_ns, TIME_START),
	U(ts_row_memset, 2, end_ns, TIME_END),
	PLACE_COLUMNS(ts_row_memset),
	U(ts_row_memset, 9, bytes, BYTES),
	U(ts_row_memset, 10, value, NUMBER),
	U(ts_row_memset, 11, memory_kind, ENUM),
	U(ts_row_memset, 12, async, FLAGS),
	U(ts_row_memset, 13, channel, NUMBER),
};

static const struct ts_column sync_columns[] = {
	U(ts_row_sync, 1, start_ns, TIME_START),
	U(ts_row_sync, 2, end_ns, TIME_END),
	U(ts_row_sync, 3, op_id, OP),
	U(ts_row_sync, 4, sync_type, ENUM),
	U(ts_row_sync, 5, context, CONTEXT),
	U(ts_row_sync, 6, stream, STREAM),
	U(ts_row_sync, 7, event, NUMBER),
	S(ts_row_sync, 8, result, ENUM),
};

static const struct ts_column memory_columns[] = {
	U(ts_row_memory, 1, start_ns, TIME_START), U(ts_row_memory, 3, op_id, OP),
	U(ts_row_memory, 4, address, ADDRESS),	   U(ts_row_memory, 5, bytes, BYTES),
	U(ts_row_memory, 6, pool, ADDRESS),	   U(ts_row_memory, 7, device, DEVICE),
	U(ts_row_memory, 8, context, CONTEXT),	   U(ts_row_memory, 9, stream, STREAM),
	U(ts_row_memory, 10, memory_kind, ENUM),   U(ts_row_memory, 11, async, FLAGS),
	U(ts_row_memory, 12, pool_bytes, SIZE),	   U(ts_row_memory, 13, pool_used_bytes, SIZE),
};

static const struct ts_column access_columns[] = {
	U(ts_row_access, 1, start_ns, TIME_START), U(ts_row_access, 3, op_id, OP),
	U(ts_row_access, 4, dst, ADDRESS),	   U(ts_row_access, 5, src, ADDRESS),
	U(ts_row_access, 6, dst_bytes, SIZE),	   U(ts_row_access, 7, src_bytes, SIZE),
	U(ts_row_access, 8, thread, THREAD),	   U(ts_row_access, 9, access, ENUM),
};

static const struct ts_column event_columns[] = {
	U(ts_row_event, 1, start_ns, TIME_START), U(ts_row_event, 3, op_id, OP),
	U(ts_row_event, 4, event, ADDRESS),	  U(ts_row_event, 5, stream_handle, ADDRESS),
	U(ts_row_event, 6, context, CONTEXT),	  U(ts_row_event, 7, stream, STREAM),
	U(ts_row_event, 8, event_flags, FLAGS),	  U(ts_row_event, 9, thread, THREAD),
};

static const struct ts_column stream_wait_columns[] = {
	U(ts_row_stream_wait, 1, start_ns, TIME_START),
	U(ts_row_stream_wait, 3, op_id, OP),
	U(ts_row_stream_wait, 4, event, ADDRESS),
	U(ts_row_stream_wait, 5, stream_handle, ADDRESS),
	U(ts_row_stream_wait, 6, context, CONTEXT),
	U(ts_row_stream_wait, 7, stream, STREAM),
	U(ts_row_stream_wait, 8, event_flags, FLAGS),
	U(ts_row_stream_wait, 9, thread, THREAD),
};

static const struct ts_column stream_columns[] = {
	U(ts_row_stream, 1, start_ns, TIME_START), U(ts_row_stream, 3, handle, ADDRESS),
	U(ts_row_stream, 4, device, DEVICE),	   U(ts_row_stream, 5, context, CONTEXT),
	U(ts_row_stream, 6, stream, STREAM),	   S(ts_row_stream, 7, priority, NUMBER),
	U(ts_row_stream, 8, stream_flags, FLAGS),  U(ts_row_stream, 9, thread, THREAD),
	U(ts_row_stream, 10, action, ENUM),
};

static const struct ts_column context_columns[] = {
	U(ts_row_context, 1, start_ns, TIME_START), U(ts_row_context, 3, handle, ADDRESS),
	U(ts_row_context, 4, device, DEVICE),	    U(ts_row_context, 5, context, CONTEXT),
	U(ts_row_context, 6, thread, THREAD),	    U(ts_row_context, 7, action, ENUM),
};

static const struct ts_column graph_launch_columns[] = {
	U(ts_row_graph_launch, 1, start_ns, TIME_START),
	U(ts_row_graph_launch, 3, op_id, OP),
	U(ts_row_graph_launch, 4, graph_exec, ADDRESS),
	U(ts_row_graph_launch, 5, stream_handle, ADDRESS),
	U(ts_row_graph_launch, 6, context, CONTEXT),
	U(ts_row_graph_launch, 7, stream, STREAM),
	U(ts_row_graph_launch, 8, graph, NUMBER),
	U(ts_row_graph_launch, 9, thread, THREAD),
};

static const struct ts_column mark_columns[] = {
	U(ts_row_mark, 1, start_ns, TIME_START), U(ts_row_mark, 3, payload, NUMBER),
	U(ts_row_mark, 4, name, STRING),	 U(ts_row_mark, 5, domain, STRING),
	U(ts_row_mark, 6, category, NUMBER),	 U(ts_row_mark, 7, color, NUMBER),
	U(ts_row_mark, 8, stack, STACK),	 U(ts_row_mark, 9, thread, THREAD),
	U(ts_row_mark, 10, payload_type, ENUM),
};

static const struct ts_column range_columns[] = {
	U(ts_row_range, 1, start_ns, TIME_START), U(ts_row_range, 2, end_ns, TIME_END),
	U(ts_row_range, 3, range_id, NUMBER),	  U(ts_row_range, 4, payload, NUMBER),
	U(ts_row_range, 5, name, STRING),	  U(ts_row_range, 6, domain, STRING),
	U(ts_row_range, 7, category, NUMBER),	  U(ts_row_range, 8, color, NUMBER),
	U(ts_row_range, 9, stack, STACK),	  U(ts_row_range, 10, thread, THREAD),
	U(ts_row_range, 11, payload_type, ENUM),  U(ts_row_range, 12, action, ENUM),
	U(ts_row_range, 13, level, NUMBER),	  U(ts_row_range, 14, end_thread, THREAD),
};

static const struct ts_column range_begin_columns[] = {
	U(ts_row_range_begin, 1, start_ns, TIME_START),
	U(ts_row_range_begin, 3, range_id, NUMBER),
	U(ts_row_range_begin, 4, payload, NUMBER),
	U(ts_row_range_begin, 5, name, STRING),
	U(ts_row_range_begin, 6, domain, STRING),
	U(ts_row_range_begin, 7, category, NUMBER),
	U(ts_row_range_begin, 8, color, NUMBER),
	U(ts_row_range_begin, 9, stack, STACK),
	U(ts_row_range_begin, 10, thread, THREAD),
	U(ts_row_range_begin, 11, payload_type, ENUM),
	U(ts_row_range_begin, 12, action, ENUM),
	U(ts_row_range_begin, 13, level, NUMBER),
};

static const struct ts_column counter_columns[] = {
	U(ts_row_counter, 1, start_ns, TIME_START), U(ts_row_counter, 3, value, DOUBLE),
	U(ts_row_counter, 4, name, STRING),	    U(ts_row_counter, 5, domain, STRING),
	U(ts_row_counter, 6, thread, THREAD),	    S(ts_row_counter, 7, integer, NUMBER),
	U(ts_row_counter, 8, value_type, ENUM),
};

static const struct ts_column clock_columns[] = {
	U(ts_row_clock, 1, start_ns, TIME_START),
	U(ts_row_clock, 3, ticks, NUMBER),
	U(ts_row_clock, 4, error_ns, DURATION),
	U(ts_row_clock, 5, clock, ENUM),
};

static const struct ts_column loss_columns[] = {
	U(ts_row_loss, 1, start_ns, TIME_START), U(ts_row_loss, 2, end_ns, TIME_END),
	U(ts_row_loss, 3, count, COUNT),	 U(ts_row_loss, 4, reason, ENUM),
	U(ts_row_loss, 5, context, CONTEXT),	 U(ts_row_loss, 6, thread, THREAD),
};

static const struct ts_column overhead_columns[] = {
	U(ts_row_overhead, 1, start_ns, TIME_START), U(ts_row_overhead, 2, end_ns, TIME_END),
	U(ts_row_overhead, 3, overhead_kind, ENUM),  U(ts_row_overhead, 4, object_kind, ENUM),
	U(ts_row_overhead, 5, object, NUMBER),
};

static const struct ts_column gpu_module_columns[] = {
	U(ts_row_gpu_module, 1, start_ns, TIME_START), U(ts_row_gpu_module, 3, bytes, SIZE),
	U(ts_row_gpu_module, 4, module, NUMBER),       U(ts_row_gpu_module, 5, context, CONTEXT),
	U(ts_row_gpu_module, 6, action, ENUM),	       U(ts_row_gpu_module, 7, thread, THREAD),
};

static const struct ts_column yield_columns[] = {
	U(ts_row_yield, 1, start_ns, TIME_START),
	U(ts_row_yield, 3, to, STRING),
	U(ts_row_yield, 4, yielded, FLAGS),
	U(ts_row_yield, 5, thread, THREAD),
};

static const struct ts_column pause_columns[] = {
	U(ts_row_pause, 1, start_ns, TIME_START),
	U(ts_row_pause, 3, paused, FLAGS),
	U(ts_row_pause, 4, cause, ENUM),
	U(ts_row_pause, 5, thread, THREAD),
};

static const struct ts_column off_cpu_columns[] = {
	U(ts_row_off_cpu, 1, start_ns, TIME_START), U(ts_row_off_cpu, 2, end_ns, TIME_END),
	U(ts_row_off_cpu, 3, woken_ns, TIME),	    U(ts_row_off_cpu, 4, address, ADDRESS),
	U(ts_row_off_cpu, 5, thread, THREAD),	    U(ts_row_off_cpu, 6, pid, NUMBER),
	U(ts_row_off_cpu, 7, reason, ENUM),	    U(ts_row_off_cpu, 8, syscall, ENUM),
	U(ts_row_off_cpu, 9, waker_context, ENUM),  U(ts_row_off_cpu, 10, waker_tid, NUMBER),
	U(ts_row_off_cpu, 11, waker_pid, NUMBER),   U(ts_row_off_cpu, 12, waker, STRING),
	U(ts_row_off_cpu, 13, next_tid, NUMBER),    U(ts_row_off_cpu, 14, next_pid, NUMBER),
	U(ts_row_off_cpu, 15, next, STRING),	    U(ts_row_off_cpu, 16, cpu, NUMBER),
	U(ts_row_off_cpu, 17, end_cpu, NUMBER),	    U(ts_row_off_cpu, 18, migrations, COUNT),
	U(ts_row_off_cpu, 19, flags, FLAGS),	    U(ts_row_off_cpu, 20, stack, STACK),
};

static const struct ts_column page_fault_columns[] = {
	U(ts_row_page_fault, 1, start_ns, TIME_START),
	U(ts_row_page_fault, 2, end_ns, TIME_END),
	U(ts_row_page_fault, 3, address, ADDRESS),
	U(ts_row_page_fault, 4, instruction, ADDRESS),
	U(ts_row_page_fault, 5, thread, THREAD),
	U(ts_row_page_fault, 6, pid, NUMBER),
	U(ts_row_page_fault, 7, fault, ENUM),
	U(ts_row_page_fault, 8, memory, ENUM),
};

static const struct ts_column syscall_columns[] = {
	U(ts_row_syscall, 1, start_ns, TIME_START), U(ts_row_syscall, 2, end_ns, TIME_END),
	S(ts_row_syscall, 3, result, NUMBER),	    U(ts_row_syscall, 4, address, ADDRESS),
	U(ts_row_syscall, 5, bytes, SIZE),	    U(ts_row_syscall, 6, offset, SIZE),
	U(ts_row_syscall, 7, thread, THREAD),	    U(ts_row_syscall, 8, pid, NUMBER),
	U(ts_row_syscall, 9, syscall, ENUM),	    S(ts_row_syscall, 10, fd, NUMBER),
	U(ts_row_syscall, 11, file, STRING),	    U(ts_row_syscall, 12, operation, ENUM),
};

static const struct ts_column arguments_columns[] = {
	U(ts_row_arguments, 1, start_ns, TIME_START), U(ts_row_arguments, 3, op_id, OP),
	U(ts_row_arguments, 4, bytes, BYTES),	      U(ts_row_arguments, 5, function, ADDRESS),
	U(ts_row_arguments, 6, kernel, STRING),	      U(ts_row_arguments, 7, thread, THREAD),
};

static const struct ts_column block_io_columns[] = {
	U(ts_row_block_io, 1, start_ns, TIME_START), U(ts_row_block_io, 2, end_ns, TIME_END),
	U(ts_row_block_io, 3, issued_ns, TIME),	     U(ts_row_block_io, 4, sector, NUMBER),
	U(ts_row_block_io, 5, bytes, SIZE),	     U(ts_row_block_io, 6, thread, THREAD),
	U(ts_row_block_io, 7, pid, NUMBER),	     U(ts_row_block_io, 8, disk, STRING),
	U(ts_row_block_io, 9, operation, ENUM),	     S(ts_row_block_io, 10, result, NUMBER),
	U(ts_row_block_io, 11, flags, FLAGS),
};

static const struct ts_column operation_columns[] = {
	U(ts_row_operation, 1, start_ns, TIME_START),
	U(ts_row_operation, 3, sequence, NUMBER),
	U(ts_row_operation, 4, op_id, OP),
	U(ts_row_operation, 5, object, ADDRESS),
	U(ts_row_operation, 6, parent, ADDRESS),
	U(ts_row_operation, 7, stream_handle, ADDRESS),
	U(ts_row_operation, 8, dst, ADDRESS),
	U(ts_row_operation, 9, src, ADDRESS),
	U(ts_row_operation, 10, bytes, SIZE),
	U(ts_row_operation, 11, height, NUMBER),
	U(ts_row_operation, 12, depth, NUMBER),
	U(ts_row_operation, 13, dst_pitch, SIZE),
	U(ts_row_operation, 14, src_pitch, SIZE),
	U(ts_row_operation, 15, dst_slice, SIZE),
	U(ts_row_operation, 16, src_slice, SIZE),
	U(ts_row_operation, 17, value, NUMBER),
	U(ts_row_operation, 18, kind, ENUM),
	U(ts_row_operation, 19, flags, FLAGS),
	U(ts_row_operation, 20, thread, THREAD),
	U(ts_row_operation, 21, context, CONTEXT),
	U(ts_row_operation, 22, device, DEVICE),
	U(ts_row_operation, 23, name, STRING),
	U(ts_row_operation, 24, content, NUMBER),
	U(ts_row_operation, 25, shared_bytes, SIZE),
	U(ts_row_operation, 26, grid_x, NUMBER),
	U(ts_row_operation, 27, grid_y, NUMBER),
	U(ts_row_operation, 28, grid_z, NUMBER),
	U(ts_row_operation, 29, block_x, NUMBER),
	U(ts_row_operation, 30, block_y, NUMBER),
	U(ts_row_operation, 31, block_z, NUMBER),
};

static const struct ts_column pressure_columns[] = {
	U(ts_row_pressure, 1, start_ns, TIME_START), U(ts_row_pressure, 2, end_ns, TIME_END),
	U(ts_row_pressure, 3, pages, NUMBER),	     U(ts_row_pressure, 4, thread, THREAD),
	U(ts_row_pressure, 5, pid, NUMBER),	     U(ts_row_pressure, 6, kind, ENUM),
	U(ts_row_pressure, 7, by_tid, NUMBER),	     U(ts_row_pressure, 8, by_pid, NUMBER),
	U(ts_row_pressure, 9, by, STRING),	     U(ts_row_pressure, 10, flags, FLAGS),
};

static const struct ts_column driver_columns[] = {
	U(ts_row_driver, 1, start_ns, TIME_START), U(ts_row_driver, 2, end_ns, TIME_END),
	U(ts_row_driver, 3, issued_ns, TIME),	   U(ts_row_driver, 4, context, NUMBER),
	U(ts_row_driver, 5, number, NUMBER),	   U(ts_row_driver, 6, thread, THREAD),
	U(ts_row_driver, 7, pid, NUMBER),	   U(ts_row_driver, 8, kind, ENUM),
	U(ts_row_driver, 9, ring, STRING),	   S(ts_row_driver, 10, result, NUMBER),
	U(ts_row_driver, 11, flags, FLAGS),
};

static const struct ts_column sample_columns[] = {
	U(ts_row_sample, 1, start_ns, TIME_START), U(ts_row_sample, 3, period_ns, DURATION),
	U(ts_row_sample, 4, thread, THREAD),	   U(ts_row_sample, 5, pid, NUMBER),
	U(ts_row_sample, 6, stack, STACK),	   U(ts_row_sample, 7, cpu, NUMBER),
	U(ts_row_sample, 8, flags, FLAGS),
};

static const struct ts_column session_columns[] = {
	U(ts_row_session, 1, session, SESSION),
	U(ts_row_session, 2, pid, NUMBER),
	U(ts_row_session, 3, parent_pid, NUMBER),
	U(ts_row_session, 4, uid, NUMBER),
	U(ts_row_session, 5, start_ns, TIME_START),
	U(ts_row_session, 6, end_ns, TIME_END),
	U(ts_row_session, 7, start_realtime_ns, NUMBER),
	U(ts_row_session, 8, clock_error_ns, DURATION),
	U(ts_row_session, 9, uuid, OCTETS),
	U(ts_row_session, 10, program, STRING),
	U(ts_row_session, 11, host_clock, ENUM),
	U(ts_row_session, 12, driver_version, NUMBER),
	U(ts_row_session, 13, vendor_version, NUMBER),
	U(ts_row_session, 14, state, ENUM),
	U(ts_row_session, 15, ended, ENUM),
	U(ts_row_session, 16, empty_reason, ENUM),
	U(ts_row_session, 17, empty_text, STRING),
	U(ts_row_session, 18, source, ENUM),
	U(ts_row_session, 19, command_line, STRING),
};

static const struct ts_column thread_columns[] = {
	U(ts_row_thread, 1, start_ns, TIME_START),
	U(ts_row_thread, 2, thread, THREAD),
	U(ts_row_thread, 3, tid, NUMBER),
	U(ts_row_thread, 4, name, STRING),
};

static const struct ts_column device_columns[] = {
	U(ts_row_device, 1, device, DEVICE),
	U(ts_row_device, 2, name, STRING),
	U(ts_row_device, 3, uuid, OCTETS),
	U(ts_row_device, 4, memory_bytes, SIZE),
	U(ts_row_device, 5, memory_bandwidth_kb_per_s, NUMBER),
	U(ts_row_device, 6, compute_capability_major, NUMBER),
	U(ts_row_device, 7, compute_capability_minor, NUMBER),
	U(ts_row_device, 8, n_multiprocessors, NUMBER),
	U(ts_row_device, 9, core_clock_khz, NUMBER),
	U(ts_row_device, 10, n_copy_engines, NUMBER),
	U(ts_row_device, 11, threads_per_warp, NUMBER),
	U(ts_row_device, 12, max_warps_per_multiprocessor, NUMBER),
	U(ts_row_device, 13, max_blocks_per_multiprocessor, NUMBER),
	U(ts_row_device, 14, max_shared_bytes_per_multiprocessor, SIZE),
	U(ts_row_device, 15, max_registers_per_multiprocessor, NUMBER),
	U(ts_row_device, 16, l2_cache_bytes, SIZE),
	U(ts_row_device, 17, flags, FLAGS),
};

static const struct ts_column module_columns[] = {
	U(ts_row_module, 1, start_ns, TIME_START),   U(ts_row_module, 2, address, ADDRESS),
	U(ts_row_module, 3, address_end, ADDRESS),   U(ts_row_module, 4, bias, ADDRESS),
	U(ts_row_module, 5, path, STRING),	     U(ts_row_module, 6, flags, FLAGS),
	U(ts_row_module, 7, n_build_id_bytes, SIZE), U(ts_row_module, 8, build_id, OCTETS),
};

static const struct ts_column name_columns[] = {
	U(ts_row_name, 1, start_ns, TIME_START), U(ts_row_name, 2, kind, ENUM),
	U(ts_row_name, 3, object, NUMBER),	 U(ts_row_name, 4, domain, STRING),
	U(ts_row_name, 5, name, STRING),	 U(ts_row_name, 6, context, CONTEXT),
	U(ts_row_name, 7, stream, STREAM),
};

static const struct ts_column metadata_columns[] = {
	U(ts_row_metadata, 1, key, STRING),
	U(ts_row_metadata, 2, value, STRING),
};

static const struct ts_column part_columns[] = {
	U(ts_row_part, 1, recording, OCTETS),
	U(ts_row_part, 2, part, NUMBER),
	U(ts_row_part, 3, before, NUMBER),
	U(ts_row_part, 4, carried, COUNT),
};

static const struct ts_column image_columns[] = {
	U(ts_row_image, 1, image, NUMBER),	    U(ts_row_image, 2, path, STRING),
	U(ts_row_image, 3, session, SESSION),	    U(ts_row_image, 4, kind, ENUM),
	U(ts_row_image, 5, result, ENUM),	    U(ts_row_image, 6, why, STRING),
	U(ts_row_image, 7, n_build_id_bytes, SIZE), U(ts_row_image, 8, build_id, OCTETS),
};

static const struct ts_column symbol_columns[] = {
	U(ts_row_symbol, 1, address, ADDRESS), U(ts_row_symbol, 2, image, NUMBER),
	U(ts_row_symbol, 3, depth, NUMBER),    U(ts_row_symbol, 4, function, STRING),
	U(ts_row_symbol, 5, file, STRING),     U(ts_row_symbol, 6, line, NUMBER),
};

#define SCHEMA(type_, name_, row_, columns_, event_, end_, bytes_) \
	[type_] = {.name = name_,                                  \
		   .type = type_,                                  \
		   .n_columns = TS_ARRAY_LEN(columns_),            \
		   .row_bytes = sizeof(struct row_),               \
		   .columns = columns_,                            \
		   .is_event = event_,                             \
		   .has_end = end_,                                \
		   .bytes_column = bytes_}

/* Of an event with an end; of an instant; of a definition. */
#define SPAN(type_, name_, bytes_) \
	SCHEMA(type_, #name_, ts_row_##name_, name_##_columns, true, true, bytes_)
#define INSTANT(type_, name_, bytes_) \
	SCHEMA(type_, #name_, ts_row_##name_, name_##_columns, true, false, bytes_)
#define DEFINITION(type_, name_) \
	SCHEMA(type_, #name_, ts_row_##name_, name_##_columns, false, false, -1)

static const struct ts_row_schema schemas[TS_ROW_COUNT] = {
	SPAN(TS_ROW_API, api, -1),
	SPAN(TS_ROW_KERNEL, kernel, -1),
	SPAN(TS_ROW_MEMCPY, memcpy, 8),
	SPAN(TS_ROW_MEMSET, memset, 8),
	SPAN(TS_ROW_SYNC, sync, -1),
	SCHEMA(TS_ROW_ALLOC, "alloc", ts_row_memory, memory_columns, true, false, 3),
	SCHEMA(TS_ROW_FREE, "free", ts_row_memory, memory_columns, true, false, 3),
	INSTANT(TS_ROW_EVENT, event, -1),
	INSTANT(TS_ROW_STREAM_WAIT, stream_wait, -1),
	INSTANT(TS_ROW_STREAM, stream, -1),
	INSTANT(TS_ROW_CONTEXT, context, -1),
	INSTANT(TS_ROW_GRAPH_LAUNCH, graph_launch, -1),
	INSTANT(TS_ROW_MARK, mark, -1),
	SPAN(TS_ROW_RANGE, range, -1),
	INSTANT(TS_ROW_COUNTER, counter, -1),
	INSTANT(TS_ROW_CLOCK, clock, -1),
	SPAN(TS_ROW_LOSS, loss, -1),
	SPAN(TS_ROW_OVERHEAD, overhead, -1),
	INSTANT(TS_ROW_GPU_MODULE, gpu_module, -1),
	INSTANT(TS_ROW_YIELD, yield, -1),
	INSTANT(TS_ROW_RANGE_BEGIN, range_begin, -1),
	INSTANT(TS_ROW_PAUSE, pause, -1),
	SPAN(TS_ROW_OFF_CPU, off_cpu, -1),
	SPAN(TS_ROW_PAGE_FAULT, page_fault, -1),
	SPAN(TS_ROW_SYSCALL, syscall, -1),
	INSTANT(TS_ROW_ACCESS, access, -1),
	INSTANT(TS_ROW_ARGUMENTS, arguments, 2),
	SPAN(TS_ROW_BLOCK_IO, block_io, -1),
	INSTANT(TS_ROW_OPERATION, operation, -1),
	SPAN(TS_ROW_PRESSURE, pressure, -1),
	SPAN(TS_ROW_DRIVER, driver, -1),
	INSTANT(TS_ROW_SAMPLE, sample, -1),
	DEFINITION(TS_ROW_SESSION, session),
	DEFINITION(TS_ROW_THREAD, thread),
	DEFINITION(TS_ROW_DEVICE, device),
	DEFINITION(TS_ROW_MODULE, module),
	DEFINITION(TS_ROW_METADATA, metadata),
	DEFINITION(TS_ROW_IMAGE, image),
	DEFINITION(TS_ROW_SYMBOL, symbol),
	DEFINITION(TS_ROW_NAME, name),
	DEFINITION(TS_ROW_PART, part),
};

/* The start of every event is where ts_row_start_ns() looks, and its end where ts_row_end_ns() does. */
TS_ASSERT_FIELD(struct ts_row_api, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_kernel, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_memcpy, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_memset, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_sync, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_range, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_loss, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_overhead, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_off_cpu, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_page_fault, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_syscall, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_block_io, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_pressure, end_ns, 8);
TS_ASSERT_FIELD(struct ts_row_driver, end_ns, 8);
TS_STATIC_ASSERT(sizeof(struct ts_row_operation) <= TS_ROW_MAX_BYTES, "the widest row");
TS_STATIC_ASSERT(TS_ARRAY_LEN(operation_columns) <= TS_ROW_MAX_COLUMNS, "the most columns");

const struct ts_row_schema *ts_row_schema(unsigned type)
{
	return type < TS_ROW_COUNT && schemas[type].name ? &schemas[type] : NULL;
}

unsigned ts_row_type_by_name(const char *name)
{
	for (unsigned type = 0; type < TS_ROW_COUNT; type++)
		if (schemas[type].name && !strcmp(schemas[type].name, name))
			return type;
	return 0;
}

const char *ts_loss_reason_name(unsigned reason)
{
	switch (reason) {
#define LOSS_CASE_(name, value, key) \
	case value:                  \
		return key;
		TS_LOSS_REASONS(LOSS_CASE_)
#undef LOSS_CASE_
	default:
		return NULL;
	}
}
