/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl gaps: explains why streams were idle between two operations. main.c runs it; replay/report
 * answers.
 */
#include "proto/rpc/json.h"
#include "replay/report/answers/words.h"
#include "replay/state/state-clocks.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/ask.h"
#include "tools/tsctl/trace/neighbours.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

#define DEFAULT_LISTED 10u
#define MAX_LISTED     65536
#define DEFAULT_LEAST  10000u
/* Maximum number of printed parts per list; the JSON has all. */
#define MAX_PARTS 12u

struct asked {
	const char *session;
	uint64_t limit, op_id, least_ns;
	struct ts_time from, to;
	bool json, stacks, mangled, all;
};

/* ---- for people ------------------------------------------------------------------------------ */

/* Prints parts of the time `of_ns`. `of_tid`: as in ts_words_gap_part(). */
static void print_parts(const struct asked *asked, Ts__Rpc__GapPart *const *parts, size_t n,
			uint64_t of_ns, uint32_t of_tid, unsigned indent)
{
	uint64_t more_ns = 0;

	for (size_t i = 0; i < n; i++) {
		const Ts__Rpc__GapPart *part = parts[i];
		char figure[TS_OUT_FIGURE_BYTES], count[TS_OUT_FIGURE_BYTES],
			text[TS_WORDS_PART_BYTES];

		if (i >= MAX_PARTS && !asked->all) {
			more_ns += part->ns;
			continue;
		}
		ts_words_gap_part(parts, n, i, of_tid, text);
		printf("%*s%10s %5.1f %%  ", (int)indent, "", ts_out_duration(figure, part->ns),
		       of_ns ? 100.0 * (double)part->ns / (double)of_ns : 0);
		ts_out_text(stdout, text);
		if (part->count > 1)
			printf(", %s times", ts_out_count(count, part->count));
		putchar('\n');
		if (part->n_waker_did) {
			bool is_io = !strcmp(part->waker_did[0]->cause, "block_io");

			if (is_io)
				printf("%*sduring that time it was\n", (int)indent + 12, "");
			else
				printf("%*sduring that time, %s/%" PRIu32 " was\n",
				       (int)indent + 12, "", part->waker ? part->waker : "?",
				       part->waker_tid);
			print_parts(asked, part->waker_did, part->n_waker_did, part->ns,
				    is_io ? part->tid : part->waker_tid, indent + 8);
		}
	}
	if (n > MAX_PARTS && !asked->all) {
		char figure[TS_OUT_FIGURE_BYTES], counted[TS_OUT_COUNTED_BYTES];

		printf("%*s%10s          in %s: --all lists all\n", (int)indent, "",
		       ts_out_duration(figure, more_ns),
		       ts_out_counted(counted, n - MAX_PARTS, "more cause"));
	}
}

static void print_streams(const Ts__Rpc__GapsReport *report)
{
	static const char *const cells[] = {"SESSION", "DEVICE", "STREAM", "OPERATIONS", "SPAN",
					    "BUSY",    "GAPS",	 "TOTAL",  "MAIN CAUSE"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_streams || ts_table_new("rrrRrrrrl", &table))
		return;
	putchar('\n');
	for (size_t i = 0; i < TS_ARRAY_LEN(cells); i++)
		ts_table_add(table, cells[i]);
	for (size_t i = 0; i < report->n_streams; i++) {
		const Ts__Rpc__GapStream *stream = report->streams[i];
		const Ts__Rpc__GapPart *most = NULL;

		for (size_t j = 0; j < stream->n_causes; j++)
			if (!most || stream->causes[j]->ns > most->ns)
				most = stream->causes[j];
		ts_table_addf(table, "%u", stream->session);
		ts_table_addf(table, "%u", stream->device);
		ts_table_addf(table, "%u", stream->stream);
		ts_table_add(table, ts_out_count(figure, stream->operations));
		ts_table_add(table, ts_out_duration(figure, stream->span_ns));
		ts_table_add(table, ts_out_duration(figure, stream->busy_ns));
		ts_table_add(table, ts_out_count(figure, stream->gaps));
		ts_table_add(table, ts_out_duration(figure, stream->gaps_ns));
		if (most)
			ts_table_addf(table, "%s %.0f %%", most->cause,
				      100.0 * (double)most->ns / (double)stream->gaps_ns);
		else
			ts_table_add(table, "");
	}
	ts_table_print(table, stdout, 2, false);
}

/*
 * If the threads' own code is a tenth of the gaps or more, and the trace does not divide it, prints
 * how to record the division.
 */
static void print_advice(const Ts__Rpc__GapsReport *report)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < report->n_parts; i++)
		if (!strcmp(report->parts[i]->cause, "host") && !report->parts[i]->function)
			ns += report->parts[i]->ns;
	if (ns && ns >= report->gaps_ns / 10)
		ts_text_paragraph(
			stdout,
			"With `tsctl record --kernel-events`, the trace also has the code "
			"that ran, and what kept the thread off the CPU. Without root: "
			"`--kernel-events=samples`.",
			2);
}

static void print_gap(const struct asked *asked, uint64_t origin_ns, const Ts__Rpc__Gap *gap)
{
	char figure[TS_OUT_FIGURE_BYTES];
	uint64_t ns = gap->start_ns > origin_ns ? gap->start_ns - origin_ns : 0;

	printf("\n  %s", ts_out_duration(figure, gap->end_ns - gap->start_ns));
	printf(" at %s s, session %u, stream %u, before op %" PRIu64 " ",
	       ts_out_seconds(figure, ns), gap->session, gap->stream, gap->op_id);
	ts_out_text(stdout, gap->name ? gap->name : "");
	if (gap->has_tid) {
		printf(": %s by thread ", gap->call ? gap->call : "called");
		ts_out_text(stdout, gap->thread_name ? gap->thread_name : "");
		printf("/%u", gap->tid);
	}
	for (size_t i = 0; i < gap->n_unsure; i++)
		printf("%s%s", i ? ", " : " (unsure: ", gap->unsure[i]);
	printf("%s\n", gap->n_unsure ? ")" : "");
	print_parts(asked, gap->parts, gap->n_parts, gap->end_ns - gap->start_ns, gap->tid, 4);
	if (asked->stacks && gap->stack) {
		puts("    called at");
		ts_text_stack(gap->stack, 6);
	}
}

static void print_report(const void *data, const struct ts_about *about,
			 const ProtobufCMessage *body)
{
	const Ts__Rpc__GapsReport *report = (const Ts__Rpc__GapsReport *)body;
	const struct asked *asked = data;
	uint64_t origin_ns = about->origin_ns;
	char gaps_ns[TS_OUT_FIGURE_BYTES], least_ns[TS_OUT_FIGURE_BYTES], gaps[TS_OUT_FIGURE_BYTES];
	char counted[TS_OUT_COUNTED_BYTES];

	ts_out_count(gaps, report->gaps);
	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, about->path);
	printf("%s: %s of %s or more%s, %s in all\n", ts_term_style(stdout, TS_STYLE_PLAIN),
	       ts_out_counted(counted, report->gaps, "gap"),
	       ts_out_duration(least_ns, report->least_ns),
	       asked->from.is_given || asked->to.is_given ? " that overlap the window" : "",
	       ts_out_duration(gaps_ns, report->gaps_ns));
	print_streams(report);
	ts_neighbours_print(about->reader, report);
	if (report->n_parts) {
		printf("\n%sCauses of all gaps%s\n", ts_term_style(stdout, TS_STYLE_BOLD),
		       ts_term_style(stdout, TS_STYLE_PLAIN));
		print_parts(asked, report->parts, report->n_parts,
			    report->gaps_ns - report->not_looked_at_ns, 0, 2);
		print_advice(report);
	}
	if (report->n_longest)
		printf("\n%sLongest gaps%s (%zu of %s)\n", ts_term_style(stdout, TS_STYLE_BOLD),
		       ts_term_style(stdout, TS_STYLE_PLAIN), report->n_longest, gaps);
	for (size_t i = 0; i < report->n_longest; i++)
		print_gap(asked, origin_ns, report->longest[i]);
	if (report->not_looked_at)
		printf("\n%" PRIu64 " gaps, the shortest, were not analysed: there are too many. "
		       "--least ignores shorter gaps.\n",
		       report->not_looked_at);
	if (report->doubts)
		putchar('\n');
	if (ts_clocks_are_modelled(about->reader, about->session))
		ts_text_model_clock(stdout);
	ts_text_doubts(stdout, "", report->doubts);
}

static const struct ts_option command_options[] = {
	{"least", TS_OPTION_LONG, TS_OPTION_TIME(struct asked, least_ns), .max = UINT64_MAX,
	 .metavar = "TIME", .expects = "expected nanoseconds, or a time with a unit, like 50us",
	 .help = "ignore gaps shorter than TIME (default: 10us)"},
	{"op", TS_OPTION_LONG, TS_OPTION_NUMBER(struct asked, op_id), .min = 1, .max = UINT64_MAX,
	 .metavar = "N", .expects = "expected an operation's number, as in `tsctl view`",
	 .help = "print only the gap before operation N (op_id), of any length"},
	{"from", TS_OPTION_LONG, TS_OPTION_MOMENT(struct asked, from), .metavar = "TIME",
	 .help = "print only gaps that end after TIME, whole"},
	{"to", TS_OPTION_LONG, TS_OPTION_MOMENT(struct asked, to), .metavar = "TIME",
	 .help = "print only gaps that start before TIME, whole"},
	{"limit", 'n', TS_OPTION_NUMBER(struct asked, limit), .max = MAX_LISTED, .metavar = "N",
	 .expects = "expected a number of gaps, at most " TS_OPTION_DIGITS(MAX_LISTED),
	 .help = "list at most N gaps, the longest first (default: 10)"},
	{"all", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, all),
	 .help = "list all causes (default: the first 12)"},
	{"stacks", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, stacks),
	 .help = "print the host stack of each call"},
	{"mangled", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, mangled),
	 .help = "print mangled kernel names"},
	{"session", 's', TS_OPTION_SESSION(struct asked, session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{"json", 'j', TS_OPTION_FLAG(struct asked, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_gaps(int argc, char **argv)
{
	struct asked asked = {.limit = DEFAULT_LISTED, .least_ns = DEFAULT_LEAST};
	Ts__Rpc__Query__Gaps body = TS__RPC__QUERY__GAPS__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Moment from, to;
	struct ts_asking asking = {.is_one = true, .print = print_report, .data = &asked};
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_gaps, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	if (ts_one_trace(&operands, asked.session, "gaps", ""))
		return TS_EXIT_BAD;
	asking.file = operands.words[0];
	asking.session = asked.session;
	asking.json = asked.json;
	TS_RPC_SET(&body, least_ns, asked.least_ns);
	if (asked.op_id)
		TS_RPC_SET(&body, op_id, asked.op_id);
	if (asked.from.is_given)
		body.from = ts_ask_moment(&asked.from, &from);
	if (asked.to.is_given)
		body.to = ts_ask_moment(&asked.to, &to);
	TS_RPC_SET(&body, limit, (uint32_t)asked.limit);
	TS_RPC_SET(&body, stacks, asked.json || asked.stacks);
	TS_RPC_SET(&body, mangled, asked.mangled);
	query.body_case = TS__RPC__QUERY__BODY_GAPS;
	query.gaps = &body;
	return ts_ask(&asking, &query);
}

const struct ts_command ts_command_gaps = {
	.name = "gaps",
	.summary = "find the causes of gaps between operations of a stream",
	.text = "usage: tsctl gaps [OPTION ...] FILE | --session N\n"
		"\n"
		"Print the causes of each gap between two operations of a stream. Each nanosecond\n"
		"has one cause. Before the call of the second operation, the cause is in the\n"
		"calling thread: off CPU (reason, waker), page fault, system call, vendor call,\n"
		"or running (function). From the call on, the cause is a dependency on another\n"
		"stream, a busy engine (inferred), the call itself, or the way to the device. For\n"
		"a waker, its own activity is listed below, as far as it was recorded. Causes in\n"
		"threads require `tsctl record --kernel-events`. A cause begins with its\n"
		"thread, NAME/TID, unless the line above names that thread.\n"
		"\n",
	.example = "gaps --least 100us run.sbt",
	.help_column = 20,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_gaps,
};
