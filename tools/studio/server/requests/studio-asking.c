/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the body of a POST: see studio-asking.h. Requests call this module. json-c parses the
 * untrusted text. The options stay text for replay/report/ask-json.h, which checks them.
 */
#include "tools/studio/server/requests/studio-asking.h"

#include <json-c/json.h>

void ts_asking_deinit(struct ts_studio_asking *asking)
{
	free(asking->question);
	free(asking->options);
}

static int read_members(struct ts_studio_call *call, struct json_object *body,
			struct ts_studio_asking *asking)
{
	struct json_object *question, *options, *trace, *session;
	const char *text;

	if (!json_object_object_get_ex(body, "question", &question) ||
	    !json_object_is_type(question, json_type_string) ||
	    strlen(json_object_get_string(question)) !=
		    (size_t)json_object_get_string_len(question))
		return ts_call_fail(call, 400, "the body needs \"question\", a string");
	asking->question = strdup(json_object_get_string(question));
	if (json_object_object_get_ex(body, "trace", &trace)) {
		int64_t number = json_object_get_int64(trace);

		if (!json_object_is_type(trace, json_type_int) || number < 0 ||
		    number >= TS_STUDIO_MAX_TRACES)
			return ts_call_fail(call, 400, "\"trace\" is 0 or 1");
		asking->trace = (uint64_t)number;
	}
	if (json_object_object_get_ex(body, "session", &session)) {
		int64_t number = json_object_get_int64(session);

		if (!json_object_is_type(session, json_type_int) || number < 1 ||
		    number > UINT32_MAX)
			return ts_call_fail(call, 400, "\"session\" is a number from 1");
		asking->session = (uint32_t)number;
	}
	if (json_object_object_get_ex(body, "options", &options) && options) {
		if (!json_object_is_type(options, json_type_object))
			return ts_call_fail(call, 400, "\"options\" is an object");
		text = json_object_to_json_string_ext(options, JSON_C_TO_STRING_PLAIN);
		asking->options = text ? strdup(text) : NULL;
	} else {
		asking->options = strdup("{}");
	}
	return asking->question && asking->options ? 0 : ts_call_fail(call, 500, "no memory");
}

int ts_asking_body(struct ts_studio_call *call, struct json_object **ret_body)
{
	struct json_tokener *tokener = json_tokener_new_ex(16);
	struct json_object *body = NULL;
	int r = 0;

	if (!tokener)
		return ts_call_fail(call, 500, "no memory");
	body = json_tokener_parse_ex(tokener, call->body, (int)call->n_body);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    json_tokener_get_parse_end(tokener) != call->n_body ||
	    !json_object_is_type(body, json_type_object)) {
		json_object_put(body);
		r = ts_call_fail(call, 400, "the body is no object of JSON");
	} else {
		*ret_body = body;
	}
	json_tokener_free(tokener);
	return r;
}

int ts_asking_read(struct ts_studio_call *call, struct ts_studio_asking *ret_asking)
{
	struct json_object *body;
	int r;

	if (ts_asking_body(call, &body))
		return -1;
	r = read_members(call, body, ret_asking);
	json_object_put(body);
	return r;
}
