/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl replay: runs the operations of a trace again. Here are its options and the table of executors; each executor tells its
 * results in a file of its own.
 */
#include "replay/emulate/emulate.h"
#include "tools/tsctl/replay.h"
#include "tools/tsctl/replaycheck.h"
#include "tools/tsctl/replayschedule.h"
#include "tools/tsctl/tsctl.h"

#include "proto/abi/base.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define DEFAULT_LISTED 10u
#define MAX_LISTED     1000000u
#define MAX_SECONDS    100000000u

/* The first one runs unless told otherwise. */
static const struct ts_replay_executor *const executors[] = {
	&ts_replay_emulate,
	&ts_replay_vgpu,
};

enum {
	OPT_ON = 256,
	OPT_MODE,
	OPT_STREAM,
	OPT_OPS,
	OPT_FROM,
	OPT_TO,
	OPT_WHAT_IF,
	OPT_REPEAT,
	OPT_CHECK,
	OPT_COMPARE_EVERY,
	OPT_TIME_LIMIT,
	OPT_SCHEDULES,
	OPT_DEBUG,
	OPT_SEED,
	OPT_UNORDERED_BLOCKS,
};

static int find_executor(const char *name, const struct ts_replay_executor **ret_executor)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(executors); i++)
		if (!strcmp(name, executors[i]->name)) {
			*ret_executor = executors[i];
			return 0;
		}
	ts_complain("--on %s: there is no such executor in this version; `%s` needs no GPU", name,
		    executors[0]->name);
	return -EINVAL;
}

static int parse_time(const char *option, const char *text, struct ts_time *ret_time)
{
	if (!ts_time_parse_moment(text, ret_time))
		return 0;
	ts_complain("%s %s: it is a time from the trace's start: nanoseconds, or with a unit, like "
		    "12.5ms; or @ and a time of the clock, as JSON gives it",
		    option, text);
	return -EINVAL;
}

static int parse_mode(const char *text, bool *ret_is_dry_run)
{
	if (strcmp(text, "full") && strcmp(text, "dry-run")) {
		ts_complain("--mode %s: it is `full` or `dry-run`", text);
		return -EINVAL;
	}
	*ret_is_dry_run = text[0] == 'd';
	return 0;
}

/* "7": one operation. "7..20": from one to another. */
static int parse_ops(const char *text, struct ts_replay_asked *asked)
{
	const char *dots = strstr(text, "..");
	size_t n = dots ? (size_t)(dots - text) : strlen(text);
	char first[24];
	unsigned long long from, to;

	if (n < sizeof(first)) {
		memcpy(first, text, n);
		first[n] = '\0';
		if (!ts_parse_number(first, 0, UINT64_MAX, &from) &&
		    !ts_parse_number(dots ? dots + 2 : first, from, UINT64_MAX, &to)) {
			asked->has_ops = true;
			asked->first_op = from;
			asked->last_op = to;
			return 0;
		}
	}
	ts_complain("--ops %s: it is an operation's number, as `tsctl view` has it, or two of them "
		    "with dots between: 7..20",
		    text);
	return -EINVAL;
}

static int parse_stream(const char *text, struct ts_replay_asked *asked)
{
	unsigned long long stream;

	if (ts_parse_number(text, 0, UINT32_MAX, &stream)) {
		ts_complain("--stream %s: it is a stream's number, as `tsctl view` has it", text);
		return -EINVAL;
	}
	asked->has_stream = true;
	asked->stream = (uint32_t)stream;
	return 0;
}

static int parse_repeat(const char *text, struct ts_replay_asked *asked)
{
	unsigned long long n;

	if (ts_parse_number(text, 1, 1000000, &n)) {
		ts_complain("--repeat %s: it is how often to replay, from 1 on", text);
		return -EINVAL;
	}
	asked->n_repeat = (uint32_t)n;
	return 0;
}

static int parse_schedules(const char *text, struct ts_replay_asked *asked)
{
	unsigned long long n;

	if (ts_parse_number(text, 1, 1000000, &n)) {
		ts_complain("--schedules %s: it is how many orders to try, from 1 on", text);
		return -EINVAL;
	}
	asked->n_schedules = (uint32_t)n;
	return 0;
}

static int parse_compare_every(const char *text, struct ts_replay_asked *asked)
{
	unsigned long long n;

	if (ts_parse_number(text, 1, UINT32_MAX, &n)) {
		ts_complain("--compare-every %s: it is after how many operations that write memory "
			    "it is compared, from 1 on",
			    text);
		return -EINVAL;
	}
	asked->points_every = n;
	return 0;
}

static int parse_time_limit(const char *text, struct ts_replay_asked *asked)
{
	unsigned long long n;

	if (ts_parse_number(text, 1, MAX_SECONDS, &n)) {
		ts_complain("--time-limit %s: it is how many seconds a replay may take", text);
		return -EINVAL;
	}
	asked->time_ns = n * 1000000000;
	return 0;
}

static int apply_option(struct ts_replay_asked *asked, int option,
			const struct ts_replay_executor **executor)
{
	switch (option) {
	case OPT_ON:
		return find_executor(optarg, executor);
	case OPT_MODE:
		return parse_mode(optarg, &asked->is_dry_run);
	case OPT_STREAM:
		return parse_stream(optarg, asked);
	case OPT_OPS:
		return parse_ops(optarg, asked);
	case OPT_FROM:
		asked->has_from = true;
		return parse_time("--from", optarg, &asked->from);
	case OPT_TO:
		asked->has_to = true;
		return parse_time("--to", optarg, &asked->to);
	case OPT_WHAT_IF:
		asked->what_if[asked->n_what_if++] = optarg;
		return 0;
	case 'n':
		if (!ts_parse_number(optarg, 0, MAX_LISTED, &asked->limit))
			return 0;
		ts_complain("--limit %s: it is a number of steps, at most %u", optarg, MAX_LISTED);
		return -EINVAL;
	case OPT_CHECK:
		return ts_replaycheck_parse(optarg, &asked->check);
	case OPT_REPEAT:
		return parse_repeat(optarg, asked);
	case OPT_COMPARE_EVERY:
		return parse_compare_every(optarg, asked);
	case OPT_TIME_LIMIT:
		return parse_time_limit(optarg, asked);
	case OPT_SCHEDULES:
		return parse_schedules(optarg, asked);
	case OPT_DEBUG:
		asked->debug = true;
		return 0;
	case OPT_SEED:
		asked->has_seed = true;
		return ts_replayschedule_parse(optarg, asked);
	case OPT_UNORDERED_BLOCKS:
		asked->unordered_blocks = true;
		return 0;
	case 's':
		asked->session = optarg;
		return 0;
	case 'j':
		asked->json = true;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Whether what was asked goes together. */
static int check_asked(const struct ts_replay_asked *asked,
		       const struct ts_replay_executor *executor)
{
	bool is_full = executor == &ts_replay_vgpu && !asked->is_dry_run;

	if (asked->n_what_if && (!executor->has_what_if || asked->is_dry_run)) {
		ts_complain("--what-if is for `--on emulate --mode full`: nothing else runs edits");
		return -EINVAL;
	}
	if ((asked->n_repeat || asked->points_every || asked->time_ns) &&
	    executor != &ts_replay_vgpu) {
		ts_complain("%s is for `--on vgpu`: virtual time comes out the same each time",
			    asked->n_repeat	  ? "--repeat"
			    : asked->points_every ? "--compare-every"
						  : "--time-limit");
		return -EINVAL;
	}
	if ((asked->check || asked->n_schedules) && !is_full) {
		ts_complain("%s is for `--on vgpu --mode full`: nothing else computes",
			    asked->check ? "--check" : "--schedules");
		return -EINVAL;
	}
	if ((asked->has_seed || asked->unordered_blocks) && !asked->n_schedules) {
		ts_complain("%s is for `--schedules`",
			    asked->has_seed ? "--seed" : "--unordered-blocks");
		return -EINVAL;
	}
	if (asked->n_schedules && (asked->check || asked->n_repeat || asked->points_every)) {
		ts_complain("--schedules does not go with --check, --repeat or --compare-every: "
			    "all of its replays are compared, at their ends");
		return -EINVAL;
	}
	if (asked->debug && (!is_full || asked->check || asked->n_schedules || asked->n_repeat ||
			     asked->points_every || asked->json)) {
		ts_complain("--debug is for `--on vgpu --mode full`, and goes with a selection "
			    "(--ops, --stream, --from, --to) and --time-limit alone");
		return -EINVAL;
	}
	if (asked->n_decisions && asked->n_schedules != 1) {
		ts_complain("--seed with decisions is for `--schedules 1`: they are those of one "
			    "seed");
		return -EINVAL;
	}
	return 0;
}

static int run_replay(int argc, char **argv)
{
	static const struct option longs[] = {
		{"on", required_argument, NULL, OPT_ON},
		{"mode", required_argument, NULL, OPT_MODE},
		{"stream", required_argument, NULL, OPT_STREAM},
		{"ops", required_argument, NULL, OPT_OPS},
		{"from", required_argument, NULL, OPT_FROM},
		{"to", required_argument, NULL, OPT_TO},
		{"what-if", required_argument, NULL, OPT_WHAT_IF},
		{"limit", required_argument, NULL, 'n'},
		{"repeat", required_argument, NULL, OPT_REPEAT},
		{"check", required_argument, NULL, OPT_CHECK},
		{"compare-every", required_argument, NULL, OPT_COMPARE_EVERY},
		{"time-limit", required_argument, NULL, OPT_TIME_LIMIT},
		{"schedules", required_argument, NULL, OPT_SCHEDULES},
		{"debug", no_argument, NULL, OPT_DEBUG},
		{"seed", required_argument, NULL, OPT_SEED},
		{"unordered-blocks", no_argument, NULL, OPT_UNORDERED_BLOCKS},
		{"session", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{0},
	};
	const struct ts_replay_executor *executor = executors[0];
	ts_cleanup(ts_source_deinit) struct ts_source source = {0};
	ts_cleanup(ts_freep) const char **what_if = calloc((size_t)argc, sizeof(*what_if));
	struct ts_replay_asked asked = {.limit = DEFAULT_LISTED, .what_if = what_if, .seed = 1};
	int option;

	if (!what_if) {
		ts_complain("out of memory");
		return TS_EXIT_BAD;
	}
	while ((option = ts_option_next(argc, argv, ":n:s:j", longs)) != -1)
		if (apply_option(&asked, option, &executor))
			return TS_EXIT_BAD;
	if (asked.n_what_if == 1 && !strcmp(asked.what_if[0], "help") && optind == argc) {
		fputs(ts_emulate_edit_help, stdout);
		return ts_finish_output(TS_EXIT_OK);
	}
	if (ts_one_trace(argc, asked.session, "replay", ""))
		return TS_EXIT_BAD;
	if (check_asked(&asked, executor))
		return TS_EXIT_BAD;
	if (ts_source_open(&source, asked.session ? NULL : argv[optind], asked.session))
		return TS_EXIT_BAD;
	return asked.is_dry_run ? executor->plan(&asked, &source) : executor->run(&asked, &source);
}

const struct ts_command ts_command_replay = {
	.name = "replay",
	.summary = "run the operations of a trace again, in virtual time, or edited",
	.help = "usage: tsctl replay [OPTION ...] FILE | --session N\n"
		"\n"
		"Runs a trace's operations again: how long it takes, what the time went to. On\n"
		"vgpu it exits 1 where replays differ, 3 where one differs from the capture.\n"
		"\n"
		"      --on EXECUTOR      emulate (the default): in virtual time; vgpu: what\n"
		"                         `record --capture replay` kept, on the virtual GPU\n"
		"      --what-if EDIT     emulate: run it edited: `kernel gemm*=2x`; @FILE; help\n"
		"      --repeat K         vgpu: compare K replays with each other\n"
		"      --compare-every N  vgpu: after every N operations, not at the end alone\n"
		"      --time-limit N     vgpu: give up a replay after N seconds\n"
		"      --check LIST       vgpu: find races, init (reads of what nobody wrote),\n"
		"                         bounds, order (of operations) or all; exits 1 on a find\n"
		"      --schedules N      vgpu: N other orders that a GPU may take: what depends\n"
		"                         on them (--seed S[:DECISIONS], --unordered-blocks)\n"
		"      --debug            vgpu: stop in kernels; `help` on stdin lists commands\n"
		"      --mode MODE        full, or dry-run: what would run, and what is missing\n"
		"      --stream N, --ops A[..B], --from TIME, --to TIME\n"
		"                         these operations alone, as `tsctl view` has them\n"
		"  -n, --limit N          steps of the critical path that are listed; 10\n"
		"  -s, --session N        a session of the daemon, by number or pid\n"
		"      --json             one JSON object\n"
		"\n"
		"example: tsctl replay --what-if 'kernel saxpy=2x' run.sbt\n",
	.run = run_replay,
};
