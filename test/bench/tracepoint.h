/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The LTTng-UST tracepoints that bench-lttng.c emits. `api` has the fields of an API record, one
 * event for enter and exit together. `push` and `pop` are a range: a name at its start and a number
 * at its end. LTTng includes this file several times, so it has its own guard instead of a pragma.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tracesmith_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "test/bench/tracepoint.h"

#if !defined(TS_BENCH_TRACEPOINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TS_BENCH_TRACEPOINT_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(tracesmith_bench, api,
	LTTNG_UST_TP_ARGS(uint64_t, enter, uint64_t, end, uint64_t, op_id, uint64_t, nested_op_id,
			  uint32_t, stack, uint32_t, call, int32_t, result, uint32_t, context),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, enter, enter)
		lttng_ust_field_integer(uint64_t, end, end)
		lttng_ust_field_integer(uint64_t, op_id, op_id)
		lttng_ust_field_integer(uint64_t, nested_op_id, nested_op_id)
		lttng_ust_field_integer(uint32_t, stack, stack)
		lttng_ust_field_integer(uint16_t, domain, call >> 16)
		lttng_ust_field_integer(uint16_t, cbid, call & 0xffff)
		lttng_ust_field_integer(int32_t, result, result)
		lttng_ust_field_integer(uint32_t, context, context)
	)
)
LTTNG_UST_TRACEPOINT_EVENT(tracesmith_bench, push,
	LTTNG_UST_TP_ARGS(const char *, name),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name))
)
LTTNG_UST_TRACEPOINT_EVENT(tracesmith_bench, pop,
	LTTNG_UST_TP_ARGS(uint64_t, id),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, id, id))
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
