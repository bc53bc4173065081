/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Chrome's JSON trace events in the form of the PyTorch profiler (kineto); tsctl export
 * calls this file. Categories, arguments, flows and metadata have the names that kineto's readers
 * expect. This file reads the rows once and decides their places; threads write most of the text
 * (kineto-slices.h). Memory depends on the number of threads, streams and kernels' names.
 * Format: Google's "Trace Event Format"; the form follows files that kineto itself writes.
 */
#include "replay/report/rows/openranges.h"
#include "replay/state/memory/state-memory.h"
#include "tools/export/export-rows.h"
#include "tools/export/kineto/annotated.h"
#include "tools/export/kineto/kineto-lines.h"
#include "tools/export/kineto/kineto-slices.h"
#include "tools/export/kineto/kineto-waits.h"

#include <inttypes.h>

#define STEP_ROWS   8192u
#define MAX_TIME_NS ((uint64_t)INT64_MAX)

/* Number of recent calls that are kept, because a memory row may belong to one of them. */
#define N_CALLS 1024u

#define ROWS                                                                                      \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_SYNC) | TS_ROW_BIT(TS_ROW_MARK) |             \
	 TS_ROW_BIT(TS_ROW_RANGE) | TS_ROW_BIT(TS_ROW_RANGE_BEGIN) | TS_ROW_BIT(TS_ROW_COUNTER) | \
	 TS_ROW_BIT(TS_ROW_ALLOC) | TS_ROW_BIT(TS_ROW_FREE) | TS_ROW_BIT(TS_ROW_EVENT) |          \
	 TS_ROW_BIT(TS_ROW_STREAM_WAIT))
#define DEVICE_ROWS \
	(TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET))

struct call {
	uint64_t op_id;
	uint32_t session, thread;
};

/* A kernel's name, for the threads: the caller's own is valid only until its next call. */
struct kernel_name {
	uint64_t id;
	/* end of key */
	char *name;
};

struct kineto {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	struct ts_export_report *report;
	/* Calls and GPU work become slices in pieces. All other events become text here first. */
	struct ts_kineto_slices slices;
	struct ts_pieces *pieces;
	struct ts_json text;
	struct ts_events events;     /* to `text` */
	struct ts_hashtable kernels; /* of struct kernel_name */
	struct ts_lines lines;
	struct ts_annotated annotated;
	struct ts_waits waits;
	struct call calls[N_CALLS]; /* the last calls, by operation */
	uint64_t origin_ns, latest_ns, n_sessions, last_id;
};

static void deinit(struct kineto *kineto)
{
	ts_pieces_free(kineto->pieces);
	for (uint32_t i = 0; i < kineto->kernels.n; i++)
		free(((struct kernel_name *)ts_hashtable_at(&kineto->kernels, i))->name);
	ts_hashtable_deinit(&kineto->kernels);
	ts_lines_deinit(&kineto->lines);
	ts_annotated_deinit(&kineto->annotated);
	ts_waits_deinit(&kineto->waits);
	ts_events_deinit(&kineto->events);
	ts_json_deinit(&kineto->text);
}

/* Adds the text so far to the pieces. */
static int pass_text(struct kineto *kineto)
{
	int r = ts_events_close(&kineto->events);

	if (r || !kineto->text.n_bytes)
		return r;
	r = ts_kineto_slices_add_text(kineto->pieces, &kineto->text);
	ts_json_clear(&kineto->text);
	return r ? r : ts_events_open(&kineto->events, &kineto->text);
}

/* Returns an earlier error, too. */
static int pass_long_text(struct kineto *kineto)
{
	return ts_events_is_long(&kineto->events) ? pass_text(kineto) : kineto->events.error;
}

static uint64_t since_origin(const struct kineto *kineto, uint64_t time_ns)
{
	return time_ns > kineto->origin_ns ? time_ns - kineto->origin_ns : 0;
}

/* ---- GPU work -------------------------------------------------------------------------------- */

static uint64_t correlation(const struct kineto *kineto, uint32_t session, uint64_t op_id)
{
	return op_id * (kineto->n_sessions ? kineto->n_sessions : 1) +
	       ts_lines_session_index(session);
}

struct slice {
	const struct ts_sbt_row *row;
	uint64_t start_ns, end_ns;
	const char *category, *name;
};

static void begin_slice(struct kineto *kineto, const struct slice *slice,
			const struct ts_line *line)
{
	ts_events_slice(&kineto->events, slice->category, slice->name, line->place,
			since_origin(kineto, slice->start_ns), slice->end_ns - slice->start_ns);
}

static void end_slice(struct kineto *kineto)
{
	ts_events_raw(&kineto->events, "}");
	ts_events_end(&kineto->events);
}

/* Adds a slice for a thread, after the text of earlier events. */
static int add_slice(struct kineto *kineto, const struct slice *slice, const struct ts_line *line,
		     uint64_t op_id, struct ts_kineto_slice **ret_added)
{
	const struct ts_events_place place = line->place;
	int r = pass_text(kineto);

	r = r ? r : ts_kineto_slices_add(kineto->pieces, slice->row, ret_added);
	if (r)
		return r;
	(*ret_added)->place = place;
	(*ret_added)->start_ns = since_origin(kineto, slice->start_ns);
	(*ret_added)->took_ns = slice->end_ns - slice->start_ns;
	(*ret_added)->queued_ns = 0;
	(*ret_added)->correlation = correlation(kineto, slice->row->session, op_id);
	(*ret_added)->nested = 0;
	(*ret_added)->name = NULL;
	return 0;
}

static int put_on_device(struct kineto *kineto, const struct slice *slice, uint32_t device,
			 uint32_t context, uint32_t stream, uint64_t op_id,
			 struct ts_kineto_slice **ret_added)
{
	struct ts_line context_key = {.kind = TS_LINE_CONTEXT,
				      .session = slice->row->session,
				      .a = context},
		       *line;
	bool fits = false;
	int r = ts_lines_find(&kineto->lines, &context_key, &line, &(bool){false});

	if (!r)
		line->place.tid = device;
	for (unsigned int lane = 0; !r && !fits && lane < TS_LINES_LANES; lane++) {
		r = ts_lines_stream(&kineto->lines, slice->row->session, device, stream, lane,
				    &line);
		if (!r)
			r = ts_line_open(line, slice->start_ns, slice->end_ns, false, &fits);
	}
	if (!r)
		r = ts_annotated_op(&kineto->annotated, slice->row->session, op_id, device, stream,
				    slice->start_ns, slice->end_ns);
	if (r)
		return r;
	kineto->report->n_rows++;
	return add_slice(kineto, slice, line, op_id, ret_added);
}

/* Finds the kernel's name; NULL: none. */
static int find_name(struct kineto *kineto, uint32_t id, const char **ret_name)
{
	const struct ts_export_options *options = kineto->options;
	const struct kernel_name key = {.id = id};
	struct kernel_name *kernel;
	const char *name;
	bool is_new;
	uint32_t i;
	int r = ts_hashtable_recall(&kineto->kernels, &key, offsetof(struct kernel_name, name), &i,
				    &is_new);

	if (r)
		return r;
	kernel = ts_hashtable_at(&kineto->kernels, i);
	name = is_new && id ? options->names->kernel(options->user, id) : NULL;
	if (name) {
		kernel->name = strdup(name);
		if (!kernel->name)
			return -ENOMEM;
	}
	*ret_name = kernel->name;
	return 0;
}

static int put_kernel(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_kernel *row = slice->row->kernel;
	struct ts_kineto_slice *added;
	const char *name;
	int r = find_name(kineto, row->name, &name);

	r = r ? r
	      : put_on_device(kineto, slice, row->device, row->context, row->stream, row->op_id,
			      &added);
	if (r)
		return r;
	added->name = name;
	added->queued_ns = row->queued_ns ? since_origin(kineto, row->queued_ns) : 0;
	return 0;
}

static int put_copy(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_memcpy *row = slice->row->memcpy_;
	struct ts_kineto_slice *added;

	return put_on_device(kineto, slice, row->device, row->context, row->stream, row->op_id,
			     &added);
}

static int put_set(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_memset *row = slice->row->memset_;
	struct ts_kineto_slice *added;

	return put_on_device(kineto, slice, row->device, row->context, row->stream, row->op_id,
			     &added);
}

/*
 * Prints a wait if its context's device is known, that is, after an operation in that context. A
 * wait lasts while the stream works, so it has its own lanes beside the stream.
 */
static int put_wait(struct kineto *kineto, const struct ts_waits_one *wait)
{
	static const char *const kinds[] = {"Unknown", "Event Sync", "Stream Wait Event",
					    "Stream Sync", "Context Sync"};
	const struct ts_row_sync *row = &wait->row;
	const uint64_t end_ns = row->end_ns < MAX_TIME_NS ? row->end_ns : MAX_TIME_NS;
	const uint64_t start_ns = row->start_ns < end_ns ? row->start_ns : end_ns;
	const char *kind =
		row->sync_type < TS_ARRAY_LEN(kinds) ? kinds[row->sync_type] : "Unrecognized";
	struct ts_line key = {.kind = TS_LINE_CONTEXT, .session = wait->session, .a = row->context},
		       *line;
	struct ts_events *events = &kineto->events;
	bool fits = false;
	uint32_t device, i;
	int r = 0;

	if (!ts_hashtable_find(&kineto->lines.lines, &key, &i))
		return 0;
	device = (uint32_t)((struct ts_line *)ts_hashtable_at(&kineto->lines.lines, i))->place.tid;
	for (unsigned int lane = TS_LINES_LANES; !r && !fits && lane < 2 * TS_LINES_LANES; lane++) {
		r = ts_lines_stream(&kineto->lines, wait->session, device, row->stream, lane,
				    &line);
		if (!r)
			r = ts_line_open(line, start_ns, end_ns, false, &fits);
	}
	if (r)
		return r;
	ts_events_slice(events, "cuda_sync", kind, line->place, since_origin(kineto, start_ns),
			end_ns - start_ns);
	ts_events_raw(events, "\"cuda_sync_kind\": ");
	ts_events_string(events, kind);
	if (row->event) {
		bool known = wait->record_op_id != 0;

		ts_events_raw(events, ", \"wait_on_stream\": ");
		ts_events_int(events, known ? (int32_t)wait->record_stream : -1);
		ts_events_raw(events, ", \"wait_on_cuda_event_record_corr_id\": ");
		if (known)
			ts_events_uint(events,
				       correlation(kineto, wait->session, wait->record_op_id));
		else
			ts_events_int(events, -1);
		ts_events_put_uint(events, ", \"wait_on_cuda_event_id", row->event);
	}
	ts_events_raw(events, ", \"stream\": ");
	ts_events_int(events, (int32_t)row->stream);
	ts_events_put_uint(events, ", \"correlation",
			   correlation(kineto, wait->session, row->op_id));
	ts_events_put_uint(events, ", \"device", device);
	ts_events_put_uint(events, ", \"context", row->context);
	end_slice(kineto);
	return 0;
}

static int put_waits(struct kineto *kineto, uint64_t now_ns)
{
	const struct ts_waits_one *wait;
	int r = 0;

	while (!r && (wait = ts_waits_next(&kineto->waits, now_ns)))
		r = put_wait(kineto, wait);
	return r;
}

/* ---- host work ------------------------------------------------------------------------------- */

static int put_call(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_api *row = slice->row->api;
	struct ts_kineto_slice *added;
	struct ts_line *line;
	bool fits;
	int r = ts_lines_thread(&kineto->lines, slice->row->session, row->thread, &line);

	if (!r)
		r = ts_line_open(line, slice->start_ns, slice->end_ns, true, &fits);
	if (!r)
		r = ts_annotated_call(&kineto->annotated, slice->row->session, row->thread,
				      slice->start_ns, row->op_id);
	if (!r && row->nested_op_id && row->nested_op_id != row->op_id)
		r = ts_annotated_call(&kineto->annotated, slice->row->session, row->thread,
				      slice->start_ns, row->nested_op_id);
	if (r)
		return r;
	kineto->calls[row->op_id % N_CALLS] =
		(struct call){row->op_id, slice->row->session, row->thread};
	r = add_slice(kineto, slice, line, row->op_id, &added);
	if (r)
		return r;
	added->name = kineto->options->names->api(row->domain, row->cbid);
	added->nested = correlation(kineto, slice->row->session, row->nested_op_id);
	return 0;
}

/*
 * Prints a range. In Chrome, slices of a thread nest. So a range that crosses others of its thread,
 * or belongs to no thread, becomes an asynchronous event.
 */
static int put_range(struct kineto *kineto, struct slice *slice, uint32_t thread, uint32_t action,
		     uint32_t name, uint32_t domain)
{
	const char *of = ts_lines_string(&kineto->lines, domain);
	struct ts_events *events = &kineto->events;
	struct ts_line *line;
	bool fits = false;
	int r = ts_lines_thread(&kineto->lines, slice->row->session, thread, &line);

	if (!r && action != TS_RANGE_START)
		r = ts_line_open(line, slice->start_ns, slice->end_ns, true, &fits);
	if (!r && fits)
		r = ts_annotated_range(&kineto->annotated, slice->row->session, thread,
				       slice->start_ns, slice->end_ns, name, domain);
	if (r)
		return r;
	slice->category = "user_annotation";
	slice->name = ts_lines_string(&kineto->lines, name);
	slice->name = slice->name ? slice->name : "?";
	if (fits) {
		begin_slice(kineto, slice, line);
	} else {
		ts_events_begin(events, "b", slice->category, slice->name, line->place,
				since_origin(kineto, slice->start_ns));
		ts_events_put_uint(events, ", \"id", ++kineto->last_id);
		ts_events_raw(events, ", \"args\": {");
	}
	if (of) {
		ts_events_raw(events, "\"domain\": ");
		ts_events_string(events, of);
	}
	end_slice(kineto);
	if (fits)
		return 0;
	ts_events_begin(events, "e", slice->category, slice->name, line->place,
			since_origin(kineto, slice->end_ns));
	ts_events_put_uint(events, ", \"id", kineto->last_id);
	ts_events_end(events);
	return 0;
}

static int put_mark(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_mark *row = slice->row->mark;
	const char *name = ts_lines_string(&kineto->lines, row->name);
	struct ts_line *line;
	int r = ts_lines_thread(&kineto->lines, slice->row->session, row->thread, &line);

	if (r)
		return r;
	ts_events_begin(&kineto->events, "i", "user_annotation", name ? name : "?", line->place,
			since_origin(kineto, slice->start_ns));
	ts_events_raw(&kineto->events, ", \"s\": \"t\"");
	ts_events_end(&kineto->events);
	return 0;
}

static int put_counter(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_counter *row = slice->row->counter;
	const char *name = ts_lines_string(&kineto->lines, row->name);
	struct ts_line *line;
	int r = ts_lines_thread(&kineto->lines, slice->row->session, row->thread, &line);

	/* JSON cannot express NaN and infinities. */
	if (r || row->value != row->value || row->value - row->value != 0)
		return r;
	ts_events_begin(&kineto->events, "C", "counter", name ? name : "?", line->place,
			since_origin(kineto, slice->start_ns));
	ts_events_raw(&kineto->events, ", \"args\": {\"value\": ");
	if (row->value_type == TS_PAYLOAD_I64)
		ts_events_int(&kineto->events, row->integer);
	else
		ts_events_double(&kineto->events, row->value);
	end_slice(kineto);
	return 0;
}

/*
 * Prints an allocation or a free on a device. If its call is unknown, the thread is unknown, too.
 * Kineto has two device types; 1 is CUDA.
 */
static int put_memory(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_memory *row = slice->row->memory;
	const struct call *call = &kineto->calls[row->op_id % N_CALLS];
	struct ts_line key = {.kind = TS_LINE_POOL,
			      .session = slice->row->session,
			      .a = row->device,
			      .b = row->pool};
	bool is_free = slice->row->type == TS_ROW_FREE, is_new;
	struct ts_line *memory, *pool, *line;
	struct ts_events *events = &kineto->events;
	uint64_t unused =
		row->pool_bytes > row->pool_used_bytes ? row->pool_bytes - row->pool_used_bytes : 0;
	int r;

	if (!ts_memory_is_device(row->memory_kind))
		return 0;
	r = ts_lines_find(&kineto->lines, &key, &pool, &is_new);
	if (r)
		return r;
	unused -= pool->place.tid;
	pool->place.tid += unused;
	key.kind = TS_LINE_MEMORY;
	key.b = 0;
	r = ts_lines_find(&kineto->lines, &key, &memory, &is_new);
	if (r)
		return r;
	memory->place.tid += unused;
	memory->place.pid = !is_free			     ? memory->place.pid + row->bytes
			    : row->bytes < memory->place.pid ? memory->place.pid - row->bytes
							     : 0;
	/* Adding a line moves the others, so copy this one. */
	key = *memory;
	r = ts_lines_thread(&kineto->lines, slice->row->session,
			    call->op_id == row->op_id && call->session == slice->row->session
				    ? call->thread
				    : 0,
			    &line);
	if (r)
		return r;
	ts_events_begin(events, "i", "cpu_instant_event", "[memory]", line->place,
			since_origin(kineto, slice->start_ns));
	ts_events_raw(events, ", \"s\": \"t\", \"args\": {");
	ts_events_put_uint(events, "\"Total Reserved", key.place.pid + key.place.tid);
	ts_events_put_uint(events, ", \"Total Allocated", key.place.pid);
	ts_events_raw(events, ", \"Bytes\": ");
	if (is_free)
		ts_events_raw(events, "-");
	ts_events_uint(events, row->bytes);
	ts_events_put_uint(events, ", \"Addr", row->address);
	ts_events_put_uint(events, ", \"Device Id", row->device);
	ts_events_raw(events, ", \"Device Type\": 1");
	end_slice(kineto);
	return 0;
}

/*
 * Prints an annotation. If the stream's operations lie in one lane, and the annotation crosses no
 * other one there, it lies beside the operations. Else it gets a lane of its own.
 */
static int put_annotation(struct kineto *kineto, const struct ts_annotated_span *span)
{
	const struct ts_annotated_range *range = &kineto->annotated.ranges[span->range];
	struct ts_line key = {.kind = TS_LINE_STREAM,
			      .session = span->session,
			      .a = span->device,
			      .b = UINT64_C(1) << 32 | span->stream};
	struct ts_sbt_row row = {.session = span->session};
	struct slice slice = {.row = &row,
			      .start_ns = span->start_ns,
			      .end_ns = span->end_ns,
			      .category = "gpu_user_annotation",
			      .name = ts_lines_string(&kineto->lines, range->name)};
	unsigned int lane = TS_LINES_ANNOTATIONS;
	struct ts_line *line = NULL, *nest;
	bool fits = false;
	uint32_t i;
	int r = 0;

	/*
	 * Open annotations are kept in separate lines, because the lines of operations are already
	 * past this time.
	 */
	for (; !r && !fits && lane < TS_LINES_ANNOTATIONS + TS_LINES_LANES; lane++) {
		struct ts_line of = key;
		bool is_new;

		of.kind = TS_LINE_ANNOTATIONS;
		of.b = (uint64_t)lane << 32 | span->stream;
		r = ts_lines_find(&kineto->lines, &of, &nest, &is_new);
		if (!r)
			r = ts_line_open(nest, span->start_ns, span->end_ns, true, &fits);
	}
	if (r || !fits)
		return r;
	lane = --lane == TS_LINES_ANNOTATIONS && !ts_hashtable_find(&kineto->lines.lines, &key, &i)
		       ? 0
		       : lane;
	r = ts_lines_stream(&kineto->lines, span->session, span->device, span->stream, lane, &line);
	if (r)
		return r;
	slice.name = slice.name ? slice.name : "?";
	begin_slice(kineto, &slice, line);
	if (ts_lines_string(&kineto->lines, range->domain)) {
		ts_events_raw(&kineto->events, "\"domain\": ");
		ts_events_string(&kineto->events, ts_lines_string(&kineto->lines, range->domain));
	}
	end_slice(kineto);
	return 0;
}

static int put_annotations(struct kineto *kineto)
{
	size_t n;
	struct ts_annotated_span *spans = ts_annotated_sort(&kineto->annotated, &n);
	int r = spans ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < n; i++) {
		r = put_annotation(kineto, &spans[i]);
		r = r ? r : pass_long_text(kineto);
	}
	free(spans);
	return r;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int put_row(struct kineto *kineto, struct ts_open_ranges *ranges,
		   const struct ts_sbt_row *row)
{
	struct slice slice = {.row = row,
			      .start_ns = ts_row_start_ns(row->any),
			      .end_ns = ts_row_end_ns(row->schema, row->any)};

	if (slice.end_ns > MAX_TIME_NS)
		slice.end_ns = MAX_TIME_NS;
	if (slice.start_ns > slice.end_ns)
		slice.start_ns = slice.end_ns;
	switch (row->type) {
	case TS_ROW_API:
		return put_call(kineto, &slice);
	case TS_ROW_KERNEL:
		return put_kernel(kineto, &slice);
	case TS_ROW_MEMCPY:
		return put_copy(kineto, &slice);
	case TS_ROW_MEMSET:
		return put_set(kineto, &slice);
	case TS_ROW_SYNC:
		return ts_waits_sync(&kineto->waits, row->session, row->sync);
	case TS_ROW_EVENT:
		return ts_waits_record(&kineto->waits, row->session, row->event);
	case TS_ROW_STREAM_WAIT:
		return ts_waits_stream_wait(&kineto->waits, row->session, row->stream_wait);
	case TS_ROW_MARK:
		return put_mark(kineto, &slice);
	case TS_ROW_ALLOC:
	case TS_ROW_FREE:
		return put_memory(kineto, &slice);
	case TS_ROW_RANGE:
		return put_range(kineto, &slice, row->range->thread, row->range->action,
				 row->range->name, row->range->domain);
	case TS_ROW_RANGE_BEGIN:
		if (!ts_open_ranges_is_open(ranges, row))
			return 0;
		if (kineto->latest_ns > slice.end_ns)
			slice.end_ns = kineto->latest_ns;
		return put_range(kineto, &slice, row->range_begin->thread, row->range_begin->action,
				 row->range_begin->name, row->range_begin->domain);
	default:
		return put_counter(kineto, &slice);
	}
}

static int put_devices(struct kineto *kineto)
{
	size_t n = ts_sbt_reader_n_devices(kineto->reader);
	uint32_t session = kineto->options->session;
	struct ts_events *events = &kineto->events;
	bool any = false;
	int r = 0;

	ts_events_raw(events, "\"deviceProperties\": [");
	for (size_t i = 0; !r && i < n; i++) {
		const struct ts_sbt_device *device = ts_sbt_reader_device_at(kineto->reader, i);
		const struct ts_row_device *row = &device->row;
		const char *name = ts_lines_string(&kineto->lines, row->name);

		/* A device is the same for all processes: print the rows of the first session. */
		session = session ? session : device->session;
		if (device->session != session)
			continue;
		if (any)
			ts_events_raw(events, ",");
		ts_events_put_uint(events, "\n{\"id", row->device);
		ts_events_raw(events, ", \"name\": ");
		ts_events_string(events, name ? name : "");
		ts_events_put_uint(events, ", \"totalGlobalMem", row->memory_bytes);
		ts_events_put_uint(events, ", \"computeMajor", row->compute_capability_major);
		ts_events_put_uint(events, ", \"computeMinor", row->compute_capability_minor);
		ts_events_put_uint(events, ", \"maxThreadsPerMultiprocessor",
				   (uint64_t)row->max_warps_per_multiprocessor *
					   row->threads_per_warp);
		ts_events_put_uint(events, ", \"regsPerMultiprocessor",
				   row->max_registers_per_multiprocessor);
		ts_events_put_uint(events, ", \"warpSize", row->threads_per_warp);
		ts_events_put_uint(events, ", \"sharedMemPerMultiprocessor",
				   row->max_shared_bytes_per_multiprocessor);
		ts_events_put_uint(events, ", \"numSms", row->n_multiprocessors);
		ts_events_raw(events, "}");
		any = true;
		r = pass_long_text(kineto);
	}
	ts_events_raw(events, "],\n");
	return r;
}

static int put_head(struct kineto *kineto)
{
	const struct ts_row_session *session =
		kineto->n_sessions ? ts_sbt_reader_session_at(kineto->reader, 0) : NULL;
	const char *host = ts_sbt_reader_metadata(kineto->reader, TS_METADATA_HOSTNAME);
	const char *generator = kineto->options->generator;
	struct ts_events *events = &kineto->events;
	struct ts_sbt_summary summary;
	int r = ts_sbt_reader_summary(kineto->reader, 0, &summary);

	if (r < 0)
		return r;
	kineto->latest_ns = r ? 0 : summary.latest_ns;
	ts_events_raw(events, "{\"schemaVersion\": 1,\n");
	r = put_devices(kineto);
	if (r)
		return r;
	if (session && session->driver_version) {
		ts_events_put_uint(events, "\"cuda_driver_version", session->driver_version);
		ts_events_raw(events, ",\n");
	}
	if (host) {
		ts_events_raw(events, "\"host_name\": ");
		ts_events_string(events, host);
		ts_events_raw(events, ",\n");
	}
	ts_events_raw(events, "\"traceName\": ");
	ts_events_string(events, generator ? generator : "");
	if (session && session->start_realtime_ns)
		ts_events_put_uint(events, ",\n\"baseTimeNanoseconds",
				   session->start_realtime_ns +
					   (kineto->origin_ns - session->start_ns));
	ts_events_raw(events, ",\n\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [");
	return 0;
}

static int put_tail(struct kineto *kineto)
{
	struct ts_events *events = &kineto->events;

	if (events->has_event)
		ts_events_raw(events, ",");
	ts_events_raw(events, "\n{\"ph\": \"i\", \"name\": \"Record Window End\", "
			      "\"s\": \"g\", \"pid\": \"\", \"tid\": \"\", \"ts\": ");
	ts_events_time(events, since_origin(kineto, kineto->latest_ns));
	ts_events_raw(events, "}\n]}\n");
	return pass_text(kineto);
}

static int put_rows(struct kineto *kineto, struct ts_open_ranges *ranges)
{
	const struct ts_export_options *options = kineto->options;
	const struct ts_sbt_cursor_options of_cursor = {
		.types = ROWS | (options->types ? options->types : DEVICE_ROWS),
		.session = options->session,
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = ts_sbt_cursor_new(kineto->reader, &of_cursor, &cursor);

	while (!r && !(r = ts_export_next_row(kineto->reader, cursor, kineto->report, &row))) {
		if (++n % STEP_ROWS == 0 && options->step)
			options->step(options->user, n);
		r = put_waits(kineto, ts_row_start_ns(row.any));
		if (!r)
			r = put_row(kineto, ranges, &row);
		if (!r)
			r = pass_long_text(kineto);
	}
	return r == TS_SBT_E_END ? put_waits(kineto, UINT64_MAX) : r;
}

int ts_export_kineto(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report)
{
	/* This format has no stacks, so no stack lacks names. */
	struct ts_export_report report = {.has_names = true};
	ts_cleanup(deinit) struct kineto kineto = {.reader = reader,
						   .options = options,
						   .report = &report,
						   .slices = {.reader = reader, .file = file},
						   .origin_ns = ts_sbt_reader_origin_ns(reader),
						   .n_sessions = ts_sbt_reader_n_sessions(reader)};
	struct ts_open_ranges *ranges = NULL;
	int r;

	ts_annotated_init(&kineto.annotated);
	ts_waits_init(&kineto.waits);
	ts_lines_init(&kineto.lines, &kineto.events, reader, options);
	ts_hashtable_init(&kineto.kernels, sizeof(struct kernel_name),
			  offsetof(struct kernel_name, name));
	r = ts_events_open(&kineto.events, &kineto.text);
	if (!r)
		r = ts_kineto_slices_new(&kineto.slices, &kineto.pieces);
	if (!r)
		r = put_head(&kineto);
	if (!r)
		r = ts_open_ranges_new(reader, options->session, options->from_ns, &ranges);
	if (!r)
		r = put_rows(&kineto, ranges);
	if (!r)
		r = put_annotations(&kineto);
	ts_open_ranges_free(ranges);
	if (!r)
		r = put_tail(&kineto);
	if (!r)
		r = ts_pieces_end(kineto.pieces);
	if (r)
		return r;
	*ret_report = report;
	return 0;
}
