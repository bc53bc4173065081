/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl dump: writes the contents of a running recording to a file of its own. main.c runs it. It
 * is meant for flight recorders, which drop old data.
 */
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/copyout.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#define FLUSH_MS 2000u

struct dump {
	const char *output, *session;
	uint64_t last_ns; /* 0: all */
	struct ts_source source;
};

static void dump_deinit(struct dump *dump)
{
	ts_source_deinit(&dump->source);
}

static int parse_last(void *to, const struct ts_option *option, const char *text)
{
	struct dump *dump = to;

	if (!ts_parse_time_with_unit(text, &dump->last_ns) && dump->last_ns)
		return 0;
	return ts_option_complain(option, text);
}

static const struct ts_option command_options[] = {
	{"last", TS_OPTION_LONG, TS_OPTION_PARSED(parse_last), .metavar = "TIME",
	 .expects = "expected a time with a unit, like 10s",
	 .help = "copy only rows of the last TIME, like 10s; see `tsctl cut`"},
	{"output", 'o', TS_OPTION_FILE(struct dump, output), .metavar = "OUT",
	 .help = "write the new trace to OUT; an existing file is refused"},
	{"session", 's', TS_OPTION_SESSION(struct dump, session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{0},
};

static int parse(struct dump *dump, int argc, char **argv, struct ts_operands *ret_operands)
{
	if (ts_options_parse(&ts_command_dump, argc, argv, dump, ret_operands))
		return -EINVAL;
	if (ret_operands->n != (dump->session ? 0 : 1)) {
		ts_complain("takes one session or one trace file: `tsctl dump -o now.sbt 1234`");
		return -EINVAL;
	}
	if (!dump->output) {
		ts_complain("no output file; name the new trace with -o, like -o now.sbt");
		return -EINVAL;
	}
	return 0;
}

static bool has_session(const struct ts_live_daemon *daemon, uint32_t number, uint32_t *ret_session)
{
	const Ts__Rpc__SessionList *list =
		daemon->answer && daemon->answer->body_case == TS__RPC__ANSWER__BODY_SESSION_LIST
			? daemon->answer->session_list
			: NULL;

	for (size_t i = 0; list && i < list->n_sessions; i++)
		if (list->sessions[i]->pid == number || list->sessions[i]->session == number) {
			*ret_session = list->sessions[i]->session;
			return true;
		}
	return false;
}

/*
 * If the source is a session, lets its process flush, so that the latest rows are in the trace.
 * Later queries then go to that session's daemon, which may belong to a `tsctl record`. If there is
 * no daemon, the trace is used as it is.
 */
static void ask_to_flush(const char *text)
{
	ts_cleanup(ts_live_freep) struct ts_live *live = NULL;
	unsigned long long number;
	Ts__Rpc__Answer *answer;
	uint32_t session;

	if (ts_parse_number(text, 1, UINT32_MAX, &number) || ts_live_new(&live) ||
	    ts_live_list(live))
		return;
	for (size_t i = 0; i < live->n_daemons; i++) {
		const struct ts_live_daemon *daemon = &live->daemons[i];

		if (!has_session(daemon, (uint32_t)number, &session))
			continue;
		if (!ts_client_flush(daemon->client, session, FLUSH_MS, &answer))
			ts__rpc__answer__free_unpacked(answer, NULL);
		setenv(TS_CONTROL_ENVIRONMENT, daemon->path, 1);
		return;
	}
}

static int run_dump(int argc, char **argv)
{
	ts_cleanup(dump_deinit) struct dump dump = {0};
	struct ts_sbt_copy_options options = {0};
	struct ts_sbt_copy_source source = {0};
	struct ts_sbt_copy_report report = {0};
	struct ts_sbt_summary summary;
	struct ts_operands operands;
	const char *file;
	int status, r;

	if (parse(&dump, argc, argv, &operands))
		return TS_EXIT_BAD;
	file = operands.words[0];
	if (dump.session || access(file, F_OK))
		ask_to_flush(dump.session ? dump.session : file);
	if (ts_source_open(&dump.source, file, dump.session))
		return TS_EXIT_BAD;
	r = ts_sbt_reader_summary(dump.source.reader, 0, &summary);
	if (r) {
		ts_source_complain(dump.source.path, r, ts_sbt_reader_error(dump.source.reader));
		return TS_EXIT_BAD;
	}
	options.session = dump.source.session;
	options.has_window = dump.last_ns != 0;
	if (dump.last_ns && summary.latest_ns > dump.last_ns)
		options.from_ns = summary.latest_ns - dump.last_ns;
	source.reader = dump.source.reader;
	source.name = dump.source.path;
	status = ts_copy_out(&source, 1, &options, dump.output, &report);
	if (status == TS_EXIT_BAD)
		return status;
	return ts_copy_out_print(dump.output, &report) ? TS_EXIT_BAD : status;
}

const struct ts_command ts_command_dump = {
	.name = "dump",
	.summary = "write the rows that a recording has so far to a new trace",
	.text = "usage: tsctl dump [--last TIME] -o OUT SESSION | FILE\n"
		"\n"
		"Write the rows that a recording has so far to OUT. The recording continues. Use\n"
		"dump with `tsctl record --keep-last`, which deletes older rows. SESSION is a\n"
		"session's number or pid (`tsctl sessions`). FILE is the newest file of the\n"
		"recording; its finished files (FILE with a number) are read, too. Captures for\n"
		"replay are omitted. Exit with 0; 1 if a file is damaged (OUT has all readable\n"
		"rows); or 2 on errors.\n"
		"\n",
	.example = "dump --last 10s -o slow.sbt 4711",
	.help_column = 20,
	.options = command_options,
	.operands = TS_OPERANDS_SESSION_OR_FILE,
	.run = run_dump,
};
