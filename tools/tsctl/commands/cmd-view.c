/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl view: prints the rows of a trace in time order, or their sums. main.c runs it;
 * replay/report walks and sums rows, trace/viewrow.c prints a line.
 */
#include "replay/report/answers/words.h"
#include "replay/report/names/names.h"
#include "replay/report/rows/rowjson.h"
#include "replay/report/rows/rowsums.h"
#include "replay/report/rows/rowwalk.h"
#include "replay/report/stacks/stackjson.h"
#include "replay/state/state-clocks.h"
#include "tools/tsctl/options/near.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/ask.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/trace/viewrow.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#define STEP_ROWS	 4096u
#define LAUNCHER_COLUMNS 120u /* terminal width from which launchers get a column */

/*
 * start(): the request is impossible, and the message is printed. Differs from each errno and each
 * error of the reader.
 */
#define VIEW_E_USAGE INT_MIN

/* Rows about the recording itself: left out of all sums, and of text unless requested. */
#define OWN_TYPES TS_ROW_BIT(TS_ROW_CLOCK)
/* A single sample has little information: it is summed, and printed only on request. */
#define QUIET_TYPES (OWN_TYPES | TS_ROW_BIT(TS_ROW_SAMPLE))

enum sort {
	SORT_TIME,
	SORT_DURATION
};

static const char *const sort_names[] = {[SORT_TIME] = "time", [SORT_DURATION] = "duration", NULL};

struct view {
	/* Options. */
	struct ts_asking asking;
	struct ts_time from, to;
	uint64_t limit;		       /* rows; 0: all */
	uint64_t types;		       /* 0: all */
	const char *name, *thread;     /* NULL: any */
	char *names[TS_ROW_EVENT_END]; /* of these types */
	size_t n_names;
	unsigned int sort; /* enum sort */
	bool stats, stacks, errors, mangled, wide, json;
	Ts__Rpc__RowFilter filter;
	bool is_filtered;

	/* State. */
	struct ts_source source;
	struct ts_resolver *resolver;
	struct ts_row_walk walk;
	struct ts_progress progress;
	uint64_t origin_ns;
	struct ts_viewrow line;
	uint64_t n_rows; /* rows so far */
	struct ts_json json_text;
};

static void view_deinit(struct view *view)
{
	ts_json_deinit(&view->json_text);
	ts_viewrow_deinit(&view->line);
	ts_row_walk_deinit(&view->walk);
	ts_resolver_free(view->resolver);
	ts_source_deinit(&view->source);
}

/* ---- options --------------------------------------------------------------------------------- */

static int complain_type(const char *name)
{
	const char *near = NULL;
	char all[512] = "";
	size_t least = TS_NEAR_EDITS + 1, n = 0;

	for (unsigned int type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		const struct ts_row_schema *schema = ts_row_schema(type);
		size_t distance = schema ? ts_edit_distance(name, schema->name) : SIZE_MAX;

		if (distance < least) {
			least = distance;
			near = schema->name;
		}
		if (schema && n < sizeof(all))
			n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", n ? ", " : "",
					      schema->name);
	}
	if (near)
		ts_complain("unknown row type `%s`; did you mean `%s`?", name, near);
	else
		ts_complain("unknown row type `%s`; the types are %s", name, all);
	return -EINVAL;
}

static int parse_types(void *to, const struct ts_option *option, const char *text)
{
	struct view *view = to;

	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");
		char name[32];
		unsigned int type;

		if (!n) {
			ts_complain("--type %s: a type is empty; expected types like kernel,memcpy",
				    text);
			return -EINVAL;
		}
		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		type = n < sizeof(name) ? ts_row_type_by_name(name) : 0;
		if (!type || !(TS_ROW_BIT(type) & TS_ROW_EVENTS))
			return complain_type(name);
		if (!(view->types & TS_ROW_BIT(type)))
			view->names[view->n_names++] = (char *)(uintptr_t)ts_row_schema(type)->name;
		view->types |= TS_ROW_BIT(type);
		at += n;
		if (!*at)
			return 0;
	}
}

/* Returns the type of events with index i. */
static const char *type_at(size_t i)
{
	for (unsigned int type = TS_ROW_API; type; type = ts_row_next_event(type))
		if (ts_row_schema(type) && !i--)
			return ts_row_schema(type)->name;
	return NULL;
}

static int parse_id(const struct ts_option *option, const char *text, uint32_t *ret_id)
{
	unsigned long long id;

	if (ts_parse_number(text, 0, UINT32_MAX - 1, &id))
		return ts_option_complain(option, text);
	*ret_id = (uint32_t)id;
	return 0;
}

static int parse_stream(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__RowFilter *filter = to;

	filter->has_stream = 1;
	return parse_id(option, text, &filter->stream);
}

static int parse_device(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__RowFilter *filter = to;

	filter->has_device = 1;
	return parse_id(option, text, &filter->device);
}

static int parse_ops(void *to, const struct ts_option *option, const char *text)
{
	Ts__Rpc__RowFilter *filter = to;

	filter->has_first_op = filter->has_last_op = 1;
	return ts_ops_parse(text, &filter->first_op, &filter->last_op);
}

#define ID_EXPECTED "expected a number, as in the rows"

static const struct ts_option command_options[] = {
	{"from", TS_OPTION_LONG, TS_OPTION_MOMENT(struct view, from), .metavar = "TIME",
	 .joint = ", "},
	{"to", TS_OPTION_LONG, TS_OPTION_MOMENT(struct view, to), .metavar = "TIME",
	 .help = "list rows that touch this window"},
	{"type", TS_OPTION_LONG, TS_OPTION_PARSED(parse_types), .metavar = "T[,T...]",
	 .word_at = type_at, .is_list = true,
	 .help = "list only these: api, kernel, memcpy, memset, sync, ..."},
	{"name", TS_OPTION_LONG, TS_OPTION_TEXT(struct view, name), .metavar = "TEXT",
	 .names = TS_NAMES_WORK, .help = "list names with TEXT; with * or ?, TEXT is a pattern",
	 .rank = 1},
	{"stream", TS_OPTION_LONG, TS_OPTION_PARSED_TO(struct view, filter, parse_stream),
	 .metavar = "N", .expects = ID_EXPECTED, .names = TS_NAMES_STREAMS, .joint = ", ",
	 .rank = 2},
	{"device", TS_OPTION_LONG, TS_OPTION_PARSED_TO(struct view, filter, parse_device),
	 .metavar = "N", .expects = ID_EXPECTED, .names = TS_NAMES_DEVICES, .joint = ", "},
	{"thread", TS_OPTION_LONG, TS_OPTION_TEXT(struct view, thread), .metavar = "TID|NAME",
	 .names = TS_NAMES_THREADS, .joint = ", ", .rank = 2},
	{"ops", TS_OPTION_LONG, TS_OPTION_PARSED_TO(struct view, filter, parse_ops),
	 .metavar = "A[..B]", .help = "list only these", .rank = 1},
	{"errors", TS_OPTION_LONG, TS_OPTION_FLAG(struct view, errors),
	 .help = "list only calls that returned an error"},
	{"sort", TS_OPTION_LONG, TS_OPTION_CHOICE(struct view, sort), .words = sort_names,
	 .metavar = "duration", .expects = "expected `time` or `duration`",
	 .help = "list the longest rows first (-n, default: 100)", .rank = 2},
	{"limit", 'n', TS_OPTION_NUMBER(struct view, limit), .min = 1, .max = UINT64_MAX,
	 .metavar = "N", .expects = "expected a number of rows, at least 1",
	 .help = "list at most N rows (with --stats: names in each table)"},
	{"stacks", TS_OPTION_LONG, TS_OPTION_FLAG(struct view, stacks),
	 .help = "print the host stack of each row", .rank = 1},
	{"stats", TS_OPTION_LONG, TS_OPTION_FLAG(struct view, stats),
	 .help = "print sums instead, by kernel, call, copy, range, sample"},
	{"mangled", TS_OPTION_LONG, TS_OPTION_FLAG(struct view, mangled),
	 .help = "print mangled kernel names"},
	{"wide", TS_OPTION_LONG, TS_OPTION_FLAG(struct view, wide),
	 .help = "print all columns and full names", .rank = 2},
	{"session", 's', TS_OPTION_SESSION(struct view, asking.session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{"served", TS_OPTION_LONG, TS_OPTION_FLAG(struct view, asking.served),
	 .help = "have the daemon answer (requires --json)", .rank = 2},
	{"json", 'j', TS_OPTION_FLAG(struct view, json), .is_letter_unmentioned = true,
	 .help = "print JSON lines, also of clocks and samples; with\n"
		 "--stats: one JSON object",
	 .rank = 2},
	{0},
};

/* Fills the filter from the options that are neither types nor times. */
static void fill_filter(struct view *view)
{
	Ts__Rpc__RowFilter *filter = &view->filter;

	filter->name = (char *)(uintptr_t)view->name;
	filter->thread = (char *)(uintptr_t)view->thread;
	if (view->errors)
		TS_RPC_SET(filter, errors, 1);
	view->is_filtered = filter->name || filter->thread || view->errors || filter->has_stream ||
			    filter->has_device || filter->has_first_op;
}

static int parse(struct view *view, int argc, char **argv)
{
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_view, argc, argv, view, &operands))
		return -EINVAL;
	fill_filter(view);
	if (ts_one_trace(&operands, view->asking.session, "view", ""))
		return -EINVAL;
	if (view->sort == SORT_DURATION && view->stats) {
		ts_complain("--sort duration cannot be used with --stats: sums are sorted by time");
		return -EINVAL;
	}
	if (view->sort == SORT_DURATION && view->limit > TS_ROW_LONGEST_MAX) {
		ts_complain("--limit: --sort duration lists at most %u rows", TS_ROW_LONGEST_MAX);
		return -EINVAL;
	}
	if (view->asking.served && !view->json) {
		ts_complain("--served requires --json");
		return -EINVAL;
	}
	view->asking.file = operands.words[0];
	return 0;
}

/* ---- the pass over the rows ------------------------------------------------------------------ */

/*
 * Sets the window. The trace is open: before, times from the trace's start and times of the clock
 * cannot be compared.
 */
static int set_window(struct view *view, struct ts_sbt_cursor_options *rows)
{
	/* Clock rows may precede the trace's origin. Only an explicit window excludes them. */
	if (view->from.is_given && (view->from.ns || view->from.is_absolute))
		rows->from_ns = ts_time_absolute(&view->from, view->origin_ns);
	if (!view->to.is_given)
		return 0;
	/*
	 * The option 0 would mean "no limit", so 1 replaces it; no row ends before the clock's
	 * first nanosecond.
	 */
	rows->to_ns = ts_time_absolute(&view->to, view->origin_ns);
	rows->to_ns = rows->to_ns ? rows->to_ns : 1;
	if (rows->to_ns >= rows->from_ns)
		return 0;
	ts_complain("--to is before --from");
	return -EINVAL;
}

static void step_read(void *data, uint64_t n_rows)
{
	struct view *view = data;

	ts_progress_step(&view->progress, n_rows);
}

static int start(struct view *view, struct ts_sbt_cursor_options *rows)
{
	struct ts_sbt_reader *reader = view->source.reader;
	struct ts_resolver_options names = {.mangled = view->mangled,
					    .session = view->source.session};
	int r;

	view->origin_ns = ts_sbt_reader_origin_ns(reader);
	rows->types = view->types ? view->types
				  : TS_ROW_EVENTS & ~(view->stats ? OWN_TYPES : QUIET_TYPES);
	rows->session = view->source.session;
	if (set_window(view, rows))
		return VIEW_E_USAGE;
	names.from_ns = rows->from_ns;
	/* Text output includes the launching functions. */
	names.launchers = true;
	r = ts_resolver_new(reader, &names, &view->resolver);
	if (r || view->stats)
		return r;
	r = ts_row_walk_init(&view->walk, view->resolver, rows,
			     view->is_filtered ? &view->filter : NULL,
			     view->types & TS_ROW_BIT(TS_ROW_RANGE_BEGIN));
	if (r || view->sort != SORT_DURATION)
		return r;
	return ts_row_walk_longest(&view->walk,
				   view->limit ? (size_t)view->limit : TS_ROW_LONGEST_DEFAULT,
				   step_read, view);
}

/* ---- rows as JSON ---------------------------------------------------------------------------- */

static void step(struct view *view, uint64_t n)
{
	if (n % STEP_ROWS == 0 && !isatty(STDOUT_FILENO))
		ts_progress_step(&view->progress, n);
}

static int print_rows(void *data, const struct ts_about *about, const ProtobufCMessage *body)
{
	const Ts__Rpc__RowList *list = (const void *)body;
	struct view *view = data;

	for (size_t i = 0; i < list->n_rows; i++) {
		const ProtobufCMessage *row = ts_rowjson_message(list->rows[i]);

		ts_json_clear(&view->json_text);
		if (!row || ts_json_message(&view->json_text, row)) {
			ts_complain(
				"a row cannot be printed as JSON: this version of tsctl does not "
				"know the row's type, or memory is short");
			return TS_EXIT_BAD;
		}
		ts_json_raw(&view->json_text, "\n");
		/* If the reader of the pipe has closed it, stop. */
		if (fwrite(view->json_text.data, 1, view->json_text.n_bytes, stdout) !=
		    view->json_text.n_bytes)
			return TS_EXIT_BAD;
		step(view, ++view->n_rows);
	}
	return TS_EXIT_OK;
}

/* Receives lines in any thread, one at a time. */
static int print_lines(void *data, const char *lines, size_t n_bytes)
{
	struct view *view = data;

	/* If the reader of the pipe has closed it, stop. */
	if (fwrite(lines, 1, n_bytes, stdout) != n_bytes)
		return TS_EXIT_BAD;
	if (view->progress.is_terminal && !isatty(STDOUT_FILENO))
		ts_progress_add(&view->progress, ts_count_lines(lines, n_bytes));
	return TS_EXIT_OK;
}

static int print_stats(void *data, const struct ts_about *about, const ProtobufCMessage *body)
{
	return ts_json_print(body);
}

static int view_json(struct view *view)
{
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Query__Rows rows = TS__RPC__QUERY__ROWS__INIT;
	Ts__Rpc__Query__Stats stats = TS__RPC__QUERY__STATS__INIT;
	Ts__Rpc__Moment from, to;
	int status;

	if (view->from.is_given)
		stats.from = rows.from = ts_ask_moment(&view->from, &from);
	if (view->to.is_given)
		stats.to = rows.to = ts_ask_moment(&view->to, &to);
	stats.n_types = rows.n_types = view->n_names;
	stats.types = rows.types = view->names;
	TS_RPC_SET(&rows, limit, view->limit);
	TS_RPC_SET(&rows, mangled, view->mangled);
	TS_RPC_SET(&rows, stacks, view->stacks);
	TS_RPC_SET(&rows, longest_first, view->sort == SORT_DURATION);
	stats.filter = rows.filter = view->is_filtered ? &view->filter : NULL;
	TS_RPC_SET(&stats, limit, view->limit);
	TS_RPC_SET(&stats, mangled, view->mangled);
	if (view->stats) {
		query.body_case = TS__RPC__QUERY__BODY_STATS;
		query.stats = &stats;
	} else {
		query.body_case = TS__RPC__QUERY__BODY_ROWS;
		query.rows = &rows;
	}
	view->asking.is_one = view->stats;
	view->asking.take = view->stats ? print_stats : print_rows;
	view->asking.take_lines = view->stats ? NULL : print_lines;
	view->asking.data = view;
	ts_progress_init(&view->progress, "reading rows:", 0);
	status = ts_ask(&view->asking, &query);
	ts_progress_deinit(&view->progress);
	return ts_finish_output(status);
}

/* ---- rows for people ------------------------------------------------------------------------- */

static int view_rows(struct view *view)
{
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = 0;

	ts_viewrow_init(&view->line, view->resolver, view->wide, view->stacks);
	while (!view->limit || n < view->limit) {
		r = ts_row_walk_next(&view->walk, &row);
		if (r)
			break;
		if (!view->n_rows++)
			ts_viewrow_heading(&view->line);
		ts_viewrow_print(&view->line, &row);
		if (ferror(stdout))
			return 0;
		step(view, ++n);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static const char *const sum_titles[TS_SUM_COUNT] = {"Kernels",	  "API calls",	     "Copies",
						     "Sets",	  "Waits",	     "On CPU",
						     "Off CPU",	  "Page faults",     "System calls",
						     "Block I/O", "Memory pressure", "GPU drivers",
						     "Ranges"};

/* Adds the code that launched the work: as a column if there is room, otherwise as a line below. */
static void add_launcher(struct ts_table *table, const Ts__Rpc__Aggregate *sum, bool is_column)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	const char *text =
		ts_words_launchers(&pool, sum->n_launched_by, sum->launched_by, sum->launch_sites);

	if (is_column)
		ts_table_add(table, text);
	ts_table_add(table, sum->name);
	if (!is_column && *text)
		ts_table_note(table, ts_pool_printf(&pool, "by %s", text));
}

static void print_sum(const struct view *view, const char *title, size_t n,
		      Ts__Rpc__Aggregate *const *messages, uint64_t all_ns, bool bytes)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	static const char *const headings[] = {"SHARE",	 "TOTAL", "COUNT", "MEAN",
					       "MEDIAN", "P99",	  "MAX"};
	const unsigned int width = view->wide ? 0 : ts_term_width(stdout);
	char text[TS_OUT_FIGURE_BYTES], columns[16];
	bool launched = false;

	for (size_t i = 0; i < n; i++)
		launched = launched || messages[i]->n_launched_by;
	launched = launched && (!width || width >= LAUNCHER_COLUMNS);
	snprintf(columns, sizeof(columns), "rrrRrRR%s%sl", bytes ? "r" : "", launched ? "s" : "");
	if (!n || ts_table_new(columns, &table))
		return;
	for (size_t i = 0; i < TS_ARRAY_LEN(headings); i++)
		ts_table_add(table, headings[i]);
	if (bytes)
		ts_table_add(table, "BYTES");
	if (launched)
		ts_table_add(table, "LAUNCHED BY");
	ts_table_add(table, "NAME");
	for (size_t i = 0; i < n; i++) {
		const Ts__Rpc__Aggregate *sum = messages[i];

		ts_table_addf(table, "%.1f %%",
			      all_ns ? 100 * (double)sum->total_ns / (double)all_ns : 0.0);
		ts_table_add(table, ts_out_duration(text, sum->total_ns));
		ts_table_add(table, ts_out_count(text, sum->count));
		ts_table_add(table, ts_out_duration(text, sum->mean_ns));
		ts_table_add(table, ts_out_duration(text, sum->median_ns));
		ts_table_add(table, ts_out_duration(text, sum->p99_ns));
		ts_table_add(table, ts_out_duration(text, sum->max_ns));
		if (bytes)
			ts_table_add(table, ts_out_bytes(text, sum->bytes));
		add_launcher(table, sum, launched);
	}
	printf("%s%s%s\n", ts_term_style(stdout, TS_STYLE_BOLD), title,
	       ts_term_style(stdout, TS_STYLE_PLAIN));
	ts_table_print(table, stdout, 2, view->wide);
}

static void print_sums(struct view *view, const struct ts_row_sums *sums)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	Ts__Rpc__TraceStats stats;

	ts_row_sums_message(sums, &pool, view->limit, &stats);
	const struct {
		size_t n;
		Ts__Rpc__Aggregate **messages;
	} lists[TS_SUM_COUNT] = {
		[TS_SUM_KERNELS] = {stats.n_kernels, stats.kernels},
		[TS_SUM_API] = {stats.n_api, stats.api},
		[TS_SUM_COPIES] = {stats.n_copies, stats.copies},
		[TS_SUM_MEMSETS] = {stats.n_memsets, stats.memsets},
		[TS_SUM_SYNCS] = {stats.n_syncs, stats.syncs},
		[TS_SUM_ON_CPU] = {stats.n_on_cpu, stats.on_cpu},
		[TS_SUM_OFF_CPU] = {stats.n_off_cpu, stats.off_cpu},
		[TS_SUM_FAULTS] = {stats.n_page_faults, stats.page_faults},
		[TS_SUM_SYSCALLS] = {stats.n_syscalls, stats.syscalls},
		[TS_SUM_BLOCK_IO] = {stats.n_block_io, stats.block_io},
		[TS_SUM_PRESSURE] = {stats.n_pressure, stats.pressure},
		[TS_SUM_DRIVERS] = {stats.n_drivers, stats.drivers},
		[TS_SUM_RANGES] = {stats.n_ranges, stats.ranges},
	};

	for (int i = 0; i < TS_SUM_COUNT; i++) {
		if (lists[i].n && view->n_rows++)
			putchar('\n');
		print_sum(view, sum_titles[i], lists[i].n, lists[i].messages,
			  ts_aggregates_total_ns(sums->of[i]),
			  i == TS_SUM_COPIES || i == TS_SUM_MEMSETS);
	}
}

static int view_stats(struct view *view, const struct ts_sbt_cursor_options *rows)
{
	ts_cleanup(ts_row_sums_deinit) struct ts_row_sums sums = {0};
	int r = ts_row_sums_read(&sums, view->resolver, rows,
				 view->is_filtered ? &view->filter : NULL, ts_no_memory, step_read,
				 view);

	ts_progress_deinit(&view->progress);
	if (!r)
		print_sums(view, &sums);
	view->walk.is_damaged = sums.is_damaged;
	view->walk.damage = sums.damage;
	return r;
}

/* Explains why there are no rows. */
static void print_none(struct view *view)
{
	char duration[TS_OUT_FIGURE_BYTES];
	struct ts_sbt_summary summary;

	if (view->filter.errors)
		printf("No call returned an error%s",
		       view->from.is_given || view->to.is_given ? " in this window" : "");
	else
		printf("No rows%s%s",
		       view->is_filtered ? " match the filters"
		       : view->types	 ? " of this type"
		       : view->stats	 ? " to sum up"
					 : "",
		       view->from.is_given || view->to.is_given ? " in this window" : "");
	if (!ts_sbt_reader_summary(view->source.reader, view->source.session, &summary))
		printf("; the trace lasts %s",
		       ts_out_duration(duration, summary.latest_ns > view->origin_ns
							 ? summary.latest_ns - view->origin_ns
							 : 0));
	puts(".");
}

/* Prints a warning if the file is damaged or cut, because its sums look complete. */
static void print_missing(const struct view *view)
{
	if (view->walk.is_damaged || ts_sbt_reader_state(view->source.reader) == TS_SBT_TRUNCATED)
		printf("This file is %s: rows in the lost part are not counted.\n",
		       view->walk.is_damaged ? "damaged" : "cut off");
}

static int run_view(int argc, char **argv)
{
	ts_cleanup(view_deinit) struct view view = {.filter = TS__RPC__ROW_FILTER__INIT};
	struct ts_sbt_cursor_options rows = {0};
	const struct ts_sbt_error *lost;
	int r, status;

	if (parse(&view, argc, argv))
		return TS_EXIT_BAD;
	if (view.json)
		return view_json(&view);
	if (ts_source_open(&view.source, view.asking.file, view.asking.session))
		return TS_EXIT_BAD;
	ts_progress_init(&view.progress, "reading rows:", 0);
	r = start(&view, &rows);
	if (!r)
		r = view.stats ? view_stats(&view, &rows) : view_rows(&view);
	ts_progress_deinit(&view.progress);
	if (r == VIEW_E_USAGE)
		return TS_EXIT_BAD;
	if (!r && !view.n_rows)
		print_none(&view);
	if (!r && view.stats)
		print_missing(&view);
	if (!r)
		ts_source_print_halves(ts_source_n_halves(&view.source));
	if (!r && ts_kernels_are_timed(view.source.reader, view.source.session))
		ts_text_timed_kernels(stdout);
	status = ts_finish_output(TS_EXIT_OK);
	if (status)
		return status;
	if (r || view.walk.is_damaged) {
		ts_source_complain(view.source.path, r ? r : TS_SBT_E_CORRUPT,
				   r ? ts_sbt_reader_error(view.source.reader) : &view.walk.damage);
		return TS_EXIT_BAD;
	}
	lost = ts_sbt_reader_lost_definitions(view.source.reader);
	if (lost) {
		ts_source_complain(view.source.path, lost->code, lost);
		return TS_EXIT_BAD;
	}
	return TS_EXIT_OK;
}

const struct ts_command ts_command_view = {
	.name = "view",
	.summary = "list rows in time order, or sums by kernel and launcher",
	.text = "usage: tsctl view [OPTION ...] FILE | --session N\n"
		"\n"
		"List rows in time order. TIME counts from the trace's start: 1500 (ns) or\n"
		"12.5ms. @TIME is a time of CLOCK_MONOTONIC, as in JSON. On a terminal of less\n"
		"than 144 columns, WHERE is the stream of a device row, or else the thread.\n"
		"\n",
	.example = "view --type kernel,memcpy --from 1s --to 1.5s run.sbt",
	.help_column = 23,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_view,
};
