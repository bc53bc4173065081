/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET live: how far a trace has grown. POST live: stops and starts the recording of a session, or
 * opens or ends a window of capture. http.c calls this module; it asks the session's daemon.
 */
#include "proto/abi/base.h"
#include "proto/abi/clock.h"
#include "tools/studio/server/requests/studio-asking.h"
#include "tools/studio/server/studio-call.h"
#include "tools/studio/server/studio-daemon.h"

#include <json-c/json.h>

#define TIMEOUT_MS 5000u

int ts_request_live(struct ts_studio_call *call)
{
	struct ts_studio_trace *trace = &call->studio->traces[0];
	bool is_ended = !trace->is_live || atomic_load(&trace->is_ended);
	uint64_t until_ns = atomic_load(&trace->until_ns);
	struct ts_studio_tiles *tiles = ts_studio_tiles_get(trace);
	uint64_t origin_ns = ts_tiles_origin_ns(tiles->tiles);

	atomic_store(&trace->asked_ns, ts_clock_monotonic_ns());
	ts_json_raw(&call->out, "{\"duration_ns\": ");
	ts_json_uint(&call->out, ts_tiles_duration_ns(tiles->tiles));
	ts_json_raw(&call->out, ", \"state\": ");
	ts_json_string(&call->out, is_ended ? "ended" : "recording");
	ts_json_raw(&call->out, ", \"rows\": ");
	ts_json_uint(&call->out, atomic_load(&trace->n_rows));
	if (until_ns > origin_ns) {
		ts_json_raw(&call->out, ", \"until_ns\": ");
		ts_json_uint(&call->out, until_ns - origin_ns);
	}
	ts_json_raw(&call->out, "}\n");
	ts_studio_tiles_put(trace, tiles);
	return 0;
}

/* Sends a switch to the daemon of the session. Returns 0, or -1 after ts_call_fail(). */
static int send_switch(struct ts_studio_call *call, const struct ts_live_daemon *daemon,
		       uint32_t pid, const char *action)
{
	Ts__Rpc__Request__Switch asked = TS__RPC__REQUEST__SWITCH__INIT;
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Answer *answer = NULL;
	int r;

	if (pid)
		TS_RPC_SET(&asked, pid, pid);
	TS_RPC_SET(&asked, timeout_ms, TIMEOUT_MS);
	asked.capture = !strncmp(action, "capture", strlen("capture")) ? (char *)"replay" : NULL;
	if (!strcmp(action, "stop") || !strcmp(action, "capture-end")) {
		request.body_case = TS__RPC__REQUEST__BODY_STOP;
		request.stop = &asked;
	} else {
		request.body_case = TS__RPC__REQUEST__BODY_START;
		request.start = &asked;
	}
	r = ts_client_call(daemon->client, &request, TIMEOUT_MS + TS_CLIENT_TIMEOUT_DEFAULT_MS,
			   &answer, NULL);
	if (r)
		r = ts_call_fail(call, 400, "the daemon: %s", ts_client_error(daemon->client));
	else if (answer->body_case != TS__RPC__ANSWER__BODY_SWITCHED)
		r = ts_call_fail(call, 500, "the daemon gave another answer");
	else if (!answer->switched->sessions)
		r = ts_call_fail(call, 404, "the session is not being recorded any more");
	else
		ts_json_raw(&call->out, answer->switched->changed ? "{\"changed\": true}\n"
								  : "{\"changed\": false}\n");
	if (answer)
		ts__rpc__answer__free_unpacked(answer, NULL);
	return r;
}

static int control(struct ts_studio_call *call, const char *action)
{
	ts_cleanup(ts_live_freep) struct ts_live *live = NULL;
	const struct ts_live_daemon *daemon;
	uint32_t session, pid;

	if (ts_live_new(&live) || ts_live_list(live))
		return ts_call_fail(call, 500, "no daemon can be asked");
	daemon = ts_studio_daemon_find(live, &call->studio->traces[0], &session, &pid);
	if (!daemon)
		return ts_call_fail(call, 404, "the session is not being recorded any more");
	return send_switch(call, daemon, pid, action);
}

int ts_request_control(struct ts_studio_call *call)
{
	struct json_object *body, *value;
	const char *action;
	int r;

	if (!call->studio->traces[0].is_live)
		return ts_call_fail(call, 400,
				    "only a session that is being recorded can be "
				    "controlled");
	if (ts_asking_body(call, &body))
		return -1;
	action = json_object_object_get_ex(body, "do", &value) ? json_object_get_string(value)
							       : NULL;
	if (!action || (strcmp(action, "start") && strcmp(action, "stop") &&
			strcmp(action, "capture") && strcmp(action, "capture-end")))
		r = ts_call_fail(call, 400, "\"do\" is start, stop, capture or capture-end");
	else
		r = control(call, action);
	json_object_put(body);
	return r;
}
