/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl diff: what takes longer in a second trace of a program than in the first.
 */
#include "replay/state/diff.h"

#include "proto/rpc/json.h"
#include "replay/report/doubtsjson.h"
#include "replay/report/names.h"
#include "replay/report/pool.h"
#include "tools/tsctl/jsonout.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/source.h"
#include "tools/tsctl/term.h"
#include "tools/tsctl/texts.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

#define DEFAULT_LISTED 10u
#define MAX_LISTED     (1u << 20)
#define ALPHA	       0.01
#define LEAST_PERCENT  1u

struct asked {
	unsigned long long limit, least_percent;
	bool json, mangled, wide, check;
};

struct telling {
	const struct asked *asked;
	const struct ts_diff *diff;
	struct ts_source sources[2];
	struct ts_demangler *demangler;
	struct ts_pool pool;
};

/* ---- the message ------------------------------------------------------------------------------ */

static char *copy_kind_name(struct ts_pool *pool, uint32_t kind)
{
	const char *name = ts_name_memcpy_kind(kind);

	return name ? ts_pool_copy(pool, name) : ts_pool_printf(pool, "kind %" PRIu32, kind);
}

static char *sized_name(struct ts_pool *pool, const char *what, uint32_t size_class)
{
	char from[TS_OUT_FIGURE_BYTES], to[TS_OUT_FIGURE_BYTES];

	if (!size_class)
		return ts_pool_printf(pool, "%s, 0 B", what);
	if (size_class >= 64)
		return ts_pool_printf(pool, "%s, %s or more", what,
				      ts_out_bytes(from, UINT64_C(1) << 63));
	return ts_pool_printf(pool, "%s, %s to %s", what,
			      ts_out_bytes(from, UINT64_C(1) << (size_class - 1)),
			      ts_out_bytes(to, UINT64_C(1) << size_class));
}

static char *name_text(struct telling *telling, const struct ts_diff_name *name)
{
	struct ts_pool *pool = &telling->pool;
	const char *call;

	switch (name->type) {
	case TS_ROW_KERNEL:
		return ts_pool_copy(pool, ts_demangle(telling->demangler, name->name));
	case TS_ROW_MEMCPY:
		return sized_name(pool, copy_kind_name(pool, name->kind), name->size_class);
	case TS_ROW_MEMSET:
		return sized_name(pool, "memset", name->size_class);
	default:
		call = ts_name_api(name->kind >> 16, name->kind & UINT16_MAX);
		return call ? ts_pool_copy(pool, call)
			    : ts_pool_printf(pool, "call %" PRIu32, name->kind & UINT16_MAX);
	}
}

static Ts__Rpc__DiffSide *make_side(struct ts_pool *pool, const struct ts_diff_side *side)
{
	Ts__Rpc__DiffSide *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__diff_side__init(message);
	TS_RPC_SET(message, count, side->count);
	TS_RPC_SET(message, total_ns, side->total_ns);
	TS_RPC_SET(message, min_ns, side->min_ns);
	TS_RPC_SET(message, median_ns, side->median_ns);
	TS_RPC_SET(message, max_ns, side->max_ns);
	return message;
}

static Ts__Rpc__DiffName *make_name(struct telling *telling, const struct ts_diff_name *name)
{
	Ts__Rpc__DiffName *message = ts_pool_alloc(&telling->pool, 1, sizeof(*message));
	unsigned verdict = name->verdict;

	ts__rpc__diff_name__init(message);
	message->type = ts_pool_copy(&telling->pool, ts_row_schema(name->type)->name);
	message->name = name_text(telling, name);
	message->verdict = ts_pool_copy(&telling->pool, ts_diff_verdict_name(verdict));
	message->before = make_side(&telling->pool, &name->sides[0]);
	message->after = make_side(&telling->pool, &name->sides[1]);
	if (verdict == TS_DIFF_SAME || verdict == TS_DIFF_SLOWER || verdict == TS_DIFF_FASTER) {
		TS_RPC_SET(message, p, name->p);
		TS_RPC_SET(message, slower_share, name->slower_share);
	}
	return message;
}

static Ts__Rpc__DiffOperation *make_operation(struct telling *telling, const struct ts_diff_op *op)
{
	const struct ts_diff_name *name = &telling->diff->names[op->name];
	Ts__Rpc__DiffOperation *message = ts_pool_alloc(&telling->pool, 1, sizeof(*message));

	ts__rpc__diff_operation__init(message);
	message->type = ts_pool_copy(&telling->pool, ts_row_schema(name->type)->name);
	message->name = name_text(telling, name);
	TS_RPC_SET(message, session, op->session);
	TS_RPC_SET(message, stream, op->stream);
	if (op->op_id[0]) {
		TS_RPC_SET(message, op_id_before, op->op_id[0]);
		TS_RPC_SET(message, duration_before_ns, op->duration_ns[0]);
		TS_RPC_SET(message, wait_before_ns, op->wait_ns[0]);
	}
	if (op->op_id[1]) {
		TS_RPC_SET(message, op_id_after, op->op_id[1]);
		TS_RPC_SET(message, duration_after_ns, op->duration_ns[1]);
		TS_RPC_SET(message, wait_after_ns, op->wait_ns[1]);
	}
	return message;
}

static Ts__Rpc__DiffTotal *make_total(struct telling *telling, unsigned side)
{
	const struct ts_diff_total *total = &telling->diff->totals[side];
	Ts__Rpc__DiffTotal *message = ts_pool_alloc(&telling->pool, 1, sizeof(*message));

	ts__rpc__diff_total__init(message);
	message->path = telling->sources[side].path;
	TS_RPC_SET(message, operations, total->n_ops);
	TS_RPC_SET(message, operations_ns, total->ops_ns);
	TS_RPC_SET(message, span_ns, total->span_ns);
	TS_RPC_SET(message, alone, total->n_alone);
	TS_RPC_SET(message, not_aligned, total->n_not_aligned);
	if (total->is_damaged)
		TS_RPC_SET(message, damaged, true);
	message->doubts = ts_doubtsjson_make(&telling->pool, &total->doubts);
	return message;
}

static void make_report(struct telling *telling, Ts__Rpc__DiffReport *ret_report)
{
	const struct ts_diff *diff = telling->diff;

	ts__rpc__diff_report__init(ret_report);
	ret_report->before = make_total(telling, 0);
	ret_report->after = make_total(telling, 1);
	TS_RPC_SET(ret_report, aligned, diff->n_aligned);
	ret_report->names =
		ts_pool_alloc(&telling->pool, diff->n_names + 1, sizeof(*ret_report->names));
	for (size_t i = 0; i < diff->n_names; i++)
		ret_report->names[ret_report->n_names++] = make_name(telling, &diff->names[i]);
	if (diff->has_first)
		ret_report->first_difference = make_operation(telling, &diff->first);
	ret_report->slower =
		ts_pool_alloc(&telling->pool, diff->n_slower + 1, sizeof(*ret_report->slower));
	for (size_t i = 0; i < diff->n_slower; i++)
		ret_report->slower[ret_report->n_slower++] =
			make_operation(telling, &diff->slower[i]);
}

/* ---- for people ------------------------------------------------------------------------------- */

static const char *change_text(uint64_t before, uint64_t after, char text[TS_OUT_FIGURE_BYTES])
{
	if (!before)
		return "";
	snprintf(text, TS_OUT_FIGURE_BYTES, "%+.1f %%", 100 * ((double)after / (double)before - 1));
	return text;
}

static void print_total(const char *what, const Ts__Rpc__DiffTotal *total)
{
	char count[TS_OUT_FIGURE_BYTES], sum[TS_OUT_FIGURE_BYTES], span[TS_OUT_FIGURE_BYTES];

	printf("  %s  ", what);
	ts_out_text(stdout, total->path);
	printf(": %s operations, %s of work in %s\n", ts_out_count(count, total->operations),
	       ts_out_duration(sum, total->operations_ns), ts_out_duration(span, total->span_ns));
}

static void heading(const char *text)
{
	printf("\n%s%s%s\n", ts_term_style(stdout, TS_STYLE_BOLD), text,
	       ts_term_style(stdout, TS_STYLE_PLAIN));
}

static int add_name(struct ts_table *table, const Ts__Rpc__DiffName *name)
{
	char figure[TS_OUT_FIGURE_BYTES];
	uint64_t before = name->before->total_ns, after = name->after->total_ns;

	ts_table_add(table, name->verdict);
	if (name->before->count == name->after->count)
		ts_table_add(table, ts_out_count(figure, name->before->count));
	else
		ts_table_addf(table, "%" PRIu64 " -> %" PRIu64, name->before->count,
			      name->after->count);
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

/* Of the GPU, or of the host; those alone that changed. */
static void print_names(const struct asked *asked, const Ts__Rpc__DiffReport *report, bool calls)
{
	static const char *const cells[] = {"",	     "COUNT", "IN ALL", "MEDIAN BEFORE",
					    "AFTER", "",      "P",	"NAME"};
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
			add_name(table, name);
	}
	if (!n_listed && !n_same)
		return;
	heading(calls ? "Calls" : "GPU operations");
	if (n_listed)
		ts_table_print(table, stdout, 2, asked->wide);
	if (n_more)
		printf("  %zu more: --limit 0 lists them\n", n_more);
	if (!n_same)
		return;
	printf("  %zu name%s without a provable change", n_same, n_same == 1 ? "" : "s");
	if (n_few)
		printf(", %zu for want of durations: less than %u in a trace", n_few,
		       TS_DIFF_MIN_SAMPLES);
	putchar('\n');
}

static void print_first(const Ts__Rpc__DiffReport *report)
{
	const Ts__Rpc__DiffOperation *first = report->first_difference;
	char alone_a[TS_OUT_FIGURE_BYTES], alone_b[TS_OUT_FIGURE_BYTES], pairs[TS_OUT_FIGURE_BYTES];
	uint64_t left = report->before->not_aligned + report->after->not_aligned;

	heading("Operation by operation");
	printf("  %s pairs, %s in the first trace alone, %s in the second\n",
	       ts_out_count(pairs, report->aligned), ts_out_count(alone_a, report->before->alone),
	       ts_out_count(alone_b, report->after->alone));
	if (left)
		printf("  %s were not laid side by side: there are too many, or they differ too "
		       "much\n",
		       ts_out_count(pairs, left));
	if (!first)
		return;
	printf("  They first differ in stream %" PRIu32 " of session %" PRIu32 ": ", first->stream,
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
	static const char *const cells[] = {"LONGER BY", "WAITED", "THEN", "RAN",
					    "THEN",	 "OP",	   "THEN", "NAME"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_slower || ts_table_new("rrrrrrrl", &table))
		return;
	heading("What took longer than its counterpart");
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
	char figure[TS_OUT_FIGURE_BYTES];

	print_total("before", report->before);
	print_total("after ", report->after);
	if (report->before->span_ns)
		printf("  The time from the first operation to the last changed by %s.\n",
		       change_text(report->before->span_ns, report->after->span_ns, figure));
	print_names(asked, report, false);
	print_names(asked, report, true);
	print_first(report);
	print_slower(asked, report);
	ts_text_doubts(stdout, " before", report->before->doubts);
	ts_text_doubts(stdout, " after", report->after->doubts);
}

/* ---- the command ------------------------------------------------------------------------------ */

/* Something is slower, or is there in one of them alone. */
static bool has_finding(const struct ts_diff *diff)
{
	for (size_t i = 0; i < diff->n_names; i++)
		if (diff->names[i].verdict == TS_DIFF_SLOWER ||
		    diff->names[i].verdict == TS_DIFF_GONE || diff->names[i].verdict == TS_DIFF_NEW)
			return true;
	return false;
}

static int tell(struct telling *telling)
{
	struct ts_diff_options options = {.alpha = ALPHA,
					  .least = (double)telling->asked->least_percent / 100,
					  .max_slower = (size_t)telling->asked->limit};
	struct ts_sbt_reader *const readers[2] = {telling->sources[0].reader,
						  telling->sources[1].reader};
	ts_cleanup(ts_diff_freep) struct ts_diff *diff = NULL;
	Ts__Rpc__DiffReport report;
	unsigned side;
	int status, r;

	for (side = 0; side < 2; side++)
		options.sessions[side] = telling->sources[side].session;
	r = ts_diff_read(readers, &options, &diff, &side);
	if (r) {
		ts_source_complain(telling->sources[side].path, r,
				   ts_sbt_reader_error(readers[side]));
		return TS_EXIT_BAD;
	}
	telling->diff = diff;
	make_report(telling, &report);
	if (telling->asked->json) {
		status = ts_json_print(&report.base);
	} else {
		print_report(telling->asked, &report);
		status = ts_finish_output(TS_EXIT_OK);
	}
	for (side = 0; !status && side < 2; side++)
		if (diff->totals[side].is_damaged) {
			ts_source_complain(telling->sources[side].path, TS_SBT_E_CORRUPT,
					   ts_sbt_reader_error(readers[side]));
			return TS_EXIT_BAD;
		}
	return status || !telling->asked->check || !has_finding(diff) ? status : TS_EXIT_FINDING;
}

static int apply_option(struct asked *asked, int option)
{
	switch (option) {
	case 'n':
		if (!ts_parse_number(optarg, 0, MAX_LISTED, &asked->limit))
			return 0;
		ts_complain("--limit %s: it is a number of lines, 0 to %u", optarg, MAX_LISTED);
		return -EINVAL;
	case 'l':
		if (!ts_parse_number(optarg, 0, 1000, &asked->least_percent))
			return 0;
		ts_complain("--least %s: it is a whole number of percent, 0 to 1000", optarg);
		return -EINVAL;
	case 'c':
		asked->check = true;
		return 0;
	case 'm':
		asked->mangled = true;
		return 0;
	case 'w':
		asked->wide = true;
		return 0;
	case 'j':
		asked->json = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int run_diff(int argc, char **argv)
{
	static const struct option longs[] = {
		{"limit", required_argument, NULL, 'n'},
		{"least", required_argument, NULL, 'l'},
		{"check", no_argument, NULL, 'c'},
		{"mangled", no_argument, NULL, 'm'},
		{"wide", no_argument, NULL, 'w'},
		{"json", no_argument, NULL, 'j'},
		{0},
	};
	struct asked asked = {.limit = DEFAULT_LISTED, .least_percent = LEAST_PERCENT};
	struct telling telling = {.asked = &asked, .pool = TS_TSCTL_POOL};
	int option, status = TS_EXIT_OK;

	while ((option = ts_option_next(argc, argv, ":n:wj", longs)) != -1)
		if (apply_option(&asked, option))
			return TS_EXIT_BAD;
	if (argc - optind != 2) {
		ts_complain("takes two traces: `tsctl diff before.sbt after.sbt`");
		return TS_EXIT_BAD;
	}
	/* Without one names stay as they are. */
	if (!asked.mangled)
		(void)ts_demangler_new(&telling.demangler);
	for (unsigned side = 0; !status && side < 2; side++)
		status = ts_source_open(&telling.sources[side], argv[optind + (int)side], NULL);
	if (!status)
		status = tell(&telling);
	ts_pool_deinit(&telling.pool);
	ts_demangler_free(telling.demangler);
	for (unsigned side = 0; side < 2; side++)
		ts_source_deinit(&telling.sources[side]);
	return status;
}

const struct ts_command ts_command_diff = {
	.name = "diff",
	.summary = "compare two traces of a program: what takes longer, and is it chance",
	.help = "usage: tsctl diff [OPTION ...] BEFORE AFTER\n"
		"\n"
		"Compares two traces of a program. By name: the durations of each kernel, kind\n"
		"and size of copy, and function, tested for whether they differ by more than\n"
		"chance (Mann-Whitney, p below 0.01 for all names together). One is slower or\n"
		"faster where its median moved besides. Then operation by operation: where the\n"
		"two first do something else, and what took longer than its counterpart.\n"
		"\n"
		"A test knows nothing of why: a GPU that ran at another clock is slower, too.\n"
		"Record both alike, more than once.\n"
		"\n"
		"      --least N     by how many percent a median has to move; 1 unless told\n"
		"  -n, --limit N     lines of each list, 10 unless told; 0: names, no operations\n"
		"      --check       exit with 1 where a name is slower, new or gone\n"
		"      --mangled     leave the names of kernels as the compiler made them\n"
		"  -w, --wide        do not cut lines at the terminal's width\n"
		"      --json        one JSON object, all names\n"
		"\n"
		"example: tsctl diff --check main.sbt branch.sbt\n",
	.run = run_diff,
};
