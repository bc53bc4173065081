/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl memory: prints live memory over a trace, the largest holders, and memory that was never
 * freed. main.c runs it; replay/state/memory computes the report.
 */
#include "proto/abi/base.h"
#include "proto/rpc/json.h"
#include "replay/report/pictures/picture.h"
#include "replay/report/stacks/short-function.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/trace/ask.h"
#include "tools/tsctl/trace/picturefile.h"
#include "tools/tsctl/tsctl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define DEFAULT_LISTED 10u
#define MAX_LISTED     1048576

struct asked {
	struct ts_asking asking;
	uint64_t limit;
	unsigned long long address;
	bool stacks, wide, has_address;
	unsigned int format;
	uint64_t width; /* of a picture, in pixels; 0: default */
	const char *output;
};

/* ---- for people ------------------------------------------------------------------------------ */

static void add_number(struct ts_table *table, bool is_known, uint32_t number)
{
	if (is_known)
		ts_table_addf(table, "%" PRIu32, number);
	else
		ts_table_add(table, "");
}

static void print_groups(const Ts__Rpc__MemoryReport *report, bool wide)
{
	static const char *const cells[] = {"SESSION", "DEVICE", "PEAK",   "AT END", "ALLOCS",
					    "FREES",   "POOL",	 "STREAM", "KIND"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_groups || ts_table_new("rrrrrrrrl", &table))
		return;
	putchar('\n');
	for (size_t i = 0; i < TS_ARRAY_LEN(cells); i++)
		ts_table_add(table, cells[i]);
	for (size_t i = 0; i < report->n_groups; i++) {
		const Ts__Rpc__MemoryGroup *group = report->groups[i];

		ts_table_addf(table, "%u", group->session);
		add_number(table, group->has_device, group->device);
		ts_table_add(table, ts_out_bytes(figure, group->peak_bytes));
		ts_table_add(table, ts_out_bytes(figure, group->live_bytes));
		ts_table_add(table, ts_out_count(figure, group->allocs));
		ts_table_add(table, ts_out_count(figure, group->frees));
		if (group->has_pool)
			ts_table_addf(table, "0x%" PRIx64, group->pool);
		else
			ts_table_add(table, "");
		add_number(table, group->has_stream, group->stream);
		ts_table_add(table, group->kind);
	}
	ts_table_print(table, stdout, 2, wide);
}

static void print_holders(const struct asked *asked, const char *title, uint64_t n, size_t n_listed,
			  Ts__Rpc__MemoryHolder *const *holders)
{
	char bytes[TS_OUT_FIGURE_BYTES];

	if (!n)
		return;
	printf("\n%s%s%s (%" PRIu64 ")\n", ts_term_style(stdout, TS_STYLE_BOLD), title,
	       ts_term_style(stdout, TS_STYLE_PLAIN), n);
	for (size_t i = 0; i < n_listed; i++) {
		const Ts__Rpc__MemoryHolder *holder = holders[i];

		printf("  %10s  0x%012" PRIx64 "  ", ts_out_bytes(bytes, holder->bytes),
		       holder->address);
		ts_out_text(stdout, holder->kind);
		if (holder->has_device)
			printf(", device %u", holder->device);
		if (holder->has_tid)
			printf(", thread %u", holder->tid);
		if (holder->op_id)
			printf(", op %" PRIu64, holder->op_id);
		putchar('\n');
		if (asked->stacks && holder->stack)
			ts_text_stack(holder->stack, 14);
	}
	if (n > n_listed)
		printf("  and %" PRIu64 " more: --limit lists them\n", n - n_listed);
}

/* Adds a row for each caller below the allocating frame. */
static void add_callers(struct ts_table *table, const Ts__Rpc__MemorySite *site)
{
	char name[TS_SHORT_FUNCTION_BYTES];

	for (size_t i = 0; i < site->n_callers; i++) {
		for (int column = 0; column < 3; column++)
			ts_table_add(table, "");
		ts_table_addf(table, "  < %s",
			      ts_short_function(site->callers[i], name, sizeof(name)));
	}
}

/* "4 x 16.00 MiB  make_leak (app.py:12)" */
static void print_sites(const struct asked *asked, const char *title, uint64_t n_allocations,
			size_t n, Ts__Rpc__MemorySite *const *sites)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	size_t n_listed = asked->limit && n > asked->limit ? (size_t)asked->limit : n;
	char bytes[TS_OUT_FIGURE_BYTES], count[TS_OUT_FIGURE_BYTES];
	char name[TS_SHORT_FUNCTION_BYTES];

	if (!n || ts_table_new("rrll", &table))
		return;
	printf("\n%s%s%s (%s allocation%s)\n", ts_term_style(stdout, TS_STYLE_BOLD), title,
	       ts_term_style(stdout, TS_STYLE_PLAIN), ts_out_count(count, n_allocations),
	       n_allocations == 1 ? "" : "s");
	ts_table_add(table, "BYTES");
	ts_table_add(table, "TIMES");
	ts_table_add(table, "KIND");
	ts_table_add(table, "ALLOCATED BY");
	for (size_t i = 0; i < n_listed; i++) {
		const Ts__Rpc__MemorySite *site = sites[i];

		ts_table_add(table, ts_out_bytes(bytes, site->total_bytes));
		if (site->count > 1)
			ts_table_addf(table, "%s x %s", ts_out_count(count, site->count),
				      ts_out_bytes(bytes, site->bytes));
		else
			ts_table_add(table, "");
		if (site->has_device)
			ts_table_addf(table, "%s %" PRIu32, site->kind, site->device);
		else
			ts_table_add(table, site->kind);
		ts_table_add(table, ts_short_function(site->frame ? site->frame : "unknown", name,
						      sizeof(name)));
		add_callers(table, site);
	}
	ts_table_print(table, stdout, 2, asked->wide);
	if (n > n_listed)
		printf("  and %zu more: --limit lists them\n", n - n_listed);
}

static void print_alive(const Ts__Rpc__MemoryAlive *alive, uint64_t origin_ns)
{
	char figure[TS_OUT_FIGURE_BYTES], count[TS_OUT_COUNTED_BYTES];

	printf("\n%s0x%" PRIx64 "%s, %s, from %s s", ts_term_style(stdout, TS_STYLE_BOLD),
	       alive->address, ts_term_style(stdout, TS_STYLE_PLAIN),
	       ts_out_bytes(figure, alive->bytes),
	       ts_out_seconds(count,
			      alive->start_ns > origin_ns ? alive->start_ns - origin_ns : 0));
	if (alive->has_end_ns)
		printf(" to %s s",
		       ts_out_seconds(figure,
				      alive->end_ns > origin_ns ? alive->end_ns - origin_ns : 0));
	else
		printf(", never freed");
	printf(": %s ran during this time, %s\n",
	       ts_out_counted(count, alive->kernel_count, "kernel"),
	       ts_out_duration(figure, alive->kernel_ns));
	for (size_t i = 0; i < alive->n_kernels; i++) {
		const Ts__Rpc__MemoryKernel *kernel = alive->kernels[i];

		printf("  %10s %10s times  ", ts_out_duration(figure, kernel->ns),
		       ts_out_count(count, kernel->count));
		ts_out_text_cut(stdout, kernel->name, 60);
		putchar('\n');
	}
}

/* With --kernels: prints only the allocations at that address and their kernels. */
static void print_kernels(const Ts__Rpc__MemoryReport *report, uint64_t origin_ns)
{
	char figure[TS_OUT_COUNTED_BYTES];

	if (!report->n_alive)
		puts(": no allocation has this address.");
	else
		printf(": %s with this address, in order of time\n",
		       ts_out_counted(figure, report->alive_count, "allocation"));
	for (size_t i = 0; i < report->n_alive; i++)
		print_alive(report->alive[i], origin_ns);
	if (report->n_alive < report->alive_count)
		printf("\nand %" PRIu64 " more allocations later\n",
		       report->alive_count - report->n_alive);
}

static void print_points(const Ts__Rpc__MemoryReport *report)
{
	static const char levels[] = " .:-=+*#%@";

	if (!report->peak_bytes)
		return;
	printf("  over time  [");
	for (size_t i = 0; i < report->n_points; i++) {
		uint64_t bytes = report->points[i]->bytes;
		/* A nonzero value is never shown as empty. */
		double level = (double)bytes / (double)report->peak_bytes * 9;

		putchar(levels[!bytes ? 0 : level < 1 ? 1 : level < 9 ? (int)level : 9]);
	}
	puts("]");
}

static void print_report(const void *data, const struct ts_about *about,
			 const ProtobufCMessage *body)
{
	const Ts__Rpc__MemoryReport *report = (const void *)body;
	const struct asked *asked = data;
	uint64_t origin_ns = about->origin_ns;
	char figure[TS_OUT_FIGURE_BYTES], counted[TS_OUT_COUNTED_BYTES];

	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, about->path);
	fputs(ts_term_style(stdout, TS_STYLE_PLAIN), stdout);
	if (asked->has_address) {
		print_kernels(report, origin_ns);
		return;
	}
	if (!report->n_groups && !report->unknown_frees && !report->misuse_count) {
		puts(": no memory was allocated.");
		ts_text_errors(report->n_errors, report->errors, report->failed_calls, origin_ns);
		return;
	}
	printf(": at most %s", ts_out_bytes(figure, report->peak_bytes));
	if (report->has_capacity_bytes)
		printf(" of %s", ts_out_bytes(figure, report->capacity_bytes));
	printf(" on devices");
	if (report->has_peak_ns)
		printf(", at %s s", ts_out_seconds(figure, report->peak_ns > origin_ns
								   ? report->peak_ns - origin_ns
								   : 0));
	putchar('\n');
	print_points(report);
	ts_text_errors(report->n_errors, report->errors, report->failed_calls, origin_ns);
	print_groups(report, asked->wide);
	/* With --stacks, allocations are listed one by one; otherwise by allocating function. */
	if (!asked->stacks) {
		print_sites(asked, "At the peak", report->peak_allocations, report->n_peak_sites,
			    report->peak_sites);
		print_sites(asked, "Never freed in this trace", report->never_freed_allocations,
			    report->n_never_freed_sites, report->never_freed_sites);
	} else {
		print_holders(asked, "Largest at the peak", report->peak_allocations,
			      report->n_at_peak, report->at_peak);
		print_holders(asked, "Never freed in this trace", report->never_freed_allocations,
			      report->n_never_freed, report->never_freed);
	}
	if (report->unknown_frees)
		printf("\n%s: the allocation of the freed memory is not in the trace.\n",
		       ts_out_counted(counted, report->unknown_frees, "free"));
	if (report->lost_frees)
		printf("\n%s at a live address: the earlier free is not in the trace.\n",
		       ts_out_counted(counted, report->lost_frees, "allocation"));
	ts_text_misuses(report, origin_ns, asked->stacks, asked->wide);
}

static int draw(void *data, const struct ts_about *about, const ProtobufCMessage *body)
{
	const struct asked *asked = data;
	struct ts_picture_options options;
	char *svg = NULL;
	size_t n_bytes = 0;
	int r;

	ts_picture_file_options(about, asked->width, &options);
	r = ts_picture_memory((const void *)body, &options, &svg, &n_bytes);
	return ts_picture_file_write(asked->output, asked->format, r, svg, n_bytes);
}

static int ask(struct asked *asked)
{
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Query__Memory memory = TS__RPC__QUERY__MEMORY__INIT;

	TS_RPC_SET(&memory, limit, (uint32_t)asked->limit);
	TS_RPC_SET(&memory, stacks, asked->asking.json || asked->stacks);
	if (asked->has_address)
		TS_RPC_SET(&memory, address, asked->address);
	query.body_case = TS__RPC__QUERY__BODY_MEMORY;
	query.memory = &memory;
	asked->asking.is_one = true;
	if (ts_picture_file_is_drawn(asked->format)) {
		TS_RPC_SET(&memory, points, ts_picture_parts((uint32_t)asked->width));
		asked->asking.take = draw;
	} else {
		asked->asking.print = print_report;
	}
	asked->asking.data = asked;
	return ts_ask(&asked->asking, &query);
}

static int parse_address(void *to, const struct ts_option *option, const char *text)
{
	struct asked *asked = to;
	char *end;

	errno = 0;
	asked->address = strtoull(text, &end, 0);
	asked->has_address = true;
	return errno || *end || !isdigit((unsigned char)*text) ? ts_option_complain(option, text)
							       : 0;
}

static const struct ts_option command_options[] = {
	{"limit", 'n', TS_OPTION_NUMBER(struct asked, limit), .max = MAX_LISTED, .metavar = "N",
	 .expects = "expected a number of allocations, at most " TS_OPTION_DIGITS(MAX_LISTED),
	 .help = "list at most N allocations (default: 10)"},
	{"stacks", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, stacks),
	 .help = "list allocations one by one, with the stack of each call"},
	{"wide", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, wide), .help = "print full names"},
	{"session", 's', TS_OPTION_SESSION(struct asked, asking.session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{"kernels", TS_OPTION_LONG, TS_OPTION_PARSED(parse_address), .metavar = "ADDRESS",
	 .expects = "expected an address, like 0x7f0000000000",
	 .help = "\n"
		 "print instead the kernels, by name, that ran while ADDRESS\n"
		 "was allocated; a kernel may not have used that memory",
	 .rank = 1},
	{"format", TS_OPTION_LONG, TS_OPTION_CHOICE(struct asked, format),
	 .words = ts_picture_file_formats, .metavar = "FORMAT", .expects = TS_PICTURE_FILE_EXPECTS,
	 .joint = ", "},
	{"output", 'o', TS_OPTION_FILE(struct asked, output), .metavar = "FILE",
	 .help = "\n"
		 "print text (default), json, or a picture (svg, png) to FILE"},
	{"width", 'w', TS_OPTION_NUMBER(struct asked, width), .min = TS_PICTURE_MIN_WIDTH,
	 .max = TS_PICTURE_MAX_WIDTH, .metavar = "N",
	 .expects = "expected a number of pixels, from 320 to 8192",
	 .help = "svg, png: draw N pixels wide (default: 1200)", .rank = 1},
	{"served", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, asking.served),
	 .help = "have the daemon answer"},
	{"json", 'j', TS_OPTION_FLAG(struct asked, asking.json), .is_letter_unmentioned = true,
	 .help = "print one JSON object, with the stacks"},
	{0},
};

static int run_memory(int argc, char **argv)
{
	struct asked asked = {.limit = DEFAULT_LISTED};
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_memory, argc, argv, &asked, &operands) ||
	    ts_one_trace(&operands, asked.asking.session, "memory", ""))
		return TS_EXIT_BAD;
	asked.asking.file = operands.words[0];
	if (ts_picture_file_check(asked.format, asked.output, &asked.asking.json))
		return TS_EXIT_BAD;
	return ask(&asked);
}

const struct ts_command ts_command_memory = {
	.name = "memory",
	.summary = "print the allocations at the memory peak and those never freed",
	.text = "usage: tsctl memory [OPTION ...] FILE | --session N\n"
		"\n"
		"Print failed calls, then the peak of live memory by device, kind, pool and\n"
		"allocating stream. List the allocations at the peak and those never freed, by\n"
		"the code that allocated them. Memory is live from the call that allocates it to\n"
		"the call that frees it. Then list copies, sets and frees of freed memory\n"
		"(accesses of kernels are not recorded), and pools that grew with room left.\n"
		"\n",
	.example = "memory --stacks run.sbt",
	.help_column = 20,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_memory,
};
