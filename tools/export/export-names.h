/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of replay/report that name a trace's numbers, for a struct ts_export_names. The
 * caller, which has the trace's strings, names kernels, threads and streams itself.
 */
#pragma once

#include "replay/report/names/names.h"
#include "tools/export/export.h"

#define TS_EXPORT_NAMES_OF_NUMBERS                                                            \
	.api = ts_name_api, .api_error = ts_name_api_error, .copy_kind = ts_name_memcpy_kind, \
	.memory_kind = ts_name_memory_kind, .sync_type = ts_name_sync_type,                   \
	.overhead_kind = ts_name_overhead_kind, .off_cpu_reason = ts_name_off_cpu_reason,     \
	.syscall = ts_name_syscall, .fault_kind = ts_name_fault_kind,                         \
	.block_operation = ts_name_block_operation, .pressure_kind = ts_name_pressure_kind,   \
	.driver_kind = ts_name_driver_kind
