/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl view: the rows of a trace in the order of time, or their sums.
 */
#include "replay/report/aggregate.h"
#include "replay/report/names.h"
#include "replay/report/openranges.h"
#include "replay/report/rowjson.h"
#include "tools/tsctl/jsonout.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/source.h"
#include "tools/tsctl/term.h"
#include "tools/tsctl/times.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#define STEP_ROWS 4096u

/* start(): what was asked for cannot be, and that was said. Not an errno, nor the reader's. */
#define VIEW_E_USAGE INT_MIN

/* Rows that are the recording's own business: shown to a person only when asked for. */
#define QUIET_TYPES TS_ROW_BIT(TS_ROW_CLOCK)

struct view {
	/* asked for */
	const char *session;
	struct ts_time from, to;
	bool has_from, has_to;
	uint64_t limit; /* rows; 0: all */
	uint64_t types; /* 0: all */
	bool stats, stacks, mangled, wide, json;

	/* at work */
	struct ts_source source;
	struct ts_resolver *resolver;
	struct ts_sbt_cursor_options rows;
	struct ts_sbt_cursor *cursor;
	struct ts_progress progress;
	uint64_t origin_ns;
	size_t width;			    /* of the terminal; 0: do not cut */
	uint64_t n_rows;		    /* seen */
	struct ts_open_ranges *open_ranges; /* NULL: every row of a range that began is asked for */
	bool damaged;
	struct ts_sbt_error damage;
};

static void view_deinit(struct view *view)
{
	ts_open_ranges_free(view->open_ranges);
	ts_sbt_cursor_free(view->cursor);
	ts_resolver_free(view->resolver);
	ts_source_deinit(&view->source);
}

/* ---- options ------------------------------------------------------------------------------------ */

static int parse_time(const char *option, const char *text, struct ts_time *ret_time)
{
	if (!ts_time_parse_moment(text, ret_time))
		return 0;
	ts_complain(
		"%s %s: it is a time from the trace's start: nanoseconds, or with a unit, like 12.5ms; "
		"or @ and a time of the clock, as JSON gives it",
		option, text);
	return -EINVAL;
}

static int complain_type(const char *name)
{
	const char *near = NULL;
	size_t least = 3;

	for (unsigned int type = 1; type < TS_ROW_EVENT_COUNT; type++) {
		const struct ts_row_schema *schema = ts_row_schema(type);
		size_t distance = schema ? ts_edit_distance(name, schema->name) : SIZE_MAX;

		if (distance < least) {
			least = distance;
			near = schema->name;
		}
	}
	ts_complain("there is no type of row `%s`; %s%s%s", name,
		    near ? "did you mean `" : "`tsctl info` lists those of a trace",
		    near ? near : "", near ? "`?" : "");
	return -EINVAL;
}

static int parse_types(struct view *view, const char *text)
{
	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");
		char name[32];
		unsigned int type;

		if (!n) {
			ts_complain("--type %s: a name is missing; like kernel,memcpy", text);
			return -EINVAL;
		}
		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		type = n < sizeof(name) ? ts_row_type_by_name(name) : 0;
		if (!type || !(TS_ROW_BIT(type) & TS_ROW_EVENTS))
			return complain_type(name);
		view->types |= TS_ROW_BIT(type);
		at += n;
		if (!*at)
			return 0;
	}
}

static int parse_limit(struct view *view, const char *text)
{
	unsigned long long limit;

	if (ts_parse_number(text, 1, UINT64_MAX, &limit)) {
		ts_complain("--limit %s: it is a number of rows, at least 1", text);
		return -EINVAL;
	}
	view->limit = limit;
	return 0;
}

enum {
	OPT_FROM = 256,
	OPT_TO,
	OPT_TYPE,
	OPT_STATS,
	OPT_STACKS,
	OPT_MANGLED,
	OPT_WIDE
};

static int apply_option(struct view *view, int option)
{
	switch (option) {
	case OPT_FROM:
		view->has_from = true;
		return parse_time("--from", optarg, &view->from);
	case OPT_TO:
		view->has_to = true;
		return parse_time("--to", optarg, &view->to);
	case OPT_TYPE:
		return parse_types(view, optarg);
	case OPT_STATS:
		view->stats = true;
		return 0;
	case OPT_STACKS:
		view->stacks = true;
		return 0;
	case OPT_MANGLED:
		view->mangled = true;
		return 0;
	case OPT_WIDE:
		view->wide = true;
		return 0;
	case 'n':
		return parse_limit(view, optarg);
	case 's':
		view->session = optarg;
		return 0;
	case 'j':
		view->json = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int parse(struct view *view, int argc, char **argv)
{
	static const struct option longs[] = {
		{"from", required_argument, NULL, OPT_FROM},
		{"to", required_argument, NULL, OPT_TO},
		{"type", required_argument, NULL, OPT_TYPE},
		{"limit", required_argument, NULL, 'n'},
		{"stats", no_argument, NULL, OPT_STATS},
		{"stacks", no_argument, NULL, OPT_STACKS},
		{"mangled", no_argument, NULL, OPT_MANGLED},
		{"wide", no_argument, NULL, OPT_WIDE},
		{"session", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{0},
	};
	int option;

	while ((option = ts_option_next(argc, argv, ":n:s:j", longs)) != -1)
		if (apply_option(view, option))
			return -EINVAL;
	if (ts_one_trace(argc, view->session, "view", ""))
		return -EINVAL;
	return 0;
}

/* ---- the pass over the rows --------------------------------------------------------------------- */

/* Times of the trace and of the clock can only be compared once the trace is open. */
static int set_window(struct view *view, struct ts_sbt_cursor_options *rows)
{
	/* Clock rows may lie before the trace's time begins: only a window leaves them out. */
	if (view->has_from && (view->from.ns || view->from.is_absolute))
		rows->from_ns = ts_time_absolute(&view->from, view->origin_ns);
	if (!view->has_to)
		return 0;
	/* 0 would be no limit; nothing ends before the clock's first nanosecond. */
	rows->to_ns = ts_time_absolute(&view->to, view->origin_ns);
	rows->to_ns = rows->to_ns ? rows->to_ns : 1;
	if (rows->to_ns >= rows->from_ns)
		return 0;
	ts_complain("--to lies before --from");
	return -EINVAL;
}

static int start(struct view *view)
{
	struct ts_sbt_reader *reader = view->source.reader;
	struct ts_sbt_cursor_options *rows = &view->rows;
	struct ts_resolver_options names = {.mangled = view->mangled,
					    .session = view->source.session};
	int r;

	view->origin_ns = ts_sbt_reader_origin_ns(reader);
	rows->types = view->types;
	rows->session = view->source.session;
	if (set_window(view, rows))
		return VIEW_E_USAGE;
	if (!rows->types && (view->stats || !view->json))
		rows->types = TS_ROW_EVENTS & ~QUIET_TYPES;
	names.from_ns = rows->from_ns;
	/* JSON is the row's own fields, whatever of its call is left; a person wants to know who asked for it. */
	names.launchers = !view->stats && !view->json;
	r = ts_resolver_new(reader, &names, &view->resolver);
	if (r || view->stats)
		return r;
	if (rows->types & TS_ROW_BIT(TS_ROW_RANGE))
		rows->types |= TS_ROW_BIT(TS_ROW_RANGE_BEGIN);
	r = ts_sbt_cursor_new(reader, rows, &view->cursor);
	/* Who asks for them by name wants them all. */
	if (!r && !(view->types & TS_ROW_BIT(TS_ROW_RANGE_BEGIN)))
		r = ts_open_ranges_new(reader, rows->session, rows->from_ns, &view->open_ranges);
	return r;
}

/*
 * 0, TS_SBT_E_END, or what cannot be gone on from. A damaged block is left out and remembered; so is the beginning of a range
 * that has a row of its own.
 */
static int next_row(struct view *view, struct ts_sbt_row *ret_row)
{
	int r;

	for (;;) {
		r = ts_sbt_cursor_next(view->cursor, ret_row);
		if (!r && ret_row->type == TS_ROW_RANGE_BEGIN &&
		    !ts_open_ranges_is_open(view->open_ranges, ret_row))
			continue;
		if (r != TS_SBT_E_CORRUPT)
			return r;
		if (!view->damaged)
			view->damage = *ts_sbt_reader_error(view->source.reader);
		view->damaged = true;
	}
}

static uint64_t duration_ns(const struct ts_sbt_row *row)
{
	return ts_row_end_ns(row->schema, row->any) - ts_row_start_ns(row->any);
}

/* ---- rows as JSON ------------------------------------------------------------------------------- */

static int view_json(struct view *view)
{
	ts_cleanup(ts_rowjson_freep) struct ts_rowjson *rowjson = NULL;
	ts_cleanup(ts_json_deinit) struct ts_json json = {0};
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = ts_rowjson_new(view->resolver, view->stacks, &rowjson);

	while (!r && (!view->limit || n < view->limit)) {
		r = next_row(view, &row);
		if (r)
			break;
		ts_json_clear(&json);
		r = ts_rowjson_append(rowjson, &row, &json);
		if (r)
			break;
		ts_json_raw(&json, "\n");
		/* Who reads us may have gone: there is no use in going on. */
		if (fwrite(json.data, 1, json.n_bytes, stdout) != json.n_bytes)
			return 0;
		if (++n % STEP_ROWS == 0 && !isatty(STDOUT_FILENO))
			ts_progress_step(&view->progress, n);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/* ---- rows for people ---------------------------------------------------------------------------- */

#define MIN_NAME_WIDTH	20
#define ROW_FORMAT_HEAD "%14s  %10s  %-12s  %-16s  %6s  %10s  "

static void print_heading(void)
{
	printf("%s" ROW_FORMAT_HEAD "NAME%s\n", ts_term_style(stdout, TS_STYLE_BOLD), "TIME",
	       "DURATION", "TYPE", "THREAD", "STREAM", "BYTES",
	       ts_term_style(stdout, TS_STYLE_PLAIN));
}

static const struct ts_column *find_role(const struct ts_row_schema *schema, enum ts_role role)
{
	for (unsigned int i = 0; i < schema->n_columns; i++)
		if (schema->columns[i].role == role)
			return &schema->columns[i];
	return NULL;
}

static void thread_text(struct view *view, const struct ts_sbt_row *row, char text[17])
{
	const struct ts_row_thread *thread = ts_resolver_thread(view->resolver, row);
	const char *name =
		thread ? ts_resolver_thread_name(view->resolver, row->session, thread) : NULL;
	char number[16];
	int n;

	text[0] = 0;
	if (!thread)
		return;
	n = snprintf(number, sizeof(number), "%s%" PRIu32, name && *name ? "/" : "", thread->tid);
	snprintf(text, 17, "%.*s%s", 16 - n, name ? name : "", number);
	/* A thread is named by whoever made it. */
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
			*at = '?';
}

#define DETAIL_BYTES 128

static void payload_text(uint32_t type, uint64_t bits, char *text, size_t n_bytes)
{
	double value;

	switch (type) {
	case TS_PAYLOAD_U64:
	case TS_PAYLOAD_U32:
		snprintf(text, n_bytes, " (%" PRIu64 ")", bits);
		break;
	case TS_PAYLOAD_I64:
	case TS_PAYLOAD_I32:
		snprintf(text, n_bytes, " (%" PRId64 ")", (int64_t)bits);
		break;
	case TS_PAYLOAD_F64:
	case TS_PAYLOAD_F32:
		memcpy(&value, &bits, sizeof(value));
		snprintf(text, n_bytes, " (%g)", value);
		break;
	default:
		break;
	}
}

/* Who is to blame: it took the CPU, or gave it back. */
static void off_cpu_text(struct view *view, const struct ts_row_off_cpu *row, char *text,
			 size_t n_bytes)
{
	bool preempted = row->reason == TS_OFF_CPU_PREEMPTED || row->reason == TS_OFF_CPU_YIELDED;
	uint32_t tid = preempted ? row->next_tid : row->waker_tid;
	const char *name = ts_resolver_string(view->resolver, preempted ? row->next : row->waker);

	if (row->flags & TS_OFF_CPU_OPEN)
		snprintf(text, n_bytes, " (until the end)");
	else if (!preempted && row->waker_context == TS_WAKER_INTERRUPT)
		snprintf(text, n_bytes, ", woken by an interrupt");
	else if (tid)
		snprintf(text, n_bytes, "%s %s/%" PRIu32, preempted ? " by" : ", woken by",
			 name ? name : "?", tid);
}

static void syscall_text(const struct ts_row_syscall *row, char *text, size_t n_bytes)
{
	size_t n = 0;

	text[0] = 0;
	if (row->operation)
		n += (size_t)snprintf(text, n_bytes, " 0x%" PRIx32, row->operation);
	if (row->bytes)
		n += (size_t)snprintf(text + n, n_bytes - n, " %" PRIu64 " bytes", row->bytes);
	if (row->result < 0)
		snprintf(text + n, n_bytes - n, " = %s",
			 strerrorname_np((int)-row->result) ? strerrorname_np((int)-row->result)
							    : "error");
}

static void block_io_text(const struct ts_row_block_io *row, char *text, size_t n_bytes)
{
	char queued[TS_OUT_FIGURE_BYTES];
	size_t n = (size_t)snprintf(text, n_bytes, " %" PRIu64 " bytes at %" PRIu64, row->bytes,
				    row->sector);

	if (row->flags & TS_BLOCK_IO_READAHEAD)
		n += (size_t)snprintf(text + n, n_bytes - n, ", ahead");
	if (row->issued_ns > row->start_ns)
		n += (size_t)snprintf(text + n, n_bytes - n, ", queued %s",
				      ts_out_duration(queued, row->issued_ns - row->start_ns));
	if (row->flags & TS_BLOCK_IO_OPEN)
		snprintf(text + n, n_bytes - n, " (until the end)");
	else if (row->result < 0)
		snprintf(text + n, n_bytes - n, " = %s",
			 strerrorname_np(-row->result) ? strerrorname_np(-row->result) : "error");
}

static void pressure_text(struct view *view, const struct ts_row_pressure *row, char *text,
			  size_t n_bytes)
{
	const char *by = ts_resolver_string(view->resolver, row->by);

	if (row->kind == TS_PRESSURE_OOM_KILL)
		snprintf(text, n_bytes, ", when %s/%" PRIu32 " asked for memory", by ? by : "?",
			 row->by_tid);
	else
		snprintf(text, n_bytes, " %" PRIu64 " pages freed%s", row->pages,
			 row->flags & TS_PRESSURE_OPEN ? " (until the end)" : "");
}

static void driver_text(const struct ts_row_driver *row, char *text, size_t n_bytes)
{
	char queued[TS_OUT_FIGURE_BYTES];
	size_t n =
		(size_t)snprintf(text, n_bytes, " %" PRIu64 ":%" PRIu64, row->context, row->number);

	if (row->issued_ns > row->start_ns)
		n += (size_t)snprintf(text + n, n_bytes - n, ", queued %s",
				      ts_out_duration(queued, row->issued_ns - row->start_ns));
	if (row->flags & TS_DRIVER_OPEN)
		snprintf(text + n, n_bytes - n, " (until the end)");
	else if (row->result < 0)
		snprintf(text + n, n_bytes - n, " = %s",
			 strerrorname_np(-row->result) ? strerrorname_np(-row->result) : "error");
}

/* What tells one row from the next, beside its name. */
static void detail_text(struct view *view, const struct ts_sbt_row *row, char text[DETAIL_BYTES])
{
	const struct ts_row_kernel *kernel = row->kernel;
	const char *name = ts_resolver_category_name(view->resolver, row);
	size_t n = 0;

	text[0] = 0;
	if (row->type == TS_ROW_KERNEL) {
		snprintf(text, DETAIL_BYTES,
			 " <<<%" PRIu32 "x%" PRIu32 "x%" PRIu32 ", %" PRIu32 "x%" PRIu32 "x%" PRIu32
			 ">>> device %" PRIu32,
			 kernel->grid_x, kernel->grid_y, kernel->grid_z, kernel->block_x,
			 kernel->block_y, kernel->block_z, kernel->device);
	} else if (row->type == TS_ROW_API && row->api->result) {
		const char *error = ts_name_api_error(row->api->domain, (uint32_t)row->api->result);

		if (error)
			snprintf(text, DETAIL_BYTES, " = %s", error);
		else
			snprintf(text, DETAIL_BYTES, " = error %" PRId32, row->api->result);
	} else if (row->type == TS_ROW_MARK) {
		payload_text(row->mark->payload_type, row->mark->payload, text, DETAIL_BYTES);
	} else if (row->type == TS_ROW_RANGE) {
		payload_text(row->range->payload_type, row->range->payload, text, DETAIL_BYTES);
	} else if (row->type == TS_ROW_OFF_CPU) {
		off_cpu_text(view, row->off_cpu, text, DETAIL_BYTES);
	} else if (row->type == TS_ROW_PAGE_FAULT) {
		snprintf(text, DETAIL_BYTES, " at 0x%" PRIx64, row->page_fault->address);
	} else if (row->type == TS_ROW_SYSCALL) {
		syscall_text(row->syscall, text, DETAIL_BYTES);
	} else if (row->type == TS_ROW_BLOCK_IO) {
		block_io_text(row->block_io, text, DETAIL_BYTES);
	} else if (row->type == TS_ROW_PRESSURE) {
		pressure_text(view, row->pressure, text, DETAIL_BYTES);
	} else if (row->type == TS_ROW_DRIVER) {
		driver_text(row->driver, text, DETAIL_BYTES);
	}
	n = strlen(text);
	if (name)
		snprintf(text + n, DETAIL_BYTES - n, " [%s]", name);
	else if ((name = ts_resolver_stream_name(view->resolver, row)))
		snprintf(text + n, DETAIL_BYTES - n, " on %s", name);
}

/* The name gives way where the line is too short. */
static void print_what(struct view *view, const struct ts_sbt_row *row, size_t taken)
{
	char buffer[TS_RESOLVER_NAME_BYTES], detail[DETAIL_BYTES];

	detail_text(view, row, detail);
	taken += ts_out_width(detail);
	ts_out_text_cut(stdout, ts_resolver_name(view->resolver, row, buffer),
			!view->width			       ? 0
			: view->width > taken + MIN_NAME_WIDTH ? view->width - taken
							       : MIN_NAME_WIDTH);
	ts_out_text(stdout, detail);
}

/* What is called at a frame: "function file:line", the inlined ones each on a line of their own. */
static void print_symbols(struct view *view, const struct ts_row_symbol *symbols, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *function = ts_resolver_string(view->resolver, symbols[i].function);
		const char *file = ts_resolver_string(view->resolver, symbols[i].file);

		printf("%*s", i ? 18 + 16 : 1, "");
		ts_out_text(stdout, function ? function : "?");
		if (file) {
			putchar(' ');
			ts_out_text(stdout, file);
			printf(":%" PRIu32, symbols[i].line);
		}
		if (i + 1 < n)
			printf(" (inlined into)\n");
	}
}

static void print_stack(struct view *view, const struct ts_sbt_row *row)
{
	uint32_t id = ts_resolver_stack(row);
	uint64_t time_ns = ts_row_start_ns(row->any);
	struct ts_sbt_stack stack;

	if (!id || ts_sbt_reader_stack(view->source.reader, row->session, id, &stack))
		return;
	for (uint32_t i = 0; i < stack.n_frames; i++) {
		uint64_t address = TS_FRAME_VALUE(stack.frames[i]), in_file;
		const struct ts_row_symbol *symbols;
		const char *path;
		size_t n;

		if (TS_FRAME_KIND(stack.frames[i]) == TS_FRAME_PYTHON) {
			char text[TS_RESOLVER_FRAME_BYTES];

			ts_resolver_python(view->resolver, stack.frames[i], text);
			printf("%*s", 18, "");
			ts_out_text(stdout, text);
			putchar('\n');
			continue;
		}
		symbols =
			ts_resolver_symbols(view->resolver, row->session, time_ns, address, i, &n);
		printf("%*s0x%012" PRIx64, 18, "", address);
		print_symbols(view, symbols, n);
		if (ts_resolver_module(view->resolver, row->session, time_ns, address, &path,
				       &in_file)) {
			printf(n ? " in " : " ");
			ts_out_text(stdout, path);
			printf("+0x%" PRIx64, in_file);
		}
		putchar('\n');
	}
	if (stack.flags & TS_STACK_TRUNCATED)
		printf("%*s... deeper frames were not recorded\n", 18, "");
}

static void print_row(struct view *view, const struct ts_sbt_row *row)
{
	const struct ts_column *stream = find_role(row->schema, TS_ROLE_STREAM);
	const struct ts_column *bytes = find_role(row->schema, TS_ROLE_BYTES);
	uint64_t start_ns = ts_row_start_ns(row->any), number;
	char time[TS_OUT_FIGURE_BYTES + 1] = "", duration[TS_OUT_FIGURE_BYTES] = "";
	char thread[17], on_stream[12] = "", amount[TS_OUT_FIGURE_BYTES] = "";
	size_t taken = 14 + 10 + 12 + 16 + 6 + 10 + 6 * 2;

	if (start_ns < view->origin_ns)
		time[0] = '-';
	ts_out_seconds(time + (start_ns < view->origin_ns), start_ns < view->origin_ns
								    ? view->origin_ns - start_ns
								    : start_ns - view->origin_ns);
	if (row->schema->has_end)
		ts_out_duration(duration, duration_ns(row));
	thread_text(view, row, thread);
	number = stream ? ts_column_get(stream, row->any) : TS_NO_DEVICE;
	if (number != TS_NO_DEVICE)
		snprintf(on_stream, sizeof(on_stream), "%" PRIu32, (uint32_t)number);
	if (bytes)
		ts_out_bytes(amount, ts_column_get(bytes, row->any));
	printf(ROW_FORMAT_HEAD, time, duration, row->schema->name, thread, on_stream, amount);
	print_what(view, row, taken);
	putchar('\n');
	if (view->stacks)
		print_stack(view, row);
}

static int view_rows(struct view *view)
{
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = 0;

	view->width = view->wide ? 0 : ts_term_width(stdout);
	while (!view->limit || n < view->limit) {
		r = next_row(view, &row);
		if (r)
			break;
		if (!view->n_rows++)
			print_heading();
		print_row(view, &row);
		if (ferror(stdout))
			return 0;
		if (++n % STEP_ROWS == 0 && !isatty(STDOUT_FILENO))
			ts_progress_step(&view->progress, n);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/* ---- sums --------------------------------------------------------------------------------------- */

enum {
	SUM_KERNELS,
	SUM_API,
	SUM_COPIES,
	SUM_MEMSETS,
	SUM_SYNCS,
	SUM_OFF_CPU,
	SUM_FAULTS,
	SUM_SYSCALLS,
	SUM_BLOCK_IO,
	SUM_PRESSURE,
	SUM_DRIVERS,
	SUM_RANGES,
	SUM_COUNT
};

static const char *const sum_titles[SUM_COUNT] = {"Kernels",	    "API calls",    "Copies",
						  "Sets",	    "Waits",	    "Off CPU",
						  "Page faults",    "System calls", "Block I/O",
						  "Want of memory", "GPU drivers",  "Ranges"};

static int sum_of_type(unsigned int type)
{
	switch (type) {
	case TS_ROW_KERNEL:
		return SUM_KERNELS;
	case TS_ROW_API:
		return SUM_API;
	case TS_ROW_MEMCPY:
		return SUM_COPIES;
	case TS_ROW_MEMSET:
		return SUM_MEMSETS;
	case TS_ROW_SYNC:
		return SUM_SYNCS;
	case TS_ROW_OFF_CPU:
		return SUM_OFF_CPU;
	case TS_ROW_PAGE_FAULT:
		return SUM_FAULTS;
	case TS_ROW_SYSCALL:
		return SUM_SYSCALLS;
	case TS_ROW_BLOCK_IO:
		return SUM_BLOCK_IO;
	case TS_ROW_PRESSURE:
		return SUM_PRESSURE;
	case TS_ROW_DRIVER:
		return SUM_DRIVERS;
	default:
		return SUM_RANGES;
	}
}

static void print_sum(const struct view *view, const char *title, size_t n,
		      Ts__Rpc__Aggregate *const *messages, uint64_t all_ns, bool bytes)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	static const char *const headings[] = {"SHARE", "TOTAL", "COUNT", "MEAN", "MIN", "MAX"};
	char text[TS_OUT_FIGURE_BYTES];

	if (!n || ts_table_new(bytes ? "rrrrrrrl" : "rrrrrrl", &table))
		return;
	for (size_t i = 0; i < TS_ARRAY_LEN(headings); i++)
		ts_table_add(table, headings[i]);
	if (bytes)
		ts_table_add(table, "BYTES");
	ts_table_add(table, "NAME");
	for (size_t i = 0; i < n; i++) {
		const Ts__Rpc__Aggregate *sum = messages[i];

		ts_table_addf(table, "%.1f%%",
			      all_ns ? 100 * (double)sum->total_ns / (double)all_ns : 0.0);
		ts_table_add(table, ts_out_duration(text, sum->total_ns));
		ts_table_add(table, ts_out_count(text, sum->count));
		ts_table_add(table, ts_out_duration(text, sum->mean_ns));
		ts_table_add(table, ts_out_duration(text, sum->min_ns));
		ts_table_add(table, ts_out_duration(text, sum->max_ns));
		if (bytes)
			ts_table_add(table, ts_out_bytes(text, sum->bytes));
		ts_table_add(table, sum->name);
	}
	printf("%s%s%s\n", ts_term_style(stdout, TS_STYLE_BOLD), title,
	       ts_term_style(stdout, TS_STYLE_PLAIN));
	ts_table_print(table, stdout, 2, view->wide);
}

static int add_sum(struct view *view, struct ts_aggregates *const *sums,
		   const struct ts_sbt_row *row)
{
	char buffer[TS_RESOLVER_NAME_BYTES];

	return ts_aggregates_add(sums[sum_of_type(row->type)],
				 ts_resolver_name(view->resolver, row, buffer), duration_ns(row),
				 0);
}

/* Those that the file itself sums up. */
static int read_totals(struct view *view, struct ts_aggregates *const *sums)
{
	ts_cleanup(ts_sbt_totals_freep) struct ts_sbt_totals *totals = NULL;
	int r = ts_sbt_totals_new(view->source.reader, &view->rows, &totals);

	for (size_t i = 0; !r && i < ts_sbt_totals_count(totals); i++) {
		const struct ts_sbt_total *total = ts_sbt_totals_at(totals, i);

		/* A set's name would be its value, which says nothing. */
		r = ts_aggregates_add_total(sums[sum_of_type(total->type)], view->resolver, total,
					    total->type == TS_ROW_MEMSET ? "memset" : NULL);
	}
	if (!r && ts_sbt_totals_damaged(totals)) {
		view->damaged = true;
		view->damage = *ts_sbt_reader_error(view->source.reader);
	}
	return r;
}

static int read_sums(struct view *view, struct ts_aggregates *const *sums)
{
	struct ts_sbt_cursor_options others = view->rows;
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = read_totals(view, sums);

	others.types &= TS_ROW_KERNELS;
	if (r || !others.types)
		return r;
	r = ts_sbt_cursor_new(view->source.reader, &others, &view->cursor);
	while (!r) {
		r = next_row(view, &row);
		r = r ? r : add_sum(view, sums, &row);
		if (!r && ++n % STEP_ROWS == 0)
			ts_progress_step(&view->progress, n);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int print_sums(struct view *view, struct ts_aggregates *const *sums)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	Ts__Rpc__TraceStats message = TS__RPC__TRACE_STATS__INIT;
	const struct {
		size_t *n;
		Ts__Rpc__Aggregate ***messages;
	} parts[SUM_COUNT] = {
		[SUM_KERNELS] = {&message.n_kernels, &message.kernels},
		[SUM_API] = {&message.n_api, &message.api},
		[SUM_COPIES] = {&message.n_copies, &message.copies},
		[SUM_MEMSETS] = {&message.n_memsets, &message.memsets},
		[SUM_SYNCS] = {&message.n_syncs, &message.syncs},
		[SUM_OFF_CPU] = {&message.n_off_cpu, &message.off_cpu},
		[SUM_FAULTS] = {&message.n_page_faults, &message.page_faults},
		[SUM_SYSCALLS] = {&message.n_syscalls, &message.syscalls},
		[SUM_BLOCK_IO] = {&message.n_block_io, &message.block_io},
		[SUM_PRESSURE] = {&message.n_pressure, &message.pressure},
		[SUM_DRIVERS] = {&message.n_drivers, &message.drivers},
		[SUM_RANGES] = {&message.n_ranges, &message.ranges},
	};

	for (int i = 0; i < SUM_COUNT; i++)
		ts_aggregates_messages(sums[i], &pool, view->limit, parts[i].n, parts[i].messages);
	if (view->json)
		return ts_json_print(&message.base);
	for (int i = 0; i < SUM_COUNT; i++) {
		if (*parts[i].n && view->n_rows++)
			putchar('\n');
		print_sum(view, sum_titles[i], *parts[i].n, *parts[i].messages,
			  ts_aggregates_total_ns(sums[i]), i == SUM_COPIES || i == SUM_MEMSETS);
	}
	return TS_EXIT_OK;
}

static int view_stats(struct view *view)
{
	struct ts_aggregates *sums[SUM_COUNT] = {0};
	int r = 0;

	for (int i = 0; !r && i < SUM_COUNT; i++)
		r = ts_aggregates_new(&sums[i]);
	if (!r)
		r = read_sums(view, sums);
	ts_progress_deinit(&view->progress);
	if (!r)
		print_sums(view, sums);
	for (int i = 0; i < SUM_COUNT; i++)
		ts_aggregates_free(sums[i]);
	return r;
}

/* Nothing to show, and whose fault that is. */
static void print_none(struct view *view)
{
	char duration[TS_OUT_FIGURE_BYTES];
	struct ts_sbt_summary summary;

	printf("No rows%s%s",
	       view->types   ? " of that type"
	       : view->stats ? " to sum up"
			     : "",
	       view->has_from || view->has_to ? " in that window" : "");
	if (!ts_sbt_reader_summary(view->source.reader, view->source.session, &summary))
		printf("; the trace lasts %s",
		       ts_out_duration(duration, summary.latest_ns > view->origin_ns
							 ? summary.latest_ns - view->origin_ns
							 : 0));
	puts(".");
}

/* Sums of a part look like sums of the whole. */
static void print_missing(const struct view *view)
{
	if (view->damaged || ts_sbt_reader_state(view->source.reader) == TS_SBT_TRUNCATED)
		printf("This file is %s: what lay in the lost part is not counted.\n",
		       view->damaged ? "damaged" : "cut off");
}

static int run_view(int argc, char **argv)
{
	ts_cleanup(view_deinit) struct view view = {0};
	int r, status;

	if (parse(&view, argc, argv) || ts_source_open(&view.source, argv[optind], view.session))
		return TS_EXIT_BAD;
	ts_progress_init(&view.progress, "reading rows:", 0);
	r = start(&view);
	if (!r)
		r = view.stats	? view_stats(&view)
		    : view.json ? view_json(&view)
				: view_rows(&view);
	ts_progress_deinit(&view.progress);
	if (r == VIEW_E_USAGE)
		return TS_EXIT_BAD;
	if (!view.json && !r && !view.n_rows)
		print_none(&view);
	if (view.stats && !view.json && !r)
		print_missing(&view);
	if (!view.json && !r)
		ts_source_tell_halves(&view.source);
	status = ts_finish_output(TS_EXIT_OK);
	if (status)
		return status;
	if (r || view.damaged) {
		ts_source_complain(view.source.path, r ? r : TS_SBT_E_CORRUPT,
				   r ? ts_sbt_reader_error(view.source.reader) : &view.damage);
		return TS_EXIT_BAD;
	}
	return TS_EXIT_OK;
}

const struct ts_command ts_command_view = {
	.name = "view",
	.summary = "list a trace's rows in the order of time, or their sums",
	.help = "usage: tsctl view [OPTION ...] FILE | --session N\n"
		"\n"
		"Lists rows in the order of time. A TIME counts from the trace's start: 1500 (ns)\n"
		"or with a unit, 12.5ms; after an @ it is CLOCK_MONOTONIC's, as JSON has them.\n"
		"The call that initialises CUDA is seen as the driver's calls that it makes.\n"
		"\n"
		"      --from TIME      begin there; rows that only touch the window count too\n"
		"      --to TIME        end there\n"
		"      --type T[,T...]  only these: api, kernel, memcpy, memset, sync, alloc, ...\n"
		"                       (`tsctl info` lists a trace's); range: open ones too\n"
		"  -n, --limit N        at most N rows (with --stats: names in each table)\n"
		"      --stacks         with the host stack of each call\n"
		"      --stats          sums by kernel, call, copy, range instead of rows\n"
		"      --mangled        leave the names of kernels as the compiler made them\n"
		"      --wide           names in full, where a terminal would see their ends only\n"
		"  -s, --session N      a session of the daemon, running or just over, by number\n"
		"                       or pid\n"
		"      --json           one JSON object a line, clock rows too; with --stats one\n"
		"                       object\n"
		"\n"
		"example: tsctl view --type kernel,memcpy --from 1s --to 1.5s run.sbt\n",
	.run = run_view,
};
