/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a row of a trace as a line: see viewrow.h. cmd-view.c calls this file. Columns have fixed
 * widths, because rows are printed while they are read. If the terminal is narrower than
 * TS_VIEWROW_WIDE, one column shows the stream of operations and the thread of other rows, and
 * bytes follow the name.
 */
#include "tools/tsctl/trace/viewrow.h"

#include "proto/abi/base.h"
#include "proto/abi/grow.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/stackjson.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/shorten.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

#define MIN_NAME_WIDTH	  20u
#define MAX_NAMES	  256u /* limit on distinct shortened names */
#define WIDE_HEAD	  "%8s  %14s  %10s  %-12s  %-16s  %6s  %10s  "
#define WIDE_HEAD_WIDTH	  (8 + 14 + 10 + 12 + 16 + 6 + 10 + 7 * 2)
#define NARROW_HEAD	  "%5s  %11s  %8s  %-11s  %-12s  "
#define NARROW_HEAD_WIDTH (5 + 11 + 8 + 11 + 12 + 5 * 2)

/* A shortened name. */
struct ts_viewrow_name {
	char *text, *shown;
	size_t columns;
};

void ts_viewrow_init(struct ts_viewrow *view, struct ts_resolver *resolver, bool wide, bool stacks)
{
	view->resolver = resolver;
	view->origin_ns = ts_sbt_reader_origin_ns(ts_resolver_reader(resolver));
	view->width = wide ? 0 : ts_term_width(stdout);
	view->is_narrow = view->width && view->width < TS_VIEWROW_WIDE;
	view->stacks = stacks;
}

void ts_viewrow_deinit(struct ts_viewrow *view)
{
	for (size_t i = 0; i < view->n_names; i++) {
		free(view->names[i].text);
		free(view->names[i].shown);
	}
	free(view->names);
}

void ts_viewrow_heading(const struct ts_viewrow *view)
{
	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	if (view->is_narrow)
		printf(NARROW_HEAD "NAME", "OP", "TIME (s)", "DURATION", "TYPE", "WHERE");
	else
		printf(WIDE_HEAD "NAME", "OP", "TIME (s)", "DURATION", "TYPE", "THREAD", "STREAM",
		       "BYTES");
	puts(ts_term_style(stdout, TS_STYLE_PLAIN));
}

static const struct ts_column *find_role(const struct ts_row_schema *schema, enum ts_role role)
{
	for (unsigned int i = 0; i < schema->n_columns; i++)
		if (schema->columns[i].role == role)
			return &schema->columns[i];
	return NULL;
}

static void thread_text(struct ts_viewrow *view, const struct ts_sbt_row *row, char text[17])
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
	/* The application chooses thread names, so they are untrusted. */
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

/*
 * Prints the name of another thread: after a preemption or a yield, the thread that got the CPU;
 * otherwise the thread that woke this one.
 */
static void off_cpu_text(struct ts_viewrow *view, const struct ts_row_off_cpu *row, char *text,
			 size_t n_bytes)
{
	bool preempted = row->reason == TS_OFF_CPU_PREEMPTED || row->reason == TS_OFF_CPU_YIELDED;
	uint32_t tid = preempted ? row->next_tid : row->waker_tid;
	const char *name = ts_resolver_string(view->resolver, preempted ? row->next : row->waker);

	char thread[TS_OUT_THREAD_BYTES];

	ts_out_thread(thread, name, tid);
	if (row->flags & TS_OFF_CPU_OPEN)
		snprintf(text, n_bytes, " (until the end)");
	else if (!preempted && row->waker_context == TS_WAKER_INTERRUPT)
		snprintf(text, n_bytes, ", woken by an interrupt");
	else if (*thread)
		snprintf(text, n_bytes, "%s %s", preempted ? " by" : ", woken by", thread);
}

static void syscall_text(const struct ts_row_syscall *row, char *text, size_t n_bytes)
{
	/* Valid errors of the kernel are in this range; other values of a file have no name. */
	const char *error =
		row->result < 0 && row->result >= -4095 ? strerrorname_np((int)-row->result) : NULL;
	size_t n = 0;

	text[0] = 0;
	if (row->operation)
		n += (size_t)snprintf(text, n_bytes, " 0x%" PRIx32, row->operation);
	if (row->bytes)
		n += (size_t)snprintf(text + n, n_bytes - n, " %" PRIu64 " bytes", row->bytes);
	if (row->result < 0)
		snprintf(text + n, n_bytes - n, " = %s", error ? error : "error");
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

static void pressure_text(struct ts_viewrow *view, const struct ts_row_pressure *row, char *text,
			  size_t n_bytes)
{
	char by[TS_OUT_THREAD_BYTES];

	ts_out_thread(by, ts_resolver_string(view->resolver, row->by), row->by_tid);
	if (row->kind == TS_PRESSURE_OOM_KILL)
		snprintf(text, n_bytes, ", when %s asked for memory", *by ? by : "?");
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

static void sample_text(const struct ts_row_sample *row, char *text, size_t n_bytes)
{
	char period[TS_OUT_FIGURE_BYTES];

	snprintf(text, n_bytes, ", %s on CPU %" PRIu32 "%s",
		 ts_out_duration(period, row->period_ns), row->cpu,
		 row->flags & TS_SAMPLE_KERNEL ? ", in the kernel" : "");
}

/* Writes the details of a row, which follow its name. */
static void detail_text(struct ts_viewrow *view, const struct ts_sbt_row *row,
			char text[DETAIL_BYTES])
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
	} else if (row->type == TS_ROW_SAMPLE) {
		sample_text(row->sample, text, DETAIL_BYTES);
	}
	n = strlen(text);
	if (name)
		snprintf(text + n, DETAIL_BYTES - n, " [%s]", name);
	else if ((name = ts_resolver_stream_name(view->resolver, row)))
		snprintf(text + n, DETAIL_BYTES - n, " on %s", name);
}

/*
 * Shortens a name to the columns, distinct from all other shortened names. NULL: memory is short.
 */
static const char *shorten(struct ts_viewrow *view, const char *text, size_t columns)
{
	const char *texts[MAX_NAMES + 1] = {text};
	char *shown[MAX_NAMES + 1];
	struct ts_viewrow_name *name;
	size_t n = 1;

	for (size_t i = 0; i < view->n_names; i++) {
		name = &view->names[i];
		if (name->columns == columns && !strcmp(name->text, text))
			return name->shown;
		if (name->columns == columns)
			texts[n++] = name->text;
	}
	if (view->n_names == MAX_NAMES)
		return NULL;
	if (TS_GROW(view->names, view->n_names_allocated, view->n_names + 1))
		return NULL;
	if (ts_shorten(texts, n, columns, shown))
		return NULL;
	while (--n)
		free(shown[n]);
	name = &view->names[view->n_names];
	*name = (struct ts_viewrow_name){.text = strdup(text),
					 .shown = shown[0],
					 .columns = columns};
	if (!name->text) {
		free(shown[0]);
		return NULL;
	}
	view->n_names++;
	return name->shown;
}

/* Returns the printed width. */
static size_t print_name(struct ts_viewrow *view, const char *name, size_t columns)
{
	const char *shown = NULL;

	if (columns && ts_out_width(name) > columns) {
		shown = shorten(view, name, columns);
		ts_out_text_cut(stdout, shown ? shown : name, shown ? 0 : columns);
	} else {
		ts_out_text(stdout, name);
	}
	return ts_out_width(shown ? shown : name);
}

static void print_wide(struct ts_viewrow *view, const char *name, const char *detail)
{
	size_t columns_left = view->width > WIDE_HEAD_WIDTH + 2 * MIN_NAME_WIDTH
				      ? view->width - WIDE_HEAD_WIDTH
				      : 2 * MIN_NAME_WIDTH;
	size_t detail_columns = columns_left - MIN_NAME_WIDTH, taken = ts_out_width(detail);

	if (!view->width) {
		ts_out_text(stdout, name);
		ts_out_text(stdout, detail);
		return;
	}
	taken = print_name(view, name,
			   taken < detail_columns ? columns_left - taken : MIN_NAME_WIDTH);
	ts_out_text_cut(stdout, detail, columns_left > taken + 1 ? columns_left - taken : 1);
}

/* Prints details on a separate line, below the name if they fit there. */
static void print_below(const struct ts_viewrow *view, const char *detail)
{
	size_t indent = NARROW_HEAD_WIDTH + 2, width;

	detail += strspn(detail, ", ");
	width = ts_out_width(detail);
	if (indent + width > view->width)
		indent = view->width > width ? view->width - width : 0;
	printf("\n%*s", (int)indent, "");
	ts_out_text(stdout, detail);
}

/*
 * Prints details that do not fit into the columns: errors and wakers get a separate line, a
 * kernel's shape is left out, and other details are cut.
 */
static void print_narrow(struct ts_viewrow *view, const struct ts_sbt_row *row, const char *name,
			 const char *detail)
{
	size_t columns_left = view->width > NARROW_HEAD_WIDTH + MIN_NAME_WIDTH
				      ? view->width - NARROW_HEAD_WIDTH
				      : MIN_NAME_WIDTH;
	size_t wanted = ts_out_width(detail), taken;

	taken = print_name(view, name,
			   columns_left > wanted + 2 * MIN_NAME_WIDTH ? columns_left - wanted
								      : columns_left);
	columns_left = columns_left > taken ? columns_left - taken : 0;
	if (ts_out_width(detail) <= columns_left)
		ts_out_text(stdout, detail);
	else if (row->type == TS_ROW_API || row->type == TS_ROW_OFF_CPU)
		print_below(view, detail);
	else if (row->type != TS_ROW_KERNEL && columns_left > 12)
		ts_out_text_cut(stdout, detail, columns_left);
}

static void print_stack(struct ts_viewrow *view, const struct ts_sbt_row *row)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	Ts__Rpc__Stack *stack = ts_stackjson_make(view->resolver, &pool, row->session,
						  ts_resolver_stack(view->resolver, row),
						  ts_row_start_ns(row->any));

	if (row->type == TS_ROW_KERNEL)
		ts_stackjson_hide_stub(stack,
				       ts_resolver_kernel_name(view->resolver, row->kernel->name));
	if (stack)
		ts_text_stack(stack, 10);
}

/* The cells of a row; a cell without a value is empty. */
struct cells {
	char op[24], time[TS_OUT_FIGURE_BYTES + 1], duration[TS_OUT_FIGURE_BYTES];
	char thread[17], stream[12], bytes[TS_OUT_FIGURE_BYTES];
};

static void fill_cells(struct ts_viewrow *view, const struct ts_sbt_row *row, struct cells *cells)
{
	const struct ts_column *stream = find_role(row->schema, TS_ROLE_STREAM);
	const struct ts_column *bytes = find_role(row->schema, TS_ROLE_BYTES);
	const struct ts_column *op = find_role(row->schema, TS_ROLE_OP);
	uint64_t start_ns = ts_row_start_ns(row->any), number;
	bool is_before = start_ns < view->origin_ns;

	if (is_before)
		cells->time[0] = '-';
	ts_out_seconds(cells->time + is_before,
		       is_before ? view->origin_ns - start_ns : start_ns - view->origin_ns);
	if (row->schema->has_end)
		ts_out_duration(cells->duration, ts_row_end_ns(row->schema, row->any) - start_ns);
	thread_text(view, row, cells->thread);
	number = stream ? ts_column_get(stream, row->any) : TS_NO_DEVICE;
	if (number != TS_NO_DEVICE)
		snprintf(cells->stream, sizeof(cells->stream), "%" PRIu32, (uint32_t)number);
	if (bytes)
		ts_out_bytes(cells->bytes, ts_column_get(bytes, row->any));
	number = op ? ts_column_get(op, row->any) : 0;
	if (number)
		snprintf(cells->op, sizeof(cells->op), "%" PRIu64, number);
}

/* "stream 7", "thread 4711" */
static const char *where_text(struct ts_viewrow *view, const struct ts_sbt_row *row,
			      const char *stream, char text[32])
{
	const struct ts_row_thread *thread = ts_resolver_thread(view->resolver, row);

	text[0] = 0;
	if (*stream)
		snprintf(text, 32, "stream %s", stream);
	else if (thread)
		snprintf(text, 32, "thread %" PRIu32, thread->tid);
	return text;
}

void ts_viewrow_print(struct ts_viewrow *view, const struct ts_sbt_row *row)
{
	char buffer[TS_RESOLVER_NAME_BYTES], detail[DETAIL_BYTES], more[2 * DETAIL_BYTES];
	char where[32];
	struct cells cells = {0};
	const char *name;

	fill_cells(view, row, &cells);
	detail_text(view, row, detail);
	name = ts_resolver_name(view->resolver, row, buffer);
	if (view->is_narrow) {
		printf(NARROW_HEAD, cells.op, cells.time, cells.duration, row->schema->name,
		       where_text(view, row, cells.stream, where));
		snprintf(more, sizeof(more), "%s%s%s", *cells.bytes ? ", " : "", cells.bytes,
			 detail);
		print_narrow(view, row, name, more);
	} else {
		printf(WIDE_HEAD, cells.op, cells.time, cells.duration, row->schema->name,
		       cells.thread, cells.stream, cells.bytes);
		print_wide(view, name, detail);
	}
	putchar('\n');
	if (view->stacks)
		print_stack(view, row);
}
