/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl sessions: the processes that are being recorded now.
 */
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/tsctl.h"

static int run_sessions(int argc, char **argv)
{
	static const struct option longs[] = {{"json", no_argument, NULL, 'j'}, {0}};
	ts_cleanup(ts_live_freep) struct ts_live *live = NULL;
	Ts__Rpc__SessionList list = TS__RPC__SESSION_LIST__INIT;
	bool json = false;
	int option, r;

	while ((option = ts_option_next(argc, argv, ":j", longs)) != -1) {
		if (option != 'j')
			return TS_EXIT_BAD;
		json = true;
	}
	if (optind < argc) {
		ts_complain("takes no argument: `%s`", argv[optind]);
		return TS_EXIT_BAD;
	}
	r = ts_live_new(&live);
	r = r ? r : ts_live_list(live);
	if (r) {
		ts_complain("%s", strerror(-r));
		return TS_EXIT_BAD;
	}
	list.n_sessions = live->n_sessions;
	list.sessions = live->sessions;
	if (json)
		return ts_json_print(&list.base);
	if (live->n_sessions)
		ts_live_print(live->n_sessions, live->sessions);
	else
		puts("No process is being recorded.");
	return ts_finish_output(TS_EXIT_OK);
}

const struct ts_command ts_command_sessions = {
	.name = "sessions",
	.summary = "list the processes that are being recorded",
	.is_minor = true,
	.help = "usage: tsctl sessions [--json]\n"
		"\n"
		"Lists those of your processes that are being recorded now: by the service, and\n"
		"by every `tsctl record` of yours; with $TRACESMITH_CONTROL set, by the daemon\n"
		"that listens there alone. STATE is `paused` if `tsctl stop` stopped it, and\n"
		"`observed` if nobody preloaded the process: --system sees its calls alone.\n"
		"\n"
		"  --json  print one JSON object\n"
		"\n"
		"example: tsctl sessions\n",
	.run = run_sessions,
};
