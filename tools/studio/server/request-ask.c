/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST ask: an answer as `tsctl COMMAND --json` prints it. http.c calls this module; it calls
 * replay/report/ask-json.h.
 */
#include "replay/report/ask-json.h"
#include "tools/studio/server/studio-asking.h"
#include "tools/tsctl/tsctl.h"

static const char *asked_path(const struct ts_studio_call *call)
{
	return call->trace->path;
}

int ts_request_ask(struct ts_studio_call *call)
{
	ts_cleanup(ts_asking_deinit) struct ts_studio_asking asking = {0};
	struct ts_ask_options options = {.no_memory = ts_no_memory};
	char why[TS_ASK_WHY_BYTES];
	int r;

	if (ts_asking_read(call, &asking) || ts_call_reader(call, asking.trace))
		return -1;
	r = ts_ask_json(call->reader->source.reader, call->reader->source.session, asked_path(call),
			asking.question, asking.options, &options, &call->out, why);
	if (r && r != TS_ASK_E_DAMAGED)
		return ts_call_fail(call, r < 0 ? 500 : 400, "%s", why);
	return 0;
}
