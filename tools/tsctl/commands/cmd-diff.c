/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl diff: compares two builds of a program by one or more traces of each. main.c runs it;
 * replay/report/query-diff.c answers.
 */
#include "replay/report/query-diff.h"

#include "proto/rpc/json.h"
#include "replay/state/compare/diff.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

#define DEFAULT_LISTED 10u
#define MAX_LISTED     1048576
#define LEAST_UNSET    UINT64_MAX

struct asked {
	uint64_t limit, least_percent;
	bool json, mangled, wide, check, calls;
};

struct comparison {
	const struct asked *asked;
	struct ts_source *sources[2];
	size_t n_runs[2];
	struct ts_progress progress;
	bool has_finding;
	int status;
};

/* Differs from each errno and each error of the reader. The error is printed already. */
#define E_REPORTED INT32_MIN

/* ---- for people ------------------------------------------------------------------------------ */

static const char *change_text(uint64_t before, uint64_t after, char text[TS_OUT_FIGURE_BYTES])
{
	double percent = before ? 100 * ((double)after / (double)before - 1) : 0;

	if (percent > -0.05 && percent < 0.05)
		return "";
	snprintf(text, TS_OUT_FIGURE_BYTES, "%+.1f %%", percent);
	return text;
}

static void print_side(const char *what, const Ts__Rpc__DiffTotal *total)
{
	printf("  %s  ", what);
	ts_out_text(stdout, total->path);
	if (total->runs > 1)
		printf(" and %" PRIu32 " more; numbers are averages of a run", total->runs - 1);
	putchar('\n');
}

static void add_total(struct ts_table *table, const char *what, uint64_t n_before, uint64_t n_after,
		      uint64_t ns_before, uint64_t ns_after)
{
	char figure[TS_OUT_FIGURE_BYTES];

	if (!n_before && !n_after)
		return;
	ts_table_add(table, what);
	ts_table_add(table, ts_out_count(figure, n_before));
	ts_table_add(table, ts_out_count(figure, n_after));
	ts_table_add(table, change_text(n_before, n_after, figure));
	ts_table_add(table, ts_out_duration(figure, ns_before));
	ts_table_add(table, ts_out_duration(figure, ns_after));
	ts_table_add(table, change_text(ns_before, ns_after, figure));
}

static double overlap_of(const Ts__Rpc__DiffTotal *total)
{
	return total->operations_ns
		       ? 100 * (1 - (double)total->busy_ns / (double)total->operations_ns)
		       : 0;
}

/* Prints amount and time of the work first, because users look for them first. */
static void print_totals(const Ts__Rpc__DiffReport *report)
{
	static const char *const cells[] = {"", "BEFORE", "AFTER", "", "TIME BEFORE", "AFTER", ""};
	const Ts__Rpc__DiffTotal *a = report->before, *b = report->after;
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;

	print_side("before", a);
	print_side("after ", b);
	putchar('\n');
	if (ts_table_new("lrrrrrr", &table))
		return;
	for (size_t i = 0; i < TS_ARRAY_LEN(cells); i++)
		ts_table_add(table, cells[i]);
	add_total(table, "kernels", a->kernels, b->kernels, a->kernels_ns, b->kernels_ns);
	add_total(table, "copies", a->copies, b->copies, a->copies_ns, b->copies_ns);
	add_total(table, "sets", a->sets, b->sets, a->sets_ns, b->sets_ns);
	add_total(table, "total", a->operations, b->operations, a->operations_ns, b->operations_ns);
	add_total(table, "first to last", a->operations, b->operations, a->span_ns, b->span_ns);
	ts_table_print(table, stdout, 2, false);
	if (report->overlap)
		printf("  Overlap %s: %.0f %% of the work ran beside other work before, %.0f %% after.\n",
		       report->overlap, overlap_of(a), overlap_of(b));
}

static void heading(const char *text)
{
	printf("\n%s%s%s\n", ts_term_style(stdout, TS_STYLE_BOLD), text,
	       ts_term_style(stdout, TS_STYLE_PLAIN));
}

static int add_name(struct ts_table *table, const Ts__Rpc__DiffReport *report,
		    const Ts__Rpc__DiffName *name)
{
	char figure[TS_OUT_FIGURE_BYTES];
	size_t runs[2] = {report->before->runs, report->after->runs};
	uint64_t before = ts_diff_of_run(name->before->total_ns, runs[0]);
	uint64_t after = ts_diff_of_run(name->after->total_ns, runs[1]);
	uint64_t n_before = ts_diff_of_run(name->before->count, runs[0]);
	uint64_t n_after = ts_diff_of_run(name->after->count, runs[1]);

	ts_table_add(table, name->verdict);
	if (n_before == n_after)
		ts_table_add(table, ts_out_count(figure, n_before));
	else
		ts_table_addf(table, "%" PRIu64 " -> %" PRIu64, n_before, n_after);
	ts_table_addf(table, "%s%s", after < before ? "-" : "+",
		      ts_out_duration(figure, after < before ? before - after : after - before));
	ts_table_add(table,
		     name->before->count ? ts_out_duration(figure, name->before->median_ns) : "");
	ts_table_add(table,
		     name->after->count ? ts_out_duration(figure, name->after->median_ns) : "");
	ts_table_add(table, name->after->count ? change_text(name->before->median_ns,
							     name->after->median_ns, figure)
					       : "");
	if (name->has_p)
		ts_table_addf(table, "%.2g", name->p);
	else
		ts_table_add(table, "");
	return ts_table_add(table, name->name);
}

/* Prints by how much a host time must change to count. */
static void print_trust(const Ts__Rpc__DiffReport *report, bool calls)
{
	uint32_t runs = report->before->runs < report->after->runs ? report->before->runs
								   : report->after->runs;

	if ((calls || report->host_clock) && runs < TS_SPREAD_MIN_RUNS)
		printf("  These are times of the host. They vary from run to run: with fewer than "
		       "%u traces on a side,\n  slower and faster mean %u times or more.\n",
		       TS_SPREAD_MIN_RUNS, TS_SPREAD_HOST_FACTOR);
}

/* Prints the changed names: those of GPU work, or, if `calls` is true, those of host calls. */
static void print_names(const struct asked *asked, const Ts__Rpc__DiffReport *report, bool calls)
{
	static const char *const cells[] = {"",	     "COUNT", "TOTAL", "MEDIAN BEFORE",
					    "AFTER", "",      "P",     "NAME"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	size_t n_same = 0, n_few = 0, n_listed = 0, n_more = 0;

	if (ts_table_new("lrrrrrrl", &table))
		return;
	for (size_t i = 0; i < TS_ARRAY_LEN(cells); i++)
		ts_table_add(table, cells[i]);
	for (size_t i = 0; i < report->n_names; i++) {
		const Ts__Rpc__DiffName *name = report->names[i];

		if (calls != !strcmp(name->type, "api"))
			continue;
		if (!strcmp(name->verdict, "same") || !strcmp(name->verdict, "few"))
			n_same++, n_few += !strcmp(name->verdict, "few");
		else if (asked->limit && n_listed == asked->limit)
			n_more++;
		else if (++n_listed)
			add_name(table, report, name);
	}
	if (!n_listed && !n_same)
		return;
	if (calls && !asked->calls) {
		printf("\nCalls of the host: %zu of %zu functions changed; --calls lists them.\n",
		       n_listed + n_more, n_listed + n_more + n_same);
		return;
	}
	heading(calls ? "Calls" : "GPU operations");
	if (n_listed)
		ts_table_print(table, stdout, 2, asked->wide);
	if (n_more)
		printf("  %zu more: --limit 0 lists them\n", n_more);
	print_trust(report, calls);
	if (!n_same)
		return;
	printf("  %zu name%s without a provable change", n_same, n_same == 1 ? "" : "s");
	if (n_few)
		printf(", %zu with too few durations: less than %u in a trace", n_few,
		       TS_DIFF_MIN_SAMPLES);
	putchar('\n');
}

static void print_config(const Ts__Rpc__LaunchConfig *config)
{
	printf("<<<%" PRIu32 "x%" PRIu32 "x%" PRIu32 ", %" PRIu32 "x%" PRIu32 "x%" PRIu32,
	       config->grid_x, config->grid_y, config->grid_z, config->block_x, config->block_y,
	       config->block_z);
	if (config->dynamic_shared_bytes)
		printf(", %" PRIu32, config->dynamic_shared_bytes);
	printf(">>>");
	if (config->cluster_x > 1 || config->cluster_y > 1 || config->cluster_z > 1)
		printf(" in clusters of %" PRIu32 "x%" PRIu32 "x%" PRIu32, config->cluster_x,
		       config->cluster_y, config->cluster_z);
}

static void print_configs(const struct asked *asked, const Ts__Rpc__DiffReport *report)
{
	uint64_t n = 0;

	for (size_t i = 0; i < report->n_names; i++) {
		const Ts__Rpc__DiffName *name = report->names[i];

		if ((!name->config_before && !name->config_after) ||
		    (asked->limit && n == asked->limit))
			continue;
		if (!n++)
			heading("Changed launch configurations");
		printf("  ");
		ts_out_text(stdout, name->name);
		printf(": ");
		if (name->config_before && !name->config_after) {
			printf("removed ");
			print_config(name->config_before);
		} else if (!name->config_before) {
			printf("added ");
			print_config(name->config_after);
		} else {
			print_config(name->config_before);
			printf(" -> ");
			print_config(name->config_after);
		}
		putchar('\n');
	}
}

static void print_first(const Ts__Rpc__DiffReport *report)
{
	const Ts__Rpc__DiffOperation *first = report->first_difference;
	char alone_a[TS_OUT_FIGURE_BYTES], alone_b[TS_OUT_FIGURE_BYTES], pairs[TS_OUT_FIGURE_BYTES];
	uint64_t left = report->before->not_aligned + report->after->not_aligned;

	heading("Operation by operation");
	printf("  %s pairs, %s only in the first trace, %s only in the second\n",
	       ts_out_count(pairs, report->aligned), ts_out_count(alone_a, report->before->alone),
	       ts_out_count(alone_b, report->after->alone));
	if (left)
		printf("  %s operations were not compared: they are too many, or they differ too much\n",
		       ts_out_count(pairs, left));
	if (!first)
		return;
	printf("  First difference in stream %" PRIu32 " of session %" PRIu32 ": ", first->stream,
	       first->session);
	if (first->has_op_id_before)
		printf("op %" PRIu64 " of the first trace, ", first->op_id_before);
	if (first->has_op_id_after)
		printf("op %" PRIu64 " of the second, ", first->op_id_after);
	ts_out_text(stdout, first->name);
	putchar('\n');
}

static void print_slower(const struct asked *asked, const Ts__Rpc__DiffReport *report)
{
	static const char *const cells[] = {"LONGER BY", "WAIT", "AFTER", "RUN",
					    "AFTER",	 "OP",	 "AFTER", "NAME"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_slower || ts_table_new("rrrrrrrl", &table))
		return;
	heading("Operations that took longer than their counterparts");
	for (size_t i = 0; i < TS_ARRAY_LEN(cells); i++)
		ts_table_add(table, cells[i]);
	for (size_t i = 0; i < report->n_slower; i++) {
		const Ts__Rpc__DiffOperation *op = report->slower[i];

		ts_table_add(table,
			     ts_out_duration(figure, op->duration_after_ns + op->wait_after_ns -
							     op->duration_before_ns -
							     op->wait_before_ns));
		ts_table_add(table, ts_out_duration(figure, op->wait_before_ns));
		ts_table_add(table, ts_out_duration(figure, op->wait_after_ns));
		ts_table_add(table, ts_out_duration(figure, op->duration_before_ns));
		ts_table_add(table, ts_out_duration(figure, op->duration_after_ns));
		ts_table_addf(table, "%" PRIu64, op->op_id_before);
		ts_table_addf(table, "%" PRIu64, op->op_id_after);
		ts_table_add(table, op->name);
	}
	ts_table_print(table, stdout, 2, asked->wide);
}

static void print_report(const struct asked *asked, const Ts__Rpc__DiffReport *report)
{
	print_totals(report);
	print_names(asked, report, false);
	print_configs(asked, report);
	print_names(asked, report, true);
	print_first(report);
	print_slower(asked, report);
	ts_text_doubts(stdout, " before", report->before->doubts);
	ts_text_doubts(stdout, " after", report->after->doubts);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* True for any change that is not an improvement. */
static bool has_finding(const struct asked *asked, const Ts__Rpc__DiffReport *report)
{
	static const char *const bad[] = {"slower", "gone", "new", "more", "fewer", "config"};

	if (report->overlap && !strcmp(report->overlap, "lost"))
		return true;
	for (size_t i = 0; i < report->n_names; i++)
		for (size_t j = 0; j < TS_ARRAY_LEN(bad); j++)
			if (!strcmp(report->names[i]->verdict, bad[j]) &&
			    (asked->calls || strcmp(report->names[i]->type, "api") != 0))
				return true;
	return false;
}

static void watch(struct comparison *comparison, struct ts_progress *progress)
{
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < comparison->n_runs[side]; i++)
			ts_source_watch_reader(comparison->sources[side][i].reader, progress);
}

static void end_watch(struct comparison *comparison)
{
	watch(comparison, NULL);
	ts_progress_deinit(&comparison->progress);
}

static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__DiffReport *report = (const Ts__Rpc__DiffReport *)body;
	struct comparison *comparison = data;

	end_watch(comparison);
	if (comparison->asked->json) {
		comparison->status = ts_json_print(body);
	} else {
		print_report(comparison->asked, report);
		comparison->status = ts_finish_output(TS_EXIT_OK);
	}
	comparison->has_finding = has_finding(comparison->asked, report);
	return comparison->status ? E_REPORTED : 0;
}

static int ask(struct comparison *comparison, const struct ts_query_side sides[2])
{
	const struct asked *asked = comparison->asked;
	struct ts_query_options options = {.give = give,
					   .data = comparison,
					   .no_memory = ts_no_memory};
	Ts__Rpc__DiffQuery query = TS__RPC__DIFF_QUERY__INIT;
	struct ts_query_end end;
	unsigned side;
	size_t run;
	int r;

	TS_RPC_SET(&query, limit, (uint32_t)asked->limit);
	TS_RPC_SET(&query, mangled, asked->mangled);
	if (asked->least_percent != LEAST_UNSET)
		TS_RPC_SET(&query, least_percent, (uint32_t)asked->least_percent);
	ts_progress_init(&comparison->progress, "reading rows:", 0);
	watch(comparison, &comparison->progress);
	r = ts_query_diff(sides, &query, &options, &end, &side, &run);
	end_watch(comparison);
	if (r == E_REPORTED)
		return comparison->status;
	if (r) {
		ts_source_complain(comparison->sources[side][run].path, r,
				   ts_sbt_reader_error(sides[side].readers[run]));
		return TS_EXIT_BAD;
	}
	if (end.is_damaged) {
		ts_source_complain(comparison->sources[side][run].path, TS_SBT_E_CORRUPT,
				   &end.damage);
		return TS_EXIT_BAD;
	}
	return asked->check && comparison->has_finding ? TS_EXIT_FINDING : TS_EXIT_OK;
}

static int compare(struct comparison *comparison)
{
	ts_cleanup(ts_freep) struct ts_sbt_reader **readers = NULL;
	struct ts_query_side sides[2];
	size_t n = 0;

	readers = calloc(comparison->n_runs[0] + comparison->n_runs[1],
			 sizeof(struct ts_sbt_reader *));
	if (!readers)
		ts_no_memory();
	for (unsigned side = 0; side < 2; side++) {
		sides[side] = (struct ts_query_side){.readers = readers + n,
						     .n = comparison->n_runs[side],
						     .path = comparison->sources[side][0].path};
		for (size_t run = 0; run < comparison->n_runs[side]; run++)
			readers[n++] = comparison->sources[side][run].reader;
	}
	return ask(comparison, sides);
}

static const struct ts_option command_options[] = {
	{"least", TS_OPTION_LONG, TS_OPTION_NUMBER(struct asked, least_percent), .max = 1000,
	 .metavar = "N", .expects = "expected a whole number of percent, from 0 to 1000",
	 .help = "ignore medians that move by less than N percent (default: 3\n"
		 "with one trace on a side, else 1)",
	 .rank = 1},
	{"limit", 'n', TS_OPTION_NUMBER(struct asked, limit), .max = MAX_LISTED, .metavar = "N",
	 .expects = "expected a number of lines, from 0 to " TS_OPTION_DIGITS(MAX_LISTED),
	 .help = "list at most N lines of each list (default: 10; 0: all\n"
		 "names, no operations)"},
	{"check", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, check),
	 .help = "exit with 1 if GPU work is slower, new, gone, more or less\n"
		 "frequent, of another launch configuration, or overlaps less"},
	{"calls", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, calls),
	 .help = "list calls of the host, too; --check then includes them"},
	{"mangled", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, mangled),
	 .help = "print mangled kernel names"},
	{"wide", 'w', TS_OPTION_FLAG(struct asked, wide),
	 .help = "do not cut lines at the terminal's width"},
	{"json", 'j', TS_OPTION_FLAG(struct asked, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object, with all names"},
	{0},
};

/* Opens the traces of the command line: BEFORE AFTER, or BEFORE ... vs AFTER ... */
static int open_sources(struct comparison *comparison, char **paths, size_t n)
{
	size_t n_before = n == 2 ? 1 : 0, first_after = 1;
	int status = TS_EXIT_OK;

	for (size_t i = 0; i < n && !n_before; i++)
		if (!strcmp(paths[i], "vs")) {
			n_before = i;
			first_after = i + 1;
		}
	if (!n_before || first_after >= n || n_before > TS_QUERY_DIFF_MAX_RUNS ||
	    n - first_after > TS_QUERY_DIFF_MAX_RUNS) {
		ts_complain("takes two traces, or up to %u a side with `vs` between: "
			    "`tsctl diff a1.sbt a2.sbt vs b1.sbt b2.sbt`",
			    TS_QUERY_DIFF_MAX_RUNS);
		return TS_EXIT_BAD;
	}
	for (unsigned side = 0; side < 2; side++) {
		size_t first = side ? first_after : 0, n_runs = side ? n - first_after : n_before;

		comparison->sources[side] = calloc(n_runs, sizeof(*comparison->sources[side]));
		if (!comparison->sources[side])
			ts_no_memory();
		for (size_t i = 0; !status && i < n_runs; i++) {
			comparison->n_runs[side]++;
			status = ts_source_open(&comparison->sources[side][i], paths[first + i],
						NULL);
		}
	}
	return status;
}

static int run_diff(int argc, char **argv)
{
	struct asked asked = {.limit = DEFAULT_LISTED, .least_percent = LEAST_UNSET};
	struct comparison comparison = {.asked = &asked};
	struct ts_operands operands;
	int status;

	if (ts_options_parse(&ts_command_diff, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	status = open_sources(&comparison, operands.words, operands.n);
	if (!status)
		status = compare(&comparison);
	for (unsigned side = 0; side < 2; side++) {
		for (size_t i = 0; i < comparison.n_runs[side]; i++)
			ts_source_deinit(&comparison.sources[side][i]);
		free(comparison.sources[side]);
	}
	return status;
}

const struct ts_command ts_command_diff = {
	.name = "diff",
	.summary = "compare runs of a program; find changes beyond chance",
	.text = "usage: tsctl diff [OPTION ...] BEFORE AFTER\n"
		"       tsctl diff [OPTION ...] BEFORE ... vs AFTER ...\n"
		"\n"
		"Compare traces of a program: the totals of the GPU, then each kernel and each\n"
		"kind and size of copy. `slower` and `faster` are beyond chance: p is below 0.01\n"
		"for all names together (Mann-Whitney), and the runs of the two sides differ more\n"
		"than those of one side. Then compare the first runs by operation.\n"
		"Times of the host (calls; GPU work under clock=host) vary from run to run: with\n"
		"fewer than 5 traces on a side, slower and faster mean 10 times or more.\n"
		"A lower GPU clock is slower, too. Record both sides alike, several times.\n"
		"\n",
	.example = "diff --check main1.sbt main2.sbt vs new1.sbt new2.sbt",
	.help_column = 20,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_diff,
};
