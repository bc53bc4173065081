/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl state: prints the activity of each stream, device, thread and allocation at an instant.
 * main.c runs it; replay/state computes the state.
 */
#include "proto/abi/base.h"
#include "proto/rpc/json.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/ask.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

/*
 * Limits of the text: columns of a name, and listed entries of a kind. Further entries are only
 * counted, unless --all is given.
 */
#define NEAR_COLUMNS 28u /* columns of a name */
#define MAX_LISTED   20u

struct asked {
	struct ts_asking asking;
	struct ts_time at;
	bool stacks, all, mangled, wide;
};

static void heading(const char *text, size_t n)
{
	printf("\n%s%s%s (%zu)\n", ts_term_style(stdout, TS_STYLE_BOLD), text,
	       ts_term_style(stdout, TS_STYLE_PLAIN), n);
}

static void add_all(struct ts_table *table, const char *const *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ts_table_add(table, cells[i]);
}

static size_t listed(const struct asked *asked, size_t n)
{
	return asked->all || n < MAX_LISTED ? n : MAX_LISTED;
}

static void print_more(const struct asked *asked, size_t n)
{
	if (listed(asked, n) < n)
		printf("  and %zu more: --all lists them\n", n - listed(asked, n));
}

static void print_devices(const Ts__Rpc__StateReport *report)
{
	static const char *const cells[] = {"SESSION", "DEVICE", "STATE",   "KERNELS",
					    "COPIES",  "SETS",	 "PENDING", "ALLOCATED"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char bytes[TS_OUT_FIGURE_BYTES];

	if (!report->n_devices || ts_table_new("rrlrrrrr", &table))
		return;
	heading("Devices", report->n_devices);
	add_all(table, cells, TS_ARRAY_LEN(cells));
	for (size_t i = 0; i < report->n_devices; i++) {
		const Ts__Rpc__StateDevice *device = report->devices[i];

		ts_table_addf(table, "%u", device->session);
		ts_table_addf(table, "%u", device->device);
		ts_table_add(table, device->state);
		ts_table_addf(table, "%u", device->kernels);
		ts_table_addf(table, "%u", device->copies);
		ts_table_addf(table, "%u", device->sets);
		ts_table_addf(table, "%u", device->pending);
		ts_table_add(table, ts_out_bytes(bytes, device->allocated_bytes));
	}
	ts_table_print(table, stdout, 2, true);
}

static void add_waits(struct ts_table *table, const Ts__Rpc__StateOperation *op)
{
	if (!op->waits_for)
		ts_table_add(table, "");
	else if (op->has_waits_for_event)
		ts_table_addf(table, "event 0x%" PRIx64 ", op %" PRIu64, op->waits_for_event,
			      op->waits_for_op_id);
	else
		ts_table_addf(table, "%s, op %" PRIu64, op->waits_for, op->waits_for_op_id);
}

static void add_name(struct ts_table *table, const Ts__Rpc__StateOperation *op)
{
	char shape[128] = "", unsure[128] = "", figure[TS_OUT_FIGURE_BYTES];
	size_t n = 0;

	if (op->has_grid_x)
		snprintf(shape, sizeof(shape), " <<<%ux%ux%u, %ux%ux%u>>>", op->grid_x, op->grid_y,
			 op->grid_z, op->block_x, op->block_y, op->block_z);
	else if (op->has_bytes)
		snprintf(shape, sizeof(shape), ", %s", ts_out_bytes(figure, op->bytes));
	for (size_t i = 0; i < op->n_unsure && n < sizeof(unsure); i++)
		n += (size_t)snprintf(unsure + n, sizeof(unsure) - n, "%s%s",
				      i ? ", " : " (unsure: ", op->unsure[i]);
	ts_table_addf(table, "%s%s%s%s", op->name ? op->name : "", shape, unsure, n ? ")" : "");
}

static void print_ops(const struct asked *asked, const Ts__Rpc__StateReport *report)
{
	static const char *const cells[] = {"STATE",  "FOR",	"OP",	     "SESSION",
					    "STREAM", "THREAD", "WAITS FOR", "NAME"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_operations || ts_table_new("lrrRrRll", &table))
		return;
	heading("Operations", report->n_operations);
	add_all(table, cells, TS_ARRAY_LEN(cells));
	for (size_t i = 0; i < listed(asked, report->n_operations); i++) {
		const Ts__Rpc__StateOperation *op = report->operations[i];

		ts_table_add(table, op->state);
		ts_table_add(table, ts_out_duration(figure, report->at_ns - op->since_ns));
		ts_table_addf(table, "%" PRIu64, op->op_id);
		ts_table_addf(table, "%u", op->session);
		if (op->has_stream)
			ts_table_addf(table, "%u", op->stream);
		else
			ts_table_add(table, "");
		if (op->has_tid)
			ts_table_addf(table, "%u", op->tid);
		else
			ts_table_add(table, "");
		add_waits(table, op);
		add_name(table, op);
	}
	ts_table_print(table, stdout, 2, asked->wide);
	print_more(asked, report->n_operations);
}

static void print_stack(const Ts__Rpc__StateOperation *op)
{
	if (!op->stack)
		return;
	printf("\n  op %" PRIu64 " ", op->op_id);
	ts_out_text(stdout, op->name ? op->name : "");
	printf(" was called at\n");
	ts_text_stack(op->stack, 4);
}

static void print_threads(const struct asked *asked, const Ts__Rpc__StateReport *report)
{
	static const char *const cells[] = {"THREAD",	  "FOR",       "LEFT",
					    "BLOCKED IN", "WAITS FOR", "CALL"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_threads || ts_table_new("rrRLrl", &table))
		return;
	heading("Threads in a call", report->n_threads);
	add_all(table, cells, TS_ARRAY_LEN(cells));
	for (size_t i = 0; i < listed(asked, report->n_threads); i++) {
		const Ts__Rpc__StateThread *thread = report->threads[i];

		ts_table_addf(table, "%s/%u", thread->thread_name ? thread->thread_name : "",
			      thread->tid);
		ts_table_add(table, ts_out_duration(figure, report->at_ns - thread->since_ns));
		ts_table_add(table, ts_out_duration(figure, thread->until_ns - report->at_ns));
		if (thread->has_blocked_stream)
			ts_table_addf(table, "%s, stream %u",
				      thread->blocked ? thread->blocked : "",
				      thread->blocked_stream);
		else
			ts_table_add(table, thread->blocked);
		if (thread->has_waits_for_op_id)
			ts_table_addf(table, "%" PRIu64, thread->waits_for_op_id);
		else
			ts_table_add(table, "");
		ts_table_add(table, thread->call ? thread->call : "");
	}
	ts_table_print(table, stdout, 2, asked->wide);
	print_more(asked, report->n_threads);
}

static void print_events(const struct asked *asked, const Ts__Rpc__StateReport *report)
{
	static const char *const cells[] = {"EVENT", "STREAM", "RECORDED", "DUE IN", "WAITS FOR"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_events || ts_table_new("lrrrl", &table))
		return;
	heading("Events not reached", report->n_events);
	add_all(table, cells, TS_ARRAY_LEN(cells));
	for (size_t i = 0; i < listed(asked, report->n_events); i++) {
		const Ts__Rpc__StateEvent *event = report->events[i];

		ts_table_addf(table, "0x%" PRIx64, event->event);
		ts_table_addf(table, "%u", event->stream);
		ts_table_addf(table, "%s ago",
			      ts_out_duration(figure, report->at_ns - event->recorded_ns));
		/* Behind a host function, the time is unknown. */
		if (event->due_ns)
			ts_table_add(table, ts_out_duration(figure, event->due_ns - report->at_ns));
		else
			ts_table_add(table, "?");
		ts_table_addf(table, "op %" PRIu64 "%s", event->waits_for_op_id,
			      event->n_unsure ? ", and the host" : "");
	}
	ts_table_print(table, stdout, 2, asked->wide);
	print_more(asked, report->n_events);
}

static void print_allocations(const struct asked *asked, const Ts__Rpc__StateReport *report)
{
	static const char *const cells[] = {"ADDRESS", "BYTES", "KIND", "DEVICE", "AGE"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_allocations || ts_table_new("lrlrr", &table))
		return;
	heading("Live allocations", report->n_allocations);
	add_all(table, cells, TS_ARRAY_LEN(cells));
	for (size_t i = 0; i < listed(asked, report->n_allocations); i++) {
		const Ts__Rpc__StateAllocation *allocation = report->allocations[i];

		ts_table_addf(table, "0x%" PRIx64, allocation->address);
		ts_table_add(table, ts_out_bytes(figure, allocation->bytes));
		ts_table_add(table, allocation->kind);
		if (allocation->has_device)
			ts_table_addf(table, "%u", allocation->device);
		else
			ts_table_add(table, "");
		ts_table_add(table, ts_out_duration(figure, report->at_ns - allocation->since_ns));
	}
	ts_table_print(table, stdout, 2, asked->wide);
	print_more(asked, report->n_allocations);
}

/* Prints an operation next to an instant at which no GPU works. */
static void print_near(const char *what, const Ts__Rpc__StateNear *near, uint64_t at_ns)
{
	char figure[TS_OUT_FIGURE_BYTES];
	bool is_before;

	if (!near)
		return;
	is_before = near->end_ns <= at_ns;
	printf("  %-11s  %10s %-6s  op %" PRIu64 " ", what,
	       ts_out_duration(figure, is_before ? at_ns - near->end_ns : near->start_ns - at_ns),
	       is_before ? "before" : "later", near->op_id);
	ts_out_text_cut(stdout, near->name, NEAR_COLUMNS);
	if (near->has_stream)
		printf(", stream %" PRIu32, near->stream);
	putchar('\n');
}

static void print_report(const void *data, const struct ts_about *about,
			 const ProtobufCMessage *body)
{
	const Ts__Rpc__StateReport *report = (const void *)body;
	const struct asked *asked = data;
	uint64_t origin_ns = about->origin_ns;
	char figure[TS_OUT_FIGURE_BYTES], counted[TS_OUT_COUNTED_BYTES];
	uint64_t ns = report->at_ns > origin_ns ? report->at_ns - origin_ns : 0;

	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, about->path);
	printf("%s at %s s", ts_term_style(stdout, TS_STYLE_PLAIN), ts_out_seconds(figure, ns));
	printf(": %s in progress, %s allocated\n",
	       ts_out_counted(counted, report->n_operations, "operation"),
	       ts_out_bytes(figure, report->allocated_bytes));
	print_near("last ended", report->before, report->at_ns);
	print_near("next starts", report->after, report->at_ns);
	print_devices(report);
	print_ops(asked, report);
	if (asked->stacks)
		for (size_t i = 0; i < listed(asked, report->n_operations); i++)
			print_stack(report->operations[i]);
	print_threads(asked, report);
	print_events(asked, report);
	print_allocations(asked, report);
	if (report->unknown_frees)
		printf("\n%s: the allocation of the freed memory is not in the trace.\n",
		       ts_out_counted(counted, report->unknown_frees, "free"));
	if (report->incomplete)
		printf("\nThe trace ends before all operations ended: the dependencies of "
		       "unfinished ones are unknown.\n");
}

static int ask(struct asked *asked)
{
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Query__State state = TS__RPC__QUERY__STATE__INIT;
	Ts__Rpc__Moment at;

	state.at = ts_ask_moment(&asked->at, &at);
	TS_RPC_SET(&state, stacks, asked->asking.json || asked->stacks);
	TS_RPC_SET(&state, mangled, asked->mangled);
	query.body_case = TS__RPC__QUERY__BODY_STATE;
	query.state = &state;
	asked->asking.is_one = true;
	asked->asking.print = print_report;
	asked->asking.data = asked;
	return ts_ask(&asked->asking, &query);
}

static const struct ts_option command_options[] = {
	{"at", TS_OPTION_LONG, TS_OPTION_MOMENT(struct asked, at), .metavar = "TIME",
	 .help = "print the state at this time"},
	{"stacks", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, stacks),
	 .help = "print the host stack of each operation's call"},
	{"all", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, all),
	 .help = "list all rows of each table (default: the first 20)"},
	{"mangled", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, mangled),
	 .help = "print mangled kernel names"},
	{"wide", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, wide), .help = "print full names"},
	{"session", 's', TS_OPTION_SESSION(struct asked, asking.session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{"served", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, asking.served),
	 .help = "have the daemon answer"},
	{"json", 'j', TS_OPTION_FLAG(struct asked, asking.json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_state(int argc, char **argv)
{
	struct asked asked = {0};
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_state, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	if (ts_one_trace(&operands, asked.asking.session, "state", " --at 1.5s"))
		return TS_EXIT_BAD;
	if (!asked.at.is_given) {
		ts_complain("no time; give it with --at, like --at 1.5s; `tsctl info` prints a "
			    "trace's duration");
		return TS_EXIT_BAD;
	}
	asked.asking.file = operands.words[0];
	return ask(&asked);
}

const struct ts_command ts_command_state = {
	.name = "state",
	.summary = "print the state of GPUs, streams and threads at an instant",
	.text = "usage: tsctl state --at TIME [OPTION ...] FILE | --session N\n"
		"\n"
		"Print the state at TIME: operations of each device and their dependencies,\n"
		"threads in a call, events that were not reached, live memory. If nothing ran,\n"
		"print the operations before and after TIME. TIME counts from the trace's start:\n"
		"1500 (ns) or with a unit, 12.5ms. @TIME is a time of CLOCK_MONOTONIC.\n"
		"\n"
		"An operation is `running` or in one of these states:\n"
		"  waiting           first in its stream, held back by an event, the legacy\n"
		"                    default stream or a busy engine\n"
		"  queued            behind other operations of its stream\n"
		"  dispatch_pending  no known dependency holds it back\n"
		"`unsure` gives the reason for an uncertain state; a busy engine is always one.\n"
		"\n",
	.example = "state --at 12.5ms run.sbt",
	.help_column = 20,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_state,
};
