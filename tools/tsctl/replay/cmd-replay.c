/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl replay: runs the operations of a trace again, in this process or by the daemon. main.c runs
 * it. This file has the options and passes the resulting messages on; another file prints each kind
 * of message.
 */
#include "replay/emulate/emulate.h"
#include "replay/vgpu/executor.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/replay/progressline.h"
#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/replay/replaydebug.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/tsctl.h"

#include "proto/abi/base.h"
#include "proto/rpc/json.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#define MAX_LISTED  1000000
#define MAX_SECONDS 100000000u
#define PROGRESS_MS 200u

/* The first one is the default. */
static const struct executor {
	const char *name;
	bool has_what_if; /* in virtual time */
	bool computes;
	bool looks_inside; /* into kernels */
	bool is_served;
	const struct ts_executor *device;
} executors[] = {
	{"emulate", .has_what_if = true, .is_served = true},
	{"vgpu", .computes = true, .looks_inside = true, .is_served = true},
	{"cuda", .computes = true, .device = &ts_exec_cuda},
	{"hip", .computes = true, .device = &ts_exec_hip},
};

struct command {
	struct ts_replay_asked asked;
	const struct executor *executor;
	struct ts_progressline progress;
	bool is_progress_asked, is_help_asked, is_unordered;
};

static volatile int cancelled;

static void on_signal(int signal)
{
	cancelled = signal;
}

/* ---- what comes of it ------------------------------------------------------------------------ */

static void show_progress(struct command *command, const Ts__Rpc__ReplayProgress *from)
{
	struct ts_replay_progress_now now = {
		.doing = from->doing,
		.session = from->session,
		.replay = from->replay,
		.done = from->done,
		.all = from->all,
		.op_id = from->op_id,
	};

	snprintf(now.operation, sizeof(now.operation), "%s",
		 from->operation ? from->operation : "");
	ts_progressline_draw(&command->progress, &now);
}

/*
 * Returns TS_EXIT_OK, TS_EXIT_FINDING (nondeterminism, or a check's finding), TS_EXIT_BAD
 * (unfinished) or TS_EXIT_DIFFERS.
 */
static int status_of(const Ts__Rpc__ReplayResult *result)
{
	if (!strcmp(result->verdict, "nondeterministic") || result->n_findings)
		return TS_EXIT_FINDING;
	if (!strcmp(result->verdict, "unfinished"))
		return TS_EXIT_BAD;
	return strcmp(result->verdict, "differs") ? TS_EXIT_OK : TS_EXIT_DIFFERS;
}

static int print(const struct command *command, const Ts__Rpc__ReplayAnswer *answer)
{
	const ProtobufCMessage *message = answer->emulated	 ? &answer->emulated->base
					  : answer->plan	 ? &answer->plan->base
					  : answer->capture_plan ? &answer->capture_plan->base
								 : &answer->result->base;

	if (command->asked.json)
		return ts_json_print(message);
	if (answer->emulated)
		ts_replayemulate_print(answer->emulated);
	else if (answer->plan)
		ts_replayplan_print(answer->plan);
	else if (answer->capture_plan)
		ts_replaydry_print(answer->capture_plan);
	else
		ts_replayexec_print(answer->result);
	return ts_finish_output(TS_EXIT_OK);
}

/*
 * Handles an answer. Returns TS_EXIT_BAD to end the query. After any other result the query
 * continues, because another session may have a result.
 */
static int take_answer(void *data, const struct ts_about *about, const ProtobufCMessage *body)
{
	const Ts__Rpc__ReplayAnswer *answer = (const void *)body;
	struct command *command = data;
	int status;

	(void)about;
	if (!ts_replaywhole(answer)) {
		ts_progressline_wipe(&command->progress);
		ts_complain("the daemon's answer is invalid: a part is missing or unknown");
		return TS_EXIT_BAD;
	}
	if (answer->progress) {
		show_progress(command, answer->progress);
		return TS_EXIT_OK;
	}
	ts_progressline_wipe(&command->progress);
	if (answer->complaint) {
		ts_complain("%s", answer->complaint);
		return answer->failed ? TS_EXIT_BAD : TS_EXIT_OK;
	}
	if (answer->result) {
		status = status_of(answer->result);
		if (status > command->asked.status)
			command->asked.status = status;
	}
	return print(command, answer);
}

/* ---- options --------------------------------------------------------------------------------- */

static const char *executor_name(size_t i)
{
	return i < TS_ARRAY_LEN(executors) ? executors[i].name : NULL;
}

static int find_executor(void *to, const struct ts_option *option, const char *name)
{
	struct command *command = to;
	char names[128] = "";
	size_t n = 0;

	for (size_t i = 0; i < TS_ARRAY_LEN(executors); i++)
		if (!strcmp(name, executors[i].name)) {
			command->executor = &executors[i];
			command->asked.query.executor = (char *)(uintptr_t)executors[i].name;
			command->asked.asking.device = executors[i].device;
			return 0;
		}
	for (size_t i = 0; i < TS_ARRAY_LEN(executors); i++) {
		n += strlen(executors[i].name) + 4;
		if (n >= sizeof(names))
			break;
		strcat(names, i ? ", `" : "`");
		strcat(names, executors[i].name);
		strcat(names, "`");
	}
	ts_complain("--on %s: unknown executor; the executors are %s", name, names);
	return -EINVAL;
}

static int parse_moment(const struct ts_option *option, const char *text, Ts__Rpc__Moment *moment,
			Ts__Rpc__Moment **ret_moment)
{
	struct ts_time time;

	if (ts_time_parse_moment(text, &time))
		return ts_option_complain(option, text);
	*ret_moment = ts_ask_moment(&time, moment);
	return 0;
}

static int parse_from(void *to, const struct ts_option *option, const char *text)
{
	struct command *command = to;

	return parse_moment(option, text, &command->asked.from, &command->asked.query.from);
}

static int parse_to(void *to, const struct ts_option *option, const char *text)
{
	struct command *command = to;

	return parse_moment(option, text, &command->asked.to, &command->asked.query.to);
}

static const char *const mode_names[] = {"full", "dry-run", NULL};

static int parse_mode(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__Query__Replay *query = to;

	if (strcmp(text, mode_names[0]) && strcmp(text, mode_names[1]))
		return ts_option_complain(option, text);
	query->has_dry_run = query->dry_run = !strcmp(text, mode_names[1]);
	return 0;
}

static int parse_ops(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__Query__Replay *query = to;
	uint64_t from, last;

	if (ts_ops_parse(text, &from, &last))
		return -EINVAL;
	TS_RPC_SET(query, first_op, from);
	TS_RPC_SET(query, last_op, last);
	return 0;
}

static int parse_number(const struct ts_option *option, const char *text, unsigned long long *ret_n)
{
	return ts_parse_number(text, option->min, option->max, ret_n)
		       ? ts_option_complain(option, text)
		       : 0;
}

static int parse_stream(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__Query__Replay *query = to;
	unsigned long long stream;

	if (parse_number(option, text, &stream))
		return -EINVAL;
	TS_RPC_SET(query, stream, (uint32_t)stream);
	return 0;
}

static int parse_repeat(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__Query__Replay *query = to;
	unsigned long long n;

	if (parse_number(option, text, &n))
		return -EINVAL;
	TS_RPC_SET(query, repeat, (uint32_t)n);
	return 0;
}

static int parse_schedules(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__Query__Replay *query = to;
	unsigned long long n;

	if (parse_number(option, text, &n))
		return -EINVAL;
	TS_RPC_SET(query, schedules, (uint32_t)n);
	return 0;
}

static int parse_compare_every(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__Query__Replay *query = to;
	unsigned long long n;

	if (parse_number(option, text, &n))
		return -EINVAL;
	TS_RPC_SET(query, compare_every, n);
	return 0;
}

static int parse_time_limit(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__Query__Replay *query = to;
	unsigned long long n;

	if (parse_number(option, text, &n))
		return -EINVAL;
	TS_RPC_SET(query, time_limit_ns, n * 1000000000);
	return 0;
}

static int parse_limit(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__Query__Replay *query = to;
	unsigned long long n;

	if (parse_number(option, text, &n))
		return -EINVAL;
	TS_RPC_SET(query, limit, (uint32_t)n);
	return 0;
}

static int add_what_if(void *to, const struct ts_option *option, const char *text)
{
	struct command *command = to;

	if (strcmp(text, "help"))
		return ts_replayemulate_add(&command->asked, text);
	command->is_help_asked = true;
	return 0;
}

static int parse_check(void *to, const struct ts_option *option, const char *text)
{
	return ts_replaycheck_parse(to, text ? text : "all");
}

static int parse_seed(void *to, const struct ts_option *option, const char *text)
{
	return ts_replayschedule_parse(to, text);
}

/*
 * True if the word is a list of checks, possibly with wrong names. A word that is no option, no
 * existing file, no path and no number counts as such a list.
 */
static bool is_check_list(const char *word)
{
	unsigned long long number;

	return ts_replaycheck_is_list(word) ||
	       (*word != '-' && access(word, F_OK) && !strpbrk(word, "./") &&
		ts_parse_number(word, 0, UINT64_MAX, &number));
}

#define TO_QUERY(function) TS_OPTION_PARSED_TO(struct command, asked.query, function)
#define TO_ASKED(function) TS_OPTION_PARSED_TO(struct command, asked, function)

static const struct ts_option command_options[] = {
	{"on", TS_OPTION_LONG, TS_OPTION_PARSED(find_executor), .word_at = executor_name,
	 .metavar = "EXECUTOR",
	 .help = "emulate (default): virtual time; vgpu, cuda, hip: run a\n"
		 "capture (`record --capture replay`) with its own code"},
	{"what-if", TS_OPTION_LONG, TS_OPTION_PARSED(add_what_if), .metavar = "EDIT",
	 .names = TS_NAMES_EDIT, .help = "emulate: apply EDIT, or edits in @FILE; help: list them"},
	{"repeat", TS_OPTION_LONG, TO_QUERY(parse_repeat), .min = 1, .max = 1000000,
	 .expects = "expected a number of replays, at least 1", .metavar = "K",
	 .help = "vgpu, cuda, hip: compare K replays with each other"},
	{"compare-every", TS_OPTION_LONG, TO_QUERY(parse_compare_every), .min = 1,
	 .max = UINT32_MAX,
	 .expects = "expected a number of operations that write memory, at least 1", .metavar = "N",
	 .help = "vgpu, cuda, hip: compare after every N operations, too"},
	{"time-limit", TS_OPTION_LONG, TO_QUERY(parse_time_limit), .min = 1, .max = MAX_SECONDS,
	 .expects = "expected a number of seconds, at least 1", .metavar = "N",
	 .help = "end after N seconds (--check, --schedules: default 60)"},
	{"check", TS_OPTION_LONG, TO_ASKED(parse_check), .is_optional = true,
	 .takes = is_check_list, .words = ts_replaycheck_words, .is_list = true, .metavar = "LIST",
	 .help = "vgpu: find races, init (reads of unwritten memory),\n"
		 "bounds, order (of operations), all; exit with 1 if any"},
	{"schedules", TS_OPTION_LONG, TO_QUERY(parse_schedules), .min = 1, .max = 1000000,
	 .expects = "expected a number of orders, at least 1", .metavar = "N",
	 .help = "vgpu: try N other orders; find results that depend on\n"
		 "them (--seed S[:DECISIONS], --unordered-blocks)"},
	/* The help of --schedules has these two. */
	{"seed", TS_OPTION_LONG, TO_ASKED(parse_seed), .metavar = "S[:DECISIONS]"},
	{"unordered-blocks", TS_OPTION_LONG, TS_OPTION_FLAG(struct command, is_unordered)},
	{"debug", TS_OPTION_LONG, TS_OPTION_FLAG(struct command, asked.debug),
	 .help = "vgpu: stop in kernels; `help` on stdin lists commands"},
	{"mode", TS_OPTION_LONG, TO_QUERY(parse_mode), .words = mode_names, .metavar = "MODE",
	 .help = "full (default) or dry-run: report work and missing data"},
	{"stream", TS_OPTION_LONG, TO_QUERY(parse_stream), .max = UINT32_MAX,
	 .expects = "expected a stream's number, as in `tsctl view`", .names = TS_NAMES_STREAMS,
	 .metavar = "N", .joint = ", "},
	{"ops", TS_OPTION_LONG, TO_QUERY(parse_ops), .metavar = "A[..B]", .joint = ", "},
	{"from", TS_OPTION_LONG, TS_OPTION_PARSED(parse_from), .expects = TS_OPTION_MOMENT_EXPECTED,
	 .metavar = "TIME", .joint = ", "},
	{"to", TS_OPTION_LONG, TS_OPTION_PARSED(parse_to), .expects = TS_OPTION_MOMENT_EXPECTED,
	 .metavar = "TIME", .help = "replay only these"},
	{"limit", 'n', TO_QUERY(parse_limit), .max = MAX_LISTED,
	 .expects = "expected a number of steps, at most " TS_OPTION_DIGITS(MAX_LISTED),
	 .metavar = "N", .help = "list at most N steps of the critical path (default: 10)"},
	{"session", 's', TS_OPTION_SESSION(struct command, asked.asking.session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{"served", TS_OPTION_LONG, TS_OPTION_FLAG(struct command, asked.asking.served),
	 .help = "have an unprivileged process of the daemon replay"},
	{"json", 'j', TS_OPTION_FLAG(struct command, asked.json), .is_letter_unmentioned = true,
	 .joint = ", "},
	{"progress", TS_OPTION_LONG, TS_OPTION_FLAG(struct command, is_progress_asked),
	 .help = "print one JSON object; print progress on stderr"},
	{0},
};

static int read_environment(struct ts_replay_asked *asked)
{
	const char *threads = secure_getenv("TRACESMITH_VGPU_THREADS");

	if (!ts_vgpu_threads_parse(threads, &asked->asking.n_threads))
		return 0;
	ts_complain("TRACESMITH_VGPU_THREADS: '%s' is not a number from 1 to %d", threads,
		    TS_VGPU_MAX_THREADS);
	return -EINVAL;
}

/* Checks that the options are compatible. */
static int check_asked(const struct ts_replay_asked *asked, const struct executor *executor)
{
	const Ts__Rpc__Query__Replay *query = &asked->query;
	bool is_full = executor->looks_inside && !query->dry_run;

	if (query->n_what_if && (!executor->has_what_if || query->dry_run)) {
		ts_complain("--what-if requires `--on emulate --mode full`");
		return -EINVAL;
	}
	if ((query->repeat || query->compare_every || query->time_limit_ns) &&
	    !executor->computes) {
		ts_complain("%s requires `--on vgpu`, `--on cuda` or `--on hip`: virtual time is "
			    "the same in each replay",
			    query->repeat	   ? "--repeat"
			    : query->compare_every ? "--compare-every"
						   : "--time-limit");
		return -EINVAL;
	}
	if ((query->n_check || query->schedules) && !is_full) {
		ts_complain("%s requires `--on vgpu --mode full`",
			    query->n_check ? "--check" : "--schedules");
		return -EINVAL;
	}
	if ((query->has_seed || query->unordered_blocks) && !query->schedules) {
		ts_complain("%s requires `--schedules`",
			    query->has_seed ? "--seed" : "--unordered-blocks");
		return -EINVAL;
	}
	if (query->schedules && query->repeat && query->compare_every) {
		ts_complain("--schedules cannot be used with both --repeat and --compare-every: "
			    "in other orders, memory is compared where the host waited for all "
			    "operations");
		return -EINVAL;
	}
	if (asked->debug && (!is_full || query->n_check || query->schedules || query->repeat ||
			     query->compare_every || asked->json)) {
		ts_complain("--debug requires `--on vgpu --mode full`, and accepts only a "
			    "selection (--ops, --stream, --from, --to) and --time-limit");
		return -EINVAL;
	}
	if (asked->asking.served && (asked->debug || !executor->is_served)) {
		ts_complain("--served cannot be used with %s%s: the daemon's process has no "
			    "terminal and no device",
			    asked->debug ? "--debug" : "--on ", asked->debug ? "" : executor->name);
		return -EINVAL;
	}
	if (query->n_decisions && query->schedules != 1) {
		ts_complain("--seed with decisions requires `--schedules 1`: the decisions are "
			    "those of one seed");
		return -EINVAL;
	}
	return 0;
}

/*
 * Catches the terminating signals once, so that the results so far are printed. The debugger
 * catches each of them.
 */
static int run_asked(struct command *command)
{
	ts_cleanup(ts_replay_progress_freep) struct ts_replay_progress *progress = NULL;
	struct ts_replay_asked *asked = &command->asked;
	struct sigaction action = {
		.sa_handler = on_signal,
		.sa_flags = asked->debug ? 0 : (int)SA_RESETHAND,
	};
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	int status;

	/*
	 * setenv() must run before other threads exist. Code of a foreign trace must not stay in
	 * the user's cache of compiled code.
	 */
	if (command->executor->device)
		setenv("CUDA_CACHE_DISABLE", "1", 0);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	asked->asking.cancel = &cancelled;
	if (asked->debug)
		return ts_replaydebug_run(asked);
	ts_progressline_init(&command->progress, command->is_progress_asked);
	if (!asked->asking.served && ts_progressline_is_wanted(&command->progress))
		(void)ts_replay_progress_new(ts_progressline_draw, &command->progress, PROGRESS_MS,
					     &progress);
	asked->asking.progress = progress;
	asked->asking.take = take_answer;
	asked->asking.data = command;
	if (asked->json)
		TS_RPC_SET(&asked->query, points, true);
	query.body_case = TS__RPC__QUERY__BODY_REPLAY;
	query.replay = &asked->query;
	status = ts_ask(&asked->asking, &query);
	ts_progressline_wipe(&command->progress);
	if (!status)
		status = asked->status;
	return cancelled && (!status || status == TS_EXIT_BAD) ? TS_EXIT_SIGNAL + cancelled
							       : status;
}

static int run_replay(int argc, char **argv)
{
	struct command command = {.asked = {.pool = TS_TSCTL_POOL}, .executor = &executors[0]};
	struct ts_replay_asked *asked = &command.asked;
	struct ts_operands operands;
	int status = TS_EXIT_BAD;
	bool is_bad;

	ts__rpc__query__replay__init(&asked->query);
	asked->query.executor = (char *)(uintptr_t)executors[0].name;
	is_bad = ts_options_parse(&ts_command_replay, argc, argv, &command, &operands) != 0;
	if (command.is_unordered)
		TS_RPC_SET(&asked->query, unordered_blocks, true);
	if (!is_bad && command.is_help_asked) {
		fputs(ts_emulate_edit_help, stdout);
		status = ts_finish_output(TS_EXIT_OK);
	} else if (!is_bad && !ts_one_trace(&operands, asked->asking.session, "replay", "") &&
		   !check_asked(asked, command.executor) && !read_environment(asked)) {
		asked->asking.file = operands.words[0];
		status = run_asked(&command);
	}
	ts_pool_deinit(&asked->pool);
	if (ts_exec_cuda_is_left()) {
		(void)fflush(NULL);
		_exit(status);
	}
	return status;
}

const struct ts_command ts_command_replay = {
	.name = "replay",
	.summary = "run a trace again: what-if edits, races, order dependence",
	.text = "usage: tsctl replay [OPTION ...] FILE | --session N\n"
		"\n"
		"Run a trace's operations again. Ctrl-C ends the replay. On a GPU or vgpu, exit\n"
		"with 1 if replays differ; 2 if time ran out; 3 if one differs from the capture.\n"
		"\n",
	.example = "replay --what-if 'kernel saxpy=2x' run.sbt",
	.help_column = 25,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_replay,
};
