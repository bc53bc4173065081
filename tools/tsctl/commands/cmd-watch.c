/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl watch: prints the activity of recorded processes each second. main.c runs it;
 * machine/live.c asks the daemons. Rates count the rows that a daemon took out of the rings, at no
 * cost for the processes. The activity of GPUs comes from the trace, after a flush
 * (machine/watchgpu.c).
 */
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/machine/watchgpu.h"
#include "tools/tsctl/machine/watchscreen.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/tsctl.h"

#include "proto/abi/clock.h"
#include "proto/abi/record.h"

#include <time.h>

#define HEADING_LINES 20
#define MAX_KERNELS   5u

/* Counters of a session at the last round. */
struct seen {
	uint32_t session, pid;
	char *control;
	uint64_t rows, api, kernels, copies, lost, file_bytes;
};

struct watch {
	uint32_t *pids;
	size_t n_pids;
	uint64_t n; /* 0: until the end */
	uint64_t interval_ns;
	bool json, gpu, lines, is_screen;
	struct ts_watchscreen screen;
	struct ts_live *live;
	struct seen *seen;
	size_t n_seen;
	uint64_t at_ns; /* time of the last round */
	unsigned long long n_lines;
};

static bool is_watched(const struct watch *watch, const Ts__Rpc__LiveSession *session)
{
	for (size_t i = 0; i < watch->n_pids; i++)
		if (watch->pids[i] == session->pid)
			return true;
	return !watch->n_pids;
}

static uint64_t count_of(const Ts__Rpc__LiveSession *session, const char *type)
{
	for (size_t i = 0; i < session->n_counts; i++)
		if (!strcmp(session->counts[i]->key, type))
			return session->counts[i]->value;
	return 0;
}

static uint64_t lost_of(const Ts__Rpc__LiveSession *session)
{
	uint64_t n = 0;

	for (size_t i = 0; i < session->n_lost; i++)
		n += session->lost[i]->value;
	return n;
}

static int look(const Ts__Rpc__LiveSession *session, struct seen *ret_seen)
{
	*ret_seen = (struct seen){
		.session = session->session,
		.pid = session->pid,
		.control = strdup(session->control ? session->control : ""),
		.rows = session->rows,
		.api = count_of(session, "api"),
		.kernels = count_of(session, "kernel"),
		.copies = count_of(session, "memcpy"),
		.lost = lost_of(session),
		.file_bytes = session->file_bytes,
	};
	return ret_seen->control ? 0 : -ENOMEM;
}

/* Returns NULL if the session is new. */
static const struct seen *seen_before(const struct watch *watch, const struct seen *now)
{
	for (size_t i = 0; i < watch->n_seen; i++)
		if (watch->seen[i].session == now->session && watch->seen[i].pid == now->pid &&
		    !strcmp(watch->seen[i].control, now->control))
			return &watch->seen[i];
	return NULL;
}

static double rate(uint64_t now, uint64_t before, double seconds)
{
	return now > before ? (double)(now - before) / seconds : 0;
}

static void print_rate(double rate, int width)
{
	char text[TS_OUT_FIGURE_BYTES];

	printf("  %*s", width, ts_out_count(text, (uint64_t)(rate + 0.5)));
}

static void print_line(struct watch *watch, const Ts__Rpc__LiveSession *session,
		       const Ts__Rpc__WatchLine *line)
{
	char text[TS_OUT_FIGURE_BYTES], capture[TS_LIVE_CAPTURE_BYTES];

	if (watch->n_lines++ % HEADING_LINES == 0)
		printf("%8s  %-16s  %11s  %11s  %11s  %10s  %10s  %10s  %s\n", "PID", "STATE",
		       "API/S", "KERNELS/S", "COPIES/S", "LOST", "FILE", "WAITING", "PROGRAM");
	printf("%8u  %-16s", session->pid, ts_live_state(session));
	print_rate(line->api_per_s, 11);
	print_rate(line->kernels_per_s, 11);
	print_rate(line->copies_per_s, 11);
	printf("  %10s", ts_out_count(text, lost_of(session)));
	printf("  %10s", ts_out_bytes(text, session->file_bytes));
	printf("  %10s  ", ts_out_bytes(text, session->unwritten_bytes));
	ts_out_text(stdout, session->program ? session->program : "");
	if (session->capture)
		printf("  (%s)", ts_live_capture(session->capture, session->start_monotonic_ns,
						 capture, sizeof(capture)));
	putchar('\n');
}

static struct ts_client *client_of(const struct watch *watch, const Ts__Rpc__LiveSession *session)
{
	for (size_t i = 0; i < watch->live->n_daemons; i++)
		if (session->control && !strcmp(watch->live->daemons[i].path, session->control))
			return watch->live->daemons[i].client;
	return NULL;
}

/* Adds the activity of GPUs if requested, and prints the line. */
static int finish_line(struct watch *watch, const Ts__Rpc__LiveSession *session,
		       Ts__Rpc__WatchLine *line)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	/* A process that --system observes has no rows of GPUs. */
	struct ts_client *client =
		watch->gpu && !session->host_half_only ? client_of(watch, session) : NULL;

	if (client && ts_watchgpu_fill(client, session->session, watch->interval_ns, MAX_KERNELS,
				       &pool, line))
		return TS_EXIT_BAD;
	if (watch->json)
		return ts_json_print(&line->base);
	if (watch->is_screen)
		ts_watchscreen_session(&watch->screen, line);
	else
		print_line(watch, session, line);
	return TS_EXIT_OK;
}

static int print_session(struct watch *watch, const Ts__Rpc__LiveSession *session,
			 const struct seen *now, double seconds)
{
	Ts__Rpc__WatchLine__LostEntry lost[TS_LOSS_COUNT], *lost_pointers[TS_LOSS_COUNT];
	Ts__Rpc__WatchLine line = TS__RPC__WATCH_LINE__INIT;
	const struct seen *seen = seen_before(watch, now), *before = seen ? seen : now;
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	TS_RPC_SET(&line, time_ns,
		   (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec);
	TS_RPC_SET(&line, session, session->session);
	TS_RPC_SET(&line, pid, session->pid);
	line.program = session->program;
	line.state = (char *)(uintptr_t)ts_live_state(session);
	TS_RPC_SET(&line, seconds, seconds);
	TS_RPC_SET(&line, rows, session->rows);
	TS_RPC_SET(&line, rows_per_s, rate(now->rows, before->rows, seconds));
	TS_RPC_SET(&line, api_per_s, rate(now->api, before->api, seconds));
	TS_RPC_SET(&line, kernels_per_s, rate(now->kernels, before->kernels, seconds));
	TS_RPC_SET(&line, copies_per_s, rate(now->copies, before->copies, seconds));
	TS_RPC_SET(&line, lost_since, now->lost - before->lost);
	line.lost = lost_pointers;
	for (; line.n_lost < session->n_lost && line.n_lost < TS_ARRAY_LEN(lost); line.n_lost++) {
		Ts__Rpc__WatchLine__LostEntry *entry = &lost[line.n_lost];

		ts__rpc__watch_line__lost_entry__init(entry);
		entry->key = session->lost[line.n_lost]->key;
		TS_RPC_SET(entry, value, session->lost[line.n_lost]->value);
		lost_pointers[line.n_lost] = entry;
	}
	TS_RPC_SET(&line, file_bytes, session->file_bytes);
	TS_RPC_SET(&line, file_bytes_per_s, rate(now->file_bytes, before->file_bytes, seconds));
	TS_RPC_SET(&line, unwritten_bytes, session->unwritten_bytes);
	if (session->host_half_only)
		TS_RPC_SET(&line, host_half_only, true);
	line.capture = session->capture;
	return finish_line(watch, session, &line);
}

static void forget(struct watch *watch)
{
	for (size_t i = 0; i < watch->n_seen; i++)
		free(watch->seen[i].control);
	free(watch->seen);
	watch->seen = NULL;
	watch->n_seen = 0;
}

/*
 * Visits all sessions once, and prints them if `is_shown` is true. *ret_n is the number of
 * sessions.
 */
static int round_of(struct watch *watch, bool is_shown, size_t *ret_n)
{
	uint64_t now_ns;
	double seconds;
	struct seen *seen;
	size_t n = 0;
	int r = ts_live_list(watch->live), status = TS_EXIT_OK;

	if (r)
		return r;
	now_ns = ts_clock_monotonic_ns();
	seconds = (double)(now_ns - watch->at_ns) / 1e9;
	seen = calloc(watch->live->n_sessions + 1, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	if (is_shown && watch->is_screen)
		ts_watchscreen_begin(&watch->screen);
	for (size_t i = 0; i < watch->live->n_sessions && !r && status == TS_EXIT_OK; i++) {
		const Ts__Rpc__LiveSession *session = watch->live->sessions[i];

		if (!is_watched(watch, session))
			continue;
		r = look(session, &seen[n]);
		if (!r)
			n++;
		if (!r && is_shown)
			status = print_session(watch, session, &seen[n - 1], seconds);
	}
	if (is_shown && watch->is_screen)
		ts_watchscreen_end(&watch->screen);
	forget(watch);
	watch->seen = seen;
	watch->n_seen = n;
	watch->at_ns = now_ns;
	*ret_n = n;
	if (fflush(stdout) || status != TS_EXIT_OK)
		return -EIO;
	return r;
}

static int watch_on(struct watch *watch)
{
	unsigned long long n_rounds = 0;
	struct timespec next;
	size_t n = 0;
	int r = round_of(watch, false, &n);

	if (!r && !n) {
		ts_complain(
			watch->n_pids
				? "no such process is being recorded; `tsctl sessions` lists the "
				  "recorded processes"
				: "no process is being recorded; `tsctl record` records one");
		return TS_EXIT_BAD;
	}
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!r && n && (!watch->n || n_rounds < watch->n)) {
		uint64_t at_ns = (uint64_t)next.tv_sec * UINT64_C(1000000000) +
				 (uint64_t)next.tv_nsec + watch->interval_ns;

		next.tv_sec = (time_t)(at_ns / 1000000000u);
		next.tv_nsec = (long)(at_ns % 1000000000u);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
			;
		r = round_of(watch, true, &n);
		n_rounds++;
	}
	if (r == -ENOMEM)
		ts_complain("out of memory");
	return r ? TS_EXIT_BAD : ts_finish_output(TS_EXIT_OK);
}

static int parse_interval(void *to, const struct ts_option *option, const char *text)
{
	struct watch *watch = to;

	if (ts_parse_seconds(text, &watch->interval_ns) || watch->interval_ns < 10000000u ||
	    watch->interval_ns > UINT64_C(86400000000000))
		return ts_option_complain(option, text);
	return 0;
}

static const struct ts_option command_options[] = {
	{"count", 'n', TS_OPTION_NUMBER(struct watch, n), .min = 1, .max = UINT32_MAX,
	 .metavar = "N", .label = "-n", .expects = "expected a number of updates, at least 1",
	 .help = "end after N updates", .rank = 1},
	{"interval", 'i', TS_OPTION_PARSED(parse_interval), .metavar = "TIME", .label = "-i",
	 .expects = "expected a time in seconds, or with a unit, like 200ms; at least 10ms",
	 .help = "update each TIME: seconds, or with a unit (default: 1)"},
	{"lines", TS_OPTION_LONG, TS_OPTION_FLAG(struct watch, lines),
	 .help = "print lines on a terminal, too"},
	{"json", 'j', TS_OPTION_FLAG(struct watch, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object a line"},
	{"gpu", TS_OPTION_LONG, TS_OPTION_FLAG(struct watch, gpu),
	 .help = "print the work of GPUs, too: flush the process and read\n"
		 "its new rows each time (requires --json)"},
	{0},
};

static int parse(struct watch *watch, int argc, char **argv)
{
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_watch, argc, argv, watch, &operands))
		return -EINVAL;
	return ts_live_parse_pids(&operands, &watch->pids, &watch->n_pids);
}

static int run_watch(int argc, char **argv)
{
	const char *term = secure_getenv("TERM");
	struct watch watch = {.interval_ns = UINT64_C(1000000000),
			      .is_screen = ts_term_height(stdout) && term && strcmp(term, "dumb")};
	int r = parse(&watch, argc, argv), status = TS_EXIT_BAD;

	watch.is_screen = watch.is_screen && !watch.json && !watch.lines;
	watch.gpu = watch.gpu || watch.is_screen;
	if (!r) {
		r = ts_live_new(&watch.live);
		if (r)
			ts_complain("%s", strerror(-r));
		else
			status = watch_on(&watch);
	}
	forget(&watch);
	ts_live_free(watch.live);
	free(watch.pids);
	return status;
}

const struct ts_command ts_command_watch = {
	.name = "watch",
	.summary = "print the activity of recorded processes every second",
	.text = "usage: tsctl watch [OPTION ...] [PID ...]\n"
		"\n"
		"Print every second, for each recorded process or each PID: calls, kernels and\n"
		"copies per second, losses, the size of the trace and the bytes to be written. A\n"
		"terminal is updated in place. It also shows the busy time of GPUs, the kernels\n"
		"that take the most time, and memory. Other outputs get a line each time. End\n"
		"when no process is left. An `observed` process (--system) has only calls.\n"
		"\n",
	.example = "watch -n 10",
	.help_column = 23,
	.options = command_options,
	.operands = TS_OPERANDS_PIDS,
	.run = run_watch,
};
