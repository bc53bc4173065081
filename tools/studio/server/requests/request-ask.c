/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST ask: an answer as `tsctl COMMAND --json` prints it. http.c calls this module; it calls
 * replay/report/ask-json.h. A graph has bounds here, because its memory grows with the window.
 */
#include "replay/report/ask-json.h"
#include "replay/state/limit.h"
#include "tools/studio/server/requests/studio-asking.h"
#include "tools/tsctl/tsctl.h"

#include <json-c/json.h>
#include <malloc.h>

/* Calls and operations of a graph: some 31 MB for a moment. */
#define GRAPH_NODES TS_STUDIO_SLACK_NODES
/* Bytes of an answer. The path of GRAPH_NODES has some 40 MB. */
#define MAX_BYTES ((size_t)64 << 20)

static int report(struct ts_studio_call *call, int r, const char *why)
{
	if (!r || r == TS_ASK_E_DAMAGED)
		return 0;
	return ts_call_fail(call, r < 0 ? 500 : 400, "%s", why);
}

/* Compares the first trace, before a change, with the second one. */
static int compare(struct ts_studio_call *call, const struct ts_studio_asking *asking)
{
	struct ts_ask_options options = {.no_memory = ts_no_memory,
					 .cancel = &call->is_cancelled,
					 .max_bytes = MAX_BYTES};
	struct ts_studio_trace *second = &call->studio->traces[1];
	struct ts_studio_reader *other;
	char why[TS_ASK_WHY_BYTES];
	int r;

	if (call->studio->n_traces < 2)
		return ts_call_fail(call, 400, "diff needs a second trace: `tsctl studio A B`");
	if (ts_call_reader(call, 0))
		return -1;
	other = ts_studio_reader_get(second, call->is_question, ts_call_is_cancelled, call);
	if (!other)
		return ts_call_fail(call, 500, "the second trace cannot be opened");
	r = ts_ask_json_diff((struct ts_query_side[2]){{.readers = &call->reader->source.reader,
							.n = 1,
							.path = call->trace->path},
						       {.readers = &other->source.reader,
							.n = 1,
							.path = second->path}},
			     asking->options, &options, &call->out, why);
	ts_studio_reader_put(second, other);
	return report(call, r, why);
}

/* Sets `max_nodes` of the options, or lowers it. */
static int limit_nodes(struct ts_studio_call *call, struct ts_studio_asking *asking)
{
	struct json_object *options = asking->options ? json_tokener_parse(asking->options) : NULL;
	struct json_object *given;
	const char *text;
	int r = 0;

	free(asking->options);
	asking->options = NULL;
	if (options &&
	    (!json_object_object_get_ex(options, "max_nodes", &given) ||
	     (json_object_is_type(given, json_type_int) &&
	      (json_object_get_int64(given) <= 0 || json_object_get_int64(given) > GRAPH_NODES))))
		r = json_object_object_add(options, "max_nodes", json_object_new_int(GRAPH_NODES));
	text = options && !r ? json_object_to_json_string_ext(options, JSON_C_TO_STRING_PLAIN)
			     : NULL;
	asking->options = text ? strdup(text) : NULL;
	json_object_put(options);
	return asking->options ? 0 : ts_call_fail(call, 500, "no memory");
}

/* Answers with a graph. One is made at a time, and no slack meanwhile. */
static int ask_graph(struct ts_studio_call *call, struct ts_studio_asking *asking)
{
	struct ts_ask_options options = {.no_memory = ts_no_memory,
					 .cancel = &call->is_cancelled,
					 .max_bytes = MAX_BYTES};
	char why[TS_ASK_WHY_BYTES];
	int r;

	if (limit_nodes(call, asking))
		return -1;
	pthread_mutex_lock(&call->studio->slacks.making);
	r = ts_ask_json(call->reader->source.reader, call->session, call->trace->path,
			asking->question, asking->options, &options, &call->out, why);
	malloc_trim(0);
	pthread_mutex_unlock(&call->studio->slacks.making);
	if (r == TS_E_GRAPH_NODES)
		return ts_call_fail(call, 400,
				    "the window has more than %u calls and operations, or than "
				    "max_nodes; choose a shorter one",
				    GRAPH_NODES);
	return report(call, r, why);
}

int ts_request_ask(struct ts_studio_call *call)
{
	ts_cleanup(ts_asking_deinit) struct ts_studio_asking asking = {0};
	struct ts_ask_options options = {.no_memory = ts_no_memory,
					 .cancel = &call->is_cancelled,
					 .max_bytes = MAX_BYTES};
	char why[TS_ASK_WHY_BYTES];
	int r;

	if (ts_asking_read(call, &asking))
		return -1;
	if (!strcmp(asking.question, "diff"))
		return compare(call, &asking);
	if (ts_call_reader(call, asking.trace))
		return -1;
	if (!call->session)
		call->session = asking.session;
	if (!strcmp(asking.question, "graph"))
		return ask_graph(call, &asking);
	r = ts_ask_json(call->reader->source.reader, call->session, call->trace->path,
			asking.question, asking.options, &options, &call->out, why);
	return report(call, r, why);
}
