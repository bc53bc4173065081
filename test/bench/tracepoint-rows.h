/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a training job as LTTng-UST tracepoints, for the size of the same data in CTF. A
 * tracepoint has the fields whose values vary between rows. LTTng reads this file several times, so
 * it has its own guard.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tracesmith_rows
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "test/bench/tracepoint-rows.h"

#if !defined(TS_BENCH_TRACEPOINT_ROWS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TS_BENCH_TRACEPOINT_ROWS_H

#include <lttng/tracepoint.h>

#include "sbt/schema.h"

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(tracesmith_rows, api,
	LTTNG_UST_TP_ARGS(const struct ts_row_api *, row),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, start_ns, row->start_ns)
		lttng_ust_field_integer(uint64_t, end_ns, row->end_ns)
		lttng_ust_field_integer(uint64_t, op_id, row->op_id)
		lttng_ust_field_integer(uint32_t, thread, row->thread)
		lttng_ust_field_integer(uint32_t, stack, row->stack)
		lttng_ust_field_integer(int32_t, result, row->result)
		lttng_ust_field_integer(uint16_t, cbid, row->cbid)
	)
)
LTTNG_UST_TRACEPOINT_EVENT(tracesmith_rows, kernel,
	LTTNG_UST_TP_ARGS(const struct ts_row_kernel *, row),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, start_ns, row->start_ns)
		lttng_ust_field_integer(uint64_t, end_ns, row->end_ns)
		lttng_ust_field_integer(uint64_t, op_id, row->op_id)
		lttng_ust_field_integer(uint32_t, stream, row->stream)
		lttng_ust_field_integer(uint32_t, name, row->name)
		lttng_ust_field_integer(uint32_t, grid_x, row->grid_x)
		lttng_ust_field_integer(uint32_t, grid_y, row->grid_y)
		lttng_ust_field_integer(uint32_t, grid_z, row->grid_z)
		lttng_ust_field_integer(uint16_t, block_x, row->block_x)
		lttng_ust_field_integer(uint16_t, block_y, row->block_y)
		lttng_ust_field_integer(uint16_t, block_z, row->block_z)
		lttng_ust_field_integer(uint32_t, shared_bytes, row->dynamic_shared_bytes)
		lttng_ust_field_integer(uint16_t, registers_per_thread, row->registers_per_thread)
	)
)
LTTNG_UST_TRACEPOINT_EVENT(tracesmith_rows, memcpy,
	LTTNG_UST_TP_ARGS(const struct ts_row_memcpy *, row),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, start_ns, row->start_ns)
		lttng_ust_field_integer(uint64_t, end_ns, row->end_ns)
		lttng_ust_field_integer(uint64_t, op_id, row->op_id)
		lttng_ust_field_integer(uint32_t, stream, row->stream)
		lttng_ust_field_integer(uint64_t, bytes, row->bytes)
		lttng_ust_field_integer(uint8_t, copy_kind, row->copy_kind)
	)
)
LTTNG_UST_TRACEPOINT_EVENT(tracesmith_rows, memset,
	LTTNG_UST_TP_ARGS(const struct ts_row_memset *, row),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, start_ns, row->start_ns)
		lttng_ust_field_integer(uint64_t, end_ns, row->end_ns)
		lttng_ust_field_integer(uint64_t, op_id, row->op_id)
		lttng_ust_field_integer(uint32_t, stream, row->stream)
		lttng_ust_field_integer(uint64_t, bytes, row->bytes)
	)
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
