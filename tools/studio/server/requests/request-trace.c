/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET trace: the traces, their sessions and lanes. http.c calls this module.
 */
#include "proto/abi/record.h"
#include "sbt/reader.h"
#include "tools/studio/server/studio-call.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME_BYTES 1200

static const char *const directions[TS_LANE_DIRECTIONS] = {
	[TS_LANE_TO_DEVICE] = "copies to device",
	[TS_LANE_TO_HOST] = "copies to host",
	[TS_LANE_ON_DEVICE] = "copies on device",
};

static const char *text_or(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

/* Returns a string of the trace; NULL: there is none, or it is empty. */
static const char *string_of(struct ts_studio_reader *reader, uint32_t id)
{
	const char *text = ts_sbt_reader_string(reader->source.reader, id, NULL);

	return text && *text ? text : NULL;
}

static void name_process(struct ts_studio_reader *reader, const struct ts_lane *lane,
			 char name[NAME_BYTES])
{
	const struct ts_row_session *session =
		ts_sbt_reader_session(reader->source.reader, lane->session);
	const char *program = session ? string_of(reader, session->program) : NULL;

	snprintf(name, NAME_BYTES, "%s (process %" PRIu32 ")", program ? program : "process",
		 session ? session->pid : 0);
}

static void name_thread(struct ts_studio_reader *reader, const struct ts_lane *lane,
			char name[NAME_BYTES])
{
	const struct ts_row_thread *thread =
		ts_sbt_reader_thread(reader->source.reader, lane->session, lane->definition);
	const char *own =
		thread ? ts_resolver_thread_name(reader->resolver, lane->session, thread) : NULL;

	if (thread)
		snprintf(name, NAME_BYTES, "%s (thread %" PRIu32 ")", text_or(own, "thread"),
			 thread->tid);
	else
		snprintf(name, NAME_BYTES, "thread #%" PRIu32, lane->thread);
}

static void name_device(struct ts_studio_reader *reader, const struct ts_lane *lane,
			char name[NAME_BYTES])
{
	const struct ts_row_device *device =
		ts_sbt_reader_device(reader->source.reader, lane->session, lane->device);
	const char *model = device ? string_of(reader, device->name) : NULL;

	if (lane->device == TS_NO_DEVICE)
		snprintf(name, NAME_BYTES, "unknown GPU");
	else
		snprintf(name, NAME_BYTES, "GPU %" PRIu32 "%s%s", lane->device, model ? ": " : "",
			 model ? model : "");
}

static void name_stream(struct ts_studio_reader *reader, const struct ts_lane *lane,
			char name[NAME_BYTES])
{
	struct ts_row_kernel kernel = {.device = lane->device,
				       .context = lane->context,
				       .stream = lane->stream};
	struct ts_sbt_row row = {.type = TS_ROW_KERNEL,
				 .session = lane->session,
				 .schema = ts_row_schema(TS_ROW_KERNEL),
				 .kernel = &kernel};
	const char *own = ts_resolver_stream_name(reader->resolver, &row);

	if (lane->stream == TS_NO_DEVICE)
		snprintf(name, NAME_BYTES, "no stream");
	else
		snprintf(name, NAME_BYTES, "stream %" PRIu32 "%s%s", lane->stream, own ? " " : "",
			 own ? own : "");
}

static void name_counter(struct ts_studio_reader *reader, const struct ts_lane *lane,
			 char name[NAME_BYTES])
{
	const char *domain = string_of(reader, lane->domain), *own = string_of(reader, lane->name);

	snprintf(name, NAME_BYTES, "%s%s%s", domain ? domain : "", domain ? ": " : "",
		 own ? own : "counter");
}

static void name_lane(struct ts_studio_reader *reader, const struct ts_lane *lane,
		      char name[NAME_BYTES])
{
	static const char *const fixed[TS_LANE_KINDS] = {
		[TS_LANE_RANGES] = "ranges",
		[TS_LANE_KERNEL_EVENTS] = "kernel events",
		[TS_LANE_HOST_SAMPLES] = "samples",
		[TS_LANE_COMPUTE] = "kernels",
	};

	switch (lane->kind) {
	case TS_LANE_PROCESS:
		name_process(reader, lane, name);
		break;
	case TS_LANE_THREAD:
		name_thread(reader, lane, name);
		break;
	case TS_LANE_DEVICE:
		name_device(reader, lane, name);
		break;
	case TS_LANE_STREAM:
		name_stream(reader, lane, name);
		break;
	case TS_LANE_COUNTER:
		name_counter(reader, lane, name);
		break;
	case TS_LANE_COPY:
		snprintf(name, NAME_BYTES, "%s", directions[lane->direction]);
		break;
	default:
		snprintf(name, NAME_BYTES, "%s", fixed[lane->kind]);
	}
}

static void put_uint(struct ts_json *json, const char *key, uint64_t value)
{
	ts_json_raw(json, ", \"");
	ts_json_raw(json, key);
	ts_json_raw(json, "\": ");
	ts_json_uint(json, value);
}

static void put_string(struct ts_json *json, const char *key, const char *value)
{
	ts_json_raw(json, ", \"");
	ts_json_raw(json, key);
	ts_json_raw(json, "\": ");
	ts_json_string(json, value);
}

static bool has_thread(const struct ts_lane *lane)
{
	return lane->kind >= TS_LANE_THREAD && lane->kind < TS_LANE_COUNTER;
}

static void put_thread(struct ts_studio_call *call, const struct ts_lane *lane)
{
	const struct ts_row_thread *thread =
		ts_sbt_reader_thread(call->reader->source.reader, lane->session, lane->definition);

	put_uint(&call->out, "thread", lane->thread);
	if (thread)
		put_uint(&call->out, "tid", thread->tid);
}

/* Counters of tracesmith itself are of use to few. */
static bool is_own_counter(const struct ts_studio_call *call, const struct ts_lane *lane)
{
	const char *domain =
		lane->kind == TS_LANE_COUNTER
			? ts_sbt_reader_string(call->reader->source.reader, lane->domain, NULL)
			: NULL;

	return domain && !strcmp(domain, TS_OWN_DOMAIN);
}

static void put_lane(struct ts_studio_call *call, unsigned trace, const struct ts_lane *lane)
{
	uint32_t first = trace ? TS_STUDIO_SECOND_LANES : 0;
	struct ts_json *json = &call->out;
	char name[NAME_BYTES];

	name_lane(call->reader, lane, name);
	ts_json_raw(json, "{\"id\": ");
	ts_json_uint(json, first + lane->id);
	put_uint(json, "parent", lane->parent ? first + lane->parent : 0);
	put_string(json, "kind", ts_lane_kind_name(lane->kind));
	put_string(json, "name", name);
	put_uint(json, "session", lane->session);
	if (lane->kind >= TS_LANE_DEVICE)
		put_uint(json, "device", lane->device);
	if (lane->kind == TS_LANE_STREAM) {
		put_uint(json, "context", lane->context);
		put_uint(json, "stream", lane->stream);
	}
	if (has_thread(lane))
		put_thread(call, lane);
	if (is_own_counter(call, lane))
		ts_json_raw(json, ", \"folded\": true");
	put_uint(json, "rows", lane->n_rows);
	put_uint(json, "depth", lane->depth);
	put_uint(json, "trace", trace);
	ts_json_raw(json, "}");
}

static int put_lanes(struct ts_studio_call *call)
{
	const char *comma = "";

	ts_json_raw(&call->out, ", \"lanes\": [");
	for (unsigned i = 0; i < call->studio->n_traces; i++) {
		ts_call_end_reader(call);
		if (ts_call_reader(call, i))
			return -1;
		for (size_t k = 0; k < ts_tiles_n_lanes(call->tiles->tiles); k++) {
			struct ts_lane lane;

			ts_tiles_lane(call->tiles->tiles, k, &lane);
			ts_json_raw(&call->out, comma);
			put_lane(call, i, &lane);
			comma = ",\n";
		}
	}
	ts_json_raw(&call->out, "]");
	return 0;
}

static void put_sessions(struct ts_studio_call *call)
{
	struct ts_sbt_reader *reader = call->reader->source.reader;
	uint64_t origin_ns = ts_sbt_reader_origin_ns(reader);

	ts_json_raw(&call->out, ", \"sessions\": [");
	for (size_t i = 0; i < ts_sbt_reader_n_sessions(reader); i++) {
		const struct ts_row_session *session = ts_sbt_reader_session_at(reader, i);
		const char *program = ts_sbt_reader_string(reader, session->program, NULL);

		ts_json_raw(&call->out, i ? ", {\"session\": " : "{\"session\": ");
		ts_json_uint(&call->out, session->session);
		put_uint(&call->out, "pid", session->pid);
		put_string(&call->out, "program", text_or(program, ""));
		put_uint(&call->out, "start_ns",
			 session->start_ns > origin_ns ? session->start_ns - origin_ns : 0);
		if (session->end_ns)
			put_uint(&call->out, "end_ns",
				 session->end_ns > origin_ns ? session->end_ns - origin_ns : 0);
		ts_json_raw(&call->out, "}");
	}
	ts_json_raw(&call->out, "]");
}

int ts_request_trace(struct ts_studio_call *call)
{
	struct ts_sbt_reader *reader;
	bool is_changed = false;

	if (ts_call_reader(call, 0))
		return -1;
	reader = call->reader->source.reader;
	ts_json_raw(&call->out, "{\"version\": 1");
	put_string(&call->out, "path", call->trace->path);
	if (call->studio->n_traces > 1)
		put_string(&call->out, "second_path", call->studio->traces[1].path);
	put_string(&call->out, "format", ts_sbt_reader_format(reader));
	put_uint(&call->out, "origin_ns", ts_tiles_origin_ns(call->tiles->tiles));
	put_uint(&call->out, "duration_ns", ts_tiles_duration_ns(call->tiles->tiles));
	ts_json_raw(&call->out, call->trace->is_live && !atomic_load(&call->trace->is_ended)
					? ", \"live\": true"
					: ", \"live\": false");
	for (unsigned i = 0; i < call->studio->n_traces; i++)
		is_changed = is_changed || ts_studio_trace_is_changed(&call->studio->traces[i]);
	if (is_changed)
		ts_json_raw(&call->out, ", \"changed\": true");
	put_sessions(call);
	if (put_lanes(call))
		return -1;
	if (call->studio->n_traces > 1) {
		/* The last lanes are those of the second trace. */
		put_uint(&call->out, "second_origin_ns", ts_tiles_origin_ns(call->tiles->tiles));
		put_uint(&call->out, "second_duration_ns",
			 ts_tiles_duration_ns(call->tiles->tiles));
	}
	put_uint(&call->out, "traces", call->studio->n_traces);
	ts_json_raw(&call->out, "}\n");
	return 0;
}
