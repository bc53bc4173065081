/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints parts of replay/report's messages as text: see message-texts.h. Several commands and
 * viewrow.c call this file.
 */
#include "tools/tsctl/screen/message-texts.h"

#include "proto/abi/base.h"
#include "replay/report/answers/words.h"
#include "replay/report/stacks/frames.h"
#include "replay/report/stacks/short-function.h"
#include "replay/report/stacks/stackjson.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <stdio.h>

/* Prints "function file:line", or "0x1234 in file+0x12" if the trace has no symbol. */
static void print_frame(const Ts__Rpc__Stack *stack, size_t frame, unsigned int indent)
{
	char function[TS_SHORT_FUNCTION_BYTES];
	size_t n = 0;

	for (size_t i = 0; i < stack->n_symbols; i++) {
		const Ts__Rpc__StackSymbol *symbol = stack->symbols[i];

		/*
		 * Skip templates of a vendor's header that are inlined into the program's
		 * functions.
		 */
		if (symbol->frame != frame || !symbol->function || symbol->hidden ||
		    ts_frame_is_hidden(NULL, symbol->function, false))
			continue;
		printf("%*s", (int)indent, "");
		ts_out_text(stdout,
			    ts_short_function(symbol->function, function, sizeof(function)));
		if (symbol->file) {
			putchar(' ');
			ts_out_text(stdout, symbol->file);
			printf(":%" PRIu32, symbol->line);
		} else if (symbol->module) {
			printf(" in ");
			ts_out_text(stdout, symbol->module);
		}
		puts(symbol->inlined ? " (inlined)" : "");
		n++;
	}
	if (n)
		return;
	printf("%*s", (int)indent, "");
	ts_out_text(stdout, stack->frames[frame]);
	for (size_t i = 0; i < stack->n_modules; i++) {
		if (stack->modules[i]->frame != frame)
			continue;
		printf(" in ");
		ts_out_text(stdout, stack->modules[i]->path);
		printf("+0x%" PRIx64, stack->modules[i]->offset);
	}
	putchar('\n');
}

void ts_text_stack(const Ts__Rpc__Stack *stack, unsigned int indent)
{
	for (size_t i = 0; i < stack->n_frames; i++)
		if (!ts_stackjson_is_hidden(stack, i))
			print_frame(stack, i, indent);
	if (stack->truncated)
		printf("%*s... deeper frames were not recorded\n", (int)indent, "");
}

static const struct {
	const char *part, *word, *sum;
} parts[] = {
	{"compute", "compute", "kernels, sets"},
	{"copy", "copy", "copies"},
	{"launch_latency", "launch", "from its call to its start"},
	{"wait", "wait", "after its dependency"},
	{"call", "call", "in a call, not waiting"},
	{"host_gap", "host", "between two calls"},
	{"unknown", "unknown", "not recorded"},
};

const char *ts_text_part(const char *part)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(parts); i++)
		if (!strcmp(parts[i].part, part))
			return parts[i].word;
	return part;
}

const char *ts_text_part_sum(const char *part)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(parts); i++)
		if (!strcmp(parts[i].part, part))
			return parts[i].sum;
	return "";
}

void ts_text_paragraph(FILE *file, const char *text, unsigned int indent)
{
	size_t width = ts_term_width(file),
	       columns_left = width > indent + 20 ? width - indent : 20;

	while (*text) {
		size_t n = strlen(text), end = n;

		if (width && n > columns_left)
			for (end = columns_left; end && text[end] != ' ';)
				end--;
		end = end ? end : n;
		fprintf(file, "%*s%.*s\n", (int)indent, "", (int)end, text);
		text += end + (text[end] == ' ');
	}
}

void ts_text_clocks(const Ts__Rpc__ClockBounds *bounds)
{
	char host[TS_OUT_FIGURE_BYTES], device[TS_OUT_FIGURE_BYTES], between[TS_OUT_FIGURE_BYTES];

	if (!bounds || !bounds->has_between_sessions_ns)
		return;
	printf("Times have an error of at most %s on hosts, %s on GPUs and %s between processes.\n",
	       ts_out_duration(host, bounds->host_ns), ts_out_duration(device, bounds->device_ns),
	       ts_out_duration(between, bounds->between_sessions_ns));
}

void ts_text_model_clock(FILE *file)
{
	fputs(ts_words_model_clock(), file);
}

void ts_text_timed_kernels(FILE *file)
{
	fputs(ts_words_timed_kernels(), file);
}

void ts_text_doubts(FILE *file, const char *of, const Ts__Rpc__Doubts *doubts)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;

	ts_text_paragraph(file, ts_words_doubts(&pool, of, doubts), 0);
}

static void print_call(const char *what, const Ts__Rpc__MisuseCall *call, uint64_t origin_ns,
		       bool stacks)
{
	char figure[TS_OUT_FIGURE_BYTES];

	if (!call)
		return;
	printf("      %s by ", what);
	ts_out_text(stdout, call->name ? call->name : "a call that was not recorded");
	printf(", operation %" PRIu64 ", at %s s", call->op_id,
	       ts_out_seconds(figure, call->start_ns > origin_ns ? call->start_ns - origin_ns : 0));
	if (call->has_tid)
		printf(", thread %u", call->tid);
	fputs(call->error ? ": " : "", stdout);
	ts_out_text(stdout, call->error);
	putchar('\n');
	if (stacks && call->stack)
		ts_text_stack(call->stack, 14);
}

static void print_misuse(const Ts__Rpc__MemoryMisuse *misuse, uint64_t origin_ns, bool stacks)
{
	char bytes[TS_OUT_FIGURE_BYTES];

	printf("  ");
	ts_out_text(stdout, misuse->kind);
	printf(" of 0x%" PRIx64, misuse->address);
	if (misuse->has_bytes)
		printf(", %s", ts_out_bytes(bytes, misuse->bytes));
	if (misuse->has_block_bytes) {
		printf(", in %s of ", ts_out_bytes(bytes, misuse->block_bytes));
		ts_out_text(stdout, misuse->memory);
		printf(" memory at 0x%" PRIx64, misuse->block);
	}
	for (size_t i = 0; i < misuse->n_unsure; i++) {
		fputs(i ? ", " : " (unsure: ", stdout);
		ts_out_text(stdout, misuse->unsure[i]);
	}
	puts(misuse->n_unsure ? ")" : "");
	print_call("used", misuse->use, origin_ns, stacks);
	print_call("freed", misuse->freed, origin_ns, stacks);
	print_call("allocated", misuse->allocated, origin_ns, stacks);
}

static void print_pools(const Ts__Rpc__MemoryReport *report, bool wide)
{
	static const char *const cells[] = {"SESSION", "HELD",	"USED",	 "GREW",    "WITH ROOM",
					    "UNUSED",  "ASKED", "HOLES", "LARGEST", "POOL"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	size_t n = 0;

	/*
	 * The table is printed if at least one pool had unused memory at its peaks, or grew with
	 * room. Otherwise the table of groups (memory by kind and pool) already has all figures.
	 */
	for (size_t i = 0; i < report->n_pools; i++)
		n += report->pools[i]->peak_bytes != report->pools[i]->peak_used_bytes ||
		     report->pools[i]->growths_with_room;
	if (!n || ts_table_new("rrrrrrrrrl", &table))
		return;
	printf("\n%sPools%s: peaks of held and used memory; WITH ROOM: growths although enough "
	       "was unused\n",
	       ts_term_style(stdout, TS_STYLE_BOLD), ts_term_style(stdout, TS_STYLE_PLAIN));
	for (size_t i = 0; i < TS_ARRAY_LEN(cells); i++)
		ts_table_add(table, cells[i]);
	for (size_t i = 0; i < report->n_pools; i++) {
		const Ts__Rpc__PoolUse *pool = report->pools[i];

		ts_table_addf(table, "%u", pool->session);
		ts_table_add(table, ts_out_bytes(figure, pool->peak_bytes));
		ts_table_add(table, ts_out_bytes(figure, pool->peak_used_bytes));
		ts_table_add(table, ts_out_count(figure, pool->growths));
		ts_table_add(table, ts_out_count(figure, pool->growths_with_room));
		ts_table_add(table, pool->has_wasted_bytes
					    ? ts_out_bytes(figure, pool->wasted_bytes)
					    : "");
		ts_table_add(table,
			     pool->has_asked_bytes ? ts_out_bytes(figure, pool->asked_bytes) : "");
		ts_table_add(table, pool->has_holes ? ts_out_count(figure, pool->holes) : "");
		ts_table_add(table, pool->has_largest_hole_bytes
					    ? ts_out_bytes(figure, pool->largest_hole_bytes)
					    : "");
		ts_table_addf(table, "0x%" PRIx64, pool->pool);
	}
	ts_table_print(table, stdout, 2, wide);
}

void ts_text_misuses(const Ts__Rpc__MemoryReport *report, uint64_t origin_ns, bool stacks,
		     bool wide)
{
	char counted[TS_OUT_COUNTED_BYTES];

	print_pools(report, wide);
	if (report->misuse_count)
		printf("\n%sUse after free%s (%" PRIu64
		       "); arguments of kernels and graphs are not recorded\n",
		       ts_term_style(stdout, TS_STYLE_BOLD), ts_term_style(stdout, TS_STYLE_PLAIN),
		       report->misuse_count);
	for (size_t i = 0; i < report->n_misuses; i++)
		print_misuse(report->misuses[i], origin_ns, stacks);
	if (report->misuse_count > report->n_misuses)
		printf("  and %" PRIu64 " more: --limit lists them\n",
		       report->misuse_count - report->n_misuses);
	if (report->failed_unknown_frees)
		printf("\n%s failed: no earlier allocation or free of the memory is in the trace.\n",
		       ts_out_counted(counted, report->failed_unknown_frees, "free"));
}

#define MAX_ERRORS 10u /* listed */

static void print_suspects(const Ts__Rpc__CallError *error)
{
	if (!error->n_suspects)
		return;
	printf("      %s\n", error->n_suspects == 1
				     ? "the kernel launched since the last wait:"
				     : "kernels launched since the last wait, the last one first:");
	for (size_t i = 0; i < error->n_suspects; i++) {
		printf("        op %" PRIu64 " ", error->suspects[i]->op_id);
		ts_out_text(stdout, error->suspects[i]->kernel ? error->suspects[i]->kernel
							       : "a kernel that did not end");
		putchar('\n');
		if (error->suspects[i]->stack)
			ts_text_stack(error->suspects[i]->stack, 10);
	}
}

/* Prints the allocations that held the memory when an allocation failed. */
static void print_held(const Ts__Rpc__CallError *error)
{
	char bytes[TS_OUT_FIGURE_BYTES], each[TS_OUT_FIGURE_BYTES], count[TS_OUT_FIGURE_BYTES];
	char name[TS_SHORT_FUNCTION_BYTES];
	uint64_t listed_bytes = 0;
	int indent;

	if (!error->has_held_bytes)
		return;
	printf("      held on devices at that time: %s\n", ts_out_bytes(bytes, error->held_bytes));
	for (size_t i = 0; i < error->n_held_sites; i++) {
		const Ts__Rpc__MemorySite *site = error->held_sites[i];

		indent = printf("        %10s", ts_out_bytes(bytes, site->total_bytes));
		if (site->count > 1)
			indent += printf(" (%s x %s)", ts_out_count(count, site->count),
					 ts_out_bytes(each, site->bytes));
		indent += printf("  ");
		ts_out_text(stdout, ts_short_function(site->frame ? site->frame : "unknown stack",
						      name, sizeof(name)));
		putchar('\n');
		for (size_t j = 0; j < site->n_callers; j++) {
			printf("%*s  < ", indent, "");
			ts_out_text(stdout,
				    ts_short_function(site->callers[j], name, sizeof(name)));
			putchar('\n');
		}
		listed_bytes += site->total_bytes;
	}
	if (listed_bytes < error->held_bytes)
		printf("        %10s  by other calls: `tsctl memory` lists them\n",
		       ts_out_bytes(bytes, error->held_bytes - listed_bytes));
}

void ts_text_errors(size_t n, Ts__Rpc__CallError *const *errors, uint64_t failed_calls,
		    uint64_t origin_ns)
{
	char figure[TS_OUT_FIGURE_BYTES];

	if (!n)
		return;
	printf("\n%sErrors%s: %s call%s failed\n", ts_term_style(stdout, TS_STYLE_BOLD),
	       ts_term_style(stdout, TS_STYLE_PLAIN), ts_out_count(figure, failed_calls),
	       failed_calls == 1 ? "" : "s");
	for (size_t i = 0; i < n && i < MAX_ERRORS; i++) {
		const Ts__Rpc__CallError *error = errors[i];

		printf("  ");
		ts_out_text(stdout, error->name);
		printf(" = ");
		ts_out_text(stdout, error->error);
		if (error->has_bytes)
			printf(", %s requested", ts_out_bytes(figure, error->bytes));
		printf("\n      at %s s, op %" PRIu64,
		       ts_out_seconds(figure, error->start_ns > origin_ns
						      ? error->start_ns - origin_ns
						      : 0),
		       error->op_id);
		if (error->has_tid)
			printf(", thread %" PRIu32, error->tid);
		if (error->count > 1)
			printf(", %s times", ts_out_count(figure, error->count));
		putchar('\n');
		if (error->stack)
			ts_text_stack(error->stack, 6);
		print_suspects(error);
		print_held(error);
	}
	if (n > MAX_ERRORS)
		printf("  and %zu more: `tsctl view --errors` lists all\n", n - MAX_ERRORS);
}
