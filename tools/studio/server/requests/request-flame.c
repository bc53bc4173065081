/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET flame: the sums by stack of a window, as frames that the page lays out. http.c calls this
 * module; tools/export sums up.
 */
#include "proto/abi/base.h"
#include "tools/export/export-memory.h"
#include "tools/studio/server/studio-call.h"

static int read_weight(struct ts_studio_call *call, enum ts_export_weight *ret_weight)
{
	static const char *const weights[TS_EXPORT_N_WEIGHTS] = {
		[TS_EXPORT_LAUNCHES] = "launches", [TS_EXPORT_GPU_TIME] = "gpu-time",
		[TS_EXPORT_BYTES] = "bytes",	   [TS_EXPORT_CPU] = "cpu",
		[TS_EXPORT_OFF_CPU] = "off-cpu",   [TS_EXPORT_HOST] = "host"};
	const char *weight = ts_call_parameter(call, "weight");
	size_t i = 0;

	if (!weight)
		weight = weights[TS_EXPORT_GPU_TIME];
	while (i < TS_ARRAY_LEN(weights) && strcmp(weights[i], weight))
		i++;
	if (i == TS_ARRAY_LEN(weights))
		return ts_call_fail(call, 400,
				    "weight is gpu-time, launches, bytes, cpu, off-cpu or host");
	*ret_weight = (enum ts_export_weight)i;
	return 0;
}

int ts_request_flame(struct ts_studio_call *call)
{
	struct ts_export_options options = {.cancel = &call->is_cancelled};
	uint64_t from_ns, to_ns, trace;
	ts_cleanup(ts_freep) char *text = NULL;
	struct ts_export_report report;
	size_t n_bytes = 0;
	int r;

	if (ts_call_number_or(call, "from", 0, INT64_MAX, 0, &from_ns) ||
	    ts_call_number_or(call, "to", 0, INT64_MAX, 0, &to_ns) ||
	    ts_call_number_or(call, "trace", 0, TS_STUDIO_MAX_TRACES - 1, 0, &trace) ||
	    read_weight(call, &options.weight) || ts_call_reader(call, trace))
		return -1;
	options.session = call->session;
	options.from_ns = from_ns ? ts_call_absolute(call, from_ns) : 0;
	if (ts_call_parameter(call, "to"))
		options.to_ns = ts_call_absolute_end(call, to_ns);
	r = ts_export_into(ts_export_named_frames, call->reader->source.reader, &options, &text,
			   &n_bytes, &report);
	if (r == -E2BIG)
		return ts_call_fail(call, 400,
				    "the window has too many long names; choose a shorter one");
	if (r)
		return ts_call_fail_with(call, r);
	ts_json_bytes(&call->out, text, n_bytes);
	return 0;
}
