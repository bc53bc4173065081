/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET names: the names of keys. http.c calls this module.
 */
#include "proto/abi/base.h"
#include "tools/studio/server/parameters.h"
#include "tools/studio/server/studio-call.h"

#define MAX_KEYS 2048u

int ts_request_names(struct ts_studio_call *call)
{
	const char *text = ts_call_parameter(call, "keys");
	uint32_t keys[MAX_KEYS];
	int n = text ? ts_query_numbers(text, keys, MAX_KEYS) : -EINVAL;
	uint64_t trace;

	if (n < 0)
		return ts_call_fail(call, 400,
				    "keys: expected at most %u numbers with commas between",
				    MAX_KEYS);
	if (ts_call_number_or(call, "trace", 0, TS_STUDIO_MAX_TRACES - 1, 0, &trace) ||
	    ts_call_reader(call, trace))
		return -1;
	ts_json_raw(&call->out, "{");
	for (int i = 0; i < n; i++) {
		const struct ts_row_schema *schema = ts_row_schema(ts_tile_key_type(keys[i]));
		char buffer[TS_TILE_NAME_BYTES];

		ts_json_raw(&call->out, i ? ",\n\"" : "\"");
		ts_json_uint(&call->out, keys[i]);
		ts_json_raw(&call->out, "\": {\"name\": ");
		ts_call_put_name(call, ts_tile_key_name(call->reader->resolver, keys[i], buffer));
		ts_json_raw(&call->out, ", \"type\": ");
		ts_json_string(&call->out, schema ? schema->name : "");
		ts_json_raw(&call->out, "}");
	}
	ts_json_raw(&call->out, "}\n");
	return 0;
}
