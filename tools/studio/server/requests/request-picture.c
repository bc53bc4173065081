/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST picture: a timeline, memory or flame graph as SVG, by the same code as `tsctl timeline
 * --format svg` and `tsctl export --format svg`. http.c calls this module.
 */
#include "proto/abi/base.h"
#include "replay/report/ask-json.h"
#include "tools/export/export-memory.h"
#include "tools/studio/server/requests/studio-asking.h"
#include "tools/tsctl/tsctl.h"

#include <json-c/json.h>

#define MAX_WIDTH 8192

/* Options of a flame graph. Times are from the origin. */
struct flame {
	uint64_t from_ns, to_ns; /* to_ns 0: no limit */
	uint32_t width;
	enum ts_export_weight weight;
};

/* Reads a time: a number, or a moment of replay/report, {"ns": N}. */
static uint64_t read_time(struct json_object *options, const char *key)
{
	struct json_object *value, *ns;
	int64_t number;

	if (!json_object_object_get_ex(options, key, &value))
		return 0;
	if (json_object_is_type(value, json_type_object) &&
	    json_object_object_get_ex(value, "ns", &ns))
		value = ns;
	number = json_object_get_int64(value);
	return number > 0 ? (uint64_t)number : 0;
}

static int read_flame(struct ts_studio_call *call, const char *text, struct flame *ret_flame)
{
	static const char *const weights[TS_EXPORT_N_WEIGHTS] = {
		[TS_EXPORT_LAUNCHES] = "launches", [TS_EXPORT_GPU_TIME] = "gpu-time",
		[TS_EXPORT_BYTES] = "bytes",	   [TS_EXPORT_CPU] = "cpu",
		[TS_EXPORT_OFF_CPU] = "off-cpu",   [TS_EXPORT_HOST] = "host"};
	struct json_object *options = json_tokener_parse(text), *value;
	int r = 0;

	*ret_flame = (struct flame){.from_ns = read_time(options, "from"),
				    .to_ns = read_time(options, "to"),
				    .weight = TS_EXPORT_GPU_TIME};
	if (json_object_object_get_ex(options, "width", &value)) {
		int64_t width = json_object_get_int64(value);

		ret_flame->width = width > 0 && width <= MAX_WIDTH ? (uint32_t)width : 0;
	}
	if (json_object_object_get_ex(options, "weight", &value)) {
		const char *weight = json_object_get_string(value);
		size_t i = 0;

		while (i < TS_ARRAY_LEN(weights) && weight && strcmp(weights[i], weight))
			i++;
		if (i == TS_ARRAY_LEN(weights) || !weight)
			r = ts_call_fail(call, 400,
					 "weight is gpu-time, launches, bytes, cpu, off-cpu or "
					 "host");
		else
			ret_flame->weight = (enum ts_export_weight)i;
	}
	json_object_put(options);
	return r;
}

static int draw_flame(struct ts_studio_call *call, const char *text)
{
	struct ts_sbt_reader *reader = call->reader->source.reader;
	uint64_t origin_ns = ts_sbt_reader_origin_ns(reader);
	struct ts_export_options options = {.cancel = &call->is_cancelled,
					    .session = call->reader->source.session};
	struct ts_export_report report;
	const char *slash = strrchr(call->trace->path, '/');
	struct flame flame;
	ts_cleanup(ts_freep) char *svg = NULL;
	size_t n_bytes = 0;
	int r;

	if (read_flame(call, text, &flame))
		return -1;
	options.from_ns = flame.from_ns ? origin_ns + flame.from_ns : 0;
	options.to_ns = flame.to_ns ? origin_ns + flame.to_ns : 0;
	options.width = flame.width;
	options.weight = flame.weight;
	options.title = slash && slash[1] ? slash + 1 : call->trace->path;
	r = ts_export_into(ts_export_svg, reader, &options, &svg, &n_bytes, &report);
	if (!r)
		ts_json_bytes(&call->out, svg, n_bytes);
	return r ? ts_call_fail_with(call, r) : 0;
}

int ts_request_picture(struct ts_studio_call *call)
{
	ts_cleanup(ts_asking_deinit) struct ts_studio_asking asking = {0};
	struct ts_ask_options options = {.no_memory = ts_no_memory, .cancel = &call->is_cancelled};
	char why[TS_ASK_WHY_BYTES];
	int r;

	if (ts_asking_read(call, &asking) || ts_call_reader(call, asking.trace))
		return -1;
	if (!strcmp(asking.question, "flame")) {
		if (draw_flame(call, asking.options))
			return -1;
	} else {
		r = ts_ask_picture(call->reader->source.reader, call->reader->source.session,
				   call->trace->path, asking.question, asking.options, 0, &options,
				   &call->out, why);
		if (r && r != TS_ASK_E_DAMAGED)
			return ts_call_fail(call, r < 0 ? 500 : 400, "%s", why);
	}
	call->content_type = "image/svg+xml";
	return 0;
}
