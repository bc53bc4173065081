/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST ask: an answer as `tsctl COMMAND --json` prints it. http.c calls this module; it calls
 * replay/report/ask-json.h.
 */
#include "replay/report/ask-json.h"
#include "tools/studio/server/requests/studio-asking.h"
#include "tools/tsctl/tsctl.h"

static int report(struct ts_studio_call *call, int r, const char *why)
{
	if (!r || r == TS_ASK_E_DAMAGED)
		return 0;
	return ts_call_fail(call, r < 0 ? 500 : 400, "%s", why);
}

/* Compares the first trace, before a change, with the second one. */
static int compare(struct ts_studio_call *call, const struct ts_studio_asking *asking)
{
	struct ts_ask_options options = {.no_memory = ts_no_memory, .cancel = &call->is_cancelled};
	struct ts_studio_trace *second = &call->studio->traces[1];
	struct ts_studio_reader *other;
	char why[TS_ASK_WHY_BYTES];
	int r;

	if (call->studio->n_traces < 2)
		return ts_call_fail(call, 400, "diff needs a second trace: `tsctl studio A B`");
	if (ts_call_reader(call, 0))
		return -1;
	other = ts_studio_reader_get(second, ts_call_is_cancelled, call);
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

int ts_request_ask(struct ts_studio_call *call)
{
	ts_cleanup(ts_asking_deinit) struct ts_studio_asking asking = {0};
	struct ts_ask_options options = {.no_memory = ts_no_memory, .cancel = &call->is_cancelled};
	char why[TS_ASK_WHY_BYTES];
	int r;

	if (ts_asking_read(call, &asking))
		return -1;
	if (!strcmp(asking.question, "diff"))
		return compare(call, &asking);
	if (ts_call_reader(call, asking.trace))
		return -1;
	r = ts_ask_json(call->reader->source.reader, call->session ? call->session : asking.session,
			call->trace->path, asking.question, asking.options, &options, &call->out,
			why);
	return report(call, r, why);
}
