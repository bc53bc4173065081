/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl sessions: lists the processes that are being recorded. main.c runs it; machine/live.c asks
 * the daemons.
 */
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/tsctl.h"

struct asked {
	bool json;
};

static const struct ts_option command_options[] = {
	{"json", 'j', TS_OPTION_FLAG(struct asked, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_sessions(int argc, char **argv)
{
	ts_cleanup(ts_live_freep) struct ts_live *live = NULL;
	Ts__Rpc__SessionList list = TS__RPC__SESSION_LIST__INIT;
	struct ts_operands operands;
	struct asked asked = {0};
	int r;

	if (ts_options_parse(&ts_command_sessions, argc, argv, &asked, &operands) ||
	    ts_no_operands(&operands))
		return TS_EXIT_BAD;
	r = ts_live_new(&live);
	r = r ? r : ts_live_list(live);
	if (r) {
		ts_complain("%s", strerror(-r));
		return TS_EXIT_BAD;
	}
	list.n_sessions = live->n_sessions;
	list.sessions = live->sessions;
	if (asked.json)
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
	.text = "usage: tsctl sessions [--json]\n"
		"\n"
		"List your processes that are being recorded now, by the service and by every\n"
		"`tsctl record` of yours. If $TRACESMITH_CONTROL is set, ask only the daemon at\n"
		"that socket. STATE is `paused` after `tsctl stop`. STATE is `observed` if the\n"
		"process did not preload libtsinject.so: only its calls are recorded (--system).\n"
		"\n",
	.example = "sessions",
	.help_column = 10,
	.is_help_narrow = true,
	.options = command_options,
	.run = run_sessions,
};
