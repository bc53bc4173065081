/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters, errors and readers for all requests: see studio-call.h. Requests call this module.
 */
#include "tools/studio/server/studio-call.h"

#include "proto/abi/base.h"
#include "replay/state/limit.h"
#include "tools/studio/server/parameters.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>

const char *ts_call_parameter(const struct ts_studio_call *call, const char *name)
{
	const char *value = NULL;
	size_t n = 0;

	if (MHD_lookup_connection_value_n(call->connection, MHD_GET_ARGUMENT_KIND, name,
					  strlen(name), &value, &n) != MHD_YES)
		return NULL;
	/* A value with a zero byte is not what it seems; no parameter accepts an empty one. */
	return value && strlen(value) == n ? value : "";
}

bool ts_call_is_cancelled(void *data)
{
	const struct ts_studio_call *call = data;

	return __atomic_load_n(&call->is_cancelled, __ATOMIC_RELAXED);
}

int ts_call_fail(struct ts_studio_call *call, unsigned status, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	ts_json_clear(&call->out);
	ts_json_raw(&call->out, "{\"error\": ");
	ts_json_string(&call->out, text);
	ts_json_raw(&call->out, "}\n");
	call->status = status;
	call->content_type = "application/json";
	return -1;
}

int ts_call_fail_with(struct ts_studio_call *call, int r)
{
	const struct ts_sbt_error *error =
		call->reader ? ts_sbt_reader_error(call->reader->source.reader) : NULL;
	char limit[TS_LIMIT_TEXT_BYTES];

	if (r == -EINVAL)
		return ts_call_fail(call, 400, "the view lies outside of time, or is too large");
	if (r == -ECANCELED)
		return ts_call_fail(call, 500, "cancelled");
	if (r == TS_TILES_E_LANE)
		return ts_call_fail(call, 404, "there is no such lane");
	if (r == TS_TILES_E_OVERLAP)
		return ts_call_fail(call, 500, "too many blocks of the trace overlap at one time");
	if (r < 0)
		return ts_call_fail(call, 500, "cannot read the trace: %s", strerror(-r));
	if (error && ts_limit_text(r, error, limit))
		return ts_call_fail(call, 500, "the trace %s", limit);
	return ts_call_fail(call, 500, "the trace is damaged: %s",
			    error && *error->text ? error->text : "it cannot be read");
}

void ts_call_put_name(struct ts_studio_call *call, const char *name)
{
	size_t n = strnlen(name, TS_STUDIO_NAME_BYTES + 1);

	if (n > TS_STUDIO_NAME_BYTES)
		n = TS_STUDIO_NAME_BYTES;
	/* No part of a character. */
	while (n && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	ts_json_string_n(&call->out, name, n);
}

void ts_call_end_reader(struct ts_studio_call *call)
{
	if (call->reader)
		ts_studio_reader_put(call->trace, call->reader);
	if (call->tiles)
		ts_studio_tiles_put(call->trace, call->tiles);
	call->reader = NULL;
	call->tiles = NULL;
}

int ts_call_reader(struct ts_studio_call *call, uint64_t trace)
{
	if (trace >= call->studio->n_traces)
		return ts_call_fail(call, 404, "there is no second trace");
	call->trace = &call->studio->traces[trace];
	call->tiles = ts_studio_tiles_get(call->trace);
	call->reader =
		ts_studio_reader_get(call->trace, call->is_question, ts_call_is_cancelled, call);
	if (!call->reader)
		return ts_call_fail(call, 500, "the trace cannot be opened");
	call->session = call->reader->source.session;
	return 0;
}

int ts_call_session(struct ts_studio_call *call)
{
	uint64_t session;

	if (ts_call_number_or(call, "session", 1, UINT32_MAX, 0, &session))
		return -1;
	if (!call->session)
		call->session = (uint32_t)session;
	return 0;
}

uint64_t ts_call_absolute(const struct ts_studio_call *call, uint64_t ns)
{
	uint64_t origin_ns = ts_sbt_reader_origin_ns(call->reader->source.reader), absolute_ns;

	return __builtin_add_overflow(origin_ns, ns, &absolute_ns) ? UINT64_MAX : absolute_ns;
}

uint64_t ts_call_absolute_end(const struct ts_studio_call *call, uint64_t ns)
{
	uint64_t absolute_ns = ts_call_absolute(call, ns);

	return absolute_ns ? absolute_ns : 1;
}

int ts_call_layer(struct ts_studio_call *call, uint64_t trace)
{
	uint64_t number;

	if (ts_call_number_or(call, "layer", 0, UINT32_MAX, 0, &number))
		return -1;
	if (!number)
		return 0;
	/* Ids of the second trace are no numbers of the layer's lanes. */
	if (trace)
		return ts_call_fail(call, 404, "an emulation has lanes of the first trace only");
	call->layer = ts_studio_layers_get(&call->studio->layers, number);
	return call->layer ? 0 : ts_call_fail(call, 404, "this emulation is gone; make it again");
}

int ts_call_number(struct ts_studio_call *call, const char *name, uint64_t least, uint64_t most,
		   uint64_t *ret_value)
{
	const char *text = ts_call_parameter(call, name);

	if (!text)
		return ts_call_fail(call, 400, "the parameter %s is missing", name);
	if (ts_query_number(text, least, most, ret_value))
		return ts_call_fail(call, 400, "%s: expected a number from %" PRIu64 " to %" PRIu64,
				    name, least, most);
	return 0;
}

int ts_call_number_or(struct ts_studio_call *call, const char *name, uint64_t least, uint64_t most,
		      uint64_t otherwise, uint64_t *ret_value)
{
	if (ts_call_parameter(call, name))
		return ts_call_number(call, name, least, most, ret_value);
	*ret_value = otherwise;
	return 0;
}
