/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the moment of a request, absolute or relative to the trace's start, to nanoseconds.
 * query.c and replay/report/replay/ call this file.
 */
#include "replay/report/query.h"

uint64_t ts_query_ns(struct ts_sbt_reader *reader, const Ts__Rpc__Moment *moment)
{
	uint64_t ns;

	if (!moment->from_start)
		return moment->ns;
	return __builtin_add_overflow(ts_sbt_reader_origin_ns(reader), moment->ns, &ns) ? UINT64_MAX
											: ns;
}
