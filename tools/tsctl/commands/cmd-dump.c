/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl dump: what a recording has by now, as one file of its own. Meant for one that runs on and forgets.
 */
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/copyout.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <ctype.h>

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

static int parse_last(struct dump *dump, const char *text)
{
	size_t n = strlen(text);

	if (n && !isdigit((unsigned char)text[n - 1]) && !ts_time_parse(text, &dump->last_ns) &&
	    dump->last_ns)
		return 0;
	ts_complain("--last %s: it is a time with a unit, like 10s", text);
	return -EINVAL;
}

static int parse(struct dump *dump, int argc, char **argv)
{
	static const struct option longs[] = {
		{"last", required_argument, NULL, 'l'},
		{"output", required_argument, NULL, 'o'},
		{"session", required_argument, NULL, 's'},
		{0},
	};
	int option;

	while ((option = ts_option_next(argc, argv, ":o:s:", longs)) != -1) {
		if (option == 'l') {
			if (parse_last(dump, optarg))
				return -EINVAL;
		} else if (option == 'o')
			dump->output = optarg;
		else if (option == 's')
			dump->session = optarg;
		else
			return -EINVAL;
	}
	if (argc - optind != (dump->session ? 0 : 1)) {
		ts_complain("takes one session or one trace file: `tsctl dump -o now.sbt 1234`");
		return -EINVAL;
	}
	if (!dump->output) {
		ts_complain("where to? name the new trace with -o, like -o now.sbt");
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
 * Of a session: has its process flush, so that what it did last is there, and its daemon asked from now on, which may be that
 * of a `tsctl record`. Where there is none the trace is what can be had.
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
	int status, r;

	if (parse(&dump, argc, argv))
		return TS_EXIT_BAD;
	if (dump.session || access(argv[optind], F_OK))
		ask_to_flush(dump.session ? dump.session : argv[optind]);
	if (ts_source_open(&dump.source, dump.session ? NULL : argv[optind], dump.session))
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
	.summary = "write what a recording has by now as a trace",
	.help = "usage: tsctl dump [--last TIME] -o OUT SESSION | FILE\n"
		"\n"
		"Writes what a recording has so far to OUT; the recording goes on. Meant for\n"
		"`tsctl record --keep-last`, which deletes what is older. SESSION is a session's\n"
		"number or pid (`tsctl sessions`), FILE the recording's newest file: the finished\n"
		"ones before it (FILE with a number) belong to it. What was captured for replay\n"
		"is left out. Exits 0, 1 if a file is damaged (OUT has what could be read), or 2.\n"
		"\n"
		"      --last TIME   only what touches the last TIME, like 10s; see `tsctl cut`\n"
		"  -o, --output OUT  the new trace; an existing file is refused\n"
		"  -s, --session N   read a session of the daemon: its number or pid\n"
		"\n"
		"example: tsctl dump --last 10s -o slow.sbt 4711\n",
	.run = run_dump,
};
