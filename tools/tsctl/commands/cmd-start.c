/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl start and tsctl stop: switch recording on and off in running processes. main.c runs them.
 * They send one request to each daemon for each named process, or for all processes.
 */
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/tsctl.h"

#define TIMEOUT_MS 5000u

enum {
	CAPTURE_REPLAY,
	CAPTURE_UNSET
};

static const char *const capture_names[] = {[CAPTURE_REPLAY] = "replay", NULL};

struct switching {
	bool stop, json, quiet;
	const char *kernel_events; /* NULL: unchanged */
	unsigned int capture;	   /* index in capture_names; CAPTURE_UNSET: recording itself */
	uint32_t *pids;
	size_t n_pids;
	Ts__Rpc__Switched sum;
	size_t n_recordings; /* recordings that apply the switch to later processes */
	bool failed;
};

static int ask(struct switching *switching, struct ts_live_daemon *daemon, uint32_t pid,
	       uint32_t *ret_n)
{
	Ts__Rpc__Request__Switch asked = TS__RPC__REQUEST__SWITCH__INIT;
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Answer *answer = NULL;
	int r;

	asked.has_pid = pid != 0;
	asked.pid = pid;
	TS_RPC_SET(&asked, timeout_ms, TIMEOUT_MS);
	asked.kernel_events = (char *)(uintptr_t)switching->kernel_events;
	asked.capture = (char *)(uintptr_t)capture_names[switching->capture];
	if (switching->stop) {
		request.body_case = TS__RPC__REQUEST__BODY_STOP;
		request.stop = &asked;
	} else {
		request.body_case = TS__RPC__REQUEST__BODY_START;
		request.start = &asked;
	}
	r = ts_client_call(daemon->client, &request, TIMEOUT_MS + TS_CLIENT_TIMEOUT_DEFAULT_MS,
			   &answer, NULL);
	if (!r && answer->body_case != TS__RPC__ANSWER__BODY_SWITCHED)
		r = -EPROTO;
	if (r == -ECONNRESET) {
		/* The daemon ended meanwhile, and so did its recording. */
	} else if (r) {
		ts_complain("the daemon at %s: %s", daemon->path, ts_client_error(daemon->client));
		switching->failed = true;
	} else {
		*ret_n += answer->switched->sessions;
		switching->sum.sessions += answer->switched->sessions;
		switching->sum.changed += answer->switched->changed;
		switching->sum.timed_out += answer->switched->timed_out;
		switching->n_recordings += daemon->is_recording || answer->switched->has_system;
	}
	if (answer)
		ts__rpc__answer__free_unpacked(answer, NULL);
	return r;
}

/* Sends the request for the process `pid`, or for all processes if `pid` is 0. */
static uint32_t ask_all(struct switching *switching, struct ts_live *live, uint32_t pid)
{
	uint32_t n = 0;

	for (size_t i = 0; i < live->n_daemons; i++)
		(void)ask(switching, &live->daemons[i], pid, &n);
	return n;
}

static bool is_of_window(const struct switching *switching)
{
	return switching->capture != CAPTURE_UNSET;
}

static void print_sum(const struct switching *switching)
{
	const Ts__Rpc__Switched *sum = &switching->sum;
	const char *done = is_of_window(switching)
				   ? (switching->stop ? "window closes" : "window opens")
			   : switching->stop ? "stopped"
					     : "started";

	if (!sum->sessions)
		printf("%s: no process yet; valid for the next processes of %zu recording%s\n",
		       done, switching->n_recordings, switching->n_recordings == 1 ? "" : "s");
	else if (sum->changed == sum->sessions)
		printf("%s: %u process%s\n", done, sum->changed, sum->changed == 1 ? "" : "es");
	else if (!sum->changed)
		printf("%s: changed 0 of %u processes; they were in this state already\n", done,
		       sum->sessions);
	else
		printf("%s: changed %u of %u processes; the others were in this state already\n",
		       done, sum->changed, sum->sessions);
}

static int conclude(struct switching *switching)
{
	Ts__Rpc__Switched *sum = &switching->sum;
	int r = TS_EXIT_OK;

	sum->has_sessions = sum->has_changed = sum->has_timed_out = 1;
	if (!sum->sessions && (switching->n_pids || !switching->n_recordings)) {
		if (!switching->failed && !switching->n_pids)
			ts_complain("no process is being recorded; `tsctl record` records one");
		return TS_EXIT_BAD;
	}
	if (switching->json)
		r = ts_json_print(&sum->base);
	else if (!switching->quiet)
		print_sum(switching);
	if (!switching->json)
		r = ts_finish_output(TS_EXIT_OK);
	if (sum->timed_out) {
		ts_complain("%u of them did not confirm (stopped by a debugger?); the change "
			    "takes effect when they continue",
			    sum->timed_out);
		return TS_EXIT_FINDING;
	}
	return switching->failed ? TS_EXIT_BAD : r;
}

static int complain_of_start(void *to, const struct ts_option *option, const char *text)
{
	ts_complain("--kernel-events is an option of `tsctl start`");
	return -EINVAL;
}

static const struct ts_option start_options[] = {
	{"capture", TS_OPTION_LONG, TS_OPTION_CHOICE(struct switching, capture),
	 .words = capture_names, .metavar = "replay",
	 .help = "open a window in processes of `tsctl record --capture\n"
		 "window`: copy memory, then capture calls for replay"},
	{"kernel-events", TS_OPTION_LONG, TS_OPTION_TEXT(struct switching, kernel_events),
	 .metavar = "LIST",
	 .help = "record these kernel events of the daemon, with minimum\n"
		 "lengths: sched:1ms,syscalls"},
	{"json", 'j', TS_OPTION_FLAG(struct switching, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{"quiet", 'q', TS_OPTION_FLAG(struct switching, quiet), .help = "print nothing on success"},
	{0},
};

static const struct ts_option stop_options[] = {
	{"capture", TS_OPTION_LONG, TS_OPTION_CHOICE(struct switching, capture),
	 .words = capture_names, .metavar = "replay",
	 .help = "close the window that `tsctl start --capture replay` opened"},
	{"json", 'j', TS_OPTION_FLAG(struct switching, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{"quiet", 'q', TS_OPTION_FLAG(struct switching, quiet), .help = "print nothing on success"},
	{"kernel-events", TS_OPTION_LONG, TS_OPTION_PARSED(complain_of_start), .is_hidden = true},
	{0},
};

static int run(int argc, char **argv, const struct ts_command *command)
{
	ts_cleanup(ts_live_freep) struct ts_live *live = NULL;
	struct switching switching = {.stop = command == &ts_command_stop,
				      .capture = CAPTURE_UNSET,
				      .sum = TS__RPC__SWITCHED__INIT};
	struct ts_operands operands;
	int r;

	if (ts_options_parse(command, argc, argv, &switching, &operands))
		return TS_EXIT_BAD;
	if (is_of_window(&switching) && switching.kernel_events) {
		ts_complain("--capture and --kernel-events require separate commands");
		return TS_EXIT_BAD;
	}
	r = ts_live_parse_pids(&operands, &switching.pids, &switching.n_pids);
	if (!r)
		r = ts_live_new(&live);
	if (r) {
		if (r != -EINVAL)
			ts_complain("%s", strerror(-r));
		free(switching.pids);
		return TS_EXIT_BAD;
	}
	if (!switching.n_pids)
		(void)ask_all(&switching, live, 0);
	for (size_t i = 0; i < switching.n_pids; i++)
		if (!ask_all(&switching, live, switching.pids[i]) && !switching.failed) {
			ts_complain("process %u is not being recorded; `tsctl sessions` lists "
				    "the recorded processes",
				    switching.pids[i]);
			switching.failed = true;
		}
	free(switching.pids);
	return conclude(&switching);
}

static int run_start(int argc, char **argv)
{
	return run(argc, argv, &ts_command_start);
}

static int run_stop(int argc, char **argv)
{
	return run(argc, argv, &ts_command_stop);
}

const struct ts_command ts_command_start = {
	.name = "start",
	.summary = "start recording in processes where it is stopped",
	.text = "usage: tsctl start [OPTION ...] [PID ...]\n"
		"\n"
		"Start recording in processes where `tsctl stop`, `tsctl record --start-later` or\n"
		"TRACESMITH_START_LATER=1 stopped it. Without a PID: start it in all your\n"
		"processes that `tsctl sessions` lists, and in later processes of their\n"
		"recordings. Return when recording has started.\n"
		"\n",
	.example = "start 4711",
	.help_column = 24,
	.is_help_narrow = true,
	.options = start_options,
	.operands = TS_OPERANDS_PIDS,
	.run = run_start,
};

const struct ts_command ts_command_stop = {
	.name = "stop",
	.summary = "stop recording in processes; the processes continue",
	.text = "usage: tsctl stop [OPTION ...] [PID ...]\n"
		"\n"
		"Stop recording in the processes PID; without a PID, in all your processes that\n"
		"`tsctl sessions` lists. They continue at nearly full speed and stay sessions of\n"
		"their trace. `tsctl start` starts recording again. The work in between does not\n"
		"count as lost. The trace has the time from stop to start. Return when the rows\n"
		"before the stop are stored.\n"
		"\n",
	.example = "stop",
	.help_column = 20,
	.is_help_narrow = true,
	.options = stop_options,
	.operands = TS_OPERANDS_PIDS,
	.run = run_stop,
};
